/* host_uv.h: the command as a host: its clock, its event loop, Ctrl-C. */
#ifndef MWL_TOOLS_HOST_UV_H
#define MWL_TOOLS_HOST_UV_H

#include "mwl.h"

/* For mwl_config.clock: the loop's monotonic clock beside the system's wall clock. */
mwl_clock host_clock(void);

/* Pump the VM until the run is done or aborted. SIGINT and SIGTERM cancel the run; the second one
 * aborts it. MWL_OK, or E_IO with a message when the loop cannot be made. */
mwl_status host_drive(mwl_vm *vm, mwl_run *run, bool virtual_time);

#endif
