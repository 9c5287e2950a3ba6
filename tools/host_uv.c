/* host_uv.c: see host_uv.h. Only this file and io_host.c see libuv.
 *
 * The VM is pumped for a few milliseconds at a time; between two pumps the loop gives signals their
 * turn, and sleeps when the VM says that it needs nothing before some instant. Under virtual time
 * the budget is one slice and the VM's time is moved by hand, so that a busy run can be interrupted
 * too. */
#include "host_uv.h"

#include "cmd.h"
#include "io_host.h"

#include <errno.h>
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
    uv_timer_t timer;
    uv_async_t wake;
    mwl_run *run;
    int n_answered;
};

/* ---- signals --------------------------------------------------------------------------------- */

enum {
    TOGETHER_MS = 100, /* signals so near are one request */
    PATIENCE_MS = 700  /* for the loop's answer */
};

static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_WATCHED = sizeof watched / sizeof *watched };

/* What the handlers share with the loop. */
static struct {
    uv_async_t *wake;
    timer_t watchdog;
    volatile sig_atomic_t n_requests, n_answered;
    volatile sig_atomic_t first, last; /* numbers of signals */
    struct timespec at;                /* of the last request; the handlers' own */
    struct sigaction before[N_WATCHED], alarm_before;
} signals;

/* Ends the process as if there were no handler, so that whoever waits for it sees the signal. */
static void die_by(int number) {
    struct sigaction plain;
    sigset_t set;
    memset(&plain, 0, sizeof plain);
    plain.sa_handler = SIG_DFL;
    sigaction(number, &plain, NULL);
    sigemptyset(&set);
    sigaddset(&set, number);
    raise(number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    _exit(128 + number);
}

static int64_t ms_since(const struct timespec *from, const struct timespec *to) {
    return (int64_t)(to->tv_sec - from->tv_sec) * 1000 + (to->tv_nsec - from->tv_nsec) / NS_PER_MS;
}

static void start_watchdog(void) {
    struct itimerspec once = {{0, 0}, {0, (long)PATIENCE_MS * NS_PER_MS}};
    timer_settime(signals.watchdog, 0, &once, NULL);
}

/* A handler: nothing here may be more than async-signal-safe. The watched signals and SIGALRM are
 * blocked meanwhile. */
static void on_signal(int number) {
    int saved = errno;
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    bool together = signals.n_requests && ms_since(&signals.at, &now) < TOGETHER_MS;
    if (signals.n_requests > signals.n_answered && !together) die_by(number);
    signals.last = number;
    if (signals.n_requests || number != SIGINT) start_watchdog();
    if (!together) {
        if (!signals.n_requests) signals.first = number;
        signals.at = now;
        signals.n_requests++;
        uv_async_send(signals.wake);
    }
    errno = saved;
}

static void on_alarm(int number) {
    (void)number;
    if (signals.n_requests > signals.n_answered) die_by(signals.last);
}

static int watch(uv_async_t *wake) {
    struct sigaction action;
    struct sigevent event;
    memset(&signals, 0, sizeof signals);
    memset(&action, 0, sizeof action);
    memset(&event, 0, sizeof event);
    signals.wake = wake;
    event.sigev_notify = SIGEV_SIGNAL;
    event.sigev_signo = SIGALRM;
    if (timer_create(CLOCK_MONOTONIC, &event, &signals.watchdog) != 0) return errno;
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGALRM);
    for (int i = 0; i < N_WATCHED; i++) sigaddset(&action.sa_mask, watched[i]);
    action.sa_handler = on_alarm;
    sigaction(SIGALRM, &action, &signals.alarm_before);
    sigset_t set = action.sa_mask;
    sigprocmask(SIG_UNBLOCK, &set, NULL);
    action.sa_handler = on_signal;
    for (int i = 0; i < N_WATCHED; i++) {
        sigaction(watched[i], NULL, &signals.before[i]);
        if (watched[i] == SIGHUP && signals.before[i].sa_handler == SIG_IGN) continue;
        sigaction(watched[i], &action, NULL);
    }
    return 0;
}

static void unwatch(void) {
    for (int i = 0; i < N_WATCHED; i++) sigaction(watched[i], &signals.before[i], NULL);
    timer_delete(signals.watchdog);
    sigaction(SIGALRM, &signals.alarm_before, NULL);
}

/* Runs between two pumps, so the VM may be called. */
static void on_wake(uv_async_t *handle) {
    struct host *host = handle->data;
    static const char *const words[] = {"interrupted", "asked to end", "hung up"};
    while (host->n_answered < signals.n_requests) {
        if (host->n_answered++ == 0) {
            int which = signals.first == SIGINT ? 0 : signals.first == SIGTERM ? 1 : 2;
            cmd_note("%s: cancelling the run; once more ends it without cleanup", words[which]);
            mwl_run_cancel(host->run, which == 0 ? "interrupted" : "terminated");
        } else {
            mwl_run_abort(host->run);
        }
        signals.n_answered = host->n_answered;
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

static void on_timer(uv_timer_t *handle) { (void)handle; }

static bool is_over(const mwl_run *run) {
    mwl_run_state state = mwl_run_get_state(run);
    return state == MWL_RUN_DONE || state == MWL_RUN_ABORTED;
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

static void drive_real(struct host *host, mwl_vm *vm) {
    while (!is_over(host->run)) {
        int64_t due = mwl_vm_pump(vm, BUDGET_NS);
        if (is_over(host->run)) break;
        if (due == 0)
            uv_run(host->loop, UV_RUN_NOWAIT);
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
        bool busy = io_host_pending() > 0; /* real work is not skipped */
        if (busy) skip = 0;
        uv_run(host->loop, busy || due == MWL_NEVER ? UV_RUN_ONCE : UV_RUN_NOWAIT);
    }
}

static void on_closed(uv_handle_t *handle) { --*(int *)handle->data; }

/* Others may have handles in the loop, which stay. */
static void close_all(struct host *host) {
    int open = 2;
    host->timer.data = host->wake.data = &open;
    uv_close((uv_handle_t *)&host->timer, on_closed);
    uv_close((uv_handle_t *)&host->wake, on_closed);
    while (open) uv_run(host->loop, UV_RUN_NOWAIT);
}

mwl_status host_drive(mwl_vm *vm, mwl_run *run, bool virtual_time, int *signal_number) {
    struct host host = {.run = run};
    *signal_number = 0;
    struct rlimit files;
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < FILES_MIN) {
        cmd_fail("event loop: %d open files must be allowed (ulimit -n), not %d", FILES_MIN,
                 (int)files.rlim_cur);
        return MWL_E_IO;
    }
    host.loop = uv_default_loop(); /* providers that use a loop are there already */
    if (!host.loop) {
        cmd_fail("event loop: out of memory");
        return MWL_E_IO;
    }
    uv_timer_init(host.loop, &host.timer);
    host.wake.data = &host;
    int failed = uv_async_init(host.loop, &host.wake, on_wake);
    if (failed) {
        cmd_fail("event loop: %s", uv_strerror(failed));
        return MWL_E_IO; /* the loop is left as it is: the process ends */
    }
    int why = watch(&host.wake);
    if (why) {
        cmd_fail("signals: %s", strerror(why));
    } else {
        if (virtual_time)
            drive_virtual(&host, vm);
        else
            drive_real(&host, vm);
        unwatch();
        *signal_number = signals.first;
    }
    close_all(&host);
    return why ? MWL_E_IO : MWL_OK;
}
