/* pattern_syntax.h: ECMA-262 patterns, checked and said again in the syntax of a matcher. */
#ifndef MWL_PATTERN_SYNTAX_H
#define MWL_PATTERN_SYNTAX_H

#include "vm/base/mem.h"

typedef enum mwl__pattern_target {
    MWL__PATTERN_FOR_REGEX, /* regex.h, with MWL__REGEX_UNASSIGNED */
    MWL__PATTERN_FOR_PCRE
} mwl__pattern_target;

/* Append the translation to *out, which is then to be tested for `failed`. *beyond: the pattern has
 * what regex.h cannot say; its translation for that is of no use. MWL_E_SYNTAX with message and
 * offset, MWL_E_TOO_BIG (nesting), MWL_E_NOMEM. */
mwl_status mwl__pattern_translate(const mwl_alloc *a, const char *text, size_t len,
                                  mwl__pattern_target target, mwl__buf *out, bool *beyond,
                                  mwl_error *err);

#endif
