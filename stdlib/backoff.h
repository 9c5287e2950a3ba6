/* backoff.h: computes how long to wait before the next attempt.
 *
 * Owns: the arithmetic of waits. Refuses to know: who waits, and where random numbers come from. */
#ifndef MWL_STD_BACKOFF_H
#define MWL_STD_BACKOFF_H

#include "mwl.h"

typedef enum mwl__jitter {
    MWL__JITTER_NONE,        /* d */
    MWL__JITTER_FULL,        /* U[0, d] */
    MWL__JITTER_EQUAL,       /* d/2 + U[0, d/2] */
    MWL__JITTER_DECORRELATED /* min(max, U[initial, 3 * the last wait]) */
} mwl__jitter;

/* Nanoseconds as doubles: exact up to a hundred days, and they cannot overflow. */
typedef struct mwl__backoff {
    double initial_ns; /* >= 0 */
    double rate;       /* >= 1 */
    double max_ns;     /* >= 0; INFINITY: no cap */
    mwl__jitter jitter;
} mwl__backoff;

/* Returns the wait after failure number `position` (from 1). `last_ns` is the wait before, which
 * only decorrelated jitter uses; if it is negative there was none, and `initial` is used instead.
 * `random` is in [0, 1). */
int64_t mwl__backoff_wait(const mwl__backoff *b, double position, double last_ns, double random);

/* Returns the longest that the first n waits can take together, whatever the random numbers are:
 * never less than it. INFINITY: one of them does not end. */
double mwl__backoff_most(const mwl__backoff *b, double n);

/* Returns the mode with this name; MWL__JITTER_NONE for any other name. */
mwl__jitter mwl__backoff_jitter(mwl_value name);

/* Reads a duration argument as nanoseconds, limited to their range. Returns false if the argument
 * is not a duration. */
bool mwl__backoff_length(mwl_value text, int64_t *ns);
/* Reads a duration argument as nanoseconds to wait. A negative duration becomes 0, and one beyond
 * the range becomes the longest possible. Returns false if the argument is not a duration. */
bool mwl__backoff_duration(mwl_value text, int64_t *ns);

/* Reads the member `backoff` of a policy. Returns false if one of its durations is not valid. */
bool mwl__backoff_read(mwl_value from, mwl__backoff *out);

#endif
