/* mwl_provider.h: the extension API of mwlvm: CEL functions, call providers, middleware providers.
 *
 * Everything in stdlib/ is written on this header and mwl.h alone. Callbacks are called on the VM's
 * thread, from inside mwl_vm_pump (`cancel`: also from mwl_run_cancel, mwl_run_abort and the
 * functions that free), and must not pump or free the VM. They may start, cancel, abort and free
 * runs; what they ask of the run that they serve happens when it is not being worked in any more.
 * Exceptions of other languages must not leave them. The words lent, given and taken over are those
 * of mwl.h. */
#ifndef MWL_PROVIDER_H
#define MWL_PROVIDER_H

#include "mwl.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- CEL functions --------------------------------------------------------------------------- */

/* One evaluation of a function: its heap, its clock, its way to fail. Lent for the call. */
typedef struct mwl_fn mwl_fn;

/* Arguments are lent (a receiver is args[0]); the answer is given. Absent means failed, after one
 * of the functions below said why. Must not keep pointers to its arguments. */
typedef mwl_value (*mwl_function)(mwl_fn *fn, const mwl_value *args, size_t n_args);

enum {
    MWL_FN_GLOBAL = 1, /* f(a, b) */
    MWL_FN_MEMBER = 2, /* a.f(b) */
    MWL_FN_IMPURE = 4  /* depends on more than its arguments: never folded */
};

typedef struct mwl_function_def {
    const char *name; /* "size", or with its namespace: "math.greatest" */
    mwl_function call;
    uint8_t min_args, max_args; /* the receiver counts; max 255: any number */
    uint8_t style;              /* MWL_FN_* */
    const char *usage;          /* one line: "string.split(separator [, limit]) -> list" */
} mwl_function_def;

MWL_API mwl_heap *mwl_fn_heap(mwl_fn *fn); /* where its values are made */
/* Fail with a reason; answers absent, for `return mwl_fn_fail(...)`. */
MWL_API mwl_value mwl_fn_fail(mwl_fn *fn, const char *format, ...)
#if defined(__GNUC__)
    __attribute__((format(printf, 2, 3)))
#endif
    ;
/* Fail because no form of the function takes arguments of these kinds. */
MWL_API mwl_value mwl_fn_no_overload(mwl_fn *fn);
/* Charge work of about n steps (bytes / 8, elements). False when the run has used up its fuel:
 * return absent at once. Call it before long work, with its size. */
MWL_API bool mwl_fn_charge(mwl_fn *fn, uint64_t n);
/* Deep equality that charges for what it looks at; false when the fuel is used up. */
MWL_API bool mwl_fn_equal(mwl_fn *fn, mwl_value a, mwl_value b, bool *equal);
/* The list in the order of the keys, of which there is one per element: stable. Fails unless the
 * keys are of one comparable type. For list.sort pass the list twice. */
MWL_API mwl_value mwl_fn_sort(mwl_fn *fn, mwl_value list, mwl_value keys);
/* The construct's pinned instant and the wall clock, as timestamp values. A function that asks for
 * either is MWL_FN_IMPURE. */
MWL_API mwl_value mwl_fn_now(mwl_fn *fn);
MWL_API mwl_value mwl_fn_wall_time(mwl_fn *fn);

/* ---- call providers -------------------------------------------------------------------------- */

/* One provider execution. Lent to the callbacks; a provider that settles later keeps the pointer
 * until it has settled, and no longer. */
typedef struct mwl_call mwl_call;

typedef struct mwl_call_provider {
    const char *uri;      /* "mwl:provider.call/acme/geo/v1" */
    const char *document; /* its provider definition document: JSON text */
    /* Begin. Settles before it returns, or keeps the call and settles later. */
    void (*start)(mwl_call *call, void *user);
    /* The time asked for with mwl_call_wake_after has come. NULL when never asked for. */
    void (*wake)(mwl_call *call, void *user);
    /* Asked to stop. Still settles, once, now or later; what it settles with is not used. NULL: the
     * execution is given up at once, and what it settles with later is dropped. */
    void (*cancel)(mwl_call *call, void *user);
    /* Instead of the three above: a function on a stack of its own, which may wait in its middle
     * with mwl_sleep and mwl_await. It settles the call and returns; returning without having
     * settled is a failure (Mwlvm.NotSettled). A cancellation is the return code of the wait it is
     * in, and of every wait after it: the function releases what it holds and returns. */
    void (*blocking)(mwl_call *call, void *user);
} mwl_call_provider;

