/* test_cron.c: when schedules are due: fields of cron expressions, and clocks that change. */
#include "utest.h"

#include "tools/serve/cron.h"
#include "vm/value/temporal.h"

#include <string.h>

static int64_t at(const char *text) {
    mwl__instant t = {0, 0};
    (void)mwl__temporal_parse_instant(text, strlen(text), &t);
    return t.sec;
}

/* The next n instants behind `after`, with blanks between them. */
static const char *next(const char *expression, const char *zone, const char *after, int n) {
    static char out[400];
    struct cron c;
    mwl__zones zones;
    char why[200];
    int64_t s = at(after);
    if (!cron_read(&c, expression, why, sizeof why)) return strcpy(out, why);
    mwl__zones_init(&zones, mwl_alloc_default(), NULL, NULL);
    *out = '\0';
    for (int i = 0; i < n; i++) {
        char text[MWL__INSTANT_TEXT_MAX + 1];
        mwl_status status = cron_next(&c, &zones, zone, s, &s);
        const mwl__instant t = {s, 0};
        text[mwl__temporal_write_instant(t, text)] = '\0';
        if (i) strcat(out, " ");
        strcat(out, status == MWL_OK ? text : mwl_status_text(status));
    }
    mwl__zones_free(&zones);
    return out;
}

/* The first instant after the beginning of 2026, in UTC; or what is wrong. */
static const char *first(const char *expression) {
    return next(expression, "UTC", "2026-01-01T00:00:00Z", 1);
}

UTEST(cron, fields) {
    ASSERT_STREQ(next("*/15 * * * *", "UTC", "2026-01-01T00:07:30Z", 3),
                 "2026-01-01T00:15:00Z 2026-01-01T00:30:00Z 2026-01-01T00:45:00Z");
    ASSERT_STREQ(next("5,10-11 3 * * *", "UTC", "2026-01-01T03:05:00Z", 3),
                 "2026-01-01T03:10:00Z 2026-01-01T03:11:00Z 2026-01-02T03:05:00Z");
    ASSERT_STREQ(next("0 6 * * MON-FRI", "UTC", "2026-01-02T07:00:00Z", 2),
                 "2026-01-05T06:00:00Z 2026-01-06T06:00:00Z");
    ASSERT_STREQ(next("0 0 1 jan,JUL *", "UTC", "2026-01-01T00:00:00Z", 2),
                 "2026-07-01T00:00:00Z 2027-01-01T00:00:00Z");
    ASSERT_STREQ(first("0 12 * * 7"), "2026-01-04T12:00:00Z");
    ASSERT_STREQ(first("@weekly"), "2026-01-04T00:00:00Z");
    ASSERT_STREQ(first("0 0 29 2 *"), "2028-02-29T00:00:00Z");
}

UTEST(cron, one_of_two_days_is_enough) {
    ASSERT_STREQ(next("0 0 13 * FRI", "UTC", "2026-01-01T00:00:00Z", 3),
                 "2026-01-02T00:00:00Z 2026-01-09T00:00:00Z 2026-01-13T00:00:00Z");
}

UTEST(cron, a_time_that_does_not_exist_is_due_at_the_change) {
    /* Berlin: 2026-03-29, 02:00 becomes 03:00 */
    ASSERT_STREQ(next("30 2 * * *", "Europe/Berlin", "2026-03-27T12:00:00Z", 3),
                 "2026-03-28T01:30:00Z 2026-03-29T01:00:00Z 2026-03-30T00:30:00Z");
    ASSERT_STREQ(next("15,45 2 * * *", "Europe/Berlin", "2026-03-28T12:00:00Z", 2),
                 "2026-03-29T01:00:00Z 2026-03-30T00:15:00Z");
    /* at midnight: Beirut, 2026-03-29, 00:00 becomes 01:00 */
    ASSERT_STREQ(next("0 0 * * *", "Asia/Beirut", "2026-03-28T12:00:00Z", 2),
                 "2026-03-28T22:00:00Z 2026-03-29T21:00:00Z");
    /* by half an hour: Lord Howe, 2026-10-04, 02:00 becomes 02:30 */
    ASSERT_STREQ(next("10 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2),
                 "2026-10-03T15:30:00Z 2026-10-04T15:10:00Z");
    /* every hour that passes, and no other */
    ASSERT_STREQ(next("30 * * * *", "Europe/Berlin", "2026-03-29T00:00:00Z", 2),
                 "2026-03-29T00:30:00Z 2026-03-29T01:30:00Z");
}

UTEST(cron, a_time_that_comes_twice_is_due_once) {
    /* Berlin: 2026-10-25, 03:00 becomes 02:00 */
    ASSERT_STREQ(next("30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", 2),
                 "2026-10-25T00:30:00Z 2026-10-26T01:30:00Z");
    ASSERT_STREQ(next("30 * * * *", "Europe/Berlin", "2026-10-24T23:45:00Z", 3),
                 "2026-10-25T00:30:00Z 2026-10-25T01:30:00Z 2026-10-25T02:30:00Z");
}

UTEST(cron, what_is_not_valid) {
    ASSERT_STREQ(first("60 * * * *"), "the minute '60' is not valid");
    ASSERT_STREQ(first("* * * * FOO"), "the day of the week 'FOO' is not valid");
    ASSERT_TRUE(strstr(first("* * * *"), "five fields") != NULL);
    ASSERT_TRUE(strstr(first("* * * * * *"), "five fields") != NULL);
    static const char *const wrong[] = {"5-3 * * * *", "*/0 * * * *", "1, * * * *",  "- * * * *",
                                        "1/ * * * *",  "a * * * *",   "*/99 * * * *"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        ASSERT_TRUE(strstr(first(wrong[i]), "not valid") != NULL);
    ASSERT_STREQ(first("0 0 31 2 *"), mwl_status_text(MWL_E_NOT_FOUND));
}

UTEST(cron, durations) {
    ASSERT_EQ((int)cron_seconds("90s"), 90);
    ASSERT_EQ((int)cron_seconds("15m"), 900);
    ASSERT_EQ((int)cron_seconds("1d"), 86400);
    ASSERT_EQ((int)cron_seconds("PT1H30M"), 5400);
    ASSERT_EQ((int)cron_seconds("0s"), 0);
    ASSERT_EQ((int)cron_seconds("-1m"), 0);
    ASSERT_EQ((int)cron_seconds("1 m"), 0);
    ASSERT_EQ((int)cron_seconds(""), 0);
}

UTEST_MAIN()
