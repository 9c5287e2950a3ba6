/* sort.h: sorts an array by merging the sorted runs that it consists of.
 *
 * The qsort of C libraries differs: it allocates without the hook (glibc), takes quadratic time for
 * some inputs (Windows), or takes seven times as long for what is nearly sorted (musl). This one
 * takes at most n log n steps everywhere, and n log k for k runs. */
#ifndef MWL_SORT_H
#define MWL_SORT_H

#include "vm/base/mem.h"

typedef int mwl__order(const void *a, const void *b);

/* Returns the end of the sorted run that begins at i. */
static inline size_t mwl__run_end(const char *at, size_t n, size_t size, size_t i,
                                  mwl__order *order) {
    do i++;
    while (i < n && order(at + (i - 1) * size, at + i * size) <= 0);
    return i;
}

/* Merges the runs [lo, mid) and [mid, hi) of `from` into `to`. */
static inline void mwl__merge_runs(const char *from, size_t lo, size_t mid, size_t hi, char *to,
                                   size_t size, mwl__order *order) {
    for (size_t i = lo, j = mid, k = lo; k < hi; k++) {
        bool left = j == hi || (i < mid && order(from + i * size, from + j * size) <= 0);
        memcpy(to + k * size, from + (left ? i++ : j++) * size, size);
    }
}

/* Sorts n elements of `size` bytes; equal ones keep their order. Returns false and changes nothing
 * if out of memory. */
static inline bool mwl__sort(const mwl_alloc *a, void *base, size_t n, size_t size,
                             mwl__order *order) {
    if (n < 2 || mwl__run_end(base, n, size, 0, order) == n) return true;
    char *spare = mwl__mem_new(a, n * size), *from = base, *to = spare;
    if (!spare) return false;
    for (size_t runs = n; runs > 1;) {
        runs = 0;
        for (size_t lo = 0, mid, hi; lo < n; lo = hi, runs++) {
            mid = mwl__run_end(from, n, size, lo, order);
            hi = mid < n ? mwl__run_end(from, n, size, mid, order) : n;
            mwl__merge_runs(from, lo, mid, hi, to, size, order);
        }
        char *merged = to;
        to = from;
        from = merged;
    }
    if (from != base) memcpy(base, from, n * size);
    mwl__mem_free(a, spare, n * size);
    return true;
}

#endif
