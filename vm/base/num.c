/* num.c: writes doubles as their shortest text, reads and writes integers. See num.h; num_parse.c
 * reads doubles.
 *
 * Shortest digits follow Raffaello Giulietti, "The Schubfach way to render doubles" (2021). Instead
 * of the paper's 617 powers of ten there are 26 powers of five, 27 apart, with 192 bits each. One
 * multiplication by a small power gives the 128 bits that are needed, exactly (the unit test
 * computes all of them again). */
#include "vm/base/ascii.h"
#include "vm/base/num.h"
#include "vm/base/wide.h"

#include <float.h>
#include <locale.h>
#include <stdio.h>
#include <string.h>

/* ---- powers of ten --------------------------------------------------------------------------- */

#define POW5_STEP 27
#define POW5_FIRST (-13)

/* floor(5^(27 q) * 2^n), with n such that the top bit of 192 is set, for q from -13. */
static const uint64_t pow5_192[26][3] = {
    {0x8049a4ac0c5811ae, 0x205b896d777d6278, 0xac261e9f5141430b}, /* 5^-351 */
    {0xcf42894a5dce35ea, 0x52064cac828675b9, 0x475f2b7d7df1ad7a}, /* 5^-324 */
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e, 0x657c8f4d43323a36}, /* 5^-297 */
    {0x873e4f75e2224e68, 0x5a7744a6e804a291, 0xcc35eddfcf0996d7}, /* 5^-270 */
    {0xda7f5bf590966848, 0xaf39a475506a899e, 0xa30294cc2934e662}, /* 5^-243 */
    {0xb080392cc4349dec, 0xbd8d794d96aacfb3, 0xfe13a5c86af64418}, /* 5^-216 */
    {0x8e938662882af53e, 0x547eb47b7282ee9c, 0x41b0230e1421487d}, /* 5^-189 */
    {0xe65829b3046b0afa, 0x0cb4a5a3112a5112, 0xa3b561b1cb208396}, /* 5^-162 */
    {0xba121a4650e4ddeb, 0x92f34d62616ce413, 0x21a0183e10583cd3}, /* 5^-135 */
    {0x964e858c91ba2655, 0x3a6a07f8d510f86f, 0xe9082f25e9c5e9ec}, /* 5^-108 */
    {0xf2d56790ab41c2a2, 0xfae27299423fb9c3, 0x3695dad7e8858901}, /* 5^-81 */
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b886, 0x96842dc95323f5a8}, /* 5^-54 */
    {0x9e74d1b791e07e48, 0x775ea264cf55347d, 0xca49f1c05120c9c7}, /* 5^-27 */
    {0x8000000000000000, 0x0000000000000000, 0x0000000000000000}, /* 5^0 */
    {0xcecb8f27f4200f3a, 0x0000000000000000, 0x0000000000000000}, /* 5^27 */
    {0xa70c3c40a64e6c51, 0x999090b65f67d924, 0x0000000000000000}, /* 5^54 */
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3, 0xdf9f915627c04e28}, /* 5^81 */
    {0xda01ee641a708de9, 0xe80e6f4820cc9495, 0xd74baad03bc1d8d3}, /* 5^108 */
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f, 0xc04c79ffe324301f}, /* 5^135 */
    {0x8e41ade9fbebc27d, 0x14588f13be847307, 0x23bd6a2059c002f5}, /* 5^162 */
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fa, 0xf0b5ccf5176ecc7c}, /* 5^189 */
    {0xb9a74a0637ce2ee1, 0x6d953e2bd7173692, 0x88efb0037ac08bde}, /* 5^216 */
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e, 0x0d5a4af7b3a98e47}, /* 5^243 */
    {0xf24a01a73cf2dccf, 0xbc633b39673c8cec, 0x3d9c44cd2f36917c}, /* 5^270 */
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8, 0x02606ea01029dc37}, /* 5^297 */
    {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1, 0x4944d9f52cd0dec2}, /* 5^324 */
};

