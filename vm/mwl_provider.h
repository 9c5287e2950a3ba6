/* mwl_provider.h: the API for extensions: CEL functions, call providers and middleware providers.
 *
 * Everything in stdlib/ is written with this header and mwl.h alone. The words lent, given and
 * taken over mean the same as in mwl.h.
 *
 * Callbacks. The library calls them on the VM's thread, from inside mwl_vm_pump(). (`cancel` is
 * also called from mwl_run_cancel(), mwl_run_abort() and the functions that free a run or a VM;
 * `start`, `blocking` and `restore` from mwl_run_load().) A callback must not pump or free the VM.
 * It may start, cancel, abort and free runs, settle, wake and resume other calls, and forget
 * programs. What it asks of the run that it works for happens after the current callback has
 * returned. Exceptions of other languages must not leave a callback. */
#ifndef MWL_PROVIDER_H
#define MWL_PROVIDER_H

#include "mwl.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(__MINGW32__)
#define MWL_PRINTF(text, first) __attribute__((format(printf, text, first)))
#else
#define MWL_PRINTF(text, first)
#endif

/* ---- CEL functions --------------------------------------------------------------------------- */

/* Example: a function for expressions, {{ acme.twice(step.input) }}. Pass the table to
 * mwl_vm_functions(), and a pointer to each row to the assembler (mwl_asm_options.functions).
 *
 *     static mwl_value twice(mwl_fn *fn, const mwl_value *args, size_t n_args) {
 *         (void)n_args; // min_args and max_args have been checked
 *         if (mwl_value_kind(args[0]) != MWL_KIND_NUMBER) return mwl_fn_no_overload(fn);
 *         if (mwl_as_number(args[0]) < 0) return mwl_fn_fail(fn, "twice() needs 0 or more");
 *         return mwl_number(2 * mwl_as_number(args[0]));
 *     }
 *
 *     static const mwl_function_def acme_functions[] = {
 *         {"acme.twice", twice, 1, 1, MWL_FN_GLOBAL, "acme.twice(double) -> double"},
 *     };
 */

/* One evaluation of a function: its heap, its clock, its way to fail. Lent for the call. */
typedef struct mwl_fn mwl_fn;

/* The function itself. The arguments are lent for the call; a receiver is args[0]. The returned
 * value is given to the library. To fail, call one of the functions below that fail, and return
 * absent. A function must not keep pointers to its arguments. */
typedef mwl_value (*mwl_function)(mwl_fn *fn, const mwl_value *args, size_t n_args);

enum {
    MWL_FN_GLOBAL = 1, /* f(a, b) */
    MWL_FN_MEMBER = 2, /* a.f(b) */
    /* The result depends on more than the arguments: the assembler never computes it. */
    MWL_FN_IMPURE = 4
};

typedef struct mwl_function_def {
    const char *name; /* "size", or with a namespace: "math.greatest" */
    mwl_function call;
    uint8_t min_args, max_args; /* a receiver counts; max_args 255 means any number */
    uint8_t style;              /* MWL_FN_* */
    const char *usage;          /* one line: "string.split(separator [, limit]) -> list" */
} mwl_function_def;

/* Returns the heap in which the function makes its values. Lent for the call. */
MWL_API mwl_heap *mwl_fn_heap(mwl_fn *fn);
/* Fails with a message, which is formatted as by printf(); bytes that are not UTF-8 become U+FFFD.
 * Returns absent, so that a function can write `return mwl_fn_fail(...)`. */
MWL_API mwl_value mwl_fn_fail(mwl_fn *fn, const char *format, ...) MWL_PRINTF(2, 3);
/* Fails because the function does not accept arguments of these kinds. Returns absent. */
MWL_API mwl_value mwl_fn_no_overload(mwl_fn *fn);
/* Charges fuel for about n steps of work (elements, or bytes / 8). Call it before long work.
 * Returns false if the run has used up its fuel; the function must then return absent at once. */
MWL_API bool mwl_fn_charge(mwl_fn *fn, uint64_t n);
/* Compares like mwl_value_equal(), writes the result to *equal, and charges fuel for the
 * comparison. Returns false if the fuel is used up: the function must return absent at once. */
MWL_API bool mwl_fn_equal(mwl_fn *fn, mwl_value a, mwl_value b, bool *equal);
/* A set of elements of one list, which are found by their hash: for functions that would compare
 * every element with every other one. Elements are compared like mwl_value_equal(), and the work is
 * charged. The memory counts against the run's limit. */
typedef struct mwl_set mwl_set;
/* Returns an empty set with room for all elements of the list. Given: free it before the function
 * returns. The list is lent until then. NULL if out of memory or fuel: the function must return
 * absent at once. */
MWL_API mwl_set *mwl_fn_set(mwl_fn *fn, mwl_value list);
MWL_API void mwl_fn_set_free(mwl_fn *fn, mwl_set *set); /* set may be NULL */
/* Adds element i of the list if the set has no equal element, and writes to *added whether it did.
 * Returns false if the fuel is used up: the function must free the set and return absent. */
MWL_API bool mwl_fn_set_add(mwl_fn *fn, mwl_set *set, size_t i, bool *added);
/* Writes to *found whether the set has an element that equals v. Returns false as above. */
MWL_API bool mwl_fn_set_has(mwl_fn *fn, const mwl_set *set, mwl_value v, bool *found);
/* Returns the elements of a list, sorted by the keys, of which there is one for each element. To
 * sort by the elements themselves, pass the list twice. The sort is stable. Given; absent if it
 * failed: the keys must have one type, which can be compared. */
