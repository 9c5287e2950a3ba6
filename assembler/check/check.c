/* check.c: Flows: their members, names and Steps; the order of the passes. See check.h. */
#include "assembler/check/check.h"
#include "assembler/check/members.h"

#include <stdio.h>

#define FLOW_SCHEMA "https://mwl.dev/v0.1/flow/schema.json"

void *mwl__check_new(mwl__checker *c, size_t n, size_t size) {
    void *p = n && n > SIZE_MAX / size ? NULL : mwl__arena_new(c->arena, n ? n * size : size);
    if (!p) c->status = MWL_E_NOMEM;
    return p;
}

bool mwl__check_work(mwl__checker *c, const mwl__node *n, uint64_t units) {
    if (mwl__node_work(c->tree, n, units)) return true;
    if (c->status == MWL_OK) c->status = MWL_E_REJECTED;
    return false;
}

void mwl__check_list(mwl__checker *c, const mwl__m_call *call, const mwl__m_entry *entry) {
    mwl__listed *l = mwl__check_new(c, 1, sizeof *l);
    if (!l) return;
    l->call = call;
    l->entry = entry;
    *c->last_listed = l;
    c->last_listed = &l->next;
}

void mwl__check_list_names(mwl__diag *d, const char *intro, const mwl__node *map) {
    enum { FEW = 8, SHORT = 40 };
    char text[FEW * (SHORT + 8)];
    size_t len = 0;
    text[0] = '\0';
    if (!d || !map || map->count == 0 || map->count > FEW) return;
    for (const mwl__node *m = mwl__node_first(map); m; m = m->next) {
        if (m->key_len > SHORT) return;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s'%.*s'",
                                m->index == 0 ? ""
                                : m->next     ? ", "
                                              : " and ",
                                MWL__NODE_KEY(m));
    }
    mwl__diag_note(d, "%s%s", intro, text);
}

/* ---- the members of a Flow ------------------------------------------------------------------- */

static const mwl__form_field flow_fields[] = {MWL__MEMBERS_FLOW(MWL__MEMBER_FIELD)};
static const mwl__form flow_form = MWL__FORM_WORDS("a Flow", flow_fields, MWL__WORDS_FLOW);

static void check_schema_key(mwl__checker *c, const mwl__node *n, bool root) {
    const mwl__node *key = mwl__node_get(n, "$schema");
    if (!root) {
        if (key)
            mwl__node_report_key(c->tree, key, MWL_DIAG_MISPLACED_SCHEMA_KEY,
                                 "only the root document has '$schema'");
        return;
    }
    mwl__diag *d = NULL;
    if (!key)
        d = mwl__node_report(c->tree, n, MWL_DIAG_MISSING_SCHEMA_KEY,
                             "the root document needs '$schema'");
    else if (key->kind != MWL_NODE_STRING)
        d = mwl__node_report(c->tree, key, MWL_DIAG_WRONG_TYPE,
                             "'$schema' is %s and must be a string", mwl__node_kind_name(key));
    else if (!mwl__node_is(key, FLOW_SCHEMA))
        d = mwl__node_report(c->tree, key, MWL_DIAG_UNKNOWN_SCHEMA,
                             "'$schema' names no version of the language that is known here");
    mwl__diag_help(d, "write \"$schema\": \"" FLOW_SCHEMA "\"");
    static const char line[] = " \"$schema\": \"" FLOW_SCHEMA "\",";
    if (key)
        mwl__diag_fix_string(d, mwl__node_span(key), FLOW_SCHEMA, strlen(FLOW_SCHEMA));
    else if (n->count)
        mwl__diag_fix(d, mwl__span_make(n->offset + 1, n->offset + 1), line, sizeof line - 1);
}

/* Checks that no name of a Step or a Flow is an expression. */
static void check_names(mwl__checker *c, const mwl__node *map, const char *what) {
    for (const mwl__node *n = mwl__node_first(map); n; n = n->next)
        if (n->key_len >= 4 && memcmp(n->key, "{{", 2) == 0 &&
            memcmp(n->key + n->key_len - 2, "}}", 2) == 0)
            mwl__node_report_key(c->tree, n, MWL_DIAG_EXPRESSION_NOT_ALLOWED,
                                 "the name of a %s takes no expression", what);
}

