/* test_asm.c: the assembler as its users see it. */
#include "tests/unit/assembled.h"
#include "tests/unit/faulty.h"
#include "utest.h"

#include <time.h>

static const char small[] = FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Return\"}}}";

/* Every construct once. */
static const char rich[] = FLOW_HEAD
    "\"comment\": \"all of it\", \"parameters\": {\"type\": \"object\", \"properties\": {\"n\": "
    "{\"type\": \"number\", "
    "\"default\": 3}}}, \"flows\": {\"F\": {\"entrypoint\": \"r\", \"steps\": {\"r\": {\"action\": "
    "\"Return\"}}}}, "
    "\"middleware\": [{" MW(
        "timeout") ", \"onEntry\": {\"with\": {\"duration\": \"PT1H\"}}}], "
                   "\"steps\": {\"a\": {\"action\": \"Gather\", \"over\": \"{{ "
                   "step.input.filter(x, x > vars.n) }}\", "
                   "\"call\": {\"flow\": \"F\", \"onSuccess\": {\"assign\": {\"k\": \"{{ "
                   "call.index }}\"}}}, "
                   "\"catch\": [{\"match\": {\"codes\": [\"System.*\"], \"types\": [\"error\"], "
                   "\"retryable\": true}, \"next\": \"z\"}], "
                   "\"next\": \"b\"}, \"b\": {\"action\": \"Call\", \"call\": {" MOCK
                   ", \"with\": {\"value\": \"{{ {'a': [1, 2]} }}\"}}, "
                   "\"middleware\": [{" MW(
                       "finally") ", \"onAlways\": {\"with\": {\"call\": {" MOCK
                                  "}}}}, {" MW(
                                      "retry") ", \"onEntry\": {\"with\": {\"policies\": "
                                               "[{\"match\": {\"codes\": [\"*\"]}, \"attempts\": "
                                               "2}]}}, "
                                               "\"onFailure\": {\"details\": {\"was\": \"{{ "
                                               "middleware.result.code.matches('^A') || true "
                                               "}}\"}}}], \"next\": \"m\"}, "
                                               "\"m\": {\"action\": \"Match\", \"cases\": "
                                               "[{\"when\": \"{{ match.input == null }}\", "
                                               "\"next\": \"z\"}], "
                                               "\"default\": {\"next\": \"s\"}}, \"s\": "
                                               "{\"action\": \"Sleep\", \"for\": \"PT0S\", "
                                               "\"next\": \"z\"}, "
                                               "\"z\": {\"action\": \"Raise\", \"result\": "
                                               "{\"code\": \"A.B\", \"message\": \"{{ 'n' + "
                                               "string(vars.n) }}\"}}}}";

UTEST(asm, assembles) {
    struct assembled a;
    assembled_make(&a, rich, 0);
    ASSERT_EQ(MWL_OK, (int)a.status);
    EXPECT_EQ(0u, a.result.n_errors);
    EXPECT_EQ(strlen(rich), a.program->source_size);
    EXPECT_EQ(0, memcmp(rich, a.program->source, a.program->source_size));
    assembled_free(&a);
}

UTEST(asm, same_definition_same_bytes) {
    struct assembled a, b;
    assembled_make(&a, rich, 0);
    assembled_make(&b, rich, 0);
    ASSERT_EQ(a.result.image_size, b.result.image_size);
    EXPECT_EQ(0, memcmp(a.result.image, b.result.image, a.result.image_size));
    assembled_free(&b);
    /* and assembling the decompiled text gives the same bytes */
    mwl_asm_result again;
    ASSERT_EQ(MWL_OK, (int)mwl_assemble(a.program->source, a.program->source_size, NULL, &again));
    ASSERT_EQ(a.result.image_size, again.image_size);
    EXPECT_EQ(0, memcmp(a.result.image, again.image, again.image_size));
    mwl_asm_free(&again);
    assembled_free(&a);
}

UTEST(asm, stripping) {
    struct assembled whole, source, both;
    mwl__where w;
    assembled_make(&whole, rich, 0);
    assembled_make(&source, rich, MWL_ASM_STRIP_SOURCE);
    assembled_make(&both, rich, MWL_ASM_STRIP);
    EXPECT_TRUE(source.program->source == NULL);
    EXPECT_TRUE(mwl__program_where(source.program, 0, 0, &w));
    EXPECT_TRUE(both.program->source == NULL);
    EXPECT_FALSE(mwl__program_where(both.program, 0, 0, &w));
    EXPECT_LT(both.result.image_size, source.result.image_size);
    EXPECT_LT(source.result.image_size, whole.result.image_size);
    EXPECT_STREQ(whole.ops, both.ops);
    assembled_free(&whole);
    assembled_free(&source);
    assembled_free(&both);
}

