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
        const mwl__member *m = &mwl__as_map(entries)->member[i];
        if (!mwl__build_put(x, map, mwl__keep(mwl__map_key(m)), mwl__keep(m->val))) return false;
    }
    return true;
}

/* Initialises weight, depth and flags of a container of n scalars. A list and a map have them at
 * the same place. */
static inline void open_books(mwl__list *of, uint32_t n) {
    of->depth = 1;
    of->odd = 0;
    of->weight = (uint64_t)n + 1;
}

/* An element that is not a plain scalar changes weight, depth and flags. No sum can overflow, so
 * the limits are checked after the last element. */
MWL__OUTLINE static void enter_books(mwl__list *of, const mwl_value *v) {
    uint32_t below = mwl__value_depth(*v);
    of->weight += mwl__value_weight(*v) - 1;
    of->odd |= mwl__value_odd(*v);
    if (below >= of->depth) of->depth = (uint16_t)(below + 1);
}

/* Counts the value of a register, and moves it to its place. */
static inline void settle(mwl__list *of, mwl_value *to, mwl_value *reg) {
    uint32_t kind = mwl_value_kind(*reg);
    if (kind != MWL_KIND_STRING && (kind != MWL_KIND_NUMBER || reg->as.d - reg->as.d != 0))
        enter_books(of, reg);
    mwl__move_in(to, reg);
}

static inline bool within_limits(const mwl__list *of) {
    return of->depth <= MWL_DEPTH_LIMIT && of->weight <= MWL_WEIGHT_LIMIT;
}

static bool refuse(mwl__exec *x, const mwl__list *of, mwl_value made) {
    x->heap->why = of->depth > MWL_DEPTH_LIMIT ? MWL_E_DEPTH : MWL_E_TOO_BIG;
    mwl__drop(x->heap, made);
    return mwl__exec_heap_failed(x);
}

bool mwl__build_list(mwl__exec *x, mwl_value *items, uint32_t n, mwl_value *out) {
    mwl_value list = mwl__list_new(x->heap, n);
    if (mwl_is_absent(list)) return mwl__exec_heap_failed(x);
    mwl__list *l = mwl__as_list(list);
    if (n) {
        open_books(l, n);
        for (uint32_t i = 0; i < n; i++) settle(l, &l->item[i], &items[i]);
        l->used = n;
    }
    mwl__move_new(out, list.tag, n, l);
    return within_limits(l) || refuse(x, l, *out);
}

/* A map with an index: its members are added one by one. */
static bool enter(mwl__exec *x, const uint32_t *keys, mwl_value *vals, uint32_t n, mwl_value *map) {
    for (uint32_t i = 0; i < n; i++) {
        mwl_value val = mwl__own(vals[i]);
        vals[i] = mwl_null();
        mwl_value *slot = mwl__map_slot(x->heap, map, x->linked->consts[keys[i]]);
        if (mwl__map_fill(x->heap, *map, slot, val)) continue;
        mwl__drop(x->heap, val);
        return false;
    }
    return true;
}

static bool build_large(mwl__exec *x, const uint32_t *keys, mwl_value *vals, uint32_t n,
                        mwl_value *out) {
    mwl_value map = mwl__map_new(x->heap, n);
    if (mwl_is_absent(map)) return mwl__exec_heap_failed(x);
    if (!enter(x, keys, vals, n, &map)) {
        mwl__drop(x->heap, map);
        return mwl__exec_heap_failed(x);
    }
    *out = map;
    return true;
}

/* A map that is small enough to be scanned has no index: its members are stored in order. */
bool mwl__build_map(mwl__exec *x, const mwl__linked_shape *shape, mwl_value *vals, mwl_value *out) {
    const mwl__map *blank = shape->blank;
    if (!blank) return build_large(x, shape->keys, vals, shape->n_keys, out);
    mwl__map *m = mwl__heap_take(x->heap, shape->size);
    if (!m) return mwl__exec_heap_failed(x);
    memcpy(m, blank, sizeof *m);
    mwl__list *books = (mwl__list *)(void *)m;
    const mwl__member *from = blank->member;
    for (mwl__member *to = m->member, *end = to + shape->n_keys; to != end; to++, from++, vals++) {
        mwl__move(&to->key, &from->key);
        settle(books, &to->val, vals);
    }
    mwl__move_new(out, MWL_KIND_OBJECT | MWL_HEAP | MWL_OWNED, shape->n_keys, m);
    return within_limits(books) || refuse(x, books, *out);
}
