/* test_clone.c: vm/explore/clone.c and fingerprint.c: a copy of a parked run goes on as the run
 * itself does, equal states have equal fingerprints and others have others, and a copy for which
 * memory runs out leaves nothing behind. */
#include "tests/unit/run_flow.h"
#include "utest.h"
#include "vm/explore/clone.h"
#include "vm/explore/fingerprint.h"
#include "vm/machine/state.h"

/* Each parks, with frames, entries, a Gather, timers, a failure that is handled, a cleanup. */
static const char *const flows[] = {
    FLOW("'a':{'action':'Call','call':{'provider':" MOCK ",'with':{'delay':'PT5S','value':7}},"
         "'middleware':[{'provider':" RETRY
         ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},"
         "'attempts':2}]}}},{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT3S'}}}],"
         "'next':'b','catch':[{'match':{'codes':['*']},'output':'{{ failure }}','next':'b'}]},"
         "'b':{'action':'Return'}"),
    FLOW_WITH(
        "'flows':{'Sub':{'entrypoint':'s','steps':{'s':{'action':'Sleep','for':'PT1M','next':'e'},"
        "'e':{'action':'Return','value':'{{ frame.input }}'}}}},",
        "'a':{'action':'Gather','over':'{{ [1, 2, 3] }}','call':{'flow':'Sub'},'concurrency':2,"
        "'next':'b'},'b':{'action':'Return'}"),
    FLOW_WITH("'middleware':[{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK
              ",'with':{'delay':'PT9S','failure':{'code':'X.Y'}}}}}}],",
              "'a':{'action':'Raise','result':{'code':'A.B'}}"),
    FLOW("'a':{'action':'Gather','calls':[{'provider':" MOCK ",'with':{'delay':'PT1S','value':1}},"
         "{'provider':" MOCK ",'with':{'delay':'PT2S','value':'{{ execution.id }}'}}],"
         "'next':'b'},'b':{'action':'Return','value':'{{ size(step.input) }}'}")};

static void settle(mwl_vm *vm) {
    int64_t due;
    do due = mwl_vm_pump(vm, 0);
    while (due <= vm->now.mono_ns);
}

/* To its end; the canonical JSON of its Result, freed by the caller. */
static char *finish(flow *f, mwl_run *run) {
    char *text = NULL, *copy;
    size_t len = 0;
    mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    mwl_json_write(mwl_vm_heap(f->vm), mwl_run_result(run), MWL_JSON_CANONICAL, &text, &len);
    copy = text ? strdup(text) : NULL;
    mwl_text_free(mwl_vm_heap(f->vm), text, len);
    mwl_run_free(run);
    return copy;
}

static bool same(mwl__fingerprint a, mwl__fingerprint b) { return a.a == b.a && a.b == b.b; }

UTEST(clone, goes_on_as_the_run_itself) {
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        flow f;
        ASSERT_TRUE(flow_vm(&f, 1));
        ASSERT_TRUE(flow_load(&f, flows[i]));
        ASSERT_TRUE(flow_start(&f, "{'in':[1,'two']}"));
        const mwl__readable readable = mwl__readable_of(f.program);
        settle(f.vm);
        mwl_instant now = f.vm->now;
        mwl__fingerprint print = mwl__run_fingerprint(f.run, &readable);
        ASSERT_EQ(mwl__run_freeze(f.run), MWL_OK);
        ASSERT_EQ(mwl_vm_pump(f.vm, MWL_NO_BUDGET), MWL_NEVER); /* a frozen run does nothing */
        ASSERT_TRUE(same(print, mwl__run_fingerprint(f.run, &readable)));
        mwl_run *twin = mwl__run_clone(f.run);
        ASSERT_TRUE(twin != NULL);
        ASSERT_TRUE(same(print, mwl__run_fingerprint(twin, &readable)));
        ASSERT_EQ(mwl__run_thaw(f.run), MWL_OK);
        char *first = finish(&f, f.run);
        f.run = NULL;
        f.vm->now = now;
        ASSERT_TRUE(same(print, mwl__run_fingerprint(twin, &readable)));
        ASSERT_EQ(mwl__run_thaw(twin), MWL_OK);
        char *second = finish(&f, twin);
        ASSERT_STREQ(first, second);
        free(first);
        free(second);
        flow_close(&f);
    }
}

