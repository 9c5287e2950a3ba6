/* The keyed hash: it is SipHash-1-3, it depends on its secret, and the process has one secret. */
#include "vm/base/hash.h"
#include "utest.h"

#include <pthread.h>
#include <string.h>

/* CPython 3.11 hashes bytes with SipHash-1-3; with PYTHONHASHSEED=0 its key is all zero, and so is
 * ours with the secret 0. The bytes are 0, 1, 2 ... */
UTEST(hash, is_siphash_1_3) {
    static const struct {
        size_t len;
        uint64_t hash;
    } known[] = {
        {1, 0x68a914128e01e473u},  {2, 0x010bac45c41e3669u},  {3, 0x4d4c9a4a8ef6e0adu},
        {4, 0x7cc43f98813e4dbdu},  {5, 0x5abe2169dff36275u},  {6, 0xe3c25f87624f1cdbu},
        {7, 0x2f098ab0c751325au},  {8, 0xead411e67ebe2eeau},  {9, 0x75927f9d95124362u},
        {15, 0xf30eb725bb91c9eau}, {16, 0x8972188433a5c5b7u}, {17, 0x4883c49a2c009c1du},
        {31, 0x169739443111d49bu}, {64, 0x75e05fd5bbc870c6u},
    };
    unsigned char bytes[65];
    for (unsigned i = 0; i < sizeof bytes; i++) bytes[i] = (unsigned char)i;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        EXPECT_TRUE(mwl__hash(0, bytes, known[i].len) == known[i].hash);
    /* Where the bytes lie does not matter. */
    memmove(bytes + 1, bytes, 64);
    EXPECT_TRUE(mwl__hash(0, bytes + 1, 64) == 0x75e05fd5bbc870c6u);
}

UTEST(hash, of_a_word_is_that_of_its_bytes) {
    unsigned char bytes[15] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    EXPECT_TRUE(mwl__hash(77, bytes, 15) == mwl__hash_word(77, 0x0807060504030201u, 0x0a09u));
}

UTEST(hash, of_nothing_depends_on_the_secret) {
    EXPECT_TRUE(mwl__hash(1, NULL, 0) != mwl__hash(2, NULL, 0));
    EXPECT_TRUE(mwl__hash(1, "a", 1) != mwl__hash(2, "a", 1));
    EXPECT_TRUE(mwl__hash_word(1, 5, 0) != mwl__hash_word(2, 5, 0));
    EXPECT_TRUE(mwl__hash_word(1, 5, 0) != mwl__hash_word(1, 5, 1));
}

/* Each bit of the input changes each bit of the hash about every second time. */
UTEST(hash, every_bit_counts) {
    enum { ROUNDS = 400, BYTES = 12 };
    unsigned changed[BYTES * 8][64] = {{0}};
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned char text[BYTES];
        uint64_t part[2] = {mwl__hash_word(3, round, 1), mwl__hash_word(3, round, 2)};
        memcpy(text, part, BYTES);
        uint64_t plain = mwl__hash(9, text, BYTES);
        for (unsigned bit = 0; bit < BYTES * 8; bit++) {
            text[bit / 8] ^= (unsigned char)(1u << bit % 8);
            uint64_t other = plain ^ mwl__hash(9, text, BYTES);
            text[bit / 8] ^= (unsigned char)(1u << bit % 8);
            for (unsigned i = 0; i < 64; i++) changed[bit][i] += (unsigned)(other >> i & 1);
        }
    }
    for (unsigned bit = 0; bit < BYTES * 8; bit++)
        for (unsigned i = 0; i < 64; i++) /* seven standard deviations */
            ASSERT_TRUE(changed[bit][i] > 130 && changed[bit][i] < 270);
}

/* ---- the secret ------------------------------------------------------------------------------ */

static void *ask(void *out) {
    *(uint64_t *)out = mwl__hash_secret();
    return NULL;
}

UTEST(hash, one_secret_for_all_threads) {
    enum { THREADS = 8 };
    pthread_t thread[THREADS];
    uint64_t got[THREADS] = {0};
    for (int i = 0; i < THREADS; i++) ASSERT_EQ(pthread_create(&thread[i], NULL, ask, &got[i]), 0);
    for (int i = 0; i < THREADS; i++) ASSERT_EQ(pthread_join(thread[i], NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        EXPECT_TRUE(got[i] != 0);
        EXPECT_TRUE(got[i] == mwl__hash_secret());
    }
    EXPECT_TRUE(mwl__hash_secret_make() == mwl__hash_secret()); /* made again, it stays */
    EXPECT_TRUE(mwl__hash_key("a", 1) == mwl__hash(mwl__hash_secret(), "a", 1));
}

UTEST_MAIN()
