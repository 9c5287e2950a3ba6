/* each.c: `mwlvm run --each`: one run for each line of the input.
 *
 * Owns: the threads, what signals and failed writes mean, the exit status. Threads: --jobs of them
 * work, each in the same way, from the input to the output (each_worker.c); one reads, if reading
 * may have to wait (each_in.h); this one waits for signals and draws. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "tools/run/each.h"

#include "tools/base/cmd.h"
#include "tools/base/interrupt.h"
#include "tools/base/term.h"
#include "tools/session/values.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    TICK_MS = 100,
    PATIENCE_NS = 1000000000, /* after the second signal */
    WINDOW_LINES = 20000,     /* that may wait for an earlier Result, or twice what is in flight */
    WINDOW_BYTES = 64 << 20,
    FILES_PER_WORKER = 8,
    FILES_BESIDES = 16
};

/* The Result of a line that was not started, though a later one has a Result. */
static size_t put_missing(void *ctx, uint64_t line, char text[EACH_MISSING]) {
    const struct each *e = ctx;
    char number[40] = "";
    if (line < e->options->from) return 0;
    if (e->options->numbered) snprintf(number, sizeof number, "\"line\":%" PRIu64 ",", line);
    return (size_t)snprintf(text, EACH_MISSING,
                            "{%s\"type\":\"cancellation\",\"code\":\"Mwlvm.NotStarted\","
                            "\"message\":\"the run was not started\"}\n",
                            number);
}

/* ---- what threads tell each other ------------------------------------------------------------ */

/* Also in a signal handler. */
static void ring(void *ctx) {
    const struct each *e = ctx;
    int saved = errno;
    char c = 0;
    if (write(e->bell[1], &c, 1) < 0) c = 1; /* full: it rings already */
    errno = saved;
}

static void wake_all(struct each *e) {
    for (unsigned i = 0; i < e->n_workers; i++)
        if (e->workers[i].session) session_ring(&e->workers[i].session->loop);
}

void each_stop(struct each *e, enum each_stop how, enum each_reason why) {
    int none = EACH_NO_REASON, now = atomic_load(&e->stop);
    atomic_compare_exchange_strong(&e->reason, &none, why);
    while (now < (int)how)
        if (atomic_compare_exchange_weak(&e->stop, &now, how)) {
            wake_all(e);
            ring(e);
            return;
        }
}

void each_wake_waiting(void *ctx) {
    struct each *e = ctx;
    for (unsigned i = 0; i < e->n_workers; i++)
        if (atomic_exchange(&e->workers[i].waits, false))
            session_ring(&e->workers[i].session->loop);
}

static struct each_totals totals(const struct each *e) {
    struct each_totals t = {0, 0, 0, 0};
    for (unsigned i = 0; i < e->n_workers; i++) {
        const struct each_worker *w = &e->workers[i];
        t.done += atomic_load_explicit(&w->counts.done, memory_order_relaxed);
        t.failed += atomic_load_explicit(&w->counts.failed, memory_order_relaxed);
        t.cancelled += atomic_load_explicit(&w->counts.cancelled, memory_order_relaxed);
    }
    return t;
}

/* ---- making ready ---------------------------------------------------------------------------- */

static unsigned processors(void) {
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN);
    return n > 0 ? (unsigned)n : 1;
}

/* libuv stops the process when it cannot have the descriptors that it needs. */
static int check_files(unsigned n_workers) {
    struct rlimit files;
    rlim_t need = (rlim_t)n_workers * FILES_PER_WORKER + FILES_BESIDES;
    if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur >= need) return CMD_OK;
    cmd_fail("%u threads need %d open files (ulimit -n), not %d; -j makes fewer", n_workers,
             (int)need, (int)files.rlim_cur);
    return CMD_USAGE;
}

static int open_input(const struct run_options *o, int *fd) {
    *fd = STDIN_FILENO;
    if (!o->each_file || strcmp(o->each_file, "-") == 0) return CMD_OK;
    *fd = open(o->each_file, O_RDONLY | O_CLOEXEC);
    if (*fd >= 0) return CMD_OK;
    return cmd_file(o->each_file, errno);
}

static int read_arguments(struct each *e, struct run_options *o) {
    const struct session_words words = {.arguments = o->arguments, .args = &o->args};
    mwl_start start = {0};
    int status = session_values(e->heap, &o->definition.limits, &words, &start);
    e->arguments = start.arguments;
    return status;
}

static void clear_bar(void *ctx) {
    (void)ctx;
    term_status_clear();
}