MWL_API mwl_value mwl_fn_sort(mwl_fn *fn, mwl_value list, mwl_value keys);
/* Return a timestamp value: the instant that the current construct has pinned, and the wall clock.
 * A function that uses them must have the style MWL_FN_IMPURE. */
MWL_API mwl_value mwl_fn_now(mwl_fn *fn);
MWL_API mwl_value mwl_fn_wall_time(mwl_fn *fn);

/* ---- call providers -------------------------------------------------------------------------- */

/* Example: a call provider that settles before it returns. Pass it to mwl_vm_provide(), and its
 * document to the assembler (mwl_asm_options.providers).
 *
 *     static const char geo_document[] =
 *         "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\","
 *         " \"uri\": \"mwl:provider.call/acme/geo/v1\", \"codePrefix\": \"Geo\","
 *         " \"description\": \"Returns the latitude of a city.\","
 *         " \"parameters\": {\"type\": \"object\"},"
 *         " \"failureCatalog\": {\"closed\": [\"Provider.Call.Geo.Unknown\"], \"open\": []}}";
 *
 *     static void geo_start(mwl_call *call, void *user) {
 *         (void)user; // the pointer that was passed to mwl_vm_provide()
 *         const char *city = mwl_as_text(mwl_call_input(call), NULL); // lent until it settles
 *         if (city && strcmp(city, "Lisboa") == 0)
 *             mwl_call_succeed(call, mwl_number(38.7));
 *         else
 *             mwl_call_fail(call, NULL, "Provider.Call.Geo.Unknown", "unknown city", mwl_absent());
 *     }
 *
 *     static const mwl_call_provider geo_provider = {
 *         .uri = "mwl:provider.call/acme/geo/v1", .document = geo_document, .start = geo_start};
 *
 * tools/examples has the other styles: game_loop.c settles later, tool_config.c blocks and uses a
 * thread. */

/* One execution of a provider. It is lent to the callbacks. A provider that settles later keeps the
 * pointer until it has settled, and must not use it after that. */
typedef struct mwl_call mwl_call;

/* What a call in flight means when its run is saved and loaded again (mwl_run_load). */
enum {
    /* The call has no effect outside its run: a computation, a wait. It is never held
     * (mwl_config.hold). On load its timer is armed again, and nothing is called; if it has no
     * timer, it starts again. */
    MWL_CALL_LOCAL = 1,
    /* The call must not be dispatched twice. On load it fails with Mwlvm.Interrupted. */
    MWL_CALL_ONCE = 2
};

/* A function of the host that never waits: see mwl_call_provider.now. input and arguments are lent
 * for the call. It returns MWL_NOW_SUCCEEDED and the value in *out, MWL_NOW_FAILED and a failure
 * made by mwl_failure() in *out (given, both), or MWL_NOW_START: this call needs `start` after all.
 */
enum { MWL_NOW_FAILED, MWL_NOW_SUCCEEDED, MWL_NOW_START };
typedef int mwl_now_fn(mwl_heap *heap, mwl_value input, mwl_value arguments, mwl_value *out,
                       void *user);

typedef struct mwl_call_provider {
    const char *uri;      /* "mwl:provider.call/acme/geo/v1" */
    const char *document; /* its provider definition document: JSON text */
    /* Starts the work. It settles the call before it returns, or keeps the call and settles it
     * later. */
    void (*start)(mwl_call *call, void *user);
    /* Called when the time of mwl_call_wake_after() has come. May be NULL if that is not used. */
    void (*wake)(mwl_call *call, void *user);
    /* Asks the provider to stop. It must still settle the call once, now or later; its Result is
     * not used. NULL: the machine does not wait for the call any more, and drops what it settles
     * with later. */
    void (*cancel)(mwl_call *call, void *user);
    /* Instead of the three above: a function with its own stack, which may block in mwl_sleep() and
     * mwl_await(). It settles the call and returns. If it returns without settling, the call fails
     * with Mwlvm.NotSettled. If the system has no memory for the stack, it fails with
     * Mwlvm.NoStack, which is retryable. After a cancellation the current wait and every later wait
     * return MWL_E_CANCELLED: the function frees what it holds and returns. Only for C, C++ and
     * languages that use the stack as C does (Rust, Zig): it runs, and waits, on a stack that the
     * runtime of Go, Python, Java or JavaScript does not know, and that crashes. On Linux, a
     * closure that another language made and a function that Go exports are refused with
     * MWL_E_UNSUPPORTED. Such a language uses `start` and a token. */
    void (*blocking)(mwl_call *call, void *user);
    /* The document is constant and outlives the VM. It is read when the first run of a program that
     * imports the provider is started, which fails if the document is not valid. For libraries of
     * many providers. */
    bool deferred;
    unsigned flags; /* MWL_CALL_*; 0: has effects outside, and may be dispatched again */
    /* Optional, for a provider without MWL_CALL_ONCE. Called instead of `start` for a call that was
     * in flight when its run was saved: finds the work outside again by its key, or starts it. The
     * arguments are valid; the state is data from outside, so check its kinds. A call that was
     * asked to stop (mwl_call_cancelled) is only settled. NULL: `start` or `blocking` is called
     * again, and a call that was asked to stop ends. */
    void (*restore)(mwl_call *call, void *user);
    bool replaces; /* takes the place of the provider with this URI, if the VM has one */
    /* Optional: a fast way for a computation, a lookup in memory, a counter. It has no mwl_call, so
     * it cannot wait. The VM may call it instead of `start` if no listener traces the call, the VM
     * does not hold it, and its Step reads nothing of it but its Result. If `start` is NULL, the VM
     * uses `now` for all calls. */
    mwl_now_fn *now;
} mwl_call_provider;

