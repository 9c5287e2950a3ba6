/* report.c: see report.h. */
#include "report.h"

#include "tools/base/term.h"
#include "script.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool explore_report_shows(const struct explore_report *r, const struct finding *f) {
    for (size_t i = 0; i < r->n_allow; i++)
        if (strcmp(r->allow[i], finding_kind_name(f->kind)) == 0) return false;
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

static void put_results(const struct explore_report *r) {
    const struct search *s = r->search;
    puts("\nResults:");
    for (size_t i = 0; i < s->n_outcomes; i++) {
        const struct outcome *o = &s->outcomes[i];
        uint32_t length = r->graph->steps[o->state];
        term_printf(stdout, "  %s", *o->code ? o->code : o->type);
        if (*o->code && strcmp(o->type, "error") != 0) term_printf(stdout, " (%s)", o->type);
        printf(": %" PRIu64 " way%s, the shortest of %u choice%s\n", o->n_edges,
               o->n_edges == 1 ? "" : "s", length - 1, length == 2 ? "" : "s");
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
                    menu->step == MWL_NONE
                        ? "the cleanup of the Flow"
                        : mwl_as_text(p->consts[p->tables.steps[menu->step].name_k], NULL));
        printf("%zu success%s (from %s), %zu failure%s\n", ok, ok == 1 ? "" : "es", menu->source,
               menu->n_items - ok, menu->n_items - ok == 1 ? "" : "s");
    }
}

size_t explore_report(const struct explore_report *r) {
    const struct observer *w = r->search->observer;
    size_t shown = 0, left_out = 0;
    put_head(r);
    put_results(r);
    for (int kind = 0; kind < FINDING_KINDS; kind++)
        for (size_t i = 0; i < w->n_findings; i++) {
            const struct finding *f = &w->findings[i];
            if ((int)f->kind != kind) continue;
            if (!explore_report_shows(r, f)) {
                left_out++;
                continue;
            }
            if (shown++ == 0) puts("\nFindings:");
            term_printf(stdout, "%s", r->file);
            if (f->line) printf(":%u:%u", f->line, f->column);
            printf(": %s%s%s: ", r->colour ? "\033[1m" : "", finding_kind_name(f->kind),
                   r->colour ? "\033[0m" : "");
            term_printf(stdout, "%s", f->text);
            putchar('\n');
            put_way(r, f->edge, f->state);
        }
    if (!shown) puts("\nNo findings.");
    if (left_out) printf("%zu more were allowed.\n", left_out);
    put_measures(r);
    return shown;
}
