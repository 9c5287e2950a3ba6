/* durable.c: durable transitions a second. `mwl-bench-durable [FOLDER]`: on SQLite, by the size of
 * the group, beside SQLite alone doing the same writes. `mwl-bench-durable --chains FOLDER RUNS`:
 * runs of ten Steps from their start to their end, as the peers do them. `mwl-bench-durable
 * --postgres URI WORKERS GROUP`: on a database of PostgreSQL, each worker a process with GROUP
 * runs. bench/durable/run.py runs all.
 *
 * A transition is: an effect has been answered, the run goes on to the next one, its snapshot is in
 * the store, and the effect is released. B runs are in flight, so a group has B snapshots. "SQLite
 * alone" inserts the same rows into the same table with the same statement, on a connection that is
 * opened in the same way, in transactions of B. "With events" each transition also has its two
 * rows in the log, as the command writes them, on both sides. "With its thread" is the driver with
 * its writer and B runs; "with the fold" has the fold of the journal in it. Each is measured in
 * several rounds, in turn, and the table has medians: other work on the machine meets all of them.
 */
#include "mwl_asm.h"
#include "mwl_durable.h"
#include "mwl_std.h"

#include <semaphore.h>
#include <sqlite3.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define EFFECT "mwl:provider.call/bench/effect/v1"
static const char document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\",\"uri\":\"" EFFECT
    "\",\"codePrefix\":\"Bench\",\"description\":\"d\",\"parameters\":{\"type\":\"object\"},"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";
