/* test_surface.c: what a host rarely needs: values of every kind, its own functions and re-running
 * middleware, the trace, where a failure began. */
#include "utest.h"

#include "tests/api/acme.h"
#include "tests/unit/run_flow.h"

#define S INT64_C(1000000000)

/* ---- values ---------------------------------------------------------------------------------- */

UTEST(surface, values_of_every_kind) {
    mwl_heap *h;
    ASSERT_EQ((int)mwl_heap_new(NULL, &h), (int)MWL_OK);
    int order = 5;
    EXPECT_TRUE(mwl_value_order(mwl_uint(3), mwl_number(3.5), &order) && order == -1);
    EXPECT_FALSE(mwl_value_order(mwl_bool(true), mwl_int(1), &order));
    EXPECT_EQ(mwl_as_uint(mwl_uint(UINT64_MAX)), UINT64_MAX);
    EXPECT_EQ((int)mwl_value_kind(mwl_uint(1)), (int)MWL_KIND_UINT);
    EXPECT_EQ((int)mwl_value_kind(mwl_bool(1)), (int)MWL_KIND_BOOL);
    EXPECT_EQ((int)mwl_value_kind(mwl_duration(1)), (int)MWL_KIND_DURATION);
    EXPECT_EQ((int)mwl_value_kind(mwl_timestamp(1, 0)), (int)MWL_KIND_TIMESTAMP);
    EXPECT_EQ(mwl_as_int(mwl_timestamp(-1, 5)), -1);
    EXPECT_EQ(mwl_as_nanos(mwl_timestamp(-1, 5)), 5u);
    EXPECT_EQ(mwl_value_hash(h, mwl_int(2)), mwl_value_hash(h, mwl_number(2)));

    mwl_value text = mwl_value_text(h, mwl_timestamp(0, 0)), same = mwl_timestamp_text(h, 0);
    EXPECT_STREQ(mwl_as_text(text, NULL), "1970-01-01T00:00:00Z");
    EXPECT_TRUE(mwl_value_equal(text, same));
    mwl_value_drop(h, text);
    mwl_value_drop(h, same);

    mwl_value some = mwl_optional(h, mwl_int(4));
    EXPECT_EQ(mwl_as_int(mwl_optional_get(some)), 4);
    EXPECT_TRUE(mwl_is_absent(mwl_optional_get(mwl_optional_none())));
    mwl_value_drop(h, some);

    mwl_value point = mwl_ext(h, "acme.Point", "1,2", 3), copy = mwl_value_copy(h, point);
    size_t len = 0;
    EXPECT_TRUE(mwl_value_equal(point, copy));
    EXPECT_TRUE(mwl_ext_text(copy, "acme.Point", &len) != NULL && len == 3);
    EXPECT_TRUE(mwl_ext_text(copy, "acme.Line", &len) == NULL);
    mwl_value_drop(h, point);
    mwl_value_drop(h, copy);

    char number[400];
    EXPECT_GT(mwl_number_text(0.5, MWL_NUMBER_FIXED, 2, number, sizeof number), 0u);
    EXPECT_STREQ(number, "0.50");
    mwl_number_text(12345, MWL_NUMBER_EXPONENT, 1, number, sizeof number);
    EXPECT_STREQ(number, "1.2e+04");
    mwl_number_text(1e9, MWL_NUMBER_GENERAL, -1, number, sizeof number);
    EXPECT_STREQ(number, "1e+09");

    void *block = mwl_heap_resize(h, NULL, 0, 1000);
    EXPECT_GE(mwl_heap_used(h), 1000u);
    mwl_heap_limit(h, 1200);
    EXPECT_TRUE(mwl_heap_resize(h, block, 1000, 5000) == NULL && mwl_heap_why(h) == MWL_E_TOO_BIG);
    EXPECT_TRUE(mwl_heap_resize(h, block, 1000, 0) == NULL);
    EXPECT_EQ(mwl_heap_used(h), 0u);
    mwl_heap_free(h);
}

