/* random.c: see random.h. splitmix64: one word of state, the same numbers on every platform. */
#include "vm/base/random.h"

#define STEP 0x9e3779b97f4a7c15u

uint64_t mwl__random(uint64_t *state) {
    uint64_t z = *state += STEP;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

uint64_t mwl__random_nth(uint64_t seed, uint64_t n) {
    uint64_t state = seed + (n - 1) * STEP;
    return mwl__random(&state);
}