/* Returns the input of the call. Lent until the call settles. */
MWL_API mwl_value mwl_call_input(const mwl_call *call);
/* Returns the arguments (`with`), a valid object. Lent until the call settles. */
MWL_API mwl_value mwl_call_arguments(const mwl_call *call);
/* Returns the heap in which the provider makes its values. Lent by the VM. */
MWL_API mwl_heap *mwl_call_heap(mwl_call *call);
/* Returns the VM, lent. */
MWL_API mwl_vm *mwl_call_vm(const mwl_call *call);
/* Returns the run, lent; NULL if the run does not wait for this call any more. */
MWL_API mwl_run *mwl_call_run(mwl_call *call);
/* Writes where the call is made: the Flow and the Step, for messages and for tests. Returns false,
 * and writes nothing, if the run does not wait for this call any more. */
MWL_API bool mwl_call_place(const mwl_call *call, mwl_place *out);
/* Writes an id of the call to out, with a NUL, cut to cap bytes: "EXECUTION/STEP", or
 * "EXECUTION/STEP/INDEX" in a Gather, and more after that for another round of a Loop and for the
 * call of a phase (a cleanup). It is the same each time a Retry of the Step makes the call again,
 * and no other call of the run has it: a call of a phase has its own id in each attempt. What the
 * call sends may differ from attempt to attempt; see mwl_call_key(). Returns its length, or 0 if
 * the run does not wait for this call any more. */
MWL_API size_t mwl_call_id(const mwl_call *call, char *out, size_t cap);
/* Returns a random number from 0 to below 1, made from the run's seed; 0 if the run does not wait
 * for this call any more. */
MWL_API double mwl_call_random(mwl_call *call);
/* Returns true if the call was asked to stop. */
MWL_API bool mwl_call_cancelled(const mwl_call *call);
/* Returns the number of the call in its run: from 1 on, ascending. A call that settles before
 * `start` returns has a number only if it asks for its number, key or attempt. */
MWL_API uint64_t mwl_call_number(mwl_call *call);
/* Returns the key of the call, "<execution.id>.<number>": the same if the call is dispatched again
 * after its run was loaded, different for each attempt of a Retry. For services that recognise a
 * repeated request. Given; absent if out of memory, or if the run does not wait for this call any
 * more. */
MWL_API mwl_value mwl_call_key(mwl_call *call);
/* Returns how often the call was dispatched: 1, and more after its run was loaded. */
MWL_API uint32_t mwl_call_attempt(mwl_call *call);

/* Settling. Call exactly one of the next three functions, once, on the VM's thread. The call is
 * freed then (inside `blocking`: when the function returns). They return MWL_OK, or MWL_E_STATE if
 * the call was settled before; what they take over is dropped then. Builds without NDEBUG stop the
 * process if a call is settled twice, on another thread, or after it was freed. An absent value
 * means that its constructor failed. If it was out of memory, the run is aborted; at the run's
 * memory limit the run is cancelled.
 *
 * What a call settles with is checked as the result of an expression is. An int or a uint becomes a
 * number if a double holds it exactly. The call fails with Mwlvm.ResultRefused, and the message has
 * the reason, if the value has no JSON form (bytes, durations, timestamps, NaN, keys that are not
 * text), if its constructor refused a text that is not UTF-8, and if a failure is not an object
 * with a string `type` other than "success" and a string `code` (`message`: a string; `retryable`:
 * a boolean or null; `previous`: a failure or null). The failure catalog of the document must
 * declare the code, as a closed one or under an open prefix; codes of the engine (System.Cancelled
 * and so on, Mwlvm.*) may always be passed on. A failure with another code is refused too, and
 * becomes `previous` of Mwlvm.ResultRefused. */

/* Settles with a success. */
MWL_API mwl_status mwl_call_succeed(mwl_call *call, mwl_value take_value);
/* Settles with a failure. type NULL means "error". message may be NULL; bytes that are not UTF-8
 * become U+FFFD in it. details may be absent. If code is NULL it returns MWL_E_USAGE, and the call
 * is not settled. */
MWL_API mwl_status mwl_call_fail(mwl_call *call, const char *type, const char *code,
                                 const char *message, mwl_value take_details);
/* The same with a message that is formatted as by printf(), the type "error" and no details. */
MWL_API mwl_status mwl_call_failf(mwl_call *call, const char *code, const char *format, ...)
    MWL_PRINTF(3, 4);
/* Settles with a Result: an object with `type`, and `value` or the members of a failure. */
MWL_API mwl_status mwl_call_settle(mwl_call *call, mwl_value take_result);

/* Sets provider.metadata of the call, an object. Call it before settling. If the object does not
 * match the metadata schema of the document, it is dropped. */
MWL_API void mwl_call_set_metadata(mwl_call *call, mwl_value take_object);
/* Charges fuel for about n steps of work (elements, or bytes / 8), as mwl_fn_charge() does. Call it
 * before long work, in callbacks and outside. Returns:
 *   MWL_OK           Go on.
 *   MWL_E_FUEL       The run has used up its fuel. Settle with anything, or return: the run ends by
 *                    its limit.
 *   MWL_E_CANCELLED  The Result is not wanted any more: a bound around the call has elapsed, or it
 *                    was asked to stop. Settle with anything. */
