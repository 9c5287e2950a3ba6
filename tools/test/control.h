/* control.h: what a case says about a run besides its input: limits, the seed, a cancellation from
 * outside; and the trace that it expects, as lines. tests/README.md has both forms. */
#ifndef MWL_TOOLS_TEST_CONTROL_H
#define MWL_TOOLS_TEST_CONTROL_H

#include "tools/session/turn.h"

struct control {
    int64_t cancel_after_ns; /* -1: never */
    const char *reason;      /* lent by the value it was read from, or NULL */
    mwl_limits limits;
    uint64_t seed;
};
/* Reads an object; absent: the defaults. Returns false and `why` if a member is unknown or wrong.
 */
bool control_read(mwl_value v, struct control *out, char *why, size_t size);

/* Compares the events of the kinds that the expected lines name. */
struct trace_lines {
    mwl_value expected; /* an array of strings, or absent: nothing is compared */
    size_t at;          /* the next one */
    char why[256];      /* the first difference, or "" */
};
void trace_lines_event(struct trace_lines *t, const mwl_trace_event *event);
void trace_lines_end(struct trace_lines *t); /* the rest was expected but did not happen */

/* Sets the cancellation that the control asks for; its instant counts from the present one. */
void control_cancels(const struct control *c, struct session_turns *out);

#endif
