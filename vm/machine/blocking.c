/* blocking.c: call providers on stacks of their own, which wait in the middle of a C function.
 *
 * Owns: the switch between the machine and such a function, and what the function waits for.
 * Refuses to know: how stacks are made (coro.c) and what a Result does (execution.c). Invariants: a
 * stack is never freed while its function runs. After a cancellation every wait returns at once, so
 * the function returns. The Result is delivered after that, from the machine's own stack. */
#include "vm/machine/blocking.h"

#include "vm/base/usage.h"
#include "vm/machine/account.h"
#include "vm/machine/clock.h"
#include "vm/machine/execution.h"
#include "vm/machine/run.h"
#include "vm/machine/run_list.h"
#include "vm/machine/timer.h"
#include "vm/native/coro.h"
#include "vm/native/foreign.h"

#include <stdio.h>

/* Stacks kept for the next calls: a burst's worth, a few touched pages each. */
#define IDLE_STACKS 32u

typedef enum mwl__wait { MWL_WAIT_NONE, MWL_WAIT_TIME, MWL_WAIT_ANSWER, MWL_WAIT_RUN } mwl__wait;

/* Lies at the bottom of the function's own stack. */
typedef struct mwl__native {
    mwl__coro *co;
    mwl__wait wait;  /* NONE: it is running */
    mwl_value inbox; /* answers not awaited yet: of each whether it is a success, and its value; or
                        absent */
    size_t taken;    /* of the inbox */
} mwl__native;

static void body(mwl__coro *co, void *user) {
    mwl_call *c = user;
    mwl__native n = {co, MWL_WAIT_NONE, mwl_absent(), 0};
    c->native = &n;
    c->provider->call.blocking(c, c->provider->user);
    mwl__drop(&c->vm->heap, n.inbox);
}

/* It used more than its stack and did not crash this time. Whatever it settled with, the execution
 * fails: the next one may go deeper. */
static mwl_value overflow(mwl_call *c, size_t bytes) {
    char text[320];
    snprintf(
        text, sizeof text,
        "the provider %.200s overflowed its native stack of %zu bytes (mwl_config.stack_bytes)",
        c->provider->uri, bytes);
    return mwl_failure(&c->vm->heap, NULL, "Mwlvm.StackOverflow", text, mwl_absent(), mwl_absent());
}

static void finish(mwl_call *c, mwl__coro *co) {
    bool overran = mwl__coro_overran(co) && !c->cancelled;
    size_t bytes = mwl__coro_stack_bytes(co);
    mwl__coro_free(co);
    c->native = NULL;
    if (c->settled && overran) {
        c->res.ok = false;
        mwl__replace(&c->vm->heap, &c->res.v, overflow(c, bytes));
    }
    if (c->settled) {
        if (!c->starting) mwl__execution_deliver(c);
        return;
    }
    mwl_value none = mwl_absent();
    if (overran)
        none = overflow(c, bytes);
    else if (!c->cancelled)
        none = mwl_failure(&c->vm->heap, NULL, "Mwlvm.NotSettled",
                           "the provider returned without a Result", mwl_absent(), mwl_absent());
    mwl__execution_fail(c, none);
}

static void go_on(mwl_call *c, mwl__coro *co) {
    mwl_vm *vm = c->vm;
    mwl_run *run = c->frame ? c->frame->run : NULL; /* the function may free it */
    if (run) mwl__run_enter(run);
    mwl__stack_watch_thread();
    mwl__coro_state state = mwl__coro_resume(co);
    mwl__clock_stale(vm);
    if (state == MWL__CORO_DONE) finish(c, co);
    if (run) mwl__run_leave(run);
}

mwl_status mwl__blocking_start(mwl_call *c) {
    mwl_vm *vm = c->vm;
    mwl__coro *co = NULL;
    mwl_status st = MWL_OK;
#ifndef NDEBUG
    (void)mwl_stack_watch(); /* without it an overflow is a crash without a message */
#endif
    if (!vm->stacks)
        st =
            mwl__coro_pool_new(&vm->config.alloc, vm->config.stack_bytes, IDLE_STACKS, &vm->stacks);
    if (st == MWL_OK) st = mwl__coro_new(vm->stacks, body, c, &co);
    if (st < 0) return st;
    mwl__coro_name(co, c->provider->uri);
    go_on(c, co);
    return MWL_OK;
}

void mwl__blocking_timer(mwl_call *c) {
    if (c->native->wait == MWL_WAIT_TIME) go_on(c, c->native->co);
}

void mwl__blocking_go_on(mwl_call *c) { go_on(c, c->native->co); }

void mwl__blocking_stop(mwl_call *c) {
    if (c->native->wait != MWL_WAIT_NONE) go_on(c, c->native->co);
}

void mwl__blocking_answer(mwl_call *c, bool ok, mwl_value take) {
    mwl_heap *h = &c->vm->heap;
    mwl__native *n = c->native;
    mwl_value inbox = mwl_is_absent(n->inbox) ? mwl_array(h, 2) : n->inbox;
    n->inbox = mwl_array_push(h, mwl_array_push(h, inbox, mwl_bool(ok)), take);
    if (mwl_is_absent(n->inbox)) {
        n->taken = 0;
        if (c->frame) mwl__run_limit(c->frame->run, MWL_E_NOMEM);
    } else if (n->wait == MWL_WAIT_ANSWER) {
        go_on(c, n->co);
    }
}

