/* seen.h: what a run did, as values that an expectation can be compared with.
 *
 * Owns: the form of it: calls, Steps, variables. tools/TESTING.md describes it. Refuses to know:
 * what was expected. */
#ifndef MWL_TOOLS_TEST_SEEN_H
#define MWL_TOOLS_TEST_SEEN_H

#include "mwl.h"

struct seen_call; /* one call of a provider */

struct seen {
    mwl_heap *heap;
    mwl_instant start, end;
    struct seen_call *calls;
    size_t n_calls, cap_calls;
    mwl_value steps; /* names, in order */
    mwl_value vars;  /* by Step: the variables when it last ended */
    bool failed;     /* out of memory */
};

void seen_begin(struct seen *s, mwl_heap *heap, const mwl_instant *now);
void seen_event(struct seen *s, const mwl_trace_event *event);
void seen_free(struct seen *s);

/* The calls as a list, given: {"step", "provider", "with", "input", "value" or "failure", "at",
 * "metadata", "cleanup": true}. `cleanup`: only those that an onAlways made. */
mwl_value seen_calls(struct seen *s, bool cleanup);
/* Returns an ISO 8601 duration, given. */
mwl_value seen_duration(mwl_heap *heap, int64_t ns);

#endif
