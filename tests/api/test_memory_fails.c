/* test_memory_fails.c: the n-th allocation fails, for every n: once, and from then on. Assembling,
 * loading, registering and running return a status, and nothing crashes or leaks. */
#include "utest.h"

#include "tests/api/acme.h"
#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

/* Every action, every provider of the standard library, both kinds of target, schemas with patterns
 * and references, expressions of every sort, diagnostics (a warning: nothing reads `unread`). */
static const char definition[] = FLOW_WITH(
    "'parameters':{'type':'object','properties':{'k':{'$ref':'#/$defs/key'},'n':{'type':'number','default':2}},"
    "'$defs':{'key':{'type':'string','pattern':'^[a-z]+(?=k)','format':'hostname','maxLength':9}}},"
    "'middleware':[{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" MOCK
    ",'with':{'value':'{{ "
    "middleware.result }}'}}}}},{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT1H'}}}],",
    "'a':{'action':'Call','call':{'provider':" MOCK
    ",'with':{'failure':'{{ vars.n < 4.0 ? {\\'code\\': \\'A.B\\'} : null "
    "}}','value':'{{ [call.input, vars.n] }}'}},'middleware':[{'provider':" RETRY
    ",'onEntry':{'with':{'policies':[{'match':{'codes':['A.*']},'attempts':5,'backoff':{'initial':'PT1S'}}]}},"
    "'onFailure':{'assign':{'n':'{{ vars.n + 1.0 }}'}}}],'catch':[{'match':{'codes':['*']},'next':'b'}],'next':'b'},"
    "'b':{'action':'Gather','over':'{{ [1.0, 2.0, 3.0] }}','call':{'flow':{'parameters':{'type':'object','properties':{"
    "'x':{'type':'number'}}},'entrypoint':'p','steps':{'p':{'action':'Pass','output':'{{ {\\'x\\': vars.x} }}',"
    "'next':'r'},'r':{'action':'Return'}}},'with':{'x':'{{ call.input }}'}},"
    "'assign':{'got':'{{ step.results.map(r, r.value.x) }}','unread':1},'next':'c'},"
    "'c':{'action':'Call','input':1,'call':{'provider':" MOCK
    ",'with':{'value':'{{ call.input * 2.0 }}'}},'middleware':[{"
    "'provider':" LOOP ",'onSuccess':{'when':'{{ middleware.result.value < 20.0 }}'}}],'next':'d'},"
    "'d':{'action':'Match','cases':[{'when':'{{ match.input > 1000.0 }}','next':'z'},{'when':'{{ "
    "string(match.input).matches(\\'^[0-9.]+$\\') && size(vars.got) == 3 }}','next':'e'}],'default':{'next':'z'}},"
    "'e':{'action':'Sleep','for':'PT5S','next':'f'},"
    "'f':{'action':'Pass','output':'{{ {\\'t\\': \\'a,b\\'.split(\\',\\'), \\'s\\': "
    "vars.got.filter(v, v > 1.0).sort(), \\'j\\': toJson(vars.got), \\'d\\': duration(\\'90s\\') > duration(\\'1s\\')} "
    "}}','next':'z'},"
    "'z':{'action':'Return'}");

/* Memory that fails from the n-th request on, or there only. */
typedef struct meter {
    size_t bytes;
    long left; /* allocations before the one that fails; below 0: none fails */
    bool for_good, failed;
} meter;

static void *metered(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    meter *m = ctx;
    if (!new_size) {
        m->bytes -= old_size;
        free(ptr);
        return NULL;
    }
    if (m->left == 0) {
        m->failed = true;
        if (!m->for_good) m->left = -1;
        return NULL;
    }
    if (m->left > 0) m->left--;
    void *p = realloc(ptr, new_size);
    if (p) m->bytes += new_size - (ptr ? old_size : 0);
    return p;
}

static void arm(meter *m, long n, bool for_good) {
    m->left = n;
    m->for_good = for_good;
    m->failed = false;
}

/* Repeats `task` with the n-th allocation failing until none does; about how many there are. A task
 * returns whether it succeeded; it must succeed if no allocation failed. Of those with thousands,
 * every `stride`-th; MWL_SOAK in the environment: all. */
static long sweep(int *utest_result, const char *name, long stride,
                  bool (*task)(int *utest_result, meter *m, void *arg), void *arg) {
    long n[2] = {0, stride / 2};
    if (getenv("MWL_SOAK")) stride = 1;
    for (int for_good = 0; for_good < 2; for_good++) {
        for (bool failed = true; failed && !*utest_result; n[for_good] += stride) {
            meter m = {0, -1, false, false};
            arm(&m, n[for_good], for_good);
            bool through = task(utest_result, &m, arg);
            failed = m.failed;
            if (!failed) EXPECT_TRUE(through);
            EXPECT_EQ(m.bytes, 0u);
            if (*utest_result)
                printf("%s: allocation %ld%s\n", name, n[for_good],
                       for_good ? " and all after it" : "");
        }
    }
    printf("%s: %ld allocations, one in %ld failed\n", name, n[0] - stride, stride);
    return n[0] - stride;
}

