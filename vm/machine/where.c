/* where.c: where a run is and what it waits for, for hosts that look in: overlays, tools, reloads;
 * and what a scope was doing, for the failure that explains its interruption.
 *
 * Owns: mwl_where, mwl__where_inside. It reads the records and changes nothing. */
#include "vm/machine/where.h"

#include "vm/base/host_struct.h"
#include "vm/machine/entry.h"
#include "vm/machine/frame.h"
#include "vm/machine/run.h"
#include "vm/machine/timer.h"
#include "vm/value/words.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

static const mwl__frame *root_of(const mwl_run *run) {
    return run->state < MWL_RUN_DONE ? run->root : NULL;
}

static const mwl__frame *below(const mwl__frame *f) {
    return f->awaits == MWL_AWAITS_FRAME ? f->target.frame : NULL;
}

static void put_wait(const mwl__frame *f, mwl_where *w) {
    mwl__timers *timers = &mwl__vm_of(f)->timers;
    const mwl__entry *inner = f->entries, *bound = mwl__frame_bound(f);
    const mwl__gather *g = mwl__gather_of(f);
    if (f->state == MWL_FRAME_WAIT_TIME) {
        w->waiting = inner && inner->waits ? MWL_WAITING_ENTRY : MWL_WAITING_TIME;
        if (f->timer.at && f->timer.class_ == 0) w->until_ns = mwl__timer_due(timers, &f->timer);
    } else if (f->awaits == MWL_AWAITS_EXECUTION) {
        const mwl_call *c = f->target.execution;
        w->waiting = MWL_WAITING_CALL;
        w->provider = c->provider->uri;
        if (c->timer.at) w->until_ns = mwl__timer_due(timers, &c->timer);
    } else if (f->state == MWL_FRAME_WAIT_GATHER && g) {
        w->waiting = MWL_WAITING_GATHER;
        w->total = g->n;
        w->done = g->n_ok + g->n_bad;
        w->active = g->active;
    }
    if (w->waiting != MWL_WAITING_NOTHING && bound) w->bound_ns = bound->bound_ns;
}

static void put_entries(const mwl__frame *f, mwl_where *w) {
    static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    const mwl__entry *e = f->entries;
    unsigned state = e ? e->state & ~(unsigned)MWL_ENTRY_STRUCTURAL : MWL_ENTRY_NONE;
    if (state >= MWL_ENTRY_ENTERING && state <= MWL_ENTRY_CLEANING) {
        w->phase = phases[state - MWL_ENTRY_ENTERING];
        if (!*w->provider) w->provider = e->provider->uri;
    }
    while (e && !e->provider->middleware.run_count) e = e->outer;
    if (e) w->runs = e->runs;
}

static const mwl__member where_members[] = {
    MWL__MEMBER(mwl_where, flow),     MWL__MEMBER(mwl_where, step),
    MWL__MEMBER(mwl_where, line),     MWL__MEMBER(mwl_where, column),
    MWL__MEMBER(mwl_where, depth),    MWL__MEMBER(mwl_where, waiting),
    MWL__MEMBER(mwl_where, phase),    MWL__MEMBER(mwl_where, provider),
    MWL__MEMBER(mwl_where, until_ns), MWL__MEMBER(mwl_where, bound_ns),
    MWL__MEMBER(mwl_where, runs),     MWL__MEMBER(mwl_where, total),
    MWL__MEMBER(mwl_where, done),     MWL__MEMBER(mwl_where, active),
};
static const mwl__host_struct where_struct = MWL__HOST_STRUCT(mwl_where, where_members);

bool mwl_run_where_sized(const mwl_run *run, mwl_where *out, size_t size) {
    mwl_where w;
    if (!out || mwl__host_struct_cuts(&where_struct, size)) return false;
    memset(&w, 0, sizeof w);
    memset(out, 0, size);
    const mwl__frame *f = root_of(run);
    if (!f) return false;
    for (const mwl__frame *inner; (inner = below(f));) f = inner;
    mwl_place place;
    mwl__run_place(mwl__program_of(f), f->flow, f->step, &place);
    w.flow = place.flow;
    w.step = place.step;
    w.line = place.line;
    w.column = place.column;
    w.depth = f->depth;
    w.phase = w.provider = "";
    w.until_ns = w.bound_ns = MWL_NEVER;
    put_wait(f, &w);
    put_entries(f, &w);
    memcpy(out, &w, size < sizeof w ? size : sizeof w);
    return true;
}

