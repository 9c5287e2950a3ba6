/* snippet.c: see snippet.h. */
#include "tools/base/snippet.h"

#include "assembler/source/diag.h"
#include "tools/base/term.h"

#include <stdio.h>
#include <unistd.h>

void snippet_show(mwl__source *source, mwl__span span, const char *words, int indent) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    if (span.begin > source->len) span.begin = source->len;
    mwl__diag_snippet(source, span, words, term_colour(STDERR_FILENO), &out);
    for (size_t at = 0; !out.failed && at < out.len;) {
        const char *feed = memchr(out.data + at, '\n', out.len - at);
        size_t len = feed ? (size_t)(feed + 1 - (out.data + at)) : out.len - at;
        fprintf(stderr, "%*s", indent, "");
        fwrite(out.data + at, 1, len, stderr);
        at += len;
    }
    mwl__buf_free(&out);
}
