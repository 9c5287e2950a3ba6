/* bounds.h: what is known of a definition without running it: how often each Step makes its call,
 * and how long each Step and each Flow can take.
 *
 * Owns: how times and attempts add up, and the reason where there is no bound. How long a policy
 * waits is computed by stdlib/backoff.h, as when it runs.
 * Refuses to know: data. What an expression computes counts as unknown. Cleanup comes on top of a
 * Timeout around it, because a bound does not cut it short. */
#ifndef MWL_TOOLS_BOUNDS_H
#define MWL_TOOLS_BOUNDS_H

#include "assembler/check/model.h"

struct bound {
    double ns;       /* INFINITY: unbounded */
    double uncut_ns; /* of that, what a bound around it does not cut short: its cleanup */
    double attempts; /* of the Step's own call; INFINITY: unbounded */
    double calls;    /* of providers, with those of called Flows and of cleanup */
    char why[200];   /* why the time is unbounded, or "" */
};

struct way { /* a Step whose longest way to the end is looked for */
    const mwl__m_step *step;
    uint32_t next; /* which of the places where it leads to is looked at next */
    double longest, calls;
    const char *why;
};

struct bounds {
    mwl__model *model;
    mwl__source *source;
    mwl_heap *heap;
    struct bound *steps, *flows; /* Steps by their number: first_of their Flow and their index */
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
    uint32_t *first_of; /* by Flow: the number of its first Step */
    uint32_t depth;     /* of phases' calls */
    bool failed;        /* out of memory */
};

/* The model, its source and a heap for constants are lent. Returns false if memory runs out. Free
 * it in any case. */
bool bounds_init(struct bounds *b, mwl__model *model, mwl__source *source, mwl_heap *heap);
void bounds_free(struct bounds *b);

/* Appends a line for each Step and each Flow, and then the warnings, each with `file` before it. */
void bounds_write(const struct bounds *b, const char *file, mwl__buf *out);

#endif
