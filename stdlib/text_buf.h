/* text_buf.h: builds texts, and steps over the characters of valid UTF-8.
 *
 * The heap counts the memory. `failed` stays set, so a writer appends without tests and tests once
 * at the end. */
#ifndef MWL_TEXT_BUF_H
#define MWL_TEXT_BUF_H

#include "mwl_provider.h"

#include <string.h>

typedef struct text_buf {
    mwl_fn *fn;
    char *data;
    size_t len, cap;
    bool failed;
} text_buf;

static inline text_buf text_buf_make(mwl_fn *fn) {
    text_buf b = {fn, NULL, 0, 0, false};
    return b;
}

/* Makes room for n more bytes. Charges for the bytes and for the call, because the time for a text
 * of many short pieces depends on their number. */
static inline bool text_buf_room(text_buf *b, size_t n) {
    if (b->failed || !mwl_fn_charge(b->fn, 1 + n / 8)) return !(b->failed = true);
    if (n <= b->cap - b->len) return true;
    size_t cap = b->cap ? b->cap : 64;
    while (cap - b->len < n && cap <= SIZE_MAX / 4) cap *= 2;
    char *data = mwl_heap_resize(mwl_fn_heap(b->fn), b->data, b->cap, cap);
    if (!data) return !(b->failed = true);
    b->data = data;
    b->cap = cap;
    return true;
}

static inline void text_buf_put(text_buf *b, const char *s, size_t n) {
    if (n == 0 || !text_buf_room(b, n)) return;
    memcpy(b->data + b->len, s, n);
    b->len += n;
}

static inline void text_buf_puts(text_buf *b, const char *s) { text_buf_put(b, s, strlen(s)); }

/* Returns the text as a string value, given; absent if something failed. Frees the buffer. */
static inline mwl_value text_buf_finish(text_buf *b) {
    mwl_heap *h = mwl_fn_heap(b->fn);
    mwl_value v = b->failed ? mwl_absent() : mwl_string(h, b->data ? b->data : "", b->len);
    (void)mwl_heap_resize(h, b->data, b->cap, 0);
    b->data = NULL;
    return v;
}

/* ---- characters ------------------------------------------------------------------------------ */

static inline size_t char_width(char lead) {
    unsigned char c = (unsigned char)lead;
    return c < 0x80 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : 4;
}

static inline uint32_t char_at(const char *s, size_t width) {
    const unsigned char *p = (const unsigned char *)s;
    static const unsigned char lead_mask[5] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    uint32_t c = p[0] & lead_mask[width];
    for (size_t i = 1; i < width; i++) c = c << 6 | (p[i] & 0x3fu);
    return c;
}

/* Returns the width of the first character of any bytes, or 0 if they do not begin with valid
 * UTF-8. */
static inline size_t char_valid(const char *s, size_t len) {
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char lead = (unsigned char)s[0];
    size_t w = char_width(s[0]);
    if (w == 1) return 1;
    if (lead < 0xc2 || lead > 0xf4 || w > len) return 0;
    for (size_t i = 1; i < w; i++)
        if (((unsigned char)s[i] & 0xc0u) != 0x80u) return 0;
    uint32_t c = char_at(s, w);
    return c < least[w] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) ? 0 : w;
}

/* Returns where character k begins. `ascii`: every byte is a character. k must not be past the
 * end. */
static inline size_t char_offset(const char *s, size_t k, bool ascii) {
    if (ascii) return k;
    size_t at = 0;
    while (k--) at += char_width(s[at]);
    return at;
}

static inline size_t char_count(const char *s, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) n += ((unsigned char)s[i] & 0xc0u) != 0x80u;
    return n;
}

#endif
