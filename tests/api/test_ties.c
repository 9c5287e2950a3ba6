/* test_ties.c: what happens at one instant has one order (vm/DECISIONS.md 4). Other runs of the VM
 * do not change the Result of a run, and saving and loading change neither Results nor the order in
 * which runs go on. The clock is the test's own. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#define S INT64_C(1000000000)
#define HOST "'" STYLES_URI("host") "'"
#define SAY "'" STYLES_URI("say") "'"
#define BOUND(length) "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'" length "'}}}"
#define INERT "{'provider':" RETRY ",'onEntry':{'when':false}}"
#define CLEANUP(call) "{'provider':" FINALLY ",'onAlways':{'with':{'call':" call "}}}"
#define STEP(stack, call)                                                                          \
    FLOW("'a':{'action':'Call','middleware':[" stack "],'call':" call                              \
         ",'next':'z'},'z':{'action':'Return','value':'ok'}")
#define MOCK_FOR(length) "{'provider':" MOCK ",'with':{'delay':'" length "'}}"

static int64_t clock_ns;
static char said[64];
static void read_clock(void *ctx, mwl_instant *out) {
    (void)ctx;
    out->mono_ns = S + clock_ns;
    out->wall_ns = INT64_C(1767225600) * S + clock_ns;
}
static void keep(mwl_call *call, void *user) {
    (void)call;
    (void)user;
}
static void stop(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_null());
}
static void say(mwl_call *call, void *user) {
    (void)user;
    strncat(said, mwl_run_id(mwl_call_run(call)), sizeof said - strlen(said) - 1);
    mwl_call_succeed(call, mwl_null());
}
static const mwl_call_provider providers[] = {
    {.uri = STYLES_URI("host"), .document = STYLES_DOC("host"), .start = keep, .cancel = stop},
    {.uri = STYLES_URI("say"), .document = STYLES_DOC("say"), .start = say}};

static mwl_vm *new_vm(void) {
    mwl_config c = mwl_config_default();
    mwl_vm *vm = NULL;
    c.clock.read = read_clock;
    if (mwl_vm_new(&c, &vm) < 0 || mwl_std_add(vm, MWL_STD_ALL, NULL) < 0 ||
        mwl_vm_provide(vm, providers, 2, NULL, NULL) < 0)
        return NULL;
    return vm;
}

static mwl_program *load(const char *definition) {
    static const mwl_asm_provider documents[] = {
        {STYLES_URI("host"), STYLES_DOC("host"), sizeof STYLES_DOC("host") - 1},
        {STYLES_URI("say"), STYLES_DOC("say"), sizeof STYLES_DOC("say") - 1}};
    flow f;
    memset(&f, 0, sizeof f);
    f.documents = documents;
    f.n_documents = 2;
    if (!flow_load(&f, definition)) fprintf(stderr, "%s\n", f.result);
    return f.program;
}

static mwl_run *start(mwl_vm *vm, mwl_program *p, const char *id) {
    const mwl_start how = {.id = id, .input = mwl_null()};
    mwl_run *run = NULL;
    return mwl_run_start(vm, p, &how, &run, NULL) < 0 ? NULL : run;
}

/* The code of the Result, `ok`, or `waits`; then the message. */
static const char *result(mwl_run *run) {
    static char out[200];
    mwl_value v = mwl_run_result(run);
    const char *code = mwl_as_text(mwl_get(v, "code"), NULL),
               *message = mwl_as_text(mwl_get(v, "message"), NULL);
    if (mwl_run_get_state(run) != MWL_RUN_DONE) return "waits";
    snprintf(out, sizeof out, "%s%s%s", code ? strrchr(code, '.') + 1 : "ok", message ? ": " : "",
             message ? message : "");
    return out;
}

static void pump_at(mwl_vm *vm, int64_t ns) {
    clock_ns = ns;
    mwl_vm_pump(vm, MWL_NO_BUDGET);
}

/* The run goes through bytes into this VM. */
static mwl_run *through(mwl_run *run, mwl_vm *into, mwl_program *p) {
    const mwl_load how = {.program = p};
    void *bytes = NULL;
    size_t size = 0;
    mwl_run *out = NULL;
    if (mwl_run_save(run, &bytes, &size, NULL) < 0) return NULL;
    mwl_run_free(run);
    if (mwl_run_load(into, bytes, size, &how, &out, NULL) < 0) out = NULL;
    mwl_bytes_free(into, bytes, size);
    return out;
}

/* A cleanup that the host answers at the very instant of the bound is in time, whether or not a
 * bound of another run fires at that instant. */
