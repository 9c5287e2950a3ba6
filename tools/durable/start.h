/* start.h: how a run of a store begins, as the JSON text that the store keeps (mwl_store_start). */
#ifndef MWL_TOOLS_DURABLE_START_H
#define MWL_TOOLS_DURABLE_START_H

#include "mwl.h"

/* Returns the text for a start: its input and arguments, its seed, and its limits (0, UINT64_MAX
 * and SIZE_MAX: none). Given, to mwl_text_free(); NULL: out of memory. */
char *start_text(mwl_heap *heap, const mwl_start *start, size_t *len);

#endif
