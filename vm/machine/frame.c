/* frame.c: frames: creation, turns in the interpreter, parking and waking, completion.
 *
 * Owns: the state machine of a frame. A frame is READY (queued), RUNNING (in the interpreter),
 * waiting (for time, for a call's target, for a Gather's dispatches) or DONE. It leaves the
 * interpreter only at an instruction boundary; f->pc is where it continues. Refuses to know:
 * what Steps and middleware do. */
#include "vm/machine/frame.h"

#include "vm/machine/account.h"
#include "vm/machine/arguments.h"
#include "vm/machine/call.h"
#include "vm/machine/clock.h"
#include "vm/machine/deferred.h"
#include "vm/machine/entry.h"
#include "vm/machine/exec.h"
#include "vm/machine/execution.h"
#include "vm/machine/gather.h"
#include "vm/machine/ready.h"
#include "vm/machine/run.h"
#include "vm/machine/step.h"
#include "vm/machine/timer.h"
#include "vm/machine/trace.h"
#include "vm/machine/unwind.h"

/* ---- life ------------------------------------------------------------------------------------ */

/* spec: execution-model, variable initialization: defaults overlaid by the validated arguments. */
static mwl_value seed_vars(mwl_vm *vm, mwl_value defaults, mwl_value args) {
    mwl_value key, value, vars = defaults;
    for (size_t i = 0; mwl_object_at(args, i, &key, &value); i++)
        vars = mwl__map_put(&vm->heap, vars, mwl__keep(key), mwl__keep(value));
    return vars;
}

/* Valid arguments: vars are set. Invalid ones: its Result is set, and nothing runs. False: out of
 * memory. */
static bool take_arguments(mwl__frame *f, const mwl__flow_link *flow, mwl_value args) {
    mwl_vm *vm = mwl__vm_of(f);
    mwl__exec *x = &vm->exec;
    x->program = mwl__program_of(f);
    x->pc = MWL_NONE;
    uint32_t pc = mwl__arguments_check(f, flow->schema, args, "parameters", flow->pc);
    if (pc == MWL_PC_NOMEM || (pc == MWL_PC_FUEL && x->late)) return false;
    if (pc ==
        MWL_PC_FUEL) { /* the run ends at the first instruction, before anything is established */
        x->budget = 0;
        args = mwl_absent();
        pc = flow->pc;
    }
    if (pc == MWL_PC_FAULT) {
        mwl__frame_raise(f, mwl__failure_from_fault(x, x->fault));
        x->fault = mwl_absent();
        f->pc = MWL_NONE;
        f->vars = mwl__keep(vm->empty);
        return !mwl_is_absent(f->res.v);
    }
    f->pc = pc;
    f->vars = seed_vars(vm, flow->vars, args);
    f->in_flight = mwl__keep(f->input);
    return !mwl_is_absent(f->vars);
}

static mwl__frame *make_child(mwl_run *run, mwl__frame *parent, mwl__slot *slot, uint32_t flow) {
    const mwl__flow_link *l = &run->link->flows[flow];
    mwl__frame *f = mwl__heap_take(&run->link->vm->heap, mwl__frame_size(l->timed));
    if (!f) return NULL;
    mwl__frame_blank(f, run, l);
    f->parent = parent;
    f->slot = slot;
    f->depth = parent->depth + 1;
    f->entries_around = mwl__entries_around(parent);
    f->bounded = mwl__unwind_bounded(parent);
    return f;
}

static inline mwl__frame *make(mwl_run *run, mwl__frame *parent, mwl__slot *slot, uint32_t flow) {
    mwl__frame *f = parent ? make_child(run, parent, slot, flow) : mwl__run_frame(run);
    if (f) run->live++;
    return f;
}

mwl__frame *mwl__frame_bare(mwl_run *run, mwl__frame *parent, mwl__slot *slot, uint32_t flow) {
    mwl__frame *f = make(run, parent, slot, flow);
    if (f) f->vars = mwl_absent();
    return f;
}

mwl__frame *mwl__frame_new(mwl_run *run, mwl__frame *parent, mwl__slot *slot, uint32_t flow,
                           mwl_value take_input, mwl_value take_args) {
    mwl_vm *vm = run->link->vm;
    mwl__frame *f = make(run, parent, slot, flow);
    if (!f) {
        mwl__drop(&vm->heap, take_input);
        mwl__drop(&vm->heap, take_args);
        return NULL;
    }
    return mwl__frame_begin(f, vm, &run->link->flows[flow], take_input, take_args) ? f : NULL;
}

