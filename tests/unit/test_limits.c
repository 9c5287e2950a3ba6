/* test_limits.c: the limits of a run, each at the limit and one over; mwl_run_abort; and where a
 * limit or a bound meets work in the middle. */
#include "tests/unit/run_flow.h"
#include "utest.h"
#include "vm/machine/invariant.h"
#include "vm/machine/state.h"
#include "vm/machine/timer.h"

#define SUCCESS(value) "{'type':'success','value':" value "}"
#define LIMIT(which, message)                                                                      \
    "{'code':'System.Cancelled','details':{'limit':'" which "'},'message':'" message               \
    "','type':'cancellation'}"
#define MEMORY_LIMIT LIMIT("memory", "the run used up its memory")
#define DEPTH_LIMIT LIMIT("depth", "the run is nested too deeply")
#define FUEL_LIMIT LIMIT("fuel", "the run used up its fuel")
#define DONE "'z':{'action':'Return'}"
#define SPIN                                                                                       \
    "{{ [1,2,3,4,5,6,7,8,9].all(x, [1,2,3,4,5,6,7,8,9].all(y, [1,2,3,4,5,6,7,8,9].all(w, w < 10))) }}"

static unsigned dispatched; /* calls of the last run */
static void count_dispatched(void *ctx, const mwl_trace_event *e) {
    (void)ctx;
    dispatched += e->kind == MWL_TRACE_CALL_DISPATCHED;
}

static uint32_t slice; /* of the VM; 0: the default */

static const char *with_limits(flow *f, const char *definition, mwl_limits limits,
                               mwl_status *why) {
    mwl_config c = mwl_config_default();
    mwl_error error = {MWL_OK, "", 0};
    memset(f, 0, sizeof *f);
    c.virtual_time = true;
    c.seed = 7;
    c.limits = limits;
    c.slice = slice;
    *why = MWL_OK;
    if (mwl_vm_new(&c, &f->vm) < 0 || mwl_std_add(f->vm, MWL_STD_ALL, &error) < 0) return "no VM";
    dispatched = 0;
    mwl_vm_trace(f->vm, count_dispatched, NULL);
    if (flow_load(f, definition) && flow_start(f, "[]")) {
        mwl_vm_pump(f->vm, MWL_NO_BUDGET);
        *why = mwl_run_why(f->run);
        const char *broken = mwl__invariant_broken(f->run);
        flow_finish(f);
        if (broken) snprintf(f->result, sizeof f->result, "broken: %s", broken);
    }
    for (char *p = f->result; *p; p++)
        if (*p == '"') *p = '\'';
    flow_close(f);
    return f->result;
}

/* ---- fuel, memory ---------------------------------------------------------------------------- */

static const char busy[] =
    FLOW("'a':{'action':'Pass','output':'{{ [1,2,3].map(x, x * 2) }}','next':'z'}," DONE);

/* The smallest limit with which the Flow succeeds, found by halving. */
static uint64_t least(const char *definition, bool fuel, uint64_t low, uint64_t high) {
    flow f;
    mwl_status why;
    while (high - low > (fuel ? 1u : 16u)) {
        uint64_t mid = low + (high - low) / 2;
        mwl_limits l = {0};
        if (fuel)
            l.fuel = mid;
        else
            l.memory_bytes = (size_t)mid;
        if (strncmp(with_limits(&f, definition, l, &why), "{'type':'success'", 17) == 0)
            high = mid;
        else
            low = mid;
    }
    return high;
}

UTEST(limits, fuel) {
    flow f;
    mwl_status why;
    uint64_t n = least(busy, true, 1, 100000);
    EXPECT_GT(n, 5u);
    EXPECT_STREQ(with_limits(&f, busy, (mwl_limits){.fuel = n}, &why), SUCCESS("[2,4,6]"));
    EXPECT_EQ(why, MWL_OK);
    EXPECT_STREQ(with_limits(&f, busy, (mwl_limits){.fuel = n - 1}, &why), FUEL_LIMIT);
    EXPECT_EQ(why, MWL_E_FUEL);
}

/* The fuel that a run uses does not depend on how its work is divided into turns. The Flow checks
 * arguments, calls functions, compares values, walks lists and makes calls that settle at once. */
