/* test_read.c: definitions as trees. Strict RFC 8259; unique names; the place of every node, also
 * with escapes; one syntax error stops, duplicates do not. */
#include "utest.h"
#include "tests/unit/faulty.h"
#include "mwl_config.h"
#include "assembler/source/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct doc {
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    mwl_status status;
} doc;

static void doc_read_with(doc *d, mwl_alloc alloc, const char *text, size_t len) {
    mwl__source_init(&d->source, alloc, "t.json", text, len);
    mwl__diags_init(&d->sink, alloc);
    d->status = mwl__tree_read(&d->tree, alloc, &d->source, &d->sink);
}

static void doc_read(doc *d, const char *text) {
    doc_read_with(d, mwl_alloc_default(), text, strlen(text));
}

static void doc_free(doc *d) {
    mwl__tree_free(&d->tree);
    mwl__diags_free(&d->sink);
    mwl__source_free(&d->source);
}

/* "MWL0101 1:5 message" of the first diagnostic in order; "ok" when there is none. */
static const char *first_error(const char *text, size_t len, char out[256]) {
    doc d;
    doc_read_with(&d, mwl_alloc_default(), text, len);
    mwl__diags_sort(&d.sink);
    snprintf(out, 256, "ok");
    if (d.sink.n_items) {
        const mwl__diag *e = d.sink.items[0];
        mwl__place p = mwl__source_place(&d.source, e->span.begin);
        snprintf(out, 256, "MWL%04d %u:%u %s", (int)e->row->code, p.line, p.column, e->message);
    }
    doc_free(&d);
    return out;
}

#define EXPECT_ERROR(expected, text)                                                               \
    do {                                                                                           \
        char found[256];                                                                           \
        EXPECT_STREQ(expected, first_error(text, sizeof(text) - 1, found));                        \
    } while (0)

UTEST(read, kinds_and_spans) {
    static const char text[] = "{ \"a\": [null, true, -1.5e1],\n  \"b\": \"x\" }";
    doc d;
    doc_read(&d, text);
    ASSERT_EQ(MWL_OK, d.status);
    const mwl__node *root = d.tree.root;
    EXPECT_EQ(MWL_NODE_OBJECT, root->kind);
    EXPECT_EQ(2u, root->count);
    EXPECT_EQ(0u, root->offset);
    EXPECT_EQ((uint32_t)strlen(text), root->end);
    EXPECT_EQ(6u, (unsigned)d.tree.n_nodes);

    const mwl__node *a = mwl__node_get(root, "a");
    ASSERT_TRUE(a != NULL);
    EXPECT_EQ(MWL_NODE_ARRAY, a->kind);
    EXPECT_EQ(3u, a->count);
    EXPECT_EQ(2u, a->key_offset);
    EXPECT_EQ(5u, a->key_end);
    EXPECT_EQ(7u, a->offset);
    EXPECT_EQ(27u, a->end);
    const mwl__node *item = mwl__node_first(a);
    EXPECT_EQ(MWL_NODE_NULL, item->kind);
    EXPECT_TRUE(item->key == NULL);
    item = item->next;
    EXPECT_EQ(MWL_NODE_BOOL, item->kind);
    EXPECT_TRUE(item->boolean);
    item = item->next;
    EXPECT_EQ(MWL_NODE_NUMBER, item->kind);
    EXPECT_TRUE(item->as.number == -15.0);
    EXPECT_EQ(2u, item->index);
    EXPECT_TRUE(item->parent == a);
    EXPECT_TRUE(item->next == NULL);
    EXPECT_EQ(6u, item->end - item->offset);

    const mwl__node *b = mwl__node_get(root, "b");
    ASSERT_TRUE(b != NULL);
    EXPECT_TRUE(mwl__node_is(b, "x"));
    EXPECT_FALSE(mwl__node_is(b, "xy"));
    EXPECT_TRUE(mwl__node_key_is(b, "b"));
    mwl__place p = mwl__source_place(&d.source, b->offset);
    EXPECT_EQ(2u, p.line);
    EXPECT_EQ(8u, p.column);
    EXPECT_TRUE(mwl__node_get(root, "c") == NULL);
    EXPECT_TRUE(mwl__node_get(b, "c") == NULL);
    EXPECT_TRUE(mwl__node_get(NULL, "c") == NULL);
    doc_free(&d);
}

