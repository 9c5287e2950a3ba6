/* The hash of a value against equality: equal values share it, others do not, over all kinds and
 * shapes; it depends on the secret; what it costs is charged. */
#include "utest.h"
#include "vm/value/value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 400 };

static mwl_heap *heap(void) {
    mwl_heap *h = NULL;
    if (mwl_heap_new(NULL, &h) != MWL_OK) abort();
    return h;
}

static mwl_value text(mwl_heap *h, const char *s) { return mwl_string(h, s, strlen(s)); }
static mwl_value pair_of(mwl_heap *h, mwl_value a, mwl_value b) {
    return mwl_array_push(h, mwl_array_push(h, mwl_array(h, 2), a), b);
}

/* Values of every kind, with those that are equal across kinds and those that nearly are. */
static size_t scalars(mwl_heap *h, mwl_value *out) {
    static const double d[] = {
        0.0,     -0.0,   1.0,   -1.0,   0.5,      9007199254740992.0, 0x1p53, 0x1p63,
        -0x1p63, 0x1p64, 1e300, -1e300, INFINITY, -INFINITY,          5e-324, 4611686018427387904.0,
        1e15,    3.0};
    static const int64_t i[] = {0,
                                1,
                                -1,
                                3,
                                9007199254740992,
                                9007199254740993,
                                9007199254740994,
                                4611686018427387904,
                                4611686018427387905,
                                INT64_MAX,
                                INT64_MIN};
    static const uint64_t u[] = {0, 1, 3, 9007199254740993u, 1ull << 63, UINT64_MAX};
    size_t n = 0;
    for (size_t k = 0; k < sizeof d / sizeof *d; k++) out[n++] = mwl_number(d[k]);
    for (size_t k = 0; k < sizeof i / sizeof *i; k++) out[n++] = mwl_int(i[k]);
    for (size_t k = 0; k < sizeof u / sizeof *u; k++) out[n++] = mwl_uint(u[k]);
    out[n++] = mwl_null();
    out[n++] = mwl_bool(false);
    out[n++] = mwl_bool(true);
    out[n++] = mwl_duration(0);
    out[n++] = mwl_duration(1);
    out[n++] = mwl_timestamp(0, 0);
    out[n++] = mwl_timestamp(0, 1);
    out[n++] = mwl_timestamp(1, 0);
    static const char *const s[] = {"", "a", "b", "a", "1", "null", "a longer text than a word"};
    for (size_t k = 0; k < sizeof s / sizeof *s; k++) {
        out[n++] = text(h, s[k]);
        out[n++] = mwl_bytes(h, s[k], strlen(s[k]));
        out[n++] = mwl__type_new(h, s[k], strlen(s[k]));
        out[n++] = mwl_ext(h, "acme.T", s[k], strlen(s[k]));
    }
    out[n++] = mwl_optional_none();
    out[n++] = mwl_array(h, 0);
    out[n++] = mwl_object(h, 0);
    return n;
}

static mwl_value object_of(mwl_heap *h, mwl_value k1, mwl_value v1, mwl_value k2, mwl_value v2) {
    return mwl_object_put(h, mwl_object_put(h, mwl_object(h, 0), k1, v1), k2, v2);
}

