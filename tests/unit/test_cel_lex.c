/* The tokens of CEL (langdef, Syntax) and the values of literals. */
#include "utest.h"

#include "assembler/cel/cel_lex.h"
#include "tests/unit/cel_tree.h"

#include <math.h>

static mwl__cel_token lex(const char *s) { return mwl__cel_lex(s, strlen(s), 0); }

UTEST(lex, tokens_have_kind_and_span) {
    static const struct {
        const char *text;
        mwl__cel_token_kind kind;
        uint32_t begin, end;
    } rows[] = {
        {"", MWL__CEL_T_END, 0, 0},
        {" \t\r\n\f", MWL__CEL_T_END, 5, 5},
        {"// all of it", MWL__CEL_T_END, 12, 12},
        {"//c\nx", MWL__CEL_T_NAME, 4, 5},
        {"a_1+", MWL__CEL_T_NAME, 0, 3},
        {"true", MWL__CEL_T_TRUE, 0, 4},
        {"truer", MWL__CEL_T_NAME, 0, 5},
        {"in[", MWL__CEL_T_IN, 0, 2},
        {"12", MWL__CEL_T_INT, 0, 2},
        {"12u", MWL__CEL_T_UINT, 0, 3},
        {"0xfFU", MWL__CEL_T_UINT, 0, 5},
        {"0x", MWL__CEL_T_INT, 0, 1},
        {"1.5e-3", MWL__CEL_T_FLOAT, 0, 6},
        {"1e", MWL__CEL_T_INT, 0, 1},
        {".5", MWL__CEL_T_FLOAT, 0, 2},
        {"1.f", MWL__CEL_T_INT, 0, 1},
        {"'a' b", MWL__CEL_T_STRING, 0, 3},
        {"b'a'", MWL__CEL_T_BYTES, 0, 4},
        {"Br'a'", MWL__CEL_T_BYTES, 0, 5},
        {"rb'a'", MWL__CEL_T_NAME, 0, 2},
        {"r'\\' ", MWL__CEL_T_STRING, 0, 4},
        {"'\\''", MWL__CEL_T_STRING, 0, 4},
        {"'''a''b'''", MWL__CEL_T_STRING, 0, 10},
        {"\"\"\"\n\"\"\"", MWL__CEL_T_STRING, 0, 7},
        {"`a-b/c.d e`", MWL__CEL_T_QUOTED, 0, 11},
        {"<=", MWL__CEL_T_LE, 0, 2},
        {"'a", MWL__CEL_T_BAD, 0, 2},
        {"'a\nb'", MWL__CEL_T_BAD, 0, 2},
        {"``", MWL__CEL_T_BAD, 0, 2},
        {"`a$`", MWL__CEL_T_BAD, 2, 3},
        {"=", MWL__CEL_T_BAD, 0, 1},
        {"\xc3\xa9", MWL__CEL_T_BAD, 0, 2},
        {"'\\", MWL__CEL_T_BAD, 0, 2},
        {"\v", MWL__CEL_T_BAD, 0, 1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl__cel_token t = lex(rows[i].text);
        EXPECT_EQ_MSG((int)rows[i].kind, (int)t.kind, rows[i].text);
        EXPECT_EQ_MSG(rows[i].begin, t.begin, rows[i].text);
        EXPECT_EQ_MSG(rows[i].end, t.end, rows[i].text);
    }
}

static mwl_status value(mwl__arena *a, const char *s, bool negative, mwl__cel_lit *lit) {
    mwl__cel_token t = lex(s);
    mwl__cel_lit_fault fault;
    return mwl__cel_literal(a, s, &t, negative, lit, &fault);
}

UTEST(literal, numbers) {
    mwl__arena a = mwl__arena_make(mwl_alloc_default());
    mwl__cel_lit v;
    ASSERT_EQ((int)MWL_OK, (int)value(&a, "9223372036854775807", false, &v));
    EXPECT_TRUE(v.kind == MWL__CEL_INT && v.as.i == INT64_MAX);
    EXPECT_EQ((int)MWL_E_RANGE, (int)value(&a, "9223372036854775808", false, &v));
    ASSERT_EQ((int)MWL_OK, (int)value(&a, "9223372036854775808", true, &v));
    EXPECT_TRUE(v.as.i == INT64_MIN);
    ASSERT_EQ((int)MWL_OK, (int)value(&a, "0x8000000000000000", true, &v));
    EXPECT_TRUE(v.as.i == INT64_MIN);
    EXPECT_EQ((int)MWL_E_RANGE, (int)value(&a, "9223372036854775809", true, &v));
    ASSERT_EQ((int)MWL_OK, (int)value(&a, "18446744073709551615u", false, &v));
    EXPECT_TRUE(v.kind == MWL__CEL_UINT && v.as.u == UINT64_MAX);
    EXPECT_EQ((int)MWL_E_RANGE, (int)value(&a, "18446744073709551616u", false, &v));
    EXPECT_EQ((int)MWL_E_RANGE, (int)value(&a, "0x10000000000000000", false, &v));
    ASSERT_EQ((int)MWL_OK, (int)value(&a, "1e-324", false, &v));
    EXPECT_TRUE(v.kind == MWL__CEL_DOUBLE && v.as.d == 0.0);
    EXPECT_EQ((int)MWL_E_RANGE, (int)value(&a, "1e400", false, &v));
    ASSERT_EQ((int)MWL_OK, (int)value(&a, ".5", false, &v));
    EXPECT_TRUE(v.as.d == 0.5);
    ASSERT_EQ((int)MWL_OK, (int)value(&a, "0.0", true, &v));
    EXPECT_TRUE(v.as.d == 0.0 && signbit(v.as.d));
    mwl__arena_free(&a);
}

UTEST(literal, strings_and_bytes) {
    static const struct {
        const char *text, *value;
        size_t len;
    } rows[] = {
        {"''", "", 0},
        {"''''''", "", 0},
        {"'\"\"'", "\"\"", 2},
        {"'''x''x'''", "x''x", 4},
        {"\"\\a\\b\\f\\n\\r\\t\\v\\\\\\?\\\"\\'\\`\"", "\a\b\f\n\r\t\v\\?\"'`", 12},
        {"r'\\\\'", "\\\\", 2},
        {"r'\\'", "\\", 1},
        {"'\\377'", "\xc3\xbf", 2}, /* a code point in a string */
        {"b'\\377'", "\xff", 1},    /* an octet in bytes */
        {"'\\xfF'", "\xc3\xbf", 2},
        {"b'\\XfF'", "\xff", 1},
        {"b'\xc3\xbf'", "\xc3\xbf", 2},
        {"'\\u00e9\\U0001F600'", "\xc3\xa9\xf0\x9f\x98\x80", 6},
        {"'\\000a'", "\0a", 2},
        {"'''a\nb'''", "a\nb", 3},
    };
    mwl__arena a = mwl__arena_make(mwl_alloc_default());
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl__cel_lit v;
        ASSERT_EQ_MSG((int)MWL_OK, (int)value(&a, rows[i].text, false, &v), rows[i].text);
        ASSERT_EQ_MSG(rows[i].len, v.len, rows[i].text);
        EXPECT_TRUE_MSG(memcmp(rows[i].value, v.as.text, v.len) == 0, rows[i].text);
    }
    static const char *const wrong[] = {
        "'\\s'",   "'\\ud83d'",  "'\\U00110000'",  "'\\x1'", "'\\400'",       "'\\18'",
        "'\\u12'", "b'\\u0041'", "b'\\U00000041'", "'\xff'", "'\xed\xa0\x80'"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        mwl__cel_lit v;
        EXPECT_TRUE_MSG(value(&a, wrong[i], false, &v) < 0, wrong[i]);
    }
    mwl__arena_free(&a);
}

UTEST(lex, any_byte_may_occur) {
    static const char source[] = "'a\0b'";
    mwl__cel_token t = mwl__cel_lex(source, 5, 0);
    EXPECT_EQ((int)MWL__CEL_T_STRING, (int)t.kind);
    EXPECT_EQ(5u, t.end);
    t = mwl__cel_lex("\0", 1, 0);
    EXPECT_EQ((int)MWL__CEL_T_BAD, (int)t.kind);
}

UTEST_MAIN()
