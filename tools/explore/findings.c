/* findings.c: see findings.h. */
#include "tools/explore/findings.h"
#include "tools/test/coverage.h"
#include "vm/program/view.h"

#include <stdlib.h>
#include <string.h>

/* ---- shortest ways --------------------------------------------------------------------------- */

/* Of ways of one length the plain one is shown: answers at once, then none at all, then late ones,
 * then cancellations. */
enum { RANKS = 4 };
static unsigned rank_of(const struct choice *c) {
    return c->kind == CHOICE_CANCEL ? 3 : c->kind == CHOICE_TIME ? 1 : c->late ? 2 : 0;
}

static bool breadth_first(struct ways *g) {
    const struct search *s = g->search;
    uint32_t *queue = malloc((s->n_states + 1) * sizeof *queue);
    size_t head = 0, tail = 0;
    if (!queue) return false;
    for (size_t i = 0; i < s->n_states; i++) g->via[i] = g->steps[i] = MWL_NONE;
    g->steps[0] = 0;
    queue[tail++] = 0;
    while (head < tail) {
        uint32_t at = queue[head++];
        const struct state *state = &s->states[at];
        for (uint32_t i = 0; i < RANKS * state->n_edges; i++) {
            uint32_t e = state->first_edge + i % state->n_edges, to = s->edges[e].to;
            if (g->steps[to] != MWL_NONE || rank_of(&s->edges[e].choice) != i / state->n_edges)
                continue;
            g->steps[to] = g->steps[at] + 1;
            g->via[to] = e;
            queue[tail++] = to;
        }
    }
    free(queue);
    return true;
}

size_t ways_max(const struct ways *g) { return g->search->n_states + 1; }

size_t ways_to(const struct ways *g, uint32_t edge, uint32_t state, uint32_t *edges) {
    size_t n = 0;
    if (edge != MWL_NONE) {
        edges[n++] = edge;
        state = g->search->edges[edge].from;
    }
    while (state != MWL_NONE && g->via[state] != MWL_NONE) {
        edges[n++] = g->via[state];
        state = g->search->edges[g->via[state]].from;
    }
    for (size_t i = 0; i < n / 2; i++) {
        uint32_t other = edges[i];
        edges[i] = edges[n - 1 - i];
        edges[n - 1 - i] = other;
    }
    return n;
}

static void choose_nearest(struct ways *g, struct observer *w) {
    uint32_t *best = malloc((w->n_findings + 1) * sizeof *best);
    for (size_t i = 0; best && i < w->n_findings; i++) best[i] = MWL_NONE;
    for (size_t i = 0; best && i < w->n_occurrences; i++) {
        const struct occurrence *o = &w->occurrences[i];
        const struct edge *e = o->edge != MWL_NONE ? &g->search->edges[o->edge] : NULL;
        uint32_t length =
            e ? (g->steps[e->from] + 1) * RANKS + rank_of(&e->choice) : g->steps[o->state] * RANKS;
        if (length >= best[o->finding]) continue;
        best[o->finding] = length;
        w->findings[o->finding].edge = o->edge;
        w->findings[o->finding].state = o->state;
    }
    free(best);
}

/* ---- states that come again ------------------------------------------------------------------ */

/* Tarjan's components, without recursion. A component has a number; those that it leads to have
 * smaller ones. */
struct components {
    uint32_t *number, *index, *low, *stack, *calls, *at;
    size_t n_stack, n_calls;
    uint32_t n, next;
};

static void close_component(struct components *c, uint32_t root) {
    uint32_t v;
    do {
        v = c->stack[--c->n_stack];
        c->number[v] = c->n;
    } while (v != root);
    c->n++;
}

static void visit(struct components *c, const struct search *s, uint32_t root) {
    c->calls[c->n_calls++] = root;
    c->at[root] = 0;
    c->index[root] = c->low[root] = c->next++;
    c->stack[c->n_stack++] = root;
    while (c->n_calls) {
        uint32_t v = c->calls[c->n_calls - 1];
        const struct state *state = &s->states[v];
        if (c->at[v] < state->n_edges) {
            uint32_t to = s->edges[state->first_edge + c->at[v]++].to;
            if (c->index[to] == MWL_NONE) {
                c->calls[c->n_calls++] = to;
                c->at[to] = 0;
                c->index[to] = c->low[to] = c->next++;
                c->stack[c->n_stack++] = to;
            } else if (c->number[to] == MWL_NONE && c->index[to] < c->low[v]) {
                c->low[v] = c->index[to];
            }
            continue;
        }
        c->n_calls--;
        if (c->low[v] == c->index[v]) close_component(c, v);
        if (!c->n_calls) break;
        uint32_t up = c->calls[c->n_calls - 1];
        if (c->low[v] < c->low[up]) c->low[up] = c->low[v];
    }
}

