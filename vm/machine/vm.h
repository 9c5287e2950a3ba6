/* vm.h: the VM's catalog of providers. What a host calls is in mwl.h. */
#ifndef MWL_VM_H
#define MWL_VM_H

#include "vm/machine/state.h"

mwl__provider *mwl__vm_provider(const mwl_vm *vm, const char *uri, size_t len); /* or NULL */
mwl_status mwl__vm_add_provider(mwl_vm *vm, mwl__provider *take); /* not taken when it fails */
void mwl__vm_free_provider(mwl_vm *vm, mwl__provider *p);

#endif
