/* Native stacks: what a wait in the middle of a C function costs. Case names as in the peers'
 * coroutine programs. */
#include "bench.h"
#include "coro.h"

static void ends_at_once(mwl__coro *co, void *user) {
    (void)co;
    ++*(unsigned long *)user;
}

static void yields_for_ever(mwl__coro *co, void *user) {
    for (bool *stop = user; !*stop;) mwl__coro_yield(co);
}

static void pool_setup(struct bench *b) {
    mwl__coro_pool *pool = NULL;
    BENCH_CHECK(b, mwl__coro_pool_new(&b->alloc, 0, 16, &pool) == MWL_OK);
    b->state = pool;
}
static void pool_teardown(struct bench *b) { mwl__coro_pool_free(b->state); }

static void create_join(struct bench *b, unsigned long n) {
    unsigned long ended = 0;
    for (unsigned long i = 0; i < n; i++) {
        mwl__coro *co = NULL;
        if (mwl__coro_new(b->state, ends_at_once, &ended, &co) != MWL_OK) break;
        mwl__coro_resume(co);
        mwl__coro_free(co);
    }
    BENCH_CHECK(b, ended == n);
}

/* One operation is one switch: a resume and a yield are two. */
static void switches(struct bench *b, unsigned long n) {
    bool stop = false;
    mwl__coro *co = NULL;
    BENCH_CHECK(b, mwl__coro_new(b->state, yields_for_ever, &stop, &co) == MWL_OK);
    if (b->failed) return;
    for (unsigned long i = 0; i < n; i++) mwl__coro_resume(co);
    stop = true;
    BENCH_CHECK(b, mwl__coro_resume(co) == MWL__CORO_DONE);
    mwl__coro_free(co);
}

const struct bench_case bench_coro_cases[] = {
    {"coro", "create_join", pool_setup, create_join, pool_teardown, 0},
    {"coro", "switch", pool_setup, switches, pool_teardown, 2},
    {NULL, NULL, NULL, NULL, NULL, 0},
};
