/* mwl_durable.h: runs that outlive their process: a driver between a VM and a store (mwl_store.h).
 *
 * The driver saves each run of the VM that has changed, and releases calls with effects outside
 * only when the snapshot that contains them is in the store. It loads runs that are due, delivers
 * answers and cancellations, announces a Result when it is stored, and drops runs that wait for
 * long from memory.
 *
 * The VM needs mwl_config.hold. The driver reads the VM's queue mwl_vm_next_done() and, with
 * `events`, takes mwl_vm_trace(). It has neither a thread nor a clock: a host does, on the
 * VM's thread,
 *
 *     pump; mwl_durable_collect(); work = mwl_durable_take()
 *
 * then mwl_durable_work_do(work, store) on any thread, and with the result mwl_durable_done(), on
 * the VM's thread again. mwl_durable_writer does the middle part on its own thread: what changes
 * while it commits is the next group. The words lent, given and taken over mean the same as in
 * mwl.h. */
#ifndef MWL_DURABLE_H
#define MWL_DURABLE_H

#include "mwl_provider.h"
#include "mwl_store.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mwl_durable mwl_durable;
typedef struct mwl_durable_work mwl_durable_work;

/* A run that is over, or stuck: the store has it. All of it is lent for the call. */
typedef struct mwl_durable_ended {
    const char *id;
    mwl_store_state state;
    mwl_store_text result; /* JSON; of ABORTED and STUCK the reason */
    mwl_run *run;          /* NULL if it could not be loaded */
} mwl_durable_ended;

/* All zero is valid. */
typedef struct mwl_durable_options {
    int64_t far_ns;          /* a run that waits longer than this leaves memory; 0: a minute */
    int64_t horizon_ns;      /* runs are loaded this long before they are due */
    size_t most;             /* runs in memory; 0: 100,000 */
    const char *const *only; /* ids of the runs to drive, lent; NULL: all of the store */
    size_t n_only;
    bool events; /* Steps, calls and failures are stored as events */
    void (*ended)(void *ctx, const mwl_durable_ended *run); /* or NULL */
    /* Returns whether runs of this program may continue in this process. If not, the run becomes
     * stuck. NULL: all may. */
    bool (*allowed)(void *ctx, const mwl_program *program, const char *name);
    void (*loaded)(void *ctx, mwl_run *run); /* or NULL: a run is in memory now */
    void *ctx;
    /* URIs of providers (mwl_durable_remote()) whose calls workers outside take, by take_call of
     * mwl_store.h; lent, then NULL. Or NULL. Their answer is posted with the key of the call as its
     * name: an object with `value`, or with `failure`. */
    const char *const *remote;
    /* Whether an answer fits the wait with these arguments (`schema`); or NULL: it does. False: the
     * answer is removed, an event `refused` has the reason, and the wait stays open. */
    bool (*fits)(void *ctx, mwl_value arguments, mwl_value answer, char *why, size_t cap);
    /* The most that a run may have, whatever its row says; 0 in a field: what the VM allows. NULL:
     * no such bound. */
    const mwl_limits *limits;
    /* What runs have marked as secret is a part of their rows, so that it is hidden wherever they
     * go on. `write` writes what a run has marked, or nothing; `read` marks that before the run is
     * loaded: MWL_OK, MWL_E_NOMEM (it is tried again), or the run is stuck; `end` says that the run
     * has left memory. With mwl_io.h: mwl_io_secrets_write(), _read() and _end(). NULL: nothing is
     * marked, and a run that has marks is stuck. */
    mwl_status (*secrets_write)(void *ctx, mwl_run *run, mwl_json_sink *sink, void *to);
    mwl_status (*secrets_read)(void *ctx, const char *run, const char *json, size_t len);
    void (*secrets_end)(void *ctx, const char *run);
    /* Returns the text of an event or a reason without secrets, malloc; NULL: there are none in it.
     * Or NULL. */
    char *(*hide)(void *ctx, const char *text);
} mwl_durable_options;

/* What a driver has done. */
typedef struct mwl_durable_counts {
    uint64_t commits, changes; /* changes that were committed */
    uint64_t started, ended;   /* runs that were loaded; that are over or stuck */
    uint64_t answers;          /* messages that were delivered */
    uint64_t refused;          /* changes that the store refused for what they contain */
} mwl_durable_counts;

/* Makes a driver for a VM without runs; *out is given. options is copied. Returns MWL_OK or
 * MWL_E_NOMEM. */
MWL_API mwl_status mwl_durable_new(mwl_vm *vm, const mwl_durable_options *options,
                                   mwl_durable **out);
/* Frees it and its runs, as if the process had ended: the store keeps them. Before the VM, and
 * while no work is in progress. NULL is ignored. */
MWL_API void mwl_durable_free(mwl_durable *d);

/* Saves the runs that have changed. Call it after each pump. Returns when to call it again: 0 if
 * the VM has new work (pump), else an instant of the monotonic clock or MWL_NEVER. */
