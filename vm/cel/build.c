/* build.c: builds list, map and object literals, and the results of comprehensions.
 *
 * Owns: the rules for map keys: string, int, uint or bool, each key once. The heap has the limits
 * and the memory. */
#include "vm/cel/ops.h"

static bool stored(mwl__exec *x, mwl_value *place, mwl_value v) {
    *place = v;
    if (!mwl_is_absent(v)) return true;
    *place = mwl_null();
    return mwl__exec_heap_failed(x);
}

static bool repeated_key(mwl__exec *x, mwl_value key) {
    if (mwl_value_kind(key) == MWL_KIND_STRING)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "the map has the key '%.80s' twice",
                               mwl__as_str(key)->s);
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "the map has a %s key twice",
                           mwl__type_name(key));
}

static bool is_key(mwl_value v) {
    switch (mwl_value_kind(v)) {
    case MWL_KIND_STRING:
    case MWL_KIND_INT:
    case MWL_KIND_UINT:
    case MWL_KIND_BOOL: return true;
    default: return false;
    }
}

bool mwl__build_put(mwl__exec *x, mwl_value *map, mwl_value take_key, mwl_value take_val) {
    bool ok = true;
    if (!is_key(take_key))
        ok = mwl__exec_raise(x, MWL_FAILURE_EXPRESSION,
                             "a map key must be a string, int, uint or bool: not a %s",
                             mwl__type_name(take_key));
    else if (mwl__map_find(*map, take_key))
        ok = repeated_key(x, take_key);
    if (!ok) {
        mwl__drop(x->heap, take_key);
        mwl__drop(x->heap, take_val);
        return false;
    }
    return stored(x, map, mwl__map_put(x->heap, *map, take_key, take_val));
}

static bool not_optional(mwl__exec *x, mwl_value v) {
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION,
                           "what follows `?` must be an optional: not a %s", mwl__type_name(v));
}

bool mwl__build_push_optional(mwl__exec *x, mwl_value *list, mwl_value take_optional) {
    bool ok = true;
    if (mwl_value_kind(take_optional) != MWL_KIND_OPTIONAL)
        ok = not_optional(x, take_optional);
    else if (take_optional.as.p)
        ok = stored(x, list,
                    mwl__list_push(x->heap, *list, mwl__keep(mwl__as_box(take_optional)->v)));
    mwl__drop(x->heap, take_optional);
    return ok;
}

bool mwl__build_put_optional(mwl__exec *x, mwl_value *map, mwl_value take_key,
                             mwl_value take_optional) {
    bool ok = true;
    if (mwl_value_kind(take_optional) != MWL_KIND_OPTIONAL)
        ok = not_optional(x, take_optional);
    else if (take_optional.as.p)
        ok = mwl__build_put(x, map, mwl__own(take_key), mwl__keep(mwl__as_box(take_optional)->v));
    if (mwl_value_kind(take_optional) != MWL_KIND_OPTIONAL || !take_optional.as.p)
        mwl__drop(x->heap, take_key);
    mwl__drop(x->heap, take_optional);
    return ok;
}

bool mwl__build_merge(mwl__exec *x, mwl_value *map, mwl_value entries) {
    if (mwl_value_kind(entries) != MWL_KIND_OBJECT)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION,
                               "transformMapEntry must give a map for each entry: not a %s",
                               mwl__type_name(entries));
    for (uint32_t i = 0; i < entries.aux; i++) {
        const mwl__map *m = mwl__as_map(entries);
        if (!mwl__build_put(x, map, mwl__keep(mwl__map_key(m, i)), mwl__keep(m->val[i])))
            return false;
    }
    return true;
}

MWL__OUTLINE static void *no_room(mwl__exec *x) {
    mwl__exec_heap_failed(x);
    return NULL;
}

static inline bool within_limits(const mwl__list *of) {
    return of->depth <= MWL_DEPTH_LIMIT && of->weight <= MWL_WEIGHT_LIMIT;
}

/* A new container whose values are in place, and some of them are rare, or it may be beyond a
 * limit. No sum can have overflowed. A map has the fields at the same place. rare: some have not
 * been entered into weight, depth and flags, so all are entered anew. Returns NULL, and frees the
 * container, if it is beyond a limit. */
