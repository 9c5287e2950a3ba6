/* io.h: what the files of this library share: for the authors of its providers.
 *
 * A provider is a file call_NAME.c or mw_NAME.c with its document NAME.json beside it, and a row in
 * providers.h. It uses mwl_provider.h, libuv and this header. */
#ifndef MWL_IO_IMPL_H
#define MWL_IO_IMPL_H

#include "mwl_io.h"
#include "stdlib/io/providers.h"

#include <stdatomic.h>
#include <string.h>
#include <uv.h>

/* ---- a provider ------------------------------------------------------------------------------ */

/* The part of a provider that is not in mwl_call_provider or mwl_middleware. `user` of all their
 * callbacks is the mwl_io. */
typedef struct mwl__io_life {
    /* Called when the providers are closed, if the provider has set its state. It frees the state;
     * what needs the loop for that (uv_close) holds the mwl_io meanwhile. Or NULL. */
    void (*close)(mwl_io *io, void *state);
} mwl__io_life;

#define MWL_X(name, uri_name, rights)                                                              \
    extern const mwl_call_provider mwl__io_call_##name;                                            \
    extern const mwl__io_life mwl__io_call_##name##_life;                                          \
    extern const char mwl__io_doc_call_##name[]; /* made from call_NAME.json by the build */
MWL__IO_CALLS(MWL_X)
#undef MWL_X
#define MWL_X(name, uri_name, rights)                                                              \
    extern const mwl_middleware mwl__io_mw_##name;                                                 \
    extern const mwl__io_life mwl__io_mw_##name##_life;                                            \
    extern const char mwl__io_doc_mw_##name[];
MWL__IO_MIDDLEWARE(MWL_X)
#undef MWL_X

/* The initialisers of `uri`, `document` and `deferred`: MWL__IO_CALL(log, "log"). */
#define MWL__IO_CALL_URI(uri_name) "mwl:provider.call/mwlvm/" uri_name "/v1"
#define MWL__IO_MW_URI(uri_name) "mwl:provider.middleware/mwlvm/" uri_name "/v1"
#define MWL__IO_CALL(name, uri_name)                                                               \
    .uri = MWL__IO_CALL_URI(uri_name), .document = mwl__io_doc_call_##name, .deferred = true
#define MWL__IO_MW(name, uri_name)                                                                 \
    .uri = MWL__IO_MW_URI(uri_name), .document = mwl__io_doc_mw_##name, .deferred = true

/* Returns what the provider keeps for this mwl_io, or NULL. The slot is MWL__IO_CALL_NAME or
 * MWL__IO_MW_NAME of providers.h. */
void *mwl__io_state(const mwl_io *io, mwl__io_slot slot);
void mwl__io_set_state(mwl_io *io, mwl__io_slot slot, void *state);

uv_loop_t *mwl__io_loop(const mwl_io *io);
mwl_vm *mwl__io_vm(const mwl_io *io);
const mwl_io_options *mwl__io_options(const mwl_io *io);
/* The mwl_io is not freed between the two: for handles that are being closed. */
void mwl__io_hold(mwl_io *io);
void mwl__io_release(mwl_io *io);

/* ---- a call in progress ---------------------------------------------------------------------- */

/* The first member of a provider's record of a call that settles later, or of a middleware's work
 * (then `call` is NULL). Between begin and end the call is counted (mwl_io_pending), found by its
 * `cancel`, and stopped when the mwl_io is closed.
 */
typedef struct mwl__io_op {
    struct mwl__io_op *next, **at;
    mwl_io *io;
    mwl_call *call;
    /* Asks the work to stop, once. The provider then settles the call, now or later, with any
     * Result, and ends the op. */
    void (*stop)(struct mwl__io_op *op);
    bool stopping;
} mwl__io_op;

void mwl__io_op_begin(mwl__io_op *op, mwl_io *io, mwl_call *call,
                      void (*stop)(struct mwl__io_op *op));
/* The record may be freed afterwards. Settle the call first. */
void mwl__io_op_end(mwl__io_op *op);
/* The `cancel` of a provider that uses ops: calls `stop`. */
void mwl__io_op_cancel(mwl_call *call, void *user);

/* ---- work on a pool thread ------------------------------------------------------------------- */

/* The first member of a record of a call whose work blocks: files, databases. */
typedef struct mwl__io_job {
    mwl__io_op op;
    uv_work_t request;
    atomic_bool stop; /* asked to stop: `work` looks at it between its parts */
    /* Runs on a pool thread. It must not use the call, its heap or its values: copy what it needs
     * into the record first. It is skipped if the job was stopped before it began. */
    void (*work)(struct mwl__io_job *job);
    /* Runs on the VM's thread afterwards, in every case, between mwl_call_enter and mwl_call_leave.
     * It settles op.call (with any failure if `stop` is set) and frees the record. The op has been
     * ended. */
    void (*done)(struct mwl__io_job *job);
    /* Optional, on the VM's thread: interrupts a `work` that is in progress (sqlite3_interrupt). */
    void (*interrupt)(struct mwl__io_job *job);
    bool finishes; /* it is never stopped: the providers are closed after it */
} mwl__io_job;

