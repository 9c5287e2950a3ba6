/* reenter.h: the inner scope of an entry runs again: after the action of a phase has decided so, or
 * at once where the program says so. There is one way for both, mwl__reenter_with. Inline: loops do
 * this all the time. */
#ifndef MWL_REENTER_H
#define MWL_REENTER_H

#include "vm/cel/linked_op.h"
#include "vm/cel/ops.h"
#include "vm/machine/entry.h"
#include "vm/machine/frame.h"

/* The slow parts of the functions below. */
MWL__OUTLINE uint32_t mwl__reenter_slowly(mwl__frame *f, mwl_vm *vm, int64_t delay_ns);
/* The entry's Result is consumed. */
MWL__OUTLINE void mwl__reenter_consume(mwl__frame *f, mwl__entry *e);

/* Runs the inner scope of the entry again with this value, after delay_ns if that is positive. No
 * other value is in flight. Returns a pc (state.h). */
static inline uint32_t mwl__reenter_with(mwl__frame *f, mwl_vm *vm, mwl__entry *e,
                                         const mwl__entry_rec *rec, const mwl_value *take_next,
                                         int64_t delay_ns) {
    mwl__move(&f->in_flight, take_next);
    e->accepted = false;
    e->state = MWL_ENTRY_INNER;
    e->runs++;
    if ((rec->flags & MWL_ENTRY_FLOW_LEVEL) || mwl__tracing(vm) || delay_ns > 0)
        return mwl__reenter_slowly(f, vm, delay_ns);
    return rec->inner_pc;
}

/* The same, as a phase has decided. how: MWL_REENTER_*.
 * spec: middleware-mechanics, re-execution: the inner scope runs again, onEntry does not.
 * middleware-providers, Retry: each attempt receives the same input and variables (RESTORE). Loop:
 * the next run receives the carried value (CARRY), and variables persist. */
MWL__INLINE uint32_t mwl__reenter(mwl__frame *f, mwl_vm *vm, mwl__entry *e, unsigned how,
                                  int64_t delay_ns) {
    mwl_value next;
    if (how & MWL_REENTER_RESTORE) mwl__frame_put(f, &f->vars, mwl__keep(e->vars));
    if ((how & MWL_REENTER_CARRY) && mwl_is_absent(e->emit.v)) {
        mwl__move(&next, &e->res.v);
        e->res.v = mwl_absent();
    } else {
        next = how & MWL_REENTER_CARRY ? e->emit.v : mwl__keep(e->output);
        if (how & MWL_REENTER_CARRY) e->emit.v = mwl_absent();
        if (!mwl_is_absent(e->emit.v)) mwl__entry_set_emit(f, e, false, mwl_absent());
        if (!mwl_is_absent(e->res.v)) mwl__reenter_consume(f, e);
    }
    if (f->in_flight.tag & MWL_OWNED) mwl__drop(&vm->heap, f->in_flight);
    return mwl__reenter_with(f, vm, e, e->link->rec, &next, delay_ns);
}

/* Is all of onSuccess known from the program (linked.h: mwl__linked_repeats), so that nothing of it
 * needs to be executed before the inner scope runs again? */
static inline bool mwl__reenter_is_known(const mwl__frame *f, const mwl_vm *vm,
                                         const mwl__entry *e) {
    const mwl__entry_link *l = e->link;
    return e->runs < l->repeats && l->provider == e->provider && vm->exec.slice > 0 &&
           !mwl__tracing(vm) && mwl_is_absent(f->in_flight);
}
/* Then that is done here: the Result of the frame is carried, and what would have been executed is
 * paid. */
static inline uint32_t mwl__reenter_at_once(mwl__frame *f, mwl_vm *vm, mwl__entry *e,
                                            const mwl__entry_rec *rec) {
    mwl_value next;
    mwl__exec_pay(&vm->exec, MWL_PARTS_ACT_REENTER);
    e->args = mwl_absent();
    mwl__move(&next, &f->res.v);
    f->res.v = mwl_absent();
    return mwl__reenter_with(f, vm, e, rec, &next, 0);
}

#endif
