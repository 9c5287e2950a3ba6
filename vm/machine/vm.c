/* vm.c: the VM: its catalog, linking programs to it, the ready queue, the pump.
 *
 * Owns: mwl_vm, and the order in which things happen. A turn of the pump: waits that are over wake
 * their frames; every frame that was ready gets one slice; then bounds that have elapsed fire. So a
 * completion of an instant is accepted before a bound of that instant fires. Under virtual time
 * bounds fire, and time moves, only when nothing is ready. */
#include "vm/cel/cel_lib.h"
#include "vm/native/coro.h"
#include "vm/machine/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define VIRTUAL_START_NS 1767225600000000000ll /* 2026-01-01T00:00:00Z */

/* ---- time ------------------------------------------------------------------------------------ */

static void read_system(void *ctx, mwl_instant *out) {
    (void)ctx;
    struct timespec mono, wall;
    clock_gettime(CLOCK_MONOTONIC, &mono);
    clock_gettime(CLOCK_REALTIME, &wall);
    out->mono_ns = (int64_t)mono.tv_sec * 1000000000 + mono.tv_nsec;
    out->wall_ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
}

mwl_clock mwl_clock_system(void) {
    mwl_clock c = {read_system, NULL};
    return c;
}

static void read_now(mwl_vm *vm) {
    if (!vm->config.virtual_time) vm->config.clock.read(vm->config.clock.ctx, &vm->now);
}

int64_t mwl__vm_mono(mwl_vm *vm) {
    read_now(vm);
    return vm->now.mono_ns;
}

int64_t mwl__vm_wall(mwl_vm *vm) {
    read_now(vm);
    return vm->now.wall_ns;
}

void mwl_vm_now(mwl_vm *vm, mwl_instant *out) {
    read_now(vm);
    *out = vm->now;
}

static mwl__clock_pin read_wall(void *ctx) {
    int64_t ns = mwl__vm_wall(ctx), sec = ns / 1000000000;
    if (ns % 1000000000 < 0) sec--;
    mwl__clock_pin pin = {sec, (uint32_t)(ns - sec * 1000000000)};
    return pin;
}

/* ---- life ------------------------------------------------------------------------------------ */

mwl_config mwl_config_default(void) {
    mwl_config c;
    memset(&c, 0, sizeof c);
    c.alloc = mwl_alloc_default();
    c.clock = mwl_clock_system();
    return c;
}

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

mwl_status mwl_vm_new(const mwl_config *config, mwl_vm **out) {
    mwl_config c = config ? *config : mwl_config_default();
    fill_config(&c);
    mwl_vm *vm = mwl__mem_zero(&c.alloc, 1, sizeof *vm);
    if (!vm) return MWL_E_NOMEM;
    vm->config = c;
    vm->alive = MWL_VM_ALIVE;
    vm->now.wall_ns = c.virtual_start_ns ? c.virtual_start_ns : VIRTUAL_START_NS;
    read_now(vm);
    vm->rng = c.seed ? c.seed : 0x9e3779b97f4a7c15u;
    vm->id_seed = vm->rng; /* under virtual time a run repeats to the letter */
    if (!c.virtual_time && !c.seed)
        vm->id_seed ^= (uint64_t)vm->now.wall_ns ^ (uint64_t)(uintptr_t)vm;
    mwl__timers_init(&vm->timers, c.alloc);
    mwl__zones_init(&vm->zones, c.alloc, NULL, NULL);
    mwl__functions_init(&vm->functions, &c.alloc);
    mwl_status st = mwl__heap_init(&vm->heap, &c.alloc);
    if (st == MWL_OK) st = mwl__heap_share_keys(&vm->heap);
    if (st == MWL_OK) st = mwl__exec_init(&vm->exec, &vm->heap);
    if (st == MWL_OK) st = mwl__regex_scratch_new(&c.alloc, &vm->regex);
    size_t n;
    const mwl_function_def *table; /* core CEL and the language's own functions are always there */
    for (size_t i = 0; st == MWL_OK && (table = mwl__cel_table(i, &n)); i++)
        st = mwl__functions_add(&vm->functions, table, n);
    vm->empty = mwl_object(&vm->heap, 0);
    vm->exec.zones = &vm->zones;
    vm->exec.regex = vm->regex;
    vm->exec.vm = vm;
    vm->exec.context = &mwl__context;
    vm->exec.wall = read_wall;
    vm->exec.wall_ctx = vm;
    if (st < 0) {
        mwl_vm_free(vm);
        return st;
    }
    *out = vm;
    return MWL_OK;
}

