/* test_std.c: the five providers through whole definitions, under virtual time; their documents. */
#include "utest.h"

#include "assembler/provider/catalog.h"
#include "tests/unit/run_flow.h"
#include "stdlib/documents.h"
#include "vm/machine/providers.h"

static flow f;

#define S INT64_C(1000000000)
#define DONE "'done':{'action':'Return'}"
/* Step a calls mock with these arguments inside this stack, then returns what it yields. */
#define CALL(stack, with) CALL_AND(stack, with, "")
#define CALL_AND(stack, with, more)                                                                \
    FLOW("'a':{'action':'Call','middleware':[" stack "],'call':{'provider':" MOCK ",'with':" with  \
         "}," more "'next':'done'}," DONE)

/* ---- mock ------------------------------------------------------------------------------------ */

UTEST(mock, value_or_echo) {
    EXPECT_STREQ(flow_run(&f, CALL("", "{'value':{'n':1}}"), "5"),
                 "{'type':'success','value':{'n':1}}");
    EXPECT_STREQ(flow_run(&f, CALL("", "{'value':null}"), "5"), "{'type':'success','value':null}");
    EXPECT_STREQ(flow_run(&f, CALL("", "{}"), "5"), "{'type':'success','value':5}");
}

UTEST(mock, failure_as_configured) {
    EXPECT_STREQ(flow_run(&f, CALL("", "{'failure':{'code':'X.Y'},'value':1}"), "5"),
                 "{'code':'X.Y','type':'error'}");
    EXPECT_STREQ(
        flow_run(&f,
                 CALL("", "{'failure':{'code':'X.Y','type':'odd','retryable':true,'details':[1]}}"),
                 "5"),
        "{'code':'X.Y','details':[1],'retryable':true,'type':'odd'}");
    EXPECT_STREQ(flow_run(&f, CALL("", "{'failure':null,'value':1}"), "5"),
                 "{'type':'success','value':1}");
}

UTEST(mock, failure_must_have_a_code) {
    EXPECT_TRUE(strstr(flow_run(&f, CALL("", "{'failure':{}}"), "5"),
                       "System.ParameterValidationFailed") != NULL);
    EXPECT_TRUE(strstr(flow_run(&f, CALL("", "{'failure':{'code':'a','type':'success'}}"), "5"),
                       "System.ParameterValidationFailed") != NULL);
}

UTEST(mock, delay) {
    EXPECT_STREQ(flow_run(&f, CALL("", "{'delay':'PT2H','value':1}"), "5"),
                 "{'type':'success','value':1}");
    EXPECT_EQ(f.took_ns, 7200 * S);
    EXPECT_STREQ(flow_run(&f, CALL("", "{'delay':'PT5S','failure':{'code':'a'}}"), "5"),
                 "{'code':'a','type':'error'}");
    EXPECT_EQ(f.took_ns, 5 * S);
    flow_run(&f, CALL("", "{'delay':'-PT5S'}"), "5");
    EXPECT_EQ(f.took_ns, 0);
}

UTEST(mock, metadata_in_both_arms) {
#define ARMS(with)                                                                                 \
    FLOW("'a':{'action':'Call','call':{'provider':" MOCK ",'with':" with                           \
         ",'onSuccess':{'assign':{'m':'{{ provider.metadata.id }}'}},"                             \
         "'onFailure':{'assign':{'m':'{{ provider.metadata.id }}'}}},"                             \
         "'next':'b','catch':[{'match':{'codes':['*']},'next':'b'}]},"                             \
         "'b':{'action':'Return','value':'{{ vars.m }}'}")
    EXPECT_STREQ(flow_run(&f, ARMS("{'metadata':{'id':'r1'}}"), "5"),
                 "{'type':'success','value':'r1'}");
    EXPECT_STREQ(flow_run(&f, ARMS("{'metadata':{'id':'r2'},'failure':{'code':'a'}}"), "5"),
                 "{'type':'success','value':'r2'}");
}

/* ---- Retry ----------------------------------------------------------------------------------- */

#define POLICY(code, attempts, more) "{'match':{'codes':['" code "']},'attempts':" attempts more "}"
#define RETRYING(policies, more)                                                                   \
    "{'provider':" RETRY ",'onEntry':{'with':{'policies':[" policies "]}}" more "}"
