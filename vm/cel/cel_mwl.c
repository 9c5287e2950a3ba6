/* cel_mwl.c: the functions that the language adds to CEL: toJson, fromJson, durationToIso8601,
 * durationFromIso8601, now, wallTime (Expressions, "MWL functions"). */
#include "vm/cel/cel_lib.h"
#include "vm/cel/ops.h"
#include "vm/value/temporal.h"

/* An int or uint that a double can hold exactly is a number of the data model, as in the result of
 * an expression. So toJson({'a': 1}) works. boundary.c converts the value; if it refuses, the
 * expression fails. */
static mwl_value to_json(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_heap *h = mwl_fn_heap(fn);
    mwl_value data;
    if (!mwl__boundary_data(fn->x, args[0], &data)) {
        if (mwl_value_kind(fn->x->fault) == MWL_KIND_FAULT)
            mwl__as_fault(fn->x->fault)->code = MWL_FAILURE_EXPRESSION;
        return mwl_absent();
    }
    mwl__buf out = mwl__buf_make(mwl__heap_account(h));
    uint64_t lent = 0, left;
    mwl_status status;
    do { /* what was written is charged, also if it failed then */
        out.len = 0;
        left = lent = mwl__exec_lend(fn->x, lent);
        status = mwl__json_write(data, MWL_JSON_CANONICAL, &out, &left);
    } while (mwl__exec_again(fn->x, lent - left, status));
    if (status == MWL_E_NOMEM) status = h->why; /* or the run's limit */
    mwl__drop(h, data);
    mwl_value text = mwl_absent();
    if (status != MWL_OK)
        (void)mwl__cel_failed(fn, status, "toJson: not a value of the data model");
    else
        text = mwl__str_new(h, mwl__buf_cstr(&out), out.len);
    mwl__buf_free(&out);
    return text;
}

static mwl_value from_json(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (mwl_value_kind(args[0]) != MWL_KIND_STRING) return mwl_fn_no_overload(fn);
    const mwl__str *s = mwl__as_str(args[0]);
    if (!mwl_fn_charge(fn, s->len / 2)) return mwl_absent();
    mwl_value v;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status status = mwl_json_parse(mwl_fn_heap(fn), s->s, s->len, &v, &error);
    if (status == MWL_OK) return v;
    if (status == MWL_E_NOMEM || status == MWL_E_TOO_BIG || status == MWL_E_FUEL)
        return mwl__cel_failed(fn, status, "");
    return mwl_fn_fail(fn, "fromJson: %s at byte %zu", error.message ? error.message : "",
                       error.offset);
}

static mwl_value duration_to_iso(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (mwl_value_kind(args[0]) != MWL_KIND_DURATION) return mwl_fn_no_overload(fn);
    char buf[MWL__DURATION_TEXT_MAX];
    size_t len = mwl__temporal_write_iso(args[0].as.i, buf);
    return mwl__str_new(mwl_fn_heap(fn), buf, len);
}

static mwl_value duration_from_iso(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (mwl_value_kind(args[0]) != MWL_KIND_STRING) return mwl_fn_no_overload(fn);
    const mwl__str *s = mwl__as_str(args[0]);
    if (!mwl_fn_charge(fn, s->len / 8)) return mwl_absent();
    int64_t ns;
    mwl_status status = mwl__temporal_parse_iso(s->s, s->len, &ns);
    if (status == MWL_E_RANGE)
        return mwl_fn_fail(fn, "range error: duration '%.60s' too long", s->s);
    if (status != MWL_OK) return mwl_fn_fail(fn, "'%.60s' is not an ISO 8601 duration", s->s);
    return mwl_duration(ns);
}

static mwl_value now(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)args, (void)n_args;
    return mwl_fn_now(fn);
}

static mwl_value wall_time(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)args, (void)n_args;
    return mwl_fn_wall_time(fn);
}

const mwl_function_def mwl__mwl_functions[] = {
    {"toJson", to_json, 1, 1, MWL_FN_GLOBAL, "toJson(value) -> string"},
    {"fromJson", from_json, 1, 1, MWL_FN_GLOBAL, "fromJson(string) -> value"},
    {"durationToIso8601", duration_to_iso, 1, 1, MWL_FN_GLOBAL,
     "durationToIso8601(duration) -> string"},
    {"durationFromIso8601", duration_from_iso, 1, 1, MWL_FN_GLOBAL,
     "durationFromIso8601(string) -> duration"},
    {"now", now, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "now() -> timestamp"},
    {"wallTime", wall_time, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "wallTime() -> timestamp"},
};
const size_t mwl__mwl_count = sizeof mwl__mwl_functions / sizeof *mwl__mwl_functions;
