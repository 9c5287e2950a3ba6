/* sort.c: sorts a list by its keys.
 *
 * Owns: mwl_fn_sort, which list.sort and list.sortBy share. A merge sort over indexes: stable, n
 * log n at worst, without recursion. All keys have one comparable type, as in cel-go. NaN counts as
 * equal to everything, so it stays about where it was. */
#include "vm/cel/functions.h"

static mwl_value same_type(mwl_fn *fn, mwl_value keys, size_t n) {
    mwl_kind kind = mwl_value_kind(mwl_array_at(keys, 0));
    int order;
    if (!mwl_value_order(mwl_array_at(keys, 0), mwl_array_at(keys, 0), &order))
        return mwl_fn_fail(fn, "list elements must be comparable");
    for (size_t i = 1; i < n; i++)
        if (mwl_value_kind(mwl_array_at(keys, i)) != kind)
            return mwl_fn_fail(fn, "list elements must have the same type");
    return mwl_null();
}

static bool after(mwl_value keys, uint32_t a, uint32_t b) {
    int order = 0;
    (void)mwl_value_order(mwl_array_at(keys, a), mwl_array_at(keys, b), &order);
    return order == 1;
}

/* What is sorted, and what moving `piece` of its elements costs. It is charged in pieces, so that a
 * long sort can be interrupted. */
struct sorting {
    mwl_fn *fn;
    mwl_value keys;
    size_t n, since;
    uint64_t piece_cost;
};
enum { PIECE = 1024 };

/* Merges the sorted parts from[lo, mid) and from[mid, hi) into `to`. False: it is not paid for. */
static bool merge(struct sorting *s, const uint32_t *from, uint32_t *to, size_t lo, size_t mid,
                  size_t hi) {
    for (size_t i = lo, j = mid, k = lo; k < hi; k++) {
        if (++s->since == PIECE) {
            s->since = 0;
            if (!mwl_fn_charge(s->fn, s->piece_cost)) return false;
        }
        to[k] = i < mid && (j >= hi || !after(s->keys, from[i], from[j])) ? from[i++] : from[j++];
    }
    return true;
}

/* Sorts the indexes in `from` with the help of `to`. Returns the one that has them in the end, or
 * NULL: it is not paid for. */
static uint32_t *sort_indexes(struct sorting *s, uint32_t *from, uint32_t *to) {
    size_t n = s->n;
    for (size_t i = 0; i < n; i++) from[i] = (uint32_t)i;
    for (size_t w = 1; w < n; w *= 2) {
        for (size_t lo = 0; lo < n; lo += 2 * w)
            if (!merge(s, from, to, lo, lo + w < n ? lo + w : n, lo + 2 * w < n ? lo + 2 * w : n))
                return NULL;
        uint32_t *t = from;
        from = to;
        to = t;
    }
    return from;
}

/* Returns how many bytes comparisons may have to read. */
static uint64_t compared_bytes(mwl_value keys, size_t n) {
    uint64_t bytes = 0;
    size_t len = 0;
    for (size_t i = 0; i < n; i++)
        if (mwl_as_text(mwl_array_at(keys, i), &len)) bytes += len;
    return bytes;
}

mwl_value mwl_fn_sort(mwl_fn *fn, mwl_value list, mwl_value keys) {
    if (mwl_value_kind(list) != MWL_KIND_ARRAY || mwl_value_kind(keys) != MWL_KIND_ARRAY)
        return mwl_fn_no_overload(fn);
    size_t n = mwl_count(list);
    if (mwl_count(keys) != n) return mwl_fn_fail(fn, "as many keys as elements are needed");
    if (n == 0) return mwl_value_keep(list);
    if (mwl_is_absent(same_type(fn, keys, n))) return mwl_absent();
    uint64_t bytes = compared_bytes(keys, n);
    if (!mwl_fn_charge(fn, n + bytes / 8)) return mwl_absent();
    mwl_heap *h = mwl_fn_heap(fn);
    size_t size = 2 * n * sizeof(uint32_t);
    uint32_t *block = mwl_heap_resize(h, NULL, 0, size);
    if (!block) return mwl_absent();
    struct sorting s = {.fn = fn, .keys = keys, .n = n};
    s.piece_cost = PIECE + bytes / 8 * PIECE / n;
    const uint32_t *order = sort_indexes(&s, block, block + n);
    mwl_value sorted = order ? mwl_array(h, n) : mwl_absent();
    for (size_t i = 0; i < n && !mwl_is_absent(sorted); i++)
        sorted = mwl_array_push(h, sorted, mwl_value_keep(mwl_array_at(list, order[i])));
    (void)mwl_heap_resize(h, block, size, 0);
    return sorted;
}
