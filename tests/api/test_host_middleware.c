/* test_host_middleware.c: the middleware of a host can use the whole contract: phases, kinds, the
 * race. */
#include "utest.h"

#include "tests/api/acme.h"
#include "tests/unit/run_flow.h"

#define S INT64_C(1000000000)
#define CACHE "'" ACME_URI("cache") "'"
#define NOTIFY "'" ACME_URI("notify") "'"
#define TRANSLATE "'" ACME_URI("translate-error") "'"
#define DECRYPT "'" ACME_URI("decrypt") "'"
#define STALE "'" ACME_URI("stale-on-slow") "'"
#define DONE "'done':{'action':'Return'}"
#define CALL(stack, with)                                                                          \
    FLOW("'a':{'action':'Call','middleware':[" stack "],'call':{'provider':" MOCK ",'with':" with  \
         "},"                                                                                      \
         "'next':'done'}," DONE)

typedef struct host {
    flow f;
    acme a;
    mwl_asm_provider documents[ACME_COUNT];
} host;

struct host_middleware {
    host h;
};

static void close_host(host *h) {
    if (h->a.heap) acme_done(&h->a);
    flow_close(&h->f);
}

UTEST_F_SETUP(host_middleware) {
    host *h = &utest_fixture->h;
    memset(h, 0, sizeof *h);
    ASSERT_TRUE(flow_vm(&h->f, 1));
    h->a.heap = mwl_vm_heap(h->f.vm);
    h->a.cached = mwl_object(h->a.heap, 0);
    mwl_error error = {MWL_OK, "", 0};
    mwl_status st = mwl_vm_provide_middleware(h->f.vm, acme_middleware, ACME_COUNT, &h->a, &error);
    if (st < 0) fprintf(stderr, "%s\n", error.message);
    ASSERT_EQ((int)st, (int)MWL_OK);
    for (size_t i = 0; i < ACME_COUNT; i++) {
        const char *text = acme_middleware[i].document;
        h->documents[i] = (mwl_asm_provider){acme_middleware[i].uri, text, strlen(text)};
    }
    h->f.documents = h->documents;
    h->f.n_documents = ACME_COUNT;
}

UTEST_F_TEARDOWN(host_middleware) {
    (void)utest_result;
    close_host(&utest_fixture->h);
}

static const char *run(host *h, const char *definition, const char *input) {
    h->a.log[0] = 0;
    mwl_program_release(h->f.program);
    h->f.program = NULL;
    return flow_load(&h->f, definition) ? flow_again(&h->f, input) : h->f.result;
}

UTEST_F(host_middleware, cache) {
    host *h = &utest_fixture->h;
    const char *flow_text = FLOW(
        "'a':{'action':'Call','middleware':[{'provider':" NOTIFY "},{'provider':" CACHE
        ",'onEntry':{'with':{'key':'{{ middleware.input }}'}},"
        "'onAlways':{'assign':{'hit':'{{ middleware.metadata.hit }}'}}}],'call':{'provider':" MOCK
        ",'with':{'delay':'PT9S','value':'made'}},'output':'{{ [step.result.value, vars.hit] }}',"
        "'next':'done'}," DONE);
    EXPECT_STREQ(run(h, flow_text, "'k'"), "{'type':'success','value':['made',false]}");
    EXPECT_EQ(h->f.took_ns, 9 * S);
    EXPECT_STREQ(run(h, flow_text, "'k'"), "{'type':'success','value':['made',true]}");
    EXPECT_EQ(h->f.took_ns, 0);                       /* the inner scope did not run */
    EXPECT_STREQ(h->a.log, " entry success always+"); /* and outer entries see a success */
    run(h, flow_text, "'other'");
    EXPECT_EQ(h->f.took_ns, 9 * S);
}

