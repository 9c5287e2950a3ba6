/* data.c: what the page of the report shows, as JSON, and the graph. See report.h.
 *
 * In the JSON `<` is written as \u003c, so that it can stand in a script element: nothing in it
 * ends the element or begins a comment. */
#include "tools/report/record.h"

#include "tools/graph/graph.h"
#include "tools/base/redact.h"
#include "tools/base/snippet.h"
#include "vm/base/utf8.h"
#include "vm/value/value.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- JSON ------------------------------------------------------------------------------------ */

/* How many bytes at the beginning a script of a page must not have as they are: "<", which could
 * end it, and two line ends of JavaScript. */
static size_t special(const char *text, size_t len) {
    if (*text == '<') return 1;
    return len >= 3 && memcmp(text, "\xE2\x80", 2) == 0 && (text[2] & 0xFE) == 0xA8 ? 3 : 0;
}

static void put_string(mwl__buf *out, const char *text, size_t len) {
    mwl__buf_putc(out, '"');
    for (size_t from = 0, at = 0; from < len; from = at) {
        size_t n = 0;
        while (at < len && !(n = special(text + at, len - at))) at++;
        mwl__json_escape(out, text + from, at - from);
        if (at < len)
            mwl__buf_puts(out, n == 1 ? "\\u003c" : text[at + 2] & 1 ? "\\u2029" : "\\u2028");
        at += n;
    }
    mwl__buf_putc(out, '"');
}

static void put_member(mwl__buf *out, const char *name, const char *text) {
    mwl__buf_printf(out, "\"%s\":", name);
    put_string(out, text, strlen(text));
    mwl__buf_puts(out, ",\n");
}

/* An index, -1 where there is none. */
static void put_index(mwl__buf *out, uint32_t ix) {
    if (ix == RECORD_NONE)
        mwl__buf_puts(out, ",-1");
    else
        mwl__buf_printf(out, ",%" PRIu32, ix);
}

static void put_spans(mwl__buf *out, const struct report *r) {
    mwl__buf_puts(out, "\"spans\":[");
    for (size_t i = 0; i < r->n_spans; i++) {
        const struct record_span *s = &r->spans[i];
        mwl__buf_printf(out, "%s[%d,%d,%" PRIu32, i ? ",\n" : "\n", s->kind, s->status, s->track);
        put_index(out, s->parent);
        mwl__buf_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRIu32 ",%" PRIu32 ",%" PRId64,
                        s->begin_ns, s->end_ns, s->begin_order, s->end_order, s->number);
        put_index(out, s->flow);
        put_index(out, s->step);
        put_index(out, s->provider);
        put_index(out, s->phase);
        mwl__buf_printf(out, ",%" PRIu32 ",%" PRIu32 ",%" PRIu32, s->total, s->line, s->column);
        put_index(out, s->input);
        put_index(out, s->arguments);
        put_index(out, s->result);
        put_index(out, s->before);
        put_index(out, s->after);
        put_index(out, s->caught);
        mwl__buf_putc(out, ']');
    }
    mwl__buf_puts(out, "],\n");
}

static void put_texts(mwl__buf *out, const struct report *r) {
    mwl__buf_puts(out, "\"texts\":[");
    for (size_t i = 0; i < r->n_text; i++) {
        const char *text = r->texts.data + r->text[i].at;
        size_t len = r->text[i].len, new_len = 0;
        char *shown = redact_text(text, len, &new_len); /* what became secret later */
        if (i) mwl__buf_puts(out, ",\n");
        put_string(out, shown ? shown : text, shown ? new_len : len);
        free(shown);
    }
    mwl__buf_puts(out, "],\n\"cut\":[");
    const char *before = "";
    for (size_t i = 0; i < r->n_text; i++)
        if (r->text[i].cut) {
            mwl__buf_printf(out, "%s%zu", before, i);
            before = ",";
        }
    mwl__buf_puts(out, "],\n");
}

