/* trace.h: trace events: what a listener of the VM gets to see. */
#ifndef MWL_TRACE_H
#define MWL_TRACE_H

#include "vm/machine/state.h"

/* Is there a listener? Ask this before mwl__trace, which needs one. */
static inline bool mwl__tracing(const mwl_vm *vm) { return vm->listen != NULL; }
/* provider may be NULL, phase and index -1, value absent: the event does not have them. */
void mwl__trace(mwl__frame *f, mwl_trace_kind kind, const char *provider, int phase, int64_t index,
                mwl_value value);

#endif
