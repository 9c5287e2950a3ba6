/* cel_math.c: cel-go's math library. */
#include "stdlib/std_tables.h"

#include <math.h>

static bool is_numeric(mwl_value v) {
    mwl_kind k = mwl_value_kind(v);
    return k == MWL_KIND_INT || k == MWL_KIND_UINT || k == MWL_KIND_NUMBER;
}

/* ---- least and greatest ---------------------------------------------------------------------- */

/* Returns the least or greatest of n numbers, or of one list of numbers; the first one if several
 * are equal. */
static mwl_value extreme(mwl_fn *fn, const mwl_value *args, size_t n_args, int wanted) {
    bool in_list = n_args == 1 && mwl_value_kind(args[0]) == MWL_KIND_ARRAY;
    size_t n = in_list ? mwl_count(args[0]) : n_args;
    if (n == 0) return mwl_fn_fail(fn, "the list must not be empty");
    if (!mwl_fn_charge(fn, n)) return mwl_absent();
    mwl_value best = in_list ? mwl_array_at(args[0], 0) : args[0];
    if (!is_numeric(best)) return mwl_fn_no_overload(fn);
    for (size_t i = 1; i < n; i++) {
        mwl_value v = in_list ? mwl_array_at(args[0], i) : args[i];
        int order = 0;
        if (!is_numeric(v)) return mwl_fn_no_overload(fn);
        (void)mwl_value_order(v, best, &order);
        if (order == 2) return mwl_fn_fail(fn, "NaN values cannot be ordered");
        if (order == wanted) best = v;
    }
    return best;
}

static mwl_value greatest(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    return extreme(fn, args, n_args, 1);
}
static mwl_value least(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    return extreme(fn, args, n_args, -1);
}

/* ---- doubles --------------------------------------------------------------------------------- */

#define OF_DOUBLE(name, result)                                                                    \
    static mwl_value name(mwl_fn *fn, const mwl_value *args, size_t n_args) {                      \
        (void)n_args;                                                                              \
        if (mwl_value_kind(args[0]) != MWL_KIND_NUMBER) return mwl_fn_no_overload(fn);             \
        double d = mwl_as_number(args[0]);                                                         \
        return result;                                                                             \
    }
OF_DOUBLE(ceil_of, mwl_number(ceil(d)))
OF_DOUBLE(floor_of, mwl_number(floor(d)))
OF_DOUBLE(round_of, mwl_number(round(d))) /* rounds halves away from zero */
OF_DOUBLE(trunc_of, mwl_number(trunc(d)))
OF_DOUBLE(is_nan, mwl_bool(isnan(d)))
OF_DOUBLE(is_inf, mwl_bool(isinf(d)))
OF_DOUBLE(is_finite, mwl_bool(isfinite(d)))
#undef OF_DOUBLE

static mwl_value sqrt_of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    switch (mwl_value_kind(args[0])) {
    case MWL_KIND_NUMBER: return mwl_number(sqrt(mwl_as_number(args[0])));
    case MWL_KIND_INT: return mwl_number(sqrt((double)mwl_as_int(args[0])));
    case MWL_KIND_UINT: return mwl_number(sqrt((double)mwl_as_uint(args[0])));
    default: return mwl_fn_no_overload(fn);
    }
}

static mwl_value abs_of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    int64_t i;
    switch (mwl_value_kind(args[0])) {
    case MWL_KIND_NUMBER: return mwl_number(fabs(mwl_as_number(args[0])));
    case MWL_KIND_UINT: return args[0];
    case MWL_KIND_INT:
        i = mwl_as_int(args[0]);
        if (i == INT64_MIN) return mwl_fn_fail(fn, "integer overflow");
        return mwl_int(i < 0 ? -i : i);
    default: return mwl_fn_no_overload(fn);
    }
}

static mwl_value sign_of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    double d;
    int64_t i;
    switch (mwl_value_kind(args[0])) {
    case MWL_KIND_NUMBER:
        d = mwl_as_number(args[0]);
        return mwl_number(d > 0 ? 1 : d < 0 ? -1 : d == 0 ? 0 : d);
    case MWL_KIND_INT: i = mwl_as_int(args[0]); return mwl_int((i > 0) - (i < 0));
    case MWL_KIND_UINT: return mwl_uint(mwl_as_uint(args[0]) != 0);
    default: return mwl_fn_no_overload(fn);
    }
}

/* ---- bits ------------------------------------------------------------------------------------ */

static bool is_integer(mwl_value v) {
    return mwl_value_kind(v) == MWL_KIND_INT || mwl_value_kind(v) == MWL_KIND_UINT;
}

