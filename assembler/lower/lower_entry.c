/* lower_entry.c: middleware stacks: the descent and the ascent of each entry, and structural calls.
 *
 * A phase's code, in the order the specification fixes: when, with, action, shaping, assign. A
 * phase that the definition leaves out and where the middleware does nothing has no code of its
 * own. */
#include "assembler/lower/lower_impl.h"

static const mwl__op fault_op[4] = {MWL_OP_ENTRY_FAULT, MWL_OP_PHASE_FAULT, MWL_OP_PHASE_FAULT,
                                    MWL_OP_ALWAYS_FAULT};

/* ---- with ------------------------------------------------------------------------------------ */

static bool is_structural(const mwl__node *names, const mwl__node *member) {
    for (const mwl__node *n = names ? mwl__node_first(names) : NULL; n; n = n->next)
        if (n->kind == MWL_NODE_STRING && n->count == member->key_len &&
            memcmp(n->as.text, member->key, n->count) == 0)
            return true;
    return false;
}

static void set_with(mwl__lowerer *l, const mwl__m_entry *entry, unsigned phase, uint32_t k) {
    mwl__entry_rec *r = mwl__lower_rec(l, ENTRIES, mwl__entry_rec, entry->ix);
    if (r) r->with_k[phase] = k;
}

/* `with` without its structural members: this is checked against the middleware's parameters. It is
 * built member by member, because such objects are rare and small. */
static void with_beside(mwl__lowerer *l, const mwl__m_entry *entry, unsigned phase,
                        const mwl__node *names) {
    const mwl__node *with = entry->phase[phase].with;
    unsigned top = l->top, d = top, key = top + 1, value = top + 2;
    uint32_t others = 0;
    for (const mwl__node *c = mwl__node_first(with); c; c = c->next)
        others += !is_structural(names, c);
    if (others == 0) return;
    l->top += 3;
    mwl__emit_regs(l->e, l->top);
    mwl__lower_ax(l, with, MWL_OP_NEW_MAP, d, others);
    for (const mwl__node *c = mwl__node_first(with); c; c = c->next) {
        if (is_structural(names, c)) continue;
        mwl__lower_value(l, c, value);
        mwl__lower_ax(l, c, MWL_OP_LOAD_K, key, mwl__lower_name(l, c));
        mwl__lower_abc(l, c, MWL_OP_MAP_PUT, d, key, value);
    }
    mwl__lower_abc(l, with, MWL_OP_WITH, d, 0, 0);
    l->top = top;
}

static void lower_with(mwl__lowerer *l, const mwl__m_entry *entry, unsigned phase) {
    const mwl__node *with = entry->phase[phase].with, *names = entry->provider->structural[phase];
    if (!with)
        set_with(l, entry, phase, mwl__emit_const(l->e, mwl__map_new(NULL, 0)));
    else if (with->kind == MWL_NODE_OBJECT && names && names->count > 0)
        with_beside(l, entry, phase, names);
    else if (mwl__model_computed(l->model, with))
        mwl__lower_field(l, with, MWL_OP_WITH);
    else
        set_with(l, entry, phase, mwl__lower_const(l, with));
}

/* ---- phases ---------------------------------------------------------------------------------- */

/* when, with, action; continues with the shaping. A `when` without an action has no code: there
 * is nothing that it could gate (vm/DECISIONS.md, 9). */
static void act(mwl__lowerer *l, const mwl__m_entry *entry, unsigned phase) {
    const mwl__m_phase *p = &entry->phase[phase];
    const mwl__node *at = p->node ? p->node : entry->node;
    bool acts = entry->provider->acts[phase] || p->with;
    bool gated = p->when && entry->provider->acts[phase];
    int known = gated ? mwl__lower_known(l, p->when) : 1;
    uint32_t gate = MWL_NONE;
    if (known != 1) gate = mwl__lower_condition(l, p->when, MWL_OP_GATE);
    if (acts && known != 0) {
        lower_with(l, entry, phase);
        mwl__lower_ax(l, p->with ? p->with : at, MWL_OP_ACTION, phase, entry->ix);
    }
    if (gate != MWL_NONE) mwl__emit_patch(l->e, gate, mwl__lower_here(l));
}