#define FAIL_A "{'failure':{'code':'A','message':'m'}}"
/* Fails with the codes of `codes` in turn, one a character; then succeeds. What was tried is
 * carried in vars.tried. */
#define IN_TURN(codes)                                                                             \
    "{'value':'ok','failure':'{{ size(vars.tried) < size(\\'" codes "\\') ? "                      \
    "{\\'code\\': \\'" codes "\\'.substring(size(vars.tried), size(vars.tried) + 1)} : null }}'}"
#define TRIED                                                                                      \
    "'parameters':{'type':'object','properties':{'tried':{'type':'string','default':''}}},"
#define CARRY ",'onFailure':{'assign':{'tried':'{{ vars.tried + \\'x\\' }}'}}"
#define SEQUENCE(policies, codes)                                                                  \
    FLOW_WITH(TRIED, "'a':{'action':'Call','middleware':[" RETRYING(                               \
                         policies, CARRY) "],'call':{'provider':" MOCK                             \
                                          ",'with':" IN_TURN(codes) "},'next':'done'}," DONE)

UTEST(retry, exhausted_chains_the_last_failure) {
    EXPECT_STREQ(
        flow_run(&f, CALL(RETRYING(POLICY("A", "3", ""), ""), FAIL_A), "5"),
        "{'code':'Provider.Middleware.Retry.Exhausted','details':{'attempts':3,'policy':0},"
        "'message':'gave up after 3 attempts','previous':{'code':'A','message':'m','type':'error'},"
        "'type':'error'}");
    EXPECT_EQ(f.took_ns, 0);
    EXPECT_TRUE(strstr(flow_run(&f, CALL(RETRYING(POLICY("A", "1", ""), ""), FAIL_A), "5"),
                       "'details':{'attempts':1,'policy':0}") != NULL);
}

UTEST(retry, what_no_policy_matches_passes) {
    EXPECT_STREQ(flow_run(&f, CALL(RETRYING(POLICY("B.*", "3", ""), ""), FAIL_A), "5"),
                 "{'code':'A','message':'m','type':'error'}");
}

UTEST(retry, recovers) {
    EXPECT_STREQ(flow_run(&f, SEQUENCE(POLICY("A", "3", ""), "AA"), "5"),
                 "{'type':'success','value':'ok'}");
    EXPECT_TRUE(strstr(flow_run(&f, SEQUENCE(POLICY("A", "3", ""), "AAA"), "5"), "Exhausted") !=
                NULL);
}

UTEST(retry, policies_count_for_themselves) {
#define AB POLICY("A", "2", "") "," POLICY("B", "3", "")
    EXPECT_STREQ(flow_run(&f, SEQUENCE(AB, "ABB"), "5"), "{'type':'success','value':'ok'}");
    EXPECT_TRUE(strstr(flow_run(&f,
                                SEQUENCE(AB, "BAB"
                                             "A"),
                                "5"),
                       "'details':{'attempts':4,'policy':0}") != NULL);
    EXPECT_TRUE(strstr(flow_run(&f, SEQUENCE(AB, "BABB"), "5"),
                       "'details':{'attempts':4,'policy':1}") != NULL);
    /* the first policy that matches decides, even if it is used up and another one would match
     * too */
    EXPECT_TRUE(
        strstr(flow_run(&f, SEQUENCE(POLICY("A", "1", "") "," POLICY("*", "9", ""), "BA"), "5"),
               "'details':{'attempts':2,'policy':0}") != NULL);
}

UTEST(retry, backoff_by_the_policys_own_position) {
    flow_run(
        &f,
        CALL(
            RETRYING(POLICY("A", "5", ",'backoff':{'initial':'PT30S','rate':2,'max':'PT90S'}"), ""),
            FAIL_A),
        "5");
    EXPECT_EQ(f.took_ns, (30 + 60 + 90 + 90) * S);
    flow_run(&f, CALL(RETRYING(POLICY("A", "4", ",'backoff':{'initial':'PT30S'}"), ""), FAIL_A),
             "5");
    EXPECT_EQ(f.took_ns, 90 * S);
#define SLOW_AB                                                                                    \
    POLICY("A", "9", ",'backoff':{'initial':'PT1S','rate':10}")                                    \
    "," POLICY("B", "9", ",'backoff':{'initial':'PT5S','rate':10}")
    EXPECT_STREQ(flow_run(&f, SEQUENCE(SLOW_AB, "ABAB"), "5"), "{'type':'success','value':'ok'}");
    EXPECT_EQ(f.took_ns, (1 + 5 + 10 + 50) * S);
}

