/* Much at once: (g) a hundred thousand parked runs, (k) a long Flow, (l) a list that grows in a
 * variable, (n) a million parked runs and what becomes of them, (o) threads that share one program,
 * (p) a million minimal runs on two threads, (q) a million runs whose timers are spread over a day.
 * They test growth: one more costs the same at the end as at the beginning. Times are processor
 * time, except with threads. */
#include "bench/flow.h"

#include "mwl_std.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 100000, MARKED = 10 };

static void close_flow(struct bench *b) {
    if (b->state) flow_close(b->state);
    free(b->state);
}

static struct flow *open_text(struct bench *b, const char *definition, const char *input,
                              enum flow_time time) {
    struct flow *f = calloc(1, sizeof *f);
    b->state = f;
    BENCH_CHECK(b, f != NULL);
    if (!b->failed) flow_open(b, f, definition, input, time);
    return f;
}

static void run_serial(struct bench *b, unsigned long n) {
    struct flow *f = b->state;
    for (unsigned long i = 0; i < n; i++) {
        mwl_run *run = flow_start(f, f->input);
        (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
        if (!mwl_run_succeeded(run)) bench_fail(b, "a run failed");
        mwl_run_free(run);
    }
}

/* ---- (g), (n): parked runs ------------------------------------------------------------------- */

static const char sleeper[] =
    FLOW_HEAD "\"s0\":{\"action\":\"Sleep\",\"for\":\"PT1H\",\"next\":\"done\"}," FLOW_DONE;

static void open_sleeper(struct bench *b) {
    struct flow *f = open_text(b, sleeper, NULL, FLOW_STANDING);
    if (b->failed) return;
    mwl_run *run = flow_start(f, f->input);
    int64_t due = mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    BENCH_CHECK(b, due == f->now_ns + 3600 * (int64_t)1000000000);
    BENCH_CHECK(b, mwl_run_get_state(run) == MWL_RUN_PARKED);
    mwl_run_free(run);
}

/* Each run has its own input, as if it came over a network. */
static mwl_value own_input(struct flow *f, unsigned long i) {
    mwl_heap *h = mwl_vm_heap(f->vm);
    mwl_value v = mwl_object_set(h, mwl_object(h, 2), "n", 1, mwl_number((double)i));
    return mwl_object_set(h, v, "s", 1, mwl_string(h, "granule-0001", 12));
}

struct parked {
    double ns, live, resident; /* each */
};

/* runs NULL: only the VM has them. */
static struct parked park(struct bench *b, unsigned long n, mwl_run **runs) {
    struct flow *f = b->state;
    struct parked p;
    long long live = bench_live(b);
    double resident = bench_resident(), start = bench_cpu_ns();
    for (unsigned long i = 0; i < n; i++) {
        mwl_value input = own_input(f, i);
        mwl_run *run = flow_start(f, input);
        mwl_value_drop(mwl_vm_heap(f->vm), input);
        if (!run) bench_fail(b, "no memory for run %lu", i);
        if (runs) runs[i] = run;
        if (i % 1000 == 999) (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    }
    (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    p.ns = (bench_cpu_ns() - start) / (double)n;
    p.live = (double)(bench_live(b) - live) / (double)n;
    p.resident = (bench_resident() - resident) / (double)n;
    return p;
}

static void report_parked(struct bench *b) {
    unsigned long n = b->options->check ? 1000 : b->options->count ? b->options->count : 100000;
    struct parked p = park(b, n, NULL);
    const struct bench_extra extra[] = {{"rss", p.resident}, {"startNs", p.ns}, {NULL, 0}};
    bench_report(b, NULL, "bytes/run", p.live, n, extra);
}

/* The time for all: one pump without a budget. */
static double settle(struct bench *b, unsigned long n, mwl_run **runs, bool success) {
    struct flow *f = b->state;
    double start = bench_cpu_ns();
    (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    double took = bench_cpu_ns() - start;
    for (unsigned long i = 0; i < n; i++) {
        if (mwl_run_get_state(runs[i]) != MWL_RUN_DONE || mwl_run_succeeded(runs[i]) != success)
            bench_fail(b, "run %lu has not ended as it should", i);
        mwl_run_free(runs[i]);
    }
    return took / (double)n;
}

static void report_million(struct bench *b) {
    struct flow *f = b->state;
    unsigned long n = b->options->check ? 1000 : b->options->count ? b->options->count : 1000000;
    mwl_run **runs = malloc(n * sizeof *runs);
    BENCH_CHECK(b, runs != NULL);
    if (b->failed) return;
    memset(runs, 0, n * sizeof *runs); /* already resident, so not counted for the runs */
    struct parked first = park(b, n, runs);
    f->now_ns += 3601 * (int64_t)1000000000;
    double fire = settle(b, n, runs, true), start;
    (void)park(b, n, runs);
    start = bench_cpu_ns();
    for (unsigned long i = 0; i < n; i++) mwl_run_cancel(runs[i], "enough");
    double ask = (bench_cpu_ns() - start) / (double)n, cancel = ask + settle(b, n, runs, false);
    const struct bench_extra extra[] = {{"live", first.live}, {"rss", first.resident}, {NULL, 0}};
    bench_report(b, "_park", "ns/op", first.ns, n, extra);
    bench_report(b, "_fire", "ns/op", fire, n, NULL);
    bench_report(b, "_cancel", "ns/op", cancel, n, NULL);
    free(runs);
}

/* ---- (k): a long Flow ------------------------------------------------------------------------ */

/* `steps` Pass Steps, with a Call of `mark` before each tenth of them when `marked`, and one at the
 * end. */
static char *long_flow(unsigned steps, bool marked) {
    size_t size = 200 * (size_t)steps + 4096, at = 0;
    char *text = malloc(size);
    if (!text) return NULL;
    at += (size_t)snprintf(text, size, "%s", FLOW_HEAD);
    for (unsigned i = 0; i < steps; i++) {
        if (marked && i % (steps / MARKED) == 0)
            at += (size_t)snprintf(text + at, size - at,
                                   "\"s%u\":{\"action\":\"Call\",\"call\":" FLOW_PROVIDER(
                                       "mark") ",\"next\":\"p%u\"},",
                                   i, i);
        at += (size_t)snprintf(
            text + at, size - at,
            "\"%c%u\":{\"action\":\"Pass\",\"output\":\"{{ {'n': step.input.n + 1.0, 's': "
            "step.input.s} }}\",\"next\":\"s%u\"},",
            marked && i % (steps / MARKED) == 0 ? 'p' : 's', i, i + 1);
    }
    at += (size_t)snprintf(
        text + at, size - at,
        "\"s%u\":{\"action\":\"Call\",\"call\":" FLOW_PROVIDER("mark") ",\"next\":\"done\"},%s",
        steps, FLOW_DONE);
    return text;
}

static void open_long(struct bench *b, unsigned steps, bool marked) {
    char *text = long_flow(steps, marked), wanted[96];
    BENCH_CHECK(b, text != NULL);
    if (b->failed) return;
    struct flow *f = open_text(b, text, NULL, FLOW_STANDING);
    free(text);
    snprintf(wanted, sizeof wanted,
             "{\"type\":\"success\",\"value\":{\"n\":%u,\"s\":\"granule-0001\"}}", steps + 1);
    if (!b->failed) flow_check(b, f, wanted);
}

static void open_steps_1000(struct bench *b) { open_long(b, 1000, false); }
static void open_steps_100000(struct bench *b) {
    open_long(b, b->options->check ? 1000 : 100000, true);
}

/* Medians of several runs: of all Steps, of the first tenth and of the last. */
static void report_long(struct bench *b) {
    struct flow *f = b->state;
    enum { RUNS = 20 };
    unsigned long steps = b->options->check ? 1000 : 100000;
    double all[RUNS], first[RUNS], last[RUNS], tenth = (double)steps / MARKED;
    for (int i = 0; i < RUNS; i++) {
        f->n_marks = 0;
        run_serial(b, 1);
        BENCH_CHECK(b, f->n_marks == MARKED + 1);
        first[i] = (f->marks[1] - f->marks[0]) / tenth;
        last[i] = (f->marks[MARKED] - f->marks[MARKED - 1]) / tenth;
        all[i] = (f->marks[MARKED] - f->marks[0]) / (double)steps;
    }
    double one = bench_median(first, RUNS), other = bench_median(last, RUNS);
    const struct bench_extra extra[] = {
        {"first_tenth", one}, {"last_tenth", other}, {"last_by_first", other / one}, {NULL, 0}};
    bench_report(b, NULL, "ns/op", bench_median(all, RUNS), steps, extra);
}

/* ---- (l): a list that grows in a variable ---------------------------------------------------- */

static const char grows[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/"
    "schema.json\",\"parameters\":{\"type\":\"object\",\"properties\":"
    "{\"items\":{\"default\":[]}}},\"entrypoint\":\"s0\",\"steps\":{\"s0\":{\"action\":\"Pass\","
    "\"assign\":"
    "{\"items\":\"{{ vars.items + [step.input.s] "
    "}}\"},\"next\":\"more\"},\"more\":{\"action\":\"Match\","
    "\"cases\":[{\"when\":\"{{ size(vars.items) < 100000 "
    "}}\",\"next\":\"s0\"}],\"default\":{\"next\":\"out\"}},"
    "\"out\":{\"action\":\"Return\",\"value\":\"{{ size(vars.items) }}\"}}}";
static const char gathers[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/"
    "schema.json\",\"parameters\":{\"type\":\"object\",\"properties\":"
    "{\"items\":{\"default\":[]}}},\"entrypoint\":\"s0\",\"steps\":{\"s0\":{\"action\":\"Gather\","
    "\"over\":"
    "\"{{ step.input "
    "}}\",\"call\":{\"provider\":\"mwl:provider.call/bench/noop/v1\",\"onSuccess\":{\"assign\":"
    "{\"items\":\"{{ vars.items + [call.result.value] }}\"}}},\"next\":\"out\"},"
    "\"out\":{\"action\":\"Return\",\"value\":\"{{ size(vars.items) }}\"}}}";

static void open_grows(struct bench *b) {
    struct flow *f = open_text(b, grows, NULL, FLOW_STANDING);
    if (!b->failed) flow_check(b, f, "{\"type\":\"success\",\"value\":100000}");
}

static void open_gathers(struct bench *b) {
    char *input = malloc(8 * (size_t)ELEMENTS);
    size_t at = 0;
    BENCH_CHECK(b, input != NULL);
    if (b->failed) return;
    for (int i = 0; i < ELEMENTS; i++)
        at += (size_t)snprintf(input + at, 8, "%s%d", i ? "," : "[", i);
    snprintf(input + at, 8, "]");
    struct flow *f = open_text(b, gathers, input, FLOW_STANDING);
    free(input);
    if (!b->failed) flow_check(b, f, "{\"type\":\"success\",\"value\":100000}");
}

/* ---- (o): threads ---------------------------------------------------------------------------- */

enum { MAX_THREADS = 8 };

static const char chain[] =
    FLOW_HEAD "\"s0\":{\"action\":\"Pass\",\"output\":\"{{ {'n': step.input.n + 1.0, 's': "
              "step.input.s} }}\",\"next\":\"s1\"},"
              "\"s1\":{\"action\":\"Pass\",\"output\":\"{{ {'n': step.input.n + 1.0, 's': "
              "step.input.s} }}\",\"next\":\"done\"}," FLOW_DONE;

struct worker {
    pthread_t thread;
    mwl_program *program; /* the one of all */
    pthread_barrier_t *begin;
    unsigned long runs;
    double start, end, cpu; /* ns */
    bool right;
};

static void *work(void *arg) {
    struct worker *w = arg;
    struct flow f;
    memset(&f, 0, sizeof f);
    mwl_config config = mwl_config_default();
    config.virtual_time = true;
    f.program = w->program;
    w->right =
        mwl_vm_new(&config, &f.vm) == MWL_OK && mwl_std_add(f.vm, MWL_STD_ALL, NULL) == MWL_OK &&
        mwl_json_parse(mwl_vm_heap(f.vm), FLOW_INPUT, strlen(FLOW_INPUT), &f.input, NULL) == MWL_OK;
    pthread_barrier_wait(w->begin);
    w->start = bench_now_ns();
    double cpu = bench_cpu_ns();
    for (unsigned long i = 0; w->right && i < w->runs; i++) {
        mwl_run *run = flow_start(&f, f.input);
        (void)mwl_vm_pump(f.vm, MWL_NO_BUDGET);
        w->right = mwl_run_succeeded(run);
        mwl_run_free(run);
    }
    w->cpu = bench_cpu_ns() - cpu;
    w->end = bench_now_ns();
    if (f.vm) mwl_value_drop(mwl_vm_heap(f.vm), f.input);
    mwl_vm_free(f.vm);
    return NULL;
}

/* ns of wall time per run of all threads together, and of processor time per run. */
static double all_threads(struct bench *b, int n, unsigned long runs, double *cpu) {
    struct flow *f = b->state;
    struct worker workers[MAX_THREADS];
    pthread_barrier_t begin;
    double start = 0, end = 0;
    pthread_barrier_init(&begin, NULL, (unsigned)n);
    for (int i = 0; i < n; i++) {
        workers[i] = (struct worker){.program = f->program, .begin = &begin, .runs = runs};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) abort();
    }
    *cpu = 0;
    for (int i = 0; i < n; i++) {
        pthread_join(workers[i].thread, NULL);
        BENCH_CHECK(b, workers[i].right);
        if (i == 0 || workers[i].start < start) start = workers[i].start;
        if (i == 0 || workers[i].end > end) end = workers[i].end;
        *cpu += workers[i].cpu / ((double)runs * n);
    }
    pthread_barrier_destroy(&begin);
    return (end - start) / ((double)runs * n);
}

static void open_chain(struct bench *b) { (void)open_text(b, chain, NULL, FLOW_VIRTUAL); }

static void report_threads(struct bench *b) {
    enum { ROUNDS = 5 };
    unsigned long runs = b->options->check ? 100 : 200000;
    double alone[ROUNDS], cpu_alone[ROUNDS], wall[ROUNDS], cpu[ROUNDS];
    for (int n = 1; n <= 2; n++) {
        for (int i = 0; i < ROUNDS; i++) {
            wall[i] = all_threads(b, n, runs, &cpu[i]);
            if (n == 1) alone[i] = wall[i], cpu_alone[i] = cpu[i];
        }
        double now = bench_median(wall, ROUNDS), busy = bench_median(cpu, ROUNDS);
        const struct bench_extra extra[] = {{"cpu", busy},
                                            {"throughput", bench_median(alone, ROUNDS) / now},
                                            {"cpu_by_one", busy / bench_median(cpu_alone, ROUNDS)},
                                            {NULL, 0}};
        bench_report(b, n == 1 ? "1" : "2", "ns/op", now, runs, extra);
    }
}

/* ---- (p): a million minimal runs on two threads ---------------------------------------------- */

enum { TOGETHER = 1000 }; /* runs that are started at once, and then pumped to their end */

static const char minimal[] = FLOW_HEAD "\"s0\":{\"action\":\"Pass\",\"next\":\"done\"}," FLOW_DONE;

struct starter {
    pthread_t thread;
    mwl_program *program;
    pthread_barrier_t *begin;
    unsigned long runs;
    double start, end, cpu; /* ns */
    bool right, one_by_one;
};

static bool start_some(struct starter *s, mwl_vm *vm, const mwl_value *inputs, mwl_run **runs,
                       size_t n) {
    size_t n_started = 0;
    if (!s->one_by_one)
        return mwl_run_start_many(vm, s->program, NULL, inputs, n, runs, &n_started, NULL) ==
               MWL_OK;
    for (size_t i = 0; i < n; i++) {
        mwl_start start = {.input = inputs[i]};
        if (mwl_run_start(vm, s->program, &start, &runs[i], NULL) != MWL_OK) return false;
    }
    return true;
}

static void *start_and_finish(void *arg) {
    struct starter *s = arg;
    mwl_vm *vm = NULL;
    mwl_value inputs[TOGETHER], input = mwl_absent();
    mwl_run *runs[TOGETHER];
    mwl_config config = mwl_config_default();
    config.virtual_time = true;
    s->right =
        mwl_vm_new(&config, &vm) == MWL_OK && mwl_std_register(vm, NULL) == MWL_OK &&
        mwl_json_parse(mwl_vm_heap(vm), FLOW_INPUT, strlen(FLOW_INPUT), &input, NULL) == MWL_OK;
    for (size_t i = 0; i < TOGETHER; i++) inputs[i] = input;
    pthread_barrier_wait(s->begin);
    s->start = bench_now_ns();
    double cpu = bench_cpu_ns();
    for (unsigned long done = 0; s->right && done < s->runs; done += TOGETHER) {
        s->right = start_some(s, vm, inputs, runs, TOGETHER);
        (void)mwl_vm_pump(vm, MWL_NO_BUDGET);
        for (size_t i = 0; s->right && i < TOGETHER; i++) {
            s->right = mwl_run_succeeded(runs[i]);
            mwl_run_free(runs[i]);
        }
    }
    s->cpu = bench_cpu_ns() - cpu;
    s->end = bench_now_ns();
    if (vm) mwl_value_drop(mwl_vm_heap(vm), input);
    mwl_vm_free(vm);
    return NULL;
}

static void open_minimal(struct bench *b) { (void)open_text(b, minimal, NULL, FLOW_VIRTUAL); }

/* The same on this thread alone, so that its instructions can be counted. */
static void run_many(struct bench *b, unsigned long n) {
    struct flow *f = b->state;
    mwl_value inputs[TOGETHER];
    mwl_run *runs[TOGETHER];
    for (size_t i = 0; i < TOGETHER; i++) inputs[i] = f->input;
    for (unsigned long batch = 0; batch < n; batch++) {
        size_t n_started = 0;
        if (mwl_run_start_many(f->vm, f->program, NULL, inputs, TOGETHER, runs, &n_started, NULL) <
            0)
            bench_fail(b, "the runs did not start");
        (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
        for (size_t i = 0; i < n_started; i++) {
            if (!mwl_run_succeeded(runs[i])) bench_fail(b, "a run did not end");
            mwl_run_free(runs[i]);
        }
    }
}

static void report_start(struct bench *b) {
    enum { THREADS = 2 };
    struct flow *f = b->state;
    unsigned long all = b->options->check ? 4000 : b->options->count ? b->options->count : 1000000;
    for (int one_by_one = 0; one_by_one < 2; one_by_one++) {
        struct starter starters[THREADS];
        pthread_barrier_t begin;
        double start = 0, end = 0, cpu = 0;
        pthread_barrier_init(&begin, NULL, THREADS);
        for (int i = 0; i < THREADS; i++) {
            starters[i] = (struct starter){.program = f->program,
                                           .begin = &begin,
                                           .runs = all / THREADS,
                                           .one_by_one = one_by_one == 1};
            if (pthread_create(&starters[i].thread, NULL, start_and_finish, &starters[i]) != 0)
                abort();
        }
        for (int i = 0; i < THREADS; i++) {
            pthread_join(starters[i].thread, NULL);
            BENCH_CHECK(b, starters[i].right);
            if (i == 0 || starters[i].start < start) start = starters[i].start;
            if (i == 0 || starters[i].end > end) end = starters[i].end;
            cpu += starters[i].cpu / (double)all;
        }
        pthread_barrier_destroy(&begin);
        double wall = (end - start) / (double)all;
        const struct bench_extra extra[] = {
            {"cpu", cpu}, {"runs_per_second", 1e9 / wall}, {NULL, 0}};
        bench_report(b, one_by_one ? "_one_by_one" : "_many", "ns/op", wall, all, extra);
    }
}

/* ---- (q): a million runs with timers over a day ---------------------------------------------- */

/* Each waits for its own time of the day, and then for a whole day. */
static const char daily[] =
    FLOW_HEAD "\"s0\":{\"action\":\"Sleep\",\"for\":\"{{ step.input.at }}\",\"next\":\"s1\"},"
              "\"s1\":{\"action\":\"Sleep\",\"for\":\"PT24H\",\"next\":\"done\"}," FLOW_DONE;

static void open_daily(struct bench *b) {
    (void)open_text(b, daily, "{\"at\":\"PT1H\"}", FLOW_STANDING);
}

/* Starts and parks n runs whose times are spread evenly, in an order that jumps about. */
static void park_over_day(struct bench *b, unsigned long n, mwl_run **runs) {
    struct flow *f = b->state;
    mwl_heap *h = mwl_vm_heap(f->vm);
    for (unsigned long i = 0; i < n; i++) {
        char at[32];
        unsigned long ms = (unsigned long)((i * 7919ull) % n * 86400000ull / n) + 1;
        int len = snprintf(at, sizeof at, "PT%lu.%03luS", ms / 1000, ms % 1000);
        mwl_value input =
            mwl_object_set(h, mwl_object(h, 1), "at", 2, mwl_string(h, at, (size_t)len));
        runs[i] = flow_start(f, input);
        if (!runs[i]) bench_fail(b, "no memory for run %lu", i);
        mwl_value_drop(h, input);
        if (i % 1000 == 999) (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    }
    (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
}

/* A day passes in steps of a minute. Returns the processor time. */
static double pass_a_day(struct flow *f) {
    double start = bench_cpu_ns();
    for (int minute = 0; minute < 1440; minute++) {
        f->now_ns += 60 * (int64_t)1000000000;
        (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
    }
    return bench_cpu_ns() - start;
}

/* On the first day every run fires once and parks again, on the second it ends. */
static void report_day(struct bench *b) {
    struct flow *f = b->state;
    unsigned long n = b->options->check ? 1000 : b->options->count ? b->options->count : 1000000;
    mwl_run **runs = malloc(n * sizeof *runs);
    BENCH_CHECK(b, runs != NULL);
    if (b->failed) return;
    memset(runs, 0, n * sizeof *runs); /* already resident, so not counted for the runs */
    long long live = bench_live(b);
    double resident = bench_resident(), start = bench_cpu_ns();
    park_over_day(b, n, runs);
    double parked = bench_cpu_ns() - start;
    const double count = (double)n;
    const struct bench_extra memory[] = {{"live", (double)(bench_live(b) - live) / count},
                                         {"rss", (bench_resident() - resident) / count},
                                         {NULL, 0}};
    bench_report(b, "_park", "ns/op", parked / count, n, memory);
    double fired = pass_a_day(f);
    const struct bench_extra after[] = {{"rss", (bench_resident() - resident) / count}, {NULL, 0}};
    for (unsigned long i = 0; i < n; i++)
        if (mwl_run_get_state(runs[i]) != MWL_RUN_PARKED) bench_fail(b, "run %lu is not parked", i);
    bench_report(b, "_fire", "ns/op", fired / count, n, after);
    (void)pass_a_day(f);
    (void)settle(b, n, runs, true);
    free(runs);
}

const struct bench_case bench_scale_cases[] = {
    {"wf", "g_parked", open_sleeper, NULL, close_flow, 0, BENCH_ALONE, report_parked},
    {"wf", "k_steps1000", open_steps_1000, run_serial, close_flow, 1000, 0, NULL},
    {"wf", "k_steps100000", open_steps_100000, NULL, close_flow, 0, BENCH_LONG, report_long},
    {"wf", "l_grow100000", open_grows, run_serial, close_flow, ELEMENTS, 0, NULL},
    {"wf", "l_gather100000", open_gathers, run_serial, close_flow, ELEMENTS, 0, NULL},
    {"wf", "o_threads", open_chain, NULL, close_flow, 0, 0, report_threads},
    {"wf", "p_many1000", open_minimal, run_many, close_flow, TOGETHER, 0, NULL},
    {"wf", "p_start", open_minimal, NULL, close_flow, 0, 0, report_start},
    {"wf", "q_day", open_daily, NULL, close_flow, 0, BENCH_ALONE, report_day},
    {"wf", "n_million", open_sleeper, NULL, close_flow, 0, BENCH_ALONE, report_million},
    {0},
};