static const uint64_t pow5_small[POW5_STEP] = {
    UINT64_C(1),
    UINT64_C(5),
    UINT64_C(25),
    UINT64_C(125),
    UINT64_C(625),
    UINT64_C(3125),
    UINT64_C(15625),
    UINT64_C(78125),
    UINT64_C(390625),
    UINT64_C(1953125),
    UINT64_C(9765625),
    UINT64_C(48828125),
    UINT64_C(244140625),
    UINT64_C(1220703125),
    UINT64_C(6103515625),
    UINT64_C(30517578125),
    UINT64_C(152587890625),
    UINT64_C(762939453125),
    UINT64_C(3814697265625),
    UINT64_C(19073486328125),
    UINT64_C(95367431640625),
    UINT64_C(476837158203125),
    UINT64_C(2384185791015625),
    UINT64_C(11920928955078125),
    UINT64_C(59604644775390625),
    UINT64_C(298023223876953125),
    UINT64_C(1490116119384765625),
};

/* The leading 128 bits of a power of ten and of the same power of five are the same bits. */
void mwl__num_pow10(int e, uint64_t *hi, uint64_t *lo) {
    int q = (e - POW5_STEP * POW5_FIRST) / POW5_STEP; /* the dividend is not negative */
    const uint64_t *base = pow5_192[q];
    uint64_t m = pow5_small[e - POW5_STEP * (POW5_FIRST + q)];
    mwl__wide p0 = mwl__wide_mul(base[2], m);
    mwl__wide p1 = mwl__wide_add(mwl__wide_mul(base[1], m), p0.hi);
    mwl__wide p2 = mwl__wide_add(mwl__wide_mul(base[0], m), p1.hi); /* at most 61 bits above 64 */
    uint64_t top = p2.hi, mid = p2.lo, low = p1.lo;
    if (top == 0) { /* m is 1 */
        top = mid, mid = low;
    } else {
        int lead = __builtin_clzll(top);
        if (lead > 0) {
            top = top << lead | mid >> (64 - lead);
            mid = mid << lead | low >> (64 - lead);
        }
    }
    mwl__wide g = mwl__wide_add((mwl__wide){top, mid}, 1);
    *hi = g.hi;
    *lo = g.lo;
}

/* ---- shortest digits ------------------------------------------------------------------------- */

/* Floors of logarithms by multiplication; exact for every exponent of a double. The shifts are of
 * negative numbers and round down, which gcc and clang define. */
static inline int floor_log10_pow2(int e) { return (e * 1262611) >> 22; }
static inline int floor_log10_three_quarters_pow2(int e) { return (e * 1262611 - 524031) >> 22; }
static inline int floor_log2_pow10(int e) { return (e * 1741647) >> 19; }

/* Returns g * c / 2^128, rounded to odd: the last bit is also set if bits were cut off. */
static inline uint64_t round_to_odd(uint64_t g1, uint64_t g0, uint64_t c) {
    mwl__wide y = mwl__wide_add(mwl__wide_mul(g1, c), mwl__wide_mul(g0, c).hi);
    return y.hi | (y.lo > 1);
}

typedef struct {
    uint64_t digits;
    int exponent; /* the value is digits * 10^exponent */
} decimal;

/* Returns the shortest decimal in the rounding interval of a positive finite double; of several
 * with that length, the closest. The digits may end in zeros. The candidates are the neighbours s
 * and s+1 at the largest power of ten below the width of the interval, and the two at the next
 * power, of which at most one can be inside. */
