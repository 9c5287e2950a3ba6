/* test_snapshot.c: a run as bytes, as a host uses it: save, load, time, calls in flight, hold. */
#include "utest.h"

#include <math.h>

#include "tests/unit/faulty.h"
#include "tests/unit/run_flow.h"
#include "vm/program/image.h"
#include "vm/program/program.h"
#include "vm/snapshot/header.h"

#define S INT64_C(1000000000)
#define URI(name) "mwl:provider.call/test/" name "/v1"
#define DOCUMENT(name)                                                                                \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" URI(                      \
        name) "\",\"codePrefix\":\"Test\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"," \
              "\"properties\":{\"name\":{\"type\":\"string\"}}},"                                     \
              "\"failureCatalog\":{\"closed\":[],\"open\":[\"Provider.Call.Test.*\"]}}"

/* What the providers of the test saw, and a clock that the test moves. */
typedef struct world {
    mwl_call *waits[8];
    unsigned n, started, restored, cancelled;
    char keys[256]; /* of each start: key/attempt */
    mwl_instant now;
    /* if given, `start` tries to load this run and to save its own */
    mwl_vm *vm;
    const void *bytes;
    size_t size;
    mwl_status loaded, saved;
} world;

static void read_clock(void *ctx, mwl_instant *out) { *out = ((const world *)ctx)->now; }

static void note(world *w, mwl_call *c) {
    mwl_value key = mwl_call_key(c);
    const char *text = mwl_as_text(key, NULL); /* NULL: out of memory */
    size_t len = strlen(w->keys);
    snprintf(w->keys + len, sizeof w->keys - len, "%s%s/%u", len ? " " : "", text ? text : "?",
             mwl_call_attempt(c));
    mwl_value_drop(mwl_call_heap(c), key);
}

static void start(mwl_call *c, void *user) {
    world *w = user;
    w->started++;
    note(w, c);
    w->waits[w->n++ % 8] = c;
    if (!w->bytes) return;
    const mwl_load how = {0};
    mwl_run *run;
    void *bytes;
    size_t size;
    w->loaded = mwl_run_load(w->vm, w->bytes, w->size, &how, &run, NULL);
    w->saved = mwl_run_save(mwl_call_run(c), &bytes, &size, NULL);
}
static void restore(mwl_call *c, void *user) {
    world *w = user;
    w->restored++;
    note(w, c);
    w->waits[w->n++ % 8] = c;
}
static void cancel(mwl_call *c, void *user) {
    world *w = user;
    w->cancelled++;
    for (size_t i = 0; i < 8; i++)
        if (w->waits[i] == c) w->waits[i] = NULL;
    mwl_call_succeed(c, mwl_null());
}
static void blocking(mwl_call *c, void *user) {
    world *w = user;
    w->started++;
    note(w, c);
    mwl_value v = mwl_absent();
    if (mwl_sleep(c, S) == MWL_OK && mwl_await(c, &v) == MWL_OK) mwl_call_succeed(c, v);
}

static const mwl_call_provider providers[] = {
    {.uri = URI("plain"), .document = DOCUMENT("plain"), .start = start},
    {.uri = URI("once"), .document = DOCUMENT("once"), .start = start, .flags = MWL_CALL_ONCE},
    {.uri = URI("again"),
     .document = DOCUMENT("again"),
     .start = start,
     .cancel = cancel,
     .restore = restore},
    {.uri = URI("local"), .document = DOCUMENT("local"), .start = start, .flags = MWL_CALL_LOCAL},
    {.uri = URI("blocking"), .document = DOCUMENT("blocking"), .blocking = blocking},
};
enum { N_PROVIDERS = sizeof providers / sizeof *providers };

static mwl_vm *make_vm(world *w, bool hold, const mwl_alloc *alloc) {
    mwl_config c = mwl_config_default();
    mwl_vm *vm = NULL;
    if (alloc) c.alloc = *alloc;
    c.clock = (mwl_clock){read_clock, w};
    c.seed = 7;
    c.hold = hold;
    if (mwl_vm_new(&c, &vm) < 0) return NULL;
    if (mwl_std_add(vm, MWL_STD_ALL, NULL) == MWL_OK &&
        mwl_vm_provide(vm, providers, N_PROVIDERS, w, NULL) == MWL_OK)
        return vm;
    mwl_vm_free(vm);
    return NULL;
}

#define KEEPER_URI "mwl:provider.middleware/test/keeper/v1"
static const char keeper_document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" KEEPER_URI
    "\",\"codePrefix\":\"Keeper\",\"description\":\"d\",\"attachment\":[\"step\"],\"phases\":{"
    "\"onEntry\":{\"action\":{\"kind\":\"control\",\"description\":\"d\"}}},"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";

/* Holds something outside, and finds it again by its state. */
static struct keeper {
    int entered, restored, left;
    char states[64];
} keeper;
static void keeper_entry(mwl_phase *phase, void *user) {
    (void)user;
    mwl_phase_set_state(phase, mwl_number(++keeper.entered));
}
static void keeper_restore(mwl_phase *phase, void *user) {
    (void)user;
    size_t len = strlen(keeper.states);
    keeper.restored++;
    snprintf(keeper.states + len, sizeof keeper.states - len, "%.0f ",
             mwl_as_number(mwl_phase_state(phase)));
    mwl_phase_set_state(phase, mwl_number(mwl_as_number(mwl_phase_state(phase)) + 10));
}
static void keeper_left(mwl_value state, void *user) {
    (void)user, (void)state;
    keeper.left++;
}
static const mwl_middleware keeper_middleware = {.uri = KEEPER_URI,
                                                 .document = keeper_document,
                                                 .entry = keeper_entry,
                                                 .restore = keeper_restore,
                                                 .left = keeper_left};

static mwl_program *assemble(const char *definition) {
    mwl_asm_provider documents[N_PROVIDERS + 1] = {
        [N_PROVIDERS] = {"keeper", keeper_document, sizeof keeper_document - 1}};
    for (size_t i = 0; i < N_PROVIDERS; i++)
        documents[i] =
            (mwl_asm_provider){"a provider", providers[i].document, strlen(providers[i].document)};
    flow f;
    memset(&f, 0, sizeof f);
    f.documents = documents;
    f.n_documents = N_PROVIDERS + 1;
    if (!flow_load(&f, definition)) fprintf(stderr, "%s\n", f.result);
    return f.program;
}

#define CALL_STEP(name)                                                                            \
    "'a':{'action':'Call','call':{'provider':'" URI(name) "'},'next':'z'},'z':{'action':'Return'}"

