/* lower_scope.c: what the names in an expression mean to the machine, and what the machine must
 * keep so that they can be read.
 *
 * Owns: which base of program.h the text of a path begins with, and the flags of tables.h for the
 * instants and windows that something can read. A root that is used as a whole reads everything in
 * it. */
#include "assembler/lower/lower_impl.h"

/* ---- bases ----------------------------------------------------------------------------------- */

static const char *const base_texts[MWL_BASE_COUNT] = {
#define X(name, text) text,
    MWL_BASES(X)
#undef X
};

static bool text_is(mwl__cel_text t, const char *text, size_t len) {
    return t.len == len && memcmp(t.data, text, len) == 0;
}

/* Returns how many members of the path are in the text of the base, or -1 if the path does not
 * begin with it. */
static int takes(const char *text, mwl__cel_text root, const mwl__cel_text *members, size_t n) {
    const char *dot = strchr(text, '.');
    if (!text_is(root, text, dot ? (size_t)(dot - text) : strlen(text))) return -1;
    int used = 0;
    while (dot) {
        const char *word = dot + 1;
        dot = strchr(word, '.');
        if ((size_t)used >= n ||
            !text_is(members[used], word, dot ? (size_t)(dot - word) : strlen(word)))
            return -1;
        used++;
    }
    return used;
}

/* Bases one member below something that may not be there. has() of such a base must test that
 * first. */
static bool is_below_result(int base) {
    return base == MWL_BASE_STEP_RESULT_VALUE || base == MWL_BASE_CALL_RESULT_VALUE ||
           base == MWL_BASE_MW_RESULT_VALUE;
}

bool mwl__lower_resolve(void *ctx, const mwl__cel_node *variable, const mwl__cel_text *members,
                        size_t n_members, unsigned *base, size_t *used) {
    (void)ctx;
    const mwl__cel_node *last = variable;
    for (size_t i = 0; i < n_members; i++) last = last->parent;
    bool asked = last != variable && (last->flags & (MWL__CEL_TEST | MWL__CEL_OPTIONAL));
    int best = -1;
    for (int b = 0; b < MWL_BASE_COUNT; b++) {
        int n = takes(base_texts[b], variable->name, members, n_members);
        if (n < 0 || n <= best) continue;
        if (asked && (size_t)n == n_members && is_below_result(b)) continue;
        /* two bases have this text: the whole record, and what the middleware contributed to it */
        if (b == MWL_BASE_MW_CONTRIBUTED && (size_t)n == n_members) continue;
        if (b == MWL_BASE_MW_META && (size_t)n < n_members) continue;
        best = n;
        *base = (unsigned)b;
        *used = (size_t)n;
    }
    return best >= 0;
}

/* ---- positions ------------------------------------------------------------------------------- */

static mwl__where place(const mwl__lowerer *l, mwl__span span, uint32_t at) {
    mwl__place p = mwl__source_place(l->model->tree->source, at);
    mwl__where w = {p.line, p.column, span.begin, span.end - span.begin};
    return w;
}

/* Returns the position of a node: the whole of a scalar; of a construct its name, or else its
 * opening bracket. */
mwl__where mwl__lower_node_where(const mwl__lowerer *l, const mwl__node *n) {
    mwl__span span = mwl__node_span(n);
    if (n->kind >= MWL_NODE_ARRAY) {
        span = mwl__node_key_span(n);
        if (!n->key) span.end = span.begin + 1;
    }
    return place(l, span, span.begin);
}

mwl__where mwl__lower_where(void *ctx, uint32_t begin, uint32_t end, uint32_t at) {
    const mwl__lowerer *l = ctx;
    const mwl__m_expr *x = l->expr;
    mwl__tree *tree = l->model->tree;
    mwl__span span = mwl__node_text_span(tree, x->node, x->body_at + begin, x->body_at + end);
    return place(l, span, mwl__node_text_offset(tree, x->node, x->body_at + at));
}

/* ---- reach ----------------------------------------------------------------------------------- */

static void mark_flow(mwl__lowerer *l, const mwl__m_flow *flow, uint32_t flags) {
    mwl__flow_rec *r = mwl__lower_rec(l, FLOWS, mwl__flow_rec, flow->ix);
    if (r) r->flags |= flags;
}

static void mark_step(mwl__lowerer *l, uint32_t flags) {
    if (!l->site.step) return;
    mwl__step_rec *r = mwl__lower_rec(l, STEPS, mwl__step_rec, l->site.step->ix);
    if (r) r->flags |= flags;
}

static void mark_call(mwl__lowerer *l, uint32_t flags) {
    if (!l->site.call) return;
    mwl__call_rec *r = mwl__lower_rec(l, CALLS, mwl__call_rec, l->site.call->ix);
    if (r) r->flags |= flags;
}

static void mark_phase(mwl__lowerer *l) {
    if (!l->site.entry) return;
    mwl__entry_rec *r = mwl__lower_rec(l, ENTRIES, mwl__entry_rec, l->site.entry->ix);
    if (r) r->flags |= (uint32_t)MWL_NEEDS_PHASE << l->site.phase;
}

