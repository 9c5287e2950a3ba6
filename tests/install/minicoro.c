/* minicoro.c: a host that has minicoro itself, and links the static library that has it too. A
 * coroutine of the host is in the middle while a blocking provider waits on a stack of the library,
 * and the other way round. */
#define MINICORO_IMPL
#include <minicoro.h>
#include <mwl_asm.h>
#include <mwl_std.h>
#include <stdio.h>
#include <string.h>

#define URI "mwl:provider.call/acme/nap/v1"

static int steps;

static void own(mco_coro *co) {
    steps++;
    mco_yield(co);
    steps++;
}

/* Waits on its stack, and in the wait the host's coroutine goes on. */
static void nap(mwl_call *call, void *user) {
    mco_coro *co = user;
    if (mwl_sleep(call, 1000000) != MWL_OK) return;
    mco_resume(co);
    if (mwl_sleep(call, 1000000) != MWL_OK) return;
    mwl_call_succeed(call, mwl_int(steps));
}

static int run_flow(mco_coro *co) {
    static const char document[] =
        "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" URI
        "\",\"codePrefix\":\"Nap\",\"description\":\"Naps.\",\"parameters\":{\"type\":\"object\"},"
        "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";
    static const char flow[] =
        "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{"
        "\"a\":{\"action\":\"Call\",\"call\":{\"provider\":\"" URI "\"},\"next\":\"z\"},"
        "\"z\":{\"action\":\"Return\"}}}";
    const mwl_call_provider provider = {.uri = URI, .document = document, .blocking = nap};
    const mwl_config config = {.virtual_time = true};
    mwl_vm *vm = NULL;
    mwl_program *program = NULL;
    mwl_run *run = NULL;
    if (mwl_vm_new(&config, &vm) < 0 || mwl_stack_watch() < 0) return 2;
    if (mwl_vm_provide(vm, &provider, 1, co, NULL) < 0) return 3;
    if (mwl_assemble_for(vm, flow, sizeof flow - 1, NULL, &program) < 0) return 4;
    if (mwl_run_start(vm, program, NULL, &run, NULL) < 0) return 5;
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    int status = mwl_run_succeeded(run) && mwl_as_number(mwl_run_value(run)) == 2 ? 0 : 6;
    mwl_vm_free(vm);
    mwl_program_release(program);
    return status;
}

int main(void) {
    mco_coro *co = NULL;
    mco_desc desc = mco_desc_init(own, 0);
    if (mco_create(&co, &desc) != MCO_SUCCESS) return 1;
    mco_resume(co);
    int status = run_flow(co);
    if (mco_status(co) != MCO_DEAD) status = 7;
    mco_destroy(co);
    return status;
}