/* A run of the definition, pumped until it waits. */
static mwl_run *begin(mwl_vm *vm, mwl_program *p, const char *id, const char *input) {
    mwl_start how = {.id = id};
    mwl_run *run = NULL;
    char *text = flow_quoted(input);
    (void)mwl_json_parse(mwl_vm_heap(vm), text, strlen(text), &how.input, NULL);
    free(text);
    if (mwl_run_start(vm, p, &how, &run, NULL) == MWL_OK) mwl_vm_pump(vm, MWL_NO_BUDGET);
    mwl_value_drop(mwl_vm_heap(vm), how.input);
    return run;
}

static const char *result_of(mwl_vm *vm, mwl_run *run) {
    static char out[1024];
    char *text = NULL;
    size_t len = 0;
    snprintf(out, sizeof out, "state %d", (int)mwl_run_get_state(run));
    if (mwl_run_get_state(run) != MWL_RUN_DONE) return out;
    if (mwl_json_write(mwl_vm_heap(vm), mwl_run_result(run), MWL_JSON_COMPACT, &text, &len) ==
        MWL_OK)
        snprintf(out, sizeof out, "%s", text);
    mwl_text_free(mwl_vm_heap(vm), text, len);
    return out;
}

typedef struct bytes {
    void *p;
    size_t size;
} bytes;

static bytes save(mwl_run *run) {
    bytes b = {NULL, 0};
    (void)mwl_run_save(run, &b.p, &b.size, NULL);
    return b;
}

static mwl_run *load(mwl_vm *vm, bytes b, mwl_program *p, unsigned flags) {
    mwl_run *run = NULL;
    mwl_error error = {MWL_OK, "", 0};
    const mwl_load how = {.program = p, .flags = flags};
    if (mwl_run_load(vm, b.p, b.size, &how, &run, &error) < 0)
        fprintf(stderr, "mwl_run_load: %s at %zu\n", error.message, error.offset);
    return run;
}

/* ---- sizes and time -------------------------------------------------------------------------- */

#define SLEEPER FLOW("'a':{'action':'Sleep','for':'PT1H','next':'z'},'z':{'action':'Return'}")

UTEST(snapshot, a_sleeper_is_at_most_200_bytes) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL);
    mwl_program *p = assemble(SLEEPER);
    mwl_run *run = begin(vm, p, NULL, "{'n':1,'s':'granule-0001'}");
    bytes b = save(run);
    EXPECT_LE(b.size, 200u);
    mwl_saved saved;
    EXPECT_EQ((int)mwl_saved_read(b.p, b.size, &saved), (int)MWL_OK);
    EXPECT_EQ(saved.due_wall_ns, (5000 + 3600) * S);
    EXPECT_EQ(saved.n_calls, 0u);
    EXPECT_FALSE(saved.done);
    uint8_t id[16];
    mwl_program_id(p, id);
    EXPECT_EQ(memcmp(id, saved.program, 16), 0);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

#define ORDER                                                                                      \
    "{'order':'2026-000417','customer':{'name':'Ada Lovelace','street':'12 St James Square',"      \
    "'city':'London','mail':'ada@example.org'},'lines':[{'sku':'GR-1001','count':2,'price':19.5}," \
    "{'sku':'GR-1002','count':1,'price':7.25},{'sku':'GR-1003','count':12,'price':0.99}],"         \
    "'note':'Please deliver before noon, or leave it with the neighbour at number 14.','priority':3}"

UTEST(snapshot, a_call_in_retry_in_timeout_is_at_most_700_bytes) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL);
    mwl_program *p = assemble(FLOW_WITH(
        "'parameters':{'type':'object','properties':{'region':{'type':'string','default':'eu-west'},"
        "'tries':{'type':'integer','default':3},'dry':{'type':'boolean','default':false}}},",
        "'a':{'action':'Call','middleware':[{'provider':" TIMEOUT
        ",'onEntry':{'with':{'duration':'PT30S'}}},{'provider':" RETRY
        ",'onEntry':{'with':{'policies':[{'match':{'retryable':true},'attempts':3,'backoff':{'initial':'PT1S'}}]}}}],'call':{'provider':" MOCK
        ",'with':{'delay':'PT5S'}},'next':'z'},'z':{'action':'Return'}"));
    ASSERT_TRUE(p != NULL);
    mwl_run *run = begin(vm, p, "order-2026-000417", ORDER);
    bytes b = save(run);
    EXPECT_GE(strlen(ORDER), 350u);
    EXPECT_LE(b.size, 700u);
    EXPECT_GE(b.size, 350u);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

UTEST(snapshot, time_goes_on_or_stands_still) {
    world w = {.now = {S, 5000 * S}}, later = {.now = {77 * S, 6000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL), *other = make_vm(&later, false, NULL);
    mwl_program *p = assemble(SLEEPER);
    mwl_run *run = begin(vm, p, "r", "null");
    bytes b = save(run);
    mwl_run *went = load(other, b, p, 0);
    EXPECT_EQ(mwl_vm_pump(other, MWL_NO_BUDGET), (77 + 3600 - 1000) * S);
    mwl_run_free(went);
    mwl_run *stood = load(other, b, p, MWL_LOAD_TIME_STOOD);
    EXPECT_EQ(mwl_vm_pump(other, MWL_NO_BUDGET), (77 + 3600) * S);
    mwl_run_free(stood);
    later.now.wall_ns = 4000 * S; /* a clock that went back counts as no time */
    mwl_run *back = load(other, b, p, 0);
    EXPECT_EQ(mwl_vm_pump(other, MWL_NO_BUDGET), (77 + 3600) * S);
    mwl_run_free(back);
    later.now.wall_ns = 50000 * S; /* it is due */
    mwl_run *due = load(other, b, p, 0);
    mwl_vm_pump(other, MWL_NO_BUDGET);
    EXPECT_STREQ(result_of(other, due), "{\"type\":\"success\",\"value\":null}");
    EXPECT_STREQ(mwl_run_id(due), "r");
    mwl_run_free(due);
    mwl_run *copy = load(other, b, p, MWL_LOAD_NEW_ID);
    EXPECT_STRNE(mwl_run_id(copy), "r");
    mwl_run_free(copy);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
    mwl_vm_free(other);
}

UTEST(snapshot, the_same_state_has_the_same_bytes_and_a_result_is_kept) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL);
    mwl_program *p = assemble(SLEEPER);
    mwl_run *run = begin(vm, p, "r", "[1,2]");
    bytes a = save(run), b = save(run);
    EXPECT_TRUE(a.size == b.size && memcmp(a.p, b.p, a.size) == 0);
    mwl_bytes_free(vm, a.p, a.size);
    w.now.mono_ns += 3600 * S;
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    a = save(run);
    mwl_run *done = load(vm, a, p, 0);
    EXPECT_STREQ(result_of(vm, done), "{\"type\":\"success\",\"value\":[1,2]}");
    mwl_saved saved;
    EXPECT_EQ((int)mwl_saved_read(a.p, a.size, &saved), (int)MWL_OK);
    EXPECT_TRUE(saved.done && saved.due_wall_ns == MWL_NEVER);
    mwl_run_free(done);
    mwl_bytes_free(vm, a.p, a.size);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

