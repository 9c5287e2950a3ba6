/* check_mw.c: arguments of calls and middleware; compositions that multiply work or make each other
 * useless. See check.h. The language allows every composition, so these are warnings. */
#include "assembler/check/check.h"

#include <math.h>
#include <stdio.h>

/* ---- arguments ------------------------------------------------------------------------------- */

static void check_call_args(mwl__checker *c, const mwl__m_call *call) {
    char target[96];
    if (call->provider) {
        mwl__check_args(c, call->with, mwl__node_get(call->node, "provider"),
                        call->provider->parameters[0], call->provider->compiled[0],
                        "this provider");
    } else if (call->flow && !mwl__flow_of(call->flow)->broken_schema) {
        const char *name = call->flow->name;
        if (name)
            snprintf(target, sizeof target, "the Flow '%.60s'", name);
        else
            snprintf(target, sizeof target, "this Flow");
        mwl__check_args(c, call->with, mwl__node_get(call->node, "flow"), call->flow->parameters,
                        mwl__flow_of(call->flow)->schema, target);
    }
}

static bool is_gated_off(const mwl__checker *c, const mwl__m_phase *phase) {
    return phase->when && mwl__check_constant(c, phase->when) == 0;
}

static void check_entry_args(mwl__checker *c, const mwl__m_entry *e) {
    static const char *const names[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    for (int i = 0; i < 4; i++) {
        const mwl__m_phase *phase = &e->phase[i];
        const mwl__node *provider = mwl__node_get(e->node, "provider");
        if ((!phase->with && !e->provider->acts[i]) || is_gated_off(c, phase)) continue;
        if (mwl__contract_is(e->provider, "finally") && i == MWL_ON_ALWAYS &&
            (!phase->with ||
             (phase->with->kind == MWL_NODE_OBJECT && !mwl__node_get(phase->with, "call")))) {
            mwl__diag *d = mwl__node_report(c->tree, provider, MWL_DIAG_FINALLY_WITHOUT_CALL,
                                            "this Finally has no 'call' in its 'onAlways.with'");
            mwl__diag_note(
                d, "the phase fails when it runs, and its failure takes the place of the Result");
            continue;
        }
        char target[64];
        snprintf(target, sizeof target, "%s of this middleware", names[i]);
        mwl__check_args(c, phase->with, phase->node ? phase->node : provider,
                        e->provider->parameters[i], e->provider->compiled[i], target);
    }
}

/* ---- what a stack does ----------------------------------------------------------------------- */

/* Returns how many times a Retry can run its inner scope: 1 if it is gated off. Sets *known to
 * false if a part of this is computed; such a part counts as one retry. */
static double attempts_of(const mwl__checker *c, const mwl__m_entry *e, bool *known) {
    double runs = 1;
    if (is_gated_off(c, &e->phase[MWL_ON_ENTRY])) return 1;
    const mwl__node *with = e->phase[MWL_ON_ENTRY].with, *list = mwl__node_get(with, "policies");
    if (!with) return 1;
    if (!list || list->kind != MWL_NODE_ARRAY) {
        *known = false;
        return 2;
    }
    for (const mwl__node *p = mwl__node_first(list); p; p = p->next) {
        const mwl__node *n = mwl__node_get(p, "attempts");
        if (!n || n->kind != MWL_NODE_NUMBER) {
            *known = false;
            runs += 1;
        } else if (n->as.number > 1) {
            runs += floor(n->as.number) - 1;
        }
    }
    return runs;
}

/* Returns how many times an entry can run its inner scope; 1 if it never runs it again. A Loop
 * counts as two runs and sets *known to false, because its conditions are computed. */
static double runs_of(const mwl__checker *c, const mwl__m_entry *e, bool *known) {
    if (mwl__contract_is(e->provider, "retry")) return attempts_of(c, e, known);
    if (!mwl__contract_is(e->provider, "loop") || is_gated_off(c, &e->phase[MWL_ON_ENTRY]) ||
        is_gated_off(c, &e->phase[MWL_ON_SUCCESS]))
        return 1;
    *known = false;
    return 2;
}

static void check_policies(mwl__checker *c, const mwl__m_entry *e) {
    const mwl__node *list = mwl__node_get(e->phase[MWL_ON_ENTRY].with, "policies");
    if (!mwl__contract_is(e->provider, "retry") || !list) return;
    for (const mwl__node *p = mwl__node_first(list); p; p = p->next) {
        const mwl__node *n = mwl__node_get(p, "attempts");
        if (!n || n->kind != MWL_NODE_NUMBER || n->as.number != 1) continue;
        mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_SINGLE_ATTEMPT,
                                        "with one attempt nothing is retried");
        mwl__diag_help(d, "'attempts' counts the first run: write 2 for one retry");
    }
}

/* Returns a literal, well-formed duration that is not negative; else -1. */
static int64_t literal_ns(const mwl__checker *c, const mwl__node *n) {
    int64_t ns;
    if (!n || n->kind != MWL_NODE_STRING || mwl__model_expr(c->m, n)) return -1;
    return mwl_duration_parse(n->as.text, n->count, &ns) == MWL_OK && ns >= 0 ? ns : -1;
}

/* What is known about the entries around a place of the Flow. */
typedef struct around {
    const mwl__m_entry *again; /* the nearest one that runs its inner scope again */
    double runs;
    bool known;
    int64_t bound_ns; /* the shortest Timeout, or -1 */
    const mwl__node *bound;
} around;

