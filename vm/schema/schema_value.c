/* schema_value.c: properties of values that the keywords of JSON Schema need: types, multiples,
 * equal elements.
 *
 * Owns: arithmetic for keywords, and equal elements. Refuses to know: compiled schemas. */
#include "vm/base/num.h"
#include "vm/schema/schema_code.h"
#include "vm/value/set.h"
#include "vm/base/wide.h"

#include <math.h>

const uint8_t mwl__schema_type_bits[16] = {
    [MWL_KIND_NULL] = MWL__TYPE_NULL,       [MWL_KIND_BOOL] = MWL__TYPE_BOOL,
    [MWL_KIND_NUMBER] = MWL__TYPE_NUMBER,   [MWL_KIND_INT] = MWL__TYPE_NUMBER,
    [MWL_KIND_UINT] = MWL__TYPE_NUMBER,     [MWL_KIND_STRING] = MWL__TYPE_STRING,
    [MWL_KIND_ARRAY] = MWL__TYPE_ARRAY,     [MWL_KIND_OBJECT] = MWL__TYPE_OBJECT,
    [MWL_KIND_ABSENT] = MWL__TYPE_OTHER,    [MWL_KIND_DURATION] = MWL__TYPE_OTHER,
    [MWL_KIND_TIMESTAMP] = MWL__TYPE_OTHER, [MWL_KIND_BYTES] = MWL__TYPE_OTHER,
    [MWL_KIND_TYPE] = MWL__TYPE_OTHER,      [MWL_KIND_OPTIONAL] = MWL__TYPE_OTHER,
    [MWL_KIND_EXT] = MWL__TYPE_OTHER,       [MWL_KIND_FAULT] = MWL__TYPE_OTHER,
};

bool mwl__schema_is_integer(mwl_value v) {
    uint32_t k = mwl_value_kind(v);
    if (k != MWL_KIND_NUMBER) return k == MWL_KIND_INT || k == MWL_KIND_UINT;
    double d = v.as.d;
    if (d >= -9.0e15 && d <= 9.0e15) return (double)(int64_t)d == d;
    return isfinite(d); /* beyond 2^53 every double is an integer */
}

/* ---- multiples ------------------------------------------------------------------------------- */

struct decimal {
    uint64_t digits; /* below 10^17 */
    int exponent;
};

static struct decimal decimal_of(double d) {
    char text[20];
    int point = 0;
    size_t n = mwl__num_digits(d, text, &point);
    struct decimal r = {0, point - (int)n};
    for (size_t i = 0; i < n; i++) r.digits = r.digits * 10 + (uint64_t)(text[i] - '0');
    return r;
}

static uint64_t pow10_mod(unsigned e, uint64_t m) {
    uint64_t r = 1 % m, base = 10 % m;
    for (; e; e >>= 1) {
        if (e & 1) (void)mwl__wide_div(mwl__wide_mul(r, base), m, &r);
        (void)mwl__wide_div(mwl__wide_mul(base, base), m, &base);
    }
    return r;
}

/* Numbers count as the decimals that are written for them: 0.0075 is a multiple of 0.0001, although
 * the quotient of the two doubles is not an integer. Integers are exact as doubles. */
bool mwl__schema_is_multiple(mwl_value v, double of) {
    if (mwl_value_kind(v) == MWL_KIND_INT || mwl_value_kind(v) == MWL_KIND_UINT) {
        bool negative = mwl_value_kind(v) == MWL_KIND_INT && v.as.i < 0;
        uint64_t u = negative ? 0 - v.as.u : v.as.u;
        if (of >= 1 && of < 0x1p63 && (double)(uint64_t)of == of) return u % (uint64_t)of == 0;
        v = mwl_number((double)u);
    }
    double d = fabs(v.as.d);
    if (!isfinite(d)) return false;
    if (d == 0) return true;
    if (floor(d) == d && floor(of) == of) return fmod(d, of) == 0;
    struct decimal a = decimal_of(d), b = decimal_of(of);
    if (b.digits == 0) return false;
    if (a.exponent >= b.exponent) {
        uint64_t scale = pow10_mod((unsigned)(a.exponent - b.exponent), b.digits);
        uint64_t rest;
        (void)mwl__wide_div(mwl__wide_mul(a.digits % b.digits, scale), b.digits, &rest);
        return rest == 0;
    }
    int shift = b.exponent - a.exponent;
    uint64_t divisor = b.digits;
    for (; shift > 0; shift--) {
        if (divisor > a.digits) return false; /* which is not 0, and below 10^17 */
        divisor *= 10;
    }
    return a.digits % divisor == 0;
}

/* ---- names ----------------------------------------------------------------------------------- */

int mwl__schema_name_order(mwl_value a, mwl_value b) {
    const mwl__str *x = mwl__as_str(a), *y = mwl__as_str(b);
    if (a.aux != b.aux) return a.aux < b.aux ? -1 : 1;
    if (x->len != y->len) return x->len < y->len ? -1 : 1;
    int order = x == y ? 0 : memcmp(x->s, y->s, x->len);
    return order < 0 ? -1 : order > 0;
}

/* ---- equal elements -------------------------------------------------------------------------- */

#define FEW 8u /* elements up to which comparing all pairs is faster than hashing each */

static mwl_status find_by_pairs(mwl_value array, uint64_t *fuel, bool *found, uint32_t at[2]) {
    const mwl_value *item = mwl__as_list(array)->item;
    for (uint32_t i = 1; i < array.aux; i++) {
        for (uint32_t j = 0; j < i; j++) {
            bool same = false;
            int quick = mwl__equal_fast(item[j], item[i]);
            if (quick < 0) {
                mwl_status st = mwl__value_equal(item[j], item[i], fuel, &same);
                if (st < 0) return st;
            }
            if (quick > 0 || same) {
                *found = true;
                at[0] = j;
                at[1] = i;
                return MWL_OK;
            }
        }
    }
    return MWL_OK;
}

mwl_status mwl__schema_find_equal(mwl_heap *heap, mwl_value array, uint64_t *fuel, bool *found,
                                  uint32_t at[2]) {
    *found = false;
    if (array.aux <= FEW) return find_by_pairs(array, fuel, found, at);
    mwl_set set;
    uint64_t table = array.aux / 4; /* what making the table costs */
    if (fuel && *fuel < table) {
        *fuel = 0;
        return MWL_E_FUEL;
    }
    if (fuel) *fuel -= table;
    mwl_status st = mwl__set_init(&set, heap, array);
    if (st < 0) return st;
    for (at[1] = 0; st == MWL_OK && at[1] < array.aux; at[1]++) {
        st = mwl__set_add(&set, at[1], fuel, &at[0]);
        *found = st == MWL_OK && at[0] != MWL__SET_NONE;
        if (*found) break;
    }
    mwl__set_free(&set);
    return st;
}
