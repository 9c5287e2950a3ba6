/* process.h: a number that no other process has, so that what is derived from it is not repeated by
 * a process and its forked children.
 *
 * Owns: noticing fork(). Refuses to know: what is derived from the number. A process that is copied
 * without fork() of the C library (a system call, a snapshot of a machine) is not noticed. */
#ifndef MWL_PROCESS_H
#define MWL_PROCESS_H

#include <stdatomic.h>
#include <stdint.h>

/* The number of this process, never 0: random, made on the first call in this process. Any thread.
 */
extern _Atomic uint64_t mwl__process_known; /* 0: not made yet */
uint64_t mwl__process_make(void);
static inline uint64_t mwl__process(void) {
    uint64_t known = atomic_load_explicit(&mwl__process_known, memory_order_relaxed);
    return known ? known : mwl__process_make();
}

#endif
