/* check_args.c: literal values against what is known of their type. See check.h.
 *
 * All of this fails when it runs, with System.ParameterValidationFailed, and is a warning here. */
#include "check.h"

#include "suggest.h"
#include "temporal.h"

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

void mwl__check_args(mwl__checker *c, const mwl__node *with, const mwl__node *at,
                     const mwl__tree *schema_tree, const mwl__node *schema,
                     const mwl__node *structural, const char *target) {
    (void)schema_tree;
    (void)structural;
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
}