/* Starts the work; the record is zeroed except for `work`, `done`, `interrupt`, `finishes` and what
 * follows. Set mwl__io_op_cancel as the `cancel` of the provider. call is NULL for the work of a
 * middleware. */
void mwl__io_job_start(mwl__io_job *job, mwl_io *io, mwl_call *call);

/* ---- permissions ----------------------------------------------------------------------------- */

/* Any thread: a policy does not change while providers use it. */

/* Returns whether the policy allows this: a program (exec) or the name of a variable (env). */
bool mwl__io_may(const mwl_io *io, mwl_io_right right, const char *what);
/* Returns whether an address of an http request is allowed, before it is resolved. host is in lower
 * case and without brackets. *named: the entry names this host itself, so that it may be an address
 * of this machine or of a private network. */
bool mwl__io_may_http(const mwl_io *io, const char *host, unsigned port, bool *named);

/* A file below a folder that the policy allows. Links and ".." do not lead out of it. */

/* Opens a file, as open() does, for reading or writing as `right` says. Follows links that stay in
 * the allowed folder. Returns the descriptor, or a negative errno: -EPERM if the policy does not
 * allow the path, -EXDEV if it leads out of the allowed folder. O_CLOEXEC and O_NONBLOCK (so that
 * a FIFO does not block) are added. */
int mwl__io_file_open(const mwl_io *io, mwl_io_right right, const char *path, int flags,
                      unsigned mode);
/* Opens the folder that holds the file, and writes the last name of the path to *name (a part of
 * path): for openat, renameat, unlinkat and so on with that name, and O_NOFOLLOW. Returns the
 * descriptor or a negative errno as above. */
int mwl__io_file_parent(const mwl_io *io, mwl_io_right right, const char *path, const char **name);

/* Settles the call with CODE_PREFIX.NotPermitted; the message and details.flag have the flag that
 * would allow it. `prefix` is "Provider.Call.File" and so on. what is NULL if only the right to
 * everything helps. */
void mwl__io_refuse(mwl_call *call, const char *prefix, mwl_io_right right, const char *what);

/* ---- help ------------------------------------------------------------------------------------ */

/* The text of a member, lent; `otherwise` if it is not there. */
const char *mwl__io_arg_text(mwl_value args, const char *name, const char *otherwise);
double mwl__io_arg_number(mwl_value args, const char *name, double otherwise);
bool mwl__io_arg_bool(mwl_value args, const char *name, bool otherwise);
/* Whether it is a text with a NUL character, which no path, name or URL can have. */
static inline bool mwl__io_has_nul(mwl_value text) {
    size_t len = 0;
    const char *t = mwl_as_text(text, &len);
    return t && strlen(t) != len;
}
/* A member that is an ISO 8601 duration, in nanoseconds. */
int64_t mwl__io_arg_duration(mwl_value args, const char *name, int64_t otherwise);

/* mwl_object_set() with a name that ends in NUL; _text makes a string, U+FFFD for what is not
 * UTF-8. */
mwl_value mwl__io_set(mwl_heap *heap, mwl_value take_object, const char *name, mwl_value take);
mwl_value mwl__io_text(mwl_heap *heap, const char *text, size_t len);
/* Settles the call with a failure that has `retryable`. details may be absent. */
void mwl__io_fail(mwl_call *call, const char *code, bool retryable, mwl_value take_details,
                  const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The id of the run whose marks are those of this one: the first of those that have started it. */
const char *mwl__io_owner(mwl_io *io, mwl_run *run);
/* mwl_io_secrets_path() on behalf of a run; NULL: of a definition. */
mwl_status mwl__io_secret_path(mwl_io *io, mwl_run *run, const char *path, size_t len);
/* Returns whether a secret is in the text. */
bool mwl__io_has_secret(const mwl_io *io, const char *text, size_t len);
/* Returns where a text may be cut so that at most `most` bytes stay: not inside a secret. */
size_t mwl__io_cut(const mwl_io *io, const char *text, size_t len, size_t most);

/* Settles the call for a run that may have no more memory: it ends by its limit. */
void mwl__io_exceed(mwl_call *call);

/* Writes a line of the log: {"time","level","message","execution",...}. fields may be absent; its
 * members are added. A line of more than 1 MiB has no fields, the beginning of the message, and
 * "cut". run may be NULL. Returns how long the line is: the caller charges MWL__LOG_WORK of it. */
size_t mwl__io_log(mwl_io *io, mwl_io_level level, const char *message, size_t len,
                   mwl_value fields, mwl_run *run);
#define MWL__LOG_WORK(n) (64 + (n) / 4)

/* ---- libraries that are loaded when they are needed ------------------------------------------ */

/* Fills a table of function pointers from the first library of `names` (NULL at its end) that can
 * be loaded. `functions` has n names; table[i] is set for each. Once per process; the library stays
 * loaded. Returns NULL, or what to say: "libcurl.so.4 cannot be loaded". Any thread. */
const char *mwl__io_load(const char *const *names, const char *const *functions, size_t n,
                         void **table);

#endif
