/* check_vars.c: is a variable bound when an expression reads it, along the graph of Steps; is there
 * a `failure`? See check.h.
 *
 * Three kinds of reads are reported. No path to the read assigns the variable: it always faults.
 * The Steps that always run first do not assign it: it faults the first time. A `catch` skips the
 * Step that assigns it: it faults when that path is taken. The third kind is reported only if there
 * is no Match between the `catch` and the read, because a Match may test for just that. Not
 * reported are variables that has() tests anywhere in the Flow, and reads that a condition may
 * skip.
 *
 * Sets of variables are words of 64 bits, and the graph is walked once for each 64 variables, so
 * memory is linear in the definition; VISITS_MAX limits the time. */
#include "assembler/check/check.h"

#include "vm/base/suggest.h"

#include <stdio.h>

#define VISITS_MAX (1u << 24) /* edges that are visited for one Flow: about 0.1 s */

enum { SET = 64 };

/* ---- collecting ------------------------------------------------------------------------------ */

void mwl__check_read(mwl__checker *c, const mwl__site *site, mwl__read use) {
    mwl__read *u = mwl__check_new(c, 1, sizeof *u);
    if (!u) return;
    *u = use;
    u->step = site->step;
    u->inner = site->inner;
    u->tail = site->tail;
    mwl__read **list = use.failure ? &site->flow->failures : &site->flow->reads;
    u->next = *list;
    *list = u;
}

void mwl__check_write(mwl__checker *c, const mwl__site *site, uint32_t var, const mwl__node *key) {
    mwl__write *w = mwl__check_new(c, 1, sizeof *w);
    if (!w) return;
    w->var = var;
    w->step = site->step;
    w->exit = site->exit;
    w->key = key;
    w->next = site->flow->writes;
    site->flow->writes = w;
}

/* ---- the graph ------------------------------------------------------------------------------- */

typedef struct edge {
    uint32_t from, to;
    bool caught;           /* by a catch clause */
    const mwl__node *exit; /* the clause, or the Step's own node for `next` */
    uint64_t assigned;     /* variables of the current set that this edge binds */
} edge;

typedef struct graph {
    mwl__checker *c;
    const mwl__flow *f;
    edge *edges;
    uint32_t *first;  /* edges of a Step: first[i] to first[i + 1] */
    uint64_t *maybe;  /* of the current set: what some path to the Step has assigned */
    uint64_t *absent; /* what a catch leaves unassigned, on a path to the Step without a Match */
    uint64_t *first_time; /* what is unassigned when the Step is reached for the first time */
    uint64_t *inner;      /* what the Step's call and stack assign */
    uint32_t *queue;
    bool *queued;
    uint32_t n_steps;
} graph;

static bool make_graph(graph *g) {
    const mwl__flow *f = g->f;
    uint32_t n = f->m.n_steps, n_edges = 0;
    for (uint32_t i = 0; i < n; i++) {
        const mwl__m_step *s = f->m.steps[i];
        n_edges += (s->next != NULL) + s->n_catches + s->n_clauses;
    }
    g->n_steps = n;
    g->edges = mwl__check_new(g->c, n_edges, sizeof *g->edges);
    g->first = mwl__check_new(g->c, (size_t)n + 1, sizeof *g->first);
    g->maybe = mwl__check_new(g->c, n, sizeof *g->maybe);
    g->absent = mwl__check_new(g->c, n, sizeof *g->absent);
    g->first_time = mwl__check_new(g->c, n, sizeof *g->first_time);
    g->inner = mwl__check_new(g->c, n, sizeof *g->inner);
    g->queue = mwl__check_new(g->c, n, sizeof *g->queue);
    g->queued = mwl__check_new(g->c, n, sizeof *g->queued);
    if (g->c->status < 0) return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < n; i++) {
        const mwl__m_step *s = f->m.steps[i];
        g->first[i] = at;
        if (s->next) g->edges[at++] = (edge){i, s->next->ix, false, s->node, 0};
        for (uint32_t k = 0; k < s->n_catches; k++)
            g->edges[at++] = (edge){i, s->catches[k].next->ix, true, s->catches[k].node, 0};
        for (uint32_t k = 0; k < s->n_clauses; k++)
            g->edges[at++] = (edge){i, s->clauses[k].next->ix, false, s->clauses[k].node, 0};
    }
    g->first[n] = at;
    return true;
}