/* Returns the bits as a value of the same kind as `like`. */
static mwl_value of_bits(mwl_value like, uint64_t bits) {
    mwl_value v = mwl_uint(bits);
    return mwl_value_kind(like) == MWL_KIND_INT ? mwl_int(v.as.i) : v;
}

static bool same_integers(const mwl_value *args) {
    return is_integer(args[0]) && mwl_value_kind(args[0]) == mwl_value_kind(args[1]);
}

#define OF_BITS(name, op)                                                                          \
    static mwl_value name(mwl_fn *fn, const mwl_value *args, size_t n_args) {                      \
        (void)n_args;                                                                              \
        if (!same_integers(args)) return mwl_fn_no_overload(fn);                                   \
        return of_bits(args[0], mwl_as_uint(args[0]) op mwl_as_uint(args[1]));                     \
    }
OF_BITS(bit_and, &)
OF_BITS(bit_or, |)
OF_BITS(bit_xor, ^)
#undef OF_BITS

static mwl_value bit_not(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!is_integer(args[0])) return mwl_fn_no_overload(fn);
    return of_bits(args[0], ~mwl_as_uint(args[0]));
}

static mwl_value shift(mwl_fn *fn, const mwl_value *args, bool left) {
    if (!is_integer(args[0]) || mwl_value_kind(args[1]) != MWL_KIND_INT)
        return mwl_fn_no_overload(fn);
    int64_t n = mwl_as_int(args[1]);
    uint64_t bits = mwl_as_uint(args[0]);
    if (n < 0) return mwl_fn_fail(fn, "negative offset: %lld", (long long)n);
    if (n > 63) return of_bits(args[0], 0);
    return of_bits(args[0],
                   left ? bits << n
                        : bits >> n); /* a shift to the right fills with zeros, also for ints */
}
static mwl_value bit_shift_left(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    return shift(fn, args, true);
}
static mwl_value bit_shift_right(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    return shift(fn, args, false);
}

const mwl_function_def mwl__math_functions[] = {
    {"math.abs", abs_of, 1, 1, MWL_FN_GLOBAL, "math.abs(number) -> number"},
    {"math.bitAnd", bit_and, 2, 2, MWL_FN_GLOBAL, "math.bitAnd(int, int) -> int, or uint"},
    {"math.bitNot", bit_not, 1, 1, MWL_FN_GLOBAL, "math.bitNot(int) -> int, or uint"},
    {"math.bitOr", bit_or, 2, 2, MWL_FN_GLOBAL, "math.bitOr(int, int) -> int, or uint"},
    {"math.bitShiftLeft", bit_shift_left, 2, 2, MWL_FN_GLOBAL,
     "math.bitShiftLeft(int, bits) -> int, or uint"},
    {"math.bitShiftRight", bit_shift_right, 2, 2, MWL_FN_GLOBAL,
     "math.bitShiftRight(int, bits) -> int, or uint"},
    {"math.bitXor", bit_xor, 2, 2, MWL_FN_GLOBAL, "math.bitXor(int, int) -> int, or uint"},
    {"math.ceil", ceil_of, 1, 1, MWL_FN_GLOBAL, "math.ceil(double) -> double"},
    {"math.floor", floor_of, 1, 1, MWL_FN_GLOBAL, "math.floor(double) -> double"},
    {"math.greatest", greatest, 1, 255, MWL_FN_GLOBAL,
     "math.greatest(number ... | list) -> number"},
    {"math.isFinite", is_finite, 1, 1, MWL_FN_GLOBAL, "math.isFinite(double) -> bool"},
    {"math.isInf", is_inf, 1, 1, MWL_FN_GLOBAL, "math.isInf(double) -> bool"},
    {"math.isNaN", is_nan, 1, 1, MWL_FN_GLOBAL, "math.isNaN(double) -> bool"},
    {"math.least", least, 1, 255, MWL_FN_GLOBAL, "math.least(number ... | list) -> number"},
    {"math.round", round_of, 1, 1, MWL_FN_GLOBAL, "math.round(double) -> double"},
    {"math.sign", sign_of, 1, 1, MWL_FN_GLOBAL, "math.sign(number) -> number"},
    {"math.sqrt", sqrt_of, 1, 1, MWL_FN_GLOBAL, "math.sqrt(number) -> double"},
    {"math.trunc", trunc_of, 1, 1, MWL_FN_GLOBAL, "math.trunc(double) -> double"},
};
const size_t mwl__math_count = sizeof mwl__math_functions / sizeof *mwl__math_functions;
