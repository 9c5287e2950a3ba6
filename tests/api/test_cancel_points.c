/* test_cancel_points.c: a Flow with all three provider styles and a host's middleware is ended at
 * every point where it waits, one by one: cancelled, aborted, freed with its VM. */
#include "utest.h"

#include "tests/api/acme.h"
#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#define S INT64_C(1000000000)
#define NOTIFY "{'provider':'" ACME_URI("notify") "'}"
#define CACHE "{'provider':'" ACME_URI("cache") "','onEntry':{'with':{'key':'k'}}}"
#define CALL(name) "{'provider':'" STYLES_URI(name) "'}"

/* Every style alone, all of them at a time below another Flow, waits, and a cleanup that itself
 * waits. */
static const char definition[] = FLOW_WITH(
    "'middleware':[" NOTIFY ",{'provider':" FINALLY
    ",'onAlways':{'with':{'call':" CALL("later") "}}}],",
    "'a':{'action':'Call','middleware':[" NOTIFY "],'call':" CALL(
        "later") ",'next':'b'},"
                 "'b':{'action':'Call','middleware':[" NOTIFY "," CACHE "],'call':" CALL(
                     "blocking") ",'next':'c'},"
                                 "'c':{'action':'Gather','calls':[" CALL("at-once") "," CALL("later") "," CALL(
                                     "blocking") ",{'flow':{'middleware':[" NOTIFY
                                                 "],'entrypoint':'x','steps':{'x':{'action':'Call','middleware':[" NOTIFY
                                                 ",{'provider':" TIMEOUT
                                                 ",'onEntry':{'with':{'duration':'PT1H'}}}],'call':" CALL(
                                                     "blocking") ",'next':'y'},'y':{'action':'Sleep','for':'PT3S','next':'z'},'z':{'action':'Return'}}}}],'next':'d'},"
                                                                 "'d':{'action':'Sleep','for':'PT2S','next':'e'},"
                                                                 "'e':{'action':'Call','call':" CALL(
                                                                     "given-up") ",'next':'f'},"
                                                                                 "'f':{'action':'Return'}");

typedef enum how { RUN_OUT, CANCEL, ABORT, FREE_VM } how;

typedef struct bench {
    counted memory;
    styles s;
    acme a;
    mwl_vm *vm;
    mwl_run *run;
} bench;

static int words(const char *log, const char *word) {
    int n = 0;
    for (const char *p = log; (p = strstr(p, word)); p += strlen(word)) n++;
    return n;
}

/* One small step: a slice, or the next timer, or one answer. Returns false if nothing is left to
 * do. */
static bool step(bench *b) {
    int64_t due = mwl_vm_pump(b->vm, 0);
    if (due == 0) return true;
    mwl_instant now;
    mwl_vm_now(b->vm, &now);
    if (due > now.mono_ns + 60 * S)
        return styles_answer(&b->s); /* do not wait for the bound of an hour */
    mwl_vm_pump(b->vm, due - now.mono_ns);
    return true;
}

static bool open_bench(bench *b, mwl_program *program, uint32_t slice, long fail_in) {
    memset(b, 0, sizeof *b);
    b->memory.fail_in = fail_in;
    mwl_config c = mwl_config_default();
    c.alloc = c.post_alloc = (mwl_alloc){counted_fn, &b->memory};
    c.virtual_time = true;
    c.slice = slice;
    if (mwl_vm_new(&c, &b->vm) < 0 || mwl_std_add(b->vm, MWL_STD_ALL, NULL) < 0) return false;
    b->a.heap = mwl_vm_heap(b->vm);
    b->a.cached = mwl_object(b->a.heap, 0);
    return mwl_vm_provide(b->vm, styles_providers, STYLES_COUNT, &b->s, NULL) == MWL_OK &&
           mwl_vm_provide_middleware(b->vm, acme_middleware, ACME_COUNT, &b->a, NULL) == MWL_OK &&
           mwl_run_start(b->vm, program, NULL, &b->run, NULL) == MWL_OK;
}

static mwl_program *assemble(void) {
    flow f;
    memset(&f, 0, sizeof f);
    mwl_asm_provider documents[STYLES_COUNT + ACME_COUNT];
    for (size_t i = 0; i < STYLES_COUNT + ACME_COUNT; i++) {
        const char *text = i < STYLES_COUNT ? styles_providers[i].document
                                            : acme_middleware[i - STYLES_COUNT].document;
        documents[i] = (mwl_asm_provider){"a provider", text, strlen(text)};
    }
    f.documents = documents;
    f.n_documents = STYLES_COUNT + ACME_COUNT;
    if (!flow_load(&f, definition)) fprintf(stderr, "%s\n", f.result);
    return f.program;
}