UTEST_F(host_middleware, notify_at_every_phase) {
    host *h = &utest_fixture->h;
    EXPECT_STREQ(run(h, CALL("{'provider':" NOTIFY "}", "{}"), "5"),
                 "{'type':'success','value':5}");
    EXPECT_STREQ(h->a.log, " entry success always+");
    EXPECT_STREQ(run(h, CALL("{'provider':" NOTIFY "}", "{'failure':{'code':'A'}}"), "5"),
                 "{'code':'A','type':'error'}");
    EXPECT_STREQ(h->a.log, " entry failure always-");
    run(h, CALL("{'provider':" NOTIFY ",'onEntry':{'when':false},'onAlways':{'when':false}}", "{}"),
        "5");
    EXPECT_STREQ(h->a.log, " success");
}

#define N_FAILED "'code':'Provider.Middleware.Notify.Failed','message':'nobody answers'"

UTEST_F(host_middleware, a_failing_action_fails_its_phase) {
    host *h = &utest_fixture->h;
#define OUTER(phase)                                                                               \
    CALL("{'provider':" NOTIFY "},{'provider':" NOTIFY ",'" phase "':{'with':{'fail':true}}}", "{}")
    EXPECT_STREQ(run(h, OUTER("onEntry"), "5"), "{" N_FAILED ",'type':'error'}");
    EXPECT_STREQ(h->a.log,
                 " entry entry failure always-"); /* not established: no onAlways of its own */
    EXPECT_STREQ(run(h, OUTER("onSuccess"), "5"), "{" N_FAILED ",'type':'error'}");
    EXPECT_STREQ(h->a.log, " entry entry success always- failure always-");
    EXPECT_STREQ(run(h, OUTER("onAlways"), "5"), "{" N_FAILED ",'type':'error'}");
    EXPECT_STREQ(h->a.log, " entry entry success always+ failure always-");
    EXPECT_STREQ(run(h,
                     CALL("{'provider':" NOTIFY ",'onFailure':{'with':{'fail':true}}}",
                          "{'failure':{'code':'A'}}"),
                     "5"),
                 "{" N_FAILED ",'previous':{'code':'A','type':'error'},'type':'error'}");
}

UTEST_F(host_middleware, translate_error) {
    host *h = &utest_fixture->h;
#define TRANSLATED(with, more)                                                                     \
    CALL("{'provider':" TRANSLATE ",'onFailure':{'with':" with more "}}",                          \
         "{'failure':{'code':'A','message':'m'}}")
    EXPECT_STREQ(run(h, TRANSLATED("{'code':'B'}", ""), "5"),
                 "{'code':'B','message':'m','type':'error'}");
    EXPECT_STREQ(
        run(h, TRANSLATED("{'code':'B','keep':true}", ""), "5"),
        "{'code':'B','previous':{'code':'A','message':'m','type':'error'},'type':'error'}");
    /* shaping comes after the action and sees a transform's effect */
    EXPECT_STREQ(
        run(h, TRANSLATED("{'code':'B'}", ",'details':'{{ middleware.result.code }}'"), "5"),
        "{'code':'B','details':'B','message':'m','previous':{'code':'B','message':'m','type':'error'},"
        "'type':'error'}");
    EXPECT_TRUE(strstr(run(h, TRANSLATED("{'code':5}", ""), "5"),
                       "System.ParameterValidationFailed") != NULL);
}

UTEST_F(host_middleware, decrypt) {
    host *h = &utest_fixture->h;
    EXPECT_STREQ(run(h, CALL("{'provider':" DECRYPT ",'onSuccess':{'when':false}}", "{}"), "'abc'"),
                 "{'type':'success','value':'cba'}");
    EXPECT_STREQ(run(h, CALL("{'provider':" DECRYPT "}", "{}"), "'abc'"),
                 "{'type':'success','value':'abc'}");
    EXPECT_STREQ(
        run(h,
            CALL("{'provider':" DECRYPT ",'onEntry':{'output':'{{ middleware.input + \\'!\\' }}'},"
                 "'onSuccess':{'value':'{{ middleware.result.value + \\'?\\' }}'}}",
                 "{}"),
            "'abc'"),
        "{'type':'success','value':'!abc?'}");
    EXPECT_STREQ(
        run(h, CALL("{'provider':" DECRYPT "}", "{}"), "5"),
        "{'code':'Provider.Middleware.Decrypt.Failed','message':'not a short text','type':'error'}");
}

