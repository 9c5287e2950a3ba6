/* host_uv.h: the command as a host: its clock, its event loop, signals. */
#ifndef MWL_TOOLS_HOST_UV_H
#define MWL_TOOLS_HOST_UV_H

#include "mwl.h"

/* For mwl_config.clock: the loop's monotonic clock beside the system's wall clock. */
mwl_clock host_clock(void);

/* Pumps the VM until the run is done or aborted. MWL_OK, or E_IO with a message when the loop
 * cannot be made.
 *
 * SIGINT, SIGTERM and SIGHUP cancel the run, with its cleanup; the second one aborts it. Signals
 * that come together count as one: `timeout` and shells send each to a process twice.
 * *signal_number is the first that came, or 0: the command is to end by it. Whatever the machine
 * does, the process ends by the signal at once when a second one finds the first unanswered, and
 * within a second after SIGTERM, SIGHUP or a second one of any kind that is not answered. SIGHUP
 * stays ignored when it was (nohup). */
mwl_status host_drive(mwl_vm *vm, mwl_run *run, bool virtual_time, int *signal_number);

#endif
