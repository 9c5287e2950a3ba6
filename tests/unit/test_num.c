/* test_num.c: number text both ways. Rendering: ECMA-262 Number::toString with the sample values of
 * RFC 8785 appendix B; reading: correct rounding at the halfway cases; the two grammars. */
#include "utest.h"
#include "vm/base/num.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double from_bits(uint64_t bits) {
    double d;
    memcpy(&d, &bits, sizeof d);
    return d;
}
static uint64_t to_bits(double d) {
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return bits;
}
static const char *text_of(double d, char out[MWL__NUM_MAX + 1]) {
    out[mwl__num_write(d, out)] = '\0';
    return out;
}
static mwl_status parse(const char *s, double *out) { return mwl__num_parse(s, strlen(s), out); }
static mwl_status parse_cel(const char *s, double *out) {
    return mwl__num_parse_cel(s, strlen(s), out);
}

UTEST(num, rfc8785_appendix_b) {
    static const struct {
        uint64_t bits;
        const char *text;
    } rows[] = {
        {0x0000000000000000, "0"},
        {0x8000000000000000, "0"},
        {0x0000000000000001, "5e-324"},
        {0x8000000000000001, "-5e-324"},
        {0x7fefffffffffffff, "1.7976931348623157e+308"},
        {0xffefffffffffffff, "-1.7976931348623157e+308"},
        {0x4340000000000000, "9007199254740992"},
        {0xc340000000000000, "-9007199254740992"},
        {0x4430000000000000, "295147905179352830000"},
        {0x44b52d02c7e14af5, "9.999999999999997e+22"},
        {0x44b52d02c7e14af6, "1e+23"},
        {0x44b52d02c7e14af7, "1.0000000000000001e+23"},
        {0x444b1ae4d6e2ef4e, "999999999999999700000"},
        {0x444b1ae4d6e2ef4f, "999999999999999900000"},
        {0x444b1ae4d6e2ef50, "1e+21"},
        {0x3eb0c6f7a0b5ed8c, "9.999999999999997e-7"},
        {0x3eb0c6f7a0b5ed8d, "0.000001"},
        {0x41b3de4355555553, "333333333.3333332"},
        {0x41b3de4355555554, "333333333.33333325"},
        {0x41b3de4355555555, "333333333.3333333"},
        {0x41b3de4355555556, "333333333.3333334"},
        {0x41b3de4355555557, "333333333.33333343"},
        {0xbecbf647612f3696, "-0.0000033333333333333333"},
        {0x43143ff3c1cb0959, "1424953923781206.2"},
    };
    char out[MWL__NUM_MAX + 1];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_STREQ(rows[i].text, text_of(from_bits(rows[i].bits), out));
}

UTEST(num, layout_edges) {
    static const struct {
        double d;
        const char *text;
    } rows[] = {
        {1, "1"},
        {-1, "-1"},
        {10, "10"},
        {0.1, "0.1"},
        {0.5, "0.5"},
        {-0.5, "-0.5"},
        {100.25, "100.25"},
        {1e20, "100000000000000000000"},
        {123456789012345680000.0, "123456789012345680000"},
        {1e21, "1e+21"},
        {1.5e21, "1.5e+21"},
        {1e-6, "0.000001"},
        {1.5e-6, "0.0000015"},
        {1e-7, "1e-7"},
        {1.25e-7, "1.25e-7"},
        {1e100, "1e+100"},
        {1e-100, "1e-100"},
        {9007199254740991.0, "9007199254740991"},
        {9007199254740993.0, "9007199254740992"},
        {9007199254740994.0, "9007199254740994"},
        {0.1 + 0.2, "0.30000000000000004"},
        {2.2250738585072014e-308, "2.2250738585072014e-308"},
        {2.225073858507201e-308, "2.225073858507201e-308"},
        {9.5367431640625e-7, "9.5367431640625e-7"},
    };
    char out[MWL__NUM_MAX + 1];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_STREQ(rows[i].text, text_of(rows[i].d, out));
}

