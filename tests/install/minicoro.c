/* minicoro.c: a host that has minicoro itself, and links the static library that has it too. */
#define MINICORO_IMPL
#include <minicoro.h>
#include <mwl_provider.h>

static int steps;

static void own(mco_coro *co) {
    steps++;
    mco_yield(co);
    steps++;
}

int main(void) {
    mco_coro *co = NULL;
    mco_desc desc = mco_desc_init(own, 0);
    if (mco_create(&co, &desc) != MCO_SUCCESS) return 1;
    mco_resume(co);
    mwl_vm *vm = NULL;
    if (mwl_vm_new(NULL, &vm) < 0 || mwl_stack_watch() < 0) return 2;
    mwl_vm_free(vm);
    mco_resume(co);
    mco_destroy(co);
    return steps == 2 ? 0 : 3;
}
