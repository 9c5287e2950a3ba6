/* lower.c: Flows to code: their order, instructions with their positions, stubs, shared records.
 *
 * The root comes first, then the other Flows in the order in which calls name them. In a Flow the
 * entrypoint comes first, then the other Steps as they are written. Steps that no path leads to,
 * and Flows that only such Steps call, are left out. All of this depends on the definition alone,
 * so the same definition always gives the same bytes.
 *
 * There is no recursion over calls or Flows: they wait in lists (flows, later). */
#include "assembler/lower/lower_impl.h"
#include "assembler/schema/schema_compile.h"

/* ---- failing --------------------------------------------------------------------------------- */

void mwl__lower_fail(mwl__lowerer *l, mwl_status why) {
    if (l->status == MWL_OK) l->status = why;
    mwl__emit_fail(l->e, why);
}

void mwl__lower_too_big(mwl__lowerer *l, const mwl__node *n, const char *message) {
    if (l->status == MWL_OK)
        mwl__node_report(l->model->tree, n, MWL_DIAG_DEFINITION_TOO_LARGE, "%s", message);
    mwl__lower_fail(l, MWL_E_REJECTED);
}

bool mwl__lower_room(mwl__lowerer *l, void *array, size_t *cap, size_t need, size_t size) {
    void *p;
    memcpy(&p, array, sizeof p);
    mwl_status grown = mwl__mem_grow(&l->alloc, &p, cap, need, size);
    memcpy(array, &p, sizeof p);
    if (grown < 0) mwl__lower_fail(l, grown);
    return grown == MWL_OK;
}

/* ---- instructions ---------------------------------------------------------------------------- */

uint32_t mwl__lower_ax(mwl__lowerer *l, const mwl__node *n, mwl__op op, unsigned a, uint32_t x) {
    uint32_t pc = mwl__emit_ax(l->e, op, a, x);
    mwl__emit_where(l->e, pc, 0, mwl__lower_node_where(l, n));
    return pc;
}

uint32_t mwl__lower_abc(mwl__lowerer *l, const mwl__node *n, mwl__op op, unsigned a, unsigned b,
                        unsigned c) {
    uint32_t pc = mwl__emit_abc(l->e, op, a, b, c);
    mwl__emit_where(l->e, pc, 0, mwl__lower_node_where(l, n));
    return pc;
}

/* ---- stubs ----------------------------------------------------------------------------------- */

uint32_t mwl__lower_stub_new(mwl__lowerer *l, const mwl__node *n, mwl__op op, uint32_t x) {
    if (!mwl__lower_room(l, &l->stubs, &l->cap_stubs, l->n_stubs + 1, sizeof *l->stubs)) return 0;
    l->stubs[l->n_stubs] = (mwl__lower_stub){op, x, n, MWL_NONE, false};
    return (uint32_t)l->n_stubs++;
}

static bool can_fault(const mwl__lowerer *l, uint32_t pc) {
    return (mwl__op_get(mwl__emit_at(l->e, pc).op)->flags & MWL_OPF_FAULTS) != 0;
}

void mwl__lower_guard_from(mwl__lowerer *l, uint32_t begin, uint32_t stub) {
    uint32_t end = mwl__lower_here(l), pc = begin;
    while (pc < end && !can_fault(l, pc)) pc++;
    if (pc >= end || stub >= l->n_stubs) return;
    if (!mwl__lower_room(l, &l->guards, &l->cap_guards, l->n_guards + 1, sizeof *l->guards)) return;
    l->guards[l->n_guards++] = (mwl__lower_guard){begin, end, stub};
    l->stubs[stub].used = true;
}

void mwl__lower_flush(mwl__lowerer *l) {
    for (size_t i = 0; i < l->n_stubs; i++)
        if (l->stubs[i].used)
            l->stubs[i].pc = mwl__lower_ax(l, l->stubs[i].node, l->stubs[i].op, 0, l->stubs[i].x);
    for (size_t i = 0; i < l->n_guards; i++)
        mwl__emit_handler(l->e, l->guards[i].begin, l->guards[i].end,
                          l->stubs[l->guards[i].stub].pc, 0, MWL_HANDLER_SITE);
    l->n_stubs = l->n_guards = 0;
}

/* ---- shared records -------------------------------------------------------------------------- */

uint32_t mwl__lower_name(mwl__lowerer *l, const mwl__node *member) {
    return mwl__emit_string(l->e, member->key, member->key_len);
}

uint32_t mwl__lower_import(mwl__lowerer *l, const mwl__contract *c, const mwl__node *user) {
    for (size_t i = 0; i < l->n_imports; i++)
        if (l->imports[i] == c) return (uint32_t)i;
    if (!mwl__lower_room(l, &l->imports, &l->cap_imports, l->n_imports + 1, sizeof *l->imports))
        return 0;
    const mwl__node *named = mwl__node_get(user, "provider");
    mwl__where at = mwl__lower_node_where(l, named ? named : user);
    mwl__import_rec rec = {mwl__emit_string(l->e, c->uri, c->uri_len),
                           c->is_middleware ? MWL_IMPORT_MIDDLEWARE : MWL_IMPORT_CALL, at.line,
                           at.column};
    l->imports[l->n_imports++] = c;
    return mwl__emit_record(l->e, MWL_SECTION_IMPORTS, &rec, sizeof rec);
}

