/* store_sqlite.c: the store on SQLite: opening, the schema, the owner; and what its parts share.
 *
 * One process owns the file (an exclusive lock on FILE-owner) and is its one worker. Others read,
 * accept runs and leave messages. A saved state is a row of `journal`, appended, because rows that
 * are appended share pages; `idle` folds the newest of each run into its row of `run`. */
#include "stdlib/durable/sqlite_impl.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { APPLICATION = 0x4d574c52, SCHEMA = 2, BUSY_MS = 5000, FOUND = 120 };
enum { LOCK_TRIES = 100, LOCK_NS = 20000000 }; /* for a lock whose owner is dead: two seconds */

static const char schema[] =
    "create table meta(key text primary key, value any) strict, without rowid;"
    "create table program(id blob primary key, image blob not null, name text not null,"
    " added_ns int not null) strict, without rowid;"
    "create table run(seq integer primary key autoincrement, id text not null unique,"
    " program blob not null, name text not null, state int not null, due_ns int,"
    " version int not null default 0, recoveries int not null default 0,"
    " created_ns int not null, updated_ns int not null, ended_ns int, start text,"
    " snapshot blob, result text) strict;"
    "create index run_due on run(due_ns) where state = 2 and due_ns is not null;"
    "create index run_live on run(state, seq) where state < 3;"
    "create index run_ended on run(ended_ns, state) where ended_ns is not null;"
    "create index run_stuck on run(state) where state = 6;"
    "create table journal(n integer primary key autoincrement, run int not null,"
    " version int not null, bytes blob not null) strict;"
    "create table inbox(n integer primary key autoincrement, run int not null, kind int not null,"
    " name text not null, key text, body text, at_ns int not null, unique(run, key)) strict;"
    "create index inbox_run on inbox(run, name, n);"
    "create table wait(run int not null, number int not null, name text not null,"
    " since_ns int not null, question text, provider text not null default '',"
    " lease_ns int not null default 0, attempt int not null default 0,"
    " primary key(run, number)) strict, without rowid;"
    "create index wait_call on wait(provider, lease_ns) where provider <> '';"
    "create table value(key text primary key, value text not null) strict, without rowid;"
    "create table event(n integer primary key autoincrement, run int not null, at_ns int not null,"
    " kind text not null, body text) strict;"
    "create index event_run on event(run, n);"
    "create view runs as select id, name, state, due_ns, created_ns, updated_ns, ended_ns, result"
    " from run;";

/* From version 1: calls for workers outside, and values. */
static const char upgrade[] =
    "alter table wait add column provider text not null default '';"
    "alter table wait add column lease_ns int not null default 0;"
    "alter table wait add column attempt int not null default 0;"
    "create index wait_call on wait(provider, lease_ns) where provider <> '';"
    "create table value(key text primary key, value text not null) strict, without rowid;"
    "drop index run_ended;"
    "create index run_ended on run(ended_ns, state) where ended_ns is not null;"
    "create index run_stuck on run(state) where state = 6;"
    "pragma user_version = 2";

/* ---- statements ------------------------------------------------------------------------------ */

mwl_status mwl__sqlite_refuse(mwl__sqlite_store *s, mwl_status status, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(s->why, sizeof s->why, format, args);
    va_end(args);
    return status;
}

mwl_status mwl__sqlite_status(mwl__sqlite_store *s, int code) {
    const char *text = s->db ? s->lib->errmsg(s->db) : s->lib->errstr(code);
    switch (code & 0xff) {
    case SQLITE_OK:
    case SQLITE_ROW:
    case SQLITE_DONE: return MWL_OK;
    case SQLITE_NOMEM: return mwl__sqlite_refuse(s, MWL_E_NOMEM, "out of memory");
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
        return mwl__sqlite_refuse(s, MWL_E_SNAPSHOT, "%s: damaged, or not a store of runs (%s)",
                                  s->path, text);
    case SQLITE_TOOBIG:
    case SQLITE_CONSTRAINT:
    case SQLITE_MISMATCH:
    case SQLITE_RANGE: return mwl__sqlite_refuse(s, MWL_E_REFUSED, "%s: %s", s->path, text);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN: return mwl__sqlite_refuse(s, MWL_E_NOT_FOUND, "%s: %s", s->path, text);
    default: return mwl__sqlite_refuse(s, MWL_E_IO, "%s: %s", s->path, text);
    }
}

