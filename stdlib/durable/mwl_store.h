/* mwl_store.h: where durable runs are kept. This is the one interface between runs and a database:
 * the driver (mwl_durable.h) and the commands use it, and nothing else sees a database.
 *
 * A store holds programs, runs, messages for runs (the inbox), open waits and events. Workers are
 * processes, or parts of one, that have runs in memory. Each function is one transaction: all of it
 * happens, or nothing. A handle belongs to one thread at a time. The words lent, given and taken
 * over mean the same as in mwl.h.
 *
 * Errors. MWL_E_IO: the transaction failed, or its outcome is not known. The caller repeats it
 * with the same contents until it gets another status; every function here may be repeated.
 * MWL_E_REFUSED: the store will never take what the call contains, because it is too large or
 * against a rule of the database; nothing was done, and a repetition is of no use. MWL_E_STATE:
 * this worker does not own the store or its lease (any more). MWL_E_VERSION: the store is of
 * another version. MWL_E_SNAPSHOT: it is damaged. MWL_E_NOMEM. mwl_store_why() has a text for
 * people.
 *
 * The fence. A run has an epoch, which goes up each time a worker claims it, and a version, which
 * goes up with each saved state. A commit for a run is kept only if the worker still owns the run
 * with that epoch. So a worker that was taken for dead can write nothing. */
#ifndef MWL_STORE_H
#define MWL_STORE_H

#include "mwl.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mwl_store mwl_store;

/* ---- what is kept ---------------------------------------------------------------------------- */

/* name for people, number in the store */
#define MWL_STORE_STATES(X)                                                                        \
    X(NEW, "new", 0)         /* accepted, has not begun */                                         \
    X(LIVE, "live", 1)       /* in the memory of a worker, or was when the worker ended */         \
    X(STORED, "waiting", 2)  /* in no memory: waits for its due time or for a message */           \
    X(DONE, "done", 3)       /* over; the Result is a success */                                   \
    X(FAILED, "failed", 4)   /* over; the Result is a failure */                                   \
    X(ABORTED, "aborted", 5) /* over, without a Result */                                          \
    X(STUCK, "stuck", 6)     /* cannot go on by itself; `why` has the reason */

typedef enum mwl_store_state {
#define MWL_X(name, text, number) MWL_STORE_##name = (number),
    MWL_STORE_STATES(MWL_X)
#undef MWL_X
} mwl_store_state;

typedef struct mwl_store_text {
    const char *at; /* NULL: no text */
    size_t len;
} mwl_store_text;

/* A run to accept. */
typedef struct mwl_store_start {
    const char *id;         /* execution.id; unique in the store */
    const uint8_t *program; /* 16 bytes, see mwl_program_id() */
    const char *name;       /* of the program, for people */
    /* JSON: {"input":, "arguments":, "seed":, "limits":}; a seed from 2^53 on is a text of digits
     */
    mwl_store_text start;
    int64_t now_wall_ns;
} mwl_store_start;

/* A call that waits for an answer from outside. */
typedef struct mwl_store_wait {
    uint64_t number;
    const char *name; /* a call for a worker outside: RUN.NUMBER, its key */
    int64_t since_wall_ns;
    mwl_store_text question; /* JSON: the arguments of the call; of a call for a worker outside an
                                object with `input` and `arguments` */
    const char *provider;    /* URI of a call for a worker outside, see take_call; NULL or "": an
                                answer, for people */
} mwl_store_wait;

/* What take_call asks for. */
typedef struct mwl_store_call {
    const char *provider; /* any call of this provider that no worker has */
    const char *run; /* or, if not NULL, this one, which the caller has: its lease is renewed */
    uint64_t number;
    uint32_t attempt;
    int64_t now_wall_ns, lease_ns; /* a store with its own clock uses that */
} mwl_store_call;

typedef struct mwl_store_event {
    int64_t at_wall_ns;
    const char *kind; /* one word */
    /* Of a `step`: the name of the Step, a line break, and the name of its Flow: "" for the root
     * and for inline Flows. Events of older versions end with the Step. */
    mwl_store_text text;
} mwl_store_event;

typedef enum mwl_store_kind {
    MWL_STORE_SAVE, /* a new snapshot; the run stays with the worker */
    MWL_STORE_PARK, /* the same, and the worker gives the run back until it is due or has a message
                     */
    MWL_STORE_END   /* the run is over or stuck: state and result */
} mwl_store_kind;

