/* host_uv.c: see host_uv.h. The only file that sees libuv.
 *
 * The VM is pumped for a few milliseconds at a time; between two pumps the loop gives signals their
 * turn, and sleeps when the VM says that it needs nothing before some instant. Under virtual time
 * the budget is one slice and the VM's time is moved by hand, so that a busy run can be interrupted
 * too. */
#include "host_uv.h"

#include "cmd.h"

#include <signal.h>
#include <time.h>
#include <uv.h>

enum { BUDGET_NS = 5000000, NS_PER_MS = 1000000 };

struct host {
    uv_loop_t loop;
    uv_timer_t timer;
    uv_signal_t on_int, on_term;
    mwl_run *run;
    int n_signals;
};

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

/* Runs between two pumps, so the VM may be called. */
static void on_signal(uv_signal_t *handle, int number) {
    struct host *host = handle->data;
    if (host->n_signals++ == 0) {
        cmd_note("%s: cancelling the run; once more ends it without cleanup",
                 number == SIGINT ? "interrupted" : "asked to end");
        mwl_run_cancel(host->run, number == SIGINT ? "interrupted" : "terminated");
    } else {
        mwl_run_abort(host->run);
    }
}

static void on_timer(uv_timer_t *handle) { (void)handle; }

static int watch(struct host *host, uv_signal_t *handle, int number) {
    int failed = uv_signal_init(&host->loop, handle);
    if (failed) return failed;
    handle->data = host;
    return uv_signal_start(handle, on_signal, number);
}

static bool is_over(const mwl_run *run) {
    mwl_run_state state = mwl_run_get_state(run);
    return state == MWL_RUN_DONE || state == MWL_RUN_ABORTED;
}

/* Sleep until the instant, a signal, or for ever. */
static void wait_until(struct host *host, int64_t due_ns) {
    if (due_ns != MWL_NEVER) {
        int64_t left = due_ns - (int64_t)uv_hrtime();
        uint64_t ms = left <= 0 ? 0 : (uint64_t)(left - 1) / NS_PER_MS + 1;
        uv_update_time(&host->loop);
        uv_timer_start(&host->timer, on_timer, ms, 0);
    }
    uv_run(&host->loop, UV_RUN_ONCE);
    uv_timer_stop(&host->timer);
}

static void drive_real(struct host *host, mwl_vm *vm) {
    while (!is_over(host->run)) {
        int64_t due = mwl_vm_pump(vm, BUDGET_NS);
        if (is_over(host->run)) break;
        if (due == 0)
            uv_run(&host->loop, UV_RUN_NOWAIT);
        else
            wait_until(host, due);
    }
}

/* Under virtual time a budget is virtual too: 0 is one slice, and more lets time skip so far. */
static void drive_virtual(struct host *host, mwl_vm *vm) {
    int64_t skip = 0;
    while (!is_over(host->run)) {
        int64_t due = mwl_vm_pump(vm, skip);
        mwl_instant now;
        mwl_vm_now(vm, &now);
        skip = due > now.mono_ns && due != MWL_NEVER ? due - now.mono_ns : 0;
        if (is_over(host->run)) break;
        uv_run(&host->loop, due == MWL_NEVER ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    }
}

static void close_all(struct host *host) {
    uv_close((uv_handle_t *)&host->timer, NULL);
    uv_close((uv_handle_t *)&host->on_int, NULL);
    uv_close((uv_handle_t *)&host->on_term, NULL);
    uv_run(&host->loop, UV_RUN_DEFAULT);
    uv_loop_close(&host->loop);
}

mwl_status host_drive(mwl_vm *vm, mwl_run *run, bool virtual_time) {
    struct host host = {.run = run};
    int failed = uv_loop_init(&host.loop);
    if (failed) {
        cmd_fail("event loop: %s", uv_strerror(failed));
        return MWL_E_IO;
    }
    uv_timer_init(&host.loop, &host.timer);
    failed = watch(&host, &host.on_int, SIGINT);
    int failed_term = watch(&host, &host.on_term, SIGTERM);
    if (failed || failed_term) {
        cmd_fail("signals: %s", uv_strerror(failed ? failed : failed_term));
    } else if (virtual_time) {
        drive_virtual(&host, vm);
    } else {
        drive_real(&host, vm);
    }
    close_all(&host);
    return failed || failed_term ? MWL_E_IO : MWL_OK;
}