void mwl__vm_free_provider(mwl_vm *vm, mwl__provider *p) {
    for (int i = 0; i < 4; i++) mwl__schema_free(p->parameters[i]);
    mwl__schema_free(p->metadata);
    if (p->uri) mwl__mem_free(&vm->config.alloc, p->uri, p->uri_len + 1);
    if (p->run_count) mwl__mem_free(&vm->config.alloc, p->run_count, strlen(p->run_count) + 1);
    if (p->deadline) mwl__mem_free(&vm->config.alloc, p->deadline, strlen(p->deadline) + 1);
    mwl__mem_free(&vm->config.alloc, p, sizeof *p);
}

static size_t with_ok_size(const mwl__flow_tables *t) {
    return (size_t)t->n_calls + (size_t)t->n_entries * 4;
}

static void free_link(mwl_vm *vm, mwl__link *l) {
    const mwl_alloc *a = &vm->config.alloc;
    const mwl__flow_tables *t = &l->program->tables;
    for (uint32_t i = 0; l->flow_schemas && i < t->n_flows; i++)
        mwl__schema_free(l->flow_schemas[i]);
    mwl__mem_free(a, l->flow_schemas, t->n_flows * sizeof *l->flow_schemas);
    mwl__mem_free(a, l->providers, t->n_imports * sizeof *l->providers);
    mwl__mem_free(a, l->functions, l->program->n_funcs * sizeof *l->functions);
    mwl__mem_free(a, l->with_ok, with_ok_size(t));
    for (uint32_t i = 0; l->prepared && i < t->n_entries; i++) mwl__drop(&vm->heap, l->prepared[i]);
    mwl__mem_free(a, l->prepared, t->n_entries * sizeof *l->prepared);
    mwl__mem_free(a, l->timed, t->n_flows);
    if (vm->exec.program == l->program) { /* its place may be taken by another */
        vm->exec.program = NULL;
        vm->exec.count_path = NULL;
    }
    mwl__program_release(l->program);
    mwl__mem_free(a, l, sizeof *l);
}

