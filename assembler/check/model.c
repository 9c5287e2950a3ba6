/* model.c: the model's expressions by node, and its memory. See model.h.
 *
 * One table answers both questions about a node: a slot with an expression is a string that is
 * computed; a slot without one is a container that has such a string somewhere inside. */
#include "assembler/check/model.h"

typedef struct slot {
    const mwl__node *node;
    mwl__m_expr *expr; /* NULL: an ancestor of one */
} slot;

struct mwl__m_exprs {
    size_t n, cap; /* cap is a power of two */
    slot *slots;
};

static size_t place(const mwl__node *n, size_t cap) {
    uint64_t h = (uint64_t)(uintptr_t)n >> 4;
    h *= UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(h >> 32) & (cap - 1);
}

static slot *find(const struct mwl__m_exprs *t, const mwl__node *n) {
    size_t i = place(n, t->cap);
    while (t->slots[i].node && t->slots[i].node != n) i = (i + 1) & (t->cap - 1);
    return &t->slots[i];
}

/* Room for one more. The old slots stay in the arena: as much again as the new ones at most. */
static bool reserve(mwl__model *m) {
    struct mwl__m_exprs *t = m->exprs;
    if (!t) {
        t = m->exprs = mwl__arena_new(&m->arena, sizeof *t);
        if (!t) return false;
    }
    if (t->n * 4 < t->cap * 3) return true;
    struct mwl__m_exprs wider = {t->n, t->cap ? t->cap * 2 : 64, NULL};
    if (wider.cap > SIZE_MAX / sizeof(slot)) return false;
    wider.slots = mwl__arena_new(&m->arena, wider.cap * sizeof *wider.slots);
    if (!wider.slots) return false;
    for (size_t i = 0; i < t->cap; i++)
        if (t->slots[i].node) *find(&wider, t->slots[i].node) = t->slots[i];
    *t = wider;
    return true;
}

bool mwl__model_put(mwl__model *m, mwl__m_expr *e) {
    for (const mwl__node *n = e->node; n; n = n->parent) {
        if (!reserve(m)) return false;
        slot *s = find(m->exprs, n);
        if (s->node) break; /* its ancestors are there too */
        m->exprs->n++;
        s->node = n;
        if (n == e->node) s->expr = e;
    }
    return true;
}

const mwl__m_expr *mwl__model_expr(const mwl__model *m, const mwl__node *n) {
    return n && m->exprs && m->exprs->cap ? find(m->exprs, n)->expr : NULL;
}

bool mwl__model_computed(const mwl__model *m, const mwl__node *n) {
    return n && m->exprs && m->exprs->cap && find(m->exprs, n)->node;
}

void mwl__model_free(mwl__model *m) {
    mwl__arena_free(&m->arena);
    m->flows = NULL;
    m->n_flows = 0;
    m->exprs = NULL;
}
