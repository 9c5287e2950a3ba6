/* cron.c: see cron.h. */
#include "tools/serve/cron.h"

#include "vm/value/temporal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { MINUTE = 60, QUARTER = 900, HOUR = 3600, DAY = 86400 };
#define TEN_YEARS (INT64_C(3660) * DAY)

/* ---- reading --------------------------------------------------------------------------------- */

struct field {
    const char *what;
    int least, most;
    const char *const *names; /* of the numbers from `first_name` on; or NULL */
    int first_name;
};

static const char *const month_names[] = {"JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL",
                                          "AUG", "SEP", "OCT", "NOV", "DEC", NULL};
static const char *const day_names[] = {"SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", NULL};
static const struct field fields[5] = {{"minute", 0, 59, NULL, 0},
                                       {"hour", 0, 23, NULL, 0},
                                       {"day of the month", 1, 31, NULL, 0},
                                       {"month", 1, 12, month_names, 1},
                                       {"day of the week", 0, 7, day_names, 0}};

/* A number or a name; *at moves behind it. -1: neither. */
static int read_value(const struct field *f, const char **at) {
    char *end;
    for (int i = 0; f->names && f->names[i]; i++)
        if (strncasecmp(*at, f->names[i], 3) == 0) {
            *at += 3;
            return f->first_name + i;
        }
    if (**at < '0' || **at > '9') return -1;
    long n = strtol(*at, &end, 10);
    *at = end;
    return n >= f->least && n <= f->most ? (int)n : -1;
}

/* One part between commas. */
static bool read_part(const struct field *f, const char **at, uint64_t *bits) {
    int low = f->least, high = f->most, step = 1;
    if (**at == '*') {
        ++*at;
    } else {
        low = high = read_value(f, at);
        if (low < 0) return false;
        if (**at == '-') {
            ++*at;
            high = read_value(f, at);
        } else if (**at == '/') {
            high = f->most;
        }
        if (high < low) return false;
    }
    if (**at == '/') {
        char *end;
        if ((*at)[1] < '1' || (*at)[1] > '9') return false;
        step = (int)strtol(*at + 1, &end, 10);
        if (step > f->most + 1) return false;
        *at = end;
    }
    for (int i = low; i <= high; i += step) *bits |= UINT64_C(1) << i;
    return true;
}

static bool read_field(const struct field *f, const char *word, uint64_t *bits) {
    *bits = 0;
    for (;;) {
        if (!read_part(f, &word, bits)) return false;
        if (*word == '\0') return true;
        if (*word++ != ',') return false;
    }
}

static const char *long_form(const char *text) {
    static const char *const forms[][2] = {{"@hourly", "0 * * * *"},   {"@daily", "0 0 * * *"},
                                           {"@midnight", "0 0 * * *"}, {"@weekly", "0 0 * * 0"},
                                           {"@monthly", "0 0 1 * *"},  {"@yearly", "0 0 1 1 *"},
                                           {"@annually", "0 0 1 1 *"}};
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(text, forms[i][0]) == 0) return forms[i][1];
    return text;
}

bool cron_read(struct cron *c, const char *text, char *why, size_t cap) {
    char copy[200], *rest = copy, *word;
    uint64_t bits[5];
    size_t n = 0;
    text = long_form(text);
    size_t len = strlen(text);
    if (len >= sizeof copy) {
        snprintf(why, cap, "it is too long");
        return false;
    }
    memcpy(copy, text, len + 1);
    memset(c, 0, sizeof *c);
    while ((word = strtok_r(rest, " \t", &rest))) {
        if (n == 5) break;
        if (!read_field(&fields[n], word, &bits[n])) {
            snprintf(why, cap, "the %s '%s' is not valid", fields[n].what, word);
            return false;
        }
        if (n == 1) c->any_hour = *word == '*';
        if (n == 2) c->any_day = *word == '*';
        if (n == 4) c->any_weekday = *word == '*';
        n++;
    }
    if (n != 5 || word) {
        snprintf(why, cap,
                 "it needs five fields: minute, hour, day of the month, month, day of "
                 "the week");
        return false;
    }
    c->minutes = bits[0];
    c->hours = (uint32_t)bits[1];
    c->days = (uint32_t)bits[2];
    c->months = (uint32_t)bits[3];
    c->weekdays = (uint32_t)(bits[4] | bits[4] >> 7); /* 7 is Sunday too */
    return true;
}