static mwl__flow *new_flow(mwl__checker *c, const mwl__node *n, mwl__flow *outer,
                           const mwl__node *key) {
    mwl__flow *f = mwl__check_new(c, 1, sizeof *f);
    if (!f) return NULL;
    f->m.node = n;
    f->m.outer = outer ? &outer->m : NULL;
    f->last_edge = &f->edges;
    if (key) {
        f->m.name = mwl__arena_text(c->arena, key->key, key->key_len);
        f->m.name_len = key->key_len;
        if (!f->m.name) c->status = MWL_E_NOMEM;
    }
    f->m.ix = c->m->n_flows;
    void *list = c->m->flows;
    if (c->m->n_flows == c->flows_cap) { /* the old list stays in the arena */
        size_t cap = c->flows_cap ? c->flows_cap * 2 : 16;
        list = mwl__check_new(c, cap, sizeof *c->m->flows);
        if (!list) return NULL;
        if (c->m->n_flows) memcpy(list, c->m->flows, c->m->n_flows * sizeof *c->m->flows);
        c->flows_cap = cap;
    }
    c->m->flows = list;
    c->m->flows[c->m->n_flows++] = &f->m;
    return f;
}

/* ---- parameters ------------------------------------------------------------------------------ */

static void check_parameters(mwl__checker *c, mwl__flow *f, const mwl__node *n) {
    f->m.parameters = n;
    f->schema = mwl__check_schema(c->tree, n);
    if (!f->schema) {
        f->open = f->broken_schema = true;
        return;
    }
    const mwl__node *more = mwl__node_get(n, "additionalProperties"),
                    *p = mwl__node_get(n, "properties");
    static const char *const others[] = {
        "patternProperties", "$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if",
        "dependentSchemas"};
    f->open = more && !(more->kind == MWL_NODE_BOOL && !more->boolean);
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (mwl__node_get(n, others[i])) f->open = true;
    if (!p || p->kind != MWL_NODE_OBJECT) return;
    for (const mwl__node *m = mwl__node_first(p); m; m = m->next)
        if (!mwl__names_put(&f->vars, c->arena, m->key, m->key_len, MWL__VAR_PARAMETER))
            c->status = MWL_E_NOMEM;
}

/* ---- named Flows ----------------------------------------------------------------------------- */

static void check_shadow(mwl__checker *c, const mwl__flow *f, const mwl__node *n) {
    for (const mwl__m_flow *o = f->m.outer; o; o = o->outer) {
        const mwl__node *hidden = mwl__node_find(((const mwl__flow *)o)->flows, n->key, n->key_len);
        if (!hidden) continue;
        mwl__diag *d =
            mwl__node_report_key(c->tree, n, MWL_DIAG_SHADOWED_FLOW,
                                 "'%.*s' hides a Flow of the same name", MWL__NODE_KEY(n));
        mwl__diag_label(d, mwl__node_key_span(hidden), "the hidden one");
        return;
    }
}

