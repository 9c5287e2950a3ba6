/* test_driver.c: what the driver does with one worker and a store in memory, step by step: when
 * memory runs out, and when it is asked to give its runs back. tests/sim has the fleet. */
#include "utest.h"

#include "mwl_durable.h"
#include "tests/unit/run_flow.h"
#include "tests/durable/store_memory.h"

#include <stdio.h>

#define S INT64_C(1000000000)
#define EFFECT "mwl:provider.call/test/effect/v1"
#define DOCUMENT                                                                                                           \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" EFFECT                                         \
    "\",\"codePrefix\":\"Test\",\"description\":\"d\",\"parameters\":{\"type\":\"object\",\"additionalProperties\":true}," \
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}"
#define CALL(next) "{'action':'Call','call':{'provider':'" EFFECT "'},'next':'" next "'}"
enum { CALLS = 64, TURNS = 200 };

/* A store in memory with one worker, whose lease does not end. */
typedef struct place {
    mwl_store base; /* what the driver sees */
    mwl_store_memory *memory;
    mwl_store *real;
    mwl_vm *vm;
    mwl_durable *driver;
    int64_t time;
    unsigned
        full; /* runs and messages that are shown until there is no memory for one; 0: always */
    unsigned hungry; /* allocations of the VM until one fails; 0: none does */
    unsigned failed; /* how often that was so */
    unsigned cut;    /* how often a program cannot be read */
    mwl_call *calls[CALLS];
    size_t n_calls, n_ended, started;
    bool (*refuses)(const struct place *p, const mwl_store_change *c); /* or NULL: none */
    uint64_t bad;     /* runs whose changes are refused, bits by seq; see refuse_some */
    unsigned trouble; /* each so manieth commit fails for another reason; 0: none does */
    unsigned n_commits, n_stuck;
    int64_t guilty; /* the run whose load ends the process; 0: none */
    bool fell;      /* that was so */
    bool once;      /* the provider is never asked twice */
    bool stale;     /* the next poll shows messages that are taken then, and runs out of memory */
} place;

/* ---- the store ------------------------------------------------------------------------------- */

typedef struct sink {
    place *p;
    const mwl_store_polled *real;
} sink;

static bool is_full(place *p) {
    bool full = p->full && --p->full == 0;
    p->failed += full;
    return full;
}
static bool see_run(void *ctx, const mwl_store_claimed *run) {
    const sink *s = ctx;
    if (s->p->guilty && run->seq == s->p->guilty) s->p->fell = true;
    return !is_full(s->p) && s->real->run(s->real->ctx, run);
}
static bool see_message(void *ctx, const mwl_store_message *m) {
    const sink *s = ctx;
    return !is_full(s->p) && s->real->message(s->real->ctx, m);
}
static mwl_status on_poll(mwl_store *base, const mwl_store_poll *ask, const mwl_store_polled *to,
                          int64_t *next) {
    place *p = (place *)base;
    sink s = {p, to};
    const mwl_store_polled mine = {&s, see_run, see_message};
    for (int64_t seq = 0; p->stale && seq < 4; seq++) {
        const mwl_store_message m = {
            .n = 1, .seq = seq, .kind = MWL_STORE_CANCEL, .name = "", .body = {"\"x\"", 3}};
        if (!to->message(to->ctx, &m)) return MWL_E_NOMEM;
    }
    if (p->stale) {
        p->stale = false;
        return MWL_E_NOMEM;
    }
    return p->real->ops->poll(p->real, ask, &mine, next);
}
static mwl_status on_commit(mwl_store *base, const mwl_store_change *c, size_t n, bool *kept) {
    place *p = (place *)base;
    p->n_commits++;
    if (p->trouble && p->n_commits % p->trouble == 0)
        return p->n_commits % 2 ? MWL_E_IO : MWL_E_NOMEM;
    for (size_t i = 0; p->refuses && i < n; i++)
        if (p->refuses(p, &c[i])) return MWL_E_REFUSED;
    return p->real->ops->commit(p->real, c, n, kept);
}
static mwl_status
on_program(mwl_store *base, const uint8_t *id,
           void (*see)(void *ctx, const char *name, const void *image, size_t size), void *ctx) {
    place *p = (place *)base;
    if (p->cut) return p->cut-- % 2 ? MWL_E_IO : MWL_E_NOMEM;
    return p->real->ops->get_program(p->real, id, see, ctx);
}
static const char *on_why(const mwl_store *base) {
    return mwl_store_why(((const place *)base)->real);
}
static const mwl_store_ops ops = {
    .poll = on_poll, .commit = on_commit, .get_program = on_program, .why = on_why};