UTEST(surface, versions_and_clocks) {
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", MWL_VERSION_MAJOR, MWL_VERSION_MINOR,
             MWL_VERSION_PATCH);
    EXPECT_STREQ(mwl_version(), version);
    mwl_clock clock = mwl_clock_system();
    mwl_instant a, b;
    clock.read(clock.ctx, &a);
    clock.read(clock.ctx, &b);
    EXPECT_GE(b.mono_ns, a.mono_ns);
    EXPECT_GT(a.wall_ns, INT64_C(1700000000) * S);
}

/* ---- functions ------------------------------------------------------------------------------- */

/* acme.median(list): also fails with a message of the host if there is no median. */
static mwl_value median(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    if (mwl_value_kind(args[0]) != MWL_KIND_ARRAY) return mwl_fn_no_overload(fn);
    if (!mwl_fn_charge(fn, mwl_count(args[0]))) return mwl_absent();
    if (mwl_count(args[0]) == 0) return mwl_fn_fail(fn, "no median of %d numbers", 0);
    mwl_value sorted = mwl_fn_sort(fn, args[0], args[0]);
    if (mwl_is_absent(sorted)) return sorted;
    mwl_value middle = mwl_value_keep(mwl_array_at(sorted, mwl_count(sorted) / 2));
    mwl_value_drop(mwl_fn_heap(fn), sorted);
    return middle;
}

static mwl_value pinned(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)args;
    (void)n_args;
    bool equal = false;
    mwl_value now = mwl_fn_now(fn), wall = mwl_fn_wall_time(fn);
    return mwl_fn_equal(fn, now, wall, &equal) ? mwl_bool(equal) : mwl_absent();
}

/* How many elements are different, and whether `null` is one. */
static mwl_value variety(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)n_args;
    mwl_set *set = mwl_fn_set(fn, args[0]);
    if (!set) return mwl_absent();
    size_t n = mwl_count(args[0]), count = 0;
    bool ok = true, added = false, found = false;
    for (size_t i = 0; ok && i < n; i++) {
        ok = mwl_fn_set_add(fn, set, i, &added);
        count += added;
    }
    ok = ok && mwl_fn_set_add(fn, set, n, &added) && !added; /* there is no such element */
    ok = ok && mwl_fn_set_has(fn, set, mwl_null(), &found);
    mwl_fn_set_free(fn, set);
    mwl_fn_set_free(fn, NULL);
    return ok ? mwl_number((double)count + (found ? 0.5 : 0)) : mwl_absent();
}

static const mwl_function_def functions[] = {
    {"acme.variety", variety, 1, 1, MWL_FN_GLOBAL, "acme.variety(list) -> double"},
    {"acme.median", median, 1, 1, MWL_FN_GLOBAL, "acme.median(list) -> any"},
    {"acme.pinned", pinned, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "acme.pinned() -> bool"},
};

UTEST(surface, functions_of_a_host) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_EQ((int)mwl_vm_functions(f.vm, functions, 3), (int)MWL_OK);
    EXPECT_EQ((int)mwl_vm_functions(f.vm, functions, 3), (int)MWL_E_DUPLICATE);
    char *text = flow_quoted(FLOW(
        "'a':{'action':'Return','value':['{{ acme.median(step.input) }}','{{ acme.pinned() }}',"
        "'{{ acme.variety([1, 1.0, null, [], [], step.input]) }}']}"));
    const mwl_function_def *const tables[] = {&functions[0], &functions[1], &functions[2], NULL};
    mwl_asm_options options = {.functions = tables, .flags = MWL_ASM_STRIP_POSITIONS};
    mwl_asm_result out;
    mwl_status st = mwl_assemble(text, strlen(text), &options, &out);
    EXPECT_STREQ(out.diagnostics, "");
    if (st == MWL_OK)
        st = mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &f.program, NULL);
    ASSERT_EQ((int)st, (int)MWL_OK);
    EXPECT_STREQ(flow_again(&f, "[5,1,3]"), "{'type':'success','value':[3,true,4.5]}");
    EXPECT_TRUE(strstr(flow_again(&f, "[]"), "no median of 0 numbers") != NULL);
    mwl_asm_free(&out);
    free(text);
    flow_close(&f);
}