/* ---- assembling and loading ------------------------------------------------------------------ */

typedef struct assembly {
    const char *text;
    unsigned flags;
    mwl_asm_format format;
    bool rejected;
} assembly;

static bool assembles(int *utest_result, meter *m, void *arg) {
    const assembly *a = arg;
    mwl_asm_provider documents[STYLES_COUNT + ACME_COUNT];
    for (size_t i = 0; i < STYLES_COUNT + ACME_COUNT; i++) {
        const char *text = i < STYLES_COUNT ? styles_providers[i].document
                                            : acme_middleware[i - STYLES_COUNT].document;
        documents[i] = (mwl_asm_provider){"a provider", text, strlen(text)};
    }
    mwl_asm_options o = {.alloc = {metered, m},
                         .flags = a->flags,
                         .format = a->format,
                         .providers = documents,
                         .n_providers = STYLES_COUNT + ACME_COUNT};
    mwl_asm_result out;
    mwl_status st = mwl_assemble(a->text, strlen(a->text), &o, &out);
    if (st != MWL_E_NOMEM) EXPECT_EQ((int)st, (int)(a->rejected ? MWL_E_REJECTED : MWL_OK));
    EXPECT_EQ(out.image != NULL, st == MWL_OK);
    mwl_asm_free(&out);
    return st != MWL_E_NOMEM;
}

UTEST(memory_fails, while_assembling) {
    assembly a = {flow_quoted(definition), 0, MWL_ASM_HUMAN, false};
    EXPECT_GT(sweep(utest_result, "assemble", 5, assembles, &a), 50);
    a.flags = MWL_ASM_PACK | MWL_ASM_STRIP_SOURCE;
    a.format = MWL_ASM_SARIF;
    sweep(utest_result, "assemble, packed", 7, assembles, &a);
    free((char *)(uintptr_t)a.text);
}

UTEST(memory_fails, while_rejecting) {
    char *text = flow_quoted(definition);
    assembly a = {text, 0, MWL_ASM_HUMAN, true};
    for (char *at = text; (at = strstr(at, "vars.n ")); at++) memcpy(at, "varz.n ", 7);
    for (int format = MWL_ASM_HUMAN; format <= MWL_ASM_SARIF; format++) {
        a.format = (mwl_asm_format)format;
        sweep(utest_result, "reject", 7, assembles, &a);
    }
    free(text);
}

static bool loads(int *utest_result, meter *m, void *arg) {
    const mwl_asm_result *r = arg;
    const mwl_alloc alloc = {metered, m};
    mwl_program *p = NULL;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status st = mwl_program_load(&alloc, r->image, r->image_size, MWL_COPY, &p, &error);
    if (st < 0) EXPECT_EQ((int)st, (int)MWL_E_NOMEM);
    EXPECT_EQ(p != NULL, st == MWL_OK);
    mwl_program_release(p);
    return st == MWL_OK;
}

UTEST(memory_fails, while_loading) {
    char *text = flow_quoted(definition);
    for (unsigned flags = 0; flags <= MWL_ASM_PACK; flags += MWL_ASM_PACK) {
        mwl_asm_options o = {.flags = flags};
        mwl_asm_result r;
        ASSERT_EQ((int)mwl_assemble(text, strlen(text), &o, &r), (int)MWL_OK);
        sweep(utest_result, flags ? "load, packed" : "load", 1, loads, &r);
        mwl_asm_free(&r);
    }
    free(text);
}

/* ---- registering and running ----------------------------------------------------------------- */

typedef struct world {
    styles s;
    acme a;
    mwl_vm *vm;
} world;

static mwl_status open_world(world *w, meter *m) {
    memset(w, 0, sizeof *w);
    mwl_config c = mwl_config_default();
    c.alloc = c.post_alloc = (mwl_alloc){metered, m};
    c.virtual_time = true;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status st = mwl_vm_new(&c, &w->vm);
    if (st == MWL_OK) st = mwl_std_add(w->vm, MWL_STD_ALL, &error);
    if (st == MWL_OK) st = mwl_vm_provide(w->vm, styles_providers, STYLES_COUNT, &w->s, &error);
    if (st == MWL_OK)
        st = mwl_vm_provide_middleware(w->vm, acme_middleware, ACME_COUNT, &w->a, &error);
    return st;
}

static bool registers(int *utest_result, meter *m, void *arg) {
    (void)arg;
    world w;
    mwl_status st = open_world(&w, m);
    if (st < 0) EXPECT_EQ((int)st, (int)MWL_E_NOMEM);
    mwl_vm_free(w.vm);
    return st == MWL_OK;
}

UTEST(memory_fails, while_registering) {
    EXPECT_GT(sweep(utest_result, "register", 29, registers, NULL), 50);
}

