/* crash.c: `mwl-crash MODE N SEED`, in the current folder: three durable runs in runs.db, to their
 * end, on a file system that ends the process at its N-th operation, or fails there (shim.h). What
 * was acknowledged, dispatched and shown is appended to `history`, which tests/durable/checker.py
 * reads. Started again, it goes on with what is there.
 *
 * Exit status: 0 all runs are over (the number of operations is printed), 42 ended by the shim, 1 a
 * violation. */
#include "tests/durable/committed.h"
#include "tests/unit/run_flow.h"
#include "tests/crash/shim.h"

#include "mwl_durable.h"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#define S INT64_C(1000000000)
#define EFFECT "mwl:provider.call/crash/effect/v1"
#define DOCUMENT                                                                                   \
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" EFFECT                 \
    "\",\"codePrefix\":\"Crash\",\"description\":\"d\",\"parameters\":{\"type\":\"object\","       \
    "\"properties\":{\"text\":{\"type\":\"string\"}}},"                                            \
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}"
#define DO(what) "{'provider':'" EFFECT "','with':{'text':'{{ `" what " ` + crash.any() }}'}}"
enum { RUNS = 3, CALLS = 32, TURNS = 5000, REPEATS = 200 };

static const char definition[] = FLOW("'a':{'action':'Call','call':" DO(
    "one") ",'next':'n'},"
           "'n':{'action':'Sleep','for':'PT2H','next':'b'},"
           "'b':{'action':'Gather','calls':[" DO("left") "," DO(
               "right") "],'next':'w'},"
                        "'w':{'action':'Call','call':{'provider':'mwl:provider.call/mwlvm/answer/v1','with':"
                        "{'name':'go'}},'next':'c','output':'{{ [step.result.value] }}'},"
                        "'c':{'action':'Call','call':" DO(
                            "last") ",'output':'{{ step.input }}','next':'z'},"
                                    "'z':{'action':'Return','value':'{{ {`answers`: step.input} }}'}");

static struct {
    mwl_store *store, *asker;
    mwl_vm *vm;
    mwl_durable *driver;
    mwl_program *program;
    struct committed committed;
    mwl_call *calls[CALLS];
    size_t n_calls, n_over;
    int64_t time;
    int history;
    unsigned any;
} w;

static void note(const char *line) {
    char text[600];
    int n = snprintf(text, sizeof text, "%s\n", line);
    if (write(w.history, text, (size_t)n) != n) abort();
}