UTEST(limits, fuel_is_counted_alike_in_turns_of_any_length) {
    static const char *const flows[] = {
        FLOW_WITH(
            "'flows':{'F':{'parameters':{'type':'object','properties':{'l':{'type':'array','uniqueItems':true,"
            "'items':{'type':'number','minimum':0}}}},'entrypoint':'a','steps':{'a':{'action':'Return'}}}},",
            "'a':{'action':'Call','call':{'flow':'F','with':{'l':'{{ [1,2,3,4,5,6,7,8,9,10,11,12] }}'}},"
            "'next':'z'}," DONE),
        FLOW(
            "'a':{'action':'Pass','output':'{{ [[1,2],[3]].map(x, x + x) == [[1,2],[4]] }}','next':'z'}," DONE),
        FLOW("'a':{'action':'Gather','over':'{{ [1,2,3,4,5,6,7,8] }}','call':{'provider':" MOCK
             ",'with':{'value':1}},'next':'z'}," DONE)};
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        uint64_t n = least(flows[i], true, 0, 1 << 12);
        EXPECT_TRUE(n > 2 && n < 1 << 12);
        for (slice = 1; slice < 40; slice += 6) EXPECT_EQ(least(flows[i], true, 0, 1 << 12), n);
        slice = 0;
    }
}

UTEST(limits, memory) {
    flow f;
    mwl_status why;
    static const char grows[] = FLOW(
        "'a':{'action':'Pass','output':'{{ [1,2,3].map(x, [x, x, x].map(y, [y, y, y, y, y, y])) }}',"
        "'next':'b'},'b':{'action':'Return','value':true}");
    uint64_t n = least(grows, false, 512, 1 << 20);
    EXPECT_GT(n, 1024u);
    EXPECT_STREQ(with_limits(&f, grows, (mwl_limits){.memory_bytes = (size_t)n}, &why),
                 SUCCESS("true"));
    EXPECT_STREQ(with_limits(&f, grows, (mwl_limits){.memory_bytes = (size_t)n - 32}, &why),
                 MEMORY_LIMIT);
    EXPECT_EQ(why, MWL_E_TOO_BIG);
}

/* ---- depths ---------------------------------------------------------------------------------- */

static void exceed_in_start(mwl_call *call, void *user) {
    (void)user;
    mwl_run_exceed(mwl_call_run(call));
    mwl_call_succeed(call, mwl_null());
}

/* A host finds that what it makes of a run is larger than the run's memory: when the run is done,
 * while it sleeps, in one of its callbacks. Cleanup runs; a second time has no effect. */
UTEST(limits, a_host_ends_a_run_by_its_memory) {
    static const char uri[] = "mwl:provider.call/test/exceed/v1";
    static const char document[] =
        "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":"
        "\"mwl:provider.call/test/exceed/v1\",\"codePrefix\":\"Test\",\"description\":\"d\","
        "\"parameters\":{\"type\":\"object\"},\"failureCatalog\":{\"closed\":[],\"open\":[]}}";
    const mwl_asm_provider documents = {"exceed", document, sizeof document - 1};
    static const char *const definitions[] = {
        FLOW("'a':{'action':'Return','value':'ok'}"),
        FLOW("'a':{'action':'Sleep','for':'PT1H','next':'z'}," DONE),
        FLOW("'a':{'action':'Call','call':{'provider':'mwl:provider.call/test/exceed/v1'},"
             "'next':'z'}," DONE)};
    const mwl_call_provider provider = {.uri = uri, .document = document, .start = exceed_in_start};
    for (int i = 0; i < 3; i++) {
        flow f = {.documents = &documents, .n_documents = 1};
        mwl_config c = mwl_config_default();
        c.limits.memory_bytes = 1u << 20;
        ASSERT_EQ((int)mwl_vm_new(&c, &f.vm), (int)MWL_OK);
        ASSERT_EQ((int)mwl_std_add(f.vm, MWL_STD_ALL, NULL), (int)MWL_OK);
        ASSERT_EQ((int)mwl_vm_provide(f.vm, &provider, 1, NULL, NULL), (int)MWL_OK);
        ASSERT_TRUE(flow_load(&f, definitions[i]) && flow_start(&f, "[]"));
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        EXPECT_EQ(mwl_run_memory_limit(f.run), (size_t)(1u << 20));
        if (i < 2) mwl_run_exceed(f.run);
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        if (i < 1) mwl_run_exceed(f.run);
        EXPECT_EQ((int)mwl_run_why(f.run), (int)MWL_E_TOO_BIG);
        EXPECT_FALSE(mwl_run_succeeded(f.run));
        flow_finish(&f);
        for (char *p = f.result; *p; p++)
            if (*p == '"') *p = '\'';
        EXPECT_STREQ(f.result, MEMORY_LIMIT);
        flow_close(&f);
    }
}

