/* order.h: the byte order of this machine, and numbers in that of files, which is little-endian. */
#ifndef MWL_ORDER_H
#define MWL_ORDER_H

#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define MWL__BIG_ENDIAN 1
#else
#define MWL__BIG_ENDIAN 0
#endif

static inline uint32_t mwl__turned_32(uint32_t x) {
    return x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
}

/* From this machine's order to that of files, and back. */
static inline uint32_t mwl__little_32(uint32_t x) {
    return MWL__BIG_ENDIAN ? mwl__turned_32(x) : x;
}

/* Reads a number of a file; p need not be aligned. */
static inline uint32_t mwl__load_32(const void *p) {
    uint32_t x;
    memcpy(&x, p, sizeof x);
    return mwl__little_32(x);
}

#endif
