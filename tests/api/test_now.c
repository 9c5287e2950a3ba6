/* test_now.c: a call provider that answers at once: by `now`, and by the `start` made of it. */
#include "utest.h"

#include "tests/unit/run_flow.h"

#define URI "mwl:provider.call/acme/quick/v1"
#define QUICK "'" URI "'"
#define DONE "'done':{'action':'Return'}"
#define CALLS(call, more) FLOW("'a':{'action':'Call','call':" call more ",'next':'done'}," DONE)

static const char document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" URI "\","
    "\"codePrefix\":\"Quick\",\"description\":\"Doubles a number.\","
    "\"parameters\":{\"type\":\"object\"},"
    "\"failureCatalog\":{\"closed\":[\"Provider.Call.Quick.NoNumber\"],\"open\":[]}}";

struct counts {
    mwl_run *cancels; /* it cancels this run */
    unsigned now, start;
};

static mwl_now_fn quick;
static int quick(mwl_heap *heap, mwl_value input, mwl_value args, mwl_value *out, void *user) {
    struct counts *c = user;
    c->now++;
    (void)args;
    if (c->cancels) mwl_run_cancel(c->cancels, "enough");
    if (mwl_value_kind(input) == MWL_KIND_NUMBER) {
        *out = mwl_number(2 * mwl_as_number(input));
        return MWL_NOW_SUCCEEDED;
    }
    if (mwl_value_kind(input) == MWL_KIND_NULL) return MWL_NOW_SUCCEEDED; /* without a value */
    if (mwl_value_kind(input) == MWL_KIND_ARRAY) {
        *out = mwl_value_keep(input); /* which is not used */
        return MWL_NOW_START;
    }
    const char *code = mwl_value_kind(input) == MWL_KIND_BOOL ? "Provider.Call.Other.Code"
                                                              : "Provider.Call.Quick.NoNumber";
    *out = mwl_failure(heap, NULL, code, "not a number", mwl_absent(), mwl_absent());
    return MWL_NOW_FAILED;
}

static void slowly(mwl_call *call, void *user) {
    ((struct counts *)user)->start++;
    mwl_call_succeed(call, mwl_string(mwl_call_heap(call), "started", 7));
}

struct now {
    flow f;
    struct counts counts;
    mwl_asm_provider doc;
};

static bool open_vm(struct now *n, bool with_start, bool hold, bool virtual_time) {
    memset(n, 0, sizeof *n);
    mwl_config c = mwl_config_default();
    c.virtual_time = virtual_time;
    c.hold = hold;
    mwl_error error = {MWL_OK, "", 0};
    const mwl_call_provider p = {
        .uri = URI, .document = document, .now = quick, .start = with_start ? slowly : NULL};
    n->doc = (mwl_asm_provider){URI, document, strlen(document)};
    bool good = mwl_vm_new(&c, &n->f.vm) == MWL_OK && mwl_std_register(n->f.vm, &error) == MWL_OK &&
                mwl_vm_provide(n->f.vm, &p, 1, &n->counts, &error) == MWL_OK;
    if (!good) fprintf(stderr, "%s\n", error.message);
    n->f.documents = &n->doc;
    n->f.n_documents = 1;
    return good;
}

static const char *run(struct now *n, const char *definition, const char *input) {
    mwl_program_release(n->f.program);
    n->f.program = NULL;
    return flow_load(&n->f, definition) ? flow_again(&n->f, input) : n->f.result;
}

static void hear(void *ctx, const mwl_trace_event *e) {
    if (e->kind == MWL_TRACE_CALL_DISPATCHED || e->kind == MWL_TRACE_CALL_ACCEPTED)
        ++*(unsigned *)ctx;
}

#define DOUBLE CALLS("{'provider':" QUICK "}", "")

UTEST(now, answers_without_a_start) {
    struct now n;
    ASSERT_TRUE(open_vm(&n, true, false, true));
    EXPECT_STREQ(run(&n, DOUBLE, "21"), "{'type':'success','value':42}");
    EXPECT_EQ(n.counts.now, 1u);
    EXPECT_EQ(n.counts.start, 0u);
    flow_close(&n.f);
}

UTEST(now, may_ask_for_its_start) {
    struct now n;
    ASSERT_TRUE(open_vm(&n, true, false, true));
    EXPECT_STREQ(run(&n, DOUBLE, "[1]"), "{'type':'success','value':'started'}");
    EXPECT_EQ(n.counts.start, 1u);
    flow_close(&n.f);
    ASSERT_TRUE(open_vm(&n, false, false, true));
    const char *result = run(&n, DOUBLE, "[1]");
    EXPECT_TRUE(strstr(result, "'code':'Mwlvm.NotSettled'") != NULL);
    flow_close(&n.f);
}

