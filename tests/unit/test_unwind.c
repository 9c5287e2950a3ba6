/* An interruption may come between any two instructions: in the fields of a dispatch, in a wait, in
 * an arm, in a cleanup. In every case the run ends, every provider execution settles or is asked to
 * stop, and nothing is left. */
#include "tests/unit/run_flow.h"
#include "utest.h"

#include "mwl_provider.h"

#define PROBE_URI "mwl:provider.call/acme/probe/v1"
#define PROBE "'" PROBE_URI "'"
#define S INT64_C(1000000000)

typedef struct probe {
    uint32_t started, ended, told;
} probe;

static void probe_start(mwl_call *call, void *user) {
    ((probe *)user)->started++;
    mwl_call_wake_after(call, S);
}

static void probe_wake(mwl_call *call, void *user) {
    ((probe *)user)->ended++;
    mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
}

static void probe_cancel(mwl_call *call, void *user) {
    ((probe *)user)->told++;
    mwl_call_succeed(call, mwl_null());
}

static const char probe_doc[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" PROBE_URI
    "\",\"codePrefix\":\"Probe\","
    "\"description\":\"Waits a second.\",\"parameters\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\"}}},"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";
static const mwl_call_provider probe_provider = {.uri = PROBE_URI,
                                                 .document = probe_doc,
                                                 .start = probe_start,
                                                 .wake = probe_wake,
                                                 .cancel = probe_cancel};

/* Fan-out under a cap with computed arguments and arms; in each dispatch a retried call with a
 * bound and a cleanup that has a stack of its own; around all of it a bound, a cleanup and a Loop.
 */
static const char rich[] =
    "{'$schema':'https://mwl.dev/v0.1/flow/schema.json','entrypoint':'g',"
    "'parameters':{'type':'object','properties':{'n':{'type':'number','default':0}}},"
    "'middleware':[{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT1M'}}},"
    "{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" PROBE
    "}},'assign':{'last':'{{ middleware.result }}'}}},"
    "{'provider':" LOOP
    ",'onSuccess':{'when':'{{ middleware.metadata.iteration < 2.0 }}','assign':{'n':'{{ vars.n + 1.0 }}'}}}],"
    "'steps':{'g':{'action':'Gather','over':'{{ [1.0, 2.0, 3.0] }}','concurrency':2,"
    "'call':{'flow':'One','input':'{{ [call.input, call.index].map(x, x * 2.0) }}','with':{'k':'{{ call.index + 1.0 }}'},"
    "'onSuccess':{'value':'{{ [call.result.value, flow.vars.k] }}','assign':{'n':'{{ vars.n + call.index }}'}}},"
    "'next':'s'},'s':{'action':'Sleep','for':'PT1S','next':'m'},"
    "'m':{'action':'Match','cases':[{'when':'{{ size(match.input) > 9 }}','next':'r'}],'default':{'next':'r'}},"
    "'r':{'action':'Return'}},"
    "'flows':{'One':{'parameters':{'type':'object','properties':{'k':{'type':'number'}}},'entrypoint':'c','steps':{"
    "'c':{'action':'Call','call':{'provider':" PROBE ",'with':{'n':'{{ vars.k }}'},"
    "'onSuccess':{'value':'{{ vars.k < 1.5 && !has(vars.again) ? [1.0][int(vars.k)] : vars.k }}'}},"
    "'middleware':[{'provider':" RETRY
    ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},'attempts':2,"
    "'backoff':{'initial':'PT2S'}}]}},'onFailure':{'assign':{'again':true}}},"
    "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT30S'}}},"
    "{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" PROBE ",'with':{'n':1}},"
    "'middleware':[{'provider':" TIMEOUT
    ",'onEntry':{'with':{'duration':'PT5S'}}}]}}}],'next':'d'},"
    "'d':{'action':'Return'}}}}}";

typedef enum stop { NOT, CANCEL, ABORT, FREE } stop;

