/* hash.h: the hash that every table of the project uses, and the secret behind it.
 *
 * Owns: SipHash-1-3 under a secret. Refuses to know: tables (table.h) and values.
 *
 * A sender of data, a definition or a program chooses the keys of our tables. If the sender can
 * compute the hash, all keys can be chosen to have the same place, and a table becomes a list. So
 * the hash depends on a secret. SipHash was made for this: no method is known to find texts with
 * equal hashes without its key, and Rust and Python use it in their tables. XXH3 with its own
 * secret is three times as fast on long texts, but does not promise this: with its fixed secret,
 * keys that collide for most seeds can be constructed.
 *
 * A hash of this file never leaves the process: not in a program file, not in a Result. The hash
 * that is stored in strings and program files (mwl__str_hash) has no secret and is not for tables.
 * map.c is the one exception; it has its own protection. */
#ifndef MWL_HASH_H
#define MWL_HASH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The secret of this process, never 0: made by the system's generator on the first call. Any
 * thread. If the system has no generator, or it fails, the secret is made from the clock, the
 * process number and addresses. A sender of data does not know them, but might guess them. */
extern _Atomic uint64_t mwl__hash_secret_known; /* 0: not made yet */
uint64_t mwl__hash_secret_make(void);
static inline uint64_t mwl__hash_secret(void) {
    uint64_t known = atomic_load_explicit(&mwl__hash_secret_known, memory_order_relaxed);
    return known ? known : mwl__hash_secret_make();
}

/* Returns another secret of the same kind at each call, never 0. Any thread. */
uint64_t mwl__hash_fresh(void);

/* Returns the hash of bytes. Without the secret, all 64 bits look random. 64 bits of secret are
 * enough, because a guess can only be tested by measuring the time of a running process. */
uint64_t mwl__hash(uint64_t secret, const void *data, size_t len);
/* The same for one word and a small number (below 2^56): the hash of these 15 bytes. */
uint64_t mwl__hash_word(uint64_t secret, uint64_t word, uint64_t tag);

/* Hashes bytes with the secret of the process, for tables that belong to no VM and for maps, which
 * VMs may share. */
static inline uint64_t mwl__hash_key(const void *data, size_t len) {
    return mwl__hash(mwl__hash_secret(), data, len);
}

/* For addresses: fast, and good enough because no sender chooses them. With a random odd factor,
 * the probability that two of them have the same one of 2^n places is at most 2 in 2^n (multiply
 * and shift). */
static inline uint64_t mwl__hash_address(const void *address) {
    uint64_t h = (uint64_t)(uintptr_t)address * (mwl__hash_secret() | 1);
    return h >> 32 | h << 32;
}

#endif
