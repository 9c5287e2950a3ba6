/* drive.h: the command as a host of durable runs: a VM, a driver, a writer thread, the loop. */
#ifndef MWL_TOOLS_DURABLE_DRIVE_H
#define MWL_TOOLS_DURABLE_DRIVE_H

#include "mwl_durable.h"
#include "tools/session/session.h"

struct drive;
/* What is driven, and until when. */
struct drive_how {
    const struct run_options *options;
    mwl_store *store;        /* joined */
    const char *const *only; /* ids; NULL: every run of the store */
    size_t n_only;
    /* A run is over. Returns whether this was the last one that was wanted. */
    bool (*ended)(void *ctx, mwl_heap *heap, const mwl_durable_ended *run);
    void *ctx;
    uv_loop_t *loop;                   /* its own, which is closed; NULL: the loop of the command */
    bool (*look)(void *ctx);           /* about four times a second: true ends it; or NULL */
    bool until_idle;                   /* also ends when no run is in memory and none is due */
    const struct drive_worker *worker; /* or NULL */
    /* The longest pause between two questions for runs and messages, when there are none; 0: a
     * twentieth of a second, as always. See drive_idle_ns(). */
    int64_t idle_ns;
    const mwl_durable_keep *keep;  /* how long runs that are over are kept; NULL: for ever */
    const struct drive_part *part; /* or NULL */
};

/* What else lives on the loop, for example a server. */
struct drive_view {
    struct drive *drive;
    uv_loop_t *loop;
    mwl_durable *driver;
    mwl_durable_writer *writer;
};
struct drive_part {
    int (*open)(void *ctx, const struct drive_view *view); /* CMD_OK, or a status with a message */
    void (*turn)(void *ctx);  /* between two pumps; also after each commit */
    void (*close)(void *ctx); /* after open, also if that has failed */
    void *ctx;
};
/* The store is asked for new runs and messages in the next turn. */
void drive_poll_soon(struct drive *d);
/* How long the writer had the last work, and the sum; in nanoseconds. */
void drive_times(const struct drive *d, uint64_t *last_ns, uint64_t *all_ns);
/* How long ago the store has answered the last poll, which keeps the lease. */
int64_t drive_poll_age_ns(const struct drive *d);

/* A host that drains; the caller watches signals (interrupt.h). After the first request runs are
 * given back as soon as nothing works outside for them, for this long; the second one ends it. */
struct drive_worker {
    int64_t drain_ns;
    bool (*allowed)(void *ctx, const mwl_program *program, const char *name);
    void *ctx;
};

/* The idle_ns for a store: 0 for a file; else a quarter of a second, or less with a short lease, so
 * that it is renewed in time, and workers that died are found. lease_ns 0: the default. */
int64_t drive_idle_ns(const char *store, int64_t lease_ns);

/* Prints the end of a run as a line of JSON. */
void drive_print_end(const mwl_durable_ended *run);

/* Drives runs. CMD_OK, or an exit status with a message. After a signal the runs stay in the store;
 * *left is true then, and the command is to end by the signal. */
int drive(const struct drive_how *how, bool *left);

#endif
