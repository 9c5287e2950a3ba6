/* event_lines.c: see event_lines.h. */
#include "tools/show/event_lines.h"

#include "tools/show/event_text.h"
#include "tools/base/json_out.h"
#include "tools/base/term.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SHOWN = 100, LABEL = 24 };

struct event_lines {
    mwl_heap *heap;
    mwl_instant start;
    char (*labels)[LABEL]; /* by track: "#1.0 "; "" for the run's own */
    size_t n_labels;
    bool started, colour;
};

static const char *colour(const struct event_lines *l, const char *code) {
    return l->colour ? code : "";
}
#define RED "\033[31m"
#define YELLOW "\033[33m"
#define DIM "\033[2m"
#define BOLD "\033[1m"
#define PLAIN "\033[0m"

/* ---- a line ---------------------------------------------------------------------------------- */

static void open_line(const struct event_lines *l, const struct event_span *s,
                      const mwl_instant *at) {
    int64_t ms = (at->mono_ns - l->start.mono_ns) / 1000000;
    uint32_t deep = 2 * s->frame_depth;
    /* what is inside a Step is one level further in than the Step */
    if (s->kind != EVENT_STEP && s->kind != EVENT_FLOW && s->kind != EVENT_RUN) deep += 2;
    fprintf(stderr, "%s%6" PRId64 ".%03" PRId64 "%s  %*s%s", colour(l, DIM), ms / 1000, ms % 1000,
            colour(l, PLAIN), (int)(deep < 60 ? deep : 60), "",
            s->track < l->n_labels ? l->labels[s->track] : "");
}

static void put_value(const struct event_lines *l, mwl_value v) {
    const struct json_out how = {stderr, MWL_JSON_COMPACT, true, SHOWN};
    if (mwl_is_absent(v)) return;
    fprintf(stderr, "  %s", colour(l, DIM));
    if (json_out(&how, l->heap, v) < 0) fprintf(stderr, "(%s)", mwl_value_type(v));
    fputs(colour(l, PLAIN), stderr);
}

static void put_name(const struct event_span *s) {
    char name[300];
    size_t len = 0;
    const char *provider = event_text_provider(s->provider, &len);
    event_text_name(s, name, sizeof name);
    if (s->kind == EVENT_DISPATCH) /* its number is the line's label */
        term_printf(stderr, "dispatch%s%.*s", len ? " " : "", (int)len, provider);
    else if (s->kind == EVENT_PHASE)
        term_printf(stderr, "%.*s %s", (int)len, provider, name);
    else
        term_printf(stderr, s->kind == EVENT_FLOW ? "flow %s" : "%s", name);
}

static void put_duration(const char *before, int64_t ns) {
    char text[40];
    event_text_time(ns, text, sizeof text);
    fprintf(stderr, "%s%s", before, text);
}

/* ---- the sink -------------------------------------------------------------------------------- */

static void on_track(void *ctx, const struct event_track *track) {
    struct event_lines *l = ctx;
    char(*grown)[LABEL] = realloc(l->labels, (track->id + 1) * sizeof *grown);
    if (!grown) return; /* the label is missing, nothing else */
    l->labels = grown;
    memset(l->labels + l->n_labels, 0, (track->id + 1 - l->n_labels) * sizeof *grown);
    l->n_labels = track->id + 1;
    char outer[LABEL]; /* "#1 " and 0 become "#1.0 " */
    memcpy(outer, l->labels[track->parent], LABEL);
    snprintf(l->labels[track->id], LABEL, "%.*s%s%" PRId64 " ", *outer ? (int)strlen(outer) - 1 : 0,
             outer, *outer ? "." : "#", track->index);
}

static bool begins_line(const struct event_span *s) {
    switch (s->kind) {
    case EVENT_STEP:
    case EVENT_DISPATCH:
    case EVENT_WAIT: return true;
    case EVENT_CALL: return *s->provider; /* the Flow has a line of its own */
    case EVENT_ATTEMPT: return s->number > 1;
    case EVENT_FLOW: return s->frame_depth > 0 && *s->flow;
    case EVENT_RUN: return true;
    default: return false;
    }
}

static void on_begin(void *ctx, const struct event_span *s, const struct event_values *v) {
    struct event_lines *l = ctx;
    if (!l->started) {
        l->start = s->begin;
        l->started = true;
    }
    if (!begins_line(s)) return;
    open_line(l, s, &s->begin);
    if (s->kind == EVENT_STEP) fputs(colour(l, BOLD), stderr);
    put_name(s);
    if (s->kind == EVENT_STEP) fputs(colour(l, PLAIN), stderr);
    if (s->kind == EVENT_WAIT) put_duration(": ", s->until_ns - s->begin.mono_ns);
    put_value(l, v->input);
    fputc('\n', stderr);
}

static const char *ending(const struct event_span *s) {
    switch (s->status) {
    case EVENT_FAILED: return " failed";
    case EVENT_CANCELLED: return " cancelled";
    case EVENT_LOST: return " ended without a Result";
    default: return " done";
    }
}

static bool ends_line(const struct event_span *s) {
    bool good = s->status == EVENT_SUCCEEDED || s->status == EVENT_CAUGHT;
    switch (s->kind) {
    case EVENT_RUN:
    case EVENT_DISPATCH: return true;
    case EVENT_CALL: return *s->provider;
    case EVENT_PHASE: return s->status == EVENT_FAILED;
    case EVENT_STEP:
    case EVENT_ATTEMPT:
    case EVENT_WAIT: return !good;
    default: return false;
    }
}

static void on_end(void *ctx, const struct event_span *s, const struct event_values *v) {
    struct event_lines *l = ctx;
    char code[120];
    if (!ends_line(s)) return;
    open_line(l, s, &s->end);
    put_name(s);
    bool failed = s->status == EVENT_FAILED;
    fprintf(stderr, "%s%s", failed ? colour(l, RED) : "", ending(s));
    if (failed) {
        event_text_code(v->result, code, sizeof code);
        term_printf(stderr, ": %s", code);
        fputs(colour(l, PLAIN), stderr);
    }
    put_duration(", ", s->end.mono_ns - s->begin.mono_ns);
    if (s->status == EVENT_SUCCEEDED) put_value(l, v->result);
    fputc('\n', stderr);
}

static void on_mark(void *ctx, const struct event_span *s, enum event_mark mark, mwl_value value,
                    const mwl_instant *at) {
    struct event_lines *l = ctx;
    char code[120];
    event_text_code(value, code, sizeof code);
    open_line(l, s, at);
    put_name(s);
    fputs(colour(l, YELLOW), stderr);
    term_printf(stderr, " %s: %s", mark == EVENT_MARK_CAUGHT ? "caught" : "interrupted", code);
    fprintf(stderr, "%s\n", colour(l, PLAIN));
}

/* ---- its life -------------------------------------------------------------------------------- */

struct event_lines *event_lines_new(mwl_heap *heap) {
    struct event_lines *l = calloc(1, sizeof *l);
    if (!l) return NULL;
    l->heap = heap;
    l->colour = term_colour(STDERR_FILENO);
    l->labels = calloc(1, sizeof *l->labels);
    l->n_labels = l->labels ? 1 : 0;
    return l;
}

struct event_sink event_lines_sink(struct event_lines *l) {
    struct event_sink sink = {l, on_track, on_begin, on_end, on_mark};
    return sink;
}

void event_lines_free(struct event_lines *l) {
    if (!l) return;
    free(l->labels);
    free(l);
}
