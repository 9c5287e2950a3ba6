/* std_register.c: adds the standard library to a VM.
 *
 * The namespace `mwl` is closed to hosts, so the providers use the functions of
 * assembler/provider/provide.h for the language's own documents. */
#include "mwl_std.h"

#include "assembler/provider/provide.h"
#include "stdlib/std_impl.h"

static mwl_status add_functions(mwl_vm *vm, mwl_error *error) {
    mwl_status st = MWL_OK;
    const mwl_function_def *table;
    size_t n;
    for (size_t i = 0; st >= 0 && (table = mwl_std_functions(i, &n)); i++)
        st = mwl_vm_functions(vm, table, n);
    if (st < 0 && error) *error = (mwl_error){st, mwl_status_text(st), 0};
    return st;
}

mwl_status mwl_std_add(mwl_vm *vm, unsigned parts, mwl_error *error) {
    const struct {
        unsigned part;
        const mwl_middleware *middleware;
    } rows[] = {{MWL_STD_RETRY, &mwl__std_retry},
                {MWL_STD_TIMEOUT, &mwl__std_timeout},
                {MWL_STD_LOOP, &mwl__std_loop},
                {MWL_STD_FINALLY, &mwl__std_finally}};
    mwl_status st = parts & MWL_STD_FUNCTIONS ? add_functions(vm, error) : MWL_OK;
    if (st >= 0 && (parts & MWL_STD_MOCK))
        st = mwl__provide_trusted(vm, &mwl__std_mock, NULL, error);
    for (size_t i = 0; st >= 0 && i < sizeof rows / sizeof *rows; i++)
        if (parts & rows[i].part)
            st = mwl__provide_trusted_middleware(vm, rows[i].middleware, error);
    return st;
}

mwl_status mwl_std_register(mwl_vm *vm, mwl_error *error) {
    return mwl_std_add(vm, MWL_STD_LANGUAGE, error);
}
