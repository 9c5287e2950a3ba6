/* cbor_tree.h: a saved run as a tree of items that a test can change and write again. */
#ifndef CBOR_TREE_H
#define CBOR_TREE_H

#include "vm/snapshot/cbor.h"
#include "vm/snapshot/fields.h"
#include "vm/snapshot/header.h"

#include <stdlib.h>
#include <string.h>

typedef struct node {
    mwl__major major;
    uint64_t n;
    const unsigned char *text;
    struct node *kid; /* of an array or a tag; of a map key and value in turn */
    size_t n_kids;
} node;

/* Reads one item; the texts are lent by the bytes. The tree is never freed before the arena. */
static inline bool tree_read(mwl__cbor *c, mwl__arena *memory, node *out) {
    memset(out, 0, sizeof *out);
    if (!mwl__cbor_next(c, &out->major, &out->n)) return false;
    if (out->major == MWL_CBOR_TEXT || out->major == MWL_CBOR_BYTES) {
        if (out->n > (uint64_t)(c->end - c->at)) return false;
        out->text = c->at;
        c->at += out->n;
        return true;
    }
    out->n_kids = out->major == MWL_CBOR_TAG     ? 1
                  : out->major == MWL_CBOR_ARRAY ? (size_t)out->n
                  : out->major == MWL_CBOR_MAP   ? (size_t)out->n * 2
                                                 : 0;
    out->kid = mwl__arena_new(memory, (out->n_kids + 1) * sizeof *out->kid);
    if (!out->kid) return false;
    for (size_t i = 0; i < out->n_kids; i++)
        if (!tree_read(c, memory, &out->kid[i])) return false;
    return true;
}

static inline void tree_write(mwl__buf *b, const node *t) {
    if (t->major == MWL_CBOR_FLOAT) {
        double d;
        memcpy(&d, &t->n, 8);
        mwl__cbor_double(b, d);
        return;
    }
    uint64_t n = t->n;
    if (t->major == MWL_CBOR_ARRAY) n = t->n_kids;
    if (t->major == MWL_CBOR_MAP) n = t->n_kids / 2;
    mwl__cbor_head(b, t->major, n);
    if (t->text) mwl__buf_put(b, t->text, (size_t)t->n);
    for (size_t i = 0; i < t->n_kids; i++) tree_write(b, &t->kid[i]);
}

/* The member of a record; `kind` MWL_FIELD_... or -1. Calls and Gathers begin with other items. */
static inline node *tree_field(node *record, enum mwl__record_id id, const char *name, int kind) {
    const mwl__record *r = &mwl__records[id];
    size_t skip = id == MWL_RECORD_CALL ? 2 : id == MWL_RECORD_GATHER ? 3 : 0;
    for (size_t i = 0; i < r->n_fields; i++)
        if (strcmp(r->fields[i].name, name) == 0 && (kind < 0 || r->fields[i].kind == kind) &&
            i + skip < record->n_kids)
            return &record->kid[i + skip];
    abort();
}

static inline void tree_uint(node *t, uint64_t n) { *t = (node){.major = MWL_CBOR_UINT, .n = n}; }
static inline void tree_simple(node *t, unsigned n) {
    *t = (node){.major = MWL_CBOR_SIMPLE, .n = n};
}

/* The header of `from` and the tree as its body; given, freed with free. */
static inline unsigned char *tree_bytes(const unsigned char *from, const node *t, size_t *size) {
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl__buf_put(&b, from, MWL_SAVED_HEADER);
    tree_write(&b, t);
    for (int i = 0; i < 8; i++)
        b.data[16 + i] = (char)((uint64_t)(b.len - MWL_SAVED_HEADER) >> (8 * i));
    mwl__saved_reseal((unsigned char *)b.data, b.len);
    *size = b.len;
    return (unsigned char *)b.data;
}

#endif
