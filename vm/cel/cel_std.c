/* cel_std.c: CEL's standard functions that are neither conversions (cel_convert.c) nor about time
 * (cel_time.c).
 *
 * Owns: size, contains, startsWith, endsWith, matches, type, dyn, and the list of vm's tables. The
 * interpreter has the operators. A constant pattern is compiled into the program and is not handled
 * here; other patterns use the pattern cache of the scratch. */
#include "vm/cel/cel_lib.h"
#include "vm/cel/ops.h"
#include "vm/regex/regex.h"
#include "vm/value/set.h"

mwl_value mwl__cel_failed(mwl_fn *fn, mwl_status status, const char *what) {
    if (status == MWL_E_FUEL) {
        fn->x->halt = MWL_EXEC_FUEL;
        return mwl_absent();
    }
    if (status == MWL_E_NOMEM || status == MWL_E_TOO_BIG) {
        /* memory in the heap's account has said already whether it is the run's limit */
        if (mwl_fn_heap(fn)->why != MWL_E_TOO_BIG) mwl_fn_heap(fn)->why = status;
        return mwl_absent();
    }
    return mwl_fn_fail(fn, "%s", what);
}

/* Charges what a function of the value layer has used of the fuel that it was given. */
static bool charge_used(mwl_fn *fn, mwl_status status, uint64_t left) {
    return mwl_fn_charge(fn, status == MWL_OK ? fn->x->budget - left : UINT64_MAX);
}

bool mwl_fn_equal(mwl_fn *fn, mwl_value a, mwl_value b, bool *equal) {
    return mwl__compare_equal(fn->x, a, b, equal);
}

/* ---- sets ------------------------------------------------------------------------------------ */

mwl_set *mwl_fn_set(mwl_fn *fn, mwl_value list) {
    mwl_heap *heap = fn->x->heap;
    if (mwl_value_kind(list) != MWL_KIND_ARRAY) {
        (void)mwl_fn_no_overload(fn);
        return NULL;
    }
    if (!mwl_fn_charge(fn, mwl_count(list))) return NULL;
    mwl_set *set = mwl__heap_take(heap, sizeof *set);
    if (!set) return NULL;
    mwl_status status = mwl__set_init(set, heap, list);
    if (status == MWL_OK) return set;
    (void)mwl__cel_failed(fn, status, "");
    mwl__heap_give(heap, set, sizeof *set);
    return NULL;
}

void mwl_fn_set_free(mwl_fn *fn, mwl_set *set) {
    if (!set) return;
    mwl__set_free(set);
    mwl__heap_give(fn->x->heap, set, sizeof *set);
}

bool mwl_fn_set_add(mwl_fn *fn, mwl_set *set, size_t i, bool *added) {
    uint64_t fuel = fn->x->budget;
    uint32_t at = 0;
    *added = false;
    if (i >= mwl_count(set->list)) return true;
    mwl_status status = mwl__set_add(set, (uint32_t)i, &fuel, &at);
    *added = status == MWL_OK && at == MWL__SET_NONE;
    return charge_used(fn, status, fuel);
}

bool mwl_fn_set_has(mwl_fn *fn, const mwl_set *set, mwl_value v, bool *found) {
    uint64_t fuel = fn->x->budget;
    uint32_t at = 0;
    mwl_status status = mwl__set_find(set, v, &fuel, &at);
    *found = status == MWL_OK && at != MWL__SET_NONE;
    return charge_used(fn, status, fuel);
}

static bool is_kind(mwl_value v, mwl_kind kind) { return mwl_value_kind(v) == kind; }

/* ---- size ------------------------------------------------------------------------------------ */

static mwl_value size_of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_value v = args[0];
    switch (mwl_value_kind(v)) {
    case MWL_KIND_STRING: return mwl_int((int64_t)mwl__as_str(v)->n_cp);
    case MWL_KIND_BYTES: return mwl_int((int64_t)mwl__as_str(v)->len);
    case MWL_KIND_ARRAY:
    case MWL_KIND_OBJECT: return mwl_int((int64_t)mwl_count(v));
    default: return mwl_fn_no_overload(fn);
    }
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool two_strings(const mwl_value *args) {
    return is_kind(args[0], MWL_KIND_STRING) && is_kind(args[1], MWL_KIND_STRING);
}

static mwl_value contains(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!two_strings(args)) return mwl_fn_no_overload(fn);
    const mwl__str *s = mwl__as_str(args[0]), *part = mwl__as_str(args[1]);
    if (!mwl_fn_charge(fn, s->len / 8)) return mwl_absent();
    return mwl_bool(mwl_text_find(s->s, s->len, part->s, part->len) != SIZE_MAX);
}

