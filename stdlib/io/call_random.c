/* call_random.c: random: numbers, choices and orders from the seed of the run. */
#include "stdlib/io/io.h"

#include <math.h>
#include <stdlib.h>

#define PREFIX "Provider.Call.Random"

/* A random integer from 0 to below n. */
static uint64_t below(mwl_call *call, double n) {
    double d = floor(mwl_call_random(call) * n);
    return (uint64_t)(d < n ? d : n - 1);
}

/* ---- numbers --------------------------------------------------------------------------------- */

static mwl_value number(mwl_call *call, bool integer, double min, double max) {
    if (integer) return mwl_number(min + (double)below(call, max - min + 1));
    double v = min + mwl_call_random(call) * (max - min);
    return mwl_number(v < max || min == max ? v : nextafter(max, min)); /* rounding reached max */
}

static void numbers(mwl_call *call, mwl_value args, bool integer) {
    mwl_heap *heap = mwl_call_heap(call);
    double min = mwl__io_arg_number(args, "min", 0);
    double max = mwl__io_arg_number(args, "max", integer ? 100 : 1);
    double count = mwl__io_arg_number(args, "count", -1);
    if (integer) min = ceil(min), max = floor(max);
    if (min > max || max - min >= 0x1p53) {
        mwl__io_fail(call, PREFIX ".InvalidRange", false, mwl_absent(),
                     min > max ? "min is greater than max" : "the range is too large");
        return;
    }
    if (count < 0) {
        mwl_call_succeed(call, number(call, integer, min, max));
        return;
    }
    mwl_value all = mwl_array(heap, (size_t)count);
    for (size_t i = 0; i < (size_t)count; i++)
        all = mwl_array_push(heap, all, number(call, integer, min, max));
    mwl_call_succeed(call, all);
}

/* ---- elements -------------------------------------------------------------------------------- */

/* The first n elements of a random order (Fisher and Yates). */
static mwl_value some(mwl_call *call, mwl_value of, size_t n) {
    mwl_heap *heap = mwl_call_heap(call);
    size_t all = mwl_count(of);
    size_t *order = mwl_heap_resize(heap, NULL, 0, (all + 1) * sizeof *order);
    if (!order) return mwl_absent();
    for (size_t i = 0; i < all; i++) order[i] = i;
    mwl_value out = mwl_array(heap, n);
    for (size_t i = 0; i < n; i++) {
        size_t k = i + (size_t)below(call, (double)(all - i)), taken = order[k];
        order[k] = order[i];
        out = mwl_array_push(heap, out, mwl_value_keep(mwl_array_at(of, taken)));
    }
    mwl_heap_resize(heap, order, (all + 1) * sizeof *order, 0);
    return out;
}

static void elements(mwl_call *call, mwl_value args, bool shuffle) {
    mwl_value of = mwl_get(args, "of");
    double count = mwl__io_arg_number(args, "count", -1);
    if (mwl_is_absent(of)) of = mwl_call_input(call);
    size_t n = count >= 0 ? (size_t)count : shuffle ? mwl_count(of) : 1;
    if (mwl_value_kind(of) != MWL_KIND_ARRAY || n > mwl_count(of))
        mwl__io_fail(call, PREFIX ".TooFew", false, mwl_absent(),
                     "%zu elements are to be chosen of %zu", n, mwl_count(of));
    else if (shuffle || count >= 0)
        mwl_call_succeed(call, some(call, of, n));
    else
        mwl_call_succeed(call,
                         mwl_value_keep(mwl_array_at(of, below(call, (double)mwl_count(of)))));
}

static void random_start(mwl_call *call, void *user) {
    (void)user;
    mwl_value args = mwl_call_arguments(call);
    const char *kind = mwl__io_arg_text(args, "kind", "number");
    if (strcmp(kind, "choice") == 0 || strcmp(kind, "shuffle") == 0)
        elements(call, args, *kind == 's');
    else
        numbers(call, args, *kind == 'i');
}

const mwl_call_provider mwl__io_call_random = {MWL__IO_CALL(random, "random"),
                                               .start = random_start};
const mwl__io_life mwl__io_call_random_life = {NULL};
