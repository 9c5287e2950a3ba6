/* list.c: arrays: a length over a buffer that versions share.
 *
 * Owns: claiming the tail, growth, copying, the limits of depth, weight and count. Refuses to know:
 * what elements mean. Invariants: item[0 .. used) are counted references; a version with
 * length n sees item[0 .. n) and those never change; weight and depth cover all of [0 .. used).
 *
 * This makes `list + [x]`, repeated for many elements, linear. The newest version appends in place,
 * although a variable may still hold the version before. A full buffer is replaced by one of twice
 * the size. */
#include "vm/value/value.h"

static const mwl__list empty_list = {.depth = 1, .weight = 1};

size_t mwl__list_size(size_t cap) { return sizeof(mwl__list) + cap * sizeof(mwl_value); }

static mwl_value list_value(mwl__list *l, uint32_t n) {
    mwl_value v;
    v.tag = MWL_KIND_ARRAY | MWL_HEAP | MWL_OWNED;
    v.aux = n;
    v.as.p = l;
    return v;
}

static mwl__list *list_alloc(mwl_heap *h, size_t cap) {
    if (cap > MWL_COUNT_LIMIT) {
        h->why = MWL_E_TOO_BIG;
        return NULL;
    }
    mwl__list *l = mwl__heap_take(h, mwl__list_size(cap));
    if (!l) return NULL;
    l->rc = 1;
    l->used = 0;
    l->cap = (uint32_t)cap;
    l->depth = 1;
    l->odd = 0;
    l->weight = 1;
    return l;
}

mwl_value mwl__list_new(mwl_heap *h, size_t cap) {
    if (cap == 0) {
        mwl_value v;
        v.tag = MWL_KIND_ARRAY;
        v.aux = 0;
        v.as.p = (void *)(uintptr_t)&empty_list; /* immortal: never written */
        return v;
    }
    mwl__list *l = list_alloc(h, cap);
    return l ? list_value(l, 0) : mwl_absent();
}

/* Returns a capacity for `need` elements that keeps appending linear; 0 if that is too many. */
static size_t grown(size_t n, size_t need) {
    size_t cap = n * 2 < 4 ? 4 : n * 2;
    if (cap > MWL_COUNT_LIMIT) cap = MWL_COUNT_LIMIT;
    if (cap < need) cap = need;
    return cap > MWL_COUNT_LIMIT ? 0 : cap;
}

/* Only one reference is left, so no version sees the elements beyond n: drop them. depth and odd
 * stay as they are; they are upper bounds. */
static void cut(mwl_heap *h, mwl__list *l, uint32_t n) {
    bool known = true;
    while (l->used > n) {
        mwl_value last = l->item[--l->used];
        known = known && mwl__weight_less(&l->weight, last, l->used);
        mwl__drop(h, last);
    }
    if (known) return;
    l->weight = 1;
    for (uint32_t i = 0; i < n; i++) l->weight += mwl__value_weight(l->item[i]);
    if (l->weight > MWL_WEIGHT_LIMIT) l->weight = MWL_WEIGHT_LIMIT;
}

/* Copies n values and counts those that are counted; most are not. */
static void keep_all(mwl_value *to, const mwl_value *from, size_t n) {
    for (const mwl_value *end = from + n; from < end; from++, to++) {
        *to = *from;
        if (from->tag & MWL_HEAP) *to = mwl__keep(*from);
    }
}

static mwl__list *copied(mwl_heap *h, const mwl__list *from, uint32_t n, size_t cap) {
    mwl__list *l = list_alloc(h, cap);
    if (!l) return NULL;
    mwl__heap_work(h, n);
    for (uint32_t i = 0, end; i < n; i = end) {
        if (mwl__heap_late(h, i)) {
            l->used = i;
            l->weight = i; /* about: it may be freed in steps */
            mwl__drop(h, list_value(l, i));
            return NULL;
        }
        end = n - i < MWL__COPY_BLOCK ? n : i + MWL__COPY_BLOCK;
        keep_all(l->item + i, from->item + i, end - i);
    }
    l->used = n;
    if (n == from->used) { /* the newest version: weight and depth are exactly its own */
        l->depth = from->depth;
        l->odd = from->odd;
        l->weight = from->weight;
    } else {
        for (uint32_t i = 0; i < n;
             i++) /* cannot fail: it is a part of what was within the limits */
            (void)mwl__value_weigh(l->item[i], &l->depth, &l->odd, &l->weight);
    }
    return l;
}

/* Returns the list as the newest version of a buffer with room for `more` elements, counted. */
static mwl_value with_room(mwl_heap *h, mwl_value take_list, size_t more) {
    mwl__list *l = mwl__as_list(take_list);
    uint32_t n = take_list.aux;
    size_t need = (size_t)n + more;
    if (take_list.tag & MWL_HEAP) {
        if (l->used != n && l->rc == 1) cut(h, l, n);
        if (l->used == n && need <= l->cap) return mwl__own(take_list);
    }
    size_t cap = grown(n, need);
    if (cap == 0) {
        mwl__drop(h, take_list);
        return mwl__heap_fail(h, MWL_E_TOO_BIG);
    }
    if ((take_list.tag & MWL_OWNED) && l->rc == 1) { /* so it is the newest version, without room */
        mwl__list *wider = mwl__heap_resize(h, l, mwl__list_size(l->cap), mwl__list_size(cap));
        if (!wider) {
            mwl__drop(h, take_list);
            return mwl_absent();
        }
        wider->cap = (uint32_t)cap;
        return list_value(wider, n);
    }
    mwl__list *copy = copied(h, l, n, cap);
    mwl__drop(h, take_list);
    return copy ? list_value(copy, n) : mwl_absent();
}

