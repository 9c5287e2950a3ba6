/* seen.c: see seen.h. */
#include "tools/test/seen.h"

#include "tools/base/member.h"
#include "vm/explore/look.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct seen_call {
    uint64_t frame;
    int64_t index;
    mwl_value step, provider, with, input, result, metadata;
    int64_t at_ns, took_ns;
    bool open, failed, cleanup;
};

void seen_begin(struct seen *s, mwl_heap *heap, const mwl_instant *now) {
    memset(s, 0, sizeof *s);
    s->heap = heap;
    s->start = s->end = *now;
    s->steps = mwl_array(heap, 8);
    s->vars = mwl_object(heap, 8);
}

void seen_free(struct seen *s) {
    if (!s->heap) return;
    for (size_t i = 0; i < s->n_calls; i++) {
        struct seen_call *c = &s->calls[i];
        const mwl_value held[] = {c->step, c->provider, c->with, c->input, c->result, c->metadata};
        for (size_t k = 0; k < sizeof held / sizeof *held; k++) mwl_value_drop(s->heap, held[k]);
    }
    free(s->calls);
    mwl_value_drop(s->heap, s->steps);
    mwl_value_drop(s->heap, s->vars);
    memset(s, 0, sizeof *s);
}

/* "Step", or "Flow/Step" in a named Flow. */
static mwl_value step_name(struct seen *s, const mwl_trace_event *e) {
    char name[512];
    int n = snprintf(name, sizeof name, "%s%s%s", e->flow, *e->flow ? "/" : "", e->step);
    return mwl_string(s->heap, name, n < (int)sizeof name ? (size_t)n : sizeof name - 1);
}

static mwl_value kept(mwl_value v) { return mwl_is_absent(v) ? v : mwl_value_keep(v); }

static void dispatched(struct seen *s, const mwl_trace_event *e) {
    if (!*e->provider) return; /* a Flow */
    if (s->n_calls == s->cap_calls) {
        size_t cap = s->cap_calls ? 2 * s->cap_calls : 8;
        struct seen_call *grown = realloc(s->calls, cap * sizeof *grown);
        s->failed |= !grown;
        if (!grown) return;
        s->calls = grown;
        s->cap_calls = cap;
    }
    s->calls[s->n_calls++] =
        (struct seen_call){.frame = e->frame,
                           .index = e->index,
                           .step = step_name(s, e),
                           .provider = mwl_string(s->heap, e->provider, strlen(e->provider)),
                           .with = kept(e->value),
                           .input = kept(e->input),
                           .at_ns = e->at.mono_ns - s->start.mono_ns,
                           .open = true,
                           .cleanup = mwl__look_in_cleanup(mwl__look_frame(e))};
}

static void accepted(struct seen *s, const mwl_trace_event *e) {
    for (size_t i = s->n_calls; i-- > 0;) {
        struct seen_call *c = &s->calls[i];
        if (!c->open || c->frame != e->frame || c->index != e->index) continue;
        c->open = false;
        c->failed = e->failed;
        c->result = kept(e->value);
        c->metadata = kept(mwl__look_metadata(mwl__look_frame(e), e->index));
        c->took_ns = e->at.mono_ns - s->start.mono_ns - c->at_ns;
        return;
    }
}

static void step_ended(struct seen *s, const mwl_trace_event *e) {
    if (mwl_is_absent(e->vars)) return;
    s->vars = mwl_object_put(s->heap, s->vars, step_name(s, e), mwl_value_keep(e->vars));
}

void seen_event(struct seen *s, const mwl_trace_event *e) {
    s->end = e->at;
    switch (e->kind) {
    case MWL_TRACE_STEP_ENTERED:
        s->steps = mwl_array_push(s->heap, s->steps, step_name(s, e));
        break;
    case MWL_TRACE_STEP_EXITED: step_ended(s, e); break;
    case MWL_TRACE_CALL_DISPATCHED: dispatched(s, e); break;
    case MWL_TRACE_CALL_ACCEPTED: accepted(s, e); break;
    default: break;
    }
}

mwl_value seen_duration(mwl_heap *heap, int64_t ns) {
    char text[64];
    int n = snprintf(text, sizeof text, "PT%" PRId64, ns / 1000000000);
    if (ns % 1000000000) {
        n += snprintf(text + n, sizeof text - (size_t)n, ".%09" PRId64, ns % 1000000000);
        while (text[n - 1] == '0') n--;
    }
    text[n++] = 'S';
    return mwl_string(heap, text, (size_t)n);
}

static mwl_value put(mwl_heap *h, mwl_value object, const char *name, mwl_value lent) {
    if (mwl_is_absent(lent)) return object;
    return member_set(h, object, name, mwl_value_keep(lent));
}

static mwl_value call_value(mwl_heap *h, const struct seen_call *c) {
    mwl_value o = mwl_object(h, 8);
    o = put(h, o, "step", c->step);
    o = put(h, o, "provider", c->provider);
    o = put(h, o, "with", c->with);
    o = put(h, o, "input", c->input);
    o = put(h, o, c->failed ? "failure" : "value", c->result);
    o = put(h, o, "metadata", c->metadata);
    o = member_set(h, o, "at", seen_duration(h, c->at_ns));
    if (!c->open && c->took_ns) o = member_set(h, o, "took", seen_duration(h, c->took_ns));
    if (c->cleanup) o = member_set(h, o, "cleanup", mwl_bool(true));
    return o;
}

mwl_value seen_calls(struct seen *s, bool cleanup) {
    mwl_value list = mwl_array(s->heap, s->n_calls);
    for (size_t i = 0; i < s->n_calls; i++)
        if (!cleanup || s->calls[i].cleanup)
            list = mwl_array_push(s->heap, list, call_value(s->heap, &s->calls[i]));
    return list;
}
