/* regex.h: regular expressions with RE2's syntax and meaning, in time linear in the subject.
 *
 * Owns: parsing, compiling and the yes-or-no search that CEL's `matches` needs: UTF-8, unanchored,
 * no captures. Refuses to know: ECMA-262 (pattern.h) and values. A program is immutable and may be
 * shared by threads; everything that changes during a search is in a scratch, one per VM. */
#ifndef MWL_REGEX_H
#define MWL_REGEX_H

#include "mwl.h"

typedef struct mwl__regex mwl__regex;
typedef struct mwl__regex_scratch mwl__regex_scratch;

/* Flags of mwl__regex_compile. */
enum {
    MWL__REGEX_UNASSIGNED = 1 /* \p{Cn}, \p{LC} exist and \p{C} contains Cn, as in ECMA-262 */
};

/* Compiles a pattern. Returns MWL_OK, MWL_E_SYNTAX with message and offset, MWL_E_TOO_BIG (beyond a
 * limit) or MWL_E_NOMEM. Adds its work (ranges and instructions) to *work, also when it fails. work
 * may be NULL. */
mwl_status mwl__regex_compile(const mwl_alloc *a, const char *pattern, size_t len, unsigned flags,
                              uint64_t *work, mwl__regex **out, mwl_error *err);
/* The same, given up with MWL_E_FUEL when its own work exceeds `most`. */
mwl_status mwl__regex_compile_within(const mwl_alloc *a, const char *pattern, size_t len,
                                     unsigned flags, uint64_t most, uint64_t *work,
                                     mwl__regex **out, mwl_error *err);
void mwl__regex_free(mwl__regex *re); /* NULL is allowed */

/* Finds whether the pattern matches somewhere in the subject. Charges 1, and 1 per 8 bytes, before
 * it begins, and 1 per 64 instructions while it builds states. Returns MWL_OK, MWL_E_NOMEM, or
 * MWL_E_FUEL if *fuel is too small; *fuel is 0 then. fuel NULL means no limit. */
mwl_status mwl__regex_search(const mwl__regex *re, mwl__regex_scratch *scratch, const char *subject,
                             size_t len, uint64_t *fuel, bool *matched);

/* The memory of searches. It grows as needed, can be used for any number of programs, and may
 * outlive them. */
mwl_status mwl__regex_scratch_new(const mwl_alloc *a, mwl__regex_scratch **out);
void mwl__regex_scratch_free(mwl__regex_scratch *s); /* NULL is allowed */

/* Compiles through a small cache in the scratch, for patterns that are computed at run time. *out
 * is lent until the next call. A pattern that is not in the cache charges 64, its bytes, and 1 per
 * 8 ranges and instructions, while it is compiled. Returns MWL_E_FUEL with *fuel 0, or what
 * mwl__regex_compile returns. */
mwl_status mwl__regex_cached(mwl__regex_scratch *s, const char *pattern, size_t len, uint64_t *fuel,
                             const mwl__regex **out, mwl_error *err);

/* A place in the scratch for the memory of the other matcher. `release` is called with `data` when
 * the scratch is freed. Zero in a new scratch. */
typedef struct mwl__regex_guest {
    mwl_alloc alloc; /* the scratch's */
    void *data;
    void (*release)(void *data);
} mwl__regex_guest;
mwl__regex_guest *mwl__regex_scratch_guest(mwl__regex_scratch *s);
mwl__regex_guest *
mwl__regex_scratch_store(mwl__regex_scratch *s); /* another, of mwl__regex_cached */

/* Returns the general category of a code point, by its number: 0 Cn, 1 Lu, 2 Ll, 3 Lt, 4 Lm, 5 Lo,
 * 6 Mn, 7 Mc, 8 Me, 9 Nd, and so on (regex_class.c). */
unsigned mwl__class_category(uint32_t rune);

#endif
