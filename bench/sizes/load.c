/* load.c: a host to be weighed (bench/sizes.sh): it loads the program file that it is given, runs
 * it and prints the value. With HOST_PROVIDER it adds a provider of its own. */
#include <mwl.h>
#include <mwl_provider.h>
#include <stdio.h>

#ifdef HOST_PROVIDER
static void echo(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
}

static const mwl_call_provider provider = {
    .uri = "mwl:provider.call/acme/echo/v1",
    .document = "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\","
                "\"uri\": \"mwl:provider.call/acme/echo/v1\", \"codePrefix\": \"Echo\","
                "\"description\": \"Its input.\", \"parameters\": {\"type\": \"object\"},"
                "\"failureCatalog\": {\"closed\": [], \"open\": []}}",
    .start = echo,
};
#endif

int main(int argc, char **argv) {
    static char image[1 << 16];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t size = file ? fread(image, 1, sizeof image, file) : 0;
    mwl_program *program = NULL;
    mwl_vm *vm = NULL;
    mwl_run *run = NULL;
    mwl_error error = {MWL_OK, "", 0};
    mwl_start start = {.input = mwl_null()};
    mwl_status st = mwl_program_load(NULL, image, size, MWL_COPY, &program, &error);
    if (file) fclose(file);
    if (st == MWL_OK) st = mwl_vm_new(NULL, &vm);
#ifdef HOST_PROVIDER
    if (st == MWL_OK) st = mwl_vm_provide(vm, &provider, 1, NULL, &error);
#endif
    if (st == MWL_OK) st = mwl_run_start(vm, program, &start, &run, &error);
    while (run && mwl_run_get_state(run) < MWL_RUN_DONE) mwl_vm_pump(vm, MWL_NO_BUDGET);
    const char *text = run ? mwl_as_text(mwl_run_value(run), NULL) : NULL;
    if (text)
        puts(text);
    else
        fprintf(stderr, "%s: %s\n", mwl_status_text(st), error.message);
    mwl_run_free(run);
    mwl_program_release(program);
    mwl_vm_free(vm);
    return !text;
}
