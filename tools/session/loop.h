/* loop.h: the event loop of a VM: its clock, a timer to wait for an instant, and a bell that other
 * threads and signal handlers ring. Nothing of the VM. */
#ifndef MWL_TOOLS_SESSION_LOOP_H
#define MWL_TOOLS_SESSION_LOOP_H

#include "mwl.h"

#include <uv.h>

/* For mwl_config.clock: the loop's monotonic clock beside the system's wall clock. */
mwl_clock session_clock(void);
/* The present instant of that clock. Any thread. */
int64_t session_now_ns(void);

/* Finds the loop of the command, the same each time. CMD_OK, or an exit status with a message. */
int session_own_loop(uv_loop_t **out);

struct session_loop {
    uv_loop_t *loop;
    uv_timer_t timer;
    uv_async_t bell;
    bool is_open;
};

/* Adds the timer and the bell to a loop, which is lent until session_loop_close(). CMD_OK, or an
 * exit status with a message. */
int session_loop_open(struct session_loop *l, uv_loop_t *loop);
/* Removes them; other handles of the loop stay. Does nothing if it is not open. */
void session_loop_close(struct session_loop *l);

/* Ends the present wait, or the next one. ctx is the struct session_loop. Any thread, and signal
 * handlers. */
void session_ring(void *ctx);
/* Handles what has happened, without waiting. */
void session_look(struct session_loop *l);
/* Waits until the instant, the bell, or something else of the loop; MWL_NEVER: for these alone. */
void session_wait(struct session_loop *l, int64_t due_ns);

#endif
