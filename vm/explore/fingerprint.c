/* fingerprint.c: see fingerprint.h. */
#include "vm/explore/fingerprint.h"

#include "vm/base/wide.h"
#include "vm/machine/state.h"

typedef struct print {
    mwl__fingerprint f;
    const mwl_vm *vm;
    const mwl__readable *readable;
    bool frozen;
} print;

void mwl__fingerprint_add(mwl__fingerprint *f, uint64_t x) {
    f->a = mwl__wide_fold(f->a ^ x ^ 0x9E3779B97F4A7C15u, 0xD6E8FEB86659FD93u);
    f->b = mwl__wide_fold(f->b + x + 0xA0761D6478BD642Fu, 0xE7037ED1A0B428DBu);
}

static inline void add(print *p, uint64_t x) { mwl__fingerprint_add(&p->f, x); }

/* ---- values ---------------------------------------------------------------------------------- */

/* Strings have a hash already, of their bytes alone; with the length it tells all but few apart,
 * and the bytes of short ones are added themselves. */
static void add_text(print *p, mwl_value v) {
    const mwl__str *s = mwl__as_str(v);
    uint64_t word = 0;
    add(p, (uint64_t)s->len << 8 | mwl_value_kind(v));
    for (size_t i = 0; i < s->len; i += sizeof word) {
        size_t n = s->len - i < sizeof word ? s->len - i : sizeof word;
        word = 0;
        memcpy(&word, s->s + i, n);
        add(p, word);
    }
}

/* In the order of members: the language never asks for equality of states, and a difference only
 * costs a second visit. Values nest at most MWL_DEPTH_LIMIT deep. */
static void add_value(print *p, mwl_value v) {
    mwl_kind kind = mwl_value_kind(v);
    switch (kind) {
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE: add_text(p, v); return;
    case MWL_KIND_ARRAY:
        add(p, (uint64_t)v.aux << 8 | kind);
        for (uint32_t i = 0; i < v.aux; i++) add_value(p, mwl__as_list(v)->item[i]);
        return;
    case MWL_KIND_OBJECT:
        add(p, (uint64_t)v.aux << 8 | kind);
        for (uint32_t i = 0; i < v.aux; i++) {
            add_value(p, mwl__as_map(v)->keys->key[i]);
            add_value(p, mwl__as_map(v)->val[i]);
        }
        return;
    case MWL_KIND_ABSENT:
    case MWL_KIND_NULL: add(p, kind); return;
    case MWL_KIND_BOOL:
    case MWL_KIND_NUMBER:
    case MWL_KIND_INT:
    case MWL_KIND_UINT:
    case MWL_KIND_DURATION:
        add(p, kind);
        add(p, v.as.u);
        return;
    default: /* rare: the parts that are not of the data model */
        add(p, kind | (uint64_t)v.aux << 8);
        add(p, mwl_value_hash(&p->vm->heap, v));
        return;
    }
}

static void add_result(print *p, const mwl__result *r) {
    add(p, 1u | (uint64_t)r->ok << 1 | (uint64_t)r->cleanup << 2 | (uint64_t)r->severed << 3);
    /* when it rose, as unwind.c stamps it: how long ago that was decides about later bounds */
    add(p, r->rose ? ((uint64_t)p->vm->now.mono_ns >> 20) + 1 - r->rose : 0);
    add_value(p, r->v);
}

/* ---- time ------------------------------------------------------------------------------------ */

static void add_left(print *p, int64_t mono_ns) {
    add(p, (uint64_t)mono_ns - (uint64_t)p->vm->now.mono_ns);
}

/* An instant that was kept because something can read it; 0: it was not. */
static void add_instant(print *p, int64_t wall_ns) {
    add(p, wall_ns ? ((uint64_t)wall_ns - (uint64_t)p->vm->now.wall_ns) | 1u : 0);
}

/* Armed, or frozen (clone.c). */
static void add_timer(print *p, const mwl__timer *t) {
    if (t->at)
        add_left(p, mwl__timer_due(&p->vm->timers, t));
    else if (p->frozen && t->order_low)
        add_left(p, (int64_t)t->order);
    else
        add(p, 0);
    add(p, t->class_);
}

/* ---- records --------------------------------------------------------------------------------- */

