/* source.c: see source.h.
 *
 * Two tables: where lines begin, and for text that is not ASCII the number of code points before
 * each block of BLOCK bytes, so that a column never needs a walk over more than one block. */
#include "assembler/source/source.h"

#include "vm/base/mem.h"
#include "vm/base/utf8.h"

#include <string.h>

#define BLOCK 1024u

mwl_status mwl__source_init(mwl__source *src, mwl_alloc alloc, const char *name, const char *text,
                            size_t len) {
    memset(src, 0, sizeof *src);
    src->alloc = alloc;
    src->name = name;
    src->text = text ? text : "";
    if (len > MWL__SOURCE_MAX) return MWL_E_TOO_BIG;
    src->len = text ? (uint32_t)len : 0;
    return MWL_OK;
}

void mwl__source_free(mwl__source *src) {
    mwl__mem_free(&src->alloc, src->line, src->line_cap * sizeof *src->line);
    mwl__mem_free(&src->alloc, src->points, src->n_points * sizeof *src->points);
    src->line = src->points = NULL;
    src->n_lines = src->line_cap = src->n_points = 0;
    src->ready = false;
}

/* Counts the code points that begin in [from, to). Bytes that continue one do not count, so text
 * that is not valid UTF-8 has a count too. */
static uint32_t points_between(const mwl__source *src, uint32_t from, uint32_t to) {
    return (uint32_t)mwl__utf8_count(src->text + from, to - from);
}

static bool add_line(mwl__source *src, uint32_t begin) {
    void *p = src->line;
    if (mwl__mem_grow(&src->alloc, &p, &src->line_cap, src->n_lines + 1, sizeof *src->line) < 0)
        return false;
    src->line = p;
    src->line[src->n_lines++] = begin;
    return true;
}

static bool make_points(mwl__source *src) {
    if (mwl__utf8_is_ascii(src->text, src->len)) return true;
    size_t n = src->len / BLOCK + 1;
    src->points = mwl__mem_zero(&src->alloc, n, sizeof *src->points);
    if (!src->points) return false;
    src->n_points = n;
    for (size_t i = 1; i < n; i++) {
        uint32_t from = (uint32_t)(i - 1) * BLOCK;
        src->points[i] = src->points[i - 1] + points_between(src, from, from + BLOCK);
    }
    return true;
}

static bool make_tables(mwl__source *src) {
    if (src->ready) return true;
    const char *end = src->text + src->len, *p = src->text;
    bool fine = add_line(src, 0);
    while (fine && p < end && (p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
        p++;
        fine = add_line(src, (uint32_t)(p - src->text));
    }
    fine = fine && make_points(src);
    if (!fine) mwl__source_free(src);
    src->ready = fine;
    return fine;
}

/* Returns the line (from 0) that contains the offset. */
static size_t find_line(const mwl__source *src, uint32_t offset) {
    size_t low = 0, high = src->n_lines;
    while (high - low > 1) {
        size_t mid = low + (high - low) / 2;
        if (src->line[mid] <= offset)
            low = mid;
        else
            high = mid;
    }
    return low;
}

static uint32_t points_before(const mwl__source *src, uint32_t offset) {
    if (!src->points) return offset;
    uint32_t block = offset / BLOCK;
    return src->points[block] + points_between(src, block * BLOCK, offset);
}

mwl__place mwl__source_place(mwl__source *src, uint32_t offset) {
    if (offset > src->len) offset = src->len;
    mwl__place place = {1, 1};
    if (make_tables(src)) {
        size_t i = find_line(src, offset);
        place.line = (uint32_t)i + 1;
        place.column = points_before(src, offset) - points_before(src, src->line[i]) + 1;
        return place;
    }
    uint32_t begin = 0; /* out of memory: count */
    for (uint32_t i = 0; i < offset; i++) {
        if (src->text[i] != '\n') continue;
        place.line++;
        begin = i + 1;
    }
    place.column = points_between(src, begin, offset) + 1;
    return place;
}

mwl__span mwl__source_line(mwl__source *src, uint32_t offset) {
    if (offset > src->len) offset = src->len;
    uint32_t begin = offset;
    if (make_tables(src))
        begin = src->line[find_line(src, offset)];
    else
        while (begin > 0 && src->text[begin - 1] != '\n') begin--;
    const char *feed = memchr(src->text + offset, '\n', src->len - offset);
    uint32_t end = feed ? (uint32_t)(feed - src->text) : src->len;
    if (end > begin && end <= src->len && src->text[end - 1] == '\r' && end > offset) end--;
    return mwl__span_make(begin, end);
}