static bool find_components(struct components *c, const struct search *s) {
    size_t n = s->n_states;
    uint32_t *all = malloc(6 * (n + 1) * sizeof *all);
    if (!all) return false;
    memset(c, 0, sizeof *c);
    c->number = all;
    c->index = all + (n + 1);
    c->low = all + 2 * (n + 1);
    c->stack = all + 3 * (n + 1);
    c->calls = all + 4 * (n + 1);
    c->at = all + 5 * (n + 1);
    for (size_t i = 0; i < n; i++) c->number[i] = c->index[i] = MWL_NONE;
    for (uint32_t i = 0; i < n; i++)
        if (c->index[i] == MWL_NONE) visit(c, s, i);
    return true;
}

static uint32_t step_of(const struct search *s, const struct choice *c) {
    return c->kind == CHOICE_ANSWER ? menus_at(s->menus, c->menu)->step : MWL_NONE;
}

static const char *step_name(const struct search *s, uint32_t step) {
    return mwl__view_step_name(s->program, step);
}

/* Each Step whose answers keep a run inside a component is named once. */
static void note_endless(struct ways *g, const struct components *c) {
    const struct search *s = g->search;
    for (uint32_t i = 0; i < s->n_edges; i++) {
        const struct edge *e = &s->edges[i];
        uint32_t step = step_of(s, &e->choice);
        if (c->number[e->from] != c->number[e->to]) continue;
        g->measures.endless = true;
        if (step == MWL_NONE) continue;
        observer_note(
            s->observer, FINDING_NEVER_ENDS, step, i, MWL_NONE,
            "the run need not end: as long as Step '%s' is answered so, the same state comes "
            "again",
            step_name(s, step));
    }
    if (!g->measures.endless) return;
    for (size_t i = 0; i < s->observer->n_findings; i++)
        if (s->observer->findings[i].kind == FINDING_NEVER_ENDS) return;
    for (uint32_t i = 0; i < s->n_edges; i++)
        if (c->number[s->edges[i].from] == c->number[s->edges[i].to])
            observer_note(s->observer, FINDING_NEVER_ENDS, MWL_NONE, i, MWL_NONE,
                          "the run need not end: the same state comes again without any answer");
}

/* ---- the longest run ------------------------------------------------------------------------- */

static bool measure_ways(struct ways *g, const struct components *c) {
    const struct search *s = g->search;
    /* components have numbers from the ends to the root: one pass over states in that order */
    int64_t *ns = calloc(c->n + 1, sizeof *ns);
    uint64_t *calls = calloc(c->n + 1, sizeof *calls);
    uint32_t *first = malloc((c->n + 1) * sizeof *first);
    uint32_t *next = malloc((s->n_states + 1) * sizeof *next);
    bool good = ns && calls && first && next;
    for (uint32_t i = 0; good && i < c->n; i++) first[i] = MWL_NONE;
    for (uint32_t i = 0; good && i < s->n_states; i++) {
        next[i] = first[c->number[i]];
        first[c->number[i]] = i;
    }
    for (uint32_t k = 0; good && k < c->n; k++)
        for (uint32_t v = first[k]; v != MWL_NONE; v = next[v])
            for (uint32_t i = 0; i < s->states[v].n_edges; i++) {
                const struct edge *e = &s->edges[s->states[v].first_edge + i];
                uint32_t to = c->number[e->to];
                if (to == k) continue;
                if (e->took_ns + ns[to] > ns[k]) ns[k] = e->took_ns + ns[to];
                if (e->n_calls + calls[to] > calls[k]) calls[k] = e->n_calls + calls[to];
            }
    if (good) {
        g->measures.longest_ns = ns[c->number[0]];
        g->measures.most_calls = calls[c->number[0]];
    }
    free(ns);
    free(calls);
    free(first);
    free(next);
    return good;
}

static void measure_states(struct ways *g) {
    const struct search *s = g->search;
    for (size_t i = 0; i < s->n_states; i++) {
        if (s->states[i].n_pending > g->measures.most_pending)
            g->measures.most_pending = s->states[i].n_pending;
        g->measures.n_open += s->states[i].kind == STATE_OPEN;
    }
    for (uint32_t i = 0; i < mwl__view_n_entries(s->program); i++)
        if (s->observer->most_runs[i] > g->measures.most_runs) {
            g->measures.most_runs = s->observer->most_runs[i];
            g->measures.most_runs_entry = i;
        }
}

/* ---- what was never reached ------------------------------------------------------------------ */

