/* std.c: the list of the function libraries. */
#include "mwl_std.h"
#include "stdlib/std_impl.h"
#include "stdlib/std_tables.h"

#include <stdio.h>

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

void mwl__std_bad_duration(mwl_phase *phase, const char *parameter) {
    char message[64];
    snprintf(message, sizeof message, "`%s` is not a duration", parameter);
    mwl_phase_fail(phase, NULL, "System.ParameterValidationFailed", message, mwl_absent());
}
