/* reader.h: values and the things that are shared in a saved run, read. */
#ifndef MWL_READER_H
#define MWL_READER_H

#include "vm/machine/state.h"
#include "vm/snapshot/cbor.h"

/* The first refusal is kept; after that everything fails. */
typedef struct mwl__reader {
    mwl__link *link;
    mwl_heap *heap;
    mwl__cbor c;
    const unsigned char *begin; /* of all bytes */
    mwl_status status;
    const char *why;
    size_t offset;
    struct mwl__read_shared {
        mwl_value v; /* counted; absent: not complete */
        bool used;
    } * shared;
    size_t n_shared, cap_shared;
} mwl__reader;

void mwl__reader_free(mwl__reader *r);
/* Returns false. */
bool mwl__reader_refuse(mwl__reader *r, mwl_status status, const char *why);

/* Each returns false, and the refusal is kept, if the next item is something else. */
bool mwl__reader_uint(mwl__reader *r, uint64_t below, uint64_t *out);  /* below 0: any */
bool mwl__reader_index(mwl__reader *r, uint64_t below, uint32_t *out); /* or null: MWL_NONE */
bool mwl__reader_int(mwl__reader *r, int64_t *out);
bool mwl__reader_array(mwl__reader *r, uint64_t n); /* exactly n elements */
bool mwl__reader_list(mwl__reader *r, uint64_t most, uint32_t *n);
/* Any value, given; absent is one. */
bool mwl__reader_value(mwl__reader *r, mwl_value *out);
/* A reference to something shared, lent. */
bool mwl__reader_reference(mwl__reader *r, mwl_value *out);
/* Is the next item null? Then it is read. */
bool mwl__reader_is_null(mwl__reader *r);
/* Everything shared was used. */
bool mwl__reader_complete(mwl__reader *r);

#endif
