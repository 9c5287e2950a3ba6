/* invariant.h: what is true when a run is over, however it ended. */
#ifndef MWL_INVARIANT_H
#define MWL_INVARIANT_H

#include "vm/machine/state.h"

const char *mwl__invariant_broken(const mwl_run *run); /* returns the broken invariant, or NULL */
#if MWL_CHECKED
void mwl__invariant_over(const mwl_run *run); /* stops the process if an invariant is broken */
#else
#define mwl__invariant_over(run) ((void)0)
#endif

#endif
