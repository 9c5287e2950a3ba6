/* test_store.c: what every store must do, asked of each: the one in memory, the one on SQLite, and
 * with MWL_TEST_POSTGRES=URI the one on PostgreSQL (tests/durable/fleet.py starts a server). */
#include "utest.h"

#include "mwl_durable.h"
#include "postgres_lib.h"

#include <dlfcn.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MEMORY, SQLITE, POSTGRES, ALL_KINDS };
#define KINDS (getenv("MWL_TEST_POSTGRES") ? ALL_KINDS : POSTGRES)
static const uint8_t program_id[16] = "0123456789abcde";

static int64_t fixed_now = 1000;
static int64_t now(void *ctx) {
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
static bool say(const char *text) {
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

static bool open_postgres(place *p, int64_t lease_ns) {
    memset(p, 0, sizeof *p);
    if (!say("set client_min_messages = warning; drop schema if exists mwlvm cascade"))
        return false;
    mwl_status status = mwl_store_postgres(getenv("MWL_TEST_POSTGRES"), true, lease_ns, &p->s);
    if (status != MWL_OK) printf("%s\n", mwl_store_why(p->s));
    return status == MWL_OK;
}

static bool open_place(place *p, int kind) {
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

static void remove_place(const place *p) {
    static const char *const ends[] = {"", "-wal", "-shm", "-owner"};
    char path[120];
    for (size_t i = 0; *p->path && i < sizeof ends / sizeof *ends; i++) {
        snprintf(path, sizeof path, "%s%s", p->path, ends[i]);
        (void)unlink(path);
    }
}

static void close_place(place *p) {
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

static void on_run(void *ctx, const mwl_store_claimed *run) {
    shown *s = ctx;
    size_t len = strlen(s->text);
    snprintf(s->text + len, sizeof s->text - len, "run %s v%d %s;", run->id, (int)run->version,
             run->bytes ? (const char *)run->bytes : "new");
    s->seq = run->seq;
    s->epoch = run->epoch;
    s->version = run->version;
    s->runs++;
}

static void on_message(void *ctx, const mwl_store_message *m) {
    shown *s = ctx;
    size_t len = strlen(s->text);
    snprintf(s->text + len, sizeof s->text - len, "%s %s=%s;",
             m->kind == MWL_STORE_ANSWER ? "answer" : "cancel", m->name,
             m->body.at ? m->body.at : "");
    s->message = m->n;
    s->messages++;
}

static mwl_status poll(mwl_store *store, int64_t at, shown *out) {
    const mwl_store_polled sink = {out, on_run, on_message};
    static uint64_t number;
    const mwl_store_poll ask = {.number = ++number, .most = 10, .now_wall_ns = at};
    int64_t next;
    memset(out, 0, sizeof *out);
    return store->ops->poll(store, &ask, &sink, &next);
}

static mwl_status start(mwl_store *s, const char *id, const char *text) {
    const mwl_store_start start = {id, program_id, "p", {text, strlen(text)}, 5};
    return s->ops->start(s, &start);
}

static mwl_status commit(mwl_store *s, mwl_store_change c, bool *kept) {
    c.now_wall_ns = 7;
    return s->ops->commit(s, &c, 1, kept);
}

static mwl_status answer(mwl_store *s, const char *run, const char *name, const char *key) {
    const mwl_store_message m = {
        .run = run, .kind = MWL_STORE_ANSWER, .name = name, .key = key, .body = {"1", 1}};
    return s->ops->post(s, &m);
}

static mwl_status post(mwl_store *s, const char *run, mwl_store_message_kind kind) {
    const mwl_store_message m = {.run = run, .kind = kind, .name = "", .body = {"\"why\"", 5}};
    return s->ops->post(s, &m);
}

static bool see_row(void *ctx, const mwl_store_row *row) {
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

UTEST(store, a_run_is_accepted_once) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK); /* repeated: the outcome was not known */
        ASSERT_EQ(start(p.s, "a", "{ }"), MWL_E_DUPLICATE);
        ASSERT_STREQ(listed(p.s, false), "a new v0 w0 m0 ;");
        close_place(&p);
    }
}

UTEST(store, programs_are_kept_by_their_id) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(p.s->ops->put_program(p.s, program_id, "p", "image", 5, 1), MWL_OK);
        ASSERT_EQ(p.s->ops->put_program(p.s, program_id, "p", "image", 5, 1), MWL_OK);
        ASSERT_EQ(p.s->ops->put_program(p.s, program_id, "p", "other", 5, 1), MWL_E_DUPLICATE);
        ASSERT_EQ(p.s->ops->get_program(p.s, (const uint8_t *)"fedcba9876543210", NULL, NULL),
                  MWL_E_NOT_FOUND);
        close_place(&p);
    }
}

UTEST(store, a_worker_claims_saves_and_ends) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept = false;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(poll(p.s, 10, &got), MWL_E_STATE); /* not a worker */
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(p.s->ops->join(p.s, "test"), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_STREQ(got.text, "run a v0 new;");
        mwl_store_change c = {
            .seq = got.seq, .epoch = got.epoch, .version = 1, .bytes = "one", .size = 4};
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_TRUE(kept);
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK); /* repeated */
        ASSERT_TRUE(kept);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_STREQ(got.text, ""); /* it has the run already */
        c.version = 2;
        c.kind = MWL_STORE_END;
        c.state = MWL_STORE_DONE;
        c.result = (mwl_store_text){"{}", 2};
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_TRUE(kept);
        ASSERT_STREQ(listed(p.s, false), "a done v2 w0 m0 {};");
        bool more = true;
        while (more) ASSERT_EQ(p.s->ops->idle(p.s, &more), MWL_OK);
        ASSERT_STREQ(listed(p.s, true), "a done v2 w0 m0 {};");
        close_place(&p);
    }
}

