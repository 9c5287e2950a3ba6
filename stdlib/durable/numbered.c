/* numbered.c: a map from numbers to pointers, by open addressing. Not vm/base/table.h, because this
 * library uses public functions only; and entries leave it, as they never leave a table there. */
#include "stdlib/durable/durable_impl.h"

#include <stdlib.h>

static size_t place(const mwl__numbered *m, uint64_t key) {
    uint64_t h = key * UINT64_C(0x9e3779b97f4a7c15);
    size_t i = (size_t)(h >> 32) & (m->cap - 1);
    while (m->slots[i].value && m->slots[i].key != key) i = (i + 1) & (m->cap - 1);
    return i;
}

void *mwl__numbered_get(const mwl__numbered *m, uint64_t key) {
    return m->cap ? m->slots[place(m, key)].value : NULL;
}

static bool grow(mwl__numbered *m) {
    mwl__numbered bigger = {NULL, 0, m->cap ? 2 * m->cap : 64};
    bigger.slots = calloc(bigger.cap, sizeof *bigger.slots);
    if (!bigger.slots) return false;
    for (size_t i = 0; i < m->cap; i++)
        if (m->slots[i].value) bigger.slots[place(&bigger, m->slots[i].key)] = m->slots[i];
    bigger.n = m->n;
    free(m->slots);
    *m = bigger;
    return true;
}

bool mwl__numbered_put(mwl__numbered *m, uint64_t key, void *value) {
    if (2 * (m->n + 1) > m->cap && !grow(m)) return false;
    size_t i = place(m, key);
    m->n += m->slots[i].value == NULL;
    m->slots[i].key = key;
    m->slots[i].value = value;
    return true;
}

/* The rows that follow in the same chain move up, so that there are no marks of removed ones. */
void mwl__numbered_remove(mwl__numbered *m, uint64_t key) {
    size_t i = m->cap ? place(m, key) : 0;
    if (!m->cap || !m->slots[i].value) return;
    m->slots[i].value = NULL;
    m->n--;
    for (size_t k = (i + 1) & (m->cap - 1); m->slots[k].value; k = (k + 1) & (m->cap - 1)) {
        struct mwl__numbered_slot moved = m->slots[k];
        m->slots[k].value = NULL;
        m->slots[place(m, moved.key)] = moved;
    }
}

void mwl__numbered_free(mwl__numbered *m) {
    free(m->slots);
    *m = (mwl__numbered){NULL, 0, 0};
}
