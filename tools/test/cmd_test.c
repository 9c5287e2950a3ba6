/* cmd_test.c: `mwlvm test [DIR|FILE]...`: runs the cases of workflows.
 *
 * Owns: options, threads, watching, updating, what coverage is shown. Refuses to know: what a case
 * is (test/). */
#include "tools/base/cmd.h"
#include "tools/base/diff.h"
#include "tools/base/file_out.h"
#include "tools/host/io_host.h"
#include "tools/base/options.h"
#include "tools/base/term.h"
#include "tools/test/programs.h"
#include "tools/test/report.h"
#include "tools/host/testable.h"
#include "vm/base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { THREADS_MAX = 64, WATCH_MS = 300 };

struct job {
    struct word_list paths, documents;
    const char *filter, *junit, *coverage_file;
    unsigned threads;
    uint64_t seed;
    double min_coverage; /* below 0: not asked for */
    bool names, dots, tap, github, update, watch, coverage;

    struct test_list list;
    struct test_programs *programs;
    struct report report;
    struct test_outcome *outcomes;
    bool *done;
    size_t next, shown; /* the next case to run, and to show */
    pthread_mutex_t lock;
};

/* ---- options --------------------------------------------------------------------------------- */

static int take_threads(void *base, const char *word) {
    uint64_t n = 0;
    int status = option_number("-j", word, 1, THREADS_MAX, &n);
    ((struct job *)base)->threads = (unsigned)n;
    return status;
}

static int take_seed(void *base, const char *word) {
    return option_number("--seed", word, 1, UINT64_MAX, &((struct job *)base)->seed);
}

static int take_min(void *base, const char *word) {
    struct job *j = base;
    char *end;
    j->coverage = true;
    j->min_coverage = strtod(word, &end);
    if (end != word && !*end && j->min_coverage >= 0 && j->min_coverage <= 100) return CMD_OK;
    return cmd_usage("--min-coverage needs a number from 0 to 100, not '%s'", word);
}

static const struct option options[] = {
#define AT(field) offsetof(struct job, field)
    {"--filter", OPTION_WORD, AT(filter), "TEXT", "run only cases whose name contains TEXT", NULL},
    {"-j", OPTION_CALL, 0, "N", "threads; as many as there are processors unless given",
     take_threads},
    {"--provider", OPTION_LIST, AT(documents), "FILE",
     "a provider definition document; may be repeated", NULL},
    {"--seed", OPTION_CALL, 0, "N", "of jitter and generated ids; 1 unless given", take_seed},
    {"--names", OPTION_FLAG, AT(names), "", "a line for each case (as for up to 20 cases)", NULL},
    {"--dots", OPTION_FLAG, AT(dots), "", "a dot for each case (as for more)", NULL},
    {"--tap", OPTION_FLAG, AT(tap), "", "the Test Anything Protocol", NULL},
    {"--github", OPTION_FLAG, AT(github), "",
     "annotations for GitHub, too (as when GITHUB_ACTIONS is true)", NULL},
    {"--junit", OPTION_WORD, AT(junit), "FILE", "write JUnit XML, too", NULL},
    {"--coverage", OPTION_FLAG, AT(coverage), "", "list what of the definitions no case took",
     NULL},
    {"--coverage-file", OPTION_WORD, AT(coverage_file), "FILE",
     "write the coverage as JSON, for `mwlvm graph` and other programs", NULL},
    {"--min-coverage", OPTION_CALL, 0, "N", "fail below N percent", take_min},
    {"--update", OPTION_FLAG, AT(update), "",
     "write what was seen into failing cases, after showing it", NULL},
    {"--watch", OPTION_FLAG, AT(watch), "", "run again whenever a file changes", NULL},
    {"--color", OPTION_CALL, 0, "WHEN",
     "auto (on a terminal, unless NO_COLOR is set), always or never", term_colour_option},
#undef AT
};