static int open_streams(struct each *e, int fd) {
    const struct run_options *o = e->options;
    size_t at_once = e->concurrency > EACH_GRAB_MOST ? e->concurrency : EACH_GRAB_MOST;
    size_t in_flight = at_once * e->n_workers;
    const struct each_out_config out = {STDOUT_FILENO,
                                        !o->unordered,
                                        2 * in_flight > WINDOW_LINES ? 2 * in_flight : WINDOW_LINES,
                                        WINDOW_BYTES,
                                        isatty(STDOUT_FILENO) ? clear_bar : NULL,
                                        each_wake_waiting,
                                        e};
    e->out = each_out_new(&out);
    const struct each_in_config in = {fd, e->limits.memory_bytes, each_wake_waiting, e};
    if (e->out) e->in = each_in_new(&in);
    if (e->in) return CMD_OK;
    cmd_fail("out of memory, or of threads");
    return CMD_LIMIT;
}

/* Signals are for the main thread. */
static int start_threads(struct each *e) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int failed = 0;
    for (unsigned i = 0; i < e->n_workers && !failed; i++) {
        struct each_worker *w = &e->workers[i];
        atomic_fetch_add(&e->n_working, 1);
        failed = pthread_create(&w->thread, NULL, each_worker_run, w);
        if (failed) atomic_fetch_sub(&e->n_working, 1);
        w->threaded = !failed;
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (!failed || e->workers[0].threaded) return CMD_OK; /* fewer do it too */
    cmd_fail("threads: %s", strerror(failed));
    return CMD_LIMIT;
}

static int open_workers(struct each *e) {
    e->workers = calloc(e->n_workers, sizeof *e->workers);
    if (!e->workers) return cmd_no_memory();
    int status = CMD_OK;
    for (unsigned i = 0; i < e->n_workers && status == CMD_OK; i++)
        status = each_worker_open(&e->workers[i], e, i == 0);
    return status;
}

/* ---- the main thread while they work --------------------------------------------------------- */

struct view {
    struct each *each;
    struct each_bar bar;
    bool shown; /* there is a bar */
};

static void draw(void *ctx) {
    struct view *v = ctx;
    if (!v->shown) return;
    struct each_totals t = totals(v->each);
    uint64_t lines = each_in_lines(v->each->in), taken = each_in_position(v->each->in);
    double part = lines ? (double)t.done / (double)lines : 0; /* the rest of them is in flight */
    each_bar_draw(&v->bar, &t, (uint64_t)((double)taken * (part < 1 ? part : 1)));
}

/* Returns how many requests were answered. */
static int answer(struct each *e, int n_answered) {
    while (n_answered < interrupt_requests()) {
        if (n_answered++ == 0) {
            cmd_note("%s: cancelling the runs in flight; a second signal ends them without cleanup",
                     interrupt_words());
            each_stop(e, EACH_CANCEL, EACH_INTERRUPTED);
        } else {
            each_stop(e, EACH_ABORT, EACH_INTERRUPTED);
        }
        interrupt_answered(n_answered);
    }
    return n_answered;
}

/* A worker that does not come back (its reader does not read, a provider does not return) cannot
 * hold the process. */
static void die(void) {
    int number = interrupt_first();
    term_status_clear();
    interrupt_unwatch();
    signal(number, SIG_DFL);
    raise(number);
    _exit(128 + number);
}

static void watch(struct each *e, struct view *v) {
    int n_answered = 0;
    int64_t aborted_ns = 0;
    while (atomic_load(&e->n_working)) {
        struct pollfd bell = {e->bell[0], POLLIN, 0};
        char drain[64];
        poll(&bell, 1, TICK_MS);
        if (bell.revents & POLLIN && read(e->bell[0], drain, sizeof drain) < 0) continue;
        n_answered = answer(e, n_answered);
        if (n_answered > 1 && !aborted_ns) aborted_ns = session_now_ns();
        if (aborted_ns && session_now_ns() - aborted_ns > PATIENCE_NS) die();
        /* without the lock, only if nothing else is written to this terminal */
        if (!each_out_tick(e->out, draw, v) && !isatty(STDOUT_FILENO)) draw(v);
        if (each_out_error(e->out)) each_stop(e, EACH_CANCEL, EACH_NOT_WRITTEN);
    }
    term_status_clear();
}

/* ---- the end --------------------------------------------------------------------------------- */

