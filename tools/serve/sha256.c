/* sha256.c: see sha256.h.
 *
 * It is here, and not in a library, because a server without it would have no tokens. libcrypto is
 * loaded by stdlib/io only when a Flow asks for a hash, and need not be there; libmicrohttpd may be
 * built without GnuTLS. Either would be one more library that `mwlvm serve` refuses to start
 * without, for a few hashes of short texts. tests/serve/api.py compares with Python's. */
#include "sha256.h"

#include <stdio.h>
#include <string.h>

enum { BLOCK = 64 };

struct state {
    uint32_t h[8];
    uint8_t block[BLOCK];
    size_t n;
    uint64_t bits;
};

static uint32_t turn(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void mix(struct state *s) {
    static const uint32_t k[64] = {
        0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
        0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
        0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
        0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
        0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
        0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
        0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
        0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
        0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
        0xc67178f2};
    uint32_t w[64], v[8];
    for (size_t i = 0; i < 16; i++)
        w[i] = (uint32_t)s->block[4 * i] << 24 | (uint32_t)s->block[4 * i + 1] << 16 |
               (uint32_t)s->block[4 * i + 2] << 8 | s->block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t b = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + a + w[i - 7] + b;
    }
    memcpy(v, s->h, sizeof v);
    for (int i = 0; i < 64; i++) {
        uint32_t e = turn(v[4], 6) ^ turn(v[4], 11) ^ turn(v[4], 25);
        uint32_t one = v[7] + e + ((v[4] & v[5]) ^ (~v[4] & v[6])) + k[i] + w[i];
        uint32_t a = turn(v[0], 2) ^ turn(v[0], 13) ^ turn(v[0], 22);
        uint32_t two = a + ((v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]));
        memmove(v + 1, v, 7 * sizeof *v);
        v[4] += one;
        v[0] = one + two;
    }
    for (int i = 0; i < 8; i++) s->h[i] += v[i];
    s->n = 0;
}

static void begin(struct state *s) {
    static const uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                  0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memset(s, 0, sizeof *s);
    memcpy(s->h, h, sizeof h);
}

static void add(struct state *s, const void *data, size_t len) {
    const uint8_t *at = data;
    s->bits += 8 * (uint64_t)len;
    for (; len; len--) {
        s->block[s->n++] = *at++;
        if (s->n == BLOCK) mix(s);
    }
}

static void end(struct state *s, uint8_t out[SHA256_BYTES]) {
    uint64_t bits = s->bits;
    uint8_t size[8];
    add(s, "\x80", 1);
    while (s->n != BLOCK - 8) add(s, "", 1);
    for (int i = 0; i < 8; i++) size[i] = (uint8_t)(bits >> (56 - 8 * i));
    add(s, size, sizeof size);
    for (int i = 0; i < SHA256_BYTES; i++) out[i] = (uint8_t)(s->h[i / 4] >> (24 - 8 * (i % 4)));
}

void sha256(const void *data, size_t len, uint8_t out[SHA256_BYTES]) {
    struct state s;
    begin(&s);
    add(&s, data, len);
    end(&s, out);
}

void sha256_hmac(const void *key, size_t key_len, const void *data, size_t len,
                 uint8_t out[SHA256_BYTES]) {
    uint8_t inner[BLOCK] = {0}, outer[BLOCK], middle[SHA256_BYTES];
    struct state s;
    if (key_len > BLOCK)
        sha256(key, key_len, inner);
    else
        memcpy(inner, key, key_len);
    for (int i = 0; i < BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    begin(&s);
    add(&s, inner, BLOCK);
    add(&s, data, len);
    end(&s, middle);
    begin(&s);
    add(&s, outer, BLOCK);
    add(&s, middle, sizeof middle);
    end(&s, out);
}

void sha256_hex(const uint8_t bytes[SHA256_BYTES], char out[SHA256_HEX]) {
    for (size_t i = 0; i < SHA256_BYTES; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

bool sha256_same(const char *a, const char *b, size_t len) {
    unsigned different = 0;
    for (size_t i = 0; i < len; i++) different |= (unsigned)(a[i] ^ b[i]);
    return different == 0;
}
