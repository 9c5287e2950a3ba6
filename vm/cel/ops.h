/* ops.h: the operators that the interpreter's instructions and constant folding use.
 *
 * Operands are lent. Each operator returns true and writes *out, or returns false and sets x->halt:
 * a fault was raised, the fuel is used up, or out of memory. An access function returns a borrowed
 * part of a borrowed operand, and a counted part of a counted operand. So the register of the
 * operand may be overwritten with the result. */
#ifndef MWL_OPS_H
#define MWL_OPS_H

#include "vm/cel/exec_context.h"

/* Not inlined into the interpreter's loop, where they would need its few processor registers. */
#if defined(__GNUC__)
#define MWL__OUTLINE __attribute__((noinline))
#define MWL__INLINE static inline __attribute__((always_inline))
#else
#define MWL__OUTLINE
#define MWL__INLINE static inline
#endif

/* ---- arith.c --------------------------------------------------------------------------------- */
MWL__OUTLINE bool mwl__arith_add(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
MWL__OUTLINE bool mwl__arith_sub(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
MWL__OUTLINE bool mwl__arith_mul(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
MWL__OUTLINE bool mwl__arith_div(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
MWL__OUTLINE bool mwl__arith_mod(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out);
/* Joins the strings in n registers and takes them over. Register i that is not a string raises a
 * fault at its place (sub i + 1). */
MWL__OUTLINE bool mwl__arith_concat(mwl__exec *x, mwl_value *row, uint32_t n, mwl_value *out);
MWL__OUTLINE bool mwl__arith_neg(mwl__exec *x, mwl_value a, mwl_value *out);
/* Raises "no such overload" for a binary or (b absent) unary operator. */
MWL__OUTLINE bool mwl__arith_no_overload(mwl__exec *x, const char *op, mwl_value a, mwl_value b);

/* ---- compare.c ------------------------------------------------------------------------------- */
typedef enum mwl__relation { MWL_LT, MWL_LE, MWL_GT, MWL_GE } mwl__relation;
MWL__OUTLINE bool mwl__compare_equal(mwl__exec *x, mwl_value a, mwl_value b, bool *out);
MWL__OUTLINE bool mwl__compare_order(mwl__exec *x, mwl__relation r, mwl_value a, mwl_value b,
                                     bool *out);
MWL__OUTLINE bool mwl__compare_in(mwl__exec *x, mwl_value item, mwl_value container, bool *out);
/* a && b (or a || b). Each operand is a value or a FAULT. Returns true and a bool in *out; or false
 * and a FAULT in *out, given; or false and absent, with x->halt set, if out of memory. */
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
/* *map := *map with the entry. Takes over key and value. On failure *map is null. */
MWL__OUTLINE bool mwl__build_put(mwl__exec *x, mwl_value *map, mwl_value take_key,
                                 mwl_value take_val);
MWL__OUTLINE bool mwl__build_push_optional(mwl__exec *x, mwl_value *list, mwl_value take_optional);
MWL__OUTLINE bool mwl__build_put_optional(mwl__exec *x, mwl_value *map, mwl_value take_key,
                                          mwl_value take_optional);
MWL__OUTLINE bool mwl__build_merge(mwl__exec *x, mwl_value *map, mwl_value entries);
/* Take over the values of the registers, which become null. They return what they have made, a list
 * of n > 0 elements or an object whose tag is that of the shape; NULL after a failure. */
MWL__OUTLINE mwl__list *mwl__build_list(mwl__exec *x, mwl_value *items, uint32_t n);
MWL__OUTLINE mwl__map *mwl__build_map(mwl__exec *x, const mwl__linked_shape *shape,
                                      mwl_value *vals);

/* ---- boundary.c: an expression's result as a value of the data model ------------------------- */
#define MWL__EXACT INT64_C(9007199254740992) /* 2^53: up to here a double holds every integer */
/* Why a value was refused. text: " at ['a'][2] is NaN, which has no JSON form"; instead: what an
 * author writes instead. */
enum { MWL__REFUSAL_PLACE = 160 };
typedef struct mwl__refusal {
    char text[MWL__REFUSAL_PLACE + 200];
    const char *instead;
} mwl__refusal;
/* Writes v as a value of the data model to *out, given. v is lent. Returns MWL_OK, MWL_E_NOT_JSON
 * and *why, or the heap's reason (MWL_E_NOMEM and so on). */
mwl_status mwl__boundary_convert(mwl_heap *h, mwl_value v, mwl_value *out, mwl__refusal *why);
/* The same for an expression's result, which is charged and raises a fault. */
MWL__OUTLINE bool mwl__boundary_data(mwl__exec *x, mwl_value v, mwl_value *out); /* *out is given */

#endif
