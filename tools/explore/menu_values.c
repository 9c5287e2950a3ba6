/* menu_values.c: values for successes: from a JSON Schema, and from what a definition reads. */
#include "tools/explore/menu.h"

#include "vm/program/view.h"

#include <stdlib.h>
#include <string.h>

static bool is(mwl_value text, const char *word) {
    const char *s = mwl_value_kind(text) == MWL_KIND_STRING ? mwl_as_text(text, NULL) : NULL;
    return s && strcmp(s, word) == 0;
}

static mwl_value text(mwl_heap *h, const char *s) { return mwl_string(h, s, strlen(s)); }

/* ---- from a schema --------------------------------------------------------------------------- */

enum { DEPTH_MAX = 8, VARIANTS = 12 };

struct variants {
    mwl_value list[VARIANTS]; /* the first one is the base */
    size_t n;
};

static void push(mwl_heap *h, struct variants *v, mwl_value take) {
    if (v->n < VARIANTS && !mwl_is_absent(take))
        v->list[v->n++] = take;
    else
        mwl_value_drop(h, take);
}

static void drop(mwl_heap *h, struct variants *v) {
    while (v->n) mwl_value_drop(h, v->list[--v->n]);
}

static void make(mwl_heap *h, mwl_value schema, struct variants *out, int depth);

/* Every member at its base; then each member's other values in turn, the rest at their base; then
 * without each member that is not required. */
static void make_object(mwl_heap *h, mwl_value schema, struct variants *out, int depth) {
    mwl_value properties = mwl_get(schema, "properties"), key, sub, base = mwl_object(h, 4);
    for (size_t i = 0; mwl_object_at(properties, i, &key, &sub); i++) {
        struct variants v = {.n = 0};
        make(h, sub, &v, depth + 1);
        if (v.n) base = mwl_object_put(h, base, mwl_value_keep(key), mwl_value_keep(v.list[0]));
        drop(h, &v);
    }
    push(h, out, mwl_value_keep(base));
    for (size_t i = 0; mwl_object_at(properties, i, &key, &sub); i++) {
        struct variants v = {.n = 0};
        make(h, sub, &v, depth + 1);
        for (size_t k = 1; k < v.n; k++)
            push(h, out,
                 mwl_object_put(h, mwl_value_keep(base), mwl_value_keep(key),
                                mwl_value_keep(v.list[k])));
        drop(h, &v);
    }
    mwl_value_drop(h, base);
}

static void make_array(mwl_heap *h, mwl_value schema, struct variants *out, int depth) {
    struct variants v = {.n = 0};
    mwl_value least = mwl_get(schema, "minItems"), one = mwl_array(h, 1);
    make(h, mwl_get(schema, "items"), &v, depth + 1);
    one = mwl_array_push(h, one, v.n ? mwl_value_keep(v.list[0]) : mwl_null());
    push(h, out, one);
    if (mwl_value_kind(least) != MWL_KIND_NUMBER || mwl_as_number(least) < 1)
        push(h, out, mwl_array(h, 0));
    drop(h, &v);
}

static void make_number(mwl_heap *h, mwl_value schema, struct variants *out) {
    mwl_value least = mwl_get(schema, "minimum"), most = mwl_get(schema, "maximum");
    bool has_least = mwl_value_kind(least) == MWL_KIND_NUMBER,
         has_most = mwl_value_kind(most) == MWL_KIND_NUMBER;
    push(h, out, has_least ? least : has_most ? most : mwl_number(1));
    if (has_least && has_most) push(h, out, most);
    if (!has_least && !has_most) push(h, out, mwl_number(0));
}

static void make_string(mwl_heap *h, mwl_value schema, struct variants *out) {
    mwl_value format = mwl_get(schema, "format");
    push(h, out,
         text(h, is(format, "date-time")  ? "2026-01-01T00:00:00Z"
                 : is(format, "duration") ? "PT1S"
                 : is(format, "date")     ? "2026-01-01"
                 : is(format, "uri")      ? "https://example.com/"
                                          : "text"));
}

static void make_typed(mwl_heap *h, mwl_value schema, mwl_value type, struct variants *out,
                       int depth) {
    if (is(type, "object"))
        make_object(h, schema, out, depth);
    else if (is(type, "array"))
        make_array(h, schema, out, depth);
    else if (is(type, "boolean"))
        push(h, out, mwl_bool(true)), push(h, out, mwl_bool(false));
    else if (is(type, "number") || is(type, "integer"))
        make_number(h, schema, out);
    else if (is(type, "string"))
        make_string(h, schema, out);
    else
        push(h, out, mwl_null());
}

