/* trace.h: trace events on standard error, for a person or a program. */
#ifndef MWL_TOOLS_TRACE_H
#define MWL_TOOLS_TRACE_H

#include "mwl.h"

enum trace_form { TRACE_NONE, TRACE_TEXT, TRACE_FULL, TRACE_JSON };

struct trace {
    mwl_heap *heap;
    mwl_instant start; /* that times count from */
    enum trace_form form;
};

/* A listener for mwl_vm_trace; ctx is a struct trace. One line for each event:
 *
 *   text, full   seconds, indented by depth, words, names, `#i` for the dispatch of a Gather
 * (`#1.0` for one inside another), values; `text` cuts a value at 100 bytes json {"seconds", "time"
 * (wall), "event", "run", "depth", "flow", "step", "provider", "phase", "branch", "index", "total",
 * "position", "runs", "line", "column", "until", "bound", "failed", "input", "value"}; what is
 * empty is left out */
void trace_event(void *ctx, const mwl_trace_event *event);

#endif
