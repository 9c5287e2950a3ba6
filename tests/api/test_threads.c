/* test_threads.c: answers from other threads, and VMs on several threads with one program. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#define ASK                                                                                        \
    FLOW("'a':{'action':'Call','call':{'provider':'" STYLES_URI(                                   \
        "ask") "'},'next':'z'},'z':{'action':'Return'}")
#define ASK_ON_A_STACK                                                                             \
    FLOW("'a':{'action':'Call','call':{'provider':'" STYLES_URI(                                   \
        "wait") "'},'next':'z'},'z':{'action':'Return'}")

/* ---- a pool of threads with a queue of jobs, and a loop that sleeps until it is woken -------- */

enum { THREADS = 3, RUNS = 600 };

typedef struct pool {
    pthread_mutex_t lock;
    pthread_cond_t work, woken;
    mwl_token *jobs[RUNS];
    size_t n_jobs;
    bool stop, wake;
    atomic_int accepted, refused, wakes;
    pthread_t threads[THREADS];
} pool;

static void *work(void *arg) {
    pool *p = arg;
    for (;;) {
        pthread_mutex_lock(&p->lock);
        while (!p->n_jobs && !p->stop) pthread_cond_wait(&p->work, &p->lock);
        mwl_token *job = p->n_jobs ? p->jobs[--p->n_jobs] : NULL;
        pthread_mutex_unlock(&p->lock);
        if (!job) return NULL;
        bool wanted = mwl_token_wanted(job);
        mwl_status st =
            wanted ? mwl_token_succeed(job, "{\"n\":[1,2,3]}", 13)
                   : mwl_token_fail(job, "error", "Acme.Unwanted", "nobody waits", NULL, 0);
        atomic_fetch_add(st == MWL_OK ? &p->accepted : &p->refused, 1);
        if (mwl_token_succeed(job, "1", 1) == MWL_OK)
            atomic_fetch_add(&p->accepted, 1000000); /* never twice */
        mwl_token_release(job);
    }
}

static void pool_wake(void *ctx) {
    pool *p = ctx;
    atomic_fetch_add(&p->wakes, 1);
    pthread_mutex_lock(&p->lock);
    p->wake = true;
    pthread_cond_signal(&p->woken);
    pthread_mutex_unlock(&p->lock);
}

static void pool_wait(pool *p) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 20; /* a lost wake-up shows as a failed expectation, not as a test that hangs */
    pthread_mutex_lock(&p->lock);
    while (!p->wake && pthread_cond_timedwait(&p->woken, &p->lock, &limit) == 0) continue;
    p->wake = false;
    pthread_mutex_unlock(&p->lock);
}

static void pool_open(pool *p) {
    memset(p, 0, sizeof *p);
    pthread_mutex_init(&p->lock, NULL);
    pthread_cond_init(&p->work, NULL);
    pthread_cond_init(&p->woken, NULL);
    for (int i = 0; i < THREADS; i++) pthread_create(&p->threads[i], NULL, work, p);
}

static void pool_close(pool *p) {
    pthread_mutex_lock(&p->lock);
    p->stop = true;
    pthread_cond_broadcast(&p->work);
    pthread_mutex_unlock(&p->lock);
    for (int i = 0; i < THREADS; i++) pthread_join(p->threads[i], NULL);
    pthread_mutex_destroy(&p->lock);
    pthread_cond_destroy(&p->work);
    pthread_cond_destroy(&p->woken);
}

static void give_out(mwl_call *call, pool *p) {
    mwl_token *token;
    if (mwl_call_token(call, &token) < 0) return;
    pthread_mutex_lock(&p->lock);
    p->jobs[p->n_jobs++] = token;
    pthread_cond_signal(&p->work);
    pthread_mutex_unlock(&p->lock);
}

static void ask_start(mwl_call *call, void *user) { give_out(call, user); }

static void ask_cancel(mwl_call *call, void *user) { /* any answer of the thread settles it */
    (void)call;
    (void)user;
}

static void wait_blocking(mwl_call *call, void *user) {
    give_out(call, user);
    mwl_value answer;
    if (mwl_await(call, &answer) == MWL_OK) mwl_call_succeed(call, answer);
}

static const mwl_call_provider providers[] = {
    {.uri = STYLES_URI("ask"),
     .document = STYLES_DOC("ask"),
     .start = ask_start,
     .cancel = ask_cancel},
    {.uri = STYLES_URI("wait"), .document = STYLES_DOC("wait"), .blocking = wait_blocking},
};