void mwl_vm_free(mwl_vm *vm) {
    if (!vm) return;
    mwl__usage(vm->alive == MWL_VM_ALIVE, "mwl_vm_free: the VM was freed before");
    mwl__usage(!vm->pumping,
               "mwl_vm_free: from inside a callback of the VM, or while another thread pumps it");
    while (vm->runs) mwl_run_free(vm->runs);
    while (vm->executions) mwl__execution_free(vm->executions);
    mwl__mail_close(vm);
    mwl__coro_pool_free(vm->stacks);
    if (vm->spare_execution)
        mwl__heap_give(&vm->heap, vm->spare_execution, sizeof *vm->spare_execution);
    while (vm->links) {
        mwl__link *next = vm->links->next;
        free_link(vm, vm->links);
        vm->links = next;
    }
    while (vm->providers) {
        mwl__provider *next = vm->providers->next;
        mwl__vm_free_provider(vm, vm->providers);
        vm->providers = next;
    }
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

/* splitmix64: enough for jitter and ids, one word of state, the same everywhere. */
uint64_t mwl__random(uint64_t *state) {
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* ---- catalog --------------------------------------------------------------------------------- */

const mwl__provider *mwl__vm_provider(const mwl_vm *vm, const char *uri, size_t len) {
    for (const mwl__provider *p = vm->providers; p; p = p->next)
        if (p->uri_len == len && memcmp(p->uri, uri, len) == 0) return p;
    return NULL;
}

mwl_status mwl__vm_add_provider(mwl_vm *vm, mwl__provider *take) {
    if (mwl__vm_provider(vm, take->uri, take->uri_len)) return MWL_E_DUPLICATE;
    if (vm->started) return MWL_E_STATE;
    take->act[MWL_ON_ENTRY] = take->middleware.entry;
    take->act[MWL_ON_SUCCESS] = take->middleware.success;
    take->act[MWL_ON_FAILURE] = take->middleware.failure;
    take->act[MWL_ON_ALWAYS] = take->middleware.always;
    take->run_count_len =
        take->middleware.run_count ? (uint32_t)strlen(take->middleware.run_count) : 0;
    take->next = vm->providers;
    vm->providers = take;
    return MWL_OK;
}

mwl_status mwl_vm_functions(mwl_vm *vm, const mwl_function_def *functions, size_t n) {
    if (vm->started) return MWL_E_STATE;
    return mwl__functions_add(&vm->functions, functions, n);
}

/* ---- linking --------------------------------------------------------------------------------- */

static mwl_status refuse(mwl_error *error, mwl_status st, const char *message) {
    if (error) {
        error->status = st;
        error->message = message;
        error->offset = 0;
    }
    return st;
}

static mwl_status link_providers(mwl_vm *vm, mwl__link *l, mwl_error *error) {
    const mwl__flow_tables *t = &l->program->tables;
    l->providers = mwl__mem_zero(&vm->config.alloc, t->n_imports, sizeof *l->providers);
    if (t->n_imports && !l->providers) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < t->n_imports; i++) {
        size_t len;
        const char *uri = mwl_as_text(l->program->consts[t->imports[i].uri_k], &len);
        const mwl__provider *p = mwl__vm_provider(vm, uri, len);
        bool want = t->imports[i].kind == MWL_IMPORT_MIDDLEWARE;
        if (!p ||
            p->is_middleware != want) { /* the name lies in the program, which outlives the error */
            return refuse(error, MWL_E_NOT_FOUND, uri);
        }
        l->providers[i] = p;
    }
    return MWL_OK;
}

static mwl_status link_schemas(mwl_vm *vm, mwl__link *l, mwl_error *error) {
    const mwl_program *p = l->program;
    const mwl__flow_tables *t = &p->tables;
    l->flow_schemas = mwl__mem_zero(&vm->config.alloc, t->n_flows, sizeof *l->flow_schemas);
    if (t->n_flows && !l->flow_schemas) return MWL_E_NOMEM;
    size_t patterns = 0; /* each schema's are bounded; a program has as many as it has Flows */
    for (uint32_t i = 0; i < t->n_flows; i++) {
        if (t->flows[i].schema == MWL_NONE) continue;
        mwl_status st =
            mwl__schema_load(&vm->config.alloc, t->schemas, t->n_schema_words, t->flows[i].schema,
                             p->consts, p->n_consts, &l->flow_schemas[i], error);
        if (st < 0) return st;
        patterns += mwl__schema_patterns_used(l->flow_schemas[i]);
        if (patterns > MWL_PATTERNS_LIMIT)
            return refuse(error, MWL_E_TOO_BIG,
                          "the patterns of the Flows' parameters need too much memory");
    }
    return MWL_OK;
}

static bool accepts(mwl_vm *vm, const mwl__schema *schema, mwl_value args) {
    if (!schema) return mwl_count(args) == 0 && mwl_value_kind(args) == MWL_KIND_OBJECT;
    mwl__schema_env env = {&vm->heap, vm->regex, NULL};
    bool valid = false;
    return mwl__schema_check(schema, args, &env, &valid, NULL) == MWL_OK && valid;
}

/* Has the call no code of its own between its first instruction and its last? */
static bool is_direct(const mwl_program *p, uint32_t ix) {
    const mwl__call_rec *c = &p->tables.calls[ix];
    if (c->flags || c->end_pc >= p->n_code || c->end_pc < 2 || c->fields_pc != c->end_pc - 2)
        return false;
    static const uint8_t ops[] = {MWL_OP_CALL, MWL_OP_DISPATCH, MWL_OP_CALL_END};
    for (uint32_t i = 0; i < 3; i++) {
        const mwl__ins *ins = &p->code[c->fields_pc + i];
        if (ins->op != ops[i] || mwl__ins_x(*ins) != ix) return false;
    }
    return true;
}

/* Constant arguments are checked here, once; those that fail are checked again where they fail. No
 * written arguments are {} . */
static mwl_status link_constants(mwl_vm *vm, mwl__link *l) {
    const mwl_program *p = l->program;
    const mwl__flow_tables *t = &p->tables;
    l->with_ok = mwl__mem_zero(&vm->config.alloc, with_ok_size(t), 1);
    if (with_ok_size(t) && !l->with_ok) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < t->n_calls; i++) {
        const mwl__call_rec *c = &t->calls[i];
        if (c->import == MWL_NONE || c->with_k == MWL_NONE) continue;
        if (!accepts(vm, l->providers[c->import]->parameters[0], p->consts[c->with_k])) continue;
        l->with_ok[i] = is_direct(p, i) ? MWL_CALL_DIRECT : MWL_WITH_VALID;
    }
    for (uint32_t i = 0; i < t->n_entries; i++)
        for (uint32_t phase = 0; phase < 4; phase++) {
            uint32_t k = t->entries[i].with_k[phase];
            if (k != MWL_NONE)
                l->with_ok[t->n_calls + i * 4 + phase] = accepts(
                    vm, l->providers[t->entries[i].import]->parameters[phase], p->consts[k]);
        }
    return MWL_OK;
}

