/* cel_fold.h: which nodes of a tree are constants, and what they are.
 *
 * Owns: evaluating what depends on no variable, with the operators that run time uses. What would
 * raise is no constant: its fault belongs to run time. */
#ifndef MWL_CEL_FOLD_H
#define MWL_CEL_FOLD_H

#include "assembler/cel/cel_ast.h"
#include "vm/cel/functions.h"

typedef struct mwl__cel_fold {
    mwl_heap heap;
    mwl__exec x;
    const mwl__functions *functions;
    mwl_value *values; /* a node's note is an index here + 1 */
    size_t n, cap;
    bool failed; /* memory is out */
} mwl__cel_fold;

mwl_status mwl__cel_fold_init(mwl__cel_fold *f, const mwl_alloc *alloc,
                              const mwl__functions *functions);
void mwl__cel_fold_done(mwl__cel_fold *f);

/* Settle every node. MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__cel_fold_tree(mwl__cel_fold *f, const mwl__cel_tree *tree);

/* The value of a constant node, lent until done; NULL when it is none. */
static inline const mwl_value *mwl__cel_fold_get(const mwl__cel_fold *f, const mwl__cel_node *n) {
    return n->note ? &f->values[(uintptr_t)n->note - 1] : NULL;
}

#endif
