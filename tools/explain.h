/* explain.h: what a person is told about a run. */
#ifndef MWL_TOOLS_EXPLAIN_H
#define MWL_TOOLS_EXPLAIN_H

#include "mwl.h"

/* The failure Result of a run in words on standard error: type, code, message, where, and the
 * failures that it took the place of, each indented below. `file` names the definition. */
void explain_failure(mwl_heap *heap, const mwl_run *run, const char *file);

/* One line per event on standard error; ctx is the instant (mwl_instant) that times count from. A
 * listener for mwl_vm_trace. */
struct trace_text {
    mwl_heap *heap;
    mwl_instant start;
};
void trace_text(void *ctx, const mwl_trace_event *event);

#endif
