/* Native stacks: switching, nesting, reuse, no freeing under a suspended function, the guard. */
#include "vm/native/coro.h"
#include "vm/base/mem.h"
#include "utest.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void count_to_three(mwl__coro *co, void *user) {
    int *n = user;
    for (int i = 0; i < 3; i++) {
        ++*n;
        mwl__coro_yield(co);
    }
    *n += 100;
}

struct coro {
    mwl__coro_pool *pool;
};
UTEST_F_SETUP(coro) {
    mwl_alloc a = mwl_alloc_default();
    ASSERT_EQ(MWL_OK, mwl__coro_pool_new(&a, 0, 4, &utest_fixture->pool));
}
UTEST_F_TEARDOWN(coro) { ASSERT_EQ(MWL_OK, mwl__coro_pool_free(utest_fixture->pool)); }

UTEST_F(coro, yields_and_ends) {
    int n = 0;
    mwl__coro *co = NULL;
    ASSERT_EQ(MWL_OK, mwl__coro_new(utest_fixture->pool, count_to_three, &n, &co));
    EXPECT_EQ(0, n);
    for (int i = 1; i <= 3; i++) {
        EXPECT_EQ(MWL__CORO_SUSPENDED, mwl__coro_resume(co));
        EXPECT_EQ(i, n);
    }
    EXPECT_EQ(MWL__CORO_DONE, mwl__coro_resume(co));
    EXPECT_EQ(103, n);
    EXPECT_EQ(MWL_OK, mwl__coro_free(co));
}

UTEST_F(coro, a_suspended_stack_is_not_freed) {
    int n = 0;
    mwl__coro *co = NULL;
    ASSERT_EQ(MWL_OK, mwl__coro_new(utest_fixture->pool, count_to_three, &n, &co));
    mwl__coro_resume(co);
    EXPECT_EQ(MWL_E_STATE, mwl__coro_free(co));
    EXPECT_EQ(MWL_E_STATE, mwl__coro_pool_free(utest_fixture->pool));
    while (mwl__coro_resume(co) != MWL__CORO_DONE) {
    }
    EXPECT_EQ(MWL_OK, mwl__coro_free(co));
}

UTEST_F(coro, one_that_never_ran_can_be_freed) {
    int n = 0;
    mwl__coro *co = NULL;
    ASSERT_EQ(MWL_OK, mwl__coro_new(utest_fixture->pool, count_to_three, &n, &co));
    EXPECT_EQ(MWL_OK, mwl__coro_free(co));
    EXPECT_EQ(MWL_OK, mwl__coro_free(NULL));
    EXPECT_EQ(0, n);
}

/* Registers and locals survive many switches between many stacks. */
static void sum_up(mwl__coro *co, void *user) {
    unsigned *at = user, total = 0, local[64];
    for (unsigned i = 0; i < 64; i++) local[i] = i * *at;
    for (unsigned i = 0; i < 64; i++) {
        total += local[i];
        mwl__coro_yield(co);
    }
    *at = total;
}

UTEST_F(coro, many_interleave) {
    enum { N = 50 };
    mwl__coro *co[N];
    unsigned value[N];
    for (int round = 0; round < 3; round++) { /* later rounds run on reused stacks */
        for (unsigned i = 0; i < N; i++) {
            value[i] = i + 1;
            ASSERT_EQ(MWL_OK, mwl__coro_new(utest_fixture->pool, sum_up, &value[i], &co[i]));
        }
        for (int step = 0; step <= 64; step++)
            for (int i = 0; i < N; i++)
                EXPECT_EQ(step < 64 ? MWL__CORO_SUSPENDED : MWL__CORO_DONE,
                          mwl__coro_resume(co[i]));
        for (unsigned i = 0; i < N; i++) {
            EXPECT_EQ((i + 1) * (63u * 64u / 2u), value[i]);
            EXPECT_EQ(MWL_OK, mwl__coro_free(co[i]));
        }
    }
}

struct nest {
    mwl__coro_pool *pool;
    int depth, deepest;
};
static void nest_one(mwl__coro *co, void *user) {
    struct nest *nest = user;
    mwl__coro *inner = NULL;
    if (++nest->depth > nest->deepest) nest->deepest = nest->depth;
    if (nest->depth < 10 && mwl__coro_new(nest->pool, nest_one, nest, &inner) == MWL_OK) {
        while (mwl__coro_resume(inner) != MWL__CORO_DONE) mwl__coro_yield(co);
        mwl__coro_free(inner);
    } else {
        mwl__coro_yield(co); /* the whole chain suspends and resumes */
    }
    nest->depth--;
}

