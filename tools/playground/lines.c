/* lines.c: see lines.h. */
#include "tools/playground/lines.h"

#include "tools/playground/reply.h"

#include <inttypes.h>

void lines_init(struct lines *l, mwl_heap *heap, bool wanted) {
    *l = (struct lines){.heap = heap, .wanted = wanted};
    l->text = mwl__buf_make(mwl_alloc_default());
}

void lines_free(struct lines *l) { mwl__buf_free(&l->text); }

static void put_name(mwl__buf *out, const char *name, const char *text) {
    if (*text) reply_member(out, name, text);
}

static void put_time(const struct lines *l, mwl__buf *out, const char *name, int64_t ns) {
    if (ns != MWL_NEVER) mwl__buf_printf(out, ",\"%s\":%" PRId64, name, ns - l->start_ns);
}

static void put_branch(mwl__buf *out, const mwl_trace_event *e) {
    for (uint32_t i = 0; i < e->n_branch; i++)
        mwl__buf_printf(out, "%s%" PRIu32, i ? "," : ",\"branch\":[", e->branch[i]);
    if (e->n_branch) mwl__buf_putc(out, ']');
    if (e->index >= 0) mwl__buf_printf(out, ",\"index\":%" PRId64, e->index);
    if (e->total) mwl__buf_printf(out, ",\"total\":%" PRIu32, e->total);
}

void lines_event(struct lines *l, const mwl_trace_event *e) {
    mwl__buf *out = &l->text;
    if (!l->wanted) return;
    if (out->len > LINES_MOST || out->failed) {
        l->lost++;
        return;
    }
    mwl__buf_printf(out, "%s{\"at\":%" PRId64, out->len ? ",\n" : "", e->at.mono_ns - l->start_ns);
    reply_member(out, "event", mwl_trace_name(e->kind));
    mwl__buf_printf(out, ",\"depth\":%" PRIu32, e->depth);
    put_name(out, "flow", e->flow);
    if (e->kind != MWL_TRACE_RUN_DONE && e->kind != MWL_TRACE_RUN_STARTED)
        put_name(out, "step", e->step);
    put_name(out, "provider", e->provider);
    put_name(out, "phase", e->phase);
    put_branch(out, e);
    put_name(out, "position", e->position);
    put_name(out, "counts", e->counts);
    if (e->runs) mwl__buf_printf(out, ",\"runs\":%" PRIu64, e->runs);
    if (e->line)
        mwl__buf_printf(out, ",\"line\":%" PRIu32 ",\"column\":%" PRIu32, e->line, e->column);
    put_time(l, out, "until", e->until_ns);
    put_time(l, out, "bound", e->bound_ns);
    if (e->failed) mwl__buf_puts(out, ",\"failed\":true");
    if (!mwl_is_absent(e->input)) {
        reply_name(out, "input");
        reply_value(out, l->heap, e->input, LINES_VALUE);
    }
    if (!mwl_is_absent(e->value)) {
        reply_name(out, "value");
        reply_value(out, l->heap, e->value, LINES_VALUE);
    }
    mwl__buf_putc(out, '}');
}

void lines_reply(struct lines *l, mwl__buf *out) {
    if (!l->wanted) return;
    reply_name(out, "lines");
    mwl__buf_putc(out, '[');
    if (!l->text.failed) mwl__buf_put(out, l->text.data, l->text.len);
    mwl__buf_putc(out, ']');
    if (l->lost) mwl__buf_printf(out, ",\"lost\":%" PRIu64, l->lost);
    l->text.len = 0;
    l->text.failed = false;
    l->lost = 0;
}
