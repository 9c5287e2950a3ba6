/* test_callbacks.c: what a host may do to runs from inside its callbacks: start others; cancel,
 * abort and free the same run. The header forbids only pumping and freeing the VM there. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#define URI STYLES_URI("inside")
#define CALL(more) "{'action':'Call','call':{'provider':'" URI "'}" more "}"

typedef enum deed { NOTHING, CANCELS, ABORTS, FREES, STARTS } deed;
typedef enum where { IN_START, IN_WAKE, IN_CANCEL, IN_LISTENER } where;

typedef struct host {
    flow f;
    mwl_program *other; /* what STARTS starts */
    mwl_run *begun;
    deed deed;
    where where;
    mwl_trace_kind when; /* of IN_LISTENER */
    bool waits;
    int done;
} host;

static void act(host *h, where here) {
    if (h->where != here || h->done++) return;
    switch (h->deed) {
    case NOTHING: break;
    case CANCELS: mwl_run_cancel(h->f.run, "enough"); break;
    case ABORTS: mwl_run_abort(h->f.run); break;
    case FREES:
        mwl_run_free(h->f.run);
        h->f.run = NULL;
        break;
    case STARTS:
        if (mwl_run_start(h->f.vm, h->other, NULL, &h->begun, NULL) < 0) h->begun = NULL;
        break;
    }
}

/* In start it acts and settles; else it waits a second, and acts when it is woken or cancelled. */
static void inside_start(mwl_call *call, void *user) {
    host *h = user;
    act(h, IN_START);
    if (h->where == IN_START || (h->where == IN_LISTENER && !h->waits))
        mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
    else
        mwl_call_wake_after(call, INT64_C(1000000000));
}

static void inside_wake(mwl_call *call, void *user) {
    host *h = user;
    bool goes = h->where == IN_WAKE && (h->deed == ABORTS || h->deed == FREES);
    act(h, IN_WAKE);
    if (!goes) mwl_call_succeed(call, mwl_number(1));
}

static void inside_cancel(mwl_call *call, void *user) {
    act(user, IN_CANCEL);
    mwl_call_succeed(call, mwl_null());
}

static void hear(void *ctx, const mwl_trace_event *event) {
    host *h = ctx;
    if (event->kind == h->when && event->run == h->f.run) act(h, IN_LISTENER);
}

static bool open_host(host *h, deed what, where here, const char *definition) {
    static const char document[] = STYLES_DOC("inside");
    static const mwl_asm_provider documents[] = {{"inside", document, sizeof document - 1}};
    const mwl_call_provider p = {.uri = URI,
                                 .document = document,
                                 .start = inside_start,
                                 .wake = inside_wake,
                                 .cancel = inside_cancel};
    memset(h, 0, sizeof *h);
    if (!flow_vm(&h->f, 1)) return false;
    h->f.documents = documents;
    h->f.n_documents = 1;
    h->deed = what;
    h->where = here;
    return mwl_vm_provide(h->f.vm, &p, 1, h, NULL) == MWL_OK && flow_load(&h->f, definition);
}

static const char *end_of(host *h) {
    mwl_vm_pump(h->f.vm, MWL_NO_BUDGET);
    if (!h->f.run) return "freed";
    flow_finish(&h->f);
    for (char *p = h->f.result; *p; p++)
        if (*p == '"') *p = '\'';
    return h->f.result;
}

static void close_host(host *h) {
    mwl_run_free(h->begun);
    mwl_program_release(h->other);
    flow_close(&h->f);
}

/* ---- another run is started ------------------------------------------------------------------ */

/* More registers than the first, other constants, keys and paths. */
#define LARGE                                                                                                        \
    FLOW(                                                                                                            \
        "'a':{'action':'Return','value':'{{ [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,"  \
        "27,28,29,30,31,32,33,34,35,36,37,38,39,40,41,42,43,44,45,46,47,48].map(x, [x, step.input == null, x + 1,"   \
        " x + 2, x + 3, x + 4, x + 5, x + 6, x + 7, x + 8, x + 9, x + 10, x + 11, x + 12, x + 13, x + 14])[47][15] " \
        "}}'}")
