/* coro.h: a stack of its own for native code that wants to wait in the middle of a function.
 *
 * The seam over minicoro or POSIX ucontext; nothing else of the project sees either. A coroutine
 * belongs to the thread that resumes it, and coroutines nest: one may resume another. */
#ifndef MWL_CORO_H
#define MWL_CORO_H

#include "mwl.h"

typedef struct mwl__coro mwl__coro;
typedef struct mwl__coro_pool mwl__coro_pool;

/* Runs on the coroutine's stack; returning ends the coroutine. */
typedef void mwl__coro_fn(mwl__coro *co, void *user);

typedef enum mwl__coro_state {
    MWL__CORO_FRESH,     /* made, never resumed */
    MWL__CORO_RUNNING,   /* on its stack now, or waiting for one that it resumed itself */
    MWL__CORO_SUSPENDED, /* inside mwl__coro_yield */
    MWL__CORO_DONE       /* its function returned */
} mwl__coro_state;

/* A pool of stacks of `stack_size` usable bytes (rounded up to pages; 0: a default), which keeps up
 * to `max_idle` of them for reuse. Stacks are mapped, not taken from `alloc`, each with a red zone
 * of one page below it and a wide inaccessible guard below that. A small overflow is found in the
 * red zone afterwards, a larger one is a fault at once; neither is silent damage. */
mwl_status mwl__coro_pool_new(const mwl_alloc *alloc, size_t stack_size, size_t max_idle,
                              mwl__coro_pool **out);

/* Accepts NULL. Every coroutine of the pool must have been freed; otherwise nothing happens and the
 * answer is MWL_E_STATE. */
mwl_status mwl__coro_pool_free(mwl__coro_pool *pool);

/* A coroutine that will run fn(co, user) when first resumed. MWL_E_NOMEM when there is no stack. */
mwl_status mwl__coro_new(mwl__coro_pool *pool, mwl__coro_fn *fn, void *user, mwl__coro **out);

/* Run it until it yields or ends; answers SUSPENDED or DONE. It must be FRESH or SUSPENDED. */
mwl__coro_state mwl__coro_resume(mwl__coro *co);

/* From inside `co` only: go back to whoever resumed it; returns when resumed again. */
void mwl__coro_yield(mwl__coro *co);

/* For people, when something goes wrong on its stack. `name` is lent while the coroutine lives; ""
 * at the start. */
void mwl__coro_name(mwl__coro *co, const char *name);
const char *mwl__coro_name_of(const mwl__coro *co);
size_t mwl__coro_stack_bytes(const mwl__coro *co); /* usable, without the red zone */

/* Has a coroutine that is DONE used more than its stack? Looks at the whole red zone, some 100 ns,
 * so ask once. Its stack is not used again then. */
bool mwl__coro_overran(mwl__coro *co);

/* For a handler of faults: whose stack this thread is on, or NULL; does the address lie in its
 * guard? Both are safe in a signal handler. */
const mwl__coro *mwl__coro_running(void);
bool mwl__coro_in_guard(const mwl__coro *co, const void *address);

/* Give the stack back to the pool. Accepts NULL. A stack is never pulled away under a suspended
 * function, which would lose what it holds: then nothing happens and the answer is MWL_E_STATE. */
mwl_status mwl__coro_free(mwl__coro *co);

/* Which back end this library was built with: "minicoro" or "ucontext". */
const char *mwl__coro_backend(void);

/* stack_watch.c: before native code runs on a stack of its own on this thread. Does nothing unless
 * the host asked with mwl_stack_watch. */
void mwl__stack_watch_thread(void);

#endif
