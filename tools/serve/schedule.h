/* schedule.h: runs that start by the clock: `mwlvm serve --schedule FILE`.
 *
 * FILE is JSON: an array of schedules, or an object with `schedules`. A schedule:
 *
 *     {"name": "report", "program": "report", "cron": "0 6 * * MON-FRI", "zone": "Europe/Berlin",
 *      "input": {}, "arguments": {}, "overlap": "skip", "catchUp": "last"}
 *
 * Instead of `cron`, `every`: an ISO 8601 duration or "90s", "15m", "1h", "1d", counted from `from`
 * (an RFC 3339 timestamp; 1970-01-01T00:00 local time of the zone).
 *
 * Exactly once: the id of a run is NAME@INSTANT, so a second start is the same run; and the last
 * instant that was handled is a value of the store, set by comparing. So it does not matter how
 * many servers have the schedule, or when one of them ends. */
#ifndef MWL_TOOLS_SERVE_SCHEDULE_H
#define MWL_TOOLS_SERVE_SCHEDULE_H

#include "tools/serve/serve.h"

/* Reads the file of the options. CMD_OK, or a status with a message. */
int schedule_open(struct serve *s);
void schedule_turn(struct serve *s); /* nothing without a schedule */
void schedule_close(struct serve *s);

#endif
