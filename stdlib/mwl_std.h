/* mwl_std.h: the standard library: the providers that the language defines, and libraries of CEL
 * functions.
 *
 * All of it is written with mwl.h and mwl_provider.h alone. */
#ifndef MWL_STD_H
#define MWL_STD_H

#include "mwl_provider.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Adds everything to a VM: the functions below, and the providers mock, Retry, Timeout, Loop and
 * Finally. Call it once, before the first run. After a failure the VM may have a part of it.
 * Returns MWL_OK, MWL_E_NOMEM, MWL_E_DUPLICATE (the VM has a part of it already) or MWL_E_STATE
 * (the first run was started before). error may be NULL. */
MWL_API mwl_status mwl_std_register(mwl_vm *vm, mwl_error *error);

/* Returns table i of functions, for mwl_vm_functions(), and its length in *count. The tables are:
 * strings, lists, sets, encoders, math, optional, network. They are constant. Returns NULL after
 * the last one. Any thread. */
MWL_API const mwl_function_def *mwl_std_functions(size_t i, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
