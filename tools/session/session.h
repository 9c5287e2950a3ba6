/* session.h: one VM of the command: with its loop, its clock and seed, its limits, and everything
 * that its programs may call: the standard library, the providers of stdlib/io, stubs of
 * --provider, and what --bind says. Whatever runs a program in tools/ goes through this folder:
 *
 *   turn.[hc]    turns of a VM, virtual time, "does anything still come?"
 *   loop.[hc]    the event loop: clock, waits, a bell
 *   session.[hc] a VM, and driving one run to its end
 *   values.[hc]  what a run starts with: input, arguments, id, seed, limits
 *   end.[hc]     what its end means: what is printed and explained, and the exit status
 *
 * `test`, `explore` and the playground, whose providers are all scripted, use parts of it. */
#ifndef MWL_TOOLS_SESSION_SESSION_H
#define MWL_TOOLS_SESSION_SESSION_H

#include "tools/host/io_host.h"
#include "tools/session/loop.h"
#include "tools/session/options.h"
#include "tools/session/turn.h"

struct session {
    mwl_vm *vm;
    mwl_heap *heap; /* its heap */
    struct session_loop loop;
    struct session_turns turns;
    struct io_host io;
    struct answers **answers;   /* by item of the options' binds; NULL: none */
    size_t n_answers, n_hidden; /* failures that no Result shows and that were printed */
    bool owns_loop;             /* of the command */
};

/* Where it lives. All zero: on the loop of the command. */
struct session_host {
    uv_loop_t *loop;          /* lent; or NULL */
    bool silent;              /* notes about stubs were printed before */
    bool hold;                /* see mwl_config.hold */
    mwl_clock clock;          /* read NULL: session_clock() */
    const mwl_limits *limits; /* of runs that set none themselves; NULL: the VM's own */
};

/* CMD_OK and *out, given; or an exit status with a message, and *out must be closed all the same.
 * The options are lent. program NULL: it is not known which programs will run. */
int session_open(const struct run_options *o, const mwl_program *program,
                 const struct session_host *host, struct session **out);
/* Ends what is in progress and frees. NULL is ignored. */
void session_close(struct session *s);
/* The run is over and will be freed. */
void session_forget(struct session *s, const mwl_run *run);

/* After a turn: waits as its answer says, or handles what has happened on the loop. */
void session_rest(struct session *s, enum session_next next, int64_t due_ns);

/* What else is done while a run is driven. All zero: nothing. */
struct session_beside {
    void (*tick)(void *ctx); /* about ten times a second, or NULL */
    void *tick_ctx;
    /* Asked between two turns, about ten times a second while the run waits. true: the run is left
     * unchanged. Or NULL. */
    bool (*pause)(void *ctx, mwl_run *run);
    void *pause_ctx;
};
enum { SESSION_TICK_MS = 100 };

/* Drives a run until it is over or stuck, or `pause` wants it to be left (SESSION_WAITS).
 *
 * The first request of interrupt.h cancels the run, with its cleanup; the second one aborts it.
 * *signal_number is the first signal that came, or 0: the command is to end by it. CMD_OK and
 * *next, or an exit status with a message. */
int session_drive(struct session *s, mwl_run *run, const struct session_beside *beside,
                  enum session_next *next, int *signal_number);

#endif
