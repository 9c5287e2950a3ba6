/* suite_mwl_schemas.c: the language's own meta-schemas, run by our engine:
 * DIR/spec/flow.schema.json and provider.schema.json must accept every document of
 * DIR/schemas/valid/{flow,provider} and the providers' documents DIR/spec/NAME.v1.json, and refuse
 * all of DIR/schemas/invalid/... with a reason. */
#include "assembler/schema/schema_compile.h"
#include "tests/suite/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct meta {
    struct suite *s;
    mwl_alloc alloc;
    mwl_heap *heap;
    mwl__regex_scratch *scratch;
    mwl__schema *schema;
    const char *folder; /* before names of cases */
    bool expected;
};

static mwl__schema *load(struct meta *m, const char *dir, const char *name) {
    char *path = suite_path(dir, name);
    size_t len = 0;
    char *text = suite_read(path, &len);
    mwl__schema_options options = {.assert_formats = true};
    mwl__schema *schema = NULL;
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    free(path);
    if (!text || mwl__source_init(&source, m->alloc, name, text, len) < 0) {
        fprintf(stderr, "mwl-suite: %s/%s cannot be read\n", dir, name);
        free(text);
        return NULL;
    }
    mwl__diags_init(&sink, m->alloc);
    mwl_status st = mwl__tree_read(&tree, m->alloc, &source, &sink);
    if (st == MWL_OK) st = mwl__schema_compile(&tree, tree.root, &options, &m->alloc, &schema);
    if (st < 0) {
        mwl__buf out = mwl__buf_make(m->alloc);
        mwl__diags_render(&sink, MWL_DIAG_HUMAN, false, &out);
        fprintf(stderr, "%s", mwl__buf_cstr(&out));
        mwl__buf_free(&out);
    }
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    free(text);
    return schema;
}

static void judge(struct meta *m, const char *name, mwl_value v) {
    mwl__schema_env env = {.heap = m->heap, .scratch = m->scratch};
    mwl_value report = mwl_absent();
    bool valid = false;
    mwl_status st = mwl__schema_check(m->schema, v, &env, &valid, &report);
    const char *why = mwl_as_text(mwl_get(report, "message"), NULL);
    const char *where = mwl_as_text(mwl_get(report, "instanceLocation"), NULL);
    if (st < 0)
        suite_fail(m->s, name, "%s", mwl_status_text(st));
    else if (valid != m->expected)
        suite_fail(m->s, name, valid ? "is accepted" : "%s: %s", where, why);
    else if (!valid && (!why || !where))
        suite_fail(m->s, name, "is refused without a reason");
    else
        suite_pass(m->s, name);
    mwl_value_drop(m->heap, report);
}

static bool check_file(void *user, const char *path, const char *relative) {
    struct meta *m = user;
    size_t len = 0;
    char name[512];
    snprintf(name, sizeof name, "%s/%s", m->folder, relative);
    if (!suite_wants(m->s, name)) return true;
    char *text = suite_read(path, &len);
    mwl_value v = mwl_absent();
    if (!text || mwl_json_parse(m->heap, text, len, &v, NULL) < 0)
        suite_fail(m->s, name, "cannot be read");
    else
        judge(m, name, v);
    mwl_value_drop(m->heap, v);
    free(text);
    return true;
}

static bool check_folder(struct meta *m, const char *dir, const char *folder, bool expected) {
    char *path = suite_path(dir, folder);
    bool good = true;
    m->folder = folder;
    m->expected = expected;
    if (suite_is_dir(path)) good = suite_walk(path, check_file, m);
    free(path);
    return good;
}

static bool check_provider_documents(struct meta *m, const char *dir) {
    char *spec = suite_path(dir, "spec");
    struct suite_list list;
    bool good = suite_list_dir(spec, &list);
    m->folder = "spec";
    m->expected = true;
    for (size_t i = 0; good && i < list.count; i++) {
        if (!strstr(list.names[i], ".v1.json")) continue;
        char *path = suite_path(spec, list.names[i]);
        (void)check_file(m, path, list.names[i]);
        free(path);
    }
    if (good) suite_list_free(&list);
    free(spec);
    return good;
}

int suite_mwl_schemas(struct suite *s, const char *dir) {
    struct meta m = {.s = s, .alloc = mwl_alloc_default()};
    char *spec = suite_path(dir, "spec");
    bool good = mwl_heap_new(&m.alloc, &m.heap) == MWL_OK &&
                mwl__regex_scratch_new(&m.alloc, &m.scratch) == MWL_OK;
    m.schema = good ? load(&m, spec, "flow.schema.json") : NULL;
    good = m.schema && check_folder(&m, dir, "schemas/valid/flow", true) &&
           check_folder(&m, dir, "schemas/invalid/flow", false);
    mwl__schema_free(m.schema);
    m.schema = good ? load(&m, spec, "provider.schema.json") : NULL;
    good = m.schema && check_folder(&m, dir, "schemas/valid/provider", true) &&
           check_folder(&m, dir, "schemas/invalid/provider", false) &&
           check_provider_documents(&m, dir);
    mwl__schema_free(m.schema);
    mwl__regex_scratch_free(m.scratch);
    mwl_heap_free(m.heap);
    free(spec);
    return good ? 0 : -1;
}