bool mwl__list_add(mwl_heap *h, mwl_value *list, mwl_value take_item) {
    mwl__list *l = mwl__as_list(*list);
    mwl_status status = mwl__value_weigh(take_item, &l->depth, &l->odd, &l->weight);
    if (status < 0) {
        h->why = status;
        return false;
    }
    l->item[l->used++] = mwl__own(take_item);
    list->aux++;
    return true;
}

mwl_value mwl__list_extend(mwl_heap *h, mwl_value take_list, const mwl_value *take_items,
                           size_t n) {
    size_t i = 0;
    mwl_value list = n && !mwl_is_absent(take_list) ? with_room(h, take_list, n) : take_list;
    while (i < n && !mwl_is_absent(list) && mwl__list_add(h, &list, take_items[i])) i++;
    if (i == n) return list;
    for (; i < n; i++) mwl__drop(h, take_items[i]);
    mwl__drop(h, list);
    return mwl_absent();
}

mwl_value mwl__list_fit(mwl_heap *h, mwl_value take_list) {
    mwl__list *l = mwl__as_list(take_list);
    uint32_t n = take_list.aux;
    if (!(take_list.tag & MWL_OWNED) || l->rc != 1 || l->used != n || n == l->cap) return take_list;
    mwl__list *exact = mwl__heap_resize(h, l, mwl__list_size(l->cap), mwl__list_size(n));
    if (!exact) return take_list;
    exact->cap = n;
    return list_value(exact, n);
}

/* The common case: the newest version has room, and the item is not a container. */
static inline bool claims(mwl_value list, mwl_value item) {
    const mwl__list *l = mwl__as_list(list);
    return (list.tag & (MWL_HEAP | 0xffu)) == (MWL_HEAP | MWL_KIND_ARRAY) &&
           mwl_value_kind(item) - 1u < MWL_KIND_BYTES && l->used == list.aux && list.aux < l->cap &&
           l->weight < MWL_WEIGHT_LIMIT;
}

/* Returns the list; in a new buffer if the value to be added may contain a version of its present
 * buffer. */
static mwl_value apart(mwl_heap *h, mwl_value take_list, mwl_value added) {
    mwl__list *l = mwl__as_list(take_list);
    uint32_t n = take_list.aux;
    if (mwl_value_kind(added) < MWL_KIND_ARRAY || !(take_list.tag & MWL_HEAP) || l->used != n ||
        ((take_list.tag & MWL_OWNED) && l->rc == 1) ||
        !mwl__value_reaches(h, added, l, mwl_count(added)))
        return take_list;
    mwl__list *copy = copied(h, l, n, n);
    mwl__drop(h, take_list);
    return copy ? list_value(copy, n) : mwl_absent();
}

mwl_value mwl__list_push(mwl_heap *h, mwl_value take_list, mwl_value take_item) {
    if (claims(take_list, take_item)) {
        mwl__list *l = mwl__as_list(take_list);
        l->weight++;
        l->odd |= mwl__value_odd(take_item);
        l->item[l->used++] = mwl__own(take_item);
        if (!(take_list.tag & MWL_OWNED)) take_list = mwl__own(take_list);
        take_list.aux++;
        return take_list;
    }
    if (mwl_is_absent(take_list) || mwl_is_absent(take_item)) {
        mwl__drop(h, take_list);
        mwl__drop(h, take_item);
        return mwl_absent();
    }
    mwl_value list = apart(h, take_list, take_item);
    if (!mwl_is_absent(list)) list = with_room(h, list, 1);
    if (mwl_is_absent(list)) {
        mwl__drop(h, take_item);
        return list;
    }
    if (!mwl__list_add(h, &list, take_item)) {
        mwl__drop(h, take_item);
        mwl__drop(h, list);
        return mwl_absent();
    }
    return list;
}

mwl_value mwl__list_concat(mwl_heap *h, mwl_value a, mwl_value b) {
    if (mwl_is_absent(a) || mwl_is_absent(b)) return mwl_absent();
    uint32_t n = b.aux;
    if (n == 0) return mwl__keep(a);
    if (a.aux == 0) return mwl__keep(b);
    mwl_value list = apart(h, mwl__borrow(a), b);
    if (!mwl_is_absent(list)) list = with_room(h, list, n);
    if (mwl_is_absent(list)) return list;
    /* Elements that were added before a limit was reached lie beyond the length of every version,
     * so they do no harm. */
    const mwl_value *from = mwl__as_list(b)->item;
    for (uint32_t i = 0; i < n; i++) {
        mwl_value item = mwl__keep(from[i]);
        if (mwl__list_add(h, &list, item)) continue;
        mwl__drop(h, item);
        mwl__drop(h, list);
        return mwl_absent();
    }
    return list;
}

/* ---- for hosts ------------------------------------------------------------------------------- */

mwl_value mwl_array(mwl_heap *heap, size_t expected) {
    return heap ? mwl__list_new(heap, expected) : mwl_absent();
}

mwl_value mwl_array_push(mwl_heap *heap, mwl_value take_array, mwl_value take_item) {
    if (!heap) return mwl_absent();
    if (mwl_value_kind(take_array) != MWL_KIND_ARRAY && !mwl_is_absent(take_array)) {
        mwl__drop(heap, take_array);
        mwl__drop(heap, take_item);
        return mwl__heap_fail(heap, MWL_E_USAGE);
    }
    return mwl__list_push(heap, take_array, take_item);
}

mwl_value mwl_array_at(mwl_value array, size_t i) {
    if (mwl_value_kind(array) != MWL_KIND_ARRAY || i >= array.aux) return mwl_absent();
    mwl_value v;
    mwl__move_lent(&v, &mwl__as_list(array)->item[i]);
    return v;
}
