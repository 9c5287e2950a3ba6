/* cel_type.h: types for mwl__cel_deduce; see cel_type.c. */
#ifndef MWL_CEL_TYPE_H
#define MWL_CEL_TYPE_H

#include "assembler/cel/cel_ast.h"

#define MWL__CEL_TYPE_PARAMS 4 /* parameters of one type; tuples of tests have three */

/* A constructor with parameters ("int", "list" of one, "map" of two), or a variable. */
typedef struct mwl__cel_type mwl__cel_type;
struct mwl__cel_type {
    const char *name;     /* NULL: a variable */
    mwl__cel_type *bound; /* a variable's present meaning, or NULL */
    uint32_t n_params;
    mwl__cel_type *params[MWL__CEL_TYPE_PARAMS];
};

/* All functions answer NULL when memory is out, and pass on a NULL. */
mwl__cel_type *mwl__cel_type_new(mwl__arena *arena, const char *name, size_t n, mwl__cel_type *a,
                                 mwl__cel_type *b);
mwl__cel_type *mwl__cel_type_var(mwl__arena *arena);
/* What a type means now: variables followed. */
mwl__cel_type *mwl__cel_type_find(mwl__cel_type *t);
bool mwl__cel_type_is(mwl__cel_type *t, const char *name);

/* Names of one overload: `$T` is the same variable wherever it stands in it. */
typedef struct mwl__cel_type_scope {
    mwl__arena *arena;
    const char *names[8];
    size_t lens[8];
    mwl__cel_type *vars[8];
    size_t n;
} mwl__cel_type_scope;
/* "map(string, $T)" to a type. NULL also when the text is no type. */
mwl__cel_type *mwl__cel_type_read(mwl__cel_type_scope *scope, const char *text);

/* Whether the two can be the same type; binds variables, widening them where one side is dyn. What
 * was bound on the way to a failure stays bound, so ask of fresh variables. */
bool mwl__cel_type_unify(mwl__cel_type *a, mwl__cel_type *b, unsigned depth);
/* The most specific type that both have: dyn where they differ. */
mwl__cel_type *mwl__cel_type_join(mwl__arena *arena, mwl__cel_type *a, mwl__cel_type *b,
                                  unsigned depth);
void mwl__cel_type_write(mwl__buf *out, mwl__cel_type *t, unsigned depth);

#endif