UTEST(limits, frame_depth) {
    static const char nested[] = FLOW_WITH(
        "'flows':{'f':{'entrypoint':'s','steps':{'s':{'action':'Call','call':{'flow':'g'},'next':'r'},"
        "'r':{'action':'Return'}}},'g':{'entrypoint':'s','steps':{'s':{'action':'Return','value':3}}}},",
        "'a':{'action':'Call','call':{'flow':'f'},'next':'z'}," DONE);
    flow f;
    mwl_status why;
    EXPECT_STREQ(with_limits(&f, nested, (mwl_limits){.frame_depth = 3}, &why), SUCCESS("3"));
    EXPECT_STREQ(with_limits(&f, nested, (mwl_limits){.frame_depth = 2}, &why), DEPTH_LIMIT);
    EXPECT_EQ(why, MWL_E_DEPTH);
}

#define BOUND "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT1S'}}}"
UTEST(limits, entry_depth) {
    static const char three[] =
        FLOW("'a':{'action':'Call','call':{'provider':" MOCK ",'with':{'value':1}},"
             "'middleware':[" BOUND "," BOUND "," BOUND "],'next':'z'}," DONE);
    flow f;
    mwl_status why;
    EXPECT_STREQ(with_limits(&f, three, (mwl_limits){.entry_depth = 3}, &why), SUCCESS("1"));
    EXPECT_STREQ(with_limits(&f, three, (mwl_limits){.entry_depth = 2}, &why), DEPTH_LIMIT);
    EXPECT_EQ(why, MWL_E_DEPTH);
}

UTEST(limits, fan_out_is_a_failure_that_can_be_caught) {
    static const char three[] = FLOW(
        "'a':{'action':'Gather','over':'{{ [1,2,3] }}','call':{'provider':" MOCK
        ",'with':{'value':7}},'catch':[{'match':{'codes':['Mwlvm.FanOutLimit']},'next':'c'}],"
        "'next':'z'},'c':{'action':'Return','value':'{{ [failure.details.dispatchCount, failure.details.limit] }}'}," DONE);
    flow f;
    mwl_status why;
    EXPECT_STREQ(with_limits(&f, three, (mwl_limits){.fan_out = 3}, &why), SUCCESS("[7,7,7]"));
    EXPECT_EQ(dispatched, 3u);
    EXPECT_STREQ(with_limits(&f, three, (mwl_limits){.fan_out = 2}, &why), SUCCESS("[3,2]"));
    EXPECT_EQ(dispatched, 0u); /* refused at enumeration: nothing was started */
    EXPECT_EQ(why, MWL_OK);
}

/* A list of calls has the same limit as an array: none of them starts, `successes` is not
 * evaluated, and they have no arm and no result. */
UTEST(limits, fan_out_of_literal_calls) {
#define ONE "{'provider':" MOCK ",'with':{'value':7},'onSuccess':{'assign':{'ran':true}}}"
    static const char three[] = FLOW(
        "'a':{'action':'Gather','calls':[" ONE "," ONE "," ONE
        "],'completion':{'successes':'{{ 1 + vars.unbound }}'},"
        "'catch':[{'match':{'codes':['Mwlvm.FanOutLimit']},'output':'{{ step.results }}','next':'c'}],"
        "'next':'z'},'c':{'action':'Return','value':'{{ [failure.details.dispatchCount, failure.details.limit, "
        "step.input, has(vars.ran)] }}'}," DONE);
    static const char two[] =
        FLOW("'a':{'action':'Gather','calls':[" ONE "," ONE "],'next':'z'}," DONE);
#undef ONE
    flow f;
    mwl_status why;
    EXPECT_STREQ(with_limits(&f, two, (mwl_limits){.fan_out = 2}, &why), SUCCESS("[7,7]"));
    EXPECT_STREQ(with_limits(&f, three, (mwl_limits){.fan_out = 2}, &why),
                 SUCCESS("[3,2,[],false]"));
    EXPECT_EQ(dispatched, 0u);
    EXPECT_EQ(why, MWL_OK);
}

