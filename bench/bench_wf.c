/* Workflow runs: real definitions through the assembler and the public API, per run. (a) to (f) are
 * the work of the peers' programs; (h) eight middleware entries around a call, (i) a subflow, (j) a
 * failure that rises through three Flows, caught and raised again in each. Runs that hold much, (g)
 * and (k) to (o), are in bench_scale.c. */
#include "bench/flow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASS(name, next)                                                                           \
    "\"" name                                                                                      \
    "\":{\"action\":\"Pass\",\"output\":\"{{ {'n': step.input.n + 1.0, 's': step.input.s} "        \
    "}}\",\"next\":\"" next "\"},"
#define HOUR "{" FLOW_MW("timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT1H\"}}}"
#define SAME "{\"type\":\"success\",\"value\":" FLOW_INPUT "}"

/* A Flow that calls another, catches its failure and raises it again. */
#define RISES(inner)                                                                               \
    "{\"entrypoint\":\"c\",\"steps\":{\"c\":{\"action\":\"Call\",\"call\":{\"flow\":" inner "},"   \
    "\"next\":\"d\",\"catch\":[{\"match\":{\"codes\":[\"Bench.*\"]},\"next\":\"again\"}]},"        \
    "\"d\":{\"action\":\"Return\"},\"again\":{\"action\":\"Raise\"}}}"
#define RAISES                                                                                     \
    "{\"entrypoint\":\"r\",\"steps\":{\"r\":{\"action\":\"Raise\",\"result\":{\"code\":"           \
    "\"Bench.Broken\",\"message\":\"as asked\"}}}}"

struct workflow {
    const char *definition;
    const char *input;  /* JSON; NULL: the peers' input */
    const char *wanted; /* the Result as JSON; NULL: the input as a success's value */
    unsigned fails;     /* of `flaky`, in each run */
    unsigned in_flight; /* runs parked at the same time; 0: one after the other */
};

static const struct workflow a_min = {
    FLOW_HEAD "\"s0\":{\"action\":\"Pass\",\"next\":\"done\"}," FLOW_DONE, NULL, SAME, 0, 0};
static const struct workflow b_chain10 = {
    FLOW_HEAD PASS("s0", "s1") PASS("s1", "s2") PASS("s2", "s3") PASS("s3", "s4") PASS("s4", "s5")
        PASS("s5", "s6") PASS("s6", "s7") PASS("s7", "s8") PASS("s8", "s9") PASS("s9", "done")
            FLOW_DONE,
    NULL, "{\"type\":\"success\",\"value\":{\"n\":11,\"s\":\"granule-0001\"}}", 0, 0};
static const struct workflow c_retry = {
    FLOW_HEAD
    "\"s0\":{\"action\":\"Call\",\"call\":" FLOW_PROVIDER("flaky") ",\"middleware\":[{" FLOW_MW(
        "retry") ",\"onEntry\":{\"with\":{\"policies\":[{\"match\":{\"codes\":[\"Provider.Call.*\"]"
                 "},"
                 "\"attempts\":3}]}}}],\"next\":\"done\"}," FLOW_DONE,
    NULL, SAME, 2, 0};
#define LOOP1000(provider)                                                                         \
    FLOW_HEAD                                                                                      \
    "\"s0\":{\"action\":\"Call\",\"call\":" FLOW_PROVIDER(provider) ",\"middleware\":[{" FLOW_MW(  \
        "loop") ",\"onSuccess\":{\"when\":\"{{ middleware.metadata.iteration < 1000 }}\"}}],"      \
                "\"next\":\"done\"}," FLOW_DONE
#define FAN1000(provider)                                                                          \
    FLOW_HEAD                                                                                      \
    "\"s0\":{\"action\":\"Gather\",\"over\":\"{{ step.input }}\",\"call\":" FLOW_PROVIDER(         \
        provider) ",\"next\":\"done\"}," FLOW_DONE
/* A no-op answers at once, as a function of a host does that never waits; and, beside it, through a
 * call that is started and settled. */
static const struct workflow d_loop1000 = {LOOP1000("now"), NULL, SAME, 0, 0};
static const struct workflow d_start1000 = {LOOP1000("noop"), NULL, SAME, 0, 0};
static const struct workflow e_fan1000 = {FAN1000("now"), "1000 numbers", NULL, 0, 0};
static const struct workflow e_start1000 = {FAN1000("noop"), "1000 numbers", NULL, 0, 0};
static const struct workflow f_timeout = {
    FLOW_HEAD
    "\"s0\":{\"action\":\"Call\",\"call\":" FLOW_PROVIDER("never") ",\"middleware\":[{" FLOW_MW(
        "timeout") ",\"onEntry\":{\"with\":{\"duration\":\"PT0.001S\"}}}],\"next\":\"done\","
                   "\"catch\":"
                   "[{\"match\":{\"types\":[\"timeout\"]},\"next\":\"done\"}]}," FLOW_DONE,
    NULL, SAME, 0, 5000};
