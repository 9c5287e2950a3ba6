/* test_given.c: what a host gives to a run is checked as the result of an expression is. */
#include "utest.h"

#include "run_flow.h"
#include "styles.h"

#include <math.h>

#define ODD STYLES_URI("odd")
#define ODD_BLOCKING STYLES_URI("odd-blocking")
#define CALL(uri)                                                                                  \
    FLOW("'a':{'action':'Call','call':{'provider':'" uri "'},'next':'z'},'z':{'action':'Return'}")

/* What the provider settles with. */
static void (*settle)(mwl_call *call);

static void odd(mwl_call *call, void *user) {
    (void)user;
    settle(call);
}

static const mwl_call_provider providers[] = {
    {.uri = ODD, .document = STYLES_DOC("odd"), .start = odd},
    {.uri = ODD_BLOCKING, .document = STYLES_DOC("odd-blocking"), .blocking = odd},
};

static bool open_with(flow *f, size_t stack_bytes) {
    memset(f, 0, sizeof *f);
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    c.stack_bytes = stack_bytes;
    static mwl_asm_provider documents[2];
    for (size_t i = 0; i < 2; i++)
        documents[i] = (mwl_asm_provider){providers[i].uri, providers[i].document,
                                          strlen(providers[i].document)};
    f->documents = documents;
    f->n_documents = 2;
    return mwl_vm_new(&c, &f->vm) == MWL_OK && mwl_std_register(f->vm, NULL) == MWL_OK &&
           mwl_vm_provide(f->vm, providers, 2, NULL, NULL) == MWL_OK;
}

/* ---- successes ------------------------------------------------------------------------------- */

static void gives_int(mwl_call *c) { mwl_call_succeed(c, mwl_int(5)); }
static void gives_uint(mwl_call *c) { mwl_call_succeed(c, mwl_uint(UINT64_C(1) << 53)); }
static void gives_big_int(mwl_call *c) { mwl_call_succeed(c, mwl_int((INT64_C(1) << 53) + 1)); }
static void gives_nan(mwl_call *c) { mwl_call_succeed(c, mwl_number((double)NAN)); }
static void gives_bytes(mwl_call *c) { mwl_call_succeed(c, mwl_bytes(mwl_call_heap(c), "x", 1)); }
static void gives_timestamp(mwl_call *c) { mwl_call_succeed(c, mwl_timestamp(0, 0)); }
static void gives_nested(mwl_call *c) {
    mwl_heap *h = mwl_call_heap(c);
    mwl_value list = mwl_array_push(h, mwl_array(h, 1), mwl_int(-7));
    mwl_call_succeed(c, mwl_object_set(h, mwl_object(h, 1), "list", 4, list));
}
static void gives_nested_bytes(mwl_call *c) {
    mwl_heap *h = mwl_call_heap(c);
    mwl_value list = mwl_array_push(h, mwl_array(h, 1), mwl_bytes(h, "x", 1));
    mwl_call_succeed(c, mwl_object_set(h, mwl_object(h, 1), "list", 4, list));
}
static void gives_latin1(mwl_call *c) {
    mwl_call_succeed(c, mwl_string(mwl_call_heap(c), "caf\xE9", 4));
}

/* ---- failures -------------------------------------------------------------------------------- */

static void fails_latin1(mwl_call *c) {
    mwl_call_fail(c, NULL, "Acme.No", "caf\xE9 \xE2\x82", mwl_absent());
}
static void fails_latin1_code(mwl_call *c) { mwl_call_fail(c, NULL, "\xE9", NULL, mwl_absent()); }
static void fails_without_code(mwl_call *c) { mwl_call_fail(c, NULL, NULL, NULL, mwl_null()); }
static void fails_as_success(mwl_call *c) {
    mwl_call_fail(c, "success", "Acme.No", NULL, mwl_absent());
}
static void fails_with_int(mwl_call *c) { mwl_call_fail(c, NULL, "Acme.No", NULL, mwl_int(3)); }
static void fails_with_bytes(mwl_call *c) {
    mwl_call_fail(c, NULL, "Acme.No", NULL, mwl_bytes(mwl_call_heap(c), "x", 1));
}

/* ---- Results --------------------------------------------------------------------------------- */

static const char *result_text;
static void settles_text(mwl_call *c) {
    mwl_value v = mwl_absent();
    char *text = flow_quoted(result_text);
    (void)mwl_json_parse(mwl_call_heap(c), text, strlen(text), &v, NULL);
    free(text);
    mwl_call_settle(c, v);
}

