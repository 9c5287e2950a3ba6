/* paths.c: see paths.h. */
#include "tools/lsp/paths.h"

#include "assembler/cel/cel_lex.h"
#include "assembler/check/scope.h"

/* ---- words ----------------------------------------------------------------------------------- */

struct row {
    const char *path, *name, *text;
};

static const struct row rows[] = {
    {"", "vars", "The variables of this Flow: its parameters, and what `assign` has set."},
    {"", "execution", "The execution: `execution.id` is the same everywhere in it."},
    {"", "frame", "This Flow's frame: what the Flow was called with."},
    {"", "failure", "The failure that a catch clause has handled."},
    {"", "step", "The Step: its input, and after its action what that gave."},
    {"", "call", "The call: its input, and in its arms its Result."},
    {"", "flow", "In the arms of a call to a Flow: what happened inside."},
    {"", "provider", "In the arms of a call to a provider: what happened inside."},
    {"", "match", "In the clauses of a Match: what is matched."},
    {"", "middleware", "In the phases of a middleware: what is in flight at its position."},
    {"execution", "id", "The id of the execution."},
    {"execution", "metadata", "When it began: `enteredAt`."},
    {"execution", "platform", "What the host says about itself."},
    {"frame", "input", "The input of this Flow."},
    {"frame", "metadata", "When the Flow began: `enteredAt`."},
    {"step", "name", "The name of the Step."},
    {"step", "id", "An id of this execution of the Step, unique in the run."},
    {"step", "action", "The action: Call, Gather, Match ..."},
    {"step", "input", "What the Step was given: what the Step before gave."},
    {"step", "result",
     "Of a Call, after its action: the Result. `step.result.value` is its value."},
    {"step", "results",
     "Of a Gather, after its action: the Results in the order of the dispatches."},
    {"step", "metadata",
     "When it began and ended: `enteredAt`, `exitedAt`; of a Gather `dispatchCount`."},
    {"call", "input", "The input of the call; in a Gather, the element."},
    {"call", "index", "In a Gather: the number of the dispatch, from 0."},
    {"call", "result", "In the arms: the Result of the call."},
    {"call", "metadata", "When it began, was dispatched, was accepted and ended."},
    {"flow", "input", "What the Flow was given."},
    {"flow", "vars", "The variables of the Flow when it ended."},
    {"flow", "result", "The Result of the Flow."},
    {"flow", "metadata", "When it began and ended."},
    {"provider", "input", "What the provider was given."},
    {"provider", "result", "The Result of the provider."},
    {"provider", "metadata", "What the provider says about the call."},
    {"match", "input", "What is matched."},
    {"match", "metadata", "When the Step began."},
    {"middleware", "input", "What came in at the position of the middleware."},
    {"middleware", "result", "On the way out: the Result at the position of the middleware."},
    {"middleware", "metadata", "When it began, and what the middleware counts."},
    {"RESULT", "type", "`success`, or the type of the failure: error, timeout, cancellation ..."},
    {"RESULT", "value", "Of a success: its value."},
    {"RESULT", "code", "Of a failure: its code."},
    {"RESULT", "message", "Of a failure: a sentence for people."},
    {"RESULT", "details", "Of a failure: data about it."},
    {"RESULT", "retryable", "Of a failure: whether to try again could help; may be null."},
    {"RESULT", "previous", "Of a failure: the failure that led to it."},
    {"TIMES", "enteredAt", "When it began: a timestamp."},
    {"TIMES", "exitedAt", "When it ended: a timestamp."},
    {"step.metadata", "dispatchCount", "Of a Gather: how many dispatches there are."},
    {"call.metadata", "dispatchedAt", "When the call was dispatched."},
    {"call.metadata", "acceptedAt", "When its Result was accepted."},
};
#define N_ROWS (sizeof rows / sizeof *rows)

static bool name_is(const struct path *p, size_t i, const char *name) {
    return i < p->n && p->lens[i] == strlen(name) && memcmp(p->names[i], name, p->lens[i]) == 0;
}

/* ---- the path at a place --------------------------------------------------------------------- */

static void begin_path(struct path *p) {
    p->n = 0;
    p->member = false;
}

static void add_name(struct path *p, const struct outline_node *n, const mwl__cel_token *t) {
    if (p->n == PATH_MAX_NAMES) begin_path(p); /* too long to know anything about it */
    p->names[p->n] = n->text + t->begin;
    p->lens[p->n++] = t->end - t->begin;
    p->begin = t->begin;
    p->end = t->end;
}

