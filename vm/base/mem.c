/* mem.c: see mem.h. */
#include "vm/base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static void *libc_alloc(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    (void)ctx;
    (void)old_size;
    if (new_size == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_size);
}

mwl_alloc mwl_alloc_default(void) {
    mwl_alloc a = {libc_alloc, NULL};
    return a;
}

/* A sanitizer copies a block whenever its size changes. */
bool mwl__mem_shrinks(const mwl_alloc *a) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)a;
    return false;
#else
    return a->fn == libc_alloc;
#endif
}

void *mwl__mem_zero(const mwl_alloc *a, size_t n, size_t size) {
    if (size && n > SIZE_MAX / size) return NULL;
    void *p = mwl__mem_new(a, n * size);
    if (p) memset(p, 0, n * size);
    return p;
}

mwl_status mwl__mem_grow_more(const mwl_alloc *a, void **p, size_t *cap, size_t need, size_t size) {
    size_t want = *cap < 8 ? 8 : *cap;
    while (want < need) {
        if (want > SIZE_MAX / 2) return MWL_E_NOMEM;
        want *= 2;
    }
    if (want > SIZE_MAX / size) return MWL_E_NOMEM;
    void *q = a->fn(a->ctx, *p, *cap * size, want * size);
    if (!q) return MWL_E_NOMEM;
    *p = q;
    *cap = want;
    return MWL_OK;
}

bool mwl__buf_reserve_more(mwl__buf *b, size_t more) {
    if (b->failed || more > SIZE_MAX - b->len - 1) {
        b->failed = true;
        return false;
    }
    void *p = b->data;
    if (mwl__mem_grow(&b->alloc, &p, &b->cap, b->len + more, 1) < 0) b->failed = true;
    b->data = (char *)p;
    return !b->failed;
}

void mwl__buf_put(mwl__buf *b, const void *data, size_t len) {
    if (len == 0 || !mwl__buf_reserve(b, len)) return;
    memcpy(b->data + b->len, data, len);
    b->len += len;
}

void mwl__buf_puts(mwl__buf *b, const char *text) { mwl__buf_put(b, text, strlen(text)); }

void mwl__buf_putc(mwl__buf *b, char c) {
    if (mwl__buf_reserve(b, 1)) b->data[b->len++] = c;
}

void mwl__buf_printf(mwl__buf *b, const char *format, ...) {
    va_list ap, again;
    va_start(ap, format);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (n < 0) {
        b->failed = true;
    } else if (mwl__buf_reserve(b, (size_t)n + 1)) {
        vsnprintf(b->data + b->len, (size_t)n + 1, format, again);
        b->len += (size_t)n;
    }
    va_end(again);
}

const char *mwl__buf_cstr(mwl__buf *b) {
    if (!mwl__buf_reserve(b, 1)) return "";
    b->data[b->len] = '\0';
    return b->data;
}

void mwl__buf_free(mwl__buf *b) {
    mwl__mem_free(&b->alloc, b->data, b->cap);
    *b = mwl__buf_make(b->alloc);
}

/* ---- arena ----------------------------------------------------------------------------------- */

struct mwl__arena_block {
    struct mwl__arena_block *next;
    size_t size; /* of the whole block, with its header */
    _Alignas(16) unsigned char data[];
};

#define ARENA_FIRST_BLOCK 4096u
/* Blocks double up to this size, so that small trees stay small. Malloc gives blocks of this size
 * back to the system one by one, and tables that grow beside them leave no holes. */
#define ARENA_LARGEST_STEP (1u << 18)

/* Not zeroed. align: 8 or 16. */
static void *arena_take(mwl__arena *a, size_t size, size_t align) {
    size_t at = (a->used + align - 1) & ~(align - 1);
    if (!a->head || at > a->block_size || a->block_size - at < size) {
        size_t room = a->block_size ? a->block_size * 2 : ARENA_FIRST_BLOCK;
        if (room > ARENA_LARGEST_STEP) room = ARENA_LARGEST_STEP;
        if (room < size) room = size;
        struct mwl__arena_block *block = mwl__mem_new(&a->alloc, sizeof *block + room);
        if (!block) return NULL;
        block->size = sizeof *block + room;
        block->next = a->head;
        a->head = block;
        a->block_size = room;
        at = 0;
    }
    a->used = at + size;
    return a->head->data + at;
}

/* Trees have many small nodes and texts, of which none needs more than 8. */
void *mwl__arena_new(mwl__arena *a, size_t size) {
    if (size > SIZE_MAX / 2) return NULL;
    void *p = arena_take(a, size, 8);
    if (p) memset(p, 0, size);
    return p;
}

char *mwl__arena_text(mwl__arena *a, const char *s, size_t len) {
    char *p = mwl__arena_new(a, len + 1);
    if (p && len) memcpy(p, s, len);
    return p;
}

static void *arena_resize(void *ctx, void *p, size_t old_size, size_t new_size) {
    if (new_size <= old_size) return new_size ? p : NULL;
    void *wider = new_size <= SIZE_MAX / 2 ? arena_take(ctx, new_size, 16) : NULL;
    if (wider && old_size) memcpy(wider, p, old_size);
    return wider;
}

mwl_alloc mwl__arena_alloc(mwl__arena *a) {
    mwl_alloc alloc = {arena_resize, a};
    return alloc;
}

void mwl__arena_free(mwl__arena *a) {
    while (a->head) {
        struct mwl__arena_block *next = a->head->next;
        mwl__mem_free(&a->alloc, a->head, a->head->size);
        a->head = next;
    }
    *a = mwl__arena_make(a->alloc);
}
