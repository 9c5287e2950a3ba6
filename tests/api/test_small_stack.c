/* test_small_stack.c: the whole way from text to Result on the least C stack that SECURITY.md
 * promises to be enough. Each case goes as deep as the limits allow, and beyond them, where it must
 * be refused and not overflow. */
#include "utest.h"

#include "mwl_asm.h"
#include "mwl_std.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || !defined(__OPTIMIZE__)
#define STACK_BYTES ((size_t)4 << 20) /* what is not optimised needs several times as much */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define STACK_BYTES ((size_t)4 << 20)
#endif
#endif
#ifndef STACK_BYTES
#define STACK_BYTES ((size_t)256 << 10)
#endif
#define GUARD_BYTES ((size_t)1 << 20)

/* ---- texts ----------------------------------------------------------------------------------- */

typedef struct text {
    char *s;
    size_t len, room;
} text;

static void put(text *t, const char *s) {
    size_t n = strlen(s);
    if (t->len + n + 1 > t->room) {
        t->room = 2 * (t->len + n + 1);
        t->s = realloc(t->s, t->room);
        if (!t->s) abort();
    }
    memcpy(t->s + t->len, s, n + 1);
    t->len += n;
}
static void put_times(text *t, size_t n, const char *s) {
    while (n--) put(t, s);
}
/* n times `before`, the middle, n times `after`. */
static void put_nested(text *t, size_t n, const char *before, const char *middle,
                       const char *after) {
    put_times(t, n, before);
    put(t, middle);
    put_times(t, n, after);
}

#define HEAD "{\"$schema\":\"https://mwl.dev/v0.1/flow/schema.json\","
#define RETURNS(value)                                                                             \
    "\"entrypoint\":\"a\",\"steps\":{\"a\":{\"action\":\"Return\",\"value\":" value "}}}"

#define FINALLY                                                                                    \
    "\"provider\":\"mwl:provider.middleware/mwl/finally/v1\",\"onAlways\":{\"with\":{\"call\":{"   \
    "\"provider\":\"mwl:provider.call/mwl/mock/v1\"}}}"
#define TIMEOUT                                                                                    \
    "\"provider\":\"mwl:provider.middleware/mwl/timeout/v1\",\"onEntry\":{\"with\":{"              \
    "\"duration\":\"PT1S\"}}"

/* ---- a case ---------------------------------------------------------------------------------- */

typedef struct job {
    text definition, input, args; /* JSON; the last two may be empty */
    char outcome[64];             /* "refused", "success", or the code of the failure */
} job;

static void run_it(job *j, const mwl_asm_result *image) {
    mwl_config c = mwl_config_default();
    c.virtual_time = true;
    mwl_vm *vm = NULL;
    mwl_program *program = NULL;
    mwl_run *run = NULL;
    mwl_start start = {.input = mwl_null(), .arguments = mwl_absent()};
    snprintf(j->outcome, sizeof j->outcome, "not started");
    if (mwl_vm_new(&c, &vm) < 0 || mwl_std_add(vm, MWL_STD_ALL, NULL) < 0) return;
    mwl_heap *h = mwl_vm_heap(vm);
    if (j->input.len) (void)mwl_json_parse(h, j->input.s, j->input.len, &start.input, NULL);
    if (j->args.len) (void)mwl_json_parse(h, j->args.s, j->args.len, &start.arguments, NULL);
    if (mwl_program_load(NULL, image->image, image->image_size, MWL_COPY, &program, NULL) ==
            MWL_OK &&
        mwl_run_start(vm, program, &start, &run, NULL) == MWL_OK) {
        mwl_vm_pump(vm, MWL_NO_BUDGET);
        char *out = NULL;
        size_t len = 0;
        mwl_value result = mwl_run_result(run),
                  code = mwl_get(result, mwl_run_succeeded(run) ? "type" : "code");
        (void)mwl_json_write(h, result, MWL_JSON_CANONICAL, &out, &len);
        mwl_text_free(h, out, len);
        const char *s = mwl_as_text(code, NULL);
        snprintf(j->outcome, sizeof j->outcome, "%s", s ? s : "no Result");
    }
    mwl_run_free(run);
    mwl_value_drop(h, start.input);
    mwl_value_drop(h, start.arguments);
    mwl_program_release(program);
    mwl_vm_free(vm);
}

static void *work(void *arg) {
    job *j = arg;
    mwl_asm_result image;
    if (mwl_assemble(j->definition.s, j->definition.len, NULL, &image) == MWL_OK)
        run_it(j, &image);
    else
        snprintf(j->outcome, sizeof j->outcome, "refused");
    mwl_asm_free(&image);
    return NULL;
}