/* What was read of a path so far. */
struct trail {
    bool open;   /* the last token is a name of it */
    bool dot;    /* the last token is a dot */
    bool broken; /* something else than names stands in front of the dot: `f(x).` */
};

/* Reads a token that is not the last one. */
static void follow(struct path *out, struct trail *r, const struct outline_node *n,
                   const mwl__cel_token *t, bool name) {
    if (t->kind == MWL__CEL_T_DOT) {
        if (!r->open) r->broken = true;
        r->dot = true;
    } else if (name) {
        if (!r->dot) r->broken = false;
        if (!r->dot || r->broken) begin_path(out);
        add_name(out, n, t);
        out->member = r->dot;
        r->dot = false;
    } else if (!(r->dot && t->kind == MWL__CEL_T_QUESTION)) {
        begin_path(out);
        r->dot = r->broken = false;
    }
    r->open = name;
}

bool path_at(const struct outline_node *n, uint32_t at, struct path *out) {
    struct trail r = {false, false, false};
    memset(out, 0, sizeof *out);
    if (!names_computed(n) || at < 2) return false;
    for (uint32_t from = 2; from < n->text_len;) {
        mwl__cel_token t = mwl__cel_lex(n->text, n->text_len, from);
        if (t.kind == MWL__CEL_T_END || t.begin >= at) break;
        bool name = t.kind == MWL__CEL_T_NAME || (r.dot && t.kind == MWL__CEL_T_IN);
        if (at < t.end && !name && t.kind != MWL__CEL_T_DOT) return false;
        from = t.end > from ? t.end : from + 1;
        follow(out, &r, n, &t, name);
        if (name && at <= t.end) return true;
    }
    if (!r.dot || r.broken || out->n == PATH_MAX_NAMES) begin_path(out);
    out->member = r.dot;
    out->names[out->n] = "";
    out->lens[out->n++] = 0;
    out->begin = out->end = at;
    return true;
}

/* ---- members --------------------------------------------------------------------------------- */

struct seer {
    path_see *see;
    void *ctx;
    bool any;
};

static void see_text(struct seer *r, const char *name, size_t len, const char *text,
                     size_t text_len) {
    const struct path_member m = {name, text, (uint32_t)len, (uint32_t)text_len};
    r->any = true;
    r->see(r->ctx, &m);
}

static void see_rows(struct seer *r, const char *path) {
    for (size_t i = 0; i < N_ROWS; i++)
        if (strcmp(rows[i].path, path) == 0)
            see_text(r, rows[i].name, strlen(rows[i].name), rows[i].text, strlen(rows[i].text));
}

/* The roots that exist here. */
static void see_roots(struct seer *r, const struct outline_node *n) {
    mwl__cel_root roots[MWL__N_ROOTS];
    mwl__scope_roots(role_site(n), roots);
    for (size_t i = 0; i < N_ROWS && !*rows[i].path; i++)
        for (size_t k = 0; k < MWL__N_ROOTS; k++)
            if (!roots[k].absent && strcmp(roots[k].name, rows[i].name) == 0)
                see_text(r, rows[i].name, strlen(rows[i].name), rows[i].text, strlen(rows[i].text));
}

/* Properties of a schema in a provider's document. */
static void see_declared(struct seer *r, const mwl__node *schema) {
    const mwl__node *p = mwl__node_get(schema, "properties");
    for (const mwl__node *m = p ? mwl__node_first(p) : NULL; m; m = m->next) {
        const mwl__node *text = mwl__node_get(m, "description");
        bool has = text && text->kind == MWL_NODE_STRING;
        see_text(r, m->key, m->key_len, has ? text->as.text : NULL, has ? text->count : 0);
    }
}

/* Properties of a schema in the definition itself. */
static void see_parameters(struct seer *r, const struct outline_node *schema) {
    const struct outline_node *p = outline_get(schema, "properties");
    for (const struct outline_node *m = p ? p->first : NULL; m; m = m->next) {
        const struct outline_node *text = outline_get(m, "description");
        bool has = text && text->kind == OUTLINE_STRING;
        if (m->key)
            see_text(r, m->key, m->key_len, has ? text->text : NULL, has ? text->text_len : 0);
    }
}

