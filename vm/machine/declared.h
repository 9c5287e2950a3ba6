/* declared.h: the codes that a provider's failure catalog declares. */
#ifndef MWL_DECLARED_H
#define MWL_DECLARED_H

#include "vm/value/value.h"

/* One entry of a catalog: a closed code, or an open one with the `.*` at its end. */
typedef struct mwl__declared_code {
    const char *text;
    uint32_t len;
    bool open; /* set by mwl__declared_new */
} mwl__declared_code;

/* Codes and open prefixes, sorted. */
typedef struct mwl__declared {
    size_t size, n; /* of the whole in bytes; of the codes */
    bool any;       /* the whole code space is open */
    mwl__declared_code code[];
} mwl__declared;

/* Makes a set of n entries; the texts are copied, and the array is sorted. Returns NULL if out of
 * memory. */
mwl__declared *mwl__declared_new(const mwl_alloc *alloc, mwl__declared_code *codes, size_t n);
void mwl__declared_free(const mwl_alloc *alloc, mwl__declared *take); /* may be NULL */
/* Returns whether a provider may emit this code: the catalog declares it, or it is a code of the
 * engine, which belongs to no catalog. */
bool mwl__declared_has(const mwl__declared *d, const char *code, size_t len);

#endif
