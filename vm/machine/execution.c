/* execution.c: provider executions: held, started, woken, settled once, cancelled.
 *
 * Owns: mwl_call. Refuses to know: what is done with a Result (call.c, gather.c).
 *
 *   start ---settles at once---> Result taken by the dispatch, the call is freed
 *     \--later--> awaited --settles--> delivered to the frame or slot, freed
 *     \--held (durable.c)--> starts when the host releases it
 *                    \--posted by a token (token.c)--> settles in the next pump
 *                    \--cancelled--> its `cancel` is called; resolves as the cancellation when it
 * settles (without a `cancel` callback: at once, and whatever it settles with later is dropped) */
#include "vm/base/random.h"
#include "vm/machine/execution.h"

#include "vm/base/usage.h"
#include "vm/cel/ops.h"
#include "vm/machine/account.h"
#include "vm/machine/blocking.h"
#include "vm/machine/call.h"
#include "vm/machine/clock.h"
#include "vm/machine/durable.h"
#include "vm/machine/frame.h"
#include "vm/machine/gather.h"
#include "vm/machine/host_value.h"
#include "vm/machine/run.h"
#include "vm/machine/timer.h"
#include "vm/machine/token.h"
#include "vm/machine/unwind.h"
#include "vm/value/words.h"

#include <stdarg.h>
#include <stdio.h>

/* Nothing awaits it from here on. */
static void unawait(mwl_call *c) {
    if (c->frame && c->listed) c->frame->run->live--;
    c->frame = NULL;
    c->slot = NULL;
}

/* Drops what few providers give it. */
MWL__OUTLINE static void clear_given(mwl_heap *h, mwl_call *c) {
    mwl__replace(h, &c->metadata, mwl_absent());
    mwl__replace(h, &c->state, mwl_null());
    c->spent = false;
}

/* One is kept for the next start, so that executions which settle at once allocate nothing; the
 * start gives it another input and other arguments. `res` was taken before. */
MWL__INLINE void discard(mwl_vm *vm, mwl_call *c) {
    mwl__drop(&vm->heap, c->input);
    mwl__drop(&vm->heap, c->args);
    if (!mwl_is_absent(c->metadata) || mwl_value_kind(c->state) != MWL_KIND_NULL)
        clear_given(&vm->heap, c);
    if (vm->spare_execution) {
        c->alive = false;
        mwl__heap_give(&vm->heap, c, sizeof *c);
        return;
    }
    c->settled = c->starting = c->cancelled = c->listed = c->alive = false;
    c->number = c->held = 0;
    c->res.v = mwl_absent();
    c->user = NULL;
    vm->spare_execution = c;
}

MWL__OUTLINE static mwl_call *new_call(mwl_vm *vm) {
    mwl_call *c = mwl__heap_take(&vm->heap, sizeof *c);
    if (!c) return NULL;
    mwl__record_blank(c, sizeof *c);
    c->vm = vm;
    c->state = mwl_null();
    c->timer.owner = MWL_TIMER_EXECUTION;
    return c;
}

static void unlist(mwl_vm *vm, mwl_call *c) {
    *c->at = c->next;
    if (c->next)
        c->next->at = c->at;
    else if (vm->released_end == &c->next)
        vm->released_end = c->at;
}

static void list_at(mwl_call *c, mwl_call **at) {
    c->at = at;
    c->next = *at;
    if (c->next) c->next->at = &c->next;
    *at = c;
}

/* Frees one whose Result was taken. */
MWL__INLINE void free_taken(mwl_vm *vm, mwl_call *c) {
    unawait(c);
    mwl__timer_cancel(&vm->timers, &c->timer);
    if (c->tokens) mwl__tokens_free(c);
    if (c->listed) unlist(vm, c);
    discard(vm, c);
}

void mwl__execution_free(mwl_call *c) {
    mwl_vm *vm = c->vm;
    mwl__drop(&vm->heap, c->res.v);
    free_taken(vm, c);
}

