/* value_set.c: a hash set over the elements of one list. Hashes agree with CEL's equality of
 * numbers of different kinds. A value that does not equal itself (NaN) is never found. */
#include "value_set.h"

#include <string.h>

#define ENTRY (sizeof(uint32_t) + sizeof(uint64_t))

bool mwl__value_set_init(mwl__value_set *set, mwl_fn *fn, mwl_value list) {
    size_t n = 16, count = mwl_count(list);
    while (n < 2 * count) n *= 2;
    if (!mwl_fn_charge(fn, count)) return false;
    char *block = mwl_heap_resize(mwl_fn_heap(fn), NULL, 0, n * ENTRY);
    if (!block) return false;
    memset(block, 0, n * ENTRY);
    set->fn = fn;
    set->list = list;
    set->hash = (uint64_t *)(void *)block;
    set->place = (uint32_t *)(void *)(block + n * sizeof(uint64_t));
    set->n_places = n;
    return true;
}

void mwl__value_set_free(mwl__value_set *set) {
    (void)mwl_heap_resize(mwl_fn_heap(set->fn), set->hash, set->n_places * ENTRY, 0);
}

/* Returns the place of an equal element (*found), or the free place where v would be inserted. */
static bool find(const mwl__value_set *set, mwl_value v, uint64_t hash, size_t *place,
                 bool *found) {
    size_t i = (size_t)hash & (set->n_places - 1);
    *found = false;
    for (; set->place[i]; i = (i + 1) & (set->n_places - 1)) {
        if (!mwl_fn_charge(set->fn, 1)) return false;
        if (set->hash[i] != hash) continue;
        if (!mwl_fn_equal(set->fn, mwl_array_at(set->list, set->place[i] - 1), v, found))
            return false;
        if (*found) break;
    }
    *place = i;
    return true;
}

static bool hash_of(const mwl__value_set *set, mwl_value v, uint64_t *hash) {
    size_t len = 0;
    (void)mwl_as_text(v, &len);
    if (!mwl_fn_charge(set->fn, mwl_value_weight(v) + len / 8)) return false;
    *hash = mwl_value_hash(mwl_fn_heap(set->fn), v);
    return true;
}

bool mwl__value_set_has(const mwl__value_set *set, mwl_value v, bool *found) {
    uint64_t hash;
    size_t place;
    return hash_of(set, v, &hash) && find(set, v, hash, &place, found);
}

bool mwl__value_set_add(mwl__value_set *set, size_t i, bool *added) {
    uint64_t hash;
    size_t place;
    bool found;
    mwl_value v = mwl_array_at(set->list, i);
    if (!hash_of(set, v, &hash) || !find(set, v, hash, &place, &found)) return false;
    *added = !found;
    if (found) return true;
    set->place[place] = (uint32_t)i + 1;
    set->hash[place] = hash;
    return true;
}

bool mwl__value_set_add_all(mwl__value_set *set) {
    bool added;
    for (size_t i = 0, n = mwl_count(set->list); i < n; i++)
        if (!mwl__value_set_add(set, i, &added)) return false;
    return true;
}
