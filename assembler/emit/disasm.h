/* disasm.h: a program as a listing for people.
 *
 * Owns: the layout of the listing. Refuses to know: single opcodes; what an operand means comes
 * from its kind in the opcode table. The same image always gives the same text. */
#ifndef MWL_DISASM_H
#define MWL_DISASM_H

#include "vm/program/program.h"

/* Appends the listing of a loaded program: a summary of sections, constants, tables, handlers, then
 * the code. A line of code is
 *
 *     12  jump_if r1, @20                 ; L20 | 7:15 vars.a > 1
 *
 * its index, the instruction as mwl__op_print writes it, what the operands mean, and where it comes
 * from, if that is not the place of the line before. Everything else is behind a semicolon or is a
 * label (L20:). MWL_E_NOMEM. */
enum { MWL_DISASM_CODE_ONLY = 1 /* no summary, constants and handlers */ };
mwl_status mwl__disasm(const mwl_program *p, unsigned flags, mwl__buf *out);

#endif
