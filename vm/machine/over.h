/* over.h: the runs of a VM: which there are, which are over, and who is told of that.
 *
 * A run is in one of the VM's lists. When it ends, it moves from the first one to the one of those
 * whose function is called, or to the queue of mwl_vm_next_done. Nothing is called in the middle of
 * a turn: the pump calls mwl__over_tell between two turns. */
#ifndef MWL_OVER_H
#define MWL_OVER_H

#include "vm/machine/state.h"

void mwl__over_open(mwl_vm *vm);              /* a new VM: no runs */
void mwl__over_close(mwl_vm *vm);             /* frees all runs */
void mwl__over_add(mwl_run *run, mwl_vm *vm); /* a new run */
/* It is over and will be freed; who awaited it learns that. */
void mwl__over_remove(mwl_run *run, mwl_vm *vm);
void mwl__over_ended(mwl_run *run, mwl_vm *vm); /* it is done, or aborted */
void mwl__over_tell(mwl_vm *vm);                /* callbacks may free runs */
/* Is somebody to be told? */
static inline bool mwl__over_waits(const mwl_vm *vm) { return vm->to_tell; }

/* The execution of a blocking provider waits until the run is over. False: out of memory. */
bool mwl__over_await(mwl_run *run, mwl__awaiting *w);
void mwl__over_forget(mwl__awaiting *w); /* it does not wait any more */

#endif