/* Runs it on a stack with a guard below. Returns how many bytes of the stack were used. */
static size_t on_a_small_stack(job *j) {
    unsigned char *at = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED || mprotect(at, GUARD_BYTES, PROT_NONE) != 0) return 0;
    pthread_attr_t attr;
    pthread_t thread;
    pthread_attr_init(&attr);
    pthread_attr_setstack(&attr, at + GUARD_BYTES, STACK_BYTES);
    if (pthread_create(&thread, &attr, work, j) != 0) return 0;
    pthread_join(thread, NULL);
    pthread_attr_destroy(&attr);
    size_t untouched = GUARD_BYTES;
    while (untouched < GUARD_BYTES + STACK_BYTES && !at[untouched]) untouched++;
    munmap(at, GUARD_BYTES + STACK_BYTES);
    return GUARD_BYTES + STACK_BYTES - untouched;
}

static void expect(int *utest_result, const char *name, job *j, const char *outcome) {
    size_t used = on_a_small_stack(j);
    printf("%-28s %4zu KiB of C stack, %s\n", name, used >> 10, j->outcome);
    EXPECT_TRUE(used > 0);
    if (outcome) EXPECT_STREQ(j->outcome, outcome);
    free(j->definition.s);
    free(j->input.s);
    free(j->args.s);
}

/* ---- patterns -------------------------------------------------------------------------------- */

static void schema_pattern(int *utest_result, size_t depth, const char *outcome) {
    job j = {0};
    put(&j.definition, HEAD "\"parameters\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":"
                            "\"string\",\"pattern\":\"(?=a)");
    put_nested(&j.definition, depth, "(", "a", ")+");
    put(&j.definition, "\"}}}," RETURNS("1"));
    put(&j.args, "{\"x\":\"");
    put_times(&j.args, 1000, "a");
    put(&j.args, "\"}");
    expect(utest_result, "a schema's pattern", &j, outcome);
}

static void computed_pattern(int *utest_result, size_t depth, const char *outcome) {
    job j = {0};
    put(&j.definition, HEAD RETURNS("\"{{ 'aaaa'.matches(step.input) }}\""));
    put(&j.input, "\"");
    put_nested(&j.input, depth, "(", "a", ")*");
    put(&j.input, "\"");
    expect(utest_result, "a computed pattern", &j, outcome);
}

UTEST(small_stack, patterns) {
    schema_pattern(utest_result, 90, "success");
    schema_pattern(utest_result, 240, "refused");
    schema_pattern(utest_result, 100000, "refused");
    computed_pattern(utest_result, 900, "success");
    computed_pattern(utest_result, 100000, "System.ExpressionEvaluationError");
}

/* ---- data ------------------------------------------------------------------------------------ */

/* Expressions over a value that is nested as deeply as one may be. */
UTEST(small_stack, deep_data) {
    static const char *const values[] = {"\"{{ '%s'.format([step.input]) }}\"",
                                         "\"{{ toJson(step.input) }}\"",
                                         "\"{{ step.input == fromJson(toJson(step.input)) }}\"",
                                         "\"{{ [step.input, step.input].distinct() }}\"",
                                         "\"{{ [[step.input], [step.input]] == [1] }}\"",
                                         "\"{{ {'a': step.input} }}\"",
                                         "\"{{ sets.contains([step.input], [step.input]) }}\"",
                                         "\"{{ step.input in [step.input] }}\""};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        job j = {0};
        put(&j.definition,
            HEAD "\"entrypoint\":\"a\",\"steps\":{\"a\":{\"action\":\"Return\",\"value\":");
        put(&j.definition, values[i]);
        put(&j.definition, "}}}");
        put_nested(&j.input, 505, "[", "{\"a\":1}", "]");
        expect(utest_result, values[i], &j, "success");
    }
}

static void recursive_schema(int *utest_result, size_t depth) {
    job j = {0};
    put(&j.definition,
        HEAD "\"parameters\":{\"type\":\"object\",\"properties\":{\"x\":{\"$ref\":\"#/$defs/n\"}},"
             "\"$defs\":{\"n\":{\"allOf\":[{\"anyOf\":[{\"type\":\"number\"},{\"type\":\"array\","
             "\"uniqueItems\":true,\"items\":{\"$ref\":\"#/$defs/n\"}}]}]}}}," RETURNS("1"));
    put(&j.args, "{\"x\":");
    put_nested(&j.args, depth, "[", "1", "]");
    put(&j.args, "}");
    expect(utest_result, "a recursive schema", &j, NULL);
}

UTEST(small_stack, recursive_schemas) {
    recursive_schema(utest_result, 100);
    recursive_schema(utest_result, 500);
}

/* ---- definitions ----------------------------------------------------------------------------- */

