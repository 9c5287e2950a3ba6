/* cel-go's strings library: the rules of its documentation, row by row. */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_strings, char_at, {"charAt", "['tacocat', 3]", "\"o\""},
      {"charAt", "['tacocat', 7]", "\"\""},
      {"charAt", "['a\\u00e9\\U0001F431z', 2]", "\"\360\237\220\261\""},
      {"charAt", "['tacocat', 8]", NULL}, {"charAt", "['tacocat', -1]", NULL},
      {"charAt", "['tacocat', 1u]", NULL}, {"charAt", "[b'tacocat', 1]", NULL})

TABLE(cel_strings, index_of, {"indexOf", "['tacocat', 'ac']", "1"},
      {"indexOf", "['tacocat', 'none']", "-1"}, {"indexOf", "['tacocat', '']", "0"},
      {"indexOf", "['tacocat', 'a', 3]", "5"}, {"indexOf", "['tacocat', '', 3]", "3"},
      {"indexOf", "['tacocat', '', 30]", "7"}, {"indexOf", "['tacocat', 'a', 30]", "-1"},
      {"indexOf", "['tacocat', 'a', -1]", NULL}, {"indexOf", "['t\\u00e9\\u00e9a', 'a']", "3"},
      {"indexOf", "['t\\u00e9\\u00e9a', '\\u00e9', 2]", "2"},
      {"lastIndexOf", "['tacocat', 'at']", "5"}, {"lastIndexOf", "['tacocat', 'a', 4]", "1"},
      {"lastIndexOf", "['tacocat', 'a', 5]", "5"}, {"lastIndexOf", "['tacocat', '']", "7"},
      {"lastIndexOf", "['tacocat', '', 3]", "3"}, {"lastIndexOf", "['tacocat', 'a', 30]", "-1"},
      {"lastIndexOf", "['ta', 'tacocat']", "-1"}, {"lastIndexOf", "['', 'a']", "-1"},
      {"lastIndexOf", "['\\u00e9a\\u00e9a\\u00e9', 'a\\u00e9']", "3"},
      {"lastIndexOf", "['tacocat', 'a', -1]", NULL})

TABLE(cel_strings, replace_split_join,
      {"replace", "['hello hello', 'he', 'we']", "\"wello wello\""},
      {"replace", "['hello hello', 'he', 'we', 1]", "\"wello hello\""},
      {"replace", "['hello hello', 'he', 'we', 0]", "\"hello hello\""},
      {"replace", "['hello', '', '_']", "\"_h_e_l_l_o_\""},
      {"replace", "['hello', '', '_', 2]", "\"_h_ello\""},
      {"replace", "['aaa', 'aa', 'b']", "\"ba\""}, {"replace", "['aaa', 'a', '']", "\"\""},
      {"split", "['a b c', ' ']", "[\"a\", \"b\", \"c\"]"}, {"split", "['a b c', ' ', 0]", "[]"},
      {"split", "['a b c', ' ', 1]", "[\"a b c\"]"},
      {"split", "['a b c', ' ', 2]", "[\"a\", \"b c\"]"},
      {"split", "['a b c', ' ', -1]", "[\"a\", \"b\", \"c\"]"},
      {"split", "['abc', '']", "[\"a\", \"b\", \"c\"]"},
      {"split", "['abc', '', 2]", "[\"a\", \"bc\"]"}, {"split", "['', '']", "[]"},
      {"split", "['', ',']", "[\"\"]"}, {"split", "[',a,', ',']", "[\"\", \"a\", \"\"]"},
      {"join", "[['a', 'b']]", "\"ab\""}, {"join", "[['a', 'b'], '-']", "\"a-b\""},
      {"join", "[[], '-']", "\"\""}, {"join", "[['a', 1], '-']", NULL})

TABLE(cel_strings, whole, {"substring", "['tacocat', 4]", "\"cat\""},
      {"substring", "['tacocat', 0, 4]", "\"taco\""},
      {"substring", "['t\\u00e9\\u00e9a', 1, 3]", "\"éé\""},
      {"substring", "['tacocat', 7]", "\"\""}, {"substring", "['tacocat', 8]", NULL},
      {"substring", "['tacocat', 2, 1]", NULL}, {"substring", "['tacocat', -1]", NULL},
      {"trim", "[' \\t\\u2003\\u0085 a b \\u3000\\n']", "\"a b\""},
      {"trim", "['\\u200b\\u180ea\\ufeff']",
       "\"\342\200\213\341\240\216"
       "a\357\273\277\""},
      {"trim", "['   ']", "\"\""}, {"lowerAscii", "['TacoC\\u00c9t']", "\"tacocÉt\""},
      {"upperAscii", "['Tacoc\\u00e9t']", "\"TACOCéT\""},
      {"reverse", "['a\\u00e9\\U0001F431']", "\"\360\237\220\261éa\""},
      {"reverse", "[[1, 2]]", "[2, 1]"}, {"reverse", "[1]", NULL},
      {"strings.quote", "['a\"\\\\\\n\\t\\a\\v']",
       "\"\\\"a\\\\\\\"\\\\\\\\\\\\n\\\\t\\\\a\\\\v\\\"\""},
      {"strings.quote", "['a\\000b']", "\"\\\"a\\x00b\\\"\""})

