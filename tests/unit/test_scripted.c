/* test_scripted.c: tools/host/answers.c: which answer a call gets, by URI, Step, order, content and
 * condition; what it says; what happens to a call that nothing answers. */
#include "tests/unit/run_flow.h"
#include "tools/host/answers.h"
#include "utest.h"

#define PAY "mwl:provider.call/acme/pay/v1"

/* The Result of a Flow of two calls of PAY, `a` then `b`, with these answers; a failure of `a` is
 * caught and `b` gets its code. */
static char output[8192], unexpected_call[1024];

static void note(void *ctx, const struct answers_call *call) {
    (void)ctx;
    snprintf(unexpected_call, sizeof unexpected_call, "%s %s %llu: %s", call->uri, call->step,
             (unsigned long long)call->number, call->why);
}

static const char *flow_text =
    FLOW("'a':{'action':'Call','call':{'provider':'" PAY "','with':{'n':1,'deep':{'x':1,'y':2}}},"
         "'next':'b','catch':[{'match':{'codes':['*']},'output':'{{ failure.code }}','next':'b'}]},"
         "'b':{'action':'Call','call':{'provider':'" PAY "','with':{'n':2}},'next':'c'},"
         "'c':{'action':'Return'}");

static const char *answered(const char *answers, const char *uri) {
    flow f;
    char *document = answers_document(PAY), why[400] = "";
    mwl_asm_provider p = {"pay", document, strlen(document)};
    struct answers *a = NULL;
    mwl_value spec = mwl_absent();
    *unexpected_call = '\0';
    if (!flow_vm(&f, 1)) return "no VM";
    f.documents = &p;
    f.n_documents = 1;
    char *text = flow_quoted(answers);
    mwl_status st = mwl_json_parse(mwl_vm_heap(f.vm), text, strlen(text), &spec, NULL);
    if (st == MWL_OK) st = answers_new(f.vm, spec, uri, &a, why, sizeof why);
    snprintf(output, sizeof output, "%s", why);
    if (st == MWL_OK && flow_load(&f, flow_text)) {
        mwl_error error = {MWL_OK, "", 0};
        answers_listen(a, note, NULL);
        st = answers_bind_program(a, f.program, &error);
        snprintf(output, sizeof output, "%s",
                 st == MWL_OK ? flow_again(&f, "'in'") : error.message);
    } else if (st == MWL_OK) {
        snprintf(output, sizeof output, "%s", f.result);
    }
    mwl_value_drop(mwl_vm_heap(f.vm), spec);
    answers_free(a);
    flow_close(&f);
    free(text);
    free(document);
    return output;
}

#define SUCCESS(value) "{'type':'success','value':" value "}"

UTEST(scripted, one_answer_is_for_every_call) {
    ASSERT_STREQ(answered("{'" PAY "':{'value':7}}", NULL), SUCCESS("7"));
    ASSERT_STREQ(answered("{'value':7}", PAY), SUCCESS("7")); /* as --bind URI=FILE gives it */
    ASSERT_STREQ(answered("{'answers':{'*':{'value':7}}}", NULL), SUCCESS("7"));
    ASSERT_STREQ(answered("{'*':{}}", NULL), SUCCESS("'in'")); /* says nothing: the input */
}

UTEST(scripted, a_list_is_used_up_in_order) {
    ASSERT_STREQ(answered("{'" PAY "':[{'value':1},{'compute':'[input, number, step]'}]}", NULL),
                 SUCCESS("[1,2,'b']"));
    ASSERT_STREQ(answered("[{'value':1,'times':2}]", PAY), SUCCESS("1"));
    ASSERT_STREQ(answered("[{'sequence':[{'value':1},{'value':2}]}]", PAY), SUCCESS("2"));
    answered("[{'value':1}]", PAY);
    ASSERT_TRUE(strstr(output, ANSWERS_UNEXPECTED) != NULL);
    ASSERT_STREQ(unexpected_call, PAY " b 2: answer 1: used up");
}

UTEST(scripted, answers_of_a_step_come_before_those_of_a_uri) {
    ASSERT_STREQ(answered("{'" PAY "':{'value':1},'b':{'value':2}}", NULL), SUCCESS("2"));
    ASSERT_STREQ(answered("{'*':{'value':1},'a':{'value':2}}", NULL), SUCCESS("1"));
}