/* What is to be kept of one run. A group has at most one change of a run. */
typedef struct mwl_store_change {
    int64_t seq;      /* of the run, see mwl_store_claimed */
    uint64_t epoch;   /* as claimed */
    uint64_t version; /* larger than all before */
    mwl_store_kind kind;
    const void *bytes; /* see mwl_store_bytes; of MWL_STORE_END what is secret, or NULL. A run that
                          is STUCK keeps those that it has */
    size_t size;
    int64_t due_wall_ns;   /* of MWL_STORE_PARK; MWL_NEVER: a message wakes it */
    uint64_t seen;         /* of MWL_STORE_PARK: the last message for the run that the worker knows;
                              if there is a later one, the run is due at once */
    mwl_store_state state; /* of MWL_STORE_END: DONE, FAILED, ABORTED or STUCK */
    mwl_store_text result; /* of MWL_STORE_END: JSON; of ABORTED and STUCK the reason */
    int64_t now_wall_ns;
    const uint64_t *taken; /* messages whose effect is in this snapshot; the commit removes them */
    size_t n_taken;
    bool new_waits; /* the open waits differ from those of the change before. One that is there
                       already stays as it is, with its time and its lease */
    const mwl_store_wait *waits;
    size_t n_waits;
    const mwl_store_event *events;
    size_t n_events;
} mwl_store_change;

typedef enum mwl_store_message_kind {
    MWL_STORE_ANSWER, /* for a wait with this name */
    MWL_STORE_CANCEL, /* body: a JSON string, the reason */
    MWL_STORE_RESUME  /* of a run that is stuck */
} mwl_store_message_kind;

/* A message to a run. */
typedef struct mwl_store_message {
    uint64_t n;      /* its number; ascending for one run. Not used by post */
    int64_t seq;     /* of the run. Not used by post */
    const char *run; /* id of the run. Only used by post */
    mwl_store_message_kind kind;
    const char *name;    /* of the wait; "" for other kinds */
    const char *key;     /* only used by post: a second message with this key is refused; or NULL */
    mwl_store_text body; /* JSON */
    int64_t now_wall_ns; /* only used by post */
} mwl_store_message;

/* A run that this worker has now. All of it is lent for the call. */
typedef struct mwl_store_claimed {
    int64_t seq;
    const char *id, *name;
    uint8_t program[16];
    uint64_t epoch, version;
    uint32_t recoveries; /* how often it was claimed since it last changed */
    mwl_store_text start;
    const void *bytes; /* NULL: it has not begun; `start` says how */
    size_t size;
} mwl_store_claimed;

/* What a worker asks for. */
typedef struct mwl_store_poll {
    uint64_t number;         /* of the poll: 1, 2, 3. A poll whose outcome is not known is repeated
                                with its number, and shows what it had claimed */
    size_t most;             /* runs to claim at most */
    const char *const *only; /* ids of the runs to claim; NULL: any */
    size_t n_only;
    int64_t now_wall_ns; /* runs that are due before now + horizon_ns are claimed */
    int64_t horizon_ns;
    bool no_suspect; /* no run is claimed that is a suspect (MWL_STORE_SUSPECT). Otherwise at most
                        one is, the one that was claimed least. Those of `only` are not counted */
} mwl_store_poll;
/* False: out of memory. The poll ends with MWL_E_NOMEM then, and its repetition shows that one
 * again, and perhaps others too. */
typedef struct mwl_store_polled {
    void *ctx;
    bool (*run)(void *ctx, const mwl_store_claimed *run);
    bool (*message)(void *ctx, const mwl_store_message *message);
} mwl_store_polled;

/* ---- what people ask for --------------------------------------------------------------------- */

/* All of it is lent for the call. */
typedef struct mwl_store_row {
    int64_t seq;
    const char *id, *name;
    uint8_t program[16];
    mwl_store_state state;
    int64_t due_wall_ns;                                     /* MWL_NEVER: none */
    int64_t created_wall_ns, updated_wall_ns, ended_wall_ns; /* 0: not */
    uint64_t version;
    uint32_t recoveries;
    size_t n_waits, n_messages;
    mwl_store_text start, result; /* result: or the reason, see mwl_store_change */
    const void *bytes;            /* see mwl_store_bytes; of a run that is over or stuck, of others
                                     only with `snapshots` */
    size_t size;
} mwl_store_row;

