/* cel_deduce.h: the type of a CEL expression as far as it is known before it runs: for editors, and
 * for the suite's tests of the type checker. */
#ifndef CEL_DEDUCE_H
#define CEL_DEDUCE_H

#include "assembler/cel/cel_front.h"

/* Declarations, types as text: "list(int)", "map(string, $T)", "optional_type(dyn)". */
typedef struct cel_overload {
    const char *const *params; /* for a member, the target first */
    size_t n_params;
    const char *result;
    bool member;
} cel_overload;

typedef struct cel_decl {
    const char *name;
    const char *type; /* a variable's; NULL for a function */
    const cel_overload *overloads;
    size_t n_overloads;
} cel_decl;

/* Writes the type of the expression as text in the arena; "dyn" if nothing is known. Needs a
 * resolved tree. Returns MWL_OK, MWL_E_REJECTED if no overload fits, or MWL_E_NOMEM. */
mwl_status cel_deduce(mwl__arena *arena, const mwl__cel_tree *tree, const cel_decl *decls,
                      size_t n_decls, const char **type);

#endif
