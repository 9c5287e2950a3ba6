/* num.h: numbers to text and back.
 *
 * Owns: the one rendering of a double (ECMAScript's Number::toString, which RFC 8785 fixes),
 * correctly rounded reading, and decimal and hexadecimal integers. Refuses to know: values, JSON,
 * CEL's syntax of literals. Locale-independent, no state, no allocation, linear in the length of
 * the text. Assumes IEEE 754 binary64 in the default rounding mode. */
#ifndef MWL_NUM_H
#define MWL_NUM_H

#include "mwl.h"

#define MWL__NUM_MAX                                                                               \
    32 /* bytes that are always enough for mwl__num_write (25 are used at most)                    \
        */
#define MWL__NUM_INT_MAX 24 /* the same for the integer writers (20 are used at most) */

/* Write the shortest decimal that reads back as d, laid out as ECMAScript does ("0" for -0,
 * "1e+21", "1e-7"). d must be finite. The answer is the length; no NUL is added. */
size_t mwl__num_write(double d, char out[MWL__NUM_MAX]);

/* The same shortest digits without a layout, for other renderings: |d| = 0.DIGITS * 10^*point, the
 * first and the last digit not zero (zero is "0" with *point 1). d must be finite. The answer is
 * their number, at most 17. */
size_t mwl__num_digits(double d, char digits[20], int *point);

/* Read [+-]?digits[.digits][(e|E)[+-]digits], all of it, correctly rounded.
 * MWL_E_SYNTAX: another form. MWL_E_RANGE: too large, and *out is the infinity of that sign. What
 * is too small becomes a zero of that sign, which is no error. */
mwl_status mwl__num_parse(const char *s, size_t len, double *out);

/* CEL's double(string), which is Go's strconv.ParseFloat: as above, and also "1." and ".5", "inf",
 * "infinity" (signed or not) and "nan" (unsigned) in any case, hexadecimal floats with a binary
 * exponent ("0x1.8p3"), and underscores between digits or after the hexadecimal prefix. Same
 * statuses; an infinity that was written as such is no error. */
mwl_status mwl__num_parse_cel(const char *s, size_t len, double *out);

/* Integers. Reading takes all of the text: [+-]?digits for i64, digits for u64.
 * MWL_E_SYNTAX or MWL_E_RANGE on failure, with *out untouched. */
mwl_status mwl__num_parse_i64(const char *s, size_t len, int64_t *out);
mwl_status mwl__num_parse_u64(const char *s, size_t len, uint64_t *out);

/* The answer is the length; no NUL is added. */
size_t mwl__num_write_i64(int64_t v, char out[MWL__NUM_INT_MAX]);
size_t mwl__num_write_u64(uint64_t v, char out[MWL__NUM_INT_MAX]);

/* C's and Go's %.<precision>f and %.<precision>e of a finite double, exactly rounded (half to even
 * on the exact binary value), always with '.', an exponent of two digits or more. The answer is the
 * length without the NUL, or 0 when it did not fit in cap (with its NUL); 330 + precision is
 * enough. */
size_t mwl__num_write_fixed(double d, int precision, char *out, size_t cap);
size_t mwl__num_write_exp(double d, int precision, char *out, size_t cap);

/* For num.c and its test: g = floor(10^e * 2^(127 - floor(log2(10^e)))) + 1, an upper bound of the
 * power's leading 128 bits that is too large by at most one; e from MWL__NUM_POW_MIN to _MAX. */
#define MWL__NUM_POW_MIN (-351)
#define MWL__NUM_POW_MAX 350
void mwl__num_pow10(int e, uint64_t *hi, uint64_t *lo);

#endif