/* ---- one set of variables -------------------------------------------------------------------- */

/* Reads and writes of one set of variables, and which of these are checked. */
typedef struct set {
    mwl__read *const *reads;
    mwl__write *const *writes;
    size_t n_reads, n_writes;
    uint64_t written;
    uint64_t ignored; /* bound at the start, tested by has(), or written by the Flow's own stack */
} set;

/* The writes of a Step come in the order of its edges, so one pass finds the edge of each. */
static void enter_writes(graph *g, set *s) {
    uint32_t at = 0;
    for (uint32_t i = 0; i < g->first[g->n_steps]; i++) g->edges[i].assigned = 0;
    memset(g->inner, 0, g->n_steps * sizeof *g->inner);
    for (size_t i = 0; i < s->n_writes; i++) {
        const mwl__write *w = s->writes[i];
        uint64_t bit = UINT64_C(1) << (w->var % SET);
        s->written |= bit;
        if (!w->step) {
            s->ignored |= bit;
            continue;
        }
        uint32_t from = g->first[w->step->ix], end = g->first[w->step->ix + 1];
        if (!w->exit) {
            g->inner[w->step->ix] |= bit;
            continue;
        }
        if (at < from || at >= end) at = from;
        while (at < end && g->edges[at].exit != w->exit) at++;
        if (at < end) g->edges[at].assigned |= bit;
    }
    for (uint32_t i = 0; i < g->first[g->n_steps]; i++)
        g->edges[i].assigned |= g->inner[g->edges[i].from];
}

/* Lets a set grow along the edges until nothing changes. g->absent needs a complete g->maybe. */
static bool grow(graph *g, uint64_t *sets, bool absent) {
    uint32_t head = 0, count = 0, n = g->n_steps;
    for (uint32_t i = 0; i < n; i++) {
        g->queued[i] = g->f->m.steps[i]->reachable;
        if (g->queued[i]) g->queue[count++] = i;
    }
    while (count) {
        uint32_t i = g->queue[head];
        head = head + 1 == n ? 0 : head + 1;
        count--;
        g->queued[i] = false;
        bool decides = g->f->m.steps[i]->action == MWL_ACTION_MATCH;
        for (uint32_t k = g->first[i]; k < g->first[i + 1]; k++) {
            const edge *e = &g->edges[k];
            uint64_t out = sets[i] | e->assigned;
            if (absent)
                out = (e->caught ? ~(g->maybe[i] | e->assigned) : 0) |
                      (decides ? 0 : sets[i] & ~e->assigned);
            if (++g->c->visits > VISITS_MAX) return false;
            if (!(out & ~sets[e->to])) continue;
            sets[e->to] |= out;
            if (g->queued[e->to]) continue;
            g->queued[e->to] = true;
            g->queue[(head + count++) % n] = e->to;
        }
    }
    return true;
}

/* Walks from the entrypoint along Steps that have one way out. */
static void walk_first_steps(graph *g) {
    uint64_t assigned = 0;
    memset(g->first_time, 0, g->n_steps * sizeof *g->first_time);
    memset(g->queued, 0, g->n_steps * sizeof *g->queued);
    for (uint32_t i = g->f->m.entrypoint->ix; !g->queued[i] && g->c->visits++ < VISITS_MAX;) {
        g->queued[i] = true;
        g->first_time[i] = ~assigned;
        if (g->first[i + 1] - g->first[i] != 1) return;
        assigned |= g->edges[g->first[i]].assigned;
        i = g->edges[g->first[i]].to;
    }
}

/* ---- reports --------------------------------------------------------------------------------- */