UTEST(read, columns_are_code_points) {
    /* a tab is one; e-acute two bytes, an emoji four */
    static const char text[] = "[\n\t\"\xC3\xA9\xF0\x9F\x98\x80\", 1]";
    doc d;
    doc_read(&d, text);
    ASSERT_EQ(MWL_OK, d.status);
    const mwl__node *one = mwl__node_first(d.tree.root)->next;
    mwl__place p = mwl__source_place(&d.source, one->offset);
    EXPECT_EQ(2u, p.line);
    EXPECT_EQ(8u, p.column);
    doc_free(&d);
}

UTEST(read, scalars_at_the_root) {
    static const char *const texts[] = {"null", " true ", "0", "-0", "\"\"", "[]", "{}", "1E+2"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        doc d;
        doc_read(&d, texts[i]);
        EXPECT_EQ(MWL_OK, d.status);
        EXPECT_TRUE(d.tree.root != NULL);
        doc_free(&d);
    }
}

UTEST(read, escapes) {
    doc d;
    doc_read(&d, "[\"a\\\"\\\\\\/\\b\\f\\n\\r\\t\\u0041\\u00e9\\u20AC\\ud83d\\ude00z\"]");
    ASSERT_EQ(MWL_OK, d.status);
    const mwl__node *n = mwl__node_first(d.tree.root);
    static const char want[] = "a\"\\/\b\f\n\r\tA\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";
    ASSERT_EQ((uint32_t)(sizeof want - 1), n->count);
    EXPECT_EQ(0, memcmp(want, n->as.text, sizeof want - 1));
    doc_free(&d);
}

UTEST(read, places_inside_strings) {
    /*          offset 0123456 7 8 ...                                                            */
    static const char text[] = "[\"ab\\n\\u00e9\\ud83d\\ude00c\"]";
    doc d;
    doc_read(&d, text);
    ASSERT_EQ(MWL_OK, d.status);
    const mwl__node *n = mwl__node_first(d.tree.root);
    ASSERT_EQ(10u, n->count); /* a b \n (2) (4) c */
    static const uint32_t want[] = {2, 3, 4, 6, 6, 12, 12, 12, 12, 24, 25, 25};
    for (uint32_t i = 0; i < sizeof want / sizeof *want; i++)
        EXPECT_EQ(want[i], mwl__node_text_offset(&d.tree, n, i));
    mwl__span span = mwl__node_text_span(&d.tree, n, 2, 5);
    EXPECT_EQ(4u, span.begin);
    EXPECT_EQ(12u, span.end);
    doc_free(&d);

    doc_read(&d, "[\"plain\"]");
    n = mwl__node_first(d.tree.root);
    EXPECT_EQ(4u, mwl__node_text_offset(&d.tree, n, 2));
    EXPECT_EQ(7u, mwl__node_text_offset(&d.tree, n, 5));
    doc_free(&d);
}

UTEST(read, pointers) {
    doc d;
    doc_read(&d, "{\"steps\": {\"a/b~\": {\"catch\": [0, {\"\": 1}]}}}");
    ASSERT_EQ(MWL_OK, d.status);
    const mwl__node *n = mwl__node_get(mwl__node_get(d.tree.root, "steps"), "a/b~");
    n = mwl__node_get(mwl__node_first(mwl__node_get(n, "catch"))->next, "");
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__node_pointer(n, &out);
    EXPECT_STREQ("/steps/a~1b~0/catch/1/", mwl__buf_cstr(&out));
    out.len = 0;
    mwl__node_pointer(d.tree.root, &out);
    EXPECT_STREQ("", mwl__buf_cstr(&out));
    mwl__buf_free(&out);
    doc_free(&d);
}