/* Ends it after `at` steps; *steps is how many it took in all. */
static void end_at(int *utest_result, mwl_program *program, uint32_t slice, how h, int at,
                   int *steps) {
    bench b;
    int n = 0;
    bool open = open_bench(&b, program, slice, 0);
    EXPECT_TRUE(open);
    while (open && n < at && step(&b)) n++;
    if (h == CANCEL) {
        mwl_run_cancel(b.run, "enough");
        mwl_run_cancel(b.run, "again");
    } else if (h == ABORT) {
        mwl_run_abort(b.run);
    }
    if (h != FREE_VM)
        while (step(&b)) n++;
    EXPECT_EQ(mwl_run_get_state(b.run) == MWL_RUN_DONE, h == CANCEL || h == RUN_OUT);
    if (h == CANCEL || h == RUN_OUT) {
        EXPECT_EQ(words(b.a.log, " entry"),
                  words(b.a.log, " always")); /* onAlways once for each established */
        EXPECT_EQ(b.s.on_stack, 0);
        mwl_value type = mwl_get(mwl_run_result(b.run), "type");
        if (h == CANCEL) EXPECT_STREQ(mwl_as_text(type, NULL), "cancellation");
    }
    acme_done(&b.a);
    if (h != FREE_VM) mwl_run_free(b.run);
    mwl_vm_free(b.vm);
    EXPECT_EQ(b.s.on_stack, 0); /* every function has returned */
    EXPECT_EQ(b.s.blocked,
              b.s.blocked_settled + b.s.cancelled_inside); /* each ended in one way, once */
    if (h == RUN_OUT) {
        EXPECT_EQ(b.s.started, 8);
        EXPECT_EQ(b.s.settled, 4); /* by the provider itself: at-once and the three blocking ones */
        EXPECT_EQ(b.s.answered, 7); /* three of them awaited by the blocking ones */
        EXPECT_EQ(b.s.refused + b.s.cancelled, 0);
    }
    while (styles_answer(&b.s)) continue; /* answers after the end are refused and do no harm */
    EXPECT_EQ(b.memory.bytes, 0u);
    *steps = n;
}

static void end_everywhere(int *utest_result, how h) {
    mwl_program *program = assemble();
    ASSERT_TRUE(program != NULL);
    for (uint32_t slice = 16; slice <= 4096; slice *= 256) {
        int n = 0, unused;
        end_at(utest_result, program, slice, RUN_OUT, 0, &n);
        EXPECT_GE(n, 20);
        for (int k = 0; k < n; k++) end_at(utest_result, program, slice, h, k, &unused);
    }
    mwl_program_release(program);
}

UTEST(cancel_points, cancelled_everywhere) { end_everywhere(utest_result, CANCEL); }
UTEST(cancel_points, aborted_everywhere) { end_everywhere(utest_result, ABORT); }
UTEST(cancel_points, freed_with_its_vm_everywhere) { end_everywhere(utest_result, FREE_VM); }

/* Ended by the host's allocator: whatever allocation fails, nothing crashes, hangs or leaks. */
UTEST(cancel_points, out_of_memory_everywhere) {
    mwl_program *program = assemble();
    ASSERT_TRUE(program != NULL);
    bool failed = true;
    for (long k = 1; failed; k += k < 400 ? 7 : 1) { /* the first few hundred only make the VM */
        bench b;
        memset(&b, 0, sizeof b);
        bool open = open_bench(&b, program, 4096, k);
        for (int n = 0; open && n < 1000 && step(&b); n++) continue;
        failed = b.memory.fail_in == 0;
        if (open) EXPECT_NE((int)mwl_run_get_state(b.run), (int)MWL_RUN_PARKED);
        if (b.a.heap) acme_done(&b.a);
        mwl_vm_free(b.vm);
        EXPECT_EQ(b.s.on_stack, 0);
        while (styles_answer(&b.s)) continue;
        EXPECT_EQ(b.memory.bytes, 0u);
    }
    mwl_program_release(program);
}

UTEST_MAIN()
