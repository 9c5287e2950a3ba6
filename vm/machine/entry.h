/* entry.h: middleware entries: the instructions around their phases, and their records. */
#ifndef MWL_ENTRY_H
#define MWL_ENTRY_H

#include "vm/cel/ops.h"
#include "vm/machine/state.h"
#include "vm/machine/token.h"

/* Instructions. Each returns a pc (state.h) unless it says otherwise. The VM is passed where it is
 * read for each: from the frame it is three loads, each of which waits for the one before. */
uint32_t mwl__entry_enter(mwl__frame *f, uint32_t ix, uint32_t next_pc);
/* The three instructions of OPEN, and the two of ACT_REENTER (linked_op.h). */
MWL__OUTLINE uint32_t mwl__entry_open(mwl__frame *f, mwl_vm *vm, uint32_t ix);
MWL__OUTLINE uint32_t mwl__entry_act_reenter(mwl__frame *f, mwl_vm *vm, unsigned phase);
uint32_t mwl__entry_gate(mwl__frame *f, mwl_value when, uint32_t off_pc, uint32_t next_pc);
void mwl__entry_with(mwl__frame *f, mwl_value take);
uint32_t mwl__entry_action(mwl__frame *f, unsigned phase, uint32_t next_pc);
uint32_t mwl__entry_action_done(mwl__frame *f, unsigned phase);
uint32_t mwl__entry_establish(mwl__frame *f, uint32_t next_pc);
uint32_t mwl__entry_fault(mwl__frame *f);
bool mwl__entry_skips_shape(const mwl__frame *f);
void mwl__entry_shape(mwl__frame *f, mwl_value take);
uint32_t mwl__entry_envelope(mwl__frame *f, mwl_value *regs, uint32_t shape, uint32_t next_pc);
uint32_t mwl__entry_phase_fault(mwl__frame *f);
uint32_t mwl__entry_reenter(mwl__frame *f);
uint32_t mwl__entry_always(mwl__frame *f, uint32_t next_pc);
uint32_t mwl__entry_always_fault(mwl__frame *f);
uint32_t mwl__entry_unwind(mwl__frame *f, uint32_t next_pc);

MWL__OUTLINE void mwl__entry_pop(mwl__frame *f); /* frees the innermost record */
/* Drops what few entries still have when they are left. */
MWL__OUTLINE void mwl__entry_drop_rare(mwl_heap *h, const mwl__entry *e);
/* The same as mwl__entry_pop, in its caller. */
static inline void mwl__entry_pop_inline(mwl__frame *f, mwl_heap *h) {
    mwl__entry *e = f->entries;
    const mwl__provider *p = e->provider;
    if (e->token) mwl__token_left(e);
    f->entries = e->outer;
    if (p->middleware.left && mwl_value_kind(e->own_state) != MWL_KIND_NULL)
        p->middleware.left(e->own_state, p->user);
    mwl__drop(h, e->input);
    mwl__drop(h, e->output);
    mwl__drop(h, e->own_state);
    mwl__drop(h, e->contributed);
    uint32_t rare = e->args.tag | e->vars.tag | e->res.v.tag | e->emit.v.tag | e->cancel.tag;
    if (rare & MWL_OWNED) mwl__entry_drop_rare(h, e);
    mwl__heap_give(h, e, sizeof *e);
}
void mwl__entry_set_res(mwl__frame *f, mwl__entry *e, bool ok, mwl_value take);
void mwl__entry_set_emit(mwl__frame *f, mwl__entry *e, bool ok, mwl_value take);
/* Whose `middleware` root is read, or NULL. */
static inline mwl__entry *mwl__entry_reading(const mwl__frame *f) {
    mwl__entry *e = f->entries;
    while (e && e->state == MWL_ENTRY_INNER) e = e->outer;
    return e;
}
/* Lent: the metadata that it contributes, with the machine's own members. Absent: none, or out of
 * memory. */
mwl_value mwl__entry_contributed(mwl__frame *f, mwl__entry *e);
/* Makes `contributed` an object where it is a deadline only. False: out of memory. */
bool mwl__entry_write_deadline(mwl__frame *f, mwl__entry *e);

#endif