#define GOES_ON                                                                                            \
    FLOW("'a':" CALL(                                                                                      \
        ",'output':{'twice':['{{ step.result.value }}','{{ step.result.value }}'],'n':'{{ step.name }}'}," \
        "'next':'z'") ",'z':{'action':'Return','value':'{{ step.input.twice[1] }}'}")

static void expect_started(int *utest_result, where here, mwl_trace_kind when) {
    host h;
    ASSERT_TRUE(open_host(&h, STARTS, here, LARGE));
    h.other = h.f.program;
    h.when = when;
    ASSERT_TRUE(flow_load(&h.f, GOES_ON));
    if (here == IN_LISTENER) mwl_vm_trace(h.f.vm, hear, &h);
    ASSERT_TRUE(flow_start(&h.f, "{'k':5}"));
    EXPECT_STREQ(end_of(&h), here == IN_START || here == IN_LISTENER
                                 ? "{'type':'success','value':{'k':5}}"
                                 : "{'type':'success','value':1}");
    ASSERT_TRUE(h.begun != NULL);
    EXPECT_EQ(mwl_as_number(mwl_run_value(h.begun)), 62);
    mwl_vm_trace(h.f.vm, NULL, NULL);
    close_host(&h);
}

UTEST(callbacks, a_provider_starts_a_run) {
    expect_started(utest_result, IN_START, MWL_TRACE_RUN_DONE);
}
UTEST(callbacks, a_provider_starts_a_run_when_it_is_woken) {
    expect_started(utest_result, IN_WAKE, MWL_TRACE_RUN_DONE);
}
UTEST(callbacks, a_listener_starts_a_run) {
    static const mwl_trace_kind when[] = {MWL_TRACE_STEP_ENTERED, MWL_TRACE_CALL_DISPATCHED,
                                          MWL_TRACE_CALL_ACCEPTED, MWL_TRACE_STEP_EXITED};
    for (size_t i = 0; i < sizeof when / sizeof *when; i++)
        expect_started(utest_result, IN_LISTENER, when[i]);
}

static void spawns(mwl_call *call, void *user) {
    host *h = user;
    mwl_run *run;
    if (mwl_run_start(h->f.vm, h->other, NULL, &run, NULL) == MWL_OK) mwl_run_free(run);
    for (int i = 0; i < 8 && mwl_run_start(h->f.vm, h->other, NULL, &run, NULL) == MWL_OK; i++) {
        mwl_run_set_user(run, h->begun); /* in a chain, freed in the end */
        h->begun = run;
    }
    mwl_call_succeed(call, mwl_null());
}

/* The memory of runs that it starts is not counted for the run itself; nor is the memory that is
 * freed with them. */
UTEST(callbacks, memory_is_each_run_s_own) {
    static const char document[] = STYLES_DOC("inside");
    static const mwl_asm_provider documents[] = {{"inside", document, sizeof document - 1}};
    const mwl_call_provider p = {.uri = URI, .document = document, .start = spawns};
    host h;
    memset(&h, 0, sizeof h);
    ASSERT_TRUE(flow_vm(&h.f, 1));
    h.f.documents = documents;
    h.f.n_documents = 1;
    ASSERT_EQ((int)mwl_vm_provide(h.f.vm, &p, 1, &h, NULL), (int)MWL_OK);
    ASSERT_TRUE(flow_load(&h.f, FLOW("'a':{'action':'Return'}")));
    h.other = h.f.program;
    ASSERT_TRUE(flow_load(
        &h.f,
        FLOW("'a':{'action':'Gather','over':'{{ lists.range(2000) }}','call':{'provider':'" URI
             "'},'output':'{{ size(step.results) }}','next':'z'},'z':{'action':'Return'}")));
    mwl_limits own;
    memset(&own, 0, sizeof own);
    own.memory_bytes = 1500000; /* the slots and the results; the runs are more */
    mwl_start start;
    memset(&start, 0, sizeof start);
    start.limits = &own;
    ASSERT_EQ((int)mwl_run_start(h.f.vm, h.f.program, &start, &h.f.run, NULL), (int)MWL_OK);
    size_t before = mwl_heap_used(mwl_vm_heap(h.f.vm));
    mwl_vm_pump(h.f.vm, 0);
    EXPECT_TRUE(mwl_heap_used(mwl_vm_heap(h.f.vm)) - before > 1500000);
    EXPECT_STREQ(end_of(&h), "{'type':'success','value':2000}");
    while (h.begun) {
        mwl_run *next = mwl_run_user(h.begun);
        mwl_run_free(h.begun);
        h.begun = next;
    }
    close_host(&h);
}