UTEST(limits, chain_depth_truncates) {
#define FAIL_THEN(code, next)                                                                      \
    "{'action':'Call','call':{'provider':" MOCK ",'with':{'failure':{'code':'" code "'}}},"        \
    "'catch':[{'match':{'codes':['*']},'next':'" next "'}],'next':'z'}"
    static const char chain[] =
        FLOW("'a':" FAIL_THEN("E.a", "b") ",'b':" FAIL_THEN("E.b", "c") ",'c':" FAIL_THEN(
            "E.c",
            "y") ",'y':{'action':'Return','value':'{{ [failure.code, failure.previous.code, "
                 "failure.previous.previous.code, has(failure.previous.previous.previous)] }}'}," DONE);
    flow f;
    mwl_status why;
    EXPECT_STREQ(with_limits(&f, chain, (mwl_limits){.chain_depth = 3}, &why),
                 SUCCESS("['E.c','E.b','E.a',false]"));
    static const char cut[] =
        FLOW("'a':" FAIL_THEN("E.a", "b") ",'b':" FAIL_THEN("E.b", "c") ",'c':" FAIL_THEN(
            "E.c", "y") ",'y':{'action':'Return','value':'{{ [failure.code, failure.previous.code, "
                        "has(failure.previous.previous)] }}'}," DONE);
    EXPECT_STREQ(with_limits(&f, cut, (mwl_limits){.chain_depth = 2}, &why),
                 SUCCESS("['E.c','System.FailureChainTruncated',false]"));
    EXPECT_EQ(why, MWL_OK);
}

/* A Step that fails, is caught and tried again for long: the chain is cut each time, so it does not
 * grow beyond its limit in depth or size either. A called Flow may cite it all the same. */
UTEST(limits, a_chain_is_cut_for_ever) {
#define AGAIN(call)                                                                                \
    FLOW_WITH("'parameters':{'type':'object','properties':{'n':{'default':0}}},",                  \
              "'a':{'action':'Call','input':'{{ failure }}','call':" call                          \
              ",'catch':[{'match':{'codes':['E.stop']},'next':'y'},{'match':{'codes':['*']},"      \
              "'assign':{'n':'{{ vars.n + 1.0 }}'},'next':'a'}],'next':'z'},'y':{'action':"        \
              "'Return','value':'{{ [failure.code, failure.previous.code, vars.n] }}'}," DONE)
#define CODE "'{{ vars.n < 2000.0 ? \\'E.x\\' : \\'E.stop\\' }}'"
    flow f;
    mwl_status why;
    EXPECT_STREQ(with_limits(&f,
                             AGAIN("{'provider':" MOCK ",'with':{'failure':{'code':" CODE "}}}"),
                             (mwl_limits){.chain_depth = 64}, &why),
                 SUCCESS("['E.stop','E.x',2000]"));
    EXPECT_EQ(why, MWL_OK);
    EXPECT_STREQ(
        with_limits(&f,
                    AGAIN("{'with':{'stop':'{{ vars.n >= 2000.0 }}'},'flow':{'parameters':{'type':"
                          "'object','properties':{'stop':{}}},'entrypoint':'r','steps':{'r':{"
                          "'action':'Raise','result':{'code':'{{ vars.stop ? \\'E.stop\\' : "
                          "\\'E.x\\' }}','previous':'{{ step.input }}'}}}}}"),
                    (mwl_limits){.chain_depth = 64}, &why),
        SUCCESS("['E.stop','E.x',2000]"));
    EXPECT_EQ(why, MWL_OK);
}

/* ---- cleanup --------------------------------------------------------------------------------- */

#define SLOW_CLEANUP                                                                               \
    "'middleware':[{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK           \
    ",'with':{'delay':'PT10S'}}}}}],"
#define SECOND 1000000000ll

