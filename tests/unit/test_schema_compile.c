/* test_schema_compile.c: compiling schemas: diagnostics with places, references and base URIs, the
 * documents of the dialect, images, out of memory. */
#include "utest.h"
#include "tests/unit/faulty.h"
#include "vm/program/program.h"
#include "assembler/schema/schema_build.h"
#include "tests/unit/flood.h"
#include "tests/unit/schema_kit.h"

#include <stdlib.h>

static const char *first_diagnostic(const char *schema, mwl__schema_options options,
                                    char out[512]) {
    struct kit k;
    kit_open(&k, schema, options);
    mwl__diags_sort(&k.sink);
    snprintf(out, 512, k.status == MWL_OK ? "ok" : "status %d", (int)k.status);
    if (k.sink.n_items) {
        const mwl__diag *d = k.sink.items[0];
        mwl__place p = mwl__source_place(&k.source, d->span.begin);
        snprintf(out, 512, "MWL%04d %u:%u %s", (int)d->row->code, p.line, p.column, d->message);
    }
    kit_close(&k);
    return out;
}

#define EXPECT_DIAG(expected, schema)                                                              \
    do {                                                                                           \
        char found[512];                                                                           \
        EXPECT_STREQ(expected, first_diagnostic(schema, (mwl__schema_options){0}, found));         \
    } while (0)

UTEST(schema_compile, wrong_values_have_places) {
    EXPECT_DIAG("ok", "{\"type\":\"string\"}");
    EXPECT_DIAG("MWL0502 1:9 unknown type 'text'", "{\"type\":\"text\"}");
    EXPECT_DIAG("MWL0502 2:12 'required' must be an array of names", "{\n\"required\":\"a\"}");
    EXPECT_DIAG("MWL0502 1:18 'required' has 'a' twice", "{\"required\":[\"a\",\"a\"]}");
    EXPECT_DIAG("MWL0502 1:14 'minLength' must be an integer from 0", "{\"minLength\":-1}");
    EXPECT_DIAG("MWL0502 1:14 'minLength' must be an integer from 0", "{\"minLength\":1.5}");
    EXPECT_DIAG("MWL0502 1:15 'multipleOf' must be a number greater than 0", "{\"multipleOf\":0}");
    EXPECT_DIAG("MWL0502 1:10 'allOf' must be an array of at least one schema", "{\"allOf\":[]}");
    EXPECT_DIAG("MWL0502 1:10 'items' must be a schema", "{\"items\":[{}]}");
    EXPECT_DIAG("MWL0502 1:20 a schema must be an object, true or false",
                "{\"properties\":{\"a\":1}}");
    EXPECT_DIAG("MWL0502 1:16 'uniqueItems' must be true or false", "{\"uniqueItems\":1}");
    EXPECT_DIAG("MWL0503 1:9 '#/$defs/x' leads nowhere", "{\"$ref\":\"#/$defs/x\"}");
    EXPECT_DIAG("MWL0503 1:9 'http://example.org/s' leads nowhere",
                "{\"$ref\":\"http://example.org/s\"}");
    EXPECT_DIAG("MWL0504 1:12 unsupported dialect 'http://json-schema.org/draft-07/schema#'",
                "{\"$schema\":\"http://json-schema.org/draft-07/schema#\"}");
    EXPECT_DIAG("MWL0508 1:2 unknown keyword 'maxlength'", "{\"maxlength\":1}");
    EXPECT_DIAG("MWL0509 1:11 unknown format 'datetime'", "{\"format\":\"datetime\"}");
    EXPECT_DIAG("ok", "{\"x-note\":1}");
    char found[512];
    (void)first_diagnostic("{\"pattern\":\"^[a-z\"}", (mwl__schema_options){0}, found);
    EXPECT_EQ(0, strncmp(found, "MWL0505 1:", 10));
}

