/* run.c: a run's life: start, result, cancel, abort, limits.
 *
 * Owns: mwl_run. A run ends in one of two ways: DONE with a Result, or ABORTED with a status and no
 * further language work. The first limit that is reached cancels the run from outside, with the
 * reason in the details, and grants a reserve so that cleanups can run. The second one aborts it.
 */
#include "vm/machine/run.h"

#include "vm/base/host_struct.h"
#include "vm/base/random.h"
#include "vm/base/usage.h"
#include "vm/base/utf8.h"
#include "vm/cel/ops.h"
#include "vm/machine/account.h"
#include "vm/machine/clock.h"
#include "vm/machine/deferred.h"
#include "vm/machine/durable.h"
#include "vm/machine/frame.h"
#include "vm/machine/host_value.h"
#include "vm/machine/invariant.h"
#include "vm/machine/link.h"
#include "vm/machine/ready.h"
#include "vm/machine/run_list.h"
#include "vm/machine/timer.h"
#include "vm/machine/token.h"
#include "vm/machine/trace.h"
#include "vm/machine/unwind.h"

#include <stdio.h>

static uint64_t default_of(uint64_t set, uint64_t by_vm) { return set ? set : by_vm; }

const mwl_limits *mwl__run_own_new(mwl_vm *vm, const mwl_start *start) {
    static const mwl_limits nothing;
    const mwl_limits *own = start->limits ? start->limits : &nothing;
    mwl__run_own *o = mwl__heap_take(&vm->heap, sizeof *o);
    if (!o) return NULL;
    *o = (mwl__run_own){vm->config.limits, start->done, start->done_ctx};
    mwl_limits *l = &o->limits;
    l->fuel = default_of(own->fuel, l->fuel);
    l->memory_bytes = (size_t)default_of(own->memory_bytes, l->memory_bytes);
    l->frame_depth = (uint32_t)default_of(own->frame_depth, l->frame_depth);
    l->entry_depth = (uint32_t)default_of(own->entry_depth, l->entry_depth);
    l->fan_out = (uint32_t)default_of(own->fan_out, l->fan_out);
    l->chain_depth = (uint32_t)default_of(own->chain_depth, l->chain_depth);
    if (own->cleanup_ns) l->cleanup_ns = own->cleanup_ns;
    return l;
}

/* Most ids are never read, so an id that the host did not give is a number until then. The text has
 * the VM's seed and the run's number. */
mwl_value mwl__run_id(mwl_run *run) {
    mwl_vm *vm = run->link->vm;
    if (mwl_value_kind(run->id) == MWL_KIND_STRING) return run->id;
    uint64_t number = mwl_as_uint(run->id), mix = mwl__vm_id_seed(vm) + number;
    char id[48];
    int n = snprintf(id, sizeof id, "run-%016llx-%llu", (unsigned long long)mwl__random(&mix),
                     (unsigned long long)number);
    mwl_value v = mwl__str_new(&vm->heap, id, (size_t)n);
    if (!mwl_is_absent(v)) run->id = v;
    return v;
}

static mwl_status set_error(mwl_error *error, mwl_status st, const char *message) {
    if (error) {
        error->status = st;
        error->message = message;
        error->offset = 0;
    }
    return st;
}

#ifndef NDEBUG
static bool pumps_alone(const mwl_vm *vm) { return !vm->pumping || mwl__vm_is_here(vm); }
static bool is_there(const mwl_run *run) { return run->state != MWL_RUN_GONE; }
#endif

/* What the host starts a run with, as values of the data model. */
typedef struct mwl__host_value_start {
    mwl_value input, arguments;
} mwl__host_value_start;

static void drop_given(mwl_vm *vm, const mwl__host_value_start *g) {
    mwl__drop(&vm->heap, g->input);
    mwl__drop(&vm->heap, g->arguments);
}