MWL_API mwl_status mwl_call_charge(mwl_call *call, uint64_t n);
/* The same for `now`, which has no call: charged when it has returned. */
MWL_API void mwl_heap_work(mwl_heap *heap, uint64_t n);
/* Asks the machine to call `wake` after a time on the VM's clock; a negative time means at once. A
 * call has one such timer: a later request replaces it. No effect on a call that has settled or was
 * asked to stop, and inside `blocking`. */
MWL_API void mwl_call_wake_after(mwl_call *call, int64_t delay_ns);
/* One value that the provider stores in the call, for `wake` and `cancel`; null in a new call. Keep
 * state here, and not in C memory, so that a parked run consists of plain data.
 * mwl_call_state() returns it, lent until it is replaced or the call settles. If the value is
 * absent (its constructor failed), the old one stays. */
MWL_API void mwl_call_set_state(mwl_call *call, mwl_value take_state);
MWL_API mwl_value mwl_call_state(const mwl_call *call);
/* A pointer that the provider stores in the call; NULL in a new call. */
MWL_API void mwl_call_set_user(mwl_call *call, void *user);
MWL_API void *mwl_call_user(const mwl_call *call);

/* ---- memory on behalf of a run --------------------------------------------------------------- */

/* A run pays for what its providers make in the VM's heap. In a callback that is so by itself: the
 * constructors fail with MWL_E_TOO_BIG at the limit of the run. Outside of callbacks, as in the
 * function of a host's loop that has an answer, a value is measured when the call settles with it
 * (mwl_call_set_state() and _set_metadata(), mwl_run_answer(), mwl_call_resume(): likewise). If it
 * is too large then, it is dropped, and the run ends by its limit. To be stopped before, build the
 * value between the next two functions.
 *
 * From mwl_call_enter() to mwl_call_leave(), what is made in the VM's heap is paid by the run of
 * the call, under its limit, and what takes long is given up when a bound around the call has
 * elapsed. In a callback of the call's own run, and for a run that does not wait for the call any
 * more, both have no effect. They do not nest. Settling the call leaves it; do not call
 * mwl_call_leave() then. Other functions of the machine may be called between them, but not the
 * pump. What the run was asked for meanwhile (to cancel, to free it) happens at the end. */
MWL_API void mwl_call_enter(mwl_call *call);
MWL_API void mwl_call_leave(mwl_call *call);

/* Memory that a provider takes outside the VM's heap, on behalf of the run of a call: buffers,
 * results of another thread. It counts against the memory of the run. */
typedef struct mwl_purse mwl_purse;
/* Returns a new purse; given: release it once, also after the call has settled or the run was
 * freed. Call it on the VM's thread. NULL: out of memory. */
MWL_API mwl_purse *mwl_call_purse(mwl_call *call);
/* Takes n bytes. Returns false, and takes nothing, if the run would be above its limit, or is not
 * there any more. This and the next two functions, and the allocator: any thread. */
MWL_API bool mwl_purse_take(mwl_purse *purse, size_t n);
MWL_API void mwl_purse_give(mwl_purse *purse, size_t n); /* n at most what was taken */
/* Frees the purse; what was not given back goes back now. NULL is ignored. */
MWL_API void mwl_purse_release(mwl_purse *purse);
/* Returns an allocator that takes and gives: for mwl_heap_new(), for buffers. The purse must
 * outlive what it allocates. */
MWL_API mwl_alloc mwl_purse_alloc(mwl_purse *purse);

/* ---- inside `blocking` only ------------------------------------------------------------------ */

/* Example: the blocking style. The function waits, and other work of the VM continues.
 *
 *     static void slow_geo(mwl_call *call, void *user) {
 *         (void)user;
 *         if (mwl_sleep(call, 5000000) < 0) return; // 5 ms; cancelled: nothing to free here
 *         mwl_call_succeed(call, mwl_number(38.7));
 *     }
 */

/* Waits for a time on the VM's clock. Returns:
 *   MWL_OK           The time has passed.
 *   MWL_E_CANCELLED  The call was asked to stop, the run was aborted, or the VM is being freed. All
 *                    further waits return at once; clean up and return.
 *   MWL_E_STATE      The call has settled.
 *   MWL_E_USAGE      The caller does not run on the stack of this call.
 *   MWL_E_NOMEM      Out of memory. */
MWL_API mwl_status mwl_sleep(mwl_call *call, int64_t ns);
/* Waits for an answer, which comes from mwl_call_resume() or from a token. Answers arrive in the
 * order in which they were sent; those sent before the wait are not lost. Returns MWL_OK and the
 * value, MWL_E_FAILED and the failure, or the errors of mwl_sleep() and absent. *out is given. If
 * out is NULL the answer is dropped. */
MWL_API mwl_status mwl_await(mwl_call *call, mwl_value *out);
/* Waits until a run of the same VM is over (MWL_RUN_DONE or MWL_RUN_ABORTED). Returns MWL_OK, also
 * if it is over already; MWL_E_NOT_FOUND (the run was freed meanwhile: do not use it), MWL_E_USAGE
 * (the run of the call itself, or of another VM), or the errors of mwl_sleep(). If two runs await
 * each other, both wait until one of them is cancelled. */
MWL_API mwl_status mwl_await_run(mwl_call *call, mwl_run *run);
/* Sends an answer to a blocking call, on the VM's thread. The function of the call may return, and
 * the call be freed, before this returns. Returns MWL_OK, MWL_E_USAGE (the call is not a blocking
 * one), MWL_E_CANCELLED (it was asked to stop), MWL_E_NOMEM (the value is absent) or MWL_E_TOO_BIG
 * (the value is above the memory of the run, which ends). */
