#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/value/value.h"

#include <math.h>

static mwl_value text(mwl_heap *h, int i) {
    char s[32];
    int n = snprintf(s, sizeof s, "key-%d", i);
    return mwl_string(h, s, (size_t)n);
}

static double number_at(mwl_value map, int i) {
    char s[32];
    int n = snprintf(s, sizeof s, "key-%d", i);
    mwl_value v = mwl_object_get(map, s, (size_t)n);
    return mwl_is_absent(v) ? -1 : mwl_as_number(v);
}

UTEST(map, every_size_keeps_order_and_finds_every_key) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value m = mwl_object(h, 0);
    for (int n = 1; n <= 70; n++) {
        m = mwl_object_put(h, m, text(h, n), mwl_number(n));
        ASSERT_EQ(mwl_count(m), (size_t)n);
        for (int i = 1; i <= n; i++) {
            mwl_value key, value, probe = text(h, i);
            ASSERT_TRUE(mwl_object_at(m, (size_t)i - 1, &key, &value));
            ASSERT_TRUE(mwl_value_equal(key, probe));
            ASSERT_EQ(mwl_as_number(value), i);
            ASSERT_EQ(number_at(m, i), i);
            const mwl_value *got = mwl__map_get(m, probe);
            ASSERT_TRUE(got && got->as.d == i);
            mwl_value_drop(h, probe);
        }
        ASSERT_EQ(number_at(m, 0), -1);
        ASSERT_EQ(number_at(m, n + 1), -1);
    }
    ASSERT_FALSE(mwl_object_at(m, 70, NULL, NULL));
    mwl_value_drop(h, m);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

#define N 100000

UTEST(map, add_one_by_one_while_a_variable_holds_the_old) {
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    mwl_heap_new(&a, &h);
    mwl_value variable = mwl_object(h, 0);
    for (int i = 0; i < N; i++) {
        mwl_value next = mwl__map_put(h, mwl__borrow(variable), text(h, i), mwl_number(i));
        ASSERT_EQ(mwl_count(variable), (size_t)i);
        ASSERT_EQ(number_at(variable, i), -1); /* the newer member is invisible here */
        ASSERT_EQ(number_at(next, i), i);
        mwl_value_drop(h, variable);
        variable = next;
    }
    for (int i = 0; i < N; i += 101) ASSERT_EQ(number_at(variable, i), i);
    ASSERT_LT(f.peak_bytes, (size_t)N * (32 + 16 + 32) * 4);
    mwl_value_drop(h, variable);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    ASSERT_EQ(f.live_blocks, (size_t)0);
    ASSERT_FALSE(f.wrong);
}

UTEST(map, versions_and_cutting) {
    for (int size = 1; size < 40; size++) {
        mwl_heap *h = NULL;
        mwl_heap_new(NULL, &h);
        mwl_value a = mwl_object(h, 64);
        for (int i = 0; i < size; i++) a = mwl_object_put(h, a, text(h, i), mwl_number(i));
        mwl_value b = mwl_value_keep(a);
        for (int i = 0; i < 5; i++) b = mwl_object_put(h, b, text(h, 100 + i), mwl_number(1));
        ASSERT_TRUE(a.as.p == b.as.p);
        mwl_value c = mwl_object_put(h, mwl_value_keep(a), text(h, 102), mwl_number(7));
        ASSERT_TRUE(c.as.p != a.as.p);
        ASSERT_EQ(number_at(a, 102), -1);
        ASSERT_EQ(number_at(b, 102), 1);
        ASSERT_EQ(number_at(c, 102), 7);
        mwl_value_drop(h, b);
        mwl_value d = mwl__map_put(h, mwl__borrow(a), text(h, 103), mwl_number(8));
        ASSERT_TRUE(d.as.p == a.as.p);
        ASSERT_EQ(number_at(d, 102), -1);
        ASSERT_EQ(number_at(d, 103), 8);
        ASSERT_EQ(mwl__value_weight(d), (uint64_t)size + 2);
        for (int i = 0; i < size; i++) ASSERT_EQ(number_at(d, i), i);
        mwl_value_drop(h, a);
        mwl_value_drop(h, c);
        mwl_value_drop(h, d);
        ASSERT_EQ(mwl_heap_used(h), (size_t)0);
        mwl_heap_free(h);
    }
}