static const char definition[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{"
    "\"a\":{\"action\":\"Call\",\"call\":{\"provider\":\"" EFFECT "\"},\"output\":\"{{ step.input "
    "}}\",\"next\":\"b\"},"
    "\"b\":{\"action\":\"Call\",\"call\":{\"provider\":\"" EFFECT "\"},\"output\":\"{{ step.input "
    "}}\",\"next\":\"a\"}}}";
static const char input[] =
    "{\"input\":{\"order\":417,\"customer\":{\"name\":\"Ada Lovelace\",\"street\":\"12 St James's "
    "Square\",\"city\":\"London\",\"country\":\"GB\"},\"lines\":[{\"sku\":\"A-1001\",\"n\":2,"
    "\"price\":19.9},{\"sku\":\"B-2002\",\"n\":1,\"price\":249},{\"sku\":\"C-3003\",\"n\":12,"
    "\"price\":0.35}],\"currency\":\"EUR\",\"note\":\"leave it with the neighbour if nobody "
    "answers the door; ring twice\",\"express\":false}}";

#define STEP(name, next)                                                                           \
    "\"" name "\":{\"action\":\"Call\",\"call\":{\"provider\":\"" EFFECT "\"},"                    \
    "\"output\":\"{{ step.input }}\",\"next\":\"" next "\"},"
enum { CHAIN = 10 }; /* Steps with an effect */
static const char chain[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\",\"steps\":{" STEP(
        "a", "b") STEP("b", "c") STEP("c", "d") STEP("d", "e") STEP("e", "f") STEP("f", "g")
        STEP("g", "h") STEP("h", "i") STEP("i", "j")
            STEP("j", "z") "\"z\":{\"action\":\"Return\"}}}";

enum { ROUNDS = 7, MOST = 10000, SECONDS = 1 }; /* transitions and seconds: of one round */

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of this process, all threads, in microseconds. */
static double processor(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void must(bool good, const char *what) {
    if (good) return;
    fprintf(stderr, "mwl-bench-durable: %s\n", what);
    exit(1);
}

static unsigned long effects;
static void effect(mwl_call *call, void *user) {
    (void)user;
    effects++;
    mwl_call_succeed(call, mwl_null());
}

struct world {
    mwl_store *store;
    mwl_vm *vm;
    mwl_durable *driver;
    mwl_durable_writer *writer;
    sem_t wake;
};

static void remove_files(const char *path) {
    static const char *const ends[] = {"", "-wal", "-shm", "-owner"};
    char name[4200];
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        snprintf(name, sizeof name, "%s%s", path, ends[i]);
        (void)unlink(name);
    }
}

static void accept_runs(struct world *w, const char *flow, unsigned runs) {
    const mwl_asm_provider provider = {"provider", document, sizeof document - 1};
    const mwl_asm_options options = {.providers = &provider, .n_providers = 1};
    mwl_asm_result out;
    mwl_program *program = NULL;
    uint8_t id[16];
    must(mwl_assemble(flow, strlen(flow), &options, &out) == MWL_OK, "assemble");
    must(mwl_program_load(NULL, out.image, out.image_size, MWL_COPY, &program, NULL) == MWL_OK,
         "load");
    mwl_program_id(program, id);
    must(w->store->ops->put_program(w->store, id, "p", out.image, out.image_size, 1) == MWL_OK,
         "program");
    char(*names)[24] = calloc(runs, sizeof *names);
    mwl_store_start *starts = calloc(runs, sizeof *starts);
    must(names && starts, "out of memory");
    for (unsigned i = 0; i < runs; i++) {
        snprintf(names[i], sizeof *names, "run-%u", i);
        starts[i] = (mwl_store_start){names[i], id, "p", {input, sizeof input - 1}, 1};
    }
    size_t bad;
    must(w->store->ops->start_all(w->store, starts, runs, &bad) == MWL_OK, "start");
    free(names);
    free(starts);
    mwl_program_release(program);
    mwl_asm_free(&out);
}

/* A worker of a store that is open. */
static void join_world(struct world *w, const mwl_durable_options *options) {
    const mwl_call_provider provider = {.uri = EFFECT, .document = document, .start = effect};
    mwl_config config = mwl_config_default();
    config.hold = true;
    must(w->store->ops->join(w->store, "bench") == MWL_OK, mwl_store_why(w->store));
    must(mwl_vm_new(&config, &w->vm) == MWL_OK, "VM");
    must(mwl_std_register(w->vm, NULL) == MWL_OK, "standard library");
    must(mwl_vm_provide(w->vm, &provider, 1, NULL, NULL) == MWL_OK, "provider");
    must(mwl_durable_new(w->vm, options, &w->driver) == MWL_OK, "driver");
    effects = 0;
}

static void open_world(struct world *w, const char *path, unsigned runs, bool events) {
    const mwl_durable_options options = {.events = events};
    memset(w, 0, sizeof *w);
    remove_files(path);
    must(mwl_store_sqlite(path, true, &w->store) == MWL_OK, mwl_store_why(w->store));
    accept_runs(w, definition, runs);
    join_world(w, &options);
}

static void close_world(struct world *w, const char *path) {
    mwl_durable_free(w->driver);
    mwl_vm_free(w->vm);
    mwl_store_close(w->store);
    remove_files(path);
}

static void turn(struct world *w, bool poll) {
    (void)mwl_vm_pump(w->vm, MWL_NO_BUDGET);
    (void)mwl_durable_collect(w->driver);
    mwl_durable_work *work = mwl_durable_take(w->driver, poll);
    if (!work) return;
    must(mwl_durable_work_do(work, w->store) == MWL_OK, mwl_store_why(w->store));
    must(mwl_durable_done(w->driver, work) == MWL_OK, "done");
}

/* What one round found: transitions a second, and microseconds of the processor for one. */
struct round {
    double alone, driver, part, threaded, folded; /* part: driver in percent of alone */
    double alone_cost, driver_cost;
};
#define PAIR 2 /* without and with events */

static void driver_round(const char *path, unsigned group, bool events, struct round *r) {
    struct world w;
    bool more = true;
    open_world(&w, path, group, events);
    while (mwl_durable_runs(w.driver) < group) turn(&w, true);
    for (int i = 0; i < 3; i++) turn(&w, false);
    unsigned long first = effects;
    double begin = now(), busy = processor(), end;
    do turn(&w, false);
    while ((end = now()) - begin < SECONDS && effects - first < MOST);
    double n = (double)(effects - first);
    r->driver = n / (end - begin);
    r->driver_cost = (processor() - busy) / n;
    while (more) must(w.store->ops->idle(w.store, &more) == MWL_OK, "idle");
    r->folded = n / (now() - begin);
    close_world(&w, path);
}

static void wake(void *ctx) { sem_post(ctx); }

/* With the writer's thread: what changes while it commits is the next group. */
static double writer_rate(const char *path, unsigned runs, bool events) {
    struct world w;
    open_world(&w, path, runs, events);
    while (mwl_durable_runs(w.driver) < runs) turn(&w, true);
    sem_init(&w.wake, 0, 0);
    must(mwl_durable_writer_new(w.store, wake, &w.wake, &w.writer) == MWL_OK, "writer");
    unsigned long first = effects;
    double begin = now(), end;
    do {
        (void)mwl_vm_pump(w.vm, MWL_NO_BUDGET);
        (void)mwl_durable_collect(w.driver);
        mwl_durable_work *work =
            mwl_durable_writer_busy(w.writer) ? NULL : mwl_durable_take(w.driver, false);
        if (work) mwl_durable_writer_give(w.writer, work);
        while (sem_wait(&w.wake) != 0) continue;
        if ((work = mwl_durable_writer_get(w.writer)))
            must(mwl_durable_done(w.driver, work) == MWL_OK, "done");
    } while ((end = now()) - begin < SECONDS && effects - first < MOST);
    double n = (double)(effects - first);
    mwl_durable_writer_stop(w.writer);
    sem_destroy(&w.wake);
    close_world(&w, path);
    return n / (end - begin);
}

static void *snapshot;
static size_t snapshot_size;
static bool see_snapshot(void *ctx, const mwl_store_row *row) {
    (void)ctx;
    snapshot = malloc(row->size);
    must(snapshot != NULL, "out of memory");
    memcpy(snapshot, row->bytes, row->size);
    snapshot_size = row->size;
    return false;
}

static void find_snapshot(const char *path) {
    struct world w;
    const mwl_store_query query = {.snapshots = true};
    open_world(&w, path, 1, false);
    for (int i = 0; i < 4; i++) turn(&w, i == 0);
    must(w.store->ops->list(w.store, &query, see_snapshot, NULL) == MWL_OK, "list");
    close_world(&w, path);
}

/* As stdlib/durable/store_sqlite.c opens it. */
static sqlite3 *open_alone(const char *path) {
    static const char setup[] = "pragma journal_mode = wal; pragma synchronous = full;"
                                "pragma trusted_schema = off; pragma wal_autocheckpoint = 0;"
                                "pragma cache_size = -2048";
    sqlite3 *db = NULL;
    must(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK,
         "sqlite3_open");
    must(sqlite3_exec(db, setup, NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    return db;
}

static void insert_event(sqlite3 *db, sqlite3_stmt *log, unsigned run, const char *kind,
                         const char *text) {
    sqlite3_bind_int64(log, 1, run);
    sqlite3_bind_int64(log, 2, 1700000000000000000 + run);
    sqlite3_bind_text(log, 3, kind, -1, SQLITE_STATIC);
    sqlite3_bind_text(log, 4, text, -1, SQLITE_STATIC);
    must(sqlite3_step(log) == SQLITE_DONE, sqlite3_errmsg(db));
    sqlite3_reset(log);
}

static void insert_group(sqlite3 *db, sqlite3_stmt *put, sqlite3_stmt *log, void **bytes,
                         unsigned group, long n) {
    must(sqlite3_exec(db, "begin immediate", NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
    for (unsigned i = 0; i < group; i++, n++) {
        memcpy(bytes[i], &n, sizeof n);
        sqlite3_bind_int64(put, 1, i);
        sqlite3_bind_int64(put, 2, n);
        sqlite3_bind_blob64(put, 3, bytes[i], snapshot_size, SQLITE_STATIC);
        must(sqlite3_step(put) == SQLITE_DONE, sqlite3_errmsg(db));
        sqlite3_reset(put);
        if (!log) continue;
        insert_event(db, log, i, "step", "a");
        insert_event(db, log, i, "call", EFFECT);
    }
    must(sqlite3_exec(db, "commit", NULL, NULL, NULL) == SQLITE_OK, sqlite3_errmsg(db));
}

/* The same rows into the same table, and nothing else. Each run has its own snapshot. */
static void alone_round(const char *path, unsigned group, bool events, struct round *r) {
    struct world w;
    sqlite3_stmt *put = NULL, *log = NULL;
    void **bytes = calloc(group, sizeof *bytes);
    must(bytes != NULL, "out of memory");
    for (unsigned i = 0; i < group; i++) {
        must((bytes[i] = malloc(snapshot_size)) != NULL, "out of memory");
        memcpy(bytes[i], snapshot, snapshot_size);
    }
    open_world(&w, path, group, false);
    sqlite3 *db = open_alone(path);
    if (events)
        sqlite3_prepare_v3(db, "insert into event(run, at_ns, kind, body) values(?, ?, ?, ?)", -1,
                           SQLITE_PREPARE_PERSISTENT, &log, NULL);
    sqlite3_prepare_v3(db, "insert into journal(run, version, bytes) values(?, ?, ?)", -1,
                       SQLITE_PREPARE_PERSISTENT, &put, NULL);
    long n = 0;
    double begin = now(), busy = processor(), end;
    do {
        insert_group(db, put, log, bytes, group, n);
        n += group;
    } while ((end = now()) - begin < SECONDS && n < MOST);
    r->alone = (double)n / (end - begin);
    r->alone_cost = (processor() - busy) / (double)n;
    sqlite3_finalize(put);
    sqlite3_finalize(log);
    sqlite3_close(db);
    close_world(&w, path);
    for (unsigned i = 0; i < group; i++) free(bytes[i]);
    free(bytes);
}

static int by_size(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Of one member of all rounds. */
static double median(const struct round *rounds, size_t offset) {
    double all[ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        memcpy(&all[i], (const char *)&rounds[i] + offset, sizeof all[i]);
    qsort(all, ROUNDS, sizeof *all, by_size);
    return all[ROUNDS / 2];
}
#define MEDIAN(member) median(rounds, offsetof(struct round, member))

static void show(unsigned group, bool events, const struct round *rounds) {
    printf("| %u%s | %.0f | %.0f | %.0f %% | %.0f | %.0f | %.1f µs | %.1f µs |\n", group,
           events ? " with events" : "", MEDIAN(alone), MEDIAN(driver), MEDIAN(part),
           MEDIAN(threaded), MEDIAN(folded), MEDIAN(alone_cost), MEDIAN(driver_cost));
    fflush(stdout);
}

static void measure(const char *path, unsigned group) {
    struct round all[PAIR][ROUNDS];
    for (int i = 0; i < ROUNDS; i++)
        for (int events = 0; events < PAIR; events++) {
            struct round *r = &all[events][i];
            alone_round(path, group, events, r);
            driver_round(path, group, events, r);
            r->part = 100 * r->driver / r->alone;
            r->threaded = writer_rate(path, group, events);
        }
    for (int events = 0; events < PAIR; events++) show(group, events, all[events]);
}

/* ---- whole runs ------------------------------------------------------------------------------ */

static unsigned long n_ended;
static void on_ended(void *ctx, const mwl_durable_ended *run) {
    (void)ctx;
    must(run->state == MWL_STORE_DONE, "a run failed");
    n_ended++;
}

/* Steps a second of runs that are accepted before: claimed, ten Steps, their end stored. As the
 * command does it, with events and its thread. */
static double chain_rate(const char *path, unsigned runs) {
    const mwl_durable_options options = {.events = true, .ended = on_ended};
    struct world w;
    memset(&w, 0, sizeof w);
    remove_files(path);
    must(mwl_store_sqlite(path, true, &w.store) == MWL_OK, mwl_store_why(w.store));
    accept_runs(&w, chain, runs);
    double begin = now();
    join_world(&w, &options);
    sem_init(&w.wake, 0, 0);
    must(mwl_durable_writer_new(w.store, wake, &w.wake, &w.writer) == MWL_OK, "writer");
    n_ended = 0;
    for (bool poll = true; n_ended < runs;) {
        (void)mwl_vm_pump(w.vm, MWL_NO_BUDGET);
        (void)mwl_durable_collect(w.driver);
        mwl_durable_work *work =
            mwl_durable_writer_busy(w.writer) ? NULL : mwl_durable_take(w.driver, poll);
        if (work) mwl_durable_writer_give(w.writer, work);
        while (sem_wait(&w.wake) != 0) continue;
        if (!(work = mwl_durable_writer_get(w.writer))) continue;
        must(mwl_durable_done(w.driver, work) == MWL_OK, "done");
        poll = mwl_durable_more(w.driver);
    }
    double rate = (double)runs * CHAIN / (now() - begin);
    mwl_durable_writer_stop(w.writer);
    sem_destroy(&w.wake);
    close_world(&w, path);
    return rate;
}

static int chains(const char *folder, unsigned runs) {
    char path[4096];
    double all[ROUNDS];
    snprintf(path, sizeof path, "%s/mwl-bench-%ld.db", folder, (long)getpid());
    for (int i = 0; i < ROUNDS; i++) all[i] = chain_rate(path, runs);
    qsort(all, ROUNDS, sizeof *all, by_size);
    printf("%.0f\n", all[ROUNDS / 2]);
    return 0;
}

/* ---- PostgreSQL ------------------------------------------------------------------------------ */

/* One worker: takes its runs, says so, and begins when all have theirs. */
static void be_worker(const char *uri, unsigned group, int ready, int go, int result) {
    const mwl_durable_options options = {.most = group};
    struct world w;
    char byte = 0;
    memset(&w, 0, sizeof w);
    must(mwl_store_postgres(uri, false, 0, &w.store) == MWL_OK, mwl_store_why(w.store));
    join_world(&w, &options);
    while (mwl_durable_runs(w.driver) < group) turn(&w, true);
    for (int i = 0; i < 3; i++) turn(&w, false);
    must(write(ready, &byte, 1) == 1 && read(go, &byte, 1) >= 0, "pipe");
    unsigned long first = effects;
    double begin = now(), end;
    do turn(&w, false);
    while ((end = now()) - begin < SECONDS);
    double rate = (double)(effects - first) / (end - begin);
    must(write(result, &rate, sizeof rate) == sizeof rate, "pipe");
    mwl_durable_free(w.driver);
    mwl_vm_free(w.vm);
    mwl_store_close(w.store);
}

/* The sum of the rates of workers that work at the same time. The store has no runs before; those
 * of this measurement stay in it. */
static double postgres_rate(const char *uri, unsigned workers, unsigned group) {
    struct world w;
    int ready[2], go[2], result[2];
    double all = 0, one;
    char byte;
    memset(&w, 0, sizeof w);
    must(mwl_store_postgres(uri, true, 0, &w.store) == MWL_OK, mwl_store_why(w.store));
    accept_runs(&w, definition, workers * group);
    mwl_store_close(w.store);
    must(pipe(ready) == 0 && pipe(go) == 0 && pipe(result) == 0, "pipe");
    for (unsigned i = 0; i < workers; i++) {
        pid_t child = fork();
        must(child >= 0, "fork");
        if (child != 0) continue;
        close(go[1]);
        be_worker(uri, group, ready[1], go[0], result[1]);
        _exit(0);
    }
    close(go[0]);
    close(ready[1]);
    close(result[1]);
    for (unsigned i = 0; i < workers; i++) must(read(ready[0], &byte, 1) == 1, "a worker ended");
    close(go[1]);
    for (unsigned i = 0; i < workers; i++) {
        must(read(result[0], &one, sizeof one) == sizeof one, "a worker ended");
        all += one;
    }
    close(ready[0]);
    close(result[0]);
    while (wait(NULL) > 0) continue;
    return all;
}

/* One measurement: run.py makes a new database for each. */
static int postgres(int argc, char **argv) {
    must(argc == 5, "--postgres URI WORKERS GROUP");
    unsigned workers = (unsigned)strtoul(argv[3], NULL, 10);
    unsigned group = (unsigned)strtoul(argv[4], NULL, 10);
    printf("%.0f\n", postgres_rate(argv[2], workers, group));
    return 0;
}

int main(int argc, char **argv) {
    static const unsigned groups[] = {1, 10, 100, 1000};
    char path[4096];
    if (argc > 1 && strcmp(argv[1], "--postgres") == 0) return postgres(argc, argv);
    if (argc == 4 && strcmp(argv[1], "--chains") == 0)
        return chains(argv[2], (unsigned)strtoul(argv[3], NULL, 10));
    snprintf(path, sizeof path, "%s/mwl-bench-%ld.db", argc > 1 ? argv[1] : ".", (long)getpid());
    find_snapshot(path);
    printf("snapshots of %zu bytes; transitions a second\n\n", snapshot_size);
    printf(
        "| group | SQLite alone | driver | of SQLite | with its thread | with the fold | processor, "
        "alone | driver |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n");
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) measure(path, groups[i]);
    free(snapshot);
    return 0;
}