static void see_variable(struct seer *r, const struct name *v) {
    bool parameter = v->node->role == ROLE_SCHEMA;
    const char *otherwise = parameter ? "a parameter of the Flow" : "a variable";
    const struct outline_node *text = parameter ? outline_get(v->node, "description") : NULL;
    if (text && text->kind == OUTLINE_STRING)
        see_text(r, v->text, v->len, text->text, text->text_len);
    else
        see_text(r, v->text, v->len, otherwise, strlen(otherwise));
}

/* Each variable once, however often it is assigned. */
static void see_variables(struct seer *r, const struct names *list,
                          const struct outline_node *scope) {
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    mwl__names seen;
    memset(&seen, 0, sizeof seen);
    for (size_t i = 0; i < list->n_items; i++) {
        const struct name *v = &list->items[i];
        if (v->kind != NAME_VARIABLE || !v->declares || v->scope != scope || !v->len) continue;
        size_t before = seen.n;
        if (!mwl__names_put(&seen, &arena, v->text, v->len, 0)) break;
        if (seen.n > before) see_variable(r, v);
    }
    mwl__arena_free(&arena);
}

void path_variables(const struct names *list, const struct outline_node *flow, path_see *see,
                    void *ctx) {
    struct seer r = {see, ctx, false};
    see_variables(&r, list, flow);
}

/* The schema of `vars.a.b` if `a` is a parameter, or NULL. */
static const struct outline_node *parameter_schema(const struct outline_node *flow,
                                                   const struct path *p) {
    const struct outline_node *schema = outline_get(flow, "parameters");
    for (size_t i = 1; i + 1 < p->n && schema; i++)
        schema = outline_find(outline_get(schema, "properties"), p->names[i], p->lens[i]);
    return schema;
}

static bool is_result(const struct path *p) {
    static const char *const owners[] = {"step", "call", "middleware", "provider", "flow"};
    size_t last = p->n - 2; /* the name in front of the one that is typed */
    if (last == 0) return name_is(p, 0, "failure");
    if (name_is(p, last, "previous")) return true;
    for (size_t i = 0; i < sizeof owners / sizeof *owners; i++)
        if (last == 1 && name_is(p, 0, owners[i]) && name_is(p, 1, "result")) return true;
    return false;
}

static void see_metadata(struct seer *r, struct lsp *s, const struct outline_node *n,
                         const struct path *p) {
    see_rows(r, "TIMES");
    if (name_is(p, 0, "step")) see_rows(r, "step.metadata");
    if (name_is(p, 0, "call")) see_rows(r, "call.metadata");
    const struct outline_node *of = NULL;
    if (name_is(p, 0, "provider")) of = role_around(n, ROLE_CALL);
    if (name_is(p, 0, "middleware")) of = role_around(n, ROLE_ENTRY);
    const mwl__contract *c = of ? role_contract(s->catalog, of) : NULL;
    if (c && c->metadata) see_declared(r, c->metadata);
}

static const struct outline_node *window_flow(const struct outline_node *n) {
    const struct outline_node *flow = outline_get(role_around(n, ROLE_CALL), "flow");
    if (!flow || flow->kind == OUTLINE_OBJECT) return flow;
    return flow->kind == OUTLINE_STRING ? names_flow(flow, flow->text, flow->text_len) : NULL;
}

bool path_members(struct lsp *s, struct open_document *d, const struct outline_node *n,
                  const struct path *p, path_see *see, void *ctx) {
    struct seer r = {see, ctx, false};
    const struct outline_node *flow = role_around(n->parent, ROLE_FLOW);
    if (p->n == 1) {
        if (!p->member) see_roots(&r, n);
        return r.any;
    }
    if (p->n == 2 && name_is(p, 0, "vars"))
        see_variables(&r, open_names(s, d), flow);
    else if (name_is(p, 0, "vars"))
        see_parameters(&r, parameter_schema(flow, p));
    else if (p->n == 3 && name_is(p, 0, "flow") && name_is(p, 1, "vars"))
        see_variables(&r, open_names(s, d), window_flow(n));
    else if (is_result(p))
        see_rows(&r, "RESULT");
    else if (p->n == 3 && name_is(p, 1, "metadata"))
        see_metadata(&r, s, n, p);
    else if (p->n == 2)
        for (size_t i = 0; i < N_ROWS; i++)
            if (*rows[i].path && name_is(p, 0, rows[i].path))
                see_text(&r, rows[i].name, strlen(rows[i].name), rows[i].text,
                         strlen(rows[i].text));
    return r.any;
}