UTEST(retry, a_delay_overrides_one_gap) {
#define OVERRIDE(delay)                                                                            \
    FLOW_WITH(                                                                                     \
        TRIED,                                                                                     \
        "'a':{'action':'Call','middleware':[" RETRYING(                                            \
            POLICY("*", "9", ",'backoff':{'initial':'PT1S','rate':10}"),                           \
            ",'onFailure':{'with':{'delay':" delay                                                 \
            "},'assign':{'tried':'{{ vars.tried + \\'x\\' }}'}}") "],'call':{'provider':" MOCK     \
                                                                  ",'with':" IN_TURN(              \
                                                                      "AAA") "},'next':'done'}," DONE)
    flow_run(&f, OVERRIDE("null"), "5");
    EXPECT_EQ(f.took_ns, 111 * S);
    flow_run(&f, OVERRIDE("'PT0S'"), "5");
    EXPECT_EQ(f.took_ns, 0);
    flow_run(&f, OVERRIDE("'{{ size(vars.tried) == 1 ? \\'PT7S\\' : null }}'"), "5");
    EXPECT_EQ(f.took_ns, (1 + 7 + 100) * S); /* the schedule goes by position */
    EXPECT_TRUE(strstr(flow_run(&f, OVERRIDE("'soon'"), "5"), "System.ParameterValidationFailed") !=
                NULL);
}

UTEST(retry, attempt) {
#define SEEN(v) "'" v "':'{{ middleware.metadata.attempt }}'"
    const char *flow_text = FLOW_WITH(
        TRIED,
        "'a':{'action':'Call','middleware':[{'provider':" RETRY
        ",'onEntry':{'with':{'policies':[" POLICY("*", "9", "") "]},'assign':{" SEEN(
            "entry") "}},"
                     "'onFailure':{'assign':{'tried':'{{ vars.tried + \\'x\\' }}'," SEEN(
                         "failure") "}},"
                                    "'onSuccess':{'assign':{" SEEN("success") "}},'onAlways':{'assign':{" SEEN(
                                        "always") "}}}"
                                                  "],'call':{'provider':" MOCK ",'with':" IN_TURN(
                                                      "AA") "},'next':'b'},"
                                                            "'b':{'action':'Return','value':'{{ vars }}'}");
    EXPECT_STREQ(
        flow_run(&f, flow_text, "5"),
        "{'type':'success','value':{'always':3,'entry':0,'failure':2,'success':3,'tried':'xx'}}");
}

UTEST(retry, variables_are_restored_but_for_the_carry) {
    /* the arm of the call marks every attempt; the mark of a failed attempt is removed before the
     * next */
    const char *flow_text = FLOW_WITH(
        "'parameters':{'type':'object','properties':{'tried':{'type':'string','default':''},"
        "'mark':{'type':'string','default':''}}},",
        "'a':{'action':'Call','middleware':[" RETRYING(
            POLICY("*", "9", ""),
            CARRY) "],'call':{'provider':" MOCK
                   ",'with':" IN_TURN(
                       "AAA") ",'onFailure':{'assign':{'mark':'{{ vars.mark + \\'f\\' }}'}},"
                              "'onSuccess':{'assign':{'mark':'{{ vars.mark + \\'s\\' }}'}}},'next':'b'},"
                              "'b':{'action':'Return','value':'{{ vars }}'}");
    EXPECT_STREQ(flow_run(&f, flow_text, "5"),
                 "{'type':'success','value':{'mark':'s','tried':'xxx'}}");
}

UTEST(retry, gated) {
    EXPECT_STREQ(
        flow_run(&f,
                 CALL("{'provider':" RETRY
                      ",'onEntry':{'when':false,'with':{'policies':[" POLICY("*", "3", "") "]}}}",
                      FAIL_A),
                 "5"),
        "{'code':'A','message':'m','type':'error'}");
    EXPECT_STREQ(
        flow_run(&f, CALL(RETRYING(POLICY("*", "3", ""), ",'onFailure':{'when':false}"), FAIL_A),
                 "5"),
        "{'code':'A','message':'m','type':'error'}");
}