UTEST(schema_compile, parameters) {
    char found[512];
#define EXPECT_PARAMETERS(expected, schema)                                                        \
    EXPECT_STREQ(expected, first_diagnostic(schema, mwl__schema_parameters(), found))
    EXPECT_PARAMETERS("ok", "{\"type\":\"object\"}");
    EXPECT_PARAMETERS("MWL0501 1:1 the schema of parameters has no \"type\": \"object\"", "{}");
    EXPECT_PARAMETERS("MWL0501 1:1 the schema of parameters must be of type \"object\"", "true");
    EXPECT_PARAMETERS("MWL0501 1:9 the schema of parameters must be of type \"object\"",
                      "{\"type\":[\"object\"]}");
    EXPECT_PARAMETERS("MWL0507 1:30 'a' is required, and not declared",
                      "{\"type\":\"object\",\"required\":[\"a\"]}");
    EXPECT_PARAMETERS(
        "MWL0506 1:63 the default breaks its own schema: must be a number, is a string",
        "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"number\",\"default\":\"ten\"}}}");
    EXPECT_PARAMETERS(
        "ok", "{\"type\":\"object\",\"properties\":{\"n\":{\"$ref\":\"#/$defs/n\",\"default\":"
              "10}},\"$defs\":{\"n\":{\"type\":\"number\"}}}");
}

UTEST(schema_compile, defaults) {
    struct kit k;
    kit_open(&k,
             "{\"type\":\"object\",\"properties\":{\"a\":{\"default\":[1]},\"b\":{},"
             "\"c\":{\"default\":null},\"d\":true}}",
             mwl__schema_parameters());
    ASSERT_EQ(MWL_OK, k.status);
    mwl_value d = mwl__schema_defaults(k.heap, k.tree.root);
    EXPECT_EQ(2u, mwl_count(d));
    EXPECT_EQ(MWL_KIND_ARRAY, mwl_value_kind(mwl_get(d, "a")));
    EXPECT_EQ(MWL_KIND_NULL, mwl_value_kind(mwl_get(d, "c")));
    mwl_value_drop(k.heap, d);
    kit_close(&k);
}

/* ---- references ------------------------------------------------------------------------------ */

static mwl_status resolve_some(void *ctx, const char *uri, size_t uri_len, const char **text,
                               size_t *len) {
    static const char number[] =
        "{\"$id\":\"other\",\"$defs\":{\"n\":{\"$anchor\":\"num\",\"type\":"
        "\"number\"}},\"type\":\"string\"}";
    static const char broken[] = "{\"type\":\"text\"}";
    (void)ctx;
    *text = NULL;
    if (uri_len == 22 && memcmp(uri, "http://example.org/num", 22) == 0) *text = number;
    if (uri_len == 22 && memcmp(uri, "http://example.org/bad", 22) == 0) *text = broken;
    if (!*text) return MWL_E_NOT_FOUND;
    *len = strlen(*text);
    return MWL_OK;
}

UTEST(schema_compile, other_documents) {
    mwl__schema_options options = {.base_uri = "http://example.org/a/b", .resolve = resolve_some};
    struct kit k;
    char found[512];
    kit_open(&k,
             "{\"properties\":{\"s\":{\"$ref\":\"../num\"},\"n\":{\"$ref\":\"/num#num\"},"
             "\"m\":{\"$ref\":\"../num#/$defs/n\"}}}",
             options);
    EXPECT_EQ(1, kit_check(&k, "{\"s\":\"x\",\"n\":1,\"m\":2}", NULL));
    EXPECT_EQ(0, kit_check(&k, "{\"s\":1}", NULL));
    EXPECT_EQ(0, kit_check(&k, "{\"n\":\"x\"}", NULL));
    EXPECT_EQ(0, kit_check(&k, "{\"m\":\"x\"}", NULL));
    kit_close(&k);
    EXPECT_STREQ("MWL0503 1:9 '../bad' leads nowhere",
                 first_diagnostic("{\"$ref\":\"../bad\"}", options, found));
    EXPECT_STREQ("MWL0503 1:9 '../none' leads nowhere",
                 first_diagnostic("{\"$ref\":\"../none\"}", options, found));
}

