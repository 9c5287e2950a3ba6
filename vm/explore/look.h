/* look.h: what tools read of a run that another hand drives: of the frame of a trace event while it
 * is heard, of a run that stands still, and of a call. The records stay those of vm/machine. */
#ifndef MWL_LOOK_H
#define MWL_LOOK_H

#include "mwl_provider.h"

struct mwl__frame;

/* Returns the frame that an event is about; NULL: none. */
struct mwl__frame *mwl__look_frame(const mwl_trace_event *event);
/* Returns the frame of the root Flow; NULL: the run is over. */
struct mwl__frame *mwl__look_root(const mwl_run *run);

/* Returns whether a frame of the run is in a Step of this name. */
bool mwl__look_is_in(const mwl_run *run, const char *step);

/* A frame, by the indexes of its program (vm/program/view.h). MWL_NONE: there is none. */
typedef struct mwl__look {
    const mwl_program *program;
    uint32_t flow, step;
    bool called;    /* another frame waits for it */
    uint32_t entry; /* the innermost */
    uint32_t code;  /* what the VM executes: mwl__view_way.code */
} mwl__look;
mwl__look mwl__look_at(const struct mwl__frame *f);
/* Returns the entry whose bound interrupts the frame, when that is heard. MWL_NONE: it is cancelled
 * from outside. */
uint32_t mwl__look_owner(const struct mwl__frame *f);

/* Its innermost entry. */
typedef struct mwl__look_entry {
    uint32_t rank;       /* entries around it */
    bool of_flow;        /* it is around the Flow, not around a Step */
    bool cleans;         /* its onAlways calls something */
    bool runs_cleanup;   /* its onAlways runs */
    bool gated;          /* the `when` of its phase was false */
    bool cleanup_failed; /* what it emits comes from a cleanup that failed */
} mwl__look_entry;
mwl__look_entry mwl__look_entry_of(const struct mwl__frame *f);

/* Returns whether the frame works for an onAlways, its own or one around it. */
bool mwl__look_in_cleanup(const struct mwl__frame *f);

/* The roots of expressions in the frame: null where there is none. Given; lent; lent. */
mwl_value mwl__look_step(struct mwl__frame *f);
mwl_value mwl__look_failure(const struct mwl__frame *f);
mwl_value mwl__look_vars(const struct mwl__frame *f);
/* Returns what the provider of a call has contributed, lent. index: of the dispatch of a Gather, or
 * negative. Absent: nothing. */
mwl_value mwl__look_metadata(const struct mwl__frame *f, int64_t index);

/* Returns whether the VM has a provider of this name. */
bool mwl__look_provides(const mwl_vm *vm, const char *uri);

/* A call that was started. */
typedef struct mwl__look_call {
    const char *uri; /* lent */
    uint32_t import; /* index in the program */
    uint32_t step;   /* MWL_NONE: it is the cleanup of a Flow */
    bool cleanup;    /* for an onAlways */
} mwl__look_call;
mwl__look_call mwl__look_call_of(const mwl_call *call);
/* Returns whether this function starts the calls of its provider. */
bool mwl__look_starts(const mwl_call *call, void (*start)(mwl_call *call, void *user));

#endif
