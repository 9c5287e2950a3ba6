/* mem.h: memory through the host's allocator hook, with overflow-checked growth.
 *
 * Owns: the shape in which every file of the project asks for memory. Refuses to know: limits and
 * accounting (heap.h has those). Every size is told again when a block is freed. */
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
/* n * size bytes, zeroed; NULL on overflow or when memory is out. */
void *mwl__mem_zero(const mwl_alloc *a, size_t n, size_t size);

/* Make room for at least `need` elements of `size` bytes in *p, whose capacity is *cap; grows
 * geometrically. On failure nothing changes and the answer is MWL_E_NOMEM. */
mwl_status mwl__mem_grow(const mwl_alloc *a, void **p, size_t *cap, size_t need, size_t size);

/* A growing byte buffer. Zero-initialise with its allocator; `failed` is sticky, so a writer may
 * append freely and test once at the end. Data is not NUL-terminated unless asked. */
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
bool mwl__buf_reserve(mwl__buf *b, size_t more); /* false (and failed set) when memory is out */
void mwl__buf_put(mwl__buf *b, const void *data, size_t len);
void mwl__buf_puts(mwl__buf *b, const char *text);
void mwl__buf_putc(mwl__buf *b, char c);
void mwl__buf_printf(mwl__buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *
mwl__buf_cstr(mwl__buf *b); /* NUL-terminated view until the next append; "" on failure */
void mwl__buf_free(mwl__buf *b);

/* A bump arena for what lives and dies together (syntax trees, diagnostics). Everything allocated
 * from it is freed by mwl__arena_free. Memory is zeroed. */
typedef struct mwl__arena {
    mwl_alloc alloc;
    struct mwl__arena_block *head;
    size_t used, block_size;
} mwl__arena;

static inline mwl__arena mwl__arena_make(mwl_alloc a) {
    mwl__arena r = {a, NULL, 0, 0};
    return r;
}
void *mwl__arena_new(mwl__arena *a, size_t size); /* 16-byte aligned; NULL when memory is out */
char *mwl__arena_text(mwl__arena *a, const char *s, size_t len); /* a NUL-terminated copy */
void mwl__arena_free(mwl__arena *a);

#endif
