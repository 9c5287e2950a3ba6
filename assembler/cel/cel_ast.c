/* cel_ast.c: builds nodes.
 *
 * Owns: the invariants of cel_ast.h about how nodes are linked: parent, ix, height. Refuses to
 * know: grammar and names. */
#include "assembler/cel/cel_parser.h"

#include <stdarg.h>
#include <stdio.h>

const char *mwl__cel_kind_text(mwl__cel_kind kind) {
    static const char *const texts[] = {
#define MWL_X(name, text) text,
        MWL__CEL_KIND_LIST(MWL_X)
#undef MWL_X
    };
    return (unsigned)kind < MWL__CEL_KIND_COUNT ? texts[kind] : "expression";
}

static void *out_of_memory(mwl__cel_parser *p) {
    if (p->status >= 0) p->status = MWL_E_NOMEM;
    return NULL;
}

void mwl__cel_complain(mwl__cel_parser *p, uint32_t begin, uint32_t end, const char *note,
                       const char *format, ...) {
    char message[256]; /* longer messages are cut; of a long name only the beginning is quoted */
    va_list ap;
    va_start(ap, format);
    vsnprintf(message, sizeof message, format, ap);
    va_end(ap);
    p->rejected = true;
    const mwl__cel_problem problem = {.severity = MWL__CEL_ERROR,
                                      .begin = begin,
                                      .end = end,
                                      .message = message,
                                      .note = note,
                                      .why = p->why,
                                      .help = p->help,
                                      .fix_begin = p->fix_begin,
                                      .fix_end = p->fix_end,
                                      .fix = p->fix};
    p->why = MWL__CEL_WHY_SYNTAX;
    p->help = p->fix = NULL;
    const mwl__cel_sink *sink = &p->options->sink;
    if (sink->report) sink->report(sink->ctx, &problem);
}

mwl__cel_text mwl__cel_copy(mwl__cel_parser *p, const char *s, size_t len) {
    mwl__cel_text t = {mwl__arena_text(p->arena, s, len), len};
    if (!t.data) out_of_memory(p);
    return t;
}

mwl__cel_node *mwl__cel_leaf(mwl__cel_parser *p, mwl__cel_kind kind, uint32_t begin, uint32_t end) {
    mwl__cel_node *n = mwl__arena_new(p->arena, sizeof *n);
    if (!n) return out_of_memory(p);
    n->kind = (uint8_t)kind;
    n->begin = n->at = begin;
    n->end = end;
    n->height = 1;
    p->n_nodes++;
    return n;
}

mwl__cel_node *mwl__cel_adopt(mwl__cel_parser *p, mwl__cel_node *node, size_t n_kids,
                              mwl__cel_node *const *kids) {
    if (n_kids == 0) return node;
    mwl__cel_node **mine = mwl__arena_new(p->arena, n_kids * sizeof *mine);
    if (!mine) return out_of_memory(p);
    memcpy(mine, kids, n_kids * sizeof *mine);
    node->kids = mine;
    node->n_kids = (uint32_t)n_kids;
    unsigned height = 1;
    bool spine = mwl__cel_spine(node) != NULL;
    for (size_t i = 0; i < n_kids; i++) {
        mine[i]->parent = node;
        mine[i]->ix = (uint32_t)i;
        unsigned h = mine[i]->height + (spine && i == 0 ? 0u : 1u);
        if (h > height) height = h;
    }
    node->height = (uint16_t)height;
    if (height > p->depth_limit) {
        p->why = MWL__CEL_WHY_SIZE;
        mwl__cel_complain(p, node->begin, node->end, NULL,
                          "the expression is nested more than %u levels deep", p->depth_limit);
        p->status = MWL_E_DEPTH;
        return NULL;
    }
    return node;
}

/* ---- for expanders --------------------------------------------------------------------------- */

mwl__cel_node *mwl__cel_make(mwl__cel_parser *p, mwl__cel_kind kind, const mwl__cel_node *like,
                             size_t n_kids, mwl__cel_node *const *kids) {
    for (size_t i = 0; i < n_kids; i++)
        if (!kids[i]) return NULL;
    if (!like) return NULL;
    mwl__cel_node *n = mwl__cel_leaf(p, kind, like->begin, like->end);
    if (!n) return NULL;
    n->at = like->at;
    return mwl__cel_adopt(p, n, n_kids, kids);
}

mwl__cel_node *mwl__cel_make_ident(mwl__cel_parser *p, const mwl__cel_node *like,
                                   const char *name) {
    mwl__cel_node *n = mwl__cel_make(p, MWL__CEL_IDENT, like, 0, NULL);
    if (!n) return NULL;
    n->name = mwl__cel_copy(p, name, strlen(name));
    return n->name.data ? n : NULL;
}

bool mwl__cel_is_var(const mwl__cel_node *node) {
    return node->kind == MWL__CEL_IDENT && !(node->flags & MWL__CEL_LEADING_DOT);
}

mwl__cel_node *mwl__cel_make_scope(mwl__cel_parser *p, mwl__cel_kind kind,
                                   const mwl__cel_node *like, size_t n_kids,
                                   mwl__cel_node *const *kids, size_t n_vars,
                                   mwl__cel_node *const *idents) {
    mwl__cel_node *n = mwl__cel_make(p, kind, like, n_kids, kids);
    if (!n || n_vars == 0) return n;
    n->vars = mwl__arena_new(p->arena, n_vars * sizeof *n->vars);
    if (!n->vars) return out_of_memory(p);
    n->n_vars = (uint32_t)n_vars;
    for (size_t i = 0; i < n_vars; i++) {
        if (!idents[i]) return NULL;
        n->vars[i].name = idents[i]->name;
        n->vars[i].begin = idents[i]->begin;
        n->vars[i].end = idents[i]->end;
        n->vars[i].slot = p->n_slots++;
    }
    return n;
}

mwl__cel_node *mwl__cel_macro_fail(mwl__cel_parser *p, const mwl__cel_node *at,
                                   const char *message) {
    p->why = MWL__CEL_WHY_MACRO;
    mwl__cel_complain(p, at->begin, at->end, NULL, "%s", message);
    p->status = MWL_E_SYNTAX;
    return NULL;
}
