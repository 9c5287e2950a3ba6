/* options.c PROGRAM: runs a program with a library from which parts are left out. WITHOUT_STACKS:
 * stacks are. */
#include <mwl.h>
#include <mwl_provider.h>
#include <mwl_std.h>
#include <stdio.h>
#include <string.h>

static void block(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_null());
}

int main(int argc, char **argv) {
    static char image[1 << 16];
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    size_t size = file ? fread(image, 1, sizeof image, file) : 0;
    const mwl_config config = {.virtual_time = true};
    mwl_error error = {MWL_OK, "", 0};
    mwl_program *program = NULL;
    mwl_vm *vm = NULL;
    mwl_run *run = NULL;
    if (mwl_program_load(NULL, image, size, MWL_COPY, &program, &error) < 0 ||
        mwl_vm_new(&config, &vm) < 0 || mwl_std_register(vm, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;
    const mwl_call_provider blocking = {
        .uri = "mwl:provider.call/acme/block/v1", .document = "{}", .blocking = block};
#ifdef WITHOUT_STACKS
    if (mwl_vm_provide(vm, &blocking, 1, NULL, &error) != MWL_E_UNSUPPORTED) return 2;
    if (mwl_stack_watch() != MWL_E_UNSUPPORTED) return 3;
#else
    if (mwl_vm_provide(vm, &blocking, 1, NULL, &error) == MWL_E_UNSUPPORTED) return 2;
#endif
    mwl_heap *heap = mwl_vm_heap(vm);
    mwl_start start = {.input = mwl_make_object(heap, "name", mwl_text(heap, "Lisboa"))};
    if (mwl_run_start(vm, program, &start, &run, &error) < 0)
        return fprintf(stderr, "%s\n", error.message), 1;
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    const char *text = mwl_as_text(mwl_run_value(run), NULL);
    int bad = !text || strcmp(text, "Hello, Lisboa") != 0;
    puts(text ? text : "no Result");
    mwl_value_drop(heap, start.input);
    mwl_vm_free(vm);
    mwl_program_release(program);
    return bad;
}
