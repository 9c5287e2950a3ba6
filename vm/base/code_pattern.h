/* code_pattern.h: the grammar of the patterns that match codes of failures.
 *
 * Owns: what a pattern is. Refuses to know: which codes it matches (failure.c). */
#ifndef MWL_CODE_PATTERN_H
#define MWL_CODE_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* spec: step-mechanics, failure matching. Is this a code, a prefix of whole segments with `.*`
 * behind it, or `*`? */
static inline bool mwl__is_code_pattern(const char *s, size_t len) {
    if (len == 1 && s[0] == '*') return true;
    if (len >= 2 && memcmp(s + len - 2, ".*", 2) == 0) len -= 2;
    return len > 0 && !memchr(s, '*', len);
}

#endif
