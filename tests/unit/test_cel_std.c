/* CEL's standard functions: sizes, strings, patterns, types, well-known messages. */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_std, strings, {"size", "['a\\u00e9\\U0001F431']", "3"}, {"size", "[b'\\303\\251']", "2"},
      {"size", "[[1, 2]]", "2"}, {"size", "[{1: 2}]", "1"}, {"size", "[1]", NULL},
      {"contains", "['tacocat', 'coc']", "true"}, {"contains", "['tacocat', '']", "true"},
      {"contains", "['', 'a']", "false"}, {"contains", "['a\\000b', '\\000b']", "true"},
      {"startsWith", "['tacocat', 'taco']", "true"}, {"startsWith", "['ta', 'taco']", "false"},
      {"endsWith", "['tacocat', 'cat']", "true"}, {"endsWith", "['tacocat', 1]", NULL})

TABLE(cel_std, patterns, {"matches", "['hubba', 'ubb']", "true"},
      {"matches", "['hubba', '^ubb']", "false"}, {"matches", "['hubba', '^(h|x)u+b*a$']", "true"},
      {"matches", "['hubba', '(']", NULL}, {"matches", "['hubba', '(?=u)']", NULL},
      {"matches", "['hubba', '(h)\\\\1']", NULL}, {"matches", "['hubba', 1]", NULL})

/* More patterns than are remembered, twice over. */
UTEST(cel_std, many_patterns) {
    struct table t;
    char text[40];
    ASSERT_TRUE(table_open(&t));
    const mwl_function_def *def = mwl__functions_find(&t.functions, "matches", 7, 2, true);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 100; i++) {
            int len = snprintf(text, sizeof text, "^a%db+$", i);
            mwl_value out,
                args[2] = {mwl_string(t.heap, "a7bbb", 5), mwl_string(t.heap, text, (size_t)len)};
            ASSERT_TRUE(mwl__functions_call(&t.x, def, args, 2, &out));
            EXPECT_EQ(mwl_as_bool(out), i == 7);
            mwl_value_drop(t.heap, args[0]);
            mwl_value_drop(t.heap, args[1]);
        }
    ASSERT_TRUE(table_close(&t));
}

TABLE(cel_std, types, {"type", "[1]", "int"}, {"type", "[null]", "null_type"},
      {"type", "[timestamp(0)]", "google.protobuf.Timestamp"}, {"type", "[type(1)]", "type"},
      {"type", "[optional.none()]", "optional_type"}, {"type", "[ip('::')]", "net.IP"},
      {"dyn", "[[1, 'a']]", "[1, \"a\"]"})

TABLE(cel_std, messages, {"@message", "['google.protobuf.Int32Value', {'value': -5}]", "-5"},
      {"@message", "['google.protobuf.Int32Value', {}]", "0"},
      {"@message", "['google.protobuf.Int32Value', {'value': 2147483648}]", NULL},
      {"@message", "['google.protobuf.UInt32Value', {'value': 4294967296u}]", NULL},
      {"@message", "['google.protobuf.Int32Value', {'valu': 1}]", NULL},
      {"@message", "['google.protobuf.Int32Value', {'value': 1u}]", NULL},
      {"@message", "['google.protobuf.FloatValue', {'value': 0.5}]", "0.5"},
      {"@message", "['google.protobuf.FloatValue', {'value': 0.1}]", "0.10000000149011612"},
      {"@message", "['google.protobuf.StringValue', {}]", "\"\""},
      {"@message", "['google.protobuf.BytesValue', {'value': b'a'}]", "b\"a\""},
      {"@message", "['google.protobuf.Value', {}]", "null"},
      {"@message", "['google.protobuf.Value', {'list_value': [1, 'a', [2u]]}]",
       "[1.0, \"a\", [2.0]]"},
      {"@message", "['google.protobuf.Value', {'number_value': 1.0, 'bool_value': true}]", NULL},
      {"@message", "['google.protobuf.Struct', {'fields': {'a': 1, 'b': {'c': [null]}}}]",
       "{\"a\": 1.0, \"b\": {\"c\": [null]}}"},
      {"@message", "['google.protobuf.Struct', {'fields': {1: 1}}]", NULL},
      {"@message", "['google.protobuf.Struct', {'fields': {'a': int}}]", NULL},
      {"@message", "['google.protobuf.ListValue', {'values': [9007199254740993]}]",
       "[\"9007199254740993\"]"},
      {"@message", "['google.protobuf.Duration', {'seconds': 1, 'nanos': 5}]",
       "duration(\"1.000000005s\")"},
      {"@message", "['google.protobuf.Duration', {'seconds': 9223372037}]", NULL},
      {"@message", "['google.protobuf.Timestamp', {'seconds': 1}]",
       "timestamp(\"1970-01-01T00:00:01Z\")"},
      {"@message", "['google.protobuf.Timestamp', {'nanos': -1}]", NULL},
      {"@message", "['google.protobuf.Any', {}]", NULL})

UTEST_MAIN()
