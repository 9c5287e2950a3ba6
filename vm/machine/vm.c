/* vm.c: the VM: its life, and the pump.
 *
 * Owns: mwl_vm, and the order in which things happen. A turn of the pump: waits that are over wake
 * their frames; every frame that was ready gets one slice; then bounds that have elapsed fire. So a
 * completion of an instant is accepted before a bound of that instant fires. Under virtual time
 * bounds fire, and time moves, only when nothing is ready. */
#include "vm/base/hash.h"
#include "vm/base/host_struct.h"
#include "vm/base/process.h"

#include "vm/base/usage.h"
#include "vm/cel/cel_lib.h"
#include "vm/cel/ops.h"
#include "vm/machine/account.h"
#include "vm/machine/clock.h"
#include "vm/machine/context.h"
#include "vm/machine/deferred.h"
#include "vm/machine/durable.h"
#include "vm/machine/execution.h"
#include "vm/machine/frame.h"
#include "vm/machine/link.h"
#include "vm/machine/providers.h"
#include "vm/machine/ready.h"
#include "vm/machine/run.h"
#include "vm/machine/run_list.h"
#include "vm/machine/timer.h"
#include "vm/machine/token.h"
#include "vm/machine/trace.h"
#include "vm/native/coro.h"

#define DEFAULT_SEED 0x9e3779b97f4a7c15u
#define VIRTUAL_START_NS 1767225600000000000ll /* 2026-01-01T00:00:00Z */

/* ---- life ------------------------------------------------------------------------------------ */

static void fill_config(mwl_config *c) {
    if (!c->alloc.fn) c->alloc = mwl_alloc_default();
    if (!c->clock.read) c->clock = mwl_clock_system();
    if (!c->post_alloc.fn) c->post_alloc = mwl_alloc_default();
    if (!c->slice) c->slice = MWL_SLICE;
    mwl_limits *l = &c->limits;
    if (!l->fuel) l->fuel = MWL_RUN_FUEL;
    if (!l->memory_bytes) l->memory_bytes = MWL_RUN_MEMORY;
    if (!l->frame_depth) l->frame_depth = MWL_FRAME_DEPTH;
    if (!l->entry_depth) l->entry_depth = MWL_ENTRY_DEPTH;
    if (!l->fan_out) l->fan_out = MWL_FAN_OUT;
    if (!l->chain_depth) l->chain_depth = MWL_CHAIN_LIMIT;
    if (!l->cleanup_ns) l->cleanup_ns = MWL_CLEANUP_NS;
}

uint64_t mwl__vm_id_seed(mwl_vm *vm) {
    static _Atomic uint64_t n_seeds;
    if (vm->config.virtual_time) return vm->config.seed ? vm->config.seed : DEFAULT_SEED;
    const uint64_t process = mwl__process();
    if (vm->id_process != process) {
        vm->id_process = process;
        vm->id_seed =
            mwl__hash_word(process, (uint64_t)vm->now.wall_ns, atomic_fetch_add(&n_seeds, 1));
    }
    return vm->id_seed;
}

static void put_zone(void *to, const void *bytes, size_t n) { mwl__buf_put(to, bytes, n); }

static mwl_status read_zone(void *ctx, const char *name, mwl__buf *out) {
    const mwl_config *c = &((const mwl_vm *)ctx)->config;
    return c->zone(c->zone_ctx, name, put_zone, out);
}

static const mwl__member config_members[] = {
    MWL__MEMBER(mwl_config, alloc),        MWL__MEMBER(mwl_config, clock),
    MWL__MEMBER(mwl_config, virtual_time), MWL__MEMBER(mwl_config, virtual_start_ns),
    MWL__MEMBER(mwl_config, seed),         MWL__MEMBER(mwl_config, hash_secret),
    MWL__MEMBER(mwl_config, limits),       MWL__MEMBER(mwl_config, slice),
    MWL__MEMBER(mwl_config, stack_bytes),  MWL__MEMBER(mwl_config, wake),
    MWL__MEMBER(mwl_config, wake_ctx),     MWL__MEMBER(mwl_config, post_alloc),
    MWL__MEMBER(mwl_config, hold),         MWL__MEMBER(mwl_config, zone),
    MWL__MEMBER(mwl_config, zone_ctx),
};
static const mwl__host_struct config_struct = MWL__HOST_STRUCT(mwl_config, config_members);

