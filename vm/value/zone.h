/* zone.h: how far local time is ahead of UTC, by the name of a time zone.
 *
 * Owns: reading TZif (RFC 8536 and 9636, versions 1 to 4) and POSIX TZ rules, and a cache of zones
 * that were asked for. Refuses to know: where the bytes come from (a hook says; zone_file.c is the
 * default hook) and the calendar (temporal.h). Bytes are untrusted: what is not a proper TZif is
 * refused. */
#ifndef MWL_ZONE_H
#define MWL_ZONE_H

#include "vm/base/mem.h"

/* Append the TZif bytes of the zone to out. The name has been checked: 1 to MWL__ZONE_NAME_MAX
 * bytes of ASCII letters, digits, '_', '+', '-', with single '/' between components,
 * NUL-terminated. MWL_E_NOT_FOUND when there is no such zone; other statuses are handed to the
 * asker. */
typedef mwl_status (*mwl__zone_read)(void *ctx, const char *name, mwl__buf *out);

#define MWL__ZONE_NAME_MAX 64
#define MWL__ZONE_BYTES_MAX (256 * 1024) /* the largest of the IANA database has 4 KB */
#define MWL__ZONE_CACHE_MAX 1024         /* the IANA database has about 600 names */

/* The cache; belongs to one thread. */
typedef struct mwl__zones {
    mwl_alloc alloc;
    mwl__zone_read read;
    void *ctx;
    struct mwl__zone **sorted; /* by name */
    size_t n, cap;
} mwl__zones;

/* read NULL: the system's files. Allocates nothing yet. */
void mwl__zones_init(mwl__zones *z, mwl_alloc alloc, mwl__zone_read read, void *ctx);
void mwl__zones_free(mwl__zones *z);

/* Seconds to add to UTC at an instant, which must be in temporal.h's range (MWL_E_RANGE). Names: ""
 * and "UTC"; [+-]h:mm or [+-]hh:mm, below 24 hours (a missing sign is +); IANA names, read on first
 * use and then found without allocation. MWL_E_SYNTAX: not such a name. MWL_E_NOT_FOUND: no such
 * zone. MWL_E_UNSUPPORTED: the zone counts leap seconds. MWL_E_IMAGE: damaged data. MWL_E_NOMEM, or
 * what the hook answered. */
mwl_status mwl__zone_offset(mwl__zones *z, const char *name, size_t len, int64_t utc_sec,
                            int32_t *offset_sec);

/* The default hook: $TZDIR or /usr/share/zoneinfo. */
mwl_status mwl__zone_read_file(void *ctx, const char *name, mwl__buf *out);

#endif
