/* Assembling: definitions of 10, 1,000 and 10,000 Steps (every third one a Call with a retry and a
 * catch, the others Pass and Match with expressions). Time per Step must not grow; reported per
 * Step. */
#include "bench.h"
#include "mwl_asm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    char *text;
    size_t len;
    unsigned steps;
};

static const char *const bodies[] = {
    "\"action\": \"Pass\", \"output\": {\"n\": \"{{ step.input.n + 1.0 }}\", \"tag\": \"t\"}, "
    "\"assign\": {\"v%u\": \"{{ step.input.n }}\"}, \"next\": \"s%u\"",
    "\"action\": \"Match\", \"cases\": [{\"when\": \"{{ match.input.n > %u.0 && "
    "has(match.input.tag) }}\", "
    "\"next\": \"s%u\"}], \"default\": {\"next\": \"end\"}",
    "\"action\": \"Call\", \"call\": {\"provider\": \"mwl:provider.call/mwl/mock/v1\", \"with\": "
    "{\"value\": "
    "\"{{ {'n': call.input.n, 'k': '%u'} }}\"}}, \"middleware\": [{\"provider\": "
    "\"mwl:provider.middleware/mwl/retry/v1\", \"onEntry\": {\"with\": {\"policies\": [{\"match\": "
    "{\"codes\": "
    "[\"*\"]}, \"attempts\": 3}]}}}], \"catch\": [{\"match\": {\"codes\": [\"*\"]}, \"next\": "
    "\"end\"}], "
    "\"next\": \"s%u\"",
};

static size_t write_flow(char *text, size_t size, unsigned steps) {
    size_t at = (size_t)snprintf(text, size,
                                 "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", "
                                 "\"entrypoint\": \"s0\", \"steps\": {\n");
    for (unsigned i = 0; i < steps; i++) {
        at += (size_t)snprintf(text + at, size - at, "\"s%u\": {", i);
        at += (size_t)snprintf(text + at, size - at, bodies[i % 3], i, i + 1);
        at += (size_t)snprintf(text + at, size - at, "},\n");
    }
    at += (size_t)snprintf(
        text + at, size - at,
        "\"s%u\": {\"action\": \"Return\"}, \"end\": {\"action\": \"Return\"}}}\n", steps);
    return at;
}

static void prepare(struct bench *b, unsigned steps) {
    struct state *s = calloc(1, sizeof *s);
    size_t size = 500u * steps + 1000u;
    b->state = s;
    BENCH_CHECK(b, s != NULL && (s->text = malloc(size)) != NULL);
    if (b->failed) return;
    s->steps = steps;
    s->len = write_flow(s->text, size, steps);
    mwl_asm_result result;
    mwl_status status = mwl_assemble(s->text, s->len, NULL, &result);
    if (status != MWL_OK) bench_fail(b, "%s", result.diagnostics ? result.diagnostics : "");
    mwl_program *program = NULL;
    BENCH_CHECK(b, status == MWL_OK && mwl_program_load(NULL, result.image, result.image_size,
                                                        MWL_COPY, &program, NULL) == MWL_OK);
    mwl_program_release(program);
    mwl_asm_free(&result);
}

static void setup_10(struct bench *b) { prepare(b, 10); }
static void setup_1000(struct bench *b) { prepare(b, 1000); }
static void setup_10000(struct bench *b) { prepare(b, 10000); }

static void run(struct bench *b, unsigned long n) {
    const struct state *s = b->state;
    mwl_asm_options options;
    memset(&options, 0, sizeof options);
    options.alloc = b->alloc;
    while (n-- > 0) {
        mwl_asm_result result;
        BENCH_CHECK(b, mwl_assemble(s->text, s->len, &options, &result) == MWL_OK);
        BENCH_KEEP(result.image);
        mwl_asm_free(&result);
    }
}

static void teardown(struct bench *b) {
    struct state *s = b->state;
    if (s) free(s->text);
    free(s);
}

const struct bench_case bench_asm_cases[] = {
    {"asm", "m_asm10", setup_10, run, teardown, 10, 0, NULL},
    {"asm", "m_asm1000", setup_1000, run, teardown, 1000, 0, NULL},
    {"asm", "m_asm10000", setup_10000, run, teardown, 10000, BENCH_LONG, NULL},
    {0},
};