UTEST_F(host_middleware, stale_on_slow) {
    host *h = &utest_fixture->h;
#define SLOW(delay)                                                                                \
    CALL("{'provider':" NOTIFY "},{'provider':" STALE                                              \
         ",'onEntry':{'with':{'after':'PT5S'}}},{'provider':" NOTIFY "}",                          \
         "{'delay':'" delay "','value':'" delay "'}")
    EXPECT_STREQ(run(h, SLOW("PT9S"), "5"),
                 "{'code':'Provider.Middleware.Stale.Failed','type':'timeout'}");
    EXPECT_STREQ(h->a.log, " entry entry elapsed always- failure always-");
    EXPECT_EQ(h->f.took_ns, 5 * S);
    EXPECT_STREQ(run(h, SLOW("PT1S"), "5"), "{'type':'success','value':'PT1S'}");
    EXPECT_STREQ(run(h, SLOW("PT9S"), "5"),
                 "{'code':'Provider.Middleware.Stale.Failed','details':'PT1S','type':'timeout'}");
    EXPECT_STREQ(h->a.log, " entry entry elapsed always- failure always-");
    EXPECT_EQ(h->f.took_ns, 5 * S);
}

UTEST_F(host_middleware, a_failed_cleanup_is_not_hidden_by_a_bound) {
    host *h = &utest_fixture->h;
    run(h, SLOW("PT1S"), "5");
    const char *result = run(h,
                             CALL("{'provider':" STALE ",'onEntry':{'with':{'after':'PT5S'}}},"
                                  "{'provider':" NOTIFY ",'onAlways':{'with':{'fail':true}}}",
                                  "{'delay':'PT9S'}"),
                             "5");
    EXPECT_TRUE(strstr(result, N_FAILED) != NULL && strstr(result, "'cancellation'") != NULL);
}

UTEST_F(host_middleware, stale_at_once) {
    host *h = &utest_fixture->h;
    run(h, SLOW("PT1S"), "5");
    EXPECT_STREQ(
        run(h, CALL("{'provider':" STALE ",'onEntry':{'with':{'after':'PT0S'}}}", "{}"), "5"),
        "{'code':'Provider.Middleware.Stale.Failed','details':'PT1S','type':'timeout'}");
}

/* ---- keep-trying: a bound and re-runs in one entry ------------------------------------------- */

static const char trying_doc[] = ACME_DOC(
    "keep-trying", "Trying",
    ACME_PHASE(
        "onEntry", "control",
        ",\"acceptance\":\"At the entry's position, for each run anew.\"}}") "," ACME_PHASE("onFailure",
                                                                                            "control",
                                                                                            "}}"),
    "");

static void trying_entry(mwl_phase *phase, void *user) {
    (void)user;
    mwl_instant now;
    mwl_phase_now(phase, &now);
    mwl_phase_arm(phase, now.mono_ns + 5 * S);
}
static void trying_failure(mwl_phase *phase, void *user) {
    (void)user;
    if (mwl_phase_runs(phase) < 4) mwl_phase_reenter(phase, MWL_REENTER_RESTORE, S);
}

static char said[2][64];
static size_t said_len[3];
static void saying_elapsed(mwl_phase *phase, void *user) {
    (void)user;
    said_len[0] = mwl_phase_inside(phase, said[0], sizeof said[0]);
    said_len[1] = mwl_phase_inside(phase, said[1], 10);
    said_len[2] = mwl_phase_inside(phase, NULL, 0);
    mwl_phase_interrupt(phase, mwl_failure(mwl_phase_heap(phase), "timeout", "Acme.Late", said[0],
                                           mwl_absent(), mwl_absent()));
}

