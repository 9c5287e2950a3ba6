/* world.c: see world.h. */
#include "tests/sim/world.h"

#include "tests/unit/run_flow.h"

#include <stdarg.h>

#define EFFECT "mwl:provider.call/sim/effect/v1"
#define ONCE "mwl:provider.call/sim/once/v1"
#define REMOTE "mwl:provider.call/sim/remote/v1"
#define ANSWER "'mwl:provider.call/mwlvm/answer/v1'"
#define DOCUMENT(uri)                                                                              \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" uri                    \
    "\",\"codePrefix\":\"Sim\",\"description\":\"d\",\"parameters\":{\"type\":\"object\","         \
    "\"properties\":{\"is\":{},\"x\":{}}},"                                                        \
    "\"failureCatalog\":{\"closed\":[],\"open\":[\"Provider.Call.Sim.*\"]}}"
#define EFFECT_OF(what) "{'provider':'" EFFECT "','with':{'is':'" what "','x':'{{ sim.any() }}'}}"

/* `sim.any()` is another number at each evaluation: an incarnation of a run that goes on from an
 * older snapshot asks for something else. */
static const char *const definitions[] = {
    FLOW("'a':{'action':'Call','call':" EFFECT_OF(
        "one") ",'next':'b'},"
               "'b':{'action':'Call','call':" EFFECT_OF(
                   "two") ",'next':'z'},'z':{'action':'Return'}"),
    FLOW("'a':{'action':'Gather','over':'{{ [1, 2, 3] }}','concurrency':2,'call':" EFFECT_OF(
        "each") ",'next':'z'},'z':{'action':'Return'}"),
    FLOW(
        "'a':{'action':'Call','middleware':[{'provider':" TIMEOUT ",'onEntry':{'with':{'duration':"
        "'PT40S'}}},{'provider':" RETRY ",'onEntry':{'with':{'policies':[{'match':{'codes':['*']},"
        "'attempts':4,'backoff':{'initial':'PT3S'}}]}}}],'call':" EFFECT_OF(
            "tried") ",'catch':[{'match':{'codes':['*']},'output':'gave up','next':'z'}],'next':'z'},"
                     "'z':{'action':'Return'}"),
    FLOW("'a':{'action':'Sleep','for':'PT2H','next':'b'},'b':{'action':'Call','call':" EFFECT_OF(
        "late") ",'next':'z'},'z':{'action':'Return'}"),
    FLOW(
        "'a':{'action':'Call','call':{'provider':" ANSWER ",'with':{'name':'ok'}},'next':'b'},"
        "'b':{'action':'Call','call':" EFFECT_OF(
            "between") ",'output':'{{ step.input }}','next':"
                       "'c'},"
                       "'c':{'action':'Call','call':{'provider':" ANSWER ",'with':{'name':'ok'}},"
                       "'output':'{{ [step.input, step.result.value] }}','next':'z'},'z':{'action':'Return'}"),
    FLOW_WITH(
        "'middleware':[{'provider':" FINALLY
        ",'onAlways':{'with':{'call':" EFFECT_OF("cleanup") "}}}],",
        "'a':{'action':'Call','call':" EFFECT_OF(
            "inner") ",'next':'b'},"
                     "'b':{'action':'Sleep','for':'PT10S','next':'z'},'z':{'action':'Return'}"),
    FLOW("'a':{'action':'Call','call':{'provider':'" ONCE "','with':{'x':'{{ sim.any() }}'}},"
         "'catch':[{'match':{'codes':['Mwlvm.Interrupted']},'output':'interrupted','next':'z'}],"
         "'next':'z'},'z':{'action':'Return'}"),
    FLOW("'a':{'action':'Call','call':" EFFECT_OF(
        "before") ",'catch':[{'match':{'codes':['*']},'next':'b'}],'next':'b'},"
                  "'b':{'action':'Call','call':{'provider':'" REMOTE "','with':{'x':1}},"
                  "'output':'{{ [step.result.value] }}','next':'z'},'z':{'action':'Return'}"),
};
enum {
    N_FLOWS = sizeof definitions / sizeof *definitions,
    WITH_CLEANUP = 5,
    WITH_ANSWERS = 4,
    WITH_REMOTE = 7
};

