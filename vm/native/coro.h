/* coro.h: separate stacks for native code that waits in the middle of a function.
 *
 * Hides minicoro or POSIX ucontext; no other part of the project uses them. A coroutine belongs to
 * the thread that resumes it. Coroutines nest: one may resume another. */
#ifndef MWL_CORO_H
#define MWL_CORO_H

#include "mwl.h"

typedef struct mwl__coro mwl__coro;
typedef struct mwl__coro_pool mwl__coro_pool;

/* Runs on the coroutine's stack; returning ends the coroutine. */
typedef void mwl__coro_fn(mwl__coro *co, void *user);

typedef enum mwl__coro_state {
    MWL__CORO_FRESH,     /* made, never resumed */
    MWL__CORO_RUNNING,   /* running, or waiting for one that it has resumed itself */
    MWL__CORO_SUSPENDED, /* inside mwl__coro_yield */
    MWL__CORO_DONE       /* its function returned */
} mwl__coro_state;

/* A pool of stacks of `stack_size` usable bytes (rounded up to pages; 0: a default), which keeps up
 * to `max_idle` of them for reuse. Stacks are mapped, not taken from `alloc`, each with a red zone
 * of one page below it and a wide inaccessible guard below that. A small overflow is found in the
 * red zone afterwards. A larger one is a fault at once. Neither damages other memory without
 * notice. */
mwl_status mwl__coro_pool_new(const mwl_alloc *alloc, size_t stack_size, size_t max_idle,
                              mwl__coro_pool **out);

/* Frees a pool. NULL is ignored. Every coroutine of the pool must have been freed; otherwise
 * nothing happens and it returns MWL_E_STATE. */
mwl_status mwl__coro_pool_free(mwl__coro_pool *pool);

/* Makes a coroutine that runs fn(co, user) when it is first resumed. Returns MWL_OK, or MWL_E_NOMEM
 * if there is no stack. */
mwl_status mwl__coro_new(mwl__coro_pool *pool, mwl__coro_fn *fn, void *user, mwl__coro **out);

/* Runs it until it yields or ends. Returns SUSPENDED or DONE. It must be FRESH or SUSPENDED. */
mwl__coro_state mwl__coro_resume(mwl__coro *co);

/* Call it only from inside `co`. Switches back to the code that resumed it; returns when it is
 * resumed again. */
void mwl__coro_yield(mwl__coro *co);

/* A name for messages about faults on its stack. `name` is lent while the coroutine exists; "" at
 * first. */
void mwl__coro_name(mwl__coro *co, const char *name);
const char *mwl__coro_name_of(const mwl__coro *co);
size_t mwl__coro_stack_bytes(const mwl__coro *co); /* usable, without the red zone */

/* Returns whether a coroutine that is DONE has used more than its stack; its stack is not used
 * again then. It reads the whole red zone, which takes about 100 ns, so call it once. */
bool mwl__coro_overran(mwl__coro *co);

/* For a fault handler: the coroutine on whose stack this thread is, or NULL; and whether the
 * address is in its guard. Both are safe in a signal handler. */
const mwl__coro *mwl__coro_running(void);
/* Returns whether the address is on the stack of the coroutine. */
bool mwl__coro_holds(const mwl__coro *co, const void *address);
bool mwl__coro_in_guard(const mwl__coro *co, const void *address);

/* Returns the stack to the pool. NULL is ignored. If the function is suspended, nothing happens and
 * it returns MWL_E_STATE, because everything that the function holds would be lost. */
mwl_status mwl__coro_free(mwl__coro *co);

/* Returns the back end of this build: "minicoro" or "ucontext". */
const char *mwl__coro_backend(void);

/* stack_watch.c: call it before native code runs on a separate stack on this thread. Does nothing
 * unless the host has called mwl_stack_watch. */
void mwl__stack_watch_thread(void);

#endif
