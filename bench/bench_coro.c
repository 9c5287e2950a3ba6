/* Waiting. `coro`: the peers' coroutine cases, done by what suspends in a workflow, a run: started
 * and finished; one transfer of control, into it or out of it; the bytes of one that waits for a
 * call. `stack`: native stacks, which only a provider has that waits in the middle of a C function.
 */
#include "vm/native/coro.h"
#include "bench/flow.h"

#include <stdlib.h>
#include <string.h>

/* ---- runs ------------------------------------------------------------------------------------ */

static const char only_returns[] = FLOW_HEAD "\"s0\":{\"action\":\"Return\"}}}";
static const char waits_for_ever[] = FLOW_HEAD
    "\"s0\":{\"action\":\"Call\",\"call\":" FLOW_PROVIDER("later") ",\"middleware\":[{" FLOW_MW(
        "loop") ",\"onSuccess\":{\"when\":true}}],\"next\":\"done\"}," FLOW_DONE;
static const char waits_once[] = FLOW_HEAD
    "\"s0\":{\"action\":\"Call\",\"call\":" FLOW_PROVIDER("later") ",\"next\":\"done\"}," FLOW_DONE;

static void open_run(struct bench *b, const char *definition) {
    struct flow *f = calloc(1, sizeof *f);
    b->state = f;
    BENCH_CHECK(b, f != NULL);
    if (!b->failed) flow_open(b, f, definition, "null", FLOW_STANDING);
}

static void open_returns(struct bench *b) {
    open_run(b, only_returns);
    if (!b->failed) flow_check(b, b->state, "{\"type\":\"success\",\"value\":null}");
}

static void open_loop(struct bench *b) { open_run(b, waits_for_ever); }
static void open_once(struct bench *b) { open_run(b, waits_once); }

static void close_run(struct bench *b) {
    if (b->state) flow_close(b->state);
    free(b->state);
}

static void start_and_finish(struct bench *b, unsigned long n) {
    struct flow *f = b->state;
    for (unsigned long i = 0; i < n; i++) {
        mwl_run *run = flow_start(f, f->input);
        (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
        BENCH_KEEP(mwl_run_get_state(run));
        mwl_run_free(run);
    }
}

/* One operation is one switch: an answer is sent, and the next call begins. */
static void answer(struct bench *b, unsigned long n) {
    struct flow *f = b->state;
    mwl_run *run = flow_start(f, f->input);
    (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    for (unsigned long i = 0; i < n; i++) {
        mwl_call *call = f->held;
        f->held = NULL;
        if (!call) break;
        mwl_call_succeed(call, mwl_null());
        (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    }
    BENCH_CHECK(b, f->held != NULL && mwl_run_get_state(run) == MWL_RUN_PARKED);
    mwl_run_free(run);
    f->held = NULL;
}

static void park_many(struct bench *b) {
    struct flow *f = b->state;
    unsigned long n = b->options->check ? 100 : b->options->count ? b->options->count : 100000;
    long long live = bench_live(b);
    double resident = bench_resident();
    for (unsigned long i = 0; i < n; i++) {
        BENCH_CHECK(b, flow_start(f, f->input) != NULL);
        (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    }
    const struct bench_extra extra[] = {{"rss", (bench_resident() - resident) / (double)n},
                                        {NULL, 0}};
    bench_report(b, NULL, "bytes", (double)(bench_live(b) - live) / (double)n, n, extra);
}

/* ---- native stacks --------------------------------------------------------------------------- */

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

/* Each stack takes three mappings, and a process may have 65,530. */
static void park_stacks(struct bench *b) {
    enum { MANY = 10000 };
    static mwl__coro *parked[MANY];
    unsigned long n = b->options->check ? 100 : MANY;
    bool stop = false;
    memset(parked, 0, sizeof parked);
    double resident = bench_resident();
    for (unsigned long i = 0; i < n && !b->failed; i++) {
        BENCH_CHECK(b, mwl__coro_new(b->state, yields_for_ever, &stop, &parked[i]) == MWL_OK);
        if (parked[i]) mwl__coro_resume(parked[i]);
    }
    bench_report(b, NULL, "bytes", (bench_resident() - resident) / (double)n, n, NULL);
    stop = true;
    for (unsigned long i = 0; i < n && parked[i]; i++) {
        mwl__coro_resume(parked[i]);
        mwl__coro_free(parked[i]);
    }
}

const struct bench_case bench_coro_cases[] = {
    {"coro", "create_join", open_returns, start_and_finish, close_run, 0, 0, NULL},
    {"coro", "switch", open_loop, answer, close_run, 2, 0, NULL},
    {"coro", "bytes_parked", open_once, NULL, close_run, 0, BENCH_ALONE, park_many},
    {"stack", "create_join", pool_setup, create_join, pool_teardown, 0, 0, NULL},
    {"stack", "switch", pool_setup, switches, pool_teardown, 2, 0, NULL},
    {"stack", "bytes_parked", pool_setup, NULL, pool_teardown, 0, BENCH_ALONE, park_stacks},
    {0},
};