MWL_API mwl_value mwl_call_input(const mwl_call *call);     /* lent until the call settles */
MWL_API mwl_value mwl_call_arguments(const mwl_call *call); /* an object; lent likewise */
MWL_API mwl_heap *mwl_call_heap(mwl_call *call);            /* where its values are made */
MWL_API mwl_run *mwl_call_run(mwl_call *call); /* lent; NULL when nobody awaits the call any more */
MWL_API bool mwl_call_cancelled(const mwl_call *call); /* has it been asked to stop? */

/* Settling: exactly one of these, once; the call is gone afterwards (on a stack of its own: when
 * the function returns). MWL_E_STATE: it was settled before; what was taken over is dropped. In
 * builds without NDEBUG that, another thread than the VM's, and a call that is gone are assertions.
 * An absent value means that its maker found no memory: the run is aborted. */
MWL_API mwl_status mwl_call_succeed(mwl_call *call, mwl_value take_value);
/* type NULL: "error". message may be NULL, details absent. */
MWL_API mwl_status mwl_call_fail(mwl_call *call, const char *type, const char *code,
                                 const char *message, mwl_value take_details);
/* A whole Result: an object with `type`, and `value` or the envelope's members. */
MWL_API mwl_status mwl_call_settle(mwl_call *call, mwl_value take_result);

/* Before settling: the window's provider.metadata, an object within the declared schema (else it is
 * dropped). */
MWL_API void mwl_call_set_metadata(mwl_call *call, mwl_value take_object);
/* Ask for `wake` after a time on the VM's clock (below 0: at once). One at a time; a later one
 * replaces it. Nothing happens for a call that has settled or was asked to stop, and inside
 * `blocking`. */
MWL_API void mwl_call_wake_after(mwl_call *call, int64_t delay_ns);
/* What the provider wants to find again at wake: one value, so that a parked run stays plain data.
 */
MWL_API void mwl_call_set_state(mwl_call *call, mwl_value take_state);
MWL_API mwl_value mwl_call_state(const mwl_call *call); /* lent; null at the start */
/* What the provider wants to find again in `cancel`: a pointer of its own, NULL at the start. */
MWL_API void mwl_call_set_user(mwl_call *call, void *user);
MWL_API void *mwl_call_user(const mwl_call *call);

/* ---- on a stack of its own: inside `blocking` only ------------------------------------------- */

/* Wait on the VM's clock; other work of the VM goes on. MWL_OK: the time has passed.
 * MWL_E_CANCELLED: the call was asked to stop, the run aborted or the VM is being freed: no wait
 * will wait any more, so clean up and return. MWL_E_STATE: it has settled. MWL_E_USAGE: not on this
 * call's stack. MWL_E_NOMEM. */
MWL_API mwl_status mwl_sleep(mwl_call *call, int64_t ns);
/* Wait for an answer: from mwl_call_resume, or from a token that another thread answered; in their
 * order, and those that came before the wait are not lost. MWL_OK with the value, MWL_E_FAILED with
 * the failure's envelope; otherwise as mwl_sleep, with absent. *out is given; out NULL: dropped. */
MWL_API mwl_status mwl_await(mwl_call *call, mwl_value *out);
/* An answer for a blocking call, from the VM's thread. MWL_E_USAGE when it is not one, MWL_E_NOMEM;
 * the value is taken over in any case. The call may be gone when this returns. */
MWL_API mwl_status mwl_call_resume(mwl_call *call, mwl_value take_value);

/* A provider that needs more stack than mwl_config.stack_bytes. By a little: its call fails with
 * Mwlvm.StackOverflow when the function has returned, whatever it settled with. By more: it runs
 * into a guard and the process ends by a fault (a frame of more than 256 KiB can step over the
 * guard: compile such code with -fstack-clash-protection). After this function has been called the
 * fault has words, on stderr: the provider's URI and the size of its stack. It installs a handler
 * for SIGSEGV and SIGBUS, for good: the library must stay loaded. Every fault, explained or not,
 * then goes on to the handler that was there before, or to the system's default. Threads that pump
 * VMs get an alternate signal stack unless they have one. Builds without NDEBUG do all that by
 * themselves when the first blocking provider starts; others only when asked, because signals are
 * the process's, not a library's. Idempotent. MWL_E_NOMEM: the system refuses. Any thread. */
MWL_API mwl_status mwl_stack_watch(void);

/* ---- answers from other threads -------------------------------------------------------------- */

/* The right to answer one call once, from any thread. It outlives the call, the run and the VM
 * without harm. For a provider with `start` the answer settles the call; for a blocking one it is
 * what mwl_await returns. */
