/* step.h: the instructions of Steps. Each returns a pc (state.h) unless it says otherwise. */
#ifndef MWL_STEP_H
#define MWL_STEP_H

#include "vm/machine/state.h"

/* Remembers that the failure was born in the frame's Step, for mwl_run_failed_at. One that rose
 * from a deeper frame was noted there. */
void mwl__failure_note(mwl__frame *f, mwl_value failure);

uint32_t mwl__step_begin(mwl__frame *f, uint32_t step, uint32_t next_pc);
uint32_t mwl__step_to(mwl__frame *f, uint32_t step, bool handler);
uint32_t mwl__step_result(mwl__frame *f, uint32_t next_pc);
uint32_t mwl__step_fault(mwl__frame *f);
uint32_t mwl__step_clause_fault(mwl__frame *f);
uint32_t mwl__step_failed(mwl__frame *f); /* res is the Step's failure: to a catch clause, or out */
uint32_t mwl__step_assign(mwl__frame *f, mwl_value *regs, uint32_t shape, uint32_t next_pc);
uint32_t mwl__step_sleep(mwl__frame *f, mwl_value v, bool until, uint32_t next_pc);
uint32_t mwl__step_return(mwl__frame *f, mwl_vm *vm, mwl_value take);
uint32_t mwl__step_raise(mwl__frame *f, mwl_value *regs, uint32_t shape);
uint32_t mwl__step_reraise(mwl__frame *f);

/* The instant at which the Step was left, if an expression reads it. */
void mwl__step_note_exit(mwl__frame *f);
static inline void mwl__step_exit(mwl__frame *f) {
    f->step_done = true;
    f->construct = MWL_IN_STEP;
    if (f->timed) mwl__step_note_exit(f);
}

/* True if the transition needs no bookkeeping: no failure context, no Result, no timestamp. flags:
 * of the Step that it leads to. */
static inline bool mwl__step_hops(const mwl__frame *f, uint32_t flags) {
    return !f->extra && mwl_is_absent(f->res.v) && !(flags & MWL_NEEDS_ENTERED);
}
/* The part of a transition that every one needs. The Step begins with the input of the last one. */
static inline void mwl__step_pass(mwl__frame *f, uint32_t step) {
    f->step = step;
    f->step_id = f->run->next_step_id++;
    f->construct = MWL_IN_STEP;
    f->step_done = false;
}
/* The same, where it begins with a value that was in flight or in a register. */
static inline void mwl__step_hop(mwl__frame *f, uint32_t step, mwl_value *take, mwl_heap *h) {
    mwl_value old = f->step_input;
    mwl__move_in(&f->step_input, take);
    mwl__step_pass(f, step);
    mwl__drop(h, old);
}

#endif
