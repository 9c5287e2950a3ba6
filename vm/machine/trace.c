/* trace.c: see trace.h. */
#include "vm/machine/trace.h"

#include "vm/machine/clock.h"
#include "vm/machine/frame.h"

void mwl_vm_trace(mwl_vm *vm, void (*listen)(void *ctx, const mwl_trace_event *event), void *ctx) {
    vm->listen = listen;
    vm->listen_ctx = ctx;
}

const char *mwl_trace_name(mwl_trace_kind kind) {
    static const char *const names[] = {
#define X(name) #name,
        MWL_TRACE_EVENTS(X)
#undef X
    };
    return (size_t)kind < sizeof names / sizeof *names ? names[kind] : "UNKNOWN";
}

static const char *name_at(const mwl_program *p, uint32_t k) {
    size_t len;
    return k == MWL_NONE ? "" : mwl_as_text(p->consts[k], &len);
}

enum { BRANCH_MAX = 32 };

/* The dispatches of Gathers that the frame runs in, outermost first; of very many the innermost. */
static uint32_t branch_of(const mwl__frame *f, uint32_t branch[BRANCH_MAX]) {
    uint32_t n = 0;
    for (; f && n < BRANCH_MAX; f = f->parent)
        if (f->slot) branch[n++] = (uint32_t)(f->slot - mwl__gather_of(f->parent)->slots);
    for (uint32_t i = 0; i < n / 2; i++) {
        uint32_t other = branch[n - 1 - i];
        branch[n - 1 - i] = branch[i];
        branch[i] = other;
    }
    return n;
}

/* ---- making an event ------------------------------------------------------------------------- */

/* A lookup reads a block of positions, so each Step is looked up once. */
static mwl__step_place place_of(const mwl__frame *f, const mwl_program *p) {
    mwl__link *link = f->run->link;
    if (!link->places)
        link->places =
            mwl__mem_zero(&link->vm->config.alloc, p->tables.n_steps, sizeof *link->places);
    mwl__step_place *known = link->places ? &link->places[f->step] : NULL;
    if (known && known->line) return *known;
    mwl__where w = {0, 0, 0, 0};
    mwl__program_where(p, p->tables.steps[f->step].pc, 0, &w);
    mwl__step_place place = {w.line, w.column};
    if (known) *known = place;
    return place;
}

/* Does a phase of a Flow-level entry run behind the last Step? */
static bool is_above_steps(const mwl__frame *f) {
    const mwl__entry *e = f->entries;
    if (!e || !(mwl__tables(f)->entries[e->ix].flags & MWL_ENTRY_FLOW_LEVEL)) return false;
    const unsigned state = (unsigned)e->state & ~(unsigned)MWL_ENTRY_STRUCTURAL;
    return state == MWL_ENTRY_SUCCESS || state == MWL_ENTRY_FAILURE || state == MWL_ENTRY_CLEANING;
}

static void fill_place(mwl_trace_event *e, const mwl__frame *f, const mwl_program *p) {
    if (f->step == MWL_NONE || is_above_steps(f)) return;
    mwl__step_place at = place_of(f, p);
    e->step = name_at(p, p->tables.steps[f->step].name_k);
    e->line = at.line;
    e->column = at.column;
}

static void fill_entry(mwl_trace_event *e, const mwl__frame *f, const mwl__entry *entry) {
    if (!entry) return;
    const mwl__entry_rec *rec = &mwl__tables(f)->entries[entry->ix];
    const char *counts = entry->provider->middleware.run_count;
    e->entry = (int32_t)entry->rank;
    e->runs = entry->runs;
    if (counts) e->counts = counts;
    e->position = rec->flags & MWL_ENTRY_FLOW_LEVEL    ? "flow"
                  : rec->flags & MWL_ENTRY_AROUND_CALL ? "call"
                                                       : "step";
}

static void fill_gather(mwl_trace_event *e, const mwl__frame *f) {
    const mwl__gather *g = mwl__gather_of(f);
    e->total = g->n;
    e->done = g->n_ok + g->n_bad;
    e->active = g->active;
}

/* Writes what every event of the frame has. branch has BRANCH_MAX elements and must live as long as
 * e. */
static void fill(mwl_trace_event *e, mwl__frame *f, mwl_trace_kind kind, uint32_t *branch) {
    const mwl_program *p = mwl__program_of(f);
    memset(e, 0, sizeof *e);
    e->kind = kind;
    e->run = f->run;
    mwl_vm_now(mwl__vm_of(f), &e->at);
    e->depth = f->depth;
    e->frame = (uint64_t)(uintptr_t)f;
    e->parent = (uint64_t)(uintptr_t)f->parent;
    e->flow = name_at(p, p->tables.flows[f->flow].name_k);
    e->step = e->provider = e->phase = e->position = e->counts = "";
    fill_place(e, f, p);
    e->index = e->entry = -1;
    e->until_ns = e->bound_ns = MWL_NEVER;
    e->vars = mwl__borrow(f->vars);
    e->n_branch = branch_of(f, branch);
    e->branch = branch;
}

static void hear(mwl__frame *f, const mwl_trace_event *e) {
    mwl_vm *vm = mwl__vm_of(f);
    vm->listen(vm->listen_ctx, e);
}

void mwl_vm_trace_hidden(mwl_vm *vm, void (*see)(void *ctx, const mwl_trace_event *event),
                         void *ctx) {
    vm->hear_hidden = see;
    vm->hidden_ctx = ctx;
}

/* ---- events ---------------------------------------------------------------------------------- */

