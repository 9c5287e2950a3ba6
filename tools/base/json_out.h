/* json_out.h: writes a value (such as the Result of a run) as JSON text to a stream, in pieces. The
 * text may be far larger than the value, so it is never in memory as a whole. */
#ifndef MWL_TOOLS_JSON_OUT_H
#define MWL_TOOLS_JSON_OUT_H

#include "mwl.h"

#include <stdio.h>

struct json_out {
    FILE *to;
    mwl_json_style style;
    bool escape; /* as term_lines does: for a terminal, and for standard error */
    size_t most; /* bytes; a longer text is cut at a character and ends with " ..."; 0: no limit */
};

/* Returns MWL_OK, or why the value could not be written, perhaps after a part of it was written. A
 * failure of the stream is not reported here; use ferror. */
mwl_status json_out(const struct json_out *how, mwl_heap *heap, mwl_value v);
/* The same for the value of a success, which is what the program was asked for: secrets in it are
 * shown. All other functions replace them (redact.h). */
mwl_status json_out_value(const struct json_out *how, mwl_heap *heap, mwl_value v);

/* Whether the text of the value has at most so many bytes. Takes time for `most` bytes at most. */
bool json_out_fits(mwl_heap *heap, mwl_value v, mwl_json_style style, size_t most);

/* The value as JSON text of at most `most` bytes. If it is longer, a string with its first
 * characters stands for it; if it has no JSON form, {"$type": ...} does. So what is written is
 * always JSON. Returns whether all of it was written. */
bool json_out_within(FILE *to, mwl_heap *heap, mwl_value v, size_t most);
/* A text as a JSON string. Bytes that are not UTF-8 become U+FFFD. */
void json_out_text(FILE *to, const char *text);

#endif
