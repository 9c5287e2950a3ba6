/* clock.c: see clock.h. */
#include "vm/machine/clock.h"

#include <time.h>

static void read_system(void *ctx, mwl_instant *out) {
    (void)ctx;
    struct timespec mono, wall;
    clock_gettime(CLOCK_MONOTONIC, &mono);
    clock_gettime(CLOCK_REALTIME, &wall);
    out->mono_ns = (int64_t)mono.tv_sec * 1000000000 + mono.tv_nsec;
    out->wall_ns = (int64_t)wall.tv_sec * 1000000000 + wall.tv_nsec;
}

mwl_clock mwl_clock_system(void) {
    mwl_clock c = {read_system, NULL};
    return c;
}

void mwl_vm_now(mwl_vm *vm, mwl_instant *out) {
    mwl__clock_read(vm);
    *out = vm->now;
}

int64_t mwl__clock_add(int64_t a_ns, int64_t b_ns) {
    int64_t sum;
    if (!__builtin_add_overflow(a_ns, b_ns, &sum)) return sum;
    return b_ns > 0 ? MWL__CLOCK_LAST : INT64_MIN;
}

mwl__clock_pin mwl__clock_pin_wall(void *vm) {
    mwl__clock_read(vm);
    int64_t ns = ((mwl_vm *)vm)->now.wall_ns, sec = ns / 1000000000;
    if (ns % 1000000000 < 0) sec--;
    mwl__clock_pin pin = {sec, (uint32_t)(ns - sec * 1000000000)};
    return pin;
}
