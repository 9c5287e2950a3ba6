/* script.c: see script.h. */
#include "tools/explore/script.h"

#include "tools/base/member.h"
#include "tools/session/turn.h"
#include "tools/test/seen.h"
#include "vm/explore/clone.h"
#include "vm/explore/look.h"
#include "vm/explore/steer.h"
#include "vm/program/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- text ------------------------------------------------------------------------------------ */

static void put_seconds(mwl__buf *out, int64_t ns) {
    char text[48];
    int n = snprintf(text, sizeof text, "%" PRId64 ".%09" PRId64, ns / 1000000000, ns % 1000000000);
    while (text[n - 1] == '0') n--;
    if (text[n - 1] == '.') n--;
    mwl__buf_printf(out, "%.*s s", n, text);
}

static void put_value(const struct search *s, mwl_value v, mwl__buf *out) {
    char *text = NULL;
    size_t len = 0;
    enum { SHOWN = 120 };
    if (mwl_json_write(s->heap, v, MWL_JSON_COMPACT, &text, &len) == MWL_OK) {
        mwl__buf_put(out, text, len < SHOWN ? len : SHOWN);
        if (len > SHOWN) mwl__buf_puts(out, " ...");
    }
    mwl_text_free(s->heap, text, len);
}

static void put_answer(const struct search *s, const struct choice *c, mwl__buf *out) {
    const struct menu *menu = menus_at(s->menus, c->menu);
    const struct menu_item *item = &menu->items[c->item];
    const mwl_program *p = s->program;
    if (menu->cleanup)
        mwl__buf_puts(out, menu->step == MWL_NONE ? "the cleanup" : "in the cleanup, ");
    if (menu->step != MWL_NONE)
        mwl__buf_printf(out, "Step '%s'", mwl__view_step_name(p, menu->step));
    if (!item->failure) {
        mwl__buf_puts(out, " gets ");
        put_value(s, item->value, out);
    } else {
        mwl_value retryable = mwl_get(item->value, "retryable");
        mwl__buf_printf(out, " fails with %s", mwl_as_text(mwl_get(item->value, "code"), NULL));
        if (mwl_value_kind(retryable) == MWL_KIND_BOOL)
            mwl__buf_puts(out, mwl_as_bool(retryable) ? ", retryable" : ", not retryable");
    }
    if (c->late) mwl__buf_puts(out, ", just before the next bound or timer");
}

void script_text(const struct search *s, const uint32_t *edges, size_t n, mwl__buf *out) {
    int64_t at = 0;
    size_t line = 0;
    for (size_t i = 0; i < n; i++) {
        const struct edge *e = &s->edges[edges[i]];
        if (e->from == 0) continue; /* the beginning */
        mwl__buf_printf(out, "    %zu. ", ++line);
        if (e->choice.kind == CHOICE_CANCEL) {
            put_seconds(out, at);
            mwl__buf_puts(out, ": the run is cancelled from outside");
        } else if (e->choice.kind == CHOICE_TIME) {
            put_seconds(out, at + e->took_ns);
            mwl__buf_puts(out, s->states[e->from].n_pending ? ": nothing was answered until now"
                                                            : ": a wait is over");
        } else {
            put_seconds(out, at + e->took_ns);
            mwl__buf_puts(out, ": ");
            put_answer(s, &e->choice, out);
        }
        mwl__buf_putc(out, '\n');
        at += e->took_ns;
    }
    if (!line) mwl__buf_puts(out, "    at the beginning\n");
}

/* ---- a case ---------------------------------------------------------------------------------- */

struct made_call {
    mwl_call *call; /* while it is awaited */
    char key[300];  /* "Step", "Flow/Step" or the URI */
    int64_t at_ns, took_ns;
    const struct menu_item *item; /* NULL: never answered */
};

struct replay {
    struct search *s;
    struct made_call *calls;
    size_t n, cap;
    int64_t cancel_ns; /* -1: never */
    bool failed;
};

static void note_call(void *ctx, mwl_call *call) {
    struct replay *r = ctx;
    if (r->n == r->cap) {
        size_t cap = r->cap ? 2 * r->cap : 32;
        struct made_call *grown = realloc(r->calls, cap * sizeof *grown);
        if (!grown) {
            r->failed = true;
            return;
        }
        r->calls = grown;
        r->cap = cap;
    }
    struct made_call *c = &r->calls[r->n++];
    mwl_place at = {"", "", 0, 0};
    mwl_call_place(call, &at);
    memset(c, 0, sizeof *c);
    c->call = call;
    mwl_instant now;
    mwl_vm_now(r->s->vm, &now);
    c->at_ns = now.mono_ns;
    if (*at.step)
        snprintf(c->key, sizeof c->key, "%s%s%s", at.flow, *at.flow ? "/" : "", at.step);
    else
        snprintf(c->key, sizeof c->key, "%s", mwl__look_call_of(call).uri);
}