/* It has settled in its start, and nothing else is to come. */
MWL__OUTLINE static void end_waits(mwl_call *c) {
    mwl__timer_cancel(&c->vm->timers, &c->timer);
    if (c->tokens) mwl__tokens_free(c);
}

static inline void take(mwl_call *c, mwl__result *res) {
    mwl__result_move(res, &c->res);
    if (c->timer.at || c->tokens) end_waits(c);
    discard(c->vm, c);
}

mwl__result mwl__execution_take(mwl_call *c) {
    mwl__result res;
    take(c, &res);
    return res;
}

/* Gives the call the next number of its run, if it has none. Done late: a call that settles at once
 * mostly needs none. */
static inline void give_number(mwl_call *c, mwl_run *run) {
    if (c->number) return;
    c->number = ++run->next_call;
    c->attempt = 1;
}

static uint64_t number(mwl_call *c) {
    if (c->frame) give_number(c, c->frame->run);
    return c->number;
}

static inline void list_awaited(mwl_call *c, mwl_call **list) {
    mwl_run *run = c->frame->run;
    give_number(c, run);
    run->live++;
    c->listed = true;
    list_at(c, list);
}

void mwl__execution_list(mwl_call *c) {
    list_awaited(c, c->held ? &c->vm->held : &c->vm->executions);
}

/* The system gives no more memory for stacks. When other calls have returned, there may be some
 * again. */
static mwl_value no_stack(mwl_call *c) {
    mwl_heap *h = &c->vm->heap;
    char text[320];
    snprintf(text, sizeof text, "there is no stack for the provider %.200s", c->provider->uri);
    mwl_value v = mwl_failure(h, NULL, "Mwlvm.NoStack", text, mwl_absent(), mwl_absent());
    return mwl_object_set(h, v, "retryable", 9, mwl_bool(true));
}

bool mwl__execution_is_outside(const mwl_call *c) {
    return !c->held && (c->native || !(c->provider->call.flags & MWL_CALL_LOCAL));
}

/* Released ones start in the order of their release. */
void mwl__execution_release(mwl_call *c) {
    mwl_vm *vm = c->vm;
    unlist(vm, c);
    c->held = MWL_HELD_RELEASED;
    list_at(c, vm->released ? vm->released_end : &vm->released);
    vm->released_end = &c->next;
}

void mwl__execution_unhold(mwl_call *c) {
    if (!c->held) return;
    unlist(c->vm, c);
    c->held = 0;
    list_at(c, &c->vm->executions);
}

void mwl__execution_begin(mwl_call *c, bool again) {
    const mwl__provider *p = c->provider;
    mwl__execution_unhold(c);
    c->starting = true;
    if (again && p->call.restore)
        p->call.restore(c, p->user);
    else if (!p->call.blocking)
        p->call.start(c, p->user);
    else if (mwl__blocking_start(c) < 0)
        mwl__execution_fail(c, no_stack(c));
    mwl__clock_stale(c->vm);
    c->starting = false;
}

mwl_call *mwl__execution_load(mwl__frame *f, mwl__slot *slot, const mwl__provider *p,
                              uint64_t held) {
    mwl_vm *vm = mwl__vm_of(f);
    mwl_call *c = new_call(vm);
    if (!c) return NULL;
    c->frame = f;
    c->slot = slot;
    c->provider = p;
    c->held = held;
    c->number = 1; /* it has one: the caller sets it */
    c->alive = true;
    mwl__execution_list(c);
    return c;
}

static mwl_call *hold(mwl_call *c) {
    c->held = mwl__durable_version(c->frame->run) + 1;
    c->starting = false;
    mwl__execution_list(c);
    return c;
}

static mwl_call *start_blocking(mwl_call *c) {
    if (mwl__blocking_start(c) < 0) mwl__execution_fail(c, no_stack(c));
    c->starting = false;
    if (!c->settled) mwl__execution_list(c);
    return c;
}

MWL__OUTLINE static mwl_call *start_indirectly(mwl_call *c) {
    return c->provider->held ? hold(c) : start_blocking(c);
}