/* Numbers with a few decimals have their own method. At its limits it must give the same as the
 * general one. */
UTEST(num, few_decimals) {
    static const struct {
        double d;
        const char *text;
    } rows[] = {
        {0.001, "0.001"},
        {0.0010000000000000002, "0.0010000000000000002"},
        {0.0009999999999999998, "0.0009999999999999998"},
        {19.99, "19.99"},
        {-19.99, "-19.99"},
        {0.25, "0.25"},
        {1234.5, "1234.5"},
        {999999999998.999, "999999999998.999"},
        {999999999999.125, "999999999999.125"},
        {8589973999.999999, "8589973999.999998"},
        {1.0005, "1.0005"},
        {4.3500000000000005, "4.3500000000000005"},
    };
    char out[MWL__NUM_MAX + 1];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        EXPECT_STREQ(rows[i].text, text_of(rows[i].d, out));
    size_t wrong = 0;
    for (int m = 1; m < 200000; m += 7) {
        char want[32], digits[20];
        int point;
        double d = m / 1000.0;
        size_t n = mwl__num_digits(d, digits, &point); /* always the general method */
        snprintf(want, sizeof want, "%.17g", strtod(text_of(d, out), NULL));
        wrong += strtod(want, NULL) != d || n > 6;
    }
    EXPECT_EQ(wrong, (size_t)0);
}

/* Powers of two have an uneven rounding interval; all of them, and their neighbours, come back. */
UTEST(num, powers_of_two_round_trip) {
    size_t wrong = 0;
    char out[MWL__NUM_MAX];
    for (uint64_t biased = 0; biased < 0x7FF; biased++)
        for (int step = -1; step <= 1; step++) {
            uint64_t bits = (biased << 52) + (uint64_t)(int64_t)step;
            if (bits >> 63 || bits >> 52 == 0x7FF) continue;
            double back = -1;
            size_t n = mwl__num_write(from_bits(bits), out);
            wrong += mwl__num_parse(out, n, &back) != MWL_OK || to_bits(back) != bits;
        }
    EXPECT_EQ(wrong, (size_t)0);
}

/* No text of fewer digits reads back as the same number, and none of the same length is closer.
 * Checked with the digits of printf. */
UTEST(num, random_bits_are_shortest) {
    uint64_t x = UINT64_C(0x9E3779B97F4A7C15);
    size_t wrong = 0;
    for (int i = 0; i < 20000; i++) {
        x ^= x << 13, x ^= x >> 7, x ^= x << 17;
        double d = from_bits(x & ~(UINT64_C(1) << 63));
        if (!isfinite(d)) continue;
        char digits[20], other[40];
        int point;
        size_t n = mwl__num_digits(d, digits, &point);
        /* %.*e is exact: one digit fewer, rounded to nearest, must miss d */
        if (n > 1) {
            snprintf(other, sizeof other, "%.*e", (int)n - 2, d);
            wrong += strtod(other, NULL) == d;
        }
        double back = -1;
        char out[MWL__NUM_MAX];
        wrong += mwl__num_parse(out, mwl__num_write(d, out), &back) != MWL_OK || back != d;
    }
    EXPECT_EQ(wrong, (size_t)0);
}

/* 10^e to 128 bits, from nothing but long multiplication and division by small numbers: the table's
 * words, and that the shortcut through multiples of 27 loses nothing. */
#define WORDS 80
typedef struct {
    uint32_t w[WORDS]; /* little end first */
} big;

static void big_mul(big *b, uint32_t m) {
    uint64_t carry = 0;
    for (int i = 0; i < WORDS; i++) {
        carry += (uint64_t)b->w[i] * m;
        b->w[i] = (uint32_t)carry;
        carry >>= 32;
    }
}
static void big_div(big *b, uint32_t m) {
    uint64_t rest = 0;
    for (int i = WORDS; i-- > 0;) {
        rest = rest << 32 | b->w[i];
        b->w[i] = (uint32_t)(rest / m);
        rest %= m;
    }
}
static int bit(const big *b, int i) { return i < 0 ? 0 : (int)(b->w[i / 32] >> (i % 32) & 1); }
static void leading_128(const big *b, uint64_t *hi, uint64_t *lo) {
    int top = WORDS * 32 - 1;
    while (!bit(b, top)) top--;
    *hi = *lo = 0;
    for (int i = 0; i < 64; i++) {
        *hi = *hi << 1 | (uint64_t)bit(b, top - i);
        *lo = *lo << 1 | (uint64_t)bit(b, top - 64 - i);
    }
}

