/* num_parse.c: reads numbers from text, correctly rounded. See num.h.
 *
 * A decimal is w * 10^e with up to 19 digits in w. There are three methods, and each is used only
 * where it is exact: one floating-point operation (Clinger); a product of 64 by 128 bits with a
 * lower and an upper bound, accepted if both round to the same double; strtod. The text for strtod
 * has no decimal point, so that the locale does not matter, and is cut after more digits than can
 * matter. */
#include "vm/base/ascii.h"
#include "vm/base/num.h"
#include "vm/base/wide.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* More digits than any halfway case of a double needs (767). Later digits only break ties. */
#define DIGITS_THAT_MATTER 800

/* Exponents saturate here: far beyond the range of a double, and far inside the range of int64. */
#define EXPONENT_CAP 1000000000

/* ---- integers -------------------------------------------------------------------------------- */

mwl_status mwl__num_parse_u64(const char *s, size_t len, uint64_t *out) {
    uint64_t v = 0;
    bool over = false;
    if (len == 0) return MWL_E_SYNTAX;
    for (size_t i = 0; i < len; i++) {
        if (!mwl__is_digit(s[i])) return MWL_E_SYNTAX;
        over |= __builtin_mul_overflow(v, UINT64_C(10), &v);
        over |= __builtin_add_overflow(v, (uint64_t)(s[i] - '0'), &v);
    }
    if (over) return MWL_E_RANGE;
    *out = v;
    return MWL_OK;
}

