/* record.c: see record.h. */
#include "tools/test/record.h"

#include "tools/base/member.h"
#include "tools/base/cmd.h"
#include "tools/base/file_out.h"
#include "tools/session/seed.h"
#include "tools/base/redact.h"
#include "tools/test/seen.h"
#include "vm/base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct record {
    struct seen seen;
};

struct record *record_new(mwl_heap *heap, const mwl_instant *now) {
    struct record *r = calloc(1, sizeof *r);
    if (r) seen_begin(&r->seen, heap, now);
    return r;
}

void record_free(struct record *r) {
    if (r) seen_free(&r->seen);
    free(r);
}

void record_event(struct record *r, const mwl_trace_event *event) { seen_event(&r->seen, event); }

static mwl_value put(mwl_heap *h, mwl_value take_o, const char *name, mwl_value lent) {
    if (mwl_is_absent(lent)) return take_o;
    return member_set(h, take_o, name, mwl_value_keep(lent));
}

static mwl_value exactly(mwl_heap *h, mwl_value lent) {
    return put(h, mwl_object(h, 1), "$exact", lent);
}

/* By order, and by what was asked: calls of a Gather may come in another order next time. */
static mwl_value answer_of(mwl_heap *h, mwl_value call) {
    mwl_value o = mwl_object(h, 6), with = mwl_get(call, "with"), input = mwl_get(call, "input"),
              value = mwl_get(call, "value"), failure = mwl_get(call, "failure");
    if (!mwl_is_absent(with)) o = member_set(h, o, "with", exactly(h, with));
    if (!mwl_is_absent(input)) o = member_set(h, o, "input", exactly(h, input));
    o = put(h, o, "value", value);
    o = put(h, o, "failure", failure);
    if (mwl_is_absent(value) && mwl_is_absent(failure)) /* it was cancelled */
        o = member_set(h, o, "never", mwl_bool(true));
    o = put(h, o, "metadata", mwl_get(call, "metadata"));
    return put(h, o, "delay", mwl_get(call, "took"));
}

static mwl_value answers_of(struct record *r) {
    mwl_heap *h = r->seen.heap;
    mwl_value calls = seen_calls(&r->seen, false), all = mwl_object(h, 4);
    for (size_t i = 0; i < mwl_count(calls); i++) {
        mwl_value call = mwl_array_at(calls, i), step = mwl_get(call, "step");
        const char *key = mwl_as_text(step, NULL);
        if (!key || !*key || key[strlen(key) - 1] == '/')
            key = mwl_as_text(mwl_get(call, "provider"), NULL);
        mwl_value old = mwl_get(all, key);
        mwl_value list = mwl_is_absent(old) ? mwl_array(h, 2) : mwl_value_keep(old);
        all = member_set(h, all, key, mwl_array_push(h, list, answer_of(h, call)));
    }
    mwl_value_drop(h, calls);
    return all;
}

static mwl_status add_piece(void *ctx, const char *text, size_t len) {
    enum { MOST = 64 << 20 }; /* a value that shares its parts may be gigabytes as text */
    mwl__buf *b = ctx;
    if (len > MOST - b->len) return MWL_E_TOO_BIG;
    mwl__buf_put(b, text, len);
    return b->failed ? MWL_E_NOMEM : MWL_OK;
}

/* Secrets are replaced: the file is kept, and given to others. */
int record_write(struct record *r, const char *path, const struct record_of *of) {
    mwl_heap *h = r->seen.heap;
    char *definition = realpath(of->definition, NULL);
    const char *name = definition ? definition : of->definition;
    mwl_value o = mwl_object(h, 6), control = mwl_object(h, 1);
    o = member_set(h, o, "definition", mwl_string(h, name, strlen(name)));
    o = put(h, o, "input", of->start->input);
    if (mwl_count(of->start->arguments)) o = put(h, o, "arguments", of->start->arguments);
    if (of->start->seed) {
        control = member_set(h, control, "seed", seed_value(h, of->start->seed));
        o = put(h, o, "control", control);
    }
    mwl_value_drop(h, control);
    o = member_set(h, o, "answers", answers_of(r));
    o = member_set(h, o, "expect", put(h, mwl_object(h, 1), "result", of->result));
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    mwl_status status = redact_json(h, o, MWL_JSON_PRETTY, add_piece, &text);
    mwl__buf_putc(&text, '\n');
    int answer = CMD_OK;
    if (status == MWL_OK && !text.failed && !r->seen.failed) {
        answer = file_out(path, text.data, text.len);
    } else {
        cmd_fail("%s: %s", path, mwl_status_text(status == MWL_OK ? MWL_E_NOMEM : status));
        answer = CMD_LIMIT;
    }
    mwl__buf_free(&text);
    mwl_value_drop(h, o);
    free(definition);
    return answer;
}