mwl_status mwl_vm_new_sized(const mwl_config *config, size_t size, mwl_vm **out) {
    mwl_config c;
    mwl_status st = mwl__host_struct_read(&c, &config_struct, config, size);
    if (st == MWL_OK && mwl__run_limits_unknown(&c.limits)) st = MWL_E_VERSION;
    if (st < 0 || !out) return st < 0 ? st : MWL_E_USAGE;
    fill_config(&c);
    mwl_vm *vm = mwl__mem_zero(&c.alloc, 1, sizeof *vm);
    if (!vm) return MWL_E_NOMEM;
    vm->config = c;
    vm->alive = MWL_VM_ALIVE;
    mwl__vm_here(vm);
    mwl__run_list_open(vm);
    vm->now.wall_ns = c.virtual_start_ns ? c.virtual_start_ns : VIRTUAL_START_NS;
    mwl__clock_read(vm);
    vm->rng = c.seed ? c.seed : DEFAULT_SEED;
    (void)mwl__vm_id_seed(vm);
    mwl__timers_init(&vm->timers, c.alloc, sizeof(mwl_run) + offsetof(mwl__frame, timer));
    mwl__zones_init(&vm->zones, c.alloc, c.zone ? read_zone : NULL, vm);
    mwl__functions_init(&vm->functions, &c.alloc);
    st = mwl__heap_init(&vm->heap, &c.alloc);
    if (st == MWL_OK) st = mwl__mail_open(vm);
    if (c.hash_secret) vm->heap.secret = c.hash_secret;
    if (st == MWL_OK) st = mwl__heap_share(&vm->heap);
    if (st == MWL_OK) st = mwl__exec_init(&vm->exec, &vm->heap);
    mwl_alloc account = mwl__heap_account(&vm->heap);
    if (st == MWL_OK) st = mwl__regex_scratch_new(&account, &vm->regex);
    size_t n;
    const mwl_function_def *table; /* core CEL and the language's own functions are always there */
    for (size_t i = 0; st == MWL_OK && (table = mwl__cel_table(i, &n)); i++)
        st = mwl__functions_add(&vm->functions, table, n);
    vm->empty = mwl_object(&vm->heap, 0);
    vm->exec.zones = &vm->zones;
    vm->exec.regex = vm->regex;
    vm->exec.vm = vm;
    vm->exec.context = &mwl__context;
    vm->exec.wall = mwl__clock_pin_wall;
    vm->exec.wall_ctx = vm;
    if (st < 0) {
        mwl_vm_free(vm);
        return st;
    }
    *out = vm;
    return MWL_OK;
}

/* Is the VM at work below this call, or on another thread? It stays so for ever if a callback was
 * left by longjmp(). */
static bool is_busy(const mwl_vm *vm) {
    if (vm->pumping || vm->calling) return true;
    for (const mwl_run *run = NULL; (run = mwl_vm_runs(vm, run));)
        if (run->busy) return true;
    return false;
}

void mwl_vm_free(mwl_vm *vm) {
    if (!vm) return;
    mwl__usage(vm->alive == MWL_VM_ALIVE, "mwl_vm_free: the VM was freed before");
    if (!vm->pumping && !vm->calling) mwl__account_leave(vm);
    const bool busy = is_busy(vm);
    mwl__usage(!busy,
               "mwl_vm_free: from inside a callback of the VM, or while another thread pumps it");
    if (busy) return; /* its caller would continue with memory that is freed */
    vm->calling = true;
    mwl__run_list_close(vm);
    while (vm->executions) mwl__execution_free(vm->executions);
    while (vm->held) mwl__execution_free(vm->held);
    while (vm->released) mwl__execution_free(vm->released);
    mwl__mail_close(vm);
    mwl__coro_pool_free(vm->stacks);
    if (vm->spare_execution)
        mwl__heap_give(&vm->heap, vm->spare_execution, sizeof *vm->spare_execution);
    while (vm->links) {
        mwl__link *next = vm->links->next;
        mwl__link_free(vm, vm->links);
        vm->links = next;
    }
    mwl__providers_free(vm);
    if (vm->diagnostics)
        mwl__mem_free(&vm->config.alloc, vm->diagnostics, strlen(vm->diagnostics) + 1);
    mwl__drop(&vm->heap, vm->empty);
    mwl__drop(&vm->heap, vm->raised);
    mwl__exec_done(&vm->exec); /* with the regex scratch */
    mwl__functions_done(&vm->functions);
    mwl__zones_free(&vm->zones);
    mwl__timers_done(&vm->timers);
    mwl__heap_done(&vm->heap);
    mwl__usage(vm->heap.used == 0, "mwl_vm_free: values of its heap are still held");
    vm->alive = 0;
    mwl_alloc alloc = vm->config.alloc;
    mwl__mem_free(&alloc, vm, sizeof *vm);
}

