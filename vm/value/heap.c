/* heap.c: the memory of values: size classes, free lists, the bytes in use and their limit.
 *
 * Owns: where the bytes of an object come from and how they are counted. Refuses to know: what is
 * inside an object. Every size is counted in units of 16 bytes, in pooled and in plain builds, so
 * that a limit means the same in both. Chunks are freed only together with the heap. */
#include "vm/value/shape.h"
#include "vm/base/hash.h"
#include "vm/base/usage.h"

#define FIRST_CHUNK 4096u
#define LARGEST_CHUNK                                                                              \
    65536u /* chunks double up to this size: a small host stays small, a large one allocates       \
              rarely */

struct mwl__chunk {
    struct mwl__chunk *next;
    size_t size; /* of the whole chunk, in bytes */
    _Alignas(16) char data[];
};

mwl_status mwl__heap_init(mwl_heap *h, const mwl_alloc *alloc) {
    memset(h, 0, sizeof *h);
    h->alloc = alloc ? *alloc : mwl_alloc_default();
    h->limit = SIZE_MAX;
    h->defers_from = UINT64_MAX;
    h->secret = mwl__hash_secret();
    return MWL_OK;
}

mwl_status mwl__heap_share(mwl_heap *h) {
    if (!h->literals) h->literals = mwl__mem_zero(&h->alloc, MWL__LITERALS, sizeof *h->literals);
    if (!h->made) h->made = mwl__mem_zero(&h->alloc, MWL__MADE, sizeof *h->made);
    h->shares_names = true;
    return h->literals && h->made ? MWL_OK : MWL_E_NOMEM;
}

void mwl__heap_done(mwl_heap *h) {
    for (size_t i = 0; h->made && i < MWL__MADE; i++) mwl__drop(h, h->made[i].value);
    mwl__mem_free(&h->alloc, h->made, MWL__MADE * sizeof *h->made);
    h->made = NULL;
    for (size_t i = 0; h->literals && i < MWL__LITERALS; i++) mwl__drop(h, h->literals[i]);
    mwl__mem_free(&h->alloc, h->literals, MWL__LITERALS * sizeof *h->literals);
    h->literals = NULL;
    mwl__shapes_free(h);
    mwl__atoms_free(h);
    while (h->chunks) {
        struct mwl__chunk *next = h->chunks->next;
        mwl__mem_free(&h->alloc, h->chunks, h->chunks->size);
        h->chunks = next;
    }
    memset(h->free_list, 0, sizeof h->free_list);
    h->bump = h->bump_end = NULL;
}

/* Puts the rest of the current chunk on the free list of its size, and allocates a new chunk. */
static bool next_chunk(mwl_heap *h) {
    size_t room = h->chunks ? h->chunks->size * 2 : FIRST_CHUNK;
    if (room > LARGEST_CHUNK) room = LARGEST_CHUNK;
    struct mwl__chunk *chunk = mwl__mem_new(&h->alloc, room);
    if (!chunk) return false;
    size_t left = (size_t)(h->bump_end - h->bump);
    if (left) {
        *(void **)(void *)h->bump = h->free_list[left >> 4];
        h->free_list[left >> 4] = h->bump;
    }
    chunk->next = h->chunks;
    chunk->size = room;
    h->chunks = chunk;
    h->bump = chunk->data;
    h->bump_end = (char *)chunk + (room & ~(size_t)15u);
    return true;
}

static void *take_small(mwl_heap *h, size_t size) {
    void *p = h->free_list[size >> 4];
    if (p) {
        h->free_list[size >> 4] = *(void **)p;
        return p;
    }
    if ((size_t)(h->bump_end - h->bump) < size && !next_chunk(h)) return NULL;
    p = h->bump;
    h->bump += size;
    return p;
}

static bool fits(const mwl_heap *h, size_t size) {
    return size <= h->limit && h->used <= h->limit - size;
}

static bool allowed(mwl_heap *h, size_t size) {
    if (fits(h, size)) return true;
    if (mwl__heap_has_dead(h)) {
        mwl__heap_release(h, SIZE_MAX);
        if (fits(h, size)) return true;
    }
    h->why = MWL_E_TOO_BIG;
    return false;
}

/* Asks the host for memory; if it has none, once more without what is dead. */
static void *resized(mwl_heap *h, void *p, size_t old_size, size_t new_size) {
    void *q = h->alloc.fn(h->alloc.ctx, p, old_size, new_size);
    if (q || !mwl__heap_has_dead(h)) return q;
    mwl__heap_release(h, SIZE_MAX);
    return h->alloc.fn(h->alloc.ctx, p, old_size, new_size);
}

