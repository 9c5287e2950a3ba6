/* lower_call.c: calls with their arms, and the fan-out of a Gather. */
#include "assembler/lower/lower_impl.h"

static bool is_empty(const mwl__node *assign) { return !assign || assign->count == 0; }

/* ---- calls ----------------------------------------------------------------------------------- */

uint32_t mwl__lower_call_new(mwl__lowerer *l, mwl__m_call *c, uint32_t gather) {
    mwl__call_rec rec = {MWL_NONE, MWL_NONE, 0, MWL_NONE, 0, MWL_NONE, MWL_NONE, 0, gather};
    if (c->provider)
        rec.import = mwl__lower_import(l, c->provider, c->node);
    else
        rec.flow = mwl__lower_flow_ix(l, c->flow);
    c->ix = mwl__emit_record(l->e, MWL_SECTION_CALLS, &rec, sizeof rec);
    return c->ix;
}

/* The pc of an arm that has nothing to do is the pc of what follows. */
static void arms(mwl__lowerer *l, const mwl__m_call *c, mwl__call_rec *out) {
    bool success = c->success_value || !is_empty(c->success_assign),
         failure = !is_empty(c->failure_assign);
    if (!success && !failure) return;
    uint32_t stub = mwl__lower_stub_new(l, c->node, MWL_OP_ARM_FAULT, c->ix), over = MWL_NONE;
    mwl__lower_ax(l, c->on_success ? c->on_success : c->on_failure, MWL_OP_ARMS, 0, c->ix);
    uint32_t begin = mwl__lower_here(l);
    if (success) {
        out->success_pc = begin;
        if (c->success_value) mwl__lower_field(l, c->success_value, MWL_OP_ARM_VALUE);
        mwl__lower_assign(l, c->success_assign);
        if (failure) over = mwl__lower_ax(l, c->on_success, MWL_OP_JUMP, 0, 0);
    }
    if (failure) {
        out->failure_pc = mwl__lower_here(l);
        mwl__lower_assign(l, c->failure_assign);
    }
    mwl__lower_guard_from(l, begin, stub);
    uint32_t end = mwl__lower_here(l);
    if (over != MWL_NONE) mwl__emit_patch(l->e, over, end);
    if (!success) out->success_pc = end;
    if (!failure) out->failure_pc = end;
    out->flags |= MWL_CALL_HAS_ARMS;
}

void mwl__lower_call(mwl__lowerer *l, mwl__m_call *c, bool rises) {
    mwl__m_call *outer = l->site.call;
    mwl__call_rec to = {0, 0, 0, MWL_NONE, 0, MWL_NONE, MWL_NONE, 0, 0};
    uint32_t stub = mwl__lower_stub_new(l, c->node, MWL_OP_CALL_FAULT, c->ix);
    l->site.call = c;
    to.fields_pc = mwl__lower_ax(l, c->node, MWL_OP_CALL, 0, c->ix);
    uint32_t begin = mwl__lower_here(l);
    if (c->input) mwl__lower_field(l, c->input, MWL_OP_CALL_INPUT);
    if (c->with && mwl__model_computed(l->model, c->with))
        mwl__lower_field(l, c->with, MWL_OP_CALL_WITH);
    else if (c->with)
        to.with_k = mwl__lower_const(l, c->with);
    else
        to.with_k =
            mwl__emit_const(l->e, mwl__map_new(NULL, 0)); /* checked when the program is linked */
    mwl__lower_ax(l, c->node, MWL_OP_DISPATCH, 0, c->ix);
    mwl__lower_guard_from(l, begin, stub);
    arms(l, c, &to);
    to.end_pc = mwl__lower_ax(l, c->node, MWL_OP_CALL_END, 0, c->ix);
    l->site.call = outer;
    mwl__call_rec *r = mwl__lower_rec(l, CALLS, mwl__call_rec, c->ix);
    if (!r) return;
    r->flags |= to.flags;
    if (r->flags == 0 && to.end_pc == to.fields_pc + 2) r->flags = MWL_CALL_BARE;
    if (rises) r->flags |= MWL_CALL_RISES;
    r->with_k = to.with_k;
    r->fields_pc = to.fields_pc;
    r->success_pc = to.success_pc;
    r->failure_pc = to.failure_pc;
    r->end_pc = to.end_pc;
}

/* ---- Gather ---------------------------------------------------------------------------------- */

static uint32_t new_gather(mwl__lowerer *l, mwl__m_step *s) {
    uint32_t ix = mwl__emit_record_count(l->e, MWL_SECTION_GATHERS);
    uint32_t *calls = mwl__mem_zero(&l->alloc, s->n_calls, sizeof *calls);
    if (!calls) {
        mwl__lower_fail(l, MWL_E_NOMEM);
        return 0;
    }
    for (uint32_t i = 0; i < s->n_calls; i++) calls[i] = mwl__lower_call_new(l, s->calls[i], ix);
    mwl__gather_rec rec = {
        s->ix, mwl__emit_keys(l->e, calls, s->n_calls), s->n_calls, s->concurrency, 0, 0, 0, 0};
    if (s->over) rec.flags |= MWL_GATHER_OVER;
    if (!s->wait) rec.flags |= MWL_GATHER_NO_WAIT;
    if (s->successes) rec.flags |= MWL_GATHER_NEED;
    mwl__mem_free(&l->alloc, calls, s->n_calls * sizeof *calls);
    return mwl__emit_record(l->e, MWL_SECTION_GATHERS, &rec, sizeof rec);
}

void mwl__lower_gather(mwl__lowerer *l, mwl__m_step *s, uint32_t fault) {
    uint32_t ix = new_gather(l, s), stub = mwl__lower_stub_new(l, s->node, MWL_OP_GATHER_FAULT, ix);
    l->site.gather = ix;
    mwl__lower_ax(l, s->node, MWL_OP_GATHER, 0, ix);
    uint32_t begin = mwl__lower_here(l);
    if (s->over) mwl__lower_field(l, s->over, MWL_OP_GATHER_OVER);
    if (s->successes) mwl__lower_field(l, s->successes, MWL_OP_GATHER_NEED);
    mwl__lower_guard_from(l, begin, stub);
    uint32_t run_pc = mwl__lower_ax(l, s->node, MWL_OP_GATHER_RUN, 0, ix);
    for (uint32_t i = 0; i < s->n_calls; i++) mwl__lower_call(l, s->calls[i], false);
    uint32_t arms_pc = mwl__lower_ax(l, s->node, MWL_OP_GATHER_ARMS, 0, ix);
    uint32_t end_pc = mwl__lower_ax(l, s->node, MWL_OP_GATHER_END, 0, ix);
    begin = mwl__lower_here(l);
    if (s->output) mwl__lower_field(l, s->output, MWL_OP_OUT);
    mwl__lower_assign(l, s->assign);
    mwl__lower_guard_from(l, begin, fault);
    mwl__lower_ax(l, s->node, MWL_OP_TO, 0, s->next->ix);
    mwl__gather_rec *r = mwl__lower_rec(l, GATHERS, mwl__gather_rec, ix);
    if (!r) return;
    r->run_pc = run_pc;
    r->arms_pc = arms_pc;
    r->end_pc = end_pc;
}
