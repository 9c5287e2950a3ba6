/* test_temporal.c: the temporal profile, CEL's durations, RFC 3339, the calendar, exact ranges. */
#include "utest.h"
#include "vm/value/temporal.h"

#include <string.h>

#define S MWL__NS_PER_SEC

static mwl_status iso(const char *s, int64_t *d) {
    return mwl__temporal_parse_iso(s, strlen(s), d);
}
static mwl_status cel(const char *s, int64_t *d) {
    return mwl__temporal_parse_cel(s, strlen(s), d);
}
static mwl_status instant(const char *s, mwl__instant *t) {
    return mwl__temporal_parse_instant(s, strlen(s), t);
}
static const char *iso_text(int64_t d, char *out) {
    out[mwl__temporal_write_iso(d, out)] = '\0';
    return out;
}
static const char *cel_text(int64_t d, char *out) {
    out[mwl__temporal_write_cel(d, out)] = '\0';
    return out;
}
static const char *instant_text(mwl__instant t, char *out) {
    out[mwl__temporal_write_instant(t, out)] = '\0';
    return out;
}

/* ---- ISO 8601 durations ---------------------------------------------------------------------- */

UTEST(iso, components_and_their_lengths) {
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {
        {"PT0S", 0},
        {"P0D", 0},
        {"-PT0S", 0},
        {"PT30S", 30 * S},
        {"PT1H", 3600 * S},
        {"PT1H2S", 3602 * S},
        {"PT1M", 60 * S},
        {"P1M", 30 * 86400 * S},
        {"P1Y", 365 * 86400 * S},
        {"P1W", 7 * 86400 * S},
        {"P1D", 86400 * S},
        {"P1Y2M3W4DT5H6M7S", ((365 + 60 + 21 + 4) * 86400 + 5 * 3600 + 6 * 60 + 7) * S},
        {"P1Y2D", 367 * 86400 * S},
        {"PT36H", 36 * 3600 * S},
        {"-PT5S", -5 * S},
        {"PT0.5S", S / 2},
        {"PT0,5S", S / 2},
        {"-PT0.000000001S", -1},
        {"PT1.5H", 5400 * S},
        {"P0.5D", 43200 * S},
        {"P1.5W", 7 * 86400 * S * 3 / 2},
        {"P1DT0.5M", (86400 + 30) * S},
        {"PT0.0000000019S", 1},
        {"-PT0.0000000019S", -1},
        {"PT0.3S", 300000000},
        {"PT0.1234567899999999999999999999S", 123456789},
        {"P00000000000000000000000000001D", 86400 * S},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t d = -99;
        EXPECT_EQ(MWL_OK, iso(rows[i].text, &d));
        EXPECT_EQ(rows[i].ns, d);
        EXPECT_TRUE(mwl__temporal_is_iso_duration(rows[i].text, strlen(rows[i].text)));
    }
}

UTEST(iso, other_forms_are_refused) {
    static const char *const rows[] = {
        "",        "P",        "PT",     "-P",      "P1",       "1D",
        "P1YT",    "PT1D",     "P1H",    "P1D2H",   "P2D1Y",    "PT1S2M",
        "P1M1Y",   "P1D1D",    "PT1H1H", "p1d",     "P1d",      "PT1s",
        " P1D",    "P1D ",     "+P1D",   "--P1D",   "P-1D",     "P+1D",
        "P.5D",    "PT1.S",    "PT.5S",  "P1.D",    "P1.5DT1H", "PT0.5H1M",
        "P1.5Y2M", "PT1e2S",   "PTT1S",  "P1DTT1H", "PT1..5S",  "P0001-02-03T04:05:06",
        "1s",      "PT1.5.5S", "P1D\n",  "P1.5DT"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t d = 42;
        EXPECT_EQ(MWL_E_SYNTAX, iso(rows[i], &d));
        EXPECT_EQ((int64_t)42, d);
    }
}

UTEST(iso, range_is_exact) {
    int64_t d = 0;
    EXPECT_EQ(MWL_OK, iso("PT9223372036.854775807S", &d));
    EXPECT_EQ(INT64_MAX, d);
    EXPECT_EQ(MWL_OK, iso("-PT9223372036.854775808S", &d));
    EXPECT_EQ(INT64_MIN, d);
    EXPECT_EQ(MWL_E_RANGE, iso("PT9223372036.854775808S", &d));
    EXPECT_EQ(MWL_E_RANGE, iso("-PT9223372036.854775809S", &d));
    EXPECT_EQ(MWL_E_RANGE, iso("P293Y", &d));
    EXPECT_EQ(MWL_E_RANGE, iso("P99999999999999999999999999999999999D", &d));
    EXPECT_EQ(MWL_E_RANGE, iso("P292YT99999999999999999999S", &d));
    EXPECT_TRUE(mwl__temporal_is_iso_duration("P9999999999999999999999Y", 24));
    EXPECT_EQ(MWL_E_SYNTAX, iso("P99999999999999999999999999999999999", &d));
}