bool mwl__frame_seed(mwl__frame *f, const mwl__flow_link *l, mwl_value take_args) {
    mwl_vm *vm = mwl__vm_of(f);
    if (f->timed) mwl__times_of(f)->entered_ns = mwl__clock_wall(vm);
    if (!l->schema && mwl_is_absent(take_args)) {
        f->in_flight = mwl__keep(f->input);
    } else {
        bool made = take_arguments(f, l, take_args);
        mwl__drop(&vm->heap, take_args);
        if (!made) {
            mwl__frame_free(f, vm);
            return false;
        }
    }
    if (mwl__tracing(vm)) {
        if (!f->parent) mwl__trace(f, MWL_TRACE_RUN_STARTED, NULL, -1, f->input);
        mwl__trace(f, MWL_TRACE_FRAME_ENTERED, NULL, -1, f->input);
    }
    return true;
}

static void drop_saved(mwl__frame *f) {
    if (!f->extra || !f->extra->saved_regs) return;
    mwl_heap *h = mwl__heap_of(f);
    uint32_t n = mwl__program_of(f)->n_regs;
    for (uint32_t i = 0; i < n; i++) mwl__drop(h, f->extra->saved_regs[i]);
    mwl__heap_give(h, f->extra->saved_regs, n * sizeof *f->extra->saved_regs);
    f->extra->saved_regs = NULL;
}

mwl__extra *mwl__frame_extra(mwl__frame *f) {
    if (f->extra) return f->extra;
    mwl__extra *r = mwl__heap_take(mwl__heap_of(f), sizeof *r);
    if (!r) return NULL;
    memset(r, 0, sizeof *r);
    r->failure = mwl_null();
    return f->extra = r;
}

bool mwl__frame_set_failure(mwl__frame *f, mwl_value failure) {
    bool clears = mwl_value_kind(failure) == MWL_KIND_NULL;
    if (clears && !f->extra) return true;
    mwl__extra *r = mwl__frame_extra(f);
    if (r) mwl__replace(mwl__heap_of(f), &r->failure, mwl__keep(failure));
    return r != NULL;
}

/* Frees the records that a frame may have. */
MWL__OUTLINE static void free_records(mwl__frame *f, mwl_heap *h) {
    while (f->entries) mwl__entry_pop(f);
    if (f->record) mwl__call_state_free(h, f->record);
    if (!f->extra) return;
    if (f->extra->gather) mwl__gather_free(h, f->extra->gather);
    drop_saved(f);
    mwl__drop(h, f->extra->cancel);
    mwl__drop(h, f->extra->failure);
    mwl__heap_give(h, f->extra, sizeof *f->extra);
}

/* Frees a frame without frames and executions below it. A root frame's memory is its run's. */
static inline void free_one(mwl__frame *f, mwl_vm *vm) {
    mwl_heap *h = &vm->heap;
    if (f->queued) mwl__ready_remove(vm, f);
    f->run->live--;
    if (vm->exec.frame == f) vm->exec.frame = NULL; /* a long operation asks for its bounds */
    mwl__timer_cancel(&vm->timers, &f->timer);
    if (f->entries || f->record || f->extra) free_records(f, h);
    mwl__drop(h, f->vars);
    mwl__drop(h, f->input);
    mwl__drop(h, f->step_input);
    mwl__drop(h, f->in_flight);
    mwl__drop(h, f->res.v);
    if (f->parent) mwl__heap_give(h, f, mwl__frame_size(f->timed));
}

/* Detaches one target execution of f: a frame is returned, a provider execution given up. NULL:
 * no frame is left. */
static mwl__frame *detach_child(mwl__frame *f) {
    if (f->awaits == MWL_AWAITS_FRAME) {
        f->awaits = MWL_AWAITS_NOTHING;
        return f->target.frame;
    }
    mwl__gather *g = mwl__gather_of(f);
    for (uint32_t i = 0; g && i < g->next; i++) {
        mwl__slot *s = &g->slots[i];
        if (s->state != MWL_SLOT_ACTIVE) continue;
        s->state = MWL_SLOT_CANCELLED;
        if (s->is_frame) return s->as.frame;
        if (s->as.execution)
            mwl__execution_abandon(s->as.execution); /* else its fields were being evaluated */
        s->as.execution = NULL;
    }
    return NULL;
}

