/* show_value.h: where a saved run is, what it waits for, its variables, as a value. */
#ifndef MWL_TOOLS_SHOW_VALUE_H
#define MWL_TOOLS_SHOW_VALUE_H

#include "mwl.h"

/* The run is loaded into the VM, silently. size: of its bytes. Given; absent if out of memory. */
mwl_value show_value(mwl_vm *vm, mwl_run *run, const mwl_saved *saved, size_t size);

#endif