TABLE(cel_strings, format, {"format", "['%s, %s %%', ['a', 1]]", "\"a, 1 %\""},
      {"format", "['%s', [null]]", "\"null\""},
      {"format", "['%s', [[1, 2.5, 'x', true, b'y', 3u]]]", "\"[1, 2.5, x, true, y, 3]\""},
      {"format", "['%s', [{'b': 1, 'a': {2: [timestamp(0)]}}]]",
       "\"{a: {2: [1970-01-01T00:00:00Z]}, b: 1}\""},
      {"format", "['%s %s', [duration('1.5s'), type(1)]]", "\"1.5s int\""},
      {"format", "['%s', [b'a\\xffb']]", "\"a\357\277\275b\""},
      {"format", "['%s', [1e21]]", "\"1000000000000000000000\""},
      {"format", "['%s %s', [0.0/0.0, -1.0/0.0]]", "\"NaN -Infinity\""},
      {"format", "['%d %d %d', [-1, 2u, 1.5]]", "\"-1 2 1.5\""},
      {"format", "['%f %.2f %.0f', [1, 2.675, 2.5]]", "\"1.000000 2.67 2\""},
      {"format", "['%e %.3e', [1052.032911275, 12u]]", "\"1.052033e+03 1.200e+01\""},
      {"format", "['%b %b %b', [-5, 5u, true]]", "\"-101 101 1\""},
      {"format", "['%x %X %x %x', [255, 255u, 'hi', b'\\xff']]", "\"ff FF 6869 ff\""},
      {"format", "['%x', [-9223372036854775807 - 1]]", "\"-8000000000000000\""},
      {"format", "['%o', [8]]", "\"10\""}, {"format", "['no clause', [1, 2]]", "\"no clause\""},
      {"format", "['%s', []]", NULL}, {"format", "['%', [1]]", NULL},
      {"format", "['%a', [1]]", NULL}, {"format", "['%.f', [1.0]]", NULL},
      {"format", "['%.101f', [1.0]]", NULL}, {"format", "['%.', [1.0]]", NULL},
      {"format", "['%d', ['a']]", NULL}, {"format", "['%f', ['a']]", NULL},
      {"format", "['%b', [1.0]]", NULL}, {"format", "['%x', [1.0]]", NULL},
      {"format", "['%o', [true]]", NULL}, {"format", "['%s', [optional.none()]]", NULL})

/* No text makes a search slow: a needle that nearly matches everywhere. */
UTEST(cel_strings, search_is_linear) {
    enum { N = 400000, M = 20000 };
    static char text[N], part[M];
    memset(text, 'a', N);
    memset(part, 'a', M);
    part[M - 1] = 'b';
    EXPECT_EQ(mwl_text_find(text, N, part, M), SIZE_MAX);
    EXPECT_EQ(mwl_text_find_last(text, N, part, M), SIZE_MAX);
    part[M - 1] = 'a';
    part[0] = 'b';
    EXPECT_EQ(mwl_text_find(text, N, part, M), SIZE_MAX);
    EXPECT_EQ(mwl_text_find_last(text, N, part, M), SIZE_MAX);
    text[N - M] = 'b';
    EXPECT_EQ(mwl_text_find(text, N, part, M), (size_t)(N - M));
    EXPECT_EQ(mwl_text_find_last(text, N, part, M), (size_t)(N - M));
    part[0] = 'a';
    part[M / 2] = 'b';
    text[N - M] = 'a';
    text[5] = 'b';
    EXPECT_EQ(mwl_text_find(text, N, part, M), SIZE_MAX);
    text[200000] = 'b';
    EXPECT_EQ(mwl_text_find(text, N, part, M), (size_t)(200000 - M / 2));
    EXPECT_EQ(mwl_text_find_last(text, N, part, M), (size_t)(200000 - M / 2));
}

/* Compared with the obvious search, over a small alphabet, where texts often repeat. */
UTEST(cel_strings, search_agrees_with_the_plain_one) {
    uint32_t seed = 12345;
    char text[400], part[24];
    for (int round = 0; round < 20000; round++) {
        size_t n = (seed = seed * 1664525u + 1013904223u) >> 8 & 255;
        size_t m = (seed = seed * 1664525u + 1013904223u) >> 8 & 15;
        unsigned letters = round & 1 ? 2 : 3;
        for (size_t i = 0; i < n; i++)
            text[i] = (char)('a' + ((seed = seed * 1664525u + 1013904223u) >> 16) % letters);
        for (size_t i = 0; i < m; i++)
            part[i] = (char)('a' + ((seed = seed * 1664525u + 1013904223u) >> 16) % letters);
        size_t first = SIZE_MAX, last = SIZE_MAX;
        for (size_t i = 0; i + m <= n; i++)
            if (memcmp(text + i, part, m) == 0) {
                if (first == SIZE_MAX) first = i;
                last = i;
            }
        ASSERT_EQ(mwl_text_find(text, n, part, m), first);
        ASSERT_EQ(mwl_text_find_last(text, n, part, m), last);
    }
}

UTEST_MAIN()
