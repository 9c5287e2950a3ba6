/* clone.c: see clone.h.
 *
 * Owns: which records a run has and which pointers between them. A record is complete before the
 * next one is made, so that a copy for which memory ran out can be freed like any other run. Frames
 * nest at most as deep as mwl_limits.frame_depth, and so do the functions here. */
#include "vm/explore/clone.h"

#include "vm/machine/execution.h"
#include "vm/machine/frame.h"
#include "vm/machine/run_list.h"
#include "vm/machine/state.h"

/* ---- a walk over the records ----------------------------------------------------------------- */

typedef struct visitor {
    void (*frame)(void *ctx, mwl__frame *f); /* or NULL */
    void (*execution)(void *ctx, mwl_call *c);
    void *ctx;
} visitor;

static void walk(const visitor *v, mwl__frame *f) {
    if (v->frame) v->frame(v->ctx, f);
    if (f->awaits == MWL_AWAITS_FRAME) walk(v, f->target.frame);
    if (f->awaits == MWL_AWAITS_EXECUTION) v->execution(v->ctx, f->target.execution);
    const mwl__gather *g = mwl__gather_of(f);
    for (uint32_t i = 0; g && i < g->next; i++) {
        const mwl__slot *s = &g->slots[i];
        if (s->state != MWL_SLOT_ACTIVE) continue;
        if (s->is_frame)
            walk(v, s->as.frame);
        else if (s->as.execution)
            v->execution(v->ctx, s->as.execution);
    }
}

void mwl__run_executions(mwl_run *run, void (*visit)(void *ctx, mwl_call *call), void *ctx) {
    const visitor v = {NULL, visit, ctx};
    if (run->root) walk(&v, run->root);
}

/* ---- freezing -------------------------------------------------------------------------------- */

/* A frozen timer is not armed. `order` is its due time, `order_low` its place among the run's
 * timers from 1, or 0: it was not armed. */

typedef struct timers {
    mwl_vm *vm;
    mwl__timer **list;
    size_t n, cap;
    mwl_status status;
    mwl__timer *few[16]; /* the list, as long as it fits */
} timers;

static void collect_begin(timers *t, mwl_vm *vm) {
    t->vm = vm;
    t->list = t->few;
    t->n = 0;
    t->cap = sizeof t->few / sizeof *t->few;
    t->status = MWL_OK;
}

static void collect_end(timers *t) {
    if (t->list != t->few) mwl__mem_free(&t->vm->config.alloc, t->list, t->cap * sizeof *t->list);
}

static void collect(timers *t, mwl__timer *timer) {
    if (t->n == t->cap) {
        const mwl_alloc *a = &t->vm->config.alloc;
        mwl__timer **grown = mwl__mem_new(a, 2 * t->cap * sizeof *grown);
        if (!grown) {
            t->status = MWL_E_NOMEM;
            return;
        }
        memcpy(grown, t->list, t->n * sizeof *grown);
        collect_end(t);
        t->list = grown;
        t->cap *= 2;
    }
    t->list[t->n++] = timer;
}

static void collect_frame(void *ctx, mwl__frame *f) {
    timers *t = ctx;
    if (f->queued || f->state == MWL_FRAME_RUNNING) {
        t->status = MWL_E_STATE;
        return;
    }
    if (f->timer.at)
        collect(t, &f->timer);
    else
        f->timer.order_low = 0;
}

static void collect_execution(void *ctx, mwl_call *c) {
    timers *t = ctx;
    if (c->native || c->tokens) t->status = MWL_E_UNSUPPORTED;
    if (c->timer.at)
        collect(t, &c->timer);
    else
        c->timer.order_low = 0;
}

static bool later(const mwl__timer *a, const mwl__timer *b) {
    return a->order != b->order ? a->order > b->order : a->order_low > b->order_low;
}

static bool placed_later(const mwl__timer *a, const mwl__timer *b) {
    return a->order_low > b->order_low;
}

/* By insertion: there are few, and they are mostly in order. */
static void sort(timers *t, bool (*after)(const mwl__timer *a, const mwl__timer *b)) {
    for (size_t i = 1; i < t->n; i++) {
        mwl__timer *x = t->list[i];
        size_t at = i;
        for (; at > 0 && after(t->list[at - 1], x); at--) t->list[at] = t->list[at - 1];
        t->list[at] = x;
    }
}