static bool open_vm(flow *f, pool *p, const char *definition) {
    memset(f, 0, sizeof *f);
    mwl_config c = mwl_config_default();
    c.wake = pool_wake;
    c.wake_ctx = p;
    mwl_asm_provider documents[2];
    for (int i = 0; i < 2; i++)
        documents[i] =
            (mwl_asm_provider){"acme", providers[i].document, strlen(providers[i].document)};
    f->documents = documents;
    f->n_documents = 2;
    return mwl_vm_new(&c, &f->vm) == MWL_OK && mwl_std_add(f->vm, MWL_STD_ALL, NULL) == MWL_OK &&
           mwl_vm_provide(f->vm, providers, 2, p, NULL) == MWL_OK && flow_load(f, definition);
}

/* ---- answers --------------------------------------------------------------------------------- */

static void many_answers(int *utest_result, const char *definition, bool cancelling) {
    pool p;
    flow f;
    pool_open(&p);
    ASSERT_TRUE(open_vm(&f, &p, definition));
    static mwl_run *runs[RUNS];
    for (int i = 0; i < RUNS; i++)
        ASSERT_EQ((int)mwl_run_start(f.vm, f.program, NULL, &runs[i], NULL), (int)MWL_OK);
    int left = RUNS, succeeded = 0;
    for (int i = 0; left && i < 100 * RUNS; i++) {
        int64_t due = mwl_vm_pump(f.vm, 100000);
        if (cancelling && i == 0)
            for (int k = 0; k < RUNS; k += 3) mwl_run_cancel(runs[k], NULL);
        for (int k = 0; k < RUNS; k++) {
            if (!runs[k] || mwl_run_get_state(runs[k]) != MWL_RUN_DONE) continue;
            succeeded += mwl_run_succeeded(runs[k]) && mwl_count(mwl_run_value(runs[k])) == 1;
            mwl_run_free(runs[k]);
            runs[k] = NULL;
            left--;
        }
        if (left && due == MWL_NEVER) pool_wait(&p);
    }
    EXPECT_EQ(left, 0);
    if (!cancelling) EXPECT_EQ(succeeded, RUNS);
    pool_close(&p);
    flow_close(&f);
    EXPECT_LE(atomic_load(&p.accepted), RUNS);
    EXPECT_LE(atomic_load(&p.wakes), atomic_load(&p.accepted));
    if (!cancelling) EXPECT_EQ(atomic_load(&p.accepted), RUNS);
}

UTEST(threads, settle_calls) { many_answers(utest_result, ASK, false); }
UTEST(threads, settle_calls_that_are_cancelled_meanwhile) { many_answers(utest_result, ASK, true); }
UTEST(threads, answer_blocking_calls) { many_answers(utest_result, ASK_ON_A_STACK, false); }
UTEST(threads, answer_blocking_calls_that_are_cancelled_meanwhile) {
    many_answers(utest_result, ASK_ON_A_STACK, true);
}

UTEST(threads, a_vm_may_go_while_they_answer) {
    for (int round = 0; round < 20; round++) {
        pool p;
        flow f;
        pool_open(&p);
        ASSERT_TRUE(open_vm(&f, &p, ASK));
        mwl_run *run;
        for (int i = 0; i < 50; i++)
            ASSERT_EQ((int)mwl_run_start(f.vm, f.program, NULL, &run, NULL), (int)MWL_OK);
        mwl_vm_pump(f.vm, round * 10000);
        f.run = NULL;
        flow_close(&f);
        pool_close(&p);
        EXPECT_LE(atomic_load(&p.accepted) + atomic_load(&p.refused), 50);
    }
}

/* ---- one program, several VMs ---------------------------------------------------------------- */

static void *run_many(void *arg) {
    mwl_program *program = arg;
    flow f;
    size_t good = 0;
    if (!flow_vm(&f, 3)) return NULL;
    for (int i = 0; i < 200; i++) {
        mwl_run *run;
        if (mwl_run_start(f.vm, program, NULL, &run, NULL) < 0) break;
        mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        good += mwl_run_succeeded(run);
        mwl_run_free(run);
    }
    mwl_program_release(program); /* the reference of this thread; the last release frees it */
    flow_close(&f);
    return (void *)(uintptr_t)good;
}

UTEST(threads, share_a_program) {
    flow f;
    memset(&f, 0, sizeof f);
    ASSERT_TRUE(flow_load(
        &f, FLOW("'a':{'action':'Call','middleware':[{'provider':" TIMEOUT
                 ",'onEntry':{'with':{'duration':'PT9S'}}}],'call':{'provider':" MOCK
                 ",'with':{'value':{'list':[1,'two',{'three':3}]},'delay':'PT1S'}},'output':"
                 "'{{ step.result.value.list.map(x, type(x) == string) }}','next':'z'},"
                 "'z':{'action':'Return'}")));
    pthread_t t[2];
    for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, run_many, mwl_program_keep(f.program));
    mwl_program_release(f.program);
    for (int i = 0; i < 2; i++) {
        void *good;
        pthread_join(t[i], &good);
        EXPECT_EQ((size_t)(uintptr_t)good, 200u);
    }
}

UTEST_MAIN()
