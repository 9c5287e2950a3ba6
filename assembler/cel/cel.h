/* cel.h: expressions outside a Flow. Compiles the text of an expression with named variables to a
 * loaded program, and runs it.
 *
 * Owns: the order of parser, resolver, checker, lowering and loader for one expression, and the
 * names that every expression knows: types, well-known messages. `mwlvm eval`, the conformance
 * suite, tests and benchmarks use it. The expressions of a Flow take the same steps, one by one,
 * into the program of the Flow. */
#ifndef MWL_CEL_H
#define MWL_CEL_H

#include "assembler/cel/cel_front.h"
#include "vm/cel/functions.h"

/* ---- names that do not depend on the site ---------------------------------------------------- */

/* Returns what a full name is, except variables: MWL__CEL_NAME_* bits, for
 * mwl__cel_names.lookup. */
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
    bool as_data; /* the result must be a data value, otherwise System.UnrepresentableValue */
    const char *function_words, *name_words; /* of other languages (mwl__word_find), or NULL */
    mwl__cel_sink sink;
} mwl__cel_env;

typedef struct mwl__cel_code {
    mwl_alloc alloc;
    mwl_program *program;
    const mwl_function_def **functions;
} mwl__cel_code;

/* Compiles an expression. Returns MWL_OK, or what the parser, the checker or the lowering returns
 * (after reports), or MWL_E_NOT_FOUND for an unknown function if nothing was checked. On failure
 * there is nothing to free. */
mwl_status mwl__cel_compile(const mwl__cel_env *env, const char *text, size_t len,
                            mwl__cel_code *out);
void mwl__cel_free(mwl__cel_code *code); /* all zero is allowed */

/* ---- evaluating ------------------------------------------------------------------------------ */

/* Runs the program; variable i is values[i] (lent; absent: it has no value). MWL_EXEC_END: *out is
 * given, and may refer to constants of the program, which must outlive it.
 * MWL_EXEC_FAULT: x->fault has the fault until the next use of the context. MWL_EXEC_YIELD: set
 * x->slice and call mwl__cel_resume, or call mwl__exec_clear to stop. */
mwl__outcome mwl__cel_eval(const mwl__cel_code *code, mwl__exec *x, const mwl_value *values,
                           size_t n_values, mwl_value *out);
mwl__outcome mwl__cel_resume(mwl__exec *x, mwl_value *out);

/* Writes a value as CEL text: 1, 1u, 1.0, "a", b"\xff", [1], {"a": 1}, timestamp("..."), int. */
void mwl__cel_write(mwl__buf *out, mwl_value v);

#endif