static const mwl__write *find_write(const set *s, uint32_t var) {
    for (size_t i = 0; i < s->n_writes; i++)
        if (s->writes[i]->var == var) return s->writes[i];
    return NULL;
}

static mwl__diag *report(const graph *g, const mwl__read *u, mwl__diag_code code,
                         const char *text) {
    return mwl__node_report_text(g->c->tree, u->node, u->begin, u->end, code, text, (int)u->len,
                                 u->name);
}

static void suggest_guard(mwl__diag *d, const mwl__read *u, const char *otherwise) {
    if (u->null)
        mwl__diag_help(d, "to ask whether it is bound, write has(vars.%.*s)", (int)u->len, u->name);
    else
        mwl__diag_help(d, "%s, or guard the read with has(vars.%.*s)", otherwise, (int)u->len,
                       u->name);
}

static void report_never(const graph *g, const set *s, const mwl__read *u, bool first) {
    mwl__diag *d =
        report(g, u, MWL_DIAG_UNBOUND_VARIABLE, "nothing has bound '%.*s' at this point");
    if (!d) return;
    const mwl__write *w = find_write(s, u->var);
    if (w && (first || w->step == u->step))
        mwl__diag_label(d, mwl__node_key_span(w->key), "this comes after the read");
    else if (w)
        mwl__diag_label(d, mwl__node_key_span(w->key), "no path leads from here to the read");
    suggest_guard(d, u, "assign it in a Step before");
}

/* Finds a path on which the variable is not bound: from the read backwards to where that is
 * certain. */
static const mwl__node *find_way(graph *g, const mwl__read *u) {
    uint64_t bit = UINT64_C(1) << (u->var % SET);
    uint32_t count = 0;
    memset(g->queued, 0, g->n_steps * sizeof *g->queued);
    g->queued[u->step->ix] = true;
    g->queue[count++] = u->step->ix;
    for (uint32_t at = 0; at < count; at++) {
        uint32_t to = g->queue[at];
        for (uint32_t k = 0; k < g->first[g->n_steps]; k++) {
            const edge *e = &g->edges[k];
            if (++g->c->visits > VISITS_MAX) return NULL;
            const mwl__m_step *from = g->f->m.steps[e->from];
            if (e->to != to || (e->assigned & bit) || !from->reachable) continue;
            if (e->caught && !(g->maybe[e->from] & bit)) return e->exit;
            if (from->action == MWL_ACTION_MATCH || g->queued[e->from]) continue;
            g->queued[e->from] = true;
            g->queue[count++] = e->from;
        }
    }
    return NULL;
}

static void report_perhaps(graph *g, const mwl__read *u) {
    mwl__diag *d = report(g, u, MWL_DIAG_PERHAPS_UNBOUND, "'%.*s' may not be bound at this point");
    if (!d) return;
    const mwl__node *way = find_way(g, u), *next = mwl__node_get(way, "next");
    if (next) mwl__diag_label(d, mwl__node_span(next), "on this way nothing assigns it");
    suggest_guard(d, u, "assign it on that way too");
}

static void judge_reads(graph *g, const set *s) {
    uint64_t said = 0;
    for (size_t i = 0; i < s->n_reads; i++) {
        const mwl__read *u = s->reads[i];
        uint64_t bit = UINT64_C(1) << (u->var % SET);
        if (!u->step || !u->step->reachable || (s->ignored & bit) || !(s->written & bit) ||
            (said & bit))
            continue;
        uint64_t own = u->inner || u->tail ? g->inner[u->step->ix] : 0;
        if (own & bit) continue;
        bool never = !(g->maybe[u->step->ix] & bit);
        bool first = u->certain && (g->first_time[u->step->ix] & bit);
        if (!never && !first && (!u->certain || !(g->absent[u->step->ix] & bit))) continue;
        said |= bit;
        if (never || first)
            report_never(g, s, u, first);
        else
            report_perhaps(g, u);
    }
}

/* ---- all variables --------------------------------------------------------------------------- */

