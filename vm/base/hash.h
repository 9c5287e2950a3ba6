/* hash.h: the hash that every table of the project uses, and the secret behind it.
 *
 * Owns: SipHash-1-3 under a secret. Refuses to know: tables (table.h) and values.
 *
 * Whoever sends data, a definition or a program chooses the keys of our tables. With a hash that
 * they can compute they choose keys that share one place, and a table becomes a list. So the hash
 * depends on a secret that they do not have. SipHash was made for this: no way is known to find
 * texts that share a hash without its key, and it is what Rust and Python use in their tables. XXH3
 * with a secret of its own is three times as fast on long texts, but promises nothing of the kind:
 * with its fixed secret, keys that collide under most seeds can be written down.
 *
 * A hash of this file never leaves the process: not in a program file, not in a Result. The hash
 * that strings carry and that program files store (mwl__str_hash) has no secret and is not for
 * tables, with one exception that guards itself: map.c. */
#ifndef MWL_HASH_H
#define MWL_HASH_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* The secret of this process, never 0: made by the system's generator on the first call. Any
 * thread. Where the system has no generator, or it fails, the clock, the process's number and
 * addresses take its place: a sender of data does not know them, but might guess. */
extern _Atomic uint64_t mwl__hash_secret_known; /* 0: not made yet */
uint64_t mwl__hash_secret_make(void);
static inline uint64_t mwl__hash_secret(void) {
    uint64_t known = atomic_load_explicit(&mwl__hash_secret_known, memory_order_relaxed);
    return known ? known : mwl__hash_secret_make();
}

/* The hash of bytes. All 64 bits are as good as random to whoever does not know the secret. Those
 * 64 bits of secret are enough: a guess can only be tried against a running process, by the clock.
 */
uint64_t mwl__hash(uint64_t secret, const void *data, size_t len);
/* The same for one word with a small number (below 2^56) beside it: the hash of these 15 bytes. */
uint64_t mwl__hash_word(uint64_t secret, uint64_t word, uint64_t tag);

/* Under the secret of the process: bytes, for tables that belong to no VM. */
static inline uint64_t mwl__hash_key(const void *data, size_t len) {
    return mwl__hash(mwl__hash_secret(), data, len);
}

/* For addresses: quick, and enough because no sender chooses them. With a random odd factor two of
 * them share one of 2^n places with a probability of at most 2 in 2^n (multiply and shift). */
static inline uint64_t mwl__hash_address(const void *address) {
    uint64_t h = (uint64_t)(uintptr_t)address * (mwl__hash_secret() | 1);
    return h >> 32 | h << 32;
}

#endif
