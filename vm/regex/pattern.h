/* pattern.h: regular expressions of JSON Schema: ECMA-262 in its Unicode mode, unanchored.
 *
 * Owns: what ECMA-262 accepts and what it means. A pattern without look-around and back-reference
 * runs in the linear matcher; any other runs in PCRE2, with limits. A compiled pattern is immutable
 * and may be shared by threads. */
#ifndef MWL_PATTERN_H
#define MWL_PATTERN_H

#include "mwl.h"
#include "vm/regex/regex.h"

typedef struct mwl__pattern mwl__pattern;

/* Compiles a pattern. Adds its work to *work (may be NULL) as mwl__regex_compile does. Returns
 * MWL_OK, MWL_E_SYNTAX with message and offset (not ECMA-262), MWL_E_UNSUPPORTED (valid, but
 * neither matcher can run it: a look-behind without fixed length), MWL_E_TOO_BIG or MWL_E_NOMEM. */
mwl_status mwl__pattern_compile(const mwl_alloc *a, const char *text, size_t len, uint64_t *work,
                                mwl__pattern **out, mwl_error *err);
void mwl__pattern_free(mwl__pattern *p); /* NULL is allowed */

/* Finds whether the pattern matches somewhere in the subject, which must be UTF-8. Charges fuel
 * like mwl__regex_search and, if PCRE2 searches, also 1 per 4 units of its work. Returns MWL_OK,
 * MWL_E_FUEL (the fuel is used up, or a limit was reached), MWL_E_UTF8 or MWL_E_NOMEM. */
mwl_status mwl__pattern_search(const mwl__pattern *p, mwl__regex_scratch *scratch,
                               const char *subject, size_t len, uint64_t *fuel, bool *matched);

/* Returns whether the text is an ECMA-262 regular expression, even if it cannot be compiled here.
 * Also false if out of memory. */
bool mwl__pattern_valid(const mwl_alloc *a, const char *text, size_t len);

#endif