UTEST(ties, a_run_does_not_depend_on_another_one) {
    mwl_program *inner = load(STEP(INERT "," INERT "," BOUND("PT2S"), "{'provider':" HOST "}"));
    mwl_program *outer =
        load(STEP(BOUND("PT2S") "," CLEANUP("{'provider':" HOST "}"), MOCK_FOR("PT0S")));
    for (int with = 0; with < 2; with++) {
        clock_ns = 0;
        mwl_vm *vm = new_vm();
        mwl_run *a = with ? start(vm, inner, "a") : NULL, *b = start(vm, outer, "b");
        mwl_wait w;
        ASSERT_TRUE(b != NULL);
        pump_at(vm, 0);
        pump_at(vm, 2 * S);
        if (a) EXPECT_STREQ(result(a), "Exceeded: not finished within PT2S");
        ASSERT_TRUE(mwl_run_waits(b, 0, &w));
        EXPECT_EQ(mwl_run_answer(b, w.number, true, mwl_null()), MWL_OK);
        mwl_vm_pump(vm, MWL_NO_BUDGET);
        EXPECT_STREQ(result(b), "ok");
        mwl_vm_free(vm);
    }
    mwl_program_release(inner);
    mwl_program_release(outer);
}

/* What an interruption explains does not depend on the process in which the wait ends. */
UTEST(ties, an_explanation_is_the_same_after_loading) {
    mwl_program *p =
        load(STEP(BOUND("PT5S") ",{'provider':" RETRY
                                ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},"
                                "'attempts':9,'backoff':{'initial':'PT9S'}}]}}}",
                  "{'provider':" MOCK ",'with':{'failure':{'code':'A.B'}}}"));
    for (int saved = 0; saved < 2; saved++) {
        clock_ns = 0;
        mwl_vm *vm = new_vm(), *other = new_vm();
        mwl_run *run = start(vm, p, "r");
        pump_at(vm, 0);
        if (saved) run = through(run, other, p);
        pump_at(saved ? other : vm, 5 * S + 1);
        EXPECT_STREQ(result(run),
                     "Exceeded: not finished within PT5S: waiting for attempt 2, after A.B");
        mwl_vm_free(vm);
        mwl_vm_free(other);
    }
    mwl_program_release(p);
}

/* The inner bound has fired, and its cleanup ends at the very instant of the outer one. Equal
 * bounds: the outer one explains. Both hold in whichever process the run is at that instant. */
UTEST(ties, a_tie_is_the_same_after_loading) {
    static const struct {
        const char *definition, *result;
        int64_t end;
    } rows[] = {
        {STEP(BOUND("PT2S") "," BOUND("PT1S") "," CLEANUP(MOCK_FOR("PT1S")), MOCK_FOR("PT9S")),
         "Exceeded: not finished within PT1S", 2 * S},
        {STEP(BOUND("PT1S") "," BOUND("PT1S") "," CLEANUP(MOCK_FOR("PT1S")), MOCK_FOR("PT9S")),
         "Exceeded: not finished within PT1S", 2 * S}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int saved = 0; saved < 4; saved++) {
            mwl_program *p = load(rows[i].definition);
            clock_ns = 0;
            mwl_vm *vm = new_vm(), *other = new_vm();
            mwl_run *run = start(vm, p, "r");
            pump_at(vm, 0);
            pump_at(vm, S);
            EXPECT_STREQ(result(run), "waits");
            if (saved == 1) run = through(run, other, p); /* at the inner bound's instant */
            if (saved == 2) { /* between the two, loaded at the second */
                const mwl_load how = {.program = p};
                void *bytes = NULL;
                size_t size = 0;
                clock_ns = S + S / 2;
                ASSERT_EQ(mwl_run_save(run, &bytes, &size, NULL), MWL_OK);
                clock_ns = rows[i].end;
                ASSERT_EQ(mwl_run_load(other, bytes, size, &how, &run, NULL), MWL_OK);
                mwl_bytes_free(vm, bytes, size);
            }
            clock_ns = rows[i].end;
            if (saved == 3) run = through(run, other, p); /* at the outer bound's instant */
            ASSERT_TRUE(run != NULL);
            mwl_vm_pump(saved ? other : vm, MWL_NO_BUDGET);
            EXPECT_STREQ(result(run), rows[i].result);
            mwl_vm_free(vm);
            mwl_vm_free(other);
            mwl_program_release(p);
        }
}

/* Answers the call that the run waits for. */
static void answer(mwl_run *run) {
    mwl_wait w;
    if (mwl_run_waits(run, 0, &w)) mwl_run_answer(run, w.number, true, mwl_null());
    mwl_vm_pump(mwl_run_vm(run), MWL_NO_BUDGET);
}

#define GIVE_UP                                                                                    \
    "{'flow':{'entrypoint':'a','steps':{'a':{'action':'Call','middleware':[" BOUND(                \
        "PT2S") "],'call':{'provider':" HOST                                                       \
                "},'catch':[{'match':{'codes':['*']},'next':'b'}],'next':'b'},'b':{'action':"      \
                "'Call','call':{'provider':" HOST "},'next':'z'},'z':{'action':'Return'}}}}"

/* A bound inside a cleanup has fired at the instant of the bound that waits for the cleanup. So the
 * instant's bounds have come, and a cleanup that ends at this instant is too late, also if the run
 * is saved before the cleanup ends. */