/* ---- calls in flight ------------------------------------------------------------------------- */

/* Saves a run of one call, loads it into another VM. */
typedef struct trip {
    world here, there;
    mwl_vm *vm, *other;
    mwl_program *p;
    mwl_run *run, *copy;
    bytes b;
} trip;

static bool travel(trip *t, const char *definition, unsigned flags) {
    memset(t, 0, sizeof *t);
    t->here.now = t->there.now = (mwl_instant){S, 5000 * S};
    t->vm = make_vm(&t->here, false, NULL);
    t->other = make_vm(&t->there, false, NULL);
    t->p = assemble(definition);
    if (!t->p) return false;
    t->run = begin(t->vm, t->p, "job", "null");
    t->b = save(t->run);
    t->copy = t->b.p ? load(t->other, t->b, t->p, flags) : NULL;
    return t->copy != NULL;
}

static void return_home(trip *t) {
    mwl_bytes_free(t->vm, t->b.p, t->b.size);
    mwl_run_free(t->run);
    mwl_run_free(t->copy);
    mwl_program_release(t->p);
    mwl_vm_free(t->vm);
    mwl_vm_free(t->other);
}

UTEST(snapshot, a_call_starts_again_under_its_key) {
    trip t;
    ASSERT_TRUE(travel(&t, FLOW(CALL_STEP("plain")), 0));
    EXPECT_STREQ(t.here.keys, "job.1/1");
    EXPECT_STREQ(t.there.keys, "job.1/2");
    EXPECT_EQ(mwl_call_number(t.there.waits[0]), 1u);
    EXPECT_TRUE(mwl_run_at_rest(t.copy));
    EXPECT_EQ((int)mwl_call_succeed(t.there.waits[0], mwl_number(5)), (int)MWL_OK);
    mwl_vm_pump(t.other, MWL_NO_BUDGET);
    EXPECT_STREQ(result_of(t.other, t.copy), "{\"type\":\"success\",\"value\":5}");
    EXPECT_EQ((int)mwl_run_unload(t.run), (int)MWL_E_STATE); /* it is at work outside */
    return_home(&t);
}

UTEST(snapshot, a_provider_finds_its_work_again) {
    trip t;
    ASSERT_TRUE(travel(&t, FLOW(CALL_STEP("again")), 0));
    EXPECT_EQ(t.there.started, 0u);
    EXPECT_EQ(t.there.restored, 1u);
    EXPECT_STREQ(t.there.keys, "job.1/2");
    mwl_run_cancel(t.copy, "enough");
    mwl_vm_pump(t.other, MWL_NO_BUDGET);
    EXPECT_EQ(t.there.cancelled, 1u);
    EXPECT_EQ((int)mwl_run_get_state(t.copy), (int)MWL_RUN_DONE);
    return_home(&t);
}

UTEST(snapshot, a_call_that_must_not_be_repeated_fails) {
    trip t;
    ASSERT_TRUE(travel(&t, FLOW(CALL_STEP("once")), 0));
    mwl_vm_pump(t.other, MWL_NO_BUDGET);
    EXPECT_EQ(t.there.started, 0u);
    EXPECT_TRUE(strstr(result_of(t.other, t.copy), "Mwlvm.Interrupted") != NULL);
    return_home(&t);
    ASSERT_TRUE(travel(&t, FLOW(CALL_STEP("plain")), MWL_LOAD_FAIL_CALLS));
    mwl_vm_pump(t.other, MWL_NO_BUDGET);
    EXPECT_TRUE(strstr(result_of(t.other, t.copy), "\"retryable\":false") != NULL);
    return_home(&t);
}

UTEST(snapshot, a_blocking_call_begins_again) {
    trip t;
    ASSERT_TRUE(travel(&t, FLOW(CALL_STEP("blocking")), 0));
    EXPECT_STREQ(t.there.keys, "job.1/2");
    t.there.now.mono_ns += S;
    mwl_vm_pump(t.other, MWL_NO_BUDGET);
    EXPECT_EQ((int)mwl_run_answer(t.copy, 1, true, mwl_number(8)), (int)MWL_OK);
    mwl_vm_pump(t.other, MWL_NO_BUDGET);
    EXPECT_STREQ(result_of(t.other, t.copy), "{\"type\":\"success\",\"value\":8}");
    return_home(&t);
}

/* A provider that stores a value whose constructor failed keeps the old one: a run that was saved
 * with no state at all could not be loaded. */
UTEST(snapshot, a_state_that_is_absent_is_not_stored) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL);
    mwl_program *p = assemble(FLOW(CALL_STEP("again")));
    mwl_run *run = begin(vm, p, "r", "null");
    mwl_call_set_state(w.waits[0], mwl_number(4));
    mwl_call_set_state(w.waits[0], mwl_string(mwl_vm_heap(vm), "\xE9", 1));
    EXPECT_EQ(mwl_as_number(mwl_call_state(w.waits[0])), 4.0);
    bytes b = save(run);
    mwl_run *copy = load(vm, b, p, 0);
    ASSERT_TRUE(copy != NULL);
    EXPECT_EQ(mwl_as_number(mwl_call_state(w.waits[1])), 4.0);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(copy);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

