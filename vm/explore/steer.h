/* steer.h: a VM with virtual time that a search drives: it goes to an instant, lends a run its
 * work, and asks what comes next. */
#ifndef MWL_STEER_H
#define MWL_STEER_H

#include "mwl.h"

/* Sets the VM's time, also back: what runs is frozen (clone.h) or starts then. */
void mwl__steer_set_now(mwl_vm *vm, const mwl_instant *now);
/* Gives the run this seed, and as much fuel from now on. */
void mwl__steer_lend(mwl_run *run, uint64_t seed, uint64_t fuel);
/* Finds when the next wait is over. Returns false if none will be: what is beyond the clock never
 * comes. */
bool mwl__steer_due(mwl_vm *vm, int64_t *due_mono_ns);
/* Returns whether something waits for an instant, also for one that never comes. */
bool mwl__steer_is_armed(mwl_vm *vm);
/* Returns whether the run was cancelled from outside. It is not over. */
bool mwl__steer_is_cancelled(const mwl_run *run);

#endif