static void add_record(print *p, const mwl__frame *f, const mwl__call_state *r) {
    add(p, r != NULL);
    if (!r) return;
    unsigned needs = mwl__tables(f)->calls[r->ix].flags;
    add(p, r->ix);
    add(p, (uint64_t)r->index);
    add_value(p, r->input);
    add_value(p, r->target_input);
    add_value(p, r->args);
    add_result(p, &r->res);
    add_value(p, r->metadata);
    add_value(p, r->flow_vars);
    if (needs & MWL_NEEDS_ENTERED) add_instant(p, r->entered_ns);
    if (needs & MWL_NEEDS_DISPATCHED) add_instant(p, r->dispatched_ns);
    if (needs & (MWL_NEEDS_ACCEPTED | MWL_NEEDS_EXITED)) add_instant(p, r->accepted_ns);
    add_instant(p, r->flow_entered_ns);
    add_instant(p, r->flow_exited_ns);
}

static bool counts(const print *p, const mwl__entry *e) {
    const mwl__provider *m = e->provider;
    return p->readable->runs || !(m->middleware.flags & MWL_MW_OWNS_RUNS);
}

static void add_entry(print *p, const mwl__frame *f, const mwl__entry *e) {
    unsigned needs = mwl__tables(f)->entries[e->ix].flags;
    add(p, e->ix | (uint64_t)e->resume_pc << 32);
    add(p, (uint64_t)e->state | (uint64_t)e->verdict << 8 | (uint64_t)e->reenter << 16 |
               (uint64_t)e->accepted << 24 | (uint64_t)e->armed << 25 | (uint64_t)e->fired << 26 |
               (uint64_t)e->gated << 27 | (uint64_t)e->outer_running << 28 |
               (uint64_t)e->waits << 29 | (uint64_t)e->tied << 30);
    add(p, e->outer_owner ? 1u + e->outer_owner->rank : 0);
    add_value(p, e->input);
    add_value(p, e->output);
    add_value(p, e->args);
    add_value(p, e->own_state);
    if (mwl_value_kind(e->contributed) == MWL_KIND_INT)
        add_instant(p, e->contributed.as.i); /* only a deadline */
    else
        add_value(p, e->contributed);
    add_value(p, e->vars);
    if (e->state != MWL_ENTRY_INNER) add_result(p, &e->res); /* else a word for people, if any */
    add_result(p, &e->emit);
    add_value(p, e->cancel);
    if (e->armed) add_left(p, e->bound_ns);
    if (needs & (0xfu * MWL_NEEDS_PHASE)) add_instant(p, e->entered_ns);
    if (counts(p, e)) add(p, e->runs);
}

static void add_execution(print *p, const mwl_call *c) {
    add(p, (uint64_t)(uintptr_t)c->provider);
    add_value(p, c->input);
    add_value(p, c->args);
    add_value(p, c->state);
    add_value(p, c->metadata);
    add(p, c->cancelled);
    add_timer(p, &c->timer);
}

static void add_frame(print *p, const mwl__frame *f);

static void add_gather(print *p, const mwl__frame *f, const mwl__gather *g) {
    add(p, g != NULL);
    if (!g) return;
    add(p, g->ix | (uint64_t)g->n << 32);
    add(p, g->next | (uint64_t)g->arm_at << 32);
    uint64_t need;
    memcpy(&need, &g->need, sizeof need);
    add(p, need);
    add(p, (uint64_t)g->determined | (uint64_t)g->cancelling << 1 | (uint64_t)g->faulted << 2 |
               (uint64_t)g->arming << 3 | (uint64_t)g->interrupted << 4 |
               (uint64_t)g->enumerated << 5);
    add_value(p, g->over);
    add_value(p, g->raised);
    for (uint32_t i = 0; i < g->next; i++) {
        const mwl__slot *s = &g->slots[i];
        add(p, (uint64_t)s->state | (uint64_t)s->no_arm << 8 | (uint64_t)s->superseded << 9);
        add_result(p, &s->res);
        add_record(p, f, s->record);
        if (s->state != MWL_SLOT_ACTIVE) continue;
        if (s->is_frame)
            add_frame(p, s->as.frame);
        else if (s->as.execution)
            add_execution(p, s->as.execution);
    }
}