static decimal shortest(uint64_t fraction, int biased) {
    uint64_t c = biased ? fraction | UINT64_C(1) << 52 : fraction;
    int q = (biased ? biased : 1) - 1075;
    bool even = (c & 1) == 0;
    bool narrow_below =
        fraction == 0 && biased > 1; /* the distance to the lower neighbour is half as large */

    uint64_t mid_c = 4 * c, high_c = mid_c + 2, low_c = mid_c - (narrow_below ? 1 : 2);
    int k = narrow_below ? floor_log10_three_quarters_pow2(q) : floor_log10_pow2(q);
    int h = q + floor_log2_pow10(-k) + 1;
    uint64_t g1, g0;
    mwl__num_pow10(-k, &g1, &g0);
    uint64_t mid = round_to_odd(g1, g0, mid_c << h);
    uint64_t low = round_to_odd(g1, g0, low_c << h) + (even ? 0 : 1);
    uint64_t high = round_to_odd(g1, g0, high_c << h) - (even ? 0 : 1);

    uint64_t s = mid / 4;
    if (s >= 10) {
        uint64_t sp = s / 10;
        bool down = low <= 40 * sp, up = 40 * sp + 40 <= high;
        if (down != up) return (decimal){sp + (up ? 1 : 0), k + 1};
    }
    bool down = low <= 4 * s, up = 4 * s + 4 <= high;
    if (down != up) return (decimal){s + (up ? 1 : 0), k};
    uint64_t half = 4 * s + 2;
    bool round_up = mid > half || (mid == half && (s & 1));
    return (decimal){s + (round_up ? 1 : 0), k};
}

/* ---- integers to text ------------------------------------------------------------------------ */

static const char two_digits[201] = "00010203040506070809101112131415161718192021222324"
                                    "25262728293031323334353637383940414243444546474849"
                                    "50515253545556575859606162636465666768697071727374"
                                    "75767778798081828384858687888990919293949596979899";

static inline size_t count_digits(uint64_t v) {
    size_t n = 1;
    for (;;) {
        if (v < 10) return n;
        if (v < 100) return n + 1;
        if (v < 1000) return n + 2;
        if (v < 10000) return n + 3;
        v /= 10000;
        n += 4;
    }
}

static inline void put_two(char *p, uint32_t v) { memcpy(p, two_digits + (size_t)2 * v, 2); }

/* Writes eight digits, with leading zeros, in 32-bit steps that do not depend on each other. */
static inline void put_eight(uint32_t v, char *p) {
    uint32_t high = v / 10000, low = v % 10000;
    put_two(p, high / 100);
    put_two(p + 2, high % 100);
    put_two(p + 4, low / 100);
    put_two(p + 6, low % 100);
}

size_t mwl__num_write_u64(uint64_t v, char out[MWL__NUM_INT_MAX]) {
    size_t n = count_digits(v);
    char *p = out + n;
    while (v >= 100000000) {
        p -= 8;
        put_eight((uint32_t)(v % 100000000), p);
        v /= 100000000;
    }
    uint32_t rest = (uint32_t)v;
    while (rest >= 100) {
        p -= 2;
        put_two(p, rest % 100);
        rest /= 100;
    }
    if (rest >= 10)
        put_two(p - 2, rest);
    else
        p[-1] = (char)('0' + rest);
    return n;
}

size_t mwl__num_write_i64(int64_t v, char out[MWL__NUM_INT_MAX]) {
    if (v >= 0) return mwl__num_write_u64((uint64_t)v, out);
    char digits[MWL__NUM_INT_MAX];
    size_t n = mwl__num_write_u64(0 - (uint64_t)v, digits);
    out[0] = '-';
    memcpy(out + 1, digits, n);
    return n + 1;
}

/* ---- doubles to text ------------------------------------------------------------------------- */

static inline uint64_t bits_of(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}

static size_t digits_of(uint64_t bits, char digits[MWL__NUM_INT_MAX], int *point) {
    decimal dec = shortest(bits & ((UINT64_C(1) << 52) - 1), (int)(bits >> 52 & 0x7FF));
    size_t n = mwl__num_write_u64(dec.digits, digits);
    *point = dec.exponent + (int)n;
    while (n > 1 && digits[n - 1] == '0') n--;
    return n;
}

size_t mwl__num_digits(double d, char digits[20], int *point) {
    if (d == 0) {
        digits[0] = '0';
        *point = 1;
        return 1;
    }
    char all[MWL__NUM_INT_MAX];
    size_t n = digits_of(bits_of(d) & ~(UINT64_C(1) << 63), all, point);
    memcpy(digits, all, n);
    return n;
}

