/* test_store_memory.c: the store in memory when an allocation fails. Each allocation of a history
 * fails once, and what failed is asked for again: in the end everything is as without a failure. */
#include "utest.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static long before_failure = -1; /* allocations that still succeed; below 0: all do */

static bool fails(void) { return before_failure >= 0 && before_failure-- == 0; }
static void *faulty_malloc(size_t size) { return fails() ? NULL : malloc(size); }
static void *faulty_realloc(void *p, size_t size) { return fails() ? NULL : realloc(p, size); }
static char *faulty_strdup(const char *text) { return fails() ? NULL : strdup(text); }

#undef strdup
#define malloc faulty_malloc
#define realloc faulty_realloc
#define strdup faulty_strdup
#include "tests/durable/store_memory.c"
#undef malloc
#undef realloc
#undef strdup

static const uint8_t program_id[16] = "0123456789abcde";

/* ---- what the store holds, as text ----------------------------------------------------------- */

typedef struct page {
    char at[8192];
    size_t len;
} page;

#define SAY(t, ...)                                                                                \
    ((t)->len += (size_t)snprintf((t)->at + (t)->len, sizeof(t)->at - (t)->len, __VA_ARGS__))
#define BYTES(b) (int)(b).len, (b).at ? (const char *)(b).at : ""

static bool see_row(void *ctx, const mwl_store_row *r) {
    SAY((page *)ctx, "run %d %s %s %d v%d w%zu m%zu %.*s %.*s\n", (int)r->seq, r->id, r->name,
        (int)r->state, (int)r->version, r->n_waits, r->n_messages, BYTES(r->start),
        BYTES(r->result));
    return true;
}
static bool see_wait(void *ctx, const char *run, const mwl_store_wait *w) {
    SAY((page *)ctx, "wait %s %d %s %.*s\n", run, (int)w->number, w->name, BYTES(w->question));
    return true;
}
/* Their numbers may have gaps, as in a database. */
static bool see_event(void *ctx, uint64_t number, const char *run, const mwl_store_event *e) {
    (void)number;
    SAY((page *)ctx, "event %s %s %.*s\n", run, e->kind, BYTES(e->text));
    return true;
}
static bool see_value(void *ctx, const char *key, const char *now) {
    SAY((page *)ctx, "value %s %s\n", key, now);
    return true;
}
static void see_program(void *ctx, const char *name, const void *image, size_t size) {
    SAY((page *)ctx, "program %s %.*s\n", name, (int)size, (const char *)image);
}

static void describe(mwl_store *s, const mwl_store_memory *m, page *t) {
    const mwl_store_query all = {.limit = 100, .snapshots = true};
    s->ops->list(s, &all, see_row, t);
    s->ops->waits(s, 0, see_wait, t);
    s->ops->events(s, 0, 0, see_event, t);
    s->ops->values(s, "", see_value, t);
    s->ops->get_program(s, program_id, see_program, t);
    for (size_t i = 0; i < m->n_rows; i++) SAY(t, "bytes %.*s\n", BYTES(m->rows[i].bytes));
}

/* ---- the history ----------------------------------------------------------------------------- */

#define TEXT(s)                                                                                    \
    { s, sizeof(s) - 1 }
