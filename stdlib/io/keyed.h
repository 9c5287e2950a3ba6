/* keyed.h: records by key, for middleware that shares something between runs of a VM.
 *
 * Records outlive runs, so no run pays for them. Each table has a share of the bytes that all
 * tables of a VM may use (mwl_io_options.table_bytes); a new record that does not fit takes the
 * place of those whose last use is the longest ago. */
#ifndef MWL_IO_KEYED_H
#define MWL_IO_KEYED_H

#include "stdlib/io/io.h"

#include <stdlib.h>

/* The first member of a record. */
typedef struct mwl__keyed_row {
    struct mwl__keyed_row *next;          /* in its bucket */
    struct mwl__keyed_row *older, *newer; /* by their last use */
    uint64_t hash;
    size_t len, bytes; /* bytes: what it counts for */
    char *key;         /* after the record */
} mwl__keyed_row;

/* A table; all zero is an empty one without a limit. */
typedef struct mwl__keyed {
    mwl__keyed_row **buckets;
    size_t cap, n;
    size_t sweep_at;    /* with so many records it is worth while to look for idle ones */
    size_t bytes, most; /* most: 0 is no limit */
    mwl__keyed_row *oldest, *newest;
    /* Makes a record ready to be removed because its place is needed; false: it is in use. NULL:
     * all are. */
    bool (*give_up)(void *ctx, void *record);
    void *ctx;
} mwl__keyed;

/* Returns the record of a key, or NULL. */
void *mwl__keyed_find(const mwl__keyed *t, const char *key, size_t len);
/* Returns the record of a key, which is the newest now; a new one is zeroed and has `size` bytes.
 * NULL: out of memory, or there is no room for one more. */
void *mwl__keyed_get(mwl__keyed *t, const char *key, size_t len, size_t size);
/* Removes a record and frees it. */
void mwl__keyed_remove(mwl__keyed *t, void *record);
/* The record counts for n bytes more from now on; with room for them, others go. False: there is no
 * room. */
bool mwl__keyed_more(mwl__keyed *t, void *record, size_t n);
void mwl__keyed_less(mwl__keyed *t, void *record, size_t n);
/* Removes the records that are idle at this instant, if there are more than twice as many as the
 * last time left: so a record costs O(1), and keys that are not used again do not stay. */
void mwl__keyed_sweep(mwl__keyed *t, bool (*idle)(const void *record, int64_t now_ns),
                      int64_t now_ns);
/* Frees all records; the table is empty then. drop (or NULL) is called for each before it is freed.
 */
void mwl__keyed_empty(mwl__keyed *t, void (*drop)(void *record));

/* An eighth of what all tables of this mwl_io may use. */
size_t mwl__keyed_eighth(const mwl_io *io);
/* The table of a middleware in this mwl_io, made at its first use, with an eighth; NULL: out of
 * memory. `close` of its life empties and frees it. */
static inline mwl__keyed *mwl__keyed_of(mwl_io *io, mwl__io_slot slot,
                                        bool (*give_up)(void *ctx, void *record)) {
    mwl__keyed *t = mwl__io_state(io, slot);
    if (t) return t;
    t = calloc(1, sizeof *t);
    if (t) *t = (mwl__keyed){.most = mwl__keyed_eighth(io), .give_up = give_up};
    mwl__io_set_state(io, slot, t);
    return t;
}

#endif
