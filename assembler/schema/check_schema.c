/* check_schema.c: see check_schema.h. */
#include "assembler/schema/check_schema.h"

#include "assembler/schema/schema_compile.h"

mwl__schema *mwl__check_schema(mwl__tree *tree, const mwl__node *schema) {
    mwl__schema_options options = mwl__schema_parameters();
    mwl__schema *out = NULL;
    mwl_status status = mwl__schema_compile(tree, schema, &options, &tree->arena.alloc, &out);
    if (status == MWL_OK) return out;
    if (status == MWL_E_NOMEM) tree->sink->status = status;
    if (tree->sink->quota.spent) return NULL;
    if (status == MWL_E_TOO_BIG)
        mwl__node_report(tree, schema, MWL_DIAG_INVALID_SCHEMA, "this schema is too large");
    return NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool text_of(mwl_value object, const char *key, const char **text, size_t *len) {
    mwl_value v = mwl_get(object, key);
    *text = "";
    *len = 0;
    if (mwl_value_kind(v) != MWL_KIND_STRING) return false;
    *text = mwl_as_text(v, len);
    return true;
}

static void each_error(mwl_value report, const mwl__node *value,
                       void (*fn)(void *ctx, const mwl__judged *error), void *ctx) {
    mwl_value list = mwl_get(report, "errors");
    if (mwl_count(list) == 0) {
        mwl__judged whole = {value, "", 0, "the value does not fit", 22};
        fn(ctx, &whole);
    }
    for (size_t i = 0; i < MWL__SCHEMA_ERRORS; i++) {
        mwl_value e = mwl_array_at(list, i);
        if (mwl_is_absent(e)) return;
        const char *where;
        size_t len;
        mwl__judged error = {0};
        if (!text_of(e, "instanceLocation", &where, &len)) continue;
        text_of(e, "keywordLocation", &error.keyword, &error.keyword_len);
        text_of(e, "message", &error.message, &error.message_len);
        error.node = mwl__node_follow(value, where, len);
        if (error.node) fn(ctx, &error);
    }
}

mwl_status mwl__judge_value(mwl__judge *j, const mwl__schema *schema, const mwl__node *value,
                            void (*fn)(void *ctx, const mwl__judged *error), void *ctx) {
    mwl_status status = MWL_OK;
    if (!j->heap) status = mwl_heap_new(&j->alloc, &j->heap);
    if (status == MWL_OK && !j->scratch) status = mwl__regex_scratch_new(&j->alloc, &j->scratch);
    if (status < 0) return status;
    mwl_value v = mwl__node_value(j->heap, value), report = mwl_absent();
    if (mwl_is_absent(v)) {
        status = mwl_heap_why(j->heap);
        return status == MWL_E_NOMEM ? status : MWL_OK;
    }
    uint64_t fuel =
        1000000; /* a schema can be written to take any time, so the assembler limits it */
    mwl__schema_env env = {j->heap, j->scratch, &fuel};
    bool valid = true;
    j->used = fuel;
    status = mwl__schema_check(schema, v, &env, &valid, &report);
    j->used -= fuel;
    if (status == MWL_OK && !valid) each_error(report, value, fn, ctx);
    mwl_value_drop(j->heap, report);
    mwl_value_drop(j->heap, v);
    return status == MWL_E_NOMEM ? status : MWL_OK;
}

void mwl__judge_free(mwl__judge *j) {
    mwl__regex_scratch_free(j->scratch);
    mwl_heap_free(j->heap);
    j->scratch = NULL;
    j->heap = NULL;
}
