/* restart.c: a loaded run goes on: its timers are armed, its frames queued, its calls taken up.
 *
 * Owns: what becomes of a call that was in flight, by what its provider declares (mwl_provider.h,
 * MWL_CALL_*). Callbacks are called only here, when the run is complete. */
#include "vm/machine/durable.h"
#include "vm/machine/execution.h"
#include "vm/machine/frame.h"
#include "vm/machine/phase.h"
#include "vm/machine/ready.h"
#include "vm/machine/rest.h"
#include "vm/machine/timer.h"
#include "vm/snapshot/loader.h"

#include <stdlib.h>

/* ---- orders ---------------------------------------------------------------------------------- */

static int by_order(const void *a, const void *b) {
    uint64_t x = ((const mwl__placed *)a)->order, y = ((const mwl__placed *)b)->order;
    return x < y ? -1 : x > y;
}

/* The orders of queued frames are 0, 1, 2 and so on, those of timers the VM's that armed them. */
static bool sort(mwl__loader *l, mwl__placing *o) {
    if (o->n > 1) qsort(o->list, o->n, sizeof *o->list, by_order);
    for (size_t i = 0; i < o->n; i++)
        if (o == &l->queue ? o->list[i].order != i : i && o->list[i].order == o->list[i - 1].order)
            return mwl__reader_refuse(&l->r, MWL_E_SNAPSHOT, "an order is not complete");
    return true;
}

/* A copy is a new run, whose timers are armed now. */
static bool arm(mwl__loader *l, const mwl__placed *at) {
    mwl__timers *all = &l->vm->timers;
    mwl__timer *t = at->p;
    int64_t due_ns = at->due_ns;
    unsigned class_ = t->owner == MWL_TIMER_RUN || at->bound;
    uint32_t rank = UINT32_MAX;
    if (at->bound && t->owner != MWL_TIMER_RUN) {
        const mwl__entry *bound = mwl__frame_bound(mwl__frame_of_timer(t));
        due_ns = bound->bound_ns;
        rank = bound->rank;
    }
    mwl_status st = l->copies ? mwl__timer_arm(all, t, due_ns, class_, rank)
                              : mwl__timer_arm_as(all, t, due_ns, class_, rank, at->order);
    return st == MWL_OK || mwl__reader_refuse(&l->r, st, "out of memory");
}

/* The head of the record says what the run consists of. */
static bool agrees(mwl__loader *l) {
    uint32_t n = 0, held = 0;
    int64_t due = MWL_NEVER, first;
    for (mwl_call *c = NULL; l->run->root && (c = mwl__rest_next_call(l->run, c)); n++)
        held += c->held != 0;
    for (size_t i = 0; i < l->timers.n; i++) {
        first = mwl__timer_due(&l->vm->timers, l->timers.list[i].p);
        if (first < due) due = first;
    }
    bool same = n == l->n_calls && held == l->n_held && (l->queue.n || due == l->due_ns);
    return same || mwl__reader_refuse(&l->r, MWL_E_SNAPSHOT, "the head of the run is wrong");
}

bool mwl__load_place(mwl__loader *l) {
    if (!sort(l, &l->timers) || !sort(l, &l->queue)) return false;
    for (size_t i = 0; i < l->timers.n; i++)
        if (!arm(l, &l->timers.list[i])) return false;
    if (!agrees(l)) return false;
    for (size_t i = 0; i < l->queue.n; i++) mwl__ready_push(l->vm, l->queue.list[i].p);
    return true;
}

/* ---- calls and middleware -------------------------------------------------------------------- */

/* Outermost first. */
static void restore_entries(mwl__frame *f) {
    bool any = false;
    for (mwl__entry *e = f->entries; e; e = e->outer)
        any |= e->provider->middleware.restore != NULL;
    for (uint32_t at = f->entries_around; any && at < mwl__entries_around(f); at++) {
        mwl__entry *e = f->entries;
        while (e->rank != at) e = e->outer;
        mwl__phase_restore(f, e);
    }
}

/* An entry that only its middleware would wake asks again: who would wake it is not known here. */
static void wake_waiting(mwl_run *run) {
    for (mwl__frame *f = run->root; f; f = mwl__rest_next_frame(f)) {
        bool unwinds = f->extra && f->extra->awaiting;
        if (!f->queued && !unwinds && f->state == MWL_FRAME_WAIT_TIME && !f->timer.at)
            mwl__frame_ready(f, mwl__vm_of(f));
    }
}

static mwl_value interrupted(mwl_call *c) {
    mwl_heap *h = &c->vm->heap;
    mwl_value v = mwl_failure(h, NULL, "Mwlvm.Interrupted",
                              "the call was in flight when its run was saved, and is not repeated",
                              mwl_absent(), mwl_absent());
    return mwl_object_set(h, v, "retryable", 9, mwl_bool(false));
}

/* Takes up one call. Returns it if it has settled and is to be delivered; else NULL. */
static mwl_call *take_up(mwl_call *c, unsigned flags) {
    const mwl_call_provider *p = &c->provider->call;
    c->starting = false;
    if (c->settled) return c; /* by another one's callback */
    if (c->held && c->vm->config.hold) return NULL;
    bool held = c->held != 0;
    bool fails = !held && ((p->flags & MWL_CALL_ONCE) || (flags & MWL_LOAD_FAIL_CALLS));
    if (c->cancelled && (fails || !p->restore)) {
        mwl__execution_give_up(c);
        mwl__execution_free(c);
        return NULL;
    }
    if ((p->flags & MWL_CALL_LOCAL) && c->timer.at && p->wake && !fails) return NULL;
    mwl__timer_cancel(&c->vm->timers, &c->timer);
    if (fails) {
        c->starting = true;
        mwl__execution_fail(c, interrupted(c));
        c->starting = false;
    } else {
        if (!held && c->attempt < UINT16_MAX) c->attempt++;
        mwl__execution_begin(c, !held);
    }
    return c->settled && !c->native ? c : NULL;
}

/* Calls that settle are delivered when all are taken up: a delivery changes the run. */
void mwl__load_restart(mwl__loader *l, unsigned flags) {
    mwl_run *run = l->run;
    mwl_vm *vm = l->vm;
    mwl__placing *calls = &l->timers; /* its memory is free, and is large enough or grown before */
    calls->n = 0;
    for (mwl_call *c = NULL; run->root && (c = mwl__rest_next_call(run, c));) {
        c->settled = false;
        c->starting = true; /* until it is taken up nothing is delivered */
        if (flags & MWL_LOAD_RELEASED) mwl__execution_unhold(c);
        if (c->held && vm->config.hold) c->held = mwl__durable_version(run) + 1;
        calls->list[calls->n++].p = c;
    }
    for (mwl__frame *f = run->root; f; f = mwl__rest_next_frame(f)) restore_entries(f);
    wake_waiting(run);
    for (size_t i = 0; i < calls->n; i++) {
        bool lives = run->state != MWL_RUN_ABORTED;
        mwl_call *c = calls->list[i].p;
        if (!lives) c->settled = true; /* its provider does not know it */
        calls->list[i].p = lives ? take_up(c, flags) : NULL;
    }
    for (size_t i = 0; i < calls->n && run->state != MWL_RUN_ABORTED; i++)
        if (calls->list[i].p) mwl__execution_deliver(calls->list[i].p);
}
