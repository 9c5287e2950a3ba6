/* exec.h: the interpreter loop. Its context is vm/cel/exec_context.h. */
#ifndef MWL_EXEC_H
#define MWL_EXEC_H

#include "vm/cel/exec_context.h"

/* Runs from x->pc until there is an outcome. All registers must hold valid values (null at the
 * start). */
mwl__outcome mwl__exec_run(mwl__exec *x);
/* For mwl__linked_new: the labels of its handlers; NULL if this build has none. */
const void *const *mwl__exec_labels(void);

#endif