UTEST(retry, jitter_is_bounded_and_repeats_with_its_seed) {
    static const struct {
        const char *mode;
        int64_t low, high; /* of 10 + 20 + 40 seconds, or of the recurrence */
    } rows[] = {
        {"none", 70, 70}, {"full", 0, 70}, {"equal", 35, 70}, {"decorrelated", 30, 30 + 90 + 270}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[2048];
        snprintf(
            text, sizeof text,
            CALL(RETRYING(POLICY("A", "4", ",'backoff':{'initial':'PT10S','rate':2,'jitter':'%s'}"),
                          ""),
                 FAIL_A),
            rows[i].mode);
        int64_t first = 0, other = 0;
        for (uint64_t seed = 1; seed < 20; seed++) {
            int64_t took[2];
            for (int again = 0; again < 2; again++) {
                ASSERT_TRUE(flow_vm(&f, seed));
                ASSERT_TRUE(flow_load(&f, text));
                flow_again(&f, "5");
                took[again] = f.took_ns;
                flow_close(&f);
            }
            EXPECT_EQ(took[0], took[1]);
            EXPECT_TRUE(took[0] >= rows[i].low * S && took[0] <= rows[i].high * S);
            if (seed == 1)
                first = took[0];
            else if (took[0] != first)
                other = took[0];
        }
        EXPECT_EQ(other != 0, i != 0); /* the waits are random */
    }
}

#define LOOPING(when, more) "{'provider':" LOOP ",'onSuccess':{'when':'{{ " when " }}'" more "}}"

/* ---- Timeout --------------------------------------------------------------------------------- */

#define WITHIN(duration, more)                                                                     \
    "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'" duration "'}" more "}}"
#define EXCEEDED(duration) EXCEEDED_IN(duration, "")
#define EXCEEDED_IN(duration, inside)                                                              \
    "{'code':'Provider.Middleware.Timeout.Exceeded','details':{'duration':'" duration "'},"        \
    "'message':'not finished within " duration inside "','type':'timeout'}"

UTEST(timeout, exceeded) {
    EXPECT_STREQ(flow_run(&f, CALL(WITHIN("PT5S", ""), "{'delay':'PT10S'}"), "5"),
                 EXCEEDED("PT5S"));
    EXPECT_EQ(f.took_ns, 5 * S);
}

UTEST(timeout, in_time) {
    EXPECT_STREQ(flow_run(&f, CALL(WITHIN("PT5S", ""), "{'delay':'PT4.9S'}"), "5"),
                 "{'type':'success','value':5}");
    /* completions of an instant are accepted before its bounds fire */
    EXPECT_STREQ(flow_run(&f, CALL(WITHIN("PT5S", ""), "{'delay':'PT5S'}"), "5"),
                 "{'type':'success','value':5}");
    EXPECT_STREQ(flow_run(&f, CALL(WITHIN("P900000Y", ""), "{'delay':'PT5S'}"), "5"),
                 "{'type':'success','value':5}");
}

UTEST(timeout, a_bound_of_nothing_fires_before_the_scope_starts) {
    EXPECT_STREQ(flow_run(&f, CALL(WITHIN("PT0S", ""), "{}"), "5"), EXCEEDED("PT0S"));
    EXPECT_STREQ(flow_run(&f, CALL(WITHIN("-PT1S", ""), "{}"), "5"), EXCEEDED("-PT1S"));
}

UTEST(timeout, gated_there_is_no_bound) {
    EXPECT_STREQ(flow_run(&f, CALL(WITHIN("PT5S", ",'when':false"), "{'delay':'PT10S'}"), "5"),
                 "{'type':'success','value':5}");
}

UTEST(timeout, deadline) {
    EXPECT_STREQ(
        flow_run(&f,
                 CALL_AND(WITHIN("PT90.5S", ",'assign':{'d':'{{ middleware.metadata.deadline }}'}"),
                          "{'delay':'PT1S','value':'{{ vars.d }}'}", ""),
                 "5"),
        "{'type':'success','value':'2026-01-01T00:01:30.5Z'}");
}