MWL_API mwl_status mwl_call_resume(mwl_call *call, mwl_value take_value);

/* Installs handlers that explain a stack overflow of a blocking provider. Calling it again has no
 * effect. Returns MWL_OK, MWL_E_NOMEM if the system refuses, or MWL_E_UNSUPPORTED where there are
 * no such signals (Windows, builds without MWL_STACKS). Any thread.
 *
 * The stack of a blocking provider has mwl_config.stack_bytes. What happens when it needs more:
 *   - A little more: its call fails with Mwlvm.StackOverflow when the function has returned,
 *     whatever it settled with.
 *   - More than that: it reaches a guard area, and a fault ends the process. A single C frame of
 *     more than 256 KiB can jump over the guard; compile such code with -fstack-clash-protection.
 *
 * After this call, such a fault first writes a message to standard error: the URI of the provider
 * and the size of its stack. The handlers are for SIGSEGV and SIGBUS and stay installed, so the
 * library must stay loaded. Afterwards every fault goes to the handler that was installed before,
 * or to the default of the system. Threads that pump VMs get an alternate signal stack, unless they
 * have one.
 *
 * Builds without NDEBUG install the handlers when the first blocking provider starts. Other builds
 * do it only in this function, because signals belong to the process and not to a library. */
MWL_API mwl_status mwl_stack_watch(void);

/* ---- answers from other threads -------------------------------------------------------------- */

/* Example: a provider whose work is done by a thread of the host. `job` is a type of the host.
 *
 *     typedef struct job { mwl_token *token; } job;
 *
 *     static void job_start(mwl_call *call, void *user) { // on the VM's thread
 *         job *j = user;
 *         if (mwl_call_token(call, &j->token) < 0)
 *             mwl_call_fail(call, NULL, "Provider.Call.Geo.Unknown", "no memory", mwl_absent());
 *     }
 *
 *     static void job_finish(job *j) { // on any thread
 *         mwl_token_succeed(j->token, "38.7", 4);
 *         mwl_token_release(j->token);
 *     }
 */

/* The right to send one answer to one call, from any thread. The answer settles the call; for a
 * blocking provider, mwl_await() returns it. A token may be used after the call, the run and the VM
 * have been freed. */
typedef struct mwl_token mwl_token;

/* Makes a token; *out is given: release it once. A call may have several. Call it on the VM's
 * thread. Returns MWL_OK, MWL_E_STATE (the call has settled) or MWL_E_NOMEM. */
MWL_API mwl_status mwl_call_token(mwl_call *call, mwl_token **out);

/* Send an answer: a value, or a failure. Any thread, also several at the same time. The texts are
 * copied. The next pump of the VM reads the answer; mwl_config.wake is called. If the text is
 * not JSON, or breaks the rules above for what a call settles with, the call fails with
 * Mwlvm.ResultRefused. In mwl_token_fail() type NULL means "error", and message and details_json
 * may be NULL. Return:
 *   MWL_OK           The answer is on its way.
 *   MWL_E_STATE      This token has sent an answer before.
 *   MWL_E_NOT_FOUND  The call does not wait any more: it has settled or was abandoned, or the run
 *                    or the VM was freed. The answer is dropped.
 *   MWL_E_NOMEM      Out of memory, or MWL_E_TOO_BIG. The caller may try again.
 *   MWL_E_USAGE      token, json or code is NULL. */
MWL_API mwl_status mwl_token_succeed(mwl_token *token, const char *json, size_t len);
MWL_API mwl_status mwl_token_fail(mwl_token *token, const char *type, const char *code,
                                  const char *message, const char *details_json, size_t len);
/* Returns whether an answer is still useful. False after the token has sent one, and after the call
 * was asked to stop or has ended. A call with a `cancel` callback still needs an answer then, but
 * does not use its content. Any thread. */
MWL_API bool mwl_token_wanted(mwl_token *token);
/* Releases a token. This does not send an answer. NULL is ignored. Any thread. */
MWL_API void mwl_token_release(mwl_token *token);

/* ---- middleware providers -------------------------------------------------------------------- */

/* Example: a middleware that emits a value instead of doing the work, for dry runs:
 * {"onEntry": {"when": "{{ vars.dry }}", "with": {"value": 0}}}.
 *
 *     static const char skip_document[] =
 *         "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\","
 *         " \"uri\": \"mwl:provider.middleware/acme/skip/v1\", \"codePrefix\": \"Skip\","
 *         " \"description\": \"Emits a value instead of working.\", \"attachment\": [\"step\"],"
 *         " \"phases\": {\"onEntry\": {"
 *         "   \"action\": {\"kind\": \"control\", \"description\": \"Emits the value.\"},"
 *         "   \"parameters\": {\"type\": \"object\", \"properties\": {\"value\": {}}}}},"
 *         " \"failureCatalog\": {\"closed\": [], \"open\": []}}";
 *
 *     static void skip_entry(mwl_phase *phase, void *user) {
 *         (void)user;
 *         mwl_value value = mwl_object_get(mwl_phase_arguments(phase), "value", 5); // lent
 *         if (mwl_is_absent(value)) return; // no verdict: the inner scope runs
 *         mwl_phase_substitute(phase, true, mwl_value_keep(value)); // takes over a reference
 *     }
 *
 *     static const mwl_middleware skip_middleware = {
 *         .uri = "mwl:provider.middleware/acme/skip/v1",
 *         .document = skip_document,
 *         .entry = skip_entry};
 */

