/* wide.h: products of two 64-bit numbers, also where the compiler has no type of 128 bits. */
#ifndef MWL_WIDE_H
#define MWL_WIDE_H

#include <stdint.h>

typedef struct mwl__wide {
    uint64_t hi, lo;
} mwl__wide;

#ifdef __SIZEOF_INT128__

__extension__ typedef unsigned __int128 mwl__u128;

static inline mwl__wide mwl__wide_mul(uint64_t a, uint64_t b) {
    mwl__u128 p = (mwl__u128)a * b;
    mwl__wide w = {(uint64_t)(p >> 64), (uint64_t)p};
    return w;
}

/* Returns the quotient, and the remainder in *rest. w.hi must be below d. */
static inline uint64_t mwl__wide_div(mwl__wide w, uint64_t d, uint64_t *rest) {
    mwl__u128 n = (mwl__u128)w.hi << 64 | w.lo;
    *rest = (uint64_t)(n % d);
    return (uint64_t)(n / d);
}

#else

static inline mwl__wide mwl__wide_mul(uint64_t a, uint64_t b) {
    uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    uint64_t low = a0 * b0, mid = a1 * b0 + (low >> 32), other = a0 * b1 + (uint32_t)mid;
    mwl__wide w = {a1 * b1 + (mid >> 32) + (other >> 32), other << 32 | (uint32_t)low};
    return w;
}

static inline uint64_t mwl__wide_div(mwl__wide w, uint64_t d, uint64_t *rest) {
    uint64_t r = w.hi, q = 0;
    for (int i = 63; i >= 0; i--) {
        uint64_t carry = r >> 63;
        r = r << 1 | (w.lo >> i & 1);
        q <<= 1;
        if (carry || r >= d) {
            r -= d;
            q |= 1;
        }
    }
    *rest = r;
    return q;
}

#endif

static inline mwl__wide mwl__wide_add(mwl__wide w, uint64_t x) {
    w.lo += x;
    w.hi += w.lo < x;
    return w;
}

/* Both halves of a product, joined, for hashes. */
static inline uint64_t mwl__wide_fold(uint64_t a, uint64_t b) {
    mwl__wide w = mwl__wide_mul(a, b);
    return w.lo ^ w.hi;
}

#endif