static const char head[] =
    "usage: mwlvm test [DIR|FILE]... [OPTIONS]\n\n"
    "Runs cases: files that name a definition, an input, what the providers answer and what is\n"
    "expected; of folders, every such file in them, and cases in the layout of the conformance\n"
    "suite. No service is asked and no time passes. tools/TESTING.md teaches the format.\n\n"
    "Example:\n  mwlvm test tools/examples/testing --coverage\n\n";

static const char foot[] =
    "\nExit status: 0 all passed; 1 a case failed, or the coverage is too small; 2 wrong usage, or\n"
    "a file that cannot be read or written; 3 no cases; 6 out of memory.\n";

static int operand(void *ctx, const char *word) {
    return word_list_add(&((struct job *)ctx)->paths, word);
}

/* ---- running --------------------------------------------------------------------------------- */

/* Shows every case whose turn it is. The caller has the lock. */
static void show(struct job *j) {
    while (j->shown < j->list.count && j->done[j->shown]) {
        report_case(&j->report, &j->list.cases[j->shown], &j->outcomes[j->shown]);
        j->shown++;
    }
}

static void *work(void *ctx) {
    struct job *j = ctx;
    const struct test_run how = {.programs = j->programs, .seed = j->seed, .update = j->update};
    for (;;) {
        pthread_mutex_lock(&j->lock);
        size_t i = j->next++;
        pthread_mutex_unlock(&j->lock);
        if (i >= j->list.count) return NULL;
        test_run_case(&how, &j->list.cases[i], &j->outcomes[i]);
        pthread_mutex_lock(&j->lock);
        j->done[i] = true;
        show(j);
        pthread_mutex_unlock(&j->lock);
    }
}

static void run_all(struct job *j) {
    pthread_t threads[THREADS_MAX];
    unsigned n = 0;
    while (n + 1 < j->threads && n + 1 < j->list.count &&
           pthread_create(&threads[n], NULL, work, j) == 0)
        n++;
    (void)work(j);
    while (n) pthread_join(threads[--n], NULL);
}

static void filter(struct job *j) {
    size_t n = 0;
    for (size_t i = 0; i < j->list.count; i++) {
        struct test_case c = j->list.cases[i];
        if (!j->filter || strstr(c.name, j->filter)) {
            j->list.cases[n++] = c;
            continue;
        }
        free(c.name);
        free(c.file);
        free(c.dir);
    }
    j->list.count = n;
}

/* ---- coverage -------------------------------------------------------------------------------- */

static void show_untaken(const struct test_program *t) {
    const struct coverage *c = t->coverage;
    for (size_t i = 0; i < c->n_items; i++) {
        mwl__buf text = mwl__buf_make(mwl_alloc_default());
        if (t->hits[i]) continue;
        coverage_text(c, &c->items[i], &text);
        printf("%s:%u:%u: not taken: ", t->testable.path, c->items[i].line, c->items[i].column);
        if (text.data) fwrite(text.data, 1, text.len, stdout);
        putchar('\n');
        mwl__buf_free(&text);
    }
}

static int report_coverage(struct job *j) {
    mwl__buf json = mwl__buf_make(mwl_alloc_default());
    const struct test_program *t;
    size_t taken = 0, places = 0, n = 0;
    for (size_t i = 0; (t = test_programs_at(j->programs, i)); i++) {
        if (!t->coverage || !t->hits) continue;
        show_untaken(t);
        for (size_t k = 0; k < t->coverage->n_items; k++) taken += t->hits[k] > 0;
        places += t->coverage->n_items;
        mwl__buf_puts(&json, n++ ? ",\n" : "[");
        coverage_write(t->coverage, t->testable.path, t->hits, &json);
    }
    mwl__buf_puts(&json, n ? "]\n" : "[]\n");
    double percent = places ? 100.0 * (double)taken / (double)places : 100;
    printf("coverage: %zu of %zu places (%.1f %%)\n", taken, places, percent);
    int status = CMD_OK;
    if (j->coverage_file) status = file_out(j->coverage_file, json.data, json.len);
    mwl__buf_free(&json);
    if (percent < j->min_coverage) {
        cmd_fail("coverage is %.1f %%, and --min-coverage wants %.1f %%", percent, j->min_coverage);
        if (status == CMD_OK) status = CMD_FAILED;
    }
    return status;
}

