/* cron.h: when a schedule is due: cron expressions and intervals, in a time zone.
 *
 * An expression has five fields: minute, hour, day of the month, month, day of the week. A field is
 * `*`, or numbers, names (JAN, MON), ranges and steps with commas between them. If both days are
 * restricted, one of them is enough, as in cron. @hourly, @daily, @weekly, @monthly and @yearly are
 * short for expressions.
 *
 * Clocks that change. A time that does not exist (the clock goes forward over it) is due at the
 * instant of the change. A time that comes twice is due the first time. Both hold for schedules
 * with certain hours; if the hour is `*`, every hour that really passes counts: nothing is made up
 * for an hour that does not exist, and an hour that comes twice counts twice. Intervals count the
 * time that passes, so clocks do not matter to them. */
#ifndef MWL_TOOLS_SERVE_CRON_H
#define MWL_TOOLS_SERVE_CRON_H

#include "vm/value/zone.h"

struct cron {
    uint64_t minutes;
    uint32_t hours, days, months, weekdays;
    bool any_hour, any_day, any_weekday;
};

/* False: why has the reason. */
bool cron_read(struct cron *c, const char *text, char *why, size_t cap);
/* The first instant behind `after_s` (seconds since 1970, UTC). MWL_E_NOT_FOUND: there is none
 * within ten years, for example on the 31st of February; else what mwl__zone_offset returns. */
mwl_status cron_next(const struct cron *c, mwl__zones *zones, const char *zone, int64_t after_s,
                     int64_t *out_s);

/* A duration: ISO 8601 ("PT15M"), or a number with s, m, h or d. 0: it is not one. */
int64_t cron_seconds(const char *text);

#endif