UTEST(map, replacing_keeps_the_place) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value m = mwl_object(h, 0);
    for (int i = 0; i < 20; i++) m = mwl_object_put(h, m, text(h, i), mwl_number(i));
    void *buffer = m.as.p;
    m = mwl_object_set(h, m, "key-3", 5, mwl_string(h, "new", 3));
    ASSERT_TRUE(m.as.p == buffer); /* nothing else holds it */
    mwl_value held = mwl_value_keep(m);
    m = mwl_object_set(h, m, "key-4", 5, mwl_number(44));
    ASSERT_TRUE(m.as.p != buffer);
    ASSERT_EQ(number_at(held, 4), 4);
    ASSERT_EQ(number_at(m, 4), 44);
    ASSERT_EQ(mwl_count(m), (size_t)20);
    mwl_value key, value;
    mwl_object_at(m, 3, &key, &value);
    ASSERT_STREQ(mwl_as_text(value, NULL), "new");
    ASSERT_EQ(mwl__value_weight(m), (uint64_t)21);
    mwl_value_drop(h, m);
    mwl_value_drop(h, held);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(map, keys_of_other_kinds) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value m = mwl_object(h, 0);
    m = mwl_object_put(h, m, mwl_int(1), mwl_number(10));
    m = mwl_object_put(h, m, mwl_bool(true), mwl_number(20));
    m = mwl_object_put(h, m, mwl_string(h, "1", 1), mwl_number(30));
    m = mwl_object_put(h, m, mwl_int(-1), mwl_number(40));
    m = mwl_object_put(h, m, mwl_uint(UINT64_MAX), mwl_number(50)); /* the bits of -1 */
    m = mwl_object_put(h, m, mwl_uint(1u << 31), mwl_number(60));
    ASSERT_EQ(mwl_count(m), (size_t)6);
    m = mwl_object_put(h, m, mwl_uint(1), mwl_number(11)); /* the same key as 1 */
    ASSERT_EQ(mwl_count(m), (size_t)6);
    for (int grown = 0; grown < 2; grown++) {
        ASSERT_EQ(mwl_as_number(mwl_object_find(m, mwl_int(1))), 11);
        ASSERT_EQ(mwl_as_number(mwl_object_find(m, mwl_uint(1))), 11);
        ASSERT_EQ(mwl_as_number(mwl_object_find(m, mwl_number(1))), 11);
        ASSERT_EQ(mwl_as_number(mwl_object_find(m, mwl_bool(true))), 20);
        ASSERT_TRUE(mwl_is_absent(mwl_object_find(m, mwl_bool(false))));
        ASSERT_EQ(mwl_as_number(mwl_object_find(m, mwl_int(-1))), 40);
        ASSERT_EQ(mwl_as_number(mwl_object_find(m, mwl_number(-1))), 40);
        ASSERT_EQ(mwl_as_number(mwl_object_find(m, mwl_uint(UINT64_MAX))), 50);
        ASSERT_EQ(mwl_as_number(mwl_object_find(m, mwl_number(2147483648.0))), 60);
        ASSERT_TRUE(mwl_is_absent(mwl_object_find(m, mwl_number(1.5))));
        ASSERT_TRUE(mwl_is_absent(mwl_object_find(m, mwl_number(NAN))));
        ASSERT_TRUE(mwl_is_absent(mwl_object_find(m, mwl_number(INFINITY))));
        ASSERT_TRUE(mwl_is_absent(mwl_object_find(m, mwl_number(18446744073709551616.0))));
        ASSERT_TRUE(mwl_is_absent(mwl_object_find(m, mwl_null())));
        ASSERT_EQ(mwl_as_number(mwl_object_get(m, "1", 1)), 30);
        mwl_value key;
        mwl_object_at(m, 0, &key, NULL);
        ASSERT_EQ(mwl_value_kind(key), MWL_KIND_INT);
        ASSERT_EQ(key.aux, 0u);
        ASSERT_TRUE(mwl__as_map(m)->odd & MWL__ODD_KIND);
        for (int i = 0; i < 20; i++) m = mwl_object_put(h, m, mwl_int(1000 + i), mwl_null());
    }
    ASSERT_TRUE(mwl_is_absent(mwl_object_put(h, m, mwl_number(1), mwl_null())));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_USAGE);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* Keys whose hashes an attacker made equal: strings with a forged hash stand in for them. */