/* ---- updating -------------------------------------------------------------------------------- */

static int write_updates(struct job *j) {
    mwl_alloc alloc = mwl_alloc_default();
    const struct diff_output to = {stdout, term_colour(STDOUT_FILENO), isatty(STDOUT_FILENO)};
    size_t n = 0;
    int status = CMD_OK;
    for (size_t i = 0; i < j->list.count && status == CMD_OK; i++) {
        const struct test_outcome *o = &j->outcomes[i];
        size_t len = 0;
        if (!o->updated.len) continue;
        char *old = testable_read(j->list.cases[i].file, &len);
        bool same = old && len == o->updated.len && memcmp(old, o->updated.data, len) == 0;
        if (!same) {
            diff_unified(j->list.cases[i].file, old ? old : "", len, o->updated.data,
                         o->updated.len, &alloc, &to);
            status = file_out(j->list.cases[i].file, o->updated.data, o->updated.len);
            n++;
        }
        free(old);
    }
    printf("updated %zu of %zu cases\n", n, j->list.count);
    return status;
}

/* ---- one round ------------------------------------------------------------------------------- */

static double seconds_since(const struct timespec *from) {
    struct timespec to;
    clock_gettime(CLOCK_MONOTONIC, &to);
    return (double)(to.tv_sec - from->tv_sec) + (double)(to.tv_nsec - from->tv_nsec) / 1e9;
}

static void begin_report(struct job *j) {
    const char *actions = getenv("GITHUB_ACTIONS");
    memset(&j->report, 0, sizeof j->report);
    j->report.form = j->tap                                          ? REPORT_TAP
                     : j->names || (!j->dots && j->list.count <= 20) ? REPORT_NAMES
                                                                     : REPORT_DOTS;
    j->report.github = j->github || (actions && strcmp(actions, "true") == 0);
    j->report.colour = term_colour(STDOUT_FILENO);
    j->report.junit = j->junit;
    report_begin(&j->report, j->list.count);
}

static int find_all(struct job *j) {
    int status = CMD_OK;
    for (size_t i = 0; i < j->paths.count && status == CMD_OK; i++)
        status = test_find(&j->list, j->paths.words[i]);
    if (!j->paths.count) status = test_find(&j->list, ".");
    filter(j);
    if (status == CMD_OK && !j->list.count) {
        cmd_fail("there are no cases%s%s%s", j->filter ? " with '" : "", j->filter ? j->filter : "",
                 j->filter ? "' in their names" : "; `mwlvm test --help` says what one is");
        status = CMD_REJECTED;
    }
    return status;
}

static int run_and_report(struct job *j) {
    struct timespec from;
    clock_gettime(CLOCK_MONOTONIC, &from);
    begin_report(j);
    run_all(j);
    size_t failed = j->report.failed;
    int status = report_end(&j->report, seconds_since(&from));
    if (status == CMD_OK && (j->coverage || j->coverage_file)) status = report_coverage(j);
    if (status == CMD_OK && j->update) return write_updates(j);
    return status != CMD_OK ? status : failed ? CMD_FAILED : CMD_OK;
}

static int one_round(struct job *j) {
    int status = find_all(j);
    j->next = j->shown = 0;
    j->programs =
        test_programs_new(j->documents.words, j->documents.count, j->coverage || j->coverage_file);
    j->outcomes = calloc(j->list.count + 1, sizeof *j->outcomes);
    j->done = calloc(j->list.count + 1, sizeof *j->done);
    if (!j->programs || !j->outcomes || !j->done) status = cmd_no_memory();
    if (status == CMD_OK) status = run_and_report(j);
    for (size_t i = 0; j->outcomes && i < j->list.count; i++) test_outcome_free(&j->outcomes[i]);
    free(j->outcomes);
    free(j->done);
    return status;
}