UTEST(timeout, around_and_inside_retry) {
#define AGAIN(n)                                                                                   \
    RETRYING("{'match':{'types':['timeout','error']},'attempts':" n                                \
             ",'backoff':{'initial':'PT1S'}}",                                                     \
             "")
    EXPECT_STREQ(flow_run(&f,
                          CALL(WITHIN("PT10S", "") "," AGAIN("100"),
                               "{'delay':'PT3S','failure':{'code':'A'}}"),
                          "5"),
                 EXCEEDED_IN("PT10S", ": in attempt 3, after A"));
    EXPECT_EQ(f.took_ns, 10 * S);
    EXPECT_TRUE(
        strstr(flow_run(&f, CALL(AGAIN("3") "," WITHIN("PT2S", ""), "{'delay':'PT3S'}"), "5"),
               "Retry.Exhausted") != NULL);
    EXPECT_EQ(f.took_ns, (2 + 1 + 2 + 1 + 2) * S);
}

/* Who reads of an outer bound wants to know what was going on: the Step, the attempt, and why that
 * was made. What the place of the bound says already is not said again. */
UTEST(timeout, names_what_it_interrupted) {
#define FAIL_SLOWLY "{'delay':'PT3S','failure':{'code':'A.B','message':'m','details':1}}"
#define OF_FLOW(middleware, with)                                                                  \
    FLOW_WITH("'middleware':[" middleware "],", "'a':{'action':'Call','call':{'provider':" MOCK    \
                                                ",'with':" with "},'next':'done'}," DONE)
#define STEP_OF_FLOW(middleware, of_step, with)                                                    \
    FLOW_WITH("'middleware':[" middleware "],",                                                    \
              "'a':{'action':'Call','middleware':[" of_step "],'call':{'provider':" MOCK           \
              ",'with':" with "},'next':'done'}," DONE)
    static const struct {
        const char *definition, *inside;
    } rows[] = {
        {CALL(WITHIN("PT5S", ""), "{'delay':'PT9S'}"), ""},
        {CALL(WITHIN("PT5S", "") "," AGAIN("100"), "{'delay':'PT9S'}"), ""},
        {CALL(WITHIN("PT5S", "") "," AGAIN("100"), FAIL_SLOWLY), ": in attempt 2, after A.B"},
        {CALL(WITHIN("PT3.5S", "") "," AGAIN("100"), FAIL_SLOWLY),
         ": waiting for attempt 2, after A.B"},
        {CALL(WITHIN("PT9S", "") "," LOOPING("true", ""), "{'delay':'PT4S'}"), ": in iteration 3"},
        {OF_FLOW(WITHIN("PT5S", ""), "{'delay':'PT9S'}"), ": in Step 'a'"},
        {OF_FLOW(WITHIN("PT5S", "") "," AGAIN("9"), FAIL_SLOWLY),
         ": in attempt 2, after A.B, in Step 'a'"},
        {OF_FLOW(WITHIN("PT3.5S", "") "," AGAIN("9"), FAIL_SLOWLY),
         ": waiting for attempt 2, after A.B"},
        {STEP_OF_FLOW(WITHIN("PT3.5S", ""), AGAIN("9"), FAIL_SLOWLY),
         ": in Step 'a', waiting for attempt 2, after A.B"},
        {FLOW_WITH(
             "'flows':{'in':{'entrypoint':'b','steps':{'b':{'action':'Call','middleware':[" AGAIN(
                 "9") "],'call':{'provider':" MOCK ",'with':" FAIL_SLOWLY
                      "},'next':'c'},'c':{'action':'Return'}}}},",
             "'a':{'action':'Call','middleware':[" WITHIN(
                 "PT5S", "") "],'call':{'flow':'in'},'next':'done'}," DONE),
         ": in Step 'b' of Flow 'in', in attempt 2, after A.B"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *got = flow_run(&f, rows[i].definition, "5"), *at = strstr(got, "not finished");
        at = at ? strchr(at, 'S') : NULL; /* behind the duration */
        ASSERT_TRUE(at != NULL);
        EXPECT_EQ(strncmp(at + 1, rows[i].inside, strlen(rows[i].inside)), 0);
        EXPECT_EQ(at[1 + strlen(rows[i].inside)], '\'');
        if (strncmp(at + 1, rows[i].inside, strlen(rows[i].inside)))
            fprintf(stderr, "%zu: %s\n", i, got);
    }
}

/* ---- Loop ------------------------------------------------------------------------------------ */

UTEST(loop, carries_its_value) {
    EXPECT_STREQ(flow_run(&f,
                          CALL(LOOPING("middleware.result.value < 10.0",
                                       ",'value':'{{ middleware.result.value * 2.0 }}'"),
                               "{}"),
                          "1"),
                 "{'type':'success','value':32}"); /* 1, 2, 4, 8, 16; the last is shaped too */
}

UTEST(loop, iteration) {
    const char *flow_text =
        FLOW("'a':{'action':'Call','middleware':[{'provider':" LOOP
             ",'onEntry':{'assign':{'e':'{{ middleware.metadata.iteration }}'}},"
             "'onSuccess':{'when':'{{ middleware.metadata.iteration < 4.0 }}',"
             "'value':'{{ middleware.result.value + [middleware.metadata.iteration] }}'},"
             "'onAlways':{'assign':{'x':'{{ middleware.metadata.iteration }}'}}}],"
             "'call':{'provider':" MOCK "},'next':'b'},"
             "'b':{'action':'Return','value':'{{ [vars.e, vars.x, step.input] }}'}");
    EXPECT_STREQ(flow_run(&f, flow_text, "[]"), "{'type':'success','value':[0,4,[1,2,3,4]]}");
}

UTEST(loop, iteration_of_a_failed_run) {
    const char *flow_text =
        FLOW("'a':{'action':'Call','middleware':[{'provider':" LOOP
             ",'onSuccess':{'when':true,'value':1},"
             "'onFailure':{'details':'{{ middleware.metadata.iteration }}'}}],"
             "'call':{'provider':" MOCK ",'with':{'failure':"
             "'{{ call.input == 1.0 ? {\\'code\\': \\'A\\'} : null }}'}},'next':'done'}," DONE);
    EXPECT_STREQ(flow_run(&f, flow_text, "0"),
                 "{'code':'A','details':2,'previous':{'code':'A','type':'error'},'type':'error'}");
}

UTEST(loop, gated_it_runs_not_at_all) {
    EXPECT_STREQ(flow_run(&f,
                          CALL("{'provider':" LOOP ",'onEntry':{'when':false,'output':7},"
                               "'onSuccess':{'when':true,'value':8}}",
                               FAIL_A),
                          "5"),
                 "{'type':'success','value':7}");
}

UTEST(loop, variables_persist) {
    EXPECT_STREQ(
        flow_run(
            &f,
            FLOW_WITH(
                TRIED,
                "'a':{'action':'Call','middleware':[" LOOPING(
                    "size(vars.tried) < 3",
                    ",'assign':{'tried':'{{ vars.tried + \\'x\\' }}'}") "],'call':{'provider':" MOCK
                                                                        "},'next':'b'},"
                                                                        "'b':{'action':'Return','value':'{{ vars.tried }}'}"),
            "5"),
        "{'type':'success','value':'xxxx'}");
}

/* ---- Finally --------------------------------------------------------------------------------- */

#define CLEANUP(with, more)                                                                        \
    "{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK ",'with':" with more    \
    "}}}}"