/* RFC 3986, section 5.4. */
UTEST(schema_compile, uri_references) {
    static const char *const rows[][2] = {
        {"g", "http://a/b/c/g"},
        {"./g", "http://a/b/c/g"},
        {"g/", "http://a/b/c/g/"},
        {"/g", "http://a/g"},
        {"//g", "http://g"},
        {"?y", "http://a/b/c/d;p?y"},
        {"g?y", "http://a/b/c/g?y"},
        {"#s", "http://a/b/c/d;p?q"},
        {"", "http://a/b/c/d;p?q"},
        {".", "http://a/b/c/"},
        {"./", "http://a/b/c/"},
        {"..", "http://a/b/"},
        {"../g", "http://a/b/g"},
        {"../..", "http://a/"},
        {"../../g", "http://a/g"},
        {"../../../g", "http://a/g"},
        {"/./g", "http://a/g"},
        {"/../g", "http://a/g"},
        {"g.", "http://a/b/c/g."},
        {"..g", "http://a/b/c/..g"},
        {"./../g", "http://a/b/g"},
        {"./g/.", "http://a/b/c/g/"},
        {"g/./h", "http://a/b/c/g/h"},
        {"g/../h", "http://a/b/c/h"},
        {"g;x=1/../y", "http://a/b/c/y"},
        {"urn:x:y", "urn:x:y"},
    };
    const char *base = "http://a/b/c/d;p?q";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl__buf out = mwl__buf_make(mwl_alloc_default());
        size_t fragment = 0;
        mwl__uri_resolve(base, strlen(base), rows[i][0], strlen(rows[i][0]), &out, &fragment);
        EXPECT_STREQ(rows[i][1], mwl__buf_cstr(&out));
        mwl__buf_free(&out);
    }
}

/* What the compiler refuses, the meta-schema refuses, and the other way round. */
UTEST(schema_compile, meta_schema_agrees) {
    static const char *const rows[] = {
        "{}",
        "true",
        "1",
        "[]",
        "{\"type\":\"string\"}",
        "{\"type\":\"text\"}",
        "{\"type\":[]}",
        "{\"type\":[\"null\",\"null\"]}",
        "{\"type\":[\"null\",\"string\"]}",
        "{\"type\":1}",
        "{\"enum\":1}",
        "{\"enum\":[]}",
        "{\"const\":{\"type\":1}}",
        "{\"multipleOf\":0}",
        "{\"multipleOf\":0.5}",
        "{\"maximum\":\"1\"}",
        "{\"minLength\":-1}",
        "{\"minLength\":2.0}",
        "{\"minLength\":2.5}",
        "{\"pattern\":1}",
        "{\"pattern\":\"[\"}",
        "{\"pattern\":\"a\"}",
        "{\"uniqueItems\":\"a\"}",
        "{\"required\":[1]}",
        "{\"required\":[\"a\",\"a\"]}",
        "{\"required\":[\"a\"]}",
        "{\"dependentRequired\":{\"a\":[\"b\"]}}",
        "{\"dependentRequired\":{\"a\":1}}",
        "{\"properties\":[]}",
        "{\"properties\":{\"a\":1}}",
        "{\"properties\":{\"a\":{\"type\":1}}}",
        "{\"patternProperties\":{\"[\":{}}}",
        "{\"patternProperties\":{\"a\":{}}}",
        "{\"additionalProperties\":1}",
        "{\"items\":[{}]}",
        "{\"prefixItems\":[]}",
        "{\"prefixItems\":[{}]}",
        "{\"allOf\":[]}",
        "{\"anyOf\":{}}",
        "{\"oneOf\":[{},1]}",
        "{\"not\":null}",
        "{\"if\":1}",
        "{\"then\":1}",
        "{\"else\":[]}",
        "{\"contains\":1}",
        "{\"propertyNames\":1}",
        "{\"unevaluatedItems\":1}",
        "{\"unevaluatedProperties\":1}",
        "{\"$id\":1}",
        "{\"$id\":\"a#b\"}",
        "{\"$id\":\"a#\"}",
        "{\"$anchor\":\"1a\"}",
        "{\"$anchor\":\"a.b-c\"}",
        "{\"$dynamicAnchor\":\"#a\"}",
        "{\"$comment\":1}",
        "{\"$defs\":1}",
        "{\"$defs\":{\"a\":1}}",
        "{\"definitions\":{\"a\":1}}",
        "{\"dependencies\":{\"a\":1}}",
        "{\"dependencies\":{\"a\":[\"b\"],\"c\":{}}}",
        "{\"title\":1}",
        "{\"description\":1}",
        "{\"deprecated\":1}",
        "{\"readOnly\":1}",
        "{\"writeOnly\":1}",
        "{\"examples\":1}",
        "{\"format\":1}",
        "{\"contentEncoding\":1}",
        "{\"contentMediaType\":1}",
        "{\"contentSchema\":1}",
        "{\"dependentSchemas\":{\"a\":1}}",
        "{\"maxItems\":-1}",
        "{\"minItems\":0.5}",
        "{\"maxProperties\":\"\"}",
        "{\"minContains\":-1}",
        "{\"maxContains\":-1}",
        "{\"exclusiveMinimum\":true}",
        "{\"exclusiveMaximum\":true}",
        "{\"$vocabulary\":{\"http://a\":1}}",
        "{\"$vocabulary\":{\"http://a\":false}}",
    };
    struct kit meta;
    kit_open(&meta, "{\"$ref\":\"https://json-schema.org/draft/2020-12/schema\"}",
             (mwl__schema_options){.assert_formats = true});
    ASSERT_EQ(MWL_OK, meta.status);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct kit k;
        kit_open(&k, rows[i], (mwl__schema_options){0});
        int by_meta = kit_check(&meta, rows[i], NULL);
        if ((k.status == MWL_OK) != (by_meta == 1)) printf("they differ on %s\n", rows[i]);
        EXPECT_EQ(k.status == MWL_OK, by_meta == 1);
        kit_close(&k);
    }
    kit_close(&meta);
}