UTEST(store, the_newest_state_counts_also_before_the_fold) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept, more = true;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(p.s->ops->join(p.s, "test"), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        mwl_store_change c = {.seq = got.seq, .epoch = got.epoch, .bytes = "x", .size = 2};
        for (c.version = 1; c.version <= 3; c.version++) ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_STREQ(listed(p.s, true), "a live v3 w0 m0 ;");
        while (more) ASSERT_EQ(p.s->ops->idle(p.s, &more), MWL_OK);
        ASSERT_STREQ(listed(p.s, false), "a live v3 w0 m0 ;");
        close_place(&p);
    }
}

UTEST(store, a_parked_run_comes_back_when_it_is_due_or_has_a_message) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(p.s->ops->join(p.s, "test"), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        mwl_store_change c = {.seq = got.seq,
                              .epoch = got.epoch,
                              .version = 1,
                              .bytes = "one",
                              .size = 4,
                              .kind = MWL_STORE_PARK,
                              .due_wall_ns = 50};
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_TRUE(kept);
        ASSERT_EQ(poll(p.s, 49, &got), MWL_OK);
        ASSERT_STREQ(got.text, "");
        ASSERT_EQ(poll(p.s, 50, &got), MWL_OK);
        ASSERT_STREQ(got.text, "run a v1 one;");
        c.epoch = got.epoch;
        c.version = 2;
        c.due_wall_ns = MWL_NEVER;
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_EQ(poll(p.s, 1000, &got), MWL_OK);
        ASSERT_STREQ(got.text, "");
        ASSERT_EQ(answer(p.s, "a", "n", NULL), MWL_OK);
        ASSERT_EQ(poll(p.s, 1000, &got), MWL_OK);
        ASSERT_EQ(got.runs, 1u);
        ASSERT_TRUE(strstr(got.text, "answer n=1;") != NULL);
        /* A message that the worker knows does not wake the run; a later one does. */
        c.epoch = got.epoch;
        c.version = 3;
        c.seen = got.message;
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_EQ(poll(p.s, 1000, &got), MWL_OK);
        ASSERT_EQ(got.runs, 0u);
        ASSERT_EQ(post(p.s, "a", MWL_STORE_CANCEL), MWL_OK);
        ASSERT_EQ(poll(p.s, 1000, &got), MWL_OK);
        ASSERT_EQ(got.runs, 1u);
        /* One that was taken does not wake it either, also if the worker knows of none. */
        const uint64_t taken[2] = {c.seen, got.message};
        c.epoch = got.epoch;
        c.version = 4;
        c.seen = 0;
        c.taken = taken;
        c.n_taken = 2;
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_TRUE(kept);
        c.n_taken = 0;
        ASSERT_EQ(poll(p.s, 1000, &got), MWL_OK);
        if (got.runs) { /* the store looked before it removed them: then the next time it does not
                         */
            c.epoch = got.epoch;
            c.version = 5;
            ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
            ASSERT_EQ(poll(p.s, 1000, &got), MWL_OK);
        }
        ASSERT_EQ(got.runs, 0u);
        close_place(&p);
    }
}

UTEST(store, an_answer_is_taken_with_the_snapshot_that_contains_it) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept;
        const mwl_store_wait wait = {.number = 4, .name = "ok", .question = {"{}", 2}};
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(p.s->ops->join(p.s, "test"), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        mwl_store_change c = {.seq = got.seq,
                              .epoch = got.epoch,
                              .version = 1,
                              .bytes = "one",
                              .size = 4,
                              .new_waits = true,
                              .waits = &wait,
                              .n_waits = 1};
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_EQ(answer(p.s, "a", "ok", "k1"), MWL_OK);
        ASSERT_EQ(answer(p.s, "a", "ok", NULL), MWL_E_DUPLICATE); /* one wait, one answer */
        ASSERT_EQ(answer(p.s, "a", "ok", "k1"), MWL_E_DUPLICATE);
        ASSERT_EQ(answer(p.s, "a", "later", NULL), MWL_OK); /* nothing waits: kept */
        ASSERT_EQ(answer(p.s, "b", "ok", NULL), MWL_E_NOT_FOUND);
        ASSERT_STREQ(listed(p.s, false),
                     kind == SQLITE ? "a live v0 w1 m2 ;" : "a live v1 w1 m2 ;");
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_STREQ(got.text, "answer ok=1;answer later=1;");
        uint64_t first = got.message - 1;
        c.version = 2;
        c.taken = &first;
        c.n_taken = 1;
        c.n_waits = 0;
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_EQ(answer(p.s, "a", "ok", "k1"), MWL_E_DUPLICATE); /* its key is remembered */
        ASSERT_STREQ(listed(p.s, true), "a live v2 w0 m1 ;");
        close_place(&p);
    }
}