/* ---- the very run is ended ------------------------------------------------------------------- */

#define PLAIN FLOW("'a':" CALL(",'next':'z'") ",'z':{'action':'Return'}")
#define BOUND                                                                                      \
    FLOW("'a':" CALL(                                                                              \
        ",'middleware':[{'provider':" TIMEOUT                                                      \
        ",'onEntry':{'with':{'duration':'PT0.5S'}}}],'next':'z'") ",'z':{'action':'Return'}")
#define FANNED                                                                                     \
    FLOW("'a':{'action':'Gather','over':[1,2,3],'call':{'provider':'" URI                          \
         "'},'next':'z'},'z':{'action':'Return'}")
#define CANCELLED                                                                                  \
    "{'code':'System.Cancelled','details':{'reason':'enough'},'message':'enough','type':'cancellation'}"

static const char *end_inside(host *h, deed what, where here, const char *definition) {
    if (!open_host(h, what, here, definition) || !flow_start(&h->f, "5")) return h->f.result;
    return end_of(h);
}

UTEST(callbacks, the_run_is_ended_by_a_start) {
    static const char *const flows[] = {PLAIN, BOUND, FANNED};
    for (size_t i = 0; i < 3; i++) {
        host h;
        EXPECT_STREQ(end_inside(&h, FREES, IN_START, flows[i]), "freed");
        close_host(&h);
        EXPECT_STREQ(end_inside(&h, ABORTS, IN_START, flows[i]), "state 3, why 0");
        close_host(&h);
        EXPECT_STREQ(end_inside(&h, CANCELS, IN_START, flows[i]), CANCELLED);
        close_host(&h);
    }
}

UTEST(callbacks, the_run_is_ended_by_a_wake) {
    static const char *const flows[] = {PLAIN, FANNED};
    for (size_t i = 0; i < 2; i++) {
        host h;
        EXPECT_STREQ(end_inside(&h, FREES, IN_WAKE, flows[i]), "freed");
        close_host(&h);
        EXPECT_STREQ(end_inside(&h, ABORTS, IN_WAKE, flows[i]), "state 3, why 0");
        close_host(&h);
        EXPECT_STREQ(end_inside(&h, CANCELS, IN_WAKE, flows[i]), CANCELLED);
        close_host(&h);
    }
}

UTEST(callbacks, the_run_is_ended_by_a_cancel) {
    static const deed deeds[] = {FREES, ABORTS, CANCELS};
    for (size_t i = 0; i < 3; i++) {
        host h; /* a bound elapses */
        const char *end = end_inside(&h, deeds[i], IN_CANCEL, BOUND);
        EXPECT_STREQ(end, i == 0 ? "freed" : i == 1 ? "state 3, why 0" : CANCELLED);
        close_host(&h);
    }
    for (size_t i = 0; i < 6; i++) { /* the host cancels it itself, outside the pump */
        host h;
        ASSERT_TRUE(open_host(&h, deeds[i % 3], IN_CANCEL, i < 3 ? PLAIN : FANNED) &&
                    flow_start(&h.f, "5"));
        mwl_vm_pump(h.f.vm, 0);
        mwl_run_cancel(h.f.run, "enough");
        EXPECT_EQ(h.done > 0, true);
        EXPECT_STREQ(end_of(&h), i % 3 == 0 ? "freed" : i % 3 == 1 ? "state 3, why 0" : CANCELLED);
        close_host(&h);
    }
}

