/* heard.h: what the listener of a VM hears, as text: a line for each event, with every member that
 * says something about the run. Two executions that are the same have the same text.
 *
 * Not in it: the names of frames, which are only for comparing within one VM. */
#ifndef MWL_HEARD_H
#define MWL_HEARD_H

#include "vm/base/mem.h"

struct heard {
    mwl_heap *heap; /* for the text of values */
    mwl__buf text;
};
void heard_event(struct heard *h, const mwl_trace_event *event);
/* Writes the first line in which the two differ to why. Returns true if they are the same. */
bool heard_same(struct heard *want, struct heard *have, char *why, size_t size);

#endif
