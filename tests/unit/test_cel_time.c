/* Accessors of timestamps and durations. */
#include "utest.h"

#include "tests/unit/cel_table.h"

#define T "timestamp('2009-02-13T23:31:30.123Z')"

TABLE(cel_time, timestamps, {"getFullYear", "[" T "]", "2009"}, {"getMonth", "[" T "]", "1"},
      {"getDate", "[" T "]", "13"}, {"getDayOfMonth", "[" T "]", "12"},
      {"getDayOfYear", "[" T "]", "43"}, {"getDayOfWeek", "[" T "]", "5"},
      {"getHours", "[" T "]", "23"}, {"getMinutes", "[" T "]", "31"},
      {"getSeconds", "[" T "]", "30"}, {"getMilliseconds", "[" T "]", "123"},
      {"getMilliseconds", "[timestamp('1969-12-31T23:59:59.9Z')]", "900"},
      {"getFullYear", "[1]", NULL})

TABLE(cel_time, zones, {"getDate", "[" T ", 'Australia/Sydney']", "14"},
      {"getHours", "[" T ", '+02:00']", "1"}, {"getHours", "[" T ", '02:00']", "1"},
      {"getMinutes", "[" T ", 'Asia/Kathmandu']", "16"}, {"getHours", "[" T ", 'UTC']", "23"},
      {"getHours", "[timestamp('2024-07-01T12:00:00Z'), 'America/New_York']", "8"},
      {"getHours", "[timestamp('2024-01-01T12:00:00Z'), 'America/New_York']", "7"},
      {"getFullYear", "[timestamp('0001-01-01T00:00:00Z'), '-01:00']", "0"},
      {"getHours", "[" T ", 'No/Such_Zone']", NULL}, {"getHours", "[" T ", '../etc/passwd']", NULL},
      {"getHours", "[" T ", '+1:99']", NULL}, {"getHours", "[" T ", 1]", NULL})

/* Without a cache of zones the result is the same. */
UTEST(cel_time, no_cache) {
    struct table t;
    char got[100];
    ASSERT_TRUE(table_open(&t));
    t.x.zones = NULL;
    mwl_value list = mwl_array_push(t.heap, mwl_array(t.heap, 2), mwl_timestamp(1234567890, 0));
    list = mwl_array_push(t.heap, list, mwl_string(t.heap, "Asia/Kathmandu", 14));
    EXPECT_EQ(table_call(&t, "getMinutes", list, got, sizeof got), MWL_EXEC_END);
    EXPECT_STREQ(got, "16");
    mwl_value_drop(t.heap, list);
    ASSERT_TRUE(table_close(&t));
}

TABLE(cel_time, durations, {"getHours", "[duration('10000s')]", "2"},
      {"getMinutes", "[duration('-3730s')]", "-62"},
      {"getSeconds", "[duration('3730.9s')]", "3730"},
      {"getMilliseconds", "[duration('1.234s')]", "234"},
      {"getMilliseconds", "[duration('-1.234s')]", "-234"},
      {"getFullYear", "[duration('1s')]", NULL}, {"getHours", "[duration('1s'), 'UTC']", NULL})

UTEST_MAIN()