/* Asks once more after a failed allocation; there is one at most. */
#define ASK(t, call)                                                                               \
    do {                                                                                           \
        mwl_status st_ = (call);                                                                   \
        if (st_ == MWL_E_NOMEM) st_ = (call);                                                      \
        if (st_ != MWL_OK) SAY(t, "%s: %d\n", #call, (int)st_);                                    \
    } while (0)

static int64_t one_second(void *ctx) {
    (void)ctx;
    return 1000000000;
}
static bool see_claimed(void *ctx, const mwl_store_claimed *run) {
    (void)ctx, (void)run;
    return true;
}
static bool see_message(void *ctx, const mwl_store_message *m) {
    (void)ctx, (void)m;
    return true;
}

static void begin(mwl_store *s, page *t) {
    const mwl_store_start a = {
        .id = "a", .name = "p", .program = program_id, .start = TEXT("{\"a\"}")};
    const mwl_store_start two[] = {
        {.id = "b", .name = "p", .program = program_id, .start = TEXT("{\"b\"}")},
        {.id = "c", .name = "p", .program = program_id, .start = TEXT("{\"c\"}")}};
    const mwl_store_poll ask = {.number = 1, .most = 10, .now_wall_ns = 1};
    const mwl_store_polled sink = {.run = see_claimed, .message = see_message};
    size_t which;
    int64_t next;
    ASK(t, s->ops->put_program(s, program_id, "p", "image", 5, 1));
    ASK(t, s->ops->start(s, &a));
    ASK(t, s->ops->start_all(s, two, 2, &which));
    ASK(t, s->ops->join(s, "worker"));
    ASK(t, s->ops->poll(s, &ask, &sink, &next));
}

static void go_on(mwl_store *s, page *t) {
    const mwl_store_wait first[] = {{1, "one", 1, TEXT("q1"), ""}, {2, "two", 1, TEXT("q2"), NULL}};
    const mwl_store_wait then[] = {{2, "two", 1, TEXT("q2"), NULL},
                                   {3, "three", 1, TEXT("q3"), "uri:x"}};
    const mwl_store_event events[] = {{1, "step", TEXT("e1")}, {2, "step", TEXT("e2")}};
    const uint64_t taken[] = {1};
    const mwl_store_change saved[] = {{.seq = 1,
                                       .epoch = 1,
                                       .version = 1,
                                       .kind = MWL_STORE_SAVE,
                                       .bytes = "snap1",
                                       .size = 5,
                                       .new_waits = true,
                                       .waits = first,
                                       .n_waits = 2,
                                       .events = events,
                                       .n_events = 2},
                                      {.seq = 2,
                                       .epoch = 1,
                                       .version = 1,
                                       .kind = MWL_STORE_END,
                                       .state = MWL_STORE_STUCK,
                                       .result = TEXT("why"),
                                       .events = events,
                                       .n_events = 1}};
    const mwl_store_change later[] = {{.seq = 1,
                                       .epoch = 1,
                                       .version = 2,
                                       .kind = MWL_STORE_PARK,
                                       .bytes = "snap2",
                                       .size = 5,
                                       .new_waits = true,
                                       .waits = then,
                                       .n_waits = 2,
                                       .taken = taken,
                                       .n_taken = 1,
                                       .events = events,
                                       .n_events = 2,
                                       .due_wall_ns = MWL_NEVER},
                                      {.seq = 3,
                                       .epoch = 1,
                                       .version = 1,
                                       .kind = MWL_STORE_END,
                                       .state = MWL_STORE_DONE,
                                       .result = TEXT("res")}};
    const mwl_store_message answer = {
        .run = "a", .kind = MWL_STORE_ANSWER, .name = "one", .key = "k1", .body = TEXT("yes")};
    const mwl_store_message resume = {.run = "b", .kind = MWL_STORE_RESUME, .name = ""};
    const mwl_store_message cancel = {.run = "c", .kind = MWL_STORE_CANCEL, .name = ""};
    bool kept[2] = {false, false};
    ASK(t, s->ops->commit(s, saved, 2, kept));
    SAY(t, "kept %d %d\n", kept[0], kept[1]);
    ASK(t, s->ops->post(s, &answer));
    ASK(t, s->ops->post(s, &resume));
    ASK(t, s->ops->post(s, &cancel));
    ASK(t, s->ops->commit(s, later, 2, kept));
    SAY(t, "kept %d %d\n", kept[0], kept[1]);
    ASK(t, s->ops->set_value(s, "k", NULL, "v"));
    ASK(t, s->ops->set_value(s, "k", "v", "w"));
    ASK(t, s->ops->set_value(s, "j", NULL, "x"));
    ASK(t, s->ops->set_value(s, "k", "w", NULL));
}

/* The allocation after so many fails. Returns false if there were not so many. */
static bool history(long successes, page *t) {
    mwl_store_memory *m = NULL;
    mwl_store *s = NULL;
    t->len = 0;
    before_failure = -1;
    if (mwl_store_memory_new(one_second, NULL, 1000000, &m) < 0 || mwl_store_memory_open(m, &s) < 0)
        return false;
    before_failure = successes;
    begin(s, t);
    go_on(s, t);
    bool failed = before_failure < 0;
    before_failure = -1;
    describe(s, m, t);
    s->ops->close(s);
    mwl_store_memory_free(m);
    return failed;
}

UTEST(store_memory, a_failed_allocation_changes_nothing) {
    static page good, got;
    (void)history(-1, &good);
    EXPECT_TRUE(strstr(good.at, "run 1 a p") != NULL);
    EXPECT_TRUE(strstr(good.at, "kept 1 1") != NULL);
    long n = 0;
    for (; history(n, &got); n++) EXPECT_STREQ(got.at, good.at);
    EXPECT_GT(n, 40);
}

UTEST_MAIN()
