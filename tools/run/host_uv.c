/* host_uv.c: see host_uv.h. Only this file and io_host.c see libuv.
 *
 * The VM is pumped for a few milliseconds at a time; between two pumps the loop gives signals their
 * turn, and sleeps when the VM says that it needs nothing before some instant. Under virtual time
 * the budget is one slice and the VM's time is moved by hand, so that a busy run can be interrupted
 * too. */
#include "tools/run/host_uv.h"

#include "tools/base/cmd.h"
#include "tools/base/interrupt.h"
#include "tools/run/run_vm.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

enum {
    BUDGET_NS = 5000000,
    NS_PER_MS = 1000000,
    FILES_MIN = 16 /* libuv stops the process when it cannot have those it needs */
};

struct host {
    uv_loop_t *loop;
    uv_timer_t timer, tick;
    uv_async_t wake;
    const struct run_vm *vm;
    mwl_run *run;
    const struct host_pause *pause; /* or NULL */
    bool paused;
    int n_answered;
};

/* ---- signals --------------------------------------------------------------------------------- */

/* In a signal handler: uv_async_send is async-signal-safe. */
static void wake_loop(void *ctx) { uv_async_send(ctx); }

/* Runs between two pumps, so the VM may be called. */
static void on_wake(uv_async_t *handle) {
    struct host *host = handle->data;
    while (host->n_answered < interrupt_requests()) {
        if (host->n_answered++ == 0) {
            cmd_note("%s: cancelling the run; a second signal ends it without cleanup",
                     interrupt_words());
            mwl_run_cancel(host->run, interrupt_first() == SIGINT ? "interrupted" : "terminated");
        } else {
            mwl_run_abort(host->run);
        }
        interrupt_answered(host->n_answered);
    }
}

/* ---- the loop -------------------------------------------------------------------------------- */

static void read_clock(void *ctx, mwl_instant *out) {
    struct timespec wall;
    (void)ctx;
    clock_gettime(CLOCK_REALTIME, &wall);
    out->mono_ns = (int64_t)uv_hrtime();
    out->wall_ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
}

mwl_clock host_clock(void) {
    mwl_clock clock = {read_clock, NULL};
    return clock;
}

/* uv_run runs timers that are due before it waits for events, and would then wait without one: the
 * thread may have been late. */
static void on_timer(uv_timer_t *handle) { uv_stop(handle->loop); }

static void on_tick(uv_timer_t *handle) {
    const struct host_tick *tick = handle->data;
    if (tick) tick->fn(tick->ctx);
}

static bool is_over(struct host *host) {
    mwl_run_state state = mwl_run_get_state(host->run);
    if (state == MWL_RUN_DONE || state == MWL_RUN_ABORTED) return true;
    if (!host->paused && host->pause) host->paused = host->pause->fn(host->pause->ctx, host->run);
    return host->paused;
}

/* Sleep until the instant, a signal, or for ever. */
static void wait_until(struct host *host, int64_t due_ns) {
    if (due_ns != MWL_NEVER) {
        int64_t left = due_ns - (int64_t)uv_hrtime();
        uint64_t ms = left <= 0 ? 0 : (uint64_t)(left - 1) / NS_PER_MS + 1;
        uv_update_time(host->loop);
        uv_timer_start(&host->timer, on_timer, ms, 0);
    }
    uv_run(host->loop, UV_RUN_ONCE);
    uv_timer_stop(&host->timer);
}

static void drive_real(struct host *host) {
    mwl_vm *vm = host->vm->vm;
    while (!is_over(host)) {
        int64_t due = mwl_vm_pump(vm, BUDGET_NS);
        if (is_over(host)) break;
        if (due == 0)
            uv_run(host->loop, UV_RUN_NOWAIT);
        else
            wait_until(host, due);
    }
}

/* Under virtual time a budget is virtual too: 0 is one slice, and more lets time skip so far. */
static void drive_virtual(struct host *host) {
    mwl_vm *vm = host->vm->vm;
    int64_t skip = 0;
    while (!is_over(host)) {
        int64_t due = mwl_vm_pump(vm, skip);
        mwl_instant now;
        mwl_vm_now(vm, &now);
        skip = due > now.mono_ns && due != MWL_NEVER ? due - now.mono_ns : 0;
        if (is_over(host)) break;
        bool busy = run_vm_pending(host->vm) > 0; /* real work is not skipped */
        if (busy) skip = 0;
        uv_run(host->loop, busy || due == MWL_NEVER ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    }
}

static void on_closed(uv_handle_t *handle) { --*(int *)handle->data; }

/* Others may have handles in the loop, which stay. */
static void close_all(struct host *host) {
    int open = 3;
    host->timer.data = host->tick.data = host->wake.data = &open;
    uv_close((uv_handle_t *)&host->timer, on_closed);
    uv_close((uv_handle_t *)&host->tick, on_closed);
    uv_close((uv_handle_t *)&host->wake, on_closed);
    while (open) uv_run(host->loop, UV_RUN_NOWAIT);
}

uv_loop_t *host_loop(void) {
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < FILES_MIN) {
        cmd_fail("event loop: %d open files must be allowed (ulimit -n), not %d", FILES_MIN,
                 (int)files.rlim_cur);
        return NULL;
    }
    uv_loop_t *loop = uv_default_loop();
    if (!loop) cmd_fail("event loop: out of memory");
    return loop;
}

mwl_status host_drive(const struct run_vm *vm, mwl_run *run, bool virtual_time,
                      const struct host_tick *tick, const struct host_pause *pause,
                      int *signal_number) {
    struct host host = {.vm = vm, .run = run, .pause = pause};
    *signal_number = 0;
    host.loop = host_loop(); /* providers that use a loop are there already */
    if (!host.loop) return MWL_E_IO;
    uv_timer_init(host.loop, &host.timer);
    uv_timer_init(host.loop, &host.tick);
    if (tick || pause) {
        host.tick.data = (void *)(uintptr_t)tick;
        uv_timer_start(&host.tick, on_tick, HOST_TICK_MS, HOST_TICK_MS);
    }
    host.wake.data = &host;
    int failed = uv_async_init(host.loop, &host.wake, on_wake);
    if (failed) {
        cmd_fail("event loop: %s", uv_strerror(failed));
        return MWL_E_IO; /* the loop is left as it is: the process ends */
    }
    int why = interrupt_watch(wake_loop, &host.wake);
    if (why) {
        cmd_fail("signals: %s", strerror(why));
    } else {
        if (virtual_time)
            drive_virtual(&host);
        else
            drive_real(&host);
        interrupt_unwatch();
        *signal_number = interrupt_first();
    }
    close_all(&host);
    return why ? MWL_E_IO : MWL_OK;
}
