/* regex.h: regular expressions with RE2's syntax and meaning, in time linear in the subject.
 *
 * Owns: parsing, compiling and the yes-or-no search that CEL's `matches` needs: UTF-8, unanchored,
 * no captures. Refuses to know: ECMA-262 (pattern.h) and values. A program is immutable and may be
 * shared by threads; everything that changes during a search is in a scratch, one per VM. */
#ifndef MWL_REGEX_H
#define MWL_REGEX_H

#include "mwl.h"

/* Instructions of one program: bounds memory (8 bytes each) and the work per symbol at worst. */
#ifndef MWL__REGEX_MAX_INST
#define MWL__REGEX_MAX_INST 100000u
#endif
/* Ranges of character classes that compiling one pattern may add and sort: bounds its time, since
 * three bytes such as \pL stand for six hundred ranges. */
#ifndef MWL__REGEX_MAX_WORK
#define MWL__REGEX_MAX_WORK 4000000u
#endif
/* Open groups within each other: bounds the parser's own stack. */
#ifndef MWL__REGEX_MAX_NEST
#define MWL__REGEX_MAX_NEST 1000u
#endif
/* Copies that counted repetitions may make of their innermost operand: RE2's own limit. */
#ifndef MWL__REGEX_MAX_REPEAT
#define MWL__REGEX_MAX_REPEAT 1000u
#endif
/* Bytes of the states remembered for one program; past it they are forgotten and found anew. */
#ifndef MWL__REGEX_CACHE_BYTES
#define MWL__REGEX_CACHE_BYTES (256u << 10)
#endif
/* Programs whose states one scratch remembers. A power of two. */
#ifndef MWL__REGEX_CACHE_SLOTS
#define MWL__REGEX_CACHE_SLOTS 64u
#endif

typedef struct mwl__regex mwl__regex;
typedef struct mwl__regex_scratch mwl__regex_scratch;

/* Flags of mwl__regex_compile. */
enum {
    MWL__REGEX_UNASSIGNED = 1 /* \p{Cn}, \p{LC} exist and \p{C} holds Cn, as in ECMA-262 */
};

/* Compile. MWL_E_SYNTAX with message and offset; MWL_E_TOO_BIG past a limit; MWL_E_NOMEM. What it
 * did is added to *work (NULL: not asked for), also when it fails: ranges and instructions. */
mwl_status mwl__regex_compile(const mwl_alloc *a, const char *pattern, size_t len, unsigned flags,
                              uint64_t *work, mwl__regex **out, mwl_error *err);
void mwl__regex_free(mwl__regex *re); /* NULL is allowed */

/* Does the pattern match somewhere in the subject? Charges 1 and 1 per 8 bytes up front, and 1 per
 * 64 instructions looked at while states are found. *fuel too small: MWL_E_FUEL, and it is then 0.
 * fuel NULL: no limit. Also MWL_E_NOMEM. */
mwl_status mwl__regex_search(const mwl__regex *re, mwl__regex_scratch *scratch, const char *subject,
                             size_t len, uint64_t *fuel, bool *matched);

/* The memory of searches; grows as needed, serves any number of programs, outlives them freely. */
mwl_status mwl__regex_scratch_new(const mwl_alloc *a, mwl__regex_scratch **out);
void mwl__regex_scratch_free(mwl__regex_scratch *s); /* NULL is allowed */

/* Compile through a small cache in the scratch, for patterns that are known only when they are
 * needed. The answer is lent until the next call. A pattern that is not in the cache charges 64,
 * its bytes, and one per 8 ranges and instructions of its compiling. MWL_E_FUEL, or as
 * mwl__regex_compile. */
mwl_status mwl__regex_cached(mwl__regex_scratch *s, const char *pattern, size_t len, uint64_t *fuel,
                             const mwl__regex **out, mwl_error *err);

/* A place in the scratch for the other matcher's own memory; `release` is called with `data` when
 * the scratch is freed. Zero at first. */
typedef struct mwl__regex_guest {
    mwl_alloc alloc; /* the scratch's */
    void *data;
    void (*release)(void *data);
} mwl__regex_guest;
mwl__regex_guest *mwl__regex_scratch_guest(mwl__regex_scratch *s);
mwl__regex_guest *
mwl__regex_scratch_store(mwl__regex_scratch *s); /* another, of mwl__regex_cached */

#endif