/* ---- images ---------------------------------------------------------------------------------- */

static const char rich[] =
    "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":0,\"default\":1},"
    "\"b\":{\"enum\":[\"x\",\"y\",1,null]},\"c\":{\"$ref\":\"#/$defs/list\"},"
    "\"d\":{\"pattern\":\"^[a-z]+$\",\"minLength\":1},\"e\":{\"format\":\"date-time\"}},"
    "\"patternProperties\":{\"^x_\":{\"multipleOf\":0.5}},\"required\":[\"a\"],"
    "\"dependentRequired\":{\"b\":[\"c\"]},\"dependentSchemas\":{\"d\":{\"minProperties\":2}},"
    "\"propertyNames\":{\"maxLength\":9},\"anyOf\":[{\"required\":[\"c\"]},true],"
    "\"if\":{\"required\":[\"d\"]},\"then\":{},\"not\":{\"required\":[\"zzz\"]},"
    "\"unevaluatedProperties\":false,"
    "\"$defs\":{\"list\":{\"$dynamicAnchor\":\"T\",\"type\":\"array\",\"items\":{\"$dynamicRef\":"
    "\"#T\"},"
    "\"prefixItems\":[{\"type\":\"string\"}],\"contains\":{},\"uniqueItems\":true,"
    "\"unevaluatedItems\":false}}}";
static const char rich_data[] = "{\"a\":1,\"b\":\"x\",\"c\":[\"s\",[\"t\"]],\"d\":\"abc\",\"e\":"
                                "\"2026-01-01T00:00:00Z\",\"x_1\":1.5}";

static mwl_status emit_rich(mwl_alloc alloc, mwl__buf *image, uint32_t *offset) {
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    mwl__schema_options options = mwl__schema_parameters();
    mwl__emit *e = mwl__emit_new(&alloc);
    if (!e) return MWL_E_NOMEM;
    mwl__diags_init(&sink, alloc);
    mwl_status st = mwl__source_init(&source, alloc, "t.json", rich, sizeof rich - 1);
    if (st == MWL_OK) st = mwl__tree_read(&tree, alloc, &source, &sink);
    if (st == MWL_OK) st = mwl__schema_emit(&tree, tree.root, &options, e, offset);
    if (st == MWL_OK)
        st = mwl__schema_emit(&tree, tree.root, &options, e, offset); /* a second one */
    (void)mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, 0);
    (void)mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
    if (st == MWL_OK) st = mwl__emit_finish(e, 0, image);
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    mwl__emit_free(e);
    return st;
}

struct words {
    const uint32_t *at;
    size_t n;
};

static struct words words_of(const mwl_program *p) {
    struct words w = {p->image.section[MWL_SECTION_SCHEMAS].data,
                      p->image.section[MWL_SECTION_SCHEMAS].size / 4};
    return w;
}