static void mark_results(mwl__lowerer *l) {
    if (l->site.gather == MWL_NONE || l->site.call) return; /* nothing in the fan-out reads them */
    mwl__gather_rec *r = mwl__lower_rec(l, GATHERS, mwl__gather_rec, l->site.gather);
    if (r) r->flags |= MWL_GATHER_RESULTS;
}

static bool member_is(const mwl__cel_path *p, size_t i, const char *name) {
    return i < p->n_members && text_is(p->members[i], name, strlen(name));
}

/* Returns which instants of a record the path can read. at: how many members lead to the record. */
static uint32_t instants(const mwl__cel_path *p, size_t at) {
    if (p->n_members <= at)
        return MWL_NEEDS_ENTERED | MWL_NEEDS_EXITED | MWL_NEEDS_DISPATCHED | MWL_NEEDS_ACCEPTED;
    if (member_is(p, at, "enteredAt")) return MWL_NEEDS_ENTERED;
    if (member_is(p, at, "exitedAt")) return MWL_NEEDS_EXITED;
    if (member_is(p, at, "dispatchedAt")) return MWL_NEEDS_DISPATCHED;
    if (member_is(p, at, "acceptedAt")) return MWL_NEEDS_ACCEPTED;
    return 0;
}

static void reach_window(mwl__lowerer *l, const mwl__cel_path *p, bool is_flow) {
    if (member_is(p, 0, "result")) return;
    mark_call(l, MWL_CALL_KEEPS_WINDOW);
    bool whole = p->n_members == 0;
    const mwl__m_flow *flow = l->site.call ? l->site.call->flow : NULL;
    if (is_flow && flow && (whole || member_is(p, 0, "metadata")))
        mark_flow(l, flow, instants(p, 1) & (MWL_NEEDS_ENTERED | MWL_NEEDS_EXITED));
}

static bool reach_path(void *ctx, const mwl__cel_path *p) {
    mwl__lowerer *l = ctx;
    const char *root = p->root->name.data;
    bool whole = p->n_members == 0, meta = whole || member_is(p, 0, "metadata");
    const uint32_t pair = MWL_NEEDS_ENTERED | MWL_NEEDS_EXITED;
    uint32_t needs = meta ? instants(p, 1) : 0;
    if (strcmp(root, "execution") == 0)
        mark_flow(l, l->flows[0], needs & MWL_NEEDS_ENTERED);
    else if (strcmp(root, "frame") == 0)
        mark_flow(l, l->site.flow, needs & MWL_NEEDS_ENTERED);
    else if (strcmp(root, "step") == 0 || strcmp(root, "match") == 0)
        mark_step(l, needs & pair);
    else if (strcmp(root, "call") == 0)
        mark_call(l, needs);
    else if (strcmp(root, "middleware") == 0 && (needs & MWL_NEEDS_ENTERED))
        mark_phase(l);
    else if (strcmp(root, "flow") == 0)
        reach_window(l, p, true);
    else if (strcmp(root, "provider") == 0)
        reach_window(l, p, false);
    if (strcmp(root, "step") == 0 && (whole || member_is(p, 0, "results"))) mark_results(l);
    return true;
}

/* The construct whose entry instant now() reads: the innermost one that evaluates the expression.
 */
static void mark_pin(mwl__lowerer *l) {
    if (l->site.call)
        mark_call(l, MWL_NEEDS_ENTERED);
    else if (l->site.entry)
        mark_phase(l);
    else
        mark_step(l, MWL_NEEDS_ENTERED);
}

/* now(), or a host's function that may use the same instant (mwl_fn_now). */
static bool asks_for_now(const mwl__lowerer *l, const mwl__cel_node *n) {
    if (n->kind != MWL__CEL_CALL && n->kind != MWL__CEL_MEMBER) return false;
    if (text_is(n->name, "wallTime", 8)) return false;
    return l->functions &&
           (mwl__functions_styles(l->functions, n->name.data, n->name.len) & MWL_FN_IMPURE);
}

static bool reads_pin(const mwl__lowerer *l, const mwl__cel_tree *tree) {
    const mwl__cel_node *n = tree->root;
    while (n->n_kids) n = n->kids[0];
    while (!asks_for_now(l, n)) {
        if (n == tree->root) return false;
        const mwl__cel_node *up = n->parent;
        if (n->ix + 1 < up->n_kids) {
            n = up->kids[n->ix + 1];
            while (n->n_kids) n = n->kids[0];
        } else {
            n = up;
        }
    }
    return true;
}

void mwl__lower_reach(mwl__lowerer *l, const mwl__m_expr *x) {
    mwl__arena paths = mwl__arena_make(l->alloc); /* no path is needed after this */
    if (mwl__cel_reach(&paths, &x->tree, reach_path, l) < 0) mwl__lower_fail(l, MWL_E_NOMEM);
    mwl__arena_free(&paths);
    if (reads_pin(l, &x->tree)) mark_pin(l);
}

void mwl__lower_reach_all(mwl__lowerer *l, const mwl__node *n) {
    if (!n || !mwl__model_computed(l->model, n)) return;
    const mwl__m_expr *x = n->kind == MWL_NODE_STRING ? mwl__model_expr(l->model, n) : NULL;
    if (x) mwl__lower_reach(l, x);
    for (const mwl__node *c = mwl__node_first(n); c; c = c->next) mwl__lower_reach_all(l, c);
}
