/* Validation of parsed values against a compiled schema: one of middle size, its refusal with a
 * report, and the way from text to a compiled schema.
 *
 * `validate` uses schema.json and instance.json of the folder MWL_PEER_SCHEMA_DIR, or of the folder
 * `schema` in the current one, if they exist, so that peers can use the same files. Otherwise, and
 * in the other cases, it uses the pair below. */
#include "bench/bench.h"
#include "assembler/schema/schema_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char own_schema[] =
    "{\"type\":\"object\",\"required\":[\"order\",\"placed\",\"customer\",\"lines\",\"currency\"],"
    "\"additionalProperties\":false,\"properties\":{"
    "\"order\":{\"type\":\"string\",\"pattern\":\"^ORD-[0-9]{6}$\"},"
    "\"placed\":{\"type\":\"string\",\"format\":\"date-time\"},"
    "\"currency\":{\"enum\":[\"EUR\",\"USD\",\"GBP\",\"CHF\",\"NOK\"]},"
    "\"express\":{\"type\":\"boolean\"},\"note\":{\"type\":[\"string\",\"null\"],\"maxLength\":200}"
    ","
    "\"discount\":{\"type\":\"number\",\"minimum\":0,\"exclusiveMaximum\":1},"
    "\"total\":{\"type\":\"number\",\"multipleOf\":0.01},\"channel\":{\"const\":\"web\"},"
    "\"hold\":{\"type\":\"string\",\"format\":\"duration\"},"
    "\"customer\":{\"type\":\"object\",\"required\":[\"name\",\"address\"],\"properties\":{"
    "\"name\":{\"type\":\"string\",\"minLength\":1},\"mail\":{\"type\":\"string\",\"minLength\":3},"
    "\"since\":{\"type\":\"integer\",\"minimum\":1990},\"address\":{\"$ref\":\"#/$defs/address\"},"
    "\"billing\":{\"$ref\":\"#/$defs/address\"}}},"
    "\"lines\":{\"type\":\"array\",\"minItems\":1,\"maxItems\":100,\"items\":{\"$ref\":\"#/$defs/"
    "line\"}},"
    "\"labels\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"uniqueItems\":true},"
    "\"extra\":{\"type\":\"object\",\"additionalProperties\":{\"type\":[\"number\",\"string\"]}}},"
    "\"$defs\":{\"address\":{\"type\":\"object\",\"required\":[\"street\",\"city\"],"
    "\"additionalProperties\":false,\"properties\":{\"street\":{\"type\":\"string\"},"
    "\"city\":{\"type\":\"string\",\"minLength\":1},\"zip\":{\"type\":\"string\",\"maxLength\":10},"
    "\"country\":{\"type\":\"string\",\"minLength\":2,\"maxLength\":2}}},"
    "\"line\":{\"type\":\"object\",\"required\":[\"sku\",\"count\",\"price\"],"
    "\"additionalProperties\":false,\"properties\":{\"sku\":{\"type\":\"string\",\"minLength\":4},"
    "\"count\":{\"type\":\"integer\",\"minimum\":1},\"price\":{\"type\":\"number\",\"minimum\":0},"
    "\"kind\":{\"enum\":[\"goods\",\"service\"]},"
    "\"size\":{\"oneOf\":[{\"type\":\"string\"},{\"type\":\"integer\"}]}}}}}";

static const char own_instance[] =
    "{\"order\":\"ORD-004711\",\"placed\":\"2026-03-01T08:15:30Z\",\"currency\":\"EUR\","
    "\"express\":true,\"note\":null,\"discount\":0.15,\"total\":129.95,\"channel\":\"web\","
    "\"hold\":\"PT36H\",\"customer\":{\"name\":\"A. Example\",\"mail\":\"a@example.org\","
    "\"since\":2011,\"address\":{\"street\":\"Long Road 1\",\"city\":\"Bergen\",\"zip\":\"5003\","
    "\"country\":\"NO\"},\"billing\":{\"street\":\"PO 12\",\"city\":\"Oslo\"}},\"lines\":["
    "{\"sku\":\"AB-1000\",\"count\":2,\"price\":19.5,\"kind\":\"goods\",\"size\":\"XL\"},"
    "{\"sku\":\"AB-2000\",\"count\":1,\"price\":40,\"kind\":\"goods\",\"size\":42},"
    "{\"sku\":\"SV-0001\",\"count\":1,\"price\":50.95,\"kind\":\"service\"}],"
    "\"labels\":[\"new\",\"north\",\"gift\"],\"extra\":{\"weight\":3.25,\"ref\":\"x-77\"}}";

