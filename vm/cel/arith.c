/* arith.c: the arithmetic operators: numbers, concatenation, durations and timestamps.
 *
 * Owns: which kinds of operands can be combined, and what overflows. Numbers never mix: `1 + 2.0`
 * is no overload (spec: langdef, Numeric Values). Doubles follow IEEE 754. */
#include "vm/cel/ops.h"
#include "vm/value/temporal.h"

#include <math.h>

bool mwl__arith_no_overload(mwl__exec *x, const char *op, mwl_value a, mwl_value b) {
    if (mwl_is_absent(b))
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "no such overload: %s%s", op,
                               mwl__type_name(a));
    bool number_a = mwl_value_kind(a) >= MWL_KIND_NUMBER && mwl_value_kind(a) <= MWL_KIND_UINT;
    bool number_b = mwl_value_kind(b) >= MWL_KIND_NUMBER && mwl_value_kind(b) <= MWL_KIND_UINT;
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "no such overload: %s %s %s%s",
                           mwl__type_name(a), op, mwl__type_name(b),
                           number_a && number_b ? "; convert one side, with double() or int()"
                                                : "");
}

static bool overflow(mwl__exec *x, const char *what) {
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "%s overflow", what);
}

/* Makes one number from the kinds of both operands, so that a switch can select by the pair. */
#define PAIR(a, b) ((a) << 8 | (b))
#define PAIR_OF(a, b) PAIR(mwl_value_kind(a), mwl_value_kind(b))

static mwl__instant instant_of(mwl_value v) {
    mwl__instant t = {v.as.i, v.aux};
    return t;
}

static bool shift(mwl__exec *x, mwl_value time, mwl_value by, bool back, mwl_value *out) {
    mwl__instant t;
    mwl_status status = back ? mwl__temporal_sub(instant_of(time), by.as.i, &t)
                             : mwl__temporal_add(instant_of(time), by.as.i, &t);
    if (status != MWL_OK)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION,
                               "timestamp out of range: years 1 to 9999");
    *out = mwl_timestamp(t.sec, t.ns);
    return true;
}

static bool given(mwl__exec *x, mwl_value v, mwl_value *out) {
    if (mwl_is_absent(v)) return mwl__exec_heap_failed(x);
    *out = v;
    return true;
}

static bool charged(mwl__exec *x, uint64_t n) {
    if (mwl__exec_charge(x, n)) return true;
    x->halt = MWL_EXEC_FUEL;
    return false;
}

static bool concat(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out) {
    if (mwl_value_kind(a) == MWL_KIND_ARRAY) {
        if (!charged(x, b.aux) || !given(x, mwl__list_concat(x->heap, a, b), out)) return false;
        if (mwl__exec_settle(x)) return true;
        mwl__drop(x->heap, *out);
        x->halt = MWL_EXEC_FUEL;
        return false;
    }
    uint64_t len = (uint64_t)mwl__as_str(a)->len + mwl__as_str(b)->len;
    return charged(x, len / 64) && given(x, mwl__str_concat(x->heap, a, b), out);
}

bool mwl__arith_add(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out) {
    int64_t i;
    uint64_t u;
    switch (PAIR_OF(a, b)) {
    case PAIR(MWL_KIND_NUMBER, MWL_KIND_NUMBER): *out = mwl_number(a.as.d + b.as.d); return true;
    case PAIR(MWL_KIND_INT, MWL_KIND_INT):
        if (__builtin_add_overflow(a.as.i, b.as.i, &i)) return overflow(x, "integer");
        *out = mwl_int(i);
        return true;
    case PAIR(MWL_KIND_UINT, MWL_KIND_UINT):
        if (__builtin_add_overflow(a.as.u, b.as.u, &u)) return overflow(x, "unsigned integer");
        *out = mwl_uint(u);
        return true;
    case PAIR(MWL_KIND_DURATION, MWL_KIND_DURATION):
        if (__builtin_add_overflow(a.as.i, b.as.i, &i)) return overflow(x, "duration");
        *out = mwl_duration(i);
        return true;
    case PAIR(MWL_KIND_TIMESTAMP, MWL_KIND_DURATION): return shift(x, a, b, false, out);
    case PAIR(MWL_KIND_DURATION, MWL_KIND_TIMESTAMP): return shift(x, b, a, false, out);
    case PAIR(MWL_KIND_STRING, MWL_KIND_STRING):
    case PAIR(MWL_KIND_BYTES, MWL_KIND_BYTES):
    case PAIR(MWL_KIND_ARRAY, MWL_KIND_ARRAY): return concat(x, a, b, out);
    default: return mwl__arith_no_overload(x, "+", a, b);
    }
}

