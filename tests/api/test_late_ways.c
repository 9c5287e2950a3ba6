/* test_late_ways.c: a Timeout is asked when a Result is accepted, on every way that a Result can
 * come. At the very instant of the bound the Result is accepted, one nanosecond later it is not
 * (vm/DECISIONS.md 4). An entry without effect between the bound and the call changes nothing, and
 * of a call that is not accepted no arm runs. The clock is the test's own. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#define BOUND_NS INT64_C(5000000000)
#define URI "'" STYLES_URI("way") "'"

/* The ways in. CHILD: the call of a Flow, whose own call settles in start. */
typedef enum way { START, NOW, LATER, TOKEN, ANSWER, BLOCKING, LOADED, CHILD, WAYS } way;
static const char *const names[] = {"start",  "now",      "later",  "token",
                                    "answer", "blocking", "loaded", "child"};

static int64_t clock_ns, takes_ns;
static bool fails;
static mwl_call *kept;
static mwl_token *token;

static void read_clock(void *ctx, mwl_instant *out) {
    (void)ctx;
    out->mono_ns = clock_ns;
    out->wall_ns = INT64_C(1767225600000000000) + clock_ns;
}

static void settle(mwl_call *call) {
    if (fails)
        mwl_call_fail(call, NULL, "Acme.Bad", "bad", mwl_absent());
    else
        mwl_call_succeed(call, mwl_number(1));
}
static void at_once(mwl_call *call, void *user) {
    (void)user;
    clock_ns += takes_ns;
    settle(call);
}
static int now(mwl_heap *h, mwl_value input, mwl_value args, mwl_value *out, void *user) {
    (void)input;
    (void)args;
    (void)user;
    clock_ns += takes_ns;
    *out =
        fails ? mwl_failure(h, NULL, "Acme.Bad", "bad", mwl_absent(), mwl_absent()) : mwl_number(1);
    return fails ? MWL_NOW_FAILED : MWL_NOW_SUCCEEDED;
}
static void keep(mwl_call *call, void *user) {
    (void)user;
    kept = call;
    mwl_call_token(call, &token);
}
static void wait(mwl_call *call, void *user) {
    (void)user;
    kept = call;
    if (mwl_await(call, NULL) == MWL_OK) settle(call);
}
static mwl_call_provider provider_of(way w) {
    mwl_call_provider p = {.uri = STYLES_URI("way"), .document = STYLES_DOC("way")};
    if (w == NOW)
        p.now = now;
    else if (w == BLOCKING)
        p.blocking = wait;
    else
        p.start = w == START || w == CHILD ? at_once : keep;
    if (w == LOADED) p.restore = at_once;
    return p;
}

/* The run goes through bytes, and the call settles while it is loaded, after this time. */
static bool reload(flow *f) {
    const mwl_load how = {.program = f->program};
    void *bytes = NULL;
    size_t size = 0;
    bool good = mwl_run_save(f->run, &bytes, &size, NULL) == MWL_OK;
    mwl_run_free(f->run);
    f->run = NULL;
    good = good && mwl_run_load(f->vm, bytes, size, &how, &f->run, NULL) == MWL_OK;
    mwl_bytes_free(f->vm, bytes, size);
    return good;
}

/* The call has parked: its Result comes when the time has passed. */
static bool come(flow *f, way w) {
    static const char bad[] = "{\"type\":\"error\",\"code\":\"Acme.Bad\"}";
    if (w == LOADED) return reload(f);
    clock_ns += takes_ns;
    if (w == LATER) settle(kept);
    if (w == BLOCKING) return mwl_call_resume(kept, mwl_null()) == MWL_OK;
    if (w == TOKEN)
        return (fails ? mwl_token_fail(token, NULL, "Acme.Bad", "bad", NULL, 0)
                      : mwl_token_succeed(token, "1", 1)) == MWL_OK;
    if (w == ANSWER) {
        mwl_value v = mwl_number(1);
        if (fails && mwl_json_parse(mwl_vm_heap(f->vm), bad, sizeof bad - 1, &v, NULL) < 0)
            return false;
        return mwl_run_answer(f->run, 1, !fails, v) == MWL_OK;
    }
    return true;
}

/* The Result's codes, or `ok`, and then `arm` if an arm of the call has run. */
static const char *outcome(flow *f) {
    static char out[200];
    mwl_value v = mwl_run_result(f->run);
    out[0] = 0;
    mwl_value arm = mwl_get(mwl_get(v, "details"), "arm");
    if (mwl_is_absent(arm)) arm = mwl_get(mwl_get(v, "value"), "arm");
    if (mwl_is_absent(mwl_get(v, "code"))) strcat(out, "ok ");
    for (; mwl_value_kind(v) == MWL_KIND_OBJECT; v = mwl_get(v, "previous")) {
        const char *code = mwl_as_text(mwl_get(v, "code"), NULL), *last;
        if (!code) break;
        last = strrchr(code, '.');
        snprintf(out + strlen(out), sizeof out - strlen(out), "%s ", last ? last + 1 : code);
    }
    snprintf(out + strlen(out), sizeof out - strlen(out), "%s",
             mwl_value_kind(arm) == MWL_KIND_BOOL && mwl_as_bool(arm) ? "arm" : "-");
    return out;
}

