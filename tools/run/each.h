/* each.h: what the parts of `run --each` share.
 *
 *   each.c         the command: threads, signals, the end
 *   each_in.[hc]   lines
 *   each_worker.c  a VM on its thread, with many runs in flight
 *   each_out.[hc]  Results
 *   each_show.[hc] the progress bar and the closing summary */
#ifndef MWL_TOOLS_EACH_H
#define MWL_TOOLS_EACH_H

#include "tools/run/each_in.h"
#include "tools/run/each_out.h"
#include "tools/run/each_show.h"
#include "mwl.h"
#include "tools/run/run_options.h"
#include "tools/session/session.h"
#include "vm/value/value.h"

#include <pthread.h>
#include <stdatomic.h>

enum {
    EACH_CONCURRENCY = 100, /* the default of --concurrency */
    EACH_CONCURRENCY_MOST = 1000000,
    EACH_GRAB_MOST = 2048, /* lines that a worker takes at once */
    EACH_THREADS_MOST = 1024,
    EACH_NOTED = 3 /* lines that are shown with what their values do not keep */
};

/* How far the whole is asked to stop, and the first reason. */
enum each_stop { EACH_GO, EACH_CANCEL, EACH_ABORT };
enum each_reason {
    EACH_NO_REASON,
    EACH_INTERRUPTED,
    EACH_FAIL_FAST,
    EACH_NOT_WRITTEN,
    EACH_BROKEN
};

struct each_worker;

struct each {
    const struct run_options *options;
    mwl_program *program;
    mwl_heap *heap;      /* of the arguments */
    mwl_value arguments; /* for every run; each worker copies them */
    mwl_limits limits;   /* of each run */
    uint32_t concurrency;
    struct each_in *in;
    struct each_out *out;
    struct each_worker *workers;
    unsigned n_workers;
    _Atomic int stop, reason;
    _Atomic uint64_t n_noted;   /* lines whose values do not keep all of their text */
    _Atomic unsigned n_working; /* threads that have not ended */
    int bell[2];                /* a pipe that wakes the main thread */
};

struct each_worker {
    struct each *each;
    pthread_t thread;
    bool threaded; /* the thread was started */
    uv_loop_t loop;
    bool looped;        /* the loop exists */
    _Atomic bool waits; /* for lines or room: wake it when there may be some */
    struct session *session;
    mwl_heap *heap;
    mwl_value arguments; /* absent: there are none */
    struct each_slot *slots, *free_slots;
    uint32_t n_active;
    struct each_hand {
        struct each_piece piece;
        struct each_block *block;
        uint32_t n_started; /* lines of the piece */
        const char *at;     /* the text of the next */
        int64_t taken_ns;   /* when */
        mwl__json_before before;
    } hand;        /* lines that it has taken and starts as it has places for runs */
    uint32_t grab; /* how many lines it takes the next time */
    struct each_shelf shelf;
    int stopped; /* what it has done about each->stop */
    struct each_counts counts;
    uint64_t last_line; /* of those that it has started */
    struct each_codes codes;
    int status; /* CMD_OK, or why it could not work; a message was printed */
};

/* Makes what the thread needs. CMD_OK, or an exit status with a message. `first`: notes about the
 * VM are printed once. */
int each_worker_open(struct each_worker *w, struct each *each, bool first);
/* The thread's function; ctx is the worker. */
void *each_worker_run(void *ctx);
void each_worker_close(struct each_worker *w);

/* `mwlvm run --each`: from the program to the exit status. The program is lent. */
int each_command(struct run_options *options, mwl_program *program);

/* Asks all to stop; the first reason counts. Any thread. */
void each_stop(struct each *e, enum each_stop how, enum each_reason why);
/* Wakes the workers that wait for lines or room. ctx is the struct each. Any thread. */
void each_wake_waiting(void *ctx);

#endif
