/* random.h: the generator of random numbers, for jitter and ids. Not for secrets. */
#ifndef MWL_RANDOM_H
#define MWL_RANDOM_H

#include <stdint.h>

/* The next number. *state is all it keeps: any seed will do, and equal seeds give equal numbers. */
uint64_t mwl__random(uint64_t *state);
/* The n-th number after a seed, n from 1 on. */
uint64_t mwl__random_nth(uint64_t seed, uint64_t n);
/* A number from 0 to below 1. */
static inline double mwl__random_unit(uint64_t *state) {
    return (double)(mwl__random(state) >> 11) * 0x1p-53;
}

#endif
