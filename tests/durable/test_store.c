/* test_store.c: what every store must do with runs, messages and workers, asked of each
 * (store_kit.h). */
#include "utest.h"

#include "tests/durable/store_kit.h"

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

static void see_nothing(void *ctx, const char *name, const void *image, size_t size) {
    (void)ctx, (void)name, (void)image, (void)size;
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

/* A program is stored before the run that is for it: what is put again stays for a while. */
UTEST(store, a_program_that_is_put_again_is_not_removed) {
    const int64_t hour = INT64_C(3600000000000);
    for (int kind = SQLITE; kind < KINDS; kind++) { /* in memory none is removed */
        place p;
        size_t removed;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_EQ(p.s->ops->put_program(p.s, program_id, "p", "image", 5, hour), MWL_OK);
        ASSERT_EQ(p.s->ops->put_program(p.s, program_id, "p", "image", 5, 100 * hour), MWL_OK);
        mwl_store_keep keep = {100 * hour, 100 * hour, 10}; /* as now, with a retention of zero */
        ASSERT_EQ(p.s->ops->prune(p.s, &keep, &removed), MWL_OK);
        ASSERT_EQ(p.s->ops->get_program(p.s, program_id, see_nothing, NULL), MWL_OK);
        keep.done_before_wall_ns = 103 * hour;
        ASSERT_EQ(p.s->ops->prune(p.s, &keep, &removed), MWL_OK);
        ASSERT_EQ(p.s->ops->get_program(p.s, program_id, see_nothing, NULL), MWL_E_NOT_FOUND);
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
        ASSERT_TRUE(claim_a(p.s, "test", &got));
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
        ASSERT_TRUE(claim_a(p.s, "test", &got));
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
        ASSERT_TRUE(claim_a(p.s, "test", &got));
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
        ASSERT_TRUE(claim_a(p.s, "test", &got));
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

static bool see_bytes(void *ctx, const mwl_store_row *row) {
    snprintf(ctx, 20, "%s %.*s", mwl_store_state_name(row->state), (int)row->size,
             row->bytes ? (const char *)row->bytes : "");
    return false;
}

static const char *bytes_of(mwl_store *s) {
    static char text[20];
    const mwl_store_query query = {.id = "a"};
    if (s->ops->list(s, &query, see_bytes, text) != MWL_OK) abort();
    return text;
}

UTEST(store, a_run_that_is_over_has_the_bytes_of_its_end_and_no_other) {
    for (int kind = 0; kind < KINDS; kind++)
        for (int stuck = 0; stuck < 2; stuck++) {
            place p;
            shown got;
            bool kept;
            ASSERT_TRUE(open_place(&p, kind));
            ASSERT_TRUE(claim_a(p.s, "test", &got));
            ASSERT_STREQ(bytes_of(p.s), "live ");
            const mwl_store_change end = {.seq = got.seq,
                                          .epoch = got.epoch,
                                          .version = 1,
                                          .kind = MWL_STORE_END,
                                          .state = stuck ? MWL_STORE_STUCK : MWL_STORE_DONE,
                                          .bytes = "marks",
                                          .size = 5,
                                          .result = {"why", 3}};
            ASSERT_EQ(commit(p.s, end, &kept), MWL_OK);
            ASSERT_STREQ(bytes_of(p.s), stuck ? "stuck " : "done marks");
            if (stuck) {
                ASSERT_EQ(post(p.s, "a", MWL_STORE_CANCEL), MWL_OK);
                ASSERT_STREQ(bytes_of(p.s), "aborted ");
            }
            close_place(&p);
        }
}

UTEST(store, a_stuck_run_is_resumed_or_cancelled) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        shown got;
        bool kept;
        ASSERT_TRUE(open_place(&p, kind));
        ASSERT_TRUE(claim_a(p.s, "test", &got));
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
        const mwl_store_wait wait = {1, "a.1", 3, {"[]", 2}, "x:y"};
        const mwl_store_change save = {.seq = got.seq,
                                       .epoch = got.epoch,
                                       .version = 2,
                                       .bytes = "two",
                                       .size = 4,
                                       .new_waits = true,
                                       .waits = &wait,
                                       .n_waits = 1};
        ASSERT_EQ(commit(p.s, save, &kept), MWL_OK);
        c.epoch = got.epoch;
        c.version = 3;
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_TRUE(kept);
        const mwl_store_call call = {.provider = "x:y", .now_wall_ns = 100, .lease_ns = 1};
        ASSERT_EQ(p.s->ops->take_call(p.s, &call, NULL, NULL), MWL_E_NOT_FOUND); /* it is stuck */
        ASSERT_EQ(post(p.s, "a", MWL_STORE_RESUME), MWL_OK);
        ASSERT_EQ(poll(p.s, 10, &got), MWL_OK);
        ASSERT_STREQ(got.text, "run a v3 two;"); /* its last state, also if that was not folded */
        c.epoch = got.epoch;
        c.version = 4;
        ASSERT_EQ(answer(p.s, "a", "early", "k"), MWL_OK);
        ASSERT_EQ(commit(p.s, c, &kept), MWL_OK);
        ASSERT_TRUE(kept);
        ASSERT_TRUE(strncmp(listed(p.s, false), "a stuck v4 w1 m1", 16) == 0);
        ASSERT_EQ(post(p.s, "a", MWL_STORE_CANCEL), MWL_OK);
        ASSERT_TRUE(strncmp(listed(p.s, false), "a aborted", 9) == 0);
        ASSERT_TRUE(strstr(listed(p.s, false), " w0 m0 ") != NULL); /* nobody waits any more */
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

UTEST_MAIN()