/* An answer from outside is checked as what a provider settles with is. */
UTEST(snapshot, an_answer_that_is_refused) {
    static const struct {
        bool ok;
        const char *why;
    } rows[] = {{true, "the value is NaN, which has no JSON form"},
                {true, "the value is bytes, which has no JSON form"},
                {false, "Mwlvm.ResultRefused"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        trip t;
        ASSERT_TRUE(travel(&t, FLOW(CALL_STEP("local")), 0));
        mwl_heap *h = mwl_vm_heap(t.other);
        mwl_value given = i == 0   ? mwl_number((double)NAN)
                          : i == 1 ? mwl_bytes(h, "x", 1)
                                   : mwl_string(h, "no failure", 10);
        EXPECT_EQ((int)mwl_run_answer(t.copy, 1, rows[i].ok, given), (int)MWL_OK);
        mwl_vm_pump(t.other, MWL_NO_BUDGET);
        const char *result = result_of(t.other, t.copy);
        EXPECT_TRUE(strstr(result, "Mwlvm.ResultRefused") != NULL);
        if (!strstr(result, rows[i].why)) printf("%s\n", result);
        EXPECT_TRUE(strstr(result, rows[i].why) != NULL);
        EXPECT_EQ((int)mwl_run_unload(t.run), (int)MWL_OK);
        t.run = NULL;
        return_home(&t);
    }
}

UTEST(snapshot, an_answer_by_number) {
    trip t;
    ASSERT_TRUE(
        travel(&t,
               FLOW("'a':{'action':'Call','call':{'provider':'" URI(
                   "local") "','with':{'name':'approval'}},'next':'z'},'z':{'action':'Return'}"),
               0));
    mwl_wait wait;
    EXPECT_TRUE(mwl_run_waits(t.copy, 0, &wait));
    EXPECT_STREQ(wait.name, "approval");
    EXPECT_STREQ(wait.provider, URI("local"));
    EXPECT_EQ(wait.number, 1u);
    EXPECT_FALSE(mwl_run_waits(t.copy, 1, &wait));
    EXPECT_EQ((int)mwl_run_answer(t.copy, 2, true, mwl_null()), (int)MWL_E_NOT_FOUND);
    EXPECT_EQ((int)mwl_run_answer(t.copy, 1, true, mwl_bool(true)), (int)MWL_OK);
    mwl_vm_pump(t.other, MWL_NO_BUDGET);
    EXPECT_STREQ(result_of(t.other, t.copy), "{\"type\":\"success\",\"value\":true}");
    EXPECT_EQ((int)mwl_run_answer(t.copy, 1, true, mwl_null()), (int)MWL_E_NOT_FOUND);
    EXPECT_EQ((int)mwl_run_unload(t.run), (int)MWL_OK); /* it has no effect outside */
    t.run = NULL;
    return_home(&t);
}

/* ---- middleware of hosts --------------------------------------------------------------------- */

UTEST(snapshot, a_middleware_finds_again_what_it_holds) {
    const mwl_asm_provider document = {"keeper", keeper_document, sizeof keeper_document - 1};
    const char *definition = FLOW("'a':{'action':'Call','middleware':[{'provider':'" KEEPER_URI
                                  "'},{'provider':'" KEEPER_URI "'}],'call':{'provider':" MOCK
                                  ",'with':{'delay':'PT5S'}},'next':'z'},'z':{'action':'Return'}");
    flow f;
    world w = {.now = {S, 5000 * S}}, v = w;
    memset(&f, 0, sizeof f);
    memset(&keeper, 0, sizeof keeper);
    f.documents = &document;
    f.n_documents = 1;
    ASSERT_TRUE(flow_load(&f, definition));
    mwl_vm *vm = make_vm(&w, false, NULL), *other = make_vm(&v, false, NULL);
    ASSERT_EQ((int)mwl_vm_provide_middleware(vm, &keeper_middleware, 1, NULL, NULL), (int)MWL_OK);
    mwl_run *run = begin(vm, f.program, "r", "null");
    bytes b = save(run);
    EXPECT_EQ((int)mwl_run_unload(run), (int)MWL_OK);
    EXPECT_EQ(keeper.left, 0); /* as if the process had ended */
    const mwl_load how = {.program = f.program};
    mwl_run *later = NULL;
    EXPECT_EQ((int)mwl_run_load(other, b.p, b.size, &how, &later, NULL), (int)MWL_E_NOT_FOUND);
    ASSERT_EQ((int)mwl_vm_provide_middleware(other, &keeper_middleware, 1, NULL, NULL),
              (int)MWL_OK);
    later = load(other, b, f.program, 0);
    EXPECT_EQ(keeper.restored, 2);
    EXPECT_STREQ(keeper.states, "1 2 "); /* the outer one first */
    v.now.mono_ns += 5 * S;
    mwl_vm_pump(other, MWL_NO_BUDGET);
    EXPECT_STREQ(result_of(other, later), "{\"type\":\"success\",\"value\":null}");
    EXPECT_EQ(keeper.entered, 2);
    EXPECT_EQ(keeper.left, 2);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(later);
    mwl_program_release(f.program);
    mwl_vm_free(vm);
    mwl_vm_free(other);
}

/* ---- other images ---------------------------------------------------------------------------- */

/* The image of the program without one of its sections. */
static mwl_program *image_without(const mwl_program *p, unsigned section) {
    mwl__image image;
    mwl__image_writer writer;
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl_program *made = NULL;
    memset(&writer, 0, sizeof writer);
    if (mwl__image_open(p->native ? p->native : p->bytes, p->size, &image, NULL) < 0) return NULL;
    for (unsigned i = 0; i < MWL_SECTION_LIMIT; i++)
        if (image.section[i].data && i != section)
            mwl__image_add(&writer, i, image.section[i].data, image.section[i].size);
    if (mwl__image_finish(&writer, image.isa, &out) == MWL_OK)
        (void)mwl_program_load(NULL, out.data, out.len, MWL_COPY, &made, NULL);
    mwl__buf_free(&out);
    return made;
}

/* Another assembler's image of the same definition: the code may differ, the tables may not. */
UTEST(snapshot, another_image_of_the_same_definition) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL);
    mwl_program *p = assemble(SLEEPER), *other = image_without(p, MWL_SECTION_POSITIONS),
                *stripped = image_without(p, MWL_SECTION_SOURCE),
                *longer = assemble(
                    FLOW("'a':{'action':'Sleep','for':'PT2H','next':'z'},'z':{'action':'Return'}"));
    ASSERT_TRUE(other && stripped && longer);
    uint8_t id[16], other_id[16];
    mwl_program_id(p, id);
    mwl_program_id(other, other_id);
    EXPECT_NE(memcmp(id, other_id, 16), 0);
    mwl_run *run = begin(vm, p, "r", "[1]"), *later = NULL;
    bytes b = save(run);
    mwl_error error;
    mwl_load how = {.program = other};
    EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &later, &error), (int)MWL_OK);
    w.now.mono_ns += 3600 * S;
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    EXPECT_STREQ(result_of(vm, later), "{\"type\":\"success\",\"value\":[1]}");
    mwl_run_free(later);
    how.program = stripped; /* without the definition nothing says that it is the same */
    EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &later, &error), (int)MWL_E_SNAPSHOT);
    how.program = longer;
    EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &later, &error), (int)MWL_E_SNAPSHOT);
    EXPECT_STREQ(error.message, "the saved run is of another program");
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_program_release(other);
    mwl_program_release(stripped);
    mwl_program_release(longer);
    mwl_vm_free(vm);
}

