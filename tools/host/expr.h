/* expr.h: CEL expressions that a person gives to the command: conditions of answers, expectations
 * of tests, invariants. Compiled once, evaluated often, with values by name.
 *
 * Owns: what an expression outside a Flow needs (functions, zones, registers) and a limit of work.
 * Refuses to know: what the names mean. */
#ifndef MWL_TOOLS_EXPR_H
#define MWL_TOOLS_EXPR_H

#include "assembler/cel/cel.h"

/* Where expressions are evaluated: their values live in `heap`, which must outlive it. */
struct expr_env {
    mwl_heap *heap;
    mwl__functions functions;
    mwl__zones zones;
    mwl__exec x;
    mwl__clock_pin now; /* what now() returns; set it before evaluating */
    bool ready;         /* the rest was made, with the first expression */
};

/* Needs no memory yet. */
void expr_env_init(struct expr_env *env, mwl_heap *heap);
void expr_env_free(struct expr_env *env);
/* Adds functions besides the standard ones; before the first expression. The table must outlive the
 * environment. */
mwl_status expr_env_functions(struct expr_env *env, const mwl_function_def *table, size_t n);

/* All zero: no expression. */
struct expr {
    mwl__cel_code code;
    bool set;
};

/* Compiles a text, with or without {{ }} around it; variable i is names[i]. Returns MWL_OK, or a
 * status and the reason in `why`. */
mwl_status expr_compile(struct expr_env *env, const char *text, size_t len,
                        const char *const *names, size_t n_names, struct expr *out, char *why,
                        size_t size);
void expr_free(struct expr *e);

/* Evaluates it; values[i] is lent and may be absent. Returns a value, given: it may refer to
 * constants of the expression, which must outlive it. Absent after a fault, with the reason in
 * `why`. */
mwl_value expr_eval(struct expr_env *env, const struct expr *e, const mwl_value *values,
                    size_t n_values, char *why, size_t size);
/* Evaluates a condition. Returns whether its value is true; if not, `why` is "" or has the reason
 * why there is no true or false. */
bool expr_holds(struct expr_env *env, const struct expr *e, const mwl_value *values,
                size_t n_values, char *why, size_t size);

#endif
