/* The value layer: building, looking up, comparing. One heap per case, made in setup. */
#include "bench/bench.h"
#include "vm/value/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { APPENDS = 100000, MEMBERS = 10000, FEW = 8, RECORDS = 1000 };

struct state {
    mwl_heap *heap;
    mwl_value a, b;
    char key[MEMBERS][12];
    size_t key_len[MEMBERS];
};

static void open_heap(struct bench *b) {
    struct state *s = calloc(1, sizeof *s);
    b->state = s;
    BENCH_CHECK(b, s != NULL);
    if (b->failed) return;
    s->a = s->b = mwl_absent();
    for (int i = 0; i < MEMBERS; i++)
        s->key_len[i] = (size_t)snprintf(s->key[i], sizeof s->key[i], "member%d", i);
    BENCH_CHECK(b, mwl_heap_new(&b->alloc, &s->heap) == MWL_OK);
}

static void close_heap(struct bench *b) {
    struct state *s = b->state;
    if (!s) return;
    if (s->heap) {
        mwl_value_drop(s->heap, s->a);
        mwl_value_drop(s->heap, s->b);
    }
    mwl_heap_free(s->heap);
    free(s);
}

/* ---- append ---------------------------------------------------------------------------------- */

static mwl_value append_all(mwl_heap *heap) {
    mwl_value list = mwl_array(heap, 0);
    for (int i = 0; i < APPENDS; i++) list = mwl_array_push(heap, list, mwl_number(i));
    return list;
}

/* How programs collect values: the variable still holds the old list while the new one is made. */
static mwl_value append_all_held(mwl_heap *heap) {
    mwl_value list = mwl_array(heap, 0);
    for (int i = 0; i < APPENDS; i++) {
        mwl_value grown = mwl_array_push(heap, mwl_value_keep(list), mwl_number(i));
        mwl_value_drop(heap, list);
        list = grown;
    }
    return list;
}

static void check_list(struct bench *b, mwl_value list) {
    struct state *s = b->state;
    BENCH_CHECK(b, mwl_count(list) == APPENDS);
    BENCH_CHECK(b, mwl_as_number(mwl_array_at(list, APPENDS - 1)) == APPENDS - 1);
    mwl_value_drop(s->heap, list);
}

static void append_setup(struct bench *b) {
    open_heap(b);
    if (!b->failed) check_list(b, append_all(((struct state *)b->state)->heap));
    if (!b->failed) check_list(b, append_all_held(((struct state *)b->state)->heap));
}
static void append_run(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    for (; n; n--) mwl_value_drop(s->heap, append_all(s->heap));
}
static void append_held_run(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    for (; n; n--) mwl_value_drop(s->heap, append_all_held(s->heap));
}

/* ---- objects --------------------------------------------------------------------------------- */

static mwl_value object_of(struct state *s, int count) {
    mwl_value object = mwl_object(s->heap, 0);
    for (int i = 0; i < count; i++)
        object = mwl_object_set(s->heap, object, s->key[i], s->key_len[i], mwl_number(i));
    return object;
}

static void object_setup(struct bench *b, int count) {
    open_heap(b);
    if (b->failed) return;
    struct state *s = b->state;
    s->a = object_of(s, count);
    BENCH_CHECK(b, mwl_count(s->a) == (size_t)count);
    for (int i = 0; i < count; i++)
        BENCH_CHECK(b, mwl_as_number(mwl_object_get(s->a, s->key[i], s->key_len[i])) == i);
    BENCH_CHECK(b, mwl_is_absent(mwl_get(s->a, "absent")));
}
static void small_setup(struct bench *b) { object_setup(b, FEW); }
static void large_setup(struct bench *b) { object_setup(b, MEMBERS); }

/* 100,000 members, each added while a variable still holds the object before. */
static mwl_value add_all_held(mwl_heap *heap) {
    mwl_value object = mwl_object(heap, 0);
    for (int i = 0; i < APPENDS; i++) {
        char key[16];
        size_t len = (size_t)snprintf(key, sizeof key, "%d", i);
        mwl_value grown = mwl_object_set(heap, mwl_value_keep(object), key, len, mwl_number(i));
        mwl_value_drop(heap, object);
        object = grown;
    }
    return object;
}
static void held_setup(struct bench *b) {
    open_heap(b);
    if (b->failed) return;
    struct state *s = b->state;
    mwl_value object = add_all_held(s->heap);
    BENCH_CHECK(b, mwl_count(object) == APPENDS);
    BENCH_CHECK(b, mwl_as_number(mwl_object_get(object, "99999", 5)) == 99999);
    mwl_value_drop(s->heap, object);
}
static void held_run(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    for (; n; n--) mwl_value_drop(s->heap, add_all_held(s->heap));
}

