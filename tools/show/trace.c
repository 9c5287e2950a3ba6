/* trace.c: see trace.h. */
#include "tools/show/trace.h"

#include "assembler/source/diag.h"
#include "vm/value/value.h"
#include "tools/base/json_out.h"
#include "tools/base/term.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 100 };

/* ---- lines for a person ---------------------------------------------------------------------- */

static const char *words_of(mwl_trace_kind kind) {
    switch (kind) {
    case MWL_TRACE_RUN_STARTED: return "run started";
    case MWL_TRACE_RUN_DONE: return "run done";
    case MWL_TRACE_FRAME_ENTERED: return "Flow entered";
    case MWL_TRACE_FRAME_EXITED: return "Flow exited";
    case MWL_TRACE_STEP_ENTERED: return "Step entered";
    case MWL_TRACE_STEP_EXITED: return "Step exited";
    case MWL_TRACE_PHASE: return "phase";
    case MWL_TRACE_ATTEMPT: return "runs again";
    case MWL_TRACE_CALL_DISPATCHED: return "call dispatched";
    case MWL_TRACE_CALL_ACCEPTED: return "call accepted";
    case MWL_TRACE_TIMER: return "timer";
    case MWL_TRACE_INTERRUPTED: return "interrupted";
    case MWL_TRACE_ESTABLISHED: return "established";
    case MWL_TRACE_ENTRY_EXITED: return "middleware exited";
    case MWL_TRACE_CAUGHT: return "failure caught";
    case MWL_TRACE_WAITING: return "waits";
    case MWL_TRACE_HIDDEN: return "failure hidden";
    }
    return "event";
}

static bool is_of_run(mwl_trace_kind kind) {
    return kind == MWL_TRACE_RUN_STARTED || kind == MWL_TRACE_RUN_DONE;
}

static bool is_of_flow(mwl_trace_kind kind) {
    return kind == MWL_TRACE_FRAME_ENTERED || kind == MWL_TRACE_FRAME_EXITED;
}

/* most: 0 for no bound. What has no JSON form (CEL's own types) is named. */
static void put_json(mwl_heap *heap, mwl_value v, size_t most) {
    const struct json_out how = {stderr, MWL_JSON_COMPACT, true, most};
    if (json_out(&how, heap, v) < 0) fprintf(stderr, "(%s)", mwl_value_type(v));
}

/* "#1.0": dispatch 0 of a Gather inside dispatch 1 of another. */
static void put_branch(const mwl_trace_event *event) {
    const char *sign = " #";
    for (uint32_t i = 0; i < event->n_branch; i++) {
        fprintf(stderr, "%s%" PRIu32, sign, event->branch[i]);
        sign = ".";
    }
    if (event->index >= 0) fprintf(stderr, "%s%" PRId64, sign, event->index);
}

static void put_seconds(const char *before, int64_t ns) {
    fprintf(stderr, "%s%" PRId64 ".%06" PRId64, before, ns / 1000000000, ns % 1000000000 / 1000);
}

