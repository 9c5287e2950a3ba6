/* verify.h: the checks of a program image: once, when it is loaded, in linear time.
 *
 * Owns: everything that the interpreter and the machine rely on afterwards: indexes are in their
 * tables, registers below the program's count, jumps inside the code, and nothing runs for ever
 * without charging fuel (verify.c, verify_flow.c); loops have their shape (verify_loops.c); a
 * register that is read holds a value which is still there (verify_regs.c); brackets nest
 * (verify_nest.c). Refuses to know: the kinds of the values in registers. An instruction checks
 * them itself, because a hostile image can put any value into any register. */
#ifndef MWL_VERIFY_H
#define MWL_VERIFY_H

#include "vm/program/program.h"

/* Records of CONSTS, STRINGS and TREES, before values are made of them. A key that an object has
 * twice, and values that are too deep or too large, are found only then. */
mwl_status mwl__verify_consts(const mwl_program *p, mwl_error *error);

/* Check everything else except patterns, after the values of constants were made.
 * mwl__verify_tables sets n_env, and uses memory of p->trees while it runs. */
mwl_status mwl__verify_tables(mwl_program *p, mwl_error *error); /* PATHS, SHAPES, FUNCS, REGEXES */
mwl_status mwl__verify_code(const mwl_program *p, mwl_error *error); /* CODE, HANDLERS */
mwl_status mwl__verify_flow(const mwl_program *p, mwl_error *error); /* the Flow half: tables.h */
mwl_status mwl__verify_positions(const mwl_program *p, mwl_error *error);

/* The loops of the code, checked. verify_loops.c describes what holds for them. */
typedef struct mwl__loop {
    uint32_t body, next, parent; /* first instruction, its NEXT, the loop around it or MWL_NONE */
} mwl__loop;
typedef struct mwl__loops {
    mwl__loop *loop;
    uint32_t n, cap, n_code;
    uint32_t *at;        /* per instruction: the innermost loop around it, or MWL_NONE */
    uint32_t *handler;   /* per instruction: the innermost handler, or MWL_NONE */
    unsigned char *dead; /* per instruction: nothing leads to it; verify_nest.c fills it */
} mwl__loops;
mwl_status mwl__verify_loops(const mwl_program *p, mwl__loops *zeroed, mwl_error *error);
void mwl__verify_loops_free(const mwl_program *p, mwl__loops *l); /* also after a refusal */

/* In this order, after everything above. */
mwl_status mwl__verify_nest(mwl_program *p, mwl__loops *l, mwl_error *error); /* sets p->places */
mwl_status mwl__verify_regs(const mwl_program *p, const mwl__loops *l, mwl_error *error);

/* Returns how many registers the operand at this place names, from its first on. The operands that
 * are not registers must have been checked before. */
uint32_t mwl__verify_regs_of(const mwl_program *p, mwl__ins ins, int place);

/* Returns the limit of an operand kind in this program: values below it are allowed. MWL_NONE: any
 * value. */
uint32_t mwl__verify_bound(const mwl_program *p, unsigned kind);

#endif
