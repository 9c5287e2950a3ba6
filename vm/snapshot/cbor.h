/* cbor.h: the part of CBOR (RFC 8949) that saved runs use, written and read strictly.
 *
 * Owns: heads of items, numbers, the tags. Refuses to know: values and records. There are only
 * definite lengths, and every number has its shortest form, so equal content has equal bytes. The
 * reader refuses everything else. */
#ifndef MWL_CBOR_H
#define MWL_CBOR_H

#include "vm/base/mem.h"

typedef enum mwl__major {
    MWL_CBOR_UINT,
    MWL_CBOR_NEGATIVE, /* -1 - n */
    MWL_CBOR_BYTES,
    MWL_CBOR_TEXT,
    MWL_CBOR_ARRAY,
    MWL_CBOR_MAP,
    MWL_CBOR_TAG,
    MWL_CBOR_SIMPLE, /* n: one of MWL_CBOR_FALSE and so on */
    MWL_CBOR_FLOAT   /* not a major type of its own in the bytes; n: the bits of a double */
} mwl__major;
enum { MWL_CBOR_FALSE = 20, MWL_CBOR_TRUE = 21, MWL_CBOR_NULL = 22, MWL_CBOR_UNDEFINED = 23 };

/* Tags. The first two are registered ("value sharing"); the others are M and a letter. */
enum {
    MWL_TAG_SHARED = 28,        /* the item has the next number, from 0 on */
    MWL_TAG_REFERENCE = 29,     /* a number: the item that has it */
    MWL_TAG_CONSTANT = 0x4d43,  /* MC: an index of CONSTS */
    MWL_TAG_DURATION = 0x4d44,  /* MD: nanoseconds */
    MWL_TAG_EXTENSION = 0x4d45, /* ME: [type, text] */
    MWL_TAG_INT = 0x4d49,       /* MI */
    MWL_TAG_OPTIONAL = 0x4d4f,  /* MO: undefined, or the value */
    MWL_TAG_TIMESTAMP = 0x4d54, /* MT: [seconds, nanoseconds] */
    MWL_TAG_UINT = 0x4d55,      /* MU */
    MWL_TAG_VERSION = 0x4d56,   /* MV: [length, a shared array or object]: an older version of it */
    MWL_TAG_TYPE_NAME = 0x4d59  /* MY: the name */
};

/* The longest head: its first byte and a number. */
enum { MWL_CBOR_HEAD = 9 };

/* Writes the number of a head that does not fit into its first byte. `at` has room. Returns its
 * end. */
char *mwl__cbor_long(char *at, unsigned first, uint64_t n);
/* Writes a head where there is room. Returns its end. */
static inline char *mwl__cbor_head_at(char *at, mwl__major major, uint64_t n) {
    unsigned first = (unsigned)major << 5;
    if (n >= 24) return mwl__cbor_long(at, first, n);
    *at = (char)(first | (unsigned)n);
    return at + 1;
}
static inline void mwl__cbor_head(mwl__buf *out, mwl__major major, uint64_t n) {
    if (!mwl__buf_reserve(out, MWL_CBOR_HEAD)) return;
    out->len = (size_t)(mwl__cbor_head_at(out->data + out->len, major, n) - out->data);
}
static inline void mwl__cbor_int(mwl__buf *out, int64_t n) {
    mwl__cbor_head(out, n < 0 ? MWL_CBOR_NEGATIVE : MWL_CBOR_UINT,
                   n < 0 ? ~(uint64_t)n : (uint64_t)n);
}
void mwl__cbor_double(mwl__buf *out, double d); /* an integer if it is one; -0 is not */
static inline void mwl__cbor_simple(mwl__buf *out, unsigned simple) {
    mwl__cbor_head(out, MWL_CBOR_SIMPLE, simple);
}
/* A text or bytes, with their head. */
void mwl__cbor_bytes(mwl__buf *out, mwl__major major, const void *data, size_t len);

/* Reads one head. Returns false, and does not move, if it is cut off, not in its shortest form, or
 * of a kind that is not used. */
typedef struct mwl__cbor {
    const unsigned char *at, *end;
} mwl__cbor;
bool mwl__cbor_next(mwl__cbor *c, mwl__major *major, uint64_t *n);

#endif
