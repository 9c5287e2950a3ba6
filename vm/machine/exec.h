/* exec.h: the interpreter loop. Its context is vm/cel/exec_context.h. */
#ifndef MWL_EXEC_H
#define MWL_EXEC_H

#include "vm/cel/exec_context.h"

/* Run from x->pc until an outcome. Registers must all hold valid values before (null at the start).
 */
mwl__outcome mwl__exec_run(mwl__exec *x);

#endif