mwl_heap *mwl_vm_heap(mwl_vm *vm) { return &vm->heap; }

mwl_status mwl_vm_functions(mwl_vm *vm, const mwl_function_def *functions, size_t n) {
    return mwl__functions_add(&vm->functions, functions, n);
}

/* ---- the pump -------------------------------------------------------------------------------- */

MWL__OUTLINE static void fire(mwl_vm *vm, mwl__timer *t) {
    vm->fuel_left--;
    if (t->owner == MWL_TIMER_EXECUTION) {
        mwl_call *c = (mwl_call *)(void *)((char *)t - offsetof(mwl_call, timer));
        mwl_run *run =
            c->frame->run; /* there is one: an execution that is not awaited has no timer */
        mwl__run_enter(run);
        mwl_run *was = mwl__run_open(run, vm);
        if (mwl__tracing(vm))
            mwl__trace(c->frame, MWL_TRACE_TIMER, c->provider->uri, -1, mwl_absent());
        mwl__execution_timer(c);
        mwl__clock_stale(vm);
        mwl__run_close(run, vm, was);
        mwl__run_leave(run);
    } else if (t->owner == MWL_TIMER_RUN) {
        mwl__run_overdue(((mwl__aside *)(void *)((char *)t - offsetof(mwl__aside, timer)))->run);
    } else {
        mwl__frame *f = mwl__frame_of_timer(t);
        mwl_run *run = f->run;
        mwl__run_enter(run);
        mwl_run *was = mwl__run_open(run, vm);
        mwl__deferred_open(vm);
        mwl__frame_timer(f);
        mwl__run_close(run, vm, was);
        mwl__deferred_close(vm, run);
        mwl__run_leave(run);
    }
    if (mwl__run_list_must_tell(vm)) mwl__run_list_tell(vm);
}

/* Fire what is due by `now`: waits only, or bounds too. True when something fired. A timer costs a
 * unit of fuel; what is due when that is used up fires in the next pump. */
MWL__OUTLINE static bool fire_some(mwl_vm *vm, int64_t now, bool bounds) {
    bool any = false;
    int64_t due;
    for (mwl__timer *t; vm->fuel_left > 0 && (t = mwl__timers_first(&vm->timers, &due)) &&
                        due <= now && (bounds || !t->class_);) {
        const mwl__timer *next = mwl__timers_second(&vm->timers);
        if (next && next->owner == MWL_TIMER_FRAME) mwl__frame_fetch(mwl__frame_of_timer(next));
        fire(vm, t);
        any = true;
        if (bounds && mwl__ready_any(vm)) break; /* it takes effect before the next one */
    }
    return any;
}
static inline bool fire_due(mwl_vm *vm, int64_t now, bool bounds) {
    return mwl__timers_count(&vm->timers) && fire_some(vm, now, bounds);
}

/* The budget ends with a round. Bounds that came due before it would not get a turn if every pump
 * ended so. At least one fires, even if the round has used up the fuel. */
MWL__OUTLINE static void fire_late_bounds(mwl_vm *vm) {
    if (vm->fuel_left <= 0) vm->fuel_left = 1;
    fire_due(vm, vm->round_ns - mwl__ready_any(vm), true);
}

static void run_one(mwl_vm *vm, mwl__frame *f) {
    mwl_run *run = f->run;
    mwl__run_enter(run);
    vm->fuel_left -= mwl__frame_run(f, vm);
    mwl__run_leave(run);
    mwl__ready_taken(vm, run);
    if (mwl__run_list_must_tell(vm)) mwl__run_list_tell(vm);
}

/* Is the budget used up? A turn that has read the clock is not followed by another reading. */
static bool is_spent(mwl_vm *vm, int64_t stop_ns, uint32_t reads_before) {
    if (vm->fuel_left <= 0) return true;
    if (stop_ns == MWL_NEVER) {
        mwl__clock_stale(vm);
        return false;
    }
    if (vm->n_reads == reads_before) mwl__clock_stale(vm);
    return mwl__clock_mono(vm) >= stop_ns;
}