/* What it gives is checked as what a `start` settles with. */
UTEST(now, failures_are_checked) {
    for (int alone = 0; alone < 2; alone++) {
        struct now n;
        ASSERT_TRUE(open_vm(&n, !alone, false, true));
        EXPECT_TRUE(strstr(run(&n, DOUBLE, "'x'"), "'code':'Provider.Call.Quick.NoNumber'") !=
                    NULL);
        EXPECT_TRUE(strstr(run(&n, DOUBLE, "true"), "'code':'Mwlvm.ResultRefused'") != NULL);
        EXPECT_TRUE(strstr(run(&n, DOUBLE, "null"), "'code':'Mwlvm.ResultRefused'") != NULL);
        flow_close(&n.f);
    }
}

/* Where the call is recorded, the Result is the same: an arm, a listener, a VM that holds calls. */
UTEST(now, is_the_same_where_a_record_is_needed) {
    struct now n;
    ASSERT_TRUE(open_vm(&n, false, false, true));
    const char *arm = CALLS(
        "{'provider':" QUICK ",'onSuccess':{'value':'{{ [call.input, call.result.value] }}'}}", "");
    EXPECT_STREQ(run(&n, arm, "4"), "{'type':'success','value':[4,8]}");
    unsigned events = 0;
    mwl_vm_trace(n.f.vm, hear, &events);
    EXPECT_STREQ(run(&n, DOUBLE, "5"), "{'type':'success','value':10}");
    EXPECT_EQ(events, 2u);
    flow_close(&n.f);
    ASSERT_TRUE(open_vm(&n, false, true, true));
    ASSERT_TRUE(flow_load(&n.f, DOUBLE));
    ASSERT_TRUE(flow_start(&n.f, "6"));
    mwl_vm_pump(n.f.vm, MWL_NO_BUDGET);
    EXPECT_EQ(n.counts.now, 0u); /* held */
    EXPECT_EQ(mwl_run_get_state(n.f.run), MWL_RUN_PARKED);
    flow_close(&n.f);
}

UTEST(now, in_a_gather) {
    struct now n;
    ASSERT_TRUE(open_vm(&n, true, false, true));
    const char *fan =
        FLOW("'a':{'action':'Gather','over':'{{ step.input }}','call':{'provider':" QUICK
             "},'next':'done'}," DONE);
    EXPECT_STREQ(run(&n, fan, "[1,2,3]"), "{'type':'success','value':[2,4,6]}");
    EXPECT_EQ(n.counts.now, 3u);
    EXPECT_EQ(n.counts.start, 0u);
    EXPECT_TRUE(strstr(run(&n, fan, "[1,'x']"), "'type':'success'") == NULL);
    flow_close(&n.f);
}

#define LOOPS(around)                                                                              \
    CALLS("{'provider':" QUICK "}",                                                                \
          ",'middleware':[" around "{'provider':" LOOP                                             \
          ",'onSuccess':{'when':'{{ middleware.metadata.iteration < 1000000000 }}'}}]")

UTEST(now, a_cancellation_from_inside_takes_effect) {
    struct now n;
    ASSERT_TRUE(open_vm(&n, true, false, true));
    ASSERT_TRUE(flow_load(&n.f, LOOPS("")));
    ASSERT_TRUE(flow_start(&n.f, "0"));
    n.counts.cancels = n.f.run;
    mwl_vm_pump(n.f.vm, MWL_NO_BUDGET);
    flow_finish(&n.f);
    EXPECT_TRUE(strstr(n.f.result, "\"code\":\"System.Cancelled\"") != NULL);
    EXPECT_LE(n.counts.now, 2u);
    flow_close(&n.f);
}

UTEST(now, a_cancellation_between_pumps_takes_effect) {
    struct now n;
    ASSERT_TRUE(open_vm(&n, true, false, true));
    ASSERT_TRUE(flow_load(&n.f, LOOPS("")));
    ASSERT_TRUE(flow_start(&n.f, "0"));
    mwl_vm_pump_within(n.f.vm, MWL_NO_BUDGET, 5000);
    EXPECT_EQ(mwl_run_get_state(n.f.run), MWL_RUN_READY);
    const unsigned before = n.counts.now;
    EXPECT_GT(before, 100u);
    mwl_run_cancel(n.f.run, "enough");
    mwl_vm_pump(n.f.vm, MWL_NO_BUDGET);
    flow_finish(&n.f);
    EXPECT_TRUE(strstr(n.f.result, "\"code\":\"System.Cancelled\"") != NULL);
    EXPECT_EQ(n.counts.now, before);
    flow_close(&n.f);
}