/* ---- places in the definition ---------------------------------------------------------------- */

/* The lines that places name, each once: the part around the column of a long one. */
struct places {
    mwl__buf *out;
    mwl__source *source;
    uint64_t *seen; /* sorted as they come: line and column */
    size_t n_seen, cap_seen;
    mwl_alloc alloc;
};

static void put_place(struct places *p, uint32_t line, uint32_t column) {
    enum { AROUND = 80 };
    if (!line || !p->source) return;
    uint64_t key = (uint64_t)line << 32 | column;
    size_t low = 0, high = p->n_seen;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (p->seen[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < p->n_seen && p->seen[low] == key) return;
    void *grown = p->seen;
    if (mwl__mem_grow(&p->alloc, &grown, &p->cap_seen, p->n_seen + 1, sizeof *p->seen) < 0) return;
    p->seen = grown;
    memmove(p->seen + low + 1, p->seen + low, (p->n_seen - low) * sizeof *p->seen);
    p->seen[low] = key;
    uint32_t at = snippet_offset(p->source, line, column);
    mwl__span span = mwl__source_line(p->source, at);
    const char *text = p->source->text;
    uint32_t begin = at - span.begin > AROUND ? at - AROUND : span.begin;
    uint32_t end = span.end - at > AROUND ? at + AROUND : span.end;
    while (begin > span.begin && ((unsigned char)text[begin] & 0xC0u) == 0x80u) begin--;
    while (end < span.end && ((unsigned char)text[end] & 0xC0u) == 0x80u) end++;
    mwl__buf_printf(p->out, "%s\"%" PRIu32 ":%" PRIu32 "\":[", p->n_seen++ ? ",\n" : "\n", line,
                    column);
    put_string(p->out, text + begin, end - begin);
    mwl__buf_printf(p->out, ",%zu,%d,%d]", mwl__utf8_count(text + begin, at - begin),
                    begin > span.begin, end < span.end);
}

static unsigned number_of(mwl_value object, const char *name) {
    mwl_value v = mwl_get(object, name);
    return mwl_value_kind(v) == MWL_KIND_NUMBER && mwl_as_number(v) >= 1 && mwl_as_number(v) < 1e9
               ? (unsigned)mwl_as_number(v)
               : 0;
}

/* The places of the final failure and of those that it took the place of. */
static void put_chain(struct places *p, mwl__buf *chain, const mwl_run *run) {
    enum { MOST = 100 };
    mwl_value failure = mwl_run_get_state(run) == MWL_RUN_DONE ? mwl_run_result(run) : mwl_absent();
    for (int i = 0; i < MOST && mwl_value_kind(failure) == MWL_KIND_OBJECT; i++) {
        mwl_place place;
        mwl_value details = mwl_get(failure, "details");
        uint32_t line = number_of(details, "line"), column = number_of(details, "column");
        memset(&place, 0, sizeof place);
        bool known = mwl_run_failed_at(run, failure, &place);
        if (!line && known) line = place.line, column = place.column;
        mwl__buf_printf(chain, "%s[%" PRIu32 ",%" PRIu32 ",", i ? "," : "", line, column);
        const char *flow = known ? place.flow : "", *step = known ? place.step : "";
        put_string(chain, flow, strlen(flow));
        mwl__buf_putc(chain, ',');
        put_string(chain, step, strlen(step));
        mwl__buf_putc(chain, ']');
        put_place(p, line, column);
        failure = mwl_get(failure, "previous");
    }
}

static void put_places(mwl__buf *out, const struct report *r, const struct report_about *about) {
    mwl__source source;
    mwl__buf chain = mwl__buf_make(r->alloc);
    bool has = about->source &&
               mwl__source_init(&source, r->alloc, "", about->source, about->source_len) == MWL_OK;
    struct places p = {out, has ? &source : NULL, NULL, 0, 0, r->alloc};
    mwl__buf_puts(out, "\"places\":{");
    for (size_t i = 0; i < r->n_spans; i++) put_place(&p, r->spans[i].line, r->spans[i].column);
    put_chain(&p, &chain, about->run);
    mwl__buf_puts(out, "},\n\"chain\":[");
    if (chain.failed)
        out->failed = true;
    else
        mwl__buf_put(out, chain.data, chain.len);
    mwl__buf_puts(out, "],\n");
    mwl__buf_free(&chain);
    mwl__mem_free(&r->alloc, p.seen, p.cap_seen * sizeof *p.seen);
    if (has) mwl__source_free(&source);
}

/* ---- the graph ------------------------------------------------------------------------------- */

static bool is_wrapped(const struct graph_node *n) {
    return n->parent && n->parent->kind == GRAPH_FRAME && n->parent->first == n;
}

static uint32_t calls_before(const struct graph_node *n) {
    uint32_t i = 0;
    for (const struct graph_node *c = n->parent->first; c != n; c = c->next)
        i += c->kind == GRAPH_CALL;
    return i;
}

/* Which box is which call: [box, place of the Step, phase, index, of a Flow]. A dispatch has no
 * phase, and its number is the index. The call of a phase has the index of its middleware, counted
 * from outside; if that one is around a whole Flow, the Step is where the Flow begins. */
static void put_call(mwl__buf *out, const struct graph_node *n, mwl__source *source) {
    const struct graph_node *of = n, *step;
    uint32_t index = 0;
    bool dispatch = n->parent->kind == GRAPH_STEP;
    if (dispatch) {
        step = n->parent;
        index = calls_before(n);
    } else {
        while (is_wrapped(of)) of = of->parent; /* middleware of the phase itself */
        step = of->parent;                      /* the frame whose phase it is */
        for (of = step; is_wrapped(of); of = of->parent) index++;
        while (step->kind == GRAPH_FRAME) step = step->first;
    }
    bool flow = step->kind == GRAPH_BODY;
    if (flow) step = step->edges->to; /* the edge from its start is the first */
    while (step->kind == GRAPH_FRAME) step = step->first;
    mwl__place at = mwl__source_place(source, step->node->key_offset);
    mwl__buf_printf(out, "[%" PRIu32 ",\"%" PRIu32 ":%" PRIu32 "\",\"%s\",%" PRIu32 ",%d]", n->id,
                    at.line, at.column, dispatch ? "" : n->title, index, flow);
}

/* Which box is which Step, by its place, which is which call, and the edges between boxes: for the
 * way that was taken. */
static void put_graph_data(mwl__buf *out, const struct graph *g, mwl__source *source) {
    const char *before = "";
    mwl__buf_puts(out, "\"calls\":[");
    for (const struct graph_node *n = g->first; n; n = graph_walk(n)) {
        if (n->kind != GRAPH_CALL) continue;
        mwl__buf_puts(out, before);
        put_call(out, n, source);
        before = ",";
    }
    mwl__buf_puts(out, "],\n\"steps\":{");
    before = "";
    for (const struct graph_node *n = g->first; n; n = graph_walk(n)) {
        if (n->kind != GRAPH_STEP) continue;
        const struct graph_node *outer = n;
        while (is_wrapped(outer)) outer = outer->parent;
        /* the place of a Step is that of its name */
        mwl__place at = mwl__source_place(source, n->node->key_offset);
        mwl__buf_printf(out, "%s\"%" PRIu32 ":%" PRIu32 "\":[%" PRIu32 ",%" PRIu32 "]", before,
                        at.line, at.column, n->id, outer->id);
        before = ",";
    }
    mwl__buf_puts(out, "},\n\"edges\":[");
    before = "";
    for (const struct graph_node *n = g->first; n; n = graph_walk(n))
        for (const struct graph_edge *e = n->edges; e; e = e->next) {
            mwl__buf_printf(out, "%s[%" PRIu32 ",%" PRIu32 ",%d,%" PRIu32 ",%d]", before,
                            e->from->id, e->to->id, e->kind, e->id, e->taken == GRAPH_TAKEN);
            before = ",";
        }
    mwl__buf_puts(out, "],\n");
}

/* Marks the edges that the run took. Without memory for it none is marked. */
static void mark_taken(struct report *r, const struct report_about *about, struct graph *g,
                       mwl__source *source) {
    mwl__buf text = mwl__buf_make(r->alloc);
    mwl_value coverage = mwl_absent();
    if (!about->coverage) return;
    mwl__buf_putc(&text, '[');
    coverage_write(about->coverage, g->name, about->hits, &text);
    mwl__buf_putc(&text, ']');
    if (!text.failed && mwl_json_parse(r->heap, text.data, text.len, &coverage, NULL) == MWL_OK)
        (void)graph_mark(g, source, coverage);
    mwl_value_drop(r->heap, coverage);
    mwl__buf_free(&text);
}

/* The graph into `svg`, its data into `data`. Without a model, or if it is too large for the memory
 * limit, there is none, and the page says so. */
static void draw(struct report *r, const struct report_about *about, mwl__buf *svg,
                 mwl__buf *data) {
    struct graph g;
    if (!about->model) return;
    mwl__source *source = &about->model->source;
    graph_init(&g, about->model->alloc, source->name ? source->name : "");
    if (graph_build(&g, &about->model->model) == MWL_OK && graph_layout(&g) == MWL_OK) {
        graph_svg(&g, svg);
        mark_taken(r, about, &g, source);
        put_graph_data(data, &g, source);
    }
    graph_free(&g);
}

/* ---- about the run -------------------------------------------------------------------------- */

static const char *state_of(const mwl_run *run) {
    mwl_status why = mwl_run_why(run);
    if (mwl_run_get_state(run) == MWL_RUN_ABORTED) return "aborted";
    if (mwl_run_get_state(run) != MWL_RUN_DONE) return "running";
    if (why < 0) return "limit";
    size_t len = 0;
    const char *type = mwl_as_text(mwl_get(mwl_run_result(run), "type"), &len);
    if (type && strcmp(type, "success") == 0) return "succeeded";
    if (type && strcmp(type, "cancellation") == 0) return "cancelled";
    return type && strcmp(type, "timeout") == 0 ? "timeout" : "failed";
}

static void put_about(mwl__buf *out, struct report *r, const struct report_about *about) {
    mwl_value wall = mwl_timestamp_text(r->heap, r->start.wall_ns);
    const char *started = mwl_as_text(wall, NULL);
    mwl_status why = mwl_run_why(about->run);
    put_member(out, "file", about->file);
    put_member(out, "version", mwl_version());
    put_member(out, "run", mwl_run_id((mwl_run *)(uintptr_t)about->run));
    put_member(out, "started", started ? started : "");
    put_member(out, "state", state_of(about->run));
    put_member(out, "why", why < 0 ? mwl_status_text(why) : "");
    mwl_value_drop(r->heap, wall);
    mwl__buf_printf(out, "\"virtual\":%s,\n\"leftOut\":%" PRIu64 ",\n\"valuesLeftOut\":%s,\n",
                    about->virtual_time ? "true" : "false", r->left_out,
                    r->values_left_out || r->failed ? "true" : "false");
}

void report_data(struct report *r, const struct report_about *about, mwl__buf *svg,
                 mwl__buf *data) {
    mwl__buf_puts(data, "{");
    put_about(data, r, about);
    draw(r, about, svg, data);
    put_places(data, r, about);
    put_spans(data, r);
    put_texts(data, r);
    mwl_instant now;
    mwl_vm_now(mwl_run_vm(about->run), &now);
    mwl__buf_printf(data, "\"now\":%" PRId64 "}", now.mono_ns - r->start.mono_ns);
}
