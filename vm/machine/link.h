/* link.h: a program linked to a VM: its imports resolved, its constant arguments checked. */
#ifndef MWL_LINK_H
#define MWL_LINK_H

#include "vm/machine/state.h"

/* The program's link, made on first use. On failure *error says what is missing or wrong. */
mwl_status mwl__link_program(mwl_vm *vm, mwl_program *program, mwl__link **out, mwl_error *error);
/* Programs that import `old` use `new` for calls and entries that begin from here on. MWL_E_NOMEM,
 * or an error of its document if that is read now: nothing has changed then. */
mwl_status mwl__link_replace(mwl_vm *vm, const mwl__provider *old, mwl__provider *new);
/* Are these valid arguments? schema NULL: only {} is. */
bool mwl__link_accepts(mwl_vm *vm, const mwl__schema *schema, mwl_value args);
void mwl__link_free(mwl_vm *vm, mwl__link *link); /* not in vm->links any more */
void mwl__link_free_forgotten(mwl_vm *vm);        /* forgotten by the host, without a run */

#endif
