/* test_late.c: a bound that elapses while the machine is busy, so that it is noticed late. The test
 * has its own clock, which stands still, except where a provider or a middleware takes six seconds
 * in the middle of a slice. For every slice, the outcome must be the same as if the bound had been
 * noticed in time. */
#include "utest.h"

#include "tests/api/acme.h"
#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#define S INT64_C(1000000000)
#define WORK "'" STYLES_URI("work") "'"
#define SLOW "'" ACME_URI("slow") "'"
#define DONE "'z':{'action':'Return'}"

static int64_t clock_ns;
static void read_clock(void *ctx, mwl_instant *out) {
    (void)ctx;
    out->mono_ns = clock_ns;
    out->wall_ns = INT64_C(1767225600) * S + clock_ns;
}

/* Its input is a text: with "slow" in it it takes six seconds, with "bad" it fails. */
static void work(mwl_call *call, void *user) {
    (void)user;
    size_t len;
    const char *how = mwl_as_text(mwl_call_input(call), &len);
    if (strstr(how, "slow")) clock_ns += 6 * S;
    if (strstr(how, "bad"))
        mwl_call_fail(call, NULL, how, NULL, mwl_absent());
    else
        mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
}
static const mwl_call_provider worker = {
    .uri = STYLES_URI("work"), .document = STYLES_DOC("work"), .start = work};

static const char slow_doc[] = ACME_DOC(
    "slow", "Slow",
    ACME_PHASE("onSuccess", "side-effect", "}}") "," ACME_PHASE("onFailure", "side-effect", "}}"),
    "");
static void slow(mwl_phase *phase, void *user) {
    (void)phase;
    (void)user;
    clock_ns += 6 * S;
}
static const mwl_middleware slowly = {
    .uri = ACME_URI("slow"), .document = slow_doc, .success = slow, .failure = slow};

/* acme.slow(): takes six seconds in the middle of an expression. */
static mwl_value slow_value(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)fn;
    (void)args;
    (void)n_args;
    clock_ns += 6 * S;
    return mwl_bool(true);
}
static const mwl_function_def slow_function = {
    "acme.slow", slow_value, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "acme.slow() -> bool"};

static bool load(flow *f, const char *definition) {
    const mwl_asm_provider documents[] = {{worker.uri, worker.document, strlen(worker.document)},
                                          {slowly.uri, slow_doc, strlen(slow_doc)}};
    const mwl_function_def *const functions[] = {&slow_function, NULL};
    const mwl_asm_options options = {
        .providers = documents, .n_providers = 2, .functions = functions};
    char *text = flow_quoted(definition);
    mwl_asm_result out;
    mwl_status st = mwl_assemble(text, strlen(text), &options, &out);
    if (st == MWL_OK)
        st = mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &f->program, NULL);
    else
        snprintf(f->result, sizeof f->result, "%s", out.diagnostics);
    mwl_asm_free(&out);
    free(text);
    return st == MWL_OK;
}

/* The Result's code chain, each with its type's first letter, or `ok`; run with this slice. */
static const char *chain(const char *definition, uint32_t slice) {
    static char out[400];
    mwl_config c = mwl_config_default();
    flow f;
    memset(&f, 0, sizeof f);
    c.clock.read = read_clock;
    c.slice = slice;
    clock_ns = 0;
    out[0] = 0;
    if (mwl_vm_new(&c, &f.vm) < 0 || mwl_std_add(f.vm, MWL_STD_ALL, NULL) < 0 ||
        mwl_vm_provide(f.vm, &worker, 1, NULL, NULL) < 0 ||
        mwl_vm_provide_middleware(f.vm, &slowly, 1, NULL, NULL) < 0 ||
        mwl_vm_functions(f.vm, &slow_function, 1) < 0 || !load(&f, definition) ||
        !flow_start(&f, "'x'")) {
        snprintf(out, sizeof out, "%.300s", f.result);
        flow_close(&f);
        return out;
    }
    for (int n = 0; n < 10000 && mwl_run_get_state(f.run) != MWL_RUN_DONE; n++)
        (void)mwl_vm_pump(f.vm, 0);
    mwl_value link = mwl_run_result(f.run);
    for (; mwl_value_kind(link) == MWL_KIND_OBJECT; link = mwl_get(link, "previous")) {
        size_t len, n = strlen(out);
        mwl_value code = mwl_get(link, "code");
        const char *type = mwl_as_text(mwl_get(link, "type"), &len);
        const char *text = mwl_is_absent(code) ? "ok" : mwl_as_text(code, &len),
                   *last = strrchr(text, '.');
        snprintf(out + n, sizeof out - n, "%s%c:%s", n ? " " : "", type[0], last ? last + 1 : text);
    }
    flow_close(&f);
    return out;
}

#define BOUND "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT5S'}}}"
#define CLEANUP(how)                                                                               \
    "{'provider':" FINALLY ",'onAlways':{'with':{'call':{'provider':" WORK ",'input':'" how "'}}}}"
#define ONCE(how)                                                                                  \
    "{'provider':" FINALLY                                                                         \
    ",'onAlways':{'when':'{{ !has(vars.again) }}','with':{'call':{'provider':" WORK                \
    ",'input':'" how "'}}}}"
