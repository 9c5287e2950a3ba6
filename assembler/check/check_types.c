/* check_types.c: what the variables of a Flow certainly are, and the operators that do not take
 * that. See check.h.
 *
 * A variable is of a kind if its parameter is declared so and everything that the Flow assigns to
 * it is so. An expression that depends on such variables is checked once more with what is known
 * now. A fault at run time can be caught, so these are warnings. */
#include "assembler/check/check.h"

enum { ROUNDS = 8, DEEPEST = 8 };

typedef struct types {
    mwl__checker *c;
    const mwl__flow *f;
    const mwl__write **written; /* by mwl__name.id: one of its writes */
    mwl__cel_known *known;      /* by mwl__name.id */
    bool *set;                  /* whether anything is known of it yet */
    const mwl__node *from;      /* where the last kind that was asked for is written */
} types;

static const char *const nouns[] = {"",         "null",     "a boolean", "an int", "a uint",
                                    "a number", "a string", "bytes",     "a list", "a map"};

static mwl__cel_known of_schema(const mwl__node *schema) {
    static const struct {
        const char *type;
        mwl__cel_known known;
    } rows[] = {{"number", MWL__KNOWN_DOUBLE}, {"integer", MWL__KNOWN_DOUBLE},
                {"string", MWL__KNOWN_STRING}, {"boolean", MWL__KNOWN_BOOL},
                {"array", MWL__KNOWN_LIST},    {"object", MWL__KNOWN_MAP}};
    const mwl__node *type = mwl__node_get(schema, "type");
    for (size_t i = 0; type && i < sizeof rows / sizeof *rows; i++)
        if (mwl__node_is(type, rows[i].type)) return rows[i].known;
    return MWL__KNOWN_ANY;
}

static mwl__cel_known of_literal(const mwl__node *n) {
    switch (n->kind) {
    case MWL_NODE_NULL: return MWL__KNOWN_NULL;
    case MWL_NODE_BOOL: return MWL__KNOWN_BOOL;
    case MWL_NODE_NUMBER: return MWL__KNOWN_DOUBLE;
    case MWL_NODE_STRING: return MWL__KNOWN_STRING;
    case MWL_NODE_ARRAY: return MWL__KNOWN_LIST;
    case MWL_NODE_OBJECT: return MWL__KNOWN_MAP;
    default: return MWL__KNOWN_ANY;
    }
}

/* Returns the kind that a kind of CEL has as data: all numbers are doubles. */
static mwl__cel_known as_data(mwl__cel_known k) {
    if (k == MWL__KNOWN_INT || k == MWL__KNOWN_UINT) return MWL__KNOWN_DOUBLE;
    return k == MWL__KNOWN_BYTES ? MWL__KNOWN_ANY : k;
}

/* ---- paths ----------------------------------------------------------------------------------- */

/* The names of a path below `vars`, the outermost first. Returns 0 if it is none, or is too deep.
 */
static size_t path_of(const mwl__cel_node *n, mwl__cel_text names[DEEPEST]) {
    size_t count = 0;
    for (const mwl__cel_node *at = n; at->kind == MWL__CEL_SELECT && count <= DEEPEST;
         at = at->kids[0])
        count++;
    if (count == 0 || count > DEEPEST) return 0;
    for (size_t i = count; i > 0; i--, n = n->kids[0]) {
        if (n->flags & (MWL__CEL_TEST | MWL__CEL_OPTIONAL)) return 0;
        names[i - 1] = n->name;
    }
    bool root = n->kind == MWL__CEL_IDENT && n->ref == MWL__CEL_REF_VARIABLE;
    return root && strcmp(n->name.data, "vars") == 0 ? count : 0;
}

static const mwl__node *property(const mwl__node *schema, const char *name, size_t len) {
    return mwl__node_find(mwl__node_get(schema, "properties"), name, len);
}

static mwl__cel_known known(void *ctx, const mwl__cel_node *path) {
    types *t = ctx;
    mwl__cel_text names[DEEPEST];
    size_t n = path_of(path, names);
    const mwl__name *v = n ? mwl__names_find(&t->f->vars, names[0].data, names[0].len) : NULL;
    if (!v || !t->set[v->id]) return MWL__KNOWN_ANY;
    const mwl__write *w = t->written[v->id];
    const mwl__node *schema = t->f->m.parameters;
    for (size_t i = 0; i < n && schema; i++) schema = property(schema, names[i].data, names[i].len);
    mwl__cel_known k = n == 1 ? t->known[v->id] : w ? MWL__KNOWN_ANY : of_schema(schema);
    if (k != MWL__KNOWN_ANY) t->from = schema ? mwl__node_get(schema, "type") : w->key;
    return k;
}

static bool is_path(const mwl__cel_node *n) {
    mwl__cel_text names[DEEPEST];
    return path_of(n, names) > 0;
}

/* ---- kinds of variables ---------------------------------------------------------------------- */

static mwl_status check_again(types *t, const mwl__m_expr *e, mwl__cel_sink sink,
                              mwl__cel_known *root) {
    mwl__cel_check_options options = mwl__check_cel_options(t->c);
    mwl__cel_root roots[MWL__N_ROOTS];
    mwl__scope_roots(e->site, roots);
    options.roots = roots;
    options.pattern_fault = NULL;
    options.no_hints = true;
    options.known = known;
    options.root = root;
    options.ctx = t;
    options.sink = sink;
    mwl_status status = mwl__cel_check(&e->tree, &options);
    return status == MWL_E_REJECTED ? MWL_OK : status;
}