static void add_extra(print *p, const mwl__frame *f, const mwl__extra *x) {
    if (!x) {
        add(p, 0);
        return;
    }
    add(p, 1u | (uint64_t)x->running << 1 | (uint64_t)x->awaiting << 2 | (uint64_t)x->resume << 3);
    add_value(p, x->failure);
    add_value(p, x->cancel);
    add(p, x->owner ? 1u + x->owner->rank : 0);
    add_gather(p, f, x->gather);
}

static void add_frame(print *p, const mwl__frame *f) {
    add(p, f->flow | (uint64_t)f->pc << 32);
    add(p, f->step | (uint64_t)f->state << 32 | (uint64_t)f->construct << 40 |
               (uint64_t)f->awaits << 48 | (uint64_t)f->step_done << 56);
    add_value(p, f->vars);
    add_value(p, f->input);
    add_value(p, f->step_input);
    add_value(p, f->in_flight);
    add_result(p, &f->res);
    if (p->readable->step_id) add(p, f->step_id);
    if (f->timed) {
        const mwl__times *t = mwl__times_of(f);
        add_instant(p, t->entered_ns);
        add_instant(p, t->step_entered_ns);
        add_instant(p, t->step_exited_ns);
    }
    for (const mwl__entry *e = f->entries; e; e = e->outer) add_entry(p, f, e);
    add_record(p, f, f->record);
    add_timer(p, &f->timer);
    if (f->awaits == MWL_AWAITS_FRAME) add_frame(p, f->target.frame);
    if (f->awaits == MWL_AWAITS_EXECUTION) add_execution(p, f->target.execution);
    add_extra(p, f, f->extra);
}

mwl__fingerprint mwl__run_fingerprint(const mwl_run *run, const mwl__readable *readable) {
    print p = {{0x243F6A8885A308D3u, 0x13198A2E03707344u}, run->link->vm, readable, run->frozen};
    add(&p, (uint64_t)run->limit_hit | (uint64_t)run->cancel_asked << 1);
    if (readable->clock) add(&p, (uint64_t)p.vm->now.wall_ns);
    if (readable->step_id) add(&p, run->next_step_id);
    if (run->root) add_frame(&p, run->root);
    return p.f;
}

/* ---- what a program reads -------------------------------------------------------------------- */

static bool ends_with(mwl_value text, const char *end) {
    size_t len = 0, n = strlen(end);
    const char *s = mwl_as_text(text, &len);
    return s && len >= n && memcmp(s + len - n, end, n) == 0;
}

static void read_path(const mwl_program *p, const mwl__path_rec *path, mwl__readable *out) {
    mwl_value first = path->n_keys ? p->consts[p->keys[path->first_key]] : mwl_absent();
    switch (path->base) {
    case MWL_BASE_STEP:
    case MWL_BASE_STEP_ID: out->step_id = true; break;
    case MWL_BASE_MW_CONTRIBUTED:
        out->runs |= mwl_is_absent(first) || ends_with(first, "iteration");
        out->clock |= ends_with(first, "deadline");
        break;
    case MWL_BASE_MIDDLEWARE:
    case MWL_BASE_MW_META: out->runs = true; break;
    default: break;
    }
    /* roots that contain instants */
    out->clock |= path->base == MWL_BASE_EXECUTION || path->base == MWL_BASE_FRAME ||
                  path->base == MWL_BASE_STEP || path->base == MWL_BASE_STEP_META ||
                  path->base == MWL_BASE_CALL || path->base == MWL_BASE_CALL_META ||
                  path->base == MWL_BASE_MATCH || path->base == MWL_BASE_MATCH_META ||
                  path->base == MWL_BASE_MIDDLEWARE || path->base == MWL_BASE_MW_META ||
                  path->base == MWL_BASE_FLOW || path->base == MWL_BASE_FLOW_META ||
                  path->base == MWL_BASE_FRAME_ENTERED || path->base == MWL_BASE_MW_ENTERED;
}

mwl__readable mwl__readable_of(const mwl_program *p) {
    mwl__readable out = {false, false, false};
    for (uint32_t i = 0; i < p->n_paths; i++) read_path(p, &p->paths[i], &out);
    for (uint32_t i = 0; i < p->n_funcs; i++)
        out.clock |= ends_with(p->consts[p->funcs[i].name_k], "now") ||
                     ends_with(p->consts[p->funcs[i].name_k], "wallTime");
    for (uint32_t i = 0; i < p->n_code; i++) out.clock |= p->code[i].op == MWL_OP_SLEEP_UNTIL;
    return out;
}
