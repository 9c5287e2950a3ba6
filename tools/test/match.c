/* match.c: see match.h. */
#include "tools/test/match.h"

#include <stdio.h>
#include <string.h>

enum { SHOWN = 8, CUT = 200 };

void match_put(struct matcher *m, mwl_value v, size_t most) {
    char *text = NULL;
    size_t len = 0;
    if (mwl_is_absent(v)) {
        mwl__buf_puts(m->out, "nothing");
    } else if (mwl_json_write(m->heap, v, MWL_JSON_COMPACT, &text, &len) != MWL_OK) {
        mwl__buf_printf(m->out, "(%s)", mwl_value_type(v));
    } else {
        size_t n = len;
        if (n > most)
            for (n = most; n && ((unsigned char)text[n] & 0xc0) == 0x80;) n--;
        mwl__buf_put(m->out, text, n);
        if (n < len) mwl__buf_puts(m->out, " ...");
    }
    mwl_text_free(m->heap, text, len);
}

/* Returns false. Only the first ones are written. */
static bool begin(struct matcher *m, const char *path) {
    if (m->n_shown++ == SHOWN) mwl__buf_puts(m->out, "  ... and more\n");
    if (m->n_shown > SHOWN) return false;
    mwl__buf_printf(m->out, "  %s: ", path);
    return true;
}

void match_differ(struct matcher *m, const char *path, mwl_value expected, mwl_value actual) {
    if (!begin(m, path)) return;
    mwl__buf_puts(m->out, "expected ");
    match_put(m, expected, CUT);
    mwl__buf_puts(m->out, ", got ");
    match_put(m, actual, CUT);
    mwl__buf_putc(m->out, '\n');
}

bool match_condition(struct matcher *m, const char *path, mwl_value text, const char *const *names,
                     const mwl_value *values, size_t n) {
    struct expr e;
    char why[300] = "";
    size_t len = 0;
    const char *s = mwl_value_kind(text) == MWL_KIND_STRING ? mwl_as_text(text, &len) : NULL;
    bool holds = s && expr_compile(m->env, s, len, names, n, &e, why, sizeof why) == MWL_OK;
    if (holds) {
        holds = expr_holds(m->env, &e, values, n, why, sizeof why);
        expr_free(&e);
    }
    if (holds || !begin(m, path)) return holds;
    mwl__buf_printf(m->out, "%s is not true%s%s", s ? s : "a condition that is not text",
                    *why ? ": " : "", why);
    if (n == 1 && strcmp(names[0], "this") == 0) {
        mwl__buf_puts(m->out, ", with this = ");
        match_put(m, values[0], CUT);
    }
    mwl__buf_putc(m->out, '\n');
    return false;
}

static mwl_value only_member(mwl_value v, const char *name) {
    if (mwl_value_kind(v) != MWL_KIND_OBJECT || mwl_count(v) != 1) return mwl_absent();
    return mwl_get(v, name);
}

static bool match_array(struct matcher *m, enum match_mode mode, mwl_value expected,
                        mwl_value actual, const char *path) {
    bool good = true;
    char inner[400];
    size_t n = mwl_count(expected), k = mwl_count(actual);
    for (size_t i = 0; i < n || i < k; i++) {
        snprintf(inner, sizeof inner, "%s[%zu]", path, i);
        if (i >= n || i >= k) {
            match_differ(m, inner, mwl_array_at(expected, i), mwl_array_at(actual, i));
            good = false;
        } else {
            good &= match_value(m, mode, mwl_array_at(expected, i), mwl_array_at(actual, i), inner);
        }
    }
    return good;
}

static bool match_object(struct matcher *m, enum match_mode mode, mwl_value expected,
                         mwl_value actual, const char *path) {
    bool good = true;
    char inner[400];
    mwl_value key, value;
    for (size_t i = 0; mwl_object_at(expected, i, &key, &value); i++) {
        snprintf(inner, sizeof inner, "%s.%s", path, mwl_as_text(key, NULL));
        good &= match_value(m, mode, value, mwl_object_find(actual, key), inner);
    }
    for (size_t i = 0; mode == MATCHES_EXACTLY && mwl_object_at(actual, i, &key, &value); i++) {
        if (!mwl_is_absent(mwl_object_find(expected, key))) continue;
        snprintf(inner, sizeof inner, "%s.%s", path, mwl_as_text(key, NULL));
        match_differ(m, inner, mwl_absent(), value);
        good = false;
    }
    return good;
}

bool match_value(struct matcher *m, enum match_mode mode, mwl_value expected, mwl_value actual,
                 const char *path) {
    static const char *const names[] = {"this"};
    mwl_value exact = only_member(expected, "$exact"), subset = only_member(expected, "$subset"),
              cel = only_member(expected, "$cel");
    if (!mwl_is_absent(exact)) return match_value(m, MATCHES_EXACTLY, exact, actual, path);
    if (!mwl_is_absent(subset)) return match_value(m, MATCHES_SUBSET, subset, actual, path);
    if (!mwl_is_absent(cel)) return match_condition(m, path, cel, names, &actual, 1);
    mwl_kind kind = mwl_value_kind(expected);
    if (kind == mwl_value_kind(actual) && kind == MWL_KIND_ARRAY)
        return match_array(m, mode, expected, actual, path);
    if (kind == mwl_value_kind(actual) && kind == MWL_KIND_OBJECT)
        return match_object(m, mode, expected, actual, path);
    if (mwl_value_equal(expected, actual)) return true;
    match_differ(m, path, expected, actual);
    return false;
}