/* One execution of one phase of one entry. Lent to the callback for the call. If a callback passes
 * an absent value to the functions below, the constructor of that value has failed. If it was out
 * of memory, the run ends; for any other reason, the value is refused. */
typedef struct mwl_phase mwl_phase;

enum {
    /* The middleware decides about every run of its inner scope. If `when` of onEntry is false, the
     * inner scope does not run, and the entry emits what onEntry produced (Loop). */
    MWL_MW_OWNS_RUNS = 1,
    /* The middleware may use MWL_REENTER_RESTORE: the machine saves the frame's variables when the
     * entry is established (Retry). */
    MWL_MW_RESTORES = 2,
    /* Its onSuccess only re-enters, and carries (Loop): as mwl_phase_reenter(phase,
     * MWL_REENTER_CARRY, 0) in `success`, which is not called. */
    MWL_MW_CARRIES = 4
};

typedef struct mwl_middleware {
    const char *uri;      /* "mwl:provider.middleware/acme/cache/v1" */
    const char *document; /* its provider definition document: JSON text */
    unsigned flags;       /* MWL_MW_* */
    /* Optional name of a metadata member, which the machine keeps: how often the inner scope was
     * run. It is 0 during onEntry and advances when a run begins. So onSuccess and onFailure read
     * the number of the run that has just ended, also where no action runs (Retry's attempt, Loop's
     * iteration). NULL: no such member. */
    const char *run_count;
    /* Optional name of a metadata member that holds the deadline set by mwl_phase_arm_for(), as a
     * timestamp of the wall clock. It is written when an expression reads it (Timeout's deadline).
     * NULL: no such member. */
    const char *deadline;
    /* The action at each phase; NULL where there is none. An action calls at most one of the
     * verdict functions below. If it calls none, what rises or descends passes unchanged. */
    void (*entry)(mwl_phase *phase, void *user);
    void (*success)(mwl_phase *phase, void *user);
    void (*failure)(mwl_phase *phase, void *user);
    void (*always)(mwl_phase *phase, void *user);
    /* Called when the bound of mwl_phase_arm() elapsed before a Result was accepted. It calls
     * mwl_phase_interrupt(). NULL if the middleware sets no bound. */
    void (*elapsed)(mwl_phase *phase, void *user);
    /* Optional. Called when an entry that has set its state is left, in every case: after onAlways,
     * if onEntry failed or was interrupted, if the run is aborted. `state` is lent. It gives back
     * what the entry holds outside of the run (a place in a queue, a permit), and must not use the
     * run. */
    void (*left)(mwl_value state, void *user);
    /* Optional. Called once per program and VM for an entry whose onEntry arguments are constant
     * and valid, before the first run. mwl_phase_prepared() lends the value that it returns, as
     * long as the VM has the program. Computed arguments skip it, so the middleware must work
     * without it. */
    mwl_value (*prepare)(mwl_heap *heap, mwl_value arguments, void *user);
    bool deferred; /* as in mwl_call_provider */
    /* Optional. Called when a run is loaded (mwl_run_load), once for each established entry,
     * outermost first: for a middleware that holds something outside. It reads the phase, and may
     * set the entry's state; it gives no verdict. The state is data from outside. */
    void (*restore)(mwl_phase *phase, void *user);
    bool replaces; /* as in mwl_call_provider */
} mwl_middleware;

/* Readers. All values are lent for the call. */

/* Returns the heap in which the middleware makes its values. */
MWL_API mwl_heap *mwl_phase_heap(mwl_phase *phase);
/* Returns the arguments of the phase (`with`), an object that matches the document. */
MWL_API mwl_value mwl_phase_arguments(const mwl_phase *phase);
/* Returns the value that `prepare` returned for this entry, in every phase; or absent. */
MWL_API mwl_value mwl_phase_prepared(const mwl_phase *phase);
/* Returns the run, lent. */
MWL_API mwl_run *mwl_phase_run(const mwl_phase *phase);
/* Returns middleware.input. */
MWL_API mwl_value mwl_phase_input(const mwl_phase *phase);
/* Returns true if the rising Result is a success. */
MWL_API bool mwl_phase_succeeded(const mwl_phase *phase);
/* Returns the value of the rising Result, or the failure. */
MWL_API mwl_value mwl_phase_result_value(const mwl_phase *phase);
/* Returns how often the inner scope was run so far, counted as run_count. */
MWL_API uint64_t mwl_phase_runs(const mwl_phase *phase);
/* Reads the VM's clock. */
MWL_API void mwl_phase_now(const mwl_phase *phase, mwl_instant *out);
/* Charges fuel for about n steps of work, as mwl_call_charge(). Unless it returns MWL_OK, return at
 * once: a verdict is not needed, and is not used. The machine ends the run, or the scope whose
 * bound has elapsed. */
MWL_API mwl_status mwl_phase_charge(mwl_phase *phase, uint64_t n);
/* Returns a random number from 0 to below 1, made from the run's seed. */
MWL_API double mwl_phase_random(mwl_phase *phase);

