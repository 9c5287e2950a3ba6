/* cel_lib.h: the function tables that vm itself brings, and what their files share.
 *
 * Owns: nothing but declarations. Each file cel_<lib>.c defines mwl__<lib>_functions and its count.
 * The libraries above the language's floor are in stdlib/, written on the public headers alone. */
#ifndef MWL_CEL_LIB_H
#define MWL_CEL_LIB_H

#include "vm/cel/functions.h"

extern const mwl_function_def mwl__std_functions[]; /* size, contains, matches, type ... */
extern const size_t mwl__std_count;
extern const mwl_function_def mwl__convert_functions[]; /* int, string, timestamp ... */
extern const size_t mwl__convert_count;
extern const mwl_function_def mwl__time_functions[]; /* getFullYear ... */
extern const size_t mwl__time_count;
extern const mwl_function_def mwl__mwl_functions[]; /* toJson ... now, wallTime */
extern const size_t mwl__mwl_count;
extern const mwl_function_def mwl__message_functions[]; /* what literals and macros lower to */
extern const size_t mwl__message_count;

/* The tables above one after the other: NULL when i is past the last. */
const mwl_function_def *mwl__cel_table(size_t i, size_t *count);

/* A status of the value layer or of a matcher as the function's failure: out of memory and fuel end
 * the run, the rest is `what` (constant text). Answers absent. */
mwl_value mwl__cel_failed(mwl_fn *fn, mwl_status status, const char *what);

#endif