static mwl_run_state cancelled_with(int64_t cleanup_ns, mwl_status *why) {
    flow f;
    mwl_config c = mwl_config_default();
    memset(&f, 0, sizeof f);
    c.virtual_time = true;
    c.limits.cleanup_ns = cleanup_ns;
    if (mwl_vm_new(&c, &f.vm) < 0 || mwl_std_add(f.vm, MWL_STD_ALL, NULL) < 0) return MWL_RUN_READY;
    if (!flow_load(
            &f, FLOW_WITH(SLOW_CLEANUP, "'a':{'action':'Sleep','for':'PT1H','next':'z'}," DONE)) ||
        !flow_start(&f, "1"))
        return MWL_RUN_READY;
    mwl_vm_pump(f.vm, SECOND);
    mwl_run_cancel(f.run, "stop");
    mwl_vm_pump(f.vm, 5 * SECOND);
    mwl_run_cancel(f.run, "again"); /* does not start the clock again */
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_run_state state = mwl_run_get_state(f.run);
    *why = mwl_run_why(f.run);
    if (mwl__invariant_broken(f.run) || mwl__timers_count(&f.vm->timers)) state = MWL_RUN_READY;
    flow_close(&f);
    return state;
}

UTEST(limits, cleanup_time) {
    mwl_status why = MWL_OK;
    EXPECT_EQ(cancelled_with(0, &why), MWL_RUN_DONE);
    EXPECT_EQ(why, MWL_OK);
    EXPECT_EQ(cancelled_with(10 * SECOND, &why),
              MWL_RUN_DONE); /* the end of the cleanup comes before the deadline */
    EXPECT_EQ(why, MWL_OK);
    EXPECT_EQ(cancelled_with(10 * SECOND - 1, &why), MWL_RUN_ABORTED);
    EXPECT_EQ(why, MWL_E_CLEANUP);
}

/* A cleanup that loops and never waits is ended too, if the clock moves. */
static int64_t ticking_ns, tick_ns;
static uint32_t ticking_slice = 1;
static void ticking(void *ctx, mwl_instant *out) {
    (void)ctx;
    out->mono_ns = ticking_ns += tick_ns;
    out->wall_ns = 1767225600000000000 + ticking_ns;
}

static bool flow_ticking(flow *f, const char *definition, int64_t step_ns, int64_t cleanup_ns) {
    mwl_config c = mwl_config_default();
    memset(f, 0, sizeof *f);
    ticking_ns = 0;
    tick_ns = step_ns;
    c.clock.read = ticking;
    c.slice = ticking_slice;
    c.limits.cleanup_ns = cleanup_ns;
    return mwl_vm_new(&c, &f->vm) == MWL_OK && mwl_std_add(f->vm, MWL_STD_ALL, NULL) == MWL_OK &&
           flow_load(f, definition) && flow_start(f, "1");
}

static void pump_all(flow *f, unsigned times) {
    for (unsigned n = 0; n < times; n++) {
        mwl_run_state s = mwl_run_get_state(f->run);
        if (s == MWL_RUN_DONE || s == MWL_RUN_ABORTED) return;
        (void)mwl_vm_pump(f->vm, 0);
    }
}

UTEST(limits, a_busy_cleanup_is_ended) {
    flow f;
    ASSERT_TRUE(flow_ticking(
        &f,
        FLOW_WITH("'middleware':[{'provider':" TIMEOUT
                  ",'onEntry':{'with':{'duration':'P1D'}},'onAlways':{'assign':{'x':'" SPIN
                  "'}}}],",
                  "'a':{'action':'Sleep','for':'PT1H','next':'z'}," DONE),
        1000, 50000));
    pump_all(&f, 100);
    mwl_run_cancel(f.run, NULL);
    pump_all(&f, 100000);
    EXPECT_EQ(mwl_run_get_state(f.run), MWL_RUN_ABORTED);
    EXPECT_EQ(mwl_run_why(f.run), MWL_E_CLEANUP);
    flow_close(&f);
}