static void put_text(const struct trace *t, const mwl_trace_event *event) {
    int64_t ns = event->at.mono_ns - t->start.mono_ns;
    size_t most = t->form == TRACE_FULL ? 0 : SHOWN;
    fprintf(stderr, "%6" PRId64 ".%06" PRId64 " %*s%s", ns / 1000000000, ns % 1000000000 / 1000,
            (int)(2 * (event->depth < 40 ? event->depth : 40)), "", words_of(event->kind));
    put_branch(event);
    if (is_of_flow(event->kind) && *event->flow) term_printf(stderr, " %s", event->flow);
    if (!is_of_flow(event->kind) && !is_of_run(event->kind) && *event->step)
        term_printf(stderr, " %s", event->step);
    if (*event->phase) fprintf(stderr, " %s", event->phase);
    if (*event->provider) term_printf(stderr, " %s", event->provider);
    if (event->kind == MWL_TRACE_WAITING && event->until_ns != MWL_NEVER)
        put_seconds(" until ", event->until_ns - t->start.mono_ns);
    if (!mwl_is_absent(event->input)) {
        fputs("  input ", stderr);
        put_json(t->heap, event->input, most);
    }
    if (!mwl_is_absent(event->value)) {
        fputs(mwl_is_absent(event->input) ? "  " : "  with ", stderr);
        put_json(t->heap, event->value, most);
    }
    fputc('\n', stderr);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void put_name(const char *name, const char *text) {
    if (!*text) return;
    mwl__buf escaped = mwl__buf_make(mwl_alloc_default());
    mwl__json_escape(&escaped, text, strlen(text));
    fprintf(stderr, ",\"%s\":\"", name);
    if (!escaped.failed) term_text(stderr, escaped.data, escaped.len);
    fputc('"', stderr);
    mwl__buf_free(&escaped);
}

static void put_member(mwl_heap *heap, const char *name, mwl_value v) {
    const struct json_out how = {stderr, MWL_JSON_COMPACT, true, 0};
    enum { MOST = 64 << 10 }; /* as in --trace-file */
    if (mwl_is_absent(v)) return;
    fprintf(stderr, ",\"%s\":", name);
    if (!json_out_fits(heap, v, MWL_JSON_COMPACT, MOST)) {
        fprintf(stderr, "\"(more than %d bytes)\"", MOST);
        return;
    }
    if (json_out(&how, heap, v) < 0) fprintf(stderr, "{\"$type\":\"%s\"}", mwl_value_type(v));
}

/* Instants count from the start, as "seconds" does. */
static void put_facts(const struct trace *t, const mwl_trace_event *event) {
    if (event->total) fprintf(stderr, ",\"total\":%" PRIu32, event->total);
    put_name("position", event->position);
    if (event->runs) fprintf(stderr, ",\"runs\":%" PRIu64, event->runs);
    if (event->line)
        fprintf(stderr, ",\"line\":%" PRIu32 ",\"column\":%" PRIu32, event->line, event->column);
    if (event->until_ns != MWL_NEVER)
        put_seconds(",\"until\":", event->until_ns - t->start.mono_ns);
    if (event->bound_ns != MWL_NEVER)
        put_seconds(",\"bound\":", event->bound_ns - t->start.mono_ns);
    if (event->failed) fputs(",\"failed\":true", stderr);
}

static void put_object(const struct trace *t, const mwl_trace_event *event) {
    int64_t ns = event->at.mono_ns - t->start.mono_ns;
    mwl_value wall = mwl_timestamp_text(t->heap, event->at.wall_ns);
    fprintf(stderr, "{\"seconds\":%" PRId64 ".%09" PRId64, ns / 1000000000, ns % 1000000000);
    put_member(t->heap, "time", wall);
    mwl_value_drop(t->heap, wall);
    fprintf(stderr, ",\"event\":\"%s\"", mwl_trace_name(event->kind));
    put_name("run", mwl_run_id((mwl_run *)(uintptr_t)event->run));
    fprintf(stderr, ",\"depth\":%" PRIu32, event->depth);
    put_name("flow", event->flow);
    if (!is_of_run(event->kind)) put_name("step", event->step);
    put_name("provider", event->provider);
    put_name("phase", event->phase);
    for (uint32_t i = 0; i < event->n_branch; i++)
        fprintf(stderr, "%s%" PRIu32, i ? "," : ",\"branch\":[", event->branch[i]);
    if (event->n_branch) fputc(']', stderr);
    if (event->index >= 0) fprintf(stderr, ",\"index\":%" PRId64, event->index);
    put_facts(t, event);
    put_member(t->heap, "input", event->input);
    put_member(t->heap, "value", event->value);
    fputs("}\n", stderr);
}

void trace_event(void *ctx, const mwl_trace_event *event) {
    const struct trace *t = ctx;
    if (t->form == TRACE_JSON)
        put_object(t, event);
    else
        put_text(t, event);
}
