/* suite_mwl.h: the parts of the mwl kind. */
#ifndef MWL_SUITE_MWL_H
#define MWL_SUITE_MWL_H

#include "mwl.h"
#include "suite.h"

/* Returns whether the actual Result matches the expected one. The types must be equal. For a
 * success, the values must be deeply equal. For a failure, every expected member must exist and be
 * deeply equal; an expected null also matches a missing member. `previous` and the Results inside
 * details.failures are compared by the same rules. If they differ, `why` says where. */
bool suite_mwl_matches(mwl_heap *heap, mwl_value expected, mwl_value actual, char *why,
                       size_t size);

/* The content of scenarios/<name>/control.json. */
struct suite_mwl_control {
    int64_t cancel_after_ns; /* -1: never */
    char *reason;            /* malloc'd, or NULL */
    mwl_limits limits;
    uint64_t seed;
};
/* Returns false and `why` if the file is wrong. Without a file, all values are defaults. */
bool suite_mwl_control_read(const char *path, struct suite_mwl_control *out, char *why,
                            size_t size);

/* Collects the events of the kinds that expected-trace.json names. */
struct suite_mwl_trace {
    mwl_heap *heap;
    mwl_value expected; /* an array of strings, or absent: nothing is compared */
    size_t at;          /* the next one */
    char why[256];      /* the first difference, or "" */
};
void suite_mwl_trace_listen(void *ctx, const mwl_trace_event *event);
void suite_mwl_trace_end(struct suite_mwl_trace *t); /* the rest was expected but did not happen */

/* DIR/{valid,invalid}/{flow,provider}/: documents that are accepted or refused. */
int suite_mwl_documents(struct suite *s, const char *dir);

#endif
