/* cel.h: free-standing expressions: text and named variables in, a loaded program, values out.
 *
 * Owns: the way through parser, resolver, checker, lowering and loader for one expression, and the
 * names that every expression knows: types, well-known messages. Used by `mwlvm eval`, the
 * conformance suite, tests and benchmarks; a Flow's expressions go the same way, one by one, into
 * the Flow's program. */
#ifndef MWL_CEL_H
#define MWL_CEL_H

#include "assembler/cel/cel_front.h"
#include "vm/cel/functions.h"

/* ---- names that do not depend on the site ---------------------------------------------------- */

/* What a full name is, variables apart: MWL__CEL_NAME_* bits, as mwl__cel_names.lookup wants. */
unsigned mwl__cel_standard_name(const mwl__functions *functions, const char *name, size_t len,
                                mwl__cel_lit *lit);
/* For mwl__cel_check_options; ctx is not used. */
bool mwl__cel_is_message(void *ctx, const char *name, size_t len);

/* ---- compiling ------------------------------------------------------------------------------- */

typedef struct mwl__cel_env {
    const mwl_alloc *alloc;          /* NULL: the default */
    const mwl__functions *functions; /* must outlive what is compiled */
    const char *const *vars;         /* full names; variable i is slot i */
    size_t n_vars;
    const char *container;        /* NULL: none */
    const mwl__cel_macro *macros; /* besides the standard ones; NULL: none */
    bool no_macros, no_check;
    bool
        as_data; /* the result crosses the boundary: a data value, or System.UnrepresentableValue */
    const char *function_words, *name_words; /* of other languages (mwl__word_find), or NULL */
    mwl__cel_sink sink;
} mwl__cel_env;

typedef struct mwl__cel_code {
    mwl_alloc alloc;
    mwl_program *program;
    const mwl_function_def **functions;
} mwl__cel_code;

/* MWL_OK, or what parser, checker and lowering answer (after reports), MWL_E_NOT_FOUND for an
 * unknown function when nothing was checked. On failure there is nothing to free. */
mwl_status mwl__cel_compile(const mwl__cel_env *env, const char *text, size_t len,
                            mwl__cel_code *out);
void mwl__cel_free(mwl__cel_code *code); /* also of zeros */

/* ---- evaluating ------------------------------------------------------------------------------ */

/* Run with variable i being values[i] (lent; absent: has no value). MWL_EXEC_END: *out is given,
 * and may refer to constants of the program, which must outlive it.
 * MWL_EXEC_FAULT: x->fault, which the context keeps until its next use. MWL_EXEC_YIELD: set
 * x->slice and call mwl__cel_resume, or mwl__exec_clear to give up. */
mwl__outcome mwl__cel_eval(const mwl__cel_code *code, mwl__exec *x, const mwl_value *values,
                           size_t n_values, mwl_value *out);
mwl__outcome mwl__cel_resume(mwl__exec *x, mwl_value *out);

/* A value as CEL would write it: 1, 1u, 1.0, "a", b"\xff", [1], {"a": 1}, timestamp("..."), int. */
void mwl__cel_write(mwl__buf *out, mwl_value v);

#endif