/* Makes the one that is kept for the next start. Returns false if out of memory. */
static bool make_spare(mwl_vm *vm) {
    if (!vm->spare_execution) vm->spare_execution = new_call(vm);
    return vm->spare_execution != NULL;
}

/* Starts the one that is kept. Inlined in both callers: an execution that settles at once is the
 * common case. */
MWL__INLINE mwl_call *start(mwl__frame *f, mwl_vm *vm, mwl__slot *slot, const mwl__provider *p,
                            const mwl_value *take_input, const mwl_value *take_args) {
    mwl_call *c = vm->spare_execution;
    vm->spare_execution = NULL;
    c->frame = f;
    c->slot = slot;
    c->provider = p;
    mwl__move(&c->input, take_input);
    mwl__move(&c->args, take_args);
    c->starting = c->alive = true;
    if (p->indirect) return start_indirectly(c);
    p->call.start(c, p->user);
    if (!c->provider->trusted) mwl__clock_stale(c->vm);
    c->starting = false;
    if (!c->settled) list_awaited(c, &vm->executions);
    return c;
}

mwl_call *mwl__execution_start(mwl__frame *f, mwl_vm *vm, mwl__slot *slot, const mwl__provider *p,
                               mwl_value take_input, mwl_value take_args) {
    if (make_spare(vm)) return start(f, vm, slot, p, &take_input, &take_args);
    mwl__drop(&vm->heap, take_input);
    mwl__drop(&vm->heap, take_args);
    return NULL;
}

/* ---- delivery -------------------------------------------------------------------------------- */

/* spec: call-providers: a provider exposes nothing beyond its declared metadata schema. */
MWL__OUTLINE static void check_metadata(mwl_call *c) {
    mwl_heap *h = &c->vm->heap;
    bool valid = false;
    mwl_value data = mwl_absent();
    mwl__schema_env env = {h, c->vm->regex, NULL};
    bool kept = c->provider->metadata &&
                mwl__host_value_data(h, "", c->metadata, &data, NULL, 0) == MWL_OK &&
                mwl__schema_check(c->provider->metadata, data, &env, &valid, NULL) == MWL_OK &&
                valid;
    if (!kept) {
        mwl__drop(h, data);
        data = mwl_absent();
    }
    mwl__replace(h, &c->metadata, data);
}

MWL__OUTLINE static void give_metadata(mwl_call *c, mwl__call_state *record) {
    mwl__replace(&c->vm->heap, &record->metadata, c->metadata);
    c->metadata = mwl_absent();
}

MWL__OUTLINE static void deliver_slot(mwl_call *c, mwl__slot_state state) {
    mwl__frame *f = c->frame;
    mwl__slot *slot = c->slot;
    if (slot->record) give_metadata(c, slot->record);
    mwl__result res = c->res;
    c->res.v = mwl_absent();
    mwl__execution_free(c);
    mwl__gather_resolved(f, slot, state, res);
}

MWL__INLINE void deliver_call(mwl_call *c) {
    mwl_vm *vm = c->vm;
    mwl__frame *f = c->frame;
    f->awaits = MWL_AWAITS_NOTHING;
    if (f->record) give_metadata(c, f->record);
    mwl_value v;
    mwl__move(&v, &c->res.v);
    const bool in_time = mwl__call_accept(f, vm, c->res.ok, v);
    free_taken(vm, c);
    mwl__frame_fetch(f);
    mwl__call_go_on(f, vm, in_time);
}

/* A cancelled execution has ended, whatever it settled with: it resolves as the cancellation
 * imposed. */
MWL__OUTLINE static void resolve_cancelled(mwl_call *c) {
    mwl__frame *f = c->frame;
    if (c->slot) {
        deliver_slot(c, MWL_SLOT_CANCELLED);
        return;
    }
    f->awaits = MWL_AWAITS_NOTHING;
    mwl__execution_free(c);
    mwl__unwind_resolved(f);
}

