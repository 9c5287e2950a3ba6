/* test_store_sqlite.c: what only the store on SQLite does: a file, its owner, backups. */
#include "utest.h"

#include "tests/durable/store_kit.h"

#include "stdlib/durable/sqlite_impl.h"

#include <dlfcn.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

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

/* On a file system without locks two may own it: the generation of the later one counts. */
UTEST(sqlite, an_owner_that_has_been_replaced_writes_nothing) {
    place p;
    shown got;
    ASSERT_TRUE(open_place(&p, 1));
    const mwl__sqlite_store *mine = (const mwl__sqlite_store *)p.s;
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(p.s->ops->join(p.s, "first"), MWL_OK);
    ASSERT_EQ(mine->lib->exec(mine->db,
                              "update meta set value = value + 1 where key = 'generation'", NULL,
                              NULL, NULL),
              SQLITE_OK);
    ASSERT_EQ(poll(p.s, 10, &got), MWL_E_STATE);
    ASSERT_TRUE(strstr(mwl_store_why(p.s), "has another owner now") != NULL);
    ASSERT_TRUE(strncmp(listed(p.s, false), "a new", 5) == 0);
    close_place(&p);
}

/* The owner is killed between fork and exec of a child, which has its files a little longer. */
UTEST(sqlite, a_child_of_a_dead_owner_does_not_keep_others_out) {
    place p;
    int ready[2];
    char byte;
    ASSERT_TRUE(open_place(&p, 1));
    ASSERT_EQ(pipe(ready), 0);
    pid_t owner = fork();
    if (owner == 0) {
        mwl_store *mine = NULL;
        bool joined = mwl_store_sqlite(p.path, false, &mine) == MWL_OK &&
                      mine->ops->join(mine, "killed") == MWL_OK;
        if (fork() == 0) {
            usleep(200000);
            _exit(0);
        }
        (void)!write(ready[1], joined ? "y" : "n", 1);
        pause();
    }
    ASSERT_EQ(read(ready[0], &byte, 1), 1);
    ASSERT_EQ(byte, 'y');
    EXPECT_EQ(p.s->ops->join(p.s, "other"), MWL_E_STATE); /* it lives: refused at once */
    ASSERT_EQ(kill(owner, SIGKILL), 0);
    ASSERT_EQ(waitpid(owner, NULL, 0), owner);
    EXPECT_EQ(p.s->ops->join(p.s, "other"), MWL_OK);
    close(ready[0]);
    close(ready[1]);
    close_place(&p);
}

UTEST(sqlite, the_next_owner_has_what_the_last_one_had) {
    place p;
    shown got;
    bool kept;
    ASSERT_TRUE(open_place(&p, 1));
    ASSERT_TRUE(claim_a(p.s, "first", &got));
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

/* Those that may have taken the process down come one at a time, and none while one is there. */
UTEST(sqlite, suspects_are_claimed_alone) {
    place p;
    shown got;
    ASSERT_TRUE(open_place(&p, 1));
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(start(p.s, "b", "{}"), MWL_OK);
    for (int i = 0; i < MWL_STORE_SUSPECT; i++) {
        ASSERT_EQ(p.s->ops->join(p.s, "one"), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_EQ(got.runs, 2u);
        mwl_store_close(p.s);
        ASSERT_EQ(mwl_store_sqlite(p.path, false, &p.s), MWL_OK);
    }
    ASSERT_EQ(p.s->ops->join(p.s, "one"), MWL_OK);
    ASSERT_EQ(poll_but(p.s, 10, true, &got), MWL_OK);
    ASSERT_EQ(got.runs, 0u);
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_EQ(got.runs, 1u);
    }
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

/* What the database never takes is not the same as a disk that is full: nothing is repeated. */
UTEST(sqlite, a_change_that_is_too_large_is_refused_and_nothing_of_it_is_kept) {
    enum { MOST = 100000 };
    static char large[MOST + 1];
    place p;
    shown got;
    bool kept[2] = {true, true};
    __typeof__(&sqlite3_limit) limit;
    void *found = sqlite_function("sqlite3_limit");
    memcpy(&limit, &found, sizeof limit);
    memset(large, '1', sizeof large);
    ASSERT_TRUE(open_place(&p, SQLITE));
    ASSERT_EQ(start(p.s, "b", "{}"), MWL_OK);
    ASSERT_TRUE(claim_a(p.s, "w", &got));
    (void)limit(((mwl__sqlite_store *)p.s)->db, SQLITE_LIMIT_LENGTH, MOST);
    mwl_store_change c[2] = {{.seq = 1, .version = 1, .bytes = "x", .size = 1},
                             {.seq = 2, .version = 1, .bytes = "y", .size = 1}};
    c[1].kind = MWL_STORE_END;
    c[1].state = MWL_STORE_DONE;
    c[1].result = (mwl_store_text){large, sizeof large};
    EXPECT_EQ(p.s->ops->commit(p.s, c, 2, kept), MWL_E_REFUSED);
    EXPECT_TRUE(strstr(mwl_store_why(p.s), "too big") != NULL);
    EXPECT_FALSE(kept[0] || kept[1]);
    EXPECT_STREQ(listed(p.s, false), "b live v0 w0 m0 ;a live v0 w0 m0 ;");
    EXPECT_EQ(p.s->ops->commit(p.s, c, 1, kept), MWL_OK);
    close_place(&p);
}

UTEST_MAIN()
