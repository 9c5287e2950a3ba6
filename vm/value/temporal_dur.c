/* temporal_dur.c: reads and writes durations as text, in ISO 8601 and in CEL's form. See
 * temporal.h.
 *
 * Reading adds up the components as an unsigned magnitude, which saturates at OVER, a value beyond
 * any duration. So the form of the whole text is checked before its size. */
#include "vm/base/ascii.h"
#include "vm/base/num.h"
#include "vm/value/temporal.h"
#include "vm/base/wide.h"

#include <string.h>

#define OVER (UINT64_C(1) << 63 | 1) /* one more than the magnitude of INT64_MIN */

#define NS_US UINT64_C(1000)
#define NS_MS UINT64_C(1000000)
#define NS_S UINT64_C(1000000000)
#define NS_MIN (60 * NS_S)
#define NS_HOUR (60 * NS_MIN)
#define NS_DAY (24 * NS_HOUR)

/* A decimal number: a whole part, which saturates, and up to 18 digits of a fraction, over
 * 10^18. */
typedef struct {
    uint64_t whole, fraction;
    size_t whole_digits, fraction_digits; /* as written */
    bool has_point;
} number;

static size_t read_number(const char *s, size_t len, bool comma, number *n) {
    size_t i = 0;
    *n = (number){0};
    for (; i < len && mwl__is_digit(s[i]); i++, n->whole_digits++)
        n->whole = n->whole <= OVER / 10 ? n->whole * 10 + (uint64_t)(s[i] - '0') : OVER;
    if (i < len && (s[i] == '.' || (comma && s[i] == ','))) {
        uint64_t unit = UINT64_C(100000000000000000);
        n->has_point = true;
        for (i++; i < len && mwl__is_digit(s[i]); i++, n->fraction_digits++, unit /= 10)
            n->fraction += (uint64_t)(s[i] - '0') * unit;
    }
    return i;
}

/* Returns total + n * unit_ns without parts of a nanosecond. Saturates. */
static uint64_t accumulate(uint64_t total, const number *n, uint64_t unit_ns) {
    if (n->whole < UINT32_MAX && total < OVER / 4 &&
        unit_ns == NS_S) /* the common case needs no long division */
        return total + n->whole * NS_S + n->fraction / NS_S;
    uint64_t rest; /* the fraction is below 1, so its nanoseconds are fewer than the unit's */
    uint64_t part =
        mwl__wide_div(mwl__wide_mul(n->fraction, unit_ns), UINT64_C(1000000000000000000), &rest);
    mwl__wide sum = mwl__wide_add(mwl__wide_mul(n->whole, unit_ns), total);
    sum = mwl__wide_add(sum, part);
    return sum.hi == 0 && sum.lo < OVER ? sum.lo : OVER;
}

static mwl_status finish(uint64_t magnitude, bool negative, int64_t *out) {
    if (magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) return MWL_E_RANGE;
    *out = negative ? (magnitude ? -(int64_t)(magnitude - 1) - 1 : 0) : (int64_t)magnitude;
    return MWL_OK;
}

/* ---- ISO 8601 -------------------------------------------------------------------------------- */

static const struct {
    char designator;
    bool time;
    uint64_t ns;
} units[] = {
    {'Y', false, 365 * NS_DAY}, {'M', false, 30 * NS_DAY}, {'W', false, 7 * NS_DAY},
    {'D', false, NS_DAY},       {'H', true, NS_HOUR},      {'M', true, NS_MIN},
    {'S', true, NS_S},
};
#define N_UNITS (sizeof units / sizeof units[0])

/* Reads the text. Returns false if it does not follow the grammar. */
static bool read_iso(const char *s, size_t len, uint64_t *magnitude, bool *negative) {
    size_t i = 0, next_unit = 0;
    bool time = false, component = false,
         ended = false; /* a component was read; nothing may follow */
    *magnitude = 0;
    *negative = len > 0 && s[0] == '-';
    if (*negative) i++;
    if (i >= len || s[i++] != 'P') return false;
    while (i < len) {
        if (s[i] == 'T') {
            if (time || ended) return false;
            time = true, component = false, i++;
            continue;
        }
        number n;
        if (ended) return false;
        i += read_number(s + i, len - i, true, &n);
        if (n.whole_digits == 0 || (n.has_point && n.fraction_digits == 0) || i >= len)
            return false;
        while (next_unit < N_UNITS &&
               (units[next_unit].time != time || units[next_unit].designator != s[i]))
            next_unit++;
        if (next_unit == N_UNITS) return false;
        *magnitude = accumulate(*magnitude, &n, units[next_unit++].ns);
        component = true;
        ended = n.has_point;
        i++;
    }
    return component;
}

