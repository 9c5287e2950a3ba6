/* keyed.h: records by key, for middleware that shares something between runs of a VM. */
#ifndef MWL_IO_KEYED_H
#define MWL_IO_KEYED_H

#include "stdlib/io/io.h"

#include <stdlib.h>

/* The first member of a record. */
typedef struct mwl__keyed_row {
    struct mwl__keyed_row *next; /* in its bucket */
    uint64_t hash;
    size_t len;
    char *key; /* after the record */
} mwl__keyed_row;

/* A table; all zero is an empty one. */
typedef struct mwl__keyed {
    mwl__keyed_row **buckets;
    size_t cap, n;
    size_t sweep_at; /* with so many records it is worth while to look for idle ones */
} mwl__keyed;

/* Returns the record of a key, or NULL. */
void *mwl__keyed_find(const mwl__keyed *t, const char *key, size_t len);
/* Returns the record of a key; a new one is zeroed and has `size` bytes. NULL: out of memory. */
void *mwl__keyed_get(mwl__keyed *t, const char *key, size_t len, size_t size);
/* Removes a record and frees it. */
void mwl__keyed_remove(mwl__keyed *t, void *record);
/* Removes the records that are idle at this instant, if there are more than twice as many as the
 * last time left: so a record costs O(1), and keys that are not used again do not stay. */
void mwl__keyed_sweep(mwl__keyed *t, bool (*idle)(const void *record, int64_t now_ns),
                      int64_t now_ns);
/* Frees all records; the table is empty then. drop (or NULL) is called for each before it is freed.
 */
void mwl__keyed_empty(mwl__keyed *t, void (*drop)(void *record));

/* The table of a middleware in this mwl_io, made at its first use; NULL: out of memory. `close` of
 * its life empties and frees it. */
static inline mwl__keyed *mwl__keyed_of(mwl_io *io, mwl__io_slot slot) {
    mwl__keyed *t = mwl__io_state(io, slot);
    if (!t) mwl__io_set_state(io, slot, t = calloc(1, sizeof *t));
    return t;
}

#endif
