/* check_args.c: literal values against what is known of their type. See check.h.
 *
 * All of this fails when it runs, with System.ParameterValidationFailed, and is a warning here. */
#include "assembler/check/check.h"

#include "assembler/schema/schema_compile.h"
#include "vm/base/suggest.h"
#include "vm/value/temporal.h"

#include <stdio.h>

#define AT_RUN_TIME "it fails with System.ParameterValidationFailed when it runs"

void mwl__check_duration(mwl__checker *c, const mwl__node *n, const char *name) {
    int64_t ns;
    if (mwl__form_looks_computed(n)) return;
    if (n->kind == MWL_NODE_STRING && mwl_duration_parse(n->as.text, n->count, &ns) != MWL_E_SYNTAX)
        return;
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_INVALID_DURATION,
                                    "'%s' is no ISO 8601 duration", name);
    mwl__diag_note(d, AT_RUN_TIME);
    mwl__diag_help(d, "thirty seconds are written PT30S");
}

void mwl__check_timestamp(mwl__checker *c, const mwl__node *n, const char *name) {
    mwl__instant t;
    if (mwl__form_looks_computed(n)) return;
    if (n->kind == MWL_NODE_STRING &&
        mwl__temporal_parse_instant(n->as.text, n->count, &t) == MWL_OK)
        return;
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_INVALID_TIMESTAMP,
                                    "'%s' is no RFC 3339 timestamp", name);
    mwl__diag_note(d, AT_RUN_TIME);
    mwl__diag_help(d, "a timestamp is written 2026-01-31T12:00:00Z");
}

/* Whether a member of this name is refused by the schema's top level. */
static bool is_refused(const mwl__node *schema, const mwl__node *m) {
    const mwl__node *more = mwl__node_get(schema, "additionalProperties");
    if (!schema) return true;
    if (mwl__node_get(schema, "patternProperties")) return false;
    if (more && !(more->kind == MWL_NODE_BOOL && !more->boolean)) return false;
    return !mwl__node_find(mwl__node_get(schema, "properties"), m->key, m->key_len);
}

static void undeclared(mwl__checker *c, const mwl__node *schema, const mwl__node *m,
                       const char *target) {
    mwl__diag *d = mwl__node_report_key(c->tree, m, MWL_DIAG_UNDECLARED_ARGUMENT,
                                        "%s has no parameter '%.*s'", target, MWL__NODE_KEY(m));
    if (!d) return;
    mwl__suggest s = mwl__suggest_make(m->key, m->key_len);
    const mwl__node *properties = mwl__node_get(schema, "properties");
    for (const mwl__node *p = properties ? mwl__node_first(properties) : NULL; p; p = p->next)
        mwl__suggest_offer(&s, p->key, p->key_len);
    mwl__diag_note(d, AT_RUN_TIME);
    if (s.best) mwl__diag_help(d, "did you mean '%.*s'?", (int)s.best_len, s.best);
}

/* ---- the whole schema ------------------------------------------------------------------------ */

typedef struct args {
    mwl__checker *c;
    bool partly; /* some of it is computed */
    bool said;   /* an argument is missing or undeclared */
} args;

static bool has(const char *text, size_t len, const char *part) {
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= len; i++)
        if (memcmp(text + i, part, n) == 0) return true;
    return false;
}

/* What undeclared and missing arguments are told about elsewhere is left out, and what may depend
 * on a part that is computed. */
