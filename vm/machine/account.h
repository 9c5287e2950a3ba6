/* account.h: what a run pays: memory of the VM's heap, memory outside it, and fuel.
 *
 * At each moment at most one account is open on the VM's thread. What is taken from the heap is
 * paid by the open account, and what is given back is credited to it. In a turn it is the account
 * of the run that executes; elsewhere mwl__run_open opens one. heap.limit belongs to the open
 * account. If none is open, what is taken is the host's. A value that enters a run while its
 * account is not open is measured: mwl__run_receive. */
#ifndef MWL_ACCOUNT_H
#define MWL_ACCOUNT_H

#include "vm/machine/state.h"

/* Do not charge the open account for memory that another run took or gave back since the heap held
 * `before`. */
void mwl__run_uncharge(mwl_vm *vm, size_t before);
/* The run gives back more than it has paid: the rest is not its own. Returns what it has paid. */
size_t mwl__run_clamp(mwl_run *run, size_t back);

/* The heap held `before` and now holds `after`: the account of the run moves by the difference. */
static inline void mwl__run_account(mwl_run *run, size_t before, size_t after) {
    const size_t paid = run->memory_used;
    if (after >= before)
        run->memory_used = paid + (after - before);
    else
        run->memory_used =
            paid - (before - after <= paid ? before - after : mwl__run_clamp(run, before - after));
}

/* Whose account is open; NULL: none. */
static inline mwl_run *mwl__run_payer(const mwl_vm *vm) {
    return vm->payer ? vm->payer : vm->executing;
}

/* The same, where another account, or this one, may be open. */
static inline void mwl__run_used(mwl_run *run, mwl_vm *vm, size_t before) {
    const mwl_run *payer = mwl__run_payer(vm);
    if (payer == run) return; /* it is counted there */
    if (payer) mwl__run_uncharge(vm, before);
    mwl__run_account(run, before, vm->heap.used);
}

/* Returns what the run may have, in bytes, minus what it holds outside the heap; the slow part of
 * mwl__run_memory_limit. */
size_t mwl__run_memory_of(const mwl_run *run);
/* Where the VM's heap stands when the run has used what it may. A run that hit a limit has its
 * reserve. */
static inline size_t mwl__run_memory_limit(const mwl_run *run, size_t heap_used) {
    const size_t limit =
        run->limit_hit || run->aside ? mwl__run_memory_of(run) : run->limits->memory_bytes;
    if (limit < run->memory_used) return heap_used;
    return limit - run->memory_used > SIZE_MAX - heap_used ? SIZE_MAX
                                                           : heap_used + (limit - run->memory_used);
}

/* Opens the account of the run. Returns the one that mwl__run_close opens again, or NULL. */
mwl_run *mwl__run_open_inside(mwl_run *run, mwl_vm *vm, mwl_run *was);
void mwl__run_close_inside(mwl_vm *vm, mwl_run *was);
static inline mwl_run *mwl__run_open(mwl_run *run, mwl_vm *vm) {
    mwl_run *was = mwl__run_payer(vm);
    if (was == run) return was;
    if (was) return mwl__run_open_inside(run, vm, was);
    vm->payer = run;
    vm->mark = vm->heap.used;
    vm->heap.limit = mwl__run_memory_limit(run, vm->heap.used);
    return NULL;
}
static inline void mwl__run_close(mwl_run *run, mwl_vm *vm, mwl_run *was) {
    if (was == run) return;
    mwl__run_account(run, vm->mark, vm->heap.used);
    vm->payer = NULL;
    vm->heap.limit = SIZE_MAX;
    if (was) mwl__run_close_inside(vm, was);
}

/* A value from outside enters the run: charges what dropping one reference to it would free. If
 * that is above the limit, returns false with heap.why, and charges nothing. */
bool mwl__run_receive(mwl_run *run, mwl_vm *vm, mwl_value v);
/* The same for a value that cannot be refused any more: it is charged in any case. */
void mwl__run_adopt(mwl_run *run, mwl_vm *vm, mwl_value v);

/* Closes the account that mwl_call_enter has opened, if any. */
void mwl__account_leave(mwl_vm *vm);
/* The call settles with a value that it has made since mwl_call_enter: `deliver` is called with its
 * account open, which is closed then. */
void mwl__account_settle(mwl_call *call, void (*deliver)(mwl_call *call));

/* Charges fuel for work on behalf of the frame. MWL_OK, MWL_E_FUEL, or MWL_E_CANCELLED: a bound
 * around it has elapsed. */
mwl_status mwl__account_charge(mwl__frame *f, uint64_t n);

/* The memory of a run outside the heap (purse.c). */
void mwl__purse_room(mwl_run *run); /* after its account has moved */
void mwl__purse_close(mwl_run *run);
size_t mwl__purse_taken(const mwl_run *run);

#endif