/* ---- hold ------------------------------------------------------------------------------------ */

UTEST(snapshot, a_held_call_starts_when_its_snapshot_is_stored) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, true, NULL);
    mwl_program *p = assemble(
        FLOW("'a':{'action':'Gather','calls':[{'provider':'" URI("plain") "'},{'provider':'" URI(
            "again") "'},{'provider':'" URI("local") "'}],'next':'z'},'z':{'action':'Return'}"));
    mwl_run *run = begin(vm, p, "job", "null");
    EXPECT_STREQ(w.keys, "job.3/1"); /* only what has no effect outside */
    EXPECT_EQ(mwl_run_held(run), 2u);
    EXPECT_TRUE(mwl_vm_changed(vm) == run);
    EXPECT_TRUE(mwl_vm_changed(vm) == NULL);
    bytes b = {NULL, 0};
    uint64_t version = 0;
    ASSERT_EQ((int)mwl_run_save(run, &b.p, &b.size, &version), (int)MWL_OK);
    mwl_saved saved;
    EXPECT_EQ((int)mwl_saved_read(b.p, b.size, &saved), (int)MWL_OK);
    EXPECT_EQ(saved.n_calls, 3u);
    EXPECT_EQ(saved.n_held, 2u);
    mwl_run_release(run, version - 1); /* another state, which does not know them */
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    EXPECT_EQ(w.started, 1u);
    EXPECT_EQ((int)mwl_run_answer(run, 1, true, mwl_null()), (int)MWL_E_STATE);
    mwl_run_release(run, version);
    EXPECT_EQ(w.started, 1u); /* not before the next pump */
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    EXPECT_STREQ(w.keys, "job.3/1 job.1/1 job.2/1");
    EXPECT_EQ(mwl_run_held(run), 0u);
    EXPECT_TRUE(mwl_vm_changed(vm) == run);
    mwl_run *copy = load(vm, b, p, 0); /* as after a crash: held again, under the same keys */
    EXPECT_EQ(mwl_run_held(copy), 2u);
    EXPECT_TRUE(mwl_vm_changed(vm) == copy);
    mwl_run_cancel(copy, "enough"); /* held calls were never started: nobody is asked to stop */
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    EXPECT_EQ((int)mwl_run_get_state(copy), (int)MWL_RUN_DONE);
    EXPECT_EQ(w.cancelled, 0u);
    mwl_run_free(copy);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

/* Released calls start in the order of their release, also if the last of them is gone before. */
UTEST(snapshot, released_calls_start_in_their_order) {
    static const char *const ids[] = {"one", "two", "three", "four"};
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, true, NULL);
    mwl_program *p = assemble(FLOW(CALL_STEP("plain")));
    mwl_run *runs[4];
    for (int i = 0; i < 4; i++) runs[i] = begin(vm, p, ids[i], "null");
    for (int i = 0; i < 4; i++) {
        bytes b = {NULL, 0};
        uint64_t version = 0;
        ASSERT_EQ((int)mwl_run_save(runs[i], &b.p, &b.size, &version), (int)MWL_OK);
        mwl_bytes_free(vm, b.p, b.size);
        if (i == 3) mwl_run_free(runs[2]); /* the last that was released */
        mwl_run_release(runs[i], version);
    }
    mwl_run_free(runs[1]); /* one in the middle */
    EXPECT_EQ(w.started, 0u);
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    EXPECT_STREQ(w.keys, "one.1/1 four.1/1");
    mwl_run_free(runs[0]);
    mwl_run_free(runs[3]);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

/* A blocking provider has effects outside like any other: its function is not entered before. */
UTEST(snapshot, a_held_blocking_call_does_not_start_either) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, true, NULL);
    mwl_program *p = assemble(FLOW(CALL_STEP("blocking")));
    mwl_run *run = begin(vm, p, "job", "null");
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    EXPECT_EQ(w.started, 0u);
    EXPECT_EQ(mwl_run_held(run), 1u);
    bytes b = {NULL, 0};
    uint64_t version = 0;
    ASSERT_EQ((int)mwl_run_save(run, &b.p, &b.size, &version), (int)MWL_OK);
    EXPECT_EQ(w.started, 0u);
    mwl_run_release(run, version);
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    EXPECT_STREQ(w.keys, "job.1/1");
    EXPECT_EQ(mwl_run_held(run), 0u);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

static bool count_outside(void *ctx, const mwl_wait *wait) {
    *(unsigned *)ctx += wait->outside;
    return true;
}

/* A snapshot from a store: what it holds may have been started, and then the process ended. */
UTEST(snapshot, a_held_call_may_have_started_since) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, true, NULL);
    unsigned outside = 0;
    mwl_program *p = assemble(FLOW("'a':{'action':'Gather','calls':[{'provider':'" URI(
        "plain") "'},{'provider':'" URI("once") "'}],'next':'z'},'z':{'action':'Return'}"));
    mwl_run *run = begin(vm, p, "job", "null");
    mwl_run_each_wait(run, count_outside, &outside);
    EXPECT_EQ(outside, 0u); /* they are held */
    bytes b = save(run);
    mwl_run_free(run);
    EXPECT_EQ(w.started, 0u);
    run = load(vm, b, p, MWL_LOAD_RELEASED);
    ASSERT_TRUE(run != NULL);
    EXPECT_EQ(mwl_run_held(run), 0u);
    EXPECT_STREQ(w.keys, "job.1/2"); /* `once` fails: it may have been dispatched */
    mwl_run_each_wait(run, count_outside, &outside);
    EXPECT_EQ(outside, 1u);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

/* ---- refusals -------------------------------------------------------------------------------- */

