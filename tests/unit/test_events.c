/* test_events.c: the recorder of spans (tools/show/events.h): what begins, what ends, how it nests.
 */
#include "tools/show/events.h"

#include "tests/unit/run_flow.h"
#include "utest.h"

enum { MOST = 4096, TRACKS = 64 };

/* A sink that keeps every span as it ended, and checks the rules of events.h meanwhile. */
typedef struct book {
    struct event_span span[MOST];
    bool open[MOST];
    uint64_t last[TRACKS][256]; /* open spans by track, innermost last */
    size_t n_last[TRACKS];
    size_t n, n_open, n_marks[2], n_tracks;
    int64_t now;
    const char *wrong;
    struct events *events;
} book;

static void on_track(void *ctx, const struct event_track *t) {
    book *b = ctx;
    b->n_tracks++;
    if (t->id != b->n_tracks) b->wrong = "tracks are not numbered in order";
}

static void on_begin(void *ctx, const struct event_span *s, const struct event_values *v) {
    book *b = ctx;
    (void)v;
    if (s->id != b->n + 1 || s->id >= MOST || s->track >= TRACKS) {
        b->wrong = "an id is not the next";
        return;
    }
    if (s->parent && !b->open[s->parent]) b->wrong = "its parent is not open";
    if (s->parent && b->span[s->parent].depth + 1 != s->depth) b->wrong = "depth";
    if (!s->parent && s->kind != EVENT_RUN) b->wrong = "only the run has no parent";
    if (s->track > b->n_tracks) b->wrong = "its track is not known";
    if (s->begin.mono_ns < b->now) b->wrong = "time went back";
    b->now = s->begin.mono_ns;
    size_t *n = &b->n_last[s->track];
    if (*n && s->kind != EVENT_DISPATCH && b->last[s->track][*n - 1] != s->parent)
        b->wrong = "its parent is not the innermost of its track";
    b->last[s->track][(*n)++] = s->id;
    b->span[s->id] = *s;
    b->open[s->id] = true;
    b->n++;
    b->n_open++;
}

static void on_end(void *ctx, const struct event_span *s, const struct event_values *v) {
    book *b = ctx;
    (void)v;
    size_t *n = &b->n_last[s->track];
    if (!b->open[s->id]) b->wrong = "ends twice";
    if (s->status == EVENT_OPEN) b->wrong = "ends without a status";
    if (!*n || b->last[s->track][*n - 1] != s->id) b->wrong = "is not the innermost of its track";
    if (s->end.mono_ns < b->now) b->wrong = "time went back";
    b->now = s->end.mono_ns;
    if (*n) --*n;
    b->span[s->id] = *s;
    b->open[s->id] = false;
    b->n_open--;
}

static void on_mark(void *ctx, const struct event_span *s, enum event_mark mark, mwl_value value,
                    const mwl_instant *at) {
    book *b = ctx;
    (void)at;
    if (!b->open[s->id]) b->wrong = "a mark in a span that is not open";
    if (mwl_value_kind(value) != MWL_KIND_OBJECT) b->wrong = "a mark without a failure";
    b->n_marks[mark]++;
}

static book *open_book(flow *f) {
    book *b = calloc(1, sizeof *b);
    const struct event_sink sink = {b, on_track, on_begin, on_end, on_mark};
    b->events = events_new(mwl_vm_heap(f->vm));
    events_add_sink(b->events, &sink);
    mwl_vm_trace(f->vm, events_listen, b->events);
    return b;
}

static void close_book(flow *f, book *b) {
    mwl_instant now;
    mwl_vm_now(f->vm, &now);
    events_finish(b->events, &now);
    events_free(b->events);
    mwl_vm_trace(f->vm, NULL, NULL);
}

static size_t count(const book *b, enum event_kind kind, enum event_status status) {
    size_t n = 0;
    for (size_t i = 1; i <= b->n; i++) n += b->span[i].kind == kind && b->span[i].status == status;
    return n;
}

static book *record(flow *f, const char *definition, const char *input) {
    if (!flow_vm(f, 1) || !flow_load(f, definition)) {
        fprintf(stderr, "%s\n", f->result);
        return NULL;
    }
    book *b = open_book(f);
    flow_again(f, input);
    close_book(f, b);
    return b;
}

