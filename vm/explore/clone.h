/* clone.h: copies of a run that stands still, inside one VM.
 *
 * A run can be copied when nothing of it is queued: every frame waits. The copy is frozen: its
 * timers are not armed, so the VM does not work on it until it is thawed. Values are shared, since
 * they do not change; records are copied. So a copy costs what the run's records are, however long
 * it took to get there. */
#ifndef MWL_CLONE_H
#define MWL_CLONE_H

#include "mwl_provider.h"

/* Takes the run's timers out of the VM and notes in them when they are due. Returns MWL_OK;
 * MWL_E_STATE if a frame of it is queued or running; MWL_E_UNSUPPORTED if it waits for a blocking
 * provider, for a token or for the end of its cleanup's time, which cannot be copied. */
mwl_status mwl__run_freeze(mwl_run *run);
/* Arms them again, in the order that they had. Instants are absolute: the VM's time should be what
 * it was when the run was frozen. Returns MWL_OK or MWL_E_NOMEM: then the run can only be freed. */
mwl_status mwl__run_thaw(mwl_run *run);
/* Returns a frozen copy of a frozen run; NULL if memory runs out. Its user pointer is NULL. */
mwl_run *mwl__run_clone(const mwl_run *frozen);

/* Calls `visit` for every provider execution that the run awaits, in the order of its frames and
 * dispatches, which is the same in a copy. */
void mwl__run_executions(mwl_run *run, void (*visit)(void *ctx, mwl_call *call), void *ctx);

#endif