static int check_loaded(const mwl__schema *s, const char *json) {
    struct kit k = {.status = MWL_OK};
    k.alloc = mwl_alloc_default();
    if (mwl_heap_new(&k.alloc, &k.heap) < 0 || mwl__regex_scratch_new(&k.alloc, &k.scratch) < 0)
        return -1;
    k.schema = (mwl__schema *)(uintptr_t)s;
    uint64_t fuel = 10000;
    int answer = kit_check(&k, json, &fuel);
    mwl__regex_scratch_free(k.scratch);
    mwl_heap_free(k.heap);
    return answer;
}

UTEST(schema_compile, through_an_image) {
    mwl_alloc alloc = mwl_alloc_default();
    mwl__buf image = mwl__buf_make(alloc);
    mwl_program *program = NULL;
    mwl__schema *schema = NULL;
    mwl_error error = {MWL_OK, NULL, 0};
    uint32_t offset = 0;
    ASSERT_EQ(MWL_OK, emit_rich(alloc, &image, &offset));
    EXPECT_GT(offset, 0u);
    mwl_status st = mwl_program_load(&alloc, image.data, image.len, MWL_COPY, &program, &error);
    if (st < 0) printf("%s\n", error.message);
    ASSERT_EQ(MWL_OK, st);
    struct words w = words_of(program);
    ASSERT_EQ(MWL_OK, mwl__schema_load(&alloc, w.at, w.n, offset, program->consts,
                                       program->n_consts, &schema, &error));
    EXPECT_EQ(1, check_loaded(schema, rich_data));
    EXPECT_EQ(0, check_loaded(schema, "{\"a\":-1}"));
    EXPECT_EQ(0, check_loaded(schema, "{\"a\":1,\"b\":\"x\"}"));
    EXPECT_EQ(0, check_loaded(schema, "{\"a\":1,\"x_1\":1.25}"));
    mwl__schema_free(schema);
    mwl_program_release(program);
    mwl__buf_free(&image);
}

/* Every word of a valid schema is replaced: it is refused with a message, or runs without harm. */
UTEST(schema_compile, hostile_words) {
    static const uint32_t bad[] = {0, 1, 2, 0xff, 0x7fffffff, 0xfffffffe, 0xffffffff};
    mwl_alloc alloc = mwl_alloc_default();
    mwl__buf image = mwl__buf_make(alloc);
    mwl_program *program = NULL;
    uint32_t offset = 0;
    size_t refused = 0, accepted = 0;
    ASSERT_EQ(MWL_OK, emit_rich(alloc, &image, &offset));
    ASSERT_EQ(MWL_OK, mwl_program_load(&alloc, image.data, image.len, MWL_COPY, &program, NULL));
    struct words w = words_of(program);
    uint32_t *copy = malloc(w.n * sizeof *copy);
    for (size_t i = offset; i < w.n; i++) {
        for (size_t j = 0; j < sizeof bad / sizeof *bad + 2; j++) {
            mwl__schema *schema = NULL;
            mwl_error error = {MWL_OK, NULL, 0};
            memcpy(copy, w.at, w.n * sizeof *copy);
            copy[i] = j < 7 ? bad[j] : j == 7 ? copy[i] + 1 : copy[i] - 1;
            mwl_status st = mwl__schema_load(&alloc, copy, w.n, offset, program->consts,
                                             program->n_consts, &schema, &error);
            if (st == MWL_OK) {
                accepted++;
                (void)check_loaded(schema, rich_data);
            } else {
                refused++;
                EXPECT_EQ(MWL_E_IMAGE, st);
                EXPECT_TRUE(error.message != NULL);
                EXPECT_LE(error.offset, w.n * 4);
            }
            mwl__schema_free(schema);
        }
    }
    EXPECT_GT(refused, accepted);
    for (size_t n = offset; n < w.n; n++) { /* cut off */
        mwl__schema *schema = NULL;
        EXPECT_EQ(MWL_E_IMAGE, mwl__schema_load(&alloc, copy, n, offset, program->consts,
                                                program->n_consts, &schema, NULL));
    }
    free(copy);
    mwl_program_release(program);
    mwl__buf_free(&image);
}