/* With a key whose hash is known, like a constant of a program. */
static void get_by_constant(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    size_t count = mwl_count(s->a);
    double sum = 0;
    for (unsigned long i = 0; i < n; i++) {
        mwl_value key = mwl_absent();
        (void)mwl_object_at(s->a, (i * 7919u) % count, &key, NULL);
        const mwl_value *v = mwl__map_get(s->a, key);
        sum += v->as.d;
    }
    BENCH_KEEP(&sum);
}

static void object_run(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    for (; n; n--) mwl_value_drop(s->heap, object_of(s, MEMBERS));
}

static void look_up(struct bench *b, unsigned long n, unsigned count) {
    struct state *s = b->state;
    double sum = 0;
    for (unsigned long i = 0; i < n; i++) {
        unsigned at = (unsigned)(i * 7919u) % count;
        sum += mwl_as_number(mwl_object_get(s->a, s->key[at], s->key_len[at]));
    }
    BENCH_KEEP(&sum);
}
static void small_run(struct bench *b, unsigned long n) { look_up(b, n, FEW); }
static void large_run(struct bench *b, unsigned long n) { look_up(b, n, MEMBERS); }

/* ---- equality and text ----------------------------------------------------------------------- */

static mwl_value records(struct state *s) {
    mwl_value list = mwl_array(s->heap, RECORDS);
    for (int i = 0; i < RECORDS; i++) {
        mwl_value record = object_of(s, FEW);
        mwl_value name = mwl_string(s->heap, s->key[i], s->key_len[i]);
        record = mwl_object_set(s->heap, record, "name", 4, name);
        list = mwl_array_push(s->heap, list, record);
    }
    return list;
}

static void equal_setup(struct bench *b) {
    open_heap(b);
    if (b->failed) return;
    struct state *s = b->state;
    s->a = records(s);
    s->b = records(s);
    BENCH_CHECK(b, mwl_value_equal(s->a, s->b));
    mwl_value other = mwl_array_push(s->heap, mwl_value_keep(s->b), mwl_null());
    BENCH_CHECK(b, !mwl_value_equal(s->a, other));
    mwl_value_drop(s->heap, other);
}
static void equal_run(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    for (; n; n--) {
        bool equal = mwl_value_equal(s->a, s->b);
        BENCH_KEEP(&equal);
    }
}

static void string_setup(struct bench *b) {
    open_heap(b);
    if (b->failed) return;
    struct state *s = b->state;
    mwl_value v = mwl_string(s->heap, s->key[42], s->key_len[42]);
    BENCH_CHECK(b, mwl_string_code_points(v) == s->key_len[42]);
    mwl_value_drop(s->heap, v);
}
static void string_run(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    for (unsigned long i = 0; i < n; i++) {
        unsigned at = (unsigned)(i % MEMBERS);
        mwl_value_drop(s->heap, mwl_string(s->heap, s->key[at], s->key_len[at]));
    }
}

const struct bench_case bench_value_cases[] = {
    {"value", "append", append_setup, append_run, close_heap, APPENDS, 0, NULL},
    {"value", "append_held", append_setup, append_held_run, close_heap, APPENDS, 0, NULL},
    {"value", "object_add", large_setup, object_run, close_heap, MEMBERS, 0, NULL},
    {"value", "object_add_held", held_setup, held_run, close_heap, APPENDS, 0, NULL},
    {"value", "get_8", small_setup, get_by_constant, close_heap, 0, 0, NULL},
    {"value", "get_10000", large_setup, get_by_constant, close_heap, 0, 0, NULL},
    {"value", "lookup_8", small_setup, small_run, close_heap, 0, 0, NULL},
    {"value", "lookup_10000", large_setup, large_run, close_heap, 0, 0, NULL},
    {"value", "equal_record", equal_setup, equal_run, close_heap, RECORDS, 0, NULL},
    {"value", "string_new", string_setup, string_run, close_heap, 0, 0, NULL},
    {0},
};