static int prepare(mwl__sqlite_store *s, mwl__sqlite_statement which) {
    static const char *const texts[] = {
#define MWL_X(name, text) text,
        MWL__SQLITE_STATEMENTS(MWL_X)
#undef MWL_X
    };
    if (s->statements[which]) return SQLITE_OK;
    return s->lib->prepare_v3(s->db, texts[which], -1, SQLITE_PREPARE_PERSISTENT,
                              &s->statements[which], NULL);
}

static int bind(mwl__sqlite_store *s, sqlite3_stmt *st, int at, char letter, va_list *args) {
    const char *text;
    mwl_store_text part;
    const void *bytes;
    switch (letter) {
    case 'i': return s->lib->bind_int64(st, at, va_arg(*args, int64_t));
    case 't':
        text = va_arg(*args, const char *);
        if (!text) return s->lib->bind_null(st, at);
        return s->lib->bind_text64(st, at, text, strlen(text), SQLITE_STATIC, SQLITE_UTF8);
    case 'x':
        part = va_arg(*args, mwl_store_text);
        if (!part.at) return s->lib->bind_null(st, at);
        return s->lib->bind_text64(st, at, part.at, part.len, SQLITE_STATIC, SQLITE_UTF8);
    default:
        bytes = va_arg(*args, const void *);
        return s->lib->bind_blob64(st, at, bytes, va_arg(*args, size_t), SQLITE_STATIC);
    }
}

static int run(mwl__sqlite_store *s, mwl__sqlite_statement which, const char *form, va_list *args) {
    int code = prepare(s, which);
    sqlite3_stmt *st = s->statements[which];
    for (int i = 0; code == SQLITE_OK && form[i]; i++) code = bind(s, st, i + 1, form[i], args);
    if (code == SQLITE_OK) code = s->lib->step(st);
    if (code != SQLITE_ROW && st) s->lib->reset(st);
    return code;
}

int mwl__sqlite_run(mwl__sqlite_store *s, mwl__sqlite_statement which, const char *form, ...) {
    va_list args;
    va_start(args, form);
    int code = run(s, which, form, &args);
    va_end(args);
    return code;
}

int mwl__sqlite_next(mwl__sqlite_store *s, mwl__sqlite_statement which) {
    int code = s->lib->step(s->statements[which]);
    if (code != SQLITE_ROW) s->lib->reset(s->statements[which]);
    return code;
}

void mwl__sqlite_end(mwl__sqlite_store *s, mwl__sqlite_statement which) {
    s->lib->reset(s->statements[which]);
}

bool mwl__sqlite_do(mwl__sqlite_store *s, int *code, mwl__sqlite_statement which, const char *form,
                    ...) {
    va_list args;
    if (*code != SQLITE_OK) return false;
    va_start(args, form);
    int got = run(s, which, form, &args);
    va_end(args);
    if (got == SQLITE_ROW) mwl__sqlite_end(s, which);
    *code = got == SQLITE_ROW || got == SQLITE_DONE ? SQLITE_OK : got;
    return *code == SQLITE_OK;
}

int64_t mwl__sqlite_int(mwl__sqlite_store *s, mwl__sqlite_statement which, int column) {
    return s->lib->column_int64(s->statements[which], column);
}
bool mwl__sqlite_null(mwl__sqlite_store *s, mwl__sqlite_statement which, int column) {
    return s->lib->column_type(s->statements[which], column) == SQLITE_NULL;
}
const char *mwl__sqlite_word(mwl__sqlite_store *s, mwl__sqlite_statement which, int column) {
    const char *text = (const char *)s->lib->column_text(s->statements[which], column);
    return text ? text : "";
}
mwl_store_text mwl__sqlite_text(mwl__sqlite_store *s, mwl__sqlite_statement which, int column) {
    mwl_store_text t = {(const char *)s->lib->column_text(s->statements[which], column), 0};
    if (t.at) t.len = (size_t)s->lib->column_bytes(s->statements[which], column);
    return t;
}
const void *mwl__sqlite_blob(mwl__sqlite_store *s, mwl__sqlite_statement which, int column,
                             size_t *size) {
    const void *at = s->lib->column_blob(s->statements[which], column);
    *size = (size_t)s->lib->column_bytes(s->statements[which], column);
    return at;
}

