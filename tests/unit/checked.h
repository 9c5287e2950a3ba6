/* checked.h: for tests: reads and checks a definition. The functions are those that the definitions
 * of the tests use; checking needs only their names and numbers of arguments. */
#ifndef CHECKED_H
#define CHECKED_H

#include "assembler/check/check_guide.h"
#include "assembler/check/model.h"

static const mwl_function_def checked_defs[] = {
    {"size", NULL, 1, 1, MWL_FN_GLOBAL | MWL_FN_MEMBER, "size(x) -> int"},
    {"string", NULL, 1, 1, MWL_FN_GLOBAL, "string(x) -> string"},
    {"double", NULL, 1, 1, MWL_FN_GLOBAL, "double(x) -> double"},
    {"int", NULL, 1, 1, MWL_FN_GLOBAL, "int(x) -> int"},
    {"bool", NULL, 1, 1, MWL_FN_GLOBAL, "bool(x) -> bool"},
    {"dyn", NULL, 1, 1, MWL_FN_GLOBAL, "dyn(x)"},
    {"type", NULL, 1, 1, MWL_FN_GLOBAL, "type(x) -> type"},
    {"duration", NULL, 1, 1, MWL_FN_GLOBAL, "duration(string) -> duration"},
    {"timestamp", NULL, 1, 1, MWL_FN_GLOBAL, "timestamp(string) -> timestamp"},
    {"matches", NULL, 2, 2, MWL_FN_GLOBAL | MWL_FN_MEMBER, "string.matches(pattern) -> bool"},
    {"contains", NULL, 2, 2, MWL_FN_MEMBER, "string.contains(part) -> bool"},
    {"startsWith", NULL, 2, 2, MWL_FN_MEMBER, "string.startsWith(prefix) -> bool"},
    {"endsWith", NULL, 2, 2, MWL_FN_MEMBER, "string.endsWith(suffix) -> bool"},
    {"toJson", NULL, 1, 1, MWL_FN_GLOBAL, "toJson(x) -> string"},
    {"fromJson", NULL, 1, 1, MWL_FN_GLOBAL, "fromJson(string)"},
    {"now", NULL, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "now() -> timestamp"},
    {"wallTime", NULL, 0, 0, MWL_FN_GLOBAL | MWL_FN_IMPURE, "wallTime() -> timestamp"},
    {"durationToIso8601", NULL, 1, 1, MWL_FN_GLOBAL, "durationToIso8601(duration) -> string"},
    {"durationFromIso8601", NULL, 1, 1, MWL_FN_GLOBAL, "durationFromIso8601(string) -> duration"},
    {"lists.range", NULL, 1, 1, MWL_FN_GLOBAL, "lists.range(n) -> list"},
    {"split", NULL, 2, 3, MWL_FN_MEMBER, "string.split(separator [, limit]) -> list"},
    {"join", NULL, 1, 2, MWL_FN_MEMBER, "list.join([separator]) -> string"},
    {"orValue", NULL, 2, 2, MWL_FN_MEMBER, "optional.orValue(x)"},
    {"math.greatest", NULL, 1, 255, MWL_FN_GLOBAL, "math.greatest(x, ...)"},
};
#define CHECKED_N (sizeof checked_defs / sizeof *checked_defs)

/* The provider of a host, which every checked definition may use: a middleware for Steps only. */
static const char checked_document[] =
    "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\","
    "\"uri\":\"mwl:provider.middleware/acme/of-steps/v1\",\"codePrefix\":\"OfSteps\","
    "\"description\":\"Attaches to Steps.\",\"attachment\":[\"step\"],"
    "\"phases\":{\"onEntry\":{\"action\":{\"kind\":\"control\",\"description\":\"Looks.\"}}},"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}";

struct checked {
    mwl__catalog *catalog;
    mwl__source source, document;
    mwl__diags sink;
    mwl__tree tree;
    mwl__model model;
    mwl_status status;
};

/* Returns the status of everything, also MWL_E_NOMEM. Call checked_free in any case. */
static inline mwl_status checked_make(struct checked *k, mwl_alloc alloc, const char *name,
                                      const char *text, size_t len) {
    const mwl_function_def *functions[CHECKED_N];
    for (size_t i = 0; i < CHECKED_N; i++) functions[i] = &checked_defs[i];
    memset(k, 0, sizeof *k);
    mwl__diags_init(&k->sink, alloc);
    k->sink.guide = &mwl__guide_all;
    k->status = mwl__source_init(&k->source, alloc, name, text, len);
    if (k->status < 0) return k->status;
    k->catalog = mwl__catalog_new(&alloc);
    if (!k->catalog) return k->status = MWL_E_NOMEM;
    k->status = mwl__source_init(&k->document, alloc, "document", checked_document,
                                 sizeof checked_document - 1);
    if (k->status == MWL_OK) k->status = mwl__catalog_add(k->catalog, &k->document, &k->sink);
    if (k->status < 0) return k->status;
    k->status = mwl__tree_read(&k->tree, alloc, &k->source, &k->sink);
    if (!k->tree.root) return k->status;
    mwl_status read = k->status;
    k->status = mwl__model_check(&k->model, &k->tree, k->catalog, functions, CHECKED_N);
    if (k->status == MWL_OK) k->status = read;
    return k->status;
}

static inline void checked_free(struct checked *k) {
    mwl__model_free(&k->model);
    mwl__tree_free(&k->tree);
    mwl__catalog_free(k->catalog);
    mwl__diags_free(&k->sink);
    mwl__source_free(&k->source);
    mwl__source_free(&k->document);
}

#endif
