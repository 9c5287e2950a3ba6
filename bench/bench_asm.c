/* The time to the first Step: (m) assembling and loading definitions of 10, 1,000 and 10,000 Steps
 * (every third one a Call with a retry and a catch, the others Pass and Match with expressions),
 * reported per Step, which must not grow; and a process from its start to its first Step. */
#include "bench/bench.h"
#include "mwl_asm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct state {
    char *text;
    size_t len;
    mwl_asm_result assembled;
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
    s->len = write_flow(s->text, size, steps);
    mwl_asm_result *r = &s->assembled;
    mwl_status status = mwl_assemble(s->text, s->len, NULL, r);
    if (status != MWL_OK) bench_fail(b, "%s", r->diagnostics ? r->diagnostics : "");
    mwl_program *program = NULL;
    if (status == MWL_OK)
        status = mwl_program_load(NULL, r->image, r->image_size, MWL_COPY, &program, NULL);
    BENCH_CHECK(b, status == MWL_OK);
    mwl_program_release(program);
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

/* Used in place, as a host would map a file. */
static void run_load(struct bench *b, unsigned long n) {
    const struct state *s = b->state;
    while (n-- > 0) {
        mwl_program *program = NULL;
        mwl_status st = mwl_program_load(&b->alloc, s->assembled.image, s->assembled.image_size,
                                         MWL_BORROW, &program, NULL);
        BENCH_CHECK(b, st == MWL_OK);
        mwl_program_release(program);
    }
}

static void teardown(struct bench *b) {
    struct state *s = b->state;
    if (!s) return;
    mwl_asm_free(&s->assembled);
    free(s->text);
    free(s);
}

/* ---- a process ------------------------------------------------------------------------------- */

static bool write_file(const char *path, const void *data, size_t size) {
    FILE *f = fopen(path, "wb");
    bool done = f && fwrite(data, 1, size, f) == size;
    return f && fclose(f) == 0 && done;
}

/* `mwlvm run FILE --trace`, with the program and with the definition; its output shows the first
 * Step. */
static void report_start(struct bench *b) {
    static const char *const names[] = {"_program", "_definition"};
    enum { TIMES = 25 };
    const struct state *s = b->state;
    char folder[] = "/tmp/mwl-bench-XXXXXX", files[2][64];
    BENCH_CHECK(b, mkdtemp(folder) != NULL);
    if (b->failed) return;
    snprintf(files[0], sizeof files[0], "%s/flow.mwlb", folder);
    snprintf(files[1], sizeof files[1], "%s/flow.json", folder);
    BENCH_CHECK(b, write_file(files[0], s->assembled.image, s->assembled.image_size));
    BENCH_CHECK(b, write_file(files[1], s->text, s->len));
    for (int k = 0; k < 2 && !b->failed; k++) {
        const char *const words[] = {"run", files[k], "--trace", "--input", "{\"n\":1}", NULL};
        double first[TIMES], end[TIMES];
        int n = 0, times = b->options->check ? 1 : TIMES;
        while (n < times && bench_command("mwlvm", words, "Step entered", &first[n], &end[n])) n++;
        if (n < times) {
            fprintf(stderr, "mwl-bench: asm/m_start: no mwlvm beside this program, or it failed\n");
            break;
        }
        const struct bench_extra extra[] = {{"until_end", bench_median(end, n)}, {NULL, 0}};
        bench_report(b, names[k], "ns/op", bench_median(first, n), (unsigned long)n, extra);
    }
    remove(files[0]);
    remove(files[1]);
    rmdir(folder);
}

const struct bench_case bench_asm_cases[] = {
    {"asm", "m_asm10", setup_10, run, teardown, 10, 0, NULL},
    {"asm", "m_asm1000", setup_1000, run, teardown, 1000, 0, NULL},
    {"asm", "m_asm10000", setup_10000, run, teardown, 10000, BENCH_LONG, NULL},
    {"asm", "m_load10", setup_10, run_load, teardown, 10, 0, NULL},
    {"asm", "m_load1000", setup_1000, run_load, teardown, 1000, 0, NULL},
    {"asm", "m_load10000", setup_10000, run_load, teardown, 10000, BENCH_LONG, NULL},
    {"asm", "m_start", setup_10, NULL, teardown, 0, 0, report_start},
    {0},
};