/* After the constants: what is valid may be prepared. A value that cannot be made is none. */
static mwl_status link_prepared(mwl_vm *vm, mwl__link *l) {
    const mwl__flow_tables *t = &l->program->tables;
    l->prepared = mwl__mem_zero(&vm->config.alloc, t->n_entries, sizeof *l->prepared);
    if (t->n_entries && !l->prepared) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < t->n_entries; i++) {
        const mwl__provider *p = l->providers[t->entries[i].import];
        uint32_t k = t->entries[i].with_k[MWL_ON_ENTRY];
        if (k == MWL_NONE || !p->middleware.prepare ||
            !l->with_ok[t->n_calls + i * 4 + MWL_ON_ENTRY])
            continue;
        l->prepared[i] = mwl__own(p->middleware.prepare(&vm->heap, l->program->consts[k], p->user));
    }
    return MWL_OK;
}

/* Frames keep instants when their Flow's or one of its Steps' can be read. */
static mwl_status link_times(mwl_vm *vm, mwl__link *l) {
    const mwl__flow_tables *t = &l->program->tables;
    const unsigned any = MWL_NEEDS_ENTERED | MWL_NEEDS_EXITED;
    l->timed = mwl__mem_zero(&vm->config.alloc, t->n_flows, 1);
    if (t->n_flows && !l->timed) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < t->n_flows; i++) l->timed[i] = (t->flows[i].flags & any) != 0;
    for (uint32_t i = 0; i < t->n_steps; i++)
        if (t->steps[i].flags & any) l->timed[t->steps[i].flow] = 1;
    return MWL_OK;
}

static mwl_status link_all(mwl_vm *vm, mwl__link *l, mwl_error *error) {
    const char *missing = NULL;
    mwl_status st =
        mwl__functions_link(&vm->functions, &vm->config.alloc, l->program, &l->functions, &missing);
    if (st == MWL_E_NOT_FOUND) return refuse(error, st, missing);
    if (st == MWL_OK) st = link_providers(vm, l, error);
    if (st == MWL_OK) st = link_schemas(vm, l, error);
    if (st == MWL_OK) st = link_constants(vm, l);
    if (st == MWL_OK) st = link_prepared(vm, l);
    if (st == MWL_OK) st = link_times(vm, l);
    /* the interpreter holds on to the registers it has: from a callback, the first turn makes room
     */
    if (st == MWL_OK && !vm->executing) st = mwl__exec_reserve(&vm->exec, l->program->n_regs);
    return st;
}