/* Frees what is below a frame. Without recursion: the deepest frame first, climbing by `parent`. */
MWL__OUTLINE static void free_below(mwl__frame *top, mwl_vm *vm) {
    mwl__frame *f = top;
    for (;;) {
        mwl__frame *child = detach_child(f);
        if (child) {
            f = child;
            continue;
        }
        if (f->awaits == MWL_AWAITS_EXECUTION) mwl__execution_abandon(f->target.execution);
        if (f == top) return;
        mwl__frame *parent = f->parent;
        free_one(f, vm);
        f = parent;
    }
}

void mwl__frame_free(mwl__frame *f, mwl_vm *vm) {
    if (f->awaits != MWL_AWAITS_NOTHING || mwl__gather_of(f)) free_below(f, vm);
    free_one(f, vm);
}

/* ---- waiting --------------------------------------------------------------------------------- */

void mwl__frame_ready(mwl__frame *f, mwl_vm *vm) {
    if (f->queued || f->state == MWL_FRAME_RUNNING || f->state == MWL_FRAME_DONE) return;
    mwl__frame_fetch(f);
    mwl__frame_queue(f, vm);
}

/* The earliest bound of the frame that can still fire; of equal ones the outermost. A bound counts
 * from its entry's establishment, which checks whether it has elapsed by then. Bounds outside a
 * running onAlways cannot fire; unwind.c checks them when it ends. */
mwl__entry *mwl__frame_bound(const mwl__frame *f) {
    mwl__entry *first = NULL;
    for (mwl__entry *e = f->entries; e && !mwl__entry_cleaning(e); e = e->outer)
        if (e->armed && e->state == MWL_ENTRY_INNER && !e->accepted && !e->fired &&
            (!first || e->bound_ns <= first->bound_ns))
            first = e;
    return first;
}

uint32_t mwl__frame_arm(mwl__frame *f, mwl_vm *vm, int64_t due_mono_ns) {
    mwl__entry *bound = mwl__frame_has_bounds(f) ? mwl__frame_bound(f) : NULL;
    mwl_status st = MWL_OK;
    if (bound && bound->bound_ns < due_mono_ns)
        st = mwl__timer_arm(&vm->timers, &f->timer, bound->bound_ns, 1, bound->rank);
    else if (due_mono_ns != MWL_NEVER)
        st = mwl__timer_arm(&vm->timers, &f->timer, due_mono_ns, 0, 0);
    if (mwl__tracing(vm)) mwl__trace_wait(f, due_mono_ns);
    return st < 0 ? MWL_PC_NOMEM : MWL_PC_PARK;
}

void mwl__frame_timer(mwl__frame *f) {
    mwl_vm *vm = mwl__vm_of(f);
    bool bound = f->timer.class_ == 1;
    mwl__timer_cancel(&vm->timers, &f->timer);
    if (mwl__tracing(vm)) mwl__trace(f, MWL_TRACE_TIMER, NULL, -1, mwl_absent());
    if (!bound) {
        mwl__frame_ready(f, vm);
        return;
    }
    mwl__entry *e = mwl__frame_bound(f);
    if (e) mwl__unwind_bound(f, e);
}

/* ---- turns ----------------------------------------------------------------------------------- */

static bool save_regs(mwl__frame *f, mwl__exec *x) {
    uint32_t n = mwl__program_of(f)->n_regs;
    mwl__extra *r = mwl__frame_extra(f);
    if (r) r->saved_regs = mwl__heap_take(x->heap, n * sizeof *r->saved_regs);
    if (!r || !r->saved_regs) return false;
    memcpy(r->saved_regs, x->regs, n * sizeof *x->regs);
    for (uint32_t i = 0; i < n; i++) x->regs[i] = mwl_null();
    return true;
}

static void restore_regs(mwl__frame *f, mwl__exec *x) {
    mwl_value *saved = f->extra->saved_regs;
    if (!saved) return;
    size_t size = mwl__program_of(f)->n_regs * sizeof *saved;
    memcpy(x->regs, saved, size);
    mwl__heap_give(x->heap, saved, size);
    f->extra->saved_regs = NULL;
}

