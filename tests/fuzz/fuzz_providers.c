/* fuzz_providers.c: parameters of the providers and middleware of stdlib/io. The first byte says
 * which one, the rest is JSON: its `with`, or the arguments of each phase. The call may read and
 * write in one folder, and reach nothing else.
 *
 * What must hold: the run ends within its limits, or waits and can be aborted, the providers close,
 * and no memory is left. The sanitizers see the rest. */
#include "mwl_io.h"
#include "mwl_std.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <uv.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define FLOW(call)                                                                                 \
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{"      \
    "\"a\":{\"action\":\"Call\"," call ",\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}"
#define MOCK "\"call\":{\"provider\":\"mwl:provider.call/mwl/mock/v1\"}"

static void must(bool holds, const char *what) {
    if (holds) return;
    fprintf(stderr, "fuzz_providers: %s\n", what);
    abort();
}

static void no_log(void *ctx, mwl_io_level level, const char *line, size_t len) {
    (void)ctx, (void)level, (void)line, (void)len;
}

/* Relative paths lie in a folder of this process, which alone is allowed. */
static mwl_io_policy *policy(void) {
    static mwl_io_policy *made;
    char folder[] = "/tmp/fuzz_providersXXXXXX";
    if (made) return made;
    must(mkdtemp(folder) && chdir(folder) == 0, "no folder");
    must(mwl_io_policy_new(&made) == MWL_OK, "no policy");
    for (int right = 0; right < MWL_IO_N_RIGHTS; right++)
        if (right == MWL_IO_READ || right == MWL_IO_WRITE || right == MWL_IO_SQLITE)
            must(mwl_io_policy_allow(made, (mwl_io_right)right, folder, NULL) == MWL_OK, folder);
    return made;
}

/* The definition that calls the provider, or NULL if the text is not a JSON object. */
static char *definition(const char *uri, const char *json, size_t len) {
    mwl_heap *heap;
    mwl_value v = mwl_absent();
    must(mwl_heap_new(NULL, &heap) == MWL_OK, "no heap");
    bool object =
        mwl_json_parse(heap, json, len, &v, NULL) == MWL_OK && mwl_value_kind(v) == MWL_KIND_OBJECT;
    mwl_value_drop(heap, v);
    mwl_heap_free(heap);
    char *out = object ? malloc(len + 1000) : NULL;
    if (!out) return NULL;
    bool call = strncmp(uri, "mwl:provider.call/", 18) == 0;
    if (call)
        snprintf(out, len + 1000, FLOW("\"call\":{\"provider\":\"%s\",\"with\":%.*s}"), uri,
                 (int)len, json);
    else
        snprintf(out, len + 1000,
                 FLOW(MOCK ",\"middleware\":[{\"provider\":\"%s\",\"onEntry\":{\"with\":%.*s}}]"),
                 uri, (int)len, json);
    return out;
}

static mwl_program *assembled(const char *text) {
    mwl_asm_result result;
    mwl_program *program = NULL;
    const mwl_asm_options options = {.library = mwl_io_documents(), .max_work = 10000000};
    if (mwl_assemble(text, strlen(text), &options, &result) == MWL_OK)
        must(mwl_program_load(NULL, result.image, result.image_size, MWL_COPY, &program, NULL) ==
                 MWL_OK,
             "what was assembled cannot be loaded");
    mwl_asm_free(&result);
    return program;
}

static void run_it(mwl_program *program) {
    enum { TURNS = 200 };
    uv_loop_t loop;
    mwl_vm *vm;
    mwl_io *io;
    mwl_run *run = NULL;
    mwl_config config = mwl_config_default();
    config.virtual_time = true;
    const mwl_limits limits = {.fuel = 200000, .memory_bytes = 8 << 20};
    const mwl_start start = {.limits = &limits};
    const mwl_io_options options = {
        .policy = policy(), .log = no_log, .terminal = "/dev/null", .table_bytes = 1 << 20};
    uv_loop_init(&loop);
    must(mwl_vm_new(&config, &vm) == MWL_OK && mwl_std_add(vm, MWL_STD_ALL, NULL) == MWL_OK &&
             mwl_io_open(vm, &loop, &options, &io, NULL) == MWL_OK,
         "no VM");
    if (mwl_run_start(vm, program, &start, &run, NULL) == MWL_OK) {
        for (int i = 0; i < TURNS && mwl_run_get_state(run) < MWL_RUN_DONE; i++) {
            mwl_vm_pump(vm, MWL_NO_BUDGET);
            uv_run(&loop, mwl_io_pending(io) ? UV_RUN_ONCE : UV_RUN_NOWAIT);
        }
        if (mwl_run_get_state(run) < MWL_RUN_DONE) mwl_run_abort(run);
        mwl_run_free(run);
    }
    mwl_io_close(io, NULL, NULL);
    uv_run(&loop, UV_RUN_DEFAULT);
    mwl_vm_free(vm);
    must(uv_loop_close(&loop) == 0, "a handle is open");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    size_t n = 0;
    while (mwl_io_provider_at(n)) n++;
    if (size < 3) return 0;
    char *text = definition(mwl_io_provider_at(data[0] % n)->uri, (const char *)data + 1, size - 1);
    mwl_program *program = text ? assembled(text) : NULL;
    free(text);
    if (program) run_it(program);
    mwl_program_release(program);
    return 0;
}
