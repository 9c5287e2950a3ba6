/* pattern.h: regular expressions of JSON Schema: ECMA-262 in its Unicode mode, unanchored.
 *
 * Owns: what ECMA-262 accepts and what it means. A pattern that the linear matcher can say (no
 * look-around, no back-reference) runs there; any other runs in PCRE2 under limits. A compiled
 * pattern is immutable and may be shared by threads. */
#ifndef MWL_PATTERN_H
#define MWL_PATTERN_H

#include "mwl.h"
#include "vm/regex/regex.h"

/* Work of one search by backtracking, past which it is given up: items of the pattern that were
 * tried, and one for every 16 bytes that an item took. About 30 ns each. */
#ifndef MWL__PATTERN_WORK_LIMIT
#define MWL__PATTERN_WORK_LIMIT 20000000u
#endif
/* Groups within each other: PCRE2 compiles them by recursion, some 500 bytes of C stack each. */
#ifndef MWL__PATTERN_NEST
#define MWL__PATTERN_NEST 100u
#endif
/* Memory of one search by backtracking, in KiB. */
#ifndef MWL__PATTERN_HEAP_KIB
#define MWL__PATTERN_HEAP_KIB 16384u
#endif

typedef struct mwl__pattern mwl__pattern;

/* Compile. MWL_E_SYNTAX with message and offset: not ECMA-262. MWL_E_UNSUPPORTED: it is, but
 * neither matcher can run it (a look-behind without fixed length). MWL_E_TOO_BIG; MWL_E_NOMEM. */
mwl_status mwl__pattern_compile(const mwl_alloc *a, const char *text, size_t len,
                                mwl__pattern **out, mwl_error *err);
void mwl__pattern_free(mwl__pattern *p); /* NULL is allowed */

/* Does the pattern match somewhere in the subject, which is UTF-8? Fuel as mwl__regex_search;
 * where PCRE2 searches, also 1 per 4 of its work. MWL_E_FUEL: fuel or a limit ran out;
 * MWL_E_UTF8; MWL_E_NOMEM. */
mwl_status mwl__pattern_search(const mwl__pattern *p, mwl__regex_scratch *scratch,
                               const char *subject, size_t len, uint64_t *fuel, bool *matched);

/* Is the text an ECMA-262 regular expression, compilable here or not? false also when memory is
 * out. */
bool mwl__pattern_valid(const mwl_alloc *a, const char *text, size_t len);

#endif