UTEST(store, a_run_that_is_over_gets_no_message) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(post(p.s, "a", MWL_STORE_CANCEL), MWL_OK);
        ASSERT_EQ(post(p.s, "a", MWL_STORE_CANCEL), MWL_OK); /* once is enough */
        ASSERT_EQ(p.s->ops->join(p.s, "test"), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_EQ(got.runs, 1u);
        ASSERT_TRUE(strstr(got.text, "cancel =\"why\"") != NULL);
        mwl_store_change c = {.seq = got.seq,
                              .epoch = got.epoch,
                              .version = 1,
                              .kind = MWL_STORE_END,
                              .state = MWL_STORE_FAILED,
                              .result = {"{}", 2}};
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_EQ(answer(p.s, "a", "ok", NULL), MWL_E_STATE);
        ASSERT_EQ(post(p.s, "a", MWL_STORE_CANCEL), MWL_OK);
        ASSERT_EQ(post(p.s, "a", MWL_STORE_RESUME), MWL_E_STATE);
        ASSERT_STREQ(listed(p.s, false), "a failed v1 w0 m0 {};");
        close_place(&p);
    }
}

UTEST(store, a_stuck_run_is_resumed_or_cancelled) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(p.s->ops->join(p.s, "test"), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        mwl_store_change c = {.seq = got.seq,
                              .epoch = got.epoch,
                              .version = 1,
                              .kind = MWL_STORE_END,
                              .state = MWL_STORE_STUCK,
                              .result = {"why", 3}};
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_STREQ(listed(p.s, false), "a stuck v1 w0 m0 why;");
        ASSERT_EQ(post(p.s, "a", MWL_STORE_RESUME), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_EQ(got.runs, 1u);
        c.epoch = got.epoch;
        c.version = 2;
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_TRUE(kept);
        ASSERT_EQ(post(p.s, "a", MWL_STORE_CANCEL), MWL_OK);
        ASSERT_TRUE(strncmp(listed(p.s, false), "a aborted", 9) == 0);
        close_place(&p);
    }
}

UTEST(store, old_runs_are_removed) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept;
        size_t removed = 9;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(start(p.s, "b", "{}"), MWL_OK);
        ASSERT_EQ(p.s->ops->join(p.s, "test"), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        mwl_store_change c = {.seq = 1,
                              .epoch = got.epoch,
                              .version = 1,
                              .kind = MWL_STORE_END,
                              .state = MWL_STORE_DONE,
                              .result = {"{}", 2}};
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        mwl_store_keep keep = {7, 7, 100};
        ASSERT_EQ(p.s->ops->prune(p.s, &keep, &removed), MWL_OK);
        ASSERT_EQ(removed, (size_t)0); /* it ended at 7, not before */
        keep.done_before_wall_ns = 8;
        ASSERT_EQ(p.s->ops->prune(p.s, &keep, &removed), MWL_OK);
        ASSERT_EQ(removed, (size_t)1);
        ASSERT_STREQ(listed(p.s, false), "b live v0 w0 m0 ;");
        close_place(&p);
    }
}

/* ---- SQLite alone ---------------------------------------------------------------------------- */

UTEST(sqlite, one_process_owns_it) {
    place p;
    mwl_store *second = NULL;
    shown got;
    ASSERT_TRUE(open_place(&p, 1));
    ASSERT_EQ(p.s->ops->join(p.s, "first"), MWL_OK);
    ASSERT_EQ(mwl_store_sqlite(p.path, false, &second), MWL_OK);
    ASSERT_EQ(second->ops->join(second, "second"), MWL_E_STATE);
    ASSERT_TRUE(strstr(mwl_store_why(second), "(first)") != NULL);
    ASSERT_EQ(start(second, "a", "{}"), MWL_OK); /* everybody may start runs */
    ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
    ASSERT_STREQ(got.text, "run a v0 new;");
    ASSERT_EQ(answer(second, "a", "x", NULL), MWL_OK);
    ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
    ASSERT_STREQ(got.text, "answer x=1;");
    mwl_store_close(second);
    close_place(&p);
}

UTEST(sqlite, the_next_owner_has_what_the_last_one_had) {
    place p;
    shown got;
    bool kept;
    ASSERT_TRUE(open_place(&p, 1));
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(p.s->ops->join(p.s, "first"), MWL_OK);
    ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
    uint64_t epoch = got.epoch;
    mwl_store_change c = {
        .seq = got.seq, .epoch = got.epoch, .version = 3, .bytes = "three", .size = 6};
    ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
    mwl_store_close(p.s);
    ASSERT_EQ(mwl_store_sqlite(p.path, false, &p.s), MWL_OK);
    ASSERT_EQ(p.s->ops->join(p.s, "second"), MWL_OK);
    ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
    ASSERT_STREQ(got.text, "run a v3 three;");
    ASSERT_TRUE(got.epoch > epoch);
    close_place(&p);
}

