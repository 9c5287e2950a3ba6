/* cel_fold.h: finds which nodes of a tree are constants, and their values.
 *
 * Owns: evaluating nodes that depend on no variable, with the operators of run time. A node that
 * would raise a fault is not a constant: the fault belongs to run time. */
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
    bool failed; /* out of memory */
} mwl__cel_fold;

mwl_status mwl__cel_fold_init(mwl__cel_fold *f, const mwl_alloc *alloc,
                              const mwl__functions *functions);
void mwl__cel_fold_done(mwl__cel_fold *f);

/* Evaluates every node that can be folded. Returns MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__cel_fold_tree(mwl__cel_fold *f, const mwl__cel_tree *tree);

/* Returns the value of a constant node, lent until mwl__cel_fold_done; NULL if the node is not a
 * constant. */
static inline const mwl_value *mwl__cel_fold_get(const mwl__cel_fold *f, const mwl__cel_node *n) {
    return n->note ? &f->values[(uintptr_t)n->note - 1] : NULL;
}

#endif
