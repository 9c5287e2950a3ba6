/* rest.h: runs at rest: every frame of them continues at a point that has a name. */
#ifndef MWL_REST_H
#define MWL_REST_H

#include "vm/machine/state.h"

/* Where a frame continues, and what its index is. */
#define MWL_POINTS(X)                                                                              \
    X(START, "start")      /* at the beginning of its Flow */                                      \
    X(REFUSED, "refused")  /* its arguments were refused: it completes */                          \
    X(SLEEP, "sleep")      /* behind the Sleep of its Step */                                      \
    X(CALL, "call")        /* behind the dispatch of a call: CALLS */                              \
    X(DIRECT, "direct")    /* behind a call that was made without a record: CALLS */               \
    X(GATHER, "gather")    /* at the fan-out of a Gather: GATHERS */                               \
    X(REENTER, "re-enter") /* at the inner scope of an entry, in the gap before it: ENTRIES */     \
    X(WAIT, "on entry")    /* at the action of onEntry, which waits: ENTRIES */                    \
    X(UNWIND, "unwind")    /* an unwind is under way: the frame's records decide */

typedef enum mwl__point {
#define X(name, text) MWL_POINT_##name,
    MWL_POINTS(X)
#undef X
        MWL_POINT_COUNT
} mwl__point;

/* Finds the point of a frame; *index is MWL_NONE where the point has none. Returns false if the
 * frame is not at rest. */
bool mwl__rest_point(const mwl__frame *f, mwl__point *point, uint32_t *index);

/* The next frame of a run, a frame before those below it, and the dispatches of a Gather in order.
 * NULL: f was the last one. */
mwl__frame *mwl__rest_next_frame(const mwl__frame *f);
/* The next awaited execution of a run, in the order of the frames. last NULL: the first one. NULL:
 * there are no more. */
mwl_call *mwl__rest_next_call(const mwl_run *run, const mwl_call *last);

#endif