static void end_round(struct job *j) {
    test_programs_free(j->programs);
    test_list_free(&j->list);
    j->programs = NULL;
}

/* ---- watching -------------------------------------------------------------------------------- */

/* What the files look like: cases, definitions, documents, and which there are. */
struct files {
    uint64_t sum;
    bool changed_since; /* one was changed at the instant asked for, or after it */
};

static bool before(const struct timespec *a, const struct timespec *b) {
    return a->tv_sec < b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec < b->tv_nsec);
}

/* The clock of the file system's times. */
static struct timespec file_time(void) {
    struct timespec now;
#ifdef CLOCK_REALTIME_COARSE
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
#else
    clock_gettime(CLOCK_REALTIME, &now);
#endif
    return now;
}

static void add_file(struct files *f, const char *path, const struct timespec *since) {
    const struct timespec now = file_time();
    struct stat s;
    if (stat(path, &s) != 0) return;
    f->sum = (f->sum ^ (uint64_t)s.st_mtim.tv_sec ^ (uint64_t)s.st_mtim.tv_nsec << 20 ^
              (uint64_t)s.st_size << 44) *
             UINT64_C(1099511628211);
    if (!before(&s.st_mtim, since) && !before(&now, &s.st_mtim)) f->changed_since = true;
}

static struct files look_at_files(struct job *j, const struct timespec *since) {
    struct test_list now = {0};
    const struct test_program *t;
    struct files f = {14695981039346656037u, false};
    for (size_t i = 0; i < j->paths.count; i++) (void)test_find(&now, j->paths.words[i]);
    if (!j->paths.count) (void)test_find(&now, ".");
    for (size_t i = 0; i < now.count; i++) add_file(&f, now.cases[i].file, since);
    for (size_t i = 0; (t = test_programs_at(j->programs, i)); i++) {
        if (t->testable.path) add_file(&f, t->testable.path, since);
        for (size_t k = 0; k < t->testable.n_documents; k++)
            if (t->testable.documents[k].file) add_file(&f, t->testable.documents[k].file, since);
    }
    f.sum ^= now.count;
    test_list_free(&now);
    return f;
}

static void watch(struct job *j) {
    const struct timespec pause = {0, WATCH_MS * 1000000L};
    for (;;) { /* until a signal ends it */
        const struct timespec begin = file_time();
        (void)one_round(j);
        struct files seen = look_at_files(j, &begin);
        if (!seen.changed_since) { /* else the round may have read what was there before */
            puts("watching; Ctrl-C ends it");
            fflush(stdout);
            while (look_at_files(j, &begin).sum == seen.sum) nanosleep(&pause, NULL);
        }
        do { /* a file that is being written is left alone */
            seen = look_at_files(j, &begin);
            nanosleep(&pause, NULL);
        } while (look_at_files(j, &begin).sum != seen.sum);
        end_round(j);
    }
}

int cmd_test(int argc, char **argv) {
    struct job j;
    memset(&j, 0, sizeof j);
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    j.threads = processors > 0 && processors < THREADS_MAX ? (unsigned)processors : 1;
    j.seed = 1;
    j.min_coverage = -1;
    const struct command_line line = {
        head, foot, {{options, sizeof options / sizeof *options, &j}}, operand, &j, false};
    testable_use(io_host_documents());
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && j.names + j.dots + j.tap > 1)
        status = cmd_usage("--names, --dots and --tap exclude each other");
    pthread_mutex_init(&j.lock, NULL);
    if (status == CMD_OK) {
        if (j.watch) watch(&j);
        status = one_round(&j);
        end_round(&j);
    }
    pthread_mutex_destroy(&j.lock);
    word_list_free(&j.paths);
    word_list_free(&j.documents);
    return status;
}