mwl_value mwl_run_vars(const mwl_run *run, uint32_t depth) {
    const mwl__frame *f = root_of(run);
    while (f && f->depth < depth) f = below(f);
    return f ? mwl__borrow(f->vars) : mwl_absent();
}

/* ---- what an inner scope was doing ----------------------------------------------------------- */

struct inside {
    char *out;
    size_t n, cap;
};

MWL_PRINTF(2, 3) static void say(struct inside *to, const char *format, ...) {
    va_list args;
    if (to->n + 1 >= to->cap) return;
    va_start(args, format);
    int n = vsnprintf(to->out + to->n, to->cap - to->n, format, args);
    va_end(args);
    if (n > 0) to->n += (size_t)n;
    if (to->n >= to->cap) to->n = to->cap - 1;
}

/* The frame waits for the time at which this entry runs its inner scope again. */
static bool waits_again(const mwl__frame *f, const mwl__entry *e) {
    return f->state == MWL_FRAME_WAIT_TIME && f->entries == e && e->state == MWL_ENTRY_INNER &&
           f->pc == mwl__tables(f)->entries[e->ix].inner_pc;
}

/* A run of the entry's inner scope that is not the first. */
static void say_run(struct inside *to, const mwl__frame *f, const mwl__entry *e) {
    const char *counts = e->provider->middleware.run_count;
    if (!counts || e->runs < 2 || e->state != MWL_ENTRY_INNER) return;
    say(to, "%s%s %s %" PRIu64, to->n ? ", " : "", waits_again(f, e) ? "waiting for" : "in", counts,
        e->runs);
    mwl_value code = mwl_is_absent(e->res.v) ? e->res.v : mwl__word_get(e->res.v, MWL_WORD_CODE);
    if (!mwl_is_absent(code)) say(to, ", after %s", mwl_as_text(code, NULL));
}

/* Entries of the frame inside `own` (NULL: all) that are around its Flow, or around its Step;
 * outermost first. */
static void say_runs(struct inside *to, const mwl__frame *f, const mwl__entry *own, bool of_flow) {
    const uint32_t n = mwl__entries_around(f), least = own ? own->rank + 1 : f->entries_around;
    for (uint32_t rank = least; rank < n && to->n + 1 < to->cap; rank++) {
        const mwl__entry *e = f->entries;
        while (e->rank != rank) e = e->outer;
        bool flow = mwl__tables(f)->entries[e->ix].flags & MWL_ENTRY_FLOW_LEVEL;
        if (flow == of_flow) say_run(to, f, e);
    }
}

static void say_step(struct inside *to, const mwl__frame *f) {
    const bool again = f->entries && waits_again(f, f->entries) &&
                       (mwl__tables(f)->entries[f->entries->ix].flags & MWL_ENTRY_FLOW_LEVEL);
    mwl_place place;
    if (f->step == MWL_NONE || again) return;
    mwl__run_place(mwl__program_of(f), f->flow, f->step, &place);
    say(to, "%sin Step '%s'", to->n ? ", " : "", place.step);
    if (*place.flow) say(to, " of Flow '%s'", place.flow);
}

size_t mwl__where_inside(const mwl__frame *f, const mwl__entry *own, char *out, size_t cap) {
    struct inside to = {out, 0, cap};
    if (cap) *out = '\0';
    for (; f && to.n + 1 < cap; f = below(f)) {
        const bool at_step =
            own && !(mwl__tables(f)->entries[own->ix].flags & MWL_ENTRY_FLOW_LEVEL);
        say_runs(&to, f, own, true);
        if (!at_step) say_step(&to, f);
        say_runs(&to, f, own, false);
        own = NULL;
    }
    return to.n;
}
