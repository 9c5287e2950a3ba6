/* test_new_runs.c: runs that have not had their first turn: they begin in the order in which they
 * were started, whatever the pump's budget, and whatever a host ends, frees or starts meanwhile. */
#include "utest.h"

#include "tests/unit/run_flow.h"
#include "tests/api/styles.h"

#define URI STYLES_URI("first")
#define CALL_FIRST "{'action':'Call','call':{'provider':'" URI "'},'next':'z'}"
#define CALLS FLOW("'a':" CALL_FIRST ",'z':{'action':'Return'}")
static const char calls_thrice[] =
    FLOW("'a':{'action':'Call','call':{'provider':'" URI "'},'next':'b'},'b':{'action':'Sleep',"
         "'for':'PT1S','next':'c'},'c':" CALL_FIRST ",'z':{'action':'Return'}");

enum { N = 40 };

typedef struct host {
    flow f;
    mwl_run *runs[N];
    double order[2 * N]; /* the inputs of the calls, in their order */
    size_t n_calls;
    void (*inside)(struct host *h, mwl_run *run); /* what the first call does, or NULL */
    mwl_run *own, *begun;
    int n_wrong;
} host;

static void first_start(mwl_call *call, void *user) {
    host *h = user;
    if (h->n_calls < 2 * N) h->order[h->n_calls++] = mwl_as_number(mwl_call_input(call));
    void (*inside)(host *, mwl_run *) = h->inside;
    h->inside = NULL;
    mwl_run *run = h->own;
    if (inside) inside(h, run);
    mwl_call_succeed(call, mwl_value_keep(mwl_call_input(call)));
}

static bool open_host(host *h, const char *definition) {
    static const char document[] = STYLES_DOC("first");
    static const mwl_asm_provider documents[] = {{"first", document, sizeof document - 1}};
    const mwl_call_provider p = {.uri = URI, .document = document, .start = first_start};
    memset(h, 0, sizeof *h);
    if (!flow_vm(&h->f, 1)) return false;
    h->f.documents = documents;
    h->f.n_documents = 1;
    return mwl_vm_provide(h->f.vm, &p, 1, h, NULL) == MWL_OK && flow_load(&h->f, definition);
}

static mwl_run *start_with(host *h, double input) {
    mwl_start start = {.input = mwl_number(input)};
    mwl_run *run = NULL;
    return mwl_run_start(h->f.vm, h->f.program, &start, &run, NULL) == MWL_OK ? run : NULL;
}

static void start_all(host *h) {
    mwl_value inputs[N];
    size_t n_started;
    for (size_t i = 0; i < N; i++) inputs[i] = mwl_number((double)i);
    if (mwl_run_start_many(h->f.vm, h->f.program, NULL, inputs, N, h->runs, &n_started, NULL) < 0)
        h->n_wrong++;
}

/* A unit of fuel at a time, so that each turn is a pump of its own. */
static void pump_in_bits(host *h) {
    while (mwl_vm_pump_within(h->f.vm, MWL_NO_BUDGET, 1) != MWL_NEVER) {
    }
}

static size_t n_listed(const host *h) {
    size_t n = 0;
    for (mwl_run *r = NULL; (r = mwl_vm_runs(h->f.vm, r));) n++;
    return n;
}

/* ---- order ----------------------------------------------------------------------------------- */

UTEST(new_runs, begin_in_their_order) {
    for (int in_bits = 0; in_bits < 2; in_bits++) {
        host h;
        ASSERT_TRUE(open_host(&h, CALLS));
        start_all(&h);
        EXPECT_EQ(n_listed(&h), (size_t)N);
        EXPECT_TRUE(mwl_vm_next_done(h.f.vm) == NULL);
        if (in_bits)
            pump_in_bits(&h);
        else
            mwl_vm_pump(h.f.vm, MWL_NO_BUDGET);
        ASSERT_EQ(h.n_calls, (size_t)N);
        for (size_t i = 0; i < N; i++) {
            EXPECT_EQ(h.order[i], (double)i);
            EXPECT_TRUE(mwl_vm_next_done(h.f.vm) == h.runs[i]);
        }
        EXPECT_TRUE(mwl_vm_next_done(h.f.vm) == NULL);
        EXPECT_EQ(n_listed(&h), (size_t)N);
        for (size_t i = 0; i < N; i++) mwl_run_free(h.runs[i]);
        EXPECT_EQ(h.n_wrong, 0);
        flow_close(&h.f);
    }
}