UTEST(clone, is_freed_at_any_point) {
    for (size_t i = 0; i < sizeof flows / sizeof *flows; i++) {
        flow f;
        ASSERT_TRUE(flow_vm(&f, 1));
        ASSERT_TRUE(flow_load(&f, flows[i]));
        ASSERT_TRUE(flow_start(&f, "null"));
        settle(f.vm);
        ASSERT_EQ(mwl__run_freeze(f.run), MWL_OK);
        mwl_run_free(mwl__run_clone(f.run)); /* the VM keeps an execution for the next one */
        size_t used = mwl_heap_used(mwl_vm_heap(f.vm));
        size_t room = 0; /* memory runs out at every point */
        for (mwl_run *twin = NULL; !twin; room += 16) {
            f.vm->heap.limit = used + room;
            twin = mwl__run_clone(f.run);
            f.vm->heap.limit = SIZE_MAX;
            if (twin) mwl_run_free(twin);
            ASSERT_EQ(mwl_heap_used(mwl_vm_heap(f.vm)), used);
            if (twin) break;
        }
        ASSERT_GT(room, (size_t)256);
        flow_close(&f);
    }
}

UTEST(clone, states_that_differ_have_other_fingerprints) {
    static const char *const inputs[] = {"null", "1", "'1'", "[1]", "{'a':1}", "{'a':2}", "[]"};
    enum { N = sizeof inputs / sizeof *inputs };
    mwl__fingerprint prints[N + 1];
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(&f, flows[0]));
    const mwl__readable readable = mwl__readable_of(f.program);
    for (size_t i = 0; i <= N; i++) { /* the last one is the first again, a second later */
        ASSERT_TRUE(flow_start(&f, inputs[i % N]));
        settle(f.vm);
        prints[i] = mwl__run_fingerprint(f.run, &readable);
        mwl_run_free(f.run);
        f.run = NULL;
        f.vm->now.mono_ns += 1000000000;
        f.vm->now.wall_ns += 1000000000;
        for (size_t k = 0; k < i; k++) ASSERT_EQ(same(prints[i], prints[k]), i == N && k == 0);
    }
    ASSERT_TRUE(flow_start(&f, "null")); /* and with less time until the bound */
    settle(f.vm);
    mwl_vm_pump(f.vm, 1000000000);
    ASSERT_FALSE(same(prints[0], mwl__run_fingerprint(f.run, &readable)));
    flow_close(&f);
}

/* A timer that is over leaves no trace, though it has a number of its own. */
UTEST(clone, what_is_over_does_not_count) {
    mwl__fingerprint prints[2];
    flow f;
    ASSERT_TRUE(flow_vm(&f, 1));
    ASSERT_TRUE(flow_load(&f, FLOW("'a':{'action':'Sleep','for':'PT1S','next':'b'},"
                                   "'b':{'action':'Call','call':{'provider':" MOCK
                                   ",'with':{'delay':'PT5S'}},'next':'c'},"
                                   "'c':{'action':'Return'}")));
    const mwl__readable readable = mwl__readable_of(f.program);
    for (int i = 0; i < 2; i++) {
        ASSERT_TRUE(flow_start(&f, "null"));
        settle(f.vm);
        mwl_vm_pump(f.vm, 1000000000);
        settle(f.vm);
        prints[i] = mwl__run_fingerprint(f.run, &readable);
        ASSERT_EQ(mwl__run_freeze(f.run), MWL_OK);
        ASSERT_TRUE(same(prints[i], mwl__run_fingerprint(f.run, &readable)));
        mwl_run_free(f.run);
        f.run = NULL;
    }
    ASSERT_TRUE(same(prints[0], prints[1]));
    flow_close(&f);
}

UTEST_MAIN()