/* Can the Flow's own middleware run the graph again with the variables that it has assigned? */
static bool runs_again(const mwl__flow *f) {
    for (uint32_t i = 0; i < f->m.n_stack; i++) {
        const mwl__contract *p = f->m.stack[i]->provider;
        if (!mwl__contract_is(p, "retry") && !mwl__contract_is(p, "timeout") &&
            !mwl__contract_is(p, "finally"))
            return true;
    }
    return false;
}

static void judge_set(graph *g, set *s, uint64_t bound) {
    uint32_t start = g->f->m.entrypoint->ix;
    s->ignored |= bound;
    enter_writes(g, s);
    memset(g->maybe, 0, g->n_steps * sizeof *g->maybe);
    memset(g->absent, 0, g->n_steps * sizeof *g->absent);
    if (runs_again(g->f)) g->maybe[start] = s->written;
    walk_first_steps(g);
    if (grow(g, g->maybe, false) && grow(g, g->absent, true)) judge_reads(g, s);
}

/* The records in the order in which they were made, sorted into sets: counts, then places. */
#define SORT(type, list, n_sets, out, at)                                                          \
    do {                                                                                           \
        size_t total = 0;                                                                          \
        for (type *x = (list); x; x = x->next) total++, (at)[x->var / SET + 1]++;                  \
        for (size_t i = 1; i <= (n_sets); i++) (at)[i] += (at)[i - 1];                             \
        size_t *end = mwl__check_new(c, (n_sets) + 1, sizeof *end);                                \
        (out) = mwl__check_new(c, total, sizeof *(out));                                           \
        if (!end || !(out)) return;                                                                \
        memcpy(end, (at), ((n_sets) + 1) * sizeof *end);                                           \
        for (type *x = (list); x; x = x->next) /* the lists are in reverse order */                \
            (out)[--end[x->var / SET + 1]] = x;                                                    \
    } while (0)

static void check_reads(mwl__checker *c, mwl__flow *f) {
    size_t n_sets = ((size_t)f->vars.n + SET - 1) / SET;
    graph g = {.c = c, .f = f};
    if (!f->m.entrypoint || !f->reads || !f->writes || f->open || !make_graph(&g)) return;
    size_t *read_at = mwl__check_new(c, n_sets + 1, sizeof *read_at),
           *write_at = mwl__check_new(c, n_sets + 1, sizeof *write_at);
    uint64_t *bound = mwl__check_new(c, n_sets, sizeof *bound);
    mwl__read **reads;
    mwl__write **writes;
    if (c->status < 0) return;
    SORT(mwl__read, f->reads, n_sets, reads, read_at);
    SORT(mwl__write, f->writes, n_sets, writes, write_at);
    for (size_t i = 0; i < f->vars.n; i++) {
        const mwl__name *v = &f->vars.at[i];
        if (v->flags & (MWL__VAR_PARAMETER | MWL__VAR_TESTED))
            bound[v->id / SET] |= UINT64_C(1) << (v->id % SET);
    }
    for (size_t i = 0; i < n_sets && c->visits <= VISITS_MAX; i++) {
        set s = {.reads = reads + read_at[i],
                 .n_reads = read_at[i + 1] - read_at[i],
                 .writes = writes + write_at[i],
                 .n_writes = write_at[i + 1] - write_at[i]};
        if (s.n_reads && s.n_writes) judge_set(&g, &s, bound[i]);
    }
}

/* ---- failure --------------------------------------------------------------------------------- */

/* spec: execution context, `failure`: it is null until a Step fails and after one succeeds. So it
 * can be set in a Step only if a `catch` leads directly to that Step. */