static void replay_edge(struct replay *r, mwl_run *run, const struct edge *e) {
    struct search *s = r->s;
    mwl_call *pending[256];
    mwl_instant now;
    mwl_vm_now(s->vm, &now);
    struct made_call *answered = NULL;
    size_t n = search_pending(run, pending, 256);
    if (e->choice.kind == CHOICE_CANCEL) r->cancel_ns = now.mono_ns - s->began.mono_ns;
    if (e->choice.kind == CHOICE_ANSWER && e->choice.pending < n)
        for (size_t i = r->n; i-- > 0;)
            if (r->calls[i].call == pending[e->choice.pending]) {
                answered = &r->calls[i];
                break;
            }
    if (answered) {
        answered->item = &menus_at(s->menus, e->choice.menu)->items[e->choice.item];
        answered->call = NULL;
        answered->took_ns = now.mono_ns + e->took_ns - answered->at_ns;
    }
    if (mwl__run_freeze(run) != MWL_OK || !search_step(s, run, &now, &e->choice)) r->failed = true;
}

static mwl_value answer_of(mwl_heap *h, const struct made_call *c) {
    mwl_value o = mwl_object(h, 2);
    if (!c->item) return member_set(h, o, "never", mwl_bool(true));
    o = mwl_object_set(h, o, c->item->failure ? "failure" : "value", c->item->failure ? 7 : 5,
                       mwl_value_keep(c->item->value));
    if (c->took_ns) o = member_set(h, o, "delay", seen_duration(h, c->took_ns));
    return o;
}

static mwl_value answers_of(struct replay *r) {
    mwl_heap *h = r->s->heap;
    mwl_value all = mwl_object(h, 4);
    for (size_t i = 0; i < r->n; i++) {
        const struct made_call *c = &r->calls[i];
        mwl_value old = mwl_get(all, c->key);
        mwl_value list = mwl_is_absent(old) ? mwl_array(h, 2) : mwl_value_keep(old);
        all = member_set(h, all, c->key, mwl_array_push(h, list, answer_of(h, c)));
    }
    return all;
}

static mwl_value make_case(struct replay *r, const mwl_start *start, mwl_run *run,
                           const char *definition, mwl_value providers, const char *comment) {
    mwl_heap *h = r->s->heap;
    mwl_value o = mwl_object(h, 8), expect = mwl_object(h, 1), control = mwl_object(h, 1);
    if (comment) o = member_set(h, o, "comment", mwl_string(h, comment, strlen(comment)));
    o = member_set(h, o, "definition", mwl_string(h, definition, strlen(definition)));
    if (mwl_count(providers)) o = member_set(h, o, "providers", mwl_value_keep(providers));
    if (!mwl_is_absent(start->input)) o = member_set(h, o, "input", mwl_value_keep(start->input));
    if (mwl_count(start->arguments))
        o = member_set(h, o, "arguments", mwl_value_keep(start->arguments));
    o = member_set(h, o, "answers", answers_of(r));
    if (r->cancel_ns >= 0) {
        control = member_set(h, control, "cancelAfter", seen_duration(h, r->cancel_ns));
        control = member_set(h, control, "reason", mwl_string(h, "explored", 8));
        o = member_set(h, o, "control", mwl_value_keep(control));
    }
    mwl_value_drop(h, control);
    mwl_value result = mwl_run_result(run);
    if (!mwl_is_absent(result)) expect = member_set(h, expect, "result", mwl_value_keep(result));
    return member_set(h, o, "expect", expect);
}

mwl_value script_case(struct search *s, const mwl_start *start, const uint32_t *edges, size_t n,
                      const char *definition, mwl_value providers, const char *comment) {
    struct replay r = {.s = s, .cancel_ns = -1};
    mwl_run *run = NULL;
    mwl_value made = mwl_absent();
    s->observer->called = note_call;
    s->observer->called_ctx = &r;
    mwl__steer_set_now(s->vm, &s->began);
    if (mwl_run_start(s->vm, s->program, start, &run, NULL) == MWL_OK) {
        search_lend(run);
        (void)session_settle(s->vm);
        for (size_t i = 0; i < n && !r.failed; i++)
            if (s->edges[edges[i]].from != 0) replay_edge(&r, run, &s->edges[edges[i]]);
        if (!r.failed) made = make_case(&r, start, run, definition, providers, comment);
    }
    s->observer->called = NULL;
    mwl_run_free(run);
    free(r.calls);
    return made;
}
