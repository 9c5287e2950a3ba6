/* Workflow runs: real definitions through the assembler and the public API, per run. The cases are those of
 * the peers' programs: (a) to (f); parked runs, (g), are counted in bytes by tests/unit/test_parked.c. */
#include "bench.h"

#include "mwl_asm.h"
#include "mwl_provider.h"
#include "mwl_std.h"

#include <stdlib.h>
#include <string.h>

#define HEAD "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"s0\",\"steps\":{"
#define DONE "\"done\":{\"action\":\"Return\"}}}"
#define PASS(name, next)                                                                              \
    "\"" name "\":{\"action\":\"Pass\",\"output\":\"{{ {'n': step.input.n + 1.0, 's': step.input.s} }}\"," \
    "\"next\":\"" next "\"},"
#define NOOP "{\"provider\":\"mwl:provider.call/bench/noop/v1\"}"
#define MW(name) "\"provider\":\"mwl:provider.middleware/mwl/" name "/v1\""

struct state {
    mwl_vm *vm;
    mwl_program *program;
    mwl_value input;
    unsigned fails; /* what `flaky` still has to fail in this run */
};

static const struct workflow {
    const char *name, *definition, *input, *wanted; /* wanted: the Result as JSON */
    unsigned fails;
} workflows[] = {
    {"a_min", HEAD "\"s0\":{\"action\":\"Pass\",\"next\":\"done\"}," DONE, NULL,
     "{\"type\":\"success\",\"value\":{\"n\":1,\"s\":\"granule-0001\"}}", 0},
    {"b_chain10",
     HEAD PASS("s0", "s1") PASS("s1", "s2") PASS("s2", "s3") PASS("s3", "s4") PASS("s4", "s5") PASS("s5", "s6")
         PASS("s6", "s7") PASS("s7", "s8") PASS("s8", "s9") PASS("s9", "done") DONE,
     NULL, "{\"type\":\"success\",\"value\":{\"n\":11,\"s\":\"granule-0001\"}}", 0},
    {"c_retry",
     HEAD "\"s0\":{\"action\":\"Call\",\"call\":{\"provider\":\"mwl:provider.call/bench/flaky/v1\"},"
          "\"middleware\":[{" MW("retry") ",\"onEntry\":{\"with\":{\"policies\":[{\"match\":{\"codes\":"
          "[\"Provider.Call.*\"]},\"attempts\":3}]}}}],\"next\":\"done\"}," DONE,
     NULL, "{\"type\":\"success\",\"value\":{\"n\":1,\"s\":\"granule-0001\"}}", 2},
    {"d_loop1000",
     HEAD "\"s0\":{\"action\":\"Call\",\"call\":" NOOP ",\"middleware\":[{" MW("loop") ",\"onSuccess\":{\"when\":"
          "\"{{ middleware.metadata.iteration < 1000 }}\"}}],\"next\":\"done\"}," DONE,
     NULL, "{\"type\":\"success\",\"value\":{\"n\":1,\"s\":\"granule-0001\"}}", 0},
    {"e_fan1000",
     HEAD "\"s0\":{\"action\":\"Gather\",\"over\":\"{{ step.input }}\",\"call\":" NOOP ",\"next\":\"last\"},"
          "\"last\":{\"action\":\"Return\",\"value\":\"{{ size(step.input) }}\"}," DONE,
     "1000", "{\"type\":\"success\",\"value\":1000}", 0},
    {"f_timeout",
     HEAD "\"s0\":{\"action\":\"Call\",\"call\":{\"provider\":\"mwl:provider.call/bench/never/v1\"},"
          "\"middleware\":[{" MW("timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT0.001S\"}}}],"
          "\"next\":\"done\",\"catch\":[{\"match\":{\"types\":[\"timeout\"]},\"next\":\"done\"}]}," DONE,
     NULL, "{\"type\":\"success\",\"value\":{\"n\":1,\"s\":\"granule-0001\"}}", 0},
    {"h_stack8",
     HEAD "\"s0\":{\"action\":\"Call\",\"call\":" NOOP ",\"middleware\":["
          "{" MW("timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT1H\"}}},{" MW("timeout")
          ",\"onEntry\":{\"with\":{\"duration\":\"PT1H\"}}},{" MW("timeout") ",\"onEntry\":{\"with\":{\"duration\":"
          "\"PT1H\"}}},{" MW("timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT1H\"}}},{" MW("timeout")
          ",\"onEntry\":{\"with\":{\"duration\":\"PT1H\"}}},{" MW("timeout") ",\"onEntry\":{\"with\":{\"duration\":"
          "\"PT1H\"}}},{" MW("timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT1H\"}}},{" MW("timeout")
          ",\"onEntry\":{\"with\":{\"duration\":\"PT1H\"}}}],\"next\":\"done\"}," DONE,
     NULL, "{\"type\":\"success\",\"value\":{\"n\":1,\"s\":\"granule-0001\"}}", 0},
    {"i_subflow",
     HEAD "\"s0\":{\"action\":\"Call\",\"call\":{\"flow\":{\"entrypoint\":\"r\",\"steps\":{\"r\":{\"action\":"
          "\"Return\"}}}},\"next\":\"done\"}," DONE,
     NULL, "{\"type\":\"success\",\"value\":{\"n\":1,\"s\":\"granule-0001\"}}", 0},
};

static void noop_start(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
}

static void flaky_start(mwl_call *call, void *user) {
    struct state *s = user;
    if (s->fails > 0) {
        s->fails--;
        mwl_call_fail(call, NULL, "Provider.Call.Flaky", NULL, mwl_absent());
    } else {
        mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
    }
}

static void never_start(mwl_call *call, void *user) { (void)call, (void)user; }

static void never_cancel(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_null());
}

#define DOCUMENT(name)                                                                                   \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"mwl:provider.call/bench/" name \
    "/v1\",\"codePrefix\":\"Bench\",\"description\":\"A provider of the benchmarks.\","                    \
    "\"parameters\":{\"type\":\"object\"},\"failureCatalog\":{\"closed\":[],\"open\":[\"*\"]}}"

static const mwl_call_provider providers[] = {
    {.uri = "mwl:provider.call/bench/noop/v1", .document = DOCUMENT("noop"), .start = noop_start},
    {.uri = "mwl:provider.call/bench/flaky/v1", .document = DOCUMENT("flaky"), .start = flaky_start},
    {.uri = "mwl:provider.call/bench/never/v1", .document = DOCUMENT("never"), .start = never_start, .cancel = never_cancel},
};

static mwl_value make_input(struct state *s, const struct workflow *w) {
    mwl_heap *h = mwl_vm_heap(s->vm);
    mwl_value v = mwl_absent();
    const char *text = "{\"n\":1,\"s\":\"granule-0001\"}";
    if (!w->input) {
        (void)mwl_json_parse(h, text, strlen(text), &v, NULL);
        return v;
    }
    v = mwl_array(h, 0);
    for (int i = 0; i < atoi(w->input); i++) v = mwl_array_push(h, v, mwl_number(i));
    return v;
}

static mwl_run *start(struct state *s, const struct workflow *w) {
    mwl_start how = {NULL, s->input, mwl_absent(), 0, NULL};
    mwl_run *run = NULL;
    s->fails = w->fails;
    (void)mwl_run_start(s->vm, s->program, &how, &run, NULL);
    return run;
}

static void check(struct bench *b, struct state *s, const struct workflow *w) {
    mwl_run *run = start(s, w);
    BENCH_CHECK(b, run != NULL);
    if (!run) return;
    (void)mwl_vm_pump(s->vm, MWL_NO_BUDGET);
    char *text = NULL;
    size_t len = 0;
    mwl_status st = mwl_json_write(mwl_vm_heap(s->vm), mwl_run_result(run), MWL_JSON_COMPACT, &text, &len);
    if (st < 0 || strcmp(text, w->wanted) != 0) bench_fail(b, "%s: got %s", w->name, text ? text : "no Result");
    if (text) mwl_text_free(mwl_vm_heap(s->vm), text, len);
    mwl_run_free(run);
}

static void open_workflow(struct bench *b, const struct workflow *w) {
    struct state *s = calloc(1, sizeof *s);
    b->state = s;
    if (!s) {
        bench_fail(b, "no memory");
        return;
    }
    mwl_asm_provider docs[3] = {{NULL, providers[0].document, strlen(providers[0].document)},
                                {NULL, providers[1].document, strlen(providers[1].document)},
                                {NULL, providers[2].document, strlen(providers[2].document)}};
    mwl_asm_options options;
    memset(&options, 0, sizeof options);
    options.providers = docs;
    options.n_providers = 3;
    mwl_asm_result image;
    mwl_status st = mwl_assemble(w->definition, strlen(w->definition), &options, &image);
    if (st < 0) bench_fail(b, "%s: %s", w->name, image.diagnostics);
    mwl_config config = mwl_config_default();
    config.alloc = b->alloc;
    config.virtual_time = true;
    mwl_error error = {MWL_OK, "", 0};
    if (st == MWL_OK) st = mwl_vm_new(&config, &s->vm);
    if (st == MWL_OK) st = mwl_std_register(s->vm, &error);
    if (st == MWL_OK) st = mwl_vm_provide(s->vm, providers, 3, s, &error);
    if (st == MWL_OK) st = mwl_program_load(NULL, image.image, image.image_size, MWL_COPY, &s->program, &error);
    mwl_asm_free(&image);
    if (st < 0) {
        bench_fail(b, "%s: %s", w->name, error.message);
        return;
    }
    s->input = make_input(s, w);
    check(b, s, w);
}

/* One run after the other: each is started, pumped to its Result and freed. */
static void run_workflow(struct bench *b, const struct workflow *w, unsigned long n) {
    struct state *s = b->state;
    for (unsigned long i = 0; i < n; i++) {
        mwl_run *run = start(s, w);
        (void)mwl_vm_pump(s->vm, MWL_NO_BUDGET);
        BENCH_KEEP(mwl_run_get_state(run));
        mwl_run_free(run);
    }
}

static void close_workflow(struct bench *b) {
    struct state *s = b->state;
    if (!s) return;
    if (s->vm) mwl_value_drop(mwl_vm_heap(s->vm), s->input);
    mwl_vm_free(s->vm);
    mwl_program_release(s->program);
    free(s);
}

#define CASE(i, name)                                                               \
    static void setup_##name(struct bench *b) { open_workflow(b, &workflows[i]); } \
    static void run_##name(struct bench *b, unsigned long n) { run_workflow(b, &workflows[i], n); }
CASE(0, a_min)
CASE(1, b_chain10)
CASE(2, c_retry)
CASE(3, d_loop1000)
CASE(4, e_fan1000)
CASE(5, f_timeout)
CASE(6, h_stack8)
CASE(7, i_subflow)

#define ROW(name) {"wf", #name, setup_##name, run_##name, close_workflow, 1}
const struct bench_case bench_wf_cases[] = {ROW(a_min),      ROW(b_chain10), ROW(c_retry),   ROW(d_loop1000),
                                            ROW(e_fan1000),  ROW(f_timeout), ROW(h_stack8),  ROW(i_subflow),
                                            {NULL, NULL, NULL, NULL, NULL, 0}};
