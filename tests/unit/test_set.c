/* Sets of values: membership is equality, the cost is counted and linear for hostile values too,
 * memory is the heap's. */
#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/value/set.h"

/* A list of n values. */
static mwl_value list_of(mwl_heap *h, uint32_t n, mwl_value (*make)(mwl_heap *h, uint32_t i)) {
    mwl_value list = mwl_array(h, n);
    for (uint32_t i = 0; i < n; i++) list = mwl_array_push(h, list, make(h, i));
    return list;
}

static mwl_heap *heap(mwl_alloc *alloc) {
    mwl_heap *h = NULL;
    if (mwl_heap_new(alloc, &h) != MWL_OK) abort();
    return h;
}

/* Adds all elements with so much fuel; gives what is left. */
static mwl_status add_all(mwl_heap *h, mwl_value list, uint64_t *fuel, uint32_t *distinct) {
    mwl_set set;
    mwl_status st = mwl__set_init(&set, h, list);
    if (st < 0) return st;
    *distinct = 0;
    for (uint32_t i = 0; i < list.aux && st == MWL_OK; i++) {
        uint32_t at;
        st = mwl__set_add(&set, i, fuel, &at);
        *distinct += st == MWL_OK && at == MWL__SET_NONE;
    }
    mwl__set_free(&set);
    return st;
}

static mwl_value small(mwl_heap *h, uint32_t i) {
    (void)h;
    return i % 2 ? mwl_int(i / 4) : mwl_number(i / 4);
}