/* Fetches what its frame needs to go on; of a root frame that includes the run. */
static inline void fetch(const mwl_call *c) {
    mwl__fetch(c, sizeof *c);
    if (c->frame)
        mwl__fetch((const void *)((uintptr_t)c->frame - sizeof(mwl_run)),
                   sizeof(mwl_run) + sizeof *c->frame);
}

/* There was no memory for its Result. The cancellation by the limit resolves it. A cleanup would
 * not be interrupted, and cannot end without it. */
MWL__OUTLINE static void refused(mwl_call *c, mwl_run *run) {
    const mwl_status why = mwl__run_limit_of(&c->vm->heap);
    if (!mwl__unwind_cleans(c->frame)) {
        mwl__run_limit_later(run, why);
        return;
    }
    run->why = (int8_t)why;
    mwl_run_abort(run);
}

MWL__INLINE void deliver_result(mwl_call *c) {
    fetch(c);
    if (!c->frame) {
        mwl__execution_free(c);
        return;
    }
    mwl_run *run = c->frame->run;
    mwl_vm *vm = c->vm;
    mwl__run_enter(run);
    if (!c->cancelled && !mwl__run_receive(run, vm, c->res.v))
        mwl__replace(&vm->heap, &c->res.v, mwl_absent());
    mwl_run *was = mwl__run_open(run, vm);
    if (c->cancelled)
        resolve_cancelled(c);
    else if (mwl_is_absent(c->res.v))
        refused(c, run);
    else if (c->slot)
        deliver_slot(c, MWL_SLOT_SETTLED);
    else
        deliver_call(c);
    mwl__run_close(run, vm, was);
    mwl__run_leave(run);
}

void mwl__execution_deliver(mwl_call *c) { deliver_result(c); }

/* It has used up the run's fuel: whatever it settled with, the run ends by its limit. */
static void spend(mwl_call *c) {
    mwl_heap *h = &c->vm->heap;
    c->spent = false;
    mwl__replace(h, &c->metadata, mwl_absent());
    if (c->cancelled) return;
    mwl__replace(h, &c->res.v, mwl_absent());
    h->why = MWL_E_FUEL;
}

/* It has settled, and there is more to do than to store the Result. */
MWL__OUTLINE static mwl_status conclude(mwl_call *c) {
    if (c->spent)
        spend(c);
    else if (!mwl_is_absent(c->metadata))
        check_metadata(c);
    /* else the code that started it takes the Result, or its function has not returned yet */
    if (c->starting || c->native) return MWL_OK;
    if (c->vm->entered.call == c)
        mwl__account_settle(c, mwl__execution_deliver);
    else
        deliver_result(c);
    return MWL_OK;
}

/* It has its Result. Small, because most executions settle in their start, with plain data. */
MWL__INLINE mwl_status settle(mwl_call *c, bool ok, mwl_value take) {
    mwl__result_set(&c->res, ok, take);
    c->settled = true;
    return c->starting && mwl_is_absent(c->metadata) ? MWL_OK : conclude(c);
}

/* A cancelled one resolves as the cancellation; its own Result is not used. */
static mwl_status settle_unused(mwl_call *c, mwl_value take) {
    mwl__usage(!c->settled, "mwl_call: settled twice");
    mwl__drop(&c->vm->heap, take);
    if (c->settled) return MWL_E_STATE;
    c->settled = true;
    return conclude(c);
}

static inline bool is_unused(const mwl_call *c) { return c->settled || c->cancelled; }

void mwl__execution_fail(mwl_call *c, mwl_value take_failure) {
    (void)(c->cancelled ? settle_unused(c, take_failure) : settle(c, false, take_failure));
}

static inline void check_caller(const mwl_call *c) {
    (void)c;
    mwl__usage(c->alive, "mwl_call: used after it has settled and was freed");
    mwl__usage(mwl__vm_is_here(c->vm),
               "mwl_call: settled on another thread than the VM's; use a token (mwl_call_token)");
}

MWL__OUTLINE static mwl_status settle_checked(mwl_call *c, bool ok, mwl_value take) {
    check_caller(c);
    if (is_unused(c)) return settle_unused(c, take);
    mwl__result res;
    mwl__host_value_result(&c->vm->heap, c->provider, ok, take, &res);
    return settle(c, res.ok, res.v);
}