/* Begins the turn of a frame with an mwl__extra. Returns a pc. */
MWL__OUTLINE static uint32_t begin_with_extra(mwl__frame *f, mwl__exec *x) {
    if (f->extra->awaiting) { /* interrupted while queued: it continues when its dispatches have
                                 ended */
        f->state = MWL_FRAME_WAIT_GATHER;
        return MWL_PC_PARK;
    }
    f->state = MWL_FRAME_RUNNING;
    if (f->extra->resume) {
        drop_saved(f);
        f->extra->resume = false;
        return mwl__unwind_next(f);
    }
    if (f->pc == MWL_NONE) return mwl__frame_complete(f, x->vm);
    restore_regs(f, x);
    return f->pc;
}

/* The pc where the turn begins. A frame that completes here is freed: do not read it afterwards. */
static uint32_t begin_turn(mwl__frame *f, mwl_run *run, mwl_vm *vm) {
    mwl__exec *x = &vm->exec;
    const mwl__link *link = run->link;
    x->program = link->program;
    x->functions = (const struct mwl_function_def *const *)link->functions;
    x->linked = link->linked;
    x->calls = link->calls;
    x->root = (const char *)f;
    x->frame = f;
    x->budget = run->budget;
    x->late = false;
    if (x->budget == 0) return MWL_PC_FUEL;
    x->slice = x->turn = (x->budget < vm->config.slice ? (int64_t)x->budget : vm->config.slice) - 1;
    if (x->program->n_regs > x->n_regs && mwl__exec_reserve(x, x->program->n_regs) < 0) {
        vm->heap.why = MWL_E_NOMEM;
        return MWL_PC_NOMEM;
    }
    if (mwl__unwind_bounded(f)) {
        mwl__exec_watch(x);
        mwl__deferred_open(vm);
    }
    if (vm->deferred) mwl__deferred_turn(vm, f);
    vm->executing = run;
    vm->heap.work = 0; /* what was done since the last turn is not this run's */
    vm->heap.limit = mwl__run_memory_limit(run, vm->heap.used);
    if (f->extra) return begin_with_extra(f, x);
    f->state = MWL_FRAME_RUNNING;
    return f->pc != MWL_NONE ? f->pc : mwl__frame_complete(f, vm);
}

/* A fault without a handler: only a damaged image has one. */
static void unhandled(mwl__frame *f, mwl__exec *x) {
    mwl__replace(x->heap, &x->fault, mwl_absent());
    mwl__exec_clear(x, mwl__program_of(f)->n_regs);
    f->run->why = MWL_E_IMAGE;
    mwl_run_abort(f->run);
}

/* The frame's turn reached a limit of the run. Inside a cleanup the cancellation would wait for
 * that cleanup, which cannot end any more, so the run is aborted. */
static void end_at_limit(mwl__frame *f, mwl__exec *x, mwl_status why) {
    mwl_run *run = f->run;
    uint32_t n =
        run->link->program->n_regs; /* there may be fewer, if there was no memory for them */
    mwl__exec_clear(x, n < x->n_regs ? n : x->n_regs);
    f->state = MWL_FRAME_READY;
    mwl__run_limit(run, why);
    if (!run->root || run->state == MWL_RUN_ABORTED) return;
    if (run->root->extra) mwl__failure_note(f, run->root->extra->cancel);
    if (f->queued || (f->extra && f->extra->awaiting)) return;
    run->why = (int8_t)why;
    mwl_run_abort(run);
}

static void yielded(mwl__frame *f, mwl__exec *x) {
    f->pc = x->pc;
    f->state = MWL_FRAME_READY;
    if (x->in_block && !save_regs(f, x)) {
        mwl__run_limit(f->run, MWL_E_NOMEM);
        return;
    }
    if (!mwl__unwind_bounds_due(f)) mwl__frame_ready(f, mwl__vm_of(f));
}

/* An operation was given up, because a bound around the frame has elapsed. */
static void overdue(mwl__frame *f, mwl__exec *x) {
    f->pc = x->pc;
    f->state = MWL_FRAME_READY;
    mwl__exec_clear(x, mwl__program_of(f)->n_regs);
    mwl__unwind_overdue(f);
    if (!f->queued && !(f->extra && f->extra->awaiting)) end_at_limit(f, x, MWL_E_FUEL);
}