int64_t cron_seconds(const char *text) {
    static const struct {
        char unit;
        int64_t s;
    } units[] = {{'s', 1}, {'m', MINUTE}, {'h', HOUR}, {'d', DAY}};
    char *end;
    int64_t ns = 0;
    if (mwl__temporal_parse_iso(text, strlen(text), &ns) == MWL_OK)
        return ns >= MWL__NS_PER_SEC ? ns / MWL__NS_PER_SEC : 0;
    long long n = *text >= '0' && *text <= '9' ? strtoll(text, &end, 10) : 0;
    if (n <= 0 || n > 1000000000 || strlen(end) != 1) return 0;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (*end == units[i].unit) return n * units[i].s;
    return 0;
}

/* ---- the next one ---------------------------------------------------------------------------- */

static bool day_fits(const struct cron *c, const mwl__civil *at) {
    bool day = c->days >> at->day & 1, weekday = c->weekdays >> at->weekday & 1;
    if (!(c->months >> at->month & 1)) return false;
    if (c->any_day || c->any_weekday) return day && weekday;
    return day || weekday;
}

static bool fits(const struct cron *c, const mwl__civil *at) {
    return day_fits(c, at) && c->hours >> at->hour & 1 && c->minutes >> at->minute & 1;
}

struct walk {
    const struct cron *c;
    mwl__zones *zones;
    const char *zone;
    mwl_status status;
};

static int32_t offset(struct walk *w, int64_t utc_s) {
    int32_t s = 0;
    mwl_status status = mwl__zone_offset(w->zones, w->zone, strlen(w->zone), utc_s, &s);
    if (status != MWL_OK) w->status = status;
    return s;
}

static mwl__civil civil(int64_t utc_s, int32_t offset_s) {
    const mwl__instant at = {utc_s, 0};
    return mwl__temporal_civil(at, offset_s);
}

/* The clock shows at `at_s` what it has shown before. */
static bool is_repeat(struct walk *w, int64_t at_s, int32_t now) {
    int32_t before = offset(w, at_s - INT64_C(3) * HOUR);
    return before > now && offset(w, at_s - (before - now)) == before;
}

/* The clock goes forward at `at_s`, over a time that fits. */
static bool is_over_gap(struct walk *w, int64_t at_s, int32_t now) {
    int32_t before = offset(w, at_s - 1);
    for (int32_t skipped = before; skipped < now; skipped += MINUTE) {
        const mwl__civil at = civil(at_s, skipped);
        if (fits(w->c, &at)) return true;
    }
    return false;
}

/* How far it is safe to go: not over the beginning of a day, an hour or a change of the clock,
 * which happen at quarters of an hour. */
static int64_t stride(const struct cron *c, const mwl__civil *at) {
    int64_t of_day = at->hour * HOUR + at->minute * MINUTE;
    if (!day_fits(c, at) && of_day < DAY - 3 * HOUR) return DAY - 2 * HOUR - of_day;
    if (!day_fits(c, at) || !(c->hours >> at->hour & 1)) return QUARTER - of_day % QUARTER;
    return MINUTE;
}

mwl_status cron_next(const struct cron *c, mwl__zones *zones, const char *zone, int64_t after_s,
                     int64_t *out_s) {
    struct walk w = {c, zones, zone, MWL_OK};
    int64_t at_s = after_s - ((after_s % MINUTE) + MINUTE) % MINUTE + MINUTE;
    const int64_t end_s = at_s + TEN_YEARS;
    while (at_s < end_s && w.status == MWL_OK) {
        int32_t now = offset(&w, at_s);
        const mwl__civil at = civil(at_s, now);
        bool due = fits(c, &at) && (c->any_hour || !is_repeat(&w, at_s, now));
        if (!due && !c->any_hour) due = is_over_gap(&w, at_s, now);
        if (due && w.status == MWL_OK) {
            *out_s = at_s;
            return MWL_OK;
        }
        at_s += stride(c, &at);
    }
    return w.status != MWL_OK ? w.status : MWL_E_NOT_FOUND;
}