/* spec: conformance, tooling guidance: work amplification, one that runs again inside another. */
static void say_nested(mwl__checker *c, const mwl__node *at, const around *a, double runs,
                       bool known) {
    const char *outer = mwl__contract_is(a->again->provider, "loop") ? "Loop" : "Retry";
    mwl__diag *d =
        known ? mwl__node_report(c->tree, at, MWL_DIAG_NESTED_RETRY,
                                 "with the %s around it, up to %.0f runs of the innermost work",
                                 outer, runs)
              : mwl__node_report(c->tree, at, MWL_DIAG_NESTED_RETRY,
                                 "with the %s around it, the runs of the innermost work multiply",
                                 outer);
    mwl__diag_label(d, mwl__node_span(mwl__node_get(a->again->node, "provider")),
                    "the %s around it", outer);
    mwl__diag_note(d, known ? "attempts multiply; retry at one level and let the other pass "
                              "failures on"
                            : "each run of the outer one begins the runs of the inner one anew; "
                              "limit both, and their product");
}

static void pass_again(mwl__checker *c, const mwl__m_entry *e, around *a) {
    double runs = runs_of(c, e, &a->known);
    if (runs <= 1) return;
    if (a->again) say_nested(c, mwl__node_get(e->node, "provider"), a, a->runs * runs, a->known);
    a->runs *= runs;
    a->again = e;
}

/* Warns of a wait before the first retry that a Timeout around the Retry never lets end. */
static void check_backoff(mwl__checker *c, const mwl__m_entry *e, const around *a) {
    bool known;
    if (attempts_of(c, e, &known) <= 1) return;
    const mwl__node *list = mwl__node_get(e->phase[MWL_ON_ENTRY].with, "policies");
    for (const mwl__node *p = list ? mwl__node_first(list) : NULL; p && a->bound; p = p->next) {
        const mwl__node *wait = mwl__node_get(mwl__node_get(p, "backoff"), "initial");
        int64_t ns = literal_ns(c, wait);
        if (ns < a->bound_ns) continue;
        mwl__diag *d = mwl__node_report(c->tree, wait, MWL_DIAG_TIMEOUT_ORDER,
                                        "the Timeout around it fires before the first retry");
        mwl__diag_label(d, mwl__node_span(a->bound), "the bound of all attempts together");
        mwl__diag_help(
            d, "to bound each attempt, put the Timeout inside: after the Retry in the array");
    }
}

static void pass_timeout(mwl__checker *c, const mwl__m_entry *e, around *a) {
    const mwl__m_phase *phase = &e->phase[MWL_ON_ENTRY];
    const mwl__node *n = mwl__node_get(phase->with, "duration");
    int64_t ns = literal_ns(c, n);
    if (ns < 0 || phase->when) return; /* a `when` may switch it off */
    if (a->bound && ns >= a->bound_ns) {
        mwl__diag *d =
            mwl__node_report(c->tree, n, MWL_DIAG_TIMEOUT_ORDER,
                             "this bound is not shorter than the one around it and never fires");
        mwl__diag_label(d, mwl__node_span(a->bound), "the bound around it");
        return;
    }
    a->bound = n;
    a->bound_ns = ns;
}

static void pass_stack(mwl__checker *c, mwl__m_entry *const *stack, uint32_t n, around *a) {
    for (uint32_t i = 0; i < n; i++) {
        const mwl__m_entry *e = stack[i];
        check_policies(c, e);
        pass_again(c, e, a);
        if (mwl__contract_is(e->provider, "retry")) check_backoff(c, e, a);
        if (mwl__contract_is(e->provider, "timeout")) pass_timeout(c, e, a);
        for (int k = 0; k < 4; k++) { /* a cleanup's stack is separate from the stack around it */
            around own = {.runs = 1, .known = true, .bound_ns = -1};
            pass_stack(c, e->phase[k].stack, e->phase[k].n_stack, &own);
        }
    }
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void check_flow(mwl__checker *c, mwl__flow *f) {
    around flow = {.runs = 1, .known = true, .bound_ns = -1};
    pass_stack(c, f->m.stack, f->m.n_stack, &flow);
    f->runs = flow.runs;
    f->runs_known = flow.known;
    for (uint32_t i = 0; i < f->m.n_steps; i++) {
        const mwl__m_step *s = f->m.steps[i];
        around a = flow;
        pass_stack(c, s->stack, s->n_stack, &a);
        if (a.runs > f->runs) f->runs = a.runs, f->runs_known = a.known;
        for (uint32_t k = 0; k < s->n_calls; k++) {
            const mwl__flow *to = s->calls[k]->flow ? mwl__flow_of(s->calls[k]->flow) : NULL;
            double inner = to ? to->runs : 1;
            bool known = a.known && (!to || to->runs_known);
            if (inner > 1 && a.again)
                say_nested(c,
                           mwl__node_key_is(s->calls[k]->node, "flow")
                               ? s->calls[k]->node
                               : mwl__node_get(s->calls[k]->node, "flow"),
                           &a, a.runs * inner, known);
            if (a.runs * inner > f->runs) f->runs = a.runs * inner, f->runs_known = known;
        }
    }
}

void mwl__check_compositions(mwl__checker *c, mwl__flow **order) {
    for (uint32_t i = 0; i < c->m->n_flows; i++) check_flow(c, order[i]);
}

void mwl__check_all_args(mwl__checker *c) {
    for (const mwl__listed *l = c->listed; l && c->status == MWL_OK; l = l->next) {
        if (l->call) check_call_args(c, l->call);
        if (l->entry) check_entry_args(c, l->entry);
    }
}
