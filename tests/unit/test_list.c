#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/value/value.h"

#define N 100000

UTEST(list, append_one_by_one_while_a_variable_holds_the_old) {
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(&a, &h), MWL_OK);
    mwl_value variable = mwl_array(h, 0);
    for (int i = 0; i < N; i++) { /* vars.items + [x] */
        mwl_value one = mwl_array_push(h, mwl_array(h, 1), mwl_number(i));
        mwl_value sum = mwl__list_concat(h, mwl__borrow(variable), one);
        ASSERT_EQ(mwl_count(sum), (size_t)i + 1);
        ASSERT_EQ(mwl_count(variable), (size_t)i);
        mwl_value_drop(h, one);
        mwl_value_drop(h, variable);
        variable = sum;
    }
    for (int i = 0; i < N; i += 997) ASSERT_EQ(mwl_as_number(mwl_array_at(variable, (size_t)i)), i);
    ASSERT_LT(f.peak_bytes, (size_t)N * 16 * 4);
    mwl_value_drop(h, variable);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    ASSERT_EQ(f.live_blocks, (size_t)0);
    ASSERT_FALSE(f.wrong);
}

UTEST(list, push_while_old_version_is_held) {
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    mwl_heap_new(&a, &h);
    mwl_value variable = mwl_array(h, 0);
    for (int i = 0; i < N; i++) {
        mwl_value next = mwl_array_push(h, mwl_value_keep(variable), mwl_number(i));
        mwl_value_drop(h, variable);
        variable = next;
    }
    ASSERT_EQ(mwl_count(variable), (size_t)N);
    ASSERT_LT(f.peak_bytes, (size_t)N * 16 * 4);
    mwl_value_drop(h, variable);
    mwl_heap_free(h);
    ASSERT_EQ(f.live_blocks, (size_t)0);
}

UTEST(list, versions_do_not_disturb_each_other) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value a = mwl_array(h, 4);
    a = mwl_array_push(h, a, mwl_int(1));
    mwl_value b = mwl_array_push(h, mwl_value_keep(a), mwl_int(2));
    mwl_value c = mwl_array_push(h, mwl_value_keep(a), mwl_int(3)); /* a is no longer the newest */
    ASSERT_TRUE(b.as.p == a.as.p);
    ASSERT_TRUE(c.as.p != a.as.p);
    ASSERT_EQ(mwl_count(a), (size_t)1);
    ASSERT_EQ(mwl_as_int(mwl_array_at(b, 1)), 2);
    ASSERT_EQ(mwl_as_int(mwl_array_at(c, 1)), 3);
    ASSERT_TRUE(mwl_is_absent(mwl_array_at(a, 1)));
    mwl_value_drop(h, b);
    /* Now only a holds its buffer: the tail is cut off and used again, not copied. */
    mwl_value d = mwl_array_push(h, mwl_value_keep(a), mwl_int(4));
    ASSERT_TRUE(d.as.p != NULL);
    ASSERT_EQ(mwl_as_int(mwl_array_at(d, 1)), 4);
    mwl_value_drop(h, d);
    void *buffer = a.as.p;
    mwl_value e = mwl__list_push(h, mwl__borrow(a), mwl_int(5));
    ASSERT_TRUE(e.as.p == buffer);
    ASSERT_EQ(mwl__value_weight(e), (uint64_t)3);
    mwl_value_drop(h, a);
    mwl_value_drop(h, c);
    mwl_value_drop(h, e);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(list, concat_with_itself_and_with_empty) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value a = mwl_array(h, 16);
    for (int i = 0; i < 3; i++) a = mwl_array_push(h, a, mwl_string(h, "item", 4));
    mwl_value twice = mwl__list_concat(h, mwl__borrow(a), mwl__borrow(a));
    ASSERT_EQ(mwl_count(twice), (size_t)6);
    mwl_value thrice = mwl__list_concat(h, mwl__borrow(a), mwl__borrow(twice));
    ASSERT_EQ(mwl_count(thrice), (size_t)9);
    mwl_value none = mwl_array(h, 0);
    mwl_value same = mwl__list_concat(h, a, none), too = mwl__list_concat(h, none, a);
    ASSERT_TRUE(same.as.p == a.as.p);
    ASSERT_TRUE(mwl_value_equal(same, too));
    mwl_value_drop(h, twice);
    mwl_value_drop(h, thrice);
    mwl_value_drop(h, same);
    mwl_value_drop(h, too);
    mwl_value_drop(h, a);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(list, depth_limit) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value v = mwl_array(h, 0);
    for (int i = 1; i < MWL_DEPTH_LIMIT; i++) v = mwl_array_push(h, mwl_array(h, 1), v);
    ASSERT_EQ(mwl__value_depth(v), (uint32_t)MWL_DEPTH_LIMIT);
    v = mwl_array_push(h, mwl_array(h, 1), v);
    ASSERT_TRUE(mwl_is_absent(v));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_DEPTH);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(list, weight_limit_stops_doubling_by_sharing) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value v = mwl_array_push(h, mwl_array(h, 1), mwl_null());
    int levels = 0;
    while (!mwl_is_absent(v) && levels < 100) {
        mwl_value two = mwl_array_push(h, mwl_array(h, 2), mwl_value_keep(v));
        v = mwl_array_push(h, two, v);
        levels++;
    }
    ASSERT_EQ(levels, 30); /* 1 + 2w, from 2: above 2^31 with the 30th */
    ASSERT_EQ(mwl_heap_why(h), MWL_E_TOO_BIG);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* The buffer of a nested version grows after it was added: removing it must not subtract more. */