typedef struct mwl_token mwl_token;

/* On the VM's thread. Given: release it once. A call may give out several; a call that has settled
 * gives out none (MWL_E_STATE). */
MWL_API mwl_status mwl_call_token(mwl_call *call, mwl_token **out);

/* Any thread, also several at a time. The texts are copied and taken into the run by the VM's next
 * pump; the host is told by mwl_config.wake. MWL_E_STATE: this token has answered before.
 * MWL_E_NOT_FOUND: nobody waits any more (settled, given up, run or VM freed): the answer is
 * dropped. MWL_E_NOMEM: may be tried again. A text that is not JSON is a failure of the call,
 * Mwlvm.AnswerRefused. */
MWL_API mwl_status mwl_token_succeed(mwl_token *token, const char *json, size_t len);
/* type NULL: "error"; message NULL: none; details_json NULL: none. */
MWL_API mwl_status mwl_token_fail(mwl_token *token, const char *type, const char *code,
                                  const char *message, const char *details_json, size_t len);
/* Any thread: is the answer still of use? False once it was given, and once the call was asked to
 * stop or is gone. A call with a `cancel` callback still waits to be answered then, whatever the
 * answer. */
MWL_API bool mwl_token_wanted(mwl_token *token);
MWL_API void
mwl_token_release(mwl_token *token); /* any thread; NULL is ignored. Answers nothing by itself */

/* ---- middleware providers -------------------------------------------------------------------- */

/* One run of one phase of one entry. Lent to the callback. An absent value given to one of its
 * functions means that its maker found no memory: the run is aborted. */
typedef struct mwl_phase mwl_phase;

enum {
    /* The action owns every run of the inner scope: gated off at onEntry, none happens and the
     * entry emits its onEntry product (Loop). */
    MWL_MW_OWNS_RUNS = 1,
    /* May ask for MWL_REENTER_RESTORE: the frame's variables are remembered at establishment
       (Retry). */
    MWL_MW_RESTORES = 2
};

typedef struct mwl_middleware {
    const char *uri;      /* "mwl:provider.middleware/acme/cache/v1" */
    const char *document; /* its provider definition document: JSON text */
    unsigned flags;       /* MWL_MW_* */
    /* A contributed member that the machine keeps, or NULL: how often the inner scope was run, 0
     * during onEntry, 1 from its first start. It advances when a run begins, so onSuccess and
     * onFailure read the number of the run just completed, also where no action runs (Retry's
     * attempt, Loop's iteration). */
    const char *run_count;
    /* Another one, or NULL: the instant of the bound that mwl_phase_arm_for has set, as a timestamp
     * by the wall clock. Written when it is read (Timeout's deadline). */
    const char *deadline;
    /* The action at each phase; NULL where it has none. Each answers with at most one verdict
     * (below); none means pass. */
    void (*entry)(mwl_phase *phase, void *user);
    void (*success)(mwl_phase *phase, void *user);
    void (*failure)(mwl_phase *phase, void *user);
    void (*always)(mwl_phase *phase, void *user);
    /* The bound of mwl_phase_arm has elapsed before the rising Result was accepted: answers with
     * mwl_phase_interrupt or mwl_phase_interrupt_with. Only for those that arm one. */
    void (*elapsed)(mwl_phase *phase, void *user);
    /* Takes up onEntry's `with` where it is written as a constant, valid, before the program's
     * first run in a VM; or NULL. The value that it gives is what mwl_phase_prepared lends; it goes
     * with the program. Arguments that are computed come without, so whatever it saves must be
     * possible without it too. */
    mwl_value (*prepare)(mwl_heap *heap, mwl_value arguments, void *user);
} mwl_middleware;

MWL_API mwl_heap *mwl_phase_heap(mwl_phase *phase);            /* where its values are made */
MWL_API mwl_value mwl_phase_arguments(const mwl_phase *phase); /* lent: the validated `with` */
MWL_API mwl_value mwl_phase_prepared(
    const mwl_phase *phase); /* lent: what `prepare` gave, in all phases; or absent */
MWL_API mwl_value mwl_phase_input(const mwl_phase *phase); /* lent: middleware.input */
MWL_API bool mwl_phase_succeeded(const mwl_phase *phase);  /* is the rising Result a success? */
MWL_API mwl_value
mwl_phase_result_value(const mwl_phase *phase); /* lent: its value, or the failure */
MWL_API uint64_t
mwl_phase_runs(const mwl_phase *phase); /* of the inner scope so far, as run_count */
MWL_API void mwl_phase_now(const mwl_phase *phase, mwl_instant *out);
MWL_API double mwl_phase_random(mwl_phase *phase); /* [0, 1), from the run's seed */