UTEST(snapshot, what_is_refused_before_the_body) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL);
    mwl_program *p = assemble(SLEEPER), *other = assemble(FLOW(CALL_STEP("plain")));
    mwl_run *run = begin(vm, p, "r", "null"), *out = NULL;
    bytes b = save(run);
    mwl_load how = {.program = other};
    mwl_error error;
    EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &out, &error), (int)MWL_E_SNAPSHOT);
    EXPECT_STREQ(error.message, "the saved run is of another program");
    how.program = NULL;
    EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &out, &error), (int)MWL_E_NOT_FOUND);
    how.program = p;
    how.max_bytes = b.size - 1;
    EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &out, &error), (int)MWL_E_TOO_BIG);
    how.max_bytes = 0;
    for (size_t n = 0; n < b.size; n++) {
        EXPECT_EQ((int)mwl_run_load(vm, b.p, n, &how, &out, &error), (int)MWL_E_SNAPSHOT);
        EXPECT_STREQ(error.message, n < MWL_SAVED_HEADER ? "this is not a saved run"
                                                         : "the saved run is not complete");
    }
    unsigned char *bytes_of = b.p;
    for (size_t i = 0; i < b.size; i++) { /* the checksum finds any changed byte */
        bytes_of[i] ^= 1;
        EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &out, &error),
                  i == 4 || i == 5 ? (int)MWL_E_VERSION : (int)MWL_E_SNAPSHOT);
        bytes_of[i] ^= 1;
    }
    EXPECT_EQ((int)mwl_run_load(vm, NULL, 0, &how, &out, &error), (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_load(NULL, b.p, b.size, &how, &out, &error), (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, NULL, &out, &error), (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, NULL, &error), (int)MWL_E_USAGE);
    mwl_run_abort(run);
    EXPECT_EQ((int)mwl_run_save(run, &b.p, &b.size, NULL), (int)MWL_E_STATE);
    mwl_bytes_free(vm, bytes_of, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_program_release(other);
    mwl_vm_free(vm);
}

UTEST(snapshot, not_in_a_callback) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL);
    mwl_program *p = assemble(FLOW(CALL_STEP("plain")));
    mwl_run *run = begin(vm, p, "r", "null");
    bytes b = save(run);
    w.vm = vm;
    w.bytes = b.p;
    w.size = b.size;
    mwl_run *second = begin(vm, p, "s", "null");
    EXPECT_EQ((int)w.loaded, (int)MWL_E_STATE);
    EXPECT_EQ((int)w.saved, (int)MWL_E_STATE);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_run_free(second);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

/* A sender chooses the limits in the bytes too; those of the caller hold from the first byte on. */
UTEST(snapshot, limits_are_kept_or_replaced) {
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL);
    mwl_program *p = assemble(
        FLOW("'a':{'action':'Sleep','for':'PT1S','next':'b'},'b':{'action':'Return','value':"
             "'{{ lists.range(1000).map(i, i * 2).size() }}'}"));
    const mwl_limits own = {.fuel = 1000000, .memory_bytes = 1 << 20, .frame_depth = 3};
    const mwl_start start = {.limits = &own};
    mwl_run *run = NULL, *later = NULL;
    ASSERT_EQ((int)mwl_run_start(vm, p, &start, &run, NULL), (int)MWL_OK);
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    bytes b = save(run), again = {NULL, 0};
    mwl_load how = {.program = p};
    ASSERT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &later, NULL), (int)MWL_OK);
    again = save(later);
    EXPECT_TRUE(again.size == b.size && memcmp(again.p, b.p, b.size) == 0);
    mwl_run_free(later);
    mwl_bytes_free(vm, again.p, again.size);
    const mwl_limits little = {.fuel = 500}, less = {.memory_bytes = 100};
    how.limits = &little;
    ASSERT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &later, NULL), (int)MWL_OK);
    w.now.mono_ns += S;
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    EXPECT_TRUE(strstr(result_of(vm, later), "\"limit\":\"fuel\"") != NULL);
    EXPECT_TRUE(strstr(result_of(vm, run), "\"value\":1000") != NULL);
    mwl_run_free(later);
    how.limits = &less;
    EXPECT_EQ((int)mwl_run_load(vm, b.p, b.size, &how, &later, NULL), (int)MWL_E_TOO_BIG);
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

/* Whatever the header says of the clocks: an instant becomes one that exists. */
UTEST(snapshot, clocks_of_a_hostile_header) {
    static const int64_t clocks[] = {INT64_MIN, INT64_MIN + 1, -1, 0, INT64_MAX - 1, INT64_MAX};
    world w = {.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(&w, false, NULL);
    mwl_program *p = assemble(SLEEPER);
    mwl_run *run = begin(vm, p, "r", "null");
    bytes b = save(run);
    for (size_t i = 0; i < 36; i++)
        for (unsigned flags = 0; flags < 2; flags++) {
            memcpy((char *)b.p + 48, &clocks[i / 6], 8);
            memcpy((char *)b.p + 56, &clocks[i % 6], 8);
            mwl__saved_reseal(b.p, b.size);
            mwl_saved saved;
            EXPECT_EQ((int)mwl_saved_read(b.p, b.size, &saved), (int)MWL_OK);
            mwl_run_free(load(vm, b, p, flags));
        }
    mwl_bytes_free(vm, b.p, b.size);
    mwl_run_free(run);
    mwl_program_release(p);
    mwl_vm_free(vm);
}

/* ---- memory ---------------------------------------------------------------------------------- */

#define FAILING "{'provider':" MOCK ",'with':{'failure':{'code':'X.Y'}}}"
#define TIMED "{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':'PT1H'}}}"
#define RETRIED                                                                                    \
    "{'provider':" RETRY                                                                           \
    ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},'attempts':2,'backoff':{'initial':'PT9S'}}]}}}"
#define CLEANED(call) "{'provider':" FINALLY ",'onAlways':{'with':{'call':" call "}}}"
#define DELAYED "{'provider':" MOCK ",'with':{'delay':'PT5S'}}"
#define END "'z':{'action':'Return'}"

#define EVERY_CALL                                                                                                       \
    "'a':{'action':'Gather','calls':[{'provider':'" URI("plain") "'},{'provider':'" URI("again") "'},{'provider':'" URI( \
        "local") "'},{'provider':'" URI("once") "'},{'provider':'" URI("blocking") "'}],'next':'z'}," END

