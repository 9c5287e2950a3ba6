/* cel_type.h: types for cel_deduce; see cel_type.c. */
#ifndef CEL_TYPE_H
#define CEL_TYPE_H

#include "vm/base/mem.h"

#define CEL_TYPE_PARAMS 4 /* parameters of one type; tuples of tests have three */

/* A constructor with parameters ("int", "list" of one, "map" of two), or a variable. */
typedef struct cel_type cel_type;
struct cel_type {
    const char *name; /* NULL: a variable */
    cel_type *bound;  /* the present meaning of a variable, or NULL */
    uint32_t n_params;
    cel_type *params[CEL_TYPE_PARAMS];
};

/* All functions return NULL when out of memory, and when given a NULL. */
cel_type *cel_type_new(mwl__arena *arena, const char *name, size_t n, cel_type *a, cel_type *b);
cel_type *cel_type_var(mwl__arena *arena);
/* Returns what a type means now: follows variables. */
cel_type *cel_type_find(cel_type *t);
bool cel_type_is(cel_type *t, const char *name);

/* The names of one overload: `$T` is the same variable everywhere in it. */
typedef struct cel_type_scope {
    mwl__arena *arena;
    const char *names[8];
    size_t lens[8];
    cel_type *vars[8];
    size_t n;
} cel_type_scope;
/* Reads a type from text: "map(string, $T)". Also returns NULL if the text is not a type. */
cel_type *cel_type_read(cel_type_scope *scope, const char *text);

/* Returns whether the two can be the same type. Binds variables, and widens them if one side is
 * dyn. Variables that were bound before a failure stay bound, so use new variables for each try. */
bool cel_type_unify(cel_type *a, cel_type *b, unsigned depth);
/* Returns the most specific type that both have; dyn where they differ. */
cel_type *cel_type_join(mwl__arena *arena, cel_type *a, cel_type *b, unsigned depth);
void cel_type_write(mwl__buf *out, cel_type *t, unsigned depth);

#endif
