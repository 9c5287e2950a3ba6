/* call.h: calls: fields, dispatch, arms. */
#ifndef MWL_CALL_H
#define MWL_CALL_H

#include "vm/cel/ops.h"
#include "vm/machine/clock.h"
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
 * accepted. Returns false if that bound has elapsed: the Result comes too late (DECISIONS.md 4). */
static inline bool mwl__call_commit(mwl__frame *f, mwl_vm *vm) {
    mwl__entry *e = f->entries;
    if (!e || !e->around_call || e->state != MWL_ENTRY_INNER) return true;
    if (e->armed && mwl__clock_new(vm) > e->bound_ns) return false;
    e->accepted = true;
    return true;
}

/* The target's Result is there: it is the call's, until an arm shapes it. Returns false if it comes
 * too late; then it is in flight, and the caller fires the bound. */
static inline bool mwl__call_accept(mwl__frame *f, mwl_vm *vm, bool ok, mwl_value take) {
    const bool in_time = mwl__call_commit(f, vm);
    if (f->record && in_time) mwl__call_accepted(f);
    if (ok)
        mwl__frame_set_res(f, true, take);
    else
        mwl__frame_raise(f, take);
    if (in_time && mwl__tracing(vm)) mwl__trace_result(f, MWL_TRACE_CALL_ACCEPTED, -1, f->res);
    return in_time;
}
/* The frame, which waits for nothing any more, goes on: with the Result that was accepted, or by
 * the unwind of the bound that it came too late for. */
static inline void mwl__call_go_on(mwl__frame *f, mwl_vm *vm, bool in_time) {
    if (in_time)
        mwl__frame_queue(f, vm);
    else
        mwl__unwind_bound(f, mwl__frame_bound(f));
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
