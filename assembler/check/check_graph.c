/* check_graph.c: what follows from the graph of a Flow's Steps, and from the calls between Flows.
 * See check.h. Both walks keep their own stacks: a graph may be as long as the definition. */
#include "assembler/check/check.h"

/* ---- Steps ----------------------------------------------------------------------------------- */

typedef void visit_fn(void *ctx, mwl__m_step *to);

static void each_next(const mwl__m_step *s, visit_fn *fn, void *ctx) {
    if (s->next) fn(ctx, s->next);
    for (uint32_t i = 0; i < s->n_clauses; i++) fn(ctx, s->clauses[i].next);
    for (uint32_t i = 0; i < s->n_catches; i++) fn(ctx, s->catches[i].next);
}

typedef struct walk {
    mwl__m_step **stack;
    uint32_t n;
} walk;

/* spec: flow-object, static checks: Steps that are unreachable from the entrypoint. */
static void reach(void *ctx, mwl__m_step *to) {
    walk *w = ctx;
    if (to->reachable) return;
    to->reachable = true;
    w->stack[w->n++] = to;
}

/* The edges reversed: for each Step, a list of the Steps that lead to it. */
typedef struct before {
    struct before *next;
    mwl__m_step *step;
} before;

typedef struct reversal {
    mwl__checker *c;
    before **lists;
    mwl__m_step *from;
} reversal;

static void add_before(void *ctx, mwl__m_step *to) {
    reversal *r = ctx;
    before *b = mwl__check_new(r->c, 1, sizeof *b);
    if (!b) return;
    b->step = r->from;
    b->next = r->lists[to->ix];
    r->lists[to->ix] = b;
}

/* Warns about Steps from which no Return and no Raise can be reached, once per Flow. */
static void check_ends(mwl__checker *c, mwl__flow *f, mwl__m_step **stack) {
    uint32_t n = f->m.n_steps, top = 0;
    reversal r = {c, mwl__check_new(c, n, sizeof(before *)), NULL};
    bool *ends = mwl__check_new(c, n, sizeof *ends);
    if (!r.lists || !ends) return;
    for (uint32_t i = 0; i < n; i++) {
        r.from = f->m.steps[i];
        each_next(r.from, add_before, &r);
        if (r.from->action != MWL_ACTION_RETURN && r.from->action != MWL_ACTION_RAISE) continue;
        ends[i] = true;
        stack[top++] = r.from;
    }
    if (c->status < 0) return;
    while (top) {
        for (before *b = r.lists[stack[--top]->ix]; b; b = b->next) {
            if (ends[b->step->ix]) continue;
            ends[b->step->ix] = true;
            stack[top++] = b->step;
        }
    }
    for (uint32_t i = 0; i < n; i++) {
        if (ends[i] || !f->m.steps[i]->reachable) continue;
        mwl__diag *d = mwl__node_report_key(c->tree, f->m.steps[i]->node, MWL_DIAG_ENDLESS_GRAPH,
                                            "from here no Return and no Raise can be reached");
        mwl__diag_note(d, "only a failure or an interruption would end this Flow");
        return;
    }
}

/* A bare Raise needs a failure that is being handled. Any Step that succeeds ends the handling, so
 * a `catch` must lead directly to the Raise. */
static void check_raises(mwl__checker *c, mwl__flow *f) {
    bool *caught = mwl__check_new(c, f->m.n_steps, sizeof *caught);
    if (!caught) return;
    for (uint32_t i = 0; i < f->m.n_steps; i++)
        for (uint32_t k = 0; k < f->m.steps[i]->n_catches; k++)
            caught[f->m.steps[i]->catches[k].next->ix] = true;
    for (uint32_t i = 0; i < f->m.n_steps; i++) {
        const mwl__m_step *s = f->m.steps[i];
        if (s->action != MWL_ACTION_RAISE || s->result || caught[i] || !s->reachable) continue;
        mwl__diag *d = mwl__node_report_key(c->tree, s->node, MWL_DIAG_EMPTY_RAISE,
                                            "there is no failure here to raise again");
        mwl__diag_note(d, "no 'catch' leads to this Step; it completes with System.EmptyRaise");
    }
}

