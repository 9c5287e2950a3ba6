/* The functions that the language adds to CEL (spec: expressions, "MWL functions"). */
#include "utest.h"

#include "tests/unit/cel_table.h"

TABLE(cel_mwl, to_json,
      {"toJson", "[{'b': [1, 2.5, null], 'a': {'\\u00e9': true}}]",
       "\"{\\\"a\\\":{\\\"é\\\":true},\\\"b\\\":[1,2.5,null]}\""},
      {"toJson", "['a\\n\"']", "\"\\\"a\\\\n\\\\\\\"\\\"\""}, {"toJson", "[1u]", "\"1\""},
      {"toJson", "[-0.0]", "\"0\""}, {"toJson", "[1e21]", "\"1e+21\""},
      {"toJson", "[9007199254740992]", "\"9007199254740992\""},
      {"toJson", "[9007199254740993]", NULL}, {"toJson", "[[0.0/0.0]]", NULL},
      {"toJson", "[b'a']", NULL}, {"toJson", "[timestamp(0)]", NULL}, {"toJson", "[{1: 2}]", NULL},
      {"toJson", "[int]", NULL}, {"toJson", "[optional.none()]", NULL})

/* A refused value is a fault of evaluation, not an unrepresentable result. */
UTEST(cel_mwl, to_json_fault_code) {
    struct table t;
    ASSERT_TRUE(table_open(&t));
    const mwl_function_def *def = mwl__functions_find(&t.functions, "toJson", 6, 1, false);
    mwl_value v = mwl_duration(5), out = mwl_absent();
    EXPECT_FALSE(mwl__functions_call(&t.x, def, &v, 1, &out));
    ASSERT_EQ(t.x.halt, MWL_EXEC_FAULT);
    EXPECT_EQ(mwl__as_fault(t.x.fault)->code, (uint32_t)MWL_FAILURE_EXPRESSION);
    ASSERT_TRUE(table_close(&t));
}

TABLE(cel_mwl, from_json,
      {"fromJson", "['{\"a\": [1, -2.5e3, true, null, \"x\"]}']",
       "{\"a\": [1.0, -2500.0, true, null, \"x\"]}"},
      {"fromJson", "['9007199254740993']", "9007199254740992.0"}, {"fromJson", "['']", NULL},
      {"fromJson", "['{\"a\":}']", NULL}, {"fromJson", "['1 2']", NULL}, {"fromJson", "[1]", NULL})

TABLE(cel_mwl, durations, {"durationToIso8601", "[duration('5400s')]", "\"PT1H30M\""},
      {"durationToIso8601", "[duration('26h')]", "\"PT26H\""},
      {"durationToIso8601", "[duration('500ms')]", "\"PT0.5S\""},
      {"durationToIso8601", "[duration('0s')]", "\"PT0S\""},
      {"durationToIso8601", "[duration('-30s')]", "\"-PT30S\""},
      {"durationToIso8601", "['PT1H']", NULL},
      {"durationFromIso8601", "['PT1H30M']", "duration(\"5400s\")"},
      {"durationFromIso8601", "['P1DT2H']", "duration(\"93600s\")"},
      {"durationFromIso8601", "['P2W']", "duration(\"1209600s\")"},
      {"durationFromIso8601", "['-PT30S']", "duration(\"-30s\")"},
      {"durationFromIso8601", "['PT']", NULL}, {"durationFromIso8601", "['P300Y']", NULL},
      {"durationFromIso8601", "['5s']", NULL}, {"durationFromIso8601", "[5]", NULL})

TABLE(cel_mwl, clocks, {"now", "[]", "timestamp(\"2023-11-14T22:13:20.000000005Z\")"},
      {"wallTime", "[]", "timestamp(\"2023-11-14T22:13:20.000000005Z\")"})

static mwl__clock_pin later(void *ctx) {
    (void)ctx;
    return (mwl__clock_pin){1700000001, 0};
}

UTEST(cel_mwl, wall_time_is_the_clock) {
    struct table t;
    char got[100];
    ASSERT_TRUE(table_open(&t));
    t.x.wall = later;
    mwl_value none = mwl_array(t.heap, 0);
    EXPECT_EQ(table_call(&t, "wallTime", none, got, sizeof got), MWL_EXEC_END);
    EXPECT_STREQ(got, "timestamp(\"2023-11-14T22:13:21Z\")");
    EXPECT_EQ(table_call(&t, "now", none, got, sizeof got), MWL_EXEC_END);
    EXPECT_STREQ(got, "timestamp(\"2023-11-14T22:13:20.000000005Z\")");
    mwl_value_drop(t.heap, none);
    ASSERT_TRUE(table_close(&t));
}

UTEST_MAIN()