static const struct shape {
    const char *definition;
    bool cancel, hold;
    unsigned flags; /* of loading */
} shapes[] = {
    /* entries, a failure context, a Gather with frames, calls and records below */
    {FLOW_WITH(
         "'middleware':[" TIMED "],",
         "'a':{'action':'Call','call':" FAILING
         ",'catch':[{'match':{'codes':['X.Y']},'next':'b'}],'next':'b'},'b':{'action':'Gather',"
         "'over':'{{ [1, 2, 3] }}','call':{'flow':{'entrypoint':'x','steps':{'x':{'action':'Call',"
         "'middleware':[" RETRIED "],'call':" DELAYED ",'next':'y'},'y':{'action':'Return'}}},"
         "'onSuccess':{'value':'{{ flow.input }}'}},'next':'z'}," END),
     false, false, 0},
    /* a Sleep: one timer */
    {SLEEPER, false, false, 0},
    /* the gap of a Retry, after a chain of failures */
    {FLOW(
         "'a':{'action':'Call','call':" FAILING
         ",'catch':[{'match':{'codes':['*']},'next':'b'}],'next':'b'},'b':{'action':'Call','call':" FAILING
         ",'catch':[{'match':{'codes':['*']},'next':'c'}],'next':'c'},"
         "'c':{'action':'Call','middleware':[" RETRIED "],'call':" FAILING ",'next':'z'}," END),
     false, false, 0},
    /* an unwind: a cleanup has failed, another one is running */
    {FLOW_WITH("'middleware':[" CLEANED(DELAYED) "," CLEANED(FAILING) "],",
               "'a':{'action':'Sleep','for':'PT1H','next':'z'}," END),
     true, false, 0},
    /* an unwind of a Gather, whose dispatches clean up */
    {FLOW(
         "'a':{'action':'Gather','over':'{{ [1, 2] }}','concurrency':1,'call':{'flow':{'middleware':[" CLEANED(
             DELAYED) "],'entrypoint':'b','steps':{'b':{'action':'Sleep','for':'PT1H','next':'c'},"
                      "'c':{'action':'Return'}}}},'next':'z'}," END),
     true, false, 0},
    /* a call that others answer */
    {FLOW(CALL_STEP("again")), false, false, 0},
    /* a run that is done */
    {FLOW("'a':{'action':'Call','call':" FAILING ",'next':'z'}," END), false, false, 0},
    /* calls that continue in every way there is, and what loading may ask of them */
    {FLOW(EVERY_CALL), false, false, 0},
    {FLOW(EVERY_CALL), false, false, MWL_LOAD_NEW_ID | MWL_LOAD_TIME_STOOD},
    {FLOW(EVERY_CALL), false, false, MWL_LOAD_FAIL_CALLS},
    /* the same, when the host holds them: as they were, and as after a crash */
    {FLOW(EVERY_CALL), false, true, 0},
    {FLOW(EVERY_CALL), false, true, MWL_LOAD_RELEASED},
    /* a middleware that finds again what it holds, around a blocking call */
    {FLOW("'a':{'action':'Call','middleware':[{'provider':'" KEEPER_URI
          "'},{'provider':'" KEEPER_URI
          "'}],'call':{'provider':'" URI("blocking") "'},'next':'z'}," END),
     false, false, 0},
};

/* Fails the n-th allocation of saving, for every n. Returns false if something was wrong. */
static bool save_fails(struct faulty *memory, mwl_vm *vm, mwl_run *run, bytes first) {
    bytes b = {NULL, 0};
    size_t live = memory->live_bytes, n = 1;
    mwl_status st = MWL_E_NOMEM;
    bool good = true;
    for (; st == MWL_E_NOMEM && n < 1000; n++) {
        memory->fail_at = memory->calls + n;
        st = mwl_run_save(run, &b.p, &b.size, NULL);
        memory->fail_at = 0;
        good = good && (st == MWL_OK || memory->live_bytes == live);
    }
    good =
        good && st == MWL_OK && n > 2 && b.size == first.size && memcmp(b.p, first.p, b.size) == 0;
    mwl_bytes_free(vm, b.p, b.size);
    return good;
}

/* Settles what the providers have kept, and frees the run. */
static void end_copy(world *w, mwl_run *copy) {
    for (size_t i = 0; i < 8; i++) {
        mwl_call *c = w->waits[i];
        w->waits[i] = NULL;
        if (c) mwl_call_succeed(c, mwl_null());
    }
    w->n = 0;
    mwl_run_free(copy);
}

/* The same for loading, until no allocation is left: one that fails in a callback does not fail the
 * load. What loads at last is the run as it was: it has the same bytes, but for calls, which are
 * dispatched once more. */
static bool load_fails(struct faulty *memory, mwl_vm *vm, const mwl_load *how, bytes first,
                       world *w) {
    mwl_run *copy = NULL;
    unsigned calls = w->started, known = w->restored;
    end_copy(w, load(vm, first, how->program, how->flags)); /* the heap keeps a call, and names */
    size_t live = mwl_heap_used(mwl_vm_heap(vm)), n = 1;
    bool good = true, failed = true;
    for (; failed && n < 5000; n++) {
        end_copy(w, copy);
        copy = NULL;
        good = good && mwl_heap_used(mwl_vm_heap(vm)) == live;
        memory->fail_at = memory->calls + n;
        mwl_status st = mwl_run_load(vm, first.p, first.size, how, &copy, NULL);
        failed = memory->calls >= memory->fail_at;
        memory->fail_at = 0;
        good = good && (st == MWL_OK || (st == MWL_E_NOMEM && failed && w->n == 0));
    }
    good = good && !failed && copy && n > 2;
    bytes b = save(copy);
    if (w->started == calls && w->restored == known && !how->flags)
        good = good && b.size == first.size && memcmp(b.p, first.p, b.size) == 0;
    mwl_bytes_free(vm, b.p, b.size);
    end_copy(w, copy);
    return good;
}

/* The run itself goes on as if nothing was. */
static void to_its_end(world *w, mwl_vm *vm, mwl_run *run) {
    for (int hours = 0; hours < 5; hours++) {
        bytes b = {NULL, 0};
        uint64_t version = 0;
        mwl_wait wait;
        (void)mwl_run_save(run, &b.p, &b.size, &version);
        mwl_bytes_free(vm, b.p, b.size);
        mwl_run_release(run, version);
        mwl_vm_pump(vm, MWL_NO_BUDGET);
        for (uint32_t i = 0; mwl_run_waits(run, i, &wait); i++)
            if (strstr(wait.provider, "/test/"))
                (void)mwl_run_answer(run, wait.number, true, mwl_null());
        w->now.mono_ns += 3600 * S;
        mwl_vm_pump(vm, MWL_NO_BUDGET);
    }
}

/* A VM with everything that the shapes need, in this memory. */
static mwl_vm *shape_vm(const struct shape *shape, world *w, struct faulty *memory) {
    const mwl_alloc alloc = faulty_alloc(memory);
    *w = (world){.now = {S, 5000 * S}};
    mwl_vm *vm = make_vm(w, shape->hold, &alloc);
    if (vm && mwl_vm_provide_middleware(vm, &keeper_middleware, 1, NULL, NULL) == MWL_OK) return vm;
    mwl_vm_free(vm);
    return NULL;
}

static mwl_run *shape_run(const struct shape *shape, mwl_vm *vm, mwl_program *p) {
    mwl_run *run = begin(vm, p, "r", "{'a':['some text','some text']}");
    if (shape->cancel) mwl_run_cancel(run, "enough");
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    return run;
}

