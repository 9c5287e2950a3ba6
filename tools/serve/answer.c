/* answer.c: see answer.h. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* fopencookie */
#endif
#include "tools/serve/answer.h"

#include <stdlib.h>
#include <string.h>

static bool grow(struct answer *a, size_t len) {
    size_t cap = a->cap ? a->cap : 1024;
    while (cap - a->len < len) cap *= 2;
    if (cap == a->cap) return true;
    char *grown = realloc(a->data, cap);
    if (!grown) return false;
    a->data = grown;
    a->cap = cap;
    return true;
}

/* Never fails: a stream with an error could not be taken back. */
static void put(struct answer *a, const char *text, size_t len) {
    if (!a->over) a->over = len > ANSWER_MOST - a->len || !grow(a, len);
    if (a->over || !len) return;
    memcpy(a->data + a->len, text, len);
    a->len += len;
}

static long seek(struct answer *a, long offset, int whence) {
    if (whence == SEEK_SET && offset == 0) {
        a->len = 0;
        a->over = false;
    } else if (offset != 0 || whence == SEEK_SET) {
        return -1;
    }
    return (long)a->len;
}

#if defined(__linux__)
static ssize_t on_write(void *ctx, const char *text, size_t len) {
    put(ctx, text, len);
    return (ssize_t)len;
}
static int on_seek(void *ctx, off64_t *offset, int whence) {
    long at = seek(ctx, (long)*offset, whence);
    *offset = at;
    return at < 0 ? -1 : 0;
}
FILE *answer_open(struct answer *a) {
    memset(a, 0, sizeof *a);
    return fopencookie(a, "w", (cookie_io_functions_t){NULL, on_write, on_seek, NULL});
}
#else
static int on_write(void *ctx, const char *text, int len) {
    put(ctx, text, (size_t)len);
    return len;
}
static fpos_t on_seek(void *ctx, fpos_t offset, int whence) {
    return (fpos_t)seek(ctx, (long)offset, whence);
}
FILE *answer_open(struct answer *a) {
    memset(a, 0, sizeof *a);
    return funopen(a, NULL, on_write, on_seek, NULL);
}
#endif
