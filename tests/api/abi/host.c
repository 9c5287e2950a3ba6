/* host.c: a small host that fills every struct that can grow. It is compiled with the header of the
 * last release, with shorter ones and with longer ones, and runs with the present library.
 *
 * SHORTER: it was compiled before the last member of each struct came.
 * TOO_NEW: it was compiled with a later header, and uses a member that the library does not have.
 */
#include <mwl_asm.h>
#include <mwl_std.h>
#include <stdio.h>
#include <string.h>

#define URI "mwl:provider.call/acme/geo/v1"
#define MW_URI "mwl:provider.middleware/acme/mark/v1"

static const char document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" URI
    "\",\"codePrefix\":\"Geo\",\"description\":\"Returns a number.\",\"parameters\":{\"type\":"
    "\"object\"},\"failureCatalog\":{\"closed\":[],\"open\":[]}}";
static const char other_document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" URI "x"
    "\",\"codePrefix\":\"Geo\",\"description\":\"Returns a number.\",\"parameters\":{\"type\":"
    "\"object\",\"properties\":{\"n\":{}}},\"failureCatalog\":{\"closed\":[],\"open\":[]}}";
static const char mw_document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" MW_URI
    "\",\"codePrefix\":\"Mark\",\"description\":\"Adds one.\",\"attachment\":[\"step\"],"
    "\"phases\":{\"onSuccess\":{\"action\":{\"kind\":\"transform\",\"description\":\"Adds.\"}}},"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";