/* Fills *out, given. */
MWL__OUTLINE static mwl_status convert(mwl_vm *vm, const mwl_value *input,
                                       const mwl_value *arguments, mwl__host_value_start *out,
                                       mwl_error *error) {
    out->arguments = out->input = mwl_absent();
    mwl_status st = mwl__host_value_data(&vm->heap, "the input", *input, &out->input,
                                         mwl__error_text(), MWL__ERROR_TEXT_MAX);
    if (st == MWL_OK && !mwl_is_absent(*arguments))
        st = mwl__host_value_data(&vm->heap, "the arguments", *arguments, &out->arguments,
                                  mwl__error_text(), MWL__ERROR_TEXT_MAX);
    if (st == MWL_OK) return st;
    drop_given(vm, out);
    return set_error(error, st, st == MWL_E_NOT_JSON ? mwl__error_text() : mwl_status_text(st));
}

static void release(mwl_run *run);

/* Arguments are validated at this run's cost. This may be a callback of another run, whose turn
 * goes on afterwards. A listener that is called here sees the run among the others. It must not end
 * it; if it does, the run has no root. */
MWL__OUTLINE static void seed_root(mwl_run *run, const mwl_value *input,
                                   const mwl_value *arguments) {
    mwl_vm *vm = run->link->vm;
    mwl__exec *x = &vm->exec;
    mwl__run_list_add(run, &vm->runs[MWL_RUNS_OTHER]);
    mwl__run_enter(run);
    const mwl_program *their_program = x->program;
    uint64_t their_budget = x->budget;
    int64_t their_slice = x->slice;
    uint32_t their_pc = x->pc;
    x->budget = run->budget;
    run->root = mwl__frame_new(run, NULL, NULL, run->link->root->flow, mwl__keep(*input),
                               mwl__keep(*arguments));
    run->budget = x->budget;
    x->budget = their_budget;
    x->slice = their_slice;
    x->program = their_program;
    x->pc = their_pc;
    run->busy--;
    if (run->state == MWL_RUN_ABORTED && run->root) release(run);
    mwl__run_list_take(run);
}

/* Sets run->root, unless out of memory. */
static inline void make_root(mwl_run *run, mwl_vm *vm, const mwl__flow_link *l,
                             const mwl_value *input, const mwl_value *arguments) {
    if (!l->plain || !mwl_is_absent(*arguments) || mwl__tracing(vm)) {
        seed_root(run, input, arguments);
        return;
    }
    mwl__frame *f = run->root = mwl__run_frame(run);
    run->live = 1;
    const mwl_value in = mwl__keep(*input), flies = mwl__keep(in);
    mwl__move(&f->input, &in);
    mwl__move(&f->in_flight, &flies);
}

/* Returns a run in no list, or NULL: out of memory. */
static inline mwl_run *new_run(mwl__link *link, mwl_vm *vm) {
    mwl_run *run = mwl__heap_take_free(&vm->heap, link->run_units);
    if (!run) run = mwl__heap_take_more(&vm->heap, link->run_size);
    if (!run) return NULL;
    mwl__record_blank(run, sizeof *run);
    run->link = link;
    run->limits = &vm->config.limits;
    mwl__frame_blank(mwl__run_frame(run), run, link->root);
    link->n_runs++;
    return run;
}

mwl_run *mwl__run_new(mwl__link *link) {
    mwl_run *run = new_run(link, link->vm);
    if (run) mwl__run_list_add(run, &link->vm->runs[MWL_RUNS_OTHER]);
    return run;
}

MWL__OUTLINE static mwl_status check_start(mwl_vm *vm, mwl_program *program, const mwl_start *start,
                                           mwl__link **out, mwl_error *error) {
    if (program->tables.root_flow == MWL_NONE)
        return set_error(error, MWL_E_USAGE, "the program is an expression, not a Flow");
    if (!mwl_is_absent(start->arguments) && mwl_value_kind(start->arguments) != MWL_KIND_OBJECT)
        return set_error(error, MWL_E_USAGE, "arguments must be an object");
    mwl_status st = mwl__link_program(vm, program, out, error);
    if (st < 0) return st;
    if (start->id && !mwl__utf8_valid(start->id, strlen(start->id), NULL))
        return set_error(error, MWL_E_UTF8, "the id is not valid UTF-8");
    return MWL_OK;
}