/* The same, but the recorder comes when the run has gone on for so many nanoseconds. */
static book *record_from(flow *f, const char *definition, const char *input, int64_t ns) {
    if (!flow_vm(f, 1) || !flow_load(f, definition) || !flow_start(f, input)) {
        fprintf(stderr, "%s\n", f->result);
        return NULL;
    }
    mwl_vm_pump(f->vm, ns);
    book *b = open_book(f);
    events_open(b->events, f->run);
    mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    close_book(f, b);
    flow_finish(f);
    return b;
}

#define EXPECT_SOUND(b)                                                                            \
    do {                                                                                           \
        EXPECT_STREQ((b)->wrong ? (b)->wrong : "", "");                                            \
        EXPECT_EQ((b)->n_open, (size_t)0);                                                         \
    } while (0)

UTEST(events, each_attempt_and_each_wait_is_a_span) {
    flow f;
    book *b = record(
        &f,
        FLOW(
            "'a':{'action':'Call','middleware':[{'provider':" RETRY
            ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},'attempts':3,'backoff':{'initial':'PT2S'}}]}}}],"
            "'call':{'provider':" MOCK ",'with':{'failure':{'code':'No'}}},"
            "'catch':[{'match':{'codes':['*']},'next':'z'}],'next':'z'},'z':{'action':'Return'}"),
        "1");
    ASSERT_TRUE(b != NULL);
    EXPECT_SOUND(b);
    EXPECT_EQ(count(b, EVENT_ATTEMPT, EVENT_FAILED), (size_t)3);
    EXPECT_EQ(count(b, EVENT_CALL, EVENT_FAILED), (size_t)3);
    EXPECT_EQ(count(b, EVENT_WAIT, EVENT_SUCCEEDED), (size_t)2);
    EXPECT_EQ(count(b, EVENT_STEP, EVENT_CAUGHT), (size_t)1);
    EXPECT_EQ(count(b, EVENT_RUN, EVENT_SUCCEEDED), (size_t)1);
    EXPECT_EQ(b->n_marks[EVENT_MARK_CAUGHT], (size_t)1);
    int64_t number = 1;
    for (size_t i = 1; i <= b->n; i++) {
        const struct event_span *s = &b->span[i];
        if (s->kind == EVENT_ATTEMPT) {
            EXPECT_EQ(s->number, number++);
            EXPECT_STREQ(s->counts, "attempt");
        }
        if (s->kind == EVENT_WAIT) {
            EXPECT_EQ(s->end.mono_ns, s->until_ns);
            EXPECT_EQ(s->number, number);
        }
        if (s->kind == EVENT_STEP) EXPECT_EQ(s->line, 1u);
    }
    free(b);
    flow_close(&f);
}

UTEST(events, each_dispatch_has_a_track) {
    flow f;
    book *b = record(
        &f,
        FLOW(
            "'a':{'action':'Gather','over':'{{ step.input }}','call':{'flow':{'entrypoint':'w','steps':"
            "{'w':{'action':'Sleep','for':'{{ step.input }}','next':'r'},'r':{'action':'Return'}}}},"
            "'next':'z'},'z':{'action':'Return'}"),
        "['PT1S','PT3S','PT2S']");
    ASSERT_TRUE(b != NULL);
    EXPECT_SOUND(b);
    EXPECT_EQ(b->n_tracks, (size_t)3);
    EXPECT_EQ(count(b, EVENT_DISPATCH, EVENT_SUCCEEDED), (size_t)3);
    EXPECT_EQ(count(b, EVENT_WAIT, EVENT_SUCCEEDED), (size_t)3);
    for (size_t i = 1; i <= b->n; i++)
        if (b->span[i].kind == EVENT_DISPATCH) {
            EXPECT_EQ(b->span[i].total, 3u);
            EXPECT_EQ(b->span[i].track, (uint32_t)b->span[i].number + 1);
        }
    free(b);
    flow_close(&f);
}