static const char definition[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{"
    "\"a\":{\"action\":\"Call\",\"middleware\":[{\"provider\":\"" MW_URI "\"}],\"call\":{"
    "\"provider\":\"" URI "\"},\"next\":\"b\"},\"b\":{\"action\":\"Sleep\",\"for\":\"PT1H\","
    "\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}";

static void start(mwl_call *call, void *user) { mwl_call_succeed(call, mwl_int(*(int *)user)); }
static void add_one(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_transform(phase, mwl_number(mwl_as_number(mwl_phase_result_value(phase)) + 1));
}
/* The other one is answered later. */
static mwl_call *kept;
static void keep(mwl_call *call, void *user) {
    (void)user;
    kept = call;
}
static int n_dispatched;
static void listen(void *ctx, const mwl_trace_event *event) {
    if (event->kind == MWL_TRACE_CALL_DISPATCHED && strcmp(event->provider, ctx) == 0)
        n_dispatched += mwl_is_absent(event->value) ? 100 : 1;
}
static mwl_run *told;
static void done(void *ctx, mwl_run *run) {
    (void)ctx;
    told = run;
}

#define CHECK(ok)                                                                                  \
    if (!(ok)) return fprintf(stderr, "line %d: %s\n", __LINE__, #ok), 1

/* What the library writes about a call in flight ends with the struct that the host knows. */
static int calls_in_flight(mwl_vm *vm) {
    static const char asks[] =
        "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{"
        "\"a\":{\"action\":\"Call\",\"call\":{\"provider\":\"" URI "x\",\"with\":{\"n\":3}},"
        "\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}";
    mwl_program *program = NULL;
    mwl_run *run[2] = {NULL, NULL};
    struct {
        mwl_wait wait;
        unsigned char guard[64];
    } at;
    memset(&at, 0x5a, sizeof at);
    CHECK(mwl_assemble_for(vm, asks, strlen(asks), NULL, &program) == MWL_OK);
    mwl_vm_trace(vm, listen, URI "x");
#ifdef TOO_NEW /* the release has it not */
    const mwl_value inputs[] = {mwl_int(1), mwl_int(2)};
    size_t n = 0;
    mwl_start how = {.from_the_future = 1};
    mwl_error error = {MWL_OK, "", 0};
    CHECK(mwl_run_start_many(vm, program, &how, inputs, 2, run, &n, &error) == MWL_E_VERSION);
    how.from_the_future = 0;
    CHECK(mwl_run_start_many(vm, program, &how, inputs, 2, run, &n, NULL) == MWL_OK && n == 2);
    mwl_run_abort(run[1]);
#else
    CHECK(mwl_run_start(vm, program, NULL, &run[0], NULL) == MWL_OK);
#endif
    mwl_vm_pump(vm, 1000000000);
    CHECK(mwl_run_waits(run[0], 0, &at.wait) && strcmp(at.wait.provider, URI "x") == 0);
    CHECK(mwl_as_number(mwl_get(at.wait.arguments, "n")) == 3 &&
          !mwl_run_waits(run[0], 1, &at.wait));
    for (size_t i = 0; i < sizeof at.guard; i++) CHECK(at.guard[i] == 0x5a);
    CHECK(n_dispatched == 1);
    mwl_vm_trace(vm, NULL, NULL);
    mwl_call_succeed(kept, mwl_int(5));
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    CHECK(mwl_as_number(mwl_run_value(run[0])) == 5);
    for (int i = 0; i < 2; i++)
        if (run[i]) mwl_run_free(run[i]);
    mwl_program_release(program);
    return 0;
}

int main(void) {
    int user = 41;
    mwl_vm *vm = NULL;
    mwl_program *program = NULL, *second = NULL;
    mwl_run *run = NULL, *loaded = NULL;
    mwl_config config = {.virtual_time = true, .seed = 7, .limits = {.fuel = 100000}};
    mwl_call_provider providers[] = {{.uri = URI, .document = document, .start = start},
                                     {.uri = URI "x", .document = other_document, .start = keep}};
    mwl_middleware middleware[] = {{.uri = MW_URI, .document = mw_document, .success = add_one}};
    mwl_start how = {.id = "abi", .done = done};
#ifndef SHORTER
    how.done_ctx = &told;
#endif
    mwl_asm_options options = {.file = "abi.json"};
#ifdef TOO_NEW
    config.from_the_future = 1;
    CHECK(mwl_vm_new(&config, &vm) == MWL_E_VERSION);
    config.from_the_future = 0;
#endif
    CHECK(mwl_version_number() >= 2000);
    CHECK(mwl_vm_new(&config, &vm) == MWL_OK);
    CHECK(mwl_std_register(vm, NULL) == MWL_OK);
#ifdef TOO_NEW
    mwl_error error = {MWL_OK, "", 0};
    providers[1].from_the_future = middleware[0].from_the_future = options.from_the_future = 1;
    CHECK(mwl_vm_provide(vm, providers + 1, 1, &user, &error) == MWL_E_VERSION && *error.message);
    CHECK(mwl_vm_provide_middleware(vm, middleware, 1, &user, &error) == MWL_E_VERSION);
    CHECK(mwl_assemble_for(vm, definition, strlen(definition), &options, &program) ==
          MWL_E_VERSION);
    providers[1].from_the_future = middleware[0].from_the_future = options.from_the_future = 0;
#endif
    CHECK(mwl_vm_provide(vm, providers, 2, &user, NULL) == MWL_OK);
    CHECK(mwl_vm_provide_middleware(vm, middleware, 1, &user, NULL) == MWL_OK);
    CHECK(mwl_assemble_for(vm, definition, strlen(definition), &options, &program) == MWL_OK);

    CHECK(calls_in_flight(vm) == 0);

    /* an assembly by hand: the result is written into a struct of this size and no further */
    struct {
        mwl_asm_result result;
        unsigned char guard[64];
    } out;
    memset(&out, 0x5a, sizeof out);
    const mwl_asm_provider texts[] = {{"geo", document, sizeof document - 1},
                                      {"mark", mw_document, sizeof mw_document - 1}};
    options.providers = texts;
    options.n_providers = 2;
    CHECK(mwl_assemble(definition, strlen(definition), &options, &out.result) == MWL_OK);
    CHECK(out.result.n_errors == 0 && out.result.image_size > 0);
    CHECK(mwl_program_load(NULL, out.result.image, out.result.image_size, MWL_COPY, &second,
                           NULL) == MWL_OK);
    mwl_asm_free(&out.result);
    for (size_t i = 0; i < sizeof out.guard; i++) CHECK(out.guard[i] == 0x5a);

#ifdef TOO_NEW
    how.from_the_future = 1;
    CHECK(mwl_run_start(vm, program, &how, &run, &error) == MWL_E_VERSION);
    how.from_the_future = 0;
#endif
    CHECK(mwl_run_start(vm, program, &how, &run, NULL) == MWL_OK);
    mwl_vm_pump(vm, 1000000000);
    struct {
        mwl_where where;
        unsigned char guard[64];
    } at;
    memset(&at, 0x5a, sizeof at);
    CHECK(mwl_run_where(run, &at.where) && strcmp(at.where.step, "b") == 0);
    for (size_t i = 0; i < sizeof at.guard; i++) CHECK(at.guard[i] == 0x5a);

    void *bytes = NULL;
    size_t size = 0;
    mwl_load load = {.program = program, .flags = MWL_LOAD_NEW_ID};
    CHECK(mwl_run_save(run, &bytes, &size, NULL) == MWL_OK);
#ifdef TOO_NEW
    load.from_the_future = 1;
    CHECK(mwl_run_load(vm, bytes, size, &load, &loaded, &error) == MWL_E_VERSION);
    load.from_the_future = 0;
#endif
    CHECK(mwl_run_load(vm, bytes, size, &load, &loaded, NULL) == MWL_OK);
    mwl_bytes_free(vm, bytes, size);

    mwl_vm_pump(vm, MWL_NO_BUDGET);
    CHECK(told == run && mwl_as_number(mwl_run_value(run)) == 42);
    CHECK(mwl_vm_next_done(vm) == loaded && mwl_as_number(mwl_run_value(loaded)) == 42);
    mwl_vm_free(vm);
    mwl_program_release(program);
    mwl_program_release(second);
    puts("ok");
    return 0;
}
