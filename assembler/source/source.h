/* source.h: a text with a name, and the line and column of every byte in it.
 *
 * Owns: what a line is (it ends with a line feed; a carriage return before that is not part of what
 * is shown), what a column is (code points from the beginning of the line, from 1; a tab is one).
 * Refuses to know: JSON, diagnostics.
 *
 * The text is lent and must outlive the source. Positions are found in constant time plus a search
 * over the line table, also in a definition of many megabytes on one line; the tables are made on
 * first use. If there is no memory for them, positions are the same, but finding them is slower. */
#ifndef MWL_SOURCE_H
#define MWL_SOURCE_H

#include "mwl.h"

/* Offsets are 32 bits wide, so no text is larger than this. */
#define MWL__SOURCE_MAX 0xfffffff0u

/* Bytes [begin, end) of a source. */
typedef struct mwl__span {
    uint32_t begin, end;
} mwl__span;

static inline mwl__span mwl__span_make(uint32_t begin, uint32_t end) {
    mwl__span s = {begin, end};
    return s;
}

typedef struct mwl__source {
    mwl_alloc alloc;
    const char *name; /* its name in diagnostics; lent */
    const char *text;
    uint32_t len;
    bool ready;     /* the tables below are made */
    uint32_t *line; /* where each line begins; line[0] is 0 */
    size_t n_lines, line_cap;
    uint32_t *points; /* code points before each block of bytes; NULL when all is ASCII */
    size_t n_points;
} mwl__source;

typedef struct mwl__place {
    uint32_t line, column; /* from 1 */
} mwl__place;

/* Returns MWL_E_TOO_BIG if len is above MWL__SOURCE_MAX; then the source is empty. */
mwl_status mwl__source_init(mwl__source *src, mwl_alloc alloc, const char *name, const char *text,
                            size_t len);
void mwl__source_free(mwl__source *src);

/* Returns the place of a byte. An offset past the end counts as the end. */
mwl__place mwl__source_place(mwl__source *src, uint32_t offset);

/* Returns the bytes of the line that contains the offset, without its line end. */
mwl__span mwl__source_line(mwl__source *src, uint32_t offset);

#endif