UTEST(iso, canonical_text) {
    static const struct {
        int64_t ns;
        const char *text;
    } rows[] = {{0, "PT0S"},
                {30 * S, "PT30S"},
                {5400 * S, "PT1H30M"},
                {26 * 3600 * S, "PT26H"},
                {3602 * S, "PT1H2S"},
                {60 * S, "PT1M"},
                {S / 2, "PT0.5S"},
                {3600 * S + S / 2, "PT1H0.5S"},
                {-30 * S, "-PT30S"},
                {1, "PT0.000000001S"},
                {INT64_MAX, "PT2562047H47M16.854775807S"},
                {INT64_MIN, "-PT2562047H47M16.854775808S"}};
    char out[MWL__DURATION_TEXT_MAX];
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t d = 7;
        EXPECT_STREQ(rows[i].text, iso_text(rows[i].ns, out));
        EXPECT_EQ(MWL_OK, iso(out, &d));
        EXPECT_EQ(rows[i].ns, d);
    }
}

/* ---- CEL durations --------------------------------------------------------------------------- */

UTEST(cel, reads_go_durations) {
    static const struct {
        const char *text;
        int64_t ns;
    } rows[] = {{"0", 0},
                {"-0", 0},
                {"+0", 0},
                {"1h30m", 5400 * S},
                {"1.5s", 3 * S / 2},
                {"-2ms", -2000000},
                {"3us", 3000},
                {"3\xC2\xB5s", 3000},
                {"3\xCE\xBCs", 3000},
                {"7ns", 7},
                {"1.s", S},
                {".5s", S / 2},
                {"1s1h", 3601 * S},
                {"+5m", 300 * S},
                {"1000000s", 1000000 * S},
                {"0.9ns", 0},
                {"1m1m", 120 * S},
                {"9223372036854775807ns", INT64_MAX},
                {"-9223372036854775808ns", INT64_MIN},
                {"00s", 0}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t d = -99;
        EXPECT_EQ(MWL_OK, cel(rows[i].text, &d));
        EXPECT_EQ(rows[i].ns, d);
    }
    static const char *const bad[] = {"",     "-",   "1",     "s",     ".s",   "1d",
                                      "1 s",  " 1s", "1s ",   "1e3s",  "--1s", "1S",
                                      "PT1S", "00",  "1..5s", "1s-1s", "1,5s"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        int64_t d;
        EXPECT_EQ(MWL_E_SYNTAX, cel(bad[i], &d));
    }
    int64_t d;
    EXPECT_EQ(MWL_E_RANGE, cel("320000000000s", &d));
    EXPECT_EQ(MWL_E_RANGE, cel("-320000000000s", &d));
    EXPECT_EQ(MWL_E_RANGE, cel("9223372036854775808ns", &d));
    EXPECT_EQ(MWL_E_RANGE, cel("9999999999999999999999999999h", &d));
}

UTEST(cel, writes_seconds) {
    char out[MWL__DURATION_TEXT_MAX];
    EXPECT_STREQ("0s", cel_text(0, out));
    EXPECT_STREQ("1000000s", cel_text(1000000 * S, out));
    EXPECT_STREQ("123.321456789s", cel_text(123321456789, out));
    EXPECT_STREQ("-1.5s", cel_text(-3 * S / 2, out));
    EXPECT_STREQ("-0.000000001s", cel_text(-1, out));
    EXPECT_STREQ("-9223372036.854775808s", cel_text(INT64_MIN, out));
}

/* ---- RFC 3339 -------------------------------------------------------------------------------- */

