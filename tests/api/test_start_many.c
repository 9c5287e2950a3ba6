/* test_start_many.c: mwl_run_start_many: one run for each input, in their order; where one input is
 * refused or memory runs out, the runs before it exist and nothing else does. */
#include "utest.h"

#include "tests/unit/faulty.h"
#include "tests/unit/run_flow.h"

static const char doubles[] =
    FLOW("'a':{'action':'Pass','output':'{{ step.input * 2.0 }}','next':'z'},"
         "'z':{'action':'Return'}");
static const char draws[] = FLOW(
    "'a':{'action':'Call','call':{'provider':" MOCK
    ",'with':{'failure':{'code':'A.B'}}},'middleware':[{'provider':" RETRY
    ",'onEntry':{'with':{'policies':[{'match':{'codes':['A.*']},'attempts':2,'backoff':{'initial':'PT100S','jitter':'full'}}]}}}],"
    "'catch':[{'match':{'codes':['*']},'next':'z'}],'next':'z'},"
    "'z':{'action':'Return','value':'{{ execution.id }}'}");

enum { N = 5000 };

UTEST(start_many, one_run_for_each_input) {
    flow f;
    static mwl_value inputs[N];
    static mwl_run *runs[N];
    size_t n_started = 7;
    ASSERT_TRUE(flow_vm(&f, 1) && flow_load(&f, doubles));
    for (size_t i = 0; i < N; i++) inputs[i] = mwl_number((double)i);
    ASSERT_EQ((int)mwl_run_start_many(f.vm, f.program, NULL, inputs, N, runs, &n_started, NULL),
              (int)MWL_OK);
    EXPECT_EQ(n_started, (size_t)N);
    EXPECT_EQ((int)mwl_run_get_state(runs[N - 1]), (int)MWL_RUN_READY);
    EXPECT_TRUE(mwl_vm_pump(f.vm, MWL_NO_BUDGET) == MWL_NEVER);
    for (size_t i = 0; i < N; i++) {
        ASSERT_TRUE(mwl_run_succeeded(runs[i]));
        ASSERT_EQ(mwl_as_number(mwl_run_value(runs[i])), (double)i * 2);
        mwl_run_free(runs[i]);
    }
    EXPECT_EQ((int)mwl_run_start_many(f.vm, f.program, NULL, NULL, 0, NULL, &n_started, NULL),
              (int)MWL_OK);
    EXPECT_EQ(n_started, 0u);
    flow_close(&f);
}

/* The same ids and seeds as runs that are started one by one. */
static int64_t ends_at(flow *f, uint64_t seed) {
    mwl_start start = {.seed = seed};
    mwl_instant before, now;
    mwl_run *run = NULL;
    mwl_vm_now(f->vm, &before);
    if (mwl_run_start(f->vm, f->program, &start, &run, NULL) < 0) return -1;
    while (mwl_run_get_state(run) < MWL_RUN_DONE) mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    mwl_vm_now(f->vm, &now);
    mwl_run_free(run);
    return now.mono_ns - before.mono_ns;
}

static void note_end(void *ctx, mwl_run *run) {
    int64_t *took = mwl_run_user(run);
    mwl_instant now;
    mwl_vm_now(ctx, &now);
    *took = now.mono_ns;
}

UTEST(start_many, seeds_follow_each_other) {
    flow f;
    mwl_value inputs[4] = {{0}};
    mwl_run *runs[4];
    int64_t one_by_one[4], took[4];
    size_t n_started;
    ASSERT_TRUE(flow_vm(&f, 1) && flow_load(&f, draws));
    for (uint64_t i = 0; i < 4; i++) one_by_one[i] = ends_at(&f, 40 + i);
    mwl_instant begin;
    mwl_vm_now(f.vm, &begin);
    mwl_start start = {.seed = 40, .done = note_end, .done_ctx = f.vm};
    ASSERT_EQ((int)mwl_run_start_many(f.vm, f.program, &start, inputs, 4, runs, &n_started, NULL),
              (int)MWL_OK);
    for (size_t i = 0; i < 4; i++) mwl_run_set_user(runs[i], &took[i]);
    while (mwl_vm_pump(f.vm, MWL_NO_BUDGET) != MWL_NEVER) {
    }
    for (size_t i = 0; i < 4; i++) {
        EXPECT_EQ(took[i] - begin.mono_ns, one_by_one[i]);
        EXPECT_TRUE(i == 0 || one_by_one[i] != one_by_one[i - 1]);
        for (size_t k = 0; k < i; k++)
            EXPECT_FALSE(mwl_value_equal(mwl_run_value(runs[i]), mwl_run_value(runs[k])));
    }
    for (size_t i = 0; i < 4; i++) mwl_run_free(runs[i]);
    flow_close(&f);
}

