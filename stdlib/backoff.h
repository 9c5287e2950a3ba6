/* backoff.h: how long to wait before a further attempt.
 *
 * Owns: the arithmetic of waits. Refuses to know: who waits and where chance comes from. */
#ifndef MWL_STD_BACKOFF_H
#define MWL_STD_BACKOFF_H

#include "mwl.h"

typedef enum mwl__jitter {
    MWL__JITTER_NONE,        /* d */
    MWL__JITTER_FULL,        /* U[0, d] */
    MWL__JITTER_EQUAL,       /* d/2 + U[0, d/2] */
    MWL__JITTER_DECORRELATED /* min(max, U[initial, 3 * the last wait]) */
} mwl__jitter;

/* Nanoseconds as doubles: exact up to a hundred days, and never past their range. */
typedef struct mwl__backoff {
    double initial_ns; /* >= 0 */
    double rate;       /* >= 1 */
    double max_ns;     /* >= 0; INFINITY: no cap */
    mwl__jitter jitter;
} mwl__backoff;

/* The wait after failure number `position` (from 1). `last_ns` is the wait before it, and counts
 * only for decorrelated jitter; below 0 there was none, and `initial` stands in for it. `random` in
 * [0, 1). */
int64_t mwl__backoff_wait(const mwl__backoff *b, double position, double last_ns, double random);

/* The mode of this name; MWL__JITTER_NONE for any other. */
mwl__jitter mwl__backoff_jitter(mwl_value name);

/* A duration argument in nanoseconds, for waiting: a negative one is 0, one beyond the range the
 * longest there is. False when it is no duration. */
bool mwl__backoff_duration(mwl_value text, int64_t *ns);

#endif
