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

struct bounds {
    const mwl_program *program;
    struct bound *steps, *flows; /* by index */
    mwl__buf warnings;           /* lines "LINE:COLUMN: warning: ..." */
    uint8_t *flow_state, *step_state;
    double *rest; /* by Step: the longest time from its beginning to the end of its Flow */
    double *rest_calls;
    char (*rest_why)[200];
};

/* Returns false if memory runs out. */
bool bounds_init(struct bounds *b, const mwl_program *program);
void bounds_free(struct bounds *b);

/* Appends a line for each Step and each Flow, and then the warnings, each with `file` before it. */
void bounds_write(const struct bounds *b, const char *file, mwl__buf *out);

#endif
