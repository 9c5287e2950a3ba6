/* cmd_worker.c: `mwlvm worker --store URL`: a member of a fleet. Each of its threads has a VM, a
 * driver and a lease of its own in the store, claims runs and drives them. SIGTERM drains it: runs
 * go back to the store, and others take them. */
#include "tools/base/cmd.h"
#include "tools/durable/drive.h"
#include "tools/base/interrupt.h"
#include "tools/run/run_options.h"
#include "tools/durable/store.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MOST = 256, TICK_NS = 50000000 };
#define LEASE_LEAST INT64_C(100000000)

struct worker {
    struct store_line line;
    struct run_options run;
    const char *lease, *drain, *jobs, *keep, *keep_failed;
    bool until_idle;
    int64_t lease_ns, drain_ns;
    mwl_durable_keep kept;
    unsigned n_jobs;
};

/* One thread of it. */
struct member {
    const struct worker *worker;
    pthread_t thread;
    mwl_store *store;
    uv_loop_t loop;
    int status;
    bool threaded;
    atomic_bool working;
};

static const char head[] =
    "usage: mwlvm worker --store URL [OPTIONS]\n\n"
    "Runs what is in a store on PostgreSQL, as one of a fleet: claims runs that are new, due, have a\n"
    "message, or whose worker died, and drives them. The store is made if the database has none.\n"
    "Prints a line of JSON for each run that is over.\n\n";

static const char foot[] =
    "\nSIGTERM or Ctrl-C drains it: it claims nothing more, calls in progress may finish (--drain),\n"
    "and the runs go back to the store, where other workers take them. A second signal ends it at\n"
    "once. If a worker crashes, other workers take its runs when its lease is over; a call that was\n"
    "in progress is then made again, with the same key.\n\n"
    "A run that asks for something which this worker may not do (--allow-...) is stuck; `mwlvm\n"
    "resume` tries again.\n\n"
    "Example:\n"
    "  mwlvm run tools/examples/hello.json --store \"$STORE\" --id hello --detach && \\\n"
    "    mwlvm worker --store \"$STORE\" -j 2 --until-idle\n" CMD_STATUSES;

static const struct option options[] = {
#define AT(field) offsetof(struct worker, field)
    {"-j", OPTION_WORD, AT(jobs), "N", "threads; 1 unless given", NULL},
    {"--lease", OPTION_WORD, AT(lease), "DURATION",
     "others take its runs when it was not heard of for this long; PT4S unless given", NULL},
    {"--drain", OPTION_WORD, AT(drain), "DURATION",
     "how long calls at work may take to finish; PT10S unless given", NULL},
    {"--keep", OPTION_WORD, AT(keep), "DURATION",
     "how long runs that are done stay in the store; for ever unless given", NULL},
    {"--keep-failed", OPTION_WORD, AT(keep_failed), "DURATION",
     "with --keep: how long failed ones stay; P30D unless given", NULL},
    {"--until-idle", OPTION_FLAG, AT(until_idle), "",
     "end when no run is in memory and none is due", NULL},
    {"--quiet", OPTION_FLAG, AT(run.quiet), "", "no line for each run that is over", NULL},
    {"Providers", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--bind", OPTION_LIST, AT(run.bind_words), "URI=TARGET",
     "answer calls of the provider URI by another provider (a URI), or by "
     "scripted answers (a JSON file); may be repeated",
     NULL},
    {"--remote", OPTION_LIST, AT(run.remote_words), "URI",
     "calls of the provider URI are for workers outside, who ask `mwlvm serve` for "
     "them; may be repeated",
     NULL},
#undef AT
};

static int read_options(struct worker *w) {
    uint64_t n = 1;
    int status = w->jobs ? option_number("-j", w->jobs, 1, THREADS_MOST, &n) : CMD_OK;
    w->n_jobs = (unsigned)n;
    if (status != CMD_OK) return status;
    if (!store_is_shared(w->line.path))
        return cmd_usage("--store needs a URL such as postgresql://USER@HOST/DATABASE, not '%s'; a "
                         "file has one worker: `mwlvm resume --store FILE --unfinished`",
                         w->line.path);
    status = option_duration("--lease", w->lease ? w->lease : "PT4S", LEASE_LEAST, &w->lease_ns);
    if (status == CMD_OK)
        status = option_duration("--drain", w->drain ? w->drain : "PT10S", 0, &w->drain_ns);
    if (status == CMD_OK && w->keep_failed && !w->keep)
        status = cmd_usage("--keep-failed needs --keep");
    if (status == CMD_OK) status = store_keep_read(w->keep, w->keep_failed, &w->kept);
    return status;
}

/* ---- members --------------------------------------------------------------------------------- */

static bool on_ended(void *ctx, mwl_heap *heap, const mwl_durable_ended *run) {
    const struct member *m = ctx;
    (void)heap;
    if (!m->worker->run.quiet) drive_print_end(run);
    return false;
}

