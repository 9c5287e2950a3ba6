/* case_names.c: see case_names.h. */
#include "tools/test/case_names.h"

#include "tools/host/names.h"
#include "vm/base/suggest.h"

#include <string.h>

struct names {
    const mwl_program *program;
    mwl__buf *out;
    bool good;
};

static void check(struct names *n, unsigned kinds, const char *place, mwl_value name) {
    char why[1400];
    if (mwl_value_kind(name) != MWL_KIND_STRING) return;
    const char *text = mwl_as_text(name, NULL);
    if (names_check(n->program, kinds, text, why, sizeof why)) return;
    mwl__buf_printf(n->out, "  %s: %s\n", place, why);
    n->good = false;
}

static void check_each(struct names *n, unsigned kinds, const char *place, mwl_value list) {
    for (size_t i = 0; i < mwl_count(list) && mwl_value_kind(list) == MWL_KIND_ARRAY; i++)
        check(n, kinds, place, mwl_array_at(list, i));
}

static void check_keys(struct names *n, unsigned kinds, const char *place, mwl_value object) {
    mwl_value key;
    if (mwl_value_kind(object) != MWL_KIND_OBJECT) return;
    for (size_t i = 0; mwl_object_at(object, i, &key, NULL); i++)
        if (strcmp(mwl_as_text(key, NULL), "*") != 0) check(n, kinds, place, key);
}

static void check_members(struct names *n, const char *place, mwl_value object,
                          const char *const *known, size_t n_known) {
    mwl_value key;
    for (size_t i = 0; mwl_object_at(object, i, &key, NULL); i++) {
        const char *name = mwl_as_text(key, NULL), *near;
        size_t k = 0;
        while (k < n_known && strcmp(known[k], name) != 0) k++;
        if (k < n_known) continue;
        near = mwl__suggest_among(name, strlen(name), known, n_known);
        mwl__buf_printf(n->out, "  %s: '%s' is not a member%s%s%s\n", place, name,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        n->good = false;
    }
}

/* {"$exact": ...} and the like, and {"atLeast": ..., "atMost": ...}, have no names. */
static bool has_names(mwl_value v) {
    mwl_value key;
    if (mwl_value_kind(v) != MWL_KIND_OBJECT || !mwl_object_at(v, 0, &key, NULL)) return false;
    return *mwl_as_text(key, NULL) != '$' && mwl_is_absent(mwl_get(v, "atLeast")) &&
           mwl_is_absent(mwl_get(v, "atMost"));
}

static void check_bounds(struct names *n, const char *place, mwl_value v) {
    static const char *const known[] = {"atLeast", "atMost"};
    mwl_value key;
    if (mwl_value_kind(v) == MWL_KIND_OBJECT && mwl_object_at(v, 0, &key, NULL) &&
        *mwl_as_text(key, NULL) != '$')
        check_members(n, place, v, known, 2);
}

/* A list of calls: each may say its Step and its provider. */
static void check_call_list(struct names *n, const char *place, mwl_value list) {
    for (size_t i = 0; mwl_value_kind(list) == MWL_KIND_ARRAY && i < mwl_count(list); i++) {
        mwl_value call = mwl_array_at(list, i);
        if (!has_names(call)) continue;
        check(n, NAMES_STEP, place, mwl_get(call, "step"));
        check(n, NAMES_URI, place, mwl_get(call, "provider"));
    }
}

static void check_calls(struct names *n, const char *place, mwl_value expected) {
    mwl_value value;
    check_call_list(n, place, expected);
    if (!has_names(expected)) {
        check_bounds(n, place, expected);
        return;
    }
    check_keys(n, NAMES_STEP | NAMES_URI, place, expected);
    for (size_t i = 0; mwl_object_at(expected, i, NULL, &value); i++) {
        check_call_list(n, place, value);
        check_bounds(n, place, value);
    }
}

static void check_steps(struct names *n, mwl_value expected) {
    static const char *const known[] = {"ran", "notRan"};
    check_each(n, NAMES_STEP, "steps", expected);
    if (!has_names(expected)) return;
    check_members(n, "steps", expected, known, 2);
    check_each(n, NAMES_STEP, "steps.ran", mwl_get(expected, "ran"));
    check_each(n, NAMES_STEP, "steps.notRan", mwl_get(expected, "notRan"));
}

bool case_names_check(const mwl_program *p, mwl_value spec, mwl__buf *out) {
    struct names n = {p, out, true};
    mwl_value expect = mwl_get(spec, "expect");
    check_keys(&n, NAMES_STEP | NAMES_URI, "answers", mwl_get(spec, "answers"));
    check_calls(&n, "calls", mwl_get(expect, "calls"));
    check_calls(&n, "cleanup", mwl_get(expect, "cleanup"));
    check_steps(&n, mwl_get(expect, "steps"));
    if (has_names(mwl_get(expect, "vars")))
        check_keys(&n, NAMES_STEP, "vars", mwl_get(expect, "vars"));
    return n.good;
}