/* A middleware that sets a bound can say what it interrupts. */
UTEST_F(host_middleware, says_what_it_interrupts) {
    host *h = &utest_fixture->h;
    const mwl_middleware saying = {.uri = ACME_URI("keep-trying"),
                                   .document = trying_doc,
                                   .flags = MWL_MW_RESTORES,
                                   .entry = trying_entry,
                                   .elapsed = saying_elapsed};
    const mwl_asm_provider document = {saying.uri, trying_doc, strlen(trying_doc)};
    ASSERT_EQ((int)mwl_vm_provide_middleware(h->f.vm, &saying, 1, NULL, NULL), (int)MWL_OK);
    h->f.documents = &document;
    h->f.n_documents = 1;
    EXPECT_TRUE(
        strstr(
            run(h,
                CALL("{'provider':'" ACME_URI(
                         "keep-trying") "'},{'provider':" RETRY
                                        ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},"
                                        "'attempts':9,'backoff':{'initial':'PT3S'}}]}}}",
                     "{'failure':{'code':'No'}}"),
                "1"),
            "Acme.Late") != NULL);
    EXPECT_STREQ(said[0], "waiting for attempt 3, after No");
    EXPECT_STREQ(said[1], "waiting f");
    EXPECT_EQ(said_len[0], strlen(said[0]));
    EXPECT_EQ(said_len[1], (size_t)9);
    EXPECT_EQ(said_len[2], (size_t)0);
}

/* A Result that was consumed for a re-run was accepted, but the race continues: the bound of the
 * entry covers all its runs and the waits between them. */
UTEST_F(host_middleware, a_bound_spans_the_runs_of_its_own_entry) {
    host *h = &utest_fixture->h;
    const mwl_middleware trying = {.uri = ACME_URI("keep-trying"),
                                   .document = trying_doc,
                                   .flags = MWL_MW_RESTORES,
                                   .entry = trying_entry,
                                   .failure = trying_failure};
    const mwl_asm_provider document = {trying.uri, trying_doc, strlen(trying_doc)};
    ASSERT_EQ((int)mwl_vm_provide_middleware(h->f.vm, &trying, 1, NULL, NULL), (int)MWL_OK);
    h->f.documents = &document;
    h->f.n_documents = 1;
#define TRYING(delay)                                                                              \
    CALL("{'provider':'" ACME_URI("keep-trying") "'}",                                             \
         "{'delay':'" delay "','failure':{'code':'No'}}")
    EXPECT_STREQ(run(h, TRYING("PT0.25S"), "1"),
                 "{'code':'No','type':'error'}"); /* 4 runs and 3 waits */
    EXPECT_EQ(h->f.took_ns, 4 * S);
    EXPECT_TRUE(strstr(run(h, TRYING("PT1S"), "1"), "Mwlvm.BoundElapsed") !=
                NULL); /* at the wait after the third */
    EXPECT_EQ(h->f.took_ns, 5 * S);
    EXPECT_TRUE(strstr(run(h, TRYING("PT2.5S"), "1"), "Mwlvm.BoundElapsed") !=
                NULL); /* in the second */
    EXPECT_EQ(h->f.took_ns, 5 * S);
}

/* ---- contributed metadata -------------------------------------------------------------------- */

#define MEASURE_DOC(name, metadata) MEASURE_DOC_OF("side-effect", name, metadata)
#define MEASURE_DOC_OF(kind, name, metadata)                                                       \
    ACME_DOC(name, "Measure",                                                                      \
             ACME_PHASE("onEntry", kind, "}") ACME_PARAMETERS(                                     \
                 "\"say\":{\"type\":\"object\"}") "}," ACME_PHASE("onSuccess", "side-effect", "}") \
                 ACME_PARAMETERS("\"say\":{\"type\":\"object\"}") "}",                             \
             metadata)