/* One value that the middleware stores in the entry, for all its phases; null in a new entry. */
MWL_API mwl_value mwl_phase_state(const mwl_phase *phase);
/* Returns MWL_OK, or the constructor's reason if the value is absent; the old one stays then. */
MWL_API mwl_status mwl_phase_set_state(mwl_phase *phase, mwl_value take_state);
/* Sets a metadata member, which the blocks of this entry can read as middleware.metadata.<name>.
 * The new value is dropped, and the old one stays, if the metadata schema of the document does not
 * allow it together with the members that are there, or if the name is enteredAt or exitedAt.
 * `required` of the schema is not checked here. Returns MWL_OK, MWL_E_REJECTED in these cases,
 * MWL_E_NOT_JSON (the value has no JSON form and is dropped), MWL_E_USAGE (name is NULL),
 * MWL_E_UTF8 or MWL_E_NOMEM. */
MWL_API mwl_status mwl_phase_contribute(mwl_phase *phase, const char *name, mwl_value take_value);

/* Verdicts: what the action decides. They return:
 *   MWL_OK
 *   MWL_E_STATE     The verdict is not allowed in this callback, the document declares another kind
 *                   of action for the phase, or the callback has given a verdict before. Nothing
 *                   changes.
 *   MWL_E_USAGE     code is NULL, or a flag is not allowed. Nothing changes.
 *   MWL_E_NOT_JSON  The value was refused; the rules are those for what a call settles with. The
 *                   phase fails with Mwlvm.ResultRefused. A failure that rises may rise on with its
 *                   own code, whatever the failure catalog declares.
 *   MWL_E_NOMEM     Out of memory, or MWL_E_TOO_BIG at the run's limit: the run ends.
 * Builds without NDEBUG stop the process with a message for the first two. */

/* In every phase: the action failed; the phase fails with this failure. type NULL means "error".
 * message may be NULL. details may be absent. */
MWL_API mwl_status mwl_phase_fail(mwl_phase *phase, const char *type, const char *code,
                                  const char *message, mwl_value take_details);
/* The same with a message that is formatted as by printf(), the type "error" and no details. */
MWL_API mwl_status mwl_phase_failf(mwl_phase *phase, const char *code, const char *format, ...)
    MWL_PRINTF(3, 4);
/* Control: emit this success value (is_success) or this failure. At onEntry the inner scope does
 * not run, and the Result is emitted from the entry's position. At onSuccess a success replaces the
 * rising one, at onFailure a failure does; the failure that is replaced becomes its `previous`,
 * unless it has one. No phase makes a success of a failure: a middleware recovers by running the
 * inner scope again. To make a failure of a success, fail (mwl_phase_fail). */
MWL_API mwl_status mwl_phase_substitute(mwl_phase *phase, bool is_success, mwl_value take);
/* Transform: change the value in flight. At onEntry that is the value that passes down, at
 * onSuccess the rising value, at onFailure the rising failure. onAlways cannot change what rises.
 */
MWL_API mwl_status mwl_phase_transform(mwl_phase *phase, mwl_value take_value);
enum {
    /* The next run gets what this phase produced as its input. Without this flag it gets the input
     * of the first run. */
    MWL_REENTER_CARRY = 1,
    /* The variables become what they were when the entry was established. Needs
     * MWL_MW_RESTORES. */
    MWL_REENTER_RESTORE = 2
};
/* Control, on ascent: consume the Result and run the inner scope again after delay_ns. */
MWL_API mwl_status mwl_phase_reenter(mwl_phase *phase, unsigned flags, int64_t delay_ns);
/* Side-effect: dispatch the structural parameter `call` of this phase. If that call fails, the
 * phase fails. */
MWL_API mwl_status mwl_phase_dispatch(mwl_phase *phase);
/* Only at onEntry, for every kind of action: makes the entry wait. `entry` is called again after ns
 * (MWL_NEVER: only when it is woken, or when its token has an answer). An interruption ends the
 * wait: `entry` is not called again then, but `left` is, if the state was set. */
MWL_API mwl_status mwl_phase_wait(mwl_phase *phase, int64_t ns);
/* An entry that waits. */
typedef struct mwl_waiter mwl_waiter;
/* Returns what mwl_waiter_wake() takes, for the wait that this callback begins. Lent until `entry`
 * is called again or `left` is called. */
MWL_API mwl_waiter *mwl_phase_waiter(mwl_phase *phase);
/* Ends the wait: the next pump calls `entry` again. Call it on the VM's thread, also from
 * callbacks. No effect if the wait has ended. */
MWL_API void mwl_waiter_wake(mwl_waiter *waiter);
/* Makes a token for the wait that this callback begins, so that another thread can end it: a remote
 * cache, a lock of another process. *out is given: release it once. An answer (mwl_token_succeed(),
 * mwl_token_fail()) ends the wait. An entry has one token: a new one takes the place of the old.
 * Returns MWL_OK, MWL_E_STATE (not at onEntry) or MWL_E_NOMEM. */
MWL_API mwl_status mwl_phase_token(mwl_phase *phase, mwl_token **out);
/* Takes the answer, in the call of `entry` that follows. Returns MWL_OK and the value, MWL_E_FAILED
 * and the failure, both given; MWL_E_NOT_FOUND if there is none; MWL_E_NOMEM or MWL_E_TOO_BIG. */
MWL_API mwl_status mwl_phase_answer(mwl_phase *phase, mwl_value *out);
/* Concurrent control, at onEntry: set a bound, which races the inner scope from establishment on.
 * In mwl_phase_arm() it is an instant of the monotonic clock, in mwl_phase_arm_for() a time from
 * now. */