mwl_status mwl__execution_settle(mwl_call *c, bool ok, mwl_value take) {
    return settle_checked(c, ok, take);
}

/* ---- at once --------------------------------------------------------------------------------- */

void mwl__execution_now(mwl_call *c, void *user) {
    mwl_heap *h = &c->vm->heap;
    mwl__result res;
    (void)user;
    if (mwl__execution_ask(h, c->provider, c->input, c->args, &res))
        (void)settle(c, res.ok, res.v);
    else
        mwl__execution_fail(c, mwl_failure(h, NULL, "Mwlvm.NotSettled",
                                           "the provider has no `start`, and `now` asks for it",
                                           mwl_absent(), mwl_absent()));
}

/* There is no execution to start yet. */
MWL__OUTLINE static mwl_call *run_new(mwl__frame *f, mwl_vm *vm, mwl__slot *slot,
                                      const mwl__call_link *call, const mwl_value *take_input,
                                      mwl__result *res) {
    if (make_spare(vm)) return mwl__execution_run(f, vm, slot, call, take_input, res);
    mwl__drop(&vm->heap, *take_input);
    mwl__drop(&vm->heap, res->v);
    res->v = mwl_absent();
    return NULL;
}

mwl_call *mwl__execution_run(mwl__frame *f, mwl_vm *vm, mwl__slot *slot, const mwl__call_link *call,
                             const mwl_value *take_input, mwl__result *res) {
    if (!vm->spare_execution) return run_new(f, vm, slot, call, take_input, res);
    mwl_call *c = start(f, vm, slot, call->provider, take_input, &call->args);
    if (!c->settled) return c;
    if (res->v.tag & MWL_OWNED) mwl__drop(&c->vm->heap, res->v);
    take(c, res);
    return NULL;
}

/* ---- interruption ---------------------------------------------------------------------------- */

void mwl__execution_abandon(mwl_call *c) {
    unawait(c);
    mwl__timer_cancel(&c->vm->timers, &c->timer);
    bool told = c->cancelled;
    c->cancelled = true;
    if (c->native) {
        mwl__blocking_stop(c);
        return;
    }
    if (c->settled || c->held) { /* with an absent value, which ended the run; or never started */
        mwl__execution_free(c);
        return;
    }
    mwl__tokens_unwanted(c);
    if (c->provider->call.cancel && !told) c->provider->call.cancel(c, c->provider->user);
    /* without a callback it stays until it settles; the VM frees what is left */
}

void mwl__execution_cancel(mwl_call *c, mwl_value cancel) {
    const bool waits = !c->settled || c->native;
    const bool was_refused = !waits && !c->starting && mwl_is_absent(c->res.v);
    if (c->cancelled || (!waits && !was_refused)) return;
    mwl_vm *vm = c->vm;
    mwl__timer_cancel(&vm->timers, &c->timer);
    mwl__replace(&vm->heap, &c->res.v, mwl__keep(cancel));
    c->res.ok = false;
    c->cancelled = true;
    mwl__tokens_unwanted(c);
    if (was_refused) {
        resolve_cancelled(c);
        return;
    }
    if (c->native) {
        mwl__blocking_stop(c);
        return;
    }
    if (c->provider->call.cancel && !c->held) {
        c->provider->call.cancel(c, c->provider->user);
        return;
    }
    mwl__execution_give_up(c);
}

void mwl__execution_give_up(mwl_call *c) {
    mwl_vm *vm = c->vm;
    mwl__frame *f = c->frame;
    mwl__slot *slot = c->slot;
    mwl__result res = c->res;
    c->res.v = mwl_absent();
    unawait(c);
    if (c->held) mwl__execution_free(c); /* else it stays until it settles */
    if (slot) {
        mwl__gather_resolved(f, slot, MWL_SLOT_CANCELLED, res);
        return;
    }
    mwl__drop(&vm->heap, res.v);
    f->awaits = MWL_AWAITS_NOTHING;
    mwl__unwind_resolved(f);
}

