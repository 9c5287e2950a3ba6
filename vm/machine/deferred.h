/* deferred.h: what a run has dropped and what is not freed yet, because a bound is around it.
 *
 * Owns: whose memory the heap's dead values are (mwl__heap_release), and when they are freed: a
 * step with each round of the pump and with each turn of the run, all of it when the VM has nothing
 * else to do or the run is freed. Refuses to know: what is dead. Under virtual time nothing is
 * deferred, so that a run repeats to the byte. */
#ifndef MWL_DEFERRED_H
#define MWL_DEFERRED_H

#include "vm/machine/state.h"

/* From now on the heap defers: something that a bound may interrupt runs. */
static inline void mwl__deferred_open(mwl_vm *vm) {
    if (!vm->config.virtual_time) vm->heap.defers_from = MWL__LARGE;
}
/* Charges the values that wait to be freed to the run. */
void mwl__deferred_keep(mwl_vm *vm, mwl_run *run);
static inline void mwl__deferred_close(mwl_vm *vm, mwl_run *run) {
    vm->heap.defers_from = UINT64_MAX;
    if (mwl__heap_has_dead(&vm->heap)) mwl__deferred_keep(vm, run);
}
/* A turn of the frame begins: what is dead of its run is freed by a step, or if that is much, until
 * a bound elapses; in the turn all of it, if the turn needs the memory. */
void mwl__deferred_turn(mwl_vm *vm, mwl__frame *f);
/* Frees a step. Returns false if nothing was dead. */
bool mwl__deferred_step(mwl_vm *vm);
/* Frees all that is dead of the run. The caller accounts for the memory. */
void mwl__deferred_clear(mwl_vm *vm, const mwl_run *run);

#endif