UTEST(finally, runs_on_both_outcomes_and_is_discarded) {
#define NOTED                                                                                      \
    CLEANUP("{'value':9,'delay':'PT3S'}",                                                          \
            ",'onSuccess':{'assign':{'seen':'{{ middleware.result.type }}'}}")
    EXPECT_STREQ(
        flow_run(&f,
                 FLOW("'a':{'action':'Call','middleware':[" NOTED "],'call':{'provider':" MOCK "},"
                      "'output':'{{ [step.result.value, vars.seen] }}','next':'done'}," DONE),
                 "5"),
        "{'type':'success','value':[5,'success']}");
    EXPECT_EQ(f.took_ns, 3 * S);
    EXPECT_STREQ(
        flow_run(&f,
                 FLOW("'a':{'action':'Call','middleware':[" NOTED "],'call':{'provider':" MOCK
                      ",'with':" FAIL_A "},'next':'done','catch':[{'match':{'codes':['A']},"
                      "'output':'{{ vars.seen }}','next':'done'}]}," DONE),
                 "5"),
        "{'type':'success','value':'error'}");
}

UTEST(finally, a_failed_cleanup_supersedes) {
    EXPECT_STREQ(flow_run(&f, CALL(CLEANUP("{'failure':{'code':'C'}}", ""), "{}"), "5"),
                 "{'code':'C','type':'error'}");
    EXPECT_STREQ(
        flow_run(&f, CALL(CLEANUP("{'failure':{'code':'C'}}", ""), FAIL_A), "5"),
        "{'code':'C','previous':{'code':'A','message':'m','type':'error'},'type':'error'}");
}

