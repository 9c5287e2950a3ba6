/* sha256.h: SHA-256 (FIPS 180-4) and HMAC (RFC 2104), for tokens and links. */
#ifndef MWL_TOOLS_SERVE_SHA256_H
#define MWL_TOOLS_SERVE_SHA256_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 65 };

void sha256(const void *data, size_t len, uint8_t out[SHA256_BYTES]);
void sha256_hmac(const void *key, size_t key_len, const void *data, size_t len,
                 uint8_t out[SHA256_BYTES]);
void sha256_hex(const uint8_t bytes[SHA256_BYTES], char out[SHA256_HEX]);
/* In the same time, whatever they contain. */
bool sha256_same(const char *a, const char *b, size_t len);

#endif
