/* diag_text.h: the explanations of all diagnostics, and what `mwlvm explain` prints.
 *
 * The texts are large, and only people read them: so they are not part of the library. Whoever
 * prints them includes this file, once in a program. */
#ifndef MWL_DIAG_TEXT_H
#define MWL_DIAG_TEXT_H

#include "assembler/source/diag.h"

/* By the order of mwl__diag_rows. */
static const char *const mwl__diag_texts[MWL__DIAG_COUNT] = {
#define MWL_X(number, ident, name, severity, title, text) text,
#include "assembler/source/diag_codes.h"
#undef MWL_X
};

static inline const char *mwl__diag_text_of(const mwl__diag_info *row) {
    size_t n;
    return mwl__diag_texts[row - mwl__diag_rows(&n)];
}

static inline void mwl__diag_explain(const mwl__diag_info *row, mwl__buf *out) {
    mwl__buf_printf(out, "MWL%04d %s (%s)\n%s\n\n%s\n", (int)row->code, row->name,
                    mwl__severity_name(row->severity), row->title, mwl__diag_text_of(row));
    if (row->severity == MWL_DIAG_WARNING)
        mwl__buf_printf(out, "\nSilence it with --allow %s; make it an error with --deny %s.\n",
                        row->name, row->name);
}

#endif