/* ---- middleware that runs its scope again, and one that calls -------------------------------- */

static const char again_doc[] = ACME_DOC(
    "again", "Again",
    ACME_PHASE(
        "onFailure", "control",
        "}") ",\"parameters\":{\"type\":\"object\",\"properties\":{\"on\":{\"type\":\"object\"}}}}",
    ",\"metadata\":{\"type\":\"object\",\"properties\":{\"tries\":{\"type\":\"integer\"}}}");

/* Up to three runs for failures that the matcher selects, a little more than a second apart;
 * restores variables. */
static void again_failure(mwl_phase *phase, void *user) {
    (void)user;
    if (mwl_phase_runs(phase) < 3 &&
        mwl_failure_matches(acme_argument(phase, "on"), mwl_phase_result_value(phase)))
        mwl_phase_reenter(phase, MWL_REENTER_RESTORE, S + (int64_t)(mwl_phase_random(phase) * 1e6));
}

static const char until_doc[] = ACME_DOC(
    "until", "Until", ACME_PHASE("onSuccess", "control", "}") "}",
    ",\"metadata\":{\"type\":\"object\",\"properties\":{\"round\":{\"type\":\"integer\"}}}");

static void until_success(mwl_phase *phase, void *user) {
    (void)user;
    if (mwl_as_number(mwl_phase_result_value(phase)) < 100)
        mwl_phase_reenter(phase, MWL_REENTER_CARRY, 0);
}

static const char tell_doc[] = ACME_DOC(
    "tell", "Tell",
    ACME_PHASE("onSuccess", "side-effect", "}") ",\"parameters\":{\"type\":\"object\","
                                                "\"properties\":{\"call\":{\"type\":\"object\"}}},"
                                                "\"structural\":[\"call\"]}",
    "");

static void tell_success(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_dispatch(phase);
}

static const char bracket_doc[] = ACME_DOC(
    "bracket", "Bracket",
    ACME_PHASE(
        "onEntry", "side-effect",
        "}") ",\"parameters\":{\"type\":\"object\","
             "\"properties\":{\"call\":{\"type\":\"object\"}}},"
             "\"structural\":[\"call\"]}," ACME_PHASE(
                 "onAlways", "side-effect",
                 "}") ",\"parameters\":{\"type\":\"object\",\"properties\":{\"call\":{\"type\":\"object\"}}},"
                      "\"structural\":[\"call\"]}",
    "");

static const mwl_middleware rerunning[] = {
    {.uri = ACME_URI("again"),
     .document = again_doc,
     .flags = MWL_MW_RESTORES,
     .run_count = "tries",
     .failure = again_failure},
    {.uri = ACME_URI("until"),
     .document = until_doc,
     .flags = MWL_MW_OWNS_RUNS,
     .run_count = "round",
     .success = until_success},
    {.uri = ACME_URI("tell"), .document = tell_doc, .success = tell_success},
    {.uri = ACME_URI("bracket"),
     .document = bracket_doc,
     .entry = tell_success,
     .always = tell_success},
};

static bool open_rerunning(flow *f, mwl_asm_provider *documents) {
    if (!flow_vm(f, 1)) return false;
    mwl_error error = {MWL_OK, "", 0};
    for (int i = 0; i < 4; i++)
        documents[i] =
            (mwl_asm_provider){"acme", rerunning[i].document, strlen(rerunning[i].document)};
    f->documents = documents;
    f->n_documents = 4;
    if (mwl_vm_provide_middleware(f->vm, rerunning, 4, NULL, &error) == MWL_OK) return true;
    fprintf(stderr, "%s\n", error.message);
    return false;
}

