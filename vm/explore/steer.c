/* steer.c: see steer.h. */
#include "vm/explore/steer.h"

#include "vm/machine/clock.h"
#include "vm/machine/state.h"

void mwl__steer_set_now(mwl_vm *vm, const mwl_instant *now) {
    vm->now = *now;
    mwl__vm_here(vm);
}

void mwl__steer_lend(mwl_run *run, uint64_t seed, uint64_t fuel) {
    run->rng = seed;
    run->budget = fuel;
}

bool mwl__steer_due(mwl_vm *vm, int64_t *due_mono_ns) {
    return mwl__timers_first(&vm->timers, due_mono_ns) && *due_mono_ns < MWL__CLOCK_LAST;
}

bool mwl__steer_is_armed(mwl_vm *vm) {
    int64_t due;
    return mwl__timers_first(&vm->timers, &due) != NULL;
}

bool mwl__steer_is_cancelled(const mwl_run *run) {
    return run->root->extra && !mwl_is_absent(run->root->extra->cancel);
}
