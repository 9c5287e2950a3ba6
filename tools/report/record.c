/* record.c: the events of a run, kept for the report. See record.h. */
#include "tools/report/record.h"

#include "tools/base/redact.h"
#include "vm/base/hash.h"

#include <stdlib.h>

/* ---- texts ----------------------------------------------------------------------------------- */

static uint32_t add_text(struct report *r, const mwl__probe *place, const char *text, size_t len,
                         bool cut) {
    void *grown = r->text;
    mwl_status status =
        mwl__mem_grow(&r->alloc, &grown, &r->cap_text, r->n_text + 1, sizeof *r->text);
    r->text = grown;
    size_t at = r->texts.len;
    if (status == MWL_OK) mwl__buf_put(&r->texts, text, len);
    if (status != MWL_OK || r->texts.failed) {
        r->failed = true;
        return RECORD_NONE;
    }
    r->text[r->n_text] = (struct record_text){at, len, cut};
    mwl__table_put(&r->table, place, (uint32_t)r->n_text);
    return (uint32_t)r->n_text++;
}

static uint32_t keep_text(struct report *r, const char *text, size_t len, bool cut) {
    if (r->failed) return RECORD_NONE;
    if (r->texts.len + len > RECORD_TEXTS) {
        r->values_left_out = true;
        return RECORD_NONE;
    }
    if (mwl__table_reserve(&r->table, &r->alloc, r->n_text + 1) != MWL_OK) {
        r->failed = true;
        return RECORD_NONE;
    }
    mwl__probe p = mwl__probe_make(&r->table, mwl__hash_key(text, len));
    for (uint32_t i; mwl__table_next(&r->table, &p, &i);) {
        const struct record_text *t = &r->text[i];
        if (t->len == len && t->cut == cut &&
            (!len || memcmp(r->texts.data + t->at, text, len) == 0))
            return i;
    }
    return add_text(r, &p, text, len, cut);
}

uint32_t record_text(struct report *r, const char *text, size_t len, bool cut) {
    size_t shown_len = 0;
    char *shown = redact_text(text, len, &shown_len);
    uint32_t ix = shown ? keep_text(r, shown, shown_len, cut) : keep_text(r, text, len, cut);
    free(shown);
    return ix;
}

/* A value's text until it is long enough. Secrets are replaced before it is cut. */
static mwl_status hold(void *ctx, const char *text, size_t len) {
    mwl__buf *b = ctx;
    size_t room = RECORD_VALUE - b->len;
    mwl__buf_put(b, text, len < room ? len : room);
    return b->failed ? MWL_E_NOMEM : len > room ? MWL_E_CANCELLED : MWL_OK;
}

uint32_t record_value(struct report *r, mwl_value v) {
    if (mwl_is_absent(v)) return RECORD_NONE;
    mwl__buf b = mwl__buf_make(r->alloc);
    mwl_status status = redact_json(r->heap, v, MWL_JSON_COMPACT, hold, &b);
    uint32_t ix = RECORD_NONE;
    if (status == MWL_E_CANCELLED) { /* not in the middle of a character */
        while (b.len && ((unsigned char)b.data[b.len - 1] & 0xC0u) == 0x80u) b.len--;
        if (b.len && (unsigned char)b.data[b.len - 1] >= 0xC0u) b.len--;
    }
    if (status == MWL_OK || status == MWL_E_CANCELLED) {
        ix = record_text(r, b.data ? b.data : "", b.len, status == MWL_E_CANCELLED);
    } else if (status == MWL_E_NOT_JSON) {
        b.len = 0;
        mwl__buf_printf(&b, "{\"$type\":\"%s\"}", mwl_value_type(v));
        if (!b.failed) ix = record_text(r, b.data, b.len, false);
    } else {
        r->values_left_out = true;
    }
    mwl__buf_free(&b);
    return ix;
}

/* ---- the sink -------------------------------------------------------------------------------- */

static uint32_t name(struct report *r, const char *text) {
    return record_text(r, text, strlen(text), false);
}

/* Ids of spans count from 1 in the order in which they began. */
static struct record_span *span_of(struct report *r, uint64_t id) {
    return id && id <= r->n_spans ? &r->spans[id - 1] : NULL;
}

static void on_begin(void *ctx, const struct event_span *s, const struct event_values *v) {
    struct report *r = ctx;
    void *grown = r->spans;
    if (!r->order) r->start = s->begin;
    if (r->failed || r->n_spans == RECORD_SPANS || s->id != r->n_spans + 1) {
        r->left_out++;
        return;
    }
    if (mwl__mem_grow(&r->alloc, &grown, &r->cap_spans, r->n_spans + 1, sizeof *r->spans) < 0) {
        r->failed = true;
        return;
    }
    r->spans = grown;
    r->spans[r->n_spans++] = (struct record_span){
        .parent = s->parent ? (uint32_t)s->parent - 1 : RECORD_NONE,
        .kind = (uint8_t)s->kind,
        .status = EVENT_OPEN,
        .track = s->track,
        .flow = name(r, s->flow),
        .step = name(r, s->step),
        .provider = name(r, s->provider),
        .phase = name(r, s->phase),
        .number = s->number,
        .begin_ns = s->begin.mono_ns - r->start.mono_ns,
        .begin_order = r->order++,
        .total = s->total,
        .line = s->line,
        .column = s->column,
        .input = record_value(r, v->input),
        .arguments = record_value(r, v->arguments),
        .before = record_value(r, v->vars),
        .result = RECORD_NONE,
        .after = RECORD_NONE,
        .caught = RECORD_NONE,
    };
}

static void on_end(void *ctx, const struct event_span *s, const struct event_values *v) {
    struct report *r = ctx;
    struct record_span *to = span_of(r, s->id);
    if (!to) return;
    to->status = (uint8_t)s->status;
    to->end_ns = s->end.mono_ns - r->start.mono_ns;
    to->end_order = r->order++;
    to->number = s->number;
    to->result = record_value(r, v->result);
    to->after = record_value(r, v->vars);
}

static void on_mark(void *ctx, const struct event_span *s, enum event_mark mark, mwl_value value,
                    const mwl_instant *at) {
    struct report *r = ctx;
    struct record_span *to = span_of(r, s->id);
    (void)at;
    if (to && mark == EVENT_MARK_CAUGHT) to->caught = record_value(r, value);
}

struct event_sink report_sink(struct report *r) {
    return (struct event_sink){.ctx = r, .begin = on_begin, .end = on_end, .mark = on_mark};
}

struct report *report_new(mwl_heap *heap) {
    mwl_alloc alloc = mwl_alloc_default();
    struct report *r = mwl__mem_zero(&alloc, 1, sizeof *r);
    if (!r) return NULL;
    r->alloc = alloc;
    r->heap = heap;
    r->texts = mwl__buf_make(alloc);
    return r;
}

void report_free(struct report *r) {
    if (!r) return;
    mwl_alloc alloc = r->alloc;
    mwl__buf_free(&r->texts);
    mwl__mem_free(&alloc, r->text, r->cap_text * sizeof *r->text);
    mwl__table_free(&r->table, &alloc);
    mwl__mem_free(&alloc, r->spans, r->cap_spans * sizeof *r->spans);
    mwl__mem_free(&alloc, r, sizeof *r);
}