void mwl__execution_timer(mwl_call *c) {
    mwl__timer_cancel(&c->vm->timers, &c->timer);
    if (c->native)
        mwl__blocking_timer(c);
    else if (c->provider->call.wake)
        c->provider->call.wake(c, c->provider->user);
}

/* ---- what a provider calls ------------------------------------------------------------------- */

mwl_value mwl_call_input(const mwl_call *c) { return c->input; }
mwl_value mwl_call_arguments(const mwl_call *c) { return c->args; }
mwl_heap *mwl_call_heap(mwl_call *c) { return &c->vm->heap; }
mwl_run *mwl_call_run(mwl_call *c) { return c->frame ? c->frame->run : NULL; }
bool mwl_call_place(const mwl_call *c, mwl_place *out) {
    if (!c->frame) return false;
    mwl__run_place(mwl__program_of(c->frame), c->frame->flow, c->frame->step, out);
    return true;
}
/* Adds a text and a number to an id that is cut to cap bytes. Returns the length of the whole. */
static size_t add_to_id(char *out, size_t cap, size_t at, const char *text, uint64_t n) {
    size_t left = at < cap ? cap - at : 0;
    int len = snprintf(left ? out + at : NULL, left, "%s%llu", text, (unsigned long long)n);
    return at + (len > 0 ? (size_t)len : 0);
}
/* The entry runs its scope again after a failure only (Retry): what it runs is one call. */
static bool only_retries(const mwl__entry *e) {
    return !e->provider->act[MWL_ON_SUCCESS] && !e->provider->carries;
}
/* Two calls of a Step differ in the run of an entry that both are in, or in the phase that makes
 * them; e->runs and the index of the call say which. */
size_t mwl_call_id(const mwl_call *c, char *out, size_t cap) {
    const mwl__frame *f = c->frame;
    if (!f) return 0;
    const mwl__gather *g = mwl__gather_of(f);
    const mwl__entry *phase = NULL; /* whose call it is; the record of a call may not be kept */
    size_t n = (size_t)snprintf(out, cap, "%s", mwl_run_id(f->run));
    n = add_to_id(out, cap, n, "/", f->step_id + 1);
    if (c->slot && g) n = add_to_id(out, cap, n, "/", (uint64_t)(c->slot - g->slots));
    for (const mwl__entry *e = f->entries; e; e = e->outer)
        if (!phase && (e->state & MWL_ENTRY_STRUCTURAL)) phase = e;
    for (const mwl__entry *e = f->entries; e; e = e->outer) {
        if (e->runs < 2 || (only_retries(e) && !phase)) continue;
        n = add_to_id(out, cap, n, "/", e->rank - f->entries_around);
        n = add_to_id(out, cap, n, ":", e->runs);
    }
    if (phase) n = add_to_id(out, cap, n, "/call-", phase->ix);
    if (phase) n = add_to_id(out, cap, n, ".", phase->state & ~(unsigned)MWL_ENTRY_STRUCTURAL);
    return n < cap ? n : cap ? cap - 1 : 0;
}
double mwl_call_random(mwl_call *c) { return c->frame ? mwl__random_unit(&c->frame->run->rng) : 0; }
mwl_vm *mwl_call_vm(const mwl_call *c) { return c->vm; }
bool mwl_call_cancelled(const mwl_call *c) { return c->cancelled; }
uint64_t mwl_call_number(mwl_call *c) { return number(c); }
uint32_t mwl_call_attempt(mwl_call *c) { return number(c) ? c->attempt : 1; }

mwl_value mwl_call_key(mwl_call *c) {
    size_t len = 0;
    mwl_value id = c->frame ? mwl__run_id(c->frame->run) : mwl_absent();
    if (mwl_is_absent(id)) return id;
    const char *text = mwl_as_text(id, &len);
    char end[24];
    int n = snprintf(end, sizeof end, ".%llu", (unsigned long long)number(c));
    mwl__str *s = mwl__str_alloc(&c->vm->heap, len + (size_t)n);
    if (!s) return mwl_absent();
    memcpy(s->s, text, len);
    memcpy(s->s + len, end, (size_t)n);
    return mwl__str_seal(s);
}