bool mwl__temporal_is_iso_duration(const char *s, size_t len) {
    uint64_t magnitude;
    bool negative;
    return read_iso(s, len, &magnitude, &negative);
}

/* spec: data-model, temporal format profile: an ISO 8601 duration. */
mwl_status mwl__temporal_parse_iso(const char *s, size_t len, int64_t *duration_ns) {
    uint64_t magnitude;
    bool negative;
    if (!read_iso(s, len, &magnitude, &negative)) return MWL_E_SYNTAX;
    return finish(magnitude, negative, duration_ns);
}

/* Writes seconds and a fraction of up to nine digits without trailing zeros. */
static char *put_seconds(char *p, uint64_t sec, uint64_t ns) {
    p += mwl__num_write_u64(sec, p);
    if (ns == 0) return p;
    *p++ = '.';
    for (int i = 9; i-- > 0; ns /= 10) p[i] = (char)('0' + ns % 10);
    p += 9;
    while (p[-1] == '0') p--;
    return p;
}

size_t mwl__temporal_write_iso(int64_t duration_ns, char out[MWL__DURATION_TEXT_MAX]) {
    char *p = out;
    uint64_t v = duration_ns < 0 ? 0 - (uint64_t)duration_ns : (uint64_t)duration_ns;
    uint64_t hours = v / NS_HOUR, minutes = v / NS_MIN % 60, sec = v / NS_S % 60, ns = v % NS_S;
    if (duration_ns < 0) *p++ = '-';
    *p++ = 'P';
    *p++ = 'T';
    if (hours) {
        p += mwl__num_write_u64(hours, p);
        *p++ = 'H';
    }
    if (minutes) {
        p += mwl__num_write_u64(minutes, p);
        *p++ = 'M';
    }
    if (sec || ns || v == 0) {
        p = put_seconds(p, sec, ns);
        *p++ = 'S';
    }
    return (size_t)(p - out);
}

/* ---- CEL ------------------------------------------------------------------------------------- */

/* Returns the length of the unit at s and its nanoseconds, or 0. Longer names come first in the
 * table. */
static size_t read_unit(const char *s, size_t len, uint64_t *ns) {
    static const struct {
        const char *name;
        uint64_t ns;
    } names[] = {{"\xC2\xB5s", NS_US}, {"\xCE\xBCs", NS_US}, {"ns", 1},     {"us", NS_US},
                 {"ms", NS_MS},        {"s", NS_S},          {"m", NS_MIN}, {"h", NS_HOUR}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t n = strlen(names[i].name);
        if (n <= len && memcmp(s, names[i].name, n) == 0) {
            *ns = names[i].ns;
            return n;
        }
    }
    return 0;
}

mwl_status mwl__temporal_parse_cel(const char *s, size_t len, int64_t *duration_ns) {
    size_t i = len > 0 && (s[0] == '-' || s[0] == '+');
    bool negative = i && s[0] == '-';
    uint64_t magnitude = 0;
    if (i >= len) return MWL_E_SYNTAX;
    if (len - i == 1 && s[i] == '0') {
        *duration_ns = 0;
        return MWL_OK;
    }
    while (i < len) {
        number n;
        uint64_t ns;
        i += read_number(s + i, len - i, false, &n);
        if (n.whole_digits + n.fraction_digits == 0) return MWL_E_SYNTAX;
        size_t width = read_unit(s + i, len - i, &ns);
        if (width == 0) return MWL_E_SYNTAX;
        i += width;
        magnitude = accumulate(magnitude, &n, ns);
    }
    return finish(magnitude, negative, duration_ns);
}

size_t mwl__temporal_write_cel(int64_t duration_ns, char out[MWL__DURATION_TEXT_MAX]) {
    char *p = out;
    uint64_t v = duration_ns < 0 ? 0 - (uint64_t)duration_ns : (uint64_t)duration_ns;
    if (duration_ns < 0) *p++ = '-';
    p = put_seconds(p, v / NS_S, v % NS_S);
    *p++ = 's';
    return (size_t)(p - out);
}