UTEST(surface, middleware_that_runs_its_scope_again) {
    flow f;
    mwl_asm_provider documents[4];
    ASSERT_TRUE(open_rerunning(&f, documents));
    ASSERT_TRUE(flow_load(
        &f,
        FLOW("'a':{'action':'Call','middleware':[{'provider':'" ACME_URI(
            "again") "','onFailure':{'with':{'on':{'codes':['No.*']}}},'onAlways':{'assign':{'n':"
                     "'{{ middleware.metadata.tries }}'}}}],'call':{'provider':" MOCK
                     ",'with':{'failure':{'code':'No.Way'}}},'next':'z','catch':[{'match':{'codes':"
                     "['*']},"
                     "'next':'z'}]},'z':{'action':'Return','value':'{{ vars.n }}'}")));
    EXPECT_STREQ(flow_again(&f, "1"), "{'type':'success','value':3}");
    EXPECT_TRUE(f.took_ns >= 2 * S && f.took_ns < 2 * S + 10000000);
    mwl_program_release(f.program);
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Call','middleware':[{'provider':'" ACME_URI(
                                  "until") "'}],'call':{'provider':" MOCK
                                           ",'onSuccess':{'value':'{{ call.input * 3.0 }}'}},"
                                           "'next':'z'},'z':{'action':'Return'}")));
    EXPECT_STREQ(flow_again(&f, "2"), "{'type':'success','value':162}");
    flow_close(&f);
}

UTEST(surface, middleware_that_calls) {
    flow f;
    mwl_asm_provider documents[4];
    ASSERT_TRUE(open_rerunning(&f, documents));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Call','middleware':[{'provider':'" ACME_URI(
                                  "tell") "','onSuccess':{'with':{'call':{'provider':" MOCK
                                          ",'with':{'delay':'PT7S'}}}}}],"
                                          "'call':{'provider':" MOCK
                                          "},'next':'z'},'z':{'action':'Return'}")));
    EXPECT_STREQ(flow_again(&f, "'x'"), "{'type':'success','value':'x'}");
    EXPECT_EQ(f.took_ns, 7 * S);
    flow_close(&f);
}

/* Each phase has a call of its own. */
UTEST(surface, middleware_that_calls_in_two_phases) {
    flow f;
    mwl_asm_provider documents[4];
    ASSERT_TRUE(open_rerunning(&f, documents));
    ASSERT_TRUE(flow_load(
        &f,
        FLOW("'a':{'action':'Call','middleware':[{'provider':'" ACME_URI(
            "bracket") "','onEntry':{'with':{'call':{'provider':" MOCK
                       ",'with':{'delay':'PT2S'}}}},'onAlways':{'with':{'call':{'provider':" MOCK
                       ",'with':{'delay':'PT5S','failure':{'code':'Late.Word'}}}}}}],"
                       "'call':{'provider':" MOCK "},'next':'z'},'z':{'action':'Return'}")));
    const char *result = flow_again(&f, "'x'");
    EXPECT_TRUE(strstr(result, "Late.Word") != NULL);
    EXPECT_EQ(f.took_ns, 7 * S);
    flow_close(&f);
}

/* ---- looking on ------------------------------------------------------------------------------ */

typedef struct watcher {
    int seen[32];
    const mwl_run *run;
} watcher;

static void watch(void *ctx, const mwl_trace_event *event) {
    watcher *w = ctx;
    w->seen[event->kind]++;
    if (event->run != w->run) w->seen[31]++;
}

UTEST(surface, trace_user_and_place) {
    flow f;
    watcher w = {{0}, NULL};
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Sleep','for':'PT1S','next':'b'},'b':{'action':'"
                                   "Raise','result':{'code':'Oh'}}")));
    ASSERT_TRUE(flow_start(&f, "1"));
    w.run = f.run;
    mwl_run_set_user(f.run, &w);
    EXPECT_TRUE(mwl_run_user(f.run) == &w);
    EXPECT_EQ((int)mwl_run_get_state(f.run), (int)MWL_RUN_READY);
    mwl_vm_trace(f.vm, watch, &w);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_vm_trace(f.vm, NULL, NULL);
    EXPECT_EQ(w.seen[MWL_TRACE_RUN_DONE], 1);
    EXPECT_EQ(w.seen[MWL_TRACE_STEP_ENTERED], 2);
    EXPECT_EQ(w.seen[31], 0);
    EXPECT_STREQ(mwl_trace_name(MWL_TRACE_RUN_DONE), "RUN_DONE");
    mwl_place place;
    ASSERT_TRUE(mwl_run_failed_at(f.run, mwl_run_result(f.run), &place));
    EXPECT_STREQ(place.step, "b");
    EXPECT_EQ(place.line, 1u);
    flow_close(&f);
}

