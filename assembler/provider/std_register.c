/* std_register.c: adds the standard library to a VM.
 *
 * The namespace `mwl` is closed to hosts, so the providers use the functions of
 * assembler/provider/provide.h for the language's own documents. */
#include "mwl_std.h"

#include "assembler/provider/provide.h"
#include "stdlib/std_impl.h"

#include <stdio.h>

static mwl_status add_functions(mwl_vm *vm, mwl_error *error) {
    mwl_status st = MWL_OK;
    const mwl_function_def *table;
    size_t n;
    for (size_t i = 0; st >= 0 && (table = mwl_std_functions(i, &n)); i++)
        st = mwl_vm_functions(vm, table, n);
    if (st < 0 && error) *error = (mwl_error){st, mwl_status_text(st), 0};
    return st;
}

mwl_status mwl_std_register(mwl_vm *vm, mwl_error *error) {
    const mwl_middleware *const middleware[] = {&mwl__std_retry, &mwl__std_timeout, &mwl__std_loop,
                                                &mwl__std_finally};
    mwl_status st = add_functions(vm, error);
    if (st >= 0) st = mwl__provide_trusted(vm, &mwl__std_mock, error);
    for (size_t i = 0; st >= 0 && i < sizeof middleware / sizeof *middleware; i++)
        st = mwl__provide_trusted_middleware(vm, middleware[i], error);
    return st;
}
