/* zone.h: how far local time is ahead of UTC, by the name of a time zone.
 *
 * Owns: reading TZif (RFC 8536 and 9636, versions 1 to 4) and POSIX TZ rules, and a cache of the
 * zones that were used. Refuses to know: where the bytes come from (a hook reads them; zone_file.c
 * is the default hook) and the calendar (temporal.h). Bytes are untrusted: what is not valid TZif
 * is refused. */
#ifndef MWL_ZONE_H
#define MWL_ZONE_H

#include "vm/base/mem.h"

/* Appends the TZif bytes of the zone to out. The name has been checked: 1 to MWL__ZONE_NAME_MAX
 * bytes of ASCII letters, digits, '_', '+', '-', with single '/' between components, and a NUL at
 * its end. Returns MWL_E_NOT_FOUND if the zone does not exist; mwl__zones_offset returns other
 * statuses to its caller. */
typedef mwl_status (*mwl__zone_read)(void *ctx, const char *name, mwl__buf *out);

#define MWL__ZONE_NAME_MAX 64
#define MWL__ZONE_BYTES_MAX ((size_t)256 * 1024) /* the largest of the IANA database has 4 KB */
#define MWL__ZONE_CACHE_MAX 1024                 /* the IANA database has about 600 names */

/* The cache; belongs to one thread. */
typedef struct mwl__zones {
    mwl_alloc alloc;
    mwl__zone_read read;
    void *ctx;
    struct mwl__zone **sorted; /* by name */
    size_t n, cap;
} mwl__zones;

/* read NULL means the files of the system. Allocates nothing yet. */
void mwl__zones_init(mwl__zones *z, mwl_alloc alloc, mwl__zone_read read, void *ctx);
void mwl__zones_free(mwl__zones *z);

/* Finds the seconds to add to UTC at an instant, which must be in the range of temporal.h
 * (MWL_E_RANGE). Names: "" and "UTC"; [+-]h:mm or [+-]hh:mm, below 24 hours (without a sign it is
 * +); IANA names, which are read on first use and then found without allocation. MWL_E_SYNTAX: the
 * name has another form. MWL_E_NOT_FOUND: unknown zone. MWL_E_UNSUPPORTED: the zone counts leap
 * seconds. MWL_E_IMAGE: damaged data. Also MWL_E_NOMEM, or what the hook returned. */
mwl_status mwl__zone_offset(mwl__zones *z, const char *name, size_t len, int64_t utc_sec,
                            int32_t *offset_sec);

/* The default hook: $TZDIR or /usr/share/zoneinfo. */
mwl_status mwl__zone_read_file(void *ctx, const char *name, mwl__buf *out);

#endif
