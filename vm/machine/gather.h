/* gather.h: fan-out and fan-in. */
#ifndef MWL_GATHER_H
#define MWL_GATHER_H

#include "vm/machine/state.h"

/* Instructions; each returns a pc (state.h). */
uint32_t mwl__gather_begin(mwl__frame *f, uint32_t ix, uint32_t next_pc);
uint32_t mwl__gather_over(mwl__frame *f, mwl_value v, uint32_t next_pc);
uint32_t mwl__gather_need(mwl__frame *f, mwl_value v, uint32_t next_pc);
uint32_t mwl__gather_run(mwl__frame *f, uint32_t ix);
uint32_t mwl__gather_arms(mwl__frame *f);
uint32_t mwl__gather_fault(mwl__frame *f);
uint32_t mwl__gather_end(mwl__frame *f, uint32_t next_pc);

/* Makes the Gather of the frame's Step, in place of the one before. False: out of memory. */
bool mwl__gather_make(mwl__frame *f, uint32_t ix, uint32_t n);

/* A call's instructions, inside a fan-out; each returns a pc. */
uint32_t mwl__gather_dispatch(mwl__frame *f, uint32_t call_ix);
uint32_t mwl__gather_field_fault(mwl__frame *f);
uint32_t mwl__gather_arm_end(mwl__frame *f);

bool mwl__gather_starting(const mwl__frame *f,
                          uint32_t call_ix);  /* are its fields evaluated now? */
bool mwl__gather_in_arm(const mwl__frame *f); /* is a settled dispatch's arm running? */
/* A dispatch resolved: fills its slot, counts it, wakes the frame if it waits. */
void mwl__gather_resolved(mwl__frame *f, mwl__slot *slot, mwl__slot_state state, mwl__result take);
/* Imposes a cancellation, lent, on every active dispatch. It came at this instant (monotonic). */
void mwl__gather_interrupt(mwl__frame *f, mwl_value cancel, int64_t at_ns);
mwl_value mwl__gather_superseding(mwl__frame *f); /* lent: the first failed cleanup, or absent */
mwl_value mwl__gather_results(mwl__frame *f);     /* step.results, lent; absent before the end */
void mwl__gather_free(mwl_heap *h, mwl__gather *g);

#endif
