/* The memory of a parked run in total: its records, its input and its timer, per run, as the
 * allocator counts it. */
#include "mwl.h"
#include "mwl_asm.h"
#include "mwl_config.h"
#include "utest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t held;

static void *count(void *ctx, void *p, size_t old, size_t size) {
    (void)ctx;
    held = held - old + size;
    if (size) return realloc(p, size);
    free(p);
    return NULL;
}

static void stand_still(void *ctx, mwl_instant *out) {
    (void)ctx;
    out->mono_ns = 1000;
    out->wall_ns = 1767225600000000000;
}

static const char sleeper[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\",\"entrypoint\":\"s\",\"steps\":{"
    "\"s\":{\"action\":\"Sleep\",\"for\":\"PT1H\",\"next\":\"d\"},"
    "\"d\":{\"action\":\"Return\"}}}";

static mwl_value make_input(mwl_heap *h, int i) {
    char text[64];
    int n = snprintf(text, sizeof text, "{\"n\":%d,\"s\":\"granule-%04d\"}", i, i % 10000);
    mwl_value v = mwl_absent();
    (void)mwl_json_parse(h, text, (size_t)n, &v, NULL);
    return v;
}

UTEST(parked, a_run_in_a_sleep_costs_at_most_512_bytes) {
    enum { N = 20000 };
    mwl_asm_result image;
    ASSERT_EQ(mwl_assemble(sleeper, strlen(sleeper), NULL, &image), MWL_OK);
    mwl_program *program = NULL;
    ASSERT_EQ(mwl_program_load(NULL, image.image, image.image_size, MWL_COPY, &program, NULL),
              MWL_OK);
    mwl_asm_free(&image);
    mwl_config config = mwl_config_default();
    config.alloc.fn = count;
    config.clock.read = stand_still;
    mwl_vm *vm = NULL;
    ASSERT_EQ(mwl_vm_new(&config, &vm), MWL_OK);
    mwl_heap *h = mwl_vm_heap(vm);
    size_t before = held, live = mwl_heap_used(h);
    for (int i = 0; i < N; i++) {
        mwl_start how = {.input = make_input(h, i), .arguments = mwl_absent()};
        mwl_run *run = NULL;
        ASSERT_EQ(mwl_run_start(vm, program, &how, &run, NULL), MWL_OK);
        mwl_value_drop(h, how.input);
    }
    int64_t due = mwl_vm_pump(vm, MWL_NO_BUDGET);
    ASSERT_EQ(due, (int64_t)1000 + 3600 * (int64_t)1000000000);
    double all = (double)(held - before) / N, values = (double)(mwl_heap_used(h) - live) / N;
    printf("parked run: %.1f bytes live, %.1f bytes all in\n", values, all);
    if (!MWL_PLAIN_HEAP) { /* else each object is a separate allocation, which takes more */
        ASSERT_LE(all, 512.0);
    }
    mwl_vm_free(vm);
    mwl_program_release(program);
}

UTEST_MAIN()
