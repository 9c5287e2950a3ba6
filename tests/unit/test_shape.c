/* Objects that have the same names in the same order share their keys, and one cannot tell. */
#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/value/shape.h"
#include "mwl_provider.h"

#include <stdlib.h>

static mwl_value parsed(mwl_heap *h, const char *text) {
    mwl_value v = mwl_absent();
    (void)mwl_json_parse(h, text, strlen(text), &v, NULL);
    return v;
}

static const mwl__keys *keys_of(mwl_value object) { return mwl__as_map(object)->keys; }

UTEST(shape, is_one_however_an_object_was_made) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_value read = parsed(h, "{\"n\": 1, \"s\": \"x\"}");
    mwl_value again = parsed(h, " {\"n\":[1],\"s\":null}");
    mwl_value other = parsed(h, "{\"s\": 1, \"n\": \"x\"}");
    mwl_value built = mwl_object_of(h, "n", mwl_number(1), "s", mwl_string(h, "x", 1), NULL);
    mwl_value copy = mwl_value_copy(h, read);
    EXPECT_FALSE(keys_of(read)->own);
    EXPECT_TRUE(keys_of(read) == keys_of(again));
    EXPECT_TRUE(keys_of(read) == keys_of(built));
    EXPECT_TRUE(keys_of(read) == keys_of(copy));
    EXPECT_TRUE(keys_of(read) != keys_of(other)); /* another order */
    EXPECT_TRUE(mwl_value_equal(read, built));
    EXPECT_TRUE(mwl_value_equal(read, copy));
    EXPECT_FALSE(mwl_value_equal(read, other));
    const mwl_value all[] = {read, again, other, built, copy};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mwl_value_drop(h, all[i]);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* The names of a shape are the first ones of a longer one. */
UTEST(shape, follows_each_version) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_value a = mwl_object_set(h, mwl_object(h, 4), "a", 1, mwl_number(1));
    mwl_value ab = mwl_object_set(h, mwl_value_keep(a), "b", 1, mwl_number(2));
    EXPECT_TRUE(a.as.p == ab.as.p); /* in the same buffer */
    mwl_value ac = mwl_object_set(h, mwl_value_keep(a), "c", 1, mwl_number(3));
    EXPECT_TRUE(a.as.p != ac.as.p);
    EXPECT_EQ(mwl_count(a), (size_t)1);
    EXPECT_TRUE(mwl_is_absent(mwl_get(a, "b")));
    EXPECT_TRUE(mwl_is_absent(mwl_get(ab, "c")));
    EXPECT_TRUE(mwl_is_absent(mwl_get(ac, "b")));
    EXPECT_EQ(mwl_as_number(mwl_get(ab, "b")), 2);
    EXPECT_EQ(mwl_as_number(mwl_get(ac, "c")), 3);
    mwl_value_drop(h, ab);
    a = mwl_object_set(h, a, "d", 1, mwl_number(4)); /* what the dropped version added is gone */
    EXPECT_EQ(mwl_count(a), (size_t)2);
    EXPECT_TRUE(mwl_is_absent(mwl_get(a, "b")));
    EXPECT_EQ(mwl_as_number(mwl_get(a, "d")), 4);
    mwl_value_drop(h, a);
    mwl_value_drop(h, ac);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* What cannot be in a shape: a string that is not an atom, a number, a name twice, many names. */
UTEST(shape, is_left_for_keys_of_its_own) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_value o = mwl_object_set(h, mwl_object(h, 0), "a", 1, mwl_number(1));
    EXPECT_FALSE(keys_of(o)->own);
    o = mwl_object_put(h, o, mwl_string(h, "b", 1), mwl_number(2));
    EXPECT_TRUE(keys_of(o)->own);
    o = mwl_object_set(h, o, "a", 1, mwl_number(3));
    o = mwl_object_put(h, o, mwl_int(7), mwl_number(4));
    EXPECT_EQ(mwl_count(o), (size_t)3);
    EXPECT_EQ(mwl_as_number(mwl_get(o, "a")), 3);
    EXPECT_EQ(mwl_as_number(mwl_get(o, "b")), 2);
    EXPECT_EQ(mwl_as_number(mwl_object_find(o, mwl_int(7))), 4);
    mwl_value_drop(h, o);
    o = parsed(h, "{\"a\": 1, \"b\": 2, \"a\": 3}");
    EXPECT_EQ(mwl_count(o), (size_t)2);
    EXPECT_EQ(mwl_as_number(mwl_get(o, "a")), 3);
    mwl_value_drop(h, o);
    o = mwl_object(h, 0);
    for (int i = 0; i < 40; i++) {
        char name[8];
        int len = snprintf(name, sizeof name, "k%d", i);
        o = mwl_object_set(h, o, name, (size_t)len, mwl_number(i));
        EXPECT_EQ(keys_of(o)->own, i + 1 >= MWL_INDEX_FROM);
        for (int k = 0; k <= i; k++) {
            len = snprintf(name, sizeof name, "k%d", k);
            ASSERT_EQ(mwl_as_number(mwl_object_get(o, name, (size_t)len)), k);
        }
    }
    mwl_value_drop(h, o);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

static mwl_value name_at(mwl_heap *h, unsigned i) {
    char name[16];
    int len = snprintf(name, sizeof name, "n%u", i);
    return mwl__key(h, name, (size_t)len);
}

/* Data fills its half of the shapes. A program still gets its own, memory does not grow any more,
 * and objects are as they were. */
