/* test_backoff.c: the waits of Retry: schedule, cap, the four jitter modes, clamping. */
#include "utest.h"

#include "stdlib/backoff.h"

#include <math.h>
#include <string.h>

#define S 1e9

static uint64_t rng_state = 42;
static double chance(void) {
    rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(rng_state >> 11) * 0x1p-53;
}

UTEST(backoff, none_grows_by_rate_up_to_max) {
    mwl__backoff b = {30 * S, 2, 90 * S, MWL__JITTER_NONE};
    EXPECT_EQ(mwl__backoff_wait(&b, 1, -1, 0), INT64_C(30000000000));
    EXPECT_EQ(mwl__backoff_wait(&b, 2, -1, 0), INT64_C(60000000000));
    EXPECT_EQ(mwl__backoff_wait(&b, 3, -1, 0), INT64_C(90000000000));
    EXPECT_EQ(mwl__backoff_wait(&b, 4, -1, 0), INT64_C(90000000000));
    b.rate = 1; /* the default: the same wait each time */
    EXPECT_EQ(mwl__backoff_wait(&b, 1000000, -1, 0), INT64_C(30000000000));
    b.max_ns = 10 * S; /* the cap counts for the first wait too */
    EXPECT_EQ(mwl__backoff_wait(&b, 1, -1, 0), INT64_C(10000000000));
}

UTEST(backoff, overflow_clamps) {
    mwl__backoff b = {1, 10, (double)INFINITY, MWL__JITTER_NONE};
    EXPECT_EQ(mwl__backoff_wait(&b, 1e9, -1, 0), INT64_MAX);
    b.initial_ns = 0; /* 0 * infinity is not a number, and means no wait */
    EXPECT_EQ(mwl__backoff_wait(&b, 1e9, -1, 0), 0);
    b = (mwl__backoff){0x1p63, 1, (double)INFINITY, MWL__JITTER_DECORRELATED};
    EXPECT_EQ(mwl__backoff_wait(&b, 1, 0x1p63, 0.999), INT64_MAX);
}

UTEST(backoff, full_is_between_0_and_d) {
    mwl__backoff b = {8 * S, 2, 100 * S, MWL__JITTER_FULL};
    EXPECT_EQ(mwl__backoff_wait(&b, 3, -1, 0), 0);
    EXPECT_EQ(mwl__backoff_wait(&b, 3, -1, 0.5), INT64_C(16000000000));
    for (int i = 0; i < 10000; i++) {
        int64_t w = mwl__backoff_wait(&b, 3, -1, chance());
        ASSERT_TRUE(w >= 0 && w <= INT64_C(32000000000));
    }
}

UTEST(backoff, equal_is_between_half_and_d) {
    mwl__backoff b = {8 * S, 2, 100 * S, MWL__JITTER_EQUAL};
    EXPECT_EQ(mwl__backoff_wait(&b, 2, -1, 0), INT64_C(8000000000));
    EXPECT_EQ(mwl__backoff_wait(&b, 2, -1, 0.5), INT64_C(12000000000));
    for (int i = 0; i < 10000; i++) {
        int64_t w = mwl__backoff_wait(&b, 2, -1, chance());
        ASSERT_TRUE(w >= INT64_C(8000000000) && w <= INT64_C(16000000000));
    }
}

UTEST(backoff, decorrelated_follows_the_last_wait) {
    mwl__backoff b = {1 * S, 1, 20 * S, MWL__JITTER_DECORRELATED};
    EXPECT_EQ(mwl__backoff_wait(&b, 1, -1, 0), INT64_C(1000000000));
    EXPECT_EQ(mwl__backoff_wait(&b, 1, -1, 0.5), INT64_C(2000000000));      /* U[1, 3] */
    EXPECT_EQ(mwl__backoff_wait(&b, 2, 2 * S, 0.5), INT64_C(3500000000));   /* U[1, 6] */
    EXPECT_EQ(mwl__backoff_wait(&b, 9, 20 * S, 0.9), INT64_C(20000000000)); /* capped */
    double last = -1;
    for (int i = 0; i < 10000; i++) {
        int64_t w = mwl__backoff_wait(&b, i + 1, last, chance());
        double high = fmin(20 * S, 3 * (last < 0 ? S : last));
        ASSERT_TRUE(w >= INT64_C(1000000000) && (double)w <= high);
        last = (double)w;
    }
    b.max_ns = S / 2; /* a cap below `initial` */
    EXPECT_EQ(mwl__backoff_wait(&b, 1, -1, 0.5), INT64_C(500000000));
    EXPECT_EQ(mwl__backoff_wait(&b, 2, S / 2 / 4, 0.5), INT64_C(500000000));
}