UTEST(asm, packing) {
    struct assembled whole, packed;
    assembled_make(&whole, rich, MWL_ASM_STRIP);
    assembled_make(&packed, rich, MWL_ASM_STRIP | MWL_ASM_PACK);
    ASSERT_EQ(MWL_OK, (int)packed.status);
    EXPECT_LT(packed.result.image_size, strlen(rich));
    ASSERT_EQ(whole.result.image_size, packed.program->size);
    EXPECT_EQ(0, memcmp(whole.result.image, packed.program->bytes, whole.result.image_size));
    assembled_free(&whole);
    assembled_free(&packed);
}

UTEST(asm, rejects_with_diagnostics) {
    static const char text[] =
        FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Pass\", \"next\": \"b\"}}}";
    mwl_asm_options options;
    mwl_asm_result result;
    memset(&options, 0, sizeof options);
    options.file = "x.json";
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble(text, strlen(text), &options, &result));
    EXPECT_TRUE(result.image == NULL);
    EXPECT_EQ(1u, result.n_errors);
    EXPECT_TRUE(strstr(result.diagnostics, "x.json:1:") != NULL);
    EXPECT_EQ(strlen(result.diagnostics), result.diagnostics_len);
    mwl_asm_free(&result);
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble("{", 1, NULL, &result));
    EXPECT_TRUE(strstr(result.diagnostics, "definition:1:") != NULL);
    mwl_asm_free(&result);
    mwl_asm_free(&result); /* a second call does no harm */
    mwl_asm_free(NULL);
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble("", 0, NULL, &result));
    mwl_asm_free(&result);
    options.format = MWL_ASM_JSON;
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble(text, strlen(text), &options, &result));
    EXPECT_TRUE(strchr("[{", result.diagnostics[0]) != NULL);
    mwl_asm_free(&result);
}

UTEST(asm, check_only_makes_no_image) {
    mwl_asm_options options;
    mwl_asm_result result;
    memset(&options, 0, sizeof options);
    options.flags = MWL_ASM_CHECK_ONLY;
    EXPECT_EQ(MWL_OK, (int)mwl_assemble(small, strlen(small), &options, &result));
    EXPECT_TRUE(result.image == NULL);
    EXPECT_STREQ("", result.diagnostics);
    mwl_asm_free(&result);
}

UTEST(asm, warnings_can_be_silenced_or_denied) {
    static const char text[] =
        FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Return\"}, \"b\": {\"action\": \"Return\"}}}";
    static const char *const names[] = {"unreachable-step", NULL}, *const unknown[] = {"no-such",
                                                                                       NULL};
    mwl_asm_options options;
    mwl_asm_result result;
    memset(&options, 0, sizeof options);
    EXPECT_EQ(MWL_OK, (int)mwl_assemble(text, strlen(text), &options, &result));
    EXPECT_EQ(1u, result.n_warnings);
    mwl_asm_free(&result);
    options.allow = names;
    EXPECT_EQ(MWL_OK, (int)mwl_assemble(text, strlen(text), &options, &result));
    EXPECT_STREQ("", result.diagnostics);
    mwl_asm_free(&result);
    options.allow = NULL;
    options.deny = names;
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble(text, strlen(text), &options, &result));
    EXPECT_TRUE(result.image == NULL);
    mwl_asm_free(&result);
    options.deny = unknown;
    EXPECT_EQ(MWL_E_USAGE, (int)mwl_assemble(text, strlen(text), &options, &result));
    mwl_asm_free(&result);
}

UTEST(asm, providers_of_the_host) {
    static const char text[] = FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Call\", \"call\": "
                                         "{\"provider\": \"mwl:provider.call/acme/geo/v1\"}, "
                                         "\"next\": \"z\"}, \"z\": {\"action\": \"Return\"}}}";
    static const char document[] = "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\", "
                                   "\"uri\": \"mwl:provider.call/acme/geo/v1\", "
                                   "\"codePrefix\": \"Geo\", \"description\": \"places\", "
                                   "\"parameters\": {\"type\": \"object\"}, "
                                   "\"failureCatalog\": {\"closed\": [], \"open\": []}}";
    const mwl_asm_provider good = {"geo.json", document, sizeof document - 1},
                           bad = {"bad.json", "{}", 2};
    mwl_asm_options options;
    mwl_asm_result result;
    memset(&options, 0, sizeof options);
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble(text, strlen(text), &options, &result));
    mwl_asm_free(&result);
    options.providers = &good;
    options.n_providers = 1;
    EXPECT_EQ(MWL_OK, (int)mwl_assemble(text, strlen(text), &options, &result));
    mwl_asm_free(&result);
    options.providers = &bad;
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble(small, strlen(small), &options, &result));
    EXPECT_TRUE(strstr(result.diagnostics, "bad.json") != NULL);
    mwl_asm_free(&result);
}