mwl_status mwl__sqlite_finish(mwl__sqlite_store *s, int code) {
    if (code == SQLITE_OK) {
        code = mwl__sqlite_run(s, MWL__SQL_COMMIT, "");
        if (code == SQLITE_DONE) return MWL_OK;
    }
    mwl_status status = mwl__sqlite_status(s, code);
    if (!s->lib->get_autocommit(s->db)) (void)mwl__sqlite_run(s, MWL__SQL_ROLLBACK, "");
    return status;
}

/* ---- the owner ------------------------------------------------------------------------------- */

static mwl_status refuse_owner(mwl__sqlite_store *s) {
    char text[200] = "";
    ssize_t n = pread(s->lock, text, sizeof text - 1, 0);
    text[n > 0 ? n : 0] = '\0';
    text[strcspn(text, "\n")] = '\0';
    return mwl__sqlite_refuse(s, MWL_E_STATE, "%s is in use by %s", s->path,
                              *text ? text : "another process");
}

/* A child that its owner had just forked has the lock too, until it executes its program: when the
 * owner was killed then, the lock is free a moment later. */
static bool owner_is_dead(const mwl__sqlite_store *s) {
    char text[200] = "";
    long pid = 0;
    return pread(s->lock, text, sizeof text - 1, 0) > 0 && sscanf(text, "process %ld", &pid) == 1 &&
           pid > 0 && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

static bool get_lock(const mwl__sqlite_store *s) {
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    for (int tries = 0;; tries++) {
        if (fcntl(s->lock, F_OFD_SETLK, &lock) == 0) return true;
        if (tries == LOCK_TRIES || !owner_is_dead(s)) return false;
        nanosleep(&(struct timespec){0, LOCK_NS}, NULL);
    }
}

static mwl_status take_lock(mwl__sqlite_store *s, const char *who) {
    char path[4200], text[200];
    snprintf(path, sizeof path, "%s-owner", s->path);
    s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (s->lock < 0) return mwl__sqlite_refuse(s, MWL_E_IO, "%s: %s", path, strerror(errno));
    if (!get_lock(s)) return refuse_owner(s);
    int n = snprintf(text, sizeof text, "process %ld (%s)\n", (long)getpid(), who);
    if (ftruncate(s->lock, 0) != 0 || pwrite(s->lock, text, (size_t)n, 0) != n)
        return mwl__sqlite_refuse(s, MWL_E_IO, "%s: %s", path, strerror(errno));
    return MWL_OK;
}

static int64_t meta_int(mwl__sqlite_store *s, const char *key, int64_t otherwise, int *code) {
    int got = mwl__sqlite_run(s, MWL__SQL_META_GET, "t", key);
    int64_t value = otherwise;
    if (got == SQLITE_ROW) {
        value = mwl__sqlite_int(s, MWL__SQL_META_GET, 0);
        mwl__sqlite_end(s, MWL__SQL_META_GET);
    } else if (got != SQLITE_DONE && *code == SQLITE_OK) {
        *code = got;
    }
    return value;
}

/* "ok", or lines about what is wrong: the last one is enough. */
static int on_check(void *ctx, int n, char **values, char **names) {
    char *found = ctx;
    (void)n, (void)names;
    const char *text = values[0] ? values[0] : "";
    const char *line = strrchr(text, '\n');
    snprintf(found, FOUND, "%s", line ? line + 1 : text);
    return 0;
}

/* After an end that was not clean: the file is checked. */
static mwl_status check(mwl__sqlite_store *s) {
    char found[FOUND] = "no answer";
    int code = s->lib->exec(s->db, "pragma quick_check(1)", on_check, found, NULL);
    if (code != SQLITE_OK) return mwl__sqlite_status(s, code);
    if (strcmp(found, "ok") == 0) return MWL_OK;
    return mwl__sqlite_refuse(s, MWL_E_SNAPSHOT, "%s: damaged (%s)", s->path, found);
}

/* Runs that the last owner had in memory are due now. */
static mwl_status own(mwl__sqlite_store *s) {
    int code = SQLITE_OK;
    mwl__sqlite_do(s, &code, MWL__SQL_BEGIN, "");
    if (code != SQLITE_OK) return mwl__sqlite_status(s, code);
    s->generation = (uint64_t)meta_int(s, "generation", 0, &code) + 1;
    mwl__sqlite_do(s, &code, MWL__SQL_META_PUT, "ti", "generation", (int64_t)s->generation);
    mwl__sqlite_do(s, &code, MWL__SQL_META_PUT, "ti", "clean", (int64_t)0);
    if (code == SQLITE_OK)
        code = s->lib->exec(s->db,
                            "update run set state = 2, due_ns = 0 where state = 1 and state < 3",
                            NULL, NULL, NULL);
    return mwl__sqlite_finish(s, code);
}

static mwl_status sqlite_join(mwl_store *base, const char *who) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    if (s->lock >= 0) return MWL_OK;
    mwl_status status = take_lock(s, who);
    if (status == MWL_OK && !meta_int(s, "clean", 1, &code)) status = check(s);
    if (status == MWL_OK) status = mwl__sqlite_status(s, code);
    for (bool more = true; status == MWL_OK && more;) status = mwl__sqlite_fold(s, &more);
    if (status == MWL_OK) status = own(s);
    if (status != MWL_OK && s->lock >= 0) {
        close(s->lock);
        s->lock = -1;
    }
    s->data_version = -1; /* the first poll looks everywhere */
    return status;
}