/* It is claimed again and again, and nothing changes: what it calls may end the process. */
UTEST(sqlite, a_run_that_never_gets_on_is_stuck) {
    place p;
    shown got;
    ASSERT_TRUE(open_place(&p, 1));
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    for (int i = 0; i <= MWL_STORE_RECOVERIES; i++) {
        ASSERT_EQ(p.s->ops->join(p.s, "one"), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_EQ(got.runs, i < MWL_STORE_RECOVERIES ? 1u : 0u);
        mwl_store_close(p.s);
        ASSERT_EQ(mwl_store_sqlite(p.path, false, &p.s), MWL_OK);
    }
    ASSERT_TRUE(strncmp(listed(p.s, false), "a stuck", 7) == 0);
    close_place(&p);
}

static bool write_file(const char *path, const char *text) {
    FILE *f = fopen(path, "w");
    bool good = f && fputs(text, f) >= 0;
    return f && fclose(f) == 0 && good;
}

UTEST(sqlite, a_file_of_another_kind_is_refused) {
    char path[100];
    mwl_store *s = NULL;
    snprintf(path, sizeof path, "/tmp/mwl-test-other-%ld", (long)getpid());
    ASSERT_EQ(mwl_store_sqlite(path, false, &s), MWL_E_NOT_FOUND);
    mwl_store_close(s);
    ASSERT_TRUE(write_file(path, "this is a text, and long enough to be no database at all: "
                                 "a header of SQLite has a hundred bytes, and this has more"));
    ASSERT_EQ(mwl_store_sqlite(path, true, &s), MWL_E_SNAPSHOT);
    ASSERT_TRUE(strstr(mwl_store_why(s), "not a store of runs") != NULL);
    mwl_store_close(s);
    (void)unlink(path);
    ASSERT_EQ(mwl_store_sqlite("/no/such/folder/runs.db", true, &s), MWL_E_NOT_FOUND);
    mwl_store_close(s);
}

/* While a handle opens a new file, another one opens it too and makes the store: before the n-th
 * statement of the first, for each n up to the transaction in which it would make it itself. */
static struct {
    const char *path;
    int at, n; /* n: statements so far */
    bool busy, past;
} rival;

static int on_statement(unsigned kind, void *ctx, void *statement, void *text) {
    (void)kind, (void)ctx, (void)statement;
    if (rival.busy || rival.past) return 0;
    rival.past = strncmp(text, "begin", 5) == 0;
    if (++rival.n != rival.at) return 0;
    mwl_store *s = NULL;
    rival.busy = true;
    if (mwl_store_sqlite(rival.path, true, &s) != MWL_OK || start(s, "r", "{}") != MWL_OK)
        printf("the other handle: %s\n", mwl_store_why(s));
    mwl_store_close(s);
    rival.busy = false;
    rival.past = true;
    return 0;
}

static void *sqlite_function(const char *name) {
    return dlsym(dlopen("libsqlite3.so.0", RTLD_NOW | RTLD_LOCAL), name);
}

static int on_connection(sqlite3 *db, const char **why, const void *api) {
    (void)why, (void)api;
    __typeof__(&sqlite3_trace_v2) trace;
    void *found = sqlite_function("sqlite3_trace_v2");
    memcpy(&trace, &found, sizeof trace);
    return trace(db, SQLITE_TRACE_STMT, on_statement, NULL);
}

UTEST(sqlite, a_store_that_another_makes_meanwhile_is_not_refused) {
    __typeof__(&sqlite3_auto_extension) watch;
    __typeof__(&sqlite3_cancel_auto_extension) unwatch;
    void (*entry)(void);
    int (*hook)(sqlite3 *, const char **, const void *) = on_connection;
    void *found = sqlite_function("sqlite3_auto_extension");
    memcpy(&watch, &found, sizeof watch);
    found = sqlite_function("sqlite3_cancel_auto_extension");
    memcpy(&unwatch, &found, sizeof unwatch);
    memcpy(&entry, &hook, sizeof entry);
    ASSERT_EQ(watch(entry), SQLITE_OK);
    bool all = false;
    for (int at = 1; !all; at++) {
        place p;
        memset(&rival, 0, sizeof rival);
        rival.busy = true;
        ASSERT_TRUE(open_place(&p, SQLITE)); /* for its name */
        mwl_store_close(p.s);
        remove_place(&p);
        rival.busy = false;
        rival.path = p.path;
        rival.at = at;
        mwl_status status = mwl_store_sqlite(p.path, true, &p.s);
        if (status != MWL_OK) printf("statement %d: %s\n", at, mwl_store_why(p.s));
        ASSERT_EQ(status, MWL_OK);
        all = rival.n < at;
        ASSERT_STREQ(listed(p.s, false), all ? "" : "r new v0 w0 m0 ;");
        close_place(&p);
    }
    unwatch(entry);
}

/* Processes that open a new file at the same instant: one makes the store, the others find it; none
 * takes a file that is just being made for another one's. */
UTEST(sqlite, a_new_file_is_opened_by_several_at_once) {
    enum { ROUNDS = 4, PROCESSES = 4 };
    for (int round = 0; round < ROUNDS; round++) {
        place p;
        pid_t children[PROCESSES];
        int go[2];
        char id[20];
        ASSERT_TRUE(open_place(&p, SQLITE)); /* for its name */
        mwl_store_close(p.s);
        remove_place(&p);
        ASSERT_EQ(pipe(go), 0);
        for (int i = 0; i < PROCESSES; i++) {
            children[i] = fork();
            if (children[i] != 0) continue;
            char byte;
            mwl_store *s = NULL;
            close(go[1]);
            (void)!read(go[0], &byte, 1); /* all wait for the end of the pipe */
            snprintf(id, sizeof id, "r%d", i);
            bool good =
                mwl_store_sqlite(p.path, true, &s) == MWL_OK && start(s, id, "{}") == MWL_OK;
            if (!good) printf("%s\n", mwl_store_why(s));
            fflush(stdout);
            _exit(good ? 0 : 1);
        }
        close(go[0]);
        close(go[1]);
        for (int i = 0; i < PROCESSES; i++) {
            int status = -1;
            ASSERT_EQ(waitpid(children[i], &status, 0), children[i]);
            ASSERT_EQ(status, 0);
        }
        const mwl_store_query query = {.id = NULL};
        char all[500] = "";
        ASSERT_EQ(mwl_store_sqlite(p.path, false, &p.s), MWL_OK);
        ASSERT_EQ(p.s->ops->list(p.s, &query, see_row, all), MWL_OK);
        for (int i = 0; i < PROCESSES; i++) {
            snprintf(id, sizeof id, "r%d new", i);
            ASSERT_TRUE(strstr(all, id) != NULL);
        }
        close_place(&p);
    }
}

UTEST(sqlite, a_backup_is_a_store) {
    place p;
    char path[120];
    mwl_store *copy = NULL;
    ASSERT_TRUE(open_place(&p, 1));
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    snprintf(path, sizeof path, "%s.copy", p.path);
    (void)unlink(path);
    ASSERT_EQ(p.s->ops->backup(p.s, path), MWL_OK);
    ASSERT_EQ(p.s->ops->backup(p.s, path), MWL_E_DUPLICATE); /* nothing is written over */
    ASSERT_EQ(mwl_store_sqlite(path, false, &copy), MWL_OK);
    ASSERT_STREQ(listed(copy, false), "a new v0 w0 m0 ;");
    mwl_store_close(copy);
    (void)unlink(path);
    close_place(&p);
}

/* ---- the store in memory alone --------------------------------------------------------------- */

UTEST(memory, a_worker_that_was_taken_for_dead_writes_nothing) {
    place p;
    shown first, second;
    bool kept = true;
    mwl_store *other = NULL;
    ASSERT_TRUE(open_place(&p, 0));
    ASSERT_EQ(mwl_store_memory_open(p.memory, &other), MWL_OK);
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(p.s->ops->join(p.s, "1"), MWL_OK);
    ASSERT_EQ(other->ops->join(other, "2"), MWL_OK);
    ASSERT_EQ(poll(p.s, 10, &first), MWL_OK);
    ASSERT_EQ(poll(other, 10, &second), MWL_OK);
    ASSERT_EQ(second.runs, 0u);
    fixed_now += 1000; /* the lease is over */
    ASSERT_EQ(poll(other, 10, &second), MWL_OK);
    ASSERT_EQ(second.runs, 1u);
    ASSERT_EQ(second.epoch, first.epoch + 1);
    mwl_store_change c = {.seq = 1, .epoch = first.epoch, .version = 1, .bytes = "x", .size = 2};
    ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
    ASSERT_FALSE(kept);
    c.epoch = second.epoch;
    ASSERT_EQ(commit(other, c, &kept), MWL_OK);
    ASSERT_TRUE(kept);
    mwl_store_close(other);
    close_place(&p);
}

/* ---- what a server asks for ------------------------------------------------------------------ */

UTEST(store, several_runs_are_accepted_or_none) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        size_t which = 9;
        ASSERT_TRUE(open_place(&p, kind));
        mwl_store_start list[3] = {{"a", program_id, "p", {"{}", 2}, 5},
                                   {"b", program_id, "q", {"{}", 2}, 5},
                                   {"c", program_id, "p", {"{}", 2}, 5}};
        ASSERT_EQ(start(p.s, "b", "other"), MWL_OK);
        ASSERT_EQ(p.s->ops->start_all(p.s, list, 3, &which), MWL_E_DUPLICATE);
        ASSERT_EQ((int)which, 1);
        ASSERT_STREQ(listed(p.s, false), "b new v0 w0 m0 ;");
        list[1].id = "d";
        ASSERT_EQ(p.s->ops->start_all(p.s, list, 3, &which), MWL_OK);
        ASSERT_EQ(p.s->ops->start_all(p.s, list, 3, &which), MWL_OK); /* repeated */
        ASSERT_STREQ(listed(p.s, false),
                     "b new v0 w0 m0 ;a new v0 w0 m0 ;d new v0 w0 m0 ;c new v0 w0 m0 ;");
        list[2].id = "a";
        list[2].start = (mwl_store_text){"{ }", 3};
        list[0].id = "e";
        ASSERT_EQ(p.s->ops->start_all(p.s, list, 3, &which), MWL_E_DUPLICATE);
        ASSERT_EQ((int)which, 2);
        close_place(&p);
    }
}