/* Charges the run for its turn and returns what that used. Charged work is in budget and slice, the
 * machine's instructions are in the slice only. */
static inline int64_t pay(mwl_run *run, mwl__exec *x) {
    (void)mwl__exec_settle(x);
    uint64_t had = run->budget, charged = had - x->budget,
             all = x->slice < x->turn ? (uint64_t)(x->turn - x->slice) : 0;
    if (all < charged) all = charged;
    if (all > had) all = had;
    run->budget = had - all;
    return (int64_t)all;
}

/* The turn has ended otherwise than by waiting. Returns whether the run reached its limit by it. */
MWL__OUTLINE static bool end_turn(mwl__frame *f, mwl__exec *x, mwl__outcome outcome) {
    mwl_run *run = f->run;
    const size_t used = x->heap->used;
    const bool limited = run->limit_hit;
    if (outcome == MWL_EXEC_YIELD && run->budget == 0) outcome = MWL_EXEC_FUEL;
    if (x->late && (outcome == MWL_EXEC_FUEL || outcome == MWL_EXEC_NOMEM))
        overdue(f, x);
    else if (outcome == MWL_EXEC_YIELD)
        yielded(f, x);
    else if (outcome == MWL_EXEC_FAULT)
        unhandled(f, x);
    else
        end_at_limit(f, x, outcome == MWL_EXEC_FUEL ? MWL_E_FUEL : mwl__run_limit_of(x->heap));
    mwl__run_used(run, run->link->vm, used);
    return run->limit_hit != limited;
}

int64_t mwl__frame_run(mwl__frame *f, mwl_vm *vm) {
    mwl_run *run = f->run;
    mwl__exec *x = &vm->exec;
    vm->mark = vm->heap.used;
    const uint32_t pc = begin_turn(f, run, vm);
    mwl__outcome outcome;
    if (pc < MWL_PC_LIMIT) {
        x->pc = pc;
        outcome = mwl__exec_run(x);
    } else {
        outcome = pc == MWL_PC_NOMEM  ? MWL_EXEC_NOMEM
                  : pc == MWL_PC_FUEL ? MWL_EXEC_FUEL
                                      : MWL_EXEC_PARK;
    }
    x->poll = INT64_MIN; /* what follows belongs to no frame: this one may have ended */
    int64_t cost = pay(run, x);
    vm->heap.limit = SIZE_MAX;
    vm->executing = NULL;
    mwl__run_account(run, vm->mark, vm->heap.used);
    if (outcome > MWL_EXEC_PARK && end_turn(f, x, outcome)) cost = vm->config.slice;
    mwl__deferred_close(vm, run);
    return cost ? cost : 1;
}

/* ---- completion ------------------------------------------------------------------------------ */

MWL__OUTLINE static uint32_t complete_child(mwl__frame *f, mwl_vm *vm) {
    mwl__frame *parent = f->parent;
    if (f->slot) {
        mwl__slot *slot = f->slot;
        if (slot->record) mwl__call_state_window(slot->record, f);
        mwl__result res = f->res;
        f->res.v = mwl_absent();
        bool interrupted = f->extra && !mwl_is_absent(f->extra->cancel);
        slot->superseded = interrupted && res.cleanup;
        mwl__gather_resolved(parent, slot, interrupted ? MWL_SLOT_CANCELLED : MWL_SLOT_SETTLED,
                             res);
    } else {
        parent->awaits = MWL_AWAITS_NOTHING;
        mwl__call_frame_done(parent, f);
    }
    mwl__frame_free(f, vm);
    return MWL_PC_PARK;
}

/* spec: execution-model, completion: the Result goes to the parent context; a frame completes once.
 */
uint32_t mwl__frame_complete(mwl__frame *f, mwl_vm *vm) {
    f->state = MWL_FRAME_DONE;
    if (mwl__tracing(vm)) mwl__trace_result(f, MWL_TRACE_FRAME_EXITED, -1, f->res);
    if (f->parent) return complete_child(f, vm);
    mwl__run_done(f->run, vm, &f->res);
    return MWL_PC_PARK;
}