/* For prices and similar numbers: a positive d with at most three decimals and 15 digits. Returns 0
 * for other numbers. The quotient of two exact doubles is correctly rounded, so if it equals d, the
 * text reads back as d. Two different decimals of up to 15 digits never read back as the same
 * double, so no shorter text exists. */
static size_t few_decimals(double d, char digits[MWL__NUM_INT_MAX], int *point) {
    if (FLT_EVAL_METHOD != 0 || !(d < 999999999999.0 && d >= 0.001)) return 0;
    uint64_t m = (uint64_t)(d * 1000.0 + 0.5);
    if ((double)m / 1000.0 != d) return 0;
    size_t n = mwl__num_write_u64(m, digits);
    *point = (int)n - 3;
    while (n > 1 && digits[n - 1] == '0') n--;
    return n;
}

/* Writes n digits in the layout of ECMA-262 Number::toString. `point` is called n there. */
static size_t lay_out(const char *digits, size_t n, int point, char *out) {
    char *p = out;
    if (point > 0 && point <= 21) {
        size_t whole = (size_t)point;
        if (n <= whole) {
            memcpy(p, digits, n);
            memset(p + n, '0', whole - n);
            return whole;
        }
        memcpy(p, digits, whole);
        p[whole] = '.';
        memcpy(p + whole + 1, digits + whole, n - whole);
        return n + 1;
    }
    if (point > -6 && point <= 0) {
        size_t zeros = (size_t)-point;
        memcpy(p, "0.", 2);
        memset(p + 2, '0', zeros);
        memcpy(p + 2 + zeros, digits, n);
        return 2 + zeros + n;
    }
    *p++ = digits[0];
    if (n > 1) {
        *p++ = '.';
        memcpy(p, digits + 1, n - 1);
        p += n - 1;
    }
    int exponent = point - 1;
    *p++ = 'e';
    *p++ = exponent < 0 ? '-' : '+';
    char text[MWL__NUM_INT_MAX];
    size_t width = mwl__num_write_u64((uint64_t)(exponent < 0 ? -exponent : exponent), text);
    memcpy(p, text, width);
    return (size_t)(p - out) + width;
}

size_t mwl__num_write(double d, char out[MWL__NUM_MAX]) {
    if (d > -9007199254740992.0 && d < 9007199254740992.0) {
        int64_t i = (int64_t)d;
        if ((double)i == d) return mwl__num_write_i64(i, out);
    }
    uint64_t bits = bits_of(d);
    char digits[MWL__NUM_INT_MAX];
    char *p = out;
    if (bits >> 63) *p++ = '-';
    int point;
    size_t n = few_decimals(d < 0 ? -d : d, digits, &point);
    if (n == 0) n = digits_of(bits & ~(UINT64_C(1) << 63), digits, &point);
    return (size_t)(p - out) + lay_out(digits, n, point, p);
}

/* ---- fixed and exponent forms ---------------------------------------------------------------- */

/* The C library rounds these exactly. Its decimal point depends on the locale, so it is replaced
 * here. */
static size_t print(const char *format, double d, int precision, char *out, size_t cap) {
    int n = snprintf(out, cap, format, precision < 0 ? 0 : precision, d);
    if (n < 0 || (size_t)n >= cap) return 0;
    size_t len = (size_t)n, i = out[0] == '-';
    while (i < len && mwl__is_digit(out[i])) i++;
    if (i == len || out[i] == 'e' || out[i] == '.') return len;
    size_t width = strlen(localeconv()->decimal_point);
    if (width == 0 || width > len - i) return 0;
    out[i] = '.';
    memmove(out + i + 1, out + i + width, len - i - width + 1);
    return len - width + 1;
}

size_t mwl__num_write_fixed(double d, int precision, char *out, size_t cap) {
    return print("%.*f", d, precision, out, cap);
}
size_t mwl__num_write_exp(double d, int precision, char *out, size_t cap) {
    return print("%.*e", d, precision, out, cap);
}