#define AGAIN                                                                                      \
    "{'provider':" RETRY                                                                           \
    ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},'attempts':2}]}},"                   \
    "'onFailure':{'assign':{'again':true}}}"
#define STEP(stack, how)                                                                           \
    FLOW("'a':{'action':'Call','middleware':[" stack "],'call':{'provider':" WORK ",'input':" how  \
         "},'next':'z'}," DONE)

/* The bound is around a Flow that has the Step. */
#define SUBFLOW(stack, how)                                                                             \
    FLOW("'a':{'action':'Call','middleware':[" BOUND "," CLEANUP(                                       \
        "good") "],'call':{'flow':{'entrypoint':'s','steps':{'s':{'action':'Call','middleware':[" stack \
                "],'call':{'provider':" WORK ",'input':" how "},'next':'z'}," DONE                      \
                "}}},'next':'z'}," DONE)

UTEST(late, the_same_as_in_time) {
    static const struct {
        const char *definition, *chain;
    } rows[] = {
        /* forward work that ends too late is not accepted, whether it succeeds or fails, and
         * whether or not the bound is directly around the call */
        {STEP(BOUND, "'slow'"), "t:Exceeded"},
        {STEP(BOUND, "'slow bad'"), "t:Exceeded"},
        {STEP(BOUND "," BOUND, "'slow'"), "t:Exceeded"},
        {STEP(BOUND "," CLEANUP("good"), "'slow'"), "t:Exceeded"},
        {STEP(BOUND "," CLEANUP("good"), "'slow bad'"), "t:Exceeded"},
        {STEP(BOUND ",{'provider':" SLOW "}", "'good'"), "t:Exceeded"},
        /* a failure that was in flight at the bound's instant is linked beneath the explanation */
        {STEP(BOUND ",{'provider':" SLOW "}", "'bad'"), "t:Exceeded e:bad"},
        {STEP(BOUND "," CLEANUP("slow"), "'bad'"), "t:Exceeded e:bad"},
        {STEP(BOUND "," BOUND "," CLEANUP("slow"), "'bad'"), "t:Exceeded e:bad"},
        {SUBFLOW(CLEANUP("slow"), "'bad'"), "t:Exceeded e:bad"},
        {SUBFLOW(CLEANUP("good"), "'slow bad'"), "t:Exceeded"},
        {SUBFLOW("", "'slow bad'"), "t:Exceeded"},
        /* what ends in time is */
        {STEP(BOUND, "'good'"), "s:ok"},
        {STEP(BOUND, "'bad'"), "e:bad"},
        /* it elapses during a cleanup that fails: the failure stays at the head */
        {STEP(BOUND "," CLEANUP("slow bad"), "'good'"), "e:slow bad c:Cancelled t:Exceeded"},
        {STEP(BOUND "," CLEANUP("slow bad"), "'bad'"), "e:slow bad e:bad c:Cancelled t:Exceeded"},
        /* during a cleanup that succeeds, around one that has failed */
        {STEP(BOUND "," CLEANUP("slow") "," CLEANUP("bad"), "'good'"),
         "e:bad c:Cancelled t:Exceeded"},
        /* after it, while its failure is on its way to the bound */
        {STEP(BOUND ",{'provider':" SLOW "}," CLEANUP("bad"), "'good'"),
         "e:bad c:Cancelled t:Exceeded"},
        {STEP(BOUND ",{'provider':" SLOW "},{'provider':" FINALLY
                    ",'onFailure':{'code':'Other'},'onAlways':{'when':false,"
                    "'with':{'call':{'provider':" WORK "}}}}," CLEANUP("bad"),
              "'good'"),
         "e:Other e:bad c:Cancelled t:Exceeded"},
        /* on its way out of a subflow, in the call's arm */
        {FLOW_WITH(
             "'middleware':[" BOUND
             "],'flows':{'sub':{'entrypoint':'s','steps':{'s':{'action':'Call','middleware':[" CLEANUP(
                 "bad") "],'call':{'provider':" WORK ",'input':'good'},'next':'z'}," DONE "}}},",
             "'a':{'action':'Call','call':{'flow':'sub','onFailure':{'assign':{'x':'{{ acme.slow() }}'}}},"
             "'next':'z'}," DONE),
         "e:bad c:Cancelled t:Exceeded"},
        /* a Retry has consumed that failure, so it is no longer in flight */
        {STEP(BOUND "," AGAIN "," ONCE("bad"), "'{{ has(vars.again) ? \\'slow\\' : \\'good\\' }}'"),
         "t:Exceeded"},
        /* if two bounds are late, the explanation of the outer one remains */
        {STEP(BOUND "," CLEANUP("good") "," BOUND ",{'provider':" SLOW "}", "'good'"),
         "t:Exceeded"},
        {STEP(BOUND "," CLEANUP("bad") "," BOUND ",{'provider':" SLOW "}", "'good'"),
         "e:bad c:Cancelled t:Exceeded"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EXPECT_STREQ(chain(rows[i].definition, 1000000),
                     rows[i].chain); /* noticed where the Result arrives */
        EXPECT_STREQ(chain(rows[i].definition, 1), rows[i].chain); /* and at a slice's end */
    }
}

UTEST_MAIN()