mwl_status mwl__num_parse_i64(const char *s, size_t len, int64_t *out) {
    size_t sign = len > 0 && (s[0] == '-' || s[0] == '+');
    uint64_t v;
    mwl_status st = mwl__num_parse_u64(s + sign, len - sign, &v);
    if (st < 0) return st;
    bool negative = sign && s[0] == '-';
    if (v > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return MWL_E_RANGE;
    *out = negative ? (v ? -(int64_t)(v - 1) - 1 : 0) : (int64_t)v;
    return MWL_OK;
}

/* ---- the parts of a number ------------------------------------------------------------------- */

typedef struct {
    const char *digits; /* from the first significant digit on; may hold '.' and '_' */
    size_t span;        /* bytes of text from there to the end of the mantissa */
    uint64_t w;         /* the first 19 digits (or 16 hexadecimal ones) */
    int64_t exponent;   /* the value is w * 10^exponent, or w * 2^exponent */
    bool cut;           /* later digits, not all zero, were left out of w */
    bool negative;
} parts;

typedef struct {
    bool bare_point;  /* "1." and ".5" */
    bool underscores; /* between digits; a separate function checks their positions */
    int base;         /* 10 or 16 */
} grammar;

/* Reads the digits of the exponent; saturates. Returns false if there are no digits. */
static bool read_exponent(const char *s, size_t len, size_t *at, bool underscores, int64_t *out) {
    size_t i = *at;
    bool negative = i < len && s[i] == '-';
    if (i < len && (s[i] == '-' || s[i] == '+')) i++;
    if (i >= len || !mwl__is_digit(s[i])) return false;
    int64_t e = 0;
    for (; i < len && (mwl__is_digit(s[i]) || (underscores && s[i] == '_')); i++)
        if (s[i] != '_' && e < EXPONENT_CAP) e = e * 10 + (s[i] - '0');
    *at = i;
    *out = negative ? -e : e;
    return true;
}

/* Reads the mantissa from *at. Returns false if it does not follow the grammar. */
static bool read_mantissa(const char *s, size_t len, size_t *at, grammar g, parts *p) {
    const int most = g.base == 16 ? 16 : 19;
    const int64_t step = g.base == 16 ? 4 : 1;
    int n = 0;
    bool point = false, any = false, last_digit = false;
    size_t i = *at;
    for (; i < len; i++) {
        if (s[i] == '_' && g.underscores) continue;
        if (s[i] == '.') {
            if (point || (!g.bare_point && !any)) return false;
            point = true, last_digit = false;
            continue;
        }
        int digit = g.base == 16 ? mwl__hex_value(s[i]) : mwl__is_digit(s[i]) ? s[i] - '0' : -1;
        if (digit < 0) break;
        any = last_digit = true;
        if (n == 0 && digit == 0) { /* leading zeros only move the point */
            if (point) p->exponent -= step;
            continue;
        }
        if (n == 0) p->digits = s + i;
        if (n < most) {
            p->w = p->w * (uint64_t)g.base + (uint64_t)digit;
            n++;
            if (point) p->exponent -= step;
        } else {
            p->cut |= digit != 0;
            if (!point) p->exponent += step;
        }
    }
    if (p->digits) p->span = (size_t)(s + i - p->digits);
    *at = i;
    return any && (g.bare_point || last_digit);
}

/* ---- rounding -------------------------------------------------------------------------------- */

static double assemble(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}

/* Returns the double nearest to top * 2^(exponent - 63), ties to even. The top bit of `top` is set.
 * `sticky` is true if smaller digits follow. */
static double round_bits(uint64_t top, bool sticky, int64_t exponent) {
    if (exponent > 1023) return INFINITY;
    int64_t drop = 11;
    if (exponent < -1022) drop += -1022 - exponent;
    if (drop > 64) return 0;
    uint64_t mantissa = drop == 64 ? 0 : top >> drop;
    uint64_t rest = drop == 64 ? top : top << (64 - drop);
    const uint64_t half = UINT64_C(1) << 63;
    if (rest > half || (rest == half && (sticky || (mantissa & 1)))) mantissa++;
    /* A carry out of the mantissa adds one to the exponent field, which is right. */
    uint64_t field = exponent < -1022 ? 0 : (uint64_t)(exponent + 1022);
    uint64_t bits = (field << 52) + mantissa;
    return bits >> 52 >= 0x7FF ? INFINITY : assemble(bits);
}

/* Returns w * g * 2^shift, rounded. The top bits of w and g are set. */
static double round_product(uint64_t w, mwl__wide g, int64_t shift) {
    mwl__wide low = mwl__wide_mul(w, g.lo);
    mwl__wide high = mwl__wide_add(mwl__wide_mul(w, g.hi), low.hi);
    uint64_t top = high.hi, mid = high.lo, rest = low.lo;
    int64_t exponent = shift + 191;
    if (!(top >> 63)) {
        top = top << 1 | mid >> 63;
        mid <<= 1;
        exponent--;
    }
    return round_bits(top, (mid | rest) != 0, exponent);
}

/* Tries to round both bounds. Returns false if the results differ. */
static bool by_product(uint64_t w, bool cut, int64_t e, double *out) {
    int lead = __builtin_clzll(w);
    uint64_t g1, g0;
    mwl__num_pow10((int)e, &g1, &g0);
    const mwl__wide g = {g1, g0}, below = {g1 - (g0 == 0), g0 - 1};
    int64_t shift = ((e * 1741647) >> 19) - 127 - lead;
    uint64_t w_low = w << lead;
    double low = round_product(w_low, below, shift);
    if (e >= 0 && e <= 55 && !cut) { /* 5^55 fits in 128 bits, so the lower bound is exact */
        *out = low;
        return true;
    }
    uint64_t w_high = w_low;
    if (cut && __builtin_add_overflow(w_low, UINT64_C(1) << lead, &w_high)) return false;
    double high = round_product(w_high, g, shift);
    *out = low;
    return low == high;
}

/* The slow method: strtod on the significant digits as an integer, and an exponent. */
static double by_library(const parts *p) {
    char text[DIGITS_THAT_MATTER + 32];
    size_t n = 0;
    bool more = false;
    for (size_t i = 0; i < p->span; i++) {
        char c = p->digits[i];
        if (!mwl__is_digit(c)) continue;
        if (n < DIGITS_THAT_MATTER)
            text[n++] = c;
        else
            more |= c != '0';
    }
    /* p->exponent is for at most 19 digits. With all n digits, the exponent is smaller by the
     * number of the others. */
    int64_t kept = n < 19 ? (int64_t)n : 19;
    int64_t e = p->exponent - ((int64_t)n - kept);
    if (more) {
        text[n++] = '1';
        e--;
    }
    text[n++] = 'e';
    n += mwl__num_write_i64(e, text + n);
    text[n] = '\0';
    return strtod(text, NULL);
}

static mwl_status finish(double magnitude, bool negative, double *out) {
    *out = negative ? -magnitude : magnitude;
    return isinf(magnitude) ? MWL_E_RANGE : MWL_OK;
}

static mwl_status decimal_value(const parts *p, double *out) {
    static const double exact[23] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                     1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                     1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    double d;
    if (p->w == 0) return finish(0, p->negative, out);
    if (FLT_EVAL_METHOD == 0 && !p->cut && p->w <= UINT64_C(1) << 53 && p->exponent >= -22 &&
        p->exponent <= 22) {
        d = (double)p->w;
        d = p->exponent < 0 ? d / exact[-p->exponent] : d * exact[p->exponent];
        return finish(d, p->negative, out);
    }
    if (p->exponent > 310) return finish(INFINITY, p->negative, out);
    if (p->exponent < -345) return finish(0, p->negative, out); /* w < 10^19 */
    if (!by_product(p->w, p->cut, p->exponent, &d)) d = by_library(p);
    return finish(d, p->negative, out);
}

static mwl_status binary_value(const parts *p, double *out) {
    if (p->w == 0) return finish(0, p->negative, out);
    int lead = __builtin_clzll(p->w);
    return finish(round_bits(p->w << lead, p->cut, p->exponent + 63 - lead), p->negative, out);
}

/* ---- the two grammars ------------------------------------------------------------------------ */

static mwl_status parse(const char *s, size_t len, size_t at, bool negative, grammar g,
                        double *out) {
    parts p = {.negative = negative};
    if (!read_mantissa(s, len, &at, g, &p)) return MWL_E_SYNTAX;
    if (at < len && mwl__to_lower(s[at]) == (g.base == 16 ? 'p' : 'e')) {
        int64_t e;
        at++;
        if (!read_exponent(s, len, &at, g.underscores, &e)) return MWL_E_SYNTAX;
        p.exponent += e;
    } else if (g.base == 16) {
        return MWL_E_SYNTAX;
    }
    if (at != len) return MWL_E_SYNTAX;
    return g.base == 16 ? binary_value(&p, out) : decimal_value(&p, out);
}

mwl_status mwl__num_parse(const char *s, size_t len, double *out) {
    size_t sign = len > 0 && (s[0] == '-' || s[0] == '+');
    grammar g = {.base = 10};
    return parse(s, len, sign, sign && s[0] == '-', g, out);
}

static bool equals_ignoring_case(const char *s, size_t len, const char *word) {
    if (len != strlen(word)) return false;
    for (size_t i = 0; i < len; i++)
        if (mwl__to_lower(s[i]) != word[i]) return false;
    return true;
}

/* Returns whether every underscore is between two digits, or between the base prefix and a
 * digit. */
static bool underscores_stand_well(const char *s, size_t len, bool hex) {
    bool after_digit = hex; /* the prefix, which the caller has skipped, counts as a digit */
    for (size_t i = 0; i < len; i++) {
        bool digit = hex ? mwl__hex_value(s[i]) >= 0 : mwl__is_digit(s[i]);
        if (s[i] == '_') {
            if (!after_digit || i + 1 == len) return false;
            if (hex ? mwl__hex_value(s[i + 1]) < 0 : !mwl__is_digit(s[i + 1])) return false;
        }
        after_digit = digit;
    }
    return true;
}

mwl_status mwl__num_parse_cel(const char *s, size_t len, double *out) {
    size_t at = len > 0 && (s[0] == '-' || s[0] == '+');
    bool negative = at && s[0] == '-';
    if (equals_ignoring_case(s + at, len - at, "inf") ||
        equals_ignoring_case(s + at, len - at, "infinity")) {
        *out = negative ? -INFINITY : INFINITY;
        return MWL_OK;
    }
    if (equals_ignoring_case(s, len, "nan")) {
        *out = NAN;
        return MWL_OK;
    }
    grammar g = {.bare_point = true, .underscores = true, .base = 10};
    if (len - at > 2 && s[at] == '0' && mwl__to_lower(s[at + 1]) == 'x') {
        g.base = 16;
        at += 2;
    }
    if (!underscores_stand_well(s + at, len - at, g.base == 16)) return MWL_E_SYNTAX;
    return parse(s, len, at, negative, g, out);
}