/* ---- names that collide ---------------------------------------------------------------------- */

/* A schema that names n members, with names from flood.h or plain ones. */
static char *many_names(unsigned n, bool flood) {
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&b, "{\"additionalProperties\":false,\"properties\":{");
    for (unsigned i = 0; i < n; i++) {
        char key[FLOOD_LEN];
        flood_key(i, key);
        mwl__buf_puts(&b, i ? ",\"" : "\"");
        if (flood)
            mwl__buf_put(&b, key, sizeof key);
        else
            mwl__buf_printf(&b, "name %u", i);
        mwl__buf_puts(&b, "\":{}");
    }
    mwl__buf_puts(&b, "}}");
    char *text = strdup(mwl__buf_cstr(&b));
    mwl__buf_free(&b);
    return text;
}

static uint32_t *props_of(uint32_t *words) {
    uint32_t at = MWL__SCHEMA_H_SIZE;
    while ((words[at] & 0xff) != MWL__ITEM_PROPS) at += words[at + 1];
    return words + at;
}

/* Loads the words of a schema again, after `spoil` was done to its table of names. */
static mwl_status remade(const struct kit *k, void (*spoil)(uint32_t *props, uint32_t n_slots),
                         mwl_error *error) {
    const struct mwl__schema_own *from = &k->schema->own;
    struct mwl__schema_own own = {.n_consts = from->n_consts, .n_words = from->n_words};
    mwl__schema *schema = NULL;
    own.words = mwl__mem_new(&k->alloc, own.n_words * sizeof *own.words);
    own.consts = mwl__mem_new(&k->alloc, own.n_consts * sizeof *own.consts);
    if (mwl_heap_new(&k->alloc, &own.heap) < 0 || !own.words || !own.consts) abort();
    memcpy(own.words, from->words, own.n_words * sizeof *own.words);
    for (uint32_t i = 0; i < own.n_consts; i++)
        own.consts[i] = mwl_value_copy(own.heap, from->consts[i]);
    uint32_t *props = props_of(own.words);
    if (spoil) spoil(props, 1u << (32 - props[MWL__PROPS_SHIFT]));
    mwl_status st = mwl__schema_make(&k->alloc, own, &schema, error);
    mwl__schema_free(schema);
    return st;
}

static void swap_two(uint32_t *props, uint32_t n_slots) {
    (void)n_slots;
    uint32_t *slots = props + MWL__PROPS_SLOTS, t = slots[0];
    slots[0] = slots[1];
    slots[1] = t;
}
static void empty_one(uint32_t *props, uint32_t n_slots) {
    (void)n_slots;
    props[MWL__PROPS_SLOTS + 1] = 0;
}
static void say_sorted(uint32_t *props, uint32_t n_slots) {
    (void)n_slots;
    props[MWL__PROPS_FACTOR] = 0;
}
static void fill_all(uint32_t *props, uint32_t n_slots) {
    for (uint32_t i = 0; i < n_slots; i++) props[MWL__PROPS_SLOTS + i] = 1;
}
static void fill_around_the_end(uint32_t *props, uint32_t n_slots) {
    uint32_t *slots = props + MWL__PROPS_SLOTS;
    for (uint32_t i = 0; i < MWL__PROPS_RUN / 2 + 1; i++) slots[i] = slots[n_slots - 1 - i] = 1;
}

UTEST(schema_compile, names_that_collide_are_sorted) {
    enum { N = 2000 };
    for (int flood = 0; flood < 2; flood++) {
        struct kit k;
        char *text = many_names(N, flood != 0), json[FLOOD_LEN + 32];
        mwl_error error = {MWL_OK, NULL, 0};
        kit_open(&k, text, (mwl__schema_options){0});
        ASSERT_EQ(k.status, MWL_OK);
        EXPECT_EQ(props_of(k.schema->own.words)[MWL__PROPS_FACTOR] == 0, flood == 1);
        EXPECT_EQ(remade(&k, NULL, &error), MWL_OK);
        for (unsigned i = 0; i < N + 100; i++) { /* each is found, and others are not */
            char key[FLOOD_LEN];
            flood_key(i, key);
            if (flood)
                snprintf(json, sizeof json, "{\"%.*s\":1}", FLOOD_LEN, key);
            else
                snprintf(json, sizeof json, "{\"name %u\":1}", i);
            ASSERT_EQ(kit_check(&k, json, NULL), i < N);
        }
        void (*const spoils[2][3])(uint32_t *, uint32_t) = {
            {say_sorted, fill_all, fill_around_the_end}, {swap_two, empty_one, swap_two}};
        for (int i = 0; i < 3; i++) EXPECT_EQ(remade(&k, spoils[flood][i], &error), MWL_E_IMAGE);
        kit_close(&k);
        free(text);
    }
}

