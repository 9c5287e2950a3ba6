/* ascend.h: the instruction ASCEND, by which a Result reaches the entry around it, and the inner
 * scope of an entry that runs again. Inline: calls and the loop do this all the time. */
#ifndef MWL_ASCEND_H
#define MWL_ASCEND_H

#include "vm/cel/ops.h"
#include "vm/machine/entry.h"
#include "vm/machine/frame.h"

/* Moves the Result of `from` to `place`, whose old one is dropped. `from` has none afterwards. */
static inline void mwl__ascend_move(const mwl__frame *f, mwl__result *place, mwl__result *from) {
    if (place->v.tag & MWL_OWNED) mwl__drop(mwl__heap_of(f), place->v);
    mwl__result_move(place, from);
    from->v = mwl_absent();
}

/* The frame's Result moves to the entry. */
static inline void mwl__ascend_accept(mwl__frame *f, mwl__entry *e) {
    mwl__ascend_move(f, &e->res, &f->res);
}

/* The slow parts of the functions below. */
MWL__OUTLINE void mwl__ascend_note(mwl__frame *f, mwl__entry *e, unsigned phase);
MWL__OUTLINE uint32_t mwl__ascend_pass_on(mwl__frame *f, mwl_vm *vm);
MWL__OUTLINE uint32_t mwl__ascend_late(mwl__frame *f, mwl_vm *vm);
MWL__OUTLINE uint32_t mwl__ascend_cleared(mwl__frame *f, mwl_vm *vm);
MWL__OUTLINE uint32_t mwl__ascend_noted(mwl__frame *f, mwl__entry *e, unsigned phase);
MWL__OUTLINE uint32_t mwl__ascend_run(mwl__frame *f, mwl_vm *vm, int64_t delay_ns);
/* The entry's Result is consumed. */
MWL__OUTLINE void mwl__ascend_consume(mwl__frame *f, mwl__entry *e);

static inline void mwl__ascend_begin(mwl__frame *f, mwl__entry *e, unsigned phase) {
    e->state = (uint8_t)(MWL_ENTRY_ENTERING + phase);
    e->verdict = MWL_VERDICT_PASS;
    e->gated = false;
    f->construct = MWL_IN_PHASE;
}

/* Is the instant of the phase kept, or does a listener trace it? */
static inline bool mwl__ascend_notes(const mwl_vm *vm, const mwl__entry_rec *rec, unsigned phase) {
    return (rec->flags & ((unsigned)MWL_NEEDS_PHASE << phase)) || mwl__tracing(vm);
}

/* A phase of the entry begins. */
static inline void mwl__ascend_phase(mwl__frame *f, const mwl_vm *vm, mwl__entry *e,
                                     const mwl__entry_rec *rec, unsigned phase) {
    mwl__ascend_begin(f, e, phase);
    if (mwl__ascend_notes(vm, rec, phase)) mwl__ascend_note(f, e, phase);
}

/* Can the Result pass the entry unseen? `silent` is the flag that says that no phase has code for
 * it; the frame has no extra record, and no listener traces. */
static inline bool mwl__ascend_passes(const mwl__frame *f, const mwl_vm *vm,
                                      const mwl__entry_rec *rec, uint32_t silent) {
    return (rec->flags & silent) && !f->extra && !mwl__tracing(vm);
}

/* The Result reaches the entry, and the phase for it begins at pc. */
static inline uint32_t mwl__ascend_to(mwl__frame *f, const mwl_vm *vm, mwl__entry *e,
                                      const mwl__entry_rec *rec, unsigned phase, uint32_t pc) {
    e->accepted = true;
    mwl__result_move(&e->res, &f->res);
    f->res.v = mwl_absent();
    e->args = mwl_absent();
    mwl__ascend_begin(f, e, phase);
    return mwl__ascend_notes(vm, rec, phase) ? mwl__ascend_noted(f, e, phase) : pc;
}

