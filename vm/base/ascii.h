/* ascii.h: what an ASCII character is, whatever the locale says.
 *
 * Each takes a char (beyond ASCII it may be negative), a byte or a code point: the parameter holds
 * all of them. */
#ifndef MWL_ASCII_H
#define MWL_ASCII_H

#include <stdbool.h>
#include <stdint.h>

static inline bool mwl__is_digit(int64_t c) { return c >= '0' && c <= '9'; }
static inline bool mwl__is_upper(int64_t c) { return c >= 'A' && c <= 'Z'; }
static inline bool mwl__is_lower(int64_t c) { return c >= 'a' && c <= 'z'; }
static inline bool mwl__is_letter(int64_t c) { return mwl__is_lower(c) || mwl__is_upper(c); }
static inline bool mwl__is_alnum(int64_t c) { return mwl__is_letter(c) || mwl__is_digit(c); }

/* The value of a hexadecimal digit, or -1. */
static inline int mwl__hex_value(int64_t c) {
    if (mwl__is_digit(c)) return (int)c - '0';
    if (c >= 'a' && c <= 'f') return (int)c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? (int)c - 'A' + 10 : -1;
}
static inline bool mwl__is_hex(int64_t c) { return mwl__hex_value(c) >= 0; }

static inline char mwl__to_lower(char c) { return mwl__is_upper(c) ? (char)(c + ('a' - 'A')) : c; }

#endif