/* Copies n bytes as two parts that overlap, which is fast for short texts. */
static inline void put(char *to, const char *from, size_t n) {
    if (n > 16) {
        memcpy(to, from, n);
    } else if (n >= 8) {
        uint64_t head, tail;
        memcpy(&head, from, 8), memcpy(&tail, from + n - 8, 8);
        memcpy(to, &head, 8), memcpy(to + n - 8, &tail, 8);
    } else if (n >= 4) {
        uint32_t head, tail;
        memcpy(&head, from, 4), memcpy(&tail, from + n - 4, 4);
        memcpy(to, &head, 4), memcpy(to + n - 4, &tail, 4);
    } else {
        for (size_t i = 0; i < n; i++) to[i] = from[i];
    }
}

static bool not_text(mwl__exec *x, const mwl_value *row, uint32_t n, uint32_t i) {
    /* the first one is the left operand of the first `+`, any other the right operand of its own
     * `+` */
    mwl__arith_no_overload(x, "+", row[0], row[i ? i : n > 1 ? 1 : 0]);
    mwl__exec_raise_sub(x, i ? i : 1);
    return false;
}

static bool join(mwl__exec *x, const mwl_value *row, uint32_t n, mwl_value *out) {
    mwl_heap *h = x->heap;
    uint64_t len = 0, n_cp = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (mwl_value_kind(row[i]) != MWL_KIND_STRING) return not_text(x, row, n, i);
        const mwl__str *part = mwl__as_str(row[i]);
        len += part->len;
        n_cp += part->n_cp;
    }
    if (!charged(x, len / 64)) return false;
    mwl__str *s = mwl__str_alloc(h, (size_t)len); /* refuses what is too long */
    if (!s) return mwl__exec_heap_failed(x);
    char *at = s->s;
    for (uint32_t i = 0; i < n; i++) {
        const mwl__str *part = mwl__as_str(row[i]);
        put(at, part->s, part->len);
        at += part->len;
    }
    *out = mwl__str_seal_counted(s, (uint32_t)n_cp);
    return true;
}

bool mwl__arith_concat(mwl__exec *x, mwl_value *row, uint32_t n, mwl_value *out) {
    bool ok = join(x, row, n, out);
    for (uint32_t i = 0; i < n; i++) {
        uint32_t tag = row[i].tag;
        row[i].tag = MWL_KIND_NULL;
        if (!(tag & MWL_OWNED)) continue;
        mwl_value v = row[i];
        v.tag = tag;
        mwl__drop(x->heap, v);
    }
    return ok;
}

bool mwl__arith_sub(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out) {
    int64_t i;
    switch (PAIR_OF(a, b)) {
    case PAIR(MWL_KIND_NUMBER, MWL_KIND_NUMBER): *out = mwl_number(a.as.d - b.as.d); return true;
    case PAIR(MWL_KIND_INT, MWL_KIND_INT):
        if (__builtin_sub_overflow(a.as.i, b.as.i, &i)) return overflow(x, "integer");
        *out = mwl_int(i);
        return true;
    case PAIR(MWL_KIND_UINT, MWL_KIND_UINT):
        if (a.as.u < b.as.u) return overflow(x, "unsigned integer");
        *out = mwl_uint(a.as.u - b.as.u);
        return true;
    case PAIR(MWL_KIND_DURATION, MWL_KIND_DURATION):
        if (__builtin_sub_overflow(a.as.i, b.as.i, &i)) return overflow(x, "duration");
        *out = mwl_duration(i);
        return true;
    case PAIR(MWL_KIND_TIMESTAMP, MWL_KIND_DURATION): return shift(x, a, b, true, out);
    case PAIR(MWL_KIND_TIMESTAMP, MWL_KIND_TIMESTAMP):
        if (mwl__temporal_diff(instant_of(a), instant_of(b), &i) != MWL_OK)
            return overflow(x, "duration");
        *out = mwl_duration(i);
        return true;
    default: return mwl__arith_no_overload(x, "-", a, b);
    }
}