static mwl_value twice(mwl_fn *fn, const mwl_value *args, size_t n_args) {
    (void)fn;
    (void)n_args;
    return mwl_number(mwl_as_number(args[0]) * 2);
}

UTEST(asm, functions_of_the_host) {
    static const char text[] = FLOW_HEAD
        "\"steps\": {\"a\": {\"action\": \"Return\", \"value\": \"{{ acme.twice(2.0) }}\"}}}";
    static const mwl_function_def def = {"acme.twice", twice, 1, 1, MWL_FN_GLOBAL, "acme.twice(x)"};
    static const mwl_function_def *const defs[] = {&def, NULL};
    mwl_asm_options options;
    mwl_asm_result result;
    memset(&options, 0, sizeof options);
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble(text, strlen(text), &options, &result));
    mwl_asm_free(&result);
    options.functions = defs;
    EXPECT_EQ(MWL_OK, (int)mwl_assemble(text, strlen(text), &options, &result));
    mwl_asm_free(&result);
}

static bool assemble_rich(mwl_alloc alloc) {
    mwl_asm_options options;
    mwl_asm_result result;
    memset(&options, 0, sizeof options);
    options.alloc = alloc;
    options.flags = MWL_ASM_PACK;
    mwl_status status = mwl_assemble(rich, sizeof rich - 1, &options, &result);
    if (status != MWL_OK && status != MWL_E_NOMEM)
        printf("status %d: %s\n", (int)status, result.diagnostics);
    mwl_asm_free(&result);
    return status == MWL_OK;
}

UTEST(asm, every_allocation_may_fail) { EXPECT_TRUE(faulty_sweep(assemble_rich, 5000)); }

/* ---- limits ---------------------------------------------------------------------------------- */

enum limit { BYTES, WORK, MEMORY };

/* Assembles `rich` under one limit. Returns the status; *place has the first line of what was said.
 */
static mwl_status within(enum limit which, size_t limit, char *said, size_t size) {
    mwl_asm_options options;
    mwl_asm_result result;
    memset(&options, 0, sizeof options);
    if (which == BYTES) options.max_bytes = limit;
    if (which == WORK) options.max_work = limit;
    if (which == MEMORY) options.max_memory = limit;
    mwl_status status = mwl_assemble(rich, sizeof rich - 1, &options, &result);
    if (said) snprintf(said, size, "%s", result.diagnostics ? result.diagnostics : "");
    if (status < 0 && (result.image || result.n_errors != 1)) status = MWL_E_USAGE;
    mwl_asm_free(&result);
    return status;
}

/* The smallest limit under which it is assembled. */
static size_t least(enum limit which, size_t enough) {
    size_t low = 0;
    while (enough - low > 1) {
        size_t mid = low + (enough - low) / 2;
        *(within(which, mid, NULL, 0) == MWL_OK ? &enough : &low) = mid;
    }
    return enough;
}

UTEST(asm, limit_of_bytes) {
    char said[4096];
    EXPECT_EQ(MWL_OK, (int)within(BYTES, sizeof rich - 1, said, sizeof said));
    EXPECT_EQ(MWL_E_REJECTED, (int)within(BYTES, sizeof rich - 2, said, sizeof said));
    EXPECT_TRUE(strstr(said, "error[MWL0108]: the text has more than") != NULL);
    EXPECT_TRUE(strstr(said, "--> definition:") != NULL);
}

UTEST(asm, limit_of_work) {
    char said[4096];
    size_t units = least(WORK, 1000000);
    printf("%zu bytes, %zu units\n", sizeof rich - 1, units);
    EXPECT_TRUE(units > sizeof rich && units < 40 * sizeof rich);
    EXPECT_EQ(MWL_OK, (int)within(WORK, units, said, sizeof said));
    EXPECT_EQ(MWL_E_REJECTED, (int)within(WORK, units - 1, said, sizeof said));
    EXPECT_TRUE(strstr(said, "error[MWL0114]: the work of the assembler is used up here") != NULL);
    EXPECT_TRUE(strstr(said, "units") != NULL);
    EXPECT_EQ(MWL_E_REJECTED, (int)within(WORK, 1, said, sizeof said)); /* while it is read */
    EXPECT_TRUE(strstr(said, "error[MWL0114]") != NULL);
    /* one unit for each byte is read, and nothing is left to check the first Step */
    EXPECT_EQ(MWL_E_REJECTED, (int)within(WORK, sizeof rich - 1, said, sizeof said));
    EXPECT_TRUE(strstr(said, "error[MWL0114]") != NULL);
}

