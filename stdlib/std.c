/* std.c: the list of what stdlib brings. */
#include "mwl_std.h"
#include "std_tables.h"

const mwl_function_def *mwl_std_functions(size_t i, size_t *count) {
#define X(lib)                                                                                     \
    if (i-- == 0) {                                                                                \
        *count = mwl__##lib##_count;                                                               \
        return mwl__##lib##_functions;                                                             \
    }
    MWL_STD_TABLES(X)
#undef X
    *count = 0;
    return NULL;
}