/* Checks what all runs of one call have in common, and links the program to the VM. */
static inline mwl_status open_start(mwl_vm *vm, mwl_program *program, const mwl_start *start,
                                    mwl__link **out, mwl_error *error) {
    mwl__usage(vm->alive == MWL_VM_ALIVE, "mwl_run_start: the VM was freed");
    mwl__usage(pumps_alone(vm), "mwl_run_start: while another thread pumps the VM");
    mwl__vm_here(vm);
    mwl__link *l = *out = vm->links;
    const bool known = l && l->program == program && l->root && !l->forget && !l->missing;
    if (known && !start->id && mwl_is_absent(start->arguments)) return MWL_OK;
    return check_start(vm, program, start, out, error);
}

/* Gives a new run what its start says and its program does not. Returns false if out of memory. */
static inline bool give_own(mwl_run *run, mwl_vm *vm, const mwl_start *start, uint64_t seed) {
    const mwl_limits *limits = mwl__run_limits(vm, start);
    const uint64_t number = vm->next_run++;
    run->limits = limits;
    run->rng = seed ? seed : mwl__random(&vm->rng);
    run->id = mwl_uint(number);
    if (start->id) run->id = mwl_string(&vm->heap, start->id, strlen(start->id));
    if (!limits || (start->id && mwl_is_absent(run->id))) return false;
    run->budget = limits->fuel;
    return !vm->config.hold || mwl__durable_add(run);
}

/* Frees a run, or NULL, that did not get a root frame. */
MWL__OUTLINE static mwl_status not_started(mwl_run *run, mwl_vm *vm, mwl_error *error) {
    const bool ended = run && run->state == MWL_RUN_ABORTED;
    if (run) mwl__run_list_add(run, &vm->runs[MWL_RUNS_OTHER]);
    mwl_run_free(run);
    if (ended) return set_error(error, MWL_E_USAGE, "a listener ended the run as it started");
    return set_error(error, MWL_E_NOMEM, mwl_status_text(MWL_E_NOMEM));
}

MWL__INLINE mwl_status start_one(mwl__link *link, mwl_vm *vm, const mwl_start *start,
                                 const mwl_value *input, uint64_t seed, mwl_run **out,
                                 mwl_error *error) {
    static const mwl_value null = {MWL_KIND_NULL, 0, {0}};
    size_t used = vm->heap.used;
    mwl__host_value_start given;
    const mwl_value *arguments = &start->arguments;
    if (mwl_is_absent(*input)) input = &null;
    const bool converts = !mwl_is_absent(*arguments) || !mwl__host_value_plain(*input);
    if (converts) {
        mwl_status st = convert(vm, input, arguments, &given, error);
        if (st < 0) return st;
        input = &given.input;
        arguments = &given.arguments;
    }
    mwl_run *run = new_run(link, vm);
    if (run && give_own(run, vm, start, seed)) make_root(run, vm, link->root, input, arguments);
    if (converts) drop_given(vm, &given);
    if (!run || !run->root) return not_started(run, vm, error);
    mwl__run_used(run, vm, used);
    mwl__ready_new(vm, run);
    if (run->aside) mwl__durable_changed(run);
    *out = run;
    return MWL_OK;
}

static const mwl__member start_members[] = {
    MWL__MEMBER(mwl_start, id),        MWL__MEMBER(mwl_start, input),
    MWL__MEMBER(mwl_start, arguments), MWL__MEMBER(mwl_start, seed),
    MWL__MEMBER(mwl_start, limits),    MWL__MEMBER(mwl_start, done),
    MWL__MEMBER(mwl_start, done_ctx),
};
static const mwl__host_struct start_struct = MWL__HOST_STRUCT(mwl_start, start_members);

/* Reads what a host says about a start. If the host is of another version, *start becomes a copy in
 * *own. */
static inline mwl_status read_start(mwl_start *own, const mwl_start **start, size_t size,
                                    mwl_error *error) {
    mwl_status st = MWL_OK;
    if (!*start || size != sizeof *own) {
        st = mwl__host_struct_read(own, &start_struct, *start, size);
        *start = own;
    }
    if (st == MWL_OK && (*start)->limits && mwl__run_limits_unknown((*start)->limits))
        st = MWL_E_VERSION;
    if (st == MWL_OK) return st;
    return set_error(error, st,
                     mwl__host_struct_why(st, "mwl_start has a member that is not known here"));
}

