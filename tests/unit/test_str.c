#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/value/value.h"

static mwl_heap *heap(void) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    return h;
}

UTEST(str, lengths_in_bytes_and_code_points) {
    mwl_heap *h = heap();
    static const struct {
        const char *s;
        size_t len, points;
    } cases[] = {{"", 0, 0},
                 {"abc", 3, 3},
                 {"\xC3\xA9", 2, 1},
                 {"\xE2\x82\xAC uro", 7, 5},
                 {"\xF0\x9D\x84\x9E", 4, 1},
                 {"a\0b", 3, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mwl_value v = mwl_string(h, cases[i].s, cases[i].len);
        size_t len = 99;
        const char *s = mwl_as_text(v, &len);
        ASSERT_EQ(mwl_value_kind(v), MWL_KIND_STRING);
        ASSERT_EQ(len, cases[i].len);
        ASSERT_EQ(memcmp(s, cases[i].s, len + 1), 0); /* with the NUL */
        ASSERT_EQ(mwl_string_code_points(v), cases[i].points);
        ASSERT_EQ(v.aux, mwl__str_hash(cases[i].s, len));
        ASSERT_EQ(mwl__as_str(v)->hash, v.aux);
        mwl_value_drop(h, v);
    }
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(str, refuses_what_is_not_utf8) {
    mwl_heap *h = heap();
    static const char *const bad[] = {"\xff", "\xC0\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                                      "a\xC3"};
    for (size_t i = 0; i < 5; i++) {
        ASSERT_TRUE(mwl_is_absent(mwl_string(h, bad[i], strlen(bad[i]))));
        ASSERT_EQ(mwl_heap_why(h), MWL_E_UTF8);
        mwl_value b = mwl_bytes(h, bad[i], strlen(bad[i]));
        ASSERT_EQ(mwl_value_kind(b), MWL_KIND_BYTES);
        ASSERT_EQ(mwl_string_code_points(b), (size_t)0);
        mwl_value_drop(h, b);
    }
    ASSERT_TRUE(mwl_is_absent(mwl_string(h, NULL, 3)));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_USAGE);
    ASSERT_TRUE(mwl_is_absent(mwl_string(NULL, "a", 1)));
    ASSERT_TRUE(mwl_as_text(mwl_null(), NULL) == NULL);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(str, order_by_code_point_and_by_utf16) {
    /* U+E000 .. U+FFFF and what needs surrogates change places between the two orders. */
    static const char *const rising[] = {"",
                                         "A",
                                         "AB",
                                         "a",
                                         "\xC3\xA9",
                                         "\xED\x9F\xBF",
                                         "\xEE\x80\x80",
                                         "\xEF\xBF\xBD",
                                         "\xF0\x90\x80\x80",
                                         "\xF4\x8F\xBF\xBF"};
    static const int utf16_rank[] = {0, 1, 2, 3, 4, 5, 8, 9, 6, 7};
    mwl_heap *h = heap();
    for (int i = 0; i < 10; i++) {
        for (int k = 0; k < 10; k++) {
            char x[40], y[40];
            snprintf(x, sizeof x, "same\xC3\xA9%s", rising[i]);
            snprintf(y, sizeof y, "same\xC3\xA9%s", rising[k]);
            mwl_value a = mwl_string(h, x, strlen(x)), b = mwl_string(h, y, strlen(y));
            ASSERT_EQ(mwl__str_compare(a, b), (i > k) - (i < k));
            int p = utf16_rank[i], q = utf16_rank[k];
            ASSERT_EQ(mwl__str_compare_utf16(a, b), (p > q) - (p < q));
            ASSERT_EQ(mwl__str_same(a, b), i == k);
            mwl_value_drop(h, a);
            mwl_value_drop(h, b);
        }
    }
    mwl_heap_free(h);
}

UTEST(str, concat_and_seal) {
    mwl_heap *h = heap();
    mwl_value a = mwl_string(h, "caf\xC3\xA9", 5), b = mwl_string(h, " noir", 5),
              e = mwl_string(h, "", 0);
    mwl_value ab = mwl__str_concat(h, a, b), whole = mwl_string(h, "caf\xC3\xA9 noir", 10);
    ASSERT_TRUE(mwl_value_equal(ab, whole));
    ASSERT_EQ(mwl_string_code_points(ab), (size_t)9);
    mwl_value ae = mwl__str_concat(h, a, e), ea = mwl__str_concat(h, e, a);
    ASSERT_TRUE(ae.as.p == a.as.p);
    ASSERT_TRUE(ea.as.p == a.as.p);
    mwl__str *raw = mwl__str_alloc(h, 5);
    memcpy(raw->s, "caf\xC3\xA9", 5);
    mwl_value sealed = mwl__str_seal(raw);
    ASSERT_TRUE(mwl_value_equal(sealed, a));
    ASSERT_EQ(mwl_string_code_points(sealed), (size_t)4);
    mwl_value x = mwl_bytes(h, "ab", 2), y = mwl_bytes(h, "\xff", 1), xy = mwl__str_concat(h, x, y);
    ASSERT_EQ(mwl_value_kind(xy), MWL_KIND_BYTES);
    ASSERT_EQ(mwl__as_str(xy)->n_cp, 0u);
    ASSERT_FALSE(mwl_value_equal(x, a));
    mwl_value type = mwl__type_new(h, "list", 4), word = mwl_string(h, "list", 4);
    ASSERT_FALSE(mwl_value_equal(type, word));
    mwl_value all[] = {a, b, e, ab, whole, ae, ea, sealed, x, y, xy, type, word};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) mwl_value_drop(h, all[i]);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(str, limits) {
    mwl_heap *h = heap();
    ASSERT_TRUE(mwl__str_alloc(h, (size_t)MWL_STRING_LIMIT + 1) == NULL);
    ASSERT_EQ(mwl_heap_why(h), MWL_E_TOO_BIG);
    mwl_heap_limit(h, 64);
    mwl_value v = mwl_string(h, "0123456789012345678901234567890", 31);
    ASSERT_FALSE(mwl_is_absent(v));
    ASSERT_TRUE(mwl_is_absent(mwl_string(h, "x", 1)));
    ASSERT_EQ(mwl_heap_why(h), MWL_E_TOO_BIG);
    mwl_value_drop(h, v);
    mwl_heap_free(h);
}

UTEST_MAIN()