#define REFUSED(reason) "{'code':'Mwlvm.ResultRefused','message':'" reason "','type':'error'}"

UTEST(given, what_a_call_settles_with) {
    static const struct {
        void (*settle)(mwl_call *call);
        const char *text, *result;
    } rows[] = {
        {gives_int, NULL, "{'type':'success','value':5}"},
        {gives_uint, NULL, "{'type':'success','value':9007199254740992}"},
        {gives_nested, NULL, "{'type':'success','value':{'list':[-7]}}"},
        {gives_big_int, NULL,
         REFUSED("the value is the int 9007199254740993, beyond 2^53, which has no JSON form")},
        {gives_nan, NULL, REFUSED("the value is NaN, which has no JSON form")},
        {gives_bytes, NULL, REFUSED("the value is bytes, which has no JSON form")},
        {gives_timestamp, NULL, REFUSED("the value is a timestamp, which has no JSON form")},
        {gives_nested_bytes, NULL,
         REFUSED("the value at ['list'][0] is bytes, which has no JSON form")},
        {gives_latin1, NULL, REFUSED("the value could not be made: the text is not valid UTF-8")},
        {fails_latin1, NULL,
         "{'code':'Acme.No','message':'caf\xEF\xBF\xBD \xEF\xBF\xBD\xEF\xBF\xBD','type':'error'}"},
        {fails_latin1_code, NULL,
         REFUSED("the value could not be made: the text is not valid UTF-8")},
        {fails_without_code, NULL, NULL},
        {fails_as_success, NULL, REFUSED("a failure's `type` must not be 'success'")},
        {fails_with_int, NULL, "{'code':'Acme.No','details':3,'type':'error'}"},
        {fails_with_bytes, NULL,
         REFUSED("the failure at ['details'] is bytes, which has no JSON form")},
        {settles_text, "5", REFUSED("a failure must be an object")},
        {settles_text, "{}", REFUSED("a failure's `type` must be a string")},
        {settles_text, "{'type':5,'code':'A'}", REFUSED("a failure's `type` must be a string")},
        {settles_text, "{'type':'error'}", REFUSED("a failure's `code` must be a string")},
        {settles_text, "{'type':'error','code':'A','previous':7}",
         REFUSED("a failure's `previous` must be a non-success Result or null")},
        {settles_text, "{'type':'error','code':'A','previous':null}",
         "{'code':'A','previous':null,'type':'error'}"},
        {settles_text, "{'type':'success','value':[1]}", "{'type':'success','value':[1]}"},
        {settles_text, "{'type':'success'}", "{'type':'success','value':null}"},
    };
    static const char *const flows[] = {CALL(ODD), CALL(ODD_BLOCKING)};
    for (size_t k = 0; k < 2; k++) {
        flow f;
        ASSERT_TRUE(open_with(&f, 0));
        ASSERT_TRUE(flow_load(&f, flows[k]));
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            settle = rows[i].settle;
            result_text = rows[i].text;
            const char *result = flow_again(&f, "null");
            if (rows[i].result)
                EXPECT_STREQ(result, rows[i].result);
            else
                EXPECT_TRUE(strstr(result, "Mwlvm.ResultRefused") != NULL);
        }
        flow_close(&f);
    }
}

UTEST(given, a_refused_value_can_be_caught) {
    flow f;
    settle = gives_bytes;
    ASSERT_TRUE(open_with(&f, 0));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Call','call':{'provider':'" ODD
                                   "'},'next':'z','catch':[{'match':{'codes':['Mwlvm.*']},"
                                   "'output':'caught','next':'z'}]},'z':{'action':'Return'}")));
    EXPECT_STREQ(flow_again(&f, "null"), "{'type':'success','value':'caught'}");
    flow_close(&f);
}

/* ---- the start of a run ---------------------------------------------------------------------- */

UTEST(given, what_a_run_starts_with) {
    flow f;
    ASSERT_TRUE(open_with(&f, 0));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Return'}")));
    mwl_heap *h = mwl_vm_heap(f.vm);
    mwl_error error = {MWL_OK, "", 0};
    mwl_start start = {.input = mwl_int(5)};
    ASSERT_EQ((int)mwl_run_start(f.vm, f.program, &start, &f.run, &error), (int)MWL_OK);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    flow_finish(&f);
    EXPECT_STREQ(f.result, "{\"type\":\"success\",\"value\":5}");

    start.input = mwl_bytes(h, "x", 1);
    EXPECT_EQ((int)mwl_run_start(f.vm, f.program, &start, &f.run, &error), (int)MWL_E_NOT_JSON);
    EXPECT_STREQ(error.message, "the input is bytes, which has no JSON form");
    mwl_value_drop(h, start.input);

    start.input = mwl_null();
    start.arguments = mwl_object_set(h, mwl_object(h, 1), "n", 1, mwl_number((double)INFINITY));
    EXPECT_EQ((int)mwl_run_start(f.vm, f.program, &start, &f.run, &error), (int)MWL_E_NOT_JSON);
    EXPECT_STREQ(error.message, "the arguments at ['n'] is infinity, which has no JSON form");
    mwl_value_drop(h, start.arguments);

    mwl_start named = {.id = "caf\xE9"};
    EXPECT_EQ((int)mwl_run_start(f.vm, f.program, &named, &f.run, &error), (int)MWL_E_UTF8);
    flow_close(&f);
}

