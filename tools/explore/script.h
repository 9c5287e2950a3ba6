/* script.h: a way through the graph of a search, for people and as a case of `mwlvm test`. */
#ifndef MWL_TOOLS_EXPLORE_SCRIPT_H
#define MWL_TOOLS_EXPLORE_SCRIPT_H

#include "tools/explore/findings.h"

/* Appends the way, a line for each choice: "  1. 0 s: Step 'pay' fails with ...". */
void script_text(const struct search *s, const uint32_t *edges, size_t n, mwl__buf *out);

/* Runs the way once more and returns it as a case, given: definition, input, arguments, answers,
 * control and the Result that it gives. Absent: out of memory. `from` is the folder that the case
 * will be in, or NULL. */
mwl_value script_case(struct search *s, const mwl_start *start, const uint32_t *edges, size_t n,
                      const char *definition, mwl_value providers, const char *comment);

#endif
