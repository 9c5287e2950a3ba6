/* unwind.h: interruption, and the seam where forward execution resumes. */
#ifndef MWL_UNWIND_H
#define MWL_UNWIND_H

#include "vm/machine/state.h"

/* Imposes a cancellation, lent, on the whole frame. It came at this instant (monotonic). */
void mwl__unwind_frame(mwl__frame *f, mwl_value cancel, int64_t at_ns);
void mwl__unwind_bound(mwl__frame *f, mwl__entry *owner); /* its bound has elapsed */
/* Is a bound around what the frame does, in it or in its callers? */
static inline bool mwl__unwind_bounded(const mwl__frame *f) {
    return f->bounded || (f->entries && f->entries->least_ns != MWL_NEVER);
}
int64_t mwl__unwind_due(const mwl__frame *f); /* when a bound interrupts it, or MWL_NEVER */
void mwl__unwind_overdue(mwl__frame *f);      /* fire the bound that has elapsed */
bool mwl__unwind_bounds_due(mwl__frame *f);   /* fire what has elapsed; true: something did */
void mwl__unwind_resolved(mwl__frame *f);     /* a target execution resolved: go on when all did */
/* In an unwind, the Flow that the frame's call runs has resolved with this Result. */
void mwl__unwind_returned(mwl__frame *f, mwl__result take);
/* The failure begins to rise in the frame now: sets its `rose`. */
void mwl__unwind_rises(mwl__frame *f, mwl__result *failure);
/* Is what the frame does part of a cleanup, in it or in its callers? No interruption reaches it. */
bool mwl__unwind_cleans(const mwl__frame *f);
static inline bool mwl__unwinds(const mwl__frame *f) { return f->extra && f->extra->running; }

/* These return a pc (state.h). */
uint32_t mwl__unwind_next(mwl__frame *f); /* the next onAlways, the seam, or completion */
uint32_t mwl__unwind_after_always(mwl__frame *f, uint32_t next_pc);
/* res reached the owner after its bound had elapsed, before anyone noticed. */
MWL__COLD uint32_t mwl__unwind_late(mwl__frame *f, mwl__entry *owner);

#endif
