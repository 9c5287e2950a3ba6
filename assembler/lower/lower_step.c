/* lower_step.c: Steps to code: the seven actions, catch clauses and matchers. */
#include "assembler/lower/lower_impl.h"

/* ---- catch ----------------------------------------------------------------------------------- */

static uint32_t key_run(mwl__lowerer *l, const mwl__node *list, uint32_t *n) {
    *n = list ? list->count : 0;
    if (*n == 0) return 0;
    uint32_t first = mwl__emit_record_count(l->e, MWL_SECTION_KEYS);
    for (const mwl__node *c = mwl__node_first(list); c; c = c->next) {
        uint32_t k = mwl__emit_string(l->e, c->as.text, c->count);
        mwl__emit_keys(l->e, &k, 1);
    }
    return first;
}

static uint32_t matcher(mwl__lowerer *l, const mwl__m_catch *c) {
    mwl__matcher_rec rec = {0, 0, 0, 0, MWL_NONE};
    rec.first_code = key_run(l, c->codes, &rec.n_codes);
    rec.first_type = key_run(l, c->types, &rec.n_types);
    if (c->retryable && c->retryable->kind == MWL_NODE_BOOL) rec.retryable = c->retryable->boolean;
    return mwl__emit_record(l->e, MWL_SECTION_MATCHERS, &rec, sizeof rec);
}

/* The records of a Step's clauses, one after another. */
static uint32_t new_catches(mwl__lowerer *l, const mwl__m_step *s) {
    uint32_t first = mwl__emit_record_count(l->e, MWL_SECTION_CATCHES);
    for (uint32_t i = 0; i < s->n_catches; i++) {
        mwl__catch_rec rec = {matcher(l, &s->catches[i]), 0};
        mwl__emit_record(l->e, MWL_SECTION_CATCHES, &rec, sizeof rec);
    }
    return first;
}

static void clauses(mwl__lowerer *l, const mwl__m_step *s, uint32_t first) {
    if (s->n_catches == 0) return;
    uint32_t stub = mwl__lower_stub_new(l, s->node, MWL_OP_CLAUSE_FAULT, s->ix);
    for (uint32_t i = 0; i < s->n_catches; i++) {
        const mwl__m_catch *c = &s->catches[i];
        uint32_t pc = mwl__lower_here(l);
        if (c->output)
            mwl__lower_field(l, c->output, MWL_OP_OUT);
        else
            mwl__lower_abc(l, c->node, MWL_OP_PASS_INPUT, 0, 0, 0);
        mwl__lower_assign(l, c->assign);
        mwl__lower_guard_from(l, pc, stub);
        mwl__lower_ax(l, c->node, MWL_OP_TO_HANDLER, 0, c->next->ix);
        mwl__catch_rec *r = mwl__lower_rec(l, CATCHES, mwl__catch_rec, first + i);
        if (r) r->pc = pc;
    }
}

/* ---- actions --------------------------------------------------------------------------------- */

static void pass_or(mwl__lowerer *l, const mwl__m_step *s, const mwl__node *field) {
    if (field)
        mwl__lower_field(l, field, MWL_OP_OUT);
    else
        mwl__lower_abc(l, s->node, MWL_OP_PASS_INPUT, 0, 0, 0);
}

static void to(mwl__lowerer *l, const mwl__m_step *s) {
    mwl__lower_ax(l, s->node, MWL_OP_TO, 0, s->next->ix);
}

/* A Step that is not a Call or a Gather records its exit only if an expression can read it. */
static void exit_if_read(mwl__lowerer *l, const mwl__m_step *s) {
    const mwl__step_rec *r = mwl__lower_rec(l, STEPS, mwl__step_rec, s->ix);
    if (r && (r->flags & MWL_NEEDS_EXITED)) mwl__lower_abc(l, s->node, MWL_OP_STEP_EXIT, 0, 0, 0);
}

static void lower_pass(mwl__lowerer *l, const mwl__m_step *s, uint32_t fault) {
    uint32_t begin = mwl__lower_here(l);
    mwl__lower_reach_all(l, s->output);
    mwl__lower_reach_all(l, s->assign);
    exit_if_read(l, s);
    pass_or(l, s, s->output);
    mwl__lower_assign(l, s->assign);
    mwl__lower_guard_from(l, begin, fault);
    to(l, s);
}

static void lower_clause(mwl__lowerer *l, const mwl__m_clause *c) {
    if (c->output)
        mwl__lower_field(l, c->output, MWL_OP_OUT);
    else
        mwl__lower_abc(l, c->node, MWL_OP_PASS_MATCH, 0, 0, 0);
    mwl__lower_assign(l, c->assign);
    mwl__lower_ax(l, c->node, MWL_OP_TO, 0, c->next->ix);
}

