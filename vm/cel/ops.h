/* ops.h: the operators behind the interpreter's instructions, which constant folding uses too.
 *
 * Each lends its operands, answers true and writes *out, or answers false with x->halt set: a fault
 * was raised, fuel is spent, or memory is out. What an access function writes is borrowed from an
 * operand that is itself borrowed, and counted when the operand carries a count: so the operand's
 * register may be overwritten with the result. */
#ifndef MWL_OPS_H
#define MWL_OPS_H

#include "vm/cel/exec_context.h"

/* Kept out of the interpreter's loop, whose few registers they would take. */
#if defined(__GNUC__)
#define MWL__OUTLINE __attribute__((noinline))
#else
#define MWL__OUTLINE
#endif

/* ---- arith.c --------------------------------------------------------------------------------- */
MWL__OUTLINE bool mwl__arith_add(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
MWL__OUTLINE bool mwl__arith_sub(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
MWL__OUTLINE bool mwl__arith_mul(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
MWL__OUTLINE bool mwl__arith_div(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
MWL__OUTLINE bool mwl__arith_mod(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
/* Strings only: a row of n registers, taken. What is no string raises at its place (sub i + 1). */
MWL__OUTLINE bool mwl__arith_concat(mwl__exec *x, mwl_value *row, uint32_t n, mwl_value *out);
MWL__OUTLINE bool mwl__arith_neg(mwl__exec *x, mwl_value a, mwl_value *out);
/* Raise "no such overload" for a binary or (b absent) unary operator. */
MWL__OUTLINE bool mwl__arith_no_overload(mwl__exec *x, const char *op, mwl_value a, mwl_value b);

/* ---- compare.c ------------------------------------------------------------------------------- */
typedef enum mwl__relation { MWL_LT, MWL_LE, MWL_GT, MWL_GE } mwl__relation;
MWL__OUTLINE bool mwl__compare_equal(mwl__exec *x, mwl_value a, mwl_value b, bool *out);
MWL__OUTLINE bool mwl__compare_order(mwl__exec *x, mwl__relation r, mwl_value a, mwl_value b,
                                     bool *out);
MWL__OUTLINE bool mwl__compare_in(mwl__exec *x, mwl_value item, mwl_value container, bool *out);
/* a && b (or ||), each a value or a FAULT: true and a bool in *out, or false with *out a FAULT,
 * given, or absent with x->halt set when memory is out. */
MWL__OUTLINE bool mwl__compare_logic(mwl__exec *x, bool is_or, mwl_value a, mwl_value b,
                                     mwl_value *out);

/* ---- access.c -------------------------------------------------------------------------------- */
MWL__OUTLINE bool mwl__access_select(mwl__exec *x, mwl_value of, mwl_value key, mwl_value *out);
MWL__OUTLINE bool mwl__access_index(mwl__exec *x, mwl_value of, mwl_value index, mwl_value *out);
MWL__OUTLINE bool mwl__access_has(mwl__exec *x, mwl_value of, mwl_value key, bool *out);
/* of.?key and of[?index]: *out is an optional. */
MWL__OUTLINE bool mwl__access_optional(mwl__exec *x, mwl_value of, mwl_value index, bool is_select,
                                       mwl_value *out);
typedef enum mwl__path_mode { MWL_PATH_LOAD, MWL_PATH_HAS, MWL_PATH_OPT } mwl__path_mode;
MWL__OUTLINE bool mwl__access_path(mwl__exec *x, const mwl__path_rec *path, mwl__path_mode mode,
                                   mwl_value *out);
MWL__OUTLINE bool mwl__access_optional_value(mwl__exec *x, mwl_value optional, mwl_value *out);

/* ---- build.c --------------------------------------------------------------------------------- */
/* *map := *map with the entry: takes key and value; on failure *map is null. */
MWL__OUTLINE bool mwl__build_put(mwl__exec *x, mwl_value *map, mwl_value take_key,
                                 mwl_value take_val);
MWL__OUTLINE bool mwl__build_push_optional(mwl__exec *x, mwl_value *list, mwl_value take_optional);
MWL__OUTLINE bool mwl__build_put_optional(mwl__exec *x, mwl_value *map, mwl_value take_key,
                                          mwl_value take_optional);
MWL__OUTLINE bool mwl__build_merge(mwl__exec *x, mwl_value *map, mwl_value entries);
/* Takes what the registers hold and leaves them null. */
MWL__OUTLINE bool mwl__build_list(mwl__exec *x, mwl_value *items, uint32_t n, mwl_value *out);
MWL__OUTLINE bool mwl__build_map(mwl__exec *x, const mwl__shape_rec *shape, mwl_value *vals,
                                 mwl_value *out);

/* ---- boundary.c: an expression's result as a value of the data model ------------------------- */
MWL__OUTLINE bool mwl__boundary_data(mwl__exec *x, mwl_value v, mwl_value *out); /* *out is given */

#endif