void mwl__trace(mwl__frame *f, mwl_trace_kind kind, const char *provider, int64_t index,
                mwl_value value) {
    mwl_trace_event e;
    uint32_t branch[BRANCH_MAX];
    fill(&e, f, kind, branch);
    if (provider) e.provider = provider;
    e.index = index;
    e.value = mwl__borrow(value);
    if (kind == MWL_TRACE_CALL_DISPATCHED) {
        const mwl__call_state *r = f->record;
        e.input = mwl__borrow(mwl_is_absent(r->target_input) ? r->input : r->target_input);
        if (index >= 0) fill_gather(&e, f);
    }
    if (kind == MWL_TRACE_INTERRUPTED) {
        fill_entry(&e, f, f->extra ? f->extra->owner : NULL);
        e.failed = true;
    }
    hear(f, &e);
}

void mwl__trace_result(mwl__frame *f, mwl_trace_kind kind, int64_t index, mwl__result res) {
    mwl_trace_event e;
    uint32_t branch[BRANCH_MAX];
    fill(&e, f, kind, branch);
    e.index = index;
    e.value = mwl__borrow(res.v);
    e.failed = !res.ok;
    if (index >= 0) fill_gather(&e, f);
    hear(f, &e);
}

void mwl__trace_hidden(mwl__frame *f, uint32_t index, mwl_value failure) {
    const mwl_vm *vm = mwl__vm_of(f);
    mwl_trace_event e;
    uint32_t branch[BRANCH_MAX];
    if (!vm->listen && !vm->hear_hidden) return;
    fill(&e, f, MWL_TRACE_HIDDEN, branch);
    fill_gather(&e, f);
    e.index = index;
    e.value = mwl__borrow(failure);
    e.failed = true;
    if (vm->listen) hear(f, &e);
    if (vm->hear_hidden) vm->hear_hidden(vm->hidden_ctx, &e);
}

void mwl__trace_entry(mwl__frame *f, mwl_trace_kind kind, int phase, mwl__result res) {
    static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    const mwl__entry *entry = f->entries;
    mwl_trace_event e;
    uint32_t branch[BRANCH_MAX];
    fill(&e, f, kind, branch);
    fill_entry(&e, f, entry);
    e.provider = entry->provider->uri;
    if (phase >= 0) e.phase = phases[phase];
    e.value = mwl__borrow(res.v);
    e.failed = !res.ok;
    if (kind == MWL_TRACE_ATTEMPT)
        e.until_ns = mwl__clock_add(e.at.mono_ns, entry->delay_ns > 0 ? entry->delay_ns : 0);
    hear(f, &e);
}

static void fill_wait(mwl_trace_event *e, mwl__frame *f, int64_t due_ns) {
    const mwl__entry *bound = mwl__frame_bound(f), *inner = f->entries;
    e->until_ns = due_ns;
    if (bound) e->bound_ns = bound->bound_ns;
    if (f->state == MWL_FRAME_WAIT_GATHER && mwl__gather_of(f)) fill_gather(e, f);
    if (f->awaits == MWL_AWAITS_EXECUTION) {
        e->provider = f->target.execution->provider->uri;
        e->until_ns = mwl__timer_due(&mwl__vm_of(f)->timers, &f->target.execution->timer);
    } else if (f->state == MWL_FRAME_WAIT_TIME && inner &&
               f->pc == mwl__tables(f)->entries[inner->ix].inner_pc) { /* to run it again */
        fill_entry(e, f, inner);
        e->provider = inner->provider->uri;
    }
}

void mwl__trace_wait(mwl__frame *f, int64_t due_ns) {
    mwl_trace_event e;
    uint32_t branch[BRANCH_MAX];
    fill(&e, f, MWL_TRACE_WAITING, branch);
    fill_wait(&e, f, due_ns);
    hear(f, &e);
}

/* ---- what is open ---------------------------------------------------------------------------- */

static bool parked(const mwl__frame *f) {
    return f->state == MWL_FRAME_WAIT_TIME || f->state == MWL_FRAME_WAIT_CALL ||
           f->state == MWL_FRAME_WAIT_GATHER;
}

static void look_at(mwl__frame *f, void (*see)(void *ctx, const mwl_trace_event *event),
                    void *ctx) {
    mwl_trace_event e;
    uint32_t branch[BRANCH_MAX];
    fill(&e, f, MWL_TRACE_FRAME_ENTERED, branch);
    see(ctx, &e);
    if (f->step != MWL_NONE) {
        e.kind = MWL_TRACE_STEP_ENTERED;
        see(ctx, &e);
    }
    for (const mwl__entry *entry = f->entries; entry; entry = entry->outer) {
        fill(&e, f, MWL_TRACE_ESTABLISHED, branch);
        fill_entry(&e, f, entry);
        e.provider = entry->provider->uri;
        see(ctx, &e);
    }
    if (f->awaits == MWL_AWAITS_FRAME || !parked(f)) return;
    fill(&e, f, MWL_TRACE_WAITING, branch);
    fill_wait(&e, f,
              f->timer.class_ == 0 ? mwl__timer_due(&mwl__vm_of(f)->timers, &f->timer) : MWL_NEVER);
    see(ctx, &e);
}

void mwl_run_look(mwl_run *run, void (*see)(void *ctx, const mwl_trace_event *event), void *ctx) {
    for (mwl__frame *f = run->state < MWL_RUN_DONE ? run->root : NULL; f;
         f = f->awaits == MWL_AWAITS_FRAME ? f->target.frame : NULL)
        look_at(f, see, ctx);
}