/* ---- opening --------------------------------------------------------------------------------- */

static void sqlite_close(mwl_store *base) {
    mwl__sqlite_store *s = (mwl__sqlite_store *)base;
    int code = SQLITE_OK;
    bool more = true;
    if (s->lock >= 0) {
        while (more && mwl__sqlite_fold(s, &more) == MWL_OK) continue;
        mwl__sqlite_do(s, &code, MWL__SQL_META_PUT, "ti", "clean", (int64_t)1);
    }
    for (size_t i = 0; i < MWL__SQL_COUNT; i++)
        if (s->statements[i]) s->lib->finalize(s->statements[i]);
    if (s->db) s->lib->close_v2(s->db);
    if (s->lock >= 0) close(s->lock);
    free(s->claimed);
    free(s->path);
    free(s);
}

static const char *sqlite_why(const mwl_store *base) {
    return ((const mwl__sqlite_store *)base)->why;
}

static const mwl_store_ops ops = {
    .close = sqlite_close,
    .why = sqlite_why,
    .join = sqlite_join,
    .commit = mwl__sqlite_commit,
    .poll = mwl__sqlite_poll,
    .idle = mwl__sqlite_idle,
    .put_program = mwl__sqlite_put_program,
    .get_program = mwl__sqlite_get_program,
    .start = mwl__sqlite_start,
    .start_all = mwl__sqlite_start_all,
    .post = mwl__sqlite_post,
    .list = mwl__sqlite_list,
    .waits = mwl__sqlite_waits,
    .events = mwl__sqlite_events,
    .take_call = mwl__sqlite_take_call,
    .set_value = mwl__sqlite_set_value,
    .values = mwl__sqlite_values,
    .count = mwl__sqlite_count,
    .prune = mwl__sqlite_prune,
    .backup = mwl__sqlite_backup,
};

static int on_int(void *ctx, int n, char **values, char **names) {
    (void)n, (void)names;
    *(int64_t *)ctx = values[0] ? strtoll(values[0], NULL, 10) : 0;
    return 0;
}

static int pragma_int(mwl__sqlite_store *s, const char *text, int64_t *out) {
    *out = 0;
    return s->lib->exec(s->db, text, on_int, out, NULL);
}

