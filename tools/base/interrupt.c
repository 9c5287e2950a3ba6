/* interrupt.c: see interrupt.h. */
#include "tools/base/interrupt.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    NS_PER_MS = 1000000,
    TOGETHER_MS = 100, /* signals so near are one request */
    PATIENCE_MS = 700  /* for the loop's answer */
};

static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_WATCHED = sizeof watched / sizeof *watched };

/* What the handlers share with the loop. */
static struct {
    void (*wake)(void *ctx); /* async-signal-safe */
    void *wake_ctx;
    timer_t watchdog;
    volatile sig_atomic_t n_requests, n_answered;
    volatile sig_atomic_t first, last; /* numbers of signals */
    struct timespec at;                /* of the last request; the handlers' own */
    struct sigaction before[N_WATCHED], alarm_before;
} signals;

/* Ends the process as if there were no handler, so that the process which waits for it sees the
 * signal. */
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
        signals.wake(signals.wake_ctx);
    }
    errno = saved;
}

static void on_alarm(int number) {
    (void)number;
    if (signals.n_requests > signals.n_answered) die_by(signals.last);
}

int interrupt_watch(void (*wake)(void *ctx), void *ctx) {
    struct sigaction action;
    struct sigevent event;
    memset(&signals, 0, sizeof signals);
    memset(&action, 0, sizeof action);
    memset(&event, 0, sizeof event);
    signals.wake = wake;
    signals.wake_ctx = ctx;
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

void interrupt_unwatch(void) {
    for (int i = 0; i < N_WATCHED; i++) sigaction(watched[i], &signals.before[i], NULL);
    timer_delete(signals.watchdog);
    sigaction(SIGALRM, &signals.alarm_before, NULL);
}

int interrupt_requests(void) { return signals.n_requests; }
void interrupt_answered(int n) { signals.n_answered = n; }
int interrupt_first(void) { return signals.first; }

const char *interrupt_words(void) {
    return signals.first == SIGINT    ? "interrupted"
           : signals.first == SIGTERM ? "asked to end"
                                      : "hung up";
}