/* What the bytes of a run contain. Lent by them. */
typedef struct mwl_store_bytes {
    const void *snapshot; /* NULL: none */
    size_t size;
    mwl_store_text secrets; /* JSON: what the run has marked as secret, as long as its row is kept.
                               Nothing of the row is shown without that being hidden */
} mwl_store_bytes;
enum { MWL_STORE_SECRETS = 16 << 20 }; /* bytes, at most */
/* Takes the bytes of a row apart; bytes may be NULL. Returns MWL_OK, or MWL_E_SNAPSHOT if they are
 * damaged: then *out has nothing. Bytes without secrets are a snapshot. */
MWL_API mwl_status mwl_store_bytes_read(const void *bytes, size_t size, mwl_store_bytes *out);
typedef struct mwl_store_query {
    const char *id;  /* one run; or NULL */
    unsigned states; /* bits 1 << state; 0: all */
    int64_t after;   /* seq; 0: from the first on */
    size_t limit;    /* 0: no limit */
    bool snapshots;
    const char *name; /* of the program; NULL: all */
    bool newest;      /* the newest first; `after` is then the seq before which to begin */
} mwl_store_query;

/* How much a store has. */
typedef struct mwl_store_counts {
    uint64_t runs[MWL_STORE_STUCK + 1]; /* by mwl_store_state */
    uint64_t waits, messages;           /* open waits; messages that no run has taken */
    int64_t due_wall_ns;                /* the earliest of runs that wait; MWL_NEVER */
    uint64_t last_event;                /* 0: no event yet */
} mwl_store_counts;

/* What may be removed. */
typedef struct mwl_store_keep {
    int64_t done_before_wall_ns, failed_before_wall_ns; /* ended before that */
    size_t most;                                        /* runs in one transaction */
} mwl_store_keep;

/* ---- the functions of a store ---------------------------------------------------------------- */

typedef struct mwl_store_ops {
    void (*close)(mwl_store *s); /* gives the lease back, and frees the handle */
    const char *(*why)(const mwl_store *s);

    /* Workers. `join` makes this handle a worker: MWL_E_STATE if there can be no other one. */
    mwl_status (*join)(mwl_store *s, const char *who);
    /* kept[i]: after the transaction, the store has the change i, from this worker and epoch. */
    mwl_status (*commit)(mwl_store *s, const mwl_store_change *changes, size_t n, bool *kept);
    /* Renews the lease, claims runs, and brings messages for runs that this worker has. A message
     * may come again until a commit has taken it. *next_wall_ns: when the next run is due. */
    mwl_status (*poll)(mwl_store *s, const mwl_store_poll *ask, const mwl_store_polled *sink,
                       int64_t *next_wall_ns);
    /* Work that can wait (fold, checkpoint), a small piece. *more: there is some left. */
    mwl_status (*idle)(mwl_store *s, bool *more);

    /* Everybody. put_program: equal bytes twice are one program. MWL_E_DUPLICATE: other bytes with
     * this id. */
    mwl_status (*put_program)(mwl_store *s, const uint8_t *id, const char *name, const void *image,
                              size_t size, int64_t now_wall_ns);
    /* MWL_E_NOT_FOUND. The image is lent for the call of `see`. */
    mwl_status (*get_program)(mwl_store *s, const uint8_t *id,
                              void (*see)(void *ctx, const char *name, const void *image,
                                          size_t size),
                              void *ctx);
    /* Accepts a run. MWL_E_DUPLICATE: there is one with this id. */
    mwl_status (*start)(mwl_store *s, const mwl_store_start *start);
    /* Accepts several runs, or none of them. *which: the one that is refused, as by `start`. */
    mwl_status (*start_all)(mwl_store *s, const mwl_store_start *starts, size_t n, size_t *which);
    /* Leaves a message. MWL_E_NOT_FOUND: no such run. MWL_E_STATE: the run is over, or RESUME and
     * it is not stuck. MWL_E_DUPLICATE: there is a message with this key, or an answer for the only
     * open wait of this name. Without an open wait an answer is kept for a later one. */
    mwl_status (*post)(mwl_store *s, const mwl_store_message *message);
    /* Gives a call with a provider (mwl_store_wait) to a worker outside: the oldest one that has no
     * answer and no lease. The worker gets a lease, the attempt is counted, and `see` is called.
     * MWL_E_NOT_FOUND: no call waits for a worker. If `run` is set, it renews the lease of that
     * call instead and does not call `see`: MWL_E_NOT_FOUND if the call is settled or has another
     * attempt by now. */
    mwl_status (*take_call)(mwl_store *s, const mwl_store_call *ask,
                            void (*see)(void *ctx, const char *run, const mwl_store_wait *wait,
                                        uint32_t attempt),
                            void *ctx);
    /* Small values that belong to the store: names of programs, where schedules are, a secret.
     * set_value: from `old` (NULL: the key has no value) to `value` (NULL: remove). MWL_E_STATE: it
     * is not `old`; setting what is there already is MWL_OK. */
    mwl_status (*set_value)(mwl_store *s, const char *key, const char *old, const char *value);
    /* Those whose key begins with this, by key; stops when `see` returns false. */
    mwl_status (*values)(mwl_store *s, const char *prefix,
                         bool (*see)(void *ctx, const char *key, const char *value), void *ctx);
    mwl_status (*count)(mwl_store *s, mwl_store_counts *out);
    /* Stops when `see` returns false. */
    mwl_status (*list)(mwl_store *s, const mwl_store_query *query,
                       bool (*see)(void *ctx, const mwl_store_row *row), void *ctx);
    mwl_status (*waits)(mwl_store *s, int64_t seq, /* 0: of all runs */
                        bool (*see)(void *ctx, const char *run, const mwl_store_wait *wait),
                        void *ctx);
    mwl_status (*events)(mwl_store *s, int64_t seq, /* 0: of all runs */ uint64_t after,
                         bool (*see)(void *ctx, uint64_t n, const char *run,
                                     const mwl_store_event *event),
                         void *ctx);
    /* Also removes programs that no run and no value MWL_STORE_PROGRAM names. */
    mwl_status (*prune)(mwl_store *s, const mwl_store_keep *keep, size_t *removed);
    /* Copies the store as it is at one instant into a new file. MWL_E_UNSUPPORTED. */
    mwl_status (*backup)(mwl_store *s, const char *path);
    /* See mwl_store_clock(). NULL: it has no clock. */
    int64_t (*clock)(const mwl_store *s);
} mwl_store_ops;

