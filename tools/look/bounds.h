/* bounds.h: what is known of a program without running it: how often each Step makes its call, and
 * how long each Step and each Flow can take.
 *
 * Owns: the arithmetic of literal policies and bounds, and the reason where there is no bound.
 * Refuses to know: data. What an expression computes counts as unknown. Cleanup comes on top of a
 * Timeout around it, because a bound does not cut it short. */
#ifndef MWL_TOOLS_BOUNDS_H
#define MWL_TOOLS_BOUNDS_H

#include "vm/base/mem.h"
#include "vm/program/program.h"

struct bound {
    double ns;       /* INFINITY: unbounded */
    double attempts; /* of the Step's own call; INFINITY: unbounded */
    double calls;    /* of providers, with those of called Flows and of cleanup */
    char why[200];   /* why the time is unbounded, or "" */
};

struct way { /* a Step whose longest way to the end is looked for */
    uint32_t step, pc, end;
    double longest, calls;
    const char *why;
};

struct bounds {
    const mwl_program *program;
    struct bound *steps, *flows; /* by index */
    mwl__buf warnings;           /* lines "LINE:COLUMN: warning: ..." */
    uint8_t *flow_state, *step_state;
    double *rest; /* by Step: the longest time from its beginning to the end of its Flow */
    double *rest_calls;
    char (*rest_why)[200];
    /* of the search */
    uint8_t *rest_state, *reruns; /* reruns: by Flow, whether a call of it is run again */
    struct way *ways;
    uint32_t n_ways, *visited, n_visited;
    uint32_t *wanted; /* Flows that must be known first */
    size_t n_wanted, cap_wanted;
    uint32_t *begins;             /* where Steps begin, sorted */
    uint32_t *gather_of;          /* by Step: its Gather and 1 */
    uint32_t *by_flow, *first_of; /* Steps by Flow, and where each Flow's begin */
    uint32_t depth;               /* of phases' calls */
    bool failed;                  /* out of memory */
};

/* Returns false if memory runs out. */
bool bounds_init(struct bounds *b, const mwl_program *program);
void bounds_free(struct bounds *b);

/* Appends a line for each Step and each Flow, and then the warnings, each with `file` before it. */
void bounds_write(const struct bounds *b, const char *file, mwl__buf *out);

#endif
