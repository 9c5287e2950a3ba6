/* diff.h: two texts compared line by line, as `diff -u` writes it. */
#ifndef MWL_TOOLS_DIFF_H
#define MWL_TOOLS_DIFF_H

#include "mwl.h"

#include <stdio.h>

/* The output stream. If `terminal` is set, lines are escaped as by term_text(). */
struct diff_output {
    FILE *to;
    bool colour, terminal;
};

/* Writes what turns `before` into `after`, with both under the name of `path`; nothing when they
 * are equal. False: out of memory. */
bool diff_unified(const char *path, const char *before, size_t before_len, const char *after,
                  size_t after_len, const mwl_alloc *alloc, const struct diff_output *out);

#endif