/* Another process may have done it meanwhile, or may be doing it. */
static mwl_status upgrade_schema(mwl__sqlite_store *s) {
    int64_t version = 0;
    int code = s->lib->exec(s->db, "begin immediate", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = pragma_int(s, "pragma user_version", &version);
    if (code == SQLITE_OK && version == 1) code = s->lib->exec(s->db, upgrade, NULL, NULL, NULL);
    return mwl__sqlite_finish(s, code);
}

/* A new file, or one of ours. Two processes may open a new one at once. */
static mwl_status make_schema(mwl__sqlite_store *s) {
    int64_t application, version, tables;
    char marks[120];
    /* the tables first: another process makes them and the marks in one transaction */
    int code = pragma_int(s, "select count(*) from sqlite_schema", &tables);
    if (code == SQLITE_OK) code = pragma_int(s, "pragma application_id", &application);
    if (code == SQLITE_OK) code = pragma_int(s, "pragma user_version", &version);
    if (code != SQLITE_OK) return mwl__sqlite_status(s, code);
    if (application == APPLICATION && version == SCHEMA) return MWL_OK;
    if (application == APPLICATION && version == 1) return upgrade_schema(s);
    if (application == APPLICATION)
        return mwl__sqlite_refuse(s, MWL_E_VERSION,
                                  "%s is a store of version %lld, and this program reads version "
                                  "%d",
                                  s->path, (long long)version, SCHEMA);
    if (application || tables)
        return mwl__sqlite_refuse(s, MWL_E_SNAPSHOT, "%s is a database, but not a store of runs",
                                  s->path);
    snprintf(marks, sizeof marks, "pragma application_id = %d; pragma user_version = %d",
             APPLICATION, SCHEMA);
    (void)s->lib->exec(s->db, "pragma auto_vacuum = incremental; pragma journal_mode = wal", NULL,
                       NULL, NULL);
    code = s->lib->exec(s->db, "begin immediate", NULL, NULL, NULL);
    if (code == SQLITE_OK) code = pragma_int(s, "pragma application_id", &application);
    if (code == SQLITE_OK && application != APPLICATION) {
        code = s->lib->exec(s->db, schema, NULL, NULL, NULL);
        if (code == SQLITE_OK) code = s->lib->exec(s->db, marks, NULL, NULL, NULL);
    }
    return mwl__sqlite_finish(s, code);
}

static mwl_status open_file(mwl__sqlite_store *s, bool create) {
    static const char setup[] = "pragma journal_mode = wal; pragma synchronous = full;"
                                "pragma trusted_schema = off; pragma wal_autocheckpoint = 0;"
                                "pragma cache_size = -2048";
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | (create ? SQLITE_OPEN_CREATE : 0);
    if (!create && access(s->path, F_OK) != 0)
        return mwl__sqlite_refuse(s, MWL_E_NOT_FOUND, "%s: %s", s->path, strerror(errno));
    if (create) { /* what runs hold is for their owner alone */
        int fd = open(s->path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0) close(fd);
    }
    int code = s->lib->open_v2(s->path, &s->db, flags, NULL);
    if (code != SQLITE_OK) return mwl__sqlite_status(s, code);
    s->lib->busy_timeout(s->db, BUSY_MS);
    mwl_status status = make_schema(s);
    if (status != MWL_OK) return status;
    return mwl__sqlite_status(s, s->lib->exec(s->db, setup, NULL, NULL, NULL));
}

mwl_status mwl_store_sqlite(const char *path, bool create, mwl_store **out) {
    const char *why = NULL;
    mwl__sqlite_store *s = calloc(1, sizeof *s);
    *out = NULL;
    if (!s || !(s->path = strdup(path))) {
        free(s);
        return MWL_E_NOMEM;
    }
    s->base.ops = &ops;
    s->lock = -1;
    *out = &s->base;
    s->lib = mwl__sqlite_lib_load(&why);
    if (!s->lib) return mwl__sqlite_refuse(s, MWL_E_UNSUPPORTED, "%s", why);
    return open_file(s, create);
}
