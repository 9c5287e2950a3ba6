/* set.c: see set.h. */
#include "vm/value/set.h"

/* Steps of a walk that one unit of fuel pays for. Under the keyed hash a walk past elements of
 * other hashes is hardly ever this long, so what a run costs does not depend on the secret.
 * Elements of the same hash are paid for one by one. */
#define STEPS_PER_UNIT 128u

mwl_status mwl__set_init(mwl_set *set, mwl_heap *heap, mwl_value list) {
    *set = (mwl_set){.heap = heap, .list = list};
    mwl_alloc account = mwl__heap_account(heap);
    mwl_status st = mwl__table_reserve(&set->table, &account, list.aux);
    return st == MWL_E_NOMEM ? heap->why : st;
}

void mwl__set_free(mwl_set *set) {
    mwl_alloc account = mwl__heap_account(set->heap);
    mwl__table_free(&set->table, &account);
}

static bool pay(uint64_t *fuel, uint64_t n) {
    if (!fuel) return true;
    if (*fuel < n) {
        *fuel = 0;
        return false;
    }
    *fuel -= n;
    return true;
}

/* As mwl__set_find; if there is no equal element, the probe is where v would go. */
static mwl_status seek(const mwl_set *set, mwl_value v, uint64_t *fuel, mwl__probe *probe,
                       uint32_t *at) {
    const mwl_value *item = mwl__as_list(set->list)->item;
    uint64_t hash;
    mwl_status st = mwl__value_hash(set->heap->secret, v, fuel, &hash);
    if (st < 0) return st;
    *probe = mwl__probe_make(&set->table, hash);
    while (mwl__table_next(&set->table, probe, at)) {
        bool same = false;
        if (!pay(fuel, 1)) return MWL_E_FUEL;
        st = mwl__value_equal(item[*at], v, fuel, &same);
        if (st < 0 || same) return st;
    }
    *at = MWL__SET_NONE;
    return pay(fuel, probe->steps / STEPS_PER_UNIT) ? MWL_OK : MWL_E_FUEL;
}

mwl_status mwl__set_find(const mwl_set *set, mwl_value v, uint64_t *fuel, uint32_t *at) {
    mwl__probe probe;
    return seek(set, v, fuel, &probe, at);
}

mwl_status mwl__set_add(mwl_set *set, uint32_t i, uint64_t *fuel, uint32_t *at) {
    mwl__probe probe;
    mwl_status st = seek(set, mwl__as_list(set->list)->item[i], fuel, &probe, at);
    if (st == MWL_OK && *at == MWL__SET_NONE) mwl__table_put(&set->table, &probe, i);
    return st;
}