void mwl__vm_unlink(mwl_vm *vm) {
    for (mwl__link **at = &vm->links; *at;) {
        mwl__link *l = *at;
        if (!l->forget || l->n_runs) {
            at = &l->next;
            continue;
        }
        *at = l->next;
        free_link(vm, l);
    }
}

mwl_status mwl_vm_forget(mwl_vm *vm, const mwl_program *program) {
    for (mwl__link *l = vm->links; l; l = l->next) {
        if (l->program != program) continue;
        l->forget = true;
        mwl__vm_unlink(vm);
        return MWL_OK;
    }
    return MWL_E_NOT_FOUND;
}

mwl_status mwl__vm_link(mwl_vm *vm, mwl_program *program, mwl__link **out, mwl_error *error) {
    for (mwl__link *l = vm->links; l; l = l->next)
        if (l->program == program) {
            l->forget = false;
            *out = l;
            return MWL_OK;
        }
    mwl__link *l = mwl__mem_zero(&vm->config.alloc, 1, sizeof *l);
    if (!l) return refuse(error, MWL_E_NOMEM, mwl_status_text(MWL_E_NOMEM));
    l->vm = vm;
    l->program = mwl__program_keep(program);
    if (error) error->status = MWL_OK;
    mwl_status st = link_all(vm, l, error);
    if (st < 0) {
        if (error && error->status == MWL_OK) refuse(error, st, mwl_status_text(st));
        free_link(vm, l);
        return st;
    }
    l->next = vm->links;
    vm->links = l;
    *out = l;
    return MWL_OK;
}

/* ---- the pump -------------------------------------------------------------------------------- */

static void fire(mwl_vm *vm, mwl__timer *t) {
    size_t used = vm->heap.used;
    if (t->owner == MWL_TIMER_EXECUTION) {
        mwl_call *c = (mwl_call *)(void *)((char *)t - offsetof(mwl_call, timer));
        mwl_run *run = c->frame->run; /* one that nobody awaits has no timer */
        mwl__run_enter(run);
        if (mwl__tracing(vm))
            mwl__trace(c->frame, MWL_TRACE_TIMER, c->provider->uri, -1, -1, mwl_absent());
        mwl__execution_timer(c);
        mwl__run_used(run, used);
        mwl__run_leave(run);
    } else if (t->owner == MWL_TIMER_RUN) {
        mwl__run_overdue(
            ((mwl__deadline *)(void *)((char *)t - offsetof(mwl__deadline, timer)))->run);
    } else {
        mwl__frame *f = (mwl__frame *)(void *)((char *)t - offsetof(mwl__frame, timer));
        mwl_run *run = f->run;
        mwl__run_enter(run);
        mwl__frame_timer(f);
        mwl__run_used(run, used);
        mwl__run_leave(run);
    }
}

/* Fire what is due by `now`: waits only, or bounds too. True when something fired. */
static bool fire_due(mwl_vm *vm, int64_t now, bool bounds) {
    if (!mwl__timers_count(&vm->timers)) return false;
    bool any = false;
    int64_t due;
    for (mwl__timer *t;
         (t = mwl__timers_first(&vm->timers, &due)) && due <= now && (bounds || !t->class_);) {
        fire(vm, t);
        any = true;
        if (bounds && vm->ready_head) break; /* let it take effect before the next one */
    }
    return any;
}

static void run_one(mwl_vm *vm) {
    mwl__frame *f = vm->ready_head;
    vm->ready_head = f->next_ready;
    if (vm->ready_head)
        vm->ready_head->target.queued_behind = NULL;
    else
        vm->ready_tail = NULL;
    vm->n_ready--;
    f->queued = false;
    mwl_run *run = f->run;
    mwl__run_enter(run);
    mwl__frame_run(f);
    mwl__run_leave(run);
}

