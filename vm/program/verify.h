/* verify.h: the checks of a program image: once, when it is loaded, in linear time.
 *
 * Owns: everything that the interpreter and the machine take for granted afterwards: indexes inside
 * their tables, registers inside the window, jumps inside the code, no way to run for ever without
 * paying fuel (verify.c, verify_flow.c); the shape of loops (verify_loops.c); that a register which
 * is read holds a value that is still there (verify_regs.c); that brackets nest (verify_nest.c).
 * Refuses to know: which kinds of values the registers hold. An instruction checks the kinds of
 * what it reads itself, because a hostile image can put any value into any register. */
#ifndef MWL_VERIFY_H
#define MWL_VERIFY_H

#include "vm/program/program.h"

/* Records of CONSTS, STRINGS and TREES, before they become values. Two equal keys of an object, and
 * what is too deep or too large, show only when it is built. */
mwl_status mwl__verify_consts(const mwl_program *p, mwl_error *error);

/* Everything else but patterns; constants are values already. Sets n_env. May use p->trees for a
 * moment. */
mwl_status mwl__verify_tables(mwl_program *p, mwl_error *error); /* PATHS, SHAPES, FUNCS, REGEXES */
mwl_status mwl__verify_code(const mwl_program *p, mwl_error *error); /* CODE, HANDLERS */
mwl_status mwl__verify_flow(const mwl_program *p, mwl_error *error); /* the Flow half: tables.h */
mwl_status mwl__verify_positions(const mwl_program *p, mwl_error *error);

/* The loops of the code, checked: verify_loops.c says what holds of them. */
typedef struct mwl__loop {
    uint32_t body, next, parent; /* first instruction, its NEXT, the loop around it or MWL_NONE */
} mwl__loop;
typedef struct mwl__loops {
    mwl__loop *loop;
    uint32_t n, cap, n_code;
    uint32_t *at;        /* per instruction: the innermost loop around it, or MWL_NONE */
    uint32_t *handler;   /* per instruction: the innermost handler, or MWL_NONE */
    unsigned char *dead; /* per instruction: nothing leads to it; verify_nest.c finds out */
} mwl__loops;
mwl_status mwl__verify_loops(const mwl_program *p, mwl__loops *zeroed, mwl_error *error);
void mwl__verify_loops_free(const mwl_program *p, mwl__loops *l); /* also after a refusal */

/* In this order; both need everything above. */
mwl_status mwl__verify_nest(const mwl_program *p, mwl__loops *l, mwl_error *error);
mwl_status mwl__verify_regs(const mwl_program *p, const mwl__loops *l, mwl_error *error);

/* How many registers the operand at this place names, from its first on. Those operands that are
 * not registers must have been checked. */
uint32_t mwl__verify_regs_of(const mwl_program *p, mwl__ins ins, int place);

/* The bound of an operand kind in this program: values below it are allowed. MWL_NONE: any. */
uint32_t mwl__verify_bound(const mwl_program *p, unsigned kind);

#endif