void mwl__check_graph(mwl__checker *c, mwl__flow *f) {
    if (!f->m.entrypoint) return;
    walk w = {mwl__check_new(c, f->m.n_steps, sizeof(mwl__m_step *)), 0};
    if (!w.stack) return;
    reach(&w, f->m.entrypoint);
    while (w.n) each_next(w.stack[--w.n], reach, &w);
    for (uint32_t i = 0; i < f->m.n_steps; i++) {
        const mwl__m_step *s = f->m.steps[i];
        /* a second Step of the same name was reported already */
        bool twice = mwl__node_find(f->step_nodes, s->node->key, s->node->key_len) != s->node;
        if (!s->reachable && !twice)
            mwl__diag_help(mwl__node_report_key(c->tree, s->node, MWL_DIAG_UNREACHABLE_STEP,
                                                "no path leads to the Step '%.*s'",
                                                MWL__NODE_KEY(s->node)),
                           "route to it with a 'next', or remove it");
    }
    check_raises(c, f);
    if (c->status == MWL_OK) check_ends(c, f, w.stack);
}

/* ---- Flows ----------------------------------------------------------------------------------- */

typedef struct visit {
    mwl__flow *flow;
    mwl__edge *edge; /* the next one to follow */
} visit;

enum { WHITE, GREY, BLACK };

static const char *name_of(const mwl__flow *f) {
    return f->m.name ? f->m.name : f->m.outer ? "a Flow written in place" : "the root";
}

static void report_cycle(mwl__checker *c, const visit *stack, uint32_t n,
                         const mwl__edge *closing) {
    mwl__diag *d =
        mwl__node_report(c->tree, closing->at, MWL_DIAG_FLOW_CYCLE,
                         stack[n - 1].flow == closing->to ? "the Flow '%s' calls itself"
                                                          : "this call leads back to '%s'",
                         name_of(closing->to));
    uint32_t from = n;
    while (from > 0 && stack[from - 1].flow != closing->to) from--;
    for (uint32_t i = from; i < n && i < from + 8; i++) {
        const mwl__edge *taken = stack[i - 1].edge; /* the edge that was followed */
        mwl__diag_label(d, mwl__node_span(taken->at), "'%s' calls '%s'", name_of(stack[i - 1].flow),
                        name_of(stack[i].flow));
    }
    mwl__diag_note(d, "to repeat work, route back with 'next' or use the Loop middleware");
}

/* Walks the calls depth first. If `order` is not NULL, writes the Flows to it in the order in which
 * the walk leaves them. Returns false after a report of a cycle. */
static bool walk_flows(mwl__checker *c, mwl__flow **order) {
    uint32_t n_flows = c->m->n_flows, n = 0, done = 0;
    visit *stack = mwl__check_new(c, n_flows, sizeof *stack);
    bool sound = true;
    if (!stack) return false;
    for (uint32_t i = 0; i < n_flows; i++) mwl__flow_of(c->m->flows[i])->colour = WHITE;
    for (uint32_t i = 0; i < n_flows; i++) {
        mwl__flow *start = mwl__flow_of(c->m->flows[i]);
        if (start->colour != WHITE) continue;
        start->colour = GREY;
        stack[n++] = (visit){start, NULL};
        while (n) {
            visit *v = &stack[n - 1];
            v->edge = v->edge ? v->edge->next : v->flow->edges;
            if (!v->edge) {
                v->flow->colour = BLACK;
                if (order) order[done++] = v->flow;
                n--;
            } else if (v->edge->to->colour == GREY) {
                if (!order) report_cycle(c, stack, n, v->edge);
                sound = false;
            } else if (v->edge->to->colour == WHITE) {
                v->edge->to->colour = GREY;
                stack[n++] = (visit){v->edge->to, NULL};
            }
        }
    }
    return sound;
}

bool mwl__check_cycles(mwl__checker *c) { return walk_flows(c, NULL); }

mwl__flow **mwl__check_order(mwl__checker *c) {
    mwl__flow **order = mwl__check_new(c, c->m->n_flows, sizeof *order);
    if (order) walk_flows(c, order);
    return c->status == MWL_OK ? order : NULL;
}