UTEST(set, has_each_value_once) {
    mwl_heap *h = heap(NULL);
    mwl_value list = list_of(h, 4000, small);
    mwl_set set;
    uint32_t at = 0;
    ASSERT_EQ(mwl__set_init(&set, h, list), MWL_OK);
    for (uint32_t i = 0; i < 4000; i++) {
        ASSERT_EQ(mwl__set_add(&set, i, NULL, &at), MWL_OK);
        ASSERT_EQ(at, i % 4 ? i - i % 4 : MWL__SET_NONE); /* the first of four equal ones */
    }
    ASSERT_EQ(mwl__set_find(&set, mwl_uint(999), NULL, &at), MWL_OK);
    EXPECT_EQ(at, 3996u);
    ASSERT_EQ(mwl__set_find(&set, mwl_uint(1000), NULL, &at), MWL_OK);
    EXPECT_EQ(at, MWL__SET_NONE);
    mwl__set_free(&set);
    mwl_value_drop(h, list);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(set, of_an_empty_list) {
    mwl_heap *h = heap(NULL);
    mwl_set set;
    uint32_t at = 0;
    ASSERT_EQ(mwl__set_init(&set, h, mwl_array(h, 0)), MWL_OK);
    ASSERT_EQ(mwl__set_find(&set, mwl_null(), NULL, &at), MWL_OK);
    EXPECT_EQ(at, MWL__SET_NONE);
    mwl__set_free(&set);
    mwl_heap_free(h);
}

static mwl_value not_a_number(mwl_heap *h, uint32_t i) {
    (void)h, (void)i;
    return mwl_number(0.0 / 0.0);
}

UTEST(set, what_does_not_equal_itself_is_never_found) {
    mwl_heap *h = heap(NULL);
    mwl_value list = list_of(h, 20, not_a_number);
    uint32_t distinct;
    ASSERT_EQ(add_all(h, list, NULL, &distinct), MWL_OK);
    EXPECT_EQ(distinct, 20u);
    mwl_value_drop(h, list);
    mwl_heap_free(h);
}

/* An int equals the double that it rounds to. */
UTEST(set, integers_beyond_2_to_the_53) {
    mwl_heap *h = heap(NULL);
    mwl_value list = mwl_array_push(h, mwl_array(h, 1), mwl_int(9007199254740993));
    mwl_set set;
    uint32_t at = MWL__SET_NONE;
    ASSERT_EQ(mwl__set_init(&set, h, list), MWL_OK);
    ASSERT_EQ(mwl__set_add(&set, 0, NULL, &at), MWL_OK);
    ASSERT_EQ(mwl__set_find(&set, mwl_number(9007199254740992.0), NULL, &at), MWL_OK);
    EXPECT_EQ(at, 0u);
    ASSERT_EQ(mwl__set_find(&set, mwl_int(9007199254740992), NULL, &at), MWL_OK);
    EXPECT_EQ(at, MWL__SET_NONE); /* two ints are compared exactly */
    mwl__set_free(&set);
    mwl_value_drop(h, list);
    mwl_heap_free(h);
}

/* ---- cost ------------------------------------------------------------------------------------ */

enum { MANY = 20000 };

/* Different numbers that had the same 24 lower bits under a hash that was used here: a shift and a
 * product, both of which can be undone. */
static mwl_value flood_number(mwl_heap *h, uint32_t i) {
    (void)h;
    uint64_t inverse = 0x9E3779B97F4A7C15u; /* of itself: doubles its right bits each time */
    for (int k = 0; k < 5; k++) inverse *= 2 - 0x9E3779B97F4A7C15u * inverse;
    uint64_t y = ((uint64_t)i + 1) << 24, x = y;
    for (int k = 0; k < 3; k++) x = y ^ x >> 29;
    y = x = x * inverse;
    x = y ^ x >> 32;
    x -= 1;
    double d;
    memcpy(&d, &x, sizeof d);
    return mwl_number(d - d == 0 ? d : (double)i);
}

static mwl_value nested(mwl_heap *h, uint32_t i) { /* differs deep inside only */
    mwl_value v = mwl_number(i);
    for (int k = 0; k < 9; k++) v = mwl_array_push(h, mwl_array(h, 1), v);
    return v;
}

static mwl_value object(mwl_heap *h, uint32_t i) {
    mwl_value v = mwl_object_set(h, mwl_object(h, 2), "a", 1, mwl_number(i % 200));
    return mwl_object_set(h, v, "b", 1, mwl_number(i / 200));
}

static mwl_value string(mwl_heap *h, uint32_t i) { /* a forged hash stands for a flood of texts */
    char s[32];
    int n = snprintf(s, sizeof s, "%u", i);
    return mwl__str_new_hashed(h, s, (size_t)n, 42);
}

/* Each element costs its own nodes and nothing else: none is compared with another. */
UTEST(set, hostile_values_cost_what_others_do) {
    static const struct {
        mwl_value (*make)(mwl_heap *h, uint32_t i);
        uint64_t nodes;
    } floods[] = {{flood_number, 1}, {nested, 10}, {object, 5}, {string, 1}};
    for (size_t k = 0; k < sizeof floods / sizeof *floods; k++) {
        mwl_heap *h = heap(NULL);
        mwl_value list = list_of(h, MANY, floods[k].make);
        uint64_t all = MANY * floods[k].nodes, fuel = all + 100;
        uint32_t distinct = 0;
        ASSERT_EQ(add_all(h, list, &fuel, &distinct), MWL_OK);
        EXPECT_EQ(distinct, (uint32_t)MANY);
        EXPECT_TRUE(fuel >= 90 && fuel <= 100); /* a few, if 32 bits meet by chance */
        mwl_value_drop(h, list);
        mwl_heap_free(h);
    }
}

static mwl_value one_double(mwl_heap *h, uint32_t i) {
    (void)h;
    return mwl_int((INT64_C(1) << 62) + i);
}

/* Integers that round to one double must share a hash; each comparison is paid for. */
UTEST(set, every_comparison_is_charged) {
    enum { SAME = 500 };
    mwl_heap *h = heap(NULL);
    mwl_value list = list_of(h, SAME, one_double);
    uint64_t least = SAME + SAME * (SAME - 1) / 2, fuel = least - 1;
    uint32_t distinct;
    EXPECT_EQ(add_all(h, list, &fuel, &distinct), MWL_E_FUEL);
    EXPECT_EQ(fuel, 0u);
    fuel = least + 4 * SAME; /* a walk of 128 places is one more */
    EXPECT_EQ(add_all(h, list, &fuel, &distinct), MWL_OK);
    EXPECT_EQ(distinct, (uint32_t)SAME);
    mwl_value_drop(h, list);
    mwl_heap_free(h);
}

/* ---- memory ---------------------------------------------------------------------------------- */

UTEST(set, memory_counts_against_the_limit) {
    mwl_heap *h = heap(NULL);
    mwl_value list = list_of(h, MANY, small);
    uint32_t distinct;
    size_t used = mwl_heap_used(h);
    mwl_heap_limit(h, used + MANY * 8);
    EXPECT_EQ(add_all(h, list, NULL, &distinct), MWL_E_TOO_BIG);
    EXPECT_EQ(mwl_heap_used(h), used);
    mwl_heap_limit(h, used + MANY * 64);
    EXPECT_EQ(add_all(h, list, NULL, &distinct), MWL_OK);
    EXPECT_EQ(mwl_heap_used(h), used);
    mwl_value_drop(h, list);
    mwl_heap_free(h);
}

static bool fill(mwl_alloc a) {
    mwl_heap *h = NULL;
    if (mwl_heap_new(&a, &h) < 0) return false;
    mwl_value list = list_of(h, 300, small);
    uint32_t distinct = 0;
    bool good = !mwl_is_absent(list);
    if (good) {
        mwl_status st = add_all(h, list, NULL, &distinct);
        if (st != MWL_OK && st != MWL_E_NOMEM) abort();
        good = st == MWL_OK;
    }
    mwl_value_drop(h, list);
    mwl_heap_free(h);
    return good;
}

UTEST(set, out_of_memory) { ASSERT_TRUE(faulty_sweep(fill, 100)); }

UTEST_MAIN()
