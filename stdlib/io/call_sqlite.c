/* call_sqlite.c: sqlite: statements on a database, as one transaction, on a pool thread.
 *
 * The arguments are copied into a heap of the job, and the rows are made in it; the VM's thread
 * copies the value into its own heap. The run pays for that heap, and no text of the database is
 * longer than a quarter of what the run may have. */
#include "stdlib/io/codec.h"
#include "stdlib/io/sqlite_api.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define PREFIX "Provider.Call.Sqlite"

typedef struct call_sqlite {
    mwl__io_job job;
    mwl__payer payer;
    mwl_heap *heap;       /* of this job, in the purse of the payer */
    mwl_value statements; /* an array of {sql, params} */
    int longest;          /* text, in bytes: a quarter of the run's memory */
    bool read_only;
    size_t max_rows;
    mwl__sqlite_wait wait;
    /* the result */
    mwl_value values;
    int error;        /* a negative errno of opening */
    const char *code; /* of the failure, or NULL */
    const char *kind; /* of a constraint */
    bool retryable;
    char message[400];
    char path[];
} call_sqlite;

/* What the parts of the work share. */
typedef struct work {
    call_sqlite *c;
    const mwl__sqlite_api *s;
    sqlite3 *db;
} work;

/* ---- failures -------------------------------------------------------------------------------- */

static bool fail(call_sqlite *c, const char *code, bool retryable, const char *message) {
    if (c->code) return false; /* the first one counts */
    c->code = code;
    c->retryable = retryable;
    snprintf(c->message, sizeof c->message, "%s", message);
    return false;
}

static const char *constraint_kind(int code) {
    switch (code) {
    case SQLITE_CONSTRAINT_UNIQUE: return "UNIQUE";
    case SQLITE_CONSTRAINT_PRIMARYKEY:
    case SQLITE_CONSTRAINT_ROWID: return "PRIMARY KEY";
    case SQLITE_CONSTRAINT_NOTNULL: return "NOT NULL";
    case SQLITE_CONSTRAINT_FOREIGNKEY: return "FOREIGN KEY";
    case SQLITE_CONSTRAINT_CHECK: return "CHECK";
    case SQLITE_CONSTRAINT_TRIGGER: return "TRIGGER";
    default: return "OTHER";
    }
}

static bool fail_db(work *w) {
    int code = w->s->extended_errcode(w->db);
    const char *message = w->s->errmsg(w->db);
    switch (code & 0xff) {
    case SQLITE_CONSTRAINT:
        w->c->kind = constraint_kind(code);
        return fail(w->c, PREFIX ".Constraint", false, message);
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return fail(w->c, PREFIX ".Busy", true, message);
    case SQLITE_ERROR:
    case SQLITE_AUTH:
    case SQLITE_RANGE:
    case SQLITE_MISMATCH:
    case SQLITE_READONLY: return fail(w->c, PREFIX ".InvalidSql", false, message);
    case SQLITE_CANTOPEN:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB: return fail(w->c, PREFIX ".OpenFailed", false, message);
    case SQLITE_FULL:
    case SQLITE_NOMEM: return fail(w->c, PREFIX ".Failed", true, message);
    case SQLITE_TOOBIG: return fail(w->c, PREFIX ".TooLarge", false, message);
    default: return fail(w->c, PREFIX ".Failed", false, message);
    }
}

static bool no_memory(call_sqlite *c) { return fail(c, PREFIX ".Failed", true, "out of memory"); }

/* ---- parameters ------------------------------------------------------------------------------ */

static int bind_number(work *w, sqlite3_stmt *st, int at, double d) {
    bool whole = d >= -9007199254740992.0 && d <= 9007199254740992.0 && d == floor(d);
    return whole ? w->s->bind_int64(st, at, (sqlite3_int64)d) : w->s->bind_double(st, at, d);
}

