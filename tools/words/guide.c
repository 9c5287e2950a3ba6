/* guide.c: see guide.h. */
#include "tools/words/guide.h"

#include "assembler/check/check_guide.h"

const mwl__guide *const cmd_guide = &mwl__guide_all;

void guide_explain(const mwl__diag_info *row, mwl__buf *out) { mwl__diag_explain(row, out); }