static mwl_value forged(mwl_heap *h, int i, uint32_t hash) {
    char s[32];
    int n = snprintf(s, sizeof s, "forged-%d", i);
    return mwl__str_new_hashed(h, s, (size_t)n, hash);
}

UTEST(map, forged_hashes_are_not_quadratic) {
    for (int same = 0; same < 2; same++) {
        mwl_heap *h = NULL;
        mwl_heap_new(NULL, &h);
        mwl_value m = mwl_object(h, 0);
        for (int i = 0; i < N;
             i++) /* all equal, or a row of neighbours that no insertion notices */
            m = mwl_object_put(h, m, forged(h, i, same ? 42u : (uint32_t)i), mwl_number(i));
        ASSERT_EQ(mwl_count(m), (size_t)N);
        for (int i = 0; i < N; i++) {
            mwl_value k = forged(h, i, same ? 42u : (uint32_t)i), none = forged(h, -1 - i, 42u);
            const mwl_value *v = mwl__map_get(m, k);
            ASSERT_TRUE(v && v->as.d == i);
            ASSERT_TRUE(mwl__map_get(m, none) == NULL);
            mwl_value_drop(h, k);
            mwl_value_drop(h, none);
        }
        ASSERT_EQ(mwl__as_map(m)->keys->keyed, same == 1);
        mwl_value_drop(h, m);
        ASSERT_EQ(mwl_heap_used(h), (size_t)0);
        mwl_heap_free(h);
    }
}

UTEST(map, limits) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value v = mwl_null();
    for (int i = 0; i < MWL_DEPTH_LIMIT; i++) v = mwl_object_set(h, mwl_object(h, 0), "a", 1, v);
    ASSERT_EQ(mwl__value_depth(v), (uint32_t)MWL_DEPTH_LIMIT);
    ASSERT_TRUE(mwl_is_absent(mwl_object_set(h, mwl_object(h, 0), "a", 1, v)));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_DEPTH);
    ASSERT_TRUE(mwl_is_absent(mwl_object(h, SIZE_MAX)));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_TOO_BIG);
    ASSERT_TRUE(mwl_is_absent(mwl_object_set(h, mwl_object(h, 0), "\xff", 1, mwl_null())));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_UTF8);
    ASSERT_TRUE(mwl_is_absent(mwl_object_set(h, mwl_array(h, 1), "a", 1, mwl_null())));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_USAGE);
    ASSERT_TRUE(mwl_is_absent(mwl_get(mwl_null(), "a")));
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* An object whose member is set to something that contains the object as it was before: it is as
 * deep as what it has now, not as everything that it ever had. */
UTEST(map, depth_is_that_of_the_present_members) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    mwl_value v = mwl_object_set(h, mwl_object(h, 0), "n", 1, mwl_null());
    for (int i = 0; i < 3 * MWL_DEPTH_LIMIT; i++) {
        v = mwl_object_set(h, v, "a", 1, mwl_null());
        mwl_value around = mwl_array_push(h, mwl_array(h, 1), mwl_value_keep(v));
        v = mwl_object_set(h, v, "a", 1, around);
        ASSERT_EQ(mwl__value_depth(v), 3u);
    }
    mwl_value_drop(h, v);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

static bool build(mwl_alloc alloc) {
    mwl_heap *h = NULL;
    if (mwl_heap_new(&alloc, &h) < 0) return false;
    mwl_value m = mwl_object(h, 0);
    for (int i = 0; i < 40; i++) {
        mwl_value held = mwl_value_keep(m);
        m = mwl_object_put(h, m, text(h, i), mwl_string(h, "a text beyond the small sizes", 29));
        mwl_value other = mwl_object_put(h, mwl_value_keep(held), text(h, 7), mwl_int(1));
        mwl_value_drop(h, other);
        mwl_value_drop(h, held);
    }
    bool fine = mwl_count(m) == 40;
    mwl_value_drop(h, m);
    if (mwl_heap_used(h)) abort();
    mwl_heap_free(h);
    return fine;
}

UTEST(map, allocation_failures) { ASSERT_TRUE(faulty_sweep(build, 2000)); }

UTEST_MAIN()