/* ---- the worker ------------------------------------------------------------------------------ */

static int64_t lease_ns = 1000000 * S;
static int64_t store_time(void *ctx) { return ((const place *)ctx)->time; }
static void read_clock(void *ctx, mwl_instant *out) {
    out->mono_ns = ((const place *)ctx)->time;
    out->wall_ns = 1000000 * S + out->mono_ns;
}
static void *allocate(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    place *p = ctx;
    const mwl_alloc normal = mwl_alloc_default();
    if (new_size && p->hungry && --p->hungry == 0) {
        p->failed++;
        return NULL;
    }
    return normal.fn(normal.ctx, ptr, old_size, new_size);
}
static void on_loaded(void *ctx, mwl_run *run) {
    (void)run;
    ((place *)ctx)->hungry = 0;
}
static void on_ended(void *ctx, const mwl_durable_ended *run) {
    ((place *)ctx)->n_ended += run->state == MWL_STORE_DONE;
    ((place *)ctx)->n_stuck += run->state == MWL_STORE_STUCK;
}
static void start_effect(mwl_call *call, void *user) {
    place *p = user;
    p->started++;
    if (p->n_calls < CALLS) p->calls[p->n_calls++] = call;
}

/* Whether workers outside take the calls. */
static bool remote;

static bool make_worker(place *p) {
    static const char *const uris[] = {EFFECT, NULL};
    const mwl_call_provider provider = {.uri = EFFECT,
                                        .document = DOCUMENT,
                                        .start = start_effect,
                                        .flags = p->once ? MWL_CALL_ONCE : 0};
    const mwl_durable_options options = {
        .loaded = on_loaded, .ended = on_ended, .ctx = p, .remote = remote ? uris : NULL};
    mwl_config config = mwl_config_default();
    config.hold = true;
    config.clock = (mwl_clock){read_clock, p};
    config.alloc = (mwl_alloc){allocate, p};
    return mwl_store_memory_open(p->memory, &p->real) == MWL_OK &&
           p->real->ops->join(p->real, "test") == MWL_OK && mwl_vm_new(&config, &p->vm) == MWL_OK &&
           mwl_std_add(p->vm, MWL_STD_ALL, NULL) == MWL_OK &&
           mwl_vm_provide(p->vm, &provider, 1, p, NULL) == MWL_OK &&
           mwl_durable_new(p->vm, &options, &p->driver) == MWL_OK;
}

static void end_worker(place *p) {
    mwl_durable_free(p->driver);
    mwl_vm_free(p->vm);
    mwl_store_close(p->real);
    p->n_calls = 0;
}

/* So many runs of the Flow are accepted: a, b, c. */
static bool open_place_of(place *p, const char *definition, bool once, int n) {
    const mwl_asm_document library[] = {{EFFECT, DOCUMENT, true}, {NULL, NULL, false}};
    const mwl_asm_options options = {.library = library};
    char *text = flow_quoted(definition);
    mwl_asm_result out;
    uint8_t id[16];
    mwl_program *program = NULL;
    memset(p, 0, sizeof *p);
    p->base.ops = &ops;
    p->once = once;
    p->time = S;
    bool good =
        mwl_store_memory_new(store_time, p, lease_ns, &p->memory) == MWL_OK && make_worker(p) &&
        mwl_assemble(text, strlen(text), &options, &out) == MWL_OK &&
        mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &program, NULL) == MWL_OK;
    free(text);
    if (!good) return false;
    mwl_program_id(program, id);
    good = p->real->ops->put_program(p->real, id, "f", out.image, out.image_size, 1) == MWL_OK;
    for (int i = 0; i < n; i++) {
        const char name[] = {(char)('a' + i % 26), (char)(i < 26 ? 0 : 'a' + i / 26), '\0'};
        const mwl_store_start start = {name, id, "f", {"{}", 2}, 1};
        good = good && p->real->ops->start(p->real, &start) == MWL_OK;
    }
    mwl_program_release(program);
    mwl_asm_free(&out);
    return good;
}

static bool open_place(place *p, const char *definition, bool once) {
    return open_place_of(p, definition, once, 2);
}

static void close_place(place *p) {
    end_worker(p);
    mwl_store_memory_free(p->memory);
}

static void turn(place *p) {
    p->time += S / 20;
    while (mwl_vm_pump(p->vm, 0) == 0 || mwl_durable_collect(p->driver) == 0) continue;
    mwl_durable_work *work = mwl_durable_take(p->driver, true);
    if (!work) return;
    mwl_status status;
    do status = mwl_durable_work_do(work, &p->base);
    while (status == MWL_E_NOMEM || status == MWL_E_IO);
    (void)mwl_durable_done(p->driver, work);
}

