/* temporal.c: calendar, instants and RFC 3339. See temporal.h; durations are in temporal_dur.c. */
#include "vm/value/temporal.h"
#include "vm/base/ascii.h"

#define SEC_PER_DAY INT64_C(86400)

/* ---- arithmetic ------------------------------------------------------------------------------ */

bool mwl__temporal_in_range(mwl__instant t) {
    return t.sec >= MWL__INSTANT_MIN_SEC && t.sec <= MWL__INSTANT_MAX_SEC && t.ns < MWL__NS_PER_SEC;
}

/* t + sec + ns, with ns between minus and plus one second, both excluded. */
static mwl_status shift(mwl__instant t, int64_t sec, int64_t ns, mwl__instant *out) {
    int64_t fine = (int64_t)t.ns + ns;
    if (fine < 0) fine += MWL__NS_PER_SEC, sec--;
    if (fine >= MWL__NS_PER_SEC) fine -= MWL__NS_PER_SEC, sec++;
    mwl__instant r = {t.sec + sec, (uint32_t)fine}; /* a duration is short: no overflow */
    if (!mwl__temporal_in_range(r)) return MWL_E_RANGE;
    *out = r;
    return MWL_OK;
}

mwl_status mwl__temporal_add(mwl__instant t, int64_t duration_ns, mwl__instant *out) {
    return shift(t, duration_ns / MWL__NS_PER_SEC, duration_ns % MWL__NS_PER_SEC, out);
}

mwl_status mwl__temporal_sub(mwl__instant t, int64_t duration_ns, mwl__instant *out) {
    return shift(t, -(duration_ns / MWL__NS_PER_SEC), -(duration_ns % MWL__NS_PER_SEC), out);
}

mwl_status mwl__temporal_diff(mwl__instant a, mwl__instant b, int64_t *duration_ns) {
    int64_t sec = a.sec - b.sec, ns = (int64_t)a.ns - (int64_t)b.ns, total;
    /* Bring both parts to one sign, so that INT64_MIN itself can be reached without overflow. */
    if (sec < 0 && ns > 0) sec++, ns -= MWL__NS_PER_SEC;
    if (sec > 0 && ns < 0) sec--, ns += MWL__NS_PER_SEC;
    if (__builtin_mul_overflow(sec, MWL__NS_PER_SEC, &total) ||
        __builtin_add_overflow(total, ns, &total))
        return MWL_E_RANGE;
    *duration_ns = total;
    return MWL_OK;
}

/* ---- calendar -------------------------------------------------------------------------------- */