/* Some wait after their first turn, and go on in that order. */
UTEST(new_runs, wait_and_go_on_in_their_order) {
    host h;
    ASSERT_TRUE(open_host(&h, calls_thrice));
    start_all(&h);
    pump_in_bits(&h);
    ASSERT_EQ(h.n_calls, (size_t)2 * N);
    for (size_t i = 0; i < 2 * (size_t)N; i++) EXPECT_EQ(h.order[i], (double)(i % N));
    for (size_t i = 0; i < N; i++) {
        EXPECT_TRUE(mwl_vm_next_done(h.f.vm) == h.runs[i]);
        mwl_run_free(h.runs[i]);
    }
    flow_close(&h.f);
}

/* ---- ends before the first turn -------------------------------------------------------------- */

typedef enum end { LEFT, CANCELLED, ABORTED, FREED, ENDS } end;

static uint32_t random_below(uint64_t *seed, uint32_t n) {
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*seed >> 33) % n;
}

/* Ends some of the runs that have not ended, at random, and maybe starts a few more. */
static void meddle(host *h, end *ends, size_t *n, uint64_t *seed) {
    uint32_t deeds = random_below(seed, 3);
    while (deeds--) {
        size_t i = random_below(seed, N);
        end how = (end)(random_below(seed, ENDS));
        if (i >= *n && *n < N) {
            h->runs[*n] = start_with(h, (double)*n);
            h->n_wrong += !h->runs[*n];
            ends[(*n)++] = LEFT;
        }
        if (i >= *n || ends[i] != LEFT || mwl_run_get_state(h->runs[i]) >= MWL_RUN_DONE) continue;
        ends[i] = how;
        if (how == CANCELLED) mwl_run_cancel(h->runs[i], "enough");
        if (how == ABORTED) mwl_run_abort(h->runs[i]);
        if (how == FREED) {
            mwl_run_free(h->runs[i]);
            h->runs[i] = NULL;
        }
    }
}

static bool ended_so(const mwl_run *run, size_t i, end how) {
    mwl_run_state state = mwl_run_get_state(run);
    switch (how) {
    case LEFT: return mwl_run_succeeded(run) && mwl_as_number(mwl_run_value(run)) == (double)i;
    case CANCELLED: return state == MWL_RUN_DONE && !mwl_run_succeeded(run);
    case ABORTED: return state == MWL_RUN_ABORTED;
    default: return false;
    }
}

UTEST(new_runs, ended_at_any_moment) {
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        host h;
        end ends[N];
        size_t n = 0, n_left = 0;
        uint64_t random = seed;
        ASSERT_TRUE(open_host(&h, seed % 2 ? CALLS : calls_thrice));
        int64_t due = 0;
        while (n < N || due != MWL_NEVER) {
            meddle(&h, ends, &n, &random);
            due = mwl_vm_pump_within(h.f.vm, MWL_NO_BUDGET, 1 + random_below(&random, 9));
        }
        for (size_t i = 0; i < N; i++) n_left += h.runs[i] != NULL;
        EXPECT_EQ(n_listed(&h), n_left);
        for (mwl_run *r; (r = mwl_vm_next_done(h.f.vm));) {
            size_t i = 0;
            while (i < N && h.runs[i] != r) i++;
            ASSERT_TRUE(i < N && ended_so(r, i, ends[i]));
            ends[i] = ENDS; /* each one once */
            n_left--;
        }
        ASSERT_EQ(n_left, 0u);
        ASSERT_EQ(h.n_wrong, 0);
        for (size_t i = 0; i < N; i++) mwl_run_free(h.runs[i]);
        flow_close(&h.f);
    }
}

/* The VM is freed in the middle of a round. */
UTEST(new_runs, freed_with_their_vm) {
    host h;
    ASSERT_TRUE(open_host(&h, CALLS));
    start_all(&h);
    mwl_vm_pump_within(h.f.vm, MWL_NO_BUDGET, 1);
    (void)start_with(&h, 7);
    EXPECT_EQ(n_listed(&h), (size_t)N + 1);
    flow_close(&h.f);
}

/* ---- inside the first turn ------------------------------------------------------------------- */

static void frees_itself(host *h, mwl_run *run) {
    mwl_run_free(run);
    h->begun = start_with(h, 8);
}

static void frees_all_others(host *h, mwl_run *run) {
    for (size_t i = 0; i < N; i++) {
        if (h->runs[i] == run) continue;
        mwl_run_free(h->runs[i]);
        h->runs[i] = NULL;
    }
    h->begun = start_with(h, 8);
}

static void asks_who_is_over(host *h, mwl_run *run) {
    if (mwl_vm_next_done(h->f.vm)) h->n_wrong++;
    if (n_listed(h) != N || mwl_run_get_state(run) >= MWL_RUN_DONE) h->n_wrong++;
    h->begun = start_with(h, 8);
}