UTEST(callbacks, the_run_is_ended_by_a_listener) {
    static const deed deeds[] = {FREES, ABORTS, CANCELS};
    for (int kind = 0; strcmp(mwl_trace_name((mwl_trace_kind)kind), "UNKNOWN") != 0; kind++)
        for (size_t i = 0; i < 3; i++)
            for (int there = IN_START; there <= IN_WAKE; there++) {
                host h;
                ASSERT_TRUE(
                    open_host(&h, deeds[i], IN_LISTENER, there == IN_START ? FANNED : BOUND));
                h.when = (mwl_trace_kind)kind;
                h.waits = there == IN_WAKE;
                mwl_vm_trace(h.f.vm, hear, &h);
                ASSERT_TRUE(flow_start(&h.f, "5"));
                (void)end_of(&h);
                mwl_vm_trace(h.f.vm, NULL, NULL);
                close_host(&h);
            }
}

/* A run that its provider cancels is not ended by the last of its fuel. */
UTEST(callbacks, a_cancellation_does_not_use_up_the_fuel) {
    mwl_limits few;
    memset(&few, 0, sizeof few);
    few.fuel = 1000;
    host h;
    ASSERT_TRUE(open_host(&h, CANCELS, IN_START, PLAIN));
    mwl_start start;
    memset(&start, 0, sizeof start);
    start.limits = &few;
    ASSERT_EQ((int)mwl_run_start(h.f.vm, h.f.program, &start, &h.f.run, NULL), (int)MWL_OK);
    mwl_vm_pump(h.f.vm, MWL_NO_BUDGET);
    EXPECT_EQ((int)mwl_run_why(h.f.run), (int)MWL_OK);
    EXPECT_STREQ(end_of(&h), CANCELLED);
    close_host(&h);
}

UTEST(callbacks, the_run_is_freed_while_it_is_aborted) {
    for (int i = 0; i < 2; i++) {
        host h;
        ASSERT_TRUE(open_host(&h, FREES, IN_CANCEL, i ? FANNED : PLAIN) && flow_start(&h.f, "5"));
        mwl_vm_pump(h.f.vm, 0);
        mwl_run_abort(h.f.run);
        EXPECT_TRUE(h.f.run == NULL);
        close_host(&h);
    }
}

/* ---- on a stack of its own ------------------------------------------------------------------- */

static void inside_blocking(mwl_call *call, void *user) {
    host *h = user;
    act(h, IN_START);
    if (mwl_sleep(call, INT64_C(1000000000)) == MWL_OK)
        act(h, IN_WAKE);
    else
        act(h, IN_CANCEL);
    if (mwl_await(call, NULL) == MWL_OK) act(h, IN_LISTENER);
    mwl_call_succeed(call, mwl_number(1));
}

UTEST(callbacks, the_run_is_ended_by_a_blocking_function) {
    static const char document[] = STYLES_DOC("inside");
    static const mwl_asm_provider documents[] = {{"inside", document, sizeof document - 1}};
    const mwl_call_provider p = {.uri = URI, .document = document, .blocking = inside_blocking};
    static const deed deeds[] = {FREES, ABORTS, CANCELS};
    for (size_t i = 0; i < 3; i++)
        for (int there = IN_START; there <= IN_CANCEL; there++) {
            host h;
            memset(&h, 0, sizeof h);
            ASSERT_TRUE(flow_vm(&h.f, 1));
            h.f.documents = documents;
            h.f.n_documents = 1;
            h.deed = deeds[i];
            h.where = (where)there;
            ASSERT_EQ((int)mwl_vm_provide(h.f.vm, &p, 1, &h, NULL), (int)MWL_OK);
            ASSERT_TRUE(flow_load(&h.f, there == IN_CANCEL ? BOUND : PLAIN) &&
                        flow_start(&h.f, "5"));
            const char *end = end_of(&h);
            EXPECT_STREQ(end, i == 0 ? "freed" : i == 1 ? "state 3, why 0" : CANCELLED);
            close_host(&h);
        }
}