mwl_status mwl_run_start_sized(mwl_vm *vm, mwl_program *program, const mwl_start *start,
                               size_t size, mwl_run **out, mwl_error *error) {
    mwl_start own;
    mwl__link *link;
    mwl_status st = read_start(&own, &start, size, error);
    if (st < 0) return st;
    if (!vm || !program || !out)
        return set_error(error, MWL_E_USAGE, "vm, program and out are needed");
    st = open_start(vm, program, start, &link, error);
    return st < 0 ? st : start_one(link, vm, start, &start->input, start->seed, out, error);
}

mwl_status mwl_run_start_many_sized(mwl_vm *vm, mwl_program *program, const mwl_start *start,
                                    size_t size, const mwl_value *inputs, size_t n, mwl_run **runs,
                                    size_t *n_started, mwl_error *error) {
    mwl_start own;
    mwl_status st = read_start(&own, &start, size, error);
    if (n_started) *n_started = 0;
    if (st < 0) return st;
    if (!vm || !program || !n_started || (n && (!inputs || !runs)))
        return set_error(error, MWL_E_USAGE, "vm, program, inputs, runs and n_started are needed");
    if (start->id || !mwl_is_absent(start->input))
        return set_error(error, MWL_E_USAGE, "many runs cannot share an id or an input of `start`");
    mwl__link *link;
    uint64_t seed = start->seed; /* the runs' seeds follow one another */
    st = open_start(vm, program, start, &link, error);
    for (size_t i = 0; st == MWL_OK && i < n; i++) {
        st = start_one(link, vm, start, &inputs[i], seed, &runs[i], error);
        if (st != MWL_OK) break;
        ++*n_started;
        if (seed && ++seed == 0) seed = 1;
    }
    return st;
}

mwl_run_state mwl_run_get_state(const mwl_run *run) {
    mwl__usage(is_there(run), "mwl_run_get_state: the run was freed");
    if (run->state == MWL_RUN_DONE || run->state == MWL_RUN_ABORTED)
        return (mwl_run_state)run->state;
    return run->root && run->root->queued ? MWL_RUN_READY : MWL_RUN_PARKED;
}

/* Most hosts read only a success's value, or nothing, so the Result's object is made on demand. */
mwl_value mwl_run_result(const mwl_run *asked) {
    mwl_run *run = (mwl_run *)(uintptr_t)asked; /* the same Result in another form */
    mwl__usage(is_there(run), "mwl_run_result: the run was freed");
    if (run->state != MWL_RUN_DONE) return mwl_absent();
    if (run->bare) {
        mwl_heap *h = &run->link->vm->heap;
        mwl__result bare = {.v = run->result, .ok = true};
        mwl_value whole = mwl__result_value(h, &bare);
        if (mwl_is_absent(whole)) return whole;
        mwl__replace(h, &run->result, whole);
        run->bare = false;
    }
    return mwl__borrow(run->result);
}

bool mwl_run_succeeded(const mwl_run *run) { return run->state == MWL_RUN_DONE && run->succeeded; }

mwl_value mwl_run_value(const mwl_run *run) {
    if (!mwl_run_succeeded(run)) return mwl_absent();
    return run->bare ? mwl__borrow(run->result) : mwl_object_get(run->result, "value", 5);
}
mwl_status mwl_run_why(const mwl_run *run) { return (mwl_status)run->why; }
const char *mwl_run_id(mwl_run *run) {
    size_t len;
    mwl_value id = mwl__run_id(run);
    return mwl_is_absent(id) ? "" : mwl_as_text(id, &len);
}
mwl_vm *mwl_run_vm(const mwl_run *run) { return run->link->vm; }
void mwl_run_set_user(mwl_run *run, void *user) { run->user = user; }
void *mwl_run_user(const mwl_run *run) { return run->user; }

void mwl__run_place(const mwl_program *p, uint32_t flow, uint32_t step, mwl_place *out) {
    uint32_t flow_k = p->tables.flows[flow].name_k;
    mwl__where w = {0, 0, 0, 0};
    out->flow = flow_k == MWL_NONE ? "" : mwl_as_text(p->consts[flow_k], NULL);
    out->step = "";
    if (step != MWL_NONE) {
        mwl__program_where(p, p->tables.steps[step].pc, 0, &w);
        out->step = mwl_as_text(p->consts[p->tables.steps[step].name_k], NULL);
    }
    out->line = w.line;
    out->column = w.column;
}