static bool is_leap(int32_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int mwl__temporal_days_in_month(int32_t year, int month) {
    static const unsigned char days[13] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (month < 1 || month > 12) return 0;
    return days[month] + (month == 2 && is_leap(year));
}

/* The days of a 400-year cycle, and the days from its beginning on 0000-03-01 to 1970-01-01. A year
 * begins in March here, so the leap day is the last day of the year, and a linear formula gives the
 * first day of each month. */
#define CYCLE_DAYS 146097
#define EPOCH_DAYS 719468

int64_t mwl__temporal_days(int32_t year, int month, int64_t day) {
    int64_t y = month <= 2 ? (int64_t)year - 1 : year;
    int64_t cycle = (y >= 0 ? y : y - 399) / 400;
    int64_t in_cycle = y - cycle * 400;
    int64_t march_month = month <= 2 ? month + 9 : month - 3;
    int64_t in_year = (153 * march_month + 2) / 5 + day - 1;
    return cycle * CYCLE_DAYS + in_cycle * 365 + in_cycle / 4 - in_cycle / 100 + in_year -
           EPOCH_DAYS;
}

mwl__civil mwl__temporal_civil(mwl__instant t, int32_t offset_sec) {
    int64_t local = t.sec + offset_sec;
    int64_t day = local / SEC_PER_DAY, sec = local % SEC_PER_DAY;
    if (sec < 0) sec += SEC_PER_DAY, day--;

    int64_t z = day + EPOCH_DAYS;
    int64_t cycle = (z >= 0 ? z : z - (CYCLE_DAYS - 1)) / CYCLE_DAYS;
    int64_t d = z - cycle * CYCLE_DAYS;
    int64_t y = (d - d / 1460 + d / 36524 - d / (CYCLE_DAYS - 1)) / 365;
    int64_t in_year = d - (365 * y + y / 4 - y / 100);
    int64_t march_month = (5 * in_year + 2) / 153;
    int64_t month = march_month < 10 ? march_month + 3 : march_month - 9;
    int64_t year = y + cycle * 400 + (month <= 2);
    int64_t weekday = (day % 7 + 11) % 7; /* 1970-01-01 was a Thursday */

    mwl__civil c;
    c.year = (int32_t)year;
    c.month = (uint8_t)month;
    c.day = (uint8_t)(in_year - (153 * march_month + 2) / 5 + 1);
    c.hour = (uint8_t)(sec / 3600);
    c.minute = (uint8_t)(sec / 60 % 60);
    c.second = (uint8_t)(sec % 60);
    c.weekday = (uint8_t)weekday;
    c.yearday = (uint16_t)(day - mwl__temporal_days(c.year, 1, 1));
    c.ns = t.ns;
    return c;
}

/* ---- RFC 3339 -------------------------------------------------------------------------------- */

/* Returns the n digits at s as a number, or -1. */
static int number(const char *s, int n) {
    int v = 0;
    for (int i = 0; i < n; i++) {
        if (!mwl__is_digit(s[i])) return -1;
        v = v * 10 + (s[i] - '0');
    }
    return v;
}

/* full-date: exactly ten bytes. */
static bool read_date(const char *s, mwl__civil *c) {
    if (s[4] != '-' || s[7] != '-') return false;
    int year = number(s, 4), month = number(s + 5, 2), day = number(s + 8, 2);
    if (year < 0 || month < 1 || day < 1 || day > mwl__temporal_days_in_month(year, month))
        return false;
    c->year = year;
    c->month = (uint8_t)month;
    c->day = (uint8_t)day;
    return true;
}

/* Reads a time-offset, which must be the whole text, as minutes ahead of UTC. */
static bool read_offset(const char *s, size_t len, int *minutes) {
    *minutes = 0;
    if (len == 1) return s[0] == 'Z' || s[0] == 'z';
    if (len != 6 || (s[0] != '+' && s[0] != '-') || s[3] != ':') return false;
    int hour = number(s + 1, 2), minute = number(s + 4, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59) return false;
    *minutes = (hour * 60 + minute) * (s[0] == '-' ? -1 : 1);
    return true;
}

/* Reads a full-time, which must be the whole text. c->second can become 60 where a leap second is
 * possible. */
static bool read_time(const char *s, size_t len, mwl__civil *c, int *offset_minutes) {
    if (len < 9 || s[2] != ':' || s[5] != ':') return false;
    int hour = number(s, 2), minute = number(s + 3, 2), second = number(s + 6, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 60)
        return false;
    size_t at = 8;
    uint32_t ns = 0, unit = 100000000;
    if (s[at] == '.') {
        size_t first = ++at;
        for (; at < len && mwl__is_digit(s[at]); at++, unit /= 10)
            ns += (uint32_t)(s[at] - '0') * unit; /* after nine digits the unit is 0 */
        if (at == first) return false;
    }
    if (at >= len || !read_offset(s + at, len - at, offset_minutes)) return false;
    if (second == 60 && (hour * 60 + minute - *offset_minutes + 1440) % 1440 != 1439) return false;
    c->hour = (uint8_t)hour;
    c->minute = (uint8_t)minute;
    c->second = (uint8_t)second;
    c->ns = ns;
    return true;
}

static bool read_date_time(const char *s, size_t len, mwl__civil *c, int *offset_minutes) {
    return len > 11 && read_date(s, c) && (s[10] == 'T' || s[10] == 't') &&
           read_time(s + 11, len - 11, c, offset_minutes);
}

bool mwl__temporal_is_date(const char *s, size_t len) {
    mwl__civil c;
    return len == 10 && read_date(s, &c);
}

bool mwl__temporal_is_time(const char *s, size_t len) {
    mwl__civil c;
    int offset;
    return read_time(s, len, &c, &offset);
}

bool mwl__temporal_is_date_time(const char *s, size_t len) {
    mwl__civil c;
    int offset;
    return read_date_time(s, len, &c, &offset);
}

/* spec: data-model, temporal format profile: an RFC 3339 timestamp. */
mwl_status mwl__temporal_parse_instant(const char *s, size_t len, mwl__instant *out) {
    mwl__civil c;
    int offset;
    if (!read_date_time(s, len, &c, &offset)) return MWL_E_SYNTAX;
    int64_t sec = mwl__temporal_days(c.year, c.month, c.day) * SEC_PER_DAY;
    sec += c.hour * 3600 + c.minute * 60 + c.second - offset * 60;
    *out = (mwl__instant){sec, c.ns};
    return mwl__temporal_in_range(*out) ? MWL_OK : MWL_E_RANGE;
}

static char *put(char *p, unsigned v, int width) {
    for (int i = width; i-- > 0; v /= 10) p[i] = (char)('0' + v % 10);
    return p + width;
}

size_t mwl__temporal_write_instant(mwl__instant t, char out[MWL__INSTANT_TEXT_MAX]) {
    mwl__civil c = mwl__temporal_civil(t, 0);
    char *p = put(out, (unsigned)c.year, 4);
    *p++ = '-';
    p = put(p, c.month, 2);
    *p++ = '-';
    p = put(p, c.day, 2);
    *p++ = 'T';
    p = put(p, c.hour, 2);
    *p++ = ':';
    p = put(p, c.minute, 2);
    *p++ = ':';
    p = put(p, c.second, 2);
    if (c.ns) {
        *p++ = '.';
        p = put(p, c.ns, 9);
        while (p[-1] == '0') p--;
    }
    *p++ = 'Z';
    return (size_t)(p - out);
}

/* ---- the host's API -------------------------------------------------------------------------- */

mwl_status mwl_duration_parse(const char *text, size_t len, int64_t *ns) {
    return mwl__temporal_parse_iso(text, len, ns);
}

mwl_value mwl_timestamp_text(mwl_heap *heap, int64_t wall_ns) {
    int64_t part = wall_ns % 1000000000;
    if (part < 0) part += 1000000000;
    mwl__instant t = {(wall_ns - part) / 1000000000, (uint32_t)part};
    char text[MWL__INSTANT_TEXT_MAX];
    return mwl_string(heap, text, mwl__temporal_write_instant(t, text));
}