static void refused(void *ctx, const mwl__judged *e) {
    static const char *const inside[] = {"/if",    "/then", "/else",    "/anyOf",
                                         "/oneOf", "/not",  "/contains"};
    static const char *const anywhere[] = {"/dependent", "/unevaluated"};
    args *a = ctx;
    bool top = e->keyword_len && !memchr(e->keyword + 1, '/', e->keyword_len - 1);
    if (top && (has(e->keyword, e->keyword_len, "/additionalProperties") ||
                has(e->keyword, e->keyword_len, "/required")))
        return;
    if (mwl__model_computed(a->c->m, e->node) || (e->keyword_len == 0 && a->said)) return;
    size_t last = e->keyword_len; /* the keyword itself judges this value, which is literal */
    while (last > 0 && e->keyword[last - 1] != '/') last--;
    for (size_t i = 0; i < sizeof inside / sizeof *inside && a->partly; i++)
        if (has(e->keyword, last, inside[i])) return;
    for (size_t i = 0; i < sizeof anywhere / sizeof *anywhere && a->partly; i++)
        if (has(e->keyword, e->keyword_len, anywhere[i])) return;
    mwl__diag *d =
        mwl__node_report(a->c->tree, e->node, MWL_DIAG_INVALID_ARGUMENTS,
                         "the schema refuses this: %.*s", (int)e->message_len, e->message);
    mwl__diag_note(d, "by %.*s of the parameter schema", (int)e->keyword_len, e->keyword);
    mwl__diag_note(d, AT_RUN_TIME);
}

void mwl__check_args(mwl__checker *c, const mwl__node *with, const mwl__node *at,
                     const mwl__node *schema, const mwl__schema *compiled, const char *target) {
    size_t before = c->sink->n_errors + c->sink->n_others;
    if (with && with->kind != MWL_NODE_OBJECT) return;
    for (const mwl__node *m = with ? mwl__node_first(with) : NULL; m; m = m->next)
        if (is_refused(schema, m)) undeclared(c, schema, m, target);
    const mwl__node *required = mwl__node_get(schema, "required");
    for (const mwl__node *r = required ? mwl__node_first(required) : NULL; r; r = r->next) {
        if (r->kind != MWL_NODE_STRING || mwl__node_find(with, r->as.text, r->count)) continue;
        mwl__diag *d = mwl__node_report(c->tree, with ? with : at, MWL_DIAG_MISSING_ARGUMENT,
                                        "%s needs the argument '%.*s'", target, MWL__NODE_TEXT(r));
        mwl__diag_note(d, AT_RUN_TIME);
    }
    if (!with || !with->count || !compiled) return;
    args a = {c, mwl__model_computed(c->m, with), c->sink->n_errors + c->sink->n_others > before};
    if (mwl__judge_value(&c->judge, compiled, with, refused, &a) == MWL_E_NOMEM)
        c->status = MWL_E_NOMEM;
}

/* ---- defaults -------------------------------------------------------------------------------- */

/* A part of a schema that refers to another cannot be compiled on its own. */
static bool refers(const mwl__node *n) {
    for (const mwl__node *m = mwl__node_first(n); m; m = m->next)
        if (mwl__node_key_is(m, "$ref") || mwl__node_key_is(m, "$dynamicRef") || refers(m))
            return true;
    return false;
}

typedef struct fault {
    const mwl__node *node;
    char message[160];
} fault;

static void first_fault(void *ctx, const mwl__judged *e) {
    fault *f = ctx;
    if (f->node) return;
    f->node = e->node;
    snprintf(f->message, sizeof f->message, "%.*s", (int)e->message_len, e->message);
}

void mwl__check_defaults(mwl__checker *c, const mwl__node *parameters) {
    const mwl__node *properties = mwl__node_get(parameters, "properties");
    const mwl__schema_options options = {.assert_formats = true};
    if (!mwl__diags_wants(c->sink, MWL_DIAG_DEFAULT_MISMATCH)) return;
    for (const mwl__node *p = properties ? mwl__node_first(properties) : NULL; p; p = p->next) {
        const mwl__node *value = mwl__node_get(p, "default");
        mwl__schema *schema = NULL;
        if (!value || refers(p)) continue;
        mwl_status status = mwl__schema_compile(c->tree, p, &options, &c->arena->alloc, &schema);
        fault f = {NULL, ""};
        if (status == MWL_OK) status = mwl__judge_value(&c->judge, schema, value, first_fault, &f);
        mwl__schema_free(schema);
        if (status == MWL_E_NOMEM) c->status = status;
        if (status < 0 || !f.node) continue;
        mwl__diag *d = mwl__node_report(c->tree, f.node, MWL_DIAG_DEFAULT_MISMATCH,
                                        "the default breaks its own schema: %s", f.message);
        mwl__diag_note(d, "a default is bound as it is, without a check");
    }
}