/* A Result that reaches its bound too late, within one slice, is not accepted. */
UTEST(limits, a_result_that_comes_too_late) {
    static const char slow[] = FLOW_WITH(
        "'middleware':[{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT0.0001S'}}}],",
        "'a':{'action':'Pass','output':'{{ [1,2,3,4,5,6,7,8,9].map(x, [1,2,3,4,5,6,7,8,9].map(y, "
        "[1,2].map(w, string(wallTime())))).size() }}','next':'z'}," DONE);
    flow f;
    ticking_slice = 1000000;
    bool made = flow_ticking(&f, slow, 1000, 0);
    ticking_slice = 1;
    ASSERT_TRUE(made);
    pump_all(&f, 1000);
    flow_finish(&f);
    EXPECT_TRUE(strstr(f.result, "Timeout") != NULL);
    flow_close(&f);
}

/* A bound directly around a call has no effect after the call's Result is accepted; the arms may
 * take longer. */
UTEST(limits, a_call_that_was_accepted_in_time) {
    static const char slow_arm[] = FLOW(
        "'a':{'action':'Call','call':{'provider':" MOCK
        ",'with':{'value':1},'onSuccess':{'assign':{'x':'{{ "
        "[1,2,3,4,5,6,7,8,9].map(x, [1,2,3,4,5,6,7,8,9].map(y, [1,2].map(w, string(wallTime())))).size() }}'}}},"
        "'middleware':[{'provider':" TIMEOUT
        ",'onEntry':{'with':{'duration':'PT0.0001S'}}}],'next':'z'}," DONE);
    flow f;
    ticking_slice = 1000000;
    bool made = flow_ticking(&f, slow_arm, 1000, 0);
    ticking_slice = 1;
    ASSERT_TRUE(made);
    pump_all(&f, 1000);
    EXPECT_TRUE(mwl_run_succeeded(f.run));
    flow_close(&f);
}

/* A bound of a waiting run fires although another one is busy and the host gives it one slice at a
 * time. */
UTEST(limits, a_small_budget_does_not_starve_bounds) {
    flow f;
    ASSERT_TRUE(flow_ticking(
        &f,
        FLOW_WITH("'middleware':[{'provider':" TIMEOUT
                  ",'onEntry':{'with':{'duration':'PT0.001S'}}}],",
                  "'a':{'action':'Match','cases':[{'when':'{{ match.input == 1.0 }}','next':'s'}],"
                  "'default':{'next':'p'}},'s':{'action':'Sleep','for':'PT1H','next':'z'},"
                  "'p':{'action':'Pass','next':'p'}," DONE),
        1000, 0));
    mwl_run *waits = f.run;
    ASSERT_TRUE(flow_start(&f, "2"));
    mwl_run *spins = f.run;
    f.run = waits;
    pump_all(&f, 100000);
    EXPECT_EQ(mwl_run_get_state(waits), MWL_RUN_DONE);
    mwl_run_free(spins);
    flow_close(&f);
}

/* ---- in the middle of something -------------------------------------------------------------- */

/* A limit inside a cleanup: that cleanup cannot end any more, so the run is aborted. */
/* A host that does not limit memory uses the largest number; the reserve for a cleanup is added to
 * it. */
UTEST(limits, fuel_ends_where_memory_is_not_bounded) {
    flow f;
    mwl_status why;
    static const char spins[] = FLOW_WITH(
        "'middleware':[{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK
        ",'with':{'value':1}}}}}],",
        "'a':{'action':'Pass','assign':{'x':'{{ lists.range(100000) }}'},'next':'b'},'b':{'action':'Pass','next':'b'}");
    EXPECT_STREQ(
        with_limits(&f, spins, (mwl_limits){.fuel = 500000, .memory_bytes = SIZE_MAX}, &why),
        FUEL_LIMIT);
    EXPECT_EQ((int)why, (int)MWL_E_FUEL);
    EXPECT_EQ(dispatched, 1u);
}

UTEST(limits, fuel_inside_a_cleanup_aborts) {
    static const char spins[] = FLOW_WITH(
        "'middleware':[{'provider':" TIMEOUT
        ",'onEntry':{'with':{'duration':'P1D'}},'onAlways':{'assign':{'x':'" SPIN "'}}}],",
        "'a':{'action':'Return','value':1}");
    flow f;
    mwl_status why;
    EXPECT_STREQ(with_limits(&f, spins, (mwl_limits){.fuel = 500}, &why), "state 3, why -12");
    EXPECT_EQ(why, MWL_E_FUEL);
}

