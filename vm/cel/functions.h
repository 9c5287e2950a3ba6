/* functions.h: the functions that expressions can call by name, and how a program finds them.
 *
 * Owns: the registry (a table of mwl_function_def, mwl_provider.h) and the record of a running
 * function. Refuses to know: any function. A registry is filled, then only read; several VMs may
 * share it. */
#ifndef MWL_FUNCTIONS_H
#define MWL_FUNCTIONS_H

#include "vm/base/table.h"
#include "vm/cel/exec_context.h"
#include "mwl_provider.h"

struct mwl_fn {
    mwl__exec *x;
    const mwl_function_def *def;
    const mwl_value *args;
    size_t n_args;
};

typedef struct mwl__functions {
    mwl_alloc alloc;
    const mwl_function_def **defs; /* in the order of registration, lent */
    size_t n_defs, cap_defs;
    mwl__table names; /* the first def of each name */
    uint32_t *next;   /* the next def of the same name + 1, or 0; parallel to defs */
    size_t cap_next;
} mwl__functions;

void mwl__functions_init(mwl__functions *f, const mwl_alloc *alloc); /* NULL: the default */
void mwl__functions_done(mwl__functions *f);

/* Adds a table, which must outlive the registry. Returns MWL_OK, MWL_E_DUPLICATE if a call could
 * mean two functions (same name, style and number of arguments), MWL_E_USAGE for a def without
 * name, call or style, or MWL_E_NOMEM. */
mwl_status mwl__functions_add(mwl__functions *f, const mwl_function_def *defs, size_t n);

/* Returns the function that a call means, or NULL. n_args counts the receiver of a member call. */
const mwl_function_def *mwl__functions_find(const mwl__functions *f, const char *name, size_t len,
                                            size_t n_args, bool member);
/* Returns the styles in which the name is a function, as MWL_FN_* bits; 0 if it is not a
 * function. */
unsigned mwl__functions_styles(const mwl__functions *f, const char *name, size_t len);

/* Resolves every function reference of the program. *out is n_funcs pointers, allocated with alloc,
 * or NULL if there are none. Returns MWL_OK, MWL_E_NOMEM, or MWL_E_NOT_FOUND with the name in
 * *missing (lent by the program). */
mwl_status mwl__functions_link(const mwl__functions *f, const mwl_alloc *alloc,
                               const mwl_program *p, const mwl_function_def ***out,
                               const char **missing);

/* Calls a function and charges a step. Returns true, and *out is given; or false, and x->halt is
 * set. */
bool mwl__functions_call(mwl__exec *x, const mwl_function_def *def, const mwl_value *args,
                         size_t n_args, mwl_value *out);

#endif