/* ---- in the turn that takes a token's answer ------------------------------------------------- */

static mwl_token *answered;

static void inside_answered(mwl_call *call, void *user) {
    if (mwl_call_token(call, &answered) != MWL_OK) return;
    if (mwl_await(call, NULL) == MWL_OK) act(user, IN_WAKE);
    mwl_call_succeed(call, mwl_number(1));
}

UTEST(callbacks, the_run_is_ended_when_an_answer_comes) {
    static const char document[] = STYLES_DOC("inside");
    static const mwl_asm_provider documents[] = {{"inside", document, sizeof document - 1}};
    const mwl_call_provider p = {.uri = URI, .document = document, .blocking = inside_answered};
    static const deed deeds[] = {FREES, ABORTS, CANCELS};
    for (size_t i = 0; i < 3; i++) {
        host h;
        memset(&h, 0, sizeof h);
        ASSERT_TRUE(flow_vm(&h.f, 1));
        h.f.documents = documents;
        h.f.n_documents = 1;
        h.deed = deeds[i];
        h.where = IN_WAKE;
        answered = NULL;
        ASSERT_EQ((int)mwl_vm_provide(h.f.vm, &p, 1, &h, NULL), (int)MWL_OK);
        ASSERT_TRUE(flow_load(&h.f, PLAIN) && flow_start(&h.f, "5"));
        mwl_vm_pump(h.f.vm, MWL_NO_BUDGET);
        ASSERT_TRUE(answered != NULL);
        ASSERT_EQ((int)mwl_token_succeed(answered, "1", 1), (int)MWL_OK);
        const char *end = end_of(&h);
        EXPECT_STREQ(end, i == 0 ? "freed" : i == 1 ? "state 3, why 0" : CANCELLED);
        mwl_token_release(answered);
        close_host(&h);
    }
}

/* ---- a program that is started while it is linked -------------------------------------------- */

