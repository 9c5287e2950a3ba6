/* document.c: see document.h. */
#include "document.h"

#include "vm/base/utf8.h"

#include <stdlib.h>

/* As much as one message can bring; offsets have 32 bits. */
#define TEXT_MAX ((size_t)64 << 20)

static mwl_status index_lines(struct document *d) {
    const mwl_alloc alloc = mwl_alloc_default();
    const char *s = d->text.data;
    size_t n = 0;
    for (uint32_t at = 0, next = 0;; at++) {
        if (at == next) {
            if (mwl__mem_grow(&alloc, (void **)&d->lines, &d->cap_lines, n + 1, sizeof *d->lines) <
                0)
                return MWL_E_NOMEM;
            d->lines[n++] = at;
            next = UINT32_MAX;
        }
        if (at >= d->text.len) break;
        if (s[at] == '\n' || (s[at] == '\r' && !(at + 1 < d->text.len && s[at + 1] == '\n')))
            next = at + 1;
    }
    d->n_lines = n;
    return MWL_OK;
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
    memset(d, 0, sizeof *d);
}

mwl_status document_edit(struct document *d, uint32_t begin, uint32_t end, const char *text,
                         size_t len) {
    mwl__buf *b = &d->text;
    if (end > b->len) end = (uint32_t)b->len;
    if (begin > end) begin = end;
    if (len > TEXT_MAX || b->len - (end - begin) + len > TEXT_MAX) return MWL_E_TOO_BIG;
    if (!mwl__buf_reserve(b, len + 1)) {
        b->failed = false;
        return MWL_E_NOMEM;
    }
    memmove(b->data + begin + len, b->data + end, b->len - end);
    if (len) memcpy(b->data + begin, text, len);
    b->len = b->len - (end - begin) + len;
    return index_lines(d);
}

/* ---- positions ------------------------------------------------------------------------------- */

static uint32_t line_end(const struct document *d, uint32_t line) {
    uint32_t end = line + 1 < d->n_lines ? d->lines[line + 1] : (uint32_t)d->text.len;
    const char *s = d->text.data;
    if (line + 1 < d->n_lines && end > d->lines[line] && s[end - 1] == '\n') end--;
    if (line + 1 < d->n_lines && end > d->lines[line] && s[end - 1] == '\r') end--;
    return end;
}

/* How much a character counts that has this many bytes in UTF-8. */
static uint32_t width_in(enum units units, uint32_t bytes) {
    return units == UNITS_UTF8 ? bytes : units == UNITS_UTF16 && bytes == 4 ? 2 : 1;
}

static uint32_t bytes_at(const char *s, uint32_t left) {
    uint32_t n = (uint32_t)mwl__utf8_width((unsigned char)*s);
    return n == 0 ? 1 : n > left ? left : n;
}

uint32_t document_offset(const struct document *d, struct position at, enum units units) {
    if (at.line >= d->n_lines) return (uint32_t)d->text.len;
    uint32_t offset = d->lines[at.line], end = line_end(d, at.line);
    for (uint32_t n = 0; offset < end;) {
        uint32_t bytes = bytes_at(d->text.data + offset, end - offset);
        n += width_in(units, bytes);
        if (n > at.character) break;
        offset += bytes;
    }
    return offset;
}

struct position document_position(const struct document *d, uint32_t offset, enum units units) {
    size_t low = 0, high = d->n_lines;
    if (offset > d->text.len) offset = (uint32_t)d->text.len;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (d->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    struct position p = {(uint32_t)low, 0};
    uint32_t end = line_end(d, p.line);
    if (offset > end) offset = end;
    for (uint32_t at = d->lines[low]; at < offset;) {
        uint32_t bytes = bytes_at(d->text.data + at, end - at);
        p.character += width_in(units, bytes);
        at += bytes;
    }
    return p;
}