static world *any_world; /* of the function sim.any: one world at a time */
static mwl_value any(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)fn, (void)args, (void)n_args;
    return mwl_number((double)(any_world ? ++any_world->any : 0));
}
static const mwl_function_def functions[] = {
    {"sim.any", any, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "sim.any() -> double"}};

/* ---- Flows ----------------------------------------------------------------------------------- */

bool flows_make(flows *f) {
    static const mwl_function_def *const all[] = {&functions[0], NULL};
    const mwl_asm_document library[] = {
        {EFFECT, DOCUMENT(EFFECT), true},
        {ONCE, DOCUMENT(ONCE), true},
        {REMOTE, DOCUMENT(REMOTE), true},
        {mwl_durable_answer()->uri, mwl_durable_answer()->document, false},
        {NULL, NULL, false}};
    const mwl_asm_options options = {.library = library, .functions = all};
    f->n = N_FLOWS;
    f->list = calloc(f->n, sizeof *f->list);
    f->images = calloc(f->n, sizeof *f->images);
    f->sizes = calloc(f->n, sizeof *f->sizes);
    for (size_t i = 0; i < f->n; i++) {
        char *text = flow_quoted(definitions[i]);
        mwl_asm_result out;
        mwl_status status = mwl_assemble(text, strlen(text), &options, &out);
        if (status == MWL_OK) {
            f->images[i] = malloc(out.image_size);
            memcpy(f->images[i], out.image, out.image_size);
            f->sizes[i] = out.image_size;
            status = mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &f->list[i], NULL);
        } else {
            printf("Flow %zu: %s\n", i, out.diagnostics);
        }
        mwl_asm_free(&out);
        free(text);
        if (status != MWL_OK) return false;
    }
    return true;
}

void flows_free(flows *f) {
    for (size_t i = 0; i < f->n; i++) {
        mwl_program_release(f->list[i]);
        free(f->images[i]);
    }
    free(f->list);
    free(f->images);
    free(f->sizes);
}

/* ---- chance ---------------------------------------------------------------------------------- */

uint64_t roll(world *w, uint64_t n) {
    w->rng += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = w->rng;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (z ^ (z >> 31)) % n;
}

void violation(world *w, const char *format, ...) {
    va_list args;
    if (*w->wrong) return;
    va_start(args, format);
    vsnprintf(w->wrong, sizeof w->wrong, format, args);
    va_end(args);
}

/* ---- the store ------------------------------------------------------------------------------- */

static mwl_status faulty_join(mwl_store *s, const char *who) {
    mwl_store *real = ((faulty_store *)s)->real;
    return real->ops->join(real, who);
}
static const char *faulty_why(const mwl_store *s) {
    return mwl_store_why(((const faulty_store *)s)->real);
}

static mwl_status faulty_commit(mwl_store *s, const mwl_store_change *c, size_t n, bool *kept) {
    faulty_store *f = (faulty_store *)s;
    world *w = f->world;
    if (f->next == NOT_DONE && w->lie == EARLY) {
        memset(kept, 1, n);
        return MWL_OK;
    }
    if (f->next == NOT_DONE) return MWL_E_IO;
    mwl_status status = f->real->ops->commit(f->real, c, n, kept);
    for (size_t i = 0; i < n; i++) {
        w->n.lost += !kept[i];
        w->n.parked += kept[i] && c[i].kind == MWL_STORE_PARK;
        kept[i] |= w->lie == NO_FENCE;
    }
    if (f->next != UNKNOWN) return status;
    memset(kept, 0, n);
    return MWL_E_IO;
}

static bool drop_run(void *ctx, const mwl_store_claimed *run) {
    (void)ctx, (void)run;
    return true;
}
static bool drop_message(void *ctx, const mwl_store_message *m) {
    (void)ctx, (void)m;
    return true;
}

/* Who is shown runs and messages, and has no memory for one of them. */
typedef struct hungry_sink {
    world *w;
    const mwl_store_polled *real;
    uint64_t left;
} hungry_sink;

static bool is_full(hungry_sink *h) {
    bool full = h->left && --h->left == 0;
    h->w->n.hungry += full;
    return full;
}
static bool hungry_run(void *ctx, const mwl_store_claimed *run) {
    hungry_sink *h = ctx;
    return !is_full(h) && h->real->run(h->real->ctx, run);
}
static bool hungry_message(void *ctx, const mwl_store_message *m) {
    hungry_sink *h = ctx;
    return !is_full(h) && h->real->message(h->real->ctx, m);
}