static mwl__cel_known of_value(types *t, const mwl__node *n) {
    const mwl__m_expr *e = n->kind == MWL_NODE_STRING ? mwl__model_expr(t->c->m, n) : NULL;
    if (!e) return of_literal(n);
    mwl__cel_known k = e->known;
    if (k == MWL__KNOWN_ANY && is_path(e->tree.root))
        k = known(t, e->tree.root);
    else if (k == MWL__KNOWN_ANY && e->depends)
        t->c->status = check_again(t, e, (mwl__cel_sink){NULL, NULL}, &k);
    return as_data(k);
}

static bool join(types *t, uint32_t var, mwl__cel_known k) {
    mwl__cel_known was = t->known[var], now = t->set[var] && was != k ? MWL__KNOWN_ANY : k;
    bool changed = !t->set[var] || was != now;
    t->set[var] = true;
    t->known[var] = now;
    return changed;
}

static void join_parameters(types *t) {
    const mwl__node *all = mwl__node_get(t->f->m.parameters, "properties");
    if (!all || all->kind != MWL_NODE_OBJECT) return;
    for (const mwl__node *p = mwl__node_first(all); p; p = p->next) {
        const mwl__name *v = mwl__names_find(&t->f->vars, p->key, p->key_len);
        const mwl__node *otherwise = mwl__node_get(p, "default");
        if (!v) continue;
        (void)join(t, v->id, of_schema(p));
        if (otherwise) (void)join(t, v->id, of_literal(otherwise));
    }
}

/* Returns false if the kinds have not come to rest. */
static bool join_writes(types *t) {
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS; round++) {
        changed = false;
        for (const mwl__write *w = t->f->writes; w && t->c->status == MWL_OK; w = w->next) {
            const uint32_t bytes = w->key->kind == MWL_NODE_STRING ? w->key->count : 0;
            if (!mwl__check_work(t->c, w->key, 16 + bytes)) return false;
            t->written[w->var] = w;
            if (join(t, w->var, of_value(t, w->key))) changed = true;
        }
    }
    return !changed && t->c->status == MWL_OK;
}

/* ---- reports --------------------------------------------------------------------------------- */

typedef struct reporter {
    types *t;
    const mwl__m_expr *e;
} reporter;

static void label(const types *t, mwl__diag *d) {
    if (!t->from) return;
    const mwl__node *n = t->from;
    bool type =
        n->kind == MWL_NODE_STRING && n->key && n->key_len == 4 && memcmp(n->key, "type", 4) == 0;
    mwl__diag_label(d, type ? mwl__node_span(n) : mwl__node_key_span(n),
                    type ? "declared here" : "assigned here");
}

static void report(void *ctx, const mwl__cel_problem *p) {
    const reporter *r = ctx;
    if (p->why != MWL__CEL_WHY_KIND) return; /* all others were reported before */
    label(r->t, mwl__check_report_cel(r->t->c, r->e, p));
}

void mwl__check_not_boolean(mwl__checker *c, const mwl__m_expr *e, mwl__cel_known known,
                            mwl__diag **out) {
    uint32_t begin = e->tree.root->begin, end = e->tree.root->end;
    mwl__diag *d = mwl__node_report_text(c->tree, e->node, e->body_at + begin, e->body_at + end,
                                         MWL_DIAG_NON_BOOLEAN_CONDITION,
                                         "a condition is a boolean, not %s", nouns[known]);
    mwl__cel_text text = {e->tree.source + begin, end - begin};
    const char *help = mwl__cel_as_condition(c->arena, text, known);
    mwl__diag_note(d, "nothing is converted: it is System.ExpressionEvaluationError");
    if (help) mwl__diag_help(d, "%s", help);
    if (out) *out = d;
}

static void check_expression(types *t, const mwl__typed *x) {
    mwl__cel_known root = MWL__KNOWN_ANY;
    mwl__diag *d = NULL;
    reporter r = {t, x->e};
    t->from = NULL;
    mwl_status status = check_again(t, x->e, (mwl__cel_sink){report, &r}, &root);
    if (status < 0) t->c->status = status;
    if (!x->condition || root == MWL__KNOWN_ANY || root == MWL__KNOWN_BOOL) return;
    mwl__check_not_boolean(t->c, x->e, root, &d);
    label(t, d);
}

void mwl__check_types(mwl__checker *c, mwl__flow *f) {
    if (!f->typed || !f->vars.n) return;
    types t = {.c = c, .f = f};
    t.written = mwl__check_new(c, f->vars.n, sizeof *t.written);
    t.known = mwl__check_new(c, f->vars.n, sizeof *t.known);
    t.set = mwl__check_new(c, f->vars.n, sizeof *t.set);
    if (c->status < 0) return;
    join_parameters(&t);
    if (!join_writes(&t)) return;
    for (const mwl__typed *x = f->typed; x && c->status == MWL_OK; x = x->next)
        if (mwl__check_work(c, x->e->node, x->e->node->count)) check_expression(&t, x);
}