bool mwl__arith_mul(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out) {
    int64_t i;
    uint64_t u;
    switch (PAIR_OF(a, b)) {
    case PAIR(MWL_KIND_NUMBER, MWL_KIND_NUMBER): *out = mwl_number(a.as.d * b.as.d); return true;
    case PAIR(MWL_KIND_INT, MWL_KIND_INT):
        if (__builtin_mul_overflow(a.as.i, b.as.i, &i)) return overflow(x, "integer");
        *out = mwl_int(i);
        return true;
    case PAIR(MWL_KIND_UINT, MWL_KIND_UINT):
        if (__builtin_mul_overflow(a.as.u, b.as.u, &u)) return overflow(x, "unsigned integer");
        *out = mwl_uint(u);
        return true;
    default: return mwl__arith_no_overload(x, "*", a, b);
    }
}

/* The quotient of IEEE 754 for every divisor. C leaves division by zero undefined. */
static double divide(double a, double b) {
    if (b != 0) return a / b;
    if (a == 0 || a != a) return (double)NAN;
    return signbit(a) == signbit(b) ? (double)INFINITY : -(double)INFINITY;
}

bool mwl__arith_div(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out) {
    switch (PAIR_OF(a, b)) {
    case PAIR(MWL_KIND_NUMBER, MWL_KIND_NUMBER):
        *out = mwl_number(divide(a.as.d, b.as.d));
        return true;
    case PAIR(MWL_KIND_INT, MWL_KIND_INT):
        if (b.as.i == 0) return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "division by zero");
        if (b.as.i == -1 && a.as.i == INT64_MIN) return overflow(x, "integer");
        *out = mwl_int(a.as.i / b.as.i);
        return true;
    case PAIR(MWL_KIND_UINT, MWL_KIND_UINT):
        if (b.as.u == 0) return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "division by zero");
        *out = mwl_uint(a.as.u / b.as.u);
        return true;
    default: return mwl__arith_no_overload(x, "/", a, b);
    }
}

bool mwl__arith_mod(mwl__exec *x, mwl_value a, mwl_value b, mwl_value *out) {
    switch (PAIR_OF(a, b)) {
    case PAIR(MWL_KIND_INT, MWL_KIND_INT):
        if (b.as.i == 0) return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "modulus by zero");
        if (b.as.i == -1 && a.as.i == INT64_MIN) return overflow(x, "integer");
        *out = mwl_int(a.as.i % b.as.i);
        return true;
    case PAIR(MWL_KIND_UINT, MWL_KIND_UINT):
        if (b.as.u == 0) return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "modulus by zero");
        *out = mwl_uint(a.as.u % b.as.u);
        return true;
    default: return mwl__arith_no_overload(x, "%", a, b);
    }
}

bool mwl__arith_neg(mwl__exec *x, mwl_value a, mwl_value *out) {
    switch (mwl_value_kind(a)) {
    case MWL_KIND_NUMBER: *out = mwl_number(-a.as.d); return true;
    case MWL_KIND_INT:
        if (a.as.i == INT64_MIN) return overflow(x, "integer");
        *out = mwl_int(-a.as.i);
        return true;
    case MWL_KIND_DURATION: /* cel-go also negates durations */
        if (a.as.i == INT64_MIN) return overflow(x, "duration");
        *out = mwl_duration(-a.as.i);
        return true;
    default: return mwl__arith_no_overload(x, "-", a, mwl_absent());
    }
}