static mwl_value starts_with(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!two_strings(args)) return mwl_fn_no_overload(fn);
    const mwl__str *s = mwl__as_str(args[0]), *part = mwl__as_str(args[1]);
    if (part->len > s->len) return mwl_bool(false);
    if (!mwl_fn_charge(fn, part->len / 64)) return mwl_absent();
    return mwl_bool(memcmp(s->s, part->s, part->len) == 0);
}

static mwl_value ends_with(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!two_strings(args)) return mwl_fn_no_overload(fn);
    const mwl__str *s = mwl__as_str(args[0]), *part = mwl__as_str(args[1]);
    if (part->len > s->len) return mwl_bool(false);
    if (!mwl_fn_charge(fn, part->len / 64)) return mwl_absent();
    return mwl_bool(memcmp(s->s + s->len - part->len, part->s, part->len) == 0);
}

/* The pattern, from the cache or compiled. A refused pattern is charged too. */
static mwl_status compiled(mwl__exec *x, const mwl__str *pattern, const mwl__regex **out,
                           mwl_error *error) {
    uint64_t fuel, lent = 0;
    mwl_status status;
    bool again;
    do {
        fuel = lent = mwl__exec_lend(x, lent);
        status = mwl__regex_cached(x->regex, pattern->s, pattern->len, &fuel, out, error);
        again = mwl__exec_again(x, lent - fuel, status);
    } while (again);
    return x->late || (x->budget == 0 && status != MWL_OK) ? MWL_E_FUEL : status;
}

static mwl_value matches(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (!two_strings(args)) return mwl_fn_no_overload(fn);
    const mwl__str *s = mwl__as_str(args[0]), *pattern = mwl__as_str(args[1]);
    mwl__exec *x = fn->x;
    mwl_status status = MWL_OK;
    mwl_alloc account = mwl__heap_account(x->heap);
    if (!x->regex) status = mwl__regex_scratch_new(&account, &x->regex);
    const mwl__regex *re = NULL;
    mwl_error error = {MWL_OK, "", 0};
    bool found = false;
    if (status == MWL_OK) status = compiled(x, pattern, &re, &error);
    bool refused = status == MWL_E_SYNTAX || status == MWL_E_TOO_BIG;
    if (status == MWL_OK) {
        uint64_t fuel, lent = 0;
        do {
            fuel = lent = mwl__exec_lend(x, lent);
            status = mwl__regex_search(re, x->regex, s->s, s->len, &fuel, &found);
        } while (mwl__exec_again(x, lent - fuel, status));
    }
    if (refused)
        return mwl_fn_fail(fn, "invalid pattern: %s at byte %zu", error.message, error.offset);
    if (status != MWL_OK) return mwl__cel_failed(fn, status, "the pattern cannot be matched");
    return mwl_bool(found);
}

/* ---- types ----------------------------------------------------------------------------------- */

static mwl_value type_of(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    const char *name = mwl__type_name(args[0]);
    return mwl__type_new(mwl_fn_heap(fn), name, strlen(name));
}

static mwl_value dyn(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)fn, (void)n_args;
    return mwl_value_keep(args[0]);
}

enum { GLOBAL = MWL_FN_GLOBAL, MEMBER = MWL_FN_MEMBER, BOTH = MWL_FN_GLOBAL | MWL_FN_MEMBER };

const mwl_function_def mwl__std_functions[] = {
    {"size", size_of, 1, 1, BOTH, "size(string | bytes | list | map) -> int"},
    {"contains", contains, 2, 2, MEMBER, "string.contains(string) -> bool"},
    {"startsWith", starts_with, 2, 2, MEMBER, "string.startsWith(string) -> bool"},
    {"endsWith", ends_with, 2, 2, MEMBER, "string.endsWith(string) -> bool"},
    {"matches", matches, 2, 2, BOTH, "string.matches(pattern) -> bool"},
    {"type", type_of, 1, 1, GLOBAL, "type(value) -> type"},
    {"dyn", dyn, 1, 1, GLOBAL, "dyn(value) -> value"},
};
const size_t mwl__std_count = sizeof mwl__std_functions / sizeof *mwl__std_functions;

const mwl_function_def *mwl__cel_table(size_t i, size_t *count) {
    switch (i) {
    case 0: *count = mwl__std_count; return mwl__std_functions;
    case 1: *count = mwl__convert_count; return mwl__convert_functions;
    case 2: *count = mwl__time_count; return mwl__time_functions;
    case 3: *count = mwl__mwl_count; return mwl__mwl_functions;
    case 4: *count = mwl__message_count; return mwl__message_functions;
    default: *count = 0; return NULL;
    }
}