UTEST(read, syntax_errors) {
    EXPECT_ERROR("MWL0101 1:1 the file is empty", "");
    EXPECT_ERROR("MWL0101 1:1 the file is empty", " \n\t");
    EXPECT_ERROR("MWL0101 1:8 the text ends too early", "{\"a\": 1\n\n");
    EXPECT_ERROR("MWL0101 1:2 the text ends too early", "[");
    EXPECT_ERROR("MWL0101 1:4 the text ends too early", "[1,\n");
    EXPECT_ERROR("MWL0101 1:8 a comma with nothing after it", "{\"a\": 1,}");
    EXPECT_ERROR("MWL0101 1:3 a comma with nothing after it", "[1, ]");
    EXPECT_ERROR("MWL0101 1:3 a comma is missing", "[1 2]");
    EXPECT_ERROR("MWL0101 1:8 a comma is missing", "{\"a\": 1\n\"b\": 2}");
    EXPECT_ERROR("MWL0101 1:3 expected ',' or ']', found '}'", "[1}");
    EXPECT_ERROR("MWL0101 1:2 expected a member name in double quotes, found 'a'", "{a: 1}");
    EXPECT_ERROR("MWL0101 1:2 expected a member name in double quotes, found '''", "{'a': 1}");
    EXPECT_ERROR("MWL0101 1:6 expected ':' after the member name, found '1'", "{\"a\" 1}");
    EXPECT_ERROR("MWL0101 1:7 expected a value, found '}'", "{\"a\": }");
    EXPECT_ERROR("MWL0101 1:1 expected a value, found 'True'", "True");
    EXPECT_ERROR("MWL0101 1:1 expected a value, found 'nul'", "nul");
    EXPECT_ERROR("MWL0101 1:2 expected a value, found '/'", "[// no\n1]");
    EXPECT_ERROR("MWL0101 1:4 something follows the end of the document", "{} {}");
    EXPECT_ERROR("MWL0101 1:2 a string is not closed", "[\"abc");
    EXPECT_ERROR("MWL0101 1:2 a string is not closed", "[\"abc\n\"]");
    EXPECT_ERROR("MWL0101 1:4 a control character (U+0009) inside a string", "[\"a\tb\"]");
    EXPECT_ERROR("MWL0101 1:4 unknown escape '\\x'", "[\"a\\x41\"]");
    EXPECT_ERROR("MWL0101 1:4 '\\u' needs four hexadecimal digits after it", "[\"a\\u12g4\"]");
    EXPECT_ERROR("MWL0101 1:4 '\\u' needs four hexadecimal digits after it", "[\"a\\u12\"]");
}

UTEST(read, numbers) {
    EXPECT_ERROR("MWL0101 1:1 '01' is not a JSON number", "01");
    EXPECT_ERROR("MWL0101 1:1 '-' is not a JSON number", "-");
    EXPECT_ERROR("MWL0101 1:1 '1.' is not a JSON number", "1.");
    EXPECT_ERROR("MWL0101 1:1 '1e' is not a JSON number", "1e");
    EXPECT_ERROR("MWL0101 1:1 '0x1F' is not a JSON number", "0x1F");
    EXPECT_ERROR("MWL0101 1:1 '1-2' is not a JSON number", "1-2");
    EXPECT_ERROR("MWL0101 1:1 expected a value, found '+1'", "+1");
    EXPECT_ERROR("MWL0101 1:1 expected a value, found '.5'", ".5");
    EXPECT_ERROR("MWL0106 1:2 this number is too large for a double", "[1e400]");
    EXPECT_ERROR("ok", "[1e-400]");
    EXPECT_ERROR("ok", "[9007199254740992]");
    EXPECT_ERROR("MWL0109 1:2 this integer becomes 9007199254740992", "[9007199254740993]");
    EXPECT_ERROR("ok", "[9007199254740994]");
    EXPECT_ERROR("MWL0109 1:2 this integer becomes 123456789012345680000",
                 "[123456789012345678901]");
}

