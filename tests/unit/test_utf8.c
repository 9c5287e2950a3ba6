/* test_utf8.c: well-formedness (Unicode table 3-7) at each of its edges, counting, offsets. */
#include "utest.h"
#include "vm/base/utf8.h"

#include <string.h>

static bool valid(const char *s) { return mwl__utf8_valid(s, strlen(s), NULL); }

UTEST(utf8, empty_and_ascii) {
    size_t n = 99;
    EXPECT_TRUE(mwl__utf8_valid("", 0, &n));
    EXPECT_EQ(n, (size_t)0);
    char text[100];
    memset(text, 'x', sizeof text);
    for (size_t len = 0; len <= sizeof text; len++) {
        EXPECT_TRUE(mwl__utf8_valid(text, len, &n));
        EXPECT_EQ(n, len);
        EXPECT_EQ(mwl__utf8_count(text, len), len);
        EXPECT_TRUE(mwl__utf8_is_ascii(text, len));
    }
    EXPECT_TRUE(mwl__utf8_valid("\0\x7f", 2, &n));
    EXPECT_EQ(n, (size_t)2);
}

UTEST(utf8, first_and_last_of_each_width) {
    EXPECT_TRUE(valid("\xC2\x80"));
    EXPECT_TRUE(valid("\xDF\xBF"));
    EXPECT_TRUE(valid("\xE0\xA0\x80"));
    EXPECT_TRUE(valid("\xEF\xBF\xBF"));
    EXPECT_TRUE(valid("\xF0\x90\x80\x80"));
    EXPECT_TRUE(valid("\xF4\x8F\xBF\xBF"));
    EXPECT_TRUE(valid("\xED\x9F\xBF")); /* the last before the surrogates */
    EXPECT_TRUE(valid("\xEE\x80\x80")); /* the first after them */
}

UTEST(utf8, overlong_forms_are_refused) {
    EXPECT_FALSE(mwl__utf8_valid("\xC0\x80", 2, NULL));
    EXPECT_FALSE(valid("\xC1\xBF"));
    EXPECT_FALSE(valid("\xE0\x9F\xBF"));
    EXPECT_FALSE(valid("\xF0\x8F\xBF\xBF"));
}

UTEST(utf8, surrogates_and_too_large_are_refused) {
    EXPECT_FALSE(valid("\xED\xA0\x80"));
    EXPECT_FALSE(valid("\xED\xBF\xBF"));
    EXPECT_FALSE(valid("\xF4\x90\x80\x80"));
    EXPECT_FALSE(valid("\xF5\x80\x80\x80"));
    EXPECT_FALSE(valid("\xFF"));
    EXPECT_FALSE(valid("\xFE"));
}

UTEST(utf8, stray_and_missing_continuations_are_refused) {
    EXPECT_FALSE(valid("\x80"));
    EXPECT_FALSE(valid("a\xBF"));
    EXPECT_FALSE(valid("\xC3"));
    EXPECT_FALSE(valid("\xE6\x97"));
    EXPECT_FALSE(valid("\xF0\x9F\x98"));
    EXPECT_FALSE(valid("\xC3x"));
    EXPECT_FALSE(valid("\xE6x\x97"));
    EXPECT_FALSE(valid("\xE6\x97x"));
    EXPECT_FALSE(valid("\xF0\x9F\x98x"));
}

/* A bad byte anywhere in a long text is found, and the prefix before it reported. */
UTEST(utf8, bad_byte_at_every_position) {
    char text[70];
    for (size_t at = 0; at < sizeof text; at++) {
        memset(text, 'a', sizeof text);
        text[at] = (char)0xFF;
        EXPECT_FALSE(mwl__utf8_valid(text, sizeof text, NULL));
        EXPECT_FALSE(mwl__utf8_is_ascii(text, sizeof text));
        EXPECT_EQ(mwl__utf8_valid_prefix(text, sizeof text), at);
    }
}

/* Every scalar value is encoded and decoded to the same; every other number is refused. */
UTEST(utf8, round_trip_of_all_scalars) {
    size_t wrong = 0;
    for (uint32_t c = 0; c <= 0x110010; c++) {
        char b[4];
        uint32_t back = 0, next = 0;
        size_t width = mwl__utf8_encode(c, b);
        bool scalar = c <= 0x10FFFF && !(c >= 0xD800 && c <= 0xDFFF);
        if (!scalar) {
            wrong += width != 0;
            continue;
        }
        wrong += width != (c < 0x80 ? 1u : c < 0x800 ? 2u : c < 0x10000 ? 3u : 4u);
        wrong += mwl__utf8_width((unsigned char)b[0]) != width;
        wrong += mwl__utf8_decode(b, width, &back) != width || back != c;
        wrong += mwl__utf8_next(b, &next) != width || next != c;
        wrong += mwl__utf8_decode(b, width - 1, &back) != 0;
        wrong += !mwl__utf8_valid(b, width, NULL);
    }
    EXPECT_EQ(wrong, (size_t)0);
}

/* decode and valid must agree on every sequence of two and three bytes. */
UTEST(utf8, decode_agrees_with_valid) {
    size_t wrong = 0;
    for (unsigned a = 0x80; a < 0x100; a++)
        for (unsigned b = 0x40; b < 0x100; b++)
            for (unsigned c = 0x70; c < 0xD0; c += 0x10) {
                char s[4] = {(char)a, (char)b, (char)c, (char)0x80};
                uint32_t cp;
                size_t width = mwl__utf8_decode(s, 4, &cp);
                size_t prefix = mwl__utf8_valid_prefix(s, 4);
                wrong += (width == 0) != (prefix == 0);
                wrong += width > prefix;
            }
    EXPECT_EQ(wrong, (size_t)0);
}

UTEST(utf8, count_and_offset) {
    const char *s =
        "a\xC3\xA9\xE6\x97\xA5\xF0\x9F\x98\x80z-123456789-\xC3\xA9-abcdefgh\xE6\x97\xA5";
    size_t len = strlen(s), n = 0;
    ASSERT_TRUE(mwl__utf8_valid(s, len, &n));
    EXPECT_EQ(mwl__utf8_count(s, len), n);
    size_t at = 0;
    for (size_t k = 0; k < n; k++) {
        EXPECT_EQ(mwl__utf8_offset(s, len, k), at);
        at += mwl__utf8_width((unsigned char)s[at]);
    }
    EXPECT_EQ(mwl__utf8_offset(s, len, n), len);
    EXPECT_EQ(mwl__utf8_offset(s, len, n + 1000), len);
    EXPECT_EQ(mwl__utf8_offset("", 0, 0), (size_t)0);
}

UTEST_MAIN()
