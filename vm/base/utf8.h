/* utf8.h: UTF-8 at the level of bytes and code points.
 *
 * Owns: what well-formed UTF-8 is (Unicode table 3-7: no surrogates, no overlong forms, nothing
 * above U+10FFFF), counting, stepping, encoding. Refuses to know: strings as values, classes of
 * characters, normalisation. Nothing here allocates; everything is linear. */
#ifndef MWL_UTF8_H
#define MWL_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MWL__UTF8_MAX 0x10FFFFu /* the last code point */

/* Whether the bytes are well-formed UTF-8. On true, *n_code_points (may be NULL) is their number;
 * on false it is not written. */
bool mwl__utf8_valid(const char *s, size_t len, size_t *n_code_points);

/* The number of code points in valid UTF-8 (of other bytes: those that are no continuation). */
size_t mwl__utf8_count(const char *s, size_t len);

/* The byte offset at which the k-th code point (from zero) of valid UTF-8 begins; len when there
 * are k or fewer. */
size_t mwl__utf8_offset(const char *s, size_t len, size_t k);

/* The length of the longest well-formed beginning; len when all is valid. For error positions. */
size_t mwl__utf8_valid_prefix(const char *s, size_t len);

/* Whether every byte is below 0x80. */
bool mwl__utf8_is_ascii(const char *s, size_t len);

/* How many bytes the sequence has that begins with this lead byte of valid UTF-8. */
static inline size_t mwl__utf8_width(unsigned char lead) {
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* Whether c can be encoded: a code point that is no surrogate. */
static inline bool mwl__utf8_is_scalar(uint32_t c) {
    return c <= MWL__UTF8_MAX && (c < 0xD800 || c > 0xDFFF);
}

/* Decode one code point of *valid* UTF-8; the answer is its width. There must be a byte to read. */
static inline size_t mwl__utf8_next(const char *s, uint32_t *c) {
    const unsigned char *p = (const unsigned char *)s;
    if (p[0] < 0x80) {
        *c = p[0];
        return 1;
    }
    if (p[0] < 0xE0) {
        *c = (p[0] & 0x1Fu) << 6 | (p[1] & 0x3Fu);
        return 2;
    }
    if (p[0] < 0xF0) {
        *c = (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
        return 3;
    }
    *c = (p[0] & 0x07u) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
    return 4;
}

/* Decode one code point of any bytes. The answer is its width, or 0 when len is 0 or the bytes are
 * not well-formed there; then *c is not written. */
static inline size_t mwl__utf8_decode(const char *s, size_t len, uint32_t *c) {
    const unsigned char *p = (const unsigned char *)s;
    if (len == 0) return 0;
    if (p[0] < 0x80) {
        *c = p[0];
        return 1;
    }
    if (p[0] < 0xC2 || p[0] > 0xF4) return 0;
    size_t width = mwl__utf8_width(p[0]);
    if (len < width) return 0;
    for (size_t i = 1; i < width; i++)
        if ((p[i] & 0xC0u) != 0x80u) return 0;
    uint32_t cp;
    (void)mwl__utf8_next(s, &cp);
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    if (cp < least[width] || !mwl__utf8_is_scalar(cp)) return 0;
    *c = cp;
    return width;
}

/* Encode a scalar value; the answer is the width, or 0 (nothing written) when c is none. */
static inline size_t mwl__utf8_encode(uint32_t c, char out[4]) {
    if (c < 0x80) {
        out[0] = (char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (char)(0xC0u | c >> 6);
        out[1] = (char)(0x80u | (c & 0x3Fu));
        return 2;
    }
    if (!mwl__utf8_is_scalar(c)) return 0;
    if (c < 0x10000) {
        out[0] = (char)(0xE0u | c >> 12);
        out[1] = (char)(0x80u | (c >> 6 & 0x3Fu));
        out[2] = (char)(0x80u | (c & 0x3Fu));
        return 3;
    }
    out[0] = (char)(0xF0u | c >> 18);
    out[1] = (char)(0x80u | (c >> 12 & 0x3Fu));
    out[2] = (char)(0x80u | (c >> 6 & 0x3Fu));
    out[3] = (char)(0x80u | (c & 0x3Fu));
    return 4;
}

#endif
