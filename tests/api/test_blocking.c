/* test_blocking.c: call providers with their own stack: waits, answers, cancellation, what they may
 * not do. */
#if defined(__linux__) && !defined(_GNU_SOURCE)
#define _GNU_SOURCE /* dladdr */
#endif
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#include <pthread.h>
#ifdef __linux__
#include <dlfcn.h>
#include <sys/mman.h>
#endif

#define S INT64_C(1000000000)
#define URI "mwl:provider.call/acme/act/v1"
#define ACT "{'provider':'" URI "'}"
#define ONE FLOW("'a':{'action':'Call','call':" ACT ",'next':'z'},'z':{'action':'Return'}")
#define MANY                                                                                       \
    FLOW("'a':{'action':'Gather','over':'{{ step.input }}','call':" ACT                            \
         ",'next':'z'},'z':{'action':'Return'}")

typedef void act(mwl_call *call, void *user);

typedef struct stage {
    flow f;
    mwl_call *call; /* the last that began */
    mwl_token *token;
    mwl_status seen[8];
    int n_seen, returned, deepest, depth;
    mwl_status inner;
} stage;

static void saw(stage *s, mwl_status st) {
    if (s->n_seen < 8) s->seen[s->n_seen++] = st;
}

static bool open_stage(stage *s, act *blocking, const char *definition, size_t stack_bytes) {
    memset(s, 0, sizeof *s);
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    c.stack_bytes = stack_bytes;
    static const char document[] = STYLES_DOC("act");
    mwl_asm_provider documents[] = {{"act", document, sizeof document - 1}};
    mwl_call_provider p = {.uri = URI, .document = document, .blocking = blocking};
    s->f.documents = documents;
    s->f.n_documents = 1;
    return mwl_vm_new(&c, &s->f.vm) == MWL_OK &&
           mwl_std_add(s->f.vm, MWL_STD_ALL, NULL) == MWL_OK &&
           mwl_vm_provide(s->f.vm, &p, 1, s, NULL) == MWL_OK && flow_load(&s->f, definition);
}

/* ---- waiting --------------------------------------------------------------------------------- */

static void nap(mwl_call *call, void *user) {
    stage *s = user;
    s->depth++;
    if (s->depth > s->deepest) s->deepest = s->depth;
    for (int i = 0; i < 3; i++) saw(s, mwl_sleep(call, S));
    s->depth--;
    mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
    saw(s, mwl_sleep(call, S)); /* it has settled */
}

UTEST(blocking, sleeps_on_the_clock_of_the_vm) {
    stage s;
    ASSERT_TRUE(open_stage(&s, nap, ONE, 0));
    EXPECT_STREQ(flow_again(&s.f, "[1]"), "{'type':'success','value':[1]}");
    EXPECT_EQ(s.f.took_ns, 3 * S);
    ASSERT_EQ(s.n_seen, 4);
    for (int i = 0; i < 3; i++) EXPECT_EQ((int)s.seen[i], (int)MWL_OK);
    EXPECT_EQ((int)s.seen[3], (int)MWL_E_STATE);
    flow_close(&s.f);
}

