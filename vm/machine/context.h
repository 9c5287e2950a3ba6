/* context.h: what expressions read of the frame that they are evaluated in. */
#ifndef MWL_CONTEXT_H
#define MWL_CONTEXT_H

#include "vm/machine/state.h"

extern const mwl__context_ops mwl__context; /* how cel/ reaches the frame (exec_context.h) */
/* Two of its functions, for the loop, which calls them directly. */
mwl_value mwl__context_load(mwl__exec *x, unsigned base);
bool mwl__context_run_count(mwl__exec *x, const mwl__path_rec *path, mwl_value *out);

/* Where a base lies in the frame as it is, or NULL. Most paths begin with one of these: no call is
 * needed. */
static inline const mwl_value *mwl__context_slot(const mwl__frame *f, unsigned base) {
    switch (base) {
    case MWL_BASE_STEP_INPUT: return &f->step_input;
    case MWL_BASE_VARS: return &f->vars;
    case MWL_BASE_FRAME_INPUT: return &f->input;
    case MWL_BASE_CALL_INPUT: return f->record ? &f->record->input : NULL;
    default: return NULL;
    }
}

#endif
