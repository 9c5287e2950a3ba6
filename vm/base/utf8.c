/* utf8.c: checks and counts UTF-8, eight bytes at a time where the text is ASCII. See utf8.h. */
#include "vm/base/utf8.h"

#include <string.h>

#define HIGH_BITS UINT64_C(0x8080808080808080)
#define LOW_BITS UINT64_C(0x0101010101010101)

static inline uint64_t load8(const unsigned char *p) {
    uint64_t w;
    memcpy(&w, p, sizeof w);
    return w;
}

static inline bool is_cont(unsigned char b) { return (b & 0xC0u) == 0x80u; }

/* Returns the width of the well-formed sequence of two or more bytes at p (n bytes can be read); 0
 * if it is not well-formed. The bounds of the second byte cover all special cases (table 3-7). */
static inline size_t sequence(const unsigned char *p, size_t n) {
    unsigned char a = p[0];
    if (a < 0xC2) return 0;
    if (a < 0xE0) return n >= 2 && is_cont(p[1]) ? 2 : 0;
    if (a < 0xF0) {
        if (n < 3 || !is_cont(p[1]) || !is_cont(p[2])) return 0;
        if (a == 0xE0 && p[1] < 0xA0) return 0; /* overlong */
        if (a == 0xED && p[1] > 0x9F) return 0; /* surrogate */
        return 3;
    }
    if (a > 0xF4 || n < 4 || !is_cont(p[1]) || !is_cont(p[2]) || !is_cont(p[3])) return 0;
    if (a == 0xF0 && p[1] < 0x90) return 0; /* overlong */
    if (a == 0xF4 && p[1] > 0x8F) return 0; /* above U+10FFFF */
    return 4;
}

/* Returns how far the bytes are well-formed. *extra counts the bytes beyond one per code point. */
static size_t walk(const unsigned char *p, size_t len, size_t *extra) {
    size_t i = 0, more = 0;
    while (i < len) {
        if (p[i] < 0x80) {
            while (len - i >= 16 && !((load8(p + i) | load8(p + i + 8)) & HIGH_BITS)) i += 16;
            if (len - i >= 8 && !(load8(p + i) & HIGH_BITS)) i += 8;
            if (len >= 8 && len - i <= 8 && !(load8(p + len - 8) & HIGH_BITS))
                i = len; /* the rest */
            while (i < len && p[i] < 0x80) i++;
            continue;
        }
        size_t width = sequence(p + i, len - i);
        if (width == 0) break;
        i += width;
        more += width - 1;
    }
    *extra = more;
    return i;
}

bool mwl__utf8_valid(const char *s, size_t len, size_t *n_code_points) {
    size_t extra;
    if (walk((const unsigned char *)s, len, &extra) != len) return false;
    if (n_code_points) *n_code_points = len - extra;
    return true;
}

size_t mwl__utf8_valid_prefix(const char *s, size_t len) {
    size_t extra;
    return walk((const unsigned char *)s, len, &extra);
}

bool mwl__utf8_is_ascii(const char *s, size_t len) {
    const unsigned char *p = (const unsigned char *)s;
    size_t i = 0;
    for (; len - i >= 8; i += 8)
        if (load8(p + i) & HIGH_BITS) return false;
    for (; i < len; i++)
        if (p[i] >= 0x80) return false;
    return true;
}

/* Returns the number of continuation bytes (10xxxxxx) among eight. */
static inline size_t cont_in(uint64_t w) {
    uint64_t c = (w >> 7) & (~w >> 6) & LOW_BITS;
    return (size_t)((c * LOW_BITS) >> 56);
}

size_t mwl__utf8_count(const char *s, size_t len) {
    const unsigned char *p = (const unsigned char *)s;
    size_t i = 0, cont = 0;
    for (; len - i >= 8; i += 8) cont += cont_in(load8(p + i));
    for (; i < len; i++) cont += is_cont(p[i]);
    return len - cont;
}

size_t mwl__utf8_offset(const char *s, size_t len, size_t k) {
    const unsigned char *p = (const unsigned char *)s;
    size_t i = 0;
    /* Eight bytes contain at most eight beginnings. So words are skipped while more than eight are
     * still needed; then the beginning of code point k is found byte by byte. */
    while (len - i >= 8 && k >= 8) {
        k -= 8 - cont_in(load8(p + i));
        i += 8;
    }
    for (; i < len; i++) {
        if (is_cont(p[i])) continue;
        if (k == 0) return i;
        k--;
    }
    return len;
}