/* A bound interrupts a call inside a Retry; what it leaves has no exit of its own. */
UTEST(events, what_is_interrupted_ends_as_cancelled) {
    flow f;
    book *b = record(
        &f,
        FLOW(
            "'a':{'action':'Call','middleware':[{'provider':" TIMEOUT
            ",'onEntry':{'with':{'duration':'PT5S'}}},{'provider':" RETRY
            ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},'attempts':9}]}}}],"
            "'call':{'provider':" MOCK ",'with':{'delay':'PT1H'}},"
            "'catch':[{'match':{'types':['timeout']},'next':'z'}],'next':'z'},'z':{'action':'Return'}"),
        "1");
    ASSERT_TRUE(b != NULL);
    EXPECT_SOUND(b);
    EXPECT_EQ(count(b, EVENT_CALL, EVENT_CANCELLED), (size_t)1);
    EXPECT_EQ(count(b, EVENT_ATTEMPT, EVENT_CANCELLED), (size_t)1);
    EXPECT_EQ(count(b, EVENT_STEP, EVENT_CAUGHT), (size_t)1);
    EXPECT_EQ(b->n_marks[EVENT_MARK_INTERRUPTED], (size_t)1);
    free(b);
    flow_close(&f);
}

UTEST(events, an_aborted_run_loses_what_is_open) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(
        flow_load(&f, FLOW("'a':{'action':'Gather','over':[1,2],'call':{'provider':" MOCK
                           ",'with':{'delay':'PT1H'}},'next':'z'},'z':{'action':'Return'}")));
    book *b = open_book(&f);
    ASSERT_TRUE(flow_start(&f, "1"));
    mwl_vm_pump(f.vm, 0);
    mwl_run_abort(f.run);
    close_book(&f, b);
    EXPECT_SOUND(b);
    EXPECT_EQ(count(b, EVENT_DISPATCH, EVENT_LOST), (size_t)2);
    EXPECT_EQ(count(b, EVENT_RUN, EVENT_LOST), (size_t)1);
    free(b);
    flow_close(&f);
}

/* A run that was loaded: what is open in it began before. */
UTEST(events, a_recorder_that_comes_later) {
    static const char *const definition = FLOW_WITH(
        "'middleware':[{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK
        ",'with':{'delay':'PT1S'}}}}}],",
        "'a':{'action':'Gather','calls':[{'provider':" MOCK ",'with':{'delay':'PT3S'}},"
        "{'flow':{'entrypoint':'w','steps':{'w':{'action':'Sleep','for':'PT2S','next':'r'},"
        "'r':{'action':'Return'}}}}],'next':'b'},"
        "'b':{'action':'Call','middleware':[{'provider':" RETRY
        ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},'attempts':3,'backoff':{'initial':'PT2S'}}]}}}],"
        "'call':{'flow':{'entrypoint':'s','steps':{'s':{'action':'Sleep','for':'PT1S','next':'c'},"
        "'c':{'action':'Call','call':{'provider':" MOCK
        ",'with':{'failure':{'code':'X.Y'}}},'next':'d'},'d':{'action':'Return'}}}},"
        "'catch':[{'match':{'codes':['*']},'next':'z'}],'next':'z'},'z':{'action':'Return'}");
    for (int64_t ms = 500; ms < 11000; ms += 500) {
        flow f;
        book *b = record_from(&f, definition, "[1]", ms * 1000000);
        ASSERT_TRUE(b != NULL);
        EXPECT_SOUND(b);
        EXPECT_EQ(count(b, EVENT_RUN, EVENT_SUCCEEDED), (size_t)1);
        EXPECT_EQ(count(b, EVENT_FLOW, EVENT_LOST) + count(b, EVENT_STEP, EVENT_LOST), (size_t)0);
        EXPECT_EQ(b->span[1].begin.mono_ns, b->span[2].begin.mono_ns);
        if (ms < 2000) {
            EXPECT_EQ(count(b, EVENT_DISPATCH, EVENT_SUCCEEDED), (size_t)2);
            EXPECT_EQ(b->n_tracks, (size_t)2);
        }
        if (ms == 3500) EXPECT_EQ(count(b, EVENT_ATTEMPT, EVENT_FAILED), (size_t)3);
        if (ms == 4500) EXPECT_EQ(count(b, EVENT_ATTEMPT, EVENT_FAILED), (size_t)2);
        free(b);
        flow_close(&f);
    }
}

UTEST_MAIN()
