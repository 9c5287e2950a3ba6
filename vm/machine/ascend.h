/* ascend.h: the instruction ASCEND, by which a Result reaches the entry around it. Inline: calls
 * and the loop do this all the time. */
#ifndef MWL_ASCEND_H
#define MWL_ASCEND_H

#include "vm/cel/ops.h"
#include "vm/machine/entry.h"
#include "vm/machine/frame.h"
#include "vm/machine/reenter.h"

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

/* ASCEND: the Result reaches the innermost entry. Returns a pc (state.h). */
MWL__OUTLINE uint32_t mwl__ascend(mwl__frame *f, mwl_vm *vm);
/* The same, in its caller. What is rare is called last, so that nothing must be saved for it. */
MWL__INLINE uint32_t mwl__ascend_inline(mwl__frame *f, mwl_vm *vm) {
    mwl__entry *e = f->entries;
    const mwl__entry_rec *rec = e->link->rec;
    if (e->armed && !e->accepted) return mwl__ascend_late(f, vm);
    if ((e->res.v.tag | e->args.tag) & MWL_OWNED) return mwl__ascend_cleared(f, vm);
    if (f->res.ok) {
        if (mwl__reenter_is_known(f, vm, e)) { /* onSuccess begins, and is over */
            mwl__ascend_begin(f, e, MWL_ON_SUCCESS);
            return mwl__reenter_at_once(f, vm, e, rec);
        }
        if (mwl__ascend_passes(f, vm, rec, MWL_ENTRY_PASSES_SUCCESS))
            return mwl__ascend_pass_on(f, vm);
        return mwl__ascend_to(f, vm, e, rec, MWL_ON_SUCCESS, rec->success_pc);
    }
    if (mwl__ascend_passes(f, vm, rec, MWL_ENTRY_PASSES_FAILURE)) return mwl__ascend_pass_on(f, vm);
    return mwl__ascend_to(f, vm, e, rec, MWL_ON_FAILURE, rec->failure_pc);
}

#endif
