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

/* An instant as a calendar date and a time of day. */
typedef struct mwl__civil {
    int32_t
        year; /* 0 to 9999; with a zone's offset it may be one day outside the range of instants */
    uint8_t month;    /* 1 to 12 */
    uint8_t day;      /* 1 to 31 */
    uint8_t hour;     /* 0 to 23 */
    uint8_t minute;   /* 0 to 59 */
    uint8_t second;   /* 0 to 59 */
    uint8_t weekday;  /* 0 is Sunday */
    uint16_t yearday; /* 0 is January 1 */
    uint32_t ns;
} mwl__civil;

/* ---- arithmetic ------------------------------------------------------------------------------ */

bool mwl__temporal_in_range(mwl__instant t);

/* t + d, t - d, a - b, all exact. Return MWL_E_RANGE if the result cannot be represented. */
mwl_status mwl__temporal_add(mwl__instant t, int64_t duration_ns, mwl__instant *out);
mwl_status mwl__temporal_sub(mwl__instant t, int64_t duration_ns, mwl__instant *out);
mwl_status mwl__temporal_diff(mwl__instant a, mwl__instant b, int64_t *duration_ns);

/* ---- calendar -------------------------------------------------------------------------------- */

int mwl__temporal_days_in_month(int32_t year, int month); /* 0 when there is no such month */

/* Days from 1970-01-01 to a date; month from 1 to 12, any day number. Years -1000000 to 1000000. */
int64_t mwl__temporal_days(int32_t year, int month, int64_t day);

/* The local date and time at t, where local time is offset_sec ahead of UTC (at most a week either
 * way). */
mwl__civil mwl__temporal_civil(mwl__instant t, int32_t offset_sec);

/* ---- RFC 3339 timestamps --------------------------------------------------------------------- */

#define MWL__INSTANT_TEXT_MAX 40 /* at most 30 bytes are used */

/* Reads an RFC 3339 timestamp, which must be the whole text. 'T' and 'Z' may be in either case, the
 * offset is below 24:00, and the fraction may have any number of digits, of which nine count.
 * Second 60 is accepted where a leap second is possible (23:59:60 UTC); it means the instant one
 * second after :59, because this time scale has no leap seconds. MWL_E_SYNTAX: another form, or the
 * date does not exist. MWL_E_RANGE: before year 1 or after 9999; *out is set all the same. */
mwl_status mwl__temporal_parse_instant(const char *s, size_t len, mwl__instant *out);

/* Writes a timestamp in UTC with 'Z'. The fraction has no trailing zeros, and is left out if it is
 * zero. Returns the length; no NUL is added. */
size_t mwl__temporal_write_instant(mwl__instant t, char out[MWL__INSTANT_TEXT_MAX]);

/* Check only the grammar, for schema formats: full-date, full-time, date-time of RFC 3339 with the
 * limits of its section 5.7. Year 0000 is allowed. */
bool mwl__temporal_is_date(const char *s, size_t len);
bool mwl__temporal_is_time(const char *s, size_t len);
bool mwl__temporal_is_date_time(const char *s, size_t len);

/* ---- ISO 8601 durations: the language's temporal profile ------------------------------------- */

#define MWL__DURATION_TEXT_MAX 40 /* both writers use at most 29 bytes */

/* Reads [-]P[nY][nM][nW][nD][T[nH][nM][nS]], which must be the whole text: at least one component,
 * at least one after T, designators in upper case and in order, a fraction ('.' or ',') on the last
 * component only. Weeks may be combined with other components. A year is 365 days, a month 30, a
 * week 7, a day 24 hours. Parts of a nanosecond are cut off toward zero. A leading '+' and the
 * alternative form (P0001-02-03T04:05:06) are not accepted. MWL_E_SYNTAX: another form.
 * MWL_E_RANGE: well formed, but too long. */
mwl_status mwl__temporal_parse_iso(const char *s, size_t len, int64_t *duration_ns);

/* Writes the canonical form: hours (the largest unit), minutes, seconds; components that are zero
 * are left out; the fraction of the seconds has no trailing zeros; a minus comes first; zero is
 * PT0S. Examples: PT26H, PT1H0.5S, -PT30S. Returns the length; no NUL is added. */
size_t mwl__temporal_write_iso(int64_t duration_ns, char out[MWL__DURATION_TEXT_MAX]);

/* Returns whether mwl__temporal_parse_iso would accept the form of the text. The size does not
 * matter. */
bool mwl__temporal_is_iso_duration(const char *s, size_t len);

/* ---- CEL durations --------------------------------------------------------------------------- */

/* Reads the text of CEL's duration(string), the grammar of Go's time.ParseDuration: [+-], then "0",
 * or one or more pairs of a decimal number and a unit (h, m, s, ms, us or U+00B5 s or U+03BC s,
 * ns), in any order. Parts of a nanosecond are cut off toward zero. Returns MWL_OK, MWL_E_SYNTAX or
 * MWL_E_RANGE. */
mwl_status mwl__temporal_parse_cel(const char *s, size_t len, int64_t *duration_ns);

/* Writes what CEL's string(duration) returns: seconds with as many decimals as needed, and 's'
 * ("-1.5s", "0s"). */
size_t mwl__temporal_write_cel(int64_t duration_ns, char out[MWL__DURATION_TEXT_MAX]);

#endif