bool mwl_run_failed_at(const mwl_run *run, mwl_value failure, mwl_place *out) {
    const mwl_vm *vm = run->link->vm;
    const mwl_program *p = run->link->program;
    for (uint32_t n = 0; n < MWL_FAILURE_SITES && n < vm->n_failure_sites;
         n++) { /* the latest first */
        const mwl__failure_site *b =
            &vm->failure_sites[(vm->n_failure_sites - 1 - n) % MWL_FAILURE_SITES];
        if (b->run != run || b->failure != failure.as.p) continue;
        mwl__run_place(p, b->flow, b->step, out);
        return true;
    }
    return false;
}

mwl__aside *mwl__run_aside(mwl_run *run) {
    if (run->aside) return run->aside;
    mwl__aside *a = mwl__heap_take(&run->link->vm->heap, sizeof *a);
    if (!a) return NULL;
    memset(a, 0, sizeof *a);
    a->timer.owner = MWL_TIMER_RUN;
    a->run = run;
    run->marked = true;
    return run->aside = a;
}

MWL__OUTLINE static void drop_deadline(mwl_run *run) {
    mwl__timer_cancel(&run->link->vm->timers, &run->aside->timer);
    run->aside->deadline = false;
}

MWL__OUTLINE static void drop_aside(mwl_run *run) {
    drop_deadline(run);
    mwl__durable_remove(run);
    mwl__purse_close(run);
    mwl__heap_give(&run->link->vm->heap, run->aside, sizeof *run->aside);
    run->aside = NULL;
}

MWL__OUTLINE static void trace_done(mwl_run *run) {
    mwl__trace_result(run->root, MWL_TRACE_RUN_DONE, -1,
                      (mwl__result){.v = mwl_run_result(run), .ok = run->succeeded});
}

/* The root frame has completed: the execution ends. */
void mwl__run_done(mwl_run *run, mwl_vm *vm, mwl__result *take) {
    mwl__drop(&vm->heap, run->result);
    mwl__move(&run->result, &take->v);
    take->v = mwl_absent();
    run->succeeded = run->bare = take->ok;
    run->state = MWL_RUN_DONE;
    if (mwl__tracing(vm)) trace_done(run);
    mwl__frame *root = run->root;
    run->root = NULL;
    if (run->aside) drop_deadline(run);
    mwl__frame_free(root, vm);
    mwl__run_list_ended(run, vm);
}

/* ---- ending it from outside ------------------------------------------------------------------ */

/* The first cancellation sets it. Of one instant it comes after every bound. */
static bool set_deadline(mwl_run *run) {
    mwl_vm *vm = run->link->vm;
    if (run->limits->cleanup_ns <= 0 || (run->aside && run->aside->deadline)) return true;
    mwl__aside *a = mwl__run_aside(run);
    if (!a) return false;
    a->deadline = true;
    return mwl__timer_arm(&vm->timers, &a->timer,
                          mwl__clock_add(mwl__clock_mono(vm), run->limits->cleanup_ns), 1,
                          UINT32_MAX) == MWL_OK;
}

void mwl__run_overdue(mwl_run *run) {
    run->why = MWL_E_CLEANUP;
    mwl_run_abort(run);
}

static void impose(mwl_run *run, const char *message, mwl_value details) {
    mwl_heap *h = &run->link->vm->heap;
    mwl_value cancel = mwl__failure_new(h, MWL_FAILURE_CANCELLED, message, details);
    if (mwl_is_absent(cancel) || !set_deadline(run)) {
        mwl__drop(h, cancel);
        run->why = MWL_E_NOMEM;
        mwl_run_abort(run);
        return;
    }
    mwl__unwind_frame(run->root, cancel, mwl__clock_mono(run->link->vm));
    mwl__drop(h, cancel);
}

static void stop_turn(mwl_run *run) {
    if (run->link->vm->executing == run) mwl__exec_stop(&run->link->vm->exec);
}

#define MEMORY_USED_UP "the run used up its memory"

