/* test_answers.c: metadata that a provider sets beside its Result, and an answer that has not come
 * yet. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#define S INT64_C(1000000000)
#define LATER "'" STYLES_URI("later") "'"
#define SAYS "'" STYLES_URI("says") "'"
#define SAYS_LATER "'" STYLES_URI("says-later") "'"
#define DONE "'z':{'action':'Return'}"

/* ---- window metadata ------------------------------------------------------------------------- */

/* The input's `says` is the window's metadata; with `fail` the call fails. */
static void settle(mwl_call *call) {
    mwl_value in = mwl_call_input(call);
    mwl_call_set_metadata(call, mwl_value_keep(mwl_get(in, "says")));
    if (mwl_as_bool(mwl_get(in, "fail")))
        mwl_call_fail(call, NULL, "Acme.Failed", NULL, mwl_absent());
    else
        mwl_call_succeed(call, mwl_null());
}
static void says(mwl_call *call, void *user) {
    (void)user;
    settle(call);
}
static void says_later(mwl_call *call, void *user) {
    (void)user;
    mwl_call_wake_after(call, S);
}
static void wakes(mwl_call *call, void *user) {
    (void)user;
    settle(call);
}

/* Their schema has `by`, a string, and nothing else. */
static const mwl_call_provider sayers[] = {
    {.uri = STYLES_URI("says"), .document = STYLES_DOC("says"), .start = says},
    {.uri = STYLES_URI("says-later"),
     .document = STYLES_DOC("says-later"),
     .start = says_later,
     .wake = wakes},
};

#define ARMS                                                                                       \
    "'onSuccess':{'value':'{{ provider.metadata }}'},'onFailure':{'assign':{'m':'{{ provider.metadata }}'}}"
#define ONE(provider) "'a':{'action':'Call','call':{'provider':" provider "," ARMS "},'next':'z',"
#define MANY(provider)                                                                             \
    "'a':{'action':'Gather','over':'{{ [step.input] }}','call':{'provider':" provider "," ARMS     \
    "},'next':'z',"
#define CAUGHT "'catch':[{'match':{'codes':['*']},'output':'{{ vars.m }}','next':'z'}]}," DONE

UTEST(answers, window_metadata_keeps_to_its_schema) {
    static const char *const flows[] = {FLOW(ONE(SAYS) CAUGHT), FLOW(ONE(SAYS_LATER) CAUGHT),
                                        FLOW(MANY(SAYS) CAUGHT), FLOW(MANY(SAYS_LATER) CAUGHT)};
    static const struct {
        const char *input, *window;
    } rows[] = {
        {"{'says':{'by':'hand'}}", "{'by':'hand'}"},
        {"{'says':{}}", "{}"},
        {"{'says':{'by':5}}", "{}"},
        {"{'says':{'by':'hand','to':'foot'}}",
         "{}"}, /* the metadata of a window is refused as a whole */
        {"{'says':['by']}", "{}"},
        {"{'says':{'by':'hand'},'fail':true}", "{'by':'hand'}"},
        {"{'says':{'to':'foot'},'fail':true}", "{}"},
    };
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_EQ((int)mwl_vm_provide(f.vm, sayers, 2, NULL, NULL), (int)MWL_OK);
    mwl_asm_provider documents[2];
    for (size_t i = 0; i < 2; i++)
        documents[i] =
            (mwl_asm_provider){sayers[i].uri, sayers[i].document, strlen(sayers[i].document)};
    f.documents = documents;
    f.n_documents = 2;
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        ASSERT_TRUE(flow_load(&f, flows[i]));
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++) {
            char expected[200];
            bool listed = i >= 2 && !strstr(rows[k].input, "fail");
            snprintf(expected, sizeof expected, "{'type':'success','value':%s%s%s}",
                     listed ? "[" : "", rows[k].window, listed ? "]" : "");
            EXPECT_STREQ(flow_again(&f, rows[k].input), expected);
        }
        mwl_program_release(f.program);
        f.program = NULL;
    }
    flow_close(&f);
}

/* ---- virtual time ---------------------------------------------------------------------------- */

/* While an answer from another thread is outstanding, virtual time does not wait for it but skips
 * to the next timer. If there is no timer, the VM needs only the answer, and no time passes until
 * it comes. */
UTEST(answers, virtual_time_does_not_wait_for_them) {
    static const char bounded[] = FLOW(
        "'a':{'action':'Call','call':{'provider':" LATER "},'middleware':[{'provider':" TIMEOUT
        ",'onEntry':{'with':{'duration':'PT5S'}}}],'next':'z','catch':[{'match':{'types':['timeout']},"
        "'output':'late','next':'z'}]}," DONE);
    static const char unbounded[] =
        FLOW("'a':{'action':'Call','call':{'provider':" LATER "},'next':'z'}," DONE);
    styles s;
    flow f;
    mwl_instant from, to;
    memset(&s, 0, sizeof s);
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_EQ((int)mwl_vm_provide(f.vm, styles_providers, STYLES_COUNT, &s, NULL), (int)MWL_OK);
    mwl_asm_provider documents[STYLES_COUNT];
    for (size_t i = 0; i < STYLES_COUNT; i++)
        documents[i] = (mwl_asm_provider){styles_providers[i].uri, styles_providers[i].document,
                                          strlen(styles_providers[i].document)};
    f.documents = documents;
    f.n_documents = STYLES_COUNT;

    ASSERT_TRUE(flow_load(&f, bounded) && flow_start(&f, "1"));
    mwl_vm_now(f.vm, &from);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_vm_now(f.vm, &to);
    EXPECT_EQ(to.mono_ns - from.mono_ns, 5 * S); /* the bound's instant came, not the answer */
    EXPECT_EQ(s.cancelled, 1);
    styles_answer(&s); /* its value is not used, but the interrupted execution has now ended */
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    flow_finish(&f);
    EXPECT_STREQ(f.result, "{\"type\":\"success\",\"value\":\"late\"}");
    mwl_program_release(f.program);
    f.program = NULL;

    ASSERT_TRUE(flow_load(&f, unbounded) && flow_start(&f, "1"));
    mwl_vm_now(f.vm, &from);
    EXPECT_EQ(mwl_vm_pump(f.vm, MWL_NO_BUDGET), MWL_NEVER);
    EXPECT_TRUE(styles_answer(&s));
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_vm_now(f.vm, &to);
    EXPECT_EQ(to.mono_ns, from.mono_ns);
    flow_finish(&f);
    EXPECT_STREQ(f.result, "{\"type\":\"success\",\"value\":\"answer\"}");
    flow_close(&f);
}

UTEST_MAIN()
