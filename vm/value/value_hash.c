/* value_hash.c: the hash of a value, under a secret.
 *
 * Owns: what equal values have in common. Equal values have the same hash, by CEL's equality, of
 * which JSON's is a part. A hash covers the whole value, down to the last text: a value that
 * differs anywhere has another one, so a sender who does not know the secret cannot make values
 * that share one.
 *
 * The exception comes from equality itself. An int or uint equals a double if it equals it as a
 * double, so all numbers are hashed as doubles, and up to 2,048 large integers share a hash. */
#include "vm/base/hash.h"
#include "vm/value/value.h"
#include "vm/base/wide.h"

/* A container that is being hashed. Of an object, keys and values are walked in turn. */
typedef struct level {
    const mwl_value *at, *end, *next_key;
    uint64_t hash; /* of what was walked */
    uint64_t key;  /* in an object: the hash of the key whose value comes next */
    bool is_object, key_done;
} level;

static uint64_t hash_double(uint64_t secret, double d) {
    uint64_t bits;
    if (d == 0) d = 0; /* -0 equals 0 */
    memcpy(&bits, &d, sizeof bits);
    return mwl__hash_word(secret, bits, MWL_KIND_NUMBER);
}

static uint64_t hash_leaf(uint64_t secret, mwl_value v) {
    mwl_kind kind = mwl_value_kind(v);
    switch (kind) {
    case MWL_KIND_NUMBER: return hash_double(secret, v.as.d);
    case MWL_KIND_INT: return hash_double(secret, (double)v.as.i);
    case MWL_KIND_UINT: return hash_double(secret, (double)v.as.u);
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE: return mwl__hash(secret + kind, mwl__as_str(v)->s, mwl__as_str(v)->len);
    case MWL_KIND_EXT: return mwl__hash(secret + kind, mwl__as_ext(v)->data, mwl__as_ext(v)->len);
    case MWL_KIND_TIMESTAMP: return mwl__hash_word(secret, v.as.u, kind | (uint64_t)v.aux << 8);
    case MWL_KIND_NULL:
    case MWL_KIND_BOOL:
    case MWL_KIND_DURATION: return mwl__hash_word(secret, v.as.u, kind);
    default: return mwl__hash_word(secret, 0, kind); /* empty containers; a fault equals nothing */
    }
}

/* Bytes that the hash of v itself reads. */
static uint64_t bytes_of(mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE: return mwl__as_str(v)->len;
    case MWL_KIND_EXT: return mwl__as_ext(v)->len;
    default: return 0;
    }
}

/* Opens v if it is a container that has something inside. */
static bool open_level(uint64_t secret, mwl_value v, level *l) {
    size_t n = 1;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_ARRAY: l->at = mwl__as_list(v)->item, n = v.aux; break;
    case MWL_KIND_OBJECT:
        l->at = mwl__as_map(v)->val;
        l->next_key = mwl__as_map(v)->keys->key;
        n = v.aux;
        break;
    case MWL_KIND_OPTIONAL:
        if (!v.as.p) return false;
        l->at = &mwl__as_box(v)->v;
        break;
    default: return false;
    }
    if (n == 0) return false;
    l->end = l->at + n;
    l->hash = mwl__hash_word(secret, n, mwl_value_kind(v));
    l->is_object = mwl_value_kind(v) == MWL_KIND_OBJECT;
    l->key_done = false;
    return true;
}

/* The next part of a container has this hash. Members are added up: their order does not matter. */
static void enter(level *l, uint64_t part) {
    if (!l->is_object)
        l->hash = mwl__wide_fold(l->hash ^ part, 0x9E3779B97F4A7C15u);
    else if (l->key_done)
        l->hash += mwl__wide_fold(l->key, part);
    else
        l->key = part;
    l->key_done = !l->key_done;
}

static mwl_value next_part(level *l) {
    return l->is_object && !l->key_done ? *l->next_key++ : *l->at++;
}

mwl_status mwl__value_hash(uint64_t secret, mwl_value v, uint64_t *fuel, uint64_t *hash) {
    level stack[MWL_DEPTH_LIMIT];
    size_t depth = 0;
    uint64_t left = fuel ? *fuel : UINT64_MAX;
    for (;; v = next_part(&stack[depth - 1])) {
        uint64_t cost = 1 + bytes_of(v) / 8;
        if (left < cost) {
            if (fuel) *fuel = 0;
            return MWL_E_FUEL;
        }
        left -= cost;
        if (open_level(secret, v, &stack[depth])) {
            depth++;
            continue;
        }
        uint64_t part = hash_leaf(secret, v);
        for (; depth; depth--) { /* containers that are complete with it are parts themselves */
            level *top = &stack[depth - 1];
            enter(top, part);
            if (top->at < top->end) break;
            part = top->hash;
        }
        if (depth == 0) {
            *hash = part;
            break;
        }
    }
    if (fuel) *fuel = left;
    return MWL_OK;
}

uint64_t mwl_value_hash(const mwl_heap *heap, mwl_value v) {
    uint64_t hash = 0;
    (void)mwl__value_hash(heap->secret, v, NULL, &hash);
    return hash;
}