UTEST(read, encoding) {
    EXPECT_ERROR("MWL0103 1:1 the text begins with a byte order mark", "\xEF\xBB\xBF{}");
    EXPECT_ERROR("MWL0103 1:1 the text begins with the mark of UTF-16", "\xFF\xFE{\0}\0");
    EXPECT_ERROR("MWL0102 2:2 the byte 0xE9 here is not UTF-8", "[\n\"\xE9\"]");
    EXPECT_ERROR("MWL0107 1:3 '\\ud83d' is one half of a surrogate pair", "[\"\\ud83d\"]");
    EXPECT_ERROR("MWL0107 1:3 '\\udE00' is one half of a surrogate pair", "[\"\\udE00\\ud83d\"]");
    EXPECT_ERROR("MWL0107 1:3 '\\ud83d' is one half of a surrogate pair", "[\"\\ud83d\\u0041\"]");
    EXPECT_ERROR("MWL0101 1:2 expected a value, found ''", "[\0]");
}

UTEST(read, duplicates_name_both_and_go_on) {
    doc d;
    doc_read(&d, "{\"a\": 1,\n \"\\u0061\": 2,\n \"b\": {\"c\": 0, \"c\": 0}}");
    EXPECT_EQ(MWL_E_REJECTED, d.status);
    ASSERT_TRUE(d.tree.root != NULL);
    EXPECT_TRUE(mwl__node_get(d.tree.root, "a")->as.number == 1.0);
    mwl__diags_sort(&d.sink);
    ASSERT_EQ(2u, (unsigned)d.sink.n_items);
    const mwl__diag *e = d.sink.items[0];
    EXPECT_EQ(MWL_DIAG_DUPLICATE_MEMBER, e->row->code);
    EXPECT_STREQ("the member 'a' appears twice in one object", e->message);
    EXPECT_STREQ("/a", e->pointer);
    mwl__place p = mwl__source_place(&d.source, e->span.begin);
    EXPECT_EQ(2u, p.line);
    EXPECT_EQ(2u, p.column);
    ASSERT_TRUE(e->labels != NULL);
    EXPECT_EQ(1u, e->labels->span.begin);
    EXPECT_STREQ("/b/c", d.sink.items[1]->pointer);
    doc_free(&d);
}

/* An object of n members "k0" ... and, when `again` is not negative, that name once more. */
static char *make_object(int n, int again, size_t *len) {
    char *text = malloc((size_t)n * 40 + 64);
    size_t at = 0;
    text[at++] = '{';
    for (int i = 0; i < n; i++)
        at += (size_t)sprintf(text + at, "%s\"k%d\": %d", i ? "," : "", i, i);
    if (again >= 0) at += (size_t)sprintf(text + at, ",\"k%d\": -1", again);
    text[at++] = '}';
    *len = at;
    return text;
}

UTEST(read, big_objects) {
    for (int n = 1; n < 20000; n = n * 3 + 5) {
        size_t len;
        char *text = make_object(n, n / 2, &len);
        doc d;
        doc_read_with(&d, mwl_alloc_default(), text, len);
        EXPECT_EQ(MWL_E_REJECTED, d.status);
        EXPECT_EQ(1u, (unsigned)d.sink.n_errors);
        for (int i = 0; i < n; i++) {
            char name[16];
            snprintf(name, sizeof name, "k%d", i);
            const mwl__node *m = mwl__node_get(d.tree.root, name);
            ASSERT_TRUE(m != NULL);
            ASSERT_TRUE(m->as.number == (double)i);
        }
        EXPECT_TRUE(mwl__node_get(d.tree.root, "k") == NULL);
        doc_free(&d);
        free(text);
    }
}

UTEST(read, depth) {
    char text[2 * MWL_DEPTH_LIMIT + 8], found[256];
    for (int extra = 0; extra < 2; extra++) {
        size_t n = MWL_DEPTH_LIMIT + (size_t)extra;
        memset(text, '[', n);
        memset(text + n, ']', n);
        snprintf(found, sizeof found, "MWL0105 1:%d more than %d containers inside each other",
                 MWL_DEPTH_LIMIT + 1, MWL_DEPTH_LIMIT);
        char got[256];
        EXPECT_STREQ(extra ? found : "ok", first_error(text, 2 * n, got));
    }
}

