/* value_lib.c: the value layer's functions that libraries of CEL functions need.
 *
 * Owns: public functions for what value.h has inside. */
#include "vm/value/value.h"

bool mwl_value_order(mwl_value a, mwl_value b, int *order) { return mwl__value_order(a, b, order); }
uint64_t mwl_value_weight(mwl_value v) { return mwl__value_weight(v); }
const char *mwl_value_type(mwl_value v) { return mwl__type_name(v); }

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

/* spec: langdef, the type name that type(v) has. */
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
