/* test_store_server.c: what a server and workers outside ask of a store: several starts at once,
 * lists, calls, values, counts; asked of each (store_kit.h). */
#include "utest.h"

#include "tests/durable/store_kit.h"

static const mwl_store_start three[3] = {{"a", program_id, "p", {"{}", 2}, 5},
                                         {"b", program_id, "q", {"{}", 2}, 5},
                                         {"c", program_id, "p", {"{}", 2}, 5}};

UTEST(store, several_runs_are_accepted_or_none) {
    for (int kind = 0; kind < KINDS; kind++) {
        place p;
        size_t which = 9;
        ASSERT_TRUE(open_place(&p, kind));
        mwl_store_start list[3];
        memcpy(list, three, sizeof list);
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
        ASSERT_EQ(p.s->ops->start_all(p.s, three, 3, &which), MWL_OK);
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

UTEST_MAIN()