/* Entry state: one value that persists across the entry's phases. */
MWL_API mwl_value mwl_phase_state(const mwl_phase *phase); /* lent; null at the start */
MWL_API void mwl_phase_set_state(mwl_phase *phase, mwl_value take_state);
/* Contributed metadata: readable as middleware.metadata.<name> in the entry's own blocks. A member
 * that the metadata schema of the document does not allow beside those contributed before, or one
 * named enteredAt or exitedAt, is dropped; what was contributed under that name before stays. The
 * schema's own `required` is not asked here. */
MWL_API void mwl_phase_contribute(mwl_phase *phase, const char *name, mwl_value take_value);

/* Verdicts. */
/* The action failed: the phase fails with this. type NULL: "error". */
MWL_API void mwl_phase_fail(mwl_phase *phase, const char *type, const char *code,
                            const char *message, mwl_value take_details);
/* Control: emit this success (is_success) value or failure instead. At onEntry the inner scope does
 * not run and the Result is emitted from the entry's position; on ascent it takes the rising one's
 * place, and a superseded failure is chained as its `previous` unless it has one. */
MWL_API void mwl_phase_substitute(mwl_phase *phase, bool is_success, mwl_value take);
/* Transform: the value in flight becomes this (onEntry: what passes down; onSuccess: the rising
 * value). */
MWL_API void mwl_phase_transform(mwl_phase *phase, mwl_value take_value);
enum {
    MWL_REENTER_CARRY =
        1, /* the phase's product becomes the inner scope's input; else the first input */
    MWL_REENTER_RESTORE = 2 /* variables as they were at establishment */
};
/* Control, on ascent: consume the Result and run the inner scope again after delay_ns. */
MWL_API void mwl_phase_reenter(mwl_phase *phase, unsigned flags, int64_t delay_ns);
/* Side-effect: dispatch the structural `call` parameter of this phase; its failure fails the phase.
 */
MWL_API void mwl_phase_dispatch(mwl_phase *phase);
/* Concurrent control, at onEntry: race the inner scope from establishment. The bound is an instant.
 */
MWL_API void mwl_phase_arm(mwl_phase *phase, int64_t bound_mono_ns);
MWL_API void mwl_phase_arm_for(mwl_phase *phase,
                               int64_t ns); /* likewise; the bound is this far from now */
/* Answer of `elapsed`: interrupt the inner scope, and emit this explanatory failure at the seam. */
MWL_API void mwl_phase_interrupt(mwl_phase *phase, mwl_value take_failure);
/* Likewise, but emit this success at the seam, in place of what the scope would have made. A
 * cleanup that fails while the scope is torn down is not hidden by it: that failure rises instead.
 */
MWL_API void mwl_phase_interrupt_with(mwl_phase *phase, mwl_value take_value);

/* ---- Results --------------------------------------------------------------------------------- */

/* A failure envelope; type NULL: "error"; message may be NULL; details and previous may be absent.
 */
MWL_API mwl_value mwl_failure(mwl_heap *heap, const char *type, const char *code,
                              const char *message, mwl_value take_details, mwl_value take_previous);
/* Does the failure matcher (an object with codes, types, retryable) select this failure? */
MWL_API bool mwl_failure_matches(mwl_value matcher, mwl_value failure);

/* ---- registration ---------------------------------------------------------------------------- */

/* Add to a VM, each with its document, which is checked against the provider meta-schema. The
 * array's strings are copied; `user` comes back to every callback. E_REJECTED with the reason,
 * E_DUPLICATE, E_STATE after the first run was started. error->message names the provider and the
 * place in its document; it lives in the VM until the next refusal there. Those before the refused
 * one stay added. */
MWL_API mwl_status mwl_vm_provide(mwl_vm *vm, const mwl_call_provider *providers, size_t n,
                                  void *user, mwl_error *error);
MWL_API mwl_status mwl_vm_provide_middleware(mwl_vm *vm, const mwl_middleware *middleware, size_t n,
                                             void *user, mwl_error *error);
/* CEL functions. Names must not be there already (MWL_E_DUPLICATE; those before it stay added). The
 * table, its texts and its functions must outlive the VM. MWL_E_STATE after the first run was
 * started, MWL_E_NOMEM. */
MWL_API mwl_status mwl_vm_functions(mwl_vm *vm, const mwl_function_def *functions, size_t n);

#ifdef __cplusplus
}
#endif
#endif
