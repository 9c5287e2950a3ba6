/* cel_time.c: CEL's accessors of timestamps and durations.
 *
 * Owns: which component counts from zero and which from one. Refuses to know: calendars
 * (temporal.c) and zones (zone.c). For a duration, hours, minutes and seconds are the whole length
 * in that unit, cut toward zero; only the milliseconds are a component (langdef,
 * getMilliseconds). */
#include "vm/cel/cel_lib.h"
#include "vm/value/temporal.h"

typedef enum part {
    YEAR,
    MONTH,
    YEAR_DAY,
    DAY_0,
    DAY_1,
    WEEK_DAY,
    HOURS,
    MINUTES,
    SECONDS,
    MILLIS
} part;

static mwl_value zone_failed(mwl_fn *fn, mwl_status status, const mwl__str *zone) {
    if (status == MWL_E_NOMEM) return mwl__cel_failed(fn, status, "");
    return mwl_fn_fail(fn, "unknown time zone '%.80s'", zone->s);
}

/* Finds the seconds ahead of UTC at t in the zone args[1]; 0 without that argument. Returns false
 * if it failed. */
static bool offset_at(mwl_fn *fn, const mwl_value *args, size_t n_args, int32_t *offset_sec) {
    *offset_sec = 0;
    if (n_args < 2) return true;
    if (mwl_value_kind(args[1]) != MWL_KIND_STRING) {
        (void)mwl_fn_no_overload(fn);
        return false;
    }
    const mwl__str *name = mwl__as_str(args[1]);
    mwl__zones *zones = fn->x->zones, passing;
    if (!zones) { /* this evaluation has no cache */
        mwl__zones_init(&passing, mwl_fn_heap(fn)->alloc, NULL, NULL);
        zones = &passing;
    }
    mwl_status status = mwl__zone_offset(zones, name->s, name->len, args[0].as.i, offset_sec);
    if (zones == &passing) mwl__zones_free(zones);
    if (status != MWL_OK) (void)zone_failed(fn, status, name);
    return status == MWL_OK;
}

static int64_t of_civil(const mwl__civil *c, part which) {
    switch (which) {
    case YEAR: return c->year;
    case MONTH: return c->month - 1;
    case YEAR_DAY: return c->yearday;
    case DAY_0: return c->day - 1;
    case DAY_1: return c->day;
    case WEEK_DAY: return c->weekday;
    case HOURS: return c->hour;
    case MINUTES: return c->minute;
    case SECONDS: return c->second;
    case MILLIS: return c->ns / 1000000;
    }
    return 0;
}

static mwl_value of_duration(mwl_fn *fn, int64_t ns, part which) {
    switch (which) {
    case HOURS: return mwl_int(ns / (3600 * MWL__NS_PER_SEC));
    case MINUTES: return mwl_int(ns / (60 * MWL__NS_PER_SEC));
    case SECONDS: return mwl_int(ns / MWL__NS_PER_SEC);
    case MILLIS: return mwl_int(ns % MWL__NS_PER_SEC / 1000000);
    default: return mwl_fn_no_overload(fn);
    }
}

static mwl_value get(mwl_fn *fn, const mwl_value *args, size_t n_args, part which) {
    if (mwl_value_kind(args[0]) == MWL_KIND_DURATION && n_args == 1)
        return of_duration(fn, args[0].as.i, which);
    if (mwl_value_kind(args[0]) != MWL_KIND_TIMESTAMP) return mwl_fn_no_overload(fn);
    int32_t offset_sec;
    if (!offset_at(fn, args, n_args, &offset_sec)) return mwl_absent();
    mwl__civil c = mwl__temporal_civil((mwl__instant){args[0].as.i, args[0].aux}, offset_sec);
    return mwl_int(of_civil(&c, which));
}

#define ACCESSOR(name, which)                                                                      \
    static mwl_value name(mwl_fn *fn, const mwl_value *args, size_t n_args) {                      \
        return get(fn, args, n_args, which);                                                       \
    }
ACCESSOR(get_full_year, YEAR)
ACCESSOR(get_month, MONTH)
ACCESSOR(get_day_of_year, YEAR_DAY)
ACCESSOR(get_day_of_month, DAY_0)
ACCESSOR(get_date, DAY_1)
ACCESSOR(get_day_of_week, WEEK_DAY)
ACCESSOR(get_hours, HOURS)
ACCESSOR(get_minutes, MINUTES)
ACCESSOR(get_seconds, SECONDS)
ACCESSOR(get_milliseconds, MILLIS)
#undef ACCESSOR

const mwl_function_def mwl__time_functions[] = {
    {"getFullYear", get_full_year, 1, 2, MWL_FN_MEMBER, "timestamp.getFullYear([zone]) -> int"},
    {"getMonth", get_month, 1, 2, MWL_FN_MEMBER, "timestamp.getMonth([zone]) -> int, from 0"},
    {"getDayOfYear", get_day_of_year, 1, 2, MWL_FN_MEMBER,
     "timestamp.getDayOfYear([zone]) -> int, from 0"},
    {"getDayOfMonth", get_day_of_month, 1, 2, MWL_FN_MEMBER,
     "timestamp.getDayOfMonth([zone]) -> int, from 0"},
    {"getDate", get_date, 1, 2, MWL_FN_MEMBER, "timestamp.getDate([zone]) -> int, from 1"},
    {"getDayOfWeek", get_day_of_week, 1, 2, MWL_FN_MEMBER,
     "timestamp.getDayOfWeek([zone]) -> int, 0 is Sunday"},
    {"getHours", get_hours, 1, 2, MWL_FN_MEMBER,
     "timestamp.getHours([zone]) -> int; duration.getHours() -> int"},
    {"getMinutes", get_minutes, 1, 2, MWL_FN_MEMBER,
     "timestamp.getMinutes([zone]) -> int; duration.getMinutes() -> int"},
    {"getSeconds", get_seconds, 1, 2, MWL_FN_MEMBER,
     "timestamp.getSeconds([zone]) -> int; duration.getSeconds() -> int"},
    {"getMilliseconds", get_milliseconds, 1, 2, MWL_FN_MEMBER,
     "timestamp.getMilliseconds([zone]) -> int; duration.getMilliseconds() -> int"},
};
const size_t mwl__time_count = sizeof mwl__time_functions / sizeof *mwl__time_functions;
