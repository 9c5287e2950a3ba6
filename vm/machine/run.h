/* run.h: a run's life, seen from the machine. What a host calls is in mwl.h. */
#ifndef MWL_RUN_H
#define MWL_RUN_H

#include "vm/machine/state.h"

/* Around all code that walks a run's records and may call a provider, a middleware or a listener.
 * What those ask of the run itself (cancel, abort, free) is put off until the last leave. The run
 * may be freed then. */
static inline void mwl__run_enter(mwl_run *run) { run->busy++; }
void mwl__run_left(mwl_run *run); /* the slow part of mwl__run_leave */
static inline void mwl__run_leave(mwl_run *run) {
    if (!run->marked && !(MWL_CHECKED && run->state == MWL_RUN_DONE))
        run->busy--;
    else
        mwl__run_left(run);
}

/* A run of the program, in the VM's list, without frames. NULL: out of memory. */
mwl_run *mwl__run_new(mwl__link *link);

/* Writes names and position of a Step; step MWL_NONE: none. */
void mwl__run_place(const mwl_program *p, uint32_t flow, uint32_t step, mwl_place *out);
/* The slow part of mwl__run_limits. */
const mwl_limits *mwl__run_own_new(mwl_vm *vm, const mwl_start *start);
/* The VM's limits, or a mwl__run_own with those that the run sets itself; given. NULL: out of
 * memory. */
static inline const mwl_limits *mwl__run_limits(mwl_vm *vm, const mwl_start *start) {
    return start->limits || start->done ? mwl__run_own_new(vm, start) : &vm->config.limits;
}
/* Returns what it has of its own, or NULL: it has the VM's limits and no function for its end. */
static inline mwl__run_own *mwl__run_own_of(const mwl_run *run, const mwl_vm *vm) {
    const bool shared = run->limits == &vm->config.limits;
    return shared ? NULL : (mwl__run_own *)(uintptr_t)run->limits; /* its first member */
}
mwl__aside *mwl__run_aside(mwl_run *run); /* made on first use; NULL: out of memory */
mwl_value mwl__run_id(mwl_run *run);      /* lent; absent: out of memory */
/* vm.c: returns what generated ids are made from. DECISIONS.md 16: a generated id repeats only
 * under virtual time. In real time the same one for two runs would give them the same idempotency
 * keys, whatever the seed is. So there is a new one after a fork. */
uint64_t mwl__vm_id_seed(mwl_vm *vm);
/* Its root frame has completed. */
void mwl__run_done(mwl_run *run, mwl_vm *vm, mwl__result *take);
void mwl__run_overdue(mwl_run *run);               /* its cleanup took too long: abort */
void mwl__run_limit(mwl_run *run, mwl_status why); /* cancel at the first limit, then abort */
/* The same from a run that the caller has entered, for a Result that there was no memory for. In a
 * callback of the run it takes effect when that has ended, as a cancellation does. */
void mwl__run_limit_later(mwl_run *run, mwl_status why);
/* Returns whether a host sets a limit that this library does not have. */
static inline bool mwl__run_limits_unknown(const mwl_limits *l) {
    return (l->reserved[0] | l->reserved[1] | l->reserved[2] | l->reserved[3]) != 0;
}
/* Returns the limit that the heap's last refusal means. */
static inline mwl_status mwl__run_limit_of(const mwl_heap *h) {
    const mwl_status why = h->why;
    return why == MWL_E_TOO_BIG || why == MWL_E_DEPTH || why == MWL_E_FUEL ? why : MWL_E_NOMEM;
}

#endif
