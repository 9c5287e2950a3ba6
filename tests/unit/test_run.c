/* A run's life as its host sees it: limits of its own. */
#include "run_flow.h"
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

/* The arguments of a new run are validated with that run's fuel, not with what another has left. */
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

/* Fuel that runs out while arguments are validated is a limit, not an argument's fault. */
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

UTEST_MAIN()
