/* exclusive.c: the bytes that a reference holds alone.
 *
 * Owns: what would come back if a reference were dropped, without dropping it. A thing with one
 * count goes with its holder. A thing with more goes when as many references were seen as it has
 * counts: those are in a table, which most values never need. */
#include "vm/value/shape.h"
#include "vm/base/hash.h"
#include "vm/base/table.h"

typedef struct shared {
    const void *p;
    uint32_t left;
} shared;

enum { NEAR = 64 };
typedef struct walk {
    size_t bytes;
    mwl_value *stack;
    size_t depth, room;
    mwl_alloc alloc;
    mwl__table table;
    shared *shared;
    size_t n, cap;
    bool failed;
    mwl_value near_[NEAR];
} walk;

static inline size_t rounded(size_t n) { return (n + 15u) & ~(size_t)15u; }

/* Returns whether this was the last reference. */
__attribute__((noinline)) static bool last(walk *w, const void *p, uint32_t rc) {
    uint32_t i;
    if (mwl__table_reserve(&w->table, &w->alloc, w->n + 1) < 0) return w->failed = true, false;
    mwl__probe probe = mwl__probe_make(&w->table, mwl__hash_address(p));
    while (mwl__table_next(&w->table, &probe, &i))
        if (w->shared[i].p == p) return --w->shared[i].left == 0;
    void *list = w->shared;
    if (mwl__mem_grow(&w->alloc, &list, &w->cap, w->n + 1, sizeof *w->shared) < 0)
        return w->failed = true, false;
    w->shared = list;
    w->shared[w->n] = (shared){p, rc - 1};
    mwl__table_put(&w->table, &probe, (uint32_t)w->n++);
    return false;
}

__attribute__((noinline)) static bool wider(walk *w) {
    void *list = w->stack == w->near_ ? NULL : w->stack;
    size_t room = w->stack == w->near_ ? 0 : w->room;
    if (mwl__mem_grow(&w->alloc, &list, &room, w->depth + 4 * NEAR, sizeof *w->stack) < 0)
        return !(w->failed = true);
    if (w->stack == w->near_) memcpy(list, w->near_, sizeof w->near_);
    w->stack = list;
    w->room = room;
    return true;
}

static inline void push(walk *w, mwl_value v) {
    if (w->depth == w->room && !wider(w)) return;
    w->stack[w->depth++] = v;
}

static inline void see(walk *w, mwl_value v) {
    if (!(v.tag & MWL_HEAP)) return;
    const uint32_t rc = *(const uint32_t *)v.as.p;
    if (rc > 1 && !last(w, v.as.p, rc)) return;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE: w->bytes += rounded(sizeof(mwl__str) + mwl__as_str(v)->len + 1); return;
    case MWL_KIND_EXT: w->bytes += rounded(sizeof(mwl__ext) + mwl__as_ext(v)->len); return;
    default: push(w, v);
    }
}

static void open_all(walk *w, mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_ARRAY: {
        const mwl__list *l = mwl__as_list(v);
        w->bytes += rounded(mwl__list_size(l->cap));
        for (uint32_t i = 0; i < l->used; i++) see(w, l->item[i]);
        return;
    }
    case MWL_KIND_OBJECT: {
        const mwl__map *m = mwl__as_map(v);
        w->bytes += rounded(mwl__map_size(m->cap, m->keys->own));
        for (uint32_t i = 0; m->keys->own && i < m->used; i++) see(w, m->keys->key[i]);
        for (uint32_t i = 0; i < m->used; i++) see(w, m->val[i]);
        return;
    }
    case MWL_KIND_OPTIONAL:
        w->bytes += rounded(sizeof(mwl__box));
        see(w, mwl__as_box(v)->v);
        return;
    default: return;
    }
}

size_t mwl__value_exclusive(mwl_heap *h, mwl_value v) {
    if (!(v.tag & MWL_HEAP) || *(const uint32_t *)v.as.p > 1) return 0; /* somebody else holds it */
    walk w;
    w.bytes = w.depth = w.n = w.cap = 0;
    w.stack = w.near_;
    w.room = NEAR;
    w.alloc = h->alloc;
    w.table = (mwl__table){NULL, 0, 0};
    w.shared = NULL;
    w.failed = false;
    see(&w, v);
    while (w.depth) {
        mwl_value top = w.stack[--w.depth];
        open_all(&w, top);
    }
    if (w.table.slot) mwl__table_free(&w.table, &w.alloc);
    if (w.shared) mwl__mem_free(&w.alloc, w.shared, w.cap * sizeof *w.shared);
    if (w.stack != w.near_) mwl__mem_free(&w.alloc, w.stack, w.room * sizeof *w.stack);
    return w.bytes;
}
