/* tool_functions.h: every function library that this build has, for the commands, tests and
 * benchmarks. */
#ifndef MWL_TOOL_FUNCTIONS_H
#define MWL_TOOL_FUNCTIONS_H

#include "vm/cel/cel_lib.h"
#include "mwl_std.h"

static inline mwl_status tool_add_functions(mwl__functions *f) {
    mwl_status status = MWL_OK;
    size_t n = 0;
    const mwl_function_def *table;
    for (size_t i = 0; status == MWL_OK && (table = mwl__cel_table(i, &n)); i++)
        status = mwl__functions_add(f, table, n);
    for (size_t i = 0; status == MWL_OK && (table = mwl_std_functions(i, &n)); i++)
        status = mwl__functions_add(f, table, n);
    return status;
}

#endif
