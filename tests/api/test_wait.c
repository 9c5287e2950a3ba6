/* test_wait.c: a middleware waits at onEntry, is woken, and gives back what it holds when it is
 * left, however that happens. */
#include "utest.h"

#include "mwl_provider.h"
#include "tests/unit/run_flow.h"

#define S INT64_C(1000000000)
#define GATE_URI "mwl:provider.middleware/acme/gate/v1"
#define GATE "'" GATE_URI "'"
#define DONE "'done':{'action':'Return'}"
#define GATED(outer)                                                                               \
    FLOW("'a':{'action':'Call','middleware':[" outer "{'provider':" GATE "}],'call':{'provider'"   \
         ":" MOCK ",'with':{'delay':'PT10S','value':'made'}},'next':'done'}," DONE)

/* One at a time; others wait until they are woken, or poll. */
static struct {
    int64_t poll_ns; /* MWL_NEVER: they are woken */
    bool taken;
    mwl_waiter *waiter; /* of the last one that waits */
    mwl_run *run;
    int asked, left, waits;
    bool stay; /* nobody gets in */
} gate;

static void gate_entry(mwl_phase *phase, void *user) {
    (void)user;
    gate.asked++;
    gate.run = mwl_phase_run(phase);
    bool mine = !gate.taken && !gate.stay;
    mwl_phase_set_state(phase, mwl_bool(mine));
    if (mine) {
        gate.taken = true;
        return;
    }
    gate.waits++;
    gate.waiter = mwl_phase_waiter(phase);
    mwl_phase_wait(phase, gate.poll_ns);
}

static void gate_left(mwl_value state, void *user) {
    (void)user;
    gate.left++;
    if (!mwl_as_bool(state)) return;
    gate.taken = false;
    if (gate.waiter) mwl_waiter_wake(gate.waiter);
}

