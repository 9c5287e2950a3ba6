/* flow.h: a definition made ready to run, for the cases that run workflows: assembled, loaded, with
 * a VM that has the standard library and the benchmarks' own providers. */
#ifndef MWL_BENCH_FLOW_H
#define MWL_BENCH_FLOW_H

#include "bench/bench.h"
#include "mwl_provider.h"

#define FLOW_HEAD                                                                                  \
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"s0\",\"steps\":{"
#define FLOW_DONE "\"done\":{\"action\":\"Return\"}}}"
#define FLOW_PROVIDER(name) "{\"provider\":\"mwl:provider.call/bench/" name "/v1\"}"
#define FLOW_MW(name) "\"provider\":\"mwl:provider.middleware/mwl/" name "/v1\""
#define FLOW_INPUT "{\"n\":1,\"s\":\"granule-0001\"}"

enum { FLOW_MARKS = 16 };

struct flow {
    mwl_vm *vm;
    mwl_program *program;
    mwl_value input;
    unsigned fails;           /* how often `flaky` must still fail in this run */
    mwl_call *held;           /* what `later` has not settled yet */
    double marks[FLOW_MARKS]; /* processor time when `mark` was called, in order, round and round */
    unsigned n_marks;
    int64_t now_ns; /* the time, when it is not virtual */
};

enum flow_time {
    FLOW_VIRTUAL, /* time skips to the next timer while a pump waits */
    FLOW_STANDING /* time is f->now_ns */
};

/* Makes an image of the definition, which may use the providers of the benchmarks. Given; freed by
 * free(). Returns NULL if it failed; then the case has failed too. */
void *flow_assemble(struct bench *b, const char *definition, size_t len, size_t *image_size);
/* The providers noop, flaky, never, later and mark; input JSON, or NULL for FLOW_INPUT. If anything
 * fails, the case fails; flow_close still frees what exists then. */
void flow_open(struct bench *b, struct flow *f, const char *definition, const char *input,
               enum flow_time time);
void flow_close(struct flow *f);
mwl_run *flow_start(struct flow *f, mwl_value input); /* input lent */
/* One run to its end, its Result compared with this JSON text. */
void flow_check(struct bench *b, struct flow *f, const char *wanted);

#endif