UTEST(read, to_values) {
    static const char text[] =
        "{\"a\":[1,[],{}],\"b\":{\"c\":[null,{\"d\":\"\\u00e9\"}]},\"e\":true}";
    doc d;
    doc_read(&d, text);
    mwl_heap *heap;
    ASSERT_EQ(MWL_OK, mwl_heap_new(NULL, &heap));
    mwl_value v = mwl__node_value(heap, d.tree.root);
    ASSERT_EQ(MWL_KIND_OBJECT, mwl_value_kind(v));
    EXPECT_EQ((size_t)3, mwl_count(v));
    EXPECT_EQ((size_t)3, mwl_count(mwl_get(v, "a")));
    mwl_value c = mwl_get(mwl_get(v, "b"), "c");
    EXPECT_EQ((size_t)2, mwl_count(c));
    size_t len;
    const char *s = mwl_as_text(mwl_get(mwl_array_at(c, 1), "d"), &len);
    ASSERT_EQ((size_t)2, len);
    EXPECT_EQ(0, memcmp(s, "\xC3\xA9", 2));
    EXPECT_TRUE(mwl_as_bool(mwl_get(v, "e")));
    mwl_value_drop(heap, v);
    EXPECT_EQ((size_t)0, mwl_heap_used(heap));
    mwl_heap_free(heap);
    doc_free(&d);
}

static bool read_and_render(mwl_alloc alloc) {
    static const char text[] =
        "{\"a\": [1, \"x\\n\", 12345678901234567891], \"b\": "
        "{\"0\":0,\"1\":0,\"2\":0,\"3\":0,\"4\":0,"
        "\"5\":0,\"6\":0,\"7\":0,\"8\":0,\"9\":0,\"0\":1},\n \"\xC3\xA9\": 2, \"a\": 3}";
    doc d;
    doc_read_with(&d, alloc, text, strlen(text));
    mwl__buf out = mwl__buf_make(alloc);
    mwl__diags_render(&d.sink, MWL_DIAG_HUMAN, true, &out);
    mwl__diags_render(&d.sink, MWL_DIAG_SARIF, false, &out);
    bool through =
        d.status != MWL_E_NOMEM && d.sink.status == MWL_OK && !out.failed && d.source.ready;
    mwl__buf_free(&out);
    doc_free(&d);
    return through;
}

UTEST(read, every_allocation_may_fail) { EXPECT_TRUE(faulty_sweep(read_and_render, 1000)); }

/* Linear: ten megabytes of Steps, on one line, with a place asked for at every node. */
UTEST(read, ten_megabytes) {
    size_t cap = 11u << 20, len = 0, target = 10u << 20;
    char *text = malloc(cap);
    len += (size_t)sprintf(text, "{\"steps\": {");
    for (int i = 0; len < target; i++)
        len += (size_t)sprintf(
            text + len,
            "%s\"step-%d\": {\"action\": \"Pass\", \"output\": {\"n\": %d, \"caf\xC3\xA9\": "
            "\"{{ step.input.value + \\\"x\\\" }}\"}, \"next\": \"step-%d\"}",
            i ? ", " : "", i, i, i + 1);
    len += (size_t)sprintf(text + len, "}}");
    clock_t begin = clock();
    doc d;
    doc_read_with(&d, mwl_alloc_default(), text, len);
    clock_t read = clock();
    ASSERT_EQ(MWL_OK, d.status);
    uint64_t sum = 0;
    for (const mwl__node *s = mwl__node_first(mwl__node_get(d.tree.root, "steps")); s; s = s->next)
        sum += mwl__source_place(&d.source, s->offset).column;
    clock_t placed = clock();
    EXPECT_TRUE(sum > 0);
    if (getenv("MWL_TIMES"))
        printf("read %zu bytes, %zu nodes: %.1f ms; places: %.1f ms\n", len, d.tree.n_nodes,
               (double)(read - begin) * 1e3 / CLOCKS_PER_SEC,
               (double)(placed - read) * 1e3 / CLOCKS_PER_SEC);
    EXPECT_TRUE((double)(placed - begin) / CLOCKS_PER_SEC < 5.0); /* also under sanitizers */
    doc_free(&d);
    free(text);
}

UTEST_MAIN()