/* Contributes each member of `say`. */
static void measure(mwl_phase *phase, void *user) {
    (void)user;
    mwl_value say = acme_argument(phase, "say"), key, value;
    for (size_t i = 0; mwl_object_at(say, i, &key, &value); i++) {
        size_t len;
        mwl_phase_contribute(phase, mwl_as_text(key, &len), mwl_value_keep(value));
    }
}

#define MEASURE(name, metadata)                                                                    \
    {                                                                                              \
        .uri = ACME_URI(name), .document = MEASURE_DOC(name, metadata), .entry = measure,          \
        .success = measure                                                                         \
    }
static const mwl_middleware measures[] = {
    MEASURE("strict",
            ",\"metadata\":{\"type\":\"object\",\"required\":[\"size\",\"note\"],\"properties\":"
            "{\"size\":{\"type\":\"number\"},\"note\":{\"type\":\"string\"}}}"),
    MEASURE("open",
            ",\"metadata\":{\"type\":\"object\",\"additionalProperties\":true,\"properties\":{}}"),
    MEASURE("mute", ""),
};

/* The content of middleware.metadata in the blocks of onEntry and onSuccess, for these
 * contributions. */
static const char *contributed(host *h, const char *name, const char *entry, const char *success) {
    static const char text[] =
        FLOW("'a':{'action':'Call','middleware':[{'provider':'mwl:provider.middleware/acme/%s/v1',"
             "'onEntry':{'with':{'say':%s},'assign':{'e':'{{ middleware.metadata }}'}},"
             "'onSuccess':{'with':{'say':%s},'assign':{'s':'{{ middleware.metadata }}'}}}],"
             "'call':{'provider':" MOCK "},'output':'{{ [vars.e, vars.s] }}','next':'done'}," DONE);
    char definition[2048];
    snprintf(definition, sizeof definition, text, name, entry, success);
    return run(h, definition, "1");
}

UTEST_F(host_middleware, contributes_what_its_document_declares) {
    host *h = &utest_fixture->h;
    mwl_asm_provider documents[3];
    ASSERT_EQ((int)mwl_vm_provide_middleware(h->f.vm, measures, 3, NULL, NULL), (int)MWL_OK);
    for (size_t i = 0; i < 3; i++)
        documents[i] =
            (mwl_asm_provider){measures[i].uri, measures[i].document, strlen(measures[i].document)};
    h->f.documents = documents;
    h->f.n_documents = 3;
#define AT "'enteredAt':'2026-01-01T00:00:00Z'"
#define BOTH(entry, success) "{'type':'success','value':[{" AT entry "},{" AT success "}]}"
    /* entry-level state, one member at a time: a required member may come in a later phase */
    EXPECT_STREQ(contributed(h, "strict", "{'size':3}", "{'note':'n'}"),
                 BOTH(",'size':3", ",'note':'n','size':3"));
    EXPECT_STREQ(contributed(h, "strict", "{'size':'big'}", "{'size':3}"), BOTH("", ",'size':3"));
    EXPECT_STREQ(contributed(h, "strict", "{'size':3}", "{'size':'big','note':'n'}"),
                 BOTH(",'size':3", ",'note':'n','size':3"));
    EXPECT_STREQ(contributed(h, "strict", "{'other':1}", "{'other':1,'size':4}"),
                 BOTH("", ",'size':4"));
    /* the engine sets the universal pair, even if the schema allows the names */
    EXPECT_STREQ(contributed(h, "open", "{'other':1,'enteredAt':5}", "{'exitedAt':'x'}"),
                 BOTH(",'other':1", ",'other':1"));
    EXPECT_STREQ(contributed(h, "mute", "{'other':1}", "{'size':1}"),
                 BOTH("", "")); /* no schema, no member */
}