static mwl_status faulty_poll(mwl_store *s, const mwl_store_poll *ask, const mwl_store_polled *sink,
                              int64_t *next) {
    static const mwl_store_polled nowhere = {NULL, drop_run, drop_message};
    faulty_store *f = (faulty_store *)s;
    hungry_sink h = {f->world, sink, f->world->faults ? roll(f->world, 8) : 0};
    const mwl_store_polled hungry = {&h, hungry_run, hungry_message};
    if (f->next == NOT_DONE) return MWL_E_IO;
    if (f->next == GOOD) return f->real->ops->poll(f->real, ask, &hungry, next);
    (void)f->real->ops->poll(f->real, ask, &nowhere, next);
    return MWL_E_IO;
}

static mwl_status faulty_get_program(mwl_store *s, const uint8_t *id,
                                     void (*see)(void *ctx, const char *name, const void *image,
                                                 size_t size),
                                     void *ctx) {
    mwl_store *real = ((faulty_store *)s)->real;
    return real->ops->get_program(real, id, see, ctx);
}

static const mwl_store_ops faulty_ops = {.join = faulty_join,
                                         .why = faulty_why,
                                         .commit = faulty_commit,
                                         .poll = faulty_poll,
                                         .get_program = faulty_get_program};

/* ---- providers ------------------------------------------------------------------------------- */

static key_row *key_find(world *w, const char *key) {
    for (size_t i = 0; i < w->n_keys; i++)
        if (strcmp(w->keys[i].key, key) == 0) return &w->keys[i];
    if (w->n_keys == KEYS) {
        violation(w, "more than %d calls: a run repeats itself", KEYS);
        return &w->keys[0];
    }
    key_row *k = &w->keys[w->n_keys++];
    memset(k, 0, sizeof *k);
    snprintf(k->key, sizeof k->key, "%s", key);
    return k;
}

static void keep_call(mwl_call *call, void *user) { (void)call, (void)user; }

/* Nothing outside happens that no snapshot knows of. */
static void check_known(world *w, mwl_call *call, key_row *k) {
    bool knows = false;
    if (k->known) return;
    (void)committed_knows(w->asker, &w->committed, mwl_run_id(mwl_call_run(call)),
                          mwl_call_number(call), &knows);
    if (!knows) violation(w, "%s was dispatched, and no snapshot in the store knows it", k->key);
    k->known = true;
}

static void dispatch(mwl_call *call, worker *of, bool once) {
    world *w = of->world;
    mwl_heap *heap = mwl_call_heap(call);
    const unsigned hungry = of->hungry;
    of->hungry = 0; /* what the test itself notes does not fail */
    mwl_value key = mwl_call_key(call);
    char *text = NULL;
    size_t len = 0;
    key_row *k = key_find(w, mwl_as_text(key, NULL));
    mwl_value_drop(heap, key);
    (void)mwl_json_write(heap, mwl_call_arguments(call), MWL_JSON_CANONICAL, &text, &len);
    of->hungry = hungry;
    check_known(w, call, k);
    if (of->draining && !once) violation(w, "%s was started by a worker that is to end", k->key);
    if (k->dispatched && strcmp(k->content, text) != 0)
        violation(w, "%s has two contents: %s and %s", k->key, k->content, text);
    if (k->dispatched && once) violation(w, "%s was dispatched twice", k->key);
    snprintf(k->content, sizeof k->content, "%s", text);
    w->n.dispatched++;
    w->n.repeated += k->dispatched > 0;
    k->dispatched++;
    k->once = once;
    k->cleanup = strstr(text, "cleanup") != NULL;
    mwl_text_free(heap, text, len);
    if (w->n_calls == CALLS)
        violation(w, "too many calls at once");
    else
        w->calls[w->n_calls++] = (at_work){of, call, (uint64_t)(k - w->keys)};
}

static void effect_start(mwl_call *call, void *user) { dispatch(call, user, false); }
static void once_start(mwl_call *call, void *user) { dispatch(call, user, true); }

static void forget_call(world *w, size_t i) { w->calls[i] = w->calls[--w->n_calls]; }