/* How many are done is said also with --quiet if it was interrupted. */
static void summarize(const struct each *e, const struct each_codes *codes, int64_t took_ns) {
    struct each_totals t = totals(e);
    int reason = atomic_load(&e->reason);
    for (unsigned i = 0; i < e->n_workers; i++)
        if (e->workers[i].last_line > t.last_line) t.last_line = e->workers[i].last_line;
    const char *stopped = reason == EACH_INTERRUPTED   ? "interrupted"
                          : reason == EACH_FAIL_FAST   ? "stopped by a failure"
                          : reason == EACH_NOT_WRITTEN ? "Results cannot be written: stopped"
                                                       : NULL;
    if (!e->options->quiet || reason == EACH_INTERRUPTED) each_summary(&t, stopped, took_ns);
    if (!e->options->quiet) each_summary_codes(codes);
    uint64_t noted = atomic_load(&e->n_noted);
    if (noted > EACH_NOTED)
        cmd_note("note: so it is with %" PRIu64 " lines in all; the first are shown above", noted);
}

static int report(struct each *e, int64_t took_ns) {
    struct each_totals t = totals(e);
    int error = each_out_error(e->out), status = t.failed || t.cancelled ? CMD_FAILED : CMD_OK;
    if (error == EPIPE) { /* who reads has enough: as other filters end */
        cmd_end_by_signal(SIGPIPE);
        return CMD_FAILED;
    }
    struct each_codes *codes = calloc(1, sizeof *codes);
    for (unsigned i = 0; i < e->n_workers; i++) {
        if (codes) each_codes_merge(codes, &e->workers[i].codes);
        if (e->workers[i].status != CMD_OK) status = e->workers[i].status;
    }
    if (codes) summarize(e, codes, took_ns);
    free(codes);
    if (error) {
        cmd_note("the Results of the last runs are not there");
        status = cmd_file("standard output", error);
    }
    error = each_in_error(e->in);
    if (error) {
        status = cmd_file(e->options->each_file ? e->options->each_file : "standard input", error);
    }
    return status;
}

static int run_all(struct each *e, int fd) {
    struct stat st;
    struct view v = {.each = e};
    v.shown = !e->options->quiet && term_status_possible();
    v.bar.start_ns = session_now_ns();
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        v.bar.size = (uint64_t)st.st_size;
    int why = interrupt_watch(ring, e);
    if (why) {
        cmd_fail("signals: %s", strerror(why));
        return CMD_USAGE;
    }
    int status = open_streams(e, fd);
    if (status == CMD_OK) status = start_threads(e);
    if (status == CMD_OK) {
        watch(e, &v);
        for (unsigned i = 0; i < e->n_workers; i++)
            if (e->workers[i].threaded) pthread_join(e->workers[i].thread, NULL);
        each_out_finish(e->out, put_missing, e);
        if (each_out_error(e->out)) each_stop(e, EACH_CANCEL, EACH_NOT_WRITTEN);
        status = report(e, session_now_ns() - v.bar.start_ns);
    }
    interrupt_unwatch();
    if (interrupt_first()) cmd_end_by_signal(interrupt_first());
    return status;
}

int each_command(struct run_options *o, mwl_program *program) {
    struct each e;
    int fd = -1;
    memset(&e, 0, sizeof e);
    e.options = o;
    e.program = program;
    e.arguments = mwl_absent();
    e.concurrency = o->concurrency ? o->concurrency : EACH_CONCURRENCY;
    e.n_workers = o->jobs ? o->jobs : processors();
    signal(SIGPIPE, SIG_IGN);
    int status = check_files(e.n_workers);
    if (status == CMD_OK) status = open_input(o, &fd);
    if (status == CMD_OK && (mwl_heap_new(NULL, &e.heap) < 0 || pipe(e.bell) != 0))
        status = cmd_no_memory();
    if (status == CMD_OK) {
        for (int i = 0; i < 2; i++) fcntl(e.bell[i], F_SETFL, O_NONBLOCK);
        status = read_arguments(&e, o);
    }
    if (status == CMD_OK) status = session_limits(&o->definition.limits, NULL, &e.limits);
    if (status == CMD_OK) status = open_workers(&e);
    if (status == CMD_OK) status = run_all(&e, fd);
    each_in_free(e.in);
    for (unsigned i = 0; e.workers && i < e.n_workers; i++) each_worker_close(&e.workers[i]);
    free(e.workers);
    each_out_free(e.out);
    if (e.heap) mwl_value_drop(e.heap, e.arguments);
    mwl_heap_free(e.heap);
    if (fd > STDERR_FILENO) close(fd);
    return status;
}