static const char gate_doc[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" GATE_URI
    "\",\"codePrefix\":\"Gate\",\"description\":\"One at a time.\",\"attachment\":[\"step\"],"
    "\"phases\":{\"onEntry\":{\"action\":{\"kind\":\"control\",\"description\":\"Waits.\"}}},"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";
static const mwl_middleware gate_middleware = {
    .uri = GATE_URI, .document = gate_doc, .entry = gate_entry, .left = gate_left};
static const mwl_asm_provider gate_document = {GATE_URI, gate_doc, sizeof gate_doc - 1};

static bool open_gate(flow *f, const char *definition, int64_t poll_ns) {
    memset(&gate, 0, sizeof gate);
    gate.poll_ns = poll_ns;
    if (!flow_vm(f, 1)) return false;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status st = mwl_vm_provide_middleware(f->vm, &gate_middleware, 1, NULL, &error);
    if (st < 0) fprintf(stderr, "%s\n", error.message);
    f->documents = &gate_document;
    f->n_documents = 1;
    return st == MWL_OK && flow_load(f, definition);
}

static int64_t now_ns(flow *f) {
    mwl_instant now;
    mwl_vm_now(f->vm, &now);
    return now.mono_ns;
}

/* Two runs of the program, to their ends. */
static bool run_two(flow *f, mwl_run *runs[2]) {
    for (int i = 0; i < 2; i++)
        if (mwl_run_start(f->vm, f->program, NULL, &runs[i], NULL) < 0) return false;
    for (int i = 0; i < 1000; i++) {
        if (mwl_run_get_state(runs[0]) >= MWL_RUN_DONE &&
            mwl_run_get_state(runs[1]) >= MWL_RUN_DONE)
            return true;
        mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    }
    return false;
}

UTEST(wait, the_second_is_woken_when_the_first_is_left) {
    flow f;
    mwl_run *runs[2] = {NULL, NULL};
    ASSERT_TRUE(open_gate(&f, GATED(""), MWL_NEVER));
    int64_t before = now_ns(&f);
    ASSERT_TRUE(run_two(&f, runs));
    EXPECT_EQ(now_ns(&f) - before, 20 * S); /* one after the other */
    EXPECT_EQ(gate.asked, 3);
    EXPECT_EQ(gate.left, 2);
    EXPECT_TRUE(mwl_run_succeeded(runs[0]) && mwl_run_succeeded(runs[1]));
    for (int i = 0; i < 2; i++) mwl_run_free(runs[i]);
    flow_close(&f);
}

UTEST(wait, it_ends_by_itself) {
    flow f;
    mwl_run *runs[2] = {NULL, NULL};
    ASSERT_TRUE(open_gate(&f, GATED(""), 3 * S));
    int64_t before = now_ns(&f);
    ASSERT_TRUE(run_two(&f, runs)); /* asks at 0, 3, 6, 9 seconds; then it is woken at 10 */
    EXPECT_EQ(now_ns(&f) - before, 20 * S);
    EXPECT_EQ(gate.asked, 6);
    for (int i = 0; i < 2; i++) mwl_run_free(runs[i]);
    flow_close(&f);
}

UTEST(wait, a_bound_outside_interrupts_it) {
    flow f;
    ASSERT_TRUE(open_gate(
        &f, GATED("{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT4S'}}},"), MWL_NEVER));
    gate.stay = true;
    EXPECT_TRUE(strstr(flow_again(&f, "null"), "Timeout.Exceeded") != NULL);
    EXPECT_EQ(f.took_ns, 4 * S);
    EXPECT_EQ(gate.asked, 1);
    EXPECT_EQ(gate.left, 1);
    flow_close(&f);
}

UTEST(wait, an_outer_retry_enters_anew) {
    flow f;
    ASSERT_TRUE(open_gate(&f,
                          GATED("{'provider':" RETRY ",'onEntry':{'with':{'policies':[{'match':"
                                "{'codes':['*']},'attempts':3}]}}},{'provider':" TIMEOUT
                                ",'onEntry':{'with':{'duration':'PT4S'}}},"),
                          MWL_NEVER));
    gate.stay = true;
    flow_again(&f, "null");
    EXPECT_EQ(f.took_ns, 12 * S);
    EXPECT_EQ(gate.asked, 3);
    EXPECT_EQ(gate.left, 3);
    flow_close(&f);
}

/* What ends a run from outside while it waits: 0 cancel, 1 abort, 2 free. */
static void end_from_outside(int *utest_result, int how) {
    flow f;
    mwl_run *run = NULL;
    ASSERT_TRUE(open_gate(&f, GATED(""), how == 0 ? MWL_NEVER : 5 * S));
    gate.stay = true;
    ASSERT_EQ((int)mwl_run_start(f.vm, f.program, NULL, &run, NULL), (int)MWL_OK);
    mwl_vm_pump(f.vm, 0);
    EXPECT_EQ(gate.waits, 1);
    EXPECT_TRUE(gate.run == run);
    EXPECT_EQ((int)mwl_run_get_state(run), (int)MWL_RUN_PARKED);
    if (how == 0) {
        mwl_run_cancel(run, "enough");
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        EXPECT_EQ((int)mwl_run_get_state(run), (int)MWL_RUN_DONE);
    } else if (how == 1) {
        mwl_run_abort(run);
    }
    mwl_run_free(run);
    EXPECT_EQ(gate.asked, 1);
    EXPECT_EQ(gate.left, 1);
    flow_close(&f);
}

UTEST(wait, cancel) { end_from_outside(utest_result, 0); }
UTEST(wait, abort_of_the_run) { end_from_outside(utest_result, 1); }
UTEST(wait, free_of_the_run) { end_from_outside(utest_result, 2); }

/* An abort of the run inside gives the gate back, so that the one that waits goes on. */
UTEST(wait, an_aborted_holder_wakes_the_next) {
    flow f;
    mwl_run *runs[2];
    ASSERT_TRUE(open_gate(&f, GATED(""), MWL_NEVER));
    for (int i = 0; i < 2; i++)
        ASSERT_EQ((int)mwl_run_start(f.vm, f.program, NULL, &runs[i], NULL), (int)MWL_OK);
    mwl_vm_pump(f.vm, 0);
    mwl_vm_pump(f.vm, 0);
    EXPECT_EQ(gate.waits, 1);
    mwl_run_abort(runs[0]);
    for (int i = 0; i < 100 && mwl_run_get_state(runs[1]) < MWL_RUN_DONE; i++)
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_run_succeeded(runs[1]));
    EXPECT_EQ(gate.left, 2);
    for (int i = 0; i < 2; i++) mwl_run_free(runs[i]);
    flow_close(&f);
}

UTEST_MAIN()
