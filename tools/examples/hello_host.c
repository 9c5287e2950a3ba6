/* hello_host.c: the smallest host. It assembles a definition, runs it and prints its value. */
#include <mwl_asm.h>
#include <mwl_std.h>
#include <stdio.h>
#include <string.h>

static const char definition[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"a\", \"steps\": {"
    "\"a\": {\"action\": \"Return\", \"value\": \"{{ 'Hello, ' + step.input.name + '!' }}\"}}}";

int main(int argc, char **argv) {
    const char *name = argc > 1 ? argv[1] : "world";
    mwl_vm *vm = NULL;
    mwl_program *program = NULL;
    mwl_run *run = NULL;
    mwl_error error = {MWL_OK, "", 0};
    mwl_asm_result out;
    mwl_status st = mwl_assemble(definition, strlen(definition), NULL, &out);
    fputs(out.diagnostics, stderr);
    if (st == MWL_OK)
        st = mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &program, &error);
    mwl_asm_free(&out);
    if (st == MWL_OK) st = mwl_vm_new(NULL, &vm);
    if (st == MWL_OK) st = mwl_std_register(vm, &error);
    if (st == MWL_OK) {
        mwl_heap *h = mwl_vm_heap(vm);
        mwl_value who = mwl_string(h, name, strlen(name));
        mwl_start start = {.input = mwl_object_set(h, mwl_object(h, 1), "name", 4, who)};
        st = mwl_run_start(vm, program, &start, &run, &error);
        mwl_value_drop(h, start.input); /* the run has its own reference */
    }
    while (run && mwl_run_get_state(run) < MWL_RUN_DONE) mwl_vm_pump(vm, MWL_NO_BUDGET);
    if (st == MWL_OK)
        puts(mwl_as_text(mwl_run_value(run), NULL));
    else
        fprintf(stderr, "%s: %s\n", mwl_status_text(st), error.message);
    mwl_run_free(run);
    mwl_program_release(program);
    mwl_vm_free(vm);
    return st < 0;
}