static const char *found(mwl_store *s, mwl_store_query query) {
    static char out[500];
    *out = '\0';
    if (s->ops->list(s, &query, see_row, out) != MWL_OK) return mwl_store_why(s);
    return out;
}

UTEST(store, lists_go_both_ways_and_by_name) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        size_t which;
        ASSERT_TRUE(open_place(&p, kind));
        const mwl_store_start list[3] = {{"a", program_id, "p", {"{}", 2}, 5},
                                         {"b", program_id, "q", {"{}", 2}, 5},
                                         {"c", program_id, "p", {"{}", 2}, 5}};
        ASSERT_EQ(p.s->ops->start_all(p.s, list, 3, &which), MWL_OK);
        ASSERT_STREQ(found(p.s, (mwl_store_query){.newest = true, .limit = 2}),
                     "c new v0 w0 m0 ;b new v0 w0 m0 ;");
        ASSERT_STREQ(found(p.s, (mwl_store_query){.newest = true, .after = 2}), "a new v0 w0 m0 ;");
        ASSERT_STREQ(found(p.s, (mwl_store_query){.name = "p", .limit = 1}), "a new v0 w0 m0 ;");
        ASSERT_STREQ(found(p.s, (mwl_store_query){.name = "p", .newest = true, .limit = 1}),
                     "c new v0 w0 m0 ;");
        ASSERT_STREQ(found(p.s, (mwl_store_query){.id = "b", .states = 1u << MWL_STORE_NEW}),
                     "b new v0 w0 m0 ;");
        ASSERT_STREQ(found(p.s, (mwl_store_query){.id = "b", .states = 1u << MWL_STORE_DONE}), "");
        ASSERT_STREQ(found(p.s, (mwl_store_query){.id = "b", .name = "p"}), "");
        close_place(&p);
    }
}