/* A loop that would take minutes ends at its bound; test_timely measures when. */
UTEST(now, a_long_loop_ends_at_its_bound) {
    struct now n;
    ASSERT_TRUE(open_vm(&n, true, false, false));
    const char *bounded =
        LOOPS("{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT0.2S'}}},");
    EXPECT_TRUE(strstr(run(&n, bounded, "0"), "'code':'Provider.Middleware.Timeout.Exceeded'") !=
                NULL);
    EXPECT_GT(n.counts.now, 1u);
    flow_close(&n.f);
}

UTEST(now, a_long_loop_ends_with_its_fuel) {
    struct now n;
    ASSERT_TRUE(open_vm(&n, true, false, true));
    ASSERT_TRUE(flow_load(&n.f, LOOPS("")));
    mwl_limits limits = {.fuel = 100000};
    mwl_start start = {.input = mwl_number(0), .arguments = mwl_absent(), .limits = &limits};
    ASSERT_EQ(mwl_run_start(n.f.vm, n.f.program, &start, &n.f.run, NULL), MWL_OK);
    mwl_vm_pump(n.f.vm, MWL_NO_BUDGET);
    EXPECT_EQ(mwl_run_why(n.f.run), MWL_E_FUEL);
    flow_finish(&n.f);
    EXPECT_TRUE(strstr(n.f.result, "\"limit\":\"fuel\"") != NULL);
    EXPECT_GT(n.counts.now, 10000u);
    EXPECT_LT(n.counts.now, 50000u);
    flow_close(&n.f);
}

/* Runs a loop with so much fuel, in turns of `slice`. Returns its Result, or NULL. */
static const char *loop_within(struct now *n, const char *when, uint64_t fuel, int64_t slice) {
    char text[1024];
    snprintf(text, sizeof text,
             CALLS("{'provider':" QUICK "}",
                   ",'middleware':[{'provider':" LOOP ",'onSuccess':{'when':'{{ %s }}'}}]"),
             when);
    mwl_limits limits = {.fuel = fuel};
    mwl_start start = {.input = mwl_number(1), .arguments = mwl_absent(), .limits = &limits};
    n->counts.now = 0;
    if (!flow_load(&n->f, text) ||
        mwl_run_start(n->f.vm, n->f.program, &start, &n->f.run, NULL) < 0)
        return NULL;
    while (mwl_run_get_state(n->f.run) == MWL_RUN_READY)
        (void)mwl_vm_pump_within(n->f.vm, MWL_NO_BUDGET, slice);
    flow_finish(&n->f);
    mwl_program_release(n->f.program);
    n->f.program = NULL;
    return n->f.result;
}

/* A count that is compared in one instruction, and one that an expression compares: with any fuel
 * and in turns of any length the same calls are made, and the same is charged for them. */
UTEST(now, a_loop_costs_the_same_however_it_counts) {
    static const char *const ways[] = {"middleware.metadata.iteration < 4",
                                       "middleware.metadata.iteration < 3.5",
                                       "middleware.metadata.iteration < 4.0"};
    struct now n;
    ASSERT_TRUE(open_vm(&n, true, false, true));
    bool ended = false;
    for (uint64_t fuel = 1; fuel < 40; fuel++) {
        char wanted[sizeof n.f.result];
        const char *got = loop_within(&n, "middleware.metadata.iteration <= 3.0", fuel, 1000);
        ASSERT_TRUE(got != NULL);
        snprintf(wanted, sizeof wanted, "%s", got);
        const unsigned calls = n.counts.now;
        ended = strcmp(wanted, "{\"type\":\"success\",\"value\":16}") == 0;
        if (ended) EXPECT_EQ(calls, 4u);
        for (size_t i = 0; i < 3 * 8; i++) {
            EXPECT_STREQ(loop_within(&n, ways[i % 3], fuel, 1 + (int64_t)(i / 3)), wanted);
            EXPECT_EQ(n.counts.now, calls);
        }
    }
    EXPECT_TRUE(ended);
    flow_close(&n.f);
}

UTEST(now, a_provider_needs_one_of_the_three) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    const mwl_call_provider none = {.uri = URI, .document = document};
    mwl_error error = {MWL_OK, "", 0};
    EXPECT_EQ(mwl_vm_provide(f.vm, &none, 1, NULL, &error), MWL_E_USAGE);
    flow_close(&f);
}

UTEST_MAIN()
