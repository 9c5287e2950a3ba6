/* test_std.c: the five providers through whole definitions, under virtual time. */
#include "utest.h"

#include "run_flow.h"

static flow f;

#define S INT64_C(1000000000)
#define DONE "'done':{'action':'Return'}"
/* Step a calls mock with these arguments inside this stack, then returns what it yields. */
#define CALL(stack, with) CALL_AND(stack, with, "")
#define CALL_AND(stack, with, more) \
    FLOW("'a':{'action':'Call','middleware':[" stack "],'call':{'provider':" MOCK ",'with':" with "}," more \
         "'next':'done'}," DONE)

/* ---- mock ---------------------------------------------------------------------------------------------- */

UTEST(mock, value_or_echo) {
    EXPECT_STREQ(flow_run(&f, CALL("", "{'value':{'n':1}}"), "5"), "{'type':'success','value':{'n':1}}");
    EXPECT_STREQ(flow_run(&f, CALL("", "{'value':null}"), "5"), "{'type':'success','value':null}");
    EXPECT_STREQ(flow_run(&f, CALL("", "{}"), "5"), "{'type':'success','value':5}");
}

UTEST(mock, failure_as_configured) {
    EXPECT_STREQ(flow_run(&f, CALL("", "{'failure':{'code':'X.Y'},'value':1}"), "5"),
                 "{'code':'X.Y','type':'error'}");
    EXPECT_STREQ(flow_run(&f, CALL("", "{'failure':{'code':'X.Y','type':'odd','retryable':true,'details':[1]}}"), "5"),
                 "{'code':'X.Y','details':[1],'retryable':true,'type':'odd'}");
    EXPECT_STREQ(flow_run(&f, CALL("", "{'failure':null,'value':1}"), "5"), "{'type':'success','value':1}");
}

UTEST(mock, failure_must_have_a_code) {
    EXPECT_TRUE(strstr(flow_run(&f, CALL("", "{'failure':{}}"), "5"), "System.ParameterValidationFailed") != NULL);
    EXPECT_TRUE(strstr(flow_run(&f, CALL("", "{'failure':{'code':'a','type':'success'}}"), "5"),
                       "System.ParameterValidationFailed") != NULL);
}

UTEST(mock, delay) {
    EXPECT_STREQ(flow_run(&f, CALL("", "{'delay':'PT2H','value':1}"), "5"), "{'type':'success','value':1}");
    EXPECT_EQ(f.took_ns, 7200 * S);
    EXPECT_STREQ(flow_run(&f, CALL("", "{'delay':'PT5S','failure':{'code':'a'}}"), "5"), "{'code':'a','type':'error'}");
    EXPECT_EQ(f.took_ns, 5 * S);
    flow_run(&f, CALL("", "{'delay':'-PT5S'}"), "5");
    EXPECT_EQ(f.took_ns, 0);
}

UTEST(mock, metadata_in_both_arms) {
#define ARMS(with)                                                                                    \
    FLOW("'a':{'action':'Call','call':{'provider':" MOCK ",'with':" with                              \
         ",'onSuccess':{'assign':{'m':'{{ provider.metadata.id }}'}},"                                \
         "'onFailure':{'assign':{'m':'{{ provider.metadata.id }}'}}},"                                \
         "'next':'b','catch':[{'match':{'codes':['*']},'next':'b'}]},"                                \
         "'b':{'action':'Return','value':'{{ vars.m }}'}")
    EXPECT_STREQ(flow_run(&f, ARMS("{'metadata':{'id':'r1'}}"), "5"), "{'type':'success','value':'r1'}");
    EXPECT_STREQ(flow_run(&f, ARMS("{'metadata':{'id':'r2'},'failure':{'code':'a'}}"), "5"),
                 "{'type':'success','value':'r2'}");
}

UTEST_MAIN()
