/* cel_lib.h: the function tables of vm/, and what their files share.
 *
 * Owns: only declarations. Each file cel_<lib>.c defines mwl__<lib>_functions and its count.
 * Libraries that the language does not require are in stdlib/, written with the public headers
 * alone. */
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
extern const mwl_function_def
    mwl__message_functions[]; /* functions that literals and macros are translated to */
extern const size_t mwl__message_count;

/* Returns table i of those above; NULL after the last one. */
const mwl_function_def *mwl__cel_table(size_t i, size_t *count);

/* Lets a function fail with a status of the value layer or of a matcher. Out of memory and out of
 * fuel end the run; any other status fails with the message `what` (constant text). Returns
 * absent. */
mwl_value mwl__cel_failed(mwl_fn *fn, mwl_status status, const char *what);

#endif