UTEST(scripted, calls_are_matched_by_their_content) {
    ASSERT_STREQ(
        answered("[{'with':{'n':2},'value':'two'},{'with':{'deep':{'x':1}},'value':'one'}]", PAY),
        SUCCESS("'two'"));
    ASSERT_STREQ(answered("[{'with':{'$exact':{'n':2}},'value':'two'},{'value':'one'}]", PAY),
                 SUCCESS("'two'"));
    answered("[{'with':{'$exact':{'n':1}},'value':1,'times':'any'}]", PAY);
    ASSERT_STREQ(unexpected_call, PAY " b 2: answer 1: `with` does not fit");
    ASSERT_STREQ(answered("[{'with':{'$cel':'this.n > 1'},'value':'two'},{'value':'one'}]", PAY),
                 SUCCESS("'two'"));
    ASSERT_STREQ(answered("[{'when':'with.n == 2 && step == \\\"b\\\"','value':'two'},"
                          "{'value':'one'}]",
                          PAY),
                 SUCCESS("'two'"));
    ASSERT_STREQ(answered("[{'input':'one','value':'two'},{'input':'in','value':'one'}]", PAY),
                 SUCCESS("'two'"));
}

UTEST(scripted, failures_delays_and_never) {
    ASSERT_STREQ(answered("[{'failure':{'code':'X.Y'},'delay':'PT5S'},{'compute':'input'}]", PAY),
                 SUCCESS("'X.Y'"));
    answered("{'b':'never','a':{}}", NULL);
    ASSERT_TRUE(strncmp(output, "state", 5) == 0); /* it waits for ever */
}

UTEST(scripted, a_wrong_form_is_refused_with_its_place) {
    ASSERT_STREQ(answered("[{'value':1},{'valeu':2}]", PAY),
                 "answers of '" PAY "', number 2: answer: 'valeu' is not a member of an answer");
    ASSERT_STREQ(
        answered("{'b':{'value':1,'never':true}}", NULL),
        "answers of 'b': answer: only one of `value`, `failure`, `compute` and `never` can "
        "be said");
    ASSERT_STREQ(answered("{'b':{'delay':'5s'}}", NULL),
                 "answers of 'b': delay: a duration is wanted, such as \"PT5S\"");
    ASSERT_STREQ(answered("{'b':{'when':'with.'}}", NULL) == NULL ? "" : "refused", "refused");
    ASSERT_TRUE(strstr(output, "answers of 'b': when: column") != NULL);
}

/* ---- what the answers rely on ---------------------------------------------------------------- */

static void say_place(mwl_call *call, void *user) {
    mwl_place at = {"", "", 0, 0};
    char text[64];
    (void)user;
    if (!mwl_call_place(call, &at)) return;
    snprintf(text, sizeof text, "%s/%s at %u", at.flow, at.step, at.line);
    mwl_call_succeed(call, mwl_string(mwl_call_heap(call), text, strlen(text)));
}

UTEST(scripted, a_provider_learns_the_step_that_calls_it) {
    flow f;
    char *document = answers_document(PAY);
    mwl_asm_provider p = {"pay", document, strlen(document)};
    const mwl_call_provider provider = {.uri = PAY, .document = document, .start = say_place};
    ASSERT_TRUE(flow_vm(&f, 1));
    f.documents = &p;
    f.n_documents = 1;
    ASSERT_EQ(mwl_vm_provide(f.vm, &provider, 1, NULL, NULL), MWL_OK);
    ASSERT_TRUE(flow_load(&f, FLOW_WITH("'flows':{'Sub':{'entrypoint':'s','steps':{'s':\n"
                                        "{'action':'Call','call':{'provider':'" PAY "'},"
                                        "'next':'e'},'e':{'action':'Return'}}}},",
                                        "'a':{'action':'Call','call':{'flow':'Sub'},'next':'b'},"
                                        "'b':{'action':'Return'}")));
    ASSERT_STREQ(flow_again(&f, "null"), SUCCESS("'Sub/s at 1'"));
    flow_close(&f);
    free(document);
}

UTEST_MAIN()
