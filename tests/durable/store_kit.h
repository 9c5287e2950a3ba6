/* store_kit.h: the stores that a test asks, and what it says to them: the one in memory, the one on
 * SQLite, and with MWL_TEST_POSTGRES=URI the one on PostgreSQL (tests/durable/fleet.py starts a
 * server and runs all of these tests once more). */
#ifndef STORE_KIT_H
#define STORE_KIT_H

#include "mwl_durable.h"
#include "stdlib/durable/postgres_lib.h"
#include "tests/durable/store_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEMORY, SQLITE, POSTGRES, ALL_KINDS };
#define KINDS (getenv("MWL_TEST_POSTGRES") ? ALL_KINDS : POSTGRES)
static const uint8_t program_id[16] = "0123456789abcde";

static int64_t fixed_now = 1000;
static inline int64_t now(void *ctx) {
    (void)ctx;
    return fixed_now;
}

typedef struct place {
    char path[100];
    mwl_store_memory *memory;
    mwl_store *s;
} place;

/* ---- a server of PostgreSQL ------------------------------------------------------------------ */

/* Says something to the server, beside the store. */
static inline bool say(const char *text) {
    static PGconn *conn;
    const char *why, *const keywords[] = {"dbname", NULL};
    const char *const values[] = {getenv("MWL_TEST_POSTGRES"), NULL};
    const mwl__postgres_lib *lib = mwl__postgres_lib_load(&why);
    bool good = true;
    if (!lib) return false;
    if (!conn) conn = lib->connectdbParams(keywords, values, 1);
    if (!conn || !lib->sendQuery(conn, text)) return false;
    for (PGresult *r; (r = lib->getResult(conn)); lib->clear(r)) {
        int kind = lib->resultStatus(r);
        if (kind == MWL__PG_COMMAND_OK || kind == MWL__PG_TUPLES_OK) continue;
        printf("%s: %s", text, lib->errorMessage(conn));
        good = false;
    }
    return good;
}

static inline bool open_postgres(place *p, int64_t lease_ns) {
    memset(p, 0, sizeof *p);
    if (!say("set client_min_messages = warning; drop schema if exists mwlvm cascade"))
        return false;
    mwl_status status = mwl_store_postgres(getenv("MWL_TEST_POSTGRES"), true, lease_ns, &p->s);
    if (status != MWL_OK) printf("%s\n", mwl_store_why(p->s));
    return status == MWL_OK;
}

static inline bool open_place(place *p, int kind) {
    memset(p, 0, sizeof *p);
    fixed_now = 1000;
    if (kind == POSTGRES) return open_postgres(p, 0);
    if (kind == MEMORY)
        return mwl_store_memory_new(now, NULL, 100, &p->memory) == MWL_OK &&
               mwl_store_memory_open(p->memory, &p->s) == MWL_OK;
    snprintf(p->path, sizeof p->path, "/tmp/mwl-test-store-%ld.db", (long)getpid());
    (void)unlink(p->path);
    mwl_status status = mwl_store_sqlite(p->path, true, &p->s);
    if (status != MWL_OK) printf("%s\n", mwl_store_why(p->s));
    return status == MWL_OK;
}

static inline void remove_place(const place *p) {
    static const char *const ends[] = {"", "-wal", "-shm", "-owner"};
    char path[120];
    for (size_t i = 0; *p->path && i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s%s", p->path, ends[i]);
        (void)unlink(path);
    }
}

static inline void close_place(place *p) {
    mwl_store_close(p->s);
    mwl_store_memory_free(p->memory);
    remove_place(p);
}

/* What a poll has shown, as one text. */
typedef struct shown {
    char text[1000];
    int64_t seq;
    uint64_t epoch, version, message;
    unsigned runs, messages;
} shown;

static inline bool on_run(void *ctx, const mwl_store_claimed *run) {
    shown *s = ctx;
    size_t len = strlen(s->text);
    snprintf(s->text + len, sizeof s->text - len, "run %s v%d %s;", run->id, (int)run->version,
             run->bytes ? (const char *)run->bytes : "new");
    s->seq = run->seq;
    s->epoch = run->epoch;
    s->version = run->version;
    s->runs++;
    return true;
}

static inline bool on_message(void *ctx, const mwl_store_message *m) {
    shown *s = ctx;
    size_t len = strlen(s->text);
    snprintf(s->text + len, sizeof s->text - len, "%s %s=%s;",
             m->kind == MWL_STORE_ANSWER ? "answer" : "cancel", m->name,
             m->body.at ? m->body.at : "");
    s->message = m->n;
    s->messages++;
    return true;
}

static inline mwl_status poll_but(mwl_store *store, int64_t at, bool no_suspect, shown *out) {
    const mwl_store_polled sink = {out, on_run, on_message};
    static uint64_t number;
    const mwl_store_poll ask = {
        .number = ++number, .most = 10, .now_wall_ns = at, .no_suspect = no_suspect};
    int64_t next;
    memset(out, 0, sizeof *out);
    return store->ops->poll(store, &ask, &sink, &next);
}
static inline mwl_status poll(mwl_store *store, int64_t at, shown *out) {
    return poll_but(store, at, false, out);
}

static inline mwl_status start(mwl_store *s, const char *id, const char *text) {
    const mwl_store_start start = {id, program_id, "p", {text, strlen(text)}, 5};
    return s->ops->start(s, &start);
}

/* Starts the run "a", joins as this worker, and claims it. */
static inline bool claim_a(mwl_store *s, const char *worker, shown *got) {
    return start(s, "a", "{}") == MWL_OK && s->ops->join(s, worker) == MWL_OK &&
           poll(s, 10, got) == MWL_OK;
}

static inline mwl_status commit(mwl_store *s, mwl_store_change c, bool *kept) {
    c.now_wall_ns = 7;
    return s->ops->commit(s, &c, 1, kept);
}

static inline mwl_status answer(mwl_store *s, const char *run, const char *name, const char *key) {
    const mwl_store_message m = {
        .run = run, .kind = MWL_STORE_ANSWER, .name = name, .key = key, .body = {"1", 1}};
    return s->ops->post(s, &m);
}

static inline mwl_status post(mwl_store *s, const char *run, mwl_store_message_kind kind) {
    const mwl_store_message m = {.run = run, .kind = kind, .name = "", .body = {"\"why\"", 5}};
    return s->ops->post(s, &m);
}

static inline bool see_row(void *ctx, const mwl_store_row *row) {
    char *out = ctx;
    size_t len = strlen(out);
    snprintf(out + len, 500 - len, "%s %s v%d w%zu m%zu %.*s;", row->id,
             mwl_store_state_name(row->state), (int)row->version, row->n_waits, row->n_messages,
             (int)row->result.len, row->result.at ? row->result.at : "");
    return true;
}

static const char *listed(mwl_store *s, bool snapshots) {
    static char out[500];
    const mwl_store_query query = {.snapshots = snapshots};
    *out = '\0';
    if (s->ops->list(s, &query, see_row, out) != MWL_OK) return mwl_store_why(s);
    return out;
}

#endif
