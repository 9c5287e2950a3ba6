/* fingerprint.h: what will decide how a run goes on, as a number.
 *
 * Two runs of one program in one VM have the same fingerprint if every answer has the same effect
 * on both: the same Steps, the same calls, the same Result. It covers frames, entries, variables,
 * what is in flight, awaited executions, and the time that is left until each timer. It does not
 * cover what depends on identity or on the way there: addresses, ids, instants, fuel, memory. */
#ifndef MWL_FINGERPRINT_H
#define MWL_FINGERPRINT_H

#include "mwl.h"

typedef struct mwl__fingerprint { /* of two states that differ, both are equal once in 2^128 */
    uint64_t a, b;
} mwl__fingerprint;

/* What of the machine an expression of the program can read that changes though nothing happens. */
typedef struct mwl__readable {
    bool clock;   /* the time itself: then states of different instants differ */
    bool step_id; /* step.id */
    bool runs;    /* the count of a middleware that owns its runs, such as Loop's iteration */
} mwl__readable;
mwl__readable mwl__readable_of(const mwl_program *program);

/* The run must be parked and may be frozen (clone.h). */
mwl__fingerprint mwl__run_fingerprint(const mwl_run *run, const mwl__readable *readable);

/* Adds a number to a fingerprint, for what the caller itself tells states apart by. */
void mwl__fingerprint_add(mwl__fingerprint *f, uint64_t x);

#endif
