/* event_text.h: words for spans and failures, for every place that shows them to a person. */
#ifndef MWL_TOOLS_EVENT_TEXT_H
#define MWL_TOOLS_EVENT_TEXT_H

#include "tools/show/events.h"

/* A short name of a span: "fetch", "retry", "attempt 2", "call mock", "wait for attempt 2". Cut at
 * `size`. It may contain control characters of a definition: print it with term_printf. */
void event_text_name(const struct event_span *span, char *out, size_t size);
/* "retry" of "mwl:provider.middleware/mwl/retry/v1". The length is in *len. */
const char *event_text_provider(const char *uri, size_t *len);
/* The code of a failure, or its type, or "failure". */
void event_text_code(mwl_value failure, char *out, size_t size);
/* A span of time: "0.8 ms", "12.3 s", "4:05 min", "3:04:05 h". */
void event_text_time(int64_t ns, char *out, size_t size);

#endif