static void waits(mwl_call *c) { (void)c; }

UTEST(given, a_reason_that_is_not_utf8_is_repaired) {
    flow f;
    settle = waits;
    ASSERT_TRUE(open_with(&f, 0));
    ASSERT_TRUE(flow_load(&f, CALL(ODD)) && flow_start(&f, "null"));
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_run_cancel(f.run, "\xE9");
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    flow_finish(&f);
    EXPECT_TRUE(strstr(f.result, "\"details\":{\"reason\":\"\xEF\xBF\xBD\"}") != NULL);
    flow_close(&f);
}

/* ---- no stack -------------------------------------------------------------------------------- */

UTEST(given, without_a_stack_the_call_fails_and_cleanup_runs) {
    flow f;
    settle = gives_int;
    ASSERT_TRUE(open_with(&f, (size_t)1 << 60)); /* more than the system gives */
    ASSERT_TRUE(flow_load(
        &f,
        FLOW("'a':{'action':'Call','call':{'provider':'" ODD_BLOCKING
             "'},'middleware':[{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK
             ",'with':{'outcomes':[{'type':'error','code':'Cleanup.Ran'}]}}}}}],'next':'z'},"
             "'z':{'action':'Return'}")));
    const char *result = flow_again(&f, "null");
    EXPECT_TRUE(strstr(result, "Cleanup.Ran") != NULL);
    EXPECT_TRUE(strstr(result, "'code':'Mwlvm.NoStack'") != NULL);
    EXPECT_TRUE(strstr(result, "'retryable':true") != NULL);
    flow_close(&f);
}

/* ---- middleware ------------------------------------------------------------------------------ */

#define MW "mwl:provider.middleware/acme/verdict/v1"
#define PHASE(name, kind)                                                                          \
    "\"" name "\":{\"action\":{\"kind\":\"" kind "\",\"description\":\"Acts.\"}}"
