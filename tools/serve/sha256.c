/* sha256.c: see sha256.h. The hash itself is that of stdlib/io.
 *
 * It is ours, and not of a library, because a server without it would have no tokens. libcrypto is
 * loaded by stdlib/io only when a Flow asks for a hash, and need not be there; libmicrohttpd may be
 * built without GnuTLS. Either would be one more library that `mwlvm serve` refuses to start
 * without, for a few hashes of short texts. tests/serve/api.py compares with Python's. */
#include "tools/serve/sha256.h"

#include "stdlib/io/sha256.h"

#include <stdio.h>
#include <string.h>

void sha256(const void *data, size_t len, uint8_t out[SHA256_BYTES]) {
    mwl__sha256 s;
    mwl__sha256_begin(&s);
    mwl__sha256_add(&s, data, len);
    mwl__sha256_end(&s, out);
}

void sha256_hmac(const void *key, size_t key_len, const void *data, size_t len,
                 uint8_t out[SHA256_BYTES]) {
    uint8_t inner[MWL__SHA256_BLOCK] = {0}, outer[MWL__SHA256_BLOCK], middle[SHA256_BYTES];
    mwl__sha256 s;
    if (key_len > MWL__SHA256_BLOCK)
        sha256(key, key_len, inner);
    else
        memcpy(inner, key, key_len);
    for (int i = 0; i < MWL__SHA256_BLOCK; i++) {
        outer[i] = inner[i] ^ 0x5c;
        inner[i] ^= 0x36;
    }
    mwl__sha256_begin(&s);
    mwl__sha256_add(&s, inner, MWL__SHA256_BLOCK);
    mwl__sha256_add(&s, data, len);
    mwl__sha256_end(&s, middle);
    mwl__sha256_begin(&s);
    mwl__sha256_add(&s, outer, MWL__SHA256_BLOCK);
    mwl__sha256_add(&s, middle, sizeof middle);
    mwl__sha256_end(&s, out);
}

void sha256_hex(const uint8_t bytes[SHA256_BYTES], char out[SHA256_HEX]) {
    for (size_t i = 0; i < SHA256_BYTES; i++) snprintf(out + 2 * i, 3, "%02x", bytes[i]);
}

bool sha256_same(const char *a, const char *b, size_t len) {
    unsigned different = 0;
    for (size_t i = 0; i < len; i++) different |= (unsigned)(a[i] ^ b[i]);
    return different == 0;
}