UTEST(rfc3339, reads) {
    static const struct {
        const char *text;
        int64_t sec;
        uint32_t ns;
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0, 0},
        {"2009-02-13T23:31:30Z", 1234567890, 0},
        {"2024-01-15t09:30:00z", 1705311000, 0},
        {"1969-12-31T23:59:59.25Z", -1, 250000000},
        {"1937-01-01T12:00:27.87+00:20", -1041337173, 870000000},
        {"1990-12-31T15:59:50-08:00", 662687990, 0},
        {"1985-04-12T00:59:59.9999999999999Z", 482115599, 999999999},
        {"0001-01-01T00:00:00Z", MWL__INSTANT_MIN_SEC, 0},
        {"9999-12-31T23:59:59.999999999Z", MWL__INSTANT_MAX_SEC, 999999999},
        {"0000-12-31T23:00:00-01:00", MWL__INSTANT_MIN_SEC, 0},
        {"2016-12-31T23:59:60Z", 1483228800, 0}, /* with :59 one second before */
        {"2016-12-31T15:59:60.5-08:00", 1483228800, 500000000},
        {"2000-02-29T00:00:00-00:00", 951782400, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mwl__instant t = {7, 7};
        EXPECT_EQ(MWL_OK, instant(rows[i].text, &t));
        EXPECT_EQ(rows[i].sec, t.sec);
        EXPECT_EQ(rows[i].ns, t.ns);
    }
}

UTEST(rfc3339, refuses) {
    static const char *const rows[] = {"",
                                       "2024-01-15",
                                       "2024-01-15T09:30:00",
                                       "2024-01-15 09:30:00Z",
                                       "2024-01-15T09:30Z",
                                       "2024-13-15T09:30:00Z",
                                       "2024-00-15T09:30:00Z",
                                       "2023-02-29T09:30:00Z",
                                       "1900-02-29T09:30:00Z",
                                       "2024-04-31T09:30:00Z",
                                       "2024-01-00T09:30:00Z",
                                       "2024-01-15T24:00:00Z",
                                       "2024-01-15T09:60:00Z",
                                       "2024-01-15T09:30:61Z",
                                       "2024-01-15T09:30:60Z",
                                       "2024-01-15T23:59:60+01:00",
                                       "2024-01-15T09:30:00.Z",
                                       "2024-01-15T09:30:00,5Z",
                                       "2024-01-15T09:30:00+24:00",
                                       "2024-01-15T09:30:00+10:60",
                                       "2024-01-15T09:30:00+01",
                                       "2024-01-15T09:30:00+0100",
                                       "2024-01-15T09:30:00+01:00Z",
                                       "2024-01-15T09:30:00Zz",
                                       "+2024-01-15T09:30:00Z",
                                       "10000-01-01T00:00:00Z",
                                       "2024-1-15T09:30:00Z",
                                       "2024-01-15T9:30:00Z",
                                       "2024-01-15T09:30:00Z\n",
                                       "2024/01/15T09:30:00Z"};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mwl__instant t;
        EXPECT_EQ(MWL_E_SYNTAX, instant(rows[i], &t));
    }
    mwl__instant t;
    EXPECT_EQ(MWL_E_RANGE, instant("0000-12-31T23:59:59Z", &t));
    EXPECT_EQ(MWL_E_RANGE, instant("9999-12-31T23:59:59-00:01", &t));
    EXPECT_EQ(MWL_E_RANGE, instant("9999-12-31T23:59:60Z", &t));
}

UTEST(rfc3339, writes_and_reads_back) {
    char out[MWL__INSTANT_TEXT_MAX];
    EXPECT_STREQ("2009-02-13T23:31:30Z", instant_text((mwl__instant){1234567890, 0}, out));
    EXPECT_STREQ("1969-12-31T23:59:59.5Z", instant_text((mwl__instant){-1, 500000000}, out));
    EXPECT_STREQ("2009-02-13T23:31:30.00001Z",
                 instant_text((mwl__instant){1234567890, 10000}, out));
    size_t wrong = 0;
    for (int64_t sec = MWL__INSTANT_MIN_SEC; sec <= MWL__INSTANT_MAX_SEC; sec += 86399 * 37) {
        mwl__instant t = {sec, (uint32_t)((uint64_t)sec * 7919 % 1000000000)}, back = {0, 0};
        size_t n = mwl__temporal_write_instant(t, out);
        wrong += mwl__temporal_parse_instant(out, n, &back) != MWL_OK || t.sec != back.sec ||
                 t.ns != back.ns;
    }
    EXPECT_EQ((size_t)0, wrong);
}

UTEST(rfc3339, grammars_alone) {
    EXPECT_TRUE(mwl__temporal_is_date("0000-02-29", 10));
    EXPECT_FALSE(mwl__temporal_is_date("2021-02-29", 10));
    EXPECT_FALSE(mwl__temporal_is_date("2021-02-2", 9));
    EXPECT_TRUE(mwl__temporal_is_time("23:29:60+23:30", 14));
    EXPECT_FALSE(mwl__temporal_is_time("23:59:60-01:00", 14));
    EXPECT_FALSE(mwl__temporal_is_time("", 0));
    EXPECT_FALSE(mwl__temporal_is_time("12:00:00.", 9));
    EXPECT_TRUE(mwl__temporal_is_date_time("0000-01-01T00:00:00Z", 20));
}