static int bind_bytes(work *w, sqlite3_stmt *st, int at, mwl_value text) {
    mwl__bytes bytes = {.payer = &w->c->payer};
    size_t len = 0;
    const char *t = mwl_as_text(text, &len);
    mwl_status status = mwl__base64_decode(&bytes, t, len);
    int code = SQLITE_NOMEM;
    if (status == MWL_E_SYNTAX)
        fail(w->c, PREFIX ".InvalidSql", false, "a parameter is not base64");
    else if (status == MWL_OK)
        code = w->s->bind_blob64(st, at, bytes.data, bytes.len, SQLITE_TRANSIENT);
    mwl__bytes_free(&bytes);
    return code;
}

static int bind_text(work *w, sqlite3_stmt *st, int at, mwl_value v) {
    size_t len = 0;
    const char *text = mwl_as_text(v, &len);
    return w->s->bind_text64(st, at, text, len, SQLITE_STATIC, SQLITE_UTF8);
}

static int bind_one(work *w, sqlite3_stmt *st, int at, mwl_value v) {
    mwl_value base64 = mwl_get(v, "base64");
    switch (mwl_value_kind(v)) {
    case MWL_KIND_ABSENT:
    case MWL_KIND_NULL: return w->s->bind_null(st, at);
    case MWL_KIND_BOOL: return w->s->bind_int64(st, at, mwl_as_bool(v));
    case MWL_KIND_NUMBER: return bind_number(w, st, at, mwl_as_number(v));
    default: break;
    }
    if (mwl_value_kind(base64) == MWL_KIND_STRING && mwl_count(v) == 1)
        return bind_bytes(w, st, at, base64);
    return bind_text(w, st, at, v);
}