static void expect_begun(int *utest_result, void (*inside)(host *, mwl_run *), bool alone) {
    host h;
    ASSERT_TRUE(open_host(&h, CALLS));
    if (alone)
        h.own = start_with(&h, 1);
    else
        start_all(&h), h.own = h.runs[0];
    h.inside = inside;
    mwl_vm_pump(h.f.vm, MWL_NO_BUDGET);
    ASSERT_TRUE(h.begun && mwl_run_succeeded(h.begun));
    EXPECT_EQ(mwl_as_number(mwl_run_value(h.begun)), 8.0);
    EXPECT_EQ(h.n_wrong, 0);
    mwl_run *last = NULL;
    for (mwl_run *r; (r = mwl_vm_next_done(h.f.vm));) last = r;
    EXPECT_TRUE(last == h.begun);
    flow_close(&h.f);
}

UTEST(new_runs, one_frees_itself_and_starts_another) {
    expect_begun(utest_result, frees_itself, true);
    expect_begun(utest_result, frees_itself, false);
}
UTEST(new_runs, the_first_frees_all_others) { expect_begun(utest_result, frees_all_others, false); }
UTEST(new_runs, one_in_its_first_turn_is_not_over) {
    expect_begun(utest_result, asks_who_is_over, false);
}

/* ---- what waits is not kept waiting ---------------------------------------------------------- */

typedef struct chain {
    mwl_vm *vm;
    mwl_program *program;
    int64_t now_ns;
    unsigned n_begun;
    bool stops;
} chain;

static void read_clock(void *ctx, mwl_instant *out) {
    chain *c = ctx;
    c->now_ns += 1000000;
    out->mono_ns = out->wall_ns = c->now_ns;
}

static void chain_ends(void *ctx, mwl_run *run) {
    chain *c = ctx;
    mwl_start start = {.done = chain_ends, .done_ctx = c};
    mwl_run_free(run);
    if (c->stops || c->n_begun++ > 100000) return;
    if (mwl_run_start(c->vm, c->program, &start, &run, NULL) < 0) c->n_begun = 1u << 30;
}

static void sleeper_ends(void *ctx, mwl_run *run) {
    ((chain *)ctx)->stops = mwl_run_succeeded(run);
    mwl_run_free(run);
}

/* Each run starts the next one when it ends: there is always a new one. */
UTEST(new_runs, a_chain_does_not_keep_a_sleeper_waiting) {
    flow f, sleeps;
    chain c = {.now_ns = 1000000000};
    mwl_config config = mwl_config_default();
    config.clock = (mwl_clock){read_clock, &c};
    ASSERT_TRUE(flow_vm(&f, 1) && flow_load(&f, FLOW("'a':{'action':'Return'}")));
    ASSERT_TRUE(flow_vm(&sleeps, 1) &&
                flow_load(&sleeps, FLOW("'a':{'action':'Sleep','for':'PT0.05S','next':'z'},"
                                        "'z':{'action':'Return'}")));
    ASSERT_EQ((int)mwl_vm_new(&config, &c.vm), (int)MWL_OK);
    c.program = f.program;
    mwl_start start = {.done = sleeper_ends, .done_ctx = &c};
    mwl_run *run;
    ASSERT_EQ((int)mwl_run_start(c.vm, sleeps.program, &start, &run, NULL), (int)MWL_OK);
    start.done = chain_ends;
    ASSERT_EQ((int)mwl_run_start(c.vm, c.program, &start, &run, NULL), (int)MWL_OK);
    EXPECT_TRUE(mwl_vm_pump(c.vm, MWL_NO_BUDGET) == MWL_NEVER);
    EXPECT_TRUE(c.stops);
    EXPECT_TRUE(c.n_begun > 0 && c.n_begun < 1000);
    mwl_vm_free(c.vm);
    flow_close(&f);
    flow_close(&sleeps);
}

/* ---- as bytes -------------------------------------------------------------------------------- */

UTEST(new_runs, saved_before_their_first_turn) {
    host h;
    void *bytes = NULL;
    size_t size = 0;
    ASSERT_TRUE(open_host(&h, calls_thrice));
    start_all(&h);
    mwl_run *run = h.runs[N / 2];
    ASSERT_EQ((int)mwl_run_save(run, &bytes, &size, NULL), (int)MWL_OK);
    for (size_t i = 0; i < N; i++) mwl_run_free(h.runs[i]);
    const mwl_load how = {.program = h.f.program};
    ASSERT_EQ((int)mwl_run_load(h.f.vm, bytes, size, &how, &run, NULL), (int)MWL_OK);
    EXPECT_EQ((int)mwl_run_get_state(run), (int)MWL_RUN_READY);
    mwl_vm_pump(h.f.vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_run_succeeded(run));
    EXPECT_EQ(mwl_as_number(mwl_run_value(run)), (double)(N / 2));
    mwl_bytes_free(h.f.vm, bytes, size);
    mwl_run_free(run);
    flow_close(&h.f);
}

UTEST_MAIN()