MWL__OUTLINE static void *close_books(mwl__exec *x, mwl__list *of, uint32_t kind, bool rare) {
    const bool is_map = kind == MWL_KIND_OBJECT;
    const mwl_value *v = is_map ? ((mwl__map *)(void *)of)->val : of->item;
    for (uint32_t i = 0; rare && i < of->used; i++, v++) {
        if (i == 0) of->depth = 1, of->odd = 0, of->weight = 1;
        uint32_t below = mwl__value_depth(*v);
        if (below >= of->depth) of->depth = (uint16_t)(below + 1);
        of->odd |= mwl__value_odd(*v);
        of->weight += mwl__value_weight(*v);
    }
    if (within_limits(of)) return of;
    x->heap->why = of->depth > MWL_DEPTH_LIMIT ? MWL_E_DEPTH : MWL_E_TOO_BIG;
    mwl__destroy(x->heap, (mwl_value){kind | MWL_HEAP | MWL_OWNED, of->used, {.p = of}});
    return no_room(x);
}

/* Moves the value of a register to its place, and enters it into the books, where every value
 * weighs one already. Sets *rare if it did not enter it: a kind that JSON does not have, or a
 * number that is not finite. */
static inline void settle(mwl__list *of, mwl_value *to, mwl_value *reg, bool *rare) {
    switch (mwl_value_kind(*reg)) {
    case MWL_KIND_STRING: break;
    case MWL_KIND_NUMBER:
        if (((uint32_t)(reg->as.u >> 32) & 0x7FF00000u) == 0x7FF00000u) *rare = true;
        break;
    case MWL_KIND_OBJECT:
    case MWL_KIND_ARRAY: {
        const mwl__list *c = reg->as.p;
        of->weight += c->weight - 1;
        of->odd |= c->odd;
        if (c->depth >= of->depth) of->depth = (uint16_t)(c->depth + 1u);
        break;
    }
    case MWL_KIND_NULL:
    case MWL_KIND_BOOL: break;
    default: *rare = true;
    }
    mwl__move_in(to, reg);
}

static inline mwl__list *fill_list(mwl__exec *x, mwl__list *l, mwl_value *items, uint32_t n) {
    l->rc = 1;
    l->used = l->cap = n;
    l->depth = 1;
    l->odd = 0;
    l->weight = (uint64_t)n + 1;
    bool rare = false;
    for (mwl_value *to = l->item, *end = to + n; to != end; to++) settle(l, to, items++, &rare);
    if (!rare && (l->depth == 1 || within_limits(l))) return l;
    return close_books(x, l, MWL_KIND_ARRAY, rare);
}

MWL__OUTLINE static mwl__list *list_of_more(mwl__exec *x, mwl_value *items, uint32_t n) {
    mwl__list *l = NULL;
    x->heap->why = MWL_E_TOO_BIG;
    if (n <= MWL_COUNT_LIMIT) l = mwl__heap_take_more(x->heap, sizeof *l + n * sizeof *l->item);
    return l ? fill_list(x, l, items, n) : no_room(x);
}

mwl__list *mwl__build_list(mwl__exec *x, mwl_value *items, uint32_t n) {
    mwl__list *l = mwl__heap_take_free(x->heap, mwl__list_units(n));
    return l ? fill_list(x, l, items, n) : list_of_more(x, items, n);
}

/* A map without a shape. */
MWL__OUTLINE static mwl__map *build_large(mwl__exec *x, const uint32_t *keys, mwl_value *vals,
                                          uint32_t n) {
    mwl_value map =
        n ? mwl__map_of_keys(x->heap, x->linked->consts, keys, vals, n) : mwl__map_new(x->heap, 0);
    return mwl_is_absent(map) ? no_room(x) : mwl__as_map(map);
}

/* A map with a shape: its values are stored in order. */
static inline mwl__map *fill_map(mwl__exec *x, const mwl__linked_shape *shape, mwl__map *m,
                                 mwl_value *vals) {
    *m = *shape->blank;
    mwl__list *books = (mwl__list *)(void *)m;
    bool rare = false;
    for (mwl_value *to = m->val, *end = to + shape->n_keys; to != end; to++)
        settle(books, to, vals++, &rare);
    if (!rare && (books->depth == 1 || within_limits(books))) return m;
    return close_books(x, books, MWL_KIND_OBJECT, rare);
}

MWL__OUTLINE static mwl__map *map_of_more(mwl__exec *x, const mwl__linked_shape *shape,
                                          mwl_value *vals) {
    if (!shape->blank) return build_large(x, shape->keys, vals, shape->n_keys);
    mwl__map *m = mwl__heap_take_more(x->heap, (size_t)shape->units * 16);
    return m ? fill_map(x, shape, m, vals) : no_room(x);
}

mwl__map *mwl__build_map(mwl__exec *x, const mwl__linked_shape *shape, mwl_value *vals) {
    mwl__map *m = mwl__heap_take_free(x->heap, shape->units);
    return m ? fill_map(x, shape, m, vals) : map_of_more(x, shape, vals);
}