static bool bind_all(work *w, sqlite3_stmt *st, mwl_value params) {
    char why[200];
    int n = w->s->bind_parameter_count(st);
    bool named = mwl_value_kind(params) == MWL_KIND_OBJECT;
    if (!named && mwl_count(params) != (size_t)n) {
        snprintf(why, sizeof why, "the statement has %d parameters, but %zu values are given", n,
                 mwl_count(params));
        return fail(w->c, PREFIX ".InvalidSql", false, why);
    }
    for (int i = 1; i <= n; i++) {
        const char *name = w->s->bind_parameter_name(st, i);
        mwl_value v = named ? name ? mwl_get(params, name + 1) : mwl_absent()
                            : mwl_array_at(params, (size_t)i - 1);
        if (mwl_is_absent(v)) {
            snprintf(why, sizeof why, "there is no value for the parameter %s", name ? name : "?");
            return fail(w->c, PREFIX ".InvalidSql", false, why);
        }
        if (bind_one(w, st, i, v) != SQLITE_OK) return fail_db(w);
    }
    return true;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static mwl_value integer(mwl_heap *heap, sqlite3_int64 i) {
    char text[24];
    const sqlite3_int64 exact = (sqlite3_int64)1 << 53;
    if (i >= -exact && i <= exact) return mwl_number((double)i);
    int n = snprintf(text, sizeof text, "%lld", (long long)i);
    return mwl_string(heap, text, (size_t)n);
}

static mwl_value column(work *w, sqlite3_stmt *st, int i) {
    mwl_heap *heap = w->c->heap;
    double d;
    switch (w->s->column_type(st, i)) {
    case SQLITE_INTEGER: return integer(heap, w->s->column_int64(st, i));
    case SQLITE_FLOAT:
        d = w->s->column_double(st, i);
        return isfinite(d) ? mwl_number(d) : mwl_null(); /* 9e999 has no JSON form */
    case SQLITE_TEXT: {
        const char *text = (const char *)w->s->column_text(st, i);
        return mwl__io_text(heap, text ? text : "", (size_t)w->s->column_bytes(st, i));
    }
    case SQLITE_BLOB: {
        const void *data = w->s->column_blob(st, i);
        char none[MWL__WHY];
        return mwl__decode(heap, MWL__FORM_BASE64, data, (size_t)w->s->column_bytes(st, i), NULL,
                           none);
    }
    default: return mwl_null();
    }
}

static mwl_value row_of(work *w, sqlite3_stmt *st) {
    int n = w->s->column_count(st);
    mwl_value row = mwl_object(w->c->heap, (size_t)n);
    for (int i = 0; i < n; i++) {
        const char *name = w->s->column_name(st, i);
        row = mwl_object_put(w->c->heap, row,
                             mwl__io_text(w->c->heap, name ? name : "", name ? strlen(name) : 0),
                             column(w, st, i));
    }
    return row;
}

/* The value of a statement: its rows, or what it changed. Absent if it failed. */
static mwl_value run_statement(work *w, sqlite3_stmt *st) {
    mwl_heap *heap = w->c->heap;
    bool has_rows = w->s->column_count(st) > 0;
    mwl_value rows = mwl_array(heap, 0);
    int code;
    while ((code = w->s->step(st)) == SQLITE_ROW) {
        if (mwl_count(rows) == w->c->max_rows) {
            fail(w->c, PREFIX ".TooLarge", false, "the statement returns more than maxRows rows");
            break;
        }
        rows = mwl_array_push(heap, rows, row_of(w, st));
        if (mwl_is_absent(rows)) break;
    }
    if (code != SQLITE_ROW && code != SQLITE_DONE) fail_db(w);
    if (mwl_is_absent(rows)) no_memory(w->c);
    if (has_rows && !w->c->code) return rows;
    mwl_value_drop(heap, rows);
    if (w->c->code) return mwl_absent();
    rows = mwl__io_set(heap, mwl_object(heap, 2), "changes",
                       mwl_number((double)w->s->changes64(w->db)));
    return mwl__io_set(heap, rows, "lastInsertId", integer(heap, w->s->last_insert_rowid(w->db)));
}

/* ---- the work -------------------------------------------------------------------------------- */

static bool has_more(const char *tail) { return tail[strspn(tail, " \t\r\n;")] != '\0'; }

static bool one_statement(work *w, mwl_value statement) {
    call_sqlite *c = w->c;
    sqlite3_stmt *st = NULL;
    const char *tail = "";
    size_t len = 0;
    const char *sql = mwl_as_text(mwl_get(statement, "sql"), &len);
    if (len > INT32_MAX) return fail(c, PREFIX ".InvalidSql", false, "the statement is too long");
    if (w->s->prepare_v2(w->db, sql, (int)len, &st, &tail) != SQLITE_OK) return fail_db(w);
    if (!st) return fail(c, PREFIX ".InvalidSql", false, "the statement is empty");
    if (has_more(tail))
        fail(c, PREFIX ".InvalidSql", false, "there is more than one statement; use `statements`");
    mwl_value v = mwl_absent();
    if (!c->code && bind_all(w, st, mwl_get(statement, "params"))) v = run_statement(w, st);
    w->s->finalize(st);
    if (c->code) return false;
    c->values = mwl_array_push(c->heap, c->values, v);
    return !mwl_is_absent(c->values) || no_memory(c);
}

static bool command(work *w, const char *sql) {
    return w->s->exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail_db(w);
}

/* A single statement makes its own transaction; PRAGMA and VACUUM need that. */
static void all_statements(work *w) {
    call_sqlite *c = w->c;
    size_t n = mwl_count(c->statements);
    bool together = n > 1;
    bool ok = !together || command(w, c->read_only ? "BEGIN" : "BEGIN IMMEDIATE");
    for (size_t i = 0; ok && i < n; i++) ok = one_statement(w, mwl_array_at(c->statements, i));
    if (ok && atomic_load(&c->job.stop)) ok = fail(c, PREFIX ".Failed", true, "stopped");
    if (ok && together) {
        if (w->s->get_autocommit(w->db))
            fail(c, PREFIX ".InvalidSql", false, "a statement ended the transaction");
        else
            command(w, "COMMIT");
    }
    if (!w->s->get_autocommit(w->db)) {
        w->s->progress_handler(w->db, 0, NULL, NULL); /* a stopped job must roll back, too */
        w->s->exec(w->db, "ROLLBACK", NULL, NULL, NULL);
    }
}

static void sqlite_work(mwl__io_job *job) {
    call_sqlite *c = (call_sqlite *)job;
    const char *why;
    work w = {c, mwl__sqlite_load(&why), NULL};
    if (!w.s) {
        fail(c, PREFIX ".Unavailable", false, why);
        return;
    }
    int code =
        mwl__sqlite_open(w.s, job->op.io, c->path,
                         c->read_only ? MWL__SQLITE_READ : MWL__SQLITE_WRITE, &c->wait, &w.db);
    if (code < 0)
        c->error = code;
    else if (code > 0 && w.db)
        fail_db(&w);
    else if (code > 0)
        no_memory(c);
    else {
        w.s->limit(w.db, SQLITE_LIMIT_LENGTH, c->longest);
        all_statements(&w);
    }
    if (w.db) w.s->close_v2(w.db);
}

/* ---- the call -------------------------------------------------------------------------------- */

static void settle(call_sqlite *c) {
    mwl_call *call = c->job.op.call;
    mwl_heap *heap = mwl_call_heap(call);
    if (c->error == -EPERM || c->error == -EXDEV) {
        mwl__io_refuse(call, PREFIX, MWL_IO_SQLITE, c->path);
    } else if (c->error) {
        mwl__io_fail(call, PREFIX ".OpenFailed", false, mwl_absent(), "%s: %s", c->path,
                     strerror(-c->error));
    } else if (c->code) {
        mwl_value details = mwl_absent();
        if (c->kind)
            details = mwl__io_set(heap, mwl_object(heap, 1), "kind",
                                  mwl_string(heap, c->kind, strlen(c->kind)));
        mwl__io_fail(call, c->code, c->retryable, details, "%s", c->message);
    } else if (atomic_load(&c->job.stop)) {
        mwl__io_fail(call, PREFIX ".Failed", true, mwl_absent(), "stopped");
    } else {
        bool one = !mwl_is_absent(mwl_get(mwl_call_arguments(call), "sql"));
        (void)mwl_call_charge(call, mwl_heap_used(c->heap) / 16);
        mwl_call_succeed(call, mwl_value_copy(heap, one ? mwl_array_at(c->values, 0) : c->values));
    }
}

static void sqlite_free(call_sqlite *c) {
    if (c->heap) {
        mwl_value_drop(c->heap, c->values);
        mwl_value_drop(c->heap, c->statements);
        mwl_heap_free(c->heap);
    }
    mwl__payer_close(&c->payer);
    free(c);
}

static void sqlite_done(mwl__io_job *job) {
    call_sqlite *c = (call_sqlite *)job;
    settle(c);
    sqlite_free(c);
}

/* ---- copying the arguments; each step costs fuel --------------------------------------------- */

static mwl_value copy_text(call_sqlite *c, mwl_value text) {
    size_t len = 0;
    const char *t = mwl_as_text(text, &len);
    if (mwl_call_charge(c->payer.call, 1 + len / 8) != MWL_OK) return mwl_absent();
    return mwl_string(c->heap, t, len);
}

/* A scalar or {base64} as it is, any other value as its JSON text, which is what is bound. */
static mwl_value copy_param(call_sqlite *c, mwl_value v) {
    mwl_kind kind = mwl_value_kind(v);
    if (kind == MWL_KIND_STRING) return copy_text(c, v);
    if (kind != MWL_KIND_ARRAY && kind != MWL_KIND_OBJECT) return mwl_value_copy(c->heap, v);
    mwl_value base64 = mwl_get(v, "base64");
    if (mwl_value_kind(base64) == MWL_KIND_STRING && mwl_count(v) == 1)
        return mwl__io_set(c->heap, mwl_object(c->heap, 1), "base64", copy_text(c, base64));
    mwl__bytes text = {.payer = &c->payer};
    mwl_value out = mwl_absent();
    if (mwl__encode_plain(mwl_call_heap(c->payer.call), v, &text) == MWL_OK)
        out = mwl_string(c->heap, text.data, text.len);
    mwl__bytes_free(&text);
    return out;
}

static mwl_value copy_params(call_sqlite *c, mwl_value params) {
    mwl_value key, v;
    size_t n = 0;
    if (mwl_value_kind(params) != MWL_KIND_OBJECT) {
        mwl_value list = mwl_array(c->heap, 0);
        for (size_t i = 0; i < mwl_count(params) && !mwl_is_absent(list); i++)
            list = mwl_call_charge(c->payer.call, 1) == MWL_OK
                       ? mwl_array_push(c->heap, list, copy_param(c, mwl_array_at(params, i)))
                       : (mwl_value_drop(c->heap, list), mwl_absent());
        return list;
    }
    mwl_value out = mwl_object(c->heap, 0);
    while (!mwl_is_absent(out) && mwl_object_at(params, n++, &key, &v))
        out = mwl_object_put(c->heap, out, copy_text(c, key), copy_param(c, v));
    return out;
}

static mwl_value copy_statement(call_sqlite *c, mwl_value statement) {
    mwl_value params = mwl_get(statement, "params");
    mwl_value one = mwl__io_set(c->heap, mwl_object(c->heap, 2), "sql",
                                copy_text(c, mwl_get(statement, "sql")));
    if (mwl_is_absent(params) || mwl_is_absent(one)) return one;
    return mwl__io_set(c->heap, one, "params", copy_params(c, params));
}

static mwl_value copy_statements(call_sqlite *c, mwl_value args) {
    mwl_value several = mwl_get(args, "statements"), all = mwl_array(c->heap, 1);
    if (mwl_is_absent(several)) return mwl_array_push(c->heap, all, copy_statement(c, args));
    for (size_t i = 0; i < mwl_count(several) && !mwl_is_absent(all); i++)
        all = mwl_array_push(c->heap, all, copy_statement(c, mwl_array_at(several, i)));
    return all;
}

static int longest_of(mwl_call *call) {
    const size_t quarter = mwl_run_memory_limit(mwl_call_run(call)) / 4;
    return quarter > INT32_MAX ? INT32_MAX : (int)quarter;
}

static void sqlite_start(mwl_call *call, void *user) {
    mwl_io *io = user;
    mwl_value args = mwl_call_arguments(call);
    const char *path = mwl__io_arg_text(args, "file", "");
    if (mwl__io_has_nul(mwl_get(args, "file"))) {
        mwl__io_fail(call, PREFIX ".OpenFailed", false, mwl_absent(),
                     "the name of the file contains a NUL character");
        return;
    }
    call_sqlite *c = calloc(1, sizeof *c + strlen(path) + 1);
    bool ok = c && mwl__payer_open(&c->payer, call);
    mwl_alloc memory = ok ? mwl_purse_alloc(c->payer.purse) : mwl_alloc_default();
    ok = ok && mwl_heap_new(&memory, &c->heap) == MWL_OK;
    if (ok) {
        memcpy(c->path, path, strlen(path) + 1);
        c->longest = longest_of(call);
        c->statements = copy_statements(c, args);
        c->values = mwl_array(c->heap, mwl_count(c->statements));
        ok = !mwl_is_absent(c->statements) && !mwl_is_absent(c->values);
    }
    if (!ok) {
        if (c) sqlite_free(c);
        mwl__io_fail(call, PREFIX ".Failed", true, mwl_absent(), "out of memory");
        return;
    }
    mwl__payer_pool(&c->payer);
    c->read_only = mwl__io_arg_bool(args, "readOnly", false);
    c->max_rows = (size_t)mwl__io_arg_number(args, "maxRows", 100000);
    c->wait.stop = &c->job.stop;
    c->wait.busy_ms = mwl__io_arg_duration(args, "busyTimeout", 5000000000) / 1000000;
    c->job.work = sqlite_work;
    c->job.done = sqlite_done;
    mwl__io_job_start(&c->job, io, call);
}

const mwl_call_provider mwl__io_call_sqlite = {MWL__IO_CALL(sqlite, "sqlite"),
                                               .start = sqlite_start, .cancel = mwl__io_op_cancel};
const mwl__io_life mwl__io_call_sqlite_life = {NULL};
