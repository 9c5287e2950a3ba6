/* table.h: a hash table with open addressing. It finds the entries of a list.
 *
 * Owns: places, growth, the search through entries with the same hash. Refuses to know: the
 * entries. They are in a list of the caller and have numbers. The table stores numbers, and the
 * caller compares entries. The order of entries is that of the list, so nothing visible depends on
 * a hash.
 *
 * The hash must be one of hash.h, which keeps a search short even if an attacker chose the keys. A
 * search then visits 1.5 places on average and, in a table of a million, almost never more than 70.
 *
 * To find an entry: make a probe, and call mwl__table_next until it returns an equal entry, or
 * false. To add it then: mwl__table_put. Make room before the search.
 *
 *     mwl__table_reserve(&t, alloc, n + 1);
 *     mwl__probe p = mwl__probe_make(&t, hash);
 *     for (uint32_t i; mwl__table_next(&t, &p, &i);)
 *         if (same(list[i], key)) return i;
 *     mwl__table_put(&t, &p, n); */
#ifndef MWL_TABLE_H
#define MWL_TABLE_H

#include "vm/base/mem.h"

/* The most entries of one table, so that places have 32 bits. */
#define MWL__TABLE_LIMIT (1u << 30)

/* Always inlined into the caller's loop, so that the probe stays in registers. */
#define MWL__TABLE_INLINE static inline __attribute__((always_inline))

typedef struct mwl__table { /* all zero: empty, without memory */
    uint64_t *slot;         /* half a hash, and below it an entry's number + 1; 0: free */
    uint32_t n_slots;       /* a power of two, or 0; at least twice n */
    uint32_t n;
} mwl__table;

typedef struct mwl__probe {
    uint32_t hash, at;
    uint32_t steps; /* places visited that were not free: the cost of the search */
} mwl__probe;

/* Makes room for n entries in total. Returns MWL_OK, or MWL_E_NOMEM or MWL_E_TOO_BIG (beyond the
 * limit) and changes nothing. Use the same allocator in every call for one table. */
mwl_status mwl__table_reserve_more(mwl__table *t, const mwl_alloc *alloc, size_t n);
static inline mwl_status mwl__table_reserve(mwl__table *t, const mwl_alloc *alloc, size_t n) {
    return n <= t->n_slots / 2 ? MWL_OK : mwl__table_reserve_more(t, alloc, n);
}
void mwl__table_free(mwl__table *t, const mwl_alloc *alloc); /* then it is empty */
void mwl__table_clear(mwl__table *t); /* removes the entries; keeps the room */

MWL__TABLE_INLINE mwl__probe mwl__probe_make(const mwl__table *t, uint64_t hash) {
    mwl__probe p = {(uint32_t)hash, t->n_slots ? (uint32_t)hash & (t->n_slots - 1) : 0, 0};
    return p;
}

/* Finds the next entry that may be equal, by its hash. Returns false if there is no other; the
 * probe is then at the place for a new entry. */
MWL__TABLE_INLINE bool mwl__table_next(const mwl__table *t, mwl__probe *p, uint32_t *entry) {
    if (t->n_slots == 0) return false;
    for (uint64_t found; (found = t->slot[p->at]) != 0;) {
        p->at = (p->at + 1) & (t->n_slots - 1);
        p->steps++;
        if (found >> 32 != p->hash) continue;
        *entry = (uint32_t)found - 1;
        return true;
    }
    return false;
}

/* Adds entry `number` at the place where the probe's search ended. There must be room. */
static inline void mwl__table_put(mwl__table *t, const mwl__probe *p, uint32_t number) {
    t->slot[p->at] = (uint64_t)p->hash << 32 | (number + 1u);
    t->n++;
}

#endif