/* One slice for everything that is ready when the round begins. False: the budget is used up. The
 * next pump continues the same round, so that bounds get their turn however small the budgets are.
 */
static bool run_round(mwl_vm *vm, int64_t stop_ns) {
    if (!mwl__ready_in_round(vm)) {
        mwl__ready_open_round(vm);
        vm->round_ns = vm->now.mono_ns;
    }
    for (mwl__frame *f; (f = mwl__ready_take(vm));) {
        uint32_t reads = vm->n_reads;
        run_one(vm, f);
        if (is_spent(vm, stop_ns, reads)) return false;
    }
    return true;
}

/* Adopts what other threads have sent, what the host has released and ends that happened between
 * two pumps, and frees a step of what is dead. */
MWL__INLINE void adopt_all(mwl_vm *vm) {
    if (mwl__mail_filled(vm)) mwl__mail_adopt(vm);
    if (vm->released) mwl__durable_start(vm);
    if (mwl__run_list_must_tell(vm)) mwl__run_list_tell(vm);
    if (vm->deferred) (void)mwl__deferred_step(vm);
}

/* The time, if the pump itself needs it. Else the clock is read when something else asks for it. */
static inline int64_t pump_time(mwl_vm *vm, int64_t budget_ns) {
    bool timed = mwl__timers_count(&vm->timers) || budget_ns != MWL_NO_BUDGET;
    return timed ? mwl__clock_mono(vm) : vm->now.mono_ns;
}

static int64_t pump(mwl_vm *vm, int64_t budget_ns) {
    adopt_all(vm);
    mwl__clock_stale(vm);
    int64_t now = pump_time(vm, budget_ns);
    const int64_t stop = budget_ns != MWL_NO_BUDGET ? mwl__clock_add(now, budget_ns) : MWL_NEVER;
    for (;; adopt_all(vm), now = pump_time(vm, budget_ns)) {
        fire_due(vm, now, false);
        if (!run_round(vm, stop)) {
            if (!mwl__ready_in_round(vm) && !vm->config.virtual_time) fire_late_bounds(vm);
            return mwl__ready_any(vm) ? 0 : now;
        }
        const bool ready = mwl__ready_any(vm);
        if (vm->config.virtual_time && ready) continue;
        if (vm->fuel_left <= 0) return 0;
        /* what is ready at a bound's very instant comes first; a busy run does not delay the bound
         */
        if (fire_due(vm, ready ? now - 1 : now, true) || ready) continue;
        if (vm->deferred) {
            if (stop != MWL_NEVER && mwl__clock_mono(vm) >= stop) return 0;
            mwl__clock_stale(vm);
            continue;
        }
        int64_t due;
        if (!mwl__timers_count(&vm->timers)) return MWL_NEVER;
        (void)mwl__timers_first(&vm->timers, &due);
        if (due >= MWL__CLOCK_LAST) return MWL_NEVER;
        if (!vm->config.virtual_time) {
            if (due > mwl__clock_mono(vm)) return due;
            continue;
        }
        int64_t to = due < stop ? due : stop;
        if (to >
            now) { /* time moves only when there is nothing to do, and no further than the budget */
            vm->now.wall_ns = mwl__clock_add(vm->now.wall_ns, to - now);
            vm->now.mono_ns = to;
        }
        if (due > stop) return due;
    }
}

int64_t mwl_vm_pump_within(mwl_vm *vm, int64_t budget_ns, int64_t budget_fuel) {
    mwl__usage(vm->alive == MWL_VM_ALIVE, "mwl_vm_pump: the VM was freed");
    mwl__usage(!vm->pumping,
               "mwl_vm_pump: from inside a callback of the VM, or while another thread pumps it");
    if (vm->pumping) return 0;
    mwl__usage(!vm->entered.call, "mwl_vm_pump: a call is still entered (mwl_call_leave)");
    if (vm->entered.call) mwl__account_leave(vm);
    vm->pumping = true;
    mwl__vm_here(vm);
    vm->fuel_left = budget_fuel > 0 ? budget_fuel : 1;
    int64_t due = pump(vm, budget_ns);
    vm->pumping = false;
    return due;
}

int64_t mwl_vm_pump(mwl_vm *vm, int64_t budget_ns) {
    return mwl_vm_pump_within(vm, budget_ns, MWL_NO_BUDGET);
}
