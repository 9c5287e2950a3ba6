/* copy.c: mwl_value_copy: a complete copy of a value for another heap.
 *
 * Owns: the walk. The copy shares no memory with the source's heap or with a program's image. */
#include "vm/value/value.h"

typedef struct level {
    mwl_value from, to;
    size_t next; /* the next child of `from` */
} level;

static bool has_children(mwl_value v) {
    mwl_kind kind = mwl_value_kind(v);
    return kind == MWL_KIND_ARRAY || kind == MWL_KIND_OBJECT ||
           (kind == MWL_KIND_OPTIONAL && !mwl_is_absent(mwl_optional_get(v)));
}

static mwl_value copy_leaf(mwl_heap *h, mwl_value v) {
    size_t len;
    const char *text = mwl_as_text(v, &len);
    switch (mwl_value_kind(v)) {
    case MWL_KIND_STRING: return mwl_string(h, text, len);
    case MWL_KIND_BYTES: return mwl_bytes(h, text, len);
    case MWL_KIND_EXT:
        text = mwl_ext_text(v, mwl_value_type(v), &len);
        return mwl_ext(h, mwl_value_type(v), text, len);
    case MWL_KIND_TYPE:
    case MWL_KIND_FAULT: return mwl__heap_fail(h, MWL_E_USAGE);
    default: return mwl__borrow(v); /* the sixteen bytes are the whole value */
    }
}

static mwl_value copy_key(mwl_heap *h, mwl_value key) {
    size_t len;
    const char *text = mwl_as_text(key, &len);
    return mwl_value_kind(key) == MWL_KIND_STRING ? mwl__key(h, text, len) : copy_leaf(h, key);
}

static level open_level(mwl_heap *h, mwl_value v) {
    level l = {v, mwl_absent(), 0};
    if (mwl_value_kind(v) == MWL_KIND_ARRAY)
        l.to = mwl_array(h, mwl_count(v));
    else if (mwl_value_kind(v) == MWL_KIND_OBJECT)
        l.to = mwl_object(h, mwl_count(v));
    else
        l.to = mwl_null(); /* an optional: add() replaces this */
    return l;
}

static bool next_child(level *l, mwl_value *key, mwl_value *child) {
    size_t i = l->next++;
    switch (mwl_value_kind(l->from)) {
    case MWL_KIND_ARRAY: *child = mwl_array_at(l->from, i); return !mwl_is_absent(*child);
    case MWL_KIND_OBJECT: return mwl_object_at(l->from, i, key, child);
    default: *child = mwl_optional_get(l->from); return i == 0;
    }
}

/* Adds the child that next_child() returned last to l->to. */
static void add(mwl_heap *h, level *l, mwl_value take) {
    mwl_value key, child;
    switch (mwl_value_kind(l->from)) {
    case MWL_KIND_ARRAY: l->to = mwl_array_push(h, l->to, take); break;
    case MWL_KIND_OBJECT:
        (void)mwl_object_at(l->from, l->next - 1, &key, &child);
        l->to = mwl_object_put(h, l->to, copy_key(h, key), take);
        break;
    default: l->to = mwl_optional(h, take); break;
    }
}

mwl_value mwl_value_copy(mwl_heap *h, mwl_value v) {
    if (!has_children(v)) return copy_leaf(h, v);
    if (mwl_value_weight(v) > MWL_WEIGHT_LIMIT) return mwl__heap_fail(h, MWL_E_TOO_BIG);
    level stack[MWL_DEPTH_LIMIT];
    size_t depth = 1;
    stack[0] = open_level(h, v);
    for (;;) {
        level *top = &stack[depth - 1];
        mwl_value key, child, done;
        if (mwl_is_absent(top->to)) break;
        if (next_child(top, &key, &child)) {
            if (!has_children(child)) {
                add(h, top, copy_leaf(h, child));
            } else if (depth < MWL_DEPTH_LIMIT) {
                stack[depth++] = open_level(h, child);
            } else {
                h->why = MWL_E_DEPTH;
                break;
            }
            continue;
        }
        done = top->to;
        if (--depth == 0) return done;
        add(h, &stack[depth - 1], done);
    }
    while (depth) mwl_value_drop(h, stack[--depth].to);
    return mwl_absent();
}