static bool has_fields(const mwl__m_phase *p) {
    for (size_t i = 0; p->fields && i < 6; i++)
        if (p->fields[i]) return true;
    return false;
}

static bool is_silent(const mwl__m_entry *entry, unsigned phase) {
    const mwl__m_phase *p = &entry->phase[phase];
    return !entry->provider->acts[phase] && !p->with && !p->shape && !has_fields(p) &&
           !(p->assign && p->assign->count);
}

/* The envelope's fields, in a row. */
static void envelope(mwl__lowerer *l, const mwl__m_phase *p) {
    static const char *const others[] = {"when", "with", "assign", "comment", NULL};
    unsigned top = l->top, first;
    uint32_t shape;
    if (mwl__lower_row(l, p->node, others, &first, &shape))
        mwl__lower_abc(l, p->node, MWL_OP_ENVELOPE, first, shape, 0);
    l->top = top;
}

/* onSuccess or onFailure, up to its REENTER; returns the pc of that. */
static uint32_t ascent_phase(mwl__lowerer *l, const mwl__m_entry *entry, unsigned phase,
                             uint32_t stub) {
    const mwl__m_phase *p = &entry->phase[phase];
    bool shapes = phase == MWL_ON_SUCCESS ? p->shape != NULL : has_fields(p);
    l->site.phase = phase;
    uint32_t begin = mwl__lower_here(l);
    act(l, entry, phase);
    if (shapes) {
        uint32_t skip = mwl__lower_ax(l, p->node, MWL_OP_SHAPE_SKIP, 0, 0);
        if (phase == MWL_ON_SUCCESS)
            mwl__lower_field(l, p->shape, MWL_OP_SHAPE);
        else
            envelope(l, p);
        mwl__emit_patch(l->e, skip, mwl__lower_here(l));
    }
    mwl__lower_assign(l, p->assign);
    mwl__lower_guard_from(l, begin, stub);
    return mwl__lower_ax(l, p->node ? p->node : entry->node, MWL_OP_REENTER, 0, entry->ix);
}

/* ---- stacks ---------------------------------------------------------------------------------- */

static void new_entry(mwl__lowerer *l, mwl__m_entry *entry, uint32_t flags) {
    mwl__entry_rec rec = {mwl__lower_import(l, entry->provider, entry->node),
                          flags,
                          0,
                          0,
                          0,
                          0,
                          0,
                          0,
                          {MWL_NONE, MWL_NONE, MWL_NONE, MWL_NONE},
                          {MWL_NONE, MWL_NONE, MWL_NONE, MWL_NONE}};
    entry->ix = mwl__emit_record(l->e, MWL_SECTION_ENTRIES, &rec, sizeof rec);
    for (unsigned phase = 0; phase < 4; phase++) {
        if (!entry->phase[phase].call) continue;
        if (!mwl__lower_room(l, &l->later, &l->cap_later, l->n_later + 1, sizeof *l->later)) return;
        l->later[l->n_later++] = (mwl__lower_later){entry, phase, l->site.step};
    }
}

static void descent(mwl__lowerer *l, mwl__m_entry *entry, uint32_t flags) {
    const mwl__m_phase *p = &entry->phase[MWL_ON_ENTRY];
    new_entry(l, entry, flags);
    l->site.entry = entry;
    l->site.phase = MWL_ON_ENTRY;
    uint32_t stub = mwl__lower_stub_new(l, entry->node, MWL_OP_ENTRY_FAULT, entry->ix);
    mwl__lower_ax(l, entry->node, MWL_OP_ENTER, 0, entry->ix);
    uint32_t begin = mwl__lower_here(l);
    act(l, entry, MWL_ON_ENTRY);
    if (p->shape) mwl__lower_field(l, p->shape, MWL_OP_OUT);
    mwl__lower_assign(l, p->assign);
    mwl__lower_guard_from(l, begin, stub);
    mwl__lower_ax(l, entry->node, MWL_OP_ESTABLISH, 0, entry->ix);
    mwl__entry_rec *r = mwl__lower_rec(l, ENTRIES, mwl__entry_rec, entry->ix);
    if (r) r->inner_pc = mwl__lower_here(l);
}

