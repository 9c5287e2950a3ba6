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

/* Returns whether the bytes are well-formed UTF-8. If so, *n_code_points is the number of code
 * points; otherwise it is not written. n_code_points may be NULL. */
bool mwl__utf8_valid(const char *s, size_t len, size_t *n_code_points);

/* Returns the number of code points in valid UTF-8 (for other bytes: the number of bytes that are
 * not continuation bytes). */
size_t mwl__utf8_count(const char *s, size_t len);

/* Returns the byte offset of code point k (from zero) of valid UTF-8; len if there are k or
 * fewer. */
size_t mwl__utf8_offset(const char *s, size_t len, size_t k);

/* Returns the length of the longest well-formed beginning; len if everything is valid. For error
 * positions. */
size_t mwl__utf8_valid_prefix(const char *s, size_t len);

/* Returns whether every byte is below 0x80. */
bool mwl__utf8_is_ascii(const char *s, size_t len);

/* Returns how many bytes a sequence of valid UTF-8 has that begins with this byte. */
static inline size_t mwl__utf8_width(unsigned char lead) {
    return lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
}

/* Returns whether c can be encoded: it is a code point and not a surrogate. */
static inline bool mwl__utf8_is_scalar(uint32_t c) {
    return c <= MWL__UTF8_MAX && (c < 0xD800 || c > 0xDFFF);
}

/* Decodes one code point of valid UTF-8 and returns its width. There must be a byte to read. */
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

/* Decodes one code point of any bytes and returns its width. Returns 0, and does not write *c, if
 * len is 0 or the bytes are not well-formed. */
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

/* Encodes a scalar value and returns its width. Returns 0 and writes nothing if c is not a scalar
 * value. */
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
