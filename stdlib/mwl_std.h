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

/* The parts of the standard library. */
enum {
    MWL_STD_FUNCTIONS = 1, /* the functions below */
    MWL_STD_RETRY = 2,     /* the four middlewares of the language */
    MWL_STD_TIMEOUT = 4,
    MWL_STD_LOOP = 8,
    MWL_STD_FINALLY = 16,
    MWL_STD_LANGUAGE = 31, /* all of these */
    MWL_STD_MOCK = 32,     /* the call provider mock, which is for tests */
    MWL_STD_ALL = 63
};
/* Adds parts to a VM. After a failure the VM may have some of them. Returns MWL_OK, MWL_E_NOMEM or
 * MWL_E_DUPLICATE (the VM has a part already). error may be NULL. */
MWL_API mwl_status mwl_std_add(mwl_vm *vm, unsigned parts, mwl_error *error);
/* Adds MWL_STD_LANGUAGE. */
MWL_API mwl_status mwl_std_register(mwl_vm *vm, mwl_error *error);

/* Returns table i of functions, for mwl_vm_functions(), and its length in *count. The tables are:
 * strings, lists, sets, encoders, math, optional, network. They are constant. Returns NULL after
 * the last one. Any thread. */
MWL_API const mwl_function_def *mwl_std_functions(size_t i, size_t *count);

#ifdef __cplusplus
}
#endif
#endif