static void ascent(mwl__lowerer *l, mwl__m_entry *entry, bool rises) {
    l->site.entry = entry;
    uint32_t stub = mwl__lower_stub_new(l, entry->node, fault_op[MWL_ON_SUCCESS], entry->ix);
    uint32_t last = mwl__lower_stub_new(l, entry->node, fault_op[MWL_ON_ALWAYS], entry->ix);
    mwl__lower_ax(l, entry->node, MWL_OP_ASCEND, 0, entry->ix);
    uint32_t pc[2] = {MWL_NONE, MWL_NONE}, reenter = MWL_NONE;
    for (unsigned i = 0; i < 2; i++) {
        if (is_silent(entry, MWL_ON_SUCCESS + i)) continue;
        pc[i] = mwl__lower_here(l);
        reenter = ascent_phase(l, entry, MWL_ON_SUCCESS + i, stub);
    }
    if (reenter == MWL_NONE) reenter = mwl__lower_ax(l, entry->node, MWL_OP_REENTER, 0, entry->ix);
    l->site.phase = MWL_ON_ALWAYS;
    const mwl__m_phase *p = &entry->phase[MWL_ON_ALWAYS];
    const mwl__node *at = p->node ? p->node : entry->node;
    uint32_t always_pc = mwl__lower_ax(l, at, MWL_OP_ALWAYS, 0, entry->ix),
             begin = mwl__lower_here(l);
    act(l, entry, MWL_ON_ALWAYS);
    mwl__lower_assign(l, p->assign);
    mwl__lower_guard_from(l, begin, last);
    uint32_t leave_pc = mwl__lower_ax(l, at, MWL_OP_UNWIND, 0, entry->ix);
    mwl__entry_rec *r = mwl__lower_rec(l, ENTRIES, mwl__entry_rec, entry->ix);
    if (!r) return;
    r->success_pc = pc[0] == MWL_NONE ? reenter : pc[0];
    r->failure_pc = pc[1] == MWL_NONE ? reenter : pc[1];
    if (leave_pc == always_pc + 1) {
        if (pc[0] == MWL_NONE) r->flags |= MWL_ENTRY_PASSES_SUCCESS;
        if (pc[1] == MWL_NONE) r->flags |= MWL_ENTRY_PASSES_FAILURE;
    }
    if (rises) r->flags |= MWL_ENTRY_RISES;
    r->always_pc = always_pc;
    r->leave_pc = leave_pc;
    r->out_pc = mwl__lower_here(l);
}

void mwl__lower_descent(mwl__lowerer *l, mwl__m_entry **stack, uint32_t n, bool around_call) {
    mwl__lower_site site = l->site;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t flags = around_call ? 0 : MWL_ENTRY_FLOW_LEVEL;
        if (around_call && i + 1 == n) flags |= MWL_ENTRY_AROUND_CALL;
        descent(l, stack[i], flags);
    }
    l->site = site;
}

void mwl__lower_ascent(mwl__lowerer *l, mwl__m_entry **stack, uint32_t n) {
    mwl__lower_site site = l->site;
    while (n-- > 0) ascent(l, stack[n], n > 0);
    l->site = site;
}

/* ---- structural calls ------------------------------------------------------------------------ */

void mwl__lower_structural(mwl__lowerer *l) {
    mwl__lower_site site = l->site;
    for (size_t i = 0; i < l->n_later && l->status == MWL_OK; i++) {
        mwl__lower_later at = l->later[i];
        const mwl__m_phase *p = &at.entry->phase[at.phase];
        l->site = (mwl__lower_site){.flow = site.flow, .step = at.step, .gather = MWL_NONE};
        uint32_t pc = mwl__lower_here(l);
        mwl__lower_call_new(l, p->call, MWL_NONE);
        mwl__lower_descent(l, p->stack, p->n_stack, true);
        l->site.entry = at.entry;
        l->site.phase = at.phase;
        mwl__lower_call(l, p->call, p->n_stack > 0);
        mwl__lower_ascent(l, p->stack, p->n_stack);
        mwl__lower_ax(l, p->call->node, MWL_OP_ACTION_DONE, at.phase, at.entry->ix);
        mwl__lower_flush(l);
        mwl__entry_rec *r = mwl__lower_rec(l, ENTRIES, mwl__entry_rec, at.entry->ix);
        if (r) r->struct_pc[at.phase] = pc;
    }
    l->n_later = 0;
    l->site = site;
}
