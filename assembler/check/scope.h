/* scope.h: sets of names, and the roots of an expression's site. */
#ifndef MWL_SCOPE_H
#define MWL_SCOPE_H

#include "assembler/cel/cel_front.h"
#include "assembler/source/read.h"
#include "vm/base/table.h"

/* A set of names, each with flags and the place where it was first used. It grows in an arena. */
typedef struct mwl__name {
    const char *text;
    uint32_t len;
    uint32_t id; /* its place in the set */
    unsigned flags;
    const mwl__node
        *node; /* where it was first put; with `begin` and `end` when that is in a text */
    uint32_t begin, end;
} mwl__name;

typedef struct mwl__names {
    mwl__name *at; /* in the order they were put */
    size_t n, cap;
    mwl__table table;
} mwl__names;

enum { MWL__VAR_PARAMETER = 1, MWL__VAR_BOUND = 2, MWL__VAR_READ = 4, MWL__VAR_TESTED = 8 };

/* Adds flags to a name, and the name if it is new. Returns its entry, which is valid until the next
 * addition, or NULL if out of memory. */
mwl__name *mwl__names_put(mwl__names *s, mwl__arena *arena, const char *text, size_t len,
                          unsigned flags);
const mwl__name *mwl__names_find(const mwl__names *s, const char *text, size_t len);

#define MWL__N_ROOTS 10
/* Lists the roots, each with the reason why it does not exist at such a site, or NULL if it does.
 */
void mwl__scope_roots(unsigned roots, mwl__cel_root out[MWL__N_ROOTS]);
/* Returns what a name is in expressions: MWL__CEL_NAME_* bits. */
unsigned mwl__scope_lookup(const mwl__names *functions, const char *name, size_t len,
                           mwl__cel_lit *lit);

#endif
