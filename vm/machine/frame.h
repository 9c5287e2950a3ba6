/* frame.h: frames: creation, turns in the interpreter, park and wake, completion. */
#ifndef MWL_FRAME_H
#define MWL_FRAME_H

#include "vm/machine/ready.h"
#include "vm/machine/trace.h"
#include "vm/cel/ops.h"
#include "vm/machine/unwind.h"

/* Zeroes a record of a size that the compiler knows, at most 384 bytes. In pieces, which become a
 * few wide stores; a single memset of a record's length becomes a string instruction, which is slow
 * to start. Not in a loop, because the compiler keeps it as one. */
MWL__INLINE void mwl__record_blank(void *record, size_t size) {
    enum { PIECE = 64 };
    char *at = record;
    if (size > PIECE) memset(at, 0, PIECE), at += PIECE, size -= PIECE;
    if (size > PIECE) memset(at, 0, PIECE), at += PIECE, size -= PIECE;
    if (size > PIECE) memset(at, 0, PIECE), at += PIECE, size -= PIECE;
    if (size > PIECE) memset(at, 0, PIECE), at += PIECE, size -= PIECE;
    if (size > PIECE) memset(at, 0, PIECE), at += PIECE, size -= PIECE;
    memset(at, 0, size);
}

/* Makes a frame, which is not queued yet. `slot` is the slot of the parent's Gather that it fills,
 * or NULL. Returns NULL as mwl__frame_begin returns false. */
mwl__frame *mwl__frame_new(mwl_run *run, mwl__frame *parent, mwl__slot *slot, uint32_t flow,
                           mwl_value take_input, mwl_value take_args);
/* Fills a frame with what is known of it when the program is linked. */
static inline void mwl__frame_blank(mwl__frame *f, mwl_run *run, const mwl__flow_link *l) {
    mwl__record_blank(f, sizeof *f);
    f->run = run;
    f->flow = l->flow;
    f->pc = l->pc;
    mwl__move(&f->vars, &l->vars);
    f->step = MWL_NONE;
    f->timer.owner = MWL_TIMER_FRAME;
    if (!l->timed) return;
    f->timed = true;
    *mwl__times_of(f) = (mwl__times){0, 0, 0};
}
/* One without values, for a run that is loaded. */
mwl__frame *mwl__frame_bare(mwl_run *run, mwl__frame *parent, mwl__slot *slot, uint32_t flow);
/* With all frames below it; executions are cancelled. */
void mwl__frame_free(mwl__frame *f, mwl_vm *vm);
/* The slow part of mwl__frame_begin. */
bool mwl__frame_seed(mwl__frame *f, const mwl__flow_link *l, mwl_value take_args);
/* Gives a new frame its input and arguments. Returns false, and frees the frame, if out of memory
 * or if a bound elapsed while the arguments were checked (x->late). */
static inline bool mwl__frame_begin(mwl__frame *f, mwl_vm *vm, const mwl__flow_link *l,
                                    mwl_value take_input, mwl_value take_args) {
    mwl__move(&f->input, &take_input);
    if (l->timed || l->schema || !mwl_is_absent(take_args) || vm->listen)
        return mwl__frame_seed(f, l, take_args);
    const mwl_value kept = mwl__keep(take_input);
    mwl__move(&f->in_flight, &kept);
    return true;
}
/* Queues the frame, which waits, and cancels its timer. */
static inline void mwl__frame_queue(mwl__frame *f, mwl_vm *vm) {
    assert(!f->queued && f->state != MWL_FRAME_RUNNING && f->state != MWL_FRAME_DONE);
    mwl__timer_cancel(&vm->timers, &f->timer);
    f->state = MWL_FRAME_READY;
    mwl__ready_push(vm, f);
}
/* The same, but lets the processor load its records, and does nothing if it is queued, running or
 * done. */