UTEST(schema_compile, every_name_that_is_written_twice_is_reported) {
    for (unsigned n = 3; n < 5000; n *= 3) { /* few, and many */
        mwl__buf b = mwl__buf_make(mwl_alloc_default());
        mwl__buf_puts(&b, "{\"required\":[");
        for (unsigned i = 0; i < n; i++) mwl__buf_printf(&b, "\"n%u\",", i);
        size_t len = b.len;
        b.len--;
        mwl__buf_puts(&b, "]}");
        struct kit k;
        kit_open(&k, mwl__buf_cstr(&b), (mwl__schema_options){0});
        EXPECT_EQ(k.status, MWL_OK);
        kit_close(&k);
        b.len = len;
        mwl__buf_puts(&b, "\"n1\"]}");
        kit_open(&k, mwl__buf_cstr(&b), (mwl__schema_options){0});
        EXPECT_EQ(k.status, MWL_E_REJECTED);
        kit_close(&k);
        mwl__buf_free(&b);
    }
}

/* 60 patterns, each of 700 kB when compiled. */
UTEST(schema_compile, patterns_are_bounded) {
    static char text[20000];
    size_t n = (size_t)sprintf(text, "{\"patternProperties\":{");
    for (int i = 0; i < 60; i++)
        n += (size_t)sprintf(text + n, "%s\"x%d(%050d%040d){990}\":{}", i ? "," : "", i, 1, 2);
    sprintf(text + n, "}}");
    struct kit k;
    kit_open(&k, text, (mwl__schema_options){0});
    EXPECT_EQ(MWL_E_TOO_BIG, k.status);
    kit_close(&k);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool compile_and_run(mwl_alloc alloc) {
    mwl__schema_options options = mwl__schema_parameters();
    struct kit k;
    kit_open_with(&k, alloc, rich, &options);
    bool through = k.status == MWL_OK && kit_check(&k, rich_data, NULL) == 1;
    kit_close(&k);
    return through;
}

static bool report_errors(mwl_alloc alloc) {
    mwl__schema_options options = mwl__schema_parameters();
    struct kit k;
    mwl_value v = mwl_absent(), report = mwl_absent();
    static const char json[] = "{\"a\":\"s\",\"b\":7,\"c\":[1,1],\"d\":\"X\",\"q\":[]}";
    bool valid = true;
    kit_open_with(&k, alloc, rich, &options);
    mwl_status st = k.status;
    mwl__schema_env env = {.heap = k.heap, .scratch = k.scratch};
    if (st == MWL_OK) st = mwl_json_parse(k.heap, json, strlen(json), &v, NULL);
    if (st == MWL_OK) st = mwl__schema_check(k.schema, v, &env, &valid, &report);
    bool through = st == MWL_OK && !valid && !mwl_is_absent(report);
    if (k.heap) {
        mwl_value_drop(k.heap, report);
        mwl_value_drop(k.heap, v);
    }
    kit_close(&k);
    return through;
}

static bool emit_image(mwl_alloc alloc) {
    mwl__buf image = mwl__buf_make(alloc);
    uint32_t offset = 0;
    mwl_status st = emit_rich(alloc, &image, &offset);
    mwl__buf_free(&image);
    return st == MWL_OK;
}

UTEST(schema_compile, memory_runs_out) {
    EXPECT_TRUE(faulty_sweep(compile_and_run, 5000));
    EXPECT_TRUE(faulty_sweep(report_errors, 5000));
    EXPECT_TRUE(faulty_sweep(emit_image, 5000));
}

UTEST_MAIN()
