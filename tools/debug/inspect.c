/* inspect.c: see inspect.h. */
#include "tools/debug/inspect.h"

#include "tools/base/member.h"
#include "tools/host/expr.h"
#include "tools/base/redact.h"
#include "assembler/source/diag.h"
#include "vm/machine/state.h"
#include "vm/machine/context.h"
#include "vm/program/view.h"

#include <stdio.h>
#include <stdlib.h>

const char *const inspect_roots[] = {"vars",     "step", "call",  "middleware", "failure", "match",
                                     "provider", "flow", "frame", "execution",  NULL};
static const unsigned bases[] = {
    MWL_BASE_VARS,  MWL_BASE_STEP,     MWL_BASE_CALL, MWL_BASE_MIDDLEWARE, MWL_BASE_FAILURE,
    MWL_BASE_MATCH, MWL_BASE_PROVIDER, MWL_BASE_FLOW, MWL_BASE_FRAME,      MWL_BASE_EXECUTION};
#define N_ROOTS (sizeof bases / sizeof *bases)

/* ---- values ---------------------------------------------------------------------------------- */

mwl__frame *inspect_frame(const struct machine *m) {
    const mwl_trace_event *e = m->event;
    if (!e || e->kind == MWL_TRACE_RUN_STARTED || e->kind == MWL_TRACE_RUN_DONE) return NULL;
    return (mwl__frame *)(uintptr_t)e->frame;
}

static bool exists(const mwl__frame *f, size_t i) {
    bool in_step = f->step != MWL_NONE;
    switch (bases[i]) {
    case MWL_BASE_STEP: return in_step;
    case MWL_BASE_MATCH:
        return in_step && mwl__tables(f)->steps[f->step].action == MWL_ACTION_MATCH;
    case MWL_BASE_CALL: return f->record != NULL;
    case MWL_BASE_PROVIDER:
        return f->record && mwl__tables(f)->calls[f->record->ix].import != MWL_NONE;
    case MWL_BASE_FLOW: return f->record && mwl__tables(f)->calls[f->record->ix].flow != MWL_NONE;
    default: return true;
    }
}

static mwl_value load(mwl__frame *f, size_t i) {
    mwl__exec x;
    if (!exists(f, i)) return mwl_absent();
    memset(&x, 0, sizeof x); /* only these two are read */
    x.frame = f;
    x.heap = mwl__heap_of(f);
    mwl_value v = mwl__context_load(&x, bases[i]);
    if (mwl_is_absent(v)) return v;
    v = mwl__own(v);
    if (bases[i] == MWL_BASE_CALL && !f->record->entered_ns) /* nothing reads it: it is not kept */
        v = member_set(x.heap, v, "metadata", mwl_object(x.heap, 0));
    return v;
}

mwl_value inspect_root(mwl__frame *f, const char *name) {
    for (size_t i = 0; i < N_ROOTS; i++)
        if (strcmp(inspect_roots[i], name) == 0) return load(f, i);
    return mwl_absent();
}

mwl_value inspect_eval(mwl__frame *f, const char *text, char *why, size_t size) {
    mwl_vm *vm = mwl__vm_of(f);
    struct expr_env env;
    struct expr e;
    mwl_value roots[N_ROOTS], v = mwl_absent();
    mwl_instant now;
    mwl_vm_now(vm, &now);
    expr_env_init(&env, &vm->heap);
    env.now.sec = now.wall_ns / 1000000000;
    env.now.ns = (uint32_t)(now.wall_ns % 1000000000);
    if (expr_compile(&env, text, strlen(text), inspect_roots, N_ROOTS, &e, why, size) == MWL_OK) {
        for (size_t i = 0; i < N_ROOTS; i++) roots[i] = load(f, i);
        mwl_value result = expr_eval(&env, &e, roots, N_ROOTS, why, size);
        if (!mwl_is_absent(result)) v = mwl_value_copy(&vm->heap, result);
        if (mwl_is_absent(v) && !*why)
            snprintf(why, size, "%s", mwl_status_text(mwl_heap_why(&vm->heap)));
        mwl_value_drop(&vm->heap, result);
        for (size_t i = 0; i < N_ROOTS; i++) mwl_value_drop(&vm->heap, roots[i]);
    }
    expr_free(&e);
    expr_env_free(&env);
    return v;
}

/* People look at it: a value that shares its parts may be gigabytes as text. */
enum { SHOWN_MOST = 1 << 20 };

struct shown {
    mwl__buf *out;
    size_t left;
};

static mwl_status take_piece(void *ctx, const char *text, size_t len) {
    struct shown *s = ctx;
    size_t n = len < s->left ? len : s->left;
    while (n < len && n > 0 && ((unsigned char)text[n] & 0xC0u) == 0x80u) n--;
    mwl__buf_put(s->out, text, n);
    s->left -= n;
    if (s->out->failed) return MWL_E_NOMEM;
    if (n == len) return MWL_OK;
    mwl__buf_puts(s->out, " ...");
    return MWL_E_CANCELLED; /* enough */
}