void mwl__frame_ready(mwl__frame *f, mwl_vm *vm);
/* Gives the frame one turn, until it parks, yields or is done. Returns the fuel that it used, at
 * least a unit. A run that reaches its limit gets other fuel for its cleanup, so that turn counts
 * as a slice. The run must be entered (run.h), because the turn may free the frame. */
int64_t mwl__frame_run(mwl__frame *f, mwl_vm *vm);
void mwl__frame_timer(mwl__frame *f); /* its timer is due */

/* These return a pc (state.h). */
/* res goes to the parent or to the run; frees the frame. */
uint32_t mwl__frame_complete(mwl__frame *f, mwl_vm *vm);
/* res is set: goes to the Flow's ascent, mostly the frame's end, which is an instruction of its
 * own. */
static inline uint32_t mwl__frame_ascend(mwl__frame *f, mwl_vm *vm) {
    mwl__replace(&vm->heap, &f->in_flight, mwl_absent());
    f->construct = MWL_IN_FRAME;
    const mwl__flow_link *l = &f->run->link->flows[f->flow];
    if (!l->bare || !mwl__exec_pay_next(&vm->exec)) return l->ascend_pc;
    return mwl__frame_complete(f, vm);
}
/* Is a bound set by an entry of the frame itself? */
static inline bool mwl__frame_has_bounds(const mwl__frame *f) {
    return f->entries && f->entries->least_ns != MWL_NEVER;
}
/* The slow part of mwl__frame_park: arms the timer, traces the wait. */
uint32_t mwl__frame_arm(mwl__frame *f, mwl_vm *vm, int64_t due_mono_ns);
/* Parks the frame in `state` until due_mono_ns or its earliest bound; it goes on at pc. */
static inline uint32_t mwl__frame_park(mwl__frame *f, mwl_vm *vm, mwl__frame_state state,
                                       uint32_t pc, int64_t due_mono_ns) {
    f->pc = pc;
    f->state = (uint8_t)state;
    const bool timed = due_mono_ns != MWL_NEVER || mwl__frame_has_bounds(f);
    return timed || mwl__tracing(vm) ? mwl__frame_arm(f, vm, due_mono_ns) : MWL_PC_PARK;
}

static inline mwl__frame *mwl__frame_of_timer(const mwl__timer *t) {
    return (mwl__frame *)(uintptr_t)((const char *)t - offsetof(mwl__frame, timer));
}
/* Lets the processor load the records of a frame that will run soon. Changes nothing. */
static inline void mwl__frame_fetch(const mwl__frame *f) {
    mwl__fetch(f->vars.as.p, 128);
    mwl__fetch(f->entries, f->entries ? sizeof *f->entries : 0);
    mwl__fetch(f->extra, f->extra ? sizeof *f->extra : 0);
    mwl__fetch(f->record, f->record ? sizeof *f->record : 0);
}

mwl__entry *mwl__frame_bound(const mwl__frame *f); /* the earliest that can still fire, or NULL */
mwl__extra *mwl__frame_extra(mwl__frame *f);       /* made on first use; NULL: out of memory */
/* Sets the failure context, lent; null clears it. False: out of memory. */
bool mwl__frame_set_failure(mwl__frame *f, mwl_value failure);

/* As mwl__replace; finds the heap only if the old value must be dropped. */
static inline void mwl__frame_put(const mwl__frame *f, mwl_value *place, mwl_value take) {
    if (place->tag & MWL_OWNED) mwl__drop(mwl__heap_of(f), *place);
    *place = take;
}
static inline void mwl__frame_set_res(mwl__frame *f, bool ok, mwl_value take) {
    if (f->res.v.tag & MWL_OWNED) mwl__drop(mwl__heap_of(f), f->res.v);
    mwl__result_set(&f->res, ok, take);
}
/* A failure begins to rise. */
static inline void mwl__frame_raise(mwl__frame *f, mwl_value take_failure) {
    mwl__frame_set_res(f, false, take_failure);
    if (mwl__unwind_bounded(f)) mwl__unwind_rises(f, &f->res);
}

#endif