#define PREPARES "mwl:provider.middleware/acme/prepares/v1"
static const char prepares_doc[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" PREPARES "\","
    "\"codePrefix\":\"Prepares\",\"description\":\"d\",\"attachment\":[\"step\"],\"phases\":{"
    "\"onEntry\":{\"action\":{\"kind\":\"control\",\"description\":\"d\"},\"parameters\":{"
    "\"type\":\"object\"}}},\"failureCatalog\":{\"closed\":[],\"open\":[]}}";

static void enters(mwl_phase *phase, void *user) { (void)phase, (void)user; }

static mwl_value starts_itself(mwl_heap *heap, mwl_value arguments, void *user) {
    (void)heap, (void)arguments;
    host *h = user;
    if (!h->done++ && mwl_run_start(h->f.vm, h->f.program, NULL, &h->begun, NULL) < 0)
        h->begun = NULL;
    return mwl_null();
}

/* In the turn of the inner run: nothing of its program may go. */
static void frees_the_outer(mwl_call *call, void *user) {
    host *h = user;
    if (mwl_call_run(call) == h->begun) {
        mwl_run_free(h->f.run);
        h->f.run = NULL;
        mwl_vm_forget(h->f.vm, h->f.program);
    }
    mwl_call_succeed(call, mwl_null());
}

UTEST(callbacks, prepare_starts_the_program_that_is_being_linked) {
    static const char document[] = STYLES_DOC("inside");
    static const mwl_asm_provider documents[] = {
        {"inside", document, sizeof document - 1},
        {"prepares", prepares_doc, sizeof prepares_doc - 1}};
    const mwl_call_provider p = {.uri = URI, .document = document, .start = frees_the_outer};
    const mwl_middleware m = {
        .uri = PREPARES, .document = prepares_doc, .entry = enters, .prepare = starts_itself};
    host h;
    memset(&h, 0, sizeof h);
    ASSERT_TRUE(flow_vm(&h.f, 1));
    h.f.documents = documents;
    h.f.n_documents = 2;
    ASSERT_EQ((int)mwl_vm_provide(h.f.vm, &p, 1, &h, NULL), (int)MWL_OK);
    ASSERT_EQ((int)mwl_vm_provide_middleware(h.f.vm, &m, 1, &h, NULL), (int)MWL_OK);
    ASSERT_TRUE(flow_load(
        &h.f, FLOW("'a':" CALL(",'middleware':[{'provider':'" PREPARES "'}],"
                               "'output':'{{ {}.none }}','next':'z'") ",'z':{'action':'Return'}")));
    ASSERT_TRUE(flow_start(&h.f, "5"));
    ASSERT_TRUE(h.begun != NULL);
    mwl_vm_pump(h.f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(h.f.run == NULL);
    mwl_value code = mwl_get(mwl_run_result(h.begun), "code");
    EXPECT_STREQ(mwl_as_text(code, NULL), "System.ExpressionEvaluationError");
    close_host(&h);
}

/* ---- a listener that comes and goes ---------------------------------------------------------- */

static void ignore(void *ctx, const mwl_trace_event *event) { (void)ctx, (void)event; }

/* With turns of one instruction, a listener is set only for the turns from `from` to `to`. */
static const char *overheard(const char *definition, int from, int to) {
    static flow f;
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    c.slice = 1;
    memset(&f, 0, sizeof f);
    if (mwl_vm_new(&c, &f.vm) < 0 || mwl_std_add(f.vm, MWL_STD_ALL, NULL) < 0) return "no VM";
    if (flow_load(&f, definition) && flow_start(&f, "5")) {
        for (int i = 0; i < 60; i++) {
            mwl_vm_trace(f.vm, i >= from && i < to ? ignore : NULL, NULL);
            mwl_vm_pump(f.vm, 0);
        }
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        flow_finish(&f);
    }
    flow_close(&f);
    return f.result;
}

UTEST(callbacks, a_listener_comes_and_goes) {
    static const char *const flows[] = {
        FLOW("'a':{'action':'Gather','over':[1,2,3],'call':{'provider':" MOCK
             ",'with':{'value':1}},'next':'z'},"
             "'z':{'action':'Return'}"),
        FLOW("'a':{'action':'Gather','over':[1,2,3],'call':{'provider':" MOCK
             ",'with':{'delay':'PT1S','value':1}},"
             "'next':'z'},'z':{'action':'Return'}"),
        FLOW("'a':{'action':'Call','call':{'provider':" MOCK
             ",'with':{'value':[1,1,1]}},'middleware':[{'provider':" TIMEOUT
             ",'onEntry':{'with':{'duration':'PT1S'}}}],'next':'z'},'z':{'action':'Return'}")};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++)
        for (int from = 0; from < 20; from++)
            for (int to = from; to < 20; to += 1)
                EXPECT_STREQ(overheard(flows[i], from, to),
                             "{\"type\":\"success\",\"value\":[1,1,1]}");
}

/* The host does not have its address yet: the start fails. */
static void hear_start(void *ctx, const mwl_trace_event *event) {
    host *h = ctx;
    if (event->kind != MWL_TRACE_RUN_STARTED || h->done++) return;
    mwl_run *run = (mwl_run *)(uintptr_t)event->run;
    if (h->deed == ABORTS)
        mwl_run_abort(run);
    else
        mwl_run_free(run);
}

UTEST(callbacks, a_listener_ends_a_run_as_it_starts) {
    static const deed deeds[] = {FREES, ABORTS};
    for (size_t i = 0; i < 2; i++) {
        host h;
        mwl_run *run = NULL;
        ASSERT_TRUE(open_host(&h, deeds[i], IN_LISTENER, PLAIN));
        mwl_vm_trace(h.f.vm, hear_start, &h);
        mwl_status st = mwl_run_start(h.f.vm, h.f.program, NULL, &run, NULL);
        EXPECT_EQ((int)st, (int)MWL_E_USAGE);
        mwl_vm_pump(h.f.vm, MWL_NO_BUDGET);
        EXPECT_TRUE(!run && !mwl_vm_next_done(h.f.vm) && !mwl_vm_runs(h.f.vm, NULL));
        mwl_vm_trace(h.f.vm, NULL, NULL);
        close_host(&h);
    }
}

/* ---- a limit does not allow an answer -------------------------------------------------------- */

#define CLEANED                                                                                    \
    FLOW("'a':{'action':'Call','call':{'provider':" MOCK                                           \
         ",'with':{'value':1}},'middleware':[{'provider':" FINALLY                                 \
         ",'onAlways':{'with':{'call':{'flow':{'entrypoint':'a','steps':{'a':{'action':'Gather',"  \
         "'over':[1,2,3],'call':{'provider':'" URI                                                 \
         "'},'next':'z'},'z':{'action':'Return'}}}}}}}],'next':'z'},'z':{'action':'Return'}")

typedef struct answers {
    mwl_call *first;
    int n_refused, n_cancelled;
} answers;

/* The first call is answered in the start of the second. */
static void answers_start(mwl_call *call, void *user) {
    static char large[100000];
    answers *a = user;
    if (mwl_as_number(mwl_call_input(call)) == 1) a->first = call;
    if (mwl_as_number(mwl_call_input(call)) != 2) return;
    memset(large, 'a', sizeof large);
    mwl_value v = mwl_string(mwl_call_heap(call), large, sizeof large);
    a->n_refused += mwl_is_absent(v);
    mwl_call_succeed(a->first, v);
}
static void answers_cancel(mwl_call *call, void *user) {
    ((answers *)user)->n_cancelled++;
    mwl_call_succeed(call, mwl_null());
}

/* Returns how the run ended. */
static const char *end_refused(answers *a, const char *definition) {
    static char text[64];
    static const char document[] = STYLES_DOC("inside");
    static const mwl_asm_provider documents[] = {{"inside", document, sizeof document - 1}};
    const mwl_call_provider p = {
        .uri = URI, .document = document, .start = answers_start, .cancel = answers_cancel};
    const mwl_limits limits = {.memory_bytes = 50000};
    const mwl_start start = {.limits = &limits};
    flow f;
    if (!flow_vm(&f, 1)) return "no VM";
    f.documents = documents;
    f.n_documents = 1;
    if (mwl_vm_provide(f.vm, &p, 1, a, NULL) < 0 || !flow_load(&f, definition)) return "no program";
    if (mwl_run_start(f.vm, f.program, &start, &f.run, NULL) < 0) return "no run";
    bool over = mwl_vm_pump(f.vm, MWL_NO_BUDGET) == MWL_NEVER && mwl_vm_next_done(f.vm) == f.run;
    snprintf(text, sizeof text, "%s, state %d, why %d", over ? "over" : "not over",
             (int)mwl_run_get_state(f.run), (int)mwl_run_why(f.run));
    flow_close(&f);
    return text;
}

/* In a callback for one call, another call of the same run is answered with what its memory limit
 * refuses. The run is cancelled, and ends; inside a cleanup it is aborted. */
UTEST(callbacks, an_answer_that_is_refused) {
    answers fanned = {0}, cleaned = {0};
    EXPECT_STREQ(end_refused(&fanned, FANNED), "over, state 2, why -7");
    EXPECT_EQ(fanned.n_refused, 1);
    EXPECT_EQ(fanned.n_cancelled, 1);
    EXPECT_STREQ(end_refused(&cleaned, CLEANED), "over, state 3, why -7");
    EXPECT_EQ(cleaned.n_refused, 1);
    EXPECT_EQ(cleaned.n_cancelled, 1);
}

UTEST_MAIN()
