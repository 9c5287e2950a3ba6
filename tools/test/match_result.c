/* match_result.c: compares an expected Result with an actual one. Owns: the rules of match_result
 * in match.h, which are those of the conformance suite. */
#include "tools/test/match.h"

#include <stdio.h>
#include <string.h>

struct compare {
    mwl_heap *heap;
    char *why;
    size_t size;
};

static bool differ(struct compare *c, const char *what, mwl_value expected, mwl_value actual) {
    char *texts[2] = {NULL, NULL};
    size_t lens[2] = {0, 0};
    mwl_value values[2] = {expected, actual};
    for (int i = 0; i < 2; i++)
        mwl_json_write(c->heap, values[i], MWL_JSON_CANONICAL, &texts[i], &lens[i]);
    snprintf(c->why, c->size, "%s: expected %s, got %s", what, texts[0] ? texts[0] : "nothing",
             texts[1] ? texts[1] : "nothing");
    for (int i = 0; i < 2; i++)
        if (texts[i]) mwl_text_free(c->heap, texts[i], lens[i]);
    return false;
}

static bool equal(struct compare *c, const char *what, mwl_value expected, mwl_value actual) {
    return mwl_value_equal(expected, actual) || differ(c, what, expected, actual);
}

static bool same_result(struct compare *c, mwl_value expected, mwl_value actual, int depth);

/* One of details.failures: {index, result}. */
static bool match_outcome(struct compare *c, mwl_value expected, mwl_value actual, int depth) {
    mwl_value key, value;
    if (mwl_value_kind(expected) != MWL_KIND_OBJECT || mwl_value_kind(actual) != MWL_KIND_OBJECT ||
        mwl_count(expected) != mwl_count(actual))
        return equal(c, "details.failures[]", expected, actual);
    for (size_t i = 0; mwl_object_at(expected, i, &key, &value); i++) {
        const char *name = mwl_as_text(key, NULL);
        mwl_value other = mwl_object_find(actual, key);
        bool same = strcmp(name, "result") == 0 ? same_result(c, value, other, depth + 1)
                                                : equal(c, name, value, other);
        if (!same) return false;
    }
    return true;
}

static bool match_details(struct compare *c, mwl_value expected, mwl_value actual, int depth) {
    mwl_value want = mwl_get(expected, "failures"), got = mwl_get(actual, "failures"), key, value;
    if (mwl_value_kind(want) != MWL_KIND_ARRAY || mwl_value_kind(got) != MWL_KIND_ARRAY ||
        mwl_count(want) != mwl_count(got) || mwl_count(expected) != mwl_count(actual))
        return equal(c, "details", expected, actual);
    for (size_t i = 0; mwl_object_at(expected, i, &key, &value); i++) {
        const char *name = mwl_as_text(key, NULL);
        if (strcmp(name, "failures") != 0 && !equal(c, name, value, mwl_object_find(actual, key)))
            return false;
    }
    for (size_t i = 0; i < mwl_count(want); i++)
        if (!match_outcome(c, mwl_array_at(want, i), mwl_array_at(got, i), depth)) return false;
    return true;
}

static bool match_member(struct compare *c, const char *name, mwl_value expected, mwl_value actual,
                         int depth) {
    if (mwl_value_kind(expected) == MWL_KIND_NULL && mwl_is_absent(actual)) return true;
    if (mwl_is_absent(actual)) return differ(c, name, expected, actual);
    if (strcmp(name, "previous") == 0 && mwl_value_kind(expected) == MWL_KIND_OBJECT)
        return same_result(c, expected, actual, depth + 1);
    if (strcmp(name, "details") == 0) return match_details(c, expected, actual, depth);
    return equal(c, name, expected, actual);
}

/* A chain is as deep as its file, and files are as deep as the JSON reader allows. */
static bool same_result(struct compare *c, mwl_value expected, mwl_value actual, int depth) {
    mwl_value type = mwl_get(expected, "type"), key, value;
    if (mwl_value_kind(expected) != MWL_KIND_OBJECT || mwl_value_kind(actual) != MWL_KIND_OBJECT ||
        depth > 256 || !mwl_value_equal(type, mwl_get(actual, "type")))
        return differ(c, "Result", expected, actual);
    const char *text = mwl_as_text(type, NULL);
    if (text && strcmp(text, "success") == 0)
        return equal(c, "value", mwl_get(expected, "value"), mwl_get(actual, "value"));
    for (size_t i = 0; mwl_object_at(expected, i, &key, &value); i++)
        if (!match_member(c, mwl_as_text(key, NULL), value, mwl_object_find(actual, key), depth))
            return false;
    return true;
}

bool match_result(mwl_heap *heap, mwl_value expected, mwl_value actual, char *why, size_t size) {
    struct compare c = {heap, why, size};
    *why = '\0';
    return same_result(&c, expected, actual, 0);
}
