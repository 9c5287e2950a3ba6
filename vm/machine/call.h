/* call.h: calls: fields, dispatch, arms. */
#ifndef MWL_CALL_H
#define MWL_CALL_H

#include "vm/cel/ops.h"
#include "vm/machine/frame.h"

/* Instructions; each returns a pc (state.h). */
uint32_t mwl__call_begin(mwl__frame *f, mwl_vm *vm, uint32_t ix, uint32_t next_pc);
uint32_t mwl__call_dispatch(mwl__frame *f, uint32_t ix, uint32_t next_pc);
uint32_t mwl__call_arms(mwl__frame *f, uint32_t ix);
uint32_t mwl__call_fault(mwl__frame *f, uint32_t ix);
uint32_t mwl__call_arm_fault(mwl__frame *f, uint32_t ix);
uint32_t mwl__call_end(mwl__frame *f, uint32_t ix, uint32_t next_pc);

/* The target's arguments, given; a provider's are checked. Returns next_pc or as
 * mwl__arguments_check. */
uint32_t mwl__call_arguments(mwl__frame *f, uint32_t ix, mwl_value *args, uint32_t next_pc);
/* A provider's arguments were refused (MWL_PC_FAULT): the failure, given, which is the Result of
 * the target. Absent: out of memory. */
mwl_value mwl__call_refused(mwl__frame *f);
void mwl__call_frame_done(mwl__frame *parent, mwl__frame *child); /* the target Flow completed */

void mwl__call_accepted(mwl__frame *f); /* the instants of its record */

/* spec: providers, Timeout: a bound directly around a call is committed when its Result is
 * accepted. */
static inline void mwl__call_accept_around(mwl__frame *f) {
    mwl__entry *e = f->entries;
    if (e && e->around_call && e->state == MWL_ENTRY_INNER) e->accepted = true;
}
/* The target's Result is the call's. */
static inline void mwl__call_settle(mwl__frame *f, bool ok, mwl_value take) {
    mwl__call_accept_around(f);
    if (ok)
        mwl__frame_set_res(f, true, take);
    else
        mwl__frame_raise(f, take);
}

/* The target's Result is there: it is the call's, until an arm shapes it. */
static inline void mwl__call_accept(mwl__frame *f, mwl_vm *vm, bool ok, mwl_value take) {
    if (f->record) mwl__call_accepted(f);
    mwl__call_settle(f, ok, take);
    if (mwl__tracing(vm)) mwl__trace_result(f, MWL_TRACE_CALL_ACCEPTED, -1, f->res);
}

/* CALL of a call that has no code of its own, done at once if its provider settles at once; no
 * record is made. gather.c does the same in a fan-out. mwl__call_now: of one with c->now. */
uint32_t mwl__call_start(mwl__frame *f, mwl_vm *vm, const mwl__call_link *c);
MWL__OUTLINE uint32_t mwl__call_now(mwl__frame *f, mwl_vm *vm, const mwl__call_link *c);

/* The record of a call. */
mwl__call_state *mwl__call_state_new(mwl_heap *h); /* NULL: out of memory */
void mwl__call_state_clear(mwl_heap *h, mwl__call_state *r);
void mwl__call_state_free(mwl_heap *h, mwl__call_state *r);
void mwl__call_state_window(mwl__call_state *r, mwl__frame *child); /* what arms read of it */
void mwl__call_state_accepted(mwl__frame *f, mwl__call_state *r, unsigned needs); /* the instants */

#endif