MWL_API mwl_status mwl_phase_arm(mwl_phase *phase, int64_t bound_mono_ns);
MWL_API mwl_status mwl_phase_arm_for(mwl_phase *phase, int64_t ns);
/* In `elapsed`: writes to out what the inner scope was doing, as a part of a sentence for people,
 * with a NUL, cut to cap bytes: "in Step 'pay', waiting for attempt 2, after Http.Throttled". It
 * names the Steps that the middleware is not at itself, and each run but the first of what runs its
 * own inner scope again, with the code of the failure before. Returns its length; 0 if there is
 * nothing of that to say. */
MWL_API size_t mwl_phase_inside(const mwl_phase *phase, char *out, size_t cap);
/* Verdict of `elapsed`: interrupt the inner scope, and emit this failure, the explanation, at the
 * seam. */
MWL_API mwl_status mwl_phase_interrupt(mwl_phase *phase, mwl_value take_failure);

/* ---- Results --------------------------------------------------------------------------------- */

/* Makes a failure envelope; given, or absent if it fails. type NULL means "error". code must not be
 * NULL. message may be NULL; bytes that are not UTF-8 become U+FFFD in it. details and previous may
 * be absent. */
MWL_API mwl_value mwl_failure(mwl_heap *heap, const char *type, const char *code,
                              const char *message, mwl_value take_details, mwl_value take_previous);
/* Returns whether a failure matcher (an object with codes, types, retryable) selects a failure. */
MWL_API bool mwl_failure_matches(mwl_value matcher, mwl_value failure);
/* Returns the first of the matcher's `codes` that is not a pattern (a code, a prefix of whole
 * segments with `.*` after it, or `*`), lent; absent if all are. The assembler refuses one that is
 * written. A middleware whose matcher was computed fails with System.ParameterValidationFailed. */
MWL_API mwl_value mwl_matcher_wrong(mwl_value matcher);
/* The same for the rising failure, and charges fuel for what it looks at; `matcher` may be what
 * mwl_matcher_prepare() returned. Returns MWL_OK, MWL_E_NOT_FOUND (it does not), or the errors of
 * mwl_phase_charge(): return at once then. */
MWL_API mwl_status mwl_phase_match(mwl_phase *phase, mwl_value matcher);
/* The same in two parts, for a matcher that is used often: `prepare` of a middleware makes it ready
 * once. mwl_matcher_prepare() returns a value for mwl_matcher_matches() only: given; absent if out
 * of memory. It points into `matcher`, which must outlive it. */
MWL_API mwl_value mwl_matcher_prepare(mwl_heap *heap, mwl_value matcher);
MWL_API bool mwl_matcher_matches(mwl_value prepared, mwl_value failure);

/* ---- registration ---------------------------------------------------------------------------- */

/* Add providers to a VM, at any time. Each document is checked against the provider meta-schema.
 * The strings are copied, and `user` is passed to every callback. Providers before the refused one
 * stay added. One that replaces another gets the calls and the middleware entries that begin from
 * then on, also in runs that exist already. Calls and entries in progress keep the old one until
 * they end. Return:
 *   MWL_OK
 *   MWL_E_REJECTED   The document, or the provider together with its document, is not valid.
 *   MWL_E_DUPLICATE  The VM has a provider with this URI, and the new one does not replace it.
 *   MWL_E_VERSION    See mwl.h.
 *   MWL_E_UNSUPPORTED  A blocking provider, in a build without MWL_STACKS or of another language.
 *   MWL_E_USAGE      The URI, the document, or `start` and `blocking` are missing; or see mwl.h.
 *   MWL_E_NOMEM
 * error->message names the provider and the place in its document. */
MWL_API mwl_status mwl_vm_provide_sized(mwl_vm *vm, const mwl_call_provider *providers, size_t size,
                                        size_t n, void *user, mwl_error *error);
MWL_API mwl_status mwl_vm_provide_middleware_sized(mwl_vm *vm, const mwl_middleware *middleware,
                                                   size_t size, size_t n, void *user,
                                                   mwl_error *error);
static inline mwl_status mwl_vm_provide(mwl_vm *vm, const mwl_call_provider *providers, size_t n,
                                        void *user, mwl_error *error) {
    return mwl_vm_provide_sized(vm, providers, sizeof(mwl_call_provider), n, user, error);
}
static inline mwl_status mwl_vm_provide_middleware(mwl_vm *vm, const mwl_middleware *middleware,
                                                   size_t n, void *user, mwl_error *error) {
    return mwl_vm_provide_middleware_sized(vm, middleware, sizeof(mwl_middleware), n, user, error);
}
/* Withdraws a provider. Calls and entries in progress keep it until they end. Later calls and
 * phases, also in runs that exist already, fail with Mwlvm.ProviderWithdrawn; programs that import
 * it cannot be started. The same URI may be provided again. Returns MWL_OK, MWL_E_NOT_FOUND,
 * MWL_E_USAGE or MWL_E_NOMEM. */
MWL_API mwl_status mwl_vm_withdraw(mwl_vm *vm, const char *uri);
/* Returns how many calls and middleware entries still use a provider that was replaced or
 * withdrawn. If it is 0, its functions and its `user` are not used any more: a library that
 * contains them can be unloaded. It looks at every run. */
MWL_API size_t mwl_vm_withdrawn(mwl_vm *vm);
/* Adds CEL functions to a VM, at any time. The table, its texts and its functions must outlive the
 * VM. Functions before the refused one stay added. Returns MWL_OK, MWL_E_DUPLICATE (the VM has a
 * function with this name, style and number of arguments), MWL_E_USAGE or MWL_E_NOMEM. */
MWL_API mwl_status mwl_vm_functions(mwl_vm *vm, const mwl_function_def *functions, size_t n);

#ifdef __cplusplus
}
#endif
#endif
