/* events_open.c: the spans that are open in a run which began earlier, in another process.
 *
 * A recorder hears of a frame when it is entered. Of a run that was loaded from bytes it would hear
 * nothing, so the events that began what is open are told again, with the present time: frames from
 * the outside in, and in each of them what encloses what. */
#include "tools/show/events.h"

#include "vm/machine/rest.h"
#include "vm/machine/run.h"

#include <string.h>

struct teller {
    struct events *events;
    mwl_instant now;
};

static mwl_trace_event event_of(const struct teller *t, const mwl__frame *f, mwl_trace_kind kind) {
    mwl_place place;
    mwl_trace_event e;
    memset(&e, 0, sizeof e);
    mwl__run_place(mwl__program_of(f), f->flow, f->step, &place);
    e.kind = kind;
    e.run = f->run;
    e.at = t->now;
    e.depth = f->depth;
    e.frame = (uint64_t)(uintptr_t)f;
    e.parent = (uint64_t)(uintptr_t)f->parent;
    e.flow = place.flow;
    e.step = place.step;
    e.line = place.line;
    e.column = place.column;
    e.provider = e.phase = e.position = e.counts = "";
    e.index = e.entry = -1;
    e.until_ns = e.bound_ns = MWL_NEVER;
    e.value = e.input = mwl_absent();
    e.vars = f->vars;
    return e;
}

static void send(const struct teller *t, const mwl__frame *f, mwl_trace_kind kind,
                 mwl_value value) {
    mwl_trace_event e = event_of(t, f, kind);
    e.value = value;
    events_listen(t->events, &e);
}

static void tell_call(const struct teller *t, const mwl__frame *f, const mwl_call *c,
                      int64_t index) {
    mwl_trace_event e = event_of(t, f, MWL_TRACE_CALL_DISPATCHED);
    e.index = index;
    if (index >= 0) e.total = mwl__gather_of(f)->n;
    if (c) {
        e.provider = c->provider->uri;
        e.value = c->args;
        e.input = c->input;
    }
    events_listen(t->events, &e);
    if (!c || index >= 0) return;
    e.kind = MWL_TRACE_WAITING;
    if (c->timer.at) e.until_ns = mwl__timer_due(&c->vm->timers, &c->timer);
    events_listen(t->events, &e);
}

/* ---- middleware ------------------------------------------------------------------------------ */

static const char *phase_of(const mwl__entry *e) {
    static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    unsigned state = e->state & ~(unsigned)MWL_ENTRY_STRUCTURAL;
    return state >= MWL_ENTRY_ENTERING && state <= MWL_ENTRY_CLEANING
               ? phases[state - MWL_ENTRY_ENTERING]
               : "";
}

/* Is the frame in the gap before the next run of the entry's inner scope? */
static bool waits_again(const mwl__frame *f, const mwl__entry *entry) {
    mwl__point point;
    uint32_t index;
    return entry == f->entries && f->state == MWL_FRAME_WAIT_TIME &&
           mwl__rest_point(f, &point, &index) && point == MWL_POINT_REENTER;
}

static void tell_entry(const struct teller *t, const mwl__frame *f, const mwl__entry *entry) {
    const char *counts = entry->provider->middleware.run_count, *phase = phase_of(entry);
    uint32_t flags = mwl__tables(f)->entries[entry->ix].flags;
    mwl_trace_event e = event_of(t, f, MWL_TRACE_PHASE);
    e.entry = (int32_t)entry->rank;
    e.provider = entry->provider->uri;
    e.position = flags & MWL_ENTRY_FLOW_LEVEL    ? "flow"
                 : flags & MWL_ENTRY_AROUND_CALL ? "call"
                                                 : "step";
    e.counts = counts ? counts : "";
    e.runs = entry->runs;
    e.phase = *phase ? phase : "onEntry";
    e.value = entry->input;
    events_listen(t->events, &e);
    if (*phase) return; /* that phase is running */
    e.phase = "";
    e.kind = counts ? MWL_TRACE_ATTEMPT : MWL_TRACE_ESTABLISHED;
    e.until_ns = t->now.mono_ns;
    if (counts && waits_again(f, entry)) {
        e.runs++;
        e.until_ns = MWL_NEVER;
    }
    events_listen(t->events, &e);
}

static void tell_entries(const struct teller *t, const mwl__frame *f, bool of_flow) {
    for (uint32_t at = f->entries_around; at < mwl__entries_around(f); at++) {
        const mwl__entry *e = f->entries;
        while (e->rank != at) e = e->outer;
        uint32_t flags = mwl__tables(f)->entries[e->ix].flags;
        if (((flags & MWL_ENTRY_FLOW_LEVEL) != 0) == of_flow) tell_entry(t, f, e);
    }
}

/* ---- frames ---------------------------------------------------------------------------------- */

static void tell_wait(const struct teller *t, mwl__frame *f) {
    mwl_trace_event e = event_of(t, f, MWL_TRACE_WAITING);
    if (f->state != MWL_FRAME_WAIT_TIME || !f->timer.at || f->timer.class_ != 0) return;
    e.until_ns = mwl__timer_due(&mwl__vm_of(f)->timers, &f->timer);
    events_listen(t->events, &e);
}

/* A phase of the Flow's middleware runs before the first Step or behind the last one. */
static bool is_in_step(const mwl__frame *f) {
    const mwl__entry *e = f->entries;
    if (f->step == MWL_NONE || f->step_done) return false;
    return !e || !(mwl__tables(f)->entries[e->ix].flags & MWL_ENTRY_FLOW_LEVEL) || !*phase_of(e);
}

static void tell_frame(const struct teller *t, mwl__frame *f) {
    const mwl__gather *g = mwl__gather_of(f);
    if (!f->parent) send(t, f, MWL_TRACE_RUN_STARTED, f->input);
    if (f->slot) tell_call(t, f->parent, NULL, f->slot - mwl__gather_of(f->parent)->slots);
    send(t, f, MWL_TRACE_FRAME_ENTERED, f->input);
    tell_entries(t, f, true);
    if (is_in_step(f)) send(t, f, MWL_TRACE_STEP_ENTERED, f->step_input);
    tell_entries(t, f, false);
    for (uint32_t i = 0; g && i < g->next; i++)
        if (g->slots[i].state == MWL_SLOT_ACTIVE && !g->slots[i].is_frame)
            tell_call(t, f, g->slots[i].as.execution, i);
    if (f->awaits == MWL_AWAITS_EXECUTION)
        tell_call(t, f, f->target.execution, -1);
    else if (f->awaits == MWL_AWAITS_FRAME)
        tell_call(t, f, NULL, -1);
    else
        tell_wait(t, f);
}

void events_open(struct events *e, mwl_run *run) {
    struct teller t = {.events = e};
    mwl_vm_now(mwl_run_vm(run), &t.now);
    for (mwl__frame *f = run->root; f; f = mwl__rest_next_frame(f)) tell_frame(&t, f);
}