static void on_call(void *ctx, const char *run, const mwl_store_wait *wait, uint32_t attempt) {
    snprintf(ctx, 100, "%s %d %s %.*s %u", run, (int)wait->number, wait->name,
             (int)wait->question.len, wait->question.at, (unsigned)attempt);
}

static mwl_status take(mwl_store *s, const char *provider, int64_t at, char *out) {
    const mwl_store_call ask = {.provider = provider, .now_wall_ns = at, .lease_ns = 100};
    *out = '\0';
    fixed_now = at;
    return s->ops->take_call(s, &ask, on_call, out);
}

static mwl_status renew(mwl_store *s, uint64_t number, uint32_t attempt, int64_t at) {
    const mwl_store_call ask = {
        .run = "a", .number = number, .attempt = attempt, .now_wall_ns = at, .lease_ns = 100};
    fixed_now = at;
    return s->ops->take_call(s, &ask, NULL, NULL);
}

UTEST(store, a_call_is_given_to_one_worker_outside) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept;
        char call[100];
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(p.s->ops->join(p.s, "test"), MWL_OK);
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(poll(p.s, 1000, &got), MWL_OK);
        const mwl_store_wait waits[3] = {{1, "ok", 3, {"{}", 2}, NULL},
                                         {2, "a.2", 3, {"[2]", 3}, "x:y"},
                                         {3, "a.3", 3, {"[3]", 3}, "x:y"}};
        mwl_store_change c = {.seq = got.seq,
                              .epoch = got.epoch,
                              .version = 1,
                              .bytes = "s",
                              .size = 1,
                              .new_waits = true,
                              .waits = waits,
                              .n_waits = 3};
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_EQ(take(p.s, "x:z", 1000, call), MWL_E_NOT_FOUND);
        ASSERT_EQ(take(p.s, "", 1000, call), MWL_E_NOT_FOUND); /* people's waits are not calls */
        ASSERT_EQ(take(p.s, "x:y", 1000, call), MWL_OK);
        ASSERT_STREQ(call, "a 2 a.2 [2] 1");
        c.version = 2; /* the leases of waits that are still open stay */
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_EQ(take(p.s, "x:y", 1010, call), MWL_OK);
        ASSERT_STREQ(call, "a 3 a.3 [3] 1");
        ASSERT_EQ(take(p.s, "x:y", 1020, call), MWL_E_NOT_FOUND);
        ASSERT_EQ(renew(p.s, 3, 1, 1050), MWL_OK);
        ASSERT_EQ(renew(p.s, 3, 2, 1050), MWL_E_NOT_FOUND);
        ASSERT_EQ(take(p.s, "x:y", 1120, call), MWL_OK); /* the lease of the first is over */
        ASSERT_STREQ(call, "a 2 a.2 [2] 2");
        ASSERT_EQ(renew(p.s, 2, 1, 1121), MWL_E_NOT_FOUND);
        ASSERT_EQ(answer(p.s, "a", "a.2", "a.2"), MWL_OK);
        ASSERT_EQ(answer(p.s, "a", "a.2", "a.2"), MWL_E_DUPLICATE);
        ASSERT_EQ(take(p.s, "x:y", 1500, call), MWL_OK); /* one that has an answer is not given */
        ASSERT_STREQ(call, "a 3 a.3 [3] 2");
        ASSERT_EQ(renew(p.s, 2, 2, 1500), MWL_E_NOT_FOUND);
        c.version = 3;
        c.waits = waits + 1;
        c.n_waits = 1;
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_EQ(take(p.s, "x:y", 9000, call), MWL_E_NOT_FOUND);
        ASSERT_STREQ(listed(p.s, true), "a live v3 w1 m1 ;");
        close_place(&p);
    }
}

static bool see_value(void *ctx, const char *key, const char *value) {
    char *out = ctx;
    size_t len = strlen(out);
    snprintf(out + len, 100 - len, "%s=%s;", key, value);
    return true;
}

UTEST(store, values_are_compared_before_they_are_set) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        char out[100] = "";
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(p.s->ops->set_value(p.s, "k/b", NULL, "1"), MWL_OK);
        ASSERT_EQ(p.s->ops->set_value(p.s, "k/b", NULL, "1"), MWL_OK); /* repeated */
        ASSERT_EQ(p.s->ops->set_value(p.s, "k/b", NULL, "2"), MWL_E_STATE);
        ASSERT_EQ(p.s->ops->set_value(p.s, "k/b", "1", "2"), MWL_OK);
        ASSERT_EQ(p.s->ops->set_value(p.s, "k/a", NULL, "x"), MWL_OK);
        ASSERT_EQ(p.s->ops->set_value(p.s, "l", NULL, "y"), MWL_OK);
        ASSERT_EQ(p.s->ops->set_value(p.s, "k%", NULL, "z"), MWL_OK);
        ASSERT_EQ(p.s->ops->values(p.s, "k/", see_value, out), MWL_OK);
        ASSERT_STREQ(out, "k/a=x;k/b=2;");
        ASSERT_EQ(p.s->ops->set_value(p.s, "k/a", "1", NULL), MWL_E_STATE);
        ASSERT_EQ(p.s->ops->set_value(p.s, "k/a", "x", NULL), MWL_OK);
        ASSERT_EQ(p.s->ops->set_value(p.s, "k/a", "x", NULL), MWL_OK);
        ASSERT_EQ(p.s->ops->set_value(p.s, "k/a", NULL, "w"), MWL_OK);
        *out = '\0';
        ASSERT_EQ(p.s->ops->values(p.s, "", see_value, out), MWL_OK);
        ASSERT_STREQ(out, "k%=z;k/a=w;k/b=2;l=y;");
        close_place(&p);
    }
}