static void on_cancel(mwl_call *call, void *user) {
    world *w = ((worker *)user)->world;
    for (size_t i = 0; i < w->n_calls; i++)
        if (w->calls[i].call == call) {
            forget_call(w, i);
            break;
        }
    mwl_call_succeed(call, mwl_null());
}

/* The same answer each time for a key, as from a service that remembers it. */
void settle_call(world *w, size_t i) {
    at_work at = w->calls[i];
    uint64_t h = at.key * UINT64_C(0x9e3779b97f4a7c15) ^ w->keys[at.key].dispatched / 1000;
    forget_call(w, i);
    if (!w->keys[at.key].once && (h >> 40) % 4 == 0)
        mwl_call_fail(at.call, NULL, "Provider.Call.Sim.Failed", "no", mwl_absent());
    else
        mwl_call_succeed(at.call, mwl_number((double)at.key));
}

/* ---- workers --------------------------------------------------------------------------------- */

static void read_clock(void *ctx, mwl_instant *out) {
    const worker *k = ctx;
    out->mono_ns = k->world->time;
    out->wall_ns = 1000000 * S + k->world->time + k->wall_offset;
}
static void read_nothing(void *ctx, mwl_instant *out) {
    (void)ctx;
    out->mono_ns = S;
    out->wall_ns = S;
}

static void *allocate(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    worker *k = ctx;
    const mwl_alloc normal = mwl_alloc_default();
    if (new_size && k->hungry && --k->hungry == 0) {
        k->world->n.hungry++;
        return NULL;
    }
    return normal.fn(normal.ctx, ptr, old_size, new_size);
}

/* Before a run is loaded, and when it is. */
static bool on_allowed(void *ctx, const mwl_program *program, const char *name) {
    worker *k = ctx;
    (void)program, (void)name;
    if (k->world->faults && roll(k->world, 3) == 0) k->hungry = 1 + (unsigned)roll(k->world, 30);
    return true;
}
static void on_loaded(void *ctx, mwl_run *run) {
    (void)run;
    ((worker *)ctx)->hungry = 0;
}

static mwl_vm *make_vm(const mwl_clock *clock, void *user, void (*start)(mwl_call *, void *)) {
    const mwl_call_provider providers[] = {{.uri = EFFECT,
                                            .document = DOCUMENT(EFFECT),
                                            .start = start ? start : effect_start,
                                            .cancel = start ? NULL : on_cancel},
                                           {.uri = ONCE,
                                            .document = DOCUMENT(ONCE),
                                            .start = start ? start : once_start,
                                            .cancel = start ? NULL : on_cancel,
                                            .flags = MWL_CALL_ONCE}};
    const mwl_clock nothing = {read_nothing, NULL};
    mwl_call_provider remote = mwl_durable_remote();
    mwl_config config = mwl_config_default();
    mwl_vm *vm = NULL;
    remote.uri = REMOTE;
    remote.document = DOCUMENT(REMOTE);
    config.hold = true;
    config.hash_secret = 1;
    config.seed = 7;
    config.clock = clock ? *clock : nothing;
    if (user) config.alloc = (mwl_alloc){allocate, user};
    if (mwl_vm_new(&config, &vm) != MWL_OK || mwl_std_add(vm, MWL_STD_ALL, NULL) != MWL_OK ||
        mwl_vm_functions(vm, functions, 1) != MWL_OK ||
        mwl_vm_provide(vm, providers, 2, user, NULL) != MWL_OK ||
        mwl_vm_provide(vm, &remote, 1, NULL, NULL) != MWL_OK ||
        mwl_vm_provide(vm, mwl_durable_answer(), 1, NULL, NULL) != MWL_OK)
        abort();
    return vm;
}

static run_row *run_of(world *w, const char *id) {
    for (size_t i = 0; i < w->n_runs; i++)
        if (strcmp(w->runs[i].id, id) == 0) return &w->runs[i];
    return NULL;
}

/* One Result, and never another after it was shown. */
static void show(world *w, const char *id, mwl_store_state state, mwl_store_text result) {
    char text[200];
    run_row *r = run_of(w, id);
    snprintf(text, sizeof text, "%s %.*s", mwl_store_state_name(state), (int)result.len, result.at);
    if (*r->shown && strcmp(r->shown, text) != 0)
        violation(w, "run %s has two Results: %s and %s", id, r->shown, text);
    if (!*r->shown) w->n.ended++;
    if (!*r->shown) w->n.failed += state != MWL_STORE_DONE;
    snprintf(r->shown, sizeof r->shown, "%s", text);
}

