/* document.h: a text that an editor has open: its bytes, its edits, and positions in it.
 *
 * Owns: the two ways in which an editor counts inside a line (UTF-8, UTF-16), and what a line is
 * for it: it ends with a line feed, a carriage return, or both. Refuses to know: JSON.
 *
 * A position is found in the time of a search over the lines, also in a text of many megabytes on
 * one line. */
#ifndef MWL_TOOLS_LSP_DOCUMENT_H
#define MWL_TOOLS_LSP_DOCUMENT_H

#include "vm/base/mem.h"

enum units { UNITS_UTF16, UNITS_UTF8 };

struct position {
    uint32_t line, character; /* from 0 */
};

struct document {
    char *uri; /* malloc'd */
    mwl__buf text;
    int64_t version;
    uint32_t *lines; /* where each begins */
    size_t n_lines, cap_lines;
    uint32_t *blocks; /* units of UTF-16 before each block of bytes */
    size_t n_blocks, cap_blocks;
};

/* Free in any case. Return MWL_OK, MWL_E_TOO_BIG or MWL_E_NOMEM. */
mwl_status document_open(struct document *d, const char *uri, const char *text, size_t len);
void document_free(struct document *d);
/* Replaces bytes [begin, end). On failure the text is unchanged. */
mwl_status document_edit(struct document *d, uint32_t begin, uint32_t end, const char *text,
                         size_t len);

/* Returns the byte at a position; one behind the end of a line, or of the text, is that end, and
 * one inside a character is its beginning. */
uint32_t document_offset(const struct document *d, struct position at, enum units units);
struct position document_position(const struct document *d, uint32_t offset, enum units units);

#endif
