/* signals.c: what a console sends, as signals. See posix.h.
 *
 * Ctrl-C is SIGINT. Ctrl-Break is SIGQUIT if that has a handler, else SIGTERM. A console that is
 * closed, and the end of the session, are SIGHUP; Windows then waits some seconds for the process.
 * Windows calls the handler of consoles in a thread that it makes for that. */
#include "tools/windows/signals.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <windows.h>

enum { N_SIGNALS = 32 };
typedef void handler(int number);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of the table, and while signals wait */
static handler *handlers[N_SIGNALS];
static bool watching;

void windows_signals_hold(void) { pthread_mutex_lock(&lock); }
void windows_signals_release(void) { pthread_mutex_unlock(&lock); }

noreturn void signals_end_by(int number) {
    TerminateProcess(GetCurrentProcess(), 128u + (unsigned)number);
    abort(); /* not reached */
}

static void deliver(int number) {
    pthread_mutex_lock(&lock);
    handler *to = handlers[number];
    pthread_mutex_unlock(&lock);
    if (to == SIG_IGN) return;
    if (to == SIG_DFL) signals_end_by(number);
    to(number);
}

static BOOL WINAPI on_console(DWORD event) {
    switch (event) {
    case CTRL_C_EVENT: deliver(SIGINT); return TRUE;
    case CTRL_BREAK_EVENT: deliver(handlers[SIGQUIT] == SIG_DFL ? SIGTERM : SIGQUIT); return TRUE;
    default:
        deliver(SIGHUP);
        Sleep(INFINITE); /* the process ends when this returns */
        return TRUE;
    }
}

static handler *set(int number, handler *to) {
    pthread_mutex_lock(&lock);
    handler *before = handlers[number];
    handlers[number] = to;
    if (!watching) watching = SetConsoleCtrlHandler(on_console, TRUE);
    pthread_mutex_unlock(&lock);
    return before;
}

static bool is_signal(int number) {
    if (number > 0 && number < N_SIGNALS) return true;
    errno = EINVAL;
    return false;
}

int sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    if (!is_signal(number)) return -1;
    handler *was = action ? set(number, action->sa_handler) : handlers[number];
    if (before) *before = (struct sigaction){.sa_handler = was};
    return 0;
}

void (*windows_signal(int number, void (*to)(int)))(int) {
    return is_signal(number) ? set(number, to) : SIG_ERR;
}

int windows_raise(int number) {
    if (!is_signal(number)) return -1;
    deliver(number);
    return 0;
}
