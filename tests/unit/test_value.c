#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/value/value.h"

#include <math.h>

static mwl_heap *heap(void) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    return h;
}
static mwl_value json(mwl_heap *h, const char *text) {
    mwl_value v = mwl_absent();
    (void)mwl_json_parse(h, text, strlen(text), &v, NULL);
    return v;
}
static bool json_equal(const char *x, const char *y) {
    mwl_heap *h = heap();
    mwl_value a = json(h, x), b = json(h, y);
    bool one = mwl_value_equal(a, b), other = mwl_value_equal(b, a);
    mwl_value_drop(h, a);
    mwl_value_drop(h, b);
    if (one != other || mwl_heap_used(h)) abort();
    mwl_heap_free(h);
    return one;
}

UTEST(value, equality_of_data) {
    ASSERT_TRUE(json_equal("null", "null"));
    ASSERT_FALSE(json_equal("null", "false"));
    ASSERT_FALSE(json_equal("0", "false"));
    ASSERT_FALSE(json_equal("\"1\"", "1"));
    ASSERT_TRUE(json_equal("1", "1.0"));
    ASSERT_TRUE(json_equal("-0", "0"));
    ASSERT_TRUE(json_equal("[]", "[]"));
    ASSERT_FALSE(json_equal("[]", "{}"));
    ASSERT_TRUE(json_equal("[1,[2,[3]],\"x\"]", "[1,[2,[3]],\"x\"]"));
    ASSERT_FALSE(json_equal("[1,[2,[3]],\"x\"]", "[1,[2,[4]],\"x\"]"));
    ASSERT_FALSE(json_equal("[1,2]", "[1,2,3]"));
    ASSERT_TRUE(json_equal("{\"a\":1,\"b\":[{}]}", "{\"b\":[{}],\"a\":1}"));
    ASSERT_FALSE(json_equal("{\"a\":1,\"b\":2}", "{\"a\":1,\"c\":2}"));
    ASSERT_FALSE(json_equal("{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":3}"));
    ASSERT_TRUE(json_equal("{\"a\":{\"b\":{\"c\":[1,2]}},\"d\":0}",
                           "{\"d\":0,\"a\":{\"b\":{\"c\":[1,2]}}}"));
}

UTEST(value, numbers_across_kinds) {
    static const int64_t big = INT64_C(9007199254740993); /* 2^53 + 1: no double */
    struct {
        mwl_value a, b;
        int order;
    } cases[] = {
        {mwl_int(1), mwl_number(1), 0},
        {mwl_int(1), mwl_uint(1), 0},
        {mwl_uint(1), mwl_number(1), 0},
        {mwl_int(-1), mwl_uint(UINT64_MAX), -1},
        {mwl_int(1), mwl_number(1.5), -1},
        {mwl_int(-1), mwl_number(-1.5), 1},
        {mwl_int(big), mwl_number(9007199254740992.0), 0},
        {mwl_int(big), mwl_number(9007199254740994.0), -1},
        {mwl_uint((uint64_t)big), mwl_number(9007199254740992.0), 0},
        {mwl_int(INT64_MAX), mwl_number(9223372036854775808.0), 0},
        {mwl_int(INT64_MAX), mwl_number(9223372036854777857.0), -1},
        {mwl_int(INT64_MIN), mwl_number(-9223372036854775808.0), 0},
        {mwl_int(INT64_MIN), mwl_number(-9223372036854777856.0), 1},
        {mwl_uint(UINT64_MAX), mwl_number(18446744073709551616.0), 0},
        {mwl_uint(UINT64_MAX), mwl_number(18446744073709590000.0), -1},
        {mwl_uint(0), mwl_number(-0.0), 0},
        {mwl_uint(0), mwl_number(-0.5), 1},
        {mwl_int(0), mwl_number(INFINITY), -1},
        {mwl_int(0), mwl_number(-INFINITY), 1},
        {mwl_uint(0), mwl_number(-INFINITY), 1},
        {mwl_int(0), mwl_number(NAN), 2},
        {mwl_uint(0), mwl_number(NAN), 2},
        {mwl_number(NAN), mwl_number(NAN), 2},
        {mwl_int(5), mwl_int(7), -1},
        {mwl_uint(5), mwl_uint(UINT64_MAX), -1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int order = cases[i].order, back = order == 2 ? 2 : -order, got = 9;
        ASSERT_EQ(mwl__num_order(cases[i].a, cases[i].b), order);
        ASSERT_EQ(mwl__num_order(cases[i].b, cases[i].a), back);
        ASSERT_TRUE(mwl__value_order(cases[i].a, cases[i].b, &got));
        ASSERT_EQ(got, order);
        ASSERT_EQ(mwl_value_equal(cases[i].a, cases[i].b), order == 0);
        ASSERT_EQ(mwl_value_equal(cases[i].b, cases[i].a), order == 0);
    }
}

UTEST(value, order_of_other_kinds) {
    mwl_heap *h = heap();
    int order;
    ASSERT_TRUE(mwl__value_order(mwl_bool(false), mwl_bool(true), &order));
    ASSERT_EQ(order, -1);
    ASSERT_TRUE(mwl__value_order(mwl_duration(-5), mwl_duration(3), &order));
    ASSERT_EQ(order, -1);
    ASSERT_TRUE(mwl__value_order(mwl_timestamp(5, 7), mwl_timestamp(5, 6), &order));
    ASSERT_EQ(order, 1);
    ASSERT_TRUE(mwl__value_order(mwl_timestamp(-5, 7), mwl_timestamp(-4, 0), &order));
    ASSERT_EQ(order, -1);
    mwl_value a = mwl_bytes(h, "\x01\xff", 2), b = mwl_bytes(h, "\x02", 1),
              s = mwl_string(h, "\x02", 1);
    ASSERT_TRUE(mwl__value_order(a, b, &order));
    ASSERT_EQ(order, -1);
    ASSERT_FALSE(mwl__value_order(b, s, &order));
    ASSERT_FALSE(mwl__value_order(mwl_null(), mwl_null(), &order));
    ASSERT_FALSE(mwl__value_order(mwl_int(1), mwl_duration(1), &order));
    ASSERT_FALSE(mwl_value_equal(mwl_int(1), mwl_duration(1)));
    ASSERT_TRUE(mwl_value_equal(mwl_timestamp(1, 2), mwl_timestamp(1, 2)));
    ASSERT_FALSE(mwl_value_equal(mwl_timestamp(1, 2), mwl_timestamp(1, 3)));
    mwl_value_drop(h, a);
    mwl_value_drop(h, b);
    mwl_value_drop(h, s);
    mwl_heap_free(h);
}

UTEST(value, what_holds_a_nan_is_not_itself) {
    mwl_heap *h = heap();
    mwl_value list = mwl_array_push(h, mwl_array(h, 1), mwl_number(NAN));
    ASSERT_FALSE(mwl_value_equal(list, list));
    mwl_value map = mwl_object_set(h, mwl_object(h, 1), "a", 1, list);
    ASSERT_FALSE(mwl_value_equal(map, map));
    mwl_value some = mwl__some(h, map);
    ASSERT_FALSE(mwl_value_equal(some, some));
    mwl_value_drop(h, some);
    mwl_value inf = mwl_array_push(h, mwl_array(h, 1), mwl_number(INFINITY));
    ASSERT_TRUE(mwl_value_equal(inf, inf));
    mwl_value_drop(h, inf);
    /* An older version without the NaN that a newer one of its buffer has. */
    mwl_value old = mwl_array_push(h, mwl_array(h, 4), mwl_number(1));
    mwl_value newer = mwl_array_push(h, mwl_value_keep(old), mwl_number(NAN));
    ASSERT_TRUE(mwl_value_equal(old, old));
    ASSERT_FALSE(mwl_value_equal(newer, newer));
    mwl_value_drop(h, old);
    mwl_value_drop(h, newer);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(value, identity_is_a_shortcut) {
    mwl_heap *h = heap();
    mwl_value v = mwl_array_push(h, mwl_array(h, 1), mwl_null());
    for (int i = 0; i < 29; i++) {
        mwl_value two = mwl_array_push(h, mwl_array(h, 2), mwl_value_keep(v));
        v = mwl_array_push(h, two, v);
    }
    uint64_t fuel = 10;
    bool equal = false;
    ASSERT_EQ(mwl__value_equal(v, v, &fuel, &equal), MWL_OK);
    ASSERT_TRUE(equal);
    mwl_value_drop(h, v);
    mwl_heap_free(h);
}

UTEST(value, equality_charges_fuel_and_stops) {
    mwl_heap *h = heap();
    mwl_value a = mwl_array(h, 0), b = mwl_array(h, 0);
    for (int i = 0; i < 1000; i++) {
        a = mwl_array_push(h, a, mwl_number(i));
        b = mwl_array_push(h, b, mwl_number(i));
    }
    uint64_t fuel = 999;
    bool equal = false;
    ASSERT_EQ(mwl__value_equal(a, b, &fuel, &equal), MWL_E_FUEL);
    ASSERT_EQ(fuel, (uint64_t)0);
    fuel = 1500;
    ASSERT_EQ(mwl__value_equal(a, b, &fuel, &equal), MWL_OK);
    ASSERT_TRUE(equal);
    ASSERT_EQ(fuel, (uint64_t)500);
    mwl_value_drop(h, a);
    mwl_value_drop(h, b);
    /* long texts are work too */
    static char text[64 * 1024];
    memset(text, 'x', sizeof text);
    a = mwl_array_push(h, mwl_array(h, 1), mwl_string(h, text, sizeof text));
    b = mwl_array_push(h, mwl_array(h, 1), mwl_string(h, text, sizeof text));
    fuel = 5000;
    ASSERT_EQ(mwl__value_equal(a, b, &fuel, &equal), MWL_OK);
    ASSERT_TRUE(equal);
    ASSERT_LT(fuel, (uint64_t)4000);
    mwl_value_drop(h, a);
    mwl_value_drop(h, b);
    mwl_heap_free(h);
}

UTEST(value, deep_values_compare_and_die) {
    mwl_heap *h = heap();
    mwl_value v[2];
    for (int k = 0; k < 2; k++) {
        v[k] = mwl_number(1);
        for (int i = 0; i < MWL_DEPTH_LIMIT; i++) {
            if (i % 3 == 0)
                v[k] = mwl_array_push(h, mwl_array(h, 1), v[k]);
            else if (i % 3 == 1)
                v[k] = mwl_object_set(h, mwl_object(h, 1), "k", 1, v[k]);
            else
                v[k] = mwl__some(h, v[k]);
        }
        ASSERT_EQ(mwl__value_depth(v[k]), (uint32_t)MWL_DEPTH_LIMIT);
    }
    ASSERT_TRUE(mwl_value_equal(v[0], v[1]));
    ASSERT_TRUE(mwl__value_odd(v[0]) & MWL__ODD_KIND);
    mwl_value more = mwl__some(h, mwl_value_keep(v[0]));
    ASSERT_TRUE(mwl_is_absent(more));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_DEPTH);
    mwl_value_drop(h, v[0]);
    mwl_value_drop(h, v[1]);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(value, destruction_needs_no_memory) {
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    mwl_heap_new(&a, &h);
    mwl_value v = mwl_array(h, 0);
    for (int i = 0; i < 1000; i++)
        v = mwl_array_push(h, v,
                           mwl_object_set(h, mwl_object(h, 0), "key", 3, mwl_string(h, "text", 4)));
    f.fail_at = f.calls + 1;
    f.for_good = true;
    mwl_value_drop(h, v);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    ASSERT_EQ(f.live_blocks, (size_t)0);
}

UTEST(value, optionals_and_own_types) {
    mwl_heap *h = heap();
    mwl_value a = mwl__some(h, mwl_int(1)), b = mwl__some(h, mwl_number(1)),
              c = mwl__some(h, mwl_int(2));
    ASSERT_TRUE(mwl_value_equal(a, b));
    ASSERT_FALSE(mwl_value_equal(a, c));
    ASSERT_FALSE(mwl_value_equal(a, mwl__none()));
    ASSERT_TRUE(mwl_value_equal(mwl__none(), mwl__none()));
    ASSERT_FALSE(mwl_value_equal(mwl_int(1), a));
    mwl_value list = mwl__some(h, json(h, "[1,2]")), same = mwl__some(h, json(h, "[1,2]"));
    ASSERT_TRUE(mwl_value_equal(list, same));
    mwl_value x = mwl__ext_new(h, mwl__type_new(h, "net.IP", 6), "\x7f\0\0\1", 4);
    mwl_value y = mwl__ext_new(h, mwl__type_new(h, "net.IP", 6), "\x7f\0\0\1", 4);
    mwl_value z = mwl__ext_new(h, mwl__type_new(h, "net.CIDR", 8), "\x7f\0\0\1", 4);
    ASSERT_TRUE(mwl_value_equal(x, y));
    ASSERT_FALSE(mwl_value_equal(x, z));
    ASSERT_TRUE(mwl_is_absent(mwl__some(h, mwl_absent())));
    mwl_value all[] = {a, b, c, list, same, x, y, z};
    for (size_t i = 0; i < 8; i++) mwl_value_drop(h, all[i]);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(value, faults_are_destroyed_with_what_they_hold) {
    mwl_heap *h = heap();
    mwl__fault *f = mwl__heap_take(h, sizeof *f);
    *f = (mwl__fault){
        .rc = 1, .message = mwl_string(h, "no such key", 11), .details = json(h, "{\"a\":[1]}")};
    mwl_value v = {.tag = MWL_KIND_FAULT | MWL_HEAP | MWL_OWNED, .as.p = f};
    ASSERT_FALSE(mwl_value_equal(v, v));
    mwl_value list = mwl_array_push(h, mwl_array(h, 1), v);
    mwl_value_drop(h, list);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(value, lent_values_carry_no_count) {
    mwl_heap *h = heap();
    mwl_value list = mwl_array_push(h, mwl_array(h, 1), mwl_string(h, "abc", 3));
    mwl_value lent = mwl_array_at(list, 0);
    mwl_value_drop(h, lent); /* nothing to drop */
    mwl_value kept = mwl_value_keep(lent);
    mwl_value other = mwl_array_push(h, mwl_array(h, 1), lent); /* stored: counted */
    mwl_value_drop(h, list);
    ASSERT_STREQ(mwl_as_text(kept, NULL), "abc");
    mwl_value_drop(h, kept);
    ASSERT_STREQ(mwl_as_text(mwl_array_at(other, 0), NULL), "abc");
    mwl_value_drop(h, other);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_value_drop(NULL, mwl_null());
    ASSERT_EQ(mwl_count(mwl_null()), (size_t)0);
    mwl_heap_free(h);
}

/* ---- large values, freed in steps -------------------------------------------------------------
 */

enum { MANY = 3 * MWL__LARGE };

/* An array of objects with an array and a text each, and an object with as many members. */
static mwl_value large(mwl_heap *h) {
    mwl_value list = mwl_array(h, 0), map = mwl_object(h, 0);
    for (int i = 0; i < MANY; i++) {
        char text[32];
        int n = snprintf(text, sizeof text, "the member number %d", i);
        mwl_value inner = mwl_array_push(h, mwl_array(h, 0), mwl_string(h, text, (size_t)n));
        list = mwl_array_push(h, list, mwl_object_set(h, mwl_object(h, 1), "a", 1, inner));
        map = mwl_object_set(h, map, text, (size_t)n, mwl_string(h, text, (size_t)n));
    }
    return mwl_array_push(h, mwl_array_push(h, mwl_array(h, 0), list), map);
}

UTEST(value, large_values_are_freed_in_steps) {
    mwl_heap *h = heap();
    h->defers_from = MWL__LARGE;
    mwl_value v = large(h), kept = mwl__keep(mwl_array_at(mwl_array_at(v, 0), 7));
    size_t before = mwl_heap_used(h), steps = 0;
    mwl_value_drop(h, v);
    EXPECT_TRUE(mwl__heap_has_dead(h));
    EXPECT_EQ(mwl_heap_used(h), before); /* it is counted until it is freed */
    for (; mwl__heap_has_dead(h); steps++) {
        size_t was = mwl_heap_used(h);
        mwl__heap_release(h, MWL__RELEASE_STEP);
        EXPECT_LE(was - mwl_heap_used(h), before / 3); /* a step is a part of it */
    }
    EXPECT_GT(steps, (size_t)MANY * 5 / MWL__RELEASE_STEP / 2);
    mwl_value same = json(h, "{\"a\":[\"the member number 7\"]}");
    EXPECT_TRUE(mwl_value_equal(kept, same)); /* what is held is not freed */
    mwl_value_drop(h, same);
    mwl_value_drop(h, kept);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* If the limit or the host's memory would refuse, what is dead is freed first. */
UTEST(value, dead_values_give_way) {
    mwl_heap *h = heap();
    h->defers_from = MWL__LARGE;
    mwl_value_drop(h, large(h));
    EXPECT_TRUE(mwl__heap_has_dead(h));
    mwl_heap_limit(h, mwl_heap_used(h));
    mwl_value text = mwl_string(h, "a text that is longer than the smallest class", 45);
    EXPECT_FALSE(mwl_is_absent(text));
    EXPECT_FALSE(mwl__heap_has_dead(h));
    mwl_value_drop(h, text);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* A large block, also of a text, goes back in pieces. */
UTEST(value, large_blocks_are_freed_in_steps) {
    mwl_heap *h = heap();
    h->defers_from = MWL__LARGE;
    mwl__str *s = mwl__str_alloc(h, 8 * (size_t)MWL__LARGE_BLOCK);
    ASSERT_TRUE(s != NULL);
    memset(s->s, 'x', s->len);
    mwl_value_drop(h, mwl__str_seal_counted(s, s->len));
    size_t steps = 0;
    for (; mwl__heap_has_dead(h); steps++) mwl__heap_release(h, MWL__RELEASE_STEP);
    EXPECT_GE(steps, mwl__mem_shrinks(&h->alloc) ? (size_t)4 : (size_t)1);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST_MAIN()
