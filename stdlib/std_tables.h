/* std_tables.h: the tables that std.c lists, one per cel_<library>.c, and the few functions that
 * one library uses from another. */
#ifndef MWL_STD_TABLES_H
#define MWL_STD_TABLES_H

#include "mwl_provider.h"

#define MWL_STD_TABLES(X)                                                                          \
    X(strings)                                                                                     \
    X(lists)                                                                                       \
    X(sets)                                                                                        \
    X(encoders)                                                                                    \
    X(math)                                                                                        \
    X(optional)                                                                                    \
    X(network)

#define X(lib)                                                                                     \
    extern const mwl_function_def mwl__##lib##_functions[];                                        \
    extern const size_t mwl__##lib##_count;
MWL_STD_TABLES(X)
#undef X

/* string.format, of the strings library (cel_format.c). */
mwl_value mwl__format_string(mwl_fn *fn, const mwl_value *args, size_t n_args);
/* list.reverse() (cel_lists.c). A name has one function, so the one for strings calls this for
 * lists. */
mwl_value mwl__lists_reverse(mwl_fn *fn, mwl_value list);

#endif
