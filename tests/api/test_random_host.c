/* test_random_host.c: a host that does what it may at every moment it may (random_host.h), by a
 * seed. MWL_SOAK=1 does 100,000 rounds; MWL_SEED=N begins with seed N. */
#include "utest.h"

#include "tests/api/random_host.h"

#include <pthread.h>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
static void name_seed(void) {
    fprintf(stderr, "random host, seed %llu: stopped by a sanitizer\n",
            (unsigned long long)rh_failing);
}
#endif

/* ---- another thread, which posts tokens ------------------------------------------------------ */

enum { QUEUE = 64 };
static struct {
    pthread_mutex_t lock;
    pthread_cond_t filled, posted;
    mwl_token *token[QUEUE];
    uint32_t how[QUEUE];
    size_t n;
    bool over, posting;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER,
           .filled = PTHREAD_COND_INITIALIZER,
           .posted = PTHREAD_COND_INITIALIZER};

static void hand_over(mwl_token *take, uint32_t how) {
    pthread_mutex_lock(&queue.lock);
    bool room = queue.n < QUEUE;
    if (room) {
        queue.token[queue.n] = take;
        queue.how[queue.n++] = how;
    }
    pthread_cond_signal(&queue.filled);
    pthread_mutex_unlock(&queue.lock);
    if (room) return;
    (void)rh_post(take, how);
    mwl_token_release(take);
}

static void wait_for_it(void) {
    pthread_mutex_lock(&queue.lock);
    while (queue.n || queue.posting) pthread_cond_wait(&queue.posted, &queue.lock);
    pthread_mutex_unlock(&queue.lock);
}

static void *post_all(void *arg) {
    (void)arg;
    pthread_mutex_lock(&queue.lock);
    for (;;) {
        while (!queue.n && !queue.over) pthread_cond_wait(&queue.filled, &queue.lock);
        if (!queue.n) break;
        mwl_token *token = queue.token[--queue.n];
        uint32_t how = queue.how[queue.n];
        queue.posting = true;
        pthread_mutex_unlock(&queue.lock);
        (void)rh_post(token, how);
        mwl_token_release(token);
        pthread_mutex_lock(&queue.lock);
        queue.posting = false;
        pthread_cond_signal(&queue.posted);
    }
    pthread_mutex_unlock(&queue.lock);
    return NULL;
}

/* ---- rounds ---------------------------------------------------------------------------------- */

UTEST(random_host, everything_at_every_moment) {
    const char *one = getenv("MWL_SEED");
    uint64_t first = one ? strtoull(one, NULL, 10) : 1;
    uint64_t n = getenv("MWL_SOAK") ? 100000 : 1000;
    pthread_t thread;
    rh total;
    static const rh_thread poster = {hand_over, wait_for_it};
#if defined(__SANITIZE_ADDRESS__)
    __sanitizer_set_death_callback(name_seed);
#endif
    memset(&total, 0, sizeof total);
    ASSERT_EQ(pthread_create(&thread, NULL, post_all, NULL), 0);
    for (uint64_t seed = first; seed < first + n; seed++)
        rh_round((rh_source){NULL, 0, seed}, seed % 4 == 0 ? &poster : NULL, &total);
    pthread_mutex_lock(&queue.lock);
    queue.over = true;
    pthread_cond_signal(&queue.filled);
    pthread_mutex_unlock(&queue.lock);
    pthread_join(thread, NULL);
    printf("%llu rounds: %llu runs started, %llu loaded, %llu calls, %llu answered by number, %llu "
           "runs ended by themselves\n",
           (unsigned long long)n, (unsigned long long)total.started,
           (unsigned long long)total.loaded, (unsigned long long)total.called,
           (unsigned long long)total.answered, (unsigned long long)total.ended);
    EXPECT_TRUE(total.loaded > n / 10);
    EXPECT_TRUE(total.answered > n / 100);
    EXPECT_TRUE(total.started > n);
    EXPECT_TRUE(total.called > n);
    EXPECT_TRUE(total.ended > n / 4);
    rh_done();
}

UTEST_MAIN()
