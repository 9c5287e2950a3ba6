/* mwl_std.h: what mwlvm brings for programs to name: libraries of CEL functions.
 *
 * All of it is written on mwl.h and mwl_provider.h alone. */
#ifndef MWL_STD_H
#define MWL_STD_H

#include "mwl_provider.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The i-th table of functions and how many it has: strings, lists, sets, encoders, math, optional,
 * network. NULL past the last. For mwl_vm_functions. */
MWL_API const mwl_function_def *mwl_std_functions(size_t i, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
