/* temporal.h: instants, durations, and their texts.
 *
 * Owns: the civil (proleptic Gregorian) calendar, RFC 3339 timestamps, ISO 8601 durations, CEL's
 * durations, and the exact arithmetic between them. Refuses to know: clocks, values, zones by name
 * (zone.h). Pure functions, no allocation, linear time; out-parameters are written on success only.
 *
 * A duration is a signed count of nanoseconds in 64 bits (about 292 years each way). An instant
 * counts seconds and nanoseconds since 1970-01-01T00:00:00Z, without leap seconds, from year 1 to
 * 9999. */
#ifndef MWL_TEMPORAL_H
#define MWL_TEMPORAL_H

#include "mwl.h"

#define MWL__NS_PER_SEC INT64_C(1000000000)
#define MWL__INSTANT_MIN_SEC INT64_C(-62135596800) /* 0001-01-01T00:00:00Z */
#define MWL__INSTANT_MAX_SEC INT64_C(253402300799) /* 9999-12-31T23:59:59Z */

typedef struct mwl__instant {
    int64_t sec;
    uint32_t ns; /* 0 to 999999999, counted forward also before 1970 */
} mwl__instant;

/* Broken down by the calendar and the clock on the wall. */
typedef struct mwl__civil {
    int32_t year;    /* 0 to 9999; a zone's offset may lead one day out of an instant's own range */
    uint8_t month;   /* 1 to 12 */
    uint8_t day;     /* 1 to 31 */
    uint8_t hour;    /* 0 to 23 */
    uint8_t minute;  /* 0 to 59 */
    uint8_t second;  /* 0 to 59 */
    uint8_t weekday; /* 0 is Sunday */
    uint16_t yearday; /* 0 is January 1 */
    uint32_t ns;
} mwl__civil;

/* ---- arithmetic ------------------------------------------------------------------------------ */

bool mwl__temporal_in_range(mwl__instant t);

/* t + d, t - d, a - b, all exact; MWL_E_RANGE when the answer cannot be represented. */
mwl_status mwl__temporal_add(mwl__instant t, int64_t duration_ns, mwl__instant *out);
mwl_status mwl__temporal_sub(mwl__instant t, int64_t duration_ns, mwl__instant *out);
mwl_status mwl__temporal_diff(mwl__instant a, mwl__instant b, int64_t *duration_ns);

/* ---- calendar -------------------------------------------------------------------------------- */

int mwl__temporal_days_in_month(int32_t year, int month); /* 0 when there is no such month */

/* Days from 1970-01-01 to a date; month from 1 to 12, any day number. Years -1000000 to 1000000. */
int64_t mwl__temporal_days(int32_t year, int month, int64_t day);

/* What a clock shows at t where local time is offset_sec ahead of UTC (at most a week either way).
 */
mwl__civil mwl__temporal_civil(mwl__instant t, int32_t offset_sec);

/* ---- RFC 3339 timestamps --------------------------------------------------------------------- */

#define MWL__INSTANT_TEXT_MAX 40 /* 30 bytes are used at most */

/* Read all of an RFC 3339 timestamp: 'T' and 'Z' in either case, an offset below 24:00, any number
 * of digits of a fraction, of which nine count and the rest are cut. Second 60 is taken where a
 * leap second can be (23:59:60 UTC), and names the instant one second after :59, since this time
 * scale has none. MWL_E_SYNTAX: another form or no such date. MWL_E_RANGE: before year 1 or after
 * 9999. */
mwl_status mwl__temporal_parse_instant(const char *s, size_t len, mwl__instant *out);

/* Write in UTC with 'Z', the fraction without trailing zeros, none when it is zero. The answer is
 * the length; no NUL is added. */
size_t mwl__temporal_write_instant(mwl__instant t, char out[MWL__INSTANT_TEXT_MAX]);

/* The grammars alone, for schema formats: full-date, full-time, date-time of RFC 3339 with the
 * limits of its section 5.7. Year 0000 is in the grammar. */
bool mwl__temporal_is_date(const char *s, size_t len);
bool mwl__temporal_is_time(const char *s, size_t len);
bool mwl__temporal_is_date_time(const char *s, size_t len);

/* ---- ISO 8601 durations: the language's temporal profile ------------------------------------- */

#define MWL__DURATION_TEXT_MAX 40 /* 29 bytes are used at most, by either writer */

/* Read all of [-]P[nY][nM][nW][nD][T[nH][nM][nS]]: at least one component, at least one after T,
 * designators in upper case and in order, a fraction ('.' or ',') on the last component only. Weeks
 * may stand alone or with others. A year is 365 days, a month 30, a week 7, a day 24 hours. What is
 * finer than a nanosecond is cut toward zero. Not read: a leading '+', the alternative form
 * (P0001-02-03T04:05:06). MWL_E_SYNTAX: another form. MWL_E_RANGE: well formed, and too long. */
mwl_status mwl__temporal_parse_iso(const char *s, size_t len, int64_t *duration_ns);

/* Write the canonical form: hours (the largest unit), minutes, seconds; zero components left out,
 * the fraction on the seconds without trailing zeros, a leading minus, zero is PT0S. PT26H,
 * PT1H0.5S, -PT30S. The answer is the length; no NUL is added. */
size_t mwl__temporal_write_iso(int64_t duration_ns, char out[MWL__DURATION_TEXT_MAX]);

/* Whether the text is in the grammar that mwl__temporal_parse_iso reads, of whatever size. */
bool mwl__temporal_is_iso_duration(const char *s, size_t len);

/* ---- CEL durations --------------------------------------------------------------------------- */

/* Read CEL's duration(string), the grammar of Go's time.ParseDuration: [+-], then "0" or one or
 * more of a decimal number and a unit of h, m, s, ms, us (or U+00B5 s, U+03BC s), ns, in any order.
 * Cut toward zero below a nanosecond. MWL_E_SYNTAX or MWL_E_RANGE. */
mwl_status mwl__temporal_parse_cel(const char *s, size_t len, int64_t *duration_ns);

/* Write CEL's string(duration): seconds with as many decimals as needed, and 's' ("-1.5s", "0s").
 */
size_t mwl__temporal_write_cel(int64_t duration_ns, char out[MWL__DURATION_TEXT_MAX]);

#endif