/* Fails the n-th allocation of the first save of a VM, or of the first load of another one.
 * *failures counts those that there were. Then the same is tried once more, and both runs go to
 * their ends. Returns false if something was wrong. */
static bool first_fails(const struct shape *shape, mwl_program *p, size_t n, bool for_good,
                        bool loading, unsigned *failures) {
    world w, v;
    struct faulty memory, theirs;
    mwl_vm *vm = shape_vm(shape, &w, &memory), *other = shape_vm(shape, &v, &theirs);
    mwl_run *run = shape_run(shape, vm, p), *copy = NULL;
    bytes b = {NULL, 0}, again = {NULL, 0};
    struct faulty *fails = loading ? &theirs : &memory;
    const mwl_load how = {.program = p, .flags = shape->flags};
    if (loading) b = save(run);
    fails->for_good = for_good;
    fails->fail_at = fails->calls + n;
    mwl_status st = loading ? mwl_run_load(other, b.p, b.size, &how, &copy, NULL)
                            : mwl_run_save(run, &b.p, &b.size, NULL);
    bool failed = fails->calls >= fails->fail_at;
    bool good = st == MWL_OK || (st == MWL_E_NOMEM && failed && !copy && (loading || !b.p));
    fails->fail_at = 0;
    *failures += failed;
    if (!b.p) b = save(run);
    if (!copy) copy = load(other, b, p, shape->flags);
    again = save(run);
    good = good && copy && again.size == b.size && memcmp(again.p, b.p, b.size) == 0;
    mwl_bytes_free(vm, again.p, again.size);
    mwl_bytes_free(vm, b.p, b.size);
    to_its_end(&w, vm, run);
    if (copy) to_its_end(&v, other, copy);
    /* what a call that continues needs may be missing: then the run is aborted, as in any pump */
    bool short_of = loading && failed && st == MWL_OK && mwl_run_why(copy) == MWL_E_NOMEM;
    good = good && mwl_run_get_state(run) == MWL_RUN_DONE &&
           mwl_run_get_state(copy) == (short_of ? MWL_RUN_ABORTED : MWL_RUN_DONE);
    mwl_run_free(run);
    mwl_run_free(copy);
    mwl_vm_free(vm);
    mwl_vm_free(other);
    return good && !memory.live_bytes && !theirs.live_bytes && !memory.wrong && !theirs.wrong;
}

/* What a VM makes once for a program, the link and the tables for saving, is made under memory that
 * fails too. */
UTEST(snapshot, every_allocation_of_the_first_time_fails_once) {
    for (size_t i = 0; i < 4 * sizeof shapes / sizeof *shapes; i++) {
        const struct shape *shape = &shapes[i / 4];
        mwl_program *p = assemble(shape->definition);
        ASSERT_TRUE(p != NULL);
        unsigned failures = 0;
        for (size_t n = 1; n == failures + 1 && n < 5000; n++) {
            bool good = first_fails(shape, p, n, i & 1, i & 2, &failures);
            EXPECT_TRUE(good);
            if (!good) {
                printf("shape %zu, %s, allocation %zu\n", i / 4, i & 2 ? "load" : "save", n);
                break;
            }
        }
        EXPECT_GE(failures, 3u);
        mwl_program_release(p);
    }
}

/* A run that came from a machine with another clock has the bytes of one that was always here. */
UTEST(snapshot, the_same_state_has_the_same_bytes_wherever_it_began) {
    for (size_t i = 0; i < 7; i++) {
        if (i == 5) continue; /* its call is dispatched again */
        const struct shape *shape = &shapes[i];
        world here, there;
        struct faulty memory, theirs;
        mwl_program *p = assemble(shape->definition);
        mwl_vm *vm = shape_vm(shape, &here, &memory), *other = shape_vm(shape, &there, &theirs);
        there.now.mono_ns += INT64_C(1) << 40;
        mwl_run *run = shape_run(shape, vm, p), *native = shape_run(shape, other, p);
        bytes b = save(run), want = save(native);
        mwl_run *came = load(other, b, p, 0);
        ASSERT_TRUE(came != NULL);
        bytes have = save(came);
        EXPECT_EQ(have.size, want.size);
        EXPECT_TRUE(have.size == want.size && memcmp(have.p, want.p, have.size) == 0);
        mwl_bytes_free(vm, b.p, b.size);
        mwl_bytes_free(other, want.p, want.size);
        mwl_bytes_free(other, have.p, have.size);
        mwl_run_free(run);
        mwl_run_free(native);
        mwl_run_free(came);
        mwl_program_release(p);
        mwl_vm_free(vm);
        mwl_vm_free(other);
    }
}

UTEST(snapshot, every_allocation_fails_once) {
    for (size_t i = 0; i < 2 * sizeof shapes / sizeof *shapes; i++) {
        const struct shape *shape = &shapes[i / 2];
        mwl_program *p = assemble(shape->definition);
        ASSERT_TRUE(p != NULL);
        world w = {.now = {S, 5000 * S}};
        struct faulty memory;
        memset(&memory, 0, sizeof memory);
        const mwl_alloc alloc = {faulty_fn, &memory};
        mwl_vm *vm = make_vm(&w, shape->hold, &alloc);
        ASSERT_EQ((int)mwl_vm_provide_middleware(vm, &keeper_middleware, 1, NULL, NULL),
                  (int)MWL_OK);
        mwl_run *run = begin(vm, p, "r", "{'a':['some text','some text']}");
        if (shape->cancel) mwl_run_cancel(run, "enough");
        mwl_vm_pump(vm, MWL_NO_BUDGET);
        bytes first = save(run);
        ASSERT_TRUE(first.p != NULL);
        memory.for_good = i % 2;
        EXPECT_TRUE(save_fails(&memory, vm, run, first));
        memset(w.waits, 0, sizeof w.waits); /* those of the run itself are answered by number */
        w.n = 0;
        const mwl_load how = {.program = p, .flags = shape->flags};
        EXPECT_TRUE(load_fails(&memory, vm, &how, first, &w));
        to_its_end(&w, vm, run);
        EXPECT_EQ((int)mwl_run_get_state(run), (int)MWL_RUN_DONE);
        mwl_bytes_free(vm, first.p, first.size);
        EXPECT_FALSE(memory.wrong);
        mwl_run_free(run);
        mwl_vm_free(vm);
        EXPECT_EQ(memory.live_bytes, (size_t)0);
        mwl_program_release(p);
    }
}

UTEST_MAIN()
