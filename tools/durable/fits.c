/* fits.c: see fits.h. */
#include "fits.h"

#include "assembler/schema/schema_compile.h"

#include <stdio.h>
#include <string.h>

enum { FUEL = 10000000 }; /* for one check: schemas come with Flows, answers from anybody */

/* ---- a schema -------------------------------------------------------------------------------- */

static mwl__schema *compile(const char *text, size_t len) {
    const mwl_alloc alloc = mwl_alloc_default();
    const mwl__schema_options options = {.assert_formats = true};
    mwl__schema *schema = NULL;
    mwl__source source;
    mwl__diags sink;
    mwl__tree tree;
    if (mwl__source_init(&source, alloc, "schema", text, len) < 0) return NULL;
    mwl__diags_init(&sink, alloc);
    if (mwl__tree_read(&tree, alloc, &source, &sink) == MWL_OK &&
        mwl__schema_compile(&tree, tree.root, &options, &alloc, &schema) < 0)
        schema = NULL;
    mwl__tree_free(&tree);
    mwl__diags_free(&sink);
    mwl__source_free(&source);
    return schema;
}

static const char *member(mwl_value o, const char *name) {
    const char *text = mwl_as_text(mwl_object_get(o, name, strlen(name)), NULL);
    return text ? text : "";
}

static bool check(mwl_heap *heap, const mwl__schema *schema, mwl_value answer, char *why,
                  size_t cap) {
    const mwl_alloc alloc = mwl_alloc_default();
    mwl__regex_scratch *scratch = NULL;
    uint64_t fuel = FUEL;
    mwl_value report = mwl_absent();
    bool valid = false;
    mwl_status status = mwl__regex_scratch_new(&alloc, &scratch);
    const mwl__schema_env env = {.heap = heap, .scratch = scratch, .fuel = &fuel};
    if (status == MWL_OK) status = mwl__schema_check(schema, answer, &env, &valid, &report);
    if (status != MWL_OK) {
        snprintf(why, cap, "the answer cannot be checked: %s", mwl_status_text(status));
        valid = false;
    } else if (!valid) {
        const char *place = member(report, "instanceLocation");
        snprintf(why, cap, "the answer does not fit its schema: %s%s%s", member(report, "message"),
                 *place ? ", at " : "", place);
    }
    mwl_value_drop(heap, report);
    mwl__regex_scratch_free(scratch);
    return valid;
}

bool fits(mwl_heap *heap, mwl_value arguments, mwl_value answer, char *why, size_t cap) {
    mwl_value wanted = mwl_object_get(arguments, "schema", 6);
    char *text = NULL;
    size_t len = 0;
    if (mwl_is_absent(wanted)) return true;
    if (mwl_json_write(heap, wanted, MWL_JSON_COMPACT, &text, &len) != MWL_OK) return true;
    mwl__schema *schema = compile(text, len);
    mwl_text_free(heap, text, len);
    bool good = !schema || check(heap, schema, answer, why, cap);
    mwl__schema_free(schema);
    return good;
}

/* ---- a wait of the store --------------------------------------------------------------------- */

struct asked {
    mwl_heap *heap;
    const char *name;
    mwl_value answer;
    bool any, good;
    char *why;
    size_t cap;
};

static bool see_wait(void *ctx, const char *run, const mwl_store_wait *wait) {
    struct asked *a = ctx;
    mwl_value question = mwl_absent();
    (void)run;
    if (strcmp(wait->name, a->name) != 0 || (wait->provider && *wait->provider)) return true;
    a->any = true;
    if (mwl_json_parse(a->heap, wait->question.at, wait->question.len, &question, NULL) != MWL_OK) {
        a->good = true;
        return false;
    }
    a->good |= fits(a->heap, question, a->answer, a->why, a->cap);
    mwl_value_drop(a->heap, question);
    return !a->good;
}

static bool see_seq(void *ctx, const mwl_store_row *row) {
    *(int64_t *)ctx = row->seq;
    return false;
}

/* RUN.NUMBER: what a call for a worker outside is known by, also before it is open. Its result is
 * not an answer, and has its own form and its own permission. */
static bool is_call_key(const char *run, const char *name) {
    size_t len = strlen(run);
    if (strncmp(name, run, len) != 0 || name[len] != '.' || !name[len + 1]) return false;
    return strspn(name + len + 1, "0123456789") == strlen(name + len + 1);
}

mwl_status fits_wait(mwl_store *s, mwl_heap *heap, const char *run, const char *name,
                     mwl_value answer, bool *good, char *why, size_t cap) {
    struct asked a = {heap, name, answer, false, false, why, cap};
    const mwl_store_query query = {.id = run};
    int64_t seq = 0;
    mwl_status status = s->ops->list(s, &query, see_seq, &seq);
    if (status == MWL_OK && seq) status = s->ops->waits(s, seq, see_wait, &a);
    *good = a.good || !a.any;
    if (status == MWL_OK && !a.any && is_call_key(run, name)) {
        *good = false;
        snprintf(why, cap, "'%s' is a call for a worker outside, and no answer settles it", name);
    }
    return status;
}
