/* failure_guide.h: what the codes of failures mean that the engine and the command make themselves.
 */
#ifndef MWL_TOOLS_FAILURE_GUIDE_H
#define MWL_TOOLS_FAILURE_GUIDE_H

#include <stdbool.h>
#include <stddef.h>

struct failure_row {
    const char *code;  /* "System.Cancelled" */
    const char *title; /* one line */
    const char *text;  /* when it is made, and what to do; lines end with \n */
};

const struct failure_row *failure_rows(size_t *n);

/* Returns the row of a code, or NULL. */
const struct failure_row *failure_find(const char *code);

/* Writes the short name of the provider that a code belongs to: "http" of
 * "Provider.Call.Http.Throttled", "circuit-breaker" of "Provider.Middleware.CircuitBreaker.Open".
 * Returns false for other codes. */
bool failure_provider(const char *code, char *out, size_t cap);

#endif