UTEST(store, counts_what_it_has) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept;
        mwl_store_counts n;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(p.s->ops->count(p.s, &n), MWL_OK);
        ASSERT_EQ((int)n.last_event, 0);
        ASSERT_TRUE(n.due_wall_ns == MWL_NEVER);
        ASSERT_EQ(p.s->ops->join(p.s, "test"), MWL_OK);
        ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
        ASSERT_EQ(poll(p.s, 1000, &got), MWL_OK);
        ASSERT_EQ(start(p.s, "b", "{}"), MWL_OK);
        const mwl_store_wait wait = {.number = 1, .name = "ok", .question = {"{}", 2}};
        const mwl_store_change c = {.seq = got.seq,
                                    .epoch = got.epoch,
                                    .version = 1,
                                    .kind = MWL_STORE_PARK,
                                    .bytes = "s",
                                    .size = 1,
                                    .due_wall_ns = 77000,
                                    .new_waits = true,
                                    .waits = &wait,
                                    .n_waits = 1};
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_EQ(answer(p.s, "b", "early", NULL), MWL_OK);
        ASSERT_EQ(p.s->ops->count(p.s, &n), MWL_OK);
        ASSERT_EQ((int)n.runs[MWL_STORE_NEW], 1);
        ASSERT_EQ((int)n.runs[MWL_STORE_STORED], 1);
        ASSERT_EQ((int)n.runs[MWL_STORE_LIVE], 0);
        ASSERT_EQ((int)n.waits, 1);
        ASSERT_EQ((int)n.messages, 1);
        ASSERT_EQ((int)n.due_wall_ns, 77000);
        ASSERT_EQ((int)n.last_event, 2);
        ASSERT_EQ(post(p.s, "a", MWL_STORE_CANCEL), MWL_OK);
        ASSERT_EQ(poll(p.s, 1000, &got), MWL_OK);
        const mwl_store_change end = {.seq = got.seq,
                                      .epoch = got.epoch,
                                      .version = 9,
                                      .kind = MWL_STORE_END,
                                      .state = MWL_STORE_STUCK,
                                      .result = {"why", 3}};
        ASSERT_EQ(commit(p.s, end, &kept), MWL_OK);
        ASSERT_EQ(p.s->ops->count(p.s, &n), MWL_OK);
        ASSERT_EQ((int)(n.runs[MWL_STORE_STUCK] + n.runs[MWL_STORE_LIVE]), 2);
        close_place(&p);
    }
}

/* ---- PostgreSQL alone ------------------------------------------------------------------------ */

#define NEEDS_POSTGRES                                                                             \
    if (!getenv("MWL_TEST_POSTGRES")) UTEST_SKIP("MWL_TEST_POSTGRES is not set")
#define LEASE INT64_C(3600000000000) /* it ends when the test says so */

static mwl_status other_postgres(mwl_store **out, int64_t lease_ns) {
    return mwl_store_postgres(getenv("MWL_TEST_POSTGRES"), false, lease_ns, out);
}

UTEST(postgres, a_worker_that_was_taken_for_dead_writes_nothing) {
    place p;
    shown first, second;
    bool kept = true;
    mwl_store *other = NULL;
    NEEDS_POSTGRES;
    ASSERT_TRUE(open_postgres(&p, LEASE));
    ASSERT_EQ(other_postgres(&other, LEASE), MWL_OK);
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(p.s->ops->join(p.s, "1"), MWL_OK);
    ASSERT_EQ(other->ops->join(other, "2"), MWL_OK);
    ASSERT_EQ(poll(p.s, 10, &first), MWL_OK);
    ASSERT_EQ(first.runs, 1u);
    ASSERT_TRUE(say("update mwlvm.worker set lease_until = '-infinity' where name = '1'"));
    ASSERT_EQ(poll(other, 10, &second), MWL_OK);
    ASSERT_EQ(second.runs, 1u);
    ASSERT_EQ(second.epoch, first.epoch + 1);
    mwl_store_change c = {
        .seq = first.seq, .epoch = first.epoch, .version = 1, .bytes = "x", .size = 2};
    ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
    ASSERT_FALSE(kept);
    ASSERT_EQ(poll(p.s, 10, &first), MWL_OK); /* its lease stands again, and the run is another's */
    ASSERT_EQ(first.runs, 0u);
    c.epoch = second.epoch;
    ASSERT_EQ(commit(other, c, &kept), MWL_OK);
    ASSERT_TRUE(kept);
    mwl_store_close(other);
    close_place(&p);
}

