/* sha256.h: SHA-256 (FIPS 180-4), piece by piece: for keys of requests and of rows. */
#ifndef MWL_IO_SHA256_H
#define MWL_IO_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { MWL__SHA256_BYTES = 32, MWL__SHA256_BLOCK = 64 };

typedef struct mwl__sha256 {
    uint32_t h[8];
    uint8_t block[MWL__SHA256_BLOCK];
    size_t n;
    uint64_t bits;
} mwl__sha256;

void mwl__sha256_begin(mwl__sha256 *s);
void mwl__sha256_add(mwl__sha256 *s, const void *data, size_t len);
void mwl__sha256_end(mwl__sha256 *s, uint8_t out[MWL__SHA256_BYTES]);
/* Writes n bytes as 2 * n digits, with a NUL. */
void mwl__sha256_hex(const uint8_t *bytes, size_t n, char *out);

#endif