void inspect_write(mwl_heap *heap, mwl_value v, mwl_json_style style, mwl__buf *out) {
    size_t at = out->len, len = 0;
    struct shown part = {out, SHOWN_MOST};
    mwl_status status = redact_json(heap, v, style, take_piece, &part);
    if (status == MWL_OK || status == MWL_E_CANCELLED || out->failed) return;
    out->len = at; /* it has no JSON form */
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    mwl_value shown = redact_value(heap, v);
    if (!mwl_is_absent(shown)) mwl__cel_write(&text, shown);
    char *redacted = text.len ? redact_text(text.data, text.len, &len) : NULL;
    mwl__buf_put(out, redacted ? redacted : text.data, redacted ? len : text.len);
    mwl_value_drop(heap, shown);
    mwl__buf_free(&text);
    free(redacted);
}

void inspect_write_result(mwl_heap *heap, const mwl_run *run, mwl__buf *out) {
    mwl_value result = mwl_run_result(run);
    struct shown part = {out, SHOWN_MOST};
    if (!mwl_run_succeeded(run)) {
        inspect_write(heap, result, MWL_JSON_COMPACT, out);
        return;
    }
    mwl_status status = mwl_json_write_to(heap, result, MWL_JSON_COMPACT, take_piece, &part);
    if (status != MWL_OK && status != MWL_E_CANCELLED)
        mwl__buf_puts(out, "a value that has no JSON form");
}

/* ---- places ---------------------------------------------------------------------------------- */

/* The code of what an event is about: a phase, a call; otherwise the Step, or the Flow. */
static uint32_t code_of(const mwl__frame *f, const mwl_trace_event *e) {
    const mwl__flow_tables *t = mwl__tables(f);
    if (e && e->kind == MWL_TRACE_PHASE && f->entries) {
        const mwl__entry_rec *rec = &t->entries[f->entries->ix];
        if (strcmp(e->phase, "onSuccess") == 0) return rec->success_pc;
        if (strcmp(e->phase, "onFailure") == 0) return rec->failure_pc;
        if (strcmp(e->phase, "onAlways") == 0) return rec->always_pc;
    }
    if (e && f->record &&
        (e->kind == MWL_TRACE_CALL_DISPATCHED || e->kind == MWL_TRACE_CALL_ACCEPTED))
        return t->calls[f->record->ix].fields_pc;
    return f->step == MWL_NONE ? t->flows[f->flow].pc : t->steps[f->step].pc;
}

bool inspect_place(const struct debug_setup *s, const mwl__frame *f, const mwl_trace_event *e,
                   mwl__span *span) {
    const mwl_program *p = mwl__program_of(f);
    mwl__where w = {0, 0, 0, 0};
    uint32_t pc = code_of(f, e);
    if (!s->source.text || !mwl__program_where(p, pc, 0, &w) || w.offset > s->source.len)
        return false;
    *span = mwl__span_make(w.offset, w.offset + w.len);
    return true;
}

void inspect_show_place(struct debug_setup *s, const mwl__frame *f, const mwl_trace_event *e,
                        bool colour, mwl__buf *out) {
    mwl__span span;
    if (!inspect_place(s, f, e, &span)) return;
    mwl__span line = mwl__source_line(&s->source, span.begin);
    if (span.end > line.end) span.end = line.end;
    mwl__diag_snippet(&s->source, span, NULL, colour, out);
}

void inspect_name(const mwl__frame *f, mwl__buf *out) {
    const mwl_program *p = mwl__program_of(f);
    const char *flow = mwl__view_flow_name(p, f->flow);
    if (f->step != MWL_NONE)
        mwl__buf_printf(out, "Step '%s'%s", mwl__view_step_name(p, f->step), *flow ? " of " : "");
    if (*flow)
        mwl__buf_printf(out, "Flow '%s'", flow);
    else if (f->step == MWL_NONE)
        mwl__buf_puts(out, f->parent ? "an inline Flow" : "the root Flow");
}

/* ---- events ---------------------------------------------------------------------------------- */

/* "retry" of "mwl:provider.middleware/mwl/retry/v1" */
static void put_short(const char *uri, mwl__buf *out) {
    const char *slash = strchr(uri, '/');
    const char *name = slash ? strchr(slash + 1, '/') : NULL;
    if (name)
        mwl__buf_put(out, name + 1, strcspn(name + 1, "/"));
    else
        mwl__buf_puts(out, uri);
}