mwl_status mwl__run_freeze(mwl_run *run) {
    mwl_vm *vm = run->link->vm;
    timers t;
    collect_begin(&t, vm);
    const visitor v = {collect_frame, collect_execution, &t};
    if (!run->root || run->busy) return MWL_E_STATE;
    const mwl__aside *a = run->aside;
    if (a && (a->deadline || a->durable || a->awaited_by)) return MWL_E_UNSUPPORTED;
    walk(&v, run->root);
    if (t.n >= UINT16_MAX) t.status = MWL_E_UNSUPPORTED;
    if (t.status == MWL_OK) {
        sort(&t, later);
        for (size_t i = 0; i < t.n; i++) {
            int64_t due = mwl__timer_due(&vm->timers, t.list[i]);
            mwl__timer_cancel(&vm->timers, t.list[i]);
            t.list[i]->order = (uint64_t)due;
            t.list[i]->order_low = (uint16_t)(i + 1);
        }
        run->frozen = true;
    }
    collect_end(&t);
    return t.status;
}

static void collect_frozen_frame(void *ctx, mwl__frame *f) {
    if (f->timer.order_low) collect(ctx, &f->timer);
}

static void collect_frozen_execution(void *ctx, mwl_call *c) {
    if (c->timer.order_low) collect(ctx, &c->timer);
}

static uint32_t rank_of(const mwl__timer *t) {
    if (t->class_ == 0 || t->owner != MWL_TIMER_FRAME) return 0;
    const mwl__frame *f =
        (const mwl__frame *)(const void *)((const char *)t - offsetof(mwl__frame, timer));
    const mwl__entry *bound = mwl__frame_bound(f);
    return bound ? bound->rank : 0;
}

mwl_status mwl__run_thaw(mwl_run *run) {
    mwl_vm *vm = run->link->vm;
    timers t;
    collect_begin(&t, vm);
    const visitor v = {collect_frozen_frame, collect_frozen_execution, &t};
    walk(&v, run->root);
    sort(&t, placed_later);
    run->frozen = false;
    for (size_t i = 0; i < t.n && t.status == MWL_OK; i++)
        t.status = mwl__timer_arm(&vm->timers, t.list[i], (int64_t)t.list[i]->order,
                                  t.list[i]->class_, rank_of(t.list[i]));
    collect_end(&t);
    return t.status;
}

/* ---- copying --------------------------------------------------------------------------------- */

static void *copy_block(mwl_heap *h, const void *from, size_t size) {
    void *to = mwl__heap_take(h, size);
    if (to) memcpy(to, from, size);
    return to;
}

static mwl_value kept(mwl_value v) { return mwl_is_absent(v) ? v : mwl__keep(v); }

static mwl__call_state *clone_record(mwl_heap *h, const mwl__call_state *from) {
    mwl__call_state *r = copy_block(h, from, sizeof *r);
    if (!r) return NULL;
    r->input = kept(r->input);
    r->target_input = kept(r->target_input);
    r->args = kept(r->args);
    r->res.v = kept(r->res.v);
    r->metadata = kept(r->metadata);
    r->flow_vars = kept(r->flow_vars);
    return r;
}

/* The entry of the copy that has the place of `e`, or NULL. */
static mwl__entry *twin(const mwl__frame *from, const mwl__frame *to, const mwl__entry *e) {
    mwl__entry *other = to->entries;
    for (const mwl__entry *at = from->entries; e && at; at = at->outer, other = other->outer)
        if (at == e) return other;
    return NULL;
}

static bool clone_entries(mwl_heap *h, const mwl__frame *from, mwl__frame *to) {
    mwl__entry **link = &to->entries;
    for (const mwl__entry *e = from->entries; e; e = e->outer) {
        mwl__entry *n = copy_block(h, e, sizeof *n);
        if (!n) return false;
        n->outer = NULL;
        n->token = NULL;
        n->input = kept(n->input);
        n->output = kept(n->output);
        n->args = kept(n->args);
        n->own_state = kept(n->own_state);
        n->contributed = kept(n->contributed);
        n->vars = kept(n->vars);
        n->res.v = kept(n->res.v);
        n->emit.v = kept(n->emit.v);
        n->cancel = kept(n->cancel);
        *link = n;
        link = &n->outer;
    }
    for (mwl__entry *n = to->entries; n; n = n->outer)
        n->outer_owner = twin(from, to, n->outer_owner);
    return true;
}

static mwl_call *clone_execution(const mwl_call *from, mwl__frame *f, mwl__slot *slot) {
    mwl_vm *vm = from->vm;
    mwl_call *c = copy_block(&vm->heap, from, sizeof *c);
    if (!c) return NULL;
    c->frame = f;
    c->slot = slot;
    c->input = kept(c->input);
    c->args = kept(c->args);
    c->state = kept(c->state);
    c->metadata = kept(c->metadata);
    c->res.v = kept(c->res.v);
    mwl__execution_list(c);
    return c;
}

static mwl__frame *clone_frame(const mwl__frame *from, mwl_run *run, mwl__frame *parent,
                               mwl__slot *slot, mwl__frame **place);

