/* harness.h: between the parts of mwl-bench itself; cases need bench.h only. */
#ifndef MWL_BENCH_HARNESS_H
#define MWL_BENCH_HARNESS_H

#include "bench/bench.h"

struct figures {
    double median, min, max;                 /* ns per operation */
    double cpu;                              /* processor time per operation, median */
    double allocations, bytes, instructions; /* per operation; instructions -1: unknown */
    double ops;                              /* measured, in all samples */
};

/* ---- measure.c: one case --------------------------------------------------------------------- */

/* A file descriptor that counts this thread's user-space instructions, or -1. */
int measure_perf_open(void);
/* Sets the case up, measures it and prints its line. Returns false if its result was wrong or
 * memory was not freed. */
bool measure_case(const struct bench_case *c, const struct bench_options *o, int perf);
/* Performs the case n times and reports nothing. */
bool measure_once(const struct bench_case *c, const struct bench_options *o, unsigned long n);
/* Returns the instructions of n operations by the processor's counter, or -1. */
double measure_perf(const struct bench_case *c, const struct bench_options *o, int perf,
                    unsigned long n);
/* Returns a count, a power of two, whose operations take about ms milliseconds; 0 if it failed. */
unsigned long measure_count(const struct bench_case *c, const struct bench_options *o, double ms);
void measure_header(void); /* of the table */

/* ---- instructions.c: counting and comparing -------------------------------------------------- */

struct counting {
    const struct bench_options *options;
    const char *filter;  /* part of SUITE/CASE, or NULL */
    const char *write;   /* file to write, or NULL */
    const char *compare; /* file to compare with, or NULL */
    const char *with;    /* compare that file instead of counting, or NULL */
    double threshold;    /* percent */
};

/* Visits the cases of the table; returns NULL after the last. */
const struct bench_case *bench_case_at(size_t i);

/* Returns the exit status: 0, or 1 if something got slower or could not be counted. */
int instructions_main(const struct counting *c);

/* Starts this program again with these arguments (the last is NULL). Returns its exit status, or
 * -1. If text is not NULL, it gets what the program wrote to its standard error, at most size - 1
 * bytes and a NUL; its standard output is dropped then. under_callgrind: run it in valgrind. */
int bench_spawn(const char *const *words, bool under_callgrind, char *text, size_t size);

#endif