static void note_unreached(struct ways *g) {
    const struct search *s = g->search;
    const struct coverage *c = s->observer->coverage;
    for (size_t i = 0; i < c->n_items; i++) {
        const struct coverage_item *item = &c->items[i];
        mwl__buf text = mwl__buf_make(mwl_alloc_default());
        if (s->observer->hits[i] || item->kind == COVER_PHASE) continue;
        /* what a Step that is not reached contains is not reached either */
        if (item->kind != COVER_STEP && item->step != MWL_NONE && !s->observer->hits[item->step])
            continue;
        coverage_text(c, item, &text);
        observer_note(s->observer, FINDING_UNREACHED, MWL_NONE, MWL_NONE, MWL_NONE,
                      "nothing can reach %.*s", (int)text.len, text.data ? text.data : "");
        struct finding *f = &s->observer->findings[s->observer->n_findings - 1];
        f->line = item->line;
        f->column = item->column;
        mwl__buf_free(&text);
    }
}

static void note_attempts(struct ways *g) {
    const struct search *s = g->search;
    const struct coverage *c = s->observer->coverage;
    const mwl_program *p = s->program;
    for (size_t i = 0; i < c->n_items; i++) {
        const struct coverage_item *item = &c->items[i];
        if (item->kind != COVER_POLICY || !s->observer->hits[i]) continue;
        mwl_value policies =
            mwl_get(mwl__view_entry_of(p, item->entry).with[MWL_ON_ENTRY], "policies");
        mwl_value attempts = mwl_get(mwl_array_at(policies, item->number), "attempts");
        uint64_t most =
            s->observer->most_runs[item->entry] ? s->observer->most_runs[item->entry] : 1;
        if (mwl_value_kind(attempts) != MWL_KIND_NUMBER || mwl_as_number(attempts) <= (double)most)
            continue;
        observer_note(
            s->observer, FINDING_ATTEMPTS, item->step, MWL_NONE, MWL_NONE,
            "policy %u of the Retry around %s%s%s allows %.0f attempts, and at most %llu can "
            "be made",
            item->number + 1, item->step == MWL_NONE ? "the Flow" : "Step '",
            step_name(s, item->step), item->step == MWL_NONE ? "" : "'", mwl_as_number(attempts),
            (unsigned long long)most);
    }
}

/* ---- all ------------------------------------------------------------------------------------- */

static void note_outcomes(struct ways *g) {
    const struct search *s = g->search;
    for (size_t i = 0; i < s->n_outcomes; i++) {
        const struct outcome *o = &s->outcomes[i];
        if (o->step == MWL_NONE || strcmp(o->type, "cancellation") == 0) continue;
        observer_note(s->observer, FINDING_UNCAUGHT, o->step, MWL_NONE, o->state,
                      "nothing catches %s of Step '%s'", o->code, step_name(s, o->step));
    }
}

static void note_unbounded(struct ways *g) {
    const struct search *s = g->search;
    for (uint32_t i = 0; i < s->n_states; i++) {
        const struct state *state = &s->states[i];
        if (state->kind != STATE_EXPANDED || !state->n_pending || state->bounded) continue;
        for (uint32_t k = 0; k < state->n_edges; k++) {
            uint32_t step = step_of(s, &s->edges[state->first_edge + k].choice);
            if (step != MWL_NONE)
                observer_note(s->observer, FINDING_UNBOUNDED, step, MWL_NONE, i,
                              "nothing bounds the wait for the answer to Step '%s'",
                              step_name(s, step));
        }
    }
}

static void note_waits_for_ever(struct ways *g) {
    const struct search *s = g->search;
    for (uint32_t i = 0; i < s->n_states; i++)
        if (s->states[i].endless)
            observer_note(s->observer, FINDING_NEVER_ENDS, MWL_NONE, MWL_NONE, i,
                          "the run waits for an instant that the clock does not reach");
}

bool findings_finish(struct ways *g, struct search *s) {
    struct components c;
    memset(g, 0, sizeof *g);
    g->search = s;
    g->via = malloc((s->n_states + 1) * sizeof *g->via);
    g->steps = malloc((s->n_states + 1) * sizeof *g->steps);
    if (!g->via || !g->steps || !breadth_first(g) || !find_components(&c, s)) return false;
    note_outcomes(g);
    note_unbounded(g);
    note_endless(g, &c);
    note_waits_for_ever(g);
    bool measured = measure_ways(g, &c);
    free(c.number);
    measure_states(g);
    if (!s->stopped && !s->n_too_long) {
        note_unreached(g);
        note_attempts(g);
    }
    choose_nearest(g, s->observer);
    return measured && !s->observer->failed;
}

void ways_free(struct ways *g) {
    free(g->via);
    free(g->steps);
    memset(g, 0, sizeof *g);
}
