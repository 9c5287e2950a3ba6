/* host_uv.h: the command as a host: its clock, its event loop, signals. */
#ifndef MWL_TOOLS_HOST_UV_H
#define MWL_TOOLS_HOST_UV_H

#include "mwl.h"

#include <uv.h>

/* For mwl_config.clock: the loop's monotonic clock beside the system's wall clock. */
mwl_clock host_clock(void);

/* Returns the loop of the command, the same each time. NULL after a message. */
uv_loop_t *host_loop(void);

/* What is done about ten times a second while a run goes on. */
struct host_tick {
    void (*fn)(void *ctx);
    void *ctx;
};
enum { HOST_TICK_MS = 100 };

/* Asked between two pumps, about ten times a second while the run waits. true: the run is left
 * unchanged. */
struct host_pause {
    bool (*fn)(void *ctx, mwl_run *run);
    void *ctx;
};

/* Pumps the VM until the run is done or aborted, or `pause` wants it to be left. tick and pause may
 * be NULL. MWL_OK, or E_IO with a message when the loop cannot be made.
 *
 * The first request of interrupt.h cancels the run, with its cleanup; the second one aborts it.
 * *signal_number is the first signal that came, or 0: the command is to end by it. */
struct run_vm;
mwl_status host_drive(const struct run_vm *vm, mwl_run *run, bool virtual_time,
                      const struct host_tick *tick, const struct host_pause *pause,
                      int *signal_number);

#endif