UTEST(list, weight_of_a_nested_version_that_grew) {
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    mwl_heap_new(&a, &h);
    mwl_value log = mwl_array(h, 8), outer = mwl_array(h, 8);
    log = mwl_array_push(h, log, mwl_number(0));
    outer = mwl_array_push(h, outer, mwl_number(0));
    mwl_value with = mwl_array_push(h, mwl_value_keep(outer), mwl_value_keep(log));
    for (int i = 0; i < 100; i++) log = mwl_array_push(h, log, mwl_number(i));
    mwl_value_drop(h, with); /* its element is cut when the older version is appended to */
    outer = mwl_array_push(h, outer, mwl_number(1));
    ASSERT_EQ(mwl_count(outer), (size_t)2);
    ASSERT_EQ(mwl_value_weight(outer), (uint64_t)3);
    mwl_value_drop(h, outer);
    mwl_value_drop(h, log);
    mwl_heap_free(h);
    ASSERT_EQ(f.live_blocks, (size_t)0);
}

/* Appending in place must not put a buffer into itself: it would never be freed. */
UTEST(list, a_list_never_holds_itself) {
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    mwl_heap_new(&a, &h);
    mwl_value log = mwl_array_push(h, mwl_array(h, 8), mwl_number(0));
    mwl_value deep = mwl_object_set(h, mwl_object(h, 2), "a", 1, mwl_value_keep(log));
    log = mwl_array_push(h, log, mwl_number(1)); /* in place: the buffer that `deep` holds grows */
    log = mwl_array_push(h, log, deep);
    mwl_value twice = mwl__list_concat(h, log, log);
    mwl_value itself = mwl_array_push(h, mwl__borrow(log), mwl__borrow(log));
    ASSERT_EQ(mwl_count(itself), (size_t)4);
    ASSERT_EQ(mwl_count(twice), (size_t)6);
    mwl_value_drop(h, twice);
    mwl_value_drop(h, itself);
    mwl_value_drop(h, log);
    mwl_value object = mwl_object_set(h, mwl_object(h, 8), "a", 1, mwl_number(1));
    object = mwl_object_set(h, object, "b", 1, mwl_value_keep(object));
    mwl_value list = mwl_array_push(h, mwl_array(h, 1), mwl_value_keep(object));
    object = mwl_object_set(h, object, "c", 1, list);
    mwl_value_drop(h, object);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    ASSERT_EQ(f.live_blocks, (size_t)0);
}

UTEST(list, count_limit_and_huge_expectations) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    ASSERT_TRUE(mwl_is_absent(mwl_array(h, (size_t)MWL_COUNT_LIMIT + 1)));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_TOO_BIG);
    ASSERT_TRUE(mwl_is_absent(mwl_array(h, SIZE_MAX)));
    mwl_heap_free(h);
}

UTEST(list, a_million_elements_and_wrong_kinds) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value v = mwl_array(h, 0);
    for (int i = 0; i < 1000000; i++) v = mwl_array_push(h, v, mwl_array(h, i % 2 ? 0 : 1));
    ASSERT_EQ(mwl_count(v), (size_t)1000000);
    mwl_value_drop(h, v);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    ASSERT_TRUE(mwl_is_absent(mwl_array_push(h, mwl_int(1), mwl_string(h, "x", 1))));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_USAGE);
    ASSERT_TRUE(mwl_is_absent(mwl_array_push(h, mwl_array(h, 3), mwl_absent())));
    ASSERT_TRUE(mwl_is_absent(mwl_array_push(h, mwl_absent(), mwl_string(h, "x", 1))));
    ASSERT_TRUE(mwl_is_absent(mwl_array_at(mwl_null(), 0)));
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

static bool build(mwl_alloc alloc) {
    mwl_heap *h = NULL;
    if (mwl_heap_new(&alloc, &h) < 0) return false;
    mwl_value v = mwl_array(h, 0);
    for (int i = 0; i < 40; i++) {
        mwl_value held = mwl_value_keep(v);
        v = mwl_array_push(h, v, mwl_string(h, "some text that is longer than small", 35));
        mwl_value joined = mwl__list_concat(h, mwl__borrow(held), mwl__borrow(v));
        mwl_value_drop(h, joined);
        mwl_value_drop(h, held);
    }
    bool fine = mwl_count(v) == 40;
    mwl_value_drop(h, v);
    if (mwl_heap_used(h)) abort();
    mwl_heap_free(h);
    return fine;
}

UTEST(list, allocation_failures) { ASSERT_TRUE(faulty_sweep(build, 2000)); }

UTEST_MAIN()