static const char *run(way w, const char *definition, uint32_t slice, int64_t takes, bool bad) {
    static char why[300];
    const mwl_call_provider p = provider_of(w);
    const mwl_asm_provider document = {p.uri, p.document, strlen(p.document)};
    mwl_config c = mwl_config_default();
    flow f;
    memset(&f, 0, sizeof f);
    c.clock.read = read_clock;
    c.slice = slice;
    clock_ns = 0;
    takes_ns = takes;
    fails = bad;
    kept = NULL;
    token = NULL;
    f.documents = &document;
    f.n_documents = 1;
    bool good = mwl_vm_new(&c, &f.vm) == MWL_OK && mwl_std_add(f.vm, MWL_STD_ALL, NULL) == MWL_OK &&
                mwl_vm_provide(f.vm, &p, 1, NULL, NULL) == MWL_OK && flow_load(&f, definition) &&
                flow_start(&f, "null");
    if (good) mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    if (good && mwl_run_get_state(f.run) != MWL_RUN_DONE) good = come(&f, w);
    if (good) mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    good = good && mwl_run_get_state(f.run) == MWL_RUN_DONE;
    snprintf(why, sizeof why, "%.290s", good ? outcome(&f) : f.result);
    mwl_token_release(token);
    flow_close(&f);
    return why;
}

#define BOUND "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT5S'}}}"
#define INERT ",{'provider':" LOOP ",'onSuccess':{'when':false}}"
#define CATCH                                                                                       \
    ",'catch':[{'match':{'codes':['*']},'next':'bad'}]},"                                           \
    "'bad':{'action':'Raise','result':{'code':'{{ failure.code }}',"                                \
    "'details':{'arm':'{{ has(vars.arm) }}'},'previous':'{{ failure.?previous.orValue(null) }}'}}," \
    "'z':{'action':'Return','value':{'arm':'{{ has(vars.arm) }}'}}"
#define ARMS ",'onSuccess':{'assign':{'arm':true}},'onFailure':{'assign':{'arm':true}}"
#define DEFINITION(target, stack, arms)                                                            \
    FLOW("'a':{'action':'Call','middleware':[" stack "],'call':{" target arms "},'next':'z'" CATCH)
#define PROVIDER "'provider':" URI
#define SUB                                                                                        \
    "'flow':{'entrypoint':'s','steps':{'s':{'action':'Call','call':{'provider':" URI               \
    "},'next':'t'},'t':{'action':'Return'}}}"

static const char *definition_of(way w, bool inert, bool arms) {
    static const char *const all[2][2][2] = {
        {{DEFINITION(PROVIDER, BOUND, ""), DEFINITION(PROVIDER, BOUND, ARMS)},
         {DEFINITION(PROVIDER, BOUND INERT, ""), DEFINITION(PROVIDER, BOUND INERT, ARMS)}},
        {{DEFINITION(SUB, BOUND, ""), DEFINITION(SUB, BOUND, ARMS)},
         {DEFINITION(SUB, BOUND INERT, ""), DEFINITION(SUB, BOUND INERT, ARMS)}}};
    return all[w == CHILD][inert][arms];
}

/* Every way, with a slice of one instruction and with a long one. */
static void expect(int *utest_result, bool inert, bool arms, int64_t takes, bool bad,
                   const char *expected) {
    for (int w = 0; w < WAYS; w++)
        for (uint32_t slice = 1; slice <= 1000000; slice *= 1000000)
            EXPECT_STREQ_MSG(run((way)w, definition_of((way)w, inert, arms), slice, takes, bad),
                             expected, names[w]);
}

UTEST(late_ways, at_the_very_instant_a_result_is_accepted) {
    for (int inert = 0; inert < 2; inert++) {
        expect(utest_result, inert, false, BOUND_NS, false, "ok -");
        expect(utest_result, inert, false, BOUND_NS, true, "Bad -");
        expect(utest_result, inert, true, BOUND_NS, false, "ok arm");
        expect(utest_result, inert, true, BOUND_NS, true, "Bad arm");
    }
}

UTEST(late_ways, a_nanosecond_later_it_is_not) {
    for (int inert = 0; inert < 2; inert++) {
        expect(utest_result, inert, false, BOUND_NS + 1, false, "Exceeded -");
        expect(utest_result, inert, false, BOUND_NS + 1, true, "Exceeded -");
        expect(utest_result, inert, false, 2 * BOUND_NS, false, "Exceeded -");
        expect(utest_result, inert, false, 2 * BOUND_NS, true, "Exceeded -");
    }
}

UTEST(late_ways, no_arm_runs_for_a_result_that_is_not_accepted) {
    expect(utest_result, false, true, BOUND_NS + 1, false, "Exceeded -");
    expect(utest_result, false, true, BOUND_NS + 1, true, "Exceeded -");
}

UTEST_MAIN()
