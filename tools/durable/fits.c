/* fits.c: see fits.h. */
#include "tools/durable/fits.h"

#include "tools/base/member.h"
#include "assembler/schema/schema_compile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Schemas come with Flows, answers from anybody: one question, however many waits it is put to, has
 * one budget. */
enum {
    FUEL = 1000000,
    SCHEMA = 1 << 20, /* bytes of a schema */
    SCHEMAS = 8       /* different ones that are compiled: a compilation has limits of its own */
};

struct budget {
    uint64_t fuel;
    char *seen[SCHEMAS]; /* texts of schemas that did not fit */
    size_t n_seen;
};

static void free_budget(struct budget *b) {
    for (size_t i = 0; i < b->n_seen; i++) free(b->seen[i]);
}

static bool pay(struct budget *b, uint64_t n) {
    bool good = n <= b->fuel;
    b->fuel -= good ? n : b->fuel;
    return good;
}

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

static bool check(mwl_heap *heap, const mwl__schema *schema, mwl_value answer, struct budget *b,
                  char *why, size_t cap) {
    const mwl_alloc alloc = mwl_alloc_default();
    mwl__regex_scratch *scratch = NULL;
    mwl_value report = mwl_absent();
    bool valid = false;
    mwl_status status = mwl__regex_scratch_new(&alloc, &scratch);
    const mwl__schema_env env = {.heap = heap, .scratch = scratch, .fuel = &b->fuel};
    if (status == MWL_OK) status = mwl__schema_check(schema, answer, &env, &valid, &report);
    if (status != MWL_OK) {
        snprintf(why, cap, "the answer cannot be checked: %s", mwl_status_text(status));
        valid = false;
    } else if (!valid) {
        const char *place = member_text(report, "instanceLocation");
        snprintf(why, cap, "the answer does not fit its schema: %s%s%s",
                 member_text(report, "message"), *place ? ", at " : "", place);
    }
    mwl_value_drop(heap, report);
    mwl__regex_scratch_free(scratch);
    return valid;
}

struct text {
    char *at;
    size_t len;
};

static mwl_status add(void *ctx, const char *piece, size_t len) {
    struct text *t = ctx;
    char *grown = realloc(t->at, t->len + len + 1);
    if (!grown) return MWL_E_NOMEM;
    t->at = grown;
    memcpy(t->at + t->len, piece, len);
    t->len += len;
    t->at[t->len] = '\0';
    return MWL_OK;
}

/* Takes the text over. A schema that the answer did not fit is not asked again. */
static bool fits_schema(mwl_heap *heap, char *take_text, size_t len, mwl_value answer,
                        struct budget *b, char *why, size_t cap) {
    bool good = false, asked = false, many = b->n_seen == SCHEMAS;
    mwl__schema *schema = NULL;
    for (size_t i = 0; i < b->n_seen && !asked; i++) asked = strcmp(b->seen[i], take_text) == 0;
    if (asked) {
        free(take_text);
        return false; /* `why` has the reason */
    }
    if (many || !pay(b, len))
        snprintf(why, cap, "the answer cannot be checked: the schemas of the waits are too much");
    else if (!(schema = compile(take_text, len)))
        snprintf(why, cap, "the answer cannot be checked: the schema of the question is not valid");
    else
        good = check(heap, schema, answer, b, why, cap);
    mwl__schema_free(schema);
    if (many)
        free(take_text);
    else
        b->seen[b->n_seen++] = take_text;
    return good;
}

static bool fits_within(mwl_heap *heap, mwl_value arguments, mwl_value answer, struct budget *b,
                        char *why, size_t cap) {
    mwl_value wanted = mwl_get(arguments, "schema");
    struct text text = {NULL, 0};
    if (mwl_is_absent(wanted)) return true;
    mwl_status status =
        mwl_json_write_within(heap, wanted, MWL_JSON_COMPACT, SCHEMA, add, &text, NULL);
    if (status == MWL_OK) return fits_schema(heap, text.at, text.len, answer, b, why, cap);
    snprintf(why, cap, "the answer cannot be checked: the schema of the question: %s",
             mwl_status_text(status));
    free(text.at);
    return false;
}

bool fits(mwl_heap *heap, mwl_value arguments, mwl_value answer, char *why, size_t cap) {
    struct budget b = {.fuel = FUEL};
    bool good = fits_within(heap, arguments, answer, &b, why, cap);
    free_budget(&b);
    return good;
}

/* ---- a wait of the store --------------------------------------------------------------------- */

struct asked {
    mwl_heap *heap;
    const char *name;
    mwl_value answer;
    struct budget *budget;
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
    if (!pay(a->budget, wait->question.len / 16 + 1)) {
        if (!*a->why) snprintf(a->why, a->cap, "the answer cannot be checked: too many waits");
        return false;
    }
    if (mwl_json_parse(a->heap, wait->question.at, wait->question.len, &question, NULL) != MWL_OK) {
        snprintf(a->why, a->cap, "the answer cannot be checked: the question is not JSON");
        return true;
    }
    a->good = fits_within(a->heap, question, a->answer, a->budget, a->why, a->cap);
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
    struct budget b = {.fuel = FUEL};
    struct asked a = {heap, name, answer, &b, false, false, why, cap};
    const mwl_store_query query = {.id = run};
    int64_t seq = 0;
    mwl_status status = s->ops->list(s, &query, see_seq, &seq);
    if (status == MWL_OK && seq) status = s->ops->waits(s, seq, see_wait, &a);
    free_budget(&b);
    *good = a.good || !a.any;
    if (status == MWL_OK && !a.any && is_call_key(run, name)) {
        *good = false;
        snprintf(why, cap, "'%s' is a call for a worker outside, and no answer settles it", name);
    }
    return status;
}