/* Bounds its scope to a minute, before or after it contributes. */
static void bound_first(mwl_phase *phase, void *user) {
    mwl_phase_arm_for(phase, 60 * S);
    measure(phase, user);
}
static void bound_last(mwl_phase *phase, void *user) {
    measure(phase, user);
    mwl_phase_arm_for(phase, 60 * S);
}

#define UNTIL                                                                                      \
    ",\"metadata\":{\"type\":\"object\",\"properties\":{\"until\":{\"type\":\"string\"},\"a\":{\"type\":\"number\"}}}"
#define BOUNDED(name, act, member, metadata)                                                       \
    {                                                                                              \
        .uri = ACME_URI(name), .document = MEASURE_DOC_OF("control", name, metadata),              \
        .deadline = member, .entry = act, .success = measure                                       \
    }
static const mwl_middleware bounds[] = {
    BOUNDED("first", bound_first, "until", UNTIL),
    BOUNDED("last", bound_last, "until", UNTIL),
    BOUNDED("untold", bound_first, NULL, UNTIL),
};

UTEST_F(host_middleware, a_deadline_is_metadata_that_the_machine_writes) {
    host *h = &utest_fixture->h;
    mwl_asm_provider documents[3];
    ASSERT_EQ((int)mwl_vm_provide_middleware(h->f.vm, bounds, 3, NULL, NULL), (int)MWL_OK);
    for (size_t i = 0; i < 3; i++)
        documents[i] =
            (mwl_asm_provider){bounds[i].uri, bounds[i].document, strlen(bounds[i].document)};
    h->f.documents = documents;
    h->f.n_documents = 3;
#define TOLD ",'until':'2026-01-01T00:01:00Z'"
#define MEMBERS(more) "{'type':'success','value':[{" more "},{" more "}]}"
    EXPECT_STREQ(contributed(h, "first", "{}", "{}"), MEMBERS(AT TOLD));
    EXPECT_STREQ(contributed(h, "first", "{'a':1}", "{}"), MEMBERS("'a':1," AT TOLD));
    EXPECT_STREQ(contributed(h, "last", "{'a':1}", "{}"), MEMBERS("'a':1," AT TOLD));
    EXPECT_STREQ(contributed(h, "last", "{}", "{'a':1}"),
                 "{'type':'success','value':[{" AT TOLD "},{'a':1," AT TOLD "}]}");
    EXPECT_STREQ(contributed(h, "untold", "{}", "{}"), MEMBERS(AT));
    /* it is the bound: work that takes longer is interrupted */
    EXPECT_STREQ(run(h, CALL("{'provider':'" ACME_URI("first") "'}", "{'delay':'PT59S'}"), "1"),
                 "{'type':'success','value':1}");
    EXPECT_TRUE(
        strstr(run(h, CALL("{'provider':'" ACME_URI("first") "'}", "{'delay':'PT61S'}"), "1"),
               "'code':'Mwlvm.BoundElapsed'") != NULL);
}

/* ---- constant arguments are taken up once ---------------------------------------------------- */

static mwl_value count_say(mwl_heap *heap, mwl_value arguments, void *user) {
    (void)heap;
    ++*(int *)user;
    return mwl_number((double)mwl_count(mwl_get(arguments, "say")));
}

/* Contributes the prepared value, if there is one. */
static void tell_prepared(mwl_phase *phase, void *user) {
    (void)user;
    mwl_value n = mwl_phase_prepared(phase);
    mwl_phase_contribute(phase, "n", mwl_is_absent(n) ? mwl_null() : mwl_value_keep(n));
}

static const mwl_middleware prepares = {
    .uri = ACME_URI("prepares"),
    .document =
        MEASURE_DOC("prepares", ",\"metadata\":{\"type\":\"object\",\"properties\":{\"n\":{}}}"),
    .entry = tell_prepared,
    .success = tell_prepared,
    .prepare = count_say};

