/* test_store_postgres.c: what only the store on PostgreSQL does: leases, lost connections, a
 * database that several use. Without MWL_TEST_POSTGRES (store_kit.h) there is nothing to ask. */
#include "utest.h"

#include "stdlib/durable/postgres_impl.h"
#include "tests/durable/store_kit.h"

#include <pthread.h>
#include <unistd.h>

#define NEEDS_POSTGRES                                                                             \
    if (!getenv("MWL_TEST_POSTGRES")) UTEST_SKIP("MWL_TEST_POSTGRES is not set")
/* It ends when the test says so. Parts of it are longer than any machine is up: what is done "once
 * in a part of the lease" must not depend on that. */
#define LEASE (INT64_C(100) * 365 * 24 * 3600 * 1000000000)

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

/* As many as a poll asks for, and the next poll has the rest. */
UTEST(postgres, all_runs_of_a_dead_worker_are_taken_at_once) {
    enum { RUNS = 15, MOST = 10 };
    place p;
    shown got;
    mwl_store *other = NULL;
    NEEDS_POSTGRES;
    ASSERT_TRUE(open_postgres(&p, LEASE));
    ASSERT_EQ(other_postgres(&other, LEASE), MWL_OK);
    for (int i = 0; i < RUNS; i++) {
        char id[16];
        snprintf(id, sizeof id, "r%d", i);
        ASSERT_EQ(start(p.s, id, "{}"), MWL_OK);
    }
    ASSERT_EQ(p.s->ops->join(p.s, "1"), MWL_OK);
    ASSERT_EQ(other->ops->join(other, "2"), MWL_OK);
    ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
    ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
    ASSERT_EQ(got.runs, (unsigned)(RUNS - MOST));
    ASSERT_TRUE(say("update mwlvm.worker set lease_until = '-infinity' where name = '1'"));
    ASSERT_EQ(poll(other, 10, &got), MWL_OK);
    ASSERT_EQ(got.runs, (unsigned)MOST);
    ASSERT_EQ(poll(other, 10, &got), MWL_OK);
    ASSERT_EQ(got.runs, (unsigned)(RUNS - MOST));
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

/* Ends the connection of a worker that waits for the lock of this test. */
static void *end_waiting(void *ctx) {
    *(bool *)ctx =
        say("do $$ begin loop perform pg_stat_clear_snapshot(); perform pg_terminate_backend(pid) "
            "from pg_stat_activity where application_name = 'mwlvm' and wait_event_type = 'Lock'; "
            "exit when found; perform pg_sleep(0.01); end loop; end $$; rollback");
    return NULL;
}

/* It never hears whether its last claim was made. The claim is made, behind its back, when it has
 * left: others find the run all the same. */
UTEST(postgres, a_claim_that_is_made_after_its_worker_has_left_is_taken_over) {
    place p;
    shown got;
    bool said = false;
    pthread_t thread;
    mwl_store *other = NULL;
    NEEDS_POSTGRES;
    ASSERT_TRUE(open_postgres(&p, 0));
    ASSERT_EQ(other_postgres(&other, 0), MWL_OK);
    ASSERT_EQ(other->ops->join(other, "gone"), MWL_OK);
    ASSERT_EQ(poll(other, 10, &got), MWL_OK);
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_TRUE(say("create temp table gone as select id from mwlvm.worker"));
    ASSERT_TRUE(say("begin; lock table mwlvm.run"));
    ASSERT_EQ(pthread_create(&thread, NULL, end_waiting, &said), 0);
    ASSERT_EQ(poll(other, 10, &got), MWL_E_IO);
    pthread_join(thread, NULL);
    ASSERT_TRUE(said);
    mwl_store_close(other);
    ASSERT_TRUE(say("update mwlvm.run set state = 1, epoch = 1, owner = (select id from gone)"));
    ASSERT_EQ(p.s->ops->join(p.s, "next"), MWL_OK);
    ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
    ASSERT_STREQ(got.text, "run a v0 new;");
    ASSERT_TRUE(say("drop table gone"));
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
    ASSERT_TRUE(claim_a(p.s, "1", &got));
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

/* Those that may have taken a process down come one at a time, and none while one is there. */
UTEST(postgres, suspects_are_claimed_alone) {
    place p;
    shown got;
    NEEDS_POSTGRES;
    ASSERT_TRUE(open_postgres(&p, 0));
    ASSERT_EQ(start(p.s, "a", "{}"), MWL_OK);
    ASSERT_EQ(start(p.s, "b", "{}"), MWL_OK);
    ASSERT_EQ(p.s->ops->join(p.s, "1"), MWL_OK);
    for (int i = 0; i < MWL_STORE_SUSPECT; i++) {
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_EQ(got.runs, 2u);
        ASSERT_TRUE(say("update mwlvm.run set owner = null where state = 1"));
    }
    ASSERT_EQ(poll_but(p.s, 10, true, &got), MWL_OK);
    ASSERT_EQ(got.runs, 0u);
    for (int i = 0; i < 2; i++) {
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_EQ(got.runs, 1u);
    }
    close_place(&p);
}

static size_t count_in(const char *text, const char *verb, const char *table, size_t len) {
    char what[60];
    size_t n = 0;
    snprintf(what, sizeof what, "%s mwlvm.%.*s", verb, (int)len, table);
    for (const char *at = text; (at = strstr(at, what)); at += strlen(what))
        n += !strchr("abcdefghijklmnopqrstuvwxyz_", at[strlen(what)]);
    return n;
}

/* Engines that speak the protocol of PostgreSQL may refuse a statement that changes a table twice.
 */
UTEST(postgres, a_statement_changes_a_table_once) {
    static const char *const texts[] = {
#define MWL_X(name, text) text,
        MWL__PG_STATEMENTS(MWL_X)
#undef MWL_X
    };
    static const char tables[] = "run inbox wait event value program worker meta ";
    size_t found = 0;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (const char *at = tables; *at; at = strchr(at, ' ') + 1) {
            size_t len = strcspn(at, " ");
            size_t n = count_in(texts[i], "update", at, len) +
                       count_in(texts[i], "insert into", at, len) +
                       count_in(texts[i], "delete from", at, len);
            if (n > 1) printf("%s: %.*s\n", texts[i], (int)len, at);
            ASSERT_LE(n, (size_t)1);
            found += n;
        }
    ASSERT_GT(found, (size_t)20);
}

/* The server waits for a standby that is away. A connection whose reply does not come is given up;
 * a process of the server must not wait on for it, or a long outage uses up its connections. What
 * was given up is not taken for safe before the standby has it. */
UTEST(postgres, a_connection_that_is_given_up_leaves_no_process_behind) {
    NEEDS_POSTGRES;
    enum { TRIES = 3, WAIT_MS = 100 };
    static const char check[] =
        "do $$ begin for i in 1..200 loop perform pg_stat_clear_snapshot(); if not exists (select "
        "1 from pg_stat_activity where wait_event = 'SyncRep') then return; end if; perform "
        "pg_sleep(0.02); end loop; raise exception 'a process waits for the standby'; end $$";
    place p;
    ASSERT_TRUE(open_postgres(&p, LEASE));
    ASSERT_TRUE(say("alter system set synchronous_standby_names = 'nobody'"));
    ASSERT_TRUE(say("select pg_reload_conf(), pg_sleep(0.1)"));
    ((mwl__pg_store *)p.s)->reply_ms = WAIT_MS;
    for (int i = 0; i < TRIES; i++) EXPECT_EQ(start(p.s, "a", "{}"), MWL_E_IO);
    ASSERT_TRUE(say(check));
    EXPECT_EQ(start(p.s, "a", "{}"), MWL_E_IO); /* it is there, and not on the standby */
    ASSERT_TRUE(say("alter system reset synchronous_standby_names"));
    ASSERT_TRUE(say("select pg_reload_conf(), pg_sleep(0.1)"));
    EXPECT_EQ(start(p.s, "a", "{}"), MWL_OK);
    close_place(&p);
}

enum { BATCH = 200, ROUNDS = 8 };
struct batch {
    mwl_store *s;
    bool down; /* from the last to the first */
    mwl_status status;
};

static void *start_batches(void *ctx) {
    struct batch *b = ctx;
    static char ids[BATCH * ROUNDS][32];
    mwl_store_start starts[BATCH];
    size_t which;
    for (int round = 0; round < ROUNDS && b->status == MWL_OK; round++) {
        for (int i = 0; i < BATCH; i++) {
            char *id = ids[round * BATCH + i];
            if (!*id) snprintf(id, sizeof ids[0], "%d-%d", round, i);
            starts[b->down ? BATCH - 1 - i : i] =
                (mwl_store_start){id, program_id, "p", {"{}", 2}, 5};
        }
        b->status = mwl__pg_start_all(b->s, starts, BATCH, &which); /* nothing is repeated */
    }
    return NULL;
}

/* Two servers get the same runs in opposite order. */
UTEST(postgres, batches_with_the_same_runs_do_not_deadlock) {
    NEEDS_POSTGRES;
    place p;
    pthread_t threads[2];
    struct batch b[2] = {{.down = false}, {.down = true}};
    ASSERT_TRUE(open_postgres(&p, LEASE));
    for (int i = 0; i < 2; i++) ASSERT_EQ(other_postgres(&b[i].s, LEASE), MWL_OK);
    (void)start_batches(&b[0]); /* so that both have the names */
    ASSERT_EQ(b[0].status, MWL_OK);
    ASSERT_TRUE(say("delete from mwlvm.run"));
    for (int i = 0; i < 2; i++)
        ASSERT_EQ(pthread_create(&threads[i], NULL, start_batches, &b[i]), 0);
    for (int i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
        EXPECT_EQ(b[i].status, MWL_OK);
        mwl_store_close(b[i].s);
    }
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