UTEST(start_many, an_input_that_is_refused) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1) && flow_load(&f, doubles));
    mwl_value inputs[] = {mwl_number(1), mwl_number(2), mwl_duration(1), mwl_number(3)};
    mwl_run *runs[4];
    size_t n_started;
    mwl_error error = {MWL_OK, "", 0};
    EXPECT_EQ((int)mwl_run_start_many(f.vm, f.program, NULL, inputs, 4, runs, &n_started, &error),
              (int)MWL_E_NOT_JSON);
    ASSERT_EQ(n_started, 2u);
    EXPECT_TRUE(strstr(error.message, "the input") != NULL);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    for (size_t i = 0; i < n_started; i++) {
        EXPECT_TRUE(mwl_run_succeeded(runs[i]));
        mwl_run_free(runs[i]);
    }
    flow_close(&f);
}

UTEST(start_many, wrong_use) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1) && flow_load(&f, doubles));
    mwl_value input = mwl_number(1);
    mwl_run *run;
    size_t n = 9;
    mwl_start with_id = {.id = "x"}, with_input = {.input = mwl_null()};
    EXPECT_EQ((int)mwl_run_start_many(NULL, f.program, NULL, &input, 1, &run, &n, NULL),
              (int)MWL_E_USAGE);
    EXPECT_EQ(n, 0u);
    EXPECT_EQ((int)mwl_run_start_many(f.vm, NULL, NULL, &input, 1, &run, &n, NULL),
              (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_start_many(f.vm, f.program, NULL, NULL, 1, &run, &n, NULL),
              (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_start_many(f.vm, f.program, NULL, &input, 1, NULL, &n, NULL),
              (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_start_many(f.vm, f.program, NULL, &input, 1, &run, NULL, NULL),
              (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_start_many(f.vm, f.program, &with_id, &input, 1, &run, &n, NULL),
              (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_start_many(f.vm, f.program, &with_input, &input, 1, &run, &n, NULL),
              (int)MWL_E_USAGE);
    flow_close(&f);
}

/* ---- memory that runs out -------------------------------------------------------------------- */

static mwl_program *program;

static bool start_them(mwl_alloc alloc) {
    enum { FEW = 100 };
    mwl_config config = mwl_config_default();
    config.alloc = alloc;
    config.virtual_time = true;
    mwl_vm *vm = NULL;
    if (mwl_vm_new(&config, &vm) < 0) return false;
    mwl_value inputs[FEW];
    mwl_run *runs[FEW];
    size_t n_started = 0, n_good = 0;
    for (size_t i = 0; i < FEW; i++) inputs[i] = mwl_number((double)i);
    mwl_status status = MWL_E_NOMEM;
    if (mwl_std_register(vm, NULL) == MWL_OK)
        status = mwl_run_start_many(vm, program, NULL, inputs, FEW, runs, &n_started, NULL);
    if (status != MWL_OK && status != MWL_E_NOMEM) abort();
    if ((n_started == FEW) != (status == MWL_OK)) abort();
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    for (size_t i = 0; i < n_started; i++) {
        n_good += mwl_run_succeeded(runs[i]);
        mwl_run_free(runs[i]);
    }
    mwl_vm_free(vm);
    return n_good == FEW;
}

UTEST(start_many, allocation_failures) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1) && flow_load(&f, doubles));
    program = f.program;
    EXPECT_TRUE(faulty_sweep(start_them, 20000));
    flow_close(&f);
}

UTEST_MAIN()
