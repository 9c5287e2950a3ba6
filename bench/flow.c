/* flow.c: see flow.h. On the public API alone. */
#include "bench/flow.h"

#include "mwl_asm.h"
#include "mwl_std.h"

#include <stdlib.h>
#include <string.h>

/* ---- providers ------------------------------------------------------------------------------- */

static void noop_start(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
}

static int noop_now(mwl_heap *heap, mwl_value input, mwl_value arguments, mwl_value *out,
                    void *user) {
    (void)heap, (void)arguments, (void)user;
    *out = mwl_value_keep(input);
    return MWL_NOW_SUCCEEDED;
}

static void flaky_start(mwl_call *call, void *user) {
    struct flow *f = user;
    if (f->fails > 0) {
        f->fails--;
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

static void later_start(mwl_call *call, void *user) { ((struct flow *)user)->held = call; }

static void mark_start(mwl_call *call, void *user) {
    struct flow *f = user;
    f->marks[f->n_marks++ % FLOW_MARKS] = bench_cpu_ns();
    mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
}

#define URI(name) "mwl:provider.call/bench/" name "/v1"
#define DOCUMENT(name)                                                                             \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" URI(                   \
        name) "\","                                                                                \
              "\"codePrefix\":\"Bench\",\"description\":\"A provider of the benchmarks.\","        \
              "\"parameters\":{\"type\":\"object\"},\"failureCatalog\":{\"closed\":[],\"open\":["  \
              "\"*\"]}}"

static const mwl_call_provider providers[] = {
    {.uri = URI("noop"), .document = DOCUMENT("noop"), .start = noop_start},
    {.uri = URI("now"), .document = DOCUMENT("now"), .now = noop_now},
    {.uri = URI("flaky"), .document = DOCUMENT("flaky"), .start = flaky_start},
    {.uri = URI("never"),
     .document = DOCUMENT("never"),
     .start = never_start,
     .cancel = never_cancel},
    {.uri = URI("later"), .document = DOCUMENT("later"), .start = later_start},
    {.uri = URI("mark"), .document = DOCUMENT("mark"), .start = mark_start},
};
enum { N_PROVIDERS = sizeof providers / sizeof *providers };

/* ---- a flow ---------------------------------------------------------------------------------- */

void *flow_assemble(struct bench *b, const char *definition, size_t len, size_t *image_size) {
    mwl_asm_provider docs[N_PROVIDERS];
    for (int i = 0; i < N_PROVIDERS; i++)
        docs[i] = (mwl_asm_provider){NULL, providers[i].document, strlen(providers[i].document)};
    mwl_asm_options options;
    memset(&options, 0, sizeof options);
    options.providers = docs;
    options.n_providers = N_PROVIDERS;
    mwl_asm_result result;
    mwl_status st = mwl_assemble(definition, len, &options, &result);
    if (st < 0)
        bench_fail(b, "%s: %s", b->which->name, result.diagnostics ? result.diagnostics : "");
    void *image = st == MWL_OK ? malloc(result.image_size) : NULL;
    if (image) {
        memcpy(image, result.image, result.image_size);
        *image_size = result.image_size;
    }
    mwl_asm_free(&result);
    BENCH_CHECK(b, image != NULL);
    return image;
}

static void read_time(void *ctx, mwl_instant *out) {
    const struct flow *f = ctx;
    out->mono_ns = f->now_ns;
    out->wall_ns = 1767225600000000000 + f->now_ns;
}

void flow_open(struct bench *b, struct flow *f, const char *definition, const char *input,
               enum flow_time time) {
    size_t size = 0;
    memset(f, 0, sizeof *f);
    f->input = mwl_absent();
    void *image = flow_assemble(b, definition, strlen(definition), &size);
    if (!image) return;
    mwl_config config = mwl_config_default();
    config.alloc = b->alloc;
    config.virtual_time = time == FLOW_VIRTUAL;
    config.clock.read = read_time;
    config.clock.ctx = f;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status st = mwl_vm_new(&config, &f->vm);
    if (st == MWL_OK) st = mwl_std_add(f->vm, MWL_STD_ALL, &error);
    if (st == MWL_OK) st = mwl_vm_provide(f->vm, providers, N_PROVIDERS, f, &error);
    if (st == MWL_OK) st = mwl_program_load(NULL, image, size, MWL_COPY, &f->program, &error);
    free(image);
    if (!input) input = FLOW_INPUT;
    if (st == MWL_OK)
        st = mwl_json_parse(mwl_vm_heap(f->vm), input, strlen(input), &f->input, &error);
    if (st < 0) bench_fail(b, "%s: %s", b->which->name, error.message);
}

void flow_close(struct flow *f) {
    if (f->vm) mwl_value_drop(mwl_vm_heap(f->vm), f->input);
    mwl_vm_free(f->vm);
    mwl_program_release(f->program);
}

mwl_run *flow_start(struct flow *f, mwl_value input) {
    mwl_start how = {.input = input, .arguments = mwl_absent()};
    mwl_run *run = NULL;
    (void)mwl_run_start(f->vm, f->program, &how, &run, NULL);
    return run;
}

void flow_check(struct bench *b, struct flow *f, const char *wanted) {
    mwl_heap *heap = mwl_vm_heap(f->vm);
    mwl_run *run = flow_start(f, f->input);
    BENCH_CHECK(b, run != NULL);
    if (!run) return;
    (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    char *text = NULL;
    size_t len = 0;
    mwl_status st = mwl_json_write(heap, mwl_run_result(run), MWL_JSON_COMPACT, &text, &len);
    if (st < 0 || strcmp(text, wanted) != 0)
        bench_fail(b, "%s: got %s", b->which->name, text ? text : "no Result");
    if (text) mwl_text_free(heap, text, len);
    mwl_run_free(run);
}