mwl_status mwl_call_charge(mwl_call *c, uint64_t n) {
    if (!c->frame || c->cancelled) return MWL_E_CANCELLED;
    mwl_status st = mwl__account_charge(c->frame, n);
    if (st == MWL_E_FUEL && !c->settled) {
        c->spent = true;
        if (mwl_is_absent(c->metadata)) c->metadata = mwl_null(); /* settling looks closer then */
    }
    return st;
}

/* Puts a value of the provider into the call, at the cost of its run. */
static void give(mwl_call *c, mwl_value *to, mwl_value take) {
    mwl_vm *vm = c->vm;
    mwl_run *run = c->frame ? c->frame->run : NULL;
    if (!run || mwl__run_payer(vm) == run) {
        mwl__replace(&vm->heap, to, take);
        return;
    }
    mwl__run_adopt(run, vm, take);
    mwl_run *was = mwl__run_open(run, vm);
    mwl__replace(&vm->heap, to, take);
    mwl__run_close(run, vm, was);
}

void mwl_call_set_user(mwl_call *c, void *user) { c->user = user; }
void *mwl_call_user(const mwl_call *c) { return c->user; }
mwl_value mwl_call_state(const mwl_call *c) { return c->state; }
void mwl_call_set_state(mwl_call *c, mwl_value take) {
    if (mwl_is_absent(take)) return; /* a saved call has a state */
    give(c, &c->state, take);
}

void mwl_call_set_metadata(mwl_call *c, mwl_value take) {
    if (c->settled || c->spent)
        mwl__drop(&c->vm->heap, take); /* it has been checked, or is not used */
    else
        give(c, &c->metadata, take);
}

void mwl_call_wake_after(mwl_call *c, int64_t delay_ns) {
    if (c->cancelled || c->settled || c->native) return;
    int64_t due = mwl__clock_add(mwl__clock_mono(c->vm), delay_ns > 0 ? delay_ns : 0);
    if (mwl__timer_arm(&c->vm->timers, &c->timer, due, 0, 0) < 0)
        mwl__run_limit(c->frame->run, MWL_E_NOMEM);
}

mwl_status mwl_call_succeed(mwl_call *c, mwl_value take_value) {
    if (!mwl__host_value_plain(take_value) || is_unused(c))
        return settle_checked(c, true, take_value);
    check_caller(c);
    return settle(c, true, take_value);
}

mwl_status mwl_call_fail(mwl_call *c, const char *type, const char *code, const char *message,
                         mwl_value take_details) {
    check_caller(c);
    mwl__usage(code, "mwl_call_fail: code is NULL");
    if (!code) {
        mwl__drop(&c->vm->heap, take_details);
        return MWL_E_USAGE;
    }
    if (is_unused(c)) return settle_unused(c, take_details);
    bool refused = false;
    return settle(c, false,
                  mwl__host_value_failure(&c->vm->heap, c->provider, type, code, message,
                                          take_details, &refused));
}

mwl_status mwl_call_failf(mwl_call *c, const char *code, const char *format, ...) {
    char text[512];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    return mwl_call_fail(c, NULL, code, text, mwl_absent());
}

mwl_status mwl_call_settle(mwl_call *c, mwl_value take_result) {
    mwl_value type = mwl__word_get(take_result, MWL_WORD_TYPE);
    bool ok = mwl_value_kind(type) == MWL_KIND_STRING && mwl__word_is(type, MWL_WORD_SUCCESS);
    if (!ok) return mwl__execution_settle(c, false, take_result);
    mwl_value v = mwl__word_get(take_result, MWL_WORD_VALUE);
    v = mwl_is_absent(v) ? mwl_null() : mwl__keep(v);
    mwl__drop(&c->vm->heap, take_result);
    return mwl__execution_settle(c, true, v);
}