/* The dispatches whose failures no Result shows, with their codes. */
static void write_hidden(void *ctx, const mwl_trace_event *e) {
    char *line = ctx;
    const char *code = mwl_as_text(mwl_get(e->value, "code"), NULL);
    if (e->kind == MWL_TRACE_HIDDEN && e->failed)
        sprintf(line + strlen(line), " %s#%d %s", e->step, (int)e->index, code ? code : "");
}

/* Three dispatches of a Gather are interrupted, and each cleanup fails: one failure goes on, the
 * others are heard, with a listener of all events and without. DECISIONS.md 7. */
UTEST(surface, a_failure_that_no_result_shows_is_heard) {
    flow f;
    char all[200] = "", hidden[200] = "";
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(
        &f,
        "{'$schema':'https://mwl.dev/v0.1/flow/schema.json','middleware':[{'provider':" TIMEOUT
        ",'onEntry':{'with':{'duration':'PT1S'}}}],'entrypoint':'a','steps':{'a':{'action':"
        "'Gather','over':['U.One','U.Two','U.Three'],'call':{'flow':'w'},'next':'z'},'z':{'action':'Return'}},"
        "'flows':{'w':{'middleware':[{'provider':" FINALLY ",'onAlways':{'with':{'call':{"
        "'flow':{'entrypoint':'u','steps':{'u':{'action':'Raise','result':{'code':"
        "'{{ frame.input }}'}}}},'input':'{{ frame.input }}'}}}}],"
        "'entrypoint':'s','steps':{'s':{'action':'Sleep','for':'PT1H','next':'r'},"
        "'r':{'action':'Return'}}}}}"));
    for (int listens = 0; listens < 2; listens++) {
        hidden[0] = '\0';
        ASSERT_TRUE(flow_start(&f, "null"));
        if (listens) mwl_vm_trace(f.vm, write_hidden, all);
        mwl_vm_trace_hidden(f.vm, write_hidden, hidden);
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        EXPECT_STREQ(mwl_as_text(mwl_get(mwl_run_result(f.run), "code"), NULL), "U.One");
        EXPECT_STREQ(hidden, " a#1 U.Two a#2 U.Three");
        mwl_run_free(f.run);
        f.run = NULL;
    }
    EXPECT_STREQ(all, hidden);
    mwl_vm_trace_hidden(f.vm, NULL, NULL);
    flow_close(&f);
}

/* What was open, one word for each event: "a" a Step, "attempt 2", "1/3+2" a Gather, "wait 5". */
static void write_open(void *ctx, const mwl_trace_event *e) {
    char *line = ctx, *end = line + strlen(line);
    if (e->kind == MWL_TRACE_STEP_ENTERED) sprintf(end, " %s", e->step);
    if (e->kind == MWL_TRACE_ESTABLISHED && *e->counts)
        sprintf(end, " %s %d", e->counts, (int)e->runs);
    if (e->kind == MWL_TRACE_WAITING && e->total)
        sprintf(end, " %u/%u+%u", e->done, e->total, e->active);
    else if (e->kind == MWL_TRACE_WAITING)
        sprintf(end, " wait %d", (int)((e->until_ns - e->at.mono_ns) / S));
}

