/* pattern_syntax.h: checks ECMA-262 patterns and translates them into the syntax of a matcher. */
#ifndef MWL_PATTERN_SYNTAX_H
#define MWL_PATTERN_SYNTAX_H

#include "vm/base/mem.h"

typedef enum mwl__pattern_target {
    MWL__PATTERN_FOR_REGEX, /* regex.h, with MWL__REGEX_UNASSIGNED */
    MWL__PATTERN_FOR_PCRE
} mwl__pattern_target;

/* Appends the translation to *out; the caller tests out->failed. *beyond becomes true if the
 * pattern needs more than regex.h can do; a translation for regex.h must not be used then. Returns
 * MWL_OK, MWL_E_SYNTAX with message and offset, MWL_E_TOO_BIG (nesting) or MWL_E_NOMEM. */
mwl_status mwl__pattern_translate(const mwl_alloc *a, const char *text, size_t len,
                                  mwl__pattern_target target, mwl__buf *out, bool *beyond,
                                  mwl_error *err);

#endif