/* And containers over some of them. */
static size_t values(mwl_heap *h, mwl_value *out) {
    size_t n = scalars(h, out), flat = n;
    for (size_t k = 0; k < flat; k++) {
        out[n++] = mwl_optional(h, mwl_value_keep(out[k]));
        out[n++] = pair_of(h, mwl_value_keep(out[k]), mwl_int(1));
        out[n++] = pair_of(h, mwl_int(1), mwl_value_keep(out[k]));
    }
    out[n++] = object_of(h, text(h, "a"), mwl_int(1), text(h, "b"), mwl_int(2));
    out[n++] = object_of(h, text(h, "b"), mwl_number(2), text(h, "a"), mwl_uint(1));
    out[n++] = object_of(h, text(h, "a"), mwl_int(2), text(h, "b"), mwl_int(1));
    out[n++] = object_of(h, mwl_int(1), mwl_int(1), mwl_bool(true), mwl_int(1));
    out[n++] = object_of(h, mwl_bool(true), mwl_number(1), mwl_uint(1), mwl_uint(1));
    out[n++] = object_of(h, text(h, "1"), mwl_int(1), mwl_bool(true), mwl_int(1));
    mwl_value one = mwl_array_push(h, mwl_array(h, 1), mwl_int(1));
    out[n++] = mwl_array_push(h, mwl_array(h, 1), mwl_value_keep(one)); /* [[1]], [[1], []] ... */
    out[n++] = pair_of(h, mwl_value_keep(one), mwl_array(h, 0));
    out[n++] = pair_of(h, mwl_array(h, 0), mwl_value_keep(one));
    out[n++] = one;
    return n;
}

static bool is_number(mwl_value v) {
    mwl_kind k = mwl_value_kind(v);
    return k == MWL_KIND_NUMBER || k == MWL_KIND_INT || k == MWL_KIND_UINT;
}
static double as_double(mwl_value v) {
    mwl_kind k = mwl_value_kind(v);
    return k == MWL_KIND_INT ? (double)v.as.i : k == MWL_KIND_UINT ? (double)v.as.u : v.as.d;
}

/* Integers that a double does not tell apart share a hash, as do containers that differ in no more
 * than that: equality goes through doubles. */
static bool same_as_doubles(mwl_value a, mwl_value b) {
    if (is_number(a) && is_number(b)) return as_double(a) == as_double(b);
    if (mwl_value_kind(a) != mwl_value_kind(b)) return false;
    if (mwl_value_kind(a) == MWL_KIND_OPTIONAL) {
        mwl_value x = mwl_optional_get(a), y = mwl_optional_get(b);
        if (mwl_is_absent(x) || mwl_is_absent(y)) return mwl_value_equal(a, b);
        return same_as_doubles(x, y);
    }
    if (mwl_value_kind(a) != MWL_KIND_ARRAY || mwl_count(a) != mwl_count(b))
        return mwl_value_equal(a, b);
    for (size_t i = 0; i < mwl_count(a); i++)
        if (!same_as_doubles(mwl_array_at(a, i), mwl_array_at(b, i))) return false;
    return true;
}

UTEST(value_hash, agrees_with_equality_over_all_kinds) {
    mwl_heap *h = heap();
    mwl_value v[MOST];
    size_t n = values(h, v);
    ASSERT_TRUE(n < MOST);
    for (size_t i = 0; i < n; i++) ASSERT_FALSE(mwl_is_absent(v[i]));
    unsigned equal = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            bool same = mwl_value_hash(h, v[i]) == mwl_value_hash(h, v[j]);
            equal += i != j && mwl_value_equal(v[i], v[j]);
            if (mwl_value_equal(v[i], v[j])) ASSERT_TRUE(same);
            if (!same_as_doubles(v[i], v[j])) ASSERT_FALSE(same);
        }
    EXPECT_TRUE(equal > 100); /* the table has what it is about */
    for (size_t i = 0; i < n; i++) mwl_value_drop(h, v[i]);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* ---- random values --------------------------------------------------------------------------- */

static uint64_t state;
static uint32_t below(uint32_t n) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) % n);
}

static mwl_value number(int n, int form) {
    return form == 0 ? mwl_number(n) : form == 1 ? mwl_int(n) : mwl_uint((uint64_t)n);
}

