/* schema_kit.h: schemas as text, compiled and run, for tests. */
#ifndef SCHEMA_KIT_H
#define SCHEMA_KIT_H

#include "vm/schema/schema_code.h"
#include "assembler/schema/schema_compile.h"

#include <stdio.h>
#include <string.h>

struct kit {
    mwl_alloc alloc;
    mwl_heap *heap;
    mwl__regex_scratch *scratch;
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    mwl__schema *schema;
    mwl_status status;
};

static inline void kit_open_with(struct kit *k, mwl_alloc alloc, const char *text,
                                 const mwl__schema_options *options) {
    memset(k, 0, sizeof *k);
    k->alloc = alloc;
    mwl__diags_init(&k->sink, alloc);
    k->status = mwl__source_init(&k->source, alloc, "t.json", text, strlen(text));
    if (k->status == MWL_OK) k->status = mwl_heap_new(&alloc, &k->heap);
    if (k->status == MWL_OK) k->status = mwl__regex_scratch_new(&alloc, &k->scratch);
    if (k->status == MWL_OK) k->status = mwl__tree_read(&k->tree, alloc, &k->source, &k->sink);
    if (k->status == MWL_OK)
        k->status = mwl__schema_compile(&k->tree, k->tree.root, options, &alloc, &k->schema);
}

static inline void kit_open(struct kit *k, const char *text, mwl__schema_options options) {
    kit_open_with(k, mwl_alloc_default(), text, &options);
}

static inline void kit_close(struct kit *k) {
    mwl__schema_free(k->schema);
    mwl__tree_free(&k->tree);
    mwl__diags_free(&k->sink);
    mwl__source_free(&k->source);
    mwl__regex_scratch_free(k->scratch);
    mwl_heap_free(k->heap);
}

/* 1 valid, 0 invalid, else a status. */
static inline int kit_check(struct kit *k, const char *json, uint64_t *fuel) {
    mwl__schema_env env = {.heap = k->heap, .scratch = k->scratch, .fuel = fuel};
    mwl_value v = mwl_absent();
    bool valid = false;
    if (k->status < 0) return k->status;
    mwl_status st = mwl_json_parse(k->heap, json, strlen(json), &v, NULL);
    if (st == MWL_OK) st = mwl__schema_check(k->schema, v, &env, &valid, NULL);
    mwl_value_drop(k->heap, v);
    return st < 0 ? st : valid;
}

static inline int kit_valid(const char *schema, const char *json) {
    struct kit k;
    kit_open(&k, schema, (mwl__schema_options){.assert_formats = true});
    int answer = kit_check(&k, json, NULL);
    kit_close(&k);
    return answer;
}

/* "keywordLocation instanceLocation message" of each error, one a line; "" when valid. */
static inline const char *kit_report(struct kit *k, const char *json, char *out, size_t cap) {
    mwl__schema_env env = {.heap = k->heap, .scratch = k->scratch};
    mwl_value v = mwl_absent(), report = mwl_absent();
    bool valid = false;
    size_t len = 0;
    out[0] = '\0';
    if (mwl_json_parse(k->heap, json, strlen(json), &v, NULL) < 0) return "not JSON";
    if (mwl__schema_check(k->schema, v, &env, &valid, &report) < 0) snprintf(out, cap, "failed");
    mwl_value errors = mwl_get(report, "errors");
    for (size_t i = 0; i < mwl_count(errors); i++) {
        mwl_value x = mwl_array_at(errors, i);
        len += (size_t)snprintf(out + len, cap - len, "%s%s %s %s", i ? "\n" : "",
                                mwl_as_text(mwl_get(x, "keywordLocation"), &(size_t){0}),
                                mwl_as_text(mwl_get(x, "instanceLocation"), &(size_t){0}),
                                mwl_as_text(mwl_get(x, "message"), &(size_t){0}));
        if (len >= cap) break;
    }
    mwl_value_drop(k->heap, report);
    mwl_value_drop(k->heap, v);
    return out;
}

static inline const char *kit_reason(const char *schema, const char *json, char *out, size_t cap) {
    struct kit k;
    kit_open(&k, schema, mwl__schema_parameters());
    snprintf(out, cap, "not compiled");
    if (k.status == MWL_OK) (void)kit_report(&k, json, out, cap);
    kit_close(&k);
    return out;
}

#endif