UTEST(surface, look_at_what_is_open) {
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(
        &f,
        FLOW_WITH(
            "'flows':{'sub':{'entrypoint':'b','steps':{'b':{'action':'Call','middleware':[{"
            "'provider':" RETRY ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},"
            "'attempts':3,'backoff':{'initial':'PT5S'}}]}}}],'call':{'provider':" MOCK
            ",'with':{'delay':'PT2S','failure':{'code':'No'}}},'catch':[{'match':{'codes':['*']},"
            "'next':'g'}],'next':'g'},'g':{'action':'Gather','over':['PT1S','PT9S','PT9S'],'concurrency':2,"
            "'call':{'provider':" MOCK
            ",'with':{'delay':'{{ call.input }}'}},'next':'r'},'r':{'action':'Return'}}}},",
            "'a':{'action':'Call','call':{'flow':'sub'},'next':'z'},'z':{'action':'Return'}")));
    ASSERT_TRUE(flow_start(&f, "1"));
    static const char *const wanted[] = {" a b attempt 1 wait 2",
                                         " a b attempt 2 wait 5",
                                         " a b attempt 2 wait 2",
                                         " a b attempt 3 wait 5",
                                         " a b attempt 3 wait 2",
                                         " a g 0/3+2",
                                         " a g 1/3+2"};
    static const int64_t at[] = {0, 2, 7, 9, 14, 16, 17};
    for (int i = 0; i < 7; i++) {
        char line[200] = "";
        if (i) mwl_vm_pump(f.vm, (at[i] - at[i - 1]) * S);
        for (int turn = 0; turn < 4; turn++) mwl_vm_pump(f.vm, 0);
        mwl_run_look(f.run, write_open, line);
        EXPECT_STREQ(line, wanted[i]);
    }
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    char line[200] = "";
    mwl_run_look(f.run, write_open, line);
    EXPECT_STREQ(line, "");
    flow_close(&f);
}

static void count_done(int n[4], mwl_vm *vm) {
    for (mwl_run *run; (run = mwl_vm_next_done(vm));) {
        n[mwl_run_get_state(run)]++;
        if (mwl_run_user(run) == n) n[0]++;
    }
}

UTEST(surface, every_end_of_a_run_is_reported_once) {
    flow f;
    int n[4] = {0};
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Sleep','for':'PT1S','next':'b'},'b':{'action':'"
                                   "Return'}")));
    ASSERT_TRUE(flow_start(&f, "1"));
    mwl_run *first = f.run;
    mwl_run_set_user(first, n);
    ASSERT_TRUE(flow_start(&f, "2"));
    mwl_run *second = f.run;
    ASSERT_TRUE(flow_start(&f, "3"));
    mwl_run_abort(second);
    mwl_run_abort(second);
    count_done(n, f.vm);
    EXPECT_EQ(n[MWL_RUN_ABORTED], 1);
    mwl_run_cancel(f.run, "enough");
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    count_done(n, f.vm);
    EXPECT_EQ(n[MWL_RUN_DONE], 2);
    EXPECT_EQ(n[MWL_RUN_ABORTED], 1);
    EXPECT_EQ(n[0], 1);
    mwl_run_free(first);
    mwl_run_free(second);
    count_done(n, f.vm);
    EXPECT_EQ(n[MWL_RUN_ABORTED] + n[MWL_RUN_DONE], 3);
    ASSERT_TRUE(flow_start(&f, "4"));
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    mwl_run_free(f.run); /* nobody asked before it was freed */
    f.run = NULL;
    count_done(n, f.vm);
    EXPECT_EQ(n[MWL_RUN_ABORTED] + n[MWL_RUN_DONE], 3);
    flow_close(&f);
}

static void count_own(void *ctx, mwl_run *run) { ((int *)ctx)[mwl_run_get_state(run)]++; }

UTEST(surface, a_run_with_its_own_function_is_reported_there_alone) {
    flow f;
    int of_vm[4] = {0}, own[4] = {0};
    mwl_run *runs[2];
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Return'}")));
    const mwl_start start = {.done = count_own, .done_ctx = own};
    ASSERT_EQ((int)mwl_run_start(f.vm, f.program, &start, &runs[0], NULL), (int)MWL_OK);
    ASSERT_EQ((int)mwl_run_start(f.vm, f.program, NULL, &runs[1], NULL), (int)MWL_OK);
    mwl_vm_pump(f.vm, MWL_NO_BUDGET);
    count_done(of_vm, f.vm);
    EXPECT_EQ(own[MWL_RUN_DONE], 1);
    EXPECT_EQ(of_vm[MWL_RUN_DONE], 1);
    for (int i = 0; i < 2; i++) mwl_run_free(runs[i]);
    flow_close(&f);
}

UTEST_MAIN()
