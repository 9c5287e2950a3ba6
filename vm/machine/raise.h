/* raise.h: failures that the machine raises itself.
 *
 * A fault is an expression's or a field's failure on its way to a handler (x->fault). The handler
 * of a construct makes a failure of it, which waits in vm->raised for the *_FAULT instruction that
 * the handler leads to. */
#ifndef MWL_RAISE_H
#define MWL_RAISE_H

#include "vm/machine/state.h"

/* Each sets x->fault and returns MWL_PC_FAULT, or MWL_PC_NOMEM. */
uint32_t mwl__raise(mwl__frame *f, mwl__failure_code code, const char *message,
                    mwl_value take_details);
/* System.ParameterValidationFailed, for a field whose type the specification gives. */
uint32_t mwl__raise_parameter(mwl__frame *f, const char *where, mwl_value observed,
                              const char *message);
/* The same for one field of an envelope: what mwl__failure_build found wrong. */
uint32_t mwl__raise_envelope(mwl__frame *f, const char *where, uint32_t shape,
                             const mwl_value *values, uint32_t field, const char *wrong);

/* Makes vm->raised of x->fault, and clears the registers. Returns false if out of memory, or if
 * there is no frame. */
bool mwl__raised_set(mwl__exec *x);
/* Returns vm->raised, given; afterwards vm->raised is absent. */
static inline mwl_value mwl__raised_take(mwl__frame *f) {
    mwl_vm *vm = mwl__vm_of(f);
    mwl_value failure = vm->raised;
    vm->raised = mwl_absent();
    return failure;
}

#endif