UTEST_F(host_middleware, prepares_constant_arguments_once) {
    host *h = &utest_fixture->h;
    int prepared = 0;
    mwl_asm_provider document = {prepares.uri, prepares.document, strlen(prepares.document)};
    ASSERT_EQ((int)mwl_vm_provide_middleware(h->f.vm, &prepares, 1, &prepared, NULL), (int)MWL_OK);
    h->f.documents = &document;
    h->f.n_documents = 1;
    EXPECT_STREQ(contributed(h, "prepares", "{'a':1,'b':2}", "{}"), MEMBERS(AT ",'n':2"));
    EXPECT_STREQ(flow_again(&h->f, "1"), MEMBERS(AT ",'n':2"));
    EXPECT_EQ(prepared, 1);
    /* computed arguments have no prepared value */
    EXPECT_STREQ(contributed(h, "prepares", "'{{ {string(step.input): 1} }}'", "{}"),
                 MEMBERS(AT ",'n':null"));
    EXPECT_EQ(prepared, 1);
}

/* ---- registration ---------------------------------------------------------------------------- */

#define CALL_DOC(uri, type)                                                                        \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" uri                    \
    "\",\"codePrefix\":\"X\","                                                                     \
    "\"description\":\"d\",\"parameters\":{\"type\":" type                                         \
    "},\"failureCatalog\":{\"closed\":[],\"open\":[]}}"
#define OBJECT "\"object\""

static void echo(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
}

#define CALLS ACME_URI("calls")
#define CALLS_DOC                                                                                   \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" CALLS                   \
    "\",\"codePrefix\":\"X\",\"description\":\"d\",\"attachment\":[\"step\",\"flow\"],\"phases\":{" \
    "\"onFailure\":{\"action\":{\"kind\":\"side-effect\",\"description\":\"d\"},\"parameters\":{"   \
    "\"type\":\"object\",\"required\":[\"call\"],\"properties\":{\"call\":{\"type\":\"object\"},"   \
    "\"middleware\":{\"type\":\"array\"}}},\"structural\":[\"call\",\"middleware\"]}},"             \
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}"

static void call_at_failure(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_dispatch(phase);
}

/* spec: execution-model, the conversion seam: a failed cleanup is never hidden; call-interface,
 * unified targets: a provider and a Flow are treated alike. */
UTEST(structural_call, a_failed_cleanup_is_not_hidden_by_an_interrupted_call) {
    static const mwl_middleware calls = {
        .uri = CALLS, .document = CALLS_DOC, .failure = call_at_failure};
    static const char *const targets[] = {
        "{'provider':" MOCK ",'with':{'delay':'PT5S'}}",
        "{'flow':{'entrypoint':'s','steps':{'s':{'action':'Sleep','for':'PT5S','next':'e'},"
        "'e':{'action':'Return'}}}}"};
    const mwl_asm_provider document = {CALLS, CALLS_DOC, strlen(CALLS_DOC)};
    flow f;
    mwl_error error = {MWL_OK, "", 0};
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_EQ((int)mwl_vm_provide_middleware(f.vm, &calls, 1, NULL, &error), (int)MWL_OK);
    f.documents = &document;
    f.n_documents = 1;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        char text[2048];
        snprintf(text, sizeof text,
                 CALL("{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT2S'}}},"
                      "{'provider':'" CALLS "','onFailure':{'with':{'call':%s}}},"
                      "{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK
                      ",'with':{'failure':{'code':'Cleanup.Failed'}}}}}}",
                      "{}"),
                 targets[i]);
        mwl_program_release(f.program);
        f.program = NULL;
        const char *result = flow_load(&f, text) ? flow_again(&f, "1") : f.result;
        const char *failed = strstr(result, "Cleanup.Failed"),
                   *cancelled = strstr(result, "System.Cancelled"),
                   *exceeded = strstr(result, "Timeout.Exceeded");
        EXPECT_TRUE(failed && cancelled && exceeded);
        EXPECT_TRUE(failed < cancelled && cancelled < exceeded);
    }
    flow_close(&f);
}

