/* value_lib.c: the value layer's functions that libraries of CEL functions need.
 *
 * Owns: hashes that agree with equality, and public functions for what value.h has inside. */
#include "vm/value/value.h"
#include "vm/base/hash.h"

#include <math.h>

bool mwl_value_order(mwl_value a, mwl_value b, int *order) { return mwl__value_order(a, b, order); }
uint64_t mwl_value_weight(mwl_value v) { return mwl__value_weight(v); }
const char *mwl_value_type(mwl_value v) { return mwl__type_name(v); }

/* ---- hash ------------------------------------------------------------------------------------ */

/* How many levels of containers are hashed. Deeper containers add only their kind and size. Values
 * that differ only below have the same hash, and equality decides. */
#define HASH_LEVELS 4

static uint64_t mix(uint64_t h, uint64_t x) {
    h = (h ^ x) * UINT64_C(0x9e3779b97f4a7c15);
    return h ^ h >> 29;
}

/* Equal numbers of different kinds must have the same hash: an integer is hashed by its value,
 * other doubles by their bits. */
static uint64_t hash_number(mwl_value v) {
    uint64_t sign = 0, u = v.as.u;
    if (mwl_value_kind(v) == MWL_KIND_INT) {
        sign = v.as.i < 0;
    } else if (mwl_value_kind(v) == MWL_KIND_NUMBER) {
        double d = v.as.d;
        if (d == trunc(d) && d >= 0 && d < 0x1p64) {
            u = (uint64_t)d;
        } else if (d == trunc(d) && d < 0 && d >= -0x1p63) {
            u = (uint64_t)(int64_t)d;
            sign = 1;
        } else {
            sign = 2;
        }
    }
    return mix(mix(MWL_KIND_NUMBER, sign), u);
}

static uint64_t hash_at(const mwl_heap *heap, mwl_value v, int level) {
    mwl_kind kind = mwl_value_kind(v);
    uint64_t h = mix((uint64_t)kind + 0x51ed27, heap->secret);
    switch (kind) {
    case MWL_KIND_NUMBER:
    case MWL_KIND_INT:
    case MWL_KIND_UINT: return hash_number(v);
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES:
    case MWL_KIND_TYPE: {
        const mwl__str *s = mwl__as_str(v);
        return mix(mix(h, mwl__hash(heap->secret, s->s, s->len)), s->len);
    }
    case MWL_KIND_TIMESTAMP: return mix(mix(h, v.as.u), v.aux);
    case MWL_KIND_EXT: {
        const mwl__ext *e = mwl__as_ext(v);
        return mix(mix(h, mwl__hash(heap->secret, e->data, e->len)), e->len);
    }
    case MWL_KIND_OPTIONAL:
        if (!v.as.p || level == 0) return mix(h, v.as.p != NULL);
        return mix(h, hash_at(heap, mwl__as_box(v)->v, level - 1));
    case MWL_KIND_ARRAY: {
        size_t n = mwl_count(v);
        h = mix(h, n);
        for (size_t i = 0; level && i < n; i++)
            h = mix(h, hash_at(heap, mwl_array_at(v, i), level - 1));
        return h;
    }
    case MWL_KIND_OBJECT: { /* the order of members does not matter, so their hashes are added */
        size_t n = mwl_count(v);
        uint64_t sum = 0;
        mwl_value key, val;
        for (size_t i = 0; level && i < n; i++) {
            if (!mwl_object_at(v, i, &key, &val)) break;
            sum += mix(hash_at(heap, key, 0), hash_at(heap, val, level - 1));
        }
        return mix(mix(h, n), sum);
    }
    default: return mix(h, v.as.u);
    }
}

uint64_t mwl_value_hash(const mwl_heap *heap, mwl_value v) { return hash_at(heap, v, HASH_LEVELS); }

/* ---- optionals and values of other types ----------------------------------------------------- */

mwl_value mwl_optional(mwl_heap *heap, mwl_value take_value) { return mwl__some(heap, take_value); }
mwl_value mwl_optional_none(void) { return mwl__none(); }

mwl_value mwl_optional_get(mwl_value optional) {
    if (mwl_value_kind(optional) != MWL_KIND_OPTIONAL || !optional.as.p) return mwl_absent();
    return mwl__borrow(mwl__as_box(optional)->v);
}

mwl_value mwl_ext(mwl_heap *heap, const char *type, const char *text, size_t len) {
    return mwl__ext_new(heap, mwl__type_new(heap, type, strlen(type)), text, len);
}

const char *mwl_ext_text(mwl_value v, const char *type, size_t *len) {
    if (mwl_value_kind(v) != MWL_KIND_EXT) return NULL;
    const mwl__ext *e = mwl__as_ext(v);
    const mwl__str *name = mwl__as_str(e->type);
    if (strlen(type) != name->len || memcmp(name->s, type, name->len) != 0) return NULL;
    *len = e->len;
    return (const char *)e->data;
}

/* ---- memory ---------------------------------------------------------------------------------- */

void *mwl_heap_resize(mwl_heap *heap, void *block, size_t old_size, size_t new_size) {
    if (new_size == 0) {
        if (block) mwl__heap_give(heap, block, old_size);
        return NULL;
    }
    if (!block) return mwl__heap_take(heap, new_size);
    return mwl__heap_resize(heap, block, old_size, new_size);
}

const char *mwl__type_name(mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL: return "null_type";
    case MWL_KIND_BOOL: return "bool";
    case MWL_KIND_NUMBER: return "double";
    case MWL_KIND_INT: return "int";
    case MWL_KIND_UINT: return "uint";
    case MWL_KIND_DURATION: return "google.protobuf.Duration";
    case MWL_KIND_TIMESTAMP: return "google.protobuf.Timestamp";
    case MWL_KIND_STRING: return "string";
    case MWL_KIND_BYTES: return "bytes";
    case MWL_KIND_ARRAY: return "list";
    case MWL_KIND_OBJECT: return "map";
    case MWL_KIND_TYPE: return "type";
    case MWL_KIND_OPTIONAL: return "optional_type";
    case MWL_KIND_EXT: return mwl__as_str(mwl__as_ext(v)->type)->s;
    default: return "error";
    }
}
