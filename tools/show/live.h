/* live.h: the live line: what a run does now, on one line of a terminal that is drawn again and
 * again, and removed when the run ends.
 *
 *     [0:12] order/fetch, attempt 2, waits for http until 14:03:05 (8.1 s left)
 *     [0:12] index, 7 of 20 dispatches done, 3 in flight */
#ifndef MWL_TOOLS_LIVE_H
#define MWL_TOOLS_LIVE_H

#include "mwl.h"

struct live {
    mwl_run *run;
    int64_t start_ns;  /* of the monotonic clock */
    bool virtual_time; /* instants of the future are not shown: they come at once */
};

/* A run that is shorter shows nothing. */
#define LIVE_AFTER_NS INT64_C(1000000000)

/* Draws the line if it is time. ctx is a struct live. */
void live_draw(void *ctx);

#endif