static void on_ended(void *ctx, const mwl_durable_ended *ended) {
    world *w = ((worker *)ctx)->world;
    if (ended->state != MWL_STORE_STUCK) show(w, ended->id, ended->state, ended->result);
}

bool worker_begin(worker *k) {
    world *w = k->world;
    const mwl_clock clock = {read_clock, k};
    static const char *const remote[] = {REMOTE, NULL};
    const mwl_durable_options options = {.far_ns = 5 * S,
                                         .remote = remote,
                                         .ended = on_ended,
                                         .allowed = on_allowed,
                                         .loaded = on_loaded,
                                         .ctx = k};
    k->store.base.ops = &faulty_ops;
    k->store.next = GOOD;
    k->store.world = w;
    if (mwl_store_memory_open(w->memory, &k->store.real) != MWL_OK) return false;
    k->vm = make_vm(&clock, k, NULL);
    return k->store.base.ops->join(&k->store.base, "worker") == MWL_OK &&
           mwl_durable_new(k->vm, &options, &k->driver) == MWL_OK;
}

/* The memory of the process is gone: what its runs were, and the work that the store may have. */
void worker_die(worker *k) {
    world *w = k->world;
    if (!k->vm) return;
    w->n.died++;
    if (k->work) mwl_durable_forget(k->work);
    k->work = NULL;
    k->work_done = false;
    mwl_durable_free(k->driver);
    for (size_t i = w->n_calls; i-- > 0;)
        if (w->calls[i].of == k) forget_call(w, i);
    mwl_vm_free(k->vm);
    k->vm = NULL;
    k->driver = NULL;
    k->asleep = k->hungry = 0;
    k->draining = false;
}

/* ---- workers outside ------------------------------------------------------------------------- */

static void see_call(void *ctx, const char *run, const mwl_store_wait *wait, uint32_t attempt) {
    struct taken *t = ctx;
    snprintf(t->run, sizeof t->run, "%s", run);
    snprintf(t->key, sizeof t->key, "%s", wait->name);
    t->number = wait->number;
    t->attempt = attempt;
}

/* It may be slower than its lease: then two have the call, and the first result counts. */
static void settle_outside(world *w, const struct taken *t) {
    char body[40];
    run_row *r = run_of(w, t->run);
    snprintf(body, sizeof body, "{\"value\":%u}", ++w->results);
    const mwl_store_message m = {.run = t->run,
                                 .kind = MWL_STORE_ANSWER,
                                 .name = t->key,
                                 .key = t->key,
                                 .body = {body, strlen(body)},
                                 .now_wall_ns = w->time};
    if (w->asker->ops->post(w->asker, &m) != MWL_OK) return;
    if (r->settled) violation(w, "%s was settled twice", t->key);
    r->settled = w->results;
    w->n.outside++;
}

