/* cache_store.c: see cache.h. Runs on pool threads; each job opens the file for itself, so that a
 * file which somebody removed or replaced is noticed. */
#include "stdlib/io/cache.h"
#include "stdlib/io/sqlite_api.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum {
    BUSY_MS = 5000,
    TOUCH_MS = 60000,
    CLAIM_MS = 86400000,
    MOST = 64 << 20 /* bytes of a value */
};

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS mwlvm_cache (key TEXT PRIMARY KEY, value TEXT, until INTEGER NOT "
    "NULL, used INTEGER NOT NULL, owner TEXT) WITHOUT ROWID;"
    "CREATE INDEX IF NOT EXISTS mwlvm_cache_until ON mwlvm_cache (until);"
    "CREATE INDEX IF NOT EXISTS mwlvm_cache_used ON mwlvm_cache (used)";

typedef struct work {
    mwl__store_job *j;
    const mwl__sqlite_api *s;
    sqlite3 *db;
} work;

/* ---- who makes a value ----------------------------------------------------------------------- */

/* When a process began, in ticks since the system did; 0 if there is no such process. Two
 * processes that have the same number one after the other differ in it. */
static uint64_t began(long pid) {
    char path[40], text[1024];
    snprintf(path, sizeof path, "/proc/%ld/stat", pid);
    FILE *f = fopen(path, "re");
    if (!f) return 0;
    size_t n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    const char *at = strrchr(text, ')'); /* the name may have spaces */
    for (int field = 2; at && field < 22; field++) at = strchr(at + 1, ' ');
    return at ? strtoull(at, NULL, 10) : 0;
}

static void new_owner(char out[64]) {
    static atomic_uint_fast64_t numbers;
    snprintf(out, 64, "%ld %" PRIu64 " %" PRIu64, (long)getpid(), began(getpid()),
             (uint64_t)atomic_fetch_add(&numbers, 1));
}

static bool is_alive(const char *owner) {
    char *end;
    long pid = strtol(owner, &end, 10);
    uint64_t then = strtoull(end, NULL, 10);
    if (pid <= 0 || *end != ' ') return false;
    if (kill((pid_t)pid, 0) < 0 && errno == ESRCH) return false;
    return began(pid) == then;
}

/* ---- statements ------------------------------------------------------------------------------ */

static bool fail(work *w) {
    int code = w->s->extended_errcode(w->db) & 0xff;
    mwl__store_job *j = w->j;
    j->result = MWL__STORE_FAILED;
    j->retryable =
        code == SQLITE_BUSY || code == SQLITE_LOCKED || code == SQLITE_FULL || code == SQLITE_NOMEM;
    snprintf(j->message, sizeof j->message, "%s", w->s->errmsg(w->db));
    return false;
}

static bool command(work *w, const char *sql) {
    return w->s->exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(w);
}

static int bind_one(work *w, sqlite3_stmt *st, int at, int64_t number) {
    mwl__store_job *j = w->j;
    const mwl__sqlite_api *s = w->s;
    switch (s->bind_parameter_name(st, at)[1]) {
    case 'k': return s->bind_text64(st, at, j->key, j->key_len, SQLITE_STATIC, SQLITE_UTF8);
    case 'o': return s->bind_text64(st, at, j->owner, strlen(j->owner), SQLITE_STATIC, SQLITE_UTF8);
    case 'v':
        return s->bind_text64(st, at, j->value.data, j->value.len, SQLITE_STATIC, SQLITE_UTF8);
    case 't': return s->bind_int64(st, at, j->now_ms);
    default: return s->bind_int64(st, at, number);
    }
}

/* Prepares a statement, whose parameters are :key, :owner, :value, :time and :number. NULL after a
 * failure. */
static sqlite3_stmt *prepare(work *w, const char *sql, int64_t number) {
    sqlite3_stmt *st = NULL;
    int code = w->s->prepare_v2(w->db, sql, -1, &st, NULL);
    for (int i = 1; code == SQLITE_OK && i <= w->s->bind_parameter_count(st); i++)
        code = bind_one(w, st, i, number);
    if (code == SQLITE_OK) return st;
    fail(w);
    w->s->finalize(st);
    return NULL;
}

/* Runs a statement without rows. */
static bool change(work *w, const char *sql, int64_t number) {
    sqlite3_stmt *st = prepare(w, sql, number);
    if (!st) return false;
    bool ok = w->s->step(st) == SQLITE_DONE || fail(w);
    w->s->finalize(st);
    return ok;
}

/* ---- looking --------------------------------------------------------------------------------- */

/* Reads the row: HIT, BUSY, or MISS if a claim can be made. false after a failure. */
static bool read_row(work *w, bool *stale) {
    mwl__store_job *j = w->j;
    const mwl__sqlite_api *s = w->s;
    sqlite3_stmt *st =
        prepare(w, "SELECT value, until, owner, used FROM mwlvm_cache WHERE key = :key", 0);
    if (!st) return false;
    int code = s->step(st);
    bool ok = code == SQLITE_ROW || code == SQLITE_DONE || fail(w);
    j->result = ok ? MWL__STORE_MISS : MWL__STORE_FAILED;
    if (code == SQLITE_ROW) {
        const char *value = (const char *)s->column_text(st, 0);
        const char *owner = (const char *)s->column_text(st, 2);
        j->until_ms = s->column_int64(st, 1);
        *stale = j->now_ms - s->column_int64(st, 3) > TOUCH_MS;
        size_t n = (size_t)s->column_bytes(st, 0);
        if (value && j->until_ms > j->now_ms && n <= MOST) {
            j->result = MWL__STORE_HIT;
            ok = mwl__bytes_add(&j->value, value, n);
            if (!ok) snprintf(j->message, sizeof j->message, "out of memory");
            if (!ok) j->result = MWL__STORE_FAILED, j->retryable = true;
        } else if (owner && is_alive(owner)) {
            j->result = MWL__STORE_BUSY;
        }
    }
    s->finalize(st);
    return ok;
}

/* Without a lock first: most looks find a value. */
static void look(work *w) {
    mwl__store_job *j = w->j;
    bool stale = false;
    if (!read_row(w, &stale) || j->result == MWL__STORE_BUSY) return;
    if (j->result == MWL__STORE_HIT) {
        /* which values are used is known to the minute; that it is not written does no harm */
        if (stale) change(w, "UPDATE mwlvm_cache SET used = :time WHERE key = :key", 0);
        j->result = MWL__STORE_HIT;
        return;
    }
    if (!command(w, "BEGIN IMMEDIATE") || !read_row(w, &stale)) return;
    if (j->result == MWL__STORE_MISS &&
        !change(w,
                "INSERT OR REPLACE INTO mwlvm_cache (key, value, until, used, owner) "
                "VALUES (:key, NULL, :time, :time, :owner)",
                0))
        return;
    mwl__store_result found = j->result;
    if (command(w, "COMMIT")) j->result = found;
}

/* ---- keeping --------------------------------------------------------------------------------- */

/* Values that are over go, claims of long ago, and then those that were not used for the longest
 * time. */
static void put(work *w) {
    mwl__store_job *j = w->j;
    bool ok = command(w, "BEGIN IMMEDIATE") &&
              change(w,
                     "INSERT OR REPLACE INTO mwlvm_cache (key, value, until, used, owner) "
                     "VALUES (:key, :value, :number, :time, NULL)",
                     j->until_ms) &&
              change(w, "DELETE FROM mwlvm_cache WHERE until <= :time AND owner IS NULL", 0) &&
              change(w, "DELETE FROM mwlvm_cache WHERE until <= :number", j->now_ms - CLAIM_MS) &&
              change(w,
                     "DELETE FROM mwlvm_cache WHERE key IN (SELECT key FROM mwlvm_cache WHERE "
                     "owner IS NULL AND key <> :key ORDER BY used LIMIT max(0, (SELECT count(*) "
                     "FROM mwlvm_cache WHERE owner IS NULL) - :number))",
                     (int64_t)j->most) &&
              command(w, "COMMIT");
    if (ok) j->result = MWL__STORE_DONE;
}

static void release(work *w) {
    if (change(w, "DELETE FROM mwlvm_cache WHERE key = :key AND owner = :owner", 0))
        w->j->result = MWL__STORE_DONE;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static void store_work(mwl__io_job *job) {
    static void (*const actions[])(work *) = {look, put, release};
    mwl__store_job *j = (mwl__store_job *)job;
    const char *why;
    mwl__sqlite_wait wait = {&job->stop, BUSY_MS};
    work w = {j, mwl__sqlite_load(&why), NULL};
    j->result = MWL__STORE_FAILED;
    if (!w.s) {
        j->unavailable = true;
        snprintf(j->message, sizeof j->message, "%s", why);
        return;
    }
    int code = mwl__sqlite_open(w.s, job->op.io, j->file, MWL__SQLITE_PRIVATE, &wait, &w.db);
    if (code < 0) {
        j->error = code;
        snprintf(j->message, sizeof j->message, "%s", strerror(-code));
    } else if (code > 0) {
        snprintf(j->message, sizeof j->message, "out of memory");
        if (w.db) fail(&w);
    } else if (command(&w, schema)) {
        actions[j->action](&w);
    }
    if (w.db && !w.s->get_autocommit(w.db)) w.s->exec(w.db, "ROLLBACK", NULL, NULL, NULL);
    if (w.db) w.s->close_v2(w.db);
}

static void store_done(mwl__io_job *job) {
    mwl__store_job *j = (mwl__store_job *)job;
    j->done(j);
}

mwl__store_job *mwl__store_new(mwl__store_action action, const char *file, const char *key,
                               size_t key_len) {
    size_t n = strlen(file) + 1;
    mwl__store_job *j = calloc(1, sizeof *j + n + key_len + 1);
    if (!j) return NULL;
    memcpy(j->texts, file, n);
    memcpy(j->texts + n, key, key_len);
    j->file = j->texts;
    j->key = j->texts + n;
    j->key_len = key_len;
    j->action = action;
    if (action == MWL__STORE_LOOK) new_owner(j->owner);
    return j;
}

void mwl__store_start(mwl__store_job *j, mwl_io *io) {
    j->job.work = store_work;
    j->job.done = store_done;
    j->job.finishes = j->action != MWL__STORE_LOOK; /* what was made is kept, a claim is ended */
    mwl__io_job_start(&j->job, io, NULL);
}

void mwl__store_free(mwl__store_job *j) {
    if (!j) return;
    mwl__bytes_free(&j->value);
    free(j);
}
