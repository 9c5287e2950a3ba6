/* silent.h: runs that are only looked at. */
#ifndef MWL_SILENT_H
#define MWL_SILENT_H

#include "vm/machine/state.h"

/* As mwl_run_load; asleep: no callback is called, and calls in flight count as settled. Such a run
 * must not be pumped; it is freed with mwl__run_unload. */
mwl_status mwl__run_load(mwl_vm *vm, const void *bytes, size_t size, const mwl_load *how,
                         bool asleep, mwl_run **out, mwl_error *error);
/* Frees a run; no callback is called. */
void mwl__run_unload(mwl_run *run);

#endif