static void put_outcome(const mwl_trace_event *e, mwl__buf *out) {
    const char *code = e->failed ? mwl_as_text(mwl_get(e->value, "code"), NULL) : NULL;
    if (e->failed) mwl__buf_printf(out, " with the failure %s", code ? code : "");
}

static void put_call(const mwl_trace_event *e, const char *verb, mwl__buf *out) {
    mwl__buf_puts(out, e->index >= 0 ? "dispatch" : "the call");
    if (e->index >= 0) mwl__buf_printf(out, " %lld of %u", (long long)e->index, e->total);
    if (*e->provider) {
        mwl__buf_puts(out, " of ");
        put_short(e->provider, out);
    }
    mwl__buf_printf(out, " of Step '%s' %s", e->step, verb);
}

static void put_entry(const mwl_trace_event *e, mwl__buf *out) {
    if (e->kind == MWL_TRACE_PHASE) mwl__buf_printf(out, "%s of ", e->phase);
    put_short(e->provider, out);
    if (*e->step) mwl__buf_printf(out, " around Step '%s'", e->step);
    if (e->kind == MWL_TRACE_ATTEMPT)
        mwl__buf_printf(out, " runs again: %s %llu", *e->counts ? e->counts : "run",
                        (unsigned long long)e->runs);
    else
        mwl__buf_puts(out, " begins");
}

void inspect_event(const mwl_trace_event *e, mwl__buf *out) {
    const char *flow = *e->flow ? e->flow : e->depth ? "(inline)" : "(root)";
    switch (e->kind) {
    case MWL_TRACE_FRAME_ENTERED: mwl__buf_printf(out, "Flow '%s' begins", flow); break;
    case MWL_TRACE_FRAME_EXITED:
        mwl__buf_printf(out, "Flow '%s' ends", flow);
        put_outcome(e, out);
        break;
    case MWL_TRACE_STEP_ENTERED: mwl__buf_printf(out, "Step '%s' begins", e->step); break;
    case MWL_TRACE_STEP_EXITED:
        mwl__buf_printf(out, "Step '%s' ends", e->step);
        put_outcome(e, out);
        break;
    case MWL_TRACE_PHASE:
    case MWL_TRACE_ATTEMPT: put_entry(e, out); break;
    case MWL_TRACE_CALL_DISPATCHED: put_call(e, "begins", out); break;
    case MWL_TRACE_CALL_ACCEPTED:
        put_call(e, "ends", out);
        put_outcome(e, out);
        break;
    case MWL_TRACE_CAUGHT:
        mwl__buf_printf(out, "Step '%s' failed and a catch clause handles it", e->step);
        break;
    case MWL_TRACE_INTERRUPTED: mwl__buf_puts(out, "a scope is interrupted"); break;
    case MWL_TRACE_HIDDEN:
        mwl__buf_puts(out, "a cleanup's failure is in no Result");
        put_outcome(e, out);
        break;
    case MWL_TRACE_WAITING: mwl__buf_printf(out, "Step '%s' waits", e->step); break;
    default: mwl__buf_puts(out, mwl_trace_name(e->kind)); break;
    }
    if (e->n_branch) {
        mwl__buf_puts(out, " (in dispatch");
        for (uint32_t i = 0; i < e->n_branch; i++) mwl__buf_printf(out, " #%u", e->branch[i]);
        mwl__buf_puts(out, ")");
    }
}

/* ---- threads --------------------------------------------------------------------------------- */

struct collector {
    struct inspect_thread *list;
    size_t n, most;
};

static void collect(struct collector *c, mwl__frame *f, const char *name) {
    while (f->awaits == MWL_AWAITS_FRAME) f = f->target.frame;
    if (c->n < c->most) {
        c->list[c->n].innermost = f;
        snprintf(c->list[c->n].name, sizeof c->list[c->n].name, "%s", name);
    }
    c->n++;
    const mwl__gather *g = mwl__gather_of(f);
    if (!g || f->step == MWL_NONE) return;
    for (uint32_t i = 0; i < g->next; i++) {
        const mwl__slot *slot = &g->slots[i];
        char inner[120];
        if (slot->state != MWL_SLOT_ACTIVE || !slot->is_frame || !slot->as.frame) continue;
        const mwl_program *p = mwl__program_of(f);
        snprintf(inner, sizeof inner, "%.60s%s%.40s #%u", strcmp(name, "main") == 0 ? "" : name,
                 strcmp(name, "main") == 0 ? "" : ", ", mwl__view_step_name(p, f->step), i);
        collect(c, slot->as.frame, inner);
    }
}

size_t inspect_threads(const struct machine *m, struct inspect_thread *list, size_t most) {
    struct collector c = {list, 0, most};
    mwl__frame *root = inspect_frame(m); /* the run itself is not known before it has started */
    while (root && root->parent) root = root->parent;
    if (root) collect(&c, root, "main");
    return c.n;
}