static const struct workflow h_stack8 = {
    FLOW_HEAD "\"s0\":{\"action\":\"Call\",\"call\":" FLOW_PROVIDER(
        "noop") ",\"middleware\":[" HOUR "," HOUR "," HOUR "," HOUR "," HOUR "," HOUR "," HOUR
                "," HOUR "],\"next\":\"done\"}," FLOW_DONE,
    NULL, SAME, 0, 0};
static const struct workflow i_subflow = {
    FLOW_HEAD
    "\"s0\":{\"action\":\"Call\",\"call\":{\"flow\":{\"entrypoint\":\"r\",\"steps\":{\"r\":"
    "{\"action\":\"Return\"}}}},\"next\":\"done\"}," FLOW_DONE,
    NULL, SAME, 0, 0};
static const struct workflow j_reraise = {
    FLOW_HEAD "\"s0\":{\"action\":\"Call\",\"call\":{\"flow\":" RISES(
        RISES(RISES(RAISES))) "},\"next\":"
                              "\"done\",\"catch\":[{\"match\":{\"codes\":[\"Bench.Broken\"]},"
                              "\"next\":\"caught\"}]},"
                              "\"caught\":{\"action\":\"Return\",\"value\":\"{{ failure.message "
                              "}}\"}," FLOW_DONE,
    NULL, "{\"type\":\"success\",\"value\":\"as asked\"}", 0, 0};

struct state {
    struct flow flow;
    mwl_run **runs; /* of those in flight */
};

/* Writes [0,1,...,n-1] as text, with a text before and after it. */
static char *numbers(const char *before, int n, const char *after) {
    size_t size = 32 + strlen(before) + strlen(after) + 8 * (size_t)n, at;
    char *text = malloc(size);
    if (!text) return NULL;
    at = (size_t)snprintf(text, size, "%s", before);
    for (int i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%d", i ? "," : "[", i);
    snprintf(text + at, size - at, "]%s", after);
    return text;
}

static void open_workflow(struct bench *b, const struct workflow *w) {
    struct state *s = calloc(1, sizeof *s);
    b->state = s;
    BENCH_CHECK(b, s != NULL);
    if (b->failed) return;
    char *input = w->input ? numbers("", 1000, "") : NULL;
    char *wanted = w->wanted ? NULL : numbers("{\"type\":\"success\",\"value\":", 1000, "}");
    flow_open(b, &s->flow, w->definition, input, FLOW_VIRTUAL);
    s->flow.fails = w->fails;
    if (!b->failed) flow_check(b, &s->flow, w->wanted ? w->wanted : wanted);
    if (w->in_flight) s->runs = malloc(w->in_flight * sizeof *s->runs);
    free(input);
    free(wanted);
}

/* One run after the other: each is started, pumped to its Result and freed. */
static void run_serial(struct bench *b, const struct workflow *w, unsigned long n) {
    struct flow *f = &((struct state *)b->state)->flow;
    for (unsigned long i = 0; i < n; i++) {
        f->fails = w->fails;
        mwl_run *run = flow_start(f, f->input);
        (void)mwl_vm_pump(f->vm, MWL_NO_BUDGET);
        BENCH_KEEP(mwl_run_get_state(run));
        mwl_run_free(run);
    }
}

/* Many are started and park; their timers fire; all are freed. */
static void run_in_flight(struct bench *b, const struct workflow *w, unsigned long n) {
    struct state *s = b->state;
    while (n > 0) {
        unsigned long k = n < w->in_flight ? n : w->in_flight;
        n -= k;
        for (unsigned long i = 0; i < k; i++) s->runs[i] = flow_start(&s->flow, s->flow.input);
        (void)mwl_vm_pump(s->flow.vm, MWL_NO_BUDGET);
        for (unsigned long i = 0; i < k; i++) {
            if (!mwl_run_succeeded(s->runs[i])) bench_fail(b, "a run did not end");
            mwl_run_free(s->runs[i]);
        }
    }
}

static void close_workflow(struct bench *b) {
    struct state *s = b->state;
    if (!s) return;
    flow_close(&s->flow);
    free(s->runs);
    free(s);
}

#define CASE(name, how)                                                                            \
    static void setup_##name(struct bench *b) { open_workflow(b, &name); }                         \
    static void run_##name(struct bench *b, unsigned long n) { how(b, &name, n); }
CASE(a_min, run_serial)
CASE(b_chain10, run_serial)
CASE(c_retry, run_serial)
CASE(d_loop1000, run_serial)
CASE(e_fan1000, run_serial)
CASE(d_start1000, run_serial)
CASE(e_start1000, run_serial)
CASE(f_timeout, run_in_flight)
CASE(h_stack8, run_serial)
CASE(i_subflow, run_serial)
CASE(j_reraise, run_serial)

#define ROW(name)                                                                                  \
    { "wf", #name, setup_##name, run_##name, close_workflow, 0, 0, NULL }
const struct bench_case bench_wf_cases[] = {
    ROW(a_min),     ROW(b_chain10),   ROW(c_retry),     ROW(d_loop1000),
    ROW(e_fan1000), ROW(d_start1000), ROW(e_start1000), ROW(f_timeout),
    ROW(h_stack8),  ROW(i_subflow),   ROW(j_reraise),   {0},
};
