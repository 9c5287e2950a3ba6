/* Saving and loading runs: one in a Sleep, a Call in Retry in Timeout with 350 bytes of input, and
 * a Gather with ten calls in flight. The sizes are limited too. */
#include "bench/bench.h"

#include "mwl_asm.h"
#include "mwl_std.h"

#include <stdlib.h>
#include <string.h>

#define HEAD "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"a\","
#define END ",\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}"
#define DELAYED "{\"provider\":\"mwl:provider.call/mwl/mock/v1\",\"with\":{\"delay\":\"PT5S\"}}"
#define ORDER                                                                                      \
    "{\"order\":\"2026-000417\",\"customer\":{\"name\":\"Ada Lovelace\",\"street\":"               \
    "\"12 St James Square\",\"city\":\"London\",\"mail\":\"ada@example.org\"},\"lines\":["         \
    "{\"sku\":\"GR-1001\",\"count\":2,\"price\":19.5},{\"sku\":\"GR-1002\",\"count\":1,"           \
    "\"price\":7.25},{\"sku\":\"GR-1003\",\"count\":12,\"price\":0.99}],\"note\":"                 \
    "\"Please deliver before noon, or leave it with the neighbour at number 14.\",\"priority\":3}"

struct parked {
    const char *definition, *input;
    size_t most; /* bytes; 0: any */
};

static const struct parked sleeper = {HEAD
                                      "\"steps\":{\"a\":{\"action\":\"Sleep\",\"for\":\"PT1H\"" END,
                                      "{\"n\":1,\"s\":\"granule-0001\"}", 200};
static const struct parked call = {
    HEAD
    "\"parameters\":{\"type\":\"object\",\"properties\":{\"region\":{\"type\":\"string\","
    "\"default\":\"eu-west\"},\"tries\":{\"type\":\"integer\",\"default\":3},\"dry\":{"
    "\"type\":\"boolean\",\"default\":false}}},\"steps\":{\"a\":{\"action\":\"Call\","
    "\"middleware\":[{\"provider\":\"mwl:provider.middleware/mwl/timeout/v1\",\"onEntry\":{"
    "\"with\":{\"duration\":\"PT30S\"}}},{\"provider\":\"mwl:provider.middleware/mwl/retry/v1\""
    ",\"onEntry\":{\"with\":{\"policies\":[{\"match\":{\"retryable\":true},\"attempts\":3,"
    "\"backoff\":{\"initial\":\"PT1S\"}}]}}}],\"call\":" DELAYED END,
    ORDER, 700};
static const struct parked gather = {
    HEAD
    "\"steps\":{\"a\":{\"action\":\"Gather\",\"over\":\"{{ step.input }}\",\"call\":" DELAYED END,
    "[0,1,2,3,4,5,6,7,8,9]", 0};

struct state {
    mwl_vm *vm;
    mwl_program *program;
    mwl_run *run;
    void *bytes;
    size_t size;
};

static void stand_still(void *ctx, mwl_instant *out) {
    (void)ctx;
    out->mono_ns = INT64_C(86400000000000);
    out->wall_ns = INT64_C(1767225600000000000);
}

static mwl_run *load(const struct state *s) {
    const mwl_load how = {.program = s->program};
    mwl_run *run = NULL;
    (void)mwl_run_load(s->vm, s->bytes, s->size, &how, &run, NULL);
    return run;
}

static void setup(struct bench *b, const struct parked *p) {
    struct state *s = b->state = calloc(1, sizeof *s);
    mwl_config config = mwl_config_default();
    mwl_asm_result image;
    mwl_start start = {.id = "order-2026-000417"};
    config.alloc = b->alloc;
    config.clock.read = stand_still;
    BENCH_CHECK(b, mwl_vm_new(&config, &s->vm) == MWL_OK &&
                       mwl_std_add(s->vm, MWL_STD_ALL, NULL) == MWL_OK);
    BENCH_CHECK(b, mwl_assemble(p->definition, strlen(p->definition), NULL, &image) == MWL_OK);
    BENCH_CHECK(b, mwl_program_load(NULL, image.image, image.image_size, MWL_COPY, &s->program,
                                    NULL) == MWL_OK);
    mwl_asm_free(&image);
    if (b->failed) return;
    (void)mwl_json_parse(mwl_vm_heap(s->vm), p->input, strlen(p->input), &start.input, NULL);
    BENCH_CHECK(b, mwl_run_start(s->vm, s->program, &start, &s->run, NULL) == MWL_OK);
    mwl_value_drop(mwl_vm_heap(s->vm), start.input);
    mwl_vm_pump(s->vm, MWL_NO_BUDGET);
    BENCH_CHECK(b, mwl_run_save(s->run, &s->bytes, &s->size, NULL) == MWL_OK);
    BENCH_CHECK(b, !p->most || s->size <= p->most);
    mwl_run *copy = load(s);
    BENCH_CHECK(b, copy != NULL);
    mwl_run_free(copy);
}

static void setup_sleep(struct bench *b) { setup(b, &sleeper); }
static void setup_call(struct bench *b) { setup(b, &call); }
static void setup_gather(struct bench *b) { setup(b, &gather); }

static void save_n(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    while (n--) {
        void *bytes = NULL;
        size_t size = 0;
        (void)mwl_run_save(s->run, &bytes, &size, NULL);
        BENCH_KEEP(bytes);
        mwl_bytes_free(s->vm, bytes, size);
    }
}

/* With freeing what was loaded. */
static void load_n(struct bench *b, unsigned long n) {
    while (n--) (void)mwl_run_unload(load(b->state));
}

static void size_of(struct bench *b) {
    const struct state *s = b->state;
    bench_report(b, NULL, "bytes", (double)s->size, 1, NULL);
}

static void teardown(struct bench *b) {
    struct state *s = b->state;
    if (s->vm) mwl_bytes_free(s->vm, s->bytes, s->size);
    mwl_run_free(s->run);
    mwl_vm_free(s->vm);
    mwl_program_release(s->program);
    free(s);
}

const struct bench_case bench_snapshot_cases[] = {
    {"snapshot", "save_sleep", setup_sleep, save_n, teardown, 0, 0, NULL},
    {"snapshot", "save_call", setup_call, save_n, teardown, 0, 0, NULL},
    {"snapshot", "save_gather10", setup_gather, save_n, teardown, 0, 0, NULL},
    {"snapshot", "load_sleep", setup_sleep, load_n, teardown, 0, 0, NULL},
    {"snapshot", "load_call", setup_call, load_n, teardown, 0, 0, NULL},
    {"snapshot", "load_gather10", setup_gather, load_n, teardown, 0, 0, NULL},
    {"snapshot", "size_sleep", setup_sleep, NULL, teardown, 0, 0, size_of},
    {"snapshot", "size_call", setup_call, NULL, teardown, 0, 0, size_of},
    {"snapshot", "size_gather10", setup_gather, NULL, teardown, 0, 0, size_of},
    {NULL, NULL, NULL, NULL, NULL, 0, 0, NULL},
};
