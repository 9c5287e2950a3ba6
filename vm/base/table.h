/* table.h: the open-addressing table: finds the entries of a list by hash.
 *
 * Owns: places, growth, the walk over entries that share a hash. Refuses to know: the entries. They
 * lie in a list of the caller's and have numbers; the table holds numbers, and the caller compares.
 * The order of the entries is the list's, so nothing that is seen from outside depends on a hash.
 *
 * The hash must be one of hash.h: it is what keeps a walk short, whoever chose the keys. With it a
 * walk is 1.5 places on average and, in a table of a million, hardly ever more than 70.
 *
 * To find: a probe, and mwl__table_next until it gives an entry that is equal, or false. To add
 * after that, with room made before the walk: mwl__table_put.
 *
 *     mwl__table_reserve(&t, alloc, n + 1);
 *     mwl__probe p = mwl__probe_make(&t, hash);
 *     for (uint32_t i; mwl__table_next(&t, &p, &i);)
 *         if (same(list[i], key)) return i;
 *     mwl__table_put(&t, &p, n);
 */
#ifndef MWL_TABLE_H
#define MWL_TABLE_H

#include "vm/base/mem.h"

/* Entries of one table, so that places count in 32 bits. */
#define MWL__TABLE_LIMIT (1u << 30)

/* Inside the caller's loop in every build: the probe then lies in registers. */
#define MWL__TABLE_INLINE static inline __attribute__((always_inline))

typedef struct mwl__table { /* all zero: empty, without memory */
    uint64_t *slot;         /* half a hash, and below it an entry's number + 1; 0: free */
    uint32_t n_slots;       /* a power of two, or 0; at least twice n */
    uint32_t n;
} mwl__table;

typedef struct mwl__probe {
    uint32_t hash, at;
    uint32_t steps; /* places looked at and not free: what the walk has cost */
} mwl__probe;

/* Room for n entries in all. MWL_E_NOMEM, or MWL_E_TOO_BIG past the limit, and nothing changed. The
 * allocator is the same in every call for one table. */
mwl_status mwl__table_reserve_more(mwl__table *t, const mwl_alloc *alloc, size_t n);
static inline mwl_status mwl__table_reserve(mwl__table *t, const mwl_alloc *alloc, size_t n) {
    return n <= t->n_slots / 2 ? MWL_OK : mwl__table_reserve_more(t, alloc, n);
}
void mwl__table_free(mwl__table *t, const mwl_alloc *alloc); /* then it is empty */
void mwl__table_clear(mwl__table *t);                        /* no entries; the room stays */

MWL__TABLE_INLINE mwl__probe mwl__probe_make(const mwl__table *t, uint64_t hash) {
    mwl__probe p = {(uint32_t)hash, t->n_slots ? (uint32_t)hash & (t->n_slots - 1) : 0, 0};
    return p;
}

/* The next entry that may be equal, by its hash. False: there is no further one, and the probe is
 * where it would go. */
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

/* Enter entry `number` where the probe's walk ended; there must be room. */
static inline void mwl__table_put(mwl__table *t, const mwl__probe *p, uint32_t number) {
    t->slot[p->at] = (uint64_t)p->hash << 32 | (number + 1u);
    t->n++;
}

#endif