UTEST(ties, a_tie_that_waits_for_a_cleanup_is_saved) {
    mwl_program *p = load(STEP(BOUND("PT2S") "," CLEANUP(GIVE_UP), MOCK_FOR("PT0S")));
    for (int saved = 0; saved < 2; saved++) {
        clock_ns = 0;
        mwl_vm *vm = new_vm(), *other = new_vm();
        mwl_run *run = start(vm, p, "r");
        pump_at(vm, 0);
        pump_at(vm, 2 * S);
        EXPECT_STREQ(result(run), "waits");
        if (saved) run = through(run, other, p);
        ASSERT_TRUE(run != NULL);
        answer(run);
        EXPECT_STREQ(result(run), "Exceeded: not finished within PT2S");
        mwl_vm_free(vm);
        mwl_vm_free(other);
    }
    mwl_program_release(p);
}

#define SLEEPS(a, b)                                                                               \
    FLOW("'a':{'action':'Sleep','for':'" a "','next':'b'},'b':{'action':'Sleep','for':'" b         \
         "','next':'c'},'c':{'action':'Call','call':{'provider':" SAY                              \
         "},'next':'z'},'z':{'action':'Return'}")

/* Runs that are due at one instant go on in the order in which they began to wait, not in that of
 * loading; one that begins to wait after the loading comes last. */
UTEST(ties, loaded_runs_go_on_in_the_order_of_arming) {
    mwl_program *late = load(SLEEPS("PT5S", "PT5S")), *soon = load(SLEEPS("PT1S", "PT9S")),
                *fresh = load(SLEEPS("PT1S", "PT2S"));
    for (int saved = 0; saved < 3; saved++) { /* no; in this VM; into another one */
        clock_ns = 0;
        mwl_vm *vm = new_vm(), *other = saved == 2 ? new_vm() : vm;
        said[0] = '\0';
        mwl_run *a = start(vm, late, "a"), *b = start(vm, soon, "b");
        for (int64_t t = 0; t <= 7; t++) pump_at(vm, t * S);
        if (saved) {
            a = through(a, other, late);
            b = through(b, other, soon);
        }
        ASSERT_TRUE(a && b && start(other, fresh, "c"));
        for (int64_t t = 7; t <= 10; t++) pump_at(other, t * S);
        EXPECT_STREQ(said, "bac");
        if (other != vm) mwl_vm_free(other);
        mwl_vm_free(vm);
    }
    mwl_program_release(late);
    mwl_program_release(soon);
    mwl_program_release(fresh);
}

/* A copy is a new run: it begins to wait when it is loaded, behind all that waits already. */
UTEST(ties, a_copy_comes_behind_what_waits_already) {
    mwl_program *early = load(SLEEPS("PT5S", "PT5S")), *later = load(SLEEPS("PT6S", "PT4S"));
    const mwl_load how = {.program = early, .flags = MWL_LOAD_NEW_ID};
    void *bytes = NULL;
    size_t size = 0;
    mwl_run *copy = NULL;
    clock_ns = 0;
    said[0] = '\0';
    mwl_vm *vm = new_vm();
    mwl_run *a = start(vm, early, "a"), *b = start(vm, later, "b");
    ASSERT_TRUE(a && b);
    for (int64_t t = 0; t <= 6; t++) pump_at(vm, t * S);
    ASSERT_EQ(mwl_run_save(a, &bytes, &size, NULL), MWL_OK);
    ASSERT_EQ(mwl_run_load(vm, bytes, size, &how, &copy, NULL), MWL_OK);
    mwl_bytes_free(vm, bytes, size);
    pump_at(vm, 10 * S);
    EXPECT_EQ(strncmp(said, "ab", 2), 0);
    EXPECT_STREQ(said + 2, mwl_run_id(copy));
    mwl_vm_free(vm);
    mwl_program_release(early);
    mwl_program_release(later);
}

/* Without mwl_config.hold too, the version of a run is another one when the run has changed. */
UTEST(ties, a_version_says_which_state_was_saved) {
    mwl_program *p = load(SLEEPS("PT5S", "PT5S"));
    clock_ns = 0;
    mwl_vm *vm = new_vm();
    uint64_t versions[4];
    mwl_run *run = start(vm, p, "r");
    static const int64_t at[] = {0, 4, 5, 10};
    for (int i = 0; i < 4; i++) {
        void *bytes = NULL;
        size_t size = 0;
        pump_at(vm, at[i] * S);
        ASSERT_EQ(mwl_run_save(run, &bytes, &size, &versions[i]), MWL_OK);
        mwl_bytes_free(vm, bytes, size);
    }
    EXPECT_EQ(versions[0], versions[1]);
    EXPECT_NE(versions[1], versions[2]);
    EXPECT_NE(versions[2], versions[3]);
    mwl_vm_free(vm);
    mwl_program_release(p);
}

UTEST_MAIN()
