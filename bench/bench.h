/* bench.h: how a benchmark is written.
 *
 * A file bench_<area>.c defines `const struct bench_case bench_<area>_cases[]`, closed by a row of
 * zeros, and has its row in BENCH_AREAS. A case performs its operation n times; the harness chooses
 * n, repeats, and reports. */
#ifndef MWL_BENCH_H
#define MWL_BENCH_H

#include "mwl.h"

#define BENCH_AREAS(X)                                                                             \
    X(coro)                                                                                        \
    X(value)                                                                                       \
    X(json)                                                                                        \
    X(image)                                                                                       \
    X(expr)                                                                                        \
    X(schema)                                                                                      \
    X(wf)                                                                                          \
    X(asm)

struct bench {
    mwl_alloc alloc; /* counts; what a case allocates must come from here to be reported */
    void *state;     /* set by setup */
    bool failed;     /* set by bench_fail: the case is reported as wrong, not measured */
};

struct bench_case {
    const char *suite; /* group, as in the peers' programs: "value", "json", "wf", "expr" ... */
    const char *name;
    /* Prepares b->state, performs the operation once and checks its answer. NULL: nothing to do. */
    void (*setup)(struct bench *b);
    void (*run)(struct bench *b, unsigned long n); /* n operations */
    void (*teardown)(struct bench *b);
    unsigned long ops; /* operations that one "n" stands for, e.g. 100000 appends; 0 means 1 */
};

/* The answer was wrong. Prints why; the program's exit status will be 1. */
void bench_fail(struct bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fails the case unless the condition holds. */
#define BENCH_CHECK(b, condition)                                                                  \
    do {                                                                                           \
        if (!(condition)) bench_fail(b, "%s:%d: %s", __FILE__, __LINE__, #condition);              \
    } while (0)

/* Makes the compiler believe that the value is used and may have changed. */
#define BENCH_KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")

#endif
