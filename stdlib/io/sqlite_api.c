/* sqlite_api.c: see sqlite_api.h. */
#include "stdlib/io/sqlite_api.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static mwl__sqlite_api api;
static const char *api_why;

static void load(void) {
    static const char *const names[] = {"libsqlite3.so.0", "libsqlite3.so", NULL};
    static const char *const functions[] = {
#define MWL_X(name) "sqlite3_" #name,
        MWL__SQLITE_FUNCTIONS(MWL_X)
#undef MWL_X
    };
    enum { N = sizeof functions / sizeof *functions };
    void *table[N];
    _Static_assert(sizeof table == sizeof api, "one pointer for each function");
    api_why = mwl__io_load(names, functions, N, table);
    if (!api_why) memcpy(&api, table, sizeof api);
}

const mwl__sqlite_api *mwl__sqlite_load(const char **why) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    *why = api_why;
    return api_why ? NULL : &api;
}

/* ---- what a connection may do ---------------------------------------------------------------- */

enum { SLEEP_MS = 5, STEPS = 1000 };

static int on_busy(void *ctx, int count) {
    const mwl__sqlite_wait *w = ctx;
    if (atomic_load(w->stop) || (int64_t)count * SLEEP_MS >= w->busy_ms) return 0;
    nanosleep(&(struct timespec){0, SLEEP_MS * 1000000L}, NULL);
    return 1;
}

static int on_progress(void *ctx) {
    const mwl__sqlite_wait *w = ctx;
    return atomic_load(w->stop);
}

/* Other files stay out of reach: ATTACH (VACUUM attaches one with an empty name; a is NULL if an
 * expression makes the name), folders of pragmas. */
static int on_authorize(void *ctx, int action, const char *a, const char *b, const char *c,
                        const char *d) {
    (void)ctx, (void)b, (void)c, (void)d;
    if (action == SQLITE_ATTACH) return a && !*a ? SQLITE_OK : SQLITE_DENY;
    if (action == SQLITE_PRAGMA && a && strstr(a, "store_directory")) return SQLITE_DENY;
    return SQLITE_OK;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* The name of what a descriptor is; closes it. Returns 0 or a negative errno. */
static int name_of(int fd, char out[PATH_MAX]) {
    char link[40];
    if (fd < 0) return fd;
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t n = readlink(link, out, PATH_MAX - 1);
    int error = n < 0 ? -errno : 0;
    out[n < 0 ? 0 : n] = '\0';
    close(fd);
    return error;
}

/* Finds the file inside the allowed folder; SQLite opens it by name. It follows no link then
 * (SQLITE_OPEN_NOFOLLOW), so a link that is put there meanwhile does not help.
 *
 * The file must not be opened here, except with O_PATH: to close any other descriptor of it would
 * end the locks that SQLite has for other threads of this process. So SQLite makes a new file. */
static int real_path(const mwl_io *io, const char *path, bool *is_new, char out[PATH_MAX]) {
    int error = name_of(mwl__io_file_open(io, MWL_IO_SQLITE, path, O_PATH, 0), out);
    const char *name;
    *is_new = error == -ENOENT;
    if (!*is_new) return error;
    error = name_of(mwl__io_file_parent(io, MWL_IO_SQLITE, path, &name), out);
    size_t n = strlen(out);
    if (error) return error;
    if (n + strlen(name) + 2 > PATH_MAX) return -ENAMETOOLONG;
    snprintf(out + n, PATH_MAX - n, "/%s", name);
    return 0;
}

int mwl__sqlite_open(const mwl__sqlite_api *s, const mwl_io *io, const char *path,
                     mwl__sqlite_how how, mwl__sqlite_wait *wait, sqlite3 **out) {
    char real[PATH_MAX];
    *out = NULL;
    bool is_new;
    int error = real_path(io, path, &is_new, real);
    if (error) return error;
    if (is_new && how == MWL__SQLITE_READ) return -ENOENT;
    int flags =
        how == MWL__SQLITE_READ ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
    int code = s->open_v2(real, out, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_NOFOLLOW, NULL);
    if (code != SQLITE_OK) return code;
    if (is_new && how == MWL__SQLITE_PRIVATE) (void)!chmod(real, 0600);
    s->busy_handler(*out, on_busy, wait);
    s->progress_handler(*out, STEPS, on_progress, wait);
    s->set_authorizer(*out, on_authorize, NULL);
    s->db_config(*out, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    s->db_config(*out, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    return SQLITE_OK;
}
