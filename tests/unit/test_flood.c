/* Hostile keys cost the same as other keys of the same size: in data, in a definition and in a
 * program. Quadratic time would be seconds at these sizes, so the limit on CPU time may be
 * generous. */
#include "tests/unit/flood.h"
#include "mwl_asm.h"
#include "tests/unit/schema_kit.h"
#include "utest.h"
#include "vm/value/value.h"

#include <stdlib.h>
#include <time.h>

enum { KEYS = 20000 };

/* A key that no attacker chose, as long as one of flood.h. */
static void plain_key(unsigned i, char key[FLOOD_LEN]) {
    memset(key, '.', FLOOD_LEN);
    char digits[16];
    int n = snprintf(digits, sizeof digits, "%u", i * 2654435761u);
    memcpy(key, digits, (size_t)n);
    memcpy(key + 300, digits, (size_t)n);
}

/* before, then each key with its quotes and `after_key`, with commas between, then after. The last
 * key comes first if `backwards`. */
static char *write_keys(bool flood, const char *before, const char *after_key, const char *after,
                        bool backwards) {
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&b, before);
    for (unsigned i = 0; i < KEYS; i++) {
        char key[FLOOD_LEN];
        unsigned number = backwards ? KEYS - 1 - i : i;
        if (flood)
            flood_key(number, key);
        else
            plain_key(number, key);
        mwl__buf_puts(&b, i ? ",\"" : "\"");
        mwl__buf_put(&b, key, sizeof key);
        mwl__buf_putc(&b, '"');
        mwl__buf_puts(&b, after_key);
    }
    mwl__buf_puts(&b, after);
    char *text = strdup(mwl__buf_cstr(&b));
    mwl__buf_free(&b);
    return text;
}

static double seconds(clock_t since) { return (double)(clock() - since) / CLOCKS_PER_SEC; }

/* A second of CPU time is far less than the attack would take, and a hundred times what is
 * needed. */
static bool alike(double hostile, double plain) {
    if (hostile < 4 * plain + 0.3) return true;
    printf("%.3f s of CPU for hostile keys, %.3f s for others\n", hostile, plain);
    return false;
}

static double parse_seconds(bool flood, bool *good) {
    char *text = write_keys(flood, "{", ":0", "}", false);
    mwl_heap *h = NULL;
    mwl_value v = mwl_absent();
    clock_t start = clock();
    *good = text && mwl_heap_new(NULL, &h) == MWL_OK &&
            mwl_json_parse(h, text, strlen(text), &v, NULL) == MWL_OK && mwl_count(v) == KEYS;
    double took = seconds(start);
    if (*good) { /* short searches, with hashes that the sender does not know */
        const mwl__map *m = mwl__as_map(v);
        *good = m->keys->reach < 128 && m->keys->keyed == flood;
    }
    mwl_value_drop(h, v);
    mwl_heap_free(h);
    free(text);
    return took;
}

UTEST(flood, data) {
    bool good;
    double hostile = parse_seconds(true, &good);
    ASSERT_TRUE(good);
    double plain = parse_seconds(false, &good);
    ASSERT_TRUE(good);
    EXPECT_TRUE(alike(hostile, plain));
}

#define FLOW "{\"$schema\": \"https://mwl.dev/v0.1/flow/schema.json\", \"entrypoint\": \"a\", "
#define RETURN ", \"steps\": {\"a\": {\"action\": \"Return\", \"value\": 1}}}"
#define PARAMETERS FLOW "\"parameters\": {\"type\": \"object\", "

/* Where a definition may have many names. */
static const struct {
    const char *what, *before, *after_key, *after;
} definitions[] = {
    {"members of a value", FLOW "\"steps\": {\"a\": {\"action\": \"Return\", \"value\": {", ":0",
     "}}}}"},
    {"properties of a schema", PARAMETERS "\"properties\": {", ":{}", "}}" RETURN},
    {"required names of a schema", PARAMETERS "\"additionalProperties\": true, \"required\": [", "",
     "]}" RETURN},
    {"an enumeration", PARAMETERS "\"properties\": {\"x\": {\"enum\": [", "", "]}}}" RETURN},
    {"Flows", FLOW "\"flows\": {",
     ":{\"entrypoint\": \"a\", \"steps\": {\"a\": {\"action\": \"Return\"}}}", "}" RETURN},
};

static double assemble_and_load_seconds(size_t i, bool flood, bool *good) {
    char *text = write_keys(flood, definitions[i].before, definitions[i].after_key,
                            definitions[i].after, false);
    mwl_asm_result made;
    mwl_program *program = NULL;
    memset(&made, 0, sizeof made);
    clock_t start = clock();
    *good = text && mwl_assemble(text, strlen(text), NULL, &made) == MWL_OK &&
            mwl_program_load(NULL, made.image, made.image_size, MWL_COPY, &program, NULL) == MWL_OK;
    double took = seconds(start);
    if (!*good) printf("%s: %.300s\n", definitions[i].what, made.diagnostics);
    mwl_program_release(program);
    mwl_asm_free(&made);
    free(text);
    return took;
}

UTEST(flood, definition_and_program) {
    for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        bool good;
        double hostile = assemble_and_load_seconds(i, true, &good);
        EXPECT_TRUE(good);
        double plain = assemble_and_load_seconds(i, false, &good);
        EXPECT_TRUE(good);
        EXPECT_TRUE_MSG(alike(hostile, plain), definitions[i].what);
    }
}

/* Values that are checked against schemas of many names: each name is looked up, in the order that
 * is worst for a list. */
static const struct {
    const char *what, *before, *after_key, *after, *values[3];
} schemas[] = {
    {"properties",
     "{\"additionalProperties\": false, \"properties\": {",
     ":{}",
     "}}",
     {"{", ":0", "}"}},
    {"required", "{\"required\": [", "", "]}", {"{", ":0", "}"}},
    {"enum", "{\"items\": {\"enum\": [", "", "]}}", {"[", "", "]"}},
};

static double check_seconds(size_t i, bool flood, bool *good) {
    char *schema =
        write_keys(flood, schemas[i].before, schemas[i].after_key, schemas[i].after, false);
    char *value =
        write_keys(flood, schemas[i].values[0], schemas[i].values[1], schemas[i].values[2], true);
    struct kit k;
    kit_open(&k, schema, (mwl__schema_options){0});
    clock_t start = clock();
    uint64_t fuel = 30 * KEYS;
    *good = k.status == MWL_OK && kit_check(&k, value, &fuel) == 1;
    double took = seconds(start);
    kit_close(&k);
    free(schema);
    free(value);
    return took;
}

UTEST(flood, values_against_schemas) {
    for (size_t i = 0; i < sizeof schemas / sizeof *schemas; i++) {
        bool good;
        double hostile = check_seconds(i, true, &good);
        EXPECT_TRUE_MSG(good, schemas[i].what);
        double plain = check_seconds(i, false, &good);
        EXPECT_TRUE_MSG(good, schemas[i].what);
        EXPECT_TRUE_MSG(alike(hostile, plain), schemas[i].what);
    }
}

UTEST_MAIN()