UTEST_F(coro, coroutines_nest) {
    struct nest nest = {utest_fixture->pool, 0, 0};
    mwl__coro *co = NULL;
    ASSERT_EQ(MWL_OK, mwl__coro_new(utest_fixture->pool, nest_one, &nest, &co));
    EXPECT_EQ(MWL__CORO_SUSPENDED, mwl__coro_resume(co));
    EXPECT_EQ(10, nest.depth);
    EXPECT_EQ(MWL__CORO_DONE, mwl__coro_resume(co));
    EXPECT_EQ(0, nest.depth);
    EXPECT_EQ(10, nest.deepest);
    EXPECT_EQ(MWL_OK, mwl__coro_free(co));
}

/* An allocator that succeeds `left` times, and counts what is not freed yet. */
struct meter {
    int left;
    size_t out;
};
static void *metered(void *ctx, void *p, size_t old_size, size_t new_size) {
    struct meter *m = ctx;
    if (new_size && m->left-- <= 0) return NULL;
    m->out += new_size - old_size;
    if (new_size) return realloc(p, new_size);
    free(p);
    return NULL;
}

UTEST(coro_memory, a_failed_allocation_is_a_status) {
    int granted = 0;
    for (bool through = false; !through; granted++) {
        ASSERT_LT(granted, 10);
        struct meter meter = {granted, 0};
        mwl_alloc a = {metered, &meter};
        mwl__coro_pool *pool = NULL;
        mwl__coro *co = NULL;
        int n = 0;
        mwl_status status = mwl__coro_pool_new(&a, 1, 0, &pool);
        if (status == MWL_OK) status = mwl__coro_new(pool, count_to_three, &n, &co);
        through = status == MWL_OK;
        if (!through) {
            EXPECT_EQ(MWL_E_NOMEM, status);
        }
        EXPECT_EQ(MWL_OK, mwl__coro_free(co));
        EXPECT_EQ(MWL_OK, mwl__coro_pool_free(pool));
        EXPECT_EQ(0u, meter.out);
    }
}

UTEST(coro_memory, a_stack_too_large_is_refused) {
    mwl_alloc a = mwl_alloc_default();
    mwl__coro_pool *pool = NULL;
    EXPECT_EQ(MWL_E_TOO_BIG, mwl__coro_pool_new(&a, SIZE_MAX / 2, 0, &pool));
    ASSERT_EQ(MWL_OK, mwl__coro_pool_new(&a, SIZE_MAX / 4, 0, &pool));
    enum { MOST = 8 }; /* with 32 bits the system may give some of them */
    mwl__coro *co[MOST];
    mwl_status status = MWL_OK;
    size_t n = 0;
    while (n < MOST && (status = mwl__coro_new(pool, count_to_three, NULL, &co[n])) == MWL_OK) n++;
    EXPECT_EQ(MWL_E_NOMEM, status);
    while (n) mwl__coro_free(co[--n]);
    EXPECT_EQ(MWL_OK, mwl__coro_pool_free(pool));
}

/* Touches its own stack downward, 2 KB at a time, far beyond its end. */
static unsigned dig_deeper(unsigned depth) {
    volatile unsigned char frame[2048];
    frame[0] = (unsigned char)depth;
    return depth == 0 ? 0 : dig_deeper(depth - 1) + frame[0];
}
static void dig(mwl__coro *co, void *user) {
    (void)co;
    *(unsigned *)user = dig_deeper(100000);
}

UTEST(coro_guard, an_overflow_faults_at_once) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    UTEST_SKIP("the sanitizer reports the fault itself");
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    UTEST_SKIP("the sanitizer reports the fault itself");
#endif
#endif
    fflush(stdout);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        mwl_alloc a = mwl_alloc_default();
        mwl__coro_pool *pool = NULL;
        mwl__coro *co = NULL;
        unsigned answer = 0;
        stack_t alternate = {.ss_sp = malloc(1 << 16), .ss_size = 1 << 16};
        sigaltstack(&alternate, NULL);
        if (mwl__coro_pool_new(&a, 0, 0, &pool) != MWL_OK) _exit(1);
        if (mwl__coro_new(pool, dig, &answer, &co) != MWL_OK) _exit(1);
        mwl__coro_resume(co);
        _exit(0);
    }
    int status = 0;
    ASSERT_EQ(child, waitpid(child, &status, 0));
    ASSERT_TRUE(WIFSIGNALED(status));
    EXPECT_TRUE(WTERMSIG(status) == SIGSEGV || WTERMSIG(status) == SIGBUS);
}

UTEST(coro_name, is_one_of_two) {
    const char *name = mwl__coro_backend();
    EXPECT_TRUE(strcmp(name, "minicoro") == 0 || strcmp(name, "ucontext") == 0);
}

UTEST_MAIN()