uint32_t mwl__lower_flow_ix(mwl__lowerer *l, mwl__m_flow *flow) {
    if (flow->ix != MWL_NONE) return flow->ix;
    if (!mwl__lower_room(l, &l->flows, &l->cap_flows, l->n_flows + 1, sizeof *l->flows)) return 0;
    mwl__flow_rec rec = {MWL_NONE, 0, 0, MWL_NONE, MWL_NONE, 0};
    if (flow->name) rec.name_k = mwl__emit_string(l->e, flow->name, flow->name_len);
    flow->ix = mwl__emit_record(l->e, MWL_SECTION_FLOWS, &rec, sizeof rec);
    l->flows[l->n_flows++] = flow;
    return flow->ix;
}

/* ---- Flows ----------------------------------------------------------------------------------- */

/* The parameters' schema, and the object of the declared defaults. */
static void lower_parameters(mwl__lowerer *l, const mwl__m_flow *flow) {
    uint32_t schema = MWL_NONE, defaults_k = MWL_NONE;
    if (!flow->parameters) return;
    mwl__schema_options options = mwl__schema_parameters();
    mwl_status status = mwl__schema_emit(l->model->tree, flow->parameters, &options, l->e, &schema);
    if (status < 0) mwl__lower_fail(l, status);
    mwl_value all = mwl__schema_defaults(&l->heap, flow->parameters);
    if (mwl_is_absent(all))
        mwl__lower_fail(l, l->heap.why);
    else if (all.aux)
        defaults_k = mwl__emit_const(l->e, all);
    mwl__drop(&l->heap, all);
    mwl__flow_rec *rec = mwl__lower_rec(l, FLOWS, mwl__flow_rec, flow->ix);
    if (!rec) return;
    rec->schema = schema;
    rec->defaults_k = defaults_k;
}

static void new_step(mwl__lowerer *l, mwl__m_step *s) {
    mwl__step_rec rec = {mwl__lower_name(l, s->node), s->flow->ix, s->action, 0, 0, 0, 0};
    s->ix = mwl__emit_record(l->e, MWL_SECTION_STEPS, &rec, sizeof rec);
}

static void lower_flow(mwl__lowerer *l, mwl__m_flow *flow) {
    l->site = (mwl__lower_site){.flow = flow, .gather = MWL_NONE};
    new_step(l, flow->entrypoint);
    for (uint32_t i = 0; i < flow->n_steps; i++)
        if (flow->steps[i]->reachable && flow->steps[i] != flow->entrypoint)
            new_step(l, flow->steps[i]);
    mwl__flow_rec *rec = mwl__lower_rec(l, FLOWS, mwl__flow_rec, flow->ix);
    if (rec) rec->pc = mwl__lower_here(l);
    mwl__lower_descent(l, flow->stack, flow->n_stack, false);
    mwl__lower_step(l, flow->entrypoint); /* the descent continues there */
    for (uint32_t i = 0; i < flow->n_steps; i++)
        if (flow->steps[i]->reachable && flow->steps[i] != flow->entrypoint)
            mwl__lower_step(l, flow->steps[i]);
    l->site = (mwl__lower_site){.flow = flow, .gather = MWL_NONE};
    uint32_t ascend_pc = mwl__lower_here(l);
    mwl__lower_ascent(l, flow->stack, flow->n_stack);
    mwl__lower_ax(l, flow->node, MWL_OP_COMPLETE, 0, flow->ix);
    mwl__lower_flush(l);
    mwl__lower_structural(l);
    rec = mwl__lower_rec(l, FLOWS, mwl__flow_rec, flow->ix);
    if (rec) rec->ascend_pc = ascend_pc;
    lower_parameters(l, flow);
}

static void release(mwl__lowerer *l) {
    mwl_alloc *a = &l->alloc;
    mwl__mem_free(a, l->flows, l->cap_flows * sizeof *l->flows);
    mwl__mem_free(a, l->imports, l->cap_imports * sizeof *l->imports);
    mwl__mem_free(a, l->stubs, l->cap_stubs * sizeof *l->stubs);
    mwl__mem_free(a, l->guards, l->cap_guards * sizeof *l->guards);
    mwl__mem_free(a, l->later, l->cap_later * sizeof *l->later);
    mwl__heap_done(&l->heap);
}

mwl_status mwl__lower(mwl__model *model, const mwl__functions *functions, mwl__emit *emit) {
    mwl__lowerer l;
    memset(&l, 0, sizeof l);
    l.model = model;
    l.functions = functions;
    l.e = emit;
    l.alloc = model->arena.alloc;
    mwl_status status = mwl__heap_init(&l.heap, &l.alloc);
    if (status < 0) return status;
    const mwl__source *source = model->tree->source;
    for (uint32_t i = 0; i < model->n_flows; i++) model->flows[i]->ix = MWL_NONE;
    mwl__emit_info(emit, MWL_INFO_ROOT_FLOW, mwl__lower_flow_ix(&l, model->flows[0]));
    for (size_t i = 0; i < l.n_flows && l.status == MWL_OK && mwl__emit_status(emit) == MWL_OK; i++)
        lower_flow(&l, l.flows[i]);
    mwl__emit_source(emit, source->text, source->len);
    status = l.status != MWL_OK ? l.status : mwl__emit_status(emit);
    if (status == MWL_E_TOO_BIG) {
        mwl__node_report(model->tree, model->tree->root, MWL_DIAG_DEFINITION_TOO_LARGE,
                         "the program has more parts than its instructions can name");
        status = MWL_E_REJECTED;
    }
    release(&l);
    return status;
}
