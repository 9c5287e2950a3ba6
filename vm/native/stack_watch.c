/* stack_watch.c: explains the fault of a provider that overflowed its native stack.
 *
 * Owns: a process-wide handler for the signals of a bad memory access, and alternate signal stacks
 * for the threads that pump. Refuses to know: how stacks are laid out (coro.c). Installed only when
 * the host asks for it, or in builds without NDEBUG, because signal handlers belong to the process.
 *
 * This is global state, because signal handlers are global. It is written once. */
#include "vm/native/coro.h"
#include "mwl_config.h"
#include "mwl_provider.h"

#if MWL_STACKS && !defined(_WIN32)

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MAP_STACK
#define MAP_STACK 0
#endif

/* Our handler needs less than a page; the earlier one, for example that of a sanitizer, may need
 * more. */
#define ALT_STACK_BYTES ((size_t)128 << 10)

enum { N_SIGNALS = 2 };
static const int signals[N_SIGNALS] = {SIGSEGV, SIGBUS}; /* some systems send one, some the other */
static struct sigaction before[N_SIGNALS];
static pthread_key_t
    alt_stack_key; /* per thread: its mapping, or &own when it had a stack already */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static atomic_bool watching;
static char own;

/* ---- in the handler: only what is safe there ------------------------------------------------- */

typedef struct line {
    char text[512];
    size_t n;
} line;

static void put(line *l, const char *text) {
    for (; *text && l->n < sizeof l->text; text++) l->text[l->n++] = *text;
}

static void put_number(line *l, size_t number) {
    char digits[24];
    size_t i = sizeof digits - 1;
    digits[i] = 0;
    do digits[--i] = (char)('0' + number % 10);
    while ((number /= 10) != 0);
    put(l, digits + i);
}

static void explain(const mwl__coro *co) {
    line l;
    l.n = 0;
    put(&l, "mwlvm: the provider ");
    put(&l, mwl__coro_name_of(co));
    put(&l, " overflowed its native stack of ");
    put_number(&l, mwl__coro_stack_bytes(co));
    put(&l, " bytes (mwl_config.stack_bytes)\n");
    ssize_t written = write(STDERR_FILENO, l.text, l.n);
    (void)written;
}

/* Passes the signal to the handler that was installed before. */
static void pass_on(int sig, siginfo_t *info, void *context) {
    const struct sigaction *b = &before[sig == signals[0] ? 0 : 1];
    if (b->sa_flags & SA_SIGINFO) {
        b->sa_sigaction(sig, info, context);
    } else if (b->sa_handler != SIG_DFL && b->sa_handler != SIG_IGN) {
        b->sa_handler(sig);
    } else {
        /* After the return the access is tried again, and the process ends where it happened. A
         * signal that was sent by a process must be sent again. */
        signal(sig, SIG_DFL);
        if (info->si_code <= 0) raise(sig);
    }
}

static void on_fault(int sig, siginfo_t *info, void *context) {
    const mwl__coro *co = mwl__coro_running();
    if (co && info->si_code > 0 && mwl__coro_in_guard(co, info->si_addr)) explain(co);
    pass_on(sig, info, context);
}

/* ---- installation ---------------------------------------------------------------------------- */

static void thread_ends(void *mapping) {
    if (mapping == &own) return;
    stack_t now;
    if (sigaltstack(NULL, &now) == 0 && now.ss_sp == mapping) {
        stack_t off;
        memset(&off, 0, sizeof off);
        off.ss_flags = SS_DISABLE;
        sigaltstack(&off, NULL);
    }
    munmap(mapping, ALT_STACK_BYTES);
}

void mwl__stack_watch_thread(void) {
    if (!atomic_load_explicit(&watching, memory_order_acquire)) return;
    if (pthread_getspecific(alt_stack_key)) return;
    stack_t now, alt;
    if (sigaltstack(NULL, &now) == 0 && !(now.ss_flags & SS_DISABLE)) {
        pthread_setspecific(alt_stack_key, &own);
        return;
    }
    memset(&alt, 0, sizeof alt);
    alt.ss_size = ALT_STACK_BYTES;
    alt.ss_sp = mmap(NULL, ALT_STACK_BYTES, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (alt.ss_sp == MAP_FAILED) return; /* tried again the next time */
    if (pthread_setspecific(alt_stack_key, alt.ss_sp) != 0 || sigaltstack(&alt, NULL) != 0)
        munmap(alt.ss_sp, ALT_STACK_BYTES), pthread_setspecific(alt_stack_key, NULL);
}

static void install(void) {
    if (pthread_key_create(&alt_stack_key, thread_ends) != 0) return;
    struct sigaction a;
    memset(&a, 0, sizeof a);
    a.sa_sigaction = on_fault;
    a.sa_flags = SA_SIGINFO | SA_ONSTACK;
    sigemptyset(&a.sa_mask);
    for (int i = 0; i < N_SIGNALS;
         i++) { /* read first, so that a fault between the two finds it filled in */
        if (sigaction(signals[i], NULL, &before[i]) != 0) return;
        if (sigaction(signals[i], &a, NULL) != 0) return;
    }
    atomic_store_explicit(&watching, true, memory_order_release);
}

mwl_status mwl_stack_watch(void) {
    if (pthread_once(&once, install) != 0) return MWL_E_NOMEM;
    return atomic_load_explicit(&watching, memory_order_acquire) ? MWL_OK : MWL_E_NOMEM;
}

#else

void mwl__stack_watch_thread(void) {}

mwl_status mwl_stack_watch(void) { return MWL_E_UNSUPPORTED; }

#endif