static void settle(place *p) {
    while (p->n_calls) mwl_call_succeed(p->calls[--p->n_calls], mwl_null());
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* The store thinks that the worker has the runs, and the worker lives: so it must not forget one.
 */
UTEST(driver, a_run_that_there_was_no_memory_for_is_not_forgotten) {
    unsigned copied = 0, loaded = 0;
    for (unsigned at = 1; at < 20; at++) {
        place p;
        ASSERT_TRUE(open_place(&p, FLOW("'a':" CALL("z") ",'z':{'action':'Return'}"), false));
        if (at < 5)
            p.full = at; /* while it is copied */
        else
            p.hungry = at - 4; /* while it is loaded */
        for (int i = 0; i < TURNS && p.n_ended < 2; i++) {
            turn(&p);
            settle(&p);
        }
        ASSERT_EQ(p.n_ended, (size_t)2);
        *(at < 5 ? &copied : &loaded) += p.failed;
        close_place(&p);
    }
    ASSERT_TRUE(copied > 0 && loaded > 0);
}

/* A poll that runs out of memory is repeated. Until then another worker may have had the run, and
 * taken its messages. */
UTEST(driver, a_message_from_before_a_run_was_claimed_is_not_delivered) {
    place p;
    ASSERT_TRUE(open_place(&p, FLOW("'a':" CALL("z") ",'z':{'action':'Return'}"), false));
    p.stale = true;
    for (int i = 0; i < TURNS && p.n_ended < 2; i++) {
        turn(&p);
        settle(&p);
    }
    ASSERT_FALSE(p.stale);
    ASSERT_EQ(p.n_ended, (size_t)2);
    close_place(&p);
}

/* The connection is lost between the claim and the program: that says nothing about the run. */
UTEST(driver, a_run_is_not_stuck_because_its_program_could_not_be_read_at_once) {
    place p;
    ASSERT_TRUE(open_place(&p, FLOW("'a':" CALL("z") ",'z':{'action':'Return'}"), false));
    p.cut = 4;
    for (int i = 0; i < TURNS && p.n_ended < 2; i++) {
        turn(&p);
        settle(&p);
    }
    ASSERT_EQ(p.cut, 0u);
    ASSERT_EQ(p.n_ended, (size_t)2);
    close_place(&p);
}

/* ---- a worker that is to end ----------------------------------------------------------------- */

#define TWO FLOW("'a':" CALL("b") ",'b':" CALL("z") ",'z':{'action':'Return'}")

static void turns(place *p, bool settles) {
    for (int i = 0; i < TURNS; i++) {
        turn(p);
        if (settles) settle(p);
    }
}

/* What is at work may finish. What follows is for the next worker. */
UTEST(driver, a_worker_that_is_to_end_starts_no_call) {
    place p;
    ASSERT_TRUE(open_place(&p, TWO, false));
    turns(&p, false);
    ASSERT_EQ(p.started, (size_t)2); /* the first call of each run is at work */
    mwl_durable_drain(p.driver);
    turns(&p, false);
    ASSERT_EQ(mwl_durable_runs(p.driver), (size_t)2); /* it is waited for */
    turns(&p, true);
    ASSERT_EQ(mwl_durable_runs(p.driver), (size_t)0);
    ASSERT_EQ(p.started, (size_t)2);
    end_worker(&p);
    ASSERT_TRUE(make_worker(&p));
    turns(&p, true);
    ASSERT_EQ(p.started, (size_t)4);
    ASSERT_EQ(p.n_ended, (size_t)2);
    close_place(&p);
}

/* The calls were on their way to the store when it was asked to end. */
UTEST(driver, a_worker_that_is_to_end_gives_calls_back_that_have_not_started) {
    for (int at = 0; at < 4; at++) {
        place p;
        ASSERT_TRUE(open_place(&p, TWO, false));
        for (int i = 0; i < at && !p.started; i++) turn(&p);
        (void)mwl_vm_pump(p.vm, 0);
        size_t started = p.started; /* by what was released before */
        mwl_durable_drain(p.driver);
        turns(&p, true);
        ASSERT_EQ(p.started, started);
        ASSERT_EQ(mwl_durable_runs(p.driver), (size_t)0);
        end_worker(&p);
        ASSERT_TRUE(make_worker(&p));
        turns(&p, true);
        ASSERT_EQ(p.n_ended, (size_t)2);
        ASSERT_EQ(p.started, (size_t)4); /* none of them twice */
        close_place(&p);
    }
}

/* The next worker could not know that they have not started: they would fail there. */
UTEST(driver, calls_that_are_made_once_are_made_before_the_end) {
    place p;
    ASSERT_TRUE(open_place(&p, TWO, true));
    turns(&p, false);
    mwl_durable_drain(p.driver);
    turns(&p, true);
    ASSERT_EQ(p.started, (size_t)4);
    ASSERT_EQ(p.n_ended, (size_t)2);
    close_place(&p);
}

/* ---- what a store refuses -------------------------------------------------------------------- */

enum { RUNS = 64 };

/* All but the end of a run that is stuck. */
static bool refuse_some(const place *p, const mwl_store_change *c) {
    bool stuck = c->kind == MWL_STORE_END && c->state == MWL_STORE_STUCK;
    return !stuck && p->bad >> (c->seq % RUNS) & 1;
}
static bool refuse_all(const place *p, const mwl_store_change *c) {
    (void)p, (void)c;
    return true;
}
/* Only what comes second: the calls of the first snapshot are released. */
static bool refuse_ends(const place *p, const mwl_store_change *c) {
    return c->kind == MWL_STORE_END && refuse_some(p, c);
}

struct found {
    uint64_t stuck, done, open;
};
static bool see_state(void *ctx, const mwl_store_row *row) {
    struct found *f = ctx;
    uint64_t bit = UINT64_C(1) << (row->seq % RUNS);
    if (row->state == MWL_STORE_STUCK)
        f->stuck |= bit;
    else if (row->state == MWL_STORE_DONE)
        f->done |= bit;
    else
        f->open |= bit;
    return true;
}

/* Any subset is refused: exactly these runs are stuck, each once, and the others are done. */
UTEST(driver, a_change_that_the_store_refuses_makes_its_run_stuck_and_no_other) {
    uint64_t dice = 88172645463325252u;
    for (int round = 0; round < 12; round++) {
        place p;
        struct found f = {0, 0, 0};
        const mwl_store_query all = {.limit = 0};
        ASSERT_TRUE(
            open_place_of(&p, FLOW("'a':" CALL("z") ",'z':{'action':'Return'}"), false, RUNS));
        dice ^= dice << 13, dice ^= dice >> 7, dice ^= dice << 17;
        p.refuses = round % 2 ? refuse_ends : refuse_some;
        p.bad = round == 0 ? 1 : round == 1 ? UINT64_MAX : round < 4 ? dice & dice << 3 : dice;
        p.trouble = round > 6 ? 3 : 0;
        for (int i = 0; i < TURNS && p.n_ended + p.n_stuck < RUNS; i++) {
            turn(&p);
            settle(&p);
        }
        ASSERT_EQ(p.real->ops->list(p.real, &all, see_state, &f), MWL_OK);
        EXPECT_EQ(f.stuck, p.bad);
        EXPECT_EQ(f.done, ~p.bad);
        EXPECT_EQ(p.n_ended + p.n_stuck, (unsigned)RUNS);
        if (p.refuses == refuse_some) /* a call that is not in a snapshot is not made */
            EXPECT_EQ(p.started, (size_t)__builtin_popcountll(~p.bad));
        if (round == 0) EXPECT_LT(p.n_commits, 40u); /* the change is found by halving */
        close_place(&p);
    }
}

/* A store that takes not even that a run is stuck: the worker gives it up, and does not ask again
 * and again. */
UTEST(driver, a_store_that_refuses_everything_is_not_asked_for_ever) {
    place p;
    ASSERT_TRUE(open_place(&p, FLOW("'a':" CALL("z") ",'z':{'action':'Return'}"), false));
    p.refuses = refuse_all;
    for (int i = 0; i < 20; i++) turn(&p);
    EXPECT_LT(p.n_commits, 10u);
    EXPECT_EQ(mwl_durable_runs(p.driver), 0u);
    EXPECT_EQ(p.started, 0u);
    close_place(&p);
}

/* ---- suspects -------------------------------------------------------------------------------- */

/* The process ends, and another one has the store. */
static bool crash(place *p) {
    mwl_store *dead = p->real;
    mwl_durable_free(p->driver);
    mwl_vm_free(p->vm);
    p->n_calls = 0;
    (void)dead; /* forgotten: its lease ends */
    p->time += 2 * lease_ns;
    return make_worker(p);
}

/* One of many sleepers takes the process down as soon as it is loaded, for ever. It is found, and
 * the others are not taken for it: they slept. */
UTEST(driver, a_run_that_takes_the_process_down_is_found_among_those_that_were_there) {
    enum { SLEEPERS = 20, GUILTY = 7 };
    place p;
    struct found f = {0, 0, 0};
    const mwl_store_query all = {.limit = 0};
    unsigned crashes = 0;
    ASSERT_TRUE(open_place_of(
        &p, FLOW("'a':{'action':'Sleep','for':'PT50S','next':'z'},'z':{'action':'Return'}"), false,
        SLEEPERS));
    p.guilty = GUILTY;
    for (int i = 0; i < 4000 && p.n_ended + p.n_stuck < SLEEPERS && crashes < 100; i++) {
        p.fell = false;
        turn(&p);
        if (!p.fell) continue;
        crashes++;
        ASSERT_TRUE(crash(&p));
    }
    ASSERT_EQ(p.real->ops->list(p.real, &all, see_state, &f), MWL_OK);
    EXPECT_EQ(f.stuck, (UINT64_C(1) << GUILTY));
    EXPECT_EQ(__builtin_popcountll(f.done), SLEEPERS - 1);
    EXPECT_EQ(crashes, (unsigned)MWL_STORE_RECOVERIES);
    close_place(&p);
}

/* Two of them in memory would be blamed together. */
UTEST(driver, one_suspect_is_in_memory_at_a_time) {
    enum { SLEEPERS = 4 };
    place p;
    size_t most = 0;
    lease_ns = S;
    ASSERT_TRUE(open_place_of(
        &p, FLOW("'a':{'action':'Sleep','for':'PT50S','next':'z'},'z':{'action':'Return'}"), false,
        SLEEPERS));
    for (int i = 0; i <= MWL_STORE_SUSPECT; i++) {
        turn(&p);
        turn(&p);
        ASSERT_TRUE(crash(&p));
    }
    for (int i = 0; i < 4000 && p.n_ended < SLEEPERS; i++) {
        turn(&p);
        if (p.n_ended == 0 && i < 100 && mwl_durable_runs(p.driver) > most)
            most = mwl_durable_runs(p.driver);
    }
    EXPECT_EQ(most, (size_t)1);
    EXPECT_EQ(p.n_ended, (size_t)SLEEPERS);
    lease_ns = 1000000 * S;
    close_place(&p);
}

/* ---- what is larger as text ------------------------------------------------------------------ */

#define DOUBLE                                                                                     \
    "'a':{'action':'Pass','assign':{'l':'{{ [1] }}','n':'{{ 0 }}'},'next':'b'},"                   \
    "'b':{'action':'Pass','assign':{'l':'{{ [vars.l, vars.l] }}','n':'{{ vars.n + 1.0 }}'},"       \
    "'next':'c'},'c':{'action':'Match','cases':[{'when':'{{ vars.n < 28.0 }}','next':'b'}],"       \
    "'default':{'next':'w'}},"

static bool see_result(void *ctx, const mwl_store_row *row) {
    char *text = ctx;
    snprintf(text, 200, "%s %.*s", mwl_store_state_name(row->state), (int)row->result.len,
             row->result.at ? row->result.at : "");
    return false;
}

/* A list that is in itself twice, 28 times: a few KB, and gigabytes of JSON. */
UTEST(driver, a_text_above_the_memory_of_its_run_ends_the_run_by_its_limit) {
    static const char *const definitions[] = {
        FLOW(DOUBLE "'w':{'action':'Return','value':'{{ vars.l }}'}"),
        FLOW(DOUBLE "'w':{'action':'Call','call':{'provider':'" EFFECT
                    "','with':{'name':'n','l':'{{ vars.l }}'}},'next':'z'},"
                    "'z':{'action':'Return'}"),
        FLOW(DOUBLE "'w':{'action':'Call','call':{'provider':'" EFFECT
                    "','input':'{{ vars.l }}'},'next':'z'},'z':{'action':'Return'}")};
    for (int i = 0; i < 3; i++) {
        place p;
        char text[200] = "";
        const mwl_store_query one = {.id = "a"};
        remote = i > 0;
        ASSERT_TRUE(open_place(&p, definitions[i], false));
        remote = false;
        for (int k = 0; k < 20; k++) turn(&p);
        ASSERT_EQ(p.real->ops->list(p.real, &one, see_result, text), MWL_OK);
        EXPECT_STREQ(text, "failed {\"type\":\"cancellation\",\"code\":\"System.Cancelled\","
                           "\"message\":\"the run used up its memory\","
                           "\"details\":{\"limit\":\"memory\"}}");
        close_place(&p);
    }
}

UTEST_MAIN()