static void lower_match(mwl__lowerer *l, const mwl__m_step *s, uint32_t fault) {
    uint32_t begin = mwl__lower_here(l);
    for (uint32_t i = 0; i < s->n_clauses; i++) {
        const mwl__m_clause *c = &s->clauses[i];
        mwl__lower_reach_all(l, c->when);
        mwl__lower_reach_all(l, c->output);
        mwl__lower_reach_all(l, c->assign);
    }
    pass_or(l, s, s->input);
    mwl__lower_abc(l, s->node, MWL_OP_MATCH_INPUT, 0, 0, 0);
    for (uint32_t i = 0; i < s->n_clauses; i++) {
        const mwl__m_clause *c = &s->clauses[i];
        int known = c->when ? mwl__lower_known(l, c->when) : 1;
        if (known == 0) continue;
        uint32_t miss =
            known == 1 ? MWL_NONE : mwl__lower_condition(l, c->when, MWL_OP_JUMP_UNLESS);
        exit_if_read(l, s); /* the action is to select a clause, so it is complete now */
        lower_clause(l, c);
        if (miss == MWL_NONE) break; /* what follows cannot be reached */
        mwl__emit_patch(l->e, miss, mwl__lower_here(l));
    }
    mwl__lower_guard_from(l, begin, fault);
}

static void lower_sleep(mwl__lowerer *l, const mwl__m_step *s, uint32_t fault) {
    uint32_t begin = mwl__lower_here(l);
    if (s->sleep_for)
        mwl__lower_field(l, s->sleep_for, MWL_OP_SLEEP_FOR);
    else
        mwl__lower_field(l, s->sleep_until, MWL_OP_SLEEP_UNTIL);
    mwl__lower_guard_from(l, begin, fault);
    mwl__lower_abc(l, s->node, MWL_OP_PASS_INPUT, 0, 0, 0);
    to(l, s);
}

static void lower_return(mwl__lowerer *l, const mwl__m_step *s, uint32_t fault) {
    uint32_t begin = mwl__lower_here(l);
    pass_or(l, s, s->value);
    mwl__lower_guard_from(l, begin, fault);
    mwl__lower_abc(l, s->node, MWL_OP_RETURN, 0, 0, 0);
}

static void lower_raise(mwl__lowerer *l, const mwl__m_step *s, uint32_t fault) {
    static const char *const others[] = {"comment", NULL};
    uint32_t begin = mwl__lower_here(l), shape;
    unsigned top = l->top, first;
    if (!s->result)
        mwl__lower_abc(l, s->node, MWL_OP_RERAISE, 0, 0, 0);
    else if (mwl__lower_row(l, s->result, others, &first, &shape))
        mwl__lower_abc(l, s->result, MWL_OP_RAISE, first, shape, 0);
    if (s->result) mwl__lower_guard_from(l, begin, fault);
    l->top = top;
}

static void lower_call_step(mwl__lowerer *l, mwl__m_step *s, uint32_t fault) {
    uint32_t begin = mwl__lower_here(l);
    pass_or(l, s, s->input);
    mwl__lower_guard_from(l, begin, fault);
    mwl__lower_call_new(l, s->calls[0], MWL_NONE);
    mwl__lower_descent(l, s->stack, s->n_stack, true);
    mwl__lower_call(l, s->calls[0], s->n_stack > 0);
    mwl__lower_ascent(l, s->stack, s->n_stack);
    mwl__lower_ax(l, s->node, MWL_OP_STEP_RESULT, 0, s->ix);
    begin = mwl__lower_here(l);
    if (s->output) mwl__lower_field(l, s->output, MWL_OP_OUT);
    mwl__lower_assign(l, s->assign);
    mwl__lower_guard_from(l, begin, fault);
    to(l, s);
}

void mwl__lower_step(mwl__lowerer *l, mwl__m_step *s) {
    if (!mwl__node_work(l->model->tree, s->node, 16 + s->node->count)) {
        mwl__lower_fail(l, MWL_E_REJECTED);
        return;
    }
    if (l->status != MWL_OK) return;
    l->site = (mwl__lower_site){.flow = s->flow, .step = s, .gather = MWL_NONE};
    uint32_t first = new_catches(l, s),
             fault = mwl__lower_stub_new(l, s->node, MWL_OP_STEP_FAULT, s->ix);
    mwl__step_rec *r = mwl__lower_rec(l, STEPS, mwl__step_rec, s->ix);
    if (r) {
        r->pc = mwl__lower_here(l);
        r->first_catch = s->n_catches ? first : 0;
        r->n_catch = s->n_catches;
    }
    mwl__lower_ax(l, s->node, MWL_OP_STEP, 0, s->ix);
    switch (s->action) {
    case MWL_ACTION_CALL: lower_call_step(l, s, fault); break;
    case MWL_ACTION_GATHER: mwl__lower_gather(l, s, fault); break;
    case MWL_ACTION_MATCH: lower_match(l, s, fault); break;
    case MWL_ACTION_PASS: lower_pass(l, s, fault); break;
    case MWL_ACTION_SLEEP: lower_sleep(l, s, fault); break;
    case MWL_ACTION_RETURN: lower_return(l, s, fault); break;
    case MWL_ACTION_RAISE: lower_raise(l, s, fault); break;
    case MWL_ACTION_COUNT: break;
    }
    clauses(l, s, first);
    mwl__lower_flush(l);
}