static const char verdict_doc[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" MW "\","
    "\"codePrefix\":\"Verdict\",\"description\":\"A test.\",\"attachment\":[\"step\"],"
    "\"phases\":{" PHASE("onEntry", "control") "," PHASE("onSuccess", "control") "," PHASE(
        "onFailure",
        "control") "," PHASE("onAlways",
                             "side-effect") "},"
                                            "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";

/* What the action of each phase does, and the status that its verdict returned. */
typedef mwl_status verdict(mwl_phase *phase);
static verdict *verdicts[4];
static mwl_status said[4];

static void act(mwl_phase *phase, unsigned i) {
    if (verdicts[i]) said[i] = verdicts[i](phase);
}
static void on_entry(mwl_phase *p, void *user) {
    (void)user;
    act(p, 0);
}
static void on_success(mwl_phase *p, void *user) {
    (void)user;
    act(p, 1);
}
static void on_failure(mwl_phase *p, void *user) {
    (void)user;
    act(p, 2);
}
static void on_always(mwl_phase *p, void *user) {
    (void)user;
    act(p, 3);
}

static mwl_value some_bytes(mwl_phase *p) { return mwl_bytes(mwl_phase_heap(p), "x", 1); }
static mwl_status sub_int(mwl_phase *p) { return mwl_phase_substitute(p, true, mwl_int(5)); }
static mwl_status sub_bytes(mwl_phase *p) { return mwl_phase_substitute(p, true, some_bytes(p)); }
static mwl_status sub_text_as_failure(mwl_phase *p) {
    return mwl_phase_substitute(p, false, mwl_string(mwl_phase_heap(p), "no", 2));
}
static mwl_status turn_int(mwl_phase *p) { return mwl_phase_transform(p, mwl_int(6)); }
static mwl_status turn_bytes(mwl_phase *p) { return mwl_phase_transform(p, some_bytes(p)); }
static mwl_status no_code(mwl_phase *p) {
    return mwl_phase_fail(p, NULL, NULL, NULL, some_bytes(p));
}
static mwl_status arm(mwl_phase *p) { return mwl_phase_arm_for(p, 1); }
static mwl_status interrupt(mwl_phase *p) { return mwl_phase_interrupt(p, some_bytes(p)); }
static mwl_status reenter(mwl_phase *p) { return mwl_phase_reenter(p, 0, 0); }
static mwl_status restore(mwl_phase *p) { return mwl_phase_reenter(p, MWL_REENTER_RESTORE, 0); }
static mwl_status twice(mwl_phase *p) {
    mwl_status first = sub_int(p);
    return first < 0 ? first : turn_int(p);
}
static mwl_status say_bytes(mwl_phase *p) { return mwl_phase_contribute(p, "a", some_bytes(p)); }
static mwl_status say_nothing(mwl_phase *p) { return mwl_phase_contribute(p, NULL, mwl_null()); }

UTEST(given, what_a_verdict_brings) {
    static const char passed[] = "{'type':'success','value':1}",
                      failed[] = "{'code':'No','type':'error'}";
    static const struct {
        verdict *give;
        unsigned phase;
        bool fails; /* the call */
        mwl_status status;
        const char *result; /* or a part of it */
    } rows[] = {
        {sub_int, 0, false, MWL_OK, "{'type':'success','value':5}"},
        {sub_int, 1, false, MWL_OK, "{'type':'success','value':5}"},
        {sub_int, 3, false, MWL_E_STATE, passed},
        {sub_bytes, 0, false, MWL_E_NOT_JSON, "'Mwlvm.ResultRefused'"},
        {sub_bytes, 1, false, MWL_E_NOT_JSON, "'Mwlvm.ResultRefused'"},
        {sub_text_as_failure, 2, true, MWL_E_NOT_JSON, "a failure must be an object"},
        {turn_int, 0, false, MWL_OK, passed},
        {turn_int, 1, false, MWL_OK, "{'type':'success','value':6}"},
        {turn_int, 2, true, MWL_E_NOT_JSON, "a failure must be an object"},
        {turn_int, 3, false, MWL_E_STATE, passed},
        {turn_int, 3, true, MWL_E_STATE, failed},
        {turn_bytes, 0, false, MWL_E_NOT_JSON, "'Mwlvm.ResultRefused'"},
        {turn_bytes, 1, false, MWL_E_NOT_JSON, "'Mwlvm.ResultRefused'"},
        {no_code, 0, false, MWL_E_USAGE, passed},
        {no_code, 3, true, MWL_E_USAGE, failed},
        {arm, 1, false, MWL_E_STATE, passed},
        {interrupt, 0, false, MWL_E_STATE, passed},
        {reenter, 0, false, MWL_E_STATE, passed},
        {reenter, 3, false, MWL_E_STATE, passed},
        {restore, 2, true, MWL_E_USAGE, failed},
        {twice, 1, false, MWL_E_STATE, "{'type':'success','value':5}"},
        {say_bytes, 1, false, MWL_E_NOT_JSON, passed},
        {say_nothing, 1, false, MWL_E_USAGE, passed},
    };
    static const mwl_middleware middleware = {.uri = MW,
                                              .document = verdict_doc,
                                              .entry = on_entry,
                                              .success = on_success,
                                              .failure = on_failure,
                                              .always = on_always};
    const mwl_asm_provider document = {MW, verdict_doc, sizeof verdict_doc - 1};
#define AROUND(with)                                                                               \
    FLOW("'a':{'action':'Call','middleware':[{'provider':'" MW "'}],'call':{'provider':" MOCK      \
         ",'with':" with "},'next':'z'},'z':{'action':'Return'}")
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        flow f;
        ASSERT_TRUE(flow_vm(&f, 1));
        f.documents = &document;
        f.n_documents = 1;
        ASSERT_EQ((int)mwl_vm_provide_middleware(f.vm, &middleware, 1, NULL, NULL), (int)MWL_OK);
        ASSERT_TRUE(flow_load(&f, rows[i].fails ? AROUND("{'failure':{'code':'No'}}")
                                                : AROUND("{'value':1}")));
        memset(verdicts, 0, sizeof verdicts);
        verdicts[rows[i].phase] = rows[i].give;
        const char *result = flow_again(&f, "null");
        EXPECT_EQ((int)said[rows[i].phase], (int)rows[i].status);
        if (!strstr(result, rows[i].result)) EXPECT_STREQ(result, rows[i].result);
        flow_close(&f);
    }
}

UTEST_MAIN()