UTEST(registration, refusals_say_what_is_wrong) {
#define ACME_CALL "mwl:provider.call/acme/x/v1"
    static const struct {
        mwl_call_provider p;
        mwl_status status;
        const char *says;
    } rows[] = {
        {{.uri = ACME_CALL, .document = CALL_DOC(ACME_CALL, OBJECT), .start = echo}, MWL_OK, NULL},
        {{.uri = ACME_CALL, .document = CALL_DOC(ACME_CALL, OBJECT), .start = echo},
         MWL_E_DUPLICATE,
         "already"},
        {{.uri = ACME_CALL, .document = NULL, .start = echo}, MWL_E_USAGE, "document"},
        {{.uri = ACME_CALL, .document = CALL_DOC(ACME_CALL, OBJECT), .start = NULL},
         MWL_E_USAGE,
         "start"},
        {{.uri = ACME_CALL, .document = "{", .start = echo}, MWL_E_REJECTED, "line 1"},
        {{.uri = ACME_CALL,
          .document = CALL_DOC("mwl:provider.call/acme/y/v1", OBJECT),
          .start = echo},
         MWL_E_REJECTED,
         "acme/y/v1"},
        {{.uri = ACME_URI("x"), .document = CALL_DOC(ACME_CALL, OBJECT), .start = echo},
         MWL_E_REJECTED,
         "begins with"},
        {{.uri = "mwl:provider.call/acme/z/v1",
          .document = CALL_DOC("mwl:provider.call/acme/z/v1", "7"),
          .start = echo},
         MWL_E_REJECTED,
         "acme/z/v1"},
        {{.uri = "mwl:provider.call/mwl/x/v1",
          .document = CALL_DOC("mwl:provider.call/mwl/x/v1", OBJECT),
          .start = echo},
         MWL_E_REJECTED,
         "'mwl'"},
        {{.uri = "mwl:provider.call/example/x/v1",
          .document = CALL_DOC("mwl:provider.call/example/x/v1", OBJECT),
          .start = echo},
         MWL_E_REJECTED,
         "'example'"},
    };
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl_error error = {MWL_OK, "", 0};
        EXPECT_EQ((int)mwl_vm_provide(f.vm, &rows[i].p, 1, NULL, &error), (int)rows[i].status);
        EXPECT_EQ((int)error.status, (int)rows[i].status);
        if (!rows[i].says || strstr(error.message, rows[i].says)) continue;
        EXPECT_STREQ(error.message, rows[i].says);
    }
    EXPECT_EQ((int)mwl_vm_provide(f.vm, &rows[4].p, 1, NULL, NULL),
              (int)MWL_E_REJECTED); /* error may be NULL */
    flow_close(&f);
}

UTEST(registration, an_action_must_be_declared) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    mwl_middleware m = acme_middleware[2];
    m.success = acme_notify_success;
    mwl_error error = {MWL_OK, "", 0};
    EXPECT_EQ((int)mwl_vm_provide_middleware(f.vm, &m, 1, NULL, &error), (int)MWL_E_REJECTED);
    EXPECT_TRUE(strstr(error.message, "onSuccess") != NULL);
    m.success = NULL;
    m.run_count = "tries";
    EXPECT_EQ((int)mwl_vm_provide_middleware(f.vm, &m, 1, NULL, &error), (int)MWL_E_REJECTED);
    EXPECT_TRUE(strstr(error.message, "'tries'") != NULL);
    m.run_count = NULL;
    m.deadline = "until";
    EXPECT_EQ((int)mwl_vm_provide_middleware(f.vm, &m, 1, NULL, &error), (int)MWL_E_REJECTED);
    EXPECT_TRUE(strstr(error.message, "'until'") != NULL);
    flow_close(&f);
}

UTEST_MAIN()
