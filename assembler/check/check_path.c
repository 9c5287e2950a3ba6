/* check_path.c: which members a path can find at its site; reads of variables. See check.h.
 *
 * Reading a member that cannot be there is a fault at run time, which the language allows. So these
 * are warnings. A path that the same expression tests with has() is not reported. */
#include "assembler/check/check.h"

#include "vm/base/suggest.h"

#define LEVELS_MAX                                                                                 \
    64 /* levels above a read that are examined; with more, the read counts as conditional */

typedef struct paths {
    mwl__checker *c;
    mwl__m_expr *e;
    const mwl__site *site;
    mwl__cel_path tested[8]; /* paths that has() tests; only the first eight are kept */
    size_t n_tested;
    mwl__diag *said;    /* the latest report */
    bool whole_failure; /* the expression reads `failure` as a whole, so it may test it */
} paths;

static bool is(mwl__cel_text t, const char *word) {
    return strlen(word) == t.len && memcmp(t.data, word, t.len) == 0;
}

static bool same(mwl__cel_text a, mwl__cel_text b) {
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

/* ---- what is there --------------------------------------------------------------------------- */

/* A member that a root or a record can have. */
typedef struct member {
    const char *name;
    const char *absent; /* why it is not there at this site; NULL: it is there */
} member;

static const char result_members[][10] = {"type",    "value",     "code",    "message",
                                          "details", "retryable", "previous"};

/* Reports the member `ix` of the path. */
static void report_never_there(paths *p, const mwl__cel_path *path, size_t ix, const char *why,
                               const char *near) {
    const mwl__cel_node *n = path->root;
    for (size_t i = 0; i <= ix && n->parent; i++) n = n->parent;
    uint32_t at = p->e->body_at;
    mwl__diag *d = mwl__node_report_text(
        p->c->tree, p->e->node, at + path->root->begin, at + n->end, MWL_DIAG_MEMBER_NEVER_THERE,
        "'%.*s' is never there at this place", (int)path->members[ix].len, path->members[ix].data);
    p->said = d;
    mwl__diag_note(d, "%s", why);
    if (!near) return;
    mwl__diag_help(d, "did you mean '%s'?", near);
    mwl__cel_text name = path->members[ix];
    if (n->kind == MWL__CEL_SELECT && n->end - n->begin > name.len)
        mwl__diag_fix_text(d,
                           mwl__node_text_span(p->c->tree, p->e->node,
                                               at + n->end - (uint32_t)name.len, at + n->end),
                           near, strlen(near));
}

/* Looks a member up, and reports it if it cannot be there. Returns true if it is there. */
static bool find_member(paths *p, const mwl__cel_path *path, size_t ix, const member *table,
                        size_t n, const char *what) {
    mwl__suggest s = mwl__suggest_make(path->members[ix].data, path->members[ix].len);
    for (size_t i = 0; i < n; i++) {
        if (is(path->members[ix], table[i].name)) {
            if (table[i].absent) report_never_there(p, path, ix, table[i].absent, NULL);
            return !table[i].absent;
        }
        if (!table[i].absent) mwl__suggest_offer(&s, table[i].name, strlen(table[i].name));
    }
    report_never_there(p, path, ix, what, s.best);
    return false;
}

#define FIND_MEMBER(p, path, ix, table, what)                                                      \
    find_member(p, path, ix, table, sizeof(table) / sizeof *(table), what)

/* Checks the members of a Result. outcome: 1 a success, -1 a failure, 0 either. */
static void look_result(paths *p, const mwl__cel_path *path, size_t ix, int outcome) {
    if (path->n_members <= ix) return;
    member table[7];
    for (size_t i = 0; i < 7; i++) {
        table[i].name = result_members[i];
        table[i].absent = outcome > 0 && i >= 2   ? "a success carries its value and nothing else"
                          : outcome < 0 && i == 1 ? "a failure carries no value"
                                                  : NULL;
    }
    if (FIND_MEMBER(p, path, ix, table, "a Result has type and value, or the members of a failure"))
        return;
    bool known = false;
    for (size_t i = 0; i < 7; i++) known |= is(path->members[ix], result_members[i]);
    if (p->said && !p->said->help && !known && outcome >= 0)
        mwl__diag_help(p->said, "the members of the value are below it: value.%.*s",
                       (int)path->members[ix].len, path->members[ix].data);
}

static void look_times(paths *p, const mwl__cel_path *path, size_t ix, const char *exited) {
    if (path->n_members <= ix) return;
    const member table[] = {{"enteredAt", NULL}, {"exitedAt", exited}};
    FIND_MEMBER(p, path, ix, table, "this record has enteredAt and exitedAt");
}

/* Checks a member of metadata that a provider's document declares. */
static void look_declared(paths *p, const mwl__cel_path *path, size_t ix,
                          const mwl__contract *contract, const char *what) {
    const mwl__node *schema = contract->metadata,
                    *more = mwl__node_get(schema, "additionalProperties");
    static const char *const open[] = {"patternProperties",    "$ref", "allOf", "anyOf", "oneOf",
                                       "unevaluatedProperties"};
    if (path->n_members <= ix) return;
    if (more && !(more->kind == MWL_NODE_BOOL && !more->boolean)) return;
    for (size_t i = 0; i < sizeof open / sizeof *open; i++)
        if (mwl__node_get(schema, open[i])) return;
    const mwl__node *properties = mwl__node_get(schema, "properties");
    mwl__cel_text name = path->members[ix];
    if (mwl__node_find(properties, name.data, name.len)) return;
    mwl__suggest s = mwl__suggest_make(name.data, name.len);
    for (const mwl__node *m = properties ? mwl__node_first(properties) : NULL; m; m = m->next)
        mwl__suggest_offer(&s, m->key, m->key_len);
    char near[64];
    if (s.best && s.best_len < sizeof near) {
        memcpy(near, s.best, s.best_len);
        near[s.best_len] = '\0';
    }
    report_never_there(p, path, ix, what, s.best && s.best_len < sizeof near ? near : NULL);
}

/* ---- the roots ------------------------------------------------------------------------------- */

static void look_step(paths *p, const mwl__cel_path *path) {
    const mwl__site *s = p->site;
    int action = s->step ? (int)s->step->action : MWL_ACTION_PASS;
    const char *late = "the Step's action has not ended when this is evaluated";
    const member table[] = {{"name", NULL},
                            {"id", NULL},
                            {"action", NULL},
                            {"input", NULL},
                            {"metadata", NULL},
                            {"result", action != MWL_ACTION_CALL ? "only a Call Step has a 'result'"
                                       : s->tail                 ? NULL
                                                                 : late},
                            {"results", action != MWL_ACTION_GATHER
                                            ? "only a Gather Step has 'results'"
                                        : s->tail ? NULL
                                                  : late}};
    if (path->n_members == 0) return;
    if (!FIND_MEMBER(p, path, 0, table,
                     "a Step has name, id, action, input, result or results, metadata")) {
        bool one = is(path->members[0], "result"), many = is(path->members[0], "results");
        if (p->said && !p->said->help && action == MWL_ACTION_CALL && many && s->tail)
            mwl__diag_help(p->said, "did you mean 'result'?");
        else if (p->said && !p->said->help && action == MWL_ACTION_GATHER && one && s->tail)
            mwl__diag_help(p->said, "did you mean 'results'?");
        else if (p->said && !p->said->help && (one || many))
            mwl__diag_help(p->said, "what the Step before gave is `step.input`");
        return;
    }
    if (is(path->members[0], "result")) look_result(p, path, 1, 0);
    if (!is(path->members[0], "metadata") || path->n_members < 2) return;
    const member times[] = {
        {"enteredAt", NULL},
        {"exitedAt", s->exited ? NULL : "the Step has not ended when this is evaluated"},
        {"dispatchCount", action != MWL_ACTION_GATHER ? "only a Gather Step has a 'dispatchCount'"
                          : s->enumerated             ? NULL
                                                      : "the dispatches are not counted yet"}};
    FIND_MEMBER(p, path, 1, times,
                "this record has enteredAt and exitedAt, and dispatchCount for a Gather");
}

static void look_call(paths *p, const mwl__cel_path *path) {
    unsigned roots = p->site->roots;
    const char *late =
        roots & MWL_SITE_ARM ? NULL : "the call has not ended; its arms can read this";
    const member table[] = {
        {"input", NULL},
        {"index", roots & MWL_SITE_INDEX ? NULL : "only a Gather's dispatches have an 'index'"},
        {"result", late},
        {"metadata", NULL}};
    if (path->n_members == 0 ||
        !FIND_MEMBER(p, path, 0, table, "a call has input, index, result and metadata"))
        return;
    if (is(path->members[0], "result")) look_result(p, path, 1, p->site->settled);
    if (!is(path->members[0], "metadata") || path->n_members < 2) return;
    const member times[] = {
        {"enteredAt", NULL}, {"exitedAt", late}, {"dispatchedAt", late}, {"acceptedAt", late}};
    FIND_MEMBER(p, path, 1, times,
                "this record has enteredAt, exitedAt, dispatchedAt and acceptedAt");
}

static void look_middleware(paths *p, const mwl__cel_path *path) {
    bool ascent = p->site->roots & MWL_SITE_ASCENT;
    const member table[] = {{"input", NULL},
                            {"result", ascent ? NULL : "in onEntry nothing has run yet"},
                            {"metadata", NULL}};
    if (path->n_members == 0 ||
        !FIND_MEMBER(p, path, 0, table, "a middleware entry has input, result and metadata"))
        return;
    if (is(path->members[0], "result")) look_result(p, path, 1, p->site->rising);
    if (!is(path->members[0], "metadata") || path->n_members < 2 ||
        is(path->members[1], "enteredAt"))
        return;
    if (is(path->members[1], "exitedAt"))
        report_never_there(p, path, 1, "no expression of a phase is evaluated after the phase",
                           NULL);
    else if (p->site->middleware)
        look_declared(p, path, 1, p->site->middleware,
                      "the middleware's document declares no such member");
}

/* Checks the members of a frame: the current one (`frame`), or a completed one in a window
 * (`flow`). */
static void look_frame(paths *p, const mwl__cel_path *path, bool window) {
    const char *late = window ? NULL : "the frame has not completed while its own expressions run";
    const member table[] = {{"input", NULL}, {"metadata", NULL}, {"vars", late}, {"result", late}};
    if (path->n_members == 0 ||
        !FIND_MEMBER(p, path, 0, table,
                     "a frame has input, metadata, and when completed vars and result"))
        return;
    if (is(path->members[0], "metadata")) look_times(p, path, 1, late);
    if (is(path->members[0], "result")) look_result(p, path, 1, p->site->settled);
}

static void look_provider(paths *p, const mwl__cel_path *path) {
    static const member table[] = {{"input", NULL}, {"result", NULL}, {"metadata", NULL}};
    if (path->n_members == 0 ||
        !FIND_MEMBER(p, path, 0, table, "a provider's window has input, result and metadata"))
        return;
    if (is(path->members[0], "result")) look_result(p, path, 1, p->site->settled);
    if (is(path->members[0], "metadata") && p->site->call && p->site->call->provider)
        look_declared(p, path, 1, p->site->call->provider,
                      "the provider's document declares no such member");
}

/* Returns the path of the failure that an expression of this site probably means, or NULL. */
static const char *failure_at(const mwl__site *s) {
    if (s->middleware)
        return s->roots & MWL_SITE_ASCENT && s->rising <= 0 ? "middleware.result" : NULL;
    return s->settled < 0 ? "call.result" : NULL;
}

static void read_failure(paths *p, const mwl__cel_path *path) {
    const mwl__site *s = p->site;
    bool descent = s->middleware && !(s->roots & MWL_SITE_ASCENT);
    if (p->whole_failure || s->caught || (!s->step && !descent)) return;
    mwl__check_read(p->c, s,
                    (mwl__read){.failure = true,
                                .node = p->e->node,
                                .begin = p->e->body_at + path->root->begin,
                                .end = p->e->body_at + path->root->end,
                                .instead = failure_at(s)});
}

static void look_others(paths *p, const mwl__cel_path *path) {
    static const member match[] = {{"input", NULL}, {"metadata", NULL}};
    static const member execution[] = {{"id", NULL}, {"metadata", NULL}, {"platform", NULL}};
    if (path->n_members == 0) return;
    if (is(path->root->name, "match")) {
        if (FIND_MEMBER(p, path, 0, match, "a Match has input and metadata") &&
            is(path->members[0], "metadata"))
            look_times(p, path, 1, NULL);
    } else if (is(path->root->name, "execution")) {
        if (FIND_MEMBER(p, path, 0, execution, "an execution has id, metadata and platform") &&
            is(path->members[0], "metadata"))
            look_times(p, path, 1, "the execution ends after its last expression");
    } else if (is(path->root->name, "failure")) {
        look_result(p, path, 0, -1);
        read_failure(p, path);
    }
}

/* ---- variables ------------------------------------------------------------------------------- */

/* Is the node evaluated whenever the expression is, and is its fault not absorbed? */
static bool is_certain(const mwl__cel_node *n) {
    for (unsigned levels = 0; n->parent; n = n->parent) {
        const mwl__cel_node *up = n->parent;
        if (++levels > LEVELS_MAX) return false;
        bool loop = up->kind >= MWL__CEL_ALL && up->kind <= MWL__CEL_OPT_FLAT_MAP;
        bool body = n->ix > 0 && (loop || up->kind == MWL__CEL_COND || up->kind == MWL__CEL_MEMBER);
        if (body || up->kind == MWL__CEL_AND || up->kind == MWL__CEL_OR ||
            up->kind == MWL__CEL_BIND || up->kind == MWL__CEL_BLOCK)
            return false;
    }
    return true;
}

static bool is_null(const mwl__cel_node *n) {
    return n->kind == MWL__CEL_LIT && n->lit.kind == MWL__CEL_NULL;
}

static void read_variable(paths *p, const mwl__cel_path *path) {
    mwl__flow *f = p->site->flow;
    p->e->depends = true; /* if it does more than read it: check_expr.c */
    if (path->n_members == 0) {
        f->all_read = true;
        return;
    }
    bool tested = path->tested && path->n_members == 1;
    mwl__name *v = mwl__names_put(&f->vars, p->c->arena, path->members[0].data,
                                  path->members[0].len, tested ? MWL__VAR_TESTED : MWL__VAR_READ);
    if (!v) {
        p->c->status = MWL_E_NOMEM;
        return;
    }
    if (tested) return;
    const mwl__cel_node *n = path->root->parent ? path->root->parent : path->root;
    const mwl__cel_node *up = n->parent;
    mwl__read use = {.var = v->id,
                     .name = v->text,
                     .len = v->len,
                     .node = p->e->node,
                     .begin = p->e->body_at + path->root->begin,
                     .end = p->e->body_at + n->end,
                     .certain = is_certain(n),
                     .null = up && (up->kind == MWL__CEL_EQ || up->kind == MWL__CEL_NE) &&
                             (is_null(up->kids[0]) || is_null(up->kids[1]))};
    if (!v->node) {
        v->node = use.node;
        v->begin = use.begin;
        v->end = use.end;
    }
    mwl__check_read(p->c, p->site, use);
}

/* Marks a variable of the called Flow as read if an arm of the caller reads it through `flow`. */
static void read_window(paths *p, const mwl__cel_path *path) {
    mwl__flow *to = p->site->call && p->site->call->flow ? mwl__flow_of(p->site->call->flow) : NULL;
    if (!to) return;
    if (path->n_members < 2 && (path->n_members == 0 || is(path->members[0], "vars")))
        to->all_read = true;
    if (path->n_members < 2 || !is(path->members[0], "vars")) return;
    if (!mwl__names_put(&to->vars, p->c->arena, path->members[1].data, path->members[1].len,
                        MWL__VAR_READ))
        p->c->status = MWL_E_NOMEM;
}

/* ---- the walk -------------------------------------------------------------------------------- */

static bool remember(void *ctx, const mwl__cel_path *path) {
    paths *p = ctx;
    if (path->tested && p->n_tested < 8) p->tested[p->n_tested++] = *path;
    if (path->n_members == 0 && is(path->root->name, "failure")) p->whole_failure = true;
    return true;
}

/* Does has() test the path or a beginning of it? */
static bool is_guarded(const paths *p, const mwl__cel_path *path) {
    for (size_t i = 0; i < p->n_tested; i++) {
        const mwl__cel_path *t = &p->tested[i];
        if (t->n_members > path->n_members || !same(t->root->name, path->root->name)) continue;
        size_t k = 0;
        while (k < t->n_members && same(t->members[k], path->members[k])) k++;
        if (k == t->n_members) return true;
    }
    return false;
}

/* Is a member of the path read with `.?` or `[?`? Then it is not a fault if that member is absent.
 */
static bool is_optional(const mwl__cel_path *path) {
    const mwl__cel_node *n = path->root;
    for (size_t i = 0; i < path->n_members && n->parent; i++) {
        n = n->parent;
        if (n->flags & MWL__CEL_OPTIONAL) return true;
    }
    return false;
}

/* ---- what may be absent ---------------------------------------------------------------------- */

/* Returns the node of the whole path. */
static const mwl__cel_node *top_of(const mwl__cel_path *path) {
    const mwl__cel_node *n = path->root;
    for (size_t i = 0; i < path->n_members && n->parent; i++) n = n->parent;
    return n;
}

/* Suggests `instead` for bytes [begin, end) of the body. */
static void offer(paths *p, mwl__diag *d, uint32_t begin, uint32_t end, const mwl__buf *instead) {
    uint32_t at = p->e->body_at;
    mwl__diag_help(d, "write `%.*s`", (int)instead->len, instead->data);
    mwl__diag_fix_text(d, mwl__node_text_span(p->c->tree, p->e->node, at + begin, at + end),
                       instead->data, instead->len);
}

/* Writes the path with `.?` before its members from number `from` on. Returns false if a member is
 * not written as a name, or if out of memory. */
static bool put_optional(paths *p, const mwl__cel_path *path, size_t from, mwl__buf *out) {
    const mwl__cel_node *n = path->root;
    mwl__buf_put(out, n->name.data, n->name.len);
    for (size_t i = 0; i < path->n_members; i++) {
        n = n->parent;
        if (n->kind != MWL__CEL_SELECT || (n->flags & MWL__CEL_QUOTED)) return false;
        mwl__buf_puts(out, i < from ? "." : ".?");
        mwl__buf_put(out, path->members[i].data, path->members[i].len);
    }
    if (out->failed) p->c->status = MWL_E_NOMEM;
    return !out->failed;
}

/* Returns the index of `details` in a path of a failure; 0 if the path has no such member, or may
 * be that of a success. */
static size_t details_of(const paths *p, const mwl__cel_path *path) {
    bool of_result = path->n_members && is(path->members[0], "result");
    size_t ix = is(path->root->name, "middleware") && of_result && p->site->rising < 0 ? 1
                : is(path->root->name, "call") && of_result && p->site->settled < 0    ? 1
                                                                                       : 0;
    return ix && path->n_members > ix + 1 && is(path->members[ix], "details") ? ix : 0;
}

/* Warns of has(middleware.result.details.x): it faults if the failure has no details. A has() of
 * `details` itself, or a condition before it, may be the guard. */
static void look_tested(paths *p, const mwl__cel_path *path) {
    size_t ix = details_of(p, path);
    const mwl__cel_node *top = top_of(path);
    if (!ix || !is_certain(top)) return;
    for (size_t i = 0; i < p->n_tested; i++)
        if (p->tested[i].n_members == ix + 1 && is(p->tested[i].members[ix], "details") &&
            same(p->tested[i].root->name, path->root->name))
            return;
    mwl__buf instead = mwl__buf_make(p->c->arena->alloc);
    uint32_t at = p->e->body_at;
    mwl__diag *d = mwl__node_report_text(p->c->tree, p->e->node, at + top->begin, at + top->end,
                                         MWL_DIAG_MEMBER_MAY_BE_ABSENT,
                                         "has() faults if the failure has no 'details'");
    mwl__diag_note(d, "the fault takes the place of the failure");
    if (put_optional(p, path, ix, &instead)) {
        mwl__buf_puts(&instead, ".hasValue()");
        if (!instead.failed) offer(p, d, top->begin, top->end, &instead);
    }
    mwl__buf_free(&instead);
}

/* Is it a member of what a provider has answered? The language does not know its members, and mock
 * answers what its arguments say. */
static bool is_answered(const paths *p, const mwl__cel_path *path) {
    if (p->site->rising <= 0 || path->n_members < 3 || !is(path->root->name, "middleware") ||
        !is(path->members[0], "result") || !is(path->members[1], "value") || !p->site->step)
        return false;
    const mwl__node *provider =
        mwl__node_get(mwl__node_get(p->site->step->node, "call"), "provider");
    return provider && provider->kind == MWL_NODE_STRING &&
           !mwl__node_is(provider, "mwl:provider.call/mwl/mock/v1");
}

/* Warns of `middleware.result.value.next != null` in onSuccess: if the response has no such member
 * it is a fault. */
static void look_null(paths *p, const mwl__cel_path *path) {
    const mwl__cel_node *top = top_of(path), *up = top->parent;
    if (!up || (up->kind != MWL__CEL_EQ && up->kind != MWL__CEL_NE) ||
        (!is_null(up->kids[0]) && !is_null(up->kids[1])) || !is_answered(p, path) ||
        !is_certain(top))
        return;
    mwl__buf instead = mwl__buf_make(p->c->arena->alloc);
    mwl__cel_text name = path->members[path->n_members - 1];
    uint32_t at = p->e->body_at;
    mwl__diag *d = mwl__node_report_text(
        p->c->tree, p->e->node, at + top->begin, at + top->end, MWL_DIAG_MEMBER_MAY_BE_ABSENT,
        "if '%.*s' is absent this is a fault, not null", (int)name.len, name.data);
    if (put_optional(p, path, path->n_members - 1, &instead)) {
        mwl__buf_puts(&instead, ".orValue(null)");
        if (!instead.failed) offer(p, d, path->root->begin, top->end, &instead);
    }
    mwl__buf_free(&instead);
}

static bool look_at(void *ctx, const mwl__cel_path *found) {
    paths *p = ctx;
    mwl__cel_path given = *found, *path = &given;
    bool optional = is_optional(path);
    if (optional && path->n_members) path->n_members = 1, path->tested = true;
    mwl__cel_text root = path->root->name;
    if (is(root, "vars")) read_variable(p, path);
    if (is(root, "flow")) read_window(p, path);
    if (!optional && path->tested) look_tested(p, path);
    if (optional || is_guarded(p, path)) return p->c->status == MWL_OK;
    look_null(p, path);
    if (is(root, "step"))
        look_step(p, path);
    else if (is(root, "call"))
        look_call(p, path);
    else if (is(root, "middleware"))
        look_middleware(p, path);
    else if (is(root, "frame") || is(root, "flow"))
        look_frame(p, path, is(root, "flow"));
    else if (is(root, "provider"))
        look_provider(p, path);
    else
        look_others(p, path);
    return p->c->status == MWL_OK;
}

mwl_status mwl__check_paths(mwl__checker *c, mwl__m_expr *e, const mwl__site *site) {
    paths p = {.c = c, .e = e, .site = site};
    mwl__arena scratch = mwl__arena_make(c->arena->alloc); /* no path is needed after this */
    mwl_status status = mwl__cel_reach(&scratch, &e->tree, remember, &p);
    if (status == MWL_OK) status = mwl__cel_reach(&scratch, &e->tree, look_at, &p);
    mwl__arena_free(&scratch);
    return status == MWL_OK ? c->status : status;
}