void *mwl__heap_take_more(mwl_heap *h, size_t size) {
    if (size > SIZE_MAX / 2) {
        h->why = MWL_E_TOO_BIG;
        return NULL;
    }
    size = (size + 15u) & ~(size_t)15u;
    if (!allowed(h, size)) return NULL;
    void *p =
        !MWL_PLAIN_HEAP && size <= MWL__SMALL ? take_small(h, size) : resized(h, NULL, 0, size);
    if (!p) {
        h->why = MWL_E_NOMEM;
        return NULL;
    }
    h->used += size;
    return p;
}

/* A large block that is dead. */
struct dead_block {
    struct dead_block *next;
    size_t size;
};

void mwl__heap_give_back(mwl_heap *h, void *p, size_t size) {
    size = (size + 15u) & ~(size_t)15u;
    if (size >= MWL__LARGE_BLOCK && h->defers_from != UINT64_MAX) {
        struct dead_block *b = p;
        b->next = h->dead_blocks;
        b->size = size;
        h->dead_blocks = b;
        h->dead_weight += size / sizeof(mwl_value);
        return;
    }
    mwl__mem_free(&h->alloc, p, size);
    h->used -= size;
}

bool mwl__heap_release_block(mwl_heap *h, bool whole) {
    struct dead_block *b = h->dead_blocks;
    if (!b) return false;
    size_t left = b->size - MWL__LARGE_BLOCK / 2;
    h->dead_blocks = b->next;
    if (!whole && b->size >= MWL__LARGE_BLOCK && mwl__mem_shrinks(&h->alloc)) {
        struct dead_block *rest = h->alloc.fn(h->alloc.ctx, b, b->size, left);
        if (rest) {
            h->used -= rest->size - left;
            rest->size = left;
            h->dead_blocks = rest;
            return true;
        }
    }
    h->used -= b->size;
    mwl__mem_free(&h->alloc, b, b->size);
    return true;
}

void *mwl__heap_resize(mwl_heap *h, void *p, size_t old_size, size_t new_size) {
    if (new_size > SIZE_MAX / 2) {
        h->why = MWL_E_TOO_BIG;
        return NULL;
    }
    size_t was = (old_size + 15u) & ~(size_t)15u, now = (new_size + 15u) & ~(size_t)15u;
    if (was == now) return p;
    if (!MWL_PLAIN_HEAP && (was <= MWL__SMALL || now <= MWL__SMALL)) {
        void *q = mwl__heap_take(h, now);
        if (!q) return NULL;
        memcpy(q, p, was < now ? was : now);
        mwl__heap_give(h, p, was);
        return q;
    }
    if (now > was && !allowed(h, now - was)) return NULL;
    void *q = resized(h, p, was, now);
    if (!q) {
        h->why = MWL_E_NOMEM;
        return NULL;
    }
    h->used = h->used - was + now;
    return q;
}

static void *account(void *ctx, void *p, size_t old_size, size_t new_size) {
    return mwl_heap_resize(ctx, p, old_size, new_size);
}

mwl_alloc mwl__heap_account(mwl_heap *h) { return (mwl_alloc){.fn = account, .ctx = h}; }

/* ---- for hosts ------------------------------------------------------------------------------- */

mwl_status mwl_heap_new(const mwl_alloc *alloc, mwl_heap **out) {
    if (!out) return MWL_E_USAGE;
    mwl_alloc a = alloc ? *alloc : mwl_alloc_default();
    mwl_heap *h = mwl__mem_new(&a, sizeof *h);
    if (!h) return MWL_E_NOMEM;
    mwl_status status = mwl__heap_init(h, &a);
    if (status < 0) {
        mwl__mem_free(&a, h, sizeof *h);
        return status;
    }
    h->shares_names = true;
    *out = h;
    return MWL_OK;
}

void mwl_heap_free(mwl_heap *heap) {
    if (!heap) return;
    mwl_alloc a = heap->alloc;
    mwl__heap_done(heap);
    mwl__usage(heap->used == 0, "mwl_heap_free: values of the heap are still held");
    mwl__mem_free(&a, heap, sizeof *heap);
}

size_t mwl_heap_used(const mwl_heap *heap) { return heap ? heap->used : 0; }

void mwl_heap_limit(mwl_heap *heap, size_t limit_bytes) {
    if (heap) heap->limit = limit_bytes ? limit_bytes : SIZE_MAX;
}

mwl_status mwl_heap_why(const mwl_heap *heap) { return heap ? heap->why : MWL_E_USAGE; }
