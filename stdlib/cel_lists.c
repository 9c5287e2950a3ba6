/* cel_lists.c: cel-go's lists library. sortBy is a macro, and vm/ has its last part. reverse is
 * registered with the strings, because a name has one function. */
#include "mwl_config.h"
#include "stdlib/std_tables.h"

static bool is_list(mwl_value v) { return mwl_value_kind(v) == MWL_KIND_ARRAY; }

static mwl_value push_kept(mwl_heap *h, mwl_value take_list, mwl_value lent) {
    return mwl_array_push(h, take_list, mwl_value_keep(lent));
}

static mwl_value range(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (mwl_value_kind(args[0]) != MWL_KIND_INT) return mwl_fn_no_overload(fn);
    int64_t n = mwl_as_int(args[0]) < 0 ? 0 : mwl_as_int(args[0]);
    if ((uint64_t)n > MWL_COUNT_LIMIT)
        return mwl_fn_fail(fn, "lists.range: %lld elements are too many", (long long)n);
    if (!mwl_fn_charge(fn, (uint64_t)n)) return mwl_absent();
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_value list = mwl_array(h, (size_t)n);
    for (int64_t i = 0; i < n && !mwl_is_absent(list); i++)
        list = mwl_array_push(h, list, mwl_int(i));
    return list;
}

mwl_value mwl__lists_reverse(mwl_fn *fn, mwl_value list) {
    size_t n = mwl_count(list);
    if (!mwl_fn_charge(fn, n)) return mwl_absent();
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_value out = mwl_array(h, n);
    while (n-- && !mwl_is_absent(out)) out = push_kept(h, out, mwl_array_at(list, n));
    return out;
}

static mwl_value slice(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!is_list(args[0]) || mwl_value_kind(args[1]) != MWL_KIND_INT ||
        mwl_value_kind(args[2]) != MWL_KIND_INT)
        return mwl_fn_no_overload(fn);
    long long start = mwl_as_int(args[1]), end = mwl_as_int(args[2]);
    if (start < 0 || end < 0)
        return mwl_fn_fail(fn, "cannot slice(%lld, %lld), negative indexes not supported", start,
                           end);
    if (start > end)
        return mwl_fn_fail(
            fn, "cannot slice(%lld, %lld), start index must be less than or equal to end index",
            start, end);
    if ((uint64_t)end > mwl_count(args[0]))
        return mwl_fn_fail(fn, "cannot slice(%lld, %lld), list is length %zu", start, end,
                           mwl_count(args[0]));
    if (!mwl_fn_charge(fn, (uint64_t)(end - start))) return mwl_absent();
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_value out = mwl_array(h, (size_t)(end - start));
    for (long long i = start; i < end && !mwl_is_absent(out); i++)
        out = push_kept(h, out, mwl_array_at(args[0], (size_t)i));
    return out;
}

/* The lists that are being flattened, each with its position. They nest at most MWL_DEPTH_LIMIT
 * deep. */
typedef struct open_list {
    mwl_value list;
    size_t at;
} open_list;

static mwl_value flatten(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    open_list open[MWL_DEPTH_LIMIT + 1];
    if (!is_list(args[0]) || (n_args == 2 && mwl_value_kind(args[1]) != MWL_KIND_INT))
        return mwl_fn_no_overload(fn);
    int64_t depth = n_args == 2 ? mwl_as_int(args[1]) : 1;
    if (depth < 0) return mwl_fn_fail(fn, "level must be non-negative");
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_value out = mwl_array(h, mwl_count(args[0]));
    size_t n_open = 1;
    open[0] = (open_list){args[0], 0};
    while (n_open && !mwl_is_absent(out)) {
        open_list *top = &open[n_open - 1];
        if (top->at == mwl_count(top->list)) {
            n_open--;
            continue;
        }
        mwl_value item = mwl_array_at(top->list, top->at++);
        if (!mwl_fn_charge(fn, 1)) {
            mwl_value_drop(h, out);
            return mwl_absent();
        }
        if (is_list(item) && (uint64_t)depth >= n_open && n_open <= MWL_DEPTH_LIMIT)
            open[n_open++] = (open_list){item, 0};
        else
            out = push_kept(h, out, item);
    }
    return out;
}

static mwl_value sort(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    return mwl_fn_sort(fn, args[0], args[0]);
}

static mwl_value distinct(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!is_list(args[0])) return mwl_fn_no_overload(fn);
    mwl_set *seen = mwl_fn_set(fn, args[0]);
    if (!seen) return mwl_absent();
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_value out = mwl_array(h, 0);
    for (size_t i = 0, n = mwl_count(args[0]); i < n && !mwl_is_absent(out); i++) {
        bool added;
        if (!mwl_fn_set_add(fn, seen, i, &added)) {
            mwl_value_drop(h, out);
            out = mwl_absent();
        } else if (added) {
            out = push_kept(h, out, mwl_array_at(args[0], i));
        }
    }
    mwl_fn_set_free(fn, seen);
    return out;
}

const mwl_function_def mwl__lists_functions[] = {
    {"distinct", distinct, 1, 1, MWL_FN_MEMBER, "list.distinct() -> list"},
    {"flatten", flatten, 1, 2, MWL_FN_MEMBER, "list.flatten([depth]) -> list"},
    {"lists.range", range, 1, 1, MWL_FN_GLOBAL, "lists.range(int) -> list"},
    {"slice", slice, 3, 3, MWL_FN_MEMBER, "list.slice(start, end) -> list"},
    {"sort", sort, 1, 1, MWL_FN_MEMBER, "list.sort() -> list"},
};
const size_t mwl__lists_count = sizeof mwl__lists_functions / sizeof *mwl__lists_functions;
