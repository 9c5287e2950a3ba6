/* turn.h: turns of a VM: it works for a while, and what comes next is said in one word. Nothing
 * else in tools/ pumps a VM.
 *
 * Owns: when virtual time passes and how far, a cancellation from outside at its instant, and
 * whether anything can still come. Refuses to know: how one waits (loop.h), and what a run is for.
 */
#ifndef MWL_TOOLS_SESSION_TURN_H
#define MWL_TOOLS_SESSION_TURN_H

#include "mwl.h"

enum session_next {
    SESSION_OVER,  /* the run is done or aborted */
    SESSION_AGAIN, /* there is more to do at once */
    SESSION_WAITS, /* for the instant, or for something from outside */
    SESSION_STUCK  /* under virtual time: no timer is armed, nothing works outside: it never ends */
};

/* How the turns of one VM are made. All zero but vm: in real time, without a cancellation. */
struct session_turns {
    mwl_vm *vm;
    bool virtual_time;
    bool stands;  /* virtual time passes only by session_pass() */
    int64_t fuel; /* of one turn, see mwl_vm_pump_within; 0: no limit */
    /* Returns how many calls work outside; virtual time waits for them. NULL: none ever do. */
    size_t (*outside)(const void *ctx);
    const void *ctx;
    /* The run is cancelled from outside, when everything of this instant is done. */
    bool cancels;
    int64_t cancel_ns;
    const char *reason; /* or NULL */
    int64_t to_ns;      /* not for the caller: virtual time passes to here in the next turn */
};

/* Makes a VM with the standard library, for turns in its time. out->vm is given in any case: free
 * it, if it is not NULL. Returns MWL_OK, or why there is none. */
mwl_status session_vm(const mwl_config *config, struct session_turns *out);

/* Has the run ended, with or without a Result? */
bool session_is_over(const mwl_run *run);

/* Makes one turn: some milliseconds, or one slice in virtual time. run NULL: the VM has many, and
 * it is never SESSION_OVER. *due_ns is when there is work by the clock of the VM, or MWL_NEVER; of
 * use with SESSION_WAITS. */
enum session_next session_turn(struct session_turns *t, mwl_run *run, int64_t *due_ns);

/* Makes turns in virtual time until the run is over or stuck. Returns whether it is over. */
bool session_finish(struct session_turns *t, mwl_run *run);

/* Works until everything of the VM waits, without letting virtual time pass. Returns when there is
 * work, or MWL_NEVER. */
int64_t session_settle(mwl_vm *vm);
/* Lets virtual time pass to an instant, and works for one slice there. All waits until then. */
void session_pass(mwl_vm *vm, int64_t to_ns);

#endif
