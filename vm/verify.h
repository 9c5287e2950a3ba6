/* verify.h: the checks of a program image: once, when it is loaded, in linear time.
 *
 * Owns: everything that the interpreter and the machine take for granted afterwards: indexes inside
 * their tables, registers inside the window, jumps inside the code, no way to run for ever without
 * paying fuel. Refuses to know: what values the registers hold. An instruction checks the kinds of
 * what it reads itself, because a hostile image can put any value into any register. */
#ifndef MWL_VERIFY_H
#define MWL_VERIFY_H

#include "program.h"

/* Records of CONSTS, STRINGS and TREES, before they become values. Two equal keys of an object, and
 * what is too deep or too large, show only when it is built. */
mwl_status mwl__verify_consts(const mwl_program *p, mwl_error *error);

/* Everything else but patterns; constants are values already. Sets n_env. May use p->trees for a
 * moment. */
mwl_status mwl__verify_tables(mwl_program *p, mwl_error *error); /* PATHS, SHAPES, FUNCS, REGEXES */
mwl_status mwl__verify_code(const mwl_program *p, mwl_error *error); /* CODE, HANDLERS */
mwl_status mwl__verify_flow(const mwl_program *p, mwl_error *error); /* the Flow half: tables.h */
mwl_status mwl__verify_positions(const mwl_program *p, mwl_error *error);

/* How many registers the run of a REGS operand covers. Operands of other kinds must have been
 * checked. */
uint32_t mwl__verify_run(const mwl_program *p, mwl__ins ins);

/* The bound of an operand kind in this program: values below it are allowed. MWL_NONE: any. */
uint32_t mwl__verify_bound(const mwl_program *p, unsigned kind);

#endif
