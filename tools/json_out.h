/* json_out.h: a value as JSON text on a stream, in pieces: its text may be far larger than the
 * value, so it is never in memory as a whole. */
#ifndef MWL_TOOLS_JSON_OUT_H
#define MWL_TOOLS_JSON_OUT_H

#include "mwl.h"

#include <stdio.h>

struct json_out {
    FILE *to;
    mwl_json_style style;
    bool escape; /* as term_lines does: for a terminal, and for standard error */
    size_t most; /* bytes; a longer text is cut at a character and ends with " ..."; 0: no bound */
};

/* MWL_OK, or why the value could not be written, perhaps after some of it was. That the stream
 * failed is no such reason: ferror reports it. */
mwl_status json_out(const struct json_out *how, mwl_heap *heap, mwl_value v);

#endif