UTEST(asm, limit_of_memory) {
    char said[4096];
    size_t bytes = least(MEMORY, (size_t)64 << 20);
    printf("%zu bytes of definition, %zu of memory\n", sizeof rich - 1, bytes);
    EXPECT_EQ(MWL_OK, (int)within(MEMORY, bytes, said, sizeof said));
    EXPECT_EQ(MWL_E_REJECTED, (int)within(MEMORY, bytes - 1, said, sizeof said));
    EXPECT_TRUE(strstr(said, "error[MWL0114]: the memory of the assembler is used up here") !=
                NULL);
    EXPECT_EQ(MWL_E_REJECTED, (int)within(MEMORY, 1, said, sizeof said));
    EXPECT_TRUE(strstr(said, "its limit is 1 bytes") != NULL);
}

/* A text beyond what offsets can name is refused as any that is too large; it is not even read. */
UTEST(asm, a_text_of_any_size) {
    mwl_asm_options options;
    mwl_asm_result result;
    memset(&options, 0, sizeof options);
    options.max_bytes = sizeof small / 2;
    EXPECT_EQ(MWL_E_REJECTED, (int)mwl_assemble(small, SIZE_MAX / 2, &options, &result));
    EXPECT_TRUE(strstr(result.diagnostics, "MWL0108") != NULL);
    mwl_asm_free(&result);
}

/* ---- libraries ------------------------------------------------------------------------------- */

/* The namespace `example` is for documentation: only a document that nothing real is behind may
 * have it. */
UTEST(asm, a_stand_in_may_be_of_the_namespace_example) {
    static const char flow[] =
        FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Call\", \"call\": {\"provider\": "
                  "\"mwl:provider.call/example/x/v1\"}, \"next\": \"z\"}, \"z\": {\"action\": "
                  "\"Return\"}}}";
    mwl_asm_document library[] = {
        {.uri = "mwl:provider.call/example/x/v1",
         .text = "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\", \"uri\": "
                 "\"mwl:provider.call/example/x/v1\", \"codePrefix\": \"X\", \"description\": "
                 "\"one\", \"parameters\": {\"type\": \"object\"}, \"metadata\": {\"type\": "
                 "\"object\"}, \"failureCatalog\": {\"closed\": [], \"open\": [\"*\"]}}"},
        {.uri = NULL}};
    mwl_asm_options options;
    memset(&options, 0, sizeof options);
    options.library = library;
    mwl_asm_result result;
    EXPECT_EQ((int)mwl_assemble(flow, strlen(flow), &options, &result), (int)MWL_E_REJECTED);
    EXPECT_TRUE(strstr(result.diagnostics, "MWL0410") != NULL);
    mwl_asm_free(&result);
    library[0].stands_in = true;
    EXPECT_EQ((int)mwl_assemble(flow, strlen(flow), &options, &result), (int)MWL_OK);
    EXPECT_STREQ(result.diagnostics ? result.diagnostics : "", "");
    mwl_asm_free(&result);
}

/* ---- time ------------------------------------------------------------------------------------ */

/* A sum of n terms in a text with an escape, so that places need more than an addition. */
static double seconds_for_sum(unsigned n) {
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl_asm_result result;
    mwl__buf_puts(&b, FLOW_HEAD "\"steps\": {\"a\": {\"action\": \"Return\", \"value\": \"{{ "
                                "step.input.a == \\\"x\\\" || 1.0");
    for (unsigned i = 0; i < n; i++) mwl__buf_puts(&b, " + step.input.b");
    mwl__buf_puts(&b, " > 1.0 }}\"}}}");
    clock_t begin = clock();
    mwl_status status = mwl_assemble(b.data, b.len, NULL, &result);
    double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
    if (status != MWL_OK) printf("%s\n", result.diagnostics);
    mwl_asm_free(&result);
    mwl__buf_free(&b);
    return status == MWL_OK ? seconds : 1e9;
}

/* Four times the terms take about four times the time; a quadratic step would take sixteen. */
UTEST(asm, time_of_one_expression_is_linear) {
    double few = seconds_for_sum(5000), many = seconds_for_sum(20000);
    printf("5000 terms %.3f s, 20000 terms %.3f s\n", few, many);
    EXPECT_TRUE(many < 8 * few + 0.05);
}

UTEST_MAIN()
