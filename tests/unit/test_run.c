/* The life of a run as its host sees it: its own limits, and the memory that it holds while it
 * runs. */
#include "tests/unit/faulty.h"
#include "tests/unit/run_flow.h"
#include "utest.h"

static const char checked[] = FLOW_WITH(
    "'parameters':{'type':'object','properties':{'x':{'type':'array','items':{'type':'number','minimum':0}}}},",
    "'a':{'action':'Return','value':'{{ size(vars.x) }}'}");

static void run_with(flow *f, const mwl_limits *limits, int n) {
    mwl_heap *h = mwl_vm_heap(f->vm);
    mwl_value list = mwl_array(h, 0);
    for (int i = 0; i < n; i++) list = mwl_array_push(h, list, mwl_number(i));
    mwl_start start;
    memset(&start, 0, sizeof start);
    start.arguments = mwl_object_set(h, mwl_object(h, 1), "x", 1, list);
    start.limits = limits;
    if (mwl_run_start(f->vm, f->program, &start, &f->run, NULL) == MWL_OK) {
        mwl_vm_pump(f->vm, MWL_NO_BUDGET);
        flow_finish(f);
    }
    mwl_value_drop(h, start.arguments);
}

/* The arguments of a new run are validated with the fuel of that run, not with that of another. */
UTEST(run, fuel_is_its_own) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(&f, checked));
    for (uint64_t fuel = 1; fuel < 100; fuel++) {
        mwl_limits few, enough;
        memset(&few, 0, sizeof few);
        few.fuel = fuel;
        run_with(&f, &few, 1);
        enough = few;
        enough.fuel = 100000;
        run_with(&f, &enough, 500);
        ASSERT_STREQ(f.result, "{\"type\":\"success\",\"value\":500}");
    }
    flow_close(&f);
}

/* If fuel runs out while arguments are validated, the run has reached its limit; the argument was
 * not refused. */
UTEST(run, validation_that_costs_too_much) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(&f, checked));
    mwl_limits few;
    memset(&few, 0, sizeof few);
    few.fuel = 100;
    run_with(&f, &few, 500);
    EXPECT_TRUE(strstr(f.result, "System.Cancelled") != NULL);
    flow_close(&f);
}

/* Returns the most bytes that the definition held at one time, as the allocator counted, beyond
 * those of an idle VM. */
static size_t peak(const char *definition, const char *input) {
    struct faulty memory;
    memset(&memory, 0, sizeof memory);
    flow f;
    memset(&f, 0, sizeof f);
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    c.alloc = (mwl_alloc){faulty_fn, &memory};
    size_t idle = 0;
    if (mwl_vm_new(&c, &f.vm) == MWL_OK && mwl_std_add(f.vm, MWL_STD_ALL, NULL) == MWL_OK &&
        flow_load(&f, definition)) {
        idle = memory.peak_bytes = memory.live_bytes;
        flow_again(&f, input);
    }
    if (!strstr(f.result, "success")) fprintf(stderr, "%s\n", f.result);
    flow_close(&f);
    return memory.peak_bytes - idle;
}

static const char looping[] = FLOW(
    "'a':{'action':'Call','call':{'provider':" MOCK "},'middleware':[{'provider':" LOOP
    ",'onSuccess':{'when':'{{ middleware.metadata.iteration < step.input }}',"
    "'assign':{'last':'{{ [middleware.result.value] }}'}}}],'next':'b'},'b':{'action':'Return'}");

UTEST(run, a_loop_holds_the_same_however_long) {
    size_t few = peak(looping, "100"), many = peak(looping, "100000");
    EXPECT_LE(many, few + 1024);
}

/* A fan-out of n under a cap: slots and Results for all, frames for the few that run. */
static const char fanning[] = FLOW(
    "'a':{'action':'Gather','over':'{{ lists.range(int(step.input)) }}','concurrency':10,'call':{'flow':{"
    "'entrypoint':'s','steps':{'s':{'action':'Sleep','for':'PT1S','next':'r'},'r':{'action':'Return','value':1}}}},"
    "'output':'done','next':'b'},'b':{'action':'Return'}");

UTEST(run, a_capped_fan_out_holds_slots_not_frames) {
    const size_t few = 1000, many = 21000;
    size_t each = (peak(fanning, "21000") - peak(fanning, "1000")) / (many - few);
    EXPECT_LE(each, 128u); /* a frame alone is more */
}

/* spec: step-actions, Sleep: the Step completes at that instant. One that the clock cannot count
 * never comes: nothing ends early. DECISIONS.md 17. */
UTEST(run, what_is_beyond_the_clock_never_comes) {
    static const char *const waits[] = {"'until':'9999-12-31T23:59:59Z'", "'for':'P300Y'",
                                        "'until':'9999-12-31T23:59:59-01:00'",
                                        "'until':'2262-04-12T00:00:00Z'"};
    for (size_t i = 0; i < sizeof waits / sizeof *waits; i++) {
        flow f;
        char text[400];
        snprintf(text, sizeof text,
                 FLOW("'a':{'action':'Sleep',%s,'next':'z'},'z':{'action':'Return'}"), waits[i]);
        ASSERT_TRUE(flow_vm(&f, 1));
        ASSERT_TRUE(flow_load(&f, text));
        ASSERT_TRUE(flow_start(&f, "null"));
        EXPECT_EQ(mwl_vm_pump(f.vm, MWL_NO_BUDGET), MWL_NEVER);
        EXPECT_EQ(mwl_run_get_state(f.run), MWL_RUN_PARKED);
        flow_close(&f);
    }
}

UTEST_MAIN()
