/* JSON text: reading, writing, the canonical form; each of a document of 1000 records. Reading and
 * writing also of a large document: the file MWL_PEER_JSON, so that peers can use the same one, or
 * else about 10 MB of the same records. */
#include "bench/bench.h"
#include "mwl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RECORDS = 1000, MANY = 90000 };

struct state {
    mwl_heap *heap;
    mwl_value value;
    char *text;
    size_t len;
};

static size_t write_records(char *text, size_t size, int count) {
    size_t at = 0;
    text[at++] = '[';
    for (int i = 0; i < count; i++) {
        int n = snprintf(text + at, size - at,
                         "%s{\"id\":%d,\"name\":\"record \\u00e9 %d\",\"price\":%d.25,"
                         "\"tags\":[\"a\",\"b\",null,true],\"nested\":{\"z\":1e3,\"a\":-0.5}}",
                         i ? "," : "", i, i, i * 7);
        at += (size_t)n;
    }
    text[at++] = ']';
    text[at] = '\0';
    return at;
}

static void setup(struct bench *b) {
    struct state *s = calloc(1, sizeof *s);
    const size_t size = RECORDS * 200;
    b->state = s;
    BENCH_CHECK(b, s != NULL);
    if (b->failed) return;
    s->value = mwl_absent();
    s->text = malloc(size);
    BENCH_CHECK(b, s->text != NULL && mwl_heap_new(&b->alloc, &s->heap) == MWL_OK);
    if (b->failed) return;
    s->len = write_records(s->text, size, RECORDS);
    BENCH_CHECK(b, mwl_json_parse(s->heap, s->text, s->len, &s->value, NULL) == MWL_OK);
    BENCH_CHECK(b, mwl_count(s->value) == RECORDS);
    mwl_value last = mwl_array_at(s->value, RECORDS - 1);
    BENCH_CHECK(b, mwl_as_number(mwl_get(last, "price")) == 6993.25);
    char *text = NULL;
    size_t len = 0;
    BENCH_CHECK(b, mwl_json_write(s->heap, last, MWL_JSON_CANONICAL, &text, &len) == MWL_OK);
    if (b->failed) return;
    BENCH_CHECK(b, strcmp(text,
                          "{\"id\":999,\"name\":\"record \xc3\xa9 999\",\"nested\":{\"a\":-0.5,"
                          "\"z\":1000},\"price\":6993.25,\"tags\":[\"a\",\"b\",null,true]}") == 0);
    mwl_text_free(s->heap, text, len);
}

static char *read_peer(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    long size = file && fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    if (file) rewind(file);
    *len = text ? fread(text, 1, (size_t)size, file) : 0;
    if (file) fclose(file);
    return text;
}

static void setup_large(struct bench *b) {
    struct state *s = calloc(1, sizeof *s);
    const char *path = getenv("MWL_PEER_JSON");
    int count = b->options->check ? RECORDS : MANY;
    b->state = s;
    BENCH_CHECK(b, s != NULL);
    if (b->failed) return;
    s->value = mwl_absent();
    if (path) {
        s->text = read_peer(path, &s->len);
    } else {
        s->text = malloc((size_t)count * 200);
        if (s->text) s->len = write_records(s->text, (size_t)count * 200, count);
    }
    BENCH_CHECK(b, s->len > 0 && mwl_heap_new(&b->alloc, &s->heap) == MWL_OK);
    if (b->failed) return;
    BENCH_CHECK(b, mwl_json_parse(s->heap, s->text, s->len, &s->value, NULL) == MWL_OK);
    BENCH_CHECK(b, mwl_count(s->value) > 0);
}

static void teardown(struct bench *b) {
    struct state *s = b->state;
    if (!s) return;
    if (s->heap) mwl_value_drop(s->heap, s->value);
    mwl_heap_free(s->heap);
    free(s->text);
    free(s);
}

static void parse_run(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    for (; n; n--) {
        mwl_value v = mwl_absent();
        if (mwl_json_parse(s->heap, s->text, s->len, &v, NULL) < 0) bench_fail(b, "parse failed");
        mwl_value_drop(s->heap, v);
    }
}

static void write_as(struct bench *b, unsigned long n, mwl_json_style style) {
    struct state *s = b->state;
    for (; n; n--) {
        char *text = NULL;
        size_t len = 0;
        if (mwl_json_write(s->heap, s->value, style, &text, &len) < 0)
            bench_fail(b, "write failed");
        mwl_text_free(s->heap, text, len);
    }
}
static void write_run(struct bench *b, unsigned long n) { write_as(b, n, MWL_JSON_COMPACT); }
static void canonical_run(struct bench *b, unsigned long n) { write_as(b, n, MWL_JSON_CANONICAL); }

/* One operation is one record of about 110 bytes; of a large document all of it. */
const struct bench_case bench_json_cases[] = {
    {"json", "parse_record", setup, parse_run, teardown, RECORDS, 0, NULL},
    {"json", "write_record", setup, write_run, teardown, RECORDS, 0, NULL},
    {"json", "canonical_record", setup, canonical_run, teardown, RECORDS, 0, NULL},
    {"json", "parse_large", setup_large, parse_run, teardown, 0, BENCH_LONG, NULL},
    {"json", "write_large", setup_large, write_run, teardown, 0, BENCH_LONG, NULL},
    {0},
};
