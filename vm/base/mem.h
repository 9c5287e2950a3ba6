/* mem.h: allocates memory through the host's allocator, and checks sizes for overflow.
 *
 * Owns: the functions by which every file of the project allocates. Refuses to know: limits and
 * accounting (vm/value/heap.c has those). The caller passes the size again when it frees a
 * block. */
#ifndef MWL_MEM_H
#define MWL_MEM_H

#include "mwl.h"

#include <string.h>

static inline void *mwl__mem_new(const mwl_alloc *a, size_t size) {
    return size ? a->fn(a->ctx, NULL, 0, size) : NULL;
}
static inline void mwl__mem_free(const mwl_alloc *a, void *p, size_t size) {
    if (p) (void)a->fn(a->ctx, p, size, 0);
}
/* Returns n * size bytes, zeroed; NULL on overflow or if out of memory. */
void *mwl__mem_zero(const mwl_alloc *a, size_t n, size_t size);

/* Does the allocator give the tail of a large block back without copying the rest? Only the default
 * one is known to. */
bool mwl__mem_shrinks(const mwl_alloc *a);

/* Makes room for at least `need` elements of `size` bytes in *p, whose capacity is *cap. Grows
 * geometrically. Returns MWL_OK, or MWL_E_NOMEM and changes nothing. */
mwl_status mwl__mem_grow_more(const mwl_alloc *a, void **p, size_t *cap, size_t need, size_t size);
static inline mwl_status mwl__mem_grow(const mwl_alloc *a, void **p, size_t *cap, size_t need,
                                       size_t size) {
    return need <= *cap ? MWL_OK : mwl__mem_grow_more(a, p, cap, need, size);
}

/* Asks the processor to fetch memory that will be used soon, because it has probably left the
 * caches. Any address will do. */
static inline void mwl__fetch(const void *at, size_t size) {
#if defined(__GNUC__)
    enum { LINE = 64 };
    for (size_t i = 0; i < size; i += LINE) __builtin_prefetch((const void *)((uintptr_t)at + i));
#else
    (void)at, (void)size;
#endif
}

/* A growing byte buffer. Initialise it with zeros and its allocator. `failed` stays set, so a
 * writer may append without tests and test once at the end. The data has no NUL at its end, except
 * by mwl__buf_cstr. */
typedef struct mwl__buf {
    mwl_alloc alloc;
    char *data;
    size_t len, cap;
    bool failed;
} mwl__buf;

static inline mwl__buf mwl__buf_make(mwl_alloc a) {
    mwl__buf b = {a, NULL, 0, 0, false};
    return b;
}
/* Makes room for more bytes. If out of memory, returns false and sets failed. */
bool mwl__buf_reserve_more(mwl__buf *b, size_t more);
static inline bool mwl__buf_reserve(mwl__buf *b, size_t more) {
    return (!b->failed && more <= b->cap - b->len) || mwl__buf_reserve_more(b, more);
}
void mwl__buf_put(mwl__buf *b, const void *data, size_t len);
void mwl__buf_puts(mwl__buf *b, const char *text);
void mwl__buf_putc(mwl__buf *b, char c);
void mwl__buf_printf(mwl__buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *
mwl__buf_cstr(mwl__buf *b); /* the data with a NUL, valid until the next append; "" on failure */
void mwl__buf_free(mwl__buf *b);

/* An arena for things that are freed together (syntax trees, diagnostics). mwl__arena_free frees
 * everything that was allocated from it. Memory is zeroed. */
typedef struct mwl__arena {
    mwl_alloc alloc;
    struct mwl__arena_block *head;
    size_t used, block_size;
} mwl__arena;

static inline mwl__arena mwl__arena_make(mwl_alloc a) {
    mwl__arena r = {a, NULL, 0, 0};
    return r;
}
void *mwl__arena_new(mwl__arena *a, size_t size); /* 8-byte aligned; NULL if out of memory */
char *mwl__arena_text(mwl__arena *a, const char *s, size_t len); /* a NUL-terminated copy */
void mwl__arena_free(mwl__arena *a);
/* An allocator over the arena, for what grows and is freed with it: what it is given back stays
 * until then. The arena must not move while it is in use. */
mwl_alloc mwl__arena_alloc(mwl__arena *a);

#endif