static void make(mwl_heap *h, mwl_value schema, struct variants *out, int depth) {
    mwl_value words = mwl_get(schema, "enum"), fixed = mwl_get(schema, "const"),
              examples = mwl_get(schema, "examples"), type = mwl_get(schema, "type"),
              either = mwl_get(schema, "oneOf");
    if (depth > DEPTH_MAX) return;
    if (mwl_is_absent(either)) either = mwl_get(schema, "anyOf");
    if (mwl_is_absent(type) && !mwl_is_absent(mwl_get(schema, "properties")))
        type = text(h, "object");
    else if (!mwl_is_absent(type))
        type = mwl_value_keep(type);
    if (!mwl_is_absent(fixed)) {
        push(h, out, mwl_value_keep(fixed));
    } else if (mwl_count(words) || mwl_count(examples)) {
        mwl_value list = mwl_count(words) ? words : examples;
        for (size_t i = 0; i < mwl_count(list); i++)
            push(h, out, mwl_value_keep(mwl_array_at(list, i)));
    } else if (mwl_count(either)) {
        for (size_t i = 0; i < mwl_count(either); i++)
            make(h, mwl_array_at(either, i), out, depth + 1);
    } else if (mwl_value_kind(type) == MWL_KIND_ARRAY) {
        for (size_t i = 0; i < mwl_count(type); i++)
            make_typed(h, schema, mwl_array_at(type, i), out, depth);
    } else {
        make_typed(h, schema, type, out, depth);
    }
    mwl_value_drop(h, type);
}

void menu_from_schema(mwl_heap *heap, mwl_value schema, struct menu *menu) {
    struct variants v = {.n = 0};
    make(heap, schema, &v, 0);
    for (size_t i = 0; i < v.n; i++) menu_add(heap, menu, false, mwl_value_keep(v.list[i]));
    drop(heap, &v);
}

/* ---- from what is read ----------------------------------------------------------------------- */

/* Bases that can hold what a provider answered. */
static bool is_answer(mwl__base base) {
    return base == MWL_BASE_STEP_RESULT_VALUE || base == MWL_BASE_CALL_RESULT_VALUE ||
           base == MWL_BASE_MW_RESULT_VALUE || base == MWL_BASE_MATCH_INPUT;
}

static void push_truths(mwl_heap *h, struct variants *out) {
    push(h, out, mwl_bool(true));
    push(h, out, mwl_bool(false));
}

/* Values at both sides of the constant that it is compared with. */
static void push_compared(mwl_heap *h, mwl_value k, struct variants *out) {
    double d = mwl_value_kind(k) == MWL_KIND_INT ? (double)k.as.i : k.as.d;
    switch (mwl_value_kind(k)) {
    case MWL_KIND_INT:
    case MWL_KIND_NUMBER:
        push(h, out, mwl_number(d));
        push(h, out, mwl_number(d + 1));
        push(h, out, mwl_number(d - 1));
        return;
    case MWL_KIND_STRING:
        push(h, out, mwl_value_copy(h, k));
        push(h, out, text(h, "other"));
        return;
    case MWL_KIND_BOOL: push_truths(h, out); return;
    case MWL_KIND_NULL:
        push(h, out, text(h, "text"));
        push(h, out, mwl_null());
        return;
    default: return;
    }
}

/* A value with `inner` at the end of the keys from the first on, laid over what `base` has. */
static mwl_value laid(mwl_heap *h, const mwl_program *p, const mwl__view_read *read, uint32_t first,
                      mwl_value base, mwl_value take_inner) {
    if (first == read->n_keys) return take_inner;
    mwl_value key = mwl__view_key(p, read, first);
    bool object = mwl_value_kind(base) == MWL_KIND_OBJECT;
    mwl_value old = object ? mwl_object_find(base, key) : mwl_absent();
    mwl_value sub = laid(h, p, read, first + 1, old, take_inner);
    return mwl_object_put(h, object ? mwl_value_keep(base) : mwl_object(h, 1),
                          mwl_value_copy(h, key), sub);
}

/* `vary` false: the base of everything; true: one variant for each other value. */
static mwl_value lay_reads(mwl_heap *h, const mwl_program *p, mwl_value take_base, bool vary,
                           struct menu *menu) {
    mwl__view_read read;
    for (uint32_t at = 0; mwl__view_next_read(p, &at, &read);) {
        struct variants v = {.n = 0};
        if (!is_answer(read.base)) continue;
        if (read.use == MWL_VIEW_TESTED) push_truths(h, &v);
        if (read.use == MWL_VIEW_COMPARED) push_compared(h, read.with, &v);
        if (!v.n && read.n_keys) push(h, &v, text(h, "text"));
        for (size_t i = 1; vary && i < v.n; i++)
            menu_add(h, menu, false, laid(h, p, &read, 0, take_base, mwl_value_keep(v.list[i])));
        if (!vary && v.n) {
            mwl_value next = laid(h, p, &read, 0, take_base, mwl_value_keep(v.list[0]));
            mwl_value_drop(h, take_base);
            take_base = next;
        }
        drop(h, &v);
    }
    return take_base;
}

void menu_from_reads(mwl_heap *heap, const mwl_program *program, struct menu *menu) {
    mwl_value base = lay_reads(heap, program, mwl_absent(), false, menu);
    if (mwl_is_absent(base)) return;
    menu_add(heap, menu, false, mwl_value_keep(base));
    mwl_value_drop(heap, lay_reads(heap, program, base, true, menu));
}