/* Two equal values that are made differently: other kinds of numbers, members in another order. */
static void twins(mwl_heap *h, int depth, mwl_value out[2]) {
    uint32_t shape = below(depth > 0 ? 5 : 3);
    int n = (int)below(4);
    out[0] = shape == 0 ? number(n, 0) : shape == 1 ? text(h, n & 1 ? "x" : "y") : mwl_null();
    out[1] = shape == 0 ? number(n, (int)below(3)) : mwl_value_keep(out[0]);
    if (shape < 3) return;
    mwl_value part[4][2], key[4];
    for (int i = 0; i < n; i++) {
        char name[16];
        snprintf(name, sizeof name, "k%d", i);
        key[i] = text(h, name);
        twins(h, depth - 1, part[i]);
    }
    for (int side = 0; side < 2; side++) {
        out[side] = shape == 3 ? mwl_array(h, 0) : mwl_object(h, 0);
        for (int k = 0; k < n; k++) {
            int i = side && shape == 4 ? n - 1 - k : k;
            out[side] = shape == 3
                            ? mwl_array_push(h, out[side], part[i][side])
                            : mwl_object_put(h, out[side], mwl_value_keep(key[i]), part[i][side]);
        }
    }
    for (int i = 0; i < n; i++) mwl_value_drop(h, key[i]);
}

UTEST(value_hash, agrees_with_equality_over_random_values) {
    const char *given = getenv("MWL_SEED");
    state = given ? strtoull(given, NULL, 10) : 88172645463325252u;
    printf("MWL_SEED=%llu\n", (unsigned long long)state);
    mwl_heap *h = heap();
    mwl_value last = mwl_null();
    for (int round = 0; round < 20000; round++) {
        mwl_value twin[2];
        twins(h, 4, twin);
        ASSERT_TRUE(mwl_value_equal(twin[0], twin[1]));
        ASSERT_TRUE(mwl_value_hash(h, twin[0]) == mwl_value_hash(h, twin[1]));
        ASSERT_EQ(mwl_value_equal(twin[0], last),
                  mwl_value_hash(h, twin[0]) == mwl_value_hash(h, last));
        mwl_value_drop(h, twin[1]);
        mwl_value_drop(h, last);
        last = twin[0];
    }
    mwl_value_drop(h, last);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

/* ---- depth, secret, fuel --------------------------------------------------------------------- */

UTEST(value_hash, looks_at_every_level) {
    mwl_heap *h = heap();
    mwl_value a = mwl_int(1), b = mwl_int(2);
    for (int i = 0; i < MWL_DEPTH_LIMIT; i++) {
        a = mwl_array_push(h, mwl_array(h, 1), a);
        b = mwl_array_push(h, mwl_array(h, 1), b);
        ASSERT_TRUE(mwl_value_hash(h, a) != mwl_value_hash(h, b));
    }
    ASSERT_EQ(mwl__value_depth(a), (uint32_t)MWL_DEPTH_LIMIT);
    mwl_value_drop(h, a);
    mwl_value_drop(h, b);
    mwl_heap_free(h);
}

UTEST(value_hash, depends_on_the_secret) {
    mwl_heap *h = heap();
    mwl_value v[MOST];
    size_t n = values(h, v);
    for (size_t i = 0; i < n; i++) {
        uint64_t a, b;
        ASSERT_EQ(mwl__value_hash(1, v[i], NULL, &a), MWL_OK);
        ASSERT_EQ(mwl__value_hash(2, v[i], NULL, &b), MWL_OK);
        ASSERT_TRUE(a != b);
        mwl_value_drop(h, v[i]);
    }
    mwl_heap_free(h);
}

UTEST(value_hash, charges_nodes_and_texts) {
    mwl_heap *h = heap();
    char long_text[800];
    memset(long_text, 'x', sizeof long_text);
    mwl_value s = mwl_string(h, long_text, sizeof long_text);
    mwl_value v = pair_of(h, pair_of(h, mwl_int(1), mwl_value_keep(s)), s);
    uint64_t hash, fuel = 5 + 2 * 100; /* two arrays, three leaves; 800 bytes twice */
    EXPECT_EQ(mwl__value_hash(1, v, &fuel, &hash), MWL_OK);
    EXPECT_EQ(fuel, 0u);
    fuel = 5 + 2 * 100 - 1;
    EXPECT_EQ(mwl__value_hash(1, v, &fuel, &hash), MWL_E_FUEL);
    EXPECT_EQ(fuel, 0u);
    mwl_value_drop(h, v);
    mwl_heap_free(h);
}

UTEST_MAIN()