/* Runs the inner scope of the entry again with this value, after delay_ns if that is positive. No
 * other value is in flight. Returns a pc (state.h). */
static inline uint32_t mwl__ascend_again(mwl__frame *f, mwl_vm *vm, mwl__entry *e,
                                         const mwl__entry_rec *rec, const mwl_value *take_next,
                                         int64_t delay_ns) {
    mwl__move(&f->in_flight, take_next);
    e->accepted = false;
    e->state = MWL_ENTRY_INNER;
    e->runs++;
    if ((rec->flags & MWL_ENTRY_FLOW_LEVEL) || mwl__tracing(vm) || delay_ns > 0)
        return mwl__ascend_run(f, vm, delay_ns);
    return rec->inner_pc;
}

/* The same, as a phase has decided. how: MWL_REENTER_*.
 * spec: middleware-mechanics, re-execution: the inner scope runs again, onEntry does not.
 * middleware-providers, Retry: each attempt receives the same input and variables (RESTORE). Loop:
 * the next run receives the carried value (CARRY), and variables persist. */
MWL__INLINE uint32_t mwl__ascend_reenter(mwl__frame *f, mwl_vm *vm, mwl__entry *e, unsigned how,
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
        if (!mwl_is_absent(e->res.v)) mwl__ascend_consume(f, e);
    }
    if (f->in_flight.tag & MWL_OWNED) mwl__drop(&vm->heap, f->in_flight);
    return mwl__ascend_again(f, vm, e, e->link->rec, &next, delay_ns);
}

/* Is all of onSuccess known, and does it run the inner scope again? */
static inline bool mwl__ascend_repeats(const mwl__frame *f, const mwl_vm *vm, const mwl__entry *e) {
    const mwl__entry_link *l = e->link;
    return e->runs < l->repeats && l->provider == e->provider && vm->exec.slice > 0 &&
           !mwl__tracing(vm) && mwl_is_absent(f->in_flight);
}
/* Then its instructions are done here (linked.h: mwl__linked_repeats), and are charged. */
static inline uint32_t mwl__ascend_repeat(mwl__frame *f, mwl_vm *vm, mwl__entry *e,
                                          const mwl__entry_rec *rec) {
    mwl_value next;
    vm->exec.slice -= 2; /* COUNT_GATE, and the first part of ACT_REENTER */
    e->args = mwl_absent();
    mwl__ascend_begin(f, e, MWL_ON_SUCCESS);
    mwl__move(&next, &f->res.v);
    f->res.v = mwl_absent();
    return mwl__ascend_again(f, vm, e, rec, &next, 0);
}

/* ASCEND: the Result reaches the innermost entry. Returns a pc (state.h). */
MWL__OUTLINE uint32_t mwl__ascend(mwl__frame *f, mwl_vm *vm);
/* The same, in its caller. What is rare is called last, so that nothing must be saved for it. */
MWL__INLINE uint32_t mwl__ascend_inline(mwl__frame *f, mwl_vm *vm) {
    mwl__entry *e = f->entries;
    const mwl__entry_rec *rec = e->link->rec;
    if (e->armed && !e->accepted) return mwl__ascend_late(f, vm);
    if ((e->res.v.tag | e->args.tag) & MWL_OWNED) return mwl__ascend_cleared(f, vm);
    if (f->res.ok) {
        if (mwl__ascend_repeats(f, vm, e)) return mwl__ascend_repeat(f, vm, e, rec);
        if (mwl__ascend_passes(f, vm, rec, MWL_ENTRY_PASSES_SUCCESS))
            return mwl__ascend_pass_on(f, vm);
        return mwl__ascend_to(f, vm, e, rec, MWL_ON_SUCCESS, rec->success_pc);
    }
    if (mwl__ascend_passes(f, vm, rec, MWL_ENTRY_PASSES_FAILURE)) return mwl__ascend_pass_on(f, vm);
    return mwl__ascend_to(f, vm, e, rec, MWL_ON_FAILURE, rec->failure_pc);
}

#endif
