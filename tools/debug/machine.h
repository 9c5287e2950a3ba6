/* machine.h: a run on a thread of its own, which stands still when the debugger wants to look.
 *
 * The run is the one of `mwlvm run`: the same VM, providers, limits and order. It is stopped in the
 * listener of its events, so nothing of it is different, and the hot loop knows nothing of
 * debuggers. While it stands still, the debugger's thread may read its records; the two never work
 * at the same time.
 *
 * Owns: the thread, the hand-over, and the number of events. Refuses to know: where to stop. */
#ifndef MWL_TOOLS_DEBUG_MACHINE_H
#define MWL_TOOLS_DEBUG_MACHINE_H

#include "tools/session/session.h"
#include "tools/debug/journal.h"
#include "tools/debug/setup.h"

#include <pthread.h>

enum machine_state {
    MACHINE_RUNS,
    MACHINE_STANDS, /* in an event */
    MACHINE_OVER    /* the run has ended, or could not be started */
};

struct machine {
    const struct debug_setup *setup;
    struct journal *journal;
    /* Called for each event, on the machine's thread. true: stand still. */
    bool (*decide)(void *ctx, struct machine *m, const mwl_trace_event *event);
    void *ctx;
    int bell; /* a byte is written here when it stops running; -1: none */

    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t turn;
    enum machine_state state;
    bool quits, paused; /* asked for */
    bool rings;         /* the session is there, and its bell ends a wait */

    struct session *session;
    mwl_vm *vm;
    mwl_run *run;
    struct journaled *journaled;
    mwl_instant began;
    uint64_t n_events;            /* heard so far, with the one in which it stands */
    const mwl_trace_event *event; /* that one, or NULL */
    int status;                   /* of starting it; a message was printed */
    bool waits;                   /* it was paused in a wait: the event says what is open */
    bool stuck;                   /* it waits for something that never comes */
};

/* Starts a run, in its thread. The fields up to `bell` are set by the caller. CMD_OK, or a status
 * with a message. `status` says, when it stands still or is over, whether the run could begin. */
int machine_start(struct machine *m);
/* Lets it go on from where it stands. */
void machine_go(struct machine *m);
/* Waits until it stands still or is over. */
void machine_wait(struct machine *m);
/* The same, for some time. Returns false if it still runs then. */
bool machine_wait_ms(struct machine *m, int ms);
enum machine_state machine_state(struct machine *m);
/* Asks it to stand still at the next event, or in its wait. Any thread. */
void machine_pause(struct machine *m);
bool machine_paused(struct machine *m); /* and forgets that */
/* Ends the run, without its cleanup, and the thread. */
void machine_end(struct machine *m);

#endif
