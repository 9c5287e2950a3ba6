/* durable.h: calls that are held until a snapshot of their run is stored. mwl.h, "durable hosts".
 */
#ifndef MWL_DURABLE_H
#define MWL_DURABLE_H

#include "vm/machine/state.h"

/* For a new run. False: out of memory. */
bool mwl__durable_add(mwl_run *run);
void mwl__durable_remove(mwl_run *run);
/* The run, which has an aside, is no longer busy: it may have changed. */
void mwl__durable_changed(mwl_run *run);
/* The version of its state; what is made now is in the next one first. 0: the VM holds no calls. */
uint64_t mwl__durable_version(const mwl_run *run);
/* Starts calls that were released. */
void mwl__durable_start(mwl_vm *vm);

#endif
