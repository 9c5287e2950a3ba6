/* shape.c: see shape.h.
 *
 * Owns: the table of a heap's shapes, by a hash of their keys. Its places are never emptied, so a
 * search may end at the first empty one. */
#include "vm/value/shape.h"

enum { PROBES = 8, FIRST_PLACES = 64 };

struct mwl__shapes {
    mwl__arena memory;
    mwl__keys **place;
    uint32_t n_places; /* a power of two, at least twice n */
    uint32_t n, n_keys, n_data_keys;
};

void mwl__shapes_free(mwl_heap *h) {
    struct mwl__shapes *t = h->shapes;
    if (!t) return;
    mwl__arena_free(&t->memory);
    mwl__mem_free(&h->alloc, t->place, t->n_places * sizeof *t->place);
    mwl__mem_free(&h->alloc, t, sizeof *t);
    h->shapes = NULL;
}

/* ---- keys that are looked for ---------------------------------------------------------------- */

/* n keys, `step` values apart, and one more. */
typedef struct wanted {
    const mwl_value *key;
    size_t n, step;
    const mwl_value *last;
} wanted;

static size_t count_of(const wanted *w) { return w->n + 1; }

static const mwl_value *key_at(const wanted *w, size_t i) {
    return i < w->n ? &w->key[i * w->step] : w->last;
}

/* At least one key, `step` values apart. */
static wanted want(const mwl_value *keys, size_t n, size_t step) {
    return (wanted){keys, n - 1, step, &keys[(n - 1) * step]};
}

static uint32_t hash_of(const wanted *w) {
    uint32_t hash = 0;
    for (size_t i = 0, n = count_of(w); i < n; i++) hash = (hash ^ key_at(w, i)->aux) * 0x9E3779B1u;
    return hash ^ hash >> 15;
}

static bool is_wanted(const mwl__keys *shape, const wanted *w) {
    size_t n = count_of(w), i = 0;
    if (shape->n != n) return false;
    while (i < n && shape->key[i].as.p == key_at(w, i)->as.p) i++;
    return i == n;
}

/* Can they be a shape: atoms, each once? Two atoms may have one text, if the table of atoms lost
 * the first. */
static bool can_be(const wanted *w) {
    for (size_t i = 0, n = count_of(w); i < n; i++) {
        const mwl_value *key = key_at(w, i);
        if (!mwl__is_atom(*key)) return false;
        for (size_t k = 0; k < i; k++)
            if (mwl__str_same(*key_at(w, k), *key)) return false;
    }
    return true;
}

/* ---- the table ------------------------------------------------------------------------------- */

static void put(struct mwl__shapes *t, mwl__keys *shape) {
    const wanted w = want(shape->key, shape->n, 1);
    const uint32_t hash = hash_of(&w);
    for (uint32_t i = 0; i < PROBES; i++) {
        mwl__keys **place = &t->place[(hash + i) & (t->n_places - 1)];
        if (*place) continue;
        *place = shape;
        return;
    }
}

static bool grow(mwl_heap *h, struct mwl__shapes *t) {
    uint32_t old_n = t->n_places, n = old_n ? old_n * 2 : FIRST_PLACES;
    mwl__keys **old = t->place, **place = mwl__mem_zero(&h->alloc, n, sizeof *place);
    if (!place) return false;
    t->place = place;
    t->n_places = n;
    for (uint32_t i = 0; i < old_n; i++)
        if (old[i]) put(t, old[i]);
    mwl__mem_free(&h->alloc, old, old_n * sizeof *old);
    return true;
}

static struct mwl__shapes *table(mwl_heap *h) {
    if (h->shapes) return h->shapes;
    struct mwl__shapes *t = mwl__mem_zero(&h->alloc, 1, sizeof *t);
    if (!t) return NULL;
    t->memory = mwl__arena_make(h->alloc);
    return h->shapes = t;
}

/* A new shape, or NULL: the bound is reached, or out of memory. */
static mwl__keys *add(mwl_heap *h, const wanted *w, bool data) {
    struct mwl__shapes *t = table(h);
    const uint32_t n = (uint32_t)count_of(w);
    if (!t || t->n_keys + n > MWL__SHAPE_KEYS ||
        (data && t->n_data_keys + n > MWL__SHAPE_KEYS / 2) || !can_be(w))
        return NULL;
    if (t->n * 2 >= t->n_places && !grow(h, t)) return NULL;
    mwl__keys *shape = mwl__arena_new(&t->memory, sizeof *shape + n * sizeof *shape->key);
    if (!shape) return NULL;
    *shape = (mwl__keys){.n = (uint8_t)n};
    for (uint32_t i = 0; i < n; i++) shape->key[i] = *key_at(w, i);
    put(t, shape);
    t->n++;
    t->n_keys += n;
    t->n_data_keys += data ? n : 0;
    return shape;
}

static mwl__keys *find(mwl_heap *h, const wanted *w, bool data) {
    const struct mwl__shapes *t = h->shapes;
    if (!h->shares_names || count_of(w) >= MWL_INDEX_FROM) return NULL;
    if (!t || !t->n_places) return add(h, w, data);
    const uint32_t hash = hash_of(w);
    for (uint32_t i = 0; i < PROBES; i++) {
        mwl__keys *shape = t->place[(hash + i) & (t->n_places - 1)];
        if (!shape) return add(h, w, data);
        if (is_wanted(shape, w)) return shape;
    }
    return NULL;
}

const mwl__keys *mwl__shape(mwl_heap *h, const mwl_value *keys, size_t n, size_t step, bool data) {
    if (n == 0) return NULL;
    const wanted w = want(keys, n, step);
    return find(h, &w, data);
}

const mwl__keys *mwl__shape_more(mwl_heap *h, mwl__keys *shape, uint32_t n, mwl_value key) {
    const wanted w = {shape->key, n, 1, &key};
    mwl__keys *found = find(h, &w, true);
    if (found && n == shape->n && !shape->fixed) shape->next = found;
    return found;
}
