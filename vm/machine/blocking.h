/* blocking.h: executions of blocking providers, on stacks of their own. Each function may free the
 * execution. */
#ifndef MWL_BLOCKING_H
#define MWL_BLOCKING_H

#include "vm/machine/state.h"

mwl_status mwl__blocking_start(mwl_call *execution);
void mwl__blocking_timer(mwl_call *execution); /* its sleep is over */
void mwl__blocking_go_on(mwl_call *execution); /* the run that it awaits is over */
void mwl__blocking_stop(mwl_call *execution);  /* cancelled: its wait returns now, as will others */
void mwl__blocking_answer(mwl_call *execution, bool ok, mwl_value take); /* what it awaits */
/* The same from the host: the run pays. MWL_E_TOO_BIG: it cannot, and ends. */
mwl_status mwl__blocking_give(mwl_call *execution, bool ok, mwl_value take);

/* Returns why a host's function cannot be given a stack, constant; or NULL. */
const char *mwl__blocking_refused(void (*blocking)(mwl_call *call, void *user));

#endif
