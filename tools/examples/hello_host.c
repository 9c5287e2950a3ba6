/* hello_host.c: the smallest host. It assembles a definition, runs it and prints its value. */
#include <mwl_asm.h>
#include <mwl_std.h>
#include <stdio.h>

static const char text[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"a\", \"steps\": {"
    "\"a\": {\"action\": \"Return\", \"value\": \"{{ 'Hello, ' + step.input.name + '!' }}\"}}}";

int main(int argc, char **argv) {
    mwl_vm *vm = NULL;
    mwl_program *program = NULL;
    mwl_run *run = NULL;
    if (mwl_vm_new(NULL, &vm) < 0 || mwl_std_register(vm, NULL) < 0) return 1;
    if (mwl_assemble_for(vm, text, sizeof text - 1, NULL, &program) < 0)
        return fputs(mwl_vm_diagnostics(vm), stderr), 1;
    mwl_heap *heap = mwl_vm_heap(vm);
    mwl_value name = mwl_text(heap, argc > 1 ? argv[1] : "world");
    mwl_start start = {.input = mwl_make_object(heap, "name", name)};
    if (mwl_run_start(vm, program, &start, &run, NULL) == MWL_OK) mwl_vm_pump(vm, MWL_NO_BUDGET);
    puts(run && mwl_run_succeeded(run) ? mwl_as_text(mwl_run_value(run), NULL) : "it failed");
    mwl_value_drop(heap, start.input);
    mwl_vm_free(vm); /* with its runs */
    mwl_program_release(program);
}