struct mwl_store {
    const mwl_store_ops *ops;
};

/* The key of the value that names a program is this and its name; the value is the id, in small
 * hexadecimal digits. */
#define MWL_STORE_PROGRAM "program/"

/* A run that was claimed this often without a new version is stuck: what it calls may be what takes
 * the process down. */
enum { MWL_STORE_RECOVERIES = 10 };
/* From this number on it is a suspect: one of them at a time is in the memory of a worker, so that
 * one which takes the process down is found, and those that were merely there are not taken for it.
 */
enum { MWL_STORE_SUSPECT = 3 };

/* Returns "live" and so on; constant. */
MWL_API const char *mwl_store_state_name(mwl_store_state state);
/* Returns a text about the last error, lent until the next call. */
MWL_API const char *mwl_store_why(const mwl_store *s);
/* Returns what to add to this machine's monotonic clock to have the wall time by the clock of the
 * store's database; 0: the store has no clock, or has not seen it yet. It is measured
 * now and then, and decides what is due: a host whose runs several machines drive makes the wall
 * clock of its VM with it (mwl_config.clock). Any thread. */
MWL_API int64_t mwl_store_clock(const mwl_store *s);
/* Returns the wall time by that clock, or by the system's. Any thread. */
MWL_API int64_t mwl_store_now(const mwl_store *s);
MWL_API void mwl_store_close(mwl_store *s); /* NULL is ignored */

/* ---- the stores ------------------------------------------------------------------------------ */

/* SQLite, in one file: one worker, and other processes that ask and post. The library is loaded
 * when this is first called. *out is given, also after an error, for its text, unless memory ran
 * out. `create`: the file is made if it does not exist; otherwise MWL_E_NOT_FOUND. */
MWL_API mwl_status mwl_store_sqlite(const char *path, bool create, mwl_store **out);

/* PostgreSQL, or an engine that speaks its protocol: any number of workers. `uri` is what libpq
 * takes, postgresql://USER@HOST/DATABASE for example; the tables are in the schema mwlvm. The
 * library is loaded when this is first called. lease_ns: how long a worker that is not heard of
 * keeps its runs, 0 for four seconds. *out as above. `create`: the schema is made if it does not
 * exist. */
MWL_API mwl_status mwl_store_postgres(const char *uri, bool create, int64_t lease_ns,
                                      mwl_store **out);

#ifdef __cplusplus
}
#endif
#endif