mwl_status mwl__blocking_give(mwl_call *c, bool ok, mwl_value take) {
    mwl_vm *vm = c->vm;
    mwl_run *run = c->frame ? c->frame->run : NULL;
    if (!run) {
        mwl__blocking_answer(c, ok, take);
        return MWL_OK;
    }
    mwl__run_enter(run);
    const bool fits = mwl__run_receive(run, vm, take);
    mwl_run *was = mwl__run_open(run, vm);
    if (fits) {
        mwl__blocking_answer(c, ok, take);
    } else {
        mwl__drop(&vm->heap, take);
        mwl__run_limit_later(run, MWL_E_TOO_BIG);
    }
    mwl__run_close(run, vm, was);
    mwl__run_leave(run);
    return fits ? MWL_OK : MWL_E_TOO_BIG;
}

const char *mwl__blocking_refused(void (*blocking)(mwl_call *call, void *user)) {
    return mwl__foreign_why((void (*)(void))blocking);
}

/* ---- what the function calls ----------------------------------------------------------------- */

#ifdef __GNUC__
#define MWL__FRAME_ADDRESS __builtin_frame_address(0)
#else
#define MWL__FRAME_ADDRESS ((void *)&(int){0})
#endif

/* MWL_OK: it may wait. */
static mwl_status may_wait(const mwl_call *c) {
    mwl__usage(c->alive, "mwl_sleep, mwl_await: the call has settled and was freed");
    mwl__usage(c->native && c->native->wait == MWL_WAIT_NONE,
               "mwl_sleep, mwl_await: called outside the provider's blocking function");
    if (!c->native || c->native->wait != MWL_WAIT_NONE) return MWL_E_USAGE;
    const bool on_it = mwl__coro_holds(c->native->co, MWL__FRAME_ADDRESS);
    mwl__usage(on_it, "mwl_sleep, mwl_await: on another stack than that of the blocking function");
    if (!on_it) return MWL_E_USAGE;
    if (c->cancelled) return MWL_E_CANCELLED;
    return c->settled ? MWL_E_STATE : MWL_OK;
}

static mwl_status wait_for(mwl_call *c, mwl__wait what) {
    mwl__native *n = c->native;
    n->wait = what;
    mwl__coro_yield(n->co);
    n->wait = MWL_WAIT_NONE;
    return c->cancelled ? MWL_E_CANCELLED : MWL_OK;
}

mwl_status mwl_sleep(mwl_call *c, int64_t ns) {
    mwl_status st = may_wait(c);
    if (st < 0) return st;
    int64_t due = mwl__clock_add(mwl__clock_mono(c->vm), ns > 0 ? ns : 0);
    st = mwl__timer_arm(&c->vm->timers, &c->timer, due, 0, 0);
    return st < 0 ? st : wait_for(c, MWL_WAIT_TIME);
}

mwl_status mwl_await(mwl_call *c, mwl_value *out) {
    if (out) *out = mwl_absent();
    mwl_status st = may_wait(c);
    if (st < 0) return st;
    mwl__native *n = c->native;
    if (mwl_is_absent(n->inbox)) st = wait_for(c, MWL_WAIT_ANSWER);
    if (st < 0) return st;
    bool ok = mwl_as_bool(mwl_array_at(n->inbox, n->taken));
    if (out) *out = mwl__keep(mwl_array_at(n->inbox, n->taken + 1));
    n->taken += 2;
    if (n->taken == mwl_count(n->inbox)) {
        mwl__replace(&c->vm->heap, &n->inbox, mwl_absent());
        n->taken = 0;
    }
    return ok ? MWL_OK : MWL_E_FAILED;
}

mwl_status mwl_await_run(mwl_call *c, mwl_run *run) {
    mwl_status st = may_wait(c);
    if (st < 0) return st;
    bool other = run && run->link->vm == c->vm && !(c->frame && c->frame->run == run);
    mwl__usage(other, "mwl_await_run: the run of the call itself, or of another VM");
    if (!other) return MWL_E_USAGE;
    if (run->state >= MWL_RUN_DONE) return MWL_OK;
    mwl__awaiting w = {c, run, NULL, NULL, MWL_OK};
    if (!mwl__run_list_await(run, &w)) return MWL_E_NOMEM;
    st = wait_for(c, MWL_WAIT_RUN);
    mwl__run_list_forget(&w); /* a cancellation ended the wait */
    return st < 0 ? st : w.st;
}

mwl_status mwl_call_resume(mwl_call *c, mwl_value take_value) {
    mwl__usage(c->alive, "mwl_call_resume: the call has settled and was freed");
    mwl__usage(mwl__vm_is_here(c->vm),
               "mwl_call_resume: on another thread than the VM's; use a token (mwl_call_token)");
    bool absent = mwl_is_absent(take_value);
    if (!c->native || c->cancelled || absent) {
        mwl__drop(&c->vm->heap, take_value);
        return absent ? MWL_E_NOMEM : c->native ? MWL_E_CANCELLED : MWL_E_USAGE;
    }
    return mwl__blocking_give(c, true, take_value);
}