static void fail(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

/* ---- the Flow's world ------------------------------------------------------------------------ */

/* Another text in each process and at each evaluation. */
static mwl_value any(mwl_fn *fn, const mwl_value *args, size_t n) {
    char text[60];
    (void)args, (void)n;
    snprintf(text, sizeof text, "%ld-%u", (long)getpid(), ++w.any);
    return mwl_string(mwl_fn_heap(fn), text, strlen(text));
}
static const mwl_function_def functions[] = {
    {"crash.any", any, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "crash.any() -> string"}};

static void effect(mwl_call *call, void *user) {
    char line[500];
    bool knows = true;
    mwl_value key = mwl_call_key(call);
    const char *run = mwl_run_id(mwl_call_run(call));
    (void)user;
    mwl_status status = committed_knows(w.asker, &w.committed, run, mwl_call_number(call), &knows);
    if (status == MWL_OK && !knows)
        fail(mwl_as_text(key, NULL), "no snapshot in the store knows it");
    snprintf(line, sizeof line, "effect %s %s %u %s", run, mwl_as_text(key, NULL),
             mwl_call_attempt(call), mwl_as_text(mwl_get(mwl_call_arguments(call), "text"), NULL));
    note(line);
    mwl_value_drop(mwl_call_heap(call), key);
    if (w.n_calls == CALLS) abort();
    w.calls[w.n_calls++] = call;
}

static void nothing(mwl_call *call, void *user) { (void)call, (void)user; }

static void read_clock(void *ctx, mwl_instant *out) {
    (void)ctx;
    out->mono_ns = w.time;
    out->wall_ns = 1000000 * S + w.time;
}

static mwl_vm *make_vm(void (*start)(mwl_call *, void *)) {
    const mwl_call_provider provider = {.uri = EFFECT, .document = DOCUMENT, .start = start};
    mwl_config config = mwl_config_default();
    mwl_vm *vm = NULL;
    config.hold = true;
    config.clock = (mwl_clock){read_clock, NULL};
    if (mwl_vm_new(&config, &vm) != MWL_OK || mwl_std_register(vm, NULL) != MWL_OK ||
        mwl_vm_functions(vm, functions, 1) != MWL_OK ||
        mwl_vm_provide(vm, &provider, 1, NULL, NULL) != MWL_OK ||
        mwl_vm_provide(vm, mwl_durable_answer(), 1, NULL, NULL) != MWL_OK)
        abort();
    return vm;
}

static void on_ended(void *ctx, const mwl_durable_ended *run) {
    char line[500];
    (void)ctx;
    if (run->state > MWL_STORE_FAILED) fail(run->id, run->result.at);
    snprintf(line, sizeof line, "result %s %.*s", run->id, (int)run->result.len, run->result.at);
    note(line);
}

/* ---- repeating what the store refuses -------------------------------------------------------- */

static void must(mwl_store *s, mwl_status status, const char *what) {
    if (status != MWL_OK) fail(what, mwl_store_why(s));
}

/* A disk that is full, or that fails once, accepts the same later. */
static bool again(mwl_store *s, mwl_status status, unsigned *n, const char *what) {
    if (status != MWL_E_IO) return false;
    if (++*n > REPEATS) fail(what, mwl_store_why(s));
    return true;
}

static void open_stores(void) {
    unsigned n = 0;
    mwl_status status;
    while (again(w.store, status = mwl_store_sqlite("runs.db", true, &w.store), &n, "open"))
        mwl_store_close(w.store);
    must(w.store, status, "open");
    while (again(w.asker, status = mwl_store_sqlite("runs.db", false, &w.asker), &n, "open again"))
        mwl_store_close(w.asker);
    must(w.asker, status, "open again");
}

static void accept_runs(const void *image, size_t size) {
    uint8_t id[16];
    unsigned n = 0;
    mwl_status status;
    mwl_program_id(w.program, id);
    while (again(w.store, status = w.store->ops->put_program(w.store, id, "p", image, size, 1), &n,
                 "program"))
        continue;
    must(w.store, status, "program");
    for (int i = 0; i < RUNS; i++) {
        char name[20], line[40];
        snprintf(name, sizeof name, "r%d", i);
        snprintf(line, sizeof line, "start r%d", i);
        const mwl_store_start start = {name, id, "p", {"{}", 2}, 1};
        while (again(w.store, status = w.store->ops->start(w.store, &start), &n, "start")) continue;
        must(w.store, status, "start");
        note(line);
    }
}

/* One for each run, with a key: repeated after a crash it is the same answer. */
static void answer(int run) {
    char id[20], body[20], line[60];
    unsigned n = 0;
    mwl_status status;
    snprintf(id, sizeof id, "r%d", run);
    snprintf(body, sizeof body, "%d", 100 + run);
    snprintf(line, sizeof line, "doubt r%d %s", run, body);
    note(line);
    snprintf(line, sizeof line, "answer r%d %s", run, body);
    const mwl_store_message m = {
        .run = id, .name = "go", .key = "k", .body = {body, strlen(body)}, .now_wall_ns = 1};
    while (again(w.asker, status = w.asker->ops->post(w.asker, &m), &n, "answer")) continue;
    if (status == MWL_OK)
        note(line);
    else if (status != MWL_E_DUPLICATE && status != MWL_E_STATE)
        must(w.asker, status, "answer");
}

static bool count_over(void *ctx, const mwl_store_row *row) {
    (void)ctx;
    w.n_over += row->state >= MWL_STORE_DONE;
    return true;
}

static bool all_over(void) {
    const mwl_store_query query = {.id = NULL};
    w.n_over = 0;
    return w.asker->ops->list(w.asker, &query, count_over, NULL) == MWL_OK && w.n_over == RUNS;
}

/* ---- turns ----------------------------------------------------------------------------------- */

static void turn(int i) {
    unsigned n = 0;
    bool more;
    mwl_status status;
    (void)mwl_vm_pump(w.vm, MWL_NO_BUDGET);
    (void)mwl_durable_collect(w.driver);
    mwl_durable_work *work = mwl_durable_take(w.driver, true);
    if (!work) abort();
    while (again(w.store, status = mwl_durable_work_do(work, w.store), &n, "work")) continue;
    must(w.store, status, "work");
    must(w.store, mwl_durable_done(w.driver, work), "done");
    if (w.n_calls) {
        mwl_call *call = w.calls[--w.n_calls];
        mwl_call_succeed(call, mwl_number(1));
    }
    if (i % 5 == 0) (void)w.store->ops->idle(w.store, &more); /* a failure is found again */
    if (i % 4 == 3) w.time += 1800 * S;
    if (i % 7 == 6) answer(i / 7 % RUNS);
}

static mwl_program *make_program(mwl_asm_result *out) {
    static const mwl_function_def *const all[] = {&functions[0], NULL};
    const mwl_asm_document library[] = {
        {EFFECT, DOCUMENT, true},
        {mwl_durable_answer()->uri, mwl_durable_answer()->document, false},
        {NULL, NULL, false}};
    const mwl_asm_options options = {.library = library, .functions = all};
    mwl_program *program = NULL;
    char *text = flow_quoted(definition);
    for (char *at = text; (at = strchr(at, '`')); at++) *at = '\''; /* texts in expressions */
    if (mwl_assemble(text, strlen(text), &options, out) != MWL_OK)
        fail("assemble", out->diagnostics);
    free(text);
    if (mwl_program_load(NULL, out->image, out->image_size, MWL_COPY, &program, NULL) != MWL_OK)
        abort();
    return program;
}

int main(int argc, char **argv) {
    static const char *const modes[] = {"count", "exit", "dropped", "kept",
                                        "torn",  "full", "error",   "read"};
    enum shim_mode mode = SHIM_COUNT;
    const mwl_durable_options options = {.far_ns = 60 * S, .events = true, .ended = on_ended};
    mwl_asm_result out;
    unsigned n = 0;
    int i = 0;
    if (argc != 4) return 2;
    for (size_t k = 0; k < sizeof modes / sizeof *modes; k++)
        if (strcmp(argv[1], modes[k]) == 0) mode = (enum shim_mode)k;
    shim_install(mode, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
    w.history = open("history", O_WRONLY | O_APPEND | O_CREAT, 0600);
    w.time = S;
    w.program = make_program(&out);
    w.committed =
        (struct committed){.vm = make_vm(nothing), .programs = &w.program, .n_programs = 1};
    open_stores();
    accept_runs(out.image, out.image_size);
    mwl_status status;
    while (again(w.store, status = w.store->ops->join(w.store, "crash"), &n, "join")) continue;
    must(w.store, status, "join");
    w.vm = make_vm(effect);
    if (mwl_durable_new(w.vm, &options, &w.driver) != MWL_OK) return 1;
    for (; i < TURNS && !all_over(); i++) turn(i);
    if (i == TURNS) fail("runs", "they do not end");
    mwl_durable_free(w.driver);
    mwl_vm_free(w.vm);
    mwl_vm_free(w.committed.vm);
    mwl_store_close(w.asker);
    mwl_store_close(w.store);
    mwl_program_release(w.program);
    mwl_asm_free(&out);
    printf("%llu\n", (unsigned long long)shim_count());
    return 0;
}