/* ---- calendar -------------------------------------------------------------------------------- */

/* Walk every day from year 1 to 9999 with nothing but month lengths. */
UTEST(calendar, every_day) {
    int64_t day = mwl__temporal_days(1, 1, 1);
    EXPECT_EQ(MWL__INSTANT_MIN_SEC / 86400, day);
    size_t wrong = 0;
    int weekday = 1; /* 0001-01-01 was a Monday */
    for (int32_t y = 1; y <= 9999; y++) {
        int yearday = 0;
        for (int m = 1; m <= 12; m++)
            for (int d = 1; d <= mwl__temporal_days_in_month(y, m); d++, day++, yearday++) {
                mwl__civil c = mwl__temporal_civil((mwl__instant){day * 86400 + 86399, 5}, 0);
                wrong += c.year != y || c.month != m || c.day != d || c.weekday != weekday ||
                         c.yearday != yearday || c.hour != 23 || c.minute != 59 || c.second != 59 ||
                         c.ns != 5;
                wrong += mwl__temporal_days(y, m, d) != day;
                weekday = (weekday + 1) % 7;
            }
    }
    EXPECT_EQ((size_t)0, wrong);
    EXPECT_EQ(MWL__INSTANT_MAX_SEC + 1, day * 86400);
}

UTEST(calendar, offsets) {
    mwl__civil c = mwl__temporal_civil((mwl__instant){1234567890, 42}, 11 * 3600);
    EXPECT_EQ(14, c.day);
    EXPECT_EQ(10, c.hour);
    c = mwl__temporal_civil((mwl__instant){MWL__INSTANT_MIN_SEC, 0}, -3600);
    EXPECT_EQ(0, c.year);
    EXPECT_EQ(31, c.day);
}

/* ---- arithmetic ------------------------------------------------------------------------------ */

UTEST(arithmetic, add_and_subtract) {
    mwl__instant t = {0, 1}, r = {0, 0};
    EXPECT_EQ(MWL_OK, mwl__temporal_add(t, -2, &r));
    EXPECT_EQ((int64_t)-1, r.sec);
    EXPECT_EQ(999999999u, r.ns);
    EXPECT_EQ(MWL_OK, mwl__temporal_sub(t, -2 * S - 999999999, &r));
    EXPECT_EQ((int64_t)3, r.sec);
    EXPECT_EQ(0u, r.ns);
    mwl__instant first = {MWL__INSTANT_MIN_SEC, 0}, last = {MWL__INSTANT_MAX_SEC, 999999999};
    EXPECT_EQ(MWL_E_RANGE, mwl__temporal_add(first, -1, &r));
    EXPECT_EQ(MWL_E_RANGE, mwl__temporal_add(last, 1, &r));
    EXPECT_EQ(MWL_E_RANGE, mwl__temporal_sub(last, INT64_MIN, &r));
    EXPECT_EQ(MWL_E_RANGE, mwl__temporal_sub(first, INT64_MAX, &r));
    EXPECT_EQ(MWL_OK, mwl__temporal_sub(t, INT64_MIN, &r));
    EXPECT_EQ((int64_t)9223372036, r.sec);
    EXPECT_EQ(854775809u, r.ns);
}

UTEST(arithmetic, difference_is_exact) {
    int64_t d = 0;
    mwl__instant zero = {0, 0}, far = {9223372036, 854775807}, past = {-9223372037, 145224192};
    EXPECT_EQ(MWL_OK, mwl__temporal_diff(far, zero, &d));
    EXPECT_EQ(INT64_MAX, d);
    EXPECT_EQ(MWL_OK, mwl__temporal_diff(past, zero, &d));
    EXPECT_EQ(INT64_MIN, d);
    far.ns++, past.ns--;
    EXPECT_EQ(MWL_E_RANGE, mwl__temporal_diff(far, zero, &d));
    EXPECT_EQ(MWL_E_RANGE, mwl__temporal_diff(past, zero, &d));
    EXPECT_EQ(MWL_OK, mwl__temporal_diff((mwl__instant){2, 1}, (mwl__instant){1, 2}, &d));
    EXPECT_EQ((int64_t)999999999, d);
    mwl__instant first = {MWL__INSTANT_MIN_SEC, 0}, last = {MWL__INSTANT_MAX_SEC, 0};
    EXPECT_EQ(MWL_E_RANGE, mwl__temporal_diff(last, first, &d));
    EXPECT_EQ(MWL_E_RANGE, mwl__temporal_diff(first, last, &d));
}

UTEST_MAIN()