/* Makes the objects first, so that every call inside the Flow finds them by name. */
static void declare_flows(mwl__checker *c, mwl__flow *f, const mwl__node *n) {
    f->flows = n;
    f->named = mwl__check_new(c, n->count, sizeof(mwl__flow *));
    if (!f->named) return;
    check_names(c, n, "Flow");
    for (const mwl__node *m = mwl__node_first(n); m && c->status == MWL_OK; m = m->next) {
        f->named[m->index] = new_flow(c, m, f, m);
        check_shadow(c, f, m);
    }
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void declare_steps(mwl__checker *c, mwl__flow *f, const mwl__node *n) {
    f->step_nodes = n;
    f->m.steps = mwl__check_new(c, n->count, sizeof(mwl__m_step *));
    mwl__m_step *all = mwl__check_new(c, n->count, sizeof *all);
    if (!f->m.steps || !all) return;
    f->m.n_steps = n->count;
    check_names(c, n, "Step");
    for (const mwl__node *m = mwl__node_first(n); m; m = m->next) {
        mwl__m_step *s = &all[m->index];
        s->node = m;
        s->flow = &f->m;
        s->ix = m->index;
        s->wait = true;
        s->concurrency = MWL_NONE;
        f->m.steps[m->index] = s;
    }
    if (n->count == 0)
        mwl__node_report(c->tree, n, MWL_DIAG_EMPTY_STEPS, "a Flow has at least one Step");
}

/* Fills a Flow whose object was made before. */
static void fill_flow(mwl__checker *c, mwl__flow *f) {
    const mwl__node *n = f->m.node;
    size_t before = c->sink->n_broken, inside = c->inner_errors;
    uint32_t bad;
    c->inner_errors = 0;
    mwl__form_check(c->tree, n, &flow_form, &bad);
    if (n->kind == MWL_NODE_OBJECT) check_schema_key(c, n, n == c->tree->root);
    const mwl__node *m = mwl__form_member(n, &flow_form, bad, "parameters");
    if (m) check_parameters(c, f, m);
    m = mwl__form_member(n, &flow_form, bad, "steps");
    if (m) declare_steps(c, f, m);
    m = mwl__form_member(n, &flow_form, bad, "flows");
    if (m) declare_flows(c, f, m);
    m = mwl__form_member(n, &flow_form, bad, "entrypoint");
    if (m && f->m.n_steps) f->m.entrypoint = mwl__check_step_ref(c, f, m);
    m = mwl__form_member(n, &flow_form, bad, "middleware");
    if (m && c->status == MWL_OK) {
        mwl__site site = {.flow = f};
        mwl__check_stack(c, f, m, &site, true, &f->m.stack, &f->m.n_stack);
    }
    for (uint32_t i = 0; i < f->m.n_steps && c->status == MWL_OK; i++)
        mwl__check_step(c, f, f->m.steps[i]);
    for (uint32_t i = 0; f->flows && i < f->flows->count && c->status == MWL_OK; i++)
        fill_flow(c, f->named[i]);
    size_t all = c->sink->n_broken - before;
    f->errors = all - c->inner_errors;
    c->inner_errors = inside + all;
}

mwl__flow *mwl__check_flow(mwl__checker *c, const mwl__node *n, mwl__flow *outer,
                           const mwl__node *key) {
    mwl__flow *f = new_flow(c, n, outer, key);
    if (f) fill_flow(c, f);
    return f;
}

/* ---- the whole ------------------------------------------------------------------------------- */

static void check_unused(mwl__checker *c, const mwl__flow *f) {
    for (uint32_t i = 0; f->flows && i < f->flows->count; i++)
        if (!f->named[i]->called)
            mwl__node_report_key(c->tree, f->named[i]->m.node, MWL_DIAG_UNUSED_FLOW,
                                 "no call names the Flow '%s'", f->named[i]->m.name);
}

/* Does the checks that need all Flows. */
static void check_whole(mwl__checker *c) {
    bool sound = mwl__check_cycles(c), clean = c->sink->n_broken == 0 && !c->refused;
    for (uint32_t i = 0; i < c->m->n_flows && c->status == MWL_OK; i++) {
        mwl__flow *f = mwl__flow_of(c->m->flows[i]);
        if (f->errors == 0) mwl__check_graph(c, f);
        if (clean) check_unused(c, f);
        if (f->errors == 0) mwl__check_variables(c, f, clean);
        if (f->errors == 0 && c->status == MWL_OK) mwl__check_types(c, f);
    }
    mwl__check_unknown_names(c);
    if (c->status == MWL_OK) mwl__check_all_args(c);
    if (!sound || !clean || c->status < 0) return;
    mwl__flow **order = mwl__check_order(c);
    if (!order) return;
    mwl__check_codes(c, order);
    if (c->status == MWL_OK) mwl__check_compositions(c, order);
}

static mwl_status learn_functions(mwl__checker *c) {
    for (size_t i = 0; i < c->n_functions; i++) {
        const mwl_function_def *f = c->functions[i];
        if (!mwl__names_put(&c->function_names, c->arena, f->name, strlen(f->name), f->style))
            return MWL_E_NOMEM;
    }
    return MWL_OK;
}

mwl_status mwl__model_check(mwl__model *m, mwl__tree *tree, mwl__catalog *catalog,
                            const mwl_function_def *const *functions, size_t n_functions) {
    memset(m, 0, sizeof *m);
    m->arena = mwl__arena_make(tree->arena.alloc);
    m->tree = tree;
    mwl__checker c = {.m = m,
                      .arena = &m->arena,
                      .tree = tree,
                      .sink = tree->sink,
                      .catalog = catalog,
                      .functions = functions,
                      .n_functions = n_functions};
    size_t errors = tree->sink->n_errors;
    c.last_listed = &c.listed;
    c.judge.alloc = tree->arena.alloc;
    c.status = learn_functions(&c);
    if (c.status == MWL_OK && tree->root->kind != MWL_NODE_OBJECT)
        mwl__node_report(tree, tree->root, MWL_DIAG_ROOT_NOT_OBJECT,
                         "a definition is an object, not %s", mwl__node_kind_name(tree->root));
    else if (c.status == MWL_OK)
        mwl__check_flow(&c, tree->root, NULL, NULL);
    if (c.status == MWL_OK && m->n_flows) check_whole(&c);
    for (uint32_t i = 0; i < m->n_flows; i++) mwl__schema_free(mwl__flow_of(m->flows[i])->schema);
    mwl__judge_free(&c.judge);
    if (c.status < 0) return c.status;
    if (tree->sink->status < 0) return tree->sink->status;
    return tree->sink->n_errors > errors || c.refused ? MWL_E_REJECTED : MWL_OK;
}