struct state {
    mwl_heap *heap;
    mwl__regex_scratch *scratch;
    mwl__schema *schema;
    mwl_value instance, wrong;
};

static char *read_file(const char *dir, const char *name, size_t *len) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", dir, name);
    FILE *f = fopen(path, "rb");
    char *text = f ? malloc(1 << 20) : NULL;
    *len = text ? fread(text, 1, 1 << 20, f) : 0;
    if (f) fclose(f);
    return text;
}

static mwl_status compile(const mwl_alloc *alloc, const char *text, size_t len, mwl__schema **out) {
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    mwl__schema_options options = {.assert_formats = true};
    mwl_status st = mwl__source_init(&source, *alloc, "schema", text, len);
    if (st < 0) return st;
    mwl__diags_init(&sink, *alloc);
    st = mwl__tree_read(&tree, *alloc, &source, &sink);
    if (st == MWL_OK) st = mwl__schema_compile(&tree, tree.root, &options, alloc, out);
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    return st;
}

static bool is_valid(struct state *s, mwl_value v, mwl_value *report) {
    mwl__schema_env env = {.heap = s->heap, .scratch = s->scratch};
    bool valid = false;
    return mwl__schema_check(s->schema, v, &env, &valid, report) == MWL_OK && valid;
}

static void open_with(struct bench *b, const char *schema, size_t schema_len, const char *instance,
                      size_t instance_len) {
    struct state *s = calloc(1, sizeof *s);
    b->state = s;
    BENCH_CHECK(b, s != NULL);
    if (b->failed) return;
    s->instance = s->wrong = mwl_absent();
    BENCH_CHECK(b, mwl_heap_new(&b->alloc, &s->heap) == MWL_OK);
    BENCH_CHECK(b, mwl__regex_scratch_new(&b->alloc, &s->scratch) == MWL_OK);
    BENCH_CHECK(b, compile(&b->alloc, schema, schema_len, &s->schema) == MWL_OK);
    BENCH_CHECK(b, mwl_json_parse(s->heap, instance, instance_len, &s->instance, NULL) == MWL_OK);
    if (b->failed) return;
    s->wrong = mwl_object_set(s->heap, mwl_value_keep(s->instance), "unknown", 7, mwl_number(1));
    BENCH_CHECK(b, is_valid(s, s->instance, NULL));
    BENCH_CHECK(b, !is_valid(s, s->wrong, NULL));
}

static void open_own(struct bench *b) {
    open_with(b, own_schema, sizeof own_schema - 1, own_instance, sizeof own_instance - 1);
}

static void open_peers(struct bench *b) {
    const char *dir = getenv("MWL_PEER_SCHEMA_DIR");
    size_t schema_len, instance_len;
    if (!dir) dir = access("schema/schema.json", R_OK) == 0 ? "schema" : NULL;
    if (!dir) {
        open_own(b);
        return;
    }
    char *schema = read_file(dir, "schema.json", &schema_len);
    char *instance = read_file(dir, "instance.json", &instance_len);
    BENCH_CHECK(b, schema && instance);
    if (!b->failed) open_with(b, schema, schema_len, instance, instance_len);
    free(schema);
    free(instance);
}

static void run_validate(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    bool all = true;
    while (n--) all = is_valid(s, s->instance, NULL) && all;
    BENCH_CHECK(b, all);
}

static void run_refuse(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    while (n--) {
        mwl_value report = mwl_absent();
        bool valid = is_valid(s, s->wrong, &report);
        BENCH_CHECK(b, !valid && !mwl_is_absent(report));
        mwl_value_drop(s->heap, report);
    }
}

static void run_compile(struct bench *b, unsigned long n) {
    while (n--) {
        mwl__schema *schema = NULL;
        mwl_status st = compile(&b->alloc, own_schema, sizeof own_schema - 1, &schema);
        BENCH_CHECK(b, st == MWL_OK);
        mwl__schema_free(schema);
    }
}

static void close_state(struct bench *b) {
    struct state *s = b->state;
    if (!s) return;
    if (s->heap) {
        mwl_value_drop(s->heap, s->wrong);
        mwl_value_drop(s->heap, s->instance);
    }
    mwl__schema_free(s->schema);
    mwl__regex_scratch_free(s->scratch);
    mwl_heap_free(s->heap);
    free(s);
}

const struct bench_case bench_schema_cases[] = {
    {"schema", "validate", open_peers, run_validate, close_state, 0, 0, NULL},
    {"schema", "validate_own", open_own, run_validate, close_state, 0, 0, NULL},
    {"schema", "refuse_with_report", open_own, run_refuse, close_state, 0, 0, NULL},
    {"schema", "compile", open_own, run_compile, close_state, 0, 0, NULL},
    {0},
};
