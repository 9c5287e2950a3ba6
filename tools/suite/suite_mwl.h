/* suite_mwl.h: the parts of the mwl kind. */
#ifndef MWL_SUITE_MWL_H
#define MWL_SUITE_MWL_H

#include "mwl.h"
#include "suite.h"

/* Does the actual Result satisfy the expected one? Types are equal; a success's value is deeply
 * equal; of a failure every expected member is there and deeply equal, where an expected null also
 * stands for an absent member, and `previous` and the Results inside details.failures are compared
 * by these same rules. When not, `why` says where they differ. */
bool suite_mwl_matches(mwl_heap *heap, mwl_value expected, mwl_value actual, char *why,
                       size_t size);

/* What scenarios/<name>/control.json asks for. */
struct suite_mwl_control {
    int64_t cancel_after_ns; /* -1: never */
    char *reason;            /* malloc'd, or NULL */
    mwl_limits limits;
    uint64_t seed;
};
/* False with `why` when the file is wrong; no file is all defaults. */
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
void suite_mwl_trace_end(struct suite_mwl_trace *t); /* what is left is missing */

/* DIR/{valid,invalid}/{flow,provider}/: documents that are accepted or refused. */
int suite_mwl_documents(struct suite *s, const char *dir);

#endif