static bool open_vm(flow *f, probe *p, uint64_t fuel) {
    memset(f, 0, sizeof *f);
    memset(p, 0, sizeof *p);
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    c.seed = 7;
    c.slice = 1;
    c.limits.fuel = fuel;
    mwl_error error = {MWL_OK, "", 0};
    static const mwl_asm_provider document[1] = {{PROBE_URI, probe_doc, sizeof probe_doc - 1}};
    f->documents = document;
    f->n_documents = 1;
    return mwl_vm_new(&c, &f->vm) == MWL_OK && mwl_std_add(f->vm, MWL_STD_ALL, &error) == MWL_OK &&
           mwl_vm_provide(f->vm, &probe_provider, 1, p, &error) == MWL_OK && flow_load(f, rich);
}

/* One slice, or a step to the next timer. False: nothing is left to do. */
static bool turn(flow *f) {
    int64_t next = mwl_vm_pump(f->vm, 0);
    if (next == MWL_NEVER) return false;
    mwl_instant now;
    mwl_vm_now(f->vm, &now);
    if (next > now.mono_ns) mwl_vm_pump(f->vm, next - now.mono_ns);
    return mwl_run_get_state(f->run) < MWL_RUN_DONE;
}

/* Stops it after `turns` turns. Returns false if it was done before. */
static bool stop_at(flow *f, stop how, uint32_t turns) {
    for (uint32_t i = 0; i < turns; i++)
        if (!turn(f)) return false;
    if (how == CANCEL) mwl_run_cancel(f->run, "enough");
    if (how == ABORT) mwl_run_abort(f->run);
    if (how == FREE) {
        mwl_run_free(f->run);
        f->run = NULL;
    }
    return true;
}

static void sweep(int *utest_result, stop how, uint32_t stride) {
    flow f;
    probe p;
    ASSERT_TRUE(open_vm(&f, &p, 0));
    flow_again(&f,
               "{}"); /* after one run and a cancelled one, the VM has everything that it keeps */
    ASSERT_TRUE(flow_start(&f, "{}"));
    (void)stop_at(&f, CANCEL, 60);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    flow_finish(&f);
    size_t used = mwl_heap_used(mwl_vm_heap(f.vm));
    bool more = true;
    uint32_t at = 0;
    for (; more; at += stride) {
        memset(&p, 0, sizeof p);
        ASSERT_TRUE(flow_start(&f, "{}"));
        more = stop_at(&f, how, at);
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        if (f.run && how != ABORT) ASSERT_EQ((int)mwl_run_get_state(f.run), (int)MWL_RUN_DONE);
        if (f.run) flow_finish(&f);
        if (how == CANCEL && more) ASSERT_TRUE(strstr(f.result, "System.Cancelled") != NULL);
        ASSERT_EQ(p.started, p.ended + p.told);
        ASSERT_EQ(mwl_heap_used(mwl_vm_heap(f.vm)), used);
    }
    EXPECT_GT(at, 100u); /* it was stopped in the middle of its work */
    flow_close(&f);
}

UTEST(unwind, cancelled_between_any_two_instructions) { sweep(utest_result, CANCEL, 1); }
UTEST(unwind, aborted_between_any_two_instructions) { sweep(utest_result, ABORT, 1); }
UTEST(unwind, freed_between_any_two_instructions) { sweep(utest_result, FREE, 1); }

/* Fuel may run out inside an expression, where a slice does not end. */
UTEST(unwind, out_of_fuel_anywhere) {
    for (uint64_t fuel = 1; fuel < 4000; fuel += 1 + fuel / 64) {
        flow f;
        probe p;
        ASSERT_TRUE(open_vm(&f, &p, fuel));
        ASSERT_TRUE(flow_start(&f, "{}"));
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        ASSERT_GE((int)mwl_run_get_state(f.run), (int)MWL_RUN_DONE);
        ASSERT_EQ(p.started, p.ended + p.told);
        flow_close(&f);
    }
}

UTEST_MAIN()
