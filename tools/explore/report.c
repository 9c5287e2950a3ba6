/* report.c: see report.h. */
#include "tools/explore/report.h"

#include "tools/base/term.h"
#include "tools/explore/script.h"
#include "vm/program/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_allowed(const struct explore_report *r, const struct finding *f) {
    for (size_t i = 0; i < r->n_allow; i++)
        if (strcmp(r->allow[i], finding_kind_name(f->kind)) == 0) return true;
    return false;
}

/* Findings of one Step and kind that differ only in codes and messages. */
static bool same_group(const struct finding *a, const struct finding *b) {
    if (a->kind != b->kind || a->rank != b->rank || a->step != b->step || a->line != b->line)
        return false;
    return a->kind == FINDING_UNCAUGHT || a->kind == FINDING_FAULT ||
           a->kind == FINDING_CLEANUP_FAILS;
}

/* How many choices lead to it. */
static uint32_t length_of(const struct explore_report *r, const struct finding *f) {
    uint32_t state = f->edge != MWL_NONE ? r->search->edges[f->edge].from : f->state;
    return state == MWL_NONE ? 0 : r->graph->steps[state] + (f->edge != MWL_NONE);
}

bool explore_report_shows(const struct explore_report *r, size_t i) {
    const struct observer *w = r->search->observer;
    const struct finding *f = &w->findings[i];
    if (is_allowed(r, f) || (f->rank == RANK_NOTE && !r->all)) return false;
    for (size_t k = 0; !r->all && k < w->n_findings; k++) {
        const struct finding *other = &w->findings[k];
        if (k == i || !same_group(f, other)) continue;
        uint32_t mine = length_of(r, f), its = length_of(r, other);
        if (its < mine || (its == mine && k < i)) return false;
    }
    return true;
}

static void put(const mwl__buf *text) {
    if (text->data) term_lines(stdout, text->data, text->len);
}

/* The shortest way to it. */
static void put_way(const struct explore_report *r, uint32_t edge, uint32_t state) {
    uint32_t *edges = malloc(ways_max(r->graph) * sizeof *edges);
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    if (edges && (edge != MWL_NONE || state != MWL_NONE)) {
        size_t n = ways_to(r->graph, edge, state, edges);
        script_text(r->search, edges, n, &text);
        put(&text);
    }
    mwl__buf_free(&text);
    free(edges);
}

static void put_seconds(int64_t ns) {
    char text[48];
    int n = snprintf(text, sizeof text, "%" PRId64 ".%09" PRId64, ns / 1000000000, ns % 1000000000);
    while (text[n - 1] == '0') n--;
    if (text[n - 1] == '.') n--;
    printf("%.*s s", n, text);
}

static void put_head(const struct explore_report *r) {
    const struct search *s = r->search;
    size_t n = s->n_states - s->n_outcomes - 1; /* without the ends and the beginning */
    printf("%s: %zu state%s, %" PRIu64 " transitions in %.2f s", r->file, n, n == 1 ? "" : "s",
           s->n_transitions, r->seconds);
    if (!s->stopped && !s->n_too_long) {
        puts("; complete");
        return;
    }
    puts("; NOT complete:");
    if (s->stopped)
        printf("  %s: %zu states were found and not explored\n", s->stopped,
               r->graph->measures.n_open - (size_t)s->n_too_long);
    if (s->n_too_long)
        printf("  %" PRIu64 " states were not explored because their virtual time is used up\n",
               s->n_too_long);
    puts(
        "  so a mistake behind them is not found, and nothing is said about what cannot be reached");
}

static bool same_result(const struct outcome *a, const struct outcome *b) {
    return strcmp(a->type, b->type) == 0 && strcmp(a->code, b->code) == 0;
}