UTEST(num, powers_of_ten_from_first_principles) {
    static big up, down;
    memset(&up, 0, sizeof up);
    memset(&down, 0, sizeof down);
    up.w[0] = 1;
    down.w[WORDS - 1] = 1u << 31; /* 2^2559; dividing by 5 leaves > 1700 bits at 5^-351 */
    size_t wrong = 0;
    for (int e = 0; e <= 351; e++) {
        uint64_t hi, lo, g1, g0;
        if (e <= MWL__NUM_POW_MAX) {
            leading_128(&up, &hi, &lo);
            mwl__num_pow10(e, &g1, &g0);
            wrong += lo + 1 != g0 || hi + (lo + 1 == 0) != g1;
        }
        leading_128(&down, &hi, &lo);
        mwl__num_pow10(-e, &g1, &g0);
        wrong += lo + 1 != g0 || hi + (lo + 1 == 0) != g1;
        big_mul(&up, 5);
        big_div(&down, 5);
    }
    EXPECT_EQ(wrong, (size_t)0);
}

UTEST(num, parse_grammar) {
    double d;
    static const char *const good[] = {"0",    "-0",    "+1",    "1.5",  "01",    "1e5",
                                       "1E+5", "1e-05", "1.0e0", "-1.5", "00.500"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        EXPECT_EQ(MWL_OK, parse(good[i], &d));
        EXPECT_EQ(d, strtod(good[i], NULL));
    }
    static const char *const bad[] = {"",    "-",   "+",    ".",    ".5",  "5.",      "1.e5", "e5",
                                      "1e",  "1e+", "1e5x", " 1",   "1 ",  "1..2",    "--1",  "0x1",
                                      "1_0", "inf", "nan",  "1e5.", "1,5", "Infinity"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT_EQ(MWL_E_SYNTAX, parse(bad[i], &d));
    EXPECT_EQ(MWL_E_SYNTAX, mwl__num_parse("1\0", 2, &d));
}

UTEST(num, parse_rounding) {
    static const struct {
        const char *text;
        uint64_t bits;
    } rows[] = {
        {"0", 0},
        {"-0", 0x8000000000000000},
        {"9007199254740993", 0x4340000000000000}, /* tie, to even */
        {"9007199254740995", 0x4340000000000002}, /* tie, to even, upward */
        {"9007199254740993.0000000000000000000000001", 0x4340000000000001},
        {"1.7976931348623158e308", 0x7fefffffffffffff},
        {"2.2250738585072011e-308", 0x000fffffffffffff}, /* the famous endless loop */
        {"2.2250738585072012e-308", 0x0010000000000000},
        {"5e-324", 1},
        {"2.4703282292062327e-324", 0},
        {"2.4703282292062328e-324", 1},
        {"1e-324", 0},
        {"-1e-324", 0x8000000000000000},
        {"1e-999999999999999999999", 0},
        {"0e999999999999999999999", 0},
        {"1e23", 0x44b52d02c7e14af6},
        {"0.1", 0x3fb999999999999a},
        {"123456789012345678901234567890", 0x45f8ee90ff6c373e},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        double d = -1;
        EXPECT_EQ(MWL_OK, parse(rows[i].text, &d));
        EXPECT_EQ(rows[i].bits, to_bits(d));
    }
}

/* 2^-1075, half the least subnormal, in full (751 digits after the point's zeros): a tie, which
 * goes to zero, and one digit far behind it that breaks the tie. Computed here by doubling
 * backwards. */
UTEST(num, parse_exact_halfway_in_full) {
    enum { N = 1075 };
    static char text[N + 64];
    static unsigned char frac[N];
    memset(frac, 0, sizeof frac);
    frac[0] = 10; /* 1.0 as tenths, halved 1075 times */
    for (int k = 0; k < N; k++) {
        int rest = 0;
        for (int i = 0; i < N; i++) {
            int v = rest * 10 + frac[i];
            frac[i] = (unsigned char)(v / 2);
            rest = v % 2;
        }
    }
    memcpy(text, "0.", 2);
    for (int i = 0; i < N; i++) text[2 + i] = (char)('0' + frac[i]);
    double d = -1;
    EXPECT_EQ(MWL_OK, mwl__num_parse(text, 2 + N, &d));
    EXPECT_EQ(to_bits(d), (uint64_t)0);
    memcpy(text + 2 + N, "00000000000000000000000000000000000000001", 41);
    EXPECT_EQ(MWL_OK, mwl__num_parse(text, 2 + N + 41, &d));
    EXPECT_EQ(to_bits(d), (uint64_t)1);
}

UTEST(num, parse_overflow) {
    double d = 0;
    EXPECT_EQ(MWL_E_RANGE, parse("1e400", &d));
    EXPECT_TRUE(isinf(d) && d > 0);
    EXPECT_EQ(MWL_E_RANGE, parse("-1.7976931348623159e308", &d));
    EXPECT_TRUE(isinf(d) && d < 0);
    EXPECT_EQ(MWL_E_RANGE, parse("1e999999999999999999999", &d));
}

UTEST(num, parse_cel_words) {
    double d = 0;
    static const char *const plus[] = {"inf", "Inf", "+inf", "INFINITY", "+Infinity"};
    for (size_t i = 0; i < 5; i++) {
        EXPECT_EQ(MWL_OK, parse_cel(plus[i], &d));
        EXPECT_TRUE(isinf(d) && d > 0);
    }
    EXPECT_EQ(MWL_OK, parse_cel("-inf", &d));
    EXPECT_TRUE(isinf(d) && d < 0);
    EXPECT_EQ(MWL_OK, parse_cel("NaN", &d));
    EXPECT_TRUE(isnan(d));
    static const char *const bad[] = {"+nan", "-nan", "in", "infi", "infinityy", "nan1", ""};
    for (size_t i = 0; i < 7; i++) EXPECT_EQ(MWL_E_SYNTAX, parse_cel(bad[i], &d));
}

UTEST(num, parse_cel_forms) {
    static const struct {
        const char *text;
        double value;
    } good[] = {{"1.", 1},
                {".5", 0.5},
                {"1.e2", 100},
                {"1_000.5", 1000.5},
                {"1_23.50_0_0e+1_2", 1.235e14},
                {"0x1p-2", 0.25},
                {"-0X1.8P3", -12},
                {"0x_1p0", 1},
                {"0x1_0p0", 16},
                {"0x.8p1", 1},
                {"0xAp0", 10},
                {"0x1.fffffffffffff8p0", 2.0},
                {"0x1p-1074", 5e-324},
                {"0x1p-1075", 0},
                {"0x1.8p-1075", 5e-324}};
    double d;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        d = -77;
        EXPECT_EQ(MWL_OK, parse_cel(good[i].text, &d));
        EXPECT_EQ(good[i].value, d);
    }
    static const char *const bad[] = {"_1",   "1_",    "1__0",   "1_.5", "1._5",  "1e_5",
                                      "1e5_", "-_1",   "0x",     "0x1",  "0xp1",  "0x1.8",
                                      "0x1p", "0x_p1", "0_x1p1", ".",    "1e1.5", "0x1p_1"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT_EQ(MWL_E_SYNTAX, parse_cel(bad[i], &d));
    EXPECT_EQ(MWL_E_RANGE, parse_cel("0x1p1024", &d));
    EXPECT_EQ(MWL_E_RANGE, parse_cel("1e309", &d));
}

UTEST(num, integers_read) {
    int64_t i = 7;
    uint64_t u = 7;
#define I64(text) mwl__num_parse_i64(text, strlen(text), &i)
#define U64(text) mwl__num_parse_u64(text, strlen(text), &u)
    EXPECT_EQ(MWL_OK, I64("-9223372036854775808"));
    EXPECT_EQ(i, INT64_MIN);
    EXPECT_EQ(MWL_OK, I64("+9223372036854775807"));
    EXPECT_EQ(i, INT64_MAX);
    EXPECT_EQ(MWL_OK, I64("-0"));
    EXPECT_EQ(i, (int64_t)0);
    EXPECT_EQ(MWL_E_RANGE, I64("9223372036854775808"));
    EXPECT_EQ(MWL_E_RANGE, I64("-9223372036854775809"));
    EXPECT_EQ(MWL_E_RANGE, I64("99999999999999999999999999"));
    EXPECT_EQ(i, (int64_t)0);
    EXPECT_EQ(MWL_E_SYNTAX, I64(""));
    EXPECT_EQ(MWL_E_SYNTAX, I64("-"));
    EXPECT_EQ(MWL_E_SYNTAX, I64("1 "));
    EXPECT_EQ(MWL_E_SYNTAX, I64("99999999999999999999999999x"));
    EXPECT_EQ(MWL_OK, U64("18446744073709551615"));
    EXPECT_EQ(u, UINT64_MAX);
    EXPECT_EQ(MWL_E_RANGE, U64("18446744073709551616"));
    EXPECT_EQ(MWL_E_SYNTAX, U64("+1"));
}

UTEST(num, integers_write) {
    char out[MWL__NUM_INT_MAX + 1], want[32];
    uint64_t v = 1;
    for (int k = 0; k < 20; k++, v *= 10)
        for (int d = -1; d <= 1; d++) {
            uint64_t u = v + (uint64_t)(int64_t)d;
            out[mwl__num_write_u64(u, out)] = '\0';
            snprintf(want, sizeof want, "%llu", (unsigned long long)u);
            EXPECT_STREQ(want, out);
            out[mwl__num_write_i64((int64_t)u, out)] = '\0';
            snprintf(want, sizeof want, "%lld", (long long)u);
            EXPECT_STREQ(want, out);
        }
    out[mwl__num_write_i64(INT64_MIN, out)] = '\0';
    EXPECT_STREQ("-9223372036854775808", out);
}

UTEST(num, fixed_and_exponent) {
    char out[400];
    EXPECT_EQ((size_t)8, mwl__num_write_fixed(3.14159265, 6, out, sizeof out));
    EXPECT_STREQ("3.141593", out);
    EXPECT_EQ((size_t)1, mwl__num_write_fixed(2.5, 0, out, sizeof out));
    EXPECT_STREQ("2", out); /* half to even */
    EXPECT_EQ((size_t)9, mwl__num_write_fixed(-0.0, 6, out, sizeof out));
    EXPECT_STREQ("-0.000000", out);
    EXPECT_EQ((size_t)8, mwl__num_write_exp(1234.5, 2, out, sizeof out));
    EXPECT_STREQ("1.23e+03", out);
    EXPECT_EQ((size_t)6, mwl__num_write_exp(1e-300, 0, out, sizeof out));
    EXPECT_STREQ("1e-300", out);
    EXPECT_EQ((size_t)316, mwl__num_write_fixed(1.7976931348623157e308, 6, out, sizeof out));
    EXPECT_EQ((size_t)0, mwl__num_write_fixed(1e100, 6, out, 20));
}

UTEST(num, digits) {
    char digits[20];
    int point = 0;
    EXPECT_EQ((size_t)2, mwl__num_digits(-1500, digits, &point));
    EXPECT_EQ(0, memcmp(digits, "15", 2));
    EXPECT_EQ(4, point);
    EXPECT_EQ((size_t)1, mwl__num_digits(0, digits, &point));
    EXPECT_EQ(1, point);
    EXPECT_EQ((size_t)1, mwl__num_digits(0.001, digits, &point));
    EXPECT_EQ(-2, point);
}

UTEST_MAIN()
