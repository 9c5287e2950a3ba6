/* event_lines.h: -v: what happens in a run as lines on standard error, for a person who watches it.
 *
 *     0.000  fetch
 *     0.000    call http                        {"url":"..."}
 *     0.031    call http failed: Http.500, 31.0 ms
 *     0.031    wait for attempt 2: 2.0 s
 *
 * Lines are indented by frames; `#1.0` is a dispatch of a Gather inside another. Phases of
 * middleware are shown only if they fail; --trace has every event. */
#ifndef MWL_TOOLS_EVENT_LINES_H
#define MWL_TOOLS_EVENT_LINES_H

#include "tools/show/events.h"

struct event_lines;

struct event_lines *event_lines_new(mwl_heap *heap); /* NULL: out of memory */
struct event_sink event_lines_sink(struct event_lines *l);
void event_lines_free(struct event_lines *l);

#endif
