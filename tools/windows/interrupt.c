/* interrupt.c: Ctrl-C and its kin on Windows; see interrupt.h. In place of tools/base/interrupt.c.
 */
#include "tools/base/interrupt.h"

#include "tools/windows/signals.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <windows.h>

enum {
    TOGETHER_MS = 100, /* signals so near are one request */
    PATIENCE_MS = 700  /* for the loop's answer */
};

static const int watched[] = {SIGINT, SIGTERM, SIGHUP};
enum { N_WATCHED = sizeof watched / sizeof *watched };

/* What the thread of the console and that of the timer share with the loop. */
static struct {
    void (*wake)(void *ctx);
    void *wake_ctx;
    HANDLE watchdog;
    CRITICAL_SECTION lock;
    atomic_int n_requests, n_answered, first, last;
    ULONGLONG at_ms; /* of the last request */
    struct sigaction before[N_WATCHED];
} signals;

static void CALLBACK on_alarm(void *ctx, BOOLEAN timed) {
    (void)ctx;
    (void)timed;
    if (signals.n_requests > signals.n_answered) signals_end_by(signals.last);
}

/* A new one each time; those before it stay and are harmless. */
static void start_watchdog(void) {
    HANDLE timer;
    CreateTimerQueueTimer(&timer, signals.watchdog, on_alarm, NULL, PATIENCE_MS, 0,
                          WT_EXECUTEONLYONCE);
}

static void on_signal(int number) {
    EnterCriticalSection(&signals.lock);
    ULONGLONG now_ms = GetTickCount64();
    bool together = signals.n_requests && now_ms - signals.at_ms < TOGETHER_MS;
    if (signals.n_requests > signals.n_answered && !together) signals_end_by(number);
    signals.last = number;
    if (signals.n_requests || number != SIGINT) start_watchdog();
    if (!together) {
        if (!signals.n_requests) signals.first = number;
        signals.at_ms = now_ms;
        signals.n_requests++;
        signals.wake(signals.wake_ctx);
    }
    LeaveCriticalSection(&signals.lock);
}

int interrupt_watch(void (*wake)(void *ctx), void *ctx) {
    static bool locked;
    if (!locked) InitializeCriticalSection(&signals.lock);
    locked = true;
    signals.wake = wake;
    signals.wake_ctx = ctx;
    signals.n_requests = signals.n_answered = signals.first = signals.last = 0;
    signals.watchdog = CreateTimerQueue();
    if (!signals.watchdog) return ENOMEM;
    const struct sigaction action = {.sa_handler = on_signal};
    for (int i = 0; i < N_WATCHED; i++) sigaction(watched[i], &action, &signals.before[i]);
    return 0;
}

/* A handler that runs now ends before what it wakes may be freed. */
void interrupt_unwatch(void) {
    for (int i = 0; i < N_WATCHED; i++) sigaction(watched[i], &signals.before[i], NULL);
    EnterCriticalSection(&signals.lock);
    LeaveCriticalSection(&signals.lock);
    DeleteTimerQueueEx(signals.watchdog, INVALID_HANDLE_VALUE);
}

int interrupt_requests(void) { return signals.n_requests; }
void interrupt_answered(int n) { signals.n_answered = n; }
int interrupt_first(void) { return signals.first; }

const char *interrupt_words(void) {
    return signals.first == SIGINT    ? "interrupted"
           : signals.first == SIGTERM ? "asked to end"
                                      : "hung up";
}
