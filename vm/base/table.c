/* table.c: see table.h. */
#include "vm/base/table.h"

#define FIRST_SLOTS 64u

mwl_status mwl__table_reserve_more(mwl__table *t, const mwl_alloc *alloc, size_t n) {
    if (n > MWL__TABLE_LIMIT) return MWL_E_TOO_BIG;
    mwl__table wider = {NULL, t->n_slots ? t->n_slots * 2 : FIRST_SLOTS, t->n};
    while (wider.n_slots / 2 < n) wider.n_slots *= 2;
    wider.slot = mwl__mem_zero(alloc, wider.n_slots, sizeof *wider.slot);
    if (!wider.slot) return MWL_E_NOMEM;
    for (uint32_t i = 0; i < t->n_slots; i++) {
        if (!t->slot[i]) continue;
        uint32_t at = (uint32_t)(t->slot[i] >> 32) & (wider.n_slots - 1);
        while (wider.slot[at]) at = (at + 1) & (wider.n_slots - 1);
        wider.slot[at] = t->slot[i];
    }
    mwl__mem_free(alloc, t->slot, t->n_slots * sizeof *t->slot);
    *t = wider;
    return MWL_OK;
}

void mwl__table_free(mwl__table *t, const mwl_alloc *alloc) {
    mwl__mem_free(alloc, t->slot, t->n_slots * sizeof *t->slot);
    *t = (mwl__table){0};
}

void mwl__table_clear(mwl__table *t) {
    if (t->slot) memset(t->slot, 0, t->n_slots * sizeof *t->slot);
    t->n = 0;
}