UTEST(shape, has_a_bound) {
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(&a, &h), MWL_OK);
    size_t half = 0;
    for (unsigned i = 0; i < 400; i++) mwl_value_drop(h, name_at(h, i));
    for (unsigned i = 0; i < 400; i++) {
        for (unsigned k = 0; k < 400; k += 7) {
            if (i == k) continue;
            mwl_value o = mwl__map_put(h, mwl_object(h, 2), name_at(h, i), mwl_number(i));
            o = mwl__map_put(h, o, name_at(h, k), mwl_number(k));
            ASSERT_EQ(mwl_count(o), (size_t)2);
            mwl_value key, value, name = name_at(h, k);
            ASSERT_TRUE(mwl_object_at(o, 1, &key, &value));
            ASSERT_TRUE(mwl_value_equal(key, name));
            ASSERT_EQ(mwl_as_number(value), k);
            mwl_value_drop(h, name);
            mwl_value_drop(h, o);
        }
        if (i == 200) half = f.live_bytes;
    }
    EXPECT_EQ(f.live_bytes, half);
    const mwl_value names[] = {name_at(h, 1), name_at(h, 1000)};
    EXPECT_TRUE(mwl__shape(h, names, 2, 1, true) == NULL);
    EXPECT_TRUE(mwl__shape(h, names, 2, 1, false) != NULL);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    EXPECT_EQ(f.live_blocks, (size_t)0);
}

static uint32_t drawn(uint32_t *seed, uint32_t below) {
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 8) % below;
}

/* What a random history of versions is charged. */
static uint64_t work_of_history(mwl_heap *h, uint32_t seed) {
    enum { VERSIONS = 6 };
    mwl_value v[VERSIONS];
    for (int i = 0; i < VERSIONS; i++) v[i] = mwl_object(h, 0);
    h->work = 0;
    for (int round = 0; round < 400; round++) {
        const uint32_t from = drawn(&seed, VERSIONS), to = drawn(&seed, VERSIONS);
        mwl_value next =
            drawn(&seed, 30) ? mwl_value_keep(v[from]) : mwl_object(h, (size_t)round % 12);
        mwl_value value = mwl_number(round);
        if (drawn(&seed, 4) == 0) value = mwl_array_push(h, mwl_array(h, 1), value);
        next = mwl__map_put(h, next, name_at(h, drawn(&seed, 24)), value);
        mwl_value_drop(h, v[to]);
        v[to] = next;
    }
    for (int i = 0; i < VERSIONS; i++) mwl_value_drop(h, v[i]);
    return h->work;
}

/* Whether there are shapes depends on what a heap has seen. What a run is charged does not. */
UTEST(shape, does_not_change_what_is_charged) {
    mwl_heap *with = NULL, *without = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &with), MWL_OK);
    ASSERT_EQ(mwl_heap_new(NULL, &without), MWL_OK);
    without->shares_names = false;
    uint64_t sum = 0;
    for (uint32_t seed = 1; seed <= 50; seed++) {
        uint64_t work = work_of_history(with, seed);
        ASSERT_EQ(work, work_of_history(without, seed));
        sum += work;
    }
    EXPECT_TRUE(sum > 0);
    EXPECT_EQ(mwl_heap_used(with) + mwl_heap_used(without), (size_t)0);
    mwl_heap_free(with);
    mwl_heap_free(without);
}

/* Each allocation fails once: what is made without it is right, or reported as out of memory. */
UTEST(shape, without_memory) {
    static const char text[] = "[{\"a\": 1, \"b\": {\"c\": [2]}}, {\"a\": 3, \"b\": 4, \"d\": 5}]";
    for (size_t at = 1, calls = 2; at <= calls; at++) {
        struct faulty f;
        mwl_alloc a = faulty_alloc(&f);
        mwl_heap *h = NULL;
        f.fail_at = at;
        if (mwl_heap_new(&a, &h) < 0) continue;
        mwl_value o = parsed(h, text);
        mwl_value more = mwl_object_set(h, mwl_value_keep(mwl_array_at(o, 0)), "e", 1, mwl_null());
        if (!mwl_is_absent(o)) {
            EXPECT_EQ(mwl_as_number(mwl_get(mwl_array_at(o, 0), "a")), 1);
            EXPECT_EQ(mwl_as_number(mwl_get(mwl_array_at(o, 1), "d")), 5);
        }
        if (!mwl_is_absent(more)) EXPECT_EQ(mwl_count(more), (size_t)3);
        mwl_value_drop(h, more);
        mwl_value_drop(h, o);
        EXPECT_EQ(mwl_heap_used(h), (size_t)0);
        mwl_heap_free(h);
        EXPECT_EQ(f.live_blocks, (size_t)0);
        EXPECT_FALSE(f.wrong);
        calls = f.calls > calls ? f.calls : calls;
    }
}

/* A failure's envelope has a shape of the library; members that a host adds are found. */
UTEST(shape, of_the_library) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    const mwl_value previous = mwl_failure(h, NULL, "A.First", NULL, mwl_absent(), mwl_absent());
    mwl_value failure = mwl_failure(h, "error", "A.Second", NULL, mwl_absent(), previous);
    ASSERT_FALSE(mwl_is_absent(failure));
    EXPECT_TRUE(keys_of(failure)->fixed);
    EXPECT_TRUE(mwl__map_is_full(failure));
    mwl_value more = mwl_object_set(h, mwl_value_keep(failure), "details", 7, mwl_number(1));
    EXPECT_EQ(mwl_count(failure), (size_t)3);
    EXPECT_EQ(mwl_count(more), (size_t)4);
    EXPECT_EQ(mwl_as_number(mwl_get(more, "details")), 1);
    EXPECT_TRUE(mwl_is_absent(mwl_get(failure, "details")));
    mwl_value_drop(h, more);
    mwl_value_drop(h, failure);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST_MAIN()