UTEST(postgres, a_worker_that_leaves_gives_its_runs_back) {
    place p;
    shown got;
    mwl_store *other = NULL;
    NEEDS_POSTGRES;
    ASSERT_TRUE(open_postgres(&p, 0));
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(other_postgres(&other, 0), MWL_OK);
    for (int i = 0; i < 3 * MWL_STORE_RECOVERIES; i++) { /* that is not a recovery */
        ASSERT_EQ(other->ops->join(other, "2"), MWL_OK);
        ASSERT_EQ(poll(other, 10, &got), MWL_OK);
        ASSERT_EQ(got.runs, 1u);
        mwl_store_close(other);
        ASSERT_STREQ(listed(p.s, false), "a new v0 w0 m0 ;");
        ASSERT_EQ(other_postgres(&other, 0), MWL_OK);
    }
    mwl_store_close(other);
    close_place(&p);
}

/* Its connection ends, and it knows neither whether the claim was made nor whether the save
 * was. */
UTEST(postgres, what_was_lost_with_the_connection_is_repeated) {
    static const char all[] = "select pg_terminate_backend(pid) from pg_stat_activity where "
                              "application_name = 'mwlvm'";
    place p;
    shown got;
    bool kept = false;
    NEEDS_POSTGRES;
    ASSERT_TRUE(open_postgres(&p, 0));
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(p.s->ops->join(p.s, "1"), MWL_OK);
    const mwl_store_poll ask = {.number = 1000000, .most = 10, .now_wall_ns = 10};
    const mwl_store_polled sink = {&got, on_run, on_message};
    int64_t next;
    for (int i = 0; i < 2; i++) { /* the second one is a repetition: it shows the same run */
        mwl_status status;
        do memset(&got, 0, sizeof got);
        while ((status = p.s->ops->poll(p.s, &ask, &sink, &next)) == MWL_E_IO);
        ASSERT_EQ(status, MWL_OK);
        ASSERT_STREQ(got.text, "run a v0 new;");
        ASSERT_TRUE(say(all));
    }
    mwl_store_change c = {
        .seq = got.seq, .epoch = got.epoch, .version = 1, .bytes = "one", .size = 4};
    const mwl_store_event event = {1, "step", {"x", 1}};
    c.events = &event;
    c.n_events = 1;
    for (int i = 0; i < 3; i++) {
        mwl_status status;
        while ((status = commit(p.s, c, &kept)) == MWL_E_IO) continue;
        ASSERT_EQ(status, MWL_OK);
        ASSERT_TRUE(kept);
        ASSERT_TRUE(say(all));
    }
    ASSERT_TRUE(say("do $$ begin assert (select count(*) from mwlvm.event) = 2; end $$"));
    close_place(&p);
}

/* A message that comes while a worker gives the run back is not overlooked. */
UTEST(postgres, a_message_wakes_a_run_that_is_being_parked) {
    place p;
    shown got;
    bool kept = false;
    mwl_store *other = NULL;
    NEEDS_POSTGRES;
    ASSERT_TRUE(open_postgres(&p, 0));
    ASSERT_EQ(other_postgres(&other, 0), MWL_OK);
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(p.s->ops->join(p.s, "1"), MWL_OK);
    ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
    ASSERT_EQ(answer(other, "a", "x", NULL), MWL_OK); /* which the worker has not seen */
    mwl_store_change c = {.seq = got.seq,
                          .epoch = got.epoch,
                          .version = 1,
                          .bytes = "one",
                          .size = 4,
                          .kind = MWL_STORE_PARK,
                          .due_wall_ns = MWL_NEVER};
    ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
    ASSERT_TRUE(kept);
    ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
    ASSERT_STREQ(got.text, "run a v1 one;answer x=1;");
    mwl_store_close(other);
    close_place(&p);
}

UTEST(postgres, a_run_that_never_gets_on_is_stuck) {
    place p;
    shown got;
    NEEDS_POSTGRES;
    ASSERT_TRUE(open_postgres(&p, 0));
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(p.s->ops->join(p.s, "1"), MWL_OK);
    for (int i = 0; i <= MWL_STORE_RECOVERIES; i++) {
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_EQ(got.runs, i < MWL_STORE_RECOVERIES ? 1u : 0u);
        /* as if the worker had died, and the next one had taken its runs */
        ASSERT_TRUE(say("update mwlvm.run set owner = null where state = 1"));
    }
    ASSERT_TRUE(strncmp(listed(p.s, false), "a stuck", 7) == 0);
    close_place(&p);
}

UTEST(postgres, a_database_without_a_store_is_refused) {
    place p;
    mwl_store *s = NULL;
    NEEDS_POSTGRES;
    ASSERT_TRUE(open_postgres(&p, 0));
    ASSERT_TRUE(say("update mwlvm.meta set value = '99' where key = 'schema'"));
    ASSERT_EQ(other_postgres(&s, 0), MWL_E_VERSION);
    ASSERT_TRUE(strstr(mwl_store_why(s), "version 99") != NULL);
    mwl_store_close(s);
    ASSERT_TRUE(say("drop schema mwlvm cascade"));
    ASSERT_EQ(other_postgres(&s, 0), MWL_E_NOT_FOUND);
    mwl_store_close(s);
    ASSERT_EQ(mwl_store_postgres("postgresql://nobody@/no?host=/no/such/folder", true, 0, &s),
              MWL_E_IO);
    ASSERT_TRUE(strstr(mwl_store_why(s), "/no/such/folder") != NULL);
    mwl_store_close(s);
    close_place(&p);
}

UTEST_MAIN()
