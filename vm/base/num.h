/* num.h: writes numbers as text and reads them.
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

/* Writes the shortest decimal that reads back as d, in the layout of ECMAScript ("0" for -0,
 * "1e+21", "1e-7"). d must be finite. Returns the length; no NUL is added. */
size_t mwl__num_write(double d, char out[MWL__NUM_MAX]);

/* Writes the same shortest digits without a layout, for other forms: |d| = 0.DIGITS * 10^*point.
 * The first and the last digit are not zero (zero is "0" with *point 1). d must be finite. Returns
 * the number of digits, at most 17. */
size_t mwl__num_digits(double d, char digits[20], int *point);

/* Reads [+-]?digits[.digits][(e|E)[+-]digits], which must be the whole text, correctly rounded.
 * MWL_E_SYNTAX: another form. MWL_E_RANGE: too large; *out is then infinity with the same sign. A
 * number that is too small becomes zero with the same sign, which is not an error. */
mwl_status mwl__num_parse(const char *s, size_t len, double *out);

/* Reads the text of CEL's double(string), which is Go's strconv.ParseFloat: as above, and also "1."
 * and ".5", "inf", "infinity" (with or without sign) and "nan" (without sign) in any case,
 * hexadecimal floats with a binary exponent ("0x1.8p3"), and underscores between digits or after
 * the hexadecimal prefix. Returns the same statuses; an infinity that the text names is not an
 * error. */
mwl_status mwl__num_parse_cel(const char *s, size_t len, double *out);

/* Read an integer, which must be the whole text: [+-]?digits for i64, digits for u64. On failure
 * they return MWL_E_SYNTAX or MWL_E_RANGE and do not write *out. */
mwl_status mwl__num_parse_i64(const char *s, size_t len, int64_t *out);
mwl_status mwl__num_parse_u64(const char *s, size_t len, uint64_t *out);

/* Write an integer. Return the length; no NUL is added. */
size_t mwl__num_write_i64(int64_t v, char out[MWL__NUM_INT_MAX]);
size_t mwl__num_write_u64(uint64_t v, char out[MWL__NUM_INT_MAX]);

/* Write a finite double as C and Go do with %.<precision>f and %.<precision>e: exactly rounded
 * (half to even on the exact binary value), always with '.', with an exponent of at least two
 * digits. Return the length without the NUL, or 0 if the text and its NUL do not fit in cap; 330 +
 * precision bytes are enough. */
size_t mwl__num_write_fixed(double d, int precision, char *out, size_t cap);
size_t mwl__num_write_exp(double d, int precision, char *out, size_t cap);

/* For num.c and its test: g = floor(10^e * 2^(127 - floor(log2(10^e)))) + 1. This is an upper bound
 * of the leading 128 bits of the power, too large by at most one. e is from MWL__NUM_POW_MIN to
 * _MAX. */
#define MWL__NUM_POW_MIN (-351)
#define MWL__NUM_POW_MAX 350
void mwl__num_pow10(int e, uint64_t *hi, uint64_t *lo);

#endif