UTEST(finally, its_call_has_a_stack_of_its_own) {
    const char *stack = CALL("{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK
                             ",'with':{'failure':{'code':'C'}}},'middleware':[" RETRYING(
                                 POLICY("C", "3", ",'backoff':{'initial':'PT2S'}"), "") "]}}}",
                             "{}");
    EXPECT_TRUE(strstr(flow_run(&f, stack, "5"), "Retry.Exhausted") != NULL);
    EXPECT_EQ(f.took_ns, 4 * S);
}

UTEST(finally, runs_when_a_bound_tears_down) {
    const char *flow_text = FLOW("'a':{'action':'Call','middleware':[" WITHIN("PT5S", "") "," CLEANUP(
        "{'delay':'PT2S'}",
        ",'onSuccess':{'assign':{'seen':'{{ middleware.result.type }}'}}") "],'call':{'provider':" MOCK
                                                                           ",'with':{'delay':'PT1H'}},'next':'done',"
                                                                           "'catch':[{'match':{'types':['timeout']},'output':'{{ vars.seen }}','next':'done'}]}," DONE);
    EXPECT_STREQ(flow_run(&f, flow_text, "5"), "{'type':'success','value':'cancellation'}");
    EXPECT_EQ(f.took_ns, 7 * S);
}

UTEST(finally, without_a_call_it_fails_when_it_runs) {
    EXPECT_TRUE(strstr(flow_run(&f, CALL("{'provider':" FINALLY "}", "{}"), "5"),
                       "System.ParameterValidationFailed") != NULL);
}

/* ---- documents ------------------------------------------------------------------------------- */

static bool is_compiled(const mwl_vm *vm, const char *name) {
    const mwl__provider *p = mwl__providers_find(vm, name, strlen(name));
    return p && !p->compile && p->parameters[MWL_ON_ENTRY];
}

/* A document is compiled when the first program that imports its provider is linked. */
UTEST(documents, are_compiled_when_they_are_needed) {
    ASSERT_TRUE(flow_vm(&f, 0));
    EXPECT_FALSE(is_compiled(f.vm, MWL__STD_MOCK) || is_compiled(f.vm, MWL__STD_TIMEOUT));
    ASSERT_TRUE(flow_load(&f, CALL("", "{'value':1}")));
    ASSERT_TRUE(flow_start(&f, "null"));
    EXPECT_TRUE(is_compiled(f.vm, MWL__STD_MOCK));
    EXPECT_FALSE(is_compiled(f.vm, MWL__STD_TIMEOUT) || is_compiled(f.vm, MWL__STD_RETRY));
    flow_close(&f);
}

/* Each is correct by the rules that a host's document must follow. */
UTEST(documents, are_correct) {
    const mwl__std_document *document;
    for (size_t i = 0; (document = mwl__std_document_at(i)); i++) {
        mwl_alloc alloc = mwl_alloc_default();
        mwl__source source;
        mwl__diags sink;
        mwl__tree tree;
        mwl__contract contract;
        mwl__diags_init(&sink, alloc);
        mwl__source_init(&source, alloc, document->uri, document->text, strlen(document->text));
        EXPECT_EQ((int)MWL_OK,
                  (int)mwl__contract_read(&contract, &tree, alloc, &source, &sink, true));
        EXPECT_EQ((size_t)0, sink.n_errors + sink.n_others);
        EXPECT_TRUE(contract.uri_len == strlen(document->uri) &&
                    memcmp(contract.uri, document->uri, contract.uri_len) == 0);
        mwl__contract_free(&contract);
        mwl__tree_free(&tree);
        mwl__diags_free(&sink);
        mwl__source_free(&source);
    }
}

UTEST_MAIN()
