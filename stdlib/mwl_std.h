/* mwl_std.h: what mwlvm brings for programs to name: libraries of CEL functions, and the providers
 * that the language defines.
 *
 * All of it is written on mwl.h and mwl_provider.h alone. */
#ifndef MWL_STD_H
#define MWL_STD_H

#include "mwl_provider.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Add all of it to the VM, once, before its first run: the function tables below, and mock, Retry,
 * Timeout, Loop and Finally. E_NOMEM; E_DUPLICATE when a part is there already; E_STATE after the
 * first run was started. After a failure the VM may hold a part of it. error may be NULL. */
MWL_API mwl_status mwl_std_register(mwl_vm *vm, mwl_error *error);

/* The i-th table of functions and how many it has: strings, lists, sets, encoders, math, optional,
 * network. NULL past the last. For mwl_vm_functions. */
MWL_API const mwl_function_def *mwl_std_functions(size_t i, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