MWL_API int64_t mwl_durable_collect(mwl_durable *d);
/* Takes what the store is to do next: changes to commit, and, if `poll`, to look for runs and
 * messages. Returns NULL if there is nothing, or out of memory. Only one at a time. Given: to
 * mwl_durable_done(). */
MWL_API mwl_durable_work *mwl_durable_take(mwl_durable *d, bool poll);
/* Executes the work on the store. Call it again, later, as long as it returns MWL_E_IO or
 * MWL_E_NOMEM. Any thread. */
MWL_API mwl_status mwl_durable_work_do(mwl_durable_work *work, mwl_store *store);
/* Takes the result over: releases calls, announces Results, loads runs, delivers messages. Pump
 * afterwards. Returns MWL_OK; MWL_E_STATE: the store has another owner, and every run was dropped;
 * or what the store reported, for example that it is damaged. */
MWL_API mwl_status mwl_durable_done(mwl_durable *d, mwl_durable_work *take_work);

/* From now on no run is claimed, and each one goes back to the store as soon as it is at rest and
 * nothing works outside for it; another worker may have it then. Calls that have not started go
 * along with it. Only those of MWL_CALL_ONCE are still made here: another worker could not know
 * that they have not started. mwl_durable_runs() is 0 when all have gone. Pump and collect as
 * before, and close the store then: a run that was just being claimed is free with that. */
MWL_API void mwl_durable_drain(mwl_durable *d);

/* Frees work without executing the rest of it, as if the process had ended: its changes may or may
 * not be in the store. Afterwards the driver can only be freed. */
MWL_API void mwl_durable_forget(mwl_durable_work *take_work);

/* Returns how many runs are in memory, and how many changes wait to be taken. */
MWL_API size_t mwl_durable_runs(const mwl_durable *d);
MWL_API size_t mwl_durable_waiting(const mwl_durable *d);
MWL_API mwl_durable_counts mwl_durable_count(const mwl_durable *d);
/* Returns how many calls of runs in memory wait for the store before they start. It looks at every
 * run. */
MWL_API size_t mwl_durable_held(const mwl_durable *d);
/* Returns when the next run of the store is due, as the last poll found it;
 * MWL_NEVER if no run is due. */
MWL_API int64_t mwl_durable_next_wall_ns(const mwl_durable *d);
/* Returns true if the last poll claimed as many runs as it could: poll again at once. */
MWL_API bool mwl_durable_more(const mwl_durable *d);

/* ---- the writer: a thread that does the work ------------------------------------------------- */

typedef struct mwl_durable_writer mwl_durable_writer;

/* Starts it; *out is given. The store is lent until it has stopped, and is used by this thread
 * only. `wake` is called on that thread when a work is done. */
MWL_API mwl_status mwl_durable_writer_new(mwl_store *store, void (*wake)(void *ctx), void *ctx,
                                          mwl_durable_writer **out);
/* How long runs that are over are kept. */
typedef struct mwl_durable_keep {
    int64_t done_ns, failed_ns; /* after their end; failed_ns: also of those that were aborted */
} mwl_durable_keep;
/* The writer removes older ones from now on, a few at a time between two works. Copied. Before its
 * first work. */
MWL_API void mwl_durable_writer_keep(mwl_durable_writer *w, const mwl_durable_keep *keep);
/* Gives it a work. Only if it has none. */
MWL_API void mwl_durable_writer_give(mwl_durable_writer *w, mwl_durable_work *take_work);
MWL_API bool mwl_durable_writer_busy(const mwl_durable_writer *w);
/* Returns the work that is done, given, for mwl_durable_done(); or NULL. */
MWL_API mwl_durable_work *mwl_durable_writer_get(mwl_durable_writer *w);
/* Copies why the store does not accept the present work, which is tried again; "" if it does.
 * Returns how often it was refused. */
MWL_API unsigned mwl_durable_writer_trouble(mwl_durable_writer *w, char *out, size_t cap);
/* Stops it after what it does now, and frees it. Work that is not done is dropped: its changes may
 * or may not be in the store. NULL is ignored. */
MWL_API void mwl_durable_writer_stop(mwl_durable_writer *w);

/* ---- waiting for an answer ------------------------------------------------------------------- */

/* The provider mwl:provider.call/mwlvm/answer/v1: waits for the answer with its `name` (post of
 * mwl_store.h). The driver delivers it. Pass it to mwl_vm_provide(), and its document to the
 * assembler. Constant. */
MWL_API const mwl_call_provider *mwl_durable_answer(void);
/* Returns a provider whose calls workers outside take (mwl_durable_options.remote). The caller sets
 * its uri and its document. A call waits until its answer is delivered; its run need not be in
 * memory meanwhile. */
MWL_API mwl_call_provider mwl_durable_remote(void);

#ifdef __cplusplus
}
#endif
#endif