/* spec: execution-model, external cancellation. */
static void cancel(mwl_run *run, const char *reason) {
    mwl__usage(is_there(run), "mwl_run_cancel: the run was freed");
    if (!run->root || run->state == MWL_RUN_ABORTED) return;
    mwl_heap *h = &run->link->vm->heap;
    if (run->busy) { /* from inside one of its own callbacks: when the slice ends */
        run->marked = run->cancel_asked = true;
        stop_turn(run);
        if (reason && mwl_is_absent(run->result)) run->result = mwl__message(h, reason);
        return;
    }
    mwl_run *was = mwl__run_open(run, run->link->vm);
    mwl_value details = mwl_absent();
    if (reason) details = mwl_object_set(h, mwl_object(h, 1), "reason", 6, mwl__message(h, reason));
    mwl__run_enter(run);
    impose(run, reason ? reason : "cancelled from outside", details);
    mwl__run_close(run, run->link->vm, was);
    mwl__run_leave(run);
}

mwl_status mwl_run_cancel(mwl_run *run, const char *reason) {
    if (!run) return MWL_OK;
    if (!mwl__vm_is_here(run->link->vm)) return mwl__mail_cancel(run, reason);
    cancel(run, reason);
    return MWL_OK;
}

void mwl__run_limit(mwl_run *run, mwl_status why) {
    if (!run->root || run->state == MWL_RUN_ABORTED) return;
    if (run->limit_hit || why == MWL_E_NOMEM) { /* no reserve is left, or the host has no memory */
        run->why = (int8_t)why;
        mwl_run_abort(run);
        return;
    }
    run->limit_hit = true;
    run->why = (int8_t)why;
    run->budget = MWL_RUN_RESERVE_FUEL;
    run->memory_used =
        run->memory_used < run->limits->memory_bytes ? run->memory_used : run->limits->memory_bytes;
    mwl_heap *h = &run->link->vm->heap;
    const char *limit = why == MWL_E_FUEL ? "fuel" : why == MWL_E_DEPTH ? "depth" : "memory";
    mwl_value d =
        mwl_object_set(h, mwl_object(h, 1), "limit", 5, mwl_string(h, limit, strlen(limit)));
    impose(run,
           why == MWL_E_FUEL    ? "the run used up its fuel"
           : why == MWL_E_DEPTH ? "the run is nested too deeply"
                                : MEMORY_USED_UP,
           d);
}

void mwl__run_limit_later(mwl_run *run, mwl_status why) {
    if (run->busy == 1 || run->limit_hit || why == MWL_E_NOMEM) { /* it ends, or nothing runs */
        mwl__run_limit(run, why);
        return;
    }
    run->marked = run->cancel_asked = true;
    run->why = (int8_t)why;
    stop_turn(run);
}

/* A run that is done: what it would have if the limit had been reached before. */
static void replace_result(mwl_run *run) {
    mwl_heap *h = &run->link->vm->heap;
    mwl_value d = mwl_object_set(h, mwl_object(h, 1), "limit", 5, mwl_string(h, "memory", 6));
    mwl_value cancel = mwl__failure_new(h, MWL_FAILURE_CANCELLED, MEMORY_USED_UP, d);
    if (mwl_is_absent(cancel)) return; /* the host asks again */
    mwl__replace(h, &run->result, cancel);
    run->succeeded = run->bare = false;
    run->why = MWL_E_TOO_BIG;
}

size_t mwl_run_memory_limit(const mwl_run *run) { return run->limits->memory_bytes; }

void mwl_run_exceed(mwl_run *run) {
    if (!run || run->state == MWL_RUN_ABORTED) return;
    mwl_vm *vm = run->link->vm;
    size_t used = vm->heap.used;
    bool busy = run->busy;
    mwl__run_enter(run);
    if (run->state == MWL_RUN_DONE)
        replace_result(run);
    else if (busy)
        mwl__run_limit_later(run, MWL_E_TOO_BIG);
    else
        mwl__run_limit(run, MWL_E_TOO_BIG);
    mwl__run_used(run, vm, used);
    mwl__run_leave(run);
}

/* The cancellation, or the limit, that was asked for while the run was busy. */
static void do_asked(mwl_run *run) {
    mwl_heap *h = &run->link->vm->heap;
    mwl_value reason = run->result;
    run->cancel_asked = false;
    run->result = mwl_absent();
    if (run->why && !run->limit_hit) {
        mwl_run *was = mwl__run_open(run, run->link->vm);
        mwl__run_enter(run);
        mwl__run_limit(run, run->why);
        mwl__run_close(run, run->link->vm, was);
        mwl__run_leave(run);
    } else {
        size_t len;
        cancel(run, mwl_is_absent(reason) ? NULL : mwl_as_text(reason, &len));
    }
    mwl__drop(h, reason);
}