UTEST(blocking, many_wait_at_a_time) {
    stage s;
    ASSERT_TRUE(open_stage(&s, nap, MANY, 16384));
    char input[4096] = "[0";
    for (int i = 1; i < 500; i++) sprintf(input + strlen(input), ",%d", i);
    strcat(input, "]");
    flow_again(&s.f, input);
    EXPECT_TRUE(strncmp(s.f.result, "{'type':'success'", 17) == 0);
    EXPECT_EQ(s.deepest, 500);
    EXPECT_EQ(s.f.took_ns, 3 * S); /* all of them together */
    flow_close(&s.f);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void ask_three(mwl_call *call, void *user) {
    stage *s = user;
    s->call = call;
    mwl_heap *h = mwl_call_heap(call);
    mwl_value all = mwl_array(h, 3), answer;
    saw(s, mwl_call_token(call, &s->token));
    for (int i = 0; i < 3; i++) {
        mwl_status st = mwl_await(call, &answer);
        saw(s, st);
        if (st == MWL_OK || st == MWL_E_FAILED) all = mwl_array_push(h, all, answer);
    }
    mwl_call_succeed(call, all);
}

UTEST(blocking, answers_come_in_order_and_are_not_lost) {
    stage s;
    ASSERT_TRUE(open_stage(&s, ask_three, ONE, 0));
    ASSERT_TRUE(flow_start(&s.f, "null"));
    mwl_vm_pump(s.f.vm, 0);
    mwl_heap *h = mwl_vm_heap(s.f.vm);
    EXPECT_EQ((int)mwl_call_resume(s.call, mwl_string(h, "first", 5)), (int)MWL_OK);
    EXPECT_TRUE(mwl_token_wanted(s.token));
    EXPECT_EQ((int)mwl_token_fail(s.token, NULL, "Acme.No", "not today", "{\"when\":1}", 10),
              (int)MWL_OK);
    EXPECT_EQ((int)mwl_token_fail(s.token, NULL, "Acme.No", NULL, NULL, 0),
              (int)MWL_E_STATE); /* once */
    mwl_vm_pump(s.f.vm, 0);
    EXPECT_EQ((int)mwl_call_resume(s.call, mwl_number(3)), (int)MWL_OK);
    mwl_vm_pump(s.f.vm, MWL_NO_BUDGET);
    flow_finish(&s.f);
    EXPECT_STREQ(
        s.f.result,
        "{\"type\":\"success\",\"value\":[\"first\",{\"code\":\"Acme.No\",\"details\":{\"when\":1},"
        "\"message\":\"not today\",\"type\":\"error\"},3]}");
    EXPECT_EQ((int)s.seen[2], (int)MWL_E_FAILED);
    EXPECT_FALSE(mwl_token_wanted(s.token));
    mwl_token_release(s.token);
    flow_close(&s.f);
}

static void asleep_then_ask(mwl_call *call, void *user) {
    stage *s = user;
    s->call = call;
    saw(s, mwl_sleep(call, S));
    saw(s, mwl_await(call, NULL));
    mwl_value answer;
    saw(s, mwl_await(call, &answer));
    mwl_call_succeed(call, answer);
}

UTEST(blocking, answers_during_a_sleep_wait_for_the_await) {
    stage s;
    ASSERT_TRUE(open_stage(&s, asleep_then_ask, ONE, 0));
    ASSERT_TRUE(flow_start(&s.f, "null"));
    mwl_vm_pump(s.f.vm, 0);
    for (int i = 0; i < 2; i++) EXPECT_EQ((int)mwl_call_resume(s.call, mwl_number(i)), (int)MWL_OK);
    EXPECT_EQ(s.n_seen, 0); /* still asleep */
    mwl_vm_pump(s.f.vm, MWL_NO_BUDGET);
    flow_finish(&s.f);
    EXPECT_STREQ(s.f.result, "{\"type\":\"success\",\"value\":1}");
    flow_close(&s.f);
}

static void ask(mwl_call *call, void *user) {
    stage *s = user;
    mwl_call_token(call, &s->token);
    mwl_value answer;
    saw(s, mwl_await(call, &answer));
    mwl_call_settle(call, answer);
}

UTEST(blocking, a_posted_text_that_is_no_json_is_a_failure) {
    stage s;
    ASSERT_TRUE(open_stage(&s, ask, ONE, 0));
    ASSERT_TRUE(flow_start(&s.f, "null"));
    mwl_vm_pump(s.f.vm, 0);
    EXPECT_EQ((int)mwl_token_succeed(s.token, "{oops", 5), (int)MWL_OK);
    mwl_token_release(s.token);
    mwl_vm_pump(s.f.vm, 0);
    flow_finish(&s.f);
    EXPECT_TRUE(strstr(s.f.result, "Mwlvm.ResultRefused") != NULL);
    EXPECT_EQ((int)s.seen[0], (int)MWL_E_FAILED);
    flow_close(&s.f);
}

static void say_nothing(mwl_call *call, void *user) {
    (void)user;
    (void)mwl_sleep(call, S);
}

UTEST(blocking, returning_without_a_result_is_a_failure) {
    stage s;
    ASSERT_TRUE(open_stage(&s, say_nothing, ONE, 0));
    EXPECT_TRUE(strstr(flow_again(&s.f, "null"), "'code':'Mwlvm.NotSettled'") != NULL);
    flow_close(&s.f);
}

/* ---- ending ---------------------------------------------------------------------------------- */

static void stubborn(mwl_call *call, void *user) {
    stage *s = user;
    mwl_value answer;
    saw(s, mwl_await(call, &answer));
    saw(s, mwl_sleep(call, S)); /* returns at once from here on */
    saw(s, mwl_await(call, &answer));
    s->returned++;
    mwl_call_succeed(call, mwl_null()); /* not used */
}

UTEST(blocking, cancellation_is_the_code_of_every_wait) {
    stage s;
    ASSERT_TRUE(open_stage(&s, stubborn, ONE, 0));
    for (int how = 0; how < 3; how++) {
        s.n_seen = s.returned = 0;
        ASSERT_TRUE(flow_start(&s.f, "null"));
        mwl_vm_pump(s.f.vm, 0);
        if (how == 0)
            mwl_run_cancel(s.f.run, "stop");
        else if (how == 1)
            mwl_run_abort(s.f.run);
        else
            mwl_run_free(s.f.run);
        EXPECT_EQ(s.returned, 1);
        ASSERT_EQ(s.n_seen, 3);
        for (int i = 0; i < 3; i++) EXPECT_EQ((int)s.seen[i], (int)MWL_E_CANCELLED);
        if (how == 2)
            s.f.run = NULL;
        else
            mwl_vm_pump(s.f.vm, 0), flow_finish(&s.f);
        if (how == 0) EXPECT_TRUE(strstr(s.f.result, "\"cancellation\"") != NULL);
    }
    ASSERT_TRUE(flow_start(&s.f, "null"));
    mwl_vm_pump(s.f.vm, 0);
    s.returned = 0;
    mwl_vm_free(s.f.vm); /* with the run in it */
    EXPECT_EQ(s.returned, 1);
    s.f.vm = NULL;
    s.f.run = NULL;
    flow_close(&s.f);
}

static void cancels_itself(mwl_call *call, void *user) {
    stage *s = user;
    for (int i = 0; i < s->depth; i++) saw(s, mwl_sleep(call, S));
    mwl_run_cancel(mwl_call_run(call), "from inside");
    saw(s, mwl_sleep(call, S));
    s->returned++;
}

UTEST(blocking, may_cancel_its_own_run) {
    stage s;
    ASSERT_TRUE(open_stage(&s, cancels_itself, ONE, 0));
    for (s.depth = 0; s.depth < 2; s.depth++) {
        s.n_seen = s.returned = 0;
        EXPECT_TRUE(strstr(flow_again(&s.f, "null"), "'message':'from inside'") != NULL);
        EXPECT_EQ(s.returned, 1);
        EXPECT_EQ((int)s.seen[s.n_seen - 1], (int)MWL_E_CANCELLED);
    }
    flow_close(&s.f);
}

static void frees_itself(mwl_call *call, void *user) {
    stage *s = user;
    s->f.run = NULL;
    mwl_run_free(mwl_call_run(call));
    saw(s, mwl_sleep(call, S));
    s->returned++;
}

UTEST(blocking, may_free_its_own_run_while_it_starts) {
    stage s;
    ASSERT_TRUE(open_stage(&s, frees_itself, ONE, 0));
    ASSERT_TRUE(flow_start(&s.f, "null"));
    mwl_vm_pump(s.f.vm, MWL_NO_BUDGET);
    EXPECT_EQ(s.returned, 1);
    flow_close(&s.f);
}

/* ---- other languages ------------------------------------------------------------------------- */

#if defined(__linux__) && !defined(MWL_STRESS)
static mwl_status provide(mwl_vm *vm, const void *function, mwl_error *error) {
    mwl_call_provider p = {.uri = STYLES_URI("foreign"), .document = STYLES_DOC("foreign")};
    memcpy(&p.blocking, &function, sizeof p.blocking);
    return mwl_vm_provide(vm, &p, 1, NULL, error);
}

/* Where libffi and others make the functions that they pass to C. */
UTEST(blocking, a_closure_of_another_language_is_refused) {
    flow f;
    Dl_info known;
    mwl_error error = {MWL_OK, "", 0};
    void *closure = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!dladdr("", &known)) UTEST_SKIP("a static program does not know its parts");
    ASSERT_TRUE(closure != MAP_FAILED);
    ASSERT_TRUE(flow_vm(&f, 1));
    EXPECT_EQ((int)provide(f.vm, closure, &error), (int)MWL_E_UNSUPPORTED);
    EXPECT_TRUE(strstr(error.message, "a closure of another language") != NULL);
    act *own = nap;
    const void *here;
    memcpy(&here, &own, sizeof here);
    EXPECT_EQ((int)provide(f.vm, here, NULL), (int)MWL_OK);
    flow_close(&f);
    munmap(closure, 4096);
}
#endif

#ifdef NDEBUG
static void *sleep_elsewhere(void *user) {
    stage *s = user;
    saw(s, mwl_sleep(s->call, S));
    return NULL;
}
/* As a language does that keeps its code on stacks of its own. */
static void waits_elsewhere(mwl_call *call, void *user) {
    stage *s = user;
    pthread_t other;
    s->call = call;
    if (pthread_create(&other, NULL, sleep_elsewhere, s) == 0) pthread_join(other, NULL);
    saw(s, mwl_sleep(call, S));
    mwl_call_succeed(call, mwl_null());
}
UTEST(blocking, waits_only_on_its_own_stack) {
    stage s;
    ASSERT_TRUE(open_stage(&s, waits_elsewhere, ONE, 0));
    ASSERT_TRUE(flow_start(&s.f, "1"));
    mwl_vm_pump(s.f.vm, MWL_NO_BUDGET);
    EXPECT_EQ(s.n_seen, 2);
    EXPECT_EQ((int)s.seen[0], (int)MWL_E_USAGE);
    EXPECT_EQ((int)s.seen[1], (int)MWL_OK);
    flow_close(&s.f);
}
#endif

UTEST_MAIN()
