/* test_header_examples.c: compiles and runs the examples in the comments of the public headers.
 * header_examples.sh extracts them. */
#include "utest.h"

#include "mwl_asm.h"
#include "mwl_std.h"

#include <stdio.h> /* for the examples */
#include <string.h>

#include "header_examples.h"

#define GEO "\"mwl:provider.call/acme/geo/v1\""
#define SKIP "\"mwl:provider.middleware/acme/skip/v1\""

/* Asks geo, doubles the latitude, and returns 0 for Atlantis without asking. */
static const char definition[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"locate\","
    " \"steps\": {"
    "  \"locate\": {\"action\": \"Call\", \"call\": {\"provider\": " GEO "},"
    "   \"middleware\": [{\"provider\": " SKIP ","
    "    \"onEntry\": {\"when\": \"{{ middleware.input == 'Atlantis' }}\", \"with\": {\"value\": 0}}}],"
    "   \"output\": \"{{ acme.twice(step.result.value) }}\", \"next\": \"done\"},"
    "  \"done\": {\"action\": \"Return\"}}}";

UTEST(header_examples, values) {
    mwl_heap *heap = NULL;
    ASSERT_EQ((int)mwl_heap_new(NULL, &heap), (int)MWL_OK);
    EXPECT_EQ((int)print_order(heap), (int)MWL_OK);
    mwl_heap_limit(heap, 1); /* nothing fits: the one test at the end finds it */
    EXPECT_EQ((int)print_order(heap), (int)MWL_E_TOO_BIG);
    mwl_heap_free(heap);
}

UTEST(header_examples, program_that_is_not_one) {
    EXPECT_TRUE(load_program("not a program", 13) == NULL);
}

static mwl_program *assemble_example(void) {
    mwl_asm_provider documents[] = {{NULL, geo_document, strlen(geo_document)},
                                    {NULL, skip_document, strlen(skip_document)}};
    const mwl_function_def *functions[] = {&acme_functions[0], NULL};
    mwl_asm_options options = {.providers = documents, .n_providers = 2, .functions = functions};
    return assemble_program(definition, &options);
}

static bool value_is(mwl_vm *vm, mwl_program *program, const char *city, double expected) {
    mwl_heap *heap = mwl_vm_heap(vm);
    mwl_start start = {.input = mwl_string(heap, city, strlen(city))};
    mwl_run *run = NULL;
    mwl_status status = mwl_run_start(vm, program, &start, &run, NULL);
    mwl_value_drop(heap, start.input);
    if (status < 0) return false;
    while (mwl_run_get_state(run) < MWL_RUN_DONE) mwl_vm_pump(vm, MWL_NO_BUDGET);
    bool equal = mwl_value_equal(mwl_run_value(run), mwl_number(expected));
    mwl_run_free(run);
    return equal;
}

/* The provider in all its styles, with the same middleware and function. */
UTEST(header_examples, extensions) {
    const mwl_call_provider styles[] = {
        geo_provider, {.uri = geo_provider.uri, .document = geo_document, .blocking = slow_geo}};
    mwl_program *program = assemble_example();
    ASSERT_TRUE(program != NULL);
    for (size_t i = 0; i < 2; i++) {
        mwl_vm *vm = NULL;
        mwl_error error = {MWL_OK, "", 0};
        mwl_config config = mwl_config_default();
        config.virtual_time = true;
        ASSERT_EQ((int)mwl_vm_new(&config, &vm), (int)MWL_OK);
        EXPECT_EQ((int)mwl_std_add(vm, MWL_STD_ALL, &error), (int)MWL_OK);
        EXPECT_EQ((int)mwl_vm_provide(vm, &styles[i], 1, NULL, &error), (int)MWL_OK);
        EXPECT_EQ((int)mwl_vm_provide_middleware(vm, &skip_middleware, 1, NULL, &error),
                  (int)MWL_OK);
        EXPECT_EQ((int)mwl_vm_functions(vm, acme_functions, 1), (int)MWL_OK);
        EXPECT_STREQ(error.message, "");
        EXPECT_TRUE(value_is(vm, program, "Lisboa", 77.4));
        EXPECT_TRUE(value_is(vm, program, "Atlantis", 0));
        if (i == 0) EXPECT_FALSE(print_result(vm, program, "\"Paris\"")); /* unknown */
        EXPECT_TRUE(print_result(vm, program, "\"Lisboa\""));
        EXPECT_FALSE(print_result(vm, program, "not JSON"));
        mwl_value cities[] = {mwl_string(mwl_vm_heap(vm), "Lisboa", 6), mwl_null(),
                              mwl_string(mwl_vm_heap(vm), "Atlantis", 8)};
        EXPECT_EQ(count_successes(vm, program, cities, 3), i == 0 ? 2u : 3u);
        for (size_t k = 0; k < 3; k++) mwl_value_drop(mwl_vm_heap(vm), cities[k]);
        mwl_run *run = NULL;
        EXPECT_EQ((int)mwl_run_start(vm, program, NULL, &run, NULL), (int)MWL_OK);
        run = through_bytes(vm, run, program);
        mwl_vm_pump(vm, MWL_NO_BUDGET);
        EXPECT_EQ((int)mwl_run_get_state(run), (int)MWL_RUN_DONE);
        mwl_run_free(run);
        mwl_vm_free(vm);
    }
    mwl_program_release(program);
}

UTEST(header_examples, another_thread) {
    job j = {NULL};
    mwl_call_provider later = {
        .uri = geo_provider.uri, .document = geo_document, .start = job_start};
    mwl_program *program = assemble_example();
    mwl_vm *vm = NULL;
    mwl_run *run = NULL;
    ASSERT_TRUE(program != NULL);
    ASSERT_EQ((int)mwl_vm_new(NULL, &vm), (int)MWL_OK);
    EXPECT_EQ((int)mwl_vm_provide(vm, &later, 1, &j, NULL), (int)MWL_OK);
    EXPECT_EQ((int)mwl_vm_provide_middleware(vm, &skip_middleware, 1, NULL, NULL), (int)MWL_OK);
    EXPECT_EQ((int)mwl_vm_functions(vm, acme_functions, 1), (int)MWL_OK);
    ASSERT_EQ((int)mwl_run_start(vm, program, NULL, &run, NULL), (int)MWL_OK);
    EXPECT_TRUE(mwl_vm_pump(vm, MWL_NO_BUDGET) == MWL_NEVER);
    ASSERT_TRUE(j.token != NULL);
    job_finish(&j);
    mwl_vm_pump(vm, MWL_NO_BUDGET);
    EXPECT_TRUE(mwl_value_equal(mwl_run_value(run), mwl_number(77.4)));
    mwl_run_free(run);
    mwl_program_release(program);
    mwl_vm_free(vm);
}

UTEST_MAIN()