void outside_turn(world *w) {
    struct taken *t = &w->taken, other = {.attempt = 0};
    const mwl_store_call renew = {
        .run = t->run, .number = t->number, .attempt = t->attempt, .lease_ns = 2 * S};
    const mwl_store_call take = {.provider = REMOTE, .lease_ns = 2 * S};
    (void)w->asker->ops->take_call(w->asker, &take, see_call, &other);
    if (!t->attempt) {
        *t = other;
    } else if (other.attempt) { /* another worker outside is quicker with its own */
        if (strcmp(other.key, t->key) == 0 && other.attempt <= t->attempt)
            violation(w, "%s was given twice with one attempt", t->key);
        settle_outside(w, &other);
    } else if (roll(w, 3) == 0) {
        (void)w->asker->ops->take_call(w->asker, &renew, NULL, NULL);
    } else {
        settle_outside(w, t);
        t->attempt = 0;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static int64_t store_now(void *ctx) { return ((const world *)ctx)->time; }

static bool accept_run(world *w, size_t i) {
    run_row *r = &w->runs[i];
    uint8_t id[16];
    r->flow = (size_t)roll(w, w->flows->n);
    snprintf(r->id, sizeof r->id, "r%u", (unsigned)i);
    mwl_program_id(w->flows->list[r->flow], id);
    const mwl_store_start start = {r->id, id, "flow", {"{}", 2}, 1};
    r->accepted = true;
    return w->asker->ops->put_program(w->asker, id, "flow", w->flows->images[r->flow],
                                      w->flows->sizes[r->flow], 1) == MWL_OK &&
           w->asker->ops->start(w->asker, &start) == MWL_OK;
}

bool world_begin(world *w, const flows *f, uint64_t seed, planted lie) {
    memset(w, 0, sizeof *w);
    w->lie = lie;
    w->rng = seed * UINT64_C(0x2545f4914f6cdd1d) + 1;
    w->flows = f;
    w->time = S;
    w->faults = true;
    any_world = w;
    if (mwl_store_memory_new(store_now, w, LEASE, &w->memory) != MWL_OK) return false;
    if (mwl_store_memory_open(w->memory, &w->asker) != MWL_OK) return false;
    w->n_runs = 1 + (size_t)roll(w, RUNS);
    for (size_t i = 0; i < w->n_runs; i++)
        if (!accept_run(w, i)) return false;
    w->committed = (struct committed){
        .vm = make_vm(NULL, NULL, keep_call), .programs = f->list, .n_programs = f->n};
    for (size_t i = 0; i < WORKERS; i++) w->workers[i].world = w;
    return worker_begin(&w->workers[0]);
}

void world_end(world *w) {
    for (size_t i = 0; i < WORKERS; i++) worker_die(&w->workers[i]);
    mwl_vm_free(w->committed.vm);
    mwl_store_memory_free(w->memory);
    any_world = NULL;
}

/* ---- checks ---------------------------------------------------------------------------------- */

static bool see_row(void *ctx, const mwl_store_row *row) {
    world *w = ctx;
    run_row *r = run_of(w, row->id);
    if (row->version < r->version)
        violation(w, "run %s went back from version %d to %d", r->id, (int)r->version,
                  (int)row->version);
    r->version = row->version;
    if (row->state >= MWL_STORE_DONE && row->state <= MWL_STORE_ABORTED)
        show(w, row->id, row->state, row->result);
    else if (*r->shown)
        violation(w, "run %s was over, and is %s again", r->id, mwl_store_state_name(row->state));
    return true;
}

void check_rows(world *w) {
    const mwl_store_query query = {.id = NULL};
    (void)w->asker->ops->list(w->asker, &query, see_row, w);
}

bool all_over(world *w) {
    check_rows(w);
    for (size_t i = 0; i < w->n_runs; i++)
        if (!*w->runs[i].shown) return false;
    return true;
}

/* Each answer is a number of its own: [4,4] would be one answer for two waits. */
static void check_answers(world *w, const run_row *r) {
    int a, b;
    const char *list = strchr(r->shown, '[');
    if (list && sscanf(list, "[%d,%d]", &a, &b) == 2 && a == b)
        violation(w, "run %s got one answer twice: %s", r->id, r->shown);
}

/* What was acknowledged is what the run has got. */
static void check_outside(world *w, const run_row *r) {
    unsigned value;
    const char *list = strchr(r->shown, '[');
    if (list && sscanf(list, "[%u]", &value) == 1 && value != r->settled)
        violation(w, "run %s has %s, and was settled with %u", r->id, r->shown, r->settled);
}

static void check_cleanup(world *w, const run_row *r) {
    size_t n = 0, other = 0;
    for (size_t i = 0; i < w->n_keys; i++) {
        bool its = strncmp(w->keys[i].key, r->id, strlen(r->id)) == 0 &&
                   w->keys[i].key[strlen(r->id)] == '.';
        n += its && w->keys[i].cleanup;
        other += its && !w->keys[i].cleanup;
    }
    if (n > 1) violation(w, "run %s cleaned up %zu times", r->id, n);
    if (!n && other) violation(w, "run %s did not clean up: %s", r->id, r->shown);
}

void check_end(world *w) {
    for (size_t i = 0; i < w->n_runs; i++) {
        const run_row *r = &w->runs[i];
        if (!*r->shown) violation(w, "run %s has not ended", r->id);
        if (r->flow == WITH_ANSWERS) check_answers(w, r);
        if (r->flow == WITH_REMOTE) check_outside(w, r);
        if (r->flow == WITH_CLEANUP && strncmp(r->shown, "aborted", 7) != 0) check_cleanup(w, r);
    }
}
