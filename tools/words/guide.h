/* guide.h: the texts about diagnostics that the library does not contain. */
#ifndef MWL_TOOLS_GUIDE_H
#define MWL_TOOLS_GUIDE_H

#include "assembler/source/diag.h"

extern const mwl__guide *const cmd_guide;

/* Appends what `mwlvm explain` prints about a diagnostic. */
void guide_explain(const mwl__diag_info *row, mwl__buf *out);

#endif
