/* cel_reach.c: finds which parts of the environment an expression can read.
 *
 * Owns: the maximal static paths of a resolved tree. Refuses to know: what roots contain. The
 * result is an upper bound: at run time a path may not be read, but nothing is read that is not on
 * a path. */
#include "assembler/cel/cel_front.h"

typedef struct reacher {
    mwl__arena *arena;
    mwl__cel_reach_fn fn;
    void *ctx;
    bool stopped, failed;
} reacher;

/* Returns whether a node always names a member: a selection, or a constant string index. */
static bool is_static_step(const mwl__cel_node *n) {
    if (n->kind == MWL__CEL_SELECT) return true;
    return n->kind == MWL__CEL_INDEX && n->kids[1]->kind == MWL__CEL_LIT &&
           n->kids[1]->lit.kind == MWL__CEL_STRING;
}

static mwl__cel_text step_name(const mwl__cel_node *n) {
    return n->kind == MWL__CEL_SELECT ? n->name : mwl__cel_lit_text(&n->kids[1]->lit);
}

/* Reports the path from `ident` up to `top`. */
static void emit(reacher *r, const mwl__cel_node *ident, const mwl__cel_node *top) {
    if (ident->ref == MWL__CEL_REF_LOCAL || ident->ref == MWL__CEL_REF_TYPE) return;
    size_t n = 0;
    for (const mwl__cel_node *at = top; at != ident; at = at->kids[0]) n++;
    mwl__cel_text *members = NULL;
    if (n > 0) {
        members = mwl__arena_new(r->arena, n * sizeof *members);
        if (!members) {
            r->failed = true;
            return;
        }
    }
    size_t i = n;
    for (const mwl__cel_node *at = top; at != ident; at = at->kids[0]) members[--i] = step_name(at);
    bool tested = top->kind == MWL__CEL_SELECT && (top->flags & MWL__CEL_TEST);
    const mwl__cel_path path = {ident, members, n, tested};
    if (!r->fn(r->ctx, &path)) r->stopped = true;
}

static void reach(reacher *r, const mwl__cel_node *n) {
    while (n && !r->stopped && !r->failed) {
        const mwl__cel_node *bottom = n;
        while (is_static_step(bottom)) {
            bottom = bottom->kids[0];
            /* has(a.b) is a bool: what is selected from it is not a member of a */
            if (bottom->kind == MWL__CEL_SELECT && (bottom->flags & MWL__CEL_TEST)) n = bottom;
        }
        if (bottom->kind == MWL__CEL_IDENT) {
            emit(r, bottom, n);
            return;
        }
        n = bottom;
        const mwl__cel_node *spine = mwl__cel_spine(n);
        for (uint32_t i = spine ? 1 : 0; i < n->n_kids; i++) reach(r, n->kids[i]);
        n = spine;
    }
}

mwl_status mwl__cel_reach(mwl__arena *arena, const mwl__cel_tree *tree, mwl__cel_reach_fn fn,
                          void *ctx) {
    reacher r = {arena, fn, ctx, false, false};
    reach(&r, tree->root);
    return r.failed ? MWL_E_NOMEM : MWL_OK;
}