void mwl_run_abort(mwl_run *run) {
    mwl__usage(!run || is_there(run), "mwl_run_abort: the run was freed");
    mwl__usage(!run || pumps_alone(run->link->vm),
               "mwl_run_abort: while another thread pumps the VM");
    if (!run || run->state == MWL_RUN_DONE || run->state == MWL_RUN_ABORTED) return;
    run->state = MWL_RUN_ABORTED;
    run->marked = true;
    if (run->root && run->root->fresh) mwl__ready_skip(run->link->vm, run);
    mwl__run_list_ended(run, run->link->vm);
    stop_turn(run);
    mwl__run_enter(run);
    mwl__run_leave(run);
}

/* Frees all records of an aborted run; its executions are cancelled. */
static void release(mwl_run *run) {
    size_t used = run->link->vm->heap.used;
    mwl__frame *root = run->root;
    run->root = NULL;
    if (run->aside) drop_deadline(run);
    if (root) mwl__frame_free(root, run->link->vm);
    mwl__run_used(run, run->link->vm, used);
    mwl__invariant_over(run);
}

void mwl__run_left(mwl_run *run) {
    if (run->busy == 1 && run->state == MWL_RUN_ABORTED && run->root) release(run);
    if (--run->busy) return;
    if (run->aside) {
        mwl__purse_room(run);
        mwl__durable_changed(run);
    }
    if (run->free_asked) {
        mwl_run_free(run);
    } else if (run->state == MWL_RUN_DONE) {
        mwl__invariant_over(run);
    } else if (run->cancel_asked && run->root) {
        do_asked(run);
    }
}

/* The address of a run that is freed may become another's. */
MWL__OUTLINE static void forget_sites(mwl_vm *vm, const mwl_run *run) {
    for (uint32_t first = 0; first < 4; first++)
        for (uint32_t i = first; (run->noted >> first & 1) && i < MWL_FAILURE_SITES; i += 4)
            if (vm->failure_sites[i].run == run) vm->failure_sites[i].run = NULL;
}

/* A run that is freed ends first. */
MWL__OUTLINE static void end_for_good(mwl_run *run) {
    mwl__run_enter(run); /* a callback that learns of the end cannot free it again */
    if (run->state != MWL_RUN_DONE) mwl_run_abort(run);
    if (run->root) release(run);
}

MWL__OUTLINE static void free_own(mwl_run *run, mwl_vm *vm) {
    mwl__heap_give(&vm->heap, mwl__run_own_of(run, vm), sizeof(mwl__run_own));
}

void mwl_run_free(mwl_run *run) {
    if (!run) return;
    mwl__usage(is_there(run), "mwl_run_free: the run was freed before");
    mwl__link *link = run->link;
    mwl_vm *vm = link->vm;
    mwl_heap *h = &vm->heap;
    mwl__usage(pumps_alone(vm), "mwl_run_free: while another thread pumps the VM");
    if (run->busy) { /* from inside one of its own callbacks: when the slice ends */
        mwl_run_abort(run);
        run->marked = run->free_asked = true;
        return;
    }
    if (run->noted) forget_sites(vm, run);
    if (run->state != MWL_RUN_DONE || run->root) end_for_good(run);
    size_t used = h->used;
    if (vm->deferred) mwl__deferred_clear(vm, run);
    mwl__run_list_remove(run, vm);
    mwl__mail_forget(run, vm);
    if (run->aside) drop_aside(run);
    mwl__drop(h, run->id);
    mwl__drop(h, run->result);
    if (mwl__run_own_of(run, vm)) free_own(run, vm);
    run->state = MWL_RUN_GONE;
    mwl__heap_give_units(h, run, link->run_units);
    const mwl_run *payer = mwl__run_payer(vm);
    if (payer && payer != run) mwl__run_uncharge(vm, used);
    if (--link->n_runs == 0 && link->forget) mwl__link_free_forgotten(vm);
}