static bool on_allowed(void *ctx, const mwl_program *program, const char *name) {
    const struct member *m = ctx;
    const struct run_options *o = &m->worker->run;
    return permissions_check(&o->permissions, name, program, &o->binds) == CMD_OK;
}

static void *work(void *ctx) {
    struct member *m = ctx;
    const struct drive_worker as = {m->worker->drain_ns, on_allowed, m};
    const struct drive_how how = {.options = &m->worker->run,
                                  .store = m->store,
                                  .ended = on_ended,
                                  .ctx = m,
                                  .loop = &m->loop,
                                  .worker = &as,
                                  .idle_ns =
                                      drive_idle_ns(m->worker->line.path, m->worker->lease_ns),
                                  .keep = m->worker->keep ? &m->worker->kept : NULL,
                                  .until_idle = m->worker->until_idle};
    bool left;
    m->status = drive(&how, &left);
    mwl_store_close(m->store); /* what it still has goes back */
    m->store = NULL;
    atomic_store(&m->working, false);
    return NULL;
}

static int open_member(struct member *m, const struct worker *w, unsigned i) {
    char who[200], host[100] = "";
    m->worker = w;
    (void)gethostname(host, sizeof host - 1);
    snprintf(who, sizeof who, "%s, process %ld, thread %u", host, (long)getpid(), i);
    int status = store_open_shared(w->line.path, w->lease_ns, &m->store);
    if (status != CMD_OK) return status;
    mwl_status joined = m->store->ops->join(m->store, who);
    if (joined != MWL_OK) return store_fail(m->store, joined);
    int failed = uv_loop_init(&m->loop);
    return failed ? cmd_fail("event loop: %s", uv_strerror(failed)) : CMD_OK;
}

/* Signals are for the main thread. */
static int start_member(struct member *m) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    atomic_store(&m->working, true);
    int failed = pthread_create(&m->thread, NULL, work, m);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    m->threaded = !failed;
    if (!failed) return CMD_OK;
    atomic_store(&m->working, false);
    return cmd_fail("threads: %s", strerror(failed));
}

/* ---- the main thread ------------------------------------------------------------------------- */

static void nothing(void *ctx) { (void)ctx; } /* each thread looks for requests by itself */

static void watch(struct member *members, unsigned n) {
    int answered = 0;
    for (unsigned i = 0; i < n;) {
        if (!atomic_load(&members[i].working)) {
            i++;
            continue;
        }
        nanosleep(&(struct timespec){0, TICK_NS}, NULL);
        int requests = interrupt_requests();
        if (requests > answered && answered == 0)
            cmd_note("%s: the runs go back to the store; a second signal ends it at once",
                     interrupt_words());
        answered = requests;
        interrupt_answered(answered);
    }
}

static int run(const struct worker *w, struct member *members) {
    int status = CMD_OK, why = interrupt_watch(nothing, NULL);
    if (why) return cmd_fail("signals: %s", strerror(why));
    signal(SIGPIPE, SIG_IGN);
    for (unsigned i = 0; i < w->n_jobs && status == CMD_OK; i++)
        status = open_member(&members[i], w, i);
    for (unsigned i = 0; i < w->n_jobs && status == CMD_OK; i++) status = start_member(&members[i]);
    if (status != CMD_OK) (void)kill(getpid(), SIGTERM); /* those that work end again */
    watch(members, w->n_jobs);
    for (unsigned i = 0; i < w->n_jobs; i++) {
        if (members[i].threaded) pthread_join(members[i].thread, NULL);
        mwl_store_close(members[i].store);
        if (members[i].status != CMD_OK) status = members[i].status;
    }
    interrupt_unwatch();
    return status;
}

int cmd_worker(int argc, char **argv) {
    struct worker w;
    memset(&w, 0, sizeof w);
    definition_init(&w.run.definition);
    const struct command_line line = {
        head,
        foot,
        {{store_options, STORE_PLACE, &w.line},
         {options, sizeof options / sizeof *options, &w},
         {permission_options, n_permission_options, &w.run.permissions},
         DEFINITION_TABLES(&w.run.definition)},
        store_operand,
        &w.line,
        false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && !w.line.path) status = cmd_usage("--store URL says where the runs are");
    if (status == CMD_OK) status = read_options(&w);
    w.run.definition.runs = true;
    if (status == CMD_OK) status = binds_read(&w.run.binds, &w.run.bind_words, &w.run.definition);
    if (status == CMD_OK)
        status = remotes_read(&w.run.remotes, &w.run.remote_words, &w.run.definition);
    struct member *members = calloc(w.n_jobs ? w.n_jobs : 1, sizeof *members);
    if (status == CMD_OK) status = members ? run(&w, members) : cmd_no_memory();
    free(members);
    run_options_free(&w.run);
    return status;
}
