/* clock.h: time, as the VM reads it: the host's clock, or virtual time that only the pump moves.
 *
 * Monotonic readings (mono) order events and bounds, wall readings are what people see. Both are
 * nanoseconds. */
#ifndef MWL_CLOCK_H
#define MWL_CLOCK_H

#include "vm/machine/state.h"

/* Reads the clock into vm->now. */
static inline void mwl__clock_read(mwl_vm *vm) {
    if (vm->config.virtual_time) return;
    vm->config.clock.read(vm->config.clock.ctx, &vm->now);
    vm->stale = false;
    vm->n_reads++;
}
/* Time goes on outside: the next who asks reads the clock. Called between two turns, and after a
 * callback of the host. */
static inline void mwl__clock_stale(mwl_vm *vm) { vm->stale = true; }
/* A new reading, where a bound may have elapsed meanwhile. */
static inline int64_t mwl__clock_new(mwl_vm *vm) {
    mwl__clock_read(vm);
    return vm->now.mono_ns;
}
/* The time of this turn. Outside of a pump it is read each time. */
static inline int64_t mwl__clock_mono(mwl_vm *vm) {
    if (vm->stale || !vm->pumping) mwl__clock_read(vm);
    return vm->now.mono_ns;
}
static inline int64_t mwl__clock_wall(mwl_vm *vm) {
    (void)mwl__clock_mono(vm);
    return vm->now.wall_ns;
}
/* The last instant, which stands for everything beyond the range of the clock: it never comes, also
 * not under virtual time. */
#define MWL__CLOCK_LAST (MWL_NEVER - 1)
/* a + b. A sum that is too large becomes the last instant, one that is too small the first one. */
int64_t mwl__clock_add(int64_t a_ns, int64_t b_ns);
mwl__clock_pin mwl__clock_pin_wall(void *vm); /* mwl__exec.wall: what wallTime() reads */

#endif