/* One line for each type and code, wherever the failure comes from. */
static void put_results(const struct explore_report *r) {
    const struct search *s = r->search;
    puts("\nResults:");
    for (size_t i = 0; i < s->n_outcomes; i++) {
        const struct outcome *o = &s->outcomes[i];
        uint32_t length = r->graph->steps[o->state];
        uint64_t n = o->n_edges;
        size_t k = 0;
        while (k < i && !same_result(&s->outcomes[k], o)) k++;
        if (k < i) continue; /* is in the line of that one */
        for (k = i + 1; k < s->n_outcomes; k++) {
            if (!same_result(&s->outcomes[k], o)) continue;
            n += s->outcomes[k].n_edges;
            if (r->graph->steps[s->outcomes[k].state] < length)
                length = r->graph->steps[s->outcomes[k].state];
        }
        term_printf(stdout, "  %s", *o->code ? o->code : o->type);
        if (*o->code && strcmp(o->type, "error") != 0) term_printf(stdout, " (%s)", o->type);
        printf(": %" PRIu64 " way%s, the shortest of %u choice%s\n", n, n == 1 ? "" : "s",
               length - 1, length == 2 ? "" : "s");
    }
    if (!s->n_outcomes) puts("  none");
}

static void put_measures(const struct explore_report *r) {
    const struct measures *m = &r->graph->measures;
    const struct search *s = r->search;
    puts("\nThe most:");
    printf("  virtual time ");
    put_seconds(m->longest_ns);
    printf("%s\n", m->endless ? ", without repetition" : "");
    printf("  calls of one run %" PRIu64 ", in flight at once %u", m->most_calls, m->most_pending);
    if (m->most_runs) printf(", attempts %" PRIu64, m->most_runs);
    putchar('\n');
    puts("\nTried:");
    const struct menu *menu;
    for (size_t i = 0; (menu = menus_at(s->menus, i)); i++) {
        size_t ok = 0;
        for (size_t k = 0; k < menu->n_items; k++) ok += !menu->items[k].failure;
        const mwl_program *p = s->program;
        term_printf(stdout,
                    "  %s%s: ", menu->cleanup && menu->step != MWL_NONE ? "in the cleanup, " : "",
                    menu->step == MWL_NONE ? "the cleanup of the Flow"
                                           : mwl__view_step_name(p, menu->step));
        printf("%zu success%s (from %s), %zu failure%s\n", ok, ok == 1 ? "" : "es", menu->source,
               menu->n_items - ok, menu->n_items - ok == 1 ? "" : "s");
    }
}

static void put_finding(const struct explore_report *r, size_t at) {
    const struct observer *w = r->search->observer;
    const struct finding *f = &w->findings[at];
    size_t others = 0;
    for (size_t i = 0; !r->all && i < w->n_findings; i++)
        others += i != at && same_group(f, &w->findings[i]);
    term_printf(stdout, "%s", r->file);
    if (f->line) printf(":%u:%u", f->line, f->column);
    printf(": %s%s%s: %s: ", r->colour ? "\033[1m" : "", finding_rank_name(f->rank),
           r->colour ? "\033[0m" : "", finding_kind_name(f->kind));
    term_printf(stdout, "%s", f->text);
    if (others) printf(" (and %zu more here; --all shows each)", others);
    putchar('\n');
    put_way(r, f->edge, f->state);
}

/* Findings that are not shown by themselves are counted, so that nothing is lost in silence. */
static void put_rest(const struct explore_report *r) {
    const struct observer *w = r->search->observer;
    size_t allowed = 0, notes = 0;
    for (size_t i = 0; i < w->n_findings; i++) {
        bool is = is_allowed(r, &w->findings[i]);
        allowed += is;
        notes += !is && !r->all && w->findings[i].rank == RANK_NOTE;
    }
    if (notes)
        printf("%zu failure%s of a Step %s the Flow as %s; --all shows where.\n", notes,
               notes == 1 ? "" : "s", notes == 1 ? "leaves" : "leave",
               notes == 1 ? "a Result" : "Results");
    if (allowed) printf("%zu more %s ignored.\n", allowed, allowed == 1 ? "was" : "were");
}

void explore_report(const struct explore_report *r, size_t shown[FINDING_RANKS]) {
    const struct observer *w = r->search->observer;
    size_t n = 0;
    put_head(r);
    put_results(r);
    for (int rank = 0; rank < FINDING_RANKS; rank++) {
        shown[rank] = 0;
        for (int kind = 0; kind < FINDING_KINDS; kind++)
            for (size_t i = 0; i < w->n_findings; i++) {
                const struct finding *f = &w->findings[i];
                if ((int)f->rank != rank || (int)f->kind != kind || !explore_report_shows(r, i))
                    continue;
                if (n++ == 0) puts("\nFindings:");
                shown[rank]++;
                put_finding(r, i);
            }
    }
    if (!n) puts("\nNo findings.");
    put_rest(r);
    put_measures(r);
}
