/* fuzz_schema.c: schemas and values, and compiled words.
 *
 * The first byte chooses. Even: a schema's text up to a 0xff byte, then a value's text. A schema
 * that compiles must run, twice with the same result (without and with a report). Odd: the rest is
 * words of a compiled schema over a few constants; what loads must run. */
#include "vm/schema/schema_code.h"
#include "assembler/schema/schema_compile.h"

#include <stdlib.h>
#include <string.h>

struct world {
    mwl_alloc alloc;
    mwl_heap *heap;
    mwl__regex_scratch *scratch;
};

static void run(struct world *w, const mwl__schema *schema, mwl_value v) {
    uint64_t fuel = 20000;
    mwl__schema_env env = {w->heap, w->scratch, &fuel};
    mwl_value report = mwl_absent();
    bool first = false, again = false;
    mwl_status st = mwl__schema_check(schema, v, &env, &first, NULL);
    fuel = 20000;
    mwl_status st2 = mwl__schema_check(schema, v, &env, &again, &report);
    if (st == MWL_OK && st2 == MWL_OK && first != again) abort();
    if (st == MWL_OK && st2 == MWL_OK && !again && mwl_is_absent(report)) abort();
    mwl_value_drop(w->heap, report);
}

static void fuzz_text(struct world *w, const char *text, size_t len, mwl_value v) {
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    mwl__schema_options options = {.assert_formats = true};
    mwl__schema *schema = NULL;
    if (mwl__source_init(&source, w->alloc, "fuzz", text, len) < 0) return;
    mwl__diags_init(&sink, w->alloc);
    mwl_status st = mwl__tree_read(&tree, w->alloc, &source, &sink);
    if (st == MWL_OK) {
        st = mwl__schema_compile(&tree, tree.root, &options, &w->alloc, &schema);
        if (st == MWL_E_IMAGE) abort(); /* what we write must load */
        if (st == MWL_E_REJECTED && sink.n_errors == 0) abort();
    }
    if (st == MWL_OK) run(w, schema, v);
    mwl__schema_free(schema);
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
}

static void fuzz_words(struct world *w, const uint8_t *data, size_t size) {
    static const char *const texts[] = {"null", "1", "\"a\"", "\"^b*$\"", "[1,{\"a\":2}]", "{}"};
    enum { N = sizeof texts / sizeof *texts };
    mwl_value consts[N];
    mwl__schema *schema = NULL;
    uint32_t *words = malloc(size + 4);
    if (!words) return;
    memcpy(words, data, size);
    for (int i = 0; i < N; i++) {
        consts[i] = mwl_absent();
        (void)mwl_json_parse(w->heap, texts[i], strlen(texts[i]), &consts[i], NULL);
    }
    if (mwl__schema_load(&w->alloc, words, size / 4, 0, consts, N, &schema, NULL) == MWL_OK)
        for (int i = 0; i < N; i++) run(w, schema, consts[i]);
    mwl__schema_free(schema);
    for (int i = 0; i < N; i++) mwl_value_drop(w->heap, consts[i]);
    free(words);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct world w = {.alloc = mwl_alloc_default()};
    if (size == 0) return 0;
    if (mwl_heap_new(&w.alloc, &w.heap) == MWL_OK &&
        mwl__regex_scratch_new(&w.alloc, &w.scratch) == MWL_OK) {
        const uint8_t *split = memchr(data + 1, 0xff, size - 1);
        mwl_value v = mwl_absent();
        if (data[0] & 1) {
            fuzz_words(&w, data + 1, size - 1);
        } else if (split && mwl_json_parse(w.heap, (const char *)split + 1,
                                           (size_t)(data + size - split - 1), &v, NULL) == MWL_OK) {
            fuzz_text(&w, (const char *)data + 1, (size_t)(split - data - 1), v);
        }
        mwl_value_drop(w.heap, v);
    }
    mwl__regex_scratch_free(w.scratch);
    mwl_heap_free(w.heap);
    return 0;
}