/* One slice for everything that is ready when the round begins. False when the budget ran out; the
 * next pump then goes on with the same round, so that bounds come to their turn however small the
 * budgets are. */
static bool run_round(mwl_vm *vm, int64_t stop_ns) {
    if (!vm->round_left) {
        vm->round_left = vm->n_ready;
        vm->round_ns = vm->now.mono_ns;
    }
    while (vm->round_left && vm->ready_head) {
        vm->round_left--;
        run_one(vm);
        if (stop_ns != MWL_NEVER && mwl__vm_mono(vm) >= stop_ns) return false;
    }
    vm->round_left = 0;
    return true;
}

static int64_t pump(mwl_vm *vm, int64_t budget_ns) {
    int64_t stop = MWL_NEVER;
    for (bool first = true;; first = false) {
        if (vm->mail) mwl__mail_adopt(vm);
        read_now(vm);
        int64_t now = vm->now.mono_ns;
        if (first && budget_ns != MWL_NO_BUDGET) stop = mwl__add_ns(now, budget_ns);
        fire_due(vm, now, false);
        if (vm->ready_head) {
            if (!run_round(vm, stop)) {
                if (!vm->round_left && !vm->config.virtual_time)
                    fire_due(vm, vm->round_ns - (vm->ready_head != NULL), true);
                return vm->ready_head ? 0 : now;
            }
            if (vm->config.virtual_time && vm->ready_head) continue;
        }
        /* what is ready at a bound's very instant comes before it; a busy run does not keep it off
         */
        if (fire_due(vm, vm->ready_head ? now - 1 : now, true) || vm->ready_head) continue;
        int64_t due;
        if (!mwl__timers_count(&vm->timers)) return MWL_NEVER;
        (void)mwl__timers_first(&vm->timers, &due);
        if (!vm->config.virtual_time) {
            if (due > mwl__vm_mono(vm)) return due;
            continue;
        }
        int64_t to = due < stop ? due : stop;
        if (to >
            now) { /* time moves only when there is nothing to do, and no further than the budget */
            vm->now.wall_ns = mwl__add_ns(vm->now.wall_ns, to - now);
            vm->now.mono_ns = to;
        }
        if (due > stop) return due;
    }
}

int64_t mwl_vm_pump(mwl_vm *vm, int64_t budget_ns) {
    mwl__usage(vm->alive == MWL_VM_ALIVE, "mwl_vm_pump: the VM was freed");
    mwl__usage(!vm->pumping,
               "mwl_vm_pump: from inside a callback of the VM, or while another thread pumps it");
    if (vm->pumping) return 0;
    vm->pumping = true;
    vm->thread = pthread_self();
    int64_t due = pump(vm, budget_ns);
    vm->pumping = false;
    return due;
}

/* ---- trace ----------------------------------------------------------------------------------- */

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

void mwl__trace(mwl__frame *f, mwl_trace_kind kind, const char *provider, int phase, int64_t index,
                mwl_value value) {
    static const char *const phases[] = {"onEntry", "onSuccess", "onFailure", "onAlways"};
    mwl_vm *vm = mwl__vm_of(f);
    const mwl_program *p = mwl__program_of(f);
    const mwl__flow_tables *t = &p->tables;
    mwl_trace_event e;
    memset(&e, 0, sizeof e);
    e.kind = kind;
    e.run = f->run;
    mwl_vm_now(vm, &e.at);
    e.depth = f->depth;
    e.flow = name_at(p, t->flows[f->flow].name_k);
    e.step = f->step == MWL_NONE ? "" : name_at(p, t->steps[f->step].name_k);
    e.provider = provider ? provider : "";
    e.phase = phase < 0 ? "" : phases[phase];
    e.index = index;
    e.value = mwl__borrow(value);
    vm->listen(vm->listen_ctx, &e);
}
