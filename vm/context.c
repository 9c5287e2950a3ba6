/* context.c: what the binding roots resolve to.
 *
 * Owns: the members of `vars`, `step`, `call` ... as values. A free-standing expression has no frame
 * and no roots: its variables are env slots, which the interpreter answers itself. */
#include "exec.h"

mwl_value mwl__context_load(mwl__exec *x, unsigned base) {
    (void)x;
    (void)base;
    return mwl_absent();
}
