/* cel-go's lists library, and the keys of sortBy. */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_lists, range_and_slice, {"lists.range", "[4]", "[0, 1, 2, 3]"},
      {"lists.range", "[0]", "[]"}, {"lists.range", "[-3]", "[]"},
      {"lists.range", "[9223372036854775807]", NULL}, {"lists.range", "[4.0]", NULL},
      {"slice", "[[1, 2, 3, 4], 1, 3]", "[2, 3]"}, {"slice", "[[1, 2, 3, 4], 4, 4]", "[]"},
      {"slice", "[[1, 2, 3, 4], 3, 0]", NULL}, {"slice", "[[1, 2, 3, 4], 0, 10]", NULL},
      {"slice", "[[1, 2, 3, 4], 0, 4]", "[1, 2, 3, 4]"}, {"slice", "[[1, 2, 3, 4], 0, 5]", NULL},
      {"slice", "[[1, 2, 3, 4], -5, 3]", NULL})

TABLE(cel_lists, flatten, {"flatten", "[[1, [2, [3, 4]]]]", "[1, 2, [3, 4]]"},
      {"flatten", "[[1, [2, [3, 4]]], 2]", "[1, 2, 3, 4]"},
      {"flatten", "[[1, [2, [3, 4]]], 0]", "[1, [2, [3, 4]]]"},
      {"flatten", "[[1, [2, [3, 4]]], 9223372036854775807]", "[1, 2, 3, 4]"},
      {"flatten", "[[[], [[]]], 1]", "[[]]"}, {"flatten", "[[1], -1]", NULL},
      {"flatten", "[{}]", NULL}, {"flatten", "[[], '1']", NULL})

TABLE(cel_lists, sort, {"sort", "[[4, 3, 2, 1]]", "[1, 2, 3, 4]"},
      {"sort", "[['d', 'a', 'aa', '']]", "[\"\", \"a\", \"aa\", \"d\"]"},
      {"sort", "[[2u, 1u]]", "[1u, 2u]"}, {"sort", "[[true, false]]", "[false, true]"},
      {"sort", "[[]]", "[]"}, {"sort", "[['d', 3, 2, 'c']]", NULL}, {"sort", "[[1, 2.0]]", NULL},
      {"sort", "[[{}, {}]]", NULL}, {"sort", "[[null]]", NULL}, {"sort", "[{}]", NULL},
      {"@sortByKeys", "[['a', 'b', 'c'], [3, 1, 2]]", "[\"b\", \"c\", \"a\"]"},
      {"@sortByKeys", "[['a', 'b', 'c', 'd'], [1, 0, 1, 0]]", "[\"b\", \"d\", \"a\", \"c\"]"},
      {"@sortByKeys", "[['a', 'b'], [1]]", NULL})

TABLE(cel_lists, distinct, {"distinct", "[[-2, 5, -2, 1, 1, 5]]", "[-2, 5, 1]"},
      {"distinct", "[[1, 1.0, 1u, 2.5, 2.5]]", "[1, 2.5]"},
      {"distinct", "[[-1, -1.0, 0.0, -0.0, 0u]]", "[-1, 0.0]"},
      {"distinct", "[[9007199254740993, 9007199254740992.0, 9007199254740992u]]",
       "[9007199254740993, 9007199254740992u]"},
      {"distinct", "[['a', b'a', 'a', null, null, true, true]]", "[\"a\", b\"a\", null, true]"},
      {"distinct", "[[[1], [1.0], {'a': 1, 'b': 2}, {'b': 2u, 'a': 1.0}]]",
       "[[1], {\"a\": 1, \"b\": 2}]"},
      {"distinct", "[[0.0/0.0, 0.0/0.0]]", "[double(\"NaN\"), double(\"NaN\")]"},
      {"distinct", "[[9223372036854775807, 9223372036854775807u, 18446744073709551615u]]",
       "[9223372036854775807, 18446744073709551615u]"},
      {"distinct", "[[timestamp(1), timestamp(1), duration('1s'), 1, int, int]]",
       "[timestamp(\"1970-01-01T00:00:01Z\"), duration(\"1s\"), 1, int]"},
      {"distinct", "[[[[[[[1]]]]], [[[[[2]]]]], [[[[[1]]]]]]]", "[[[[[[1]]]]], [[[[[2]]]]]]"},
      {"distinct", "[1]", NULL})

/* A hundred thousand different elements: quadratic work would take minutes. */
UTEST(cel_lists, distinct_is_linear) {
    struct table t;
    ASSERT_TRUE(table_open(&t));
    mwl_value list = mwl_array(t.heap, 100000);
    for (int i = 0; i < 100000; i++) {
        char text[20];
        int len = snprintf(text, sizeof text, "key %d", i % 50000);
        list = mwl_array_push(t.heap, list, mwl_string(t.heap, text, (size_t)len));
    }
    const mwl_function_def *def = mwl__functions_find(&t.functions, "distinct", 8, 1, true);
    mwl_value out = mwl_absent();
    t.x.budget = 3000000;
    ASSERT_TRUE(mwl__functions_call(&t.x, def, &list, 1, &out));
    EXPECT_EQ(mwl_count(out), (size_t)50000);
    mwl_value_drop(t.heap, out);
    mwl_value_drop(t.heap, list);
    ASSERT_TRUE(table_close(&t));
}

UTEST_MAIN()