/* A dispatch that reaches the limit in its own fields has no target to wait for. */
UTEST(limits, fuel_inside_the_fields_of_a_dispatch) {
    static const char spins[] = FLOW(
        "'a':{'action':'Gather','over':'{{ [1,2] }}','call':{'provider':" MOCK
        ",'with':{'value':'{{ call.index == 0.0 ? true : [1,2,3,4,5,6,7,8,9].all(x, "
        "[1,2,3,4,5,6,7,8,9].all(y, [1,2,3,4,5,6,7,8,9].all(w, w < 10))) }}','delay':'PT1S'}},'next':'z'}," DONE);
    flow f;
    mwl_status why;
    EXPECT_STREQ(with_limits(&f, spins, (mwl_limits){.fuel = 500}, &why), FUEL_LIMIT);
    EXPECT_EQ(why, MWL_E_FUEL);
}

/* If a bound elapses while the fields of a later dispatch are being evaluated, it waits for the
 * cleanup of the earlier dispatch, and the fields do not continue meanwhile. */
UTEST(limits, a_bound_among_the_fields_of_a_dispatch) {
    static const char busy_fields[] = FLOW_WITH(
        "'middleware':[{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT0.01S'}}}],"
        "'flows':{'s':{'middleware':[{'provider':" FINALLY
        ",'onAlways':{'with':{'call':{'provider':" MOCK
        ",'with':{'delay':'PT0.01S'}}}}}],'entrypoint':'w','steps':{'w':{'action':'Sleep',"
        "'for':'PT1H','next':'r'},'r':{'action':'Return'}}}},",
        "'a':{'action':'Gather','over':'{{ [1,2] }}','call':{'flow':'s','input':'{{ call.index == 0.0 ? true : "
        "[1,2,3,4,5,6,7,8,9].all(x, [1,2,3,4,5,6,7,8,9].all(y, [1,2,3,4,5,6,7,8,9].all(w, w < 10))) }}'},'next':'z'}," DONE);
    flow f;
    ASSERT_TRUE(flow_ticking(&f, busy_fields, 1000, 0));
    pump_all(&f, 1000000);
    EXPECT_TRUE(mwl__invariant_broken(f.run) == NULL);
    flow_finish(&f);
    EXPECT_TRUE(strstr(f.result, "Timeout") != NULL);
    flow_close(&f);
}

/* ---- abort ----------------------------------------------------------------------------------- */

static void aborted_in(const char *definition, int64_t after_ns, int *utest_result) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 7) && flow_load(&f, definition) && flow_start(&f, "1"));
    mwl_vm_pump(f.vm, after_ns);
    mwl_run_abort(f.run);
    EXPECT_EQ(mwl_run_get_state(f.run), MWL_RUN_ABORTED);
    EXPECT_TRUE(mwl_is_absent(mwl_run_result(f.run)));
    EXPECT_FALSE(mwl_run_succeeded(f.run));
    EXPECT_TRUE(mwl__invariant_broken(f.run) == NULL);
    EXPECT_EQ(mwl__timers_count(&f.vm->timers), 0u);
    mwl_run_abort(f.run); /* a second call has no effect */
    mwl_run_cancel(f.run, "late");
    EXPECT_EQ(mwl_vm_pump(f.vm, MWL_NO_BUDGET), MWL_NEVER);
    EXPECT_EQ(mwl_run_get_state(f.run), MWL_RUN_ABORTED);
    flow_close(&f);
}

UTEST(abort, before_asleep_and_in_a_cleanup) {
    static const char sleeps[] =
        FLOW_WITH(SLOW_CLEANUP, "'a':{'action':'Sleep','for':'PT20S','next':'z'}," DONE);
    aborted_in(sleeps, 0, utest_result);
    aborted_in(sleeps, SECOND, utest_result);
    aborted_in(sleeps, 25 * SECOND, utest_result);
}

UTEST(abort, a_run_that_is_done_stays_done) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 7) && flow_load(&f, busy) && flow_start(&f, "1"));
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_run_abort(f.run);
    EXPECT_EQ(mwl_run_get_state(f.run), MWL_RUN_DONE);
    EXPECT_TRUE(mwl_run_succeeded(f.run));
    flow_close(&f);
}

UTEST_MAIN()