/* Expressions of one kind of nesting, up to what the parser refuses. */
static void expression(int *utest_result, const char *before, const char *middle,
                       const char *after) {
    static const size_t depths[] = {10, 30, 60, 120, 250, 500, 1000, 20000};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        job j = {0};
        put(&j.definition,
            HEAD "\"entrypoint\":\"a\",\"steps\":{\"a\":{\"action\":\"Return\",\"value\":\"{{ ");
        put_nested(&j.definition, depths[i], before, middle, after);
        put(&j.definition, " }}\"}}}");
        expect(utest_result, before, &j, NULL);
    }
}

UTEST(small_stack, expressions) {
    expression(utest_result, "(", "1", ")");
    expression(utest_result, "[", "step.input", "]");
    expression(utest_result, "1 + ", "1", "");
    expression(utest_result, "-", "step.input", "");
    expression(utest_result, "true ? 1 : ", "2", "");
    expression(utest_result, "size([", "step.input", "])");
    expression(utest_result, "{'a': ", "step.input", "}");
    expression(utest_result, "[step.input].map(x, ", "1", ")");
    expression(utest_result, "step.input == 1 || ", "true", "");
    expression(utest_result, "", "step.input", ".a");
    expression(utest_result, "", "step.input", "[0]");
}

static void definition(int *utest_result, const char *name, const char *before, const char *middle,
                       const char *after) {
    static const size_t depths[] = {10, 60, 250, 1000, 100000};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        job j = {0};
        put_nested(&j.definition, depths[i], before, middle, after);
        expect(utest_result, name, &j, NULL);
    }
}

UTEST(small_stack, definitions) {
    definition(utest_result, "JSON", "[", "1", "]");
    definition(utest_result, "values",
               /* a literal in a literal */
               "{\"a\":", "1", "}");
    static const size_t depths[] = {10, 60, 120, 250, 1000};
    for (size_t i = 0; i < sizeof depths / sizeof *depths; i++) {
        job flows = {0}, literals = {0}, schemas = {0};
        put(&flows.definition, HEAD);
        put_nested(
            &flows.definition, depths[i],
            "\"entrypoint\":\"a\",\"steps\":{\"a\":{\"action\":\"Call\",\"call\":{\"flow\":{",
            "\"entrypoint\":\"r\",\"steps\":{\"r\":{\"action\":\"Return\"}}",
            "}},\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}");
        put(&flows.definition, "}");
        expect(utest_result, "inline Flows", &flows, NULL);
        put(&literals.definition,
            HEAD "\"entrypoint\":\"a\",\"steps\":{\"a\":{\"action\":\"Return\",\"value\":");
        put_nested(&literals.definition, depths[i], "[{\"a\":", "\"{{ step.input }}\"", "}]");
        put(&literals.definition, "}}}");
        expect(utest_result, "a literal", &literals, NULL);
        put(&schemas.definition, HEAD "\"parameters\":{\"type\":\"object\",\"properties\":{\"x\":");
        put_nested(&schemas.definition, depths[i], "{\"not\":{\"items\":", "{}", "}}");
        put(&schemas.definition, "}}," RETURNS("1"));
        expect(utest_result, "a schema", &schemas, NULL);
    }
}

/* ---- runs ------------------------------------------------------------------------------------ */

/* Each calls the next inside a Finally; the last one sleeps longer than the bound outside, or is
 * too deep for the limit. */
static void chain_of_flows(int *utest_result, size_t n, const char *outcome) {
    job j = {0};
    char step[512];
    put(&j.definition, HEAD "\"flows\":{");
    for (size_t i = 0; i < n; i++) {
        snprintf(step, sizeof step,
                 "\"f%zu\":{\"entrypoint\":\"a\",\"steps\":{\"a\":{\"action\":\"Call\",\"call\":{"
                 "\"flow\":\"f%zu\"},\"middleware\":[{" FINALLY "}],\"next\":\"z\"},"
                 "\"z\":{\"action\":\"Return\"}}},",
                 i, i + 1);
        put(&j.definition, step);
    }
    snprintf(
        step, sizeof step,
        "\"f%zu\":{\"entrypoint\":\"s\",\"steps\":{\"s\":{\"action\":\"Sleep\",\"for\":\"PT9S\","
        "\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}},",
        n);
    put(&j.definition, step);
    put(&j.definition,
        "\"entrypoint\":\"a\",\"steps\":{\"a\":{\"action\":\"Call\",\"call\":{\"flow\":\"f0\"},"
        "\"middleware\":[{" TIMEOUT "}],\"next\":\"z\"},\"z\":{\"action\":\"Return\"}}}");
    expect(utest_result, "Flows that call Flows", &j, outcome);
}

UTEST(small_stack, flows_that_call_flows) {
    chain_of_flows(utest_result, 250, "Provider.Middleware.Timeout.Exceeded");
    chain_of_flows(utest_result, 300, "System.Cancelled"); /* the limit of frames */
}

UTEST_MAIN()
