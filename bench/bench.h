/* bench.h: how a benchmark is written.
 *
 * A file bench_<area>.c defines `const struct bench_case bench_<area>_cases[]`, closed by a row of
 * zeros, and has its row in BENCH_AREAS. An ordinary case performs its operation n times; the
 * harness chooses n, repeats, and reports. A case with `report` measures by itself. */
#ifndef MWL_BENCH_H
#define MWL_BENCH_H

#include "mwl.h"

/* In the order of the report: the cases that peers have too come first. */
#define BENCH_AREAS(X)                                                                             \
    X(wf)                                                                                          \
    X(expr)                                                                                        \
    X(schema)                                                                                      \
    X(coro)                                                                                        \
    X(scale)                                                                                       \
    X(snapshot)                                                                                    \
    X(asm)                                                                                         \
    X(value)                                                                                       \
    X(json)                                                                                        \
    X(explore)

struct bench_options {
    bool json, check; /* check: run once, with small sizes, and print only errors */
    int samples;
    double sample_ms;
    unsigned long
        count; /* number of runs in cases that hold many at once; 0: the number of the case */
};

struct bench_case;
struct bench {
    mwl_alloc alloc; /* counts allocations; a case must use it for its allocations to be reported */
    void *state;     /* set by setup */
    bool failed;     /* set by bench_fail: the case is reported as wrong and not measured */
    const struct bench_case *which;
    const struct bench_options *options;
};

enum {
    BENCH_ALONE = 1, /* runs in its own process: its figure is the growth of the resident set */
    BENCH_LONG = 2   /* its setup is too long for callgrind: instructions are not counted */
};

struct bench_case {
    const char *suite; /* group, as in the peers' programs: "value", "json", "wf", "expr" ... */
    const char *name;
    /* Prepares b->state, performs the operation once and checks its result. NULL: nothing to do. */
    void (*setup)(struct bench *b);
    void (*run)(struct bench *b, unsigned long n); /* n operations */
    void (*teardown)(struct bench *b);
    unsigned long ops; /* operations in one "n", for example 100000 appends; 0 means 1 */
    unsigned flags;    /* BENCH_* */
    void (*report)(struct bench *b); /* measures by itself and calls bench_report; then no run */
};

/* Reports a wrong result. Prints the reason; the exit status of the program will be 1. */
void bench_fail(struct bench *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Fails the case unless the condition holds. */
#define BENCH_CHECK(b, condition)                                                                  \
    do {                                                                                           \
        if (!(condition)) bench_fail(b, "%s:%d: %s", __FILE__, __LINE__, #condition);              \
    } while (0)

/* Makes the compiler believe that the value is used and may have changed. */
#define BENCH_KEEP(value) __asm__ volatile("" : : "g"(value) : "memory")

/* ---- for cases that measure by themselves ---------------------------------------------------- */

struct bench_extra { /* another figure of a report; a list of them ends with a NULL name */
    const char *name;
    double value;
};

/* One line. `part` is appended to the case's name, NULL: none; unit is "ns/op", "bytes/run" ... */
void bench_report(struct bench *b, const char *part, const char *unit, double figure,
                  unsigned long n, const struct bench_extra *extra);
double bench_now_ns(void);                   /* of the monotonic clock */
double bench_cpu_ns(void);                   /* of this thread's processor time */
double bench_resident(void);                 /* bytes of the resident set; 0 when not known */
long long bench_live(const struct bench *b); /* bytes held through b->alloc */
double bench_median(double *samples, int n); /* sorts them */

/* Starts the command of that name in the folder of this program, with these arguments (the last is
 * NULL). Measures the ns until it has written `text` to its standard error, and until it ended.
 * Returns false if the command does not exist, never wrote the text, or failed. */
bool bench_command(const char *command, const char *const *words, const char *text,
                   double *until_ns, double *end_ns);

#endif