/* The VM is made first; what fails is an allocation of the run, from its start to its end. */
static bool runs(int *utest_result, meter *m, void *arg) {
    meter plan = *m;
    m->left = -1;
    world w;
    mwl_run *run = NULL;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status st = open_world(&w, m);
    EXPECT_EQ((int)st, (int)MWL_OK);
    mwl_heap *h = mwl_vm_heap(w.vm);
    mwl_start start = {.id = "one"};
    start.arguments = mwl_object_set(h, mwl_object(h, 1), "k", 1, mwl_string(h, "ak", 2));
    start.input = mwl_string(h, "in", 2);
    *m = (meter){m->bytes, plan.left, plan.for_good, false};
    st = mwl_run_start(w.vm, arg, &start, &run, &error);
    if (st < 0) EXPECT_EQ((int)st, (int)MWL_E_NOMEM);
    if (st < 0 && !plan.for_good) { /* a start that failed may be tried again */
        st = mwl_run_start(w.vm, arg, &start, &run, &error);
        EXPECT_EQ((int)st, (int)MWL_OK);
    }
    if (st == MWL_OK) {
        mwl_vm_pump(w.vm, MWL_NO_BUDGET);
        mwl_run_state state = mwl_run_get_state(run);
        EXPECT_TRUE(state == MWL_RUN_DONE || state == MWL_RUN_ABORTED);
        if (state == MWL_RUN_ABORTED) EXPECT_EQ((int)mwl_run_why(run), (int)MWL_E_NOMEM);
        if (!m->failed) EXPECT_TRUE(mwl_run_succeeded(run));
        if (!m->failed) EXPECT_EQ(mwl_count(mwl_run_value(run)), 4u);
        st = state == MWL_RUN_DONE ? MWL_OK : MWL_E_NOMEM;
    }
    mwl_value_drop(h, start.arguments);
    mwl_value_drop(h, start.input);
    mwl_run_free(run);
    mwl_vm_free(w.vm);
    return st == MWL_OK;
}

UTEST(memory_fails, while_running) {
    flow f;
    memset(&f, 0, sizeof f);
    if (!flow_load(&f, definition)) fprintf(stderr, "%s\n", f.result);
    ASSERT_TRUE(f.program != NULL);
    EXPECT_GT(sweep(utest_result, "run", 1, runs, f.program), 20);
    mwl_program_release(f.program);
}

/* Roots are built when they are read. A root that cannot be built is not treated as missing, and
 * nothing of it leaks. */
#define READS_ROOTS                                                                                                   \
    FLOW(                                                                                                             \
        "'a':{'action':'Call','call':{'provider':" MOCK                                                               \
        ",'with':{'value':1},'onSuccess':{'value':"                                                                   \
        "'{{ [call, provider] }}'}},'middleware':[{'provider':" RETRY                                                 \
        ",'onEntry':{'with':{'policies':["                                                                            \
        "{'attempts':2,'match':{'codes':['*']}}]}},'onSuccess':{'value':'{{ [middleware.metadata, middleware] }}'}}," \
        "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT1S'}},'onSuccess':{'value':"                        \
        "'{{ [middleware.metadata.deadline, middleware.result.value, middleware.metadata] }}'}}],'output':"           \
        "'{{ [step, frame, execution.id, execution] }}','next':'z'},'z':{'action':'Return'}")

typedef struct reading {
    mwl_program *program;
    char expected[8192]; /* "": not known yet */
} reading;

static bool reads(int *utest_result, meter *m, void *arg) {
    reading *r = arg;
    meter plan = *m;
    m->left = -1;
    mwl_config c = mwl_config_default();
    c.alloc = (mwl_alloc){metered, m};
    c.virtual_time = true;
    c.seed = 1;
    flow f;
    memset(&f, 0, sizeof f);
    EXPECT_EQ((int)mwl_vm_new(&c, &f.vm), (int)MWL_OK);
    EXPECT_EQ((int)mwl_std_add(f.vm, MWL_STD_ALL, NULL), (int)MWL_OK);
    *m = (meter){m->bytes, plan.left, plan.for_good, false};
    mwl_status st = mwl_run_start(f.vm, r->program, NULL, &f.run, NULL);
    bool through = false;
    if (st == MWL_OK) {
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        m->left = -1;
        through = mwl_run_get_state(f.run) == MWL_RUN_DONE;
        if (!through) EXPECT_EQ((int)mwl_run_why(f.run), (int)MWL_E_NOMEM);
        flow_finish(&f);
        if (through && !*r->expected)
            memcpy(r->expected, f.result, sizeof f.result);
        else if (through)
            EXPECT_STREQ(f.result, r->expected);
    }
    mwl_vm_free(f.vm);
    return through;
}

UTEST(memory_fails, while_reading) {
    flow f;
    memset(&f, 0, sizeof f);
    if (!flow_load(&f, READS_ROOTS)) fprintf(stderr, "%s\n", f.result);
    ASSERT_TRUE(f.program != NULL);
    static reading r;
    r.program = f.program;
    meter m = {0, -1, false, false};
    EXPECT_TRUE(reads(utest_result, &m, &r));
    if (!strstr(r.expected, "\"type\":\"success\"")) EXPECT_STREQ(r.expected, "a success");
    /* small values come from chunks, so these are few; with a sanitizer each value is an
     * allocation */
    EXPECT_GT(sweep(utest_result, "read", 1, reads, &r), 5);
    mwl_program_release(f.program);
}

UTEST_MAIN()
