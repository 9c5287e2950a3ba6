/* trace_text.c: trace events as lines for a person: time since the start, depth as indentation. */
#include "explain.h"

#include <inttypes.h>
#include <stdio.h>

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
    }
    return "event";
}

static void print_value(mwl_heap *heap, mwl_value v) {
    enum { SHOWN = 100 };
    char *text = NULL;
    size_t len = 0;
    if (mwl_is_absent(v) || mwl_json_write(heap, v, MWL_JSON_COMPACT, &text, &len) < 0) return;
    size_t shown = len < SHOWN ? len : SHOWN;
    while (shown < len && shown > 0 && ((unsigned char)text[shown] & 0xc0) == 0x80) shown--;
    fprintf(stderr, "  %.*s%s", (int)shown, text, shown < len ? " ..." : "");
    mwl_text_free(heap, text, len);
}

void trace_text(void *ctx, const mwl_trace_event *event) {
    struct trace_text *t = ctx;
    int64_t ns = event->at.mono_ns - t->start.mono_ns;
    fprintf(stderr, "%6" PRId64 ".%06" PRId64 " %*s%s", ns / 1000000000, ns % 1000000000 / 1000,
            (int)(2 * (event->depth < 40 ? event->depth : 40)), "", words_of(event->kind));
    bool names_flow =
        event->kind == MWL_TRACE_FRAME_ENTERED || event->kind == MWL_TRACE_FRAME_EXITED;
    if (names_flow && *event->flow) fprintf(stderr, " %s", event->flow);
    if (!names_flow && *event->step) fprintf(stderr, " %s", event->step);
    if (*event->phase) fprintf(stderr, " %s", event->phase);
    if (*event->provider) fprintf(stderr, " %s", event->provider);
    if (event->index >= 0) fprintf(stderr, " #%" PRId64, event->index);
    print_value(t->heap, event->value);
    fputc('\n', stderr);
}