static void check_failures(mwl__checker *c, mwl__flow *f) {
    bool *caught = f->failures ? mwl__check_new(c, f->m.n_steps, sizeof *caught) : NULL;
    if (!caught) return;
    for (uint32_t i = 0; i < f->m.n_steps; i++)
        for (uint32_t k = 0; k < f->m.steps[i]->n_catches; k++)
            caught[f->m.steps[i]->catches[k].next->ix] = true;
    for (const mwl__read *u = f->failures; u; u = u->next) {
        if (u->step && (caught[u->step->ix] || !u->step->reachable)) continue;
        mwl__diag *d =
            mwl__node_report_text(c->tree, u->node, u->begin, u->end, MWL_DIAG_NO_FAILURE_HERE,
                                  "`failure` is always null at this point");
        mwl__diag_note(d, "it is set in a 'catch' clause and in the Step that the clause leads to");
        if (d && u->instead) {
            mwl__diag_help(d, "the present failure is `%s` here", u->instead);
            mwl__diag_fix_text(d, d->span, u->instead, strlen(u->instead));
        }
        if (!u->instead)
            mwl__diag_help(d, "keep what is needed in the clause: \"assign\": { \"code\": "
                              "\"{{ failure.code }}\" }");
    }
}

/* ---- variables that nothing binds ------------------------------------------------------------ */

/* Adds the names of the variables, if they are few. */
static void list_variables(mwl__diag *d, const mwl__flow *f) {
    char text[200];
    size_t len = 0, count = 0;
    for (size_t i = 0; i < f->vars.n; i++) {
        const mwl__name *v = &f->vars.at[i];
        if (!(v->flags & (MWL__VAR_BOUND | MWL__VAR_PARAMETER))) continue;
        if (len + v->len + 8 > sizeof text) return;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s'%.*s'", count++ ? ", " : "",
                                (int)v->len, v->text);
    }
    if (count) mwl__diag_help(d, "the variables of this Flow are %s", text);
}

static void unbound(mwl__checker *c, mwl__flow *f, const mwl__name *v) {
    mwl__diag *d = mwl__node_report_text(
        c->tree, v->node, v->begin, v->end, MWL_DIAG_UNBOUND_VARIABLE,
        "nothing in this Flow binds the variable '%.*s'", (int)v->len, v->text);
    if (!d) return;
    mwl__suggest s = mwl__suggest_make(v->text, v->len);
    for (size_t i = 0; i < f->vars.n; i++) {
        const mwl__name *o = &f->vars.at[i];
        if (o->flags & (MWL__VAR_BOUND | MWL__VAR_PARAMETER))
            mwl__suggest_offer(&s, o->text, o->len);
    }
    mwl__diag_note(d, "it is not a parameter, and no `assign` of this Flow has this name");
    if (!s.best) {
        list_variables(d, f);
        return;
    }
    mwl__diag_help(d, "did you mean '%.*s'?", (int)s.best_len, s.best);
    uint32_t end = v->end - v->begin >= v->len ? v->end : v->begin;
    if (memcmp(v->node->as.text + end - v->len, v->text, v->len) == 0)
        mwl__diag_fix_text(d, mwl__node_text_span(c->tree, v->node, end - v->len, end), s.best,
                           s.best_len);
}

void mwl__check_variables(mwl__checker *c, mwl__flow *f, bool parameters) {
    for (size_t i = 0; i < f->vars.n; i++) {
        const mwl__name *v = &f->vars.at[i];
        bool bound = v->flags & (MWL__VAR_BOUND | MWL__VAR_PARAMETER);
        if ((v->flags & MWL__VAR_READ) && !bound && !(v->flags & MWL__VAR_TESTED) && !f->open &&
            v->node)
            unbound(c, f, v);
        if (parameters && (v->flags & MWL__VAR_PARAMETER) &&
            !(v->flags & (MWL__VAR_READ | MWL__VAR_TESTED)) && !f->all_read)
            mwl__node_report_key(
                c->tree,
                mwl__node_find(mwl__node_get(f->m.parameters, "properties"), v->text, v->len),
                MWL_DIAG_UNUSED_PARAMETER, "the parameter '%.*s' is never read", (int)v->len,
                v->text);
    }
    check_reads(c, f);
    if (c->status == MWL_OK) check_failures(c, f);
}
