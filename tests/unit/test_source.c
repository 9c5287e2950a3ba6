/* test_source.c: line and column of every byte, with and without memory for the tables. */
#include "utest.h"
#include "tests/unit/faulty.h"
#include "assembler/source/source.h"

/* Lines end with a line feed, columns are code points: counted the slow way. */
static mwl__place count(const char *text, uint32_t offset) {
    mwl__place p = {1, 1};
    for (uint32_t i = 0; i < offset; i++) {
        if (text[i] == '\n')
            p.line++, p.column = 1;
        else
            p.column += ((unsigned char)text[i] & 0xC0u) != 0x80u;
    }
    return p;
}

static const char SMALL[] = "a\xC3\xA9\tb\r\n\n\xE6\x97\xA5x\n";

UTEST(source, places) {
    mwl__source s;
    mwl__source_init(&s, mwl_alloc_default(), "s", SMALL, sizeof SMALL - 1);
    static const struct {
        uint32_t offset, line, column;
    } rows[] = {{0, 1, 1}, {1, 1, 2}, {3, 1, 3},  {4, 1, 4},  {5, 1, 5},  {6, 1, 6},
                {7, 2, 1}, {8, 3, 1}, {11, 3, 2}, {12, 3, 3}, {13, 4, 1}, {99, 4, 1}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl__place p = mwl__source_place(&s, rows[i].offset);
        EXPECT_EQ(rows[i].line, p.line);
        EXPECT_EQ(rows[i].column, p.column);
    }
    mwl__source_free(&s);
}

UTEST(source, lines_without_their_ends) {
    mwl__source s;
    mwl__source_init(&s, mwl_alloc_default(), "s", SMALL, sizeof SMALL - 1);
    mwl__span l = mwl__source_line(&s, 3);
    EXPECT_EQ(0u, l.begin);
    EXPECT_EQ(5u, l.end);
    l = mwl__source_line(&s, 7);
    EXPECT_EQ(7u, l.begin);
    EXPECT_EQ(7u, l.end);
    l = mwl__source_line(&s, 13);
    EXPECT_EQ(13u, l.begin);
    EXPECT_EQ(13u, l.end);
    mwl__source_free(&s);
}

UTEST(source, large_text_as_counted) {
    enum { N = 6000 };
    static char text[N + 1];
    static const char *const pieces[] = {"a",  "\xC3\xA9", "\xE6\x97\xA5", "\xF0\x9F\x98\x80",
                                         "\n", "b"};
    uint32_t n = 0, seed = 1;
    while (n < N - 4) {
        seed = seed * 1103515245u + 12345u;
        uint32_t which = seed >> 16;
        const char *p = pieces[which % 97 == 0 ? 4 : which % 4];
        memcpy(text + n, p, strlen(p));
        n += (uint32_t)strlen(p);
    }
    mwl__source s;
    mwl__source_init(&s, mwl_alloc_default(), "s", text, n);
    for (uint32_t i = 0; i < n; i++) {
        if (((unsigned char)text[i] & 0xC0u) == 0x80u) continue;
        mwl__place want = count(text, i), got = mwl__source_place(&s, i);
        ASSERT_EQ(want.line, got.line);
        ASSERT_EQ(want.column, got.column);
    }
    mwl__source_free(&s);
}

UTEST(source, the_same_without_memory) {
    struct faulty f;
    mwl_alloc none = faulty_alloc(&f);
    f.fail_at = 1;
    f.for_good = true;
    mwl__source s;
    mwl__source_init(&s, none, "s", SMALL, sizeof SMALL - 1);
    mwl__place p = mwl__source_place(&s, 11);
    EXPECT_EQ(3u, p.line);
    EXPECT_EQ(2u, p.column);
    mwl__span l = mwl__source_line(&s, 11);
    EXPECT_EQ(8u, l.begin);
    EXPECT_EQ(12u, l.end);
    mwl__source_free(&s);
    EXPECT_EQ((size_t)0, f.live_blocks);
}

UTEST(source, too_big) {
    mwl__source s;
    EXPECT_EQ(MWL_E_TOO_BIG,
              mwl__source_init(&s, mwl_alloc_default(), "s", "", (size_t)MWL__SOURCE_MAX + 1));
}

UTEST_MAIN()
