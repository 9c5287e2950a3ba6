/* hash.c: see hash.h. SipHash is by J.-P. Aumasson and D. J. Bernstein, "SipHash: a fast
 * short-input PRF", 2012; 1-3 is one round for each word and three at the end. */
#include "vm/base/hash.h"

#include <stdbool.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#if defined(__APPLE__)
#include <sys/random.h>
#endif

/* ---- the secret ------------------------------------------------------------------------------ */

#ifdef _WIN32
/* RtlGenRandom, by the name that advapi32 exports. */
unsigned char __stdcall SystemFunction036(void *bytes, unsigned long size);
static bool entropy(uint64_t *out) { return SystemFunction036(out, sizeof *out) != 0; }
#else
static bool entropy(uint64_t *out) { return getentropy(out, sizeof *out) == 0; }
#endif

static uint64_t guessable(void) {
    struct timespec t = {0, 0};
    (void)clock_gettime(CLOCK_REALTIME, &t);
    uint64_t parts[] = {(uint64_t)t.tv_sec, (uint64_t)t.tv_nsec, (uint64_t)getpid(),
                        (uint64_t)(uintptr_t)&t, (uint64_t)(uintptr_t)&mwl__hash_secret_make};
    return mwl__hash((uint64_t)(uintptr_t)&parts, parts, sizeof parts);
}

uint64_t mwl__hash_fresh(void) {
    uint64_t fresh = 0;
    if (!entropy(&fresh)) fresh = guessable();
    return fresh ? fresh : 1;
}

_Atomic uint64_t mwl__hash_secret_known;

uint64_t mwl__hash_secret_make(void) {
    uint64_t fresh = mwl__hash_fresh(), known = 0;
    /* If several threads come at the same time, the first one decides; the others get its secret in
     * `known`. */
    return atomic_compare_exchange_strong(&mwl__hash_secret_known, &known, fresh) ? fresh : known;
}

/* ---- SipHash-1-3 ----------------------------------------------------------------------------- */

typedef struct sip {
    uint64_t a, b, c, d;
} sip;

static inline uint64_t rotated(uint64_t x, unsigned n) { return x << n | x >> (64 - n); }

static inline void mix(sip *s) {
    s->a += s->b;
    s->c += s->d;
    s->b = rotated(s->b, 13) ^ s->a;
    s->d = rotated(s->d, 16) ^ s->c;
    s->a = rotated(s->a, 32);
    s->c += s->b;
    s->a += s->d;
    s->b = rotated(s->b, 17) ^ s->c;
    s->d = rotated(s->d, 21) ^ s->a;
    s->c = rotated(s->c, 32);
}

/* The second half of the key is the first half times an odd factor. */
static inline sip begin(uint64_t secret) {
    uint64_t other = secret * 0x9E3779B97F4A7C15u;
    return (sip){secret ^ 0x736f6d6570736575u, other ^ 0x646f72616e646f6du,
                 secret ^ 0x6c7967656e657261u, other ^ 0x7465646279746573u};
}

static inline void take(sip *s, uint64_t word) {
    s->d ^= word;
    mix(s);
    s->a ^= word;
}

static inline uint64_t end(sip *s) {
    s->c ^= 0xff;
    mix(s);
    mix(s);
    mix(s);
    return s->a ^ s->b ^ s->c ^ s->d;
}

static inline uint64_t load_64(const unsigned char *p) {
    uint64_t x;
    memcpy(&x, p, sizeof x);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap64(x);
#endif
    return x;
}

static inline uint64_t load_32(const unsigned char *p) {
    uint32_t x;
    memcpy(&x, p, sizeof x);
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    x = __builtin_bswap32(x);
#endif
    return x;
}

/* The n bytes at p, at most 7, the first one lowest. Reads that overlap read the same byte into the
 * same place. */
static inline uint64_t load_rest(const unsigned char *p, size_t n) {
    if (n >= 4) return load_32(p) | load_32(p + n - 4) << 8 * (n - 4);
    if (n == 0) return 0;
    return p[0] | (uint64_t)p[n / 2] << 8 * (n / 2) | (uint64_t)p[n - 1] << 8 * (n - 1);
}

uint64_t mwl__hash(uint64_t secret, const void *data, size_t len) {
    sip s = begin(secret);
    const unsigned char *p = data;
    for (size_t words = len / 8; words > 0; words--, p += 8) take(&s, load_64(p));
    take(&s, load_rest(p, len & 7) | (uint64_t)len << 56);
    return end(&s);
}

uint64_t mwl__hash_word(uint64_t secret, uint64_t word, uint64_t tag) {
    sip s = begin(secret);
    take(&s, word);
    take(&s, tag | (uint64_t)15 << 56);
    return end(&s);
}
