/* cel_sets.c: cel-go's sets library: lists used as sets. */
#include "stdlib/std_tables.h"

static bool two_lists(const mwl_value *args) {
    return mwl_value_kind(args[0]) == MWL_KIND_ARRAY && mwl_value_kind(args[1]) == MWL_KIND_ARRAY;
}

/* Looks up the elements of `part` in `whole`, until one is in it (stop_at true) or is not in it
 * (stop_at false). *stopped becomes true if that happened. Returns false after a failure. */
static bool scan(mwl_fn *fn, mwl_value whole, mwl_value part, bool stop_at, bool *stopped) {
    *stopped = false;
    if (mwl_count(part) == 0) return true;
    mwl_set *set = mwl_fn_set(fn, whole);
    bool ok = set != NULL, found;
    for (size_t i = 0, n = mwl_count(whole); ok && i < n; i++)
        ok = mwl_fn_set_add(fn, set, i, &found);
    for (size_t i = 0, n = mwl_count(part); ok && !*stopped && i < n; i++) {
        ok = mwl_fn_set_has(fn, set, mwl_array_at(part, i), &found);
        *stopped = ok && found == stop_at;
    }
    mwl_fn_set_free(fn, set);
    return ok;
}

static mwl_value contains(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    bool missing;
    if (!two_lists(args)) return mwl_fn_no_overload(fn);
    if (!scan(fn, args[0], args[1], false, &missing)) return mwl_absent();
    return mwl_bool(!missing);
}

static mwl_value equivalent(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    bool missing;
    if (!two_lists(args)) return mwl_fn_no_overload(fn);
    if (!scan(fn, args[0], args[1], false, &missing)) return mwl_absent();
    if (!missing && !scan(fn, args[1], args[0], false, &missing)) return mwl_absent();
    return mwl_bool(!missing);
}

static mwl_value intersects(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    bool met;
    if (!two_lists(args)) return mwl_fn_no_overload(fn);
    if (!scan(fn, args[0], args[1], true, &met)) return mwl_absent();
    return mwl_bool(met);
}

const mwl_function_def mwl__sets_functions[] = {
    {"sets.contains", contains, 2, 2, MWL_FN_GLOBAL, "sets.contains(list, list) -> bool"},
    {"sets.equivalent", equivalent, 2, 2, MWL_FN_GLOBAL, "sets.equivalent(list, list) -> bool"},
    {"sets.intersects", intersects, 2, 2, MWL_FN_GLOBAL, "sets.intersects(list, list) -> bool"},
};
const size_t mwl__sets_count = sizeof mwl__sets_functions / sizeof *mwl__sets_functions;
