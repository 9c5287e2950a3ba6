/* model.c: the model's expressions by node, and its memory. See model.h. */
#include "assembler/check/model.h"
#include "vm/base/hash.h"
#include "vm/base/table.h"

struct mwl__m_exprs {
    mwl__m_expr **at;
    size_t n, cap;
    mwl__table table;
};

/* Returns the expression of a node, or NULL; then the probe is where it can be added. */
static mwl__m_expr *find(const struct mwl__m_exprs *t, const mwl__node *n, mwl__probe *probe) {
    *probe = mwl__probe_make(&t->table, mwl__hash_address(n));
    for (uint32_t i; mwl__table_next(&t->table, probe, &i);)
        if (t->at[i]->node == n) return t->at[i];
    return NULL;
}

/* Makes room for one more. The table is not in the arena, where the old ones would stay. */
static bool reserve(mwl__model *m) {
    mwl_alloc alloc = m->arena.alloc;
    if (!m->exprs) m->exprs = mwl__arena_new(&m->arena, sizeof *m->exprs);
    struct mwl__m_exprs *t = m->exprs;
    return t && mwl__table_reserve(&t->table, &alloc, t->n + 1) == MWL_OK &&
           mwl__mem_grow(&alloc, (void **)&t->at, &t->cap, t->n + 1, sizeof *t->at) == MWL_OK;
}

bool mwl__model_put(mwl__model *m, mwl__m_expr *e) {
    mwl__probe probe;
    if (!reserve(m)) return false;
    struct mwl__m_exprs *t = m->exprs;
    if (find(t, e->node, &probe)) return true;
    mwl__table_put(&t->table, &probe, (uint32_t)t->n);
    t->at[t->n++] = e;
    for (mwl__node *n = e->node->parent; n && !n->computed; n = n->parent) n->computed = true;
    return true;
}

const mwl__m_expr *mwl__model_expr(const mwl__model *m, const mwl__node *n) {
    mwl__probe probe;
    return n && m->exprs ? find(m->exprs, n, &probe) : NULL;
}

bool mwl__model_computed(const mwl__model *m, const mwl__node *n) {
    return n && (n->computed || mwl__model_expr(m, n));
}

void mwl__model_free(mwl__model *m) {
    if (m->exprs) {
        mwl__table_free(&m->exprs->table, &m->arena.alloc);
        mwl__mem_free(&m->arena.alloc, m->exprs->at, m->exprs->cap * sizeof *m->exprs->at);
    }
    mwl__arena_free(&m->arena);
    m->flows = NULL;
    m->n_flows = 0;
    m->exprs = NULL;
}
