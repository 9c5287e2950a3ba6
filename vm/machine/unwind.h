/* unwind.h: interruption, and the seam where forward execution resumes. */
#ifndef MWL_UNWIND_H
#define MWL_UNWIND_H

#include "vm/machine/state.h"

void mwl__unwind_frame(mwl__frame *f, mwl_value cancel);  /* impose on the whole frame; lent */
void mwl__unwind_bound(mwl__frame *f, mwl__entry *owner); /* its bound has elapsed */
bool mwl__unwind_bounds_due(mwl__frame *f); /* fire what has elapsed; true: something did */
void mwl__unwind_resolved(mwl__frame *f);   /* a target execution resolved: go on when all did */
/* In an unwind, a cleanup has failed inside a target execution: its failure takes the place of what
 * is in flight, and no cancellation hides it. */
void mwl__unwind_failed(mwl__frame *f, mwl_value take_failure);
static inline bool mwl__unwinds(const mwl__frame *f) { return f->extra && f->extra->running; }

/* These return a pc (state.h). */
uint32_t mwl__unwind_next(mwl__frame *f); /* the next onAlways, the seam, or completion */
uint32_t mwl__unwind_after_always(mwl__frame *f, uint32_t next_pc);
/* res reached the owner after its bound had elapsed, before anyone noticed. */
uint32_t mwl__unwind_late(mwl__frame *f, mwl__entry *owner);

#endif
