/* execution.h: provider executions. mwl_provider.h shows one as mwl_call and has what a provider
 * may call. */
#ifndef MWL_EXECUTION_H
#define MWL_EXECUTION_H

#include "vm/machine/host_value.h"

/* NULL: out of memory. It may have settled already. */
mwl_call *mwl__execution_start(mwl__frame *f, mwl_vm *vm, mwl__slot *slot, const mwl__provider *p,
                               mwl_value take_input, mwl_value take_args);
/* As mwl__execution_start, with the call's constant arguments. NULL: it settled at once, its Result
 * has taken the place of *res and there is no execution any more; or out of memory, and res->v is
 * absent. */
mwl_call *mwl__execution_run(mwl__frame *f, mwl_vm *vm, mwl__slot *slot, const mwl__call_link *call,
                             const mwl_value *take_input, mwl__result *res);
/* Asks a provider that has `now`; there is no execution. *res is its Result, v absent: out of
 * memory. Returns false if the provider asks for its `start`. */
static inline bool mwl__execution_ask(mwl_heap *h, const mwl__provider *p, mwl_value input,
                                      mwl_value args, mwl__result *res) {
    mwl_value out = mwl_absent();
    int how = p->call.now(h, mwl__borrow(input), args, &out, p->user);
    if (how == MWL_NOW_START) {
        mwl__drop(h, out);
        return false;
    }
    mwl__host_value_result(h, p, how == MWL_NOW_SUCCEEDED, out, res);
    return true;
}
/* The `start` of a provider that has only `now`. */
void mwl__execution_now(mwl_call *execution, void *user);
/* The Result of one that settled in its start; the execution is freed. */
mwl__result mwl__execution_take(mwl_call *execution);
void mwl__execution_cancel(mwl_call *execution, mwl_value cancel); /* interrupt it; lent */
void mwl__execution_abandon(mwl_call *execution);                  /* nothing awaits it any more */
void mwl__execution_timer(mwl_call *execution);                    /* its timer is due */
void mwl__execution_free(mwl_call *execution);
/* One that is awaited ends as the cancellation imposed on it, without a word of its provider. */
void mwl__execution_give_up(mwl_call *execution);
void mwl__execution_release(mwl_call *execution); /* a held one: the next pump starts it */
void mwl__execution_unhold(mwl_call *execution);  /* it counts as started; nothing is called */
/* A listed one starts: it was held, or its run was loaded (again). The caller delivers its Result
 * if it has settled and no function of it runs any more. */
void mwl__execution_begin(mwl_call *execution, bool again);
/* It is awaited and outlives its start: into the VM's list. */
void mwl__execution_list(mwl_call *execution);
/* Makes one that is awaited and listed; nothing is called, and its values are absent. NULL: out of
 * memory. held: see mwl_call. */
mwl_call *mwl__execution_load(mwl__frame *f, mwl__slot *slot, const mwl__provider *p,
                              uint64_t held);
/* Whether something outside the run works for it: its provider, or a stack. */
bool mwl__execution_is_outside(const mwl_call *execution);
/* Settle it with what its provider gave, which is checked (host_value.h). It may be freed then. */
mwl_status mwl__execution_settle(mwl_call *execution, bool ok, mwl_value take);
/* Settle it, which has not settled, with a failure of the machine's own. It may be freed then. */
void mwl__execution_fail(mwl_call *execution, mwl_value take_failure);
/* It has settled and nothing runs on its behalf any more: its Result goes to the one that awaits
 * it. */
void mwl__execution_deliver(mwl_call *execution);

#endif
