/* zone_file.c: the default hook of zone.h: reads the zone data of the system, from $TZDIR or the
 * usual folder. No other source of vm/ opens a file. */
#include "vm/value/zone.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

/* Returns what a file that cannot be opened is. Windows does not open a folder. */
static mwl_status not_opened(const char *path, int why) {
    struct stat is;
    if (why == ENOENT || why == ENOTDIR) return MWL_E_NOT_FOUND;
    return stat(path, &is) == 0 && (is.st_mode & S_IFMT) == S_IFDIR ? MWL_E_NOT_FOUND : MWL_E_IO;
}

mwl_status mwl__zone_read_file(void *ctx, const char *name, mwl__buf *out) {
    (void)ctx;
    const char *dir = getenv("TZDIR");
    char path[4096];
    if (!dir || !dir[0]) dir = "/usr/share/zoneinfo";
    int n = snprintf(path, sizeof path, "%s/%s", dir, name);
    if (n < 0 || (size_t)n >= sizeof path) return MWL_E_NOT_FOUND;
    FILE *f = fopen(path, "rb");
    if (!f) return not_opened(path, errno);
    mwl_status st = MWL_OK;
    for (;;) {
        char chunk[4096];
        size_t got = fread(chunk, 1, sizeof chunk, f);
        mwl__buf_put(out, chunk, got);
        if (out->failed) st = MWL_E_NOMEM;
        if (out->len > MWL__ZONE_BYTES_MAX) st = MWL_E_TOO_BIG;
        if (got < sizeof chunk || st < 0) break;
    }
    /* Elsewhere a folder can be opened, but reading it fails: "America" is not a zone. */
    if (st >= 0 && ferror(f)) st = errno == EISDIR ? MWL_E_NOT_FOUND : MWL_E_IO;
    (void)fclose(f);
    return st;
}
