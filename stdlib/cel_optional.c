/* cel_optional.c: optional values. The assembler handles the syntax (a.?b, a[?b], optMap). It may
 * evaluate a default only when it is needed. */
#include "stdlib/std_tables.h"

#define YEAR_ONE_SEC INT64_C(-62135596800) /* Go's zero value of a Timestamp */

static bool is_optional(mwl_value v) { return mwl_value_kind(v) == MWL_KIND_OPTIONAL; }

/* cel-go's zero values. */
static bool is_zero(mwl_value v) {
    size_t len = 0;
    switch (mwl_value_kind(v)) {
    case MWL_KIND_NULL: return true;
    case MWL_KIND_BOOL: return !mwl_as_bool(v);
    case MWL_KIND_NUMBER: return mwl_as_number(v) == 0;
    case MWL_KIND_INT:
    case MWL_KIND_UINT:
    case MWL_KIND_DURATION: return mwl_as_int(v) == 0;
    case MWL_KIND_TIMESTAMP: return mwl_as_int(v) == YEAR_ONE_SEC && mwl_as_nanos(v) == 0;
    case MWL_KIND_STRING:
    case MWL_KIND_BYTES: (void)mwl_as_text(v, &len); return len == 0;
    case MWL_KIND_ARRAY:
    case MWL_KIND_OBJECT: return mwl_count(v) == 0;
    default: return false;
    }
}

static mwl_value of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    return mwl_optional(mwl_fn_heap(fn), mwl_value_keep(args[0]));
}

static mwl_value of_non_zero(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    return is_zero(args[0]) ? mwl_optional_none() : of(fn, args, n_args);
}

static mwl_value none(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)fn, (void)args, (void)n_args;
    return mwl_optional_none();
}

static mwl_value value(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!is_optional(args[0])) return mwl_fn_no_overload(fn);
    mwl_value v = mwl_optional_get(args[0]);
    return mwl_is_absent(v) ? mwl_fn_fail(fn, "optional.none() dereference") : mwl_value_keep(v);
}

static mwl_value has_value(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!is_optional(args[0])) return mwl_fn_no_overload(fn);
    return mwl_bool(!mwl_is_absent(mwl_optional_get(args[0])));
}

static mwl_value or_optional(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!is_optional(args[0])) return mwl_fn_no_overload(fn);
    if (!mwl_is_absent(mwl_optional_get(args[0]))) return mwl_value_keep(args[0]);
    return is_optional(args[1]) ? mwl_value_keep(args[1]) : mwl_fn_no_overload(fn);
}

static mwl_value or_value(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!is_optional(args[0])) return mwl_fn_no_overload(fn);
    mwl_value v = mwl_optional_get(args[0]);
    return mwl_value_keep(mwl_is_absent(v) ? args[1] : v);
}

static mwl_value unwrap(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (mwl_value_kind(args[0]) != MWL_KIND_ARRAY) return mwl_fn_no_overload(fn);
    size_t n = mwl_count(args[0]);
    if (!mwl_fn_charge(fn, n)) return mwl_absent();
    for (size_t i = 0; i < n; i++)
        if (!is_optional(mwl_array_at(args[0], i)))
            return mwl_fn_fail(fn, "element %zu is not an optional but %s", i,
                               mwl_value_type(mwl_array_at(args[0], i)));
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_value list = mwl_array(h, 0);
    for (size_t i = 0; i < n && !mwl_is_absent(list); i++) {
        mwl_value v = mwl_optional_get(mwl_array_at(args[0], i));
        if (!mwl_is_absent(v)) list = mwl_array_push(h, list, mwl_value_keep(v));
    }
    return list;
}

static mwl_value end_of(mwl_fn *fn, mwl_value list, bool last) {
    if (mwl_value_kind(list) != MWL_KIND_ARRAY) return mwl_fn_no_overload(fn);
    size_t n = mwl_count(list);
    if (n == 0) return mwl_optional_none();
    return mwl_optional(mwl_fn_heap(fn), mwl_value_keep(mwl_array_at(list, last ? n - 1 : 0)));
}
static mwl_value first(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    return end_of(fn, args[0], false);
}
static mwl_value last(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    return end_of(fn, args[0], true);
}

const mwl_function_def mwl__optional_functions[] = {
    {"optional.of", of, 1, 1, MWL_FN_GLOBAL, "optional.of(value) -> optional"},
    {"optional.ofNonZeroValue", of_non_zero, 1, 1, MWL_FN_GLOBAL,
     "optional.ofNonZeroValue(value) -> optional"},
    {"optional.none", none, 0, 0, MWL_FN_GLOBAL, "optional.none() -> optional"},
    {"optional.unwrap", unwrap, 1, 1, MWL_FN_GLOBAL, "optional.unwrap(list) -> list"},
    {"unwrapOpt", unwrap, 1, 1, MWL_FN_MEMBER, "list.unwrapOpt() -> list"},
    {"value", value, 1, 1, MWL_FN_MEMBER, "optional.value() -> value"},
    {"hasValue", has_value, 1, 1, MWL_FN_MEMBER, "optional.hasValue() -> bool"},
    {"or", or_optional, 2, 2, MWL_FN_MEMBER, "optional.or(optional) -> optional"},
    {"orValue", or_value, 2, 2, MWL_FN_MEMBER, "optional.orValue(value) -> value"},
    {"first", first, 1, 1, MWL_FN_MEMBER, "list.first() -> optional"},
    {"last", last, 1, 1, MWL_FN_MEMBER, "list.last() -> optional"},
};
const size_t mwl__optional_count = sizeof mwl__optional_functions / sizeof *mwl__optional_functions;