UTEST(backoff, durations_for_waiting) {
    mwl_heap *h;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    static const struct {
        const char *text;
        bool ok;
        int64_t ns;
    } rows[] = {{"PT1.5S", true, 1500000000},
                {"PT0S", true, 0},
                {"-PT5S", true, 0},
                {"P999999Y", true, INT64_MAX},
                {"-P999999Y", true, 0},
                {"5s", false, 0},
                {"", false, 0}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl_value v = mwl_string(h, rows[i].text, strlen(rows[i].text));
        int64_t ns = -1;
        EXPECT_EQ(mwl__backoff_duration(v, &ns), rows[i].ok);
        if (rows[i].ok) EXPECT_EQ(ns, rows[i].ns);
        mwl_value_drop(h, v);
    }
    int64_t ns;
    EXPECT_FALSE(mwl__backoff_duration(mwl_null(), &ns));
    EXPECT_FALSE(mwl__backoff_duration(mwl_absent(), &ns));
    mwl_heap_free(h);
}

UTEST(backoff, no_random_numbers_wait_longer_than_most) {
    const double caps[] = {(double)INFINITY, 50 * S, 5 * S};
    for (int jitter = MWL__JITTER_NONE; jitter <= MWL__JITTER_DECORRELATED; jitter++)
        for (size_t cap = 0; cap < 3; cap++)
            for (int n = 0; n < 9; n++) {
                const mwl__backoff b = {10 * S, 2, caps[cap], (mwl__jitter)jitter};
                const double most = mwl__backoff_most(&b, n);
                double longest = 0;
                for (int i = 0; i < 1000; i++) {
                    double all = 0, last = -1;
                    for (int k = 1; k <= n; k++) {
                        last = (double)mwl__backoff_wait(&b, k, last, i ? chance() : 1 - 0x1p-53);
                        all += last;
                    }
                    if (all > longest) longest = all;
                }
                ASSERT_TRUE(longest <= most);
                ASSERT_TRUE(longest >= most - 1e-4 * S); /* and some wait as long */
            }
}

UTEST(backoff, most_of_many_waits) {
    mwl__backoff b = {1 * S, 1, (double)INFINITY, MWL__JITTER_NONE};
    EXPECT_TRUE(mwl__backoff_most(&b, 0) == 0);
    EXPECT_TRUE(mwl__backoff_most(&b, 19999) == 19999 * S);
    EXPECT_TRUE(fabs(mwl__backoff_most(&b, 1e12) / (1e12 * S) - 1) < 1e-12);
    b.initial_ns = 0;
    EXPECT_TRUE(mwl__backoff_most(&b, 1e12) == 0);
    b = (mwl__backoff){1 * S, 2, 60 * S, MWL__JITTER_FULL};
    EXPECT_TRUE(fabs(mwl__backoff_most(&b, 1e6) / ((63 + 60 * (1e6 - 6)) * S) - 1) < 1e-12);
    b.max_ns = (double)INFINITY; /* 2 to the power of 34 s is beyond the clock */
    EXPECT_TRUE(isinf(mwl__backoff_most(&b, 100)));
    b = (mwl__backoff){1, 1.000001, (double)INFINITY,
                       MWL__JITTER_NONE}; /* slow: not less than it */
    double all = 0;
    for (int k = 1; k <= 150000; k++) all += (double)mwl__backoff_wait(&b, k, -1, 0);
    EXPECT_TRUE(mwl__backoff_most(&b, 150000) >= all);
}

UTEST(backoff, jitter_names) {
    mwl_heap *h;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    static const char *const names[] = {"none", "full", "equal", "decorrelated"};
    for (size_t i = 0; i < 4; i++) {
        mwl_value v = mwl_string(h, names[i], strlen(names[i]));
        EXPECT_EQ((size_t)mwl__backoff_jitter(v), i);
        mwl_value_drop(h, v);
    }
    EXPECT_EQ((int)mwl__backoff_jitter(mwl_absent()), (int)MWL__JITTER_NONE);
    mwl_heap_free(h);
}

UTEST_MAIN()
