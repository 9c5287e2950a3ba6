/* document.c: see document.h. */
#include "tools/lsp/document.h"

#include <stdlib.h>

/* As much as one message can bring; offsets have 32 bits. */
#define TEXT_MAX ((size_t)64 << 20)

#define BLOCK 512u

/* How many units of UTF-16 a byte of UTF-8 stands for: the first of a character for all of it. */
static uint32_t units_of(char c) {
    unsigned char b = (unsigned char)c;
    return (b & 0xC0) == 0x80 ? 0 : b >= 0xF0 ? 2 : 1;
}

/* Room for what index_text notes of a text of `size` bytes into which `text` comes. It may divide a
 * carriage return from its line feed. */
static mwl_status reserve_index(struct document *d, size_t size, const char *text, size_t len) {
    const mwl_alloc alloc = mwl_alloc_default();
    size_t lines = d->n_lines + 2, blocks = size / BLOCK + 2;
    for (size_t i = 0; i < len; i++) lines += text[i] == '\n' || text[i] == '\r';
    if (mwl__mem_grow(&alloc, (void **)&d->lines, &d->cap_lines, lines, sizeof *d->lines) < 0)
        return MWL_E_NOMEM;
    return mwl__mem_grow(&alloc, (void **)&d->blocks, &d->cap_blocks, blocks, sizeof *d->blocks);
}

/* Notes where lines begin, and the units before each block. */
static void index_text(struct document *d) {
    const char *s = d->text.data;
    uint32_t len = (uint32_t)d->text.len, units = 0;
    d->n_lines = d->n_blocks = 0;
    d->lines[d->n_lines++] = 0;
    for (uint32_t at = 0; at < len; at++) {
        if (at % BLOCK == 0) d->blocks[d->n_blocks++] = units;
        units += units_of(s[at]);
        if (s[at] == '\n' || (s[at] == '\r' && !(at + 1 < len && s[at + 1] == '\n')))
            d->lines[d->n_lines++] = at + 1;
    }
    d->blocks[d->n_blocks++] = units;
}

mwl_status document_open(struct document *d, const char *uri, const char *text, size_t len) {
    memset(d, 0, sizeof *d);
    d->text = mwl__buf_make(mwl_alloc_default());
    d->uri = strdup(uri);
    if (!d->uri) return MWL_E_NOMEM;
    return document_edit(d, 0, 0, text, len);
}

void document_free(struct document *d) {
    const mwl_alloc alloc = mwl_alloc_default();
    free(d->uri);
    mwl__buf_free(&d->text);
    mwl__mem_free(&alloc, d->lines, d->cap_lines * sizeof *d->lines);
    mwl__mem_free(&alloc, d->blocks, d->cap_blocks * sizeof *d->blocks);
    memset(d, 0, sizeof *d);
}

mwl_status document_edit(struct document *d, uint32_t begin, uint32_t end, const char *text,
                         size_t len) {
    mwl__buf *b = &d->text;
    if (end > b->len) end = (uint32_t)b->len;
    if (begin > end) begin = end;
    size_t size = b->len - (end - begin) + len;
    if (len > TEXT_MAX || size > TEXT_MAX) return MWL_E_TOO_BIG;
    if (reserve_index(d, size, text, len) < 0) return MWL_E_NOMEM;
    if (!mwl__buf_reserve(b, len + 1)) {
        b->failed = false;
        return MWL_E_NOMEM;
    }
    memmove(b->data + begin + len, b->data + end, b->len - end);
    if (len) memcpy(b->data + begin, text, len);
    b->len = size;
    index_text(d);
    return MWL_OK;
}

/* ---- positions ------------------------------------------------------------------------------- */

static uint32_t line_end(const struct document *d, uint32_t line) {
    uint32_t end = line + 1 < d->n_lines ? d->lines[line + 1] : (uint32_t)d->text.len;
    const char *s = d->text.data;
    if (line + 1 < d->n_lines && end > d->lines[line] && s[end - 1] == '\n') end--;
    if (line + 1 < d->n_lines && end > d->lines[line] && s[end - 1] == '\r') end--;
    return end;
}

/* The last element of a sorted list that is not above the value. */
static size_t last_below(const uint32_t *list, size_t n, uint32_t value) {
    size_t low = 0, high = n;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (list[middle] <= value)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Units of UTF-16 before a byte. */
static uint32_t units_before(const struct document *d, uint32_t offset) {
    uint32_t at = offset / BLOCK * BLOCK, units = d->blocks[offset / BLOCK];
    if (offset == d->text.len) return d->blocks[d->n_blocks - 1];
    for (; at < offset; at++) units += units_of(d->text.data[at]);
    return units;
}

/* The byte at which so many units have gone by; inside a character, its beginning. */
static uint32_t byte_at(const struct document *d, uint32_t units) {
    const char *s = d->text.data;
    size_t block = last_below(d->blocks, d->n_blocks, units);
    uint32_t at = (uint32_t)block * BLOCK, gone = d->blocks[block], len = (uint32_t)d->text.len;
    if (at > len) at = len;
    while (at < len && (s[at] & 0xC0) == 0x80) at++; /* the block begins inside a character */
    while (at < len && gone + units_of(s[at]) <= units) {
        gone += units_of(s[at]);
        at++;
        while (at < len && (s[at] & 0xC0) == 0x80) at++;
    }
    return at;
}

uint32_t document_offset(const struct document *d, struct position at, enum units units) {
    if (at.line >= d->n_lines) return (uint32_t)d->text.len;
    uint32_t begin = d->lines[at.line], end = line_end(d, at.line);
    if (at.character >= end - begin) return end; /* no unit is longer than a byte */
    if (units == UNITS_UTF16) {
        uint32_t found = byte_at(d, units_before(d, begin) + at.character);
        return found < end ? found : end;
    }
    uint32_t offset = begin + at.character;
    while (offset > begin && (d->text.data[offset] & 0xC0) == 0x80) offset--;
    return offset;
}

struct position document_position(const struct document *d, uint32_t offset, enum units units) {
    if (offset > d->text.len) offset = (uint32_t)d->text.len;
    struct position p = {(uint32_t)last_below(d->lines, d->n_lines, offset), 0};
    uint32_t begin = d->lines[p.line], end = line_end(d, p.line);
    if (offset > end) offset = end;
    p.character =
        units == UNITS_UTF8 ? offset - begin : units_before(d, offset) - units_before(d, begin);
    return p;
}
