/* suite_json_schema.c: groups of a schema and values that it accepts or refuses, in the form of the
 * JSON Schema test suite: DIR/draft2020-12, and DIR/remotes for references to
 * http://localhost:1234/.
 *
 * Formats are checked in the folder optional/format and are annotations elsewhere, as those files
 * expect; `duration` has the narrow grammar of RFC 3339. Each value is also checked with a report,
 * which must agree. */
#include "assembler/schema/schema_compile.h"
#include "mwl_config.h"
#include "tests/suite/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Selected by the beginning of a case's name; --help prints the reason. */
#if MWL_IDN
const char suite_json_schema_skips[] = "nothing";
static const char *const skipped[] = {NULL};
#else
const char suite_json_schema_skips[] =
    "code points of host names, which are not checked without libidn2";
static const char *const skipped[] = {
    "optional/format/idn-hostname.json",
    "optional/format/hostname.json: validation of A-label (punycode) host names", NULL};
#endif

struct world {
    struct suite *s;
    const char *dir;
    mwl_alloc alloc;
    mwl_heap *heap;
    mwl__regex_scratch *scratch;
    struct suite_text {
        struct suite_text *next;
        char *uri, *text;
        size_t len;
    } * texts; /* loaded so far */
};

static mwl_status serve(void *ctx, const char *uri, size_t uri_len, const char **text,
                        size_t *len) {
    struct world *w = ctx;
    static const char host[] = "http://localhost:1234/";
    const size_t n = sizeof host - 1;
    if (uri_len < n || memcmp(uri, host, n) != 0) return MWL_E_NOT_FOUND;
    char name[512];
    if (uri_len - n >= sizeof name - 8) return MWL_E_NOT_FOUND;
    snprintf(name, sizeof name, "remotes/%.*s", (int)(uri_len - n), uri + n);
    for (const struct suite_text *t = w->texts; t; t = t->next) {
        if (strcmp(t->uri, name) != 0) continue;
        *text = t->text;
        *len = t->len;
        return MWL_OK;
    }
    char *path = suite_path(w->dir, name);
    struct suite_text *t = suite_alloc(sizeof *t);
    t->text = suite_read(path, &t->len);
    free(path);
    if (!t->text) {
        free(t);
        return MWL_E_NOT_FOUND;
    }
    t->uri = suite_alloc(strlen(name) + 1);
    memcpy(t->uri, name, strlen(name) + 1);
    t->next = w->texts;
    w->texts = t;
    *text = t->text;
    *len = t->len;
    return MWL_OK;
}

static bool is_skipped(const char *name) {
    for (size_t i = 0; skipped[i]; i++)
        if (strncmp(name, skipped[i], strlen(skipped[i])) == 0) return true;
    return false;
}

static void run_test(struct world *w, const char *name, const mwl__schema *schema,
                     const mwl__node *test) {
    mwl__schema_env env = {.heap = w->heap, .scratch = w->scratch};
    mwl_value data = mwl__node_value(w->heap, mwl__node_get(test, "data"));
    mwl_value report = mwl_absent();
    bool valid = false, again = false, expected = mwl__node_get(test, "valid")->boolean;
    mwl_status st = mwl__schema_check(schema, data, &env, &valid, NULL);
    mwl_status st2 = mwl__schema_check(schema, data, &env, &again, &report);
    if (st < 0)
        suite_fail(w->s, name, "%s", mwl_status_text(st));
    else if (valid != expected)
        suite_fail(w->s, name, "is %s", valid ? "valid" : "invalid");
    else if (st2 < 0 || again != valid || (!valid && mwl_is_absent(report)))
        suite_fail(w->s, name, "the report does not agree");
    else
        suite_pass(w->s, name);
    mwl_value_drop(w->heap, report);
    mwl_value_drop(w->heap, data);
}

static void run_group(struct world *w, mwl__tree *tree, const char *file, const mwl__node *group) {
    const mwl__node *title = mwl__node_get(group, "description");
    const mwl__node *tests = mwl__node_get(group, "tests");
    mwl__schema_options options = {
        .assert_formats = strncmp(file, "optional/format/", 16) == 0,
        .rfc3339_duration = true,
        .resolve = serve,
        .ctx = w,
    };
    mwl__schema *schema = NULL;
    char name[1024];
    mwl__diags_free(tree->sink);
    mwl__diags_init(tree->sink, w->alloc);
    mwl_status st =
        mwl__schema_compile(tree, mwl__node_get(group, "schema"), &options, &w->alloc, &schema);
    mwl__diags_sort(tree->sink);
    const char *why = mwl_status_text(st);
    for (size_t i = 0; i < tree->sink->n_items; i++)
        if (tree->sink->items[i]->severity == MWL_DIAG_ERROR) {
            why = tree->sink->items[i]->message;
            break;
        }
    for (const mwl__node *t = mwl__node_first(tests); t; t = t->next) {
        const mwl__node *sub = mwl__node_get(t, "description");
        snprintf(name, sizeof name, "%s: %.*s: %.*s", file, MWL__NODE_TEXT(title),
                 MWL__NODE_TEXT(sub));
        if (!suite_wants(w->s, name)) continue;
        if (is_skipped(name))
            suite_skip(w->s, name, "see --help");
        else if (st < 0)
            suite_fail(w->s, name, "the schema was refused: %s", why);
        else
            run_test(w, name, schema, t);
    }
    mwl__schema_free(schema);
}

static bool run_file(void *user, const char *path, const char *relative) {
    struct world *w = user;
    size_t len = 0, n = strlen(relative);
    if (n < 5 || strcmp(relative + n - 5, ".json") != 0) return true;
    char *text = suite_read(path, &len);
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    if (!text || mwl__source_init(&source, w->alloc, relative, text, len) < 0) {
        suite_fail(w->s, relative, "cannot be read");
        free(text);
        return true;
    }
    mwl__diags_init(&sink, w->alloc);
    if (mwl__tree_read(&tree, w->alloc, &source, &sink) < 0)
        suite_fail(w->s, relative, "is not JSON");
    else
        for (const mwl__node *g = mwl__node_first(tree.root); g; g = g->next)
            run_group(w, &tree, relative, g);
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    free(text);
    return true;
}

int suite_json_schema(struct suite *s, const char *dir) {
    struct world w = {.s = s, .dir = dir, .alloc = mwl_alloc_default()};
    char *tests = suite_path(dir, "draft2020-12");
    int answer = -1;
    if (mwl_heap_new(&w.alloc, &w.heap) == MWL_OK &&
        mwl__regex_scratch_new(&w.alloc, &w.scratch) == MWL_OK && suite_walk(tests, run_file, &w))
        answer = 0;
    while (w.texts) {
        struct suite_text *t = w.texts;
        w.texts = t->next;
        free(t->uri);
        free(t->text);
        free(t);
    }
    mwl__regex_scratch_free(w.scratch);
    mwl_heap_free(w.heap);
    free(tests);
    return answer;
}