static bool clone_slot(const mwl__slot *from, mwl__slot *to, mwl__frame *f) {
    mwl_heap *h = mwl__heap_of(f);
    *to = *from;
    to->res.v = kept(from->res.v);
    to->record = NULL;
    if (from->state == MWL_SLOT_ACTIVE) {
        to->state = MWL_SLOT_WAITING; /* until there is something that it waits for */
        if (from->is_frame) {
            if (!clone_frame(from->as.frame, f->run, f, to, &to->as.frame)) {
                if (to->as.frame != from->as.frame) to->state = MWL_SLOT_ACTIVE;
                return false;
            }
        } else if (from->as.execution) {
            to->as.execution = clone_execution(from->as.execution, f, to);
            if (!to->as.execution) return false;
        }
        to->state = MWL_SLOT_ACTIVE;
    }
    if (from->record) to->record = clone_record(h, from->record);
    return !from->record || to->record;
}

static bool clone_gather(const mwl__gather *from, mwl__frame *f) {
    mwl_heap *h = mwl__heap_of(f);
    size_t size = sizeof *from + (size_t)from->n * sizeof(mwl__slot);
    mwl__gather *g = mwl__heap_take(h, size);
    if (!g) return false;
    memcpy(g, from, sizeof *g);
    g->over = kept(g->over);
    g->raised = kept(g->raised);
    g->results = kept(g->results);
    f->extra->gather = g;
    for (g->next = 0; g->next < from->next;) {
        uint32_t i = g->next++;
        if (!clone_slot(&from->slots[i], &g->slots[i], f)) return false;
    }
    return true;
}

static bool clone_extra(const mwl__frame *from, mwl__frame *to) {
    if (!from->extra) return true;
    mwl__extra *x = copy_block(mwl__heap_of(to), from->extra, sizeof *x);
    if (!x) return false;
    x->failure = kept(x->failure);
    x->cancel = kept(x->cancel);
    x->gather = NULL;
    x->saved_regs = NULL;
    x->owner = twin(from, to, from->extra->owner);
    to->extra = x;
    return !from->extra->gather || clone_gather(from->extra->gather, to);
}

static bool clone_target(const mwl__frame *from, mwl__frame *to) {
    if (from->awaits == MWL_AWAITS_FRAME) {
        bool whole = clone_frame(from->target.frame, to->run, to, NULL, &to->target.frame);
        if (to->target.frame != from->target.frame) to->awaits = MWL_AWAITS_FRAME;
        return whole;
    }
    if (from->awaits == MWL_AWAITS_EXECUTION) {
        to->target.execution = clone_execution(from->target.execution, to, NULL);
        if (!to->target.execution) return false;
        to->awaits = MWL_AWAITS_EXECUTION;
    }
    return true;
}

/* *place gets the copy as soon as it can be freed, also when it is not complete. NULL: memory ran
 * out. */
static mwl__frame *clone_frame(const mwl__frame *from, mwl_run *run, mwl__frame *parent,
                               mwl__slot *slot, mwl__frame **place) {
    mwl_heap *h = &run->link->vm->heap;
    mwl__frame *f = parent ? copy_block(h, from, mwl__frame_size(from->timed))
                           : mwl__run_frame(run); /* copied with the run */
    if (!f) return NULL;
    f->run = run;
    f->parent = parent;
    f->slot = slot;
    f->entries = NULL;
    f->record = NULL;
    f->extra = NULL;
    f->awaits = MWL_AWAITS_NOTHING;
    f->vars = kept(f->vars);
    f->input = kept(f->input);
    f->step_input = kept(f->step_input);
    f->in_flight = kept(f->in_flight);
    f->res.v = kept(f->res.v);
    run->live++;
    *place = f;
    if (!clone_entries(h, from, f)) return NULL;
    if (from->record && !(f->record = clone_record(h, from->record))) return NULL;
    return clone_extra(from, f) && clone_target(from, f) ? f : NULL;
}

mwl_run *mwl__run_clone(const mwl_run *frozen) {
    mwl_vm *vm = frozen->link->vm;
    mwl_run *run = copy_block(&vm->heap, frozen, frozen->link->run_size);
    if (!run) return NULL;
    run->root = NULL;
    run->user = NULL;
    run->live = 0;
    run->id = kept(run->id);
    run->result = kept(run->result);
    mwl__run_list_add(run, &vm->runs[MWL_RUNS_OTHER]);
    run->link->n_runs++;
    if (frozen->limits && frozen->limits != &vm->config.limits)
        run->limits = copy_block(&vm->heap, frozen->limits, sizeof(mwl__run_own));
    if (frozen->limits && !run->limits) {
        mwl_run_free(run);
        return NULL;
    }
    if (clone_frame(frozen->root, run, NULL, NULL, &run->root)) return run;
    mwl_run_free(run);
    return NULL;
}
