/* clock.h: time, as the VM reads it: the host's clock, or virtual time that only the pump moves.
 *
 * Monotonic readings (mono) order events and bounds, wall readings are what people see. Both are
 * nanoseconds. */
#ifndef MWL_CLOCK_H
#define MWL_CLOCK_H

#include "vm/machine/state.h"

/* Reads the clock into vm->now. */
static inline void mwl__clock_read(mwl_vm *vm) {
    if (!vm->config.virtual_time) vm->config.clock.read(vm->config.clock.ctx, &vm->now);
}
int64_t mwl__clock_mono(mwl_vm *vm); /* a new reading */
int64_t mwl__clock_wall(mwl_vm *vm); /* a new reading */
/* a + b. A sum that is too large becomes the last instant before MWL_NEVER, one that is too small
 * the first instant. */
int64_t mwl__clock_add(int64_t a_ns, int64_t b_ns);
mwl__clock_pin mwl__clock_pin_wall(void *vm); /* mwl__exec.wall: what wallTime() reads */

#endif
