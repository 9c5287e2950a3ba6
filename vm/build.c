/* build.c: list, map and object literals, and what comprehensions collect.
 *
 * Owns: the rules of map keys: string, int, uint, bool, each once. Limits and memory are the
 * heap's. */
#include "functions.h"
#include "ops.h"

static bool stored(mwl__exec *x, mwl_value *place, mwl_value v) {
    *place = v;
    if (!mwl_is_absent(v)) return true;
    *place = mwl_null();
    return mwl__exec_heap_failed(x);
}

static bool repeated_key(mwl__exec *x, mwl_value key) {
    if (MWL_KINDS(key) == MWL_KIND_STRING)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "the map has the key '%.80s' twice",
                               mwl__as_str(key)->s);
    return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION, "the map has a %s key twice",
                           mwl__type_name(key));
}

static bool is_key(mwl_value v) {
    switch (MWL_KINDS(v)) {
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
    if (MWL_KINDS(take_optional) != MWL_KIND_OPTIONAL)
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
    if (MWL_KINDS(take_optional) != MWL_KIND_OPTIONAL)
        ok = not_optional(x, take_optional);
    else if (take_optional.as.p)
        ok = mwl__build_put(x, map, mwl__own(take_key), mwl__keep(mwl__as_box(take_optional)->v));
    if (MWL_KINDS(take_optional) != MWL_KIND_OPTIONAL || !take_optional.as.p)
        mwl__drop(x->heap, take_key);
    mwl__drop(x->heap, take_optional);
    return ok;
}

bool mwl__build_merge(mwl__exec *x, mwl_value *map, mwl_value entries) {
    if (MWL_KINDS(entries) != MWL_KIND_OBJECT)
        return mwl__exec_raise(x, MWL_FAILURE_EXPRESSION,
                               "transformMapEntry must give a map for each entry: not a %s",
                               mwl__type_name(entries));
    for (uint32_t i = 0; i < entries.aux; i++) {
        const mwl__member *m = &mwl__as_map(entries)->member[i];
        if (!mwl__build_put(x, map, mwl__keep(mwl__map_key(m)), mwl__keep(m->val))) return false;
    }
    return true;
}

bool mwl__build_list(mwl__exec *x, mwl_value *items, uint32_t n, mwl_value *out) {
    mwl_value list = mwl__list_new(x->heap, n);
    if (mwl_is_absent(list)) return mwl__exec_heap_failed(x);
    mwl__list *l = mwl__as_list(list);
    for (uint32_t i = 0; i < n; i++) {
        mwl_status status = mwl__value_weigh(items[i], &l->depth, &l->odd, &l->weight);
        if (status < 0) {
            x->heap->why = status;
            mwl__drop(x->heap, list);
            return mwl__exec_heap_failed(x);
        }
        l->item[i] = mwl__own(items[i]);
        items[i] = mwl_null();
        l->used = i + 1;
    }
    list.aux = n;
    *out = list;
    return true;
}

/* A map small enough to be scanned has no index to keep: its members are laid down one by one. */
static bool lay_down(mwl__exec *x, const uint32_t *keys, mwl_value *vals, uint32_t n,
                     mwl_value *map) {
    mwl__map *m = mwl__as_map(*map);
    for (uint32_t i = 0; i < n; i++) {
        mwl_status status = mwl__value_weigh(vals[i], &m->depth, &m->odd, &m->weight);
        if (status < 0) {
            x->heap->why = status;
            return false;
        }
        m->member[i].key = x->program->consts[keys[i]];
        m->member[i].val = mwl__own(vals[i]);
        vals[i] = mwl_null();
        m->used = i + 1;
    }
    map->aux = n;
    return true;
}

static bool enter(mwl__exec *x, const uint32_t *keys, mwl_value *vals, uint32_t n, mwl_value *map) {
    for (uint32_t i = 0; i < n; i++) {
        mwl_value val = mwl__own(vals[i]);
        vals[i] = mwl_null();
        mwl_value *slot = mwl__map_slot(x->heap, map, x->program->consts[keys[i]]);
        if (mwl__map_fill(x->heap, *map, slot, val)) continue;
        mwl__drop(x->heap, val);
        return false;
    }
    return true;
}

bool mwl__build_map(mwl__exec *x, const mwl__shape_rec *shape, mwl_value *vals, mwl_value *out) {
    const uint32_t *keys = x->program->keys + shape->first_key;
    mwl_value map = mwl__map_new(x->heap, shape->n_keys);
    if (mwl_is_absent(map)) return mwl__exec_heap_failed(x);
    bool small = mwl__as_map(map)->n_index == 0;
    if (!(small ? lay_down : enter)(x, keys, vals, shape->n_keys, &map)) {
        mwl__drop(x->heap, map);
        return mwl__exec_heap_failed(x);
    }
    *out = map;
    return true;
}
