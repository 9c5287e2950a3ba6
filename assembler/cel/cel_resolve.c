/* cel_resolve.c: finds what names mean.
 *
 * Owns: scopes of macro variables, and the resolution of qualified names against the environment
 * (spec: langdef, Name Resolution). Refuses to know: which names exist; the caller's lookup knows.
 *
 * Both walks go down the spine in a loop and recurse into the other children, so at most `height`
 * deep. The range of a macro is outside its own scope, so there is one scope along a whole
 * spine. */
#include "assembler/cel/cel_parser.h"

/* ---- local variables ------------------------------------------------------------------------- */

typedef struct scope {
    const struct scope *outer;
    mwl__cel_node *node; /* its first n_visible variables are visible */
    uint32_t n_visible;
} scope;

static bool text_equal(mwl__cel_text a, mwl__cel_text b) {
    return a.len == b.len && memcmp(a.data, b.data, a.len) == 0;
}

static void bind_ident(mwl__cel_node *n, const scope *s) {
    if (n->flags & MWL__CEL_LEADING_DOT) return; /* spec: a leading dot bypasses local scopes */
    for (; s; s = s->outer)
        for (uint32_t i = s->n_visible; i-- > 0;) {
            mwl__cel_var *v = &s->node->vars[i];
            if (!text_equal(v->name, n->name)) continue;
            n->ref = MWL__CEL_REF_LOCAL;
            n->slot = v->slot;
            v->n_uses++;
            return;
        }
}

static void bind_walk(mwl__cel_node *n, const scope *outer) {
    while (n) {
        mwl__cel_node *spine = mwl__cel_spine(n);
        if (n->kind == MWL__CEL_IDENT) bind_ident(n, outer);
        for (uint32_t i = spine ? 1 : 0; i < n->n_kids; i++) {
            scope inner = {outer, n, n->n_vars};
            if (n->kind == MWL__CEL_BLOCK) inner.n_visible = i;
            if (n->kind == MWL__CEL_BIND && i == 0) inner.n_visible = 0;
            bind_walk(n->kids[i], inner.n_visible ? &inner : outer);
        }
        n = spine;
    }
}

void mwl__cel_bind(mwl__cel_node *root) { bind_walk(root, NULL); }

/* ---- names of the environment ---------------------------------------------------------------- */

/* How many segments of a dotted name can form one declared name. Selections can be longer; declared
 * names are not, and trying every prefix of a chain of thousands would take quadratic time. */
#define NAME_SEGMENTS 32

typedef struct resolver {
    mwl__arena *arena;
    const mwl__cel_names *names;
    mwl__buf buf; /* the current candidate */
    bool failed;
} resolver;

/* Looks up `name` in the container and its outer ones, innermost first. `mask` selects what counts.
 * On success r->buf holds the full name. */
static unsigned find_name(resolver *r, const char *name, size_t len, bool root_only, unsigned mask,
                          mwl__cel_lit *lit) {
    const char *container = root_only || !r->names->container ? "" : r->names->container;
    size_t clen = strlen(container);
    for (;;) {
        r->buf.len = 0;
        mwl__buf_put(&r->buf, container, clen);
        if (clen) mwl__buf_putc(&r->buf, '.');
        mwl__buf_put(&r->buf, name, len);
        const char *full = mwl__buf_cstr(&r->buf);
        if (r->buf.failed) {
            r->failed = true;
            return 0;
        }
        unsigned found = r->names->lookup(r->names->ctx, full, r->buf.len, lit) & mask;
        if (found) return found;
        if (clen == 0) return 0;
        while (clen > 0 && container[--clen] != '.') {
        }
    }
}

static mwl__cel_text take_name(resolver *r) {
    mwl__cel_text t = {mwl__arena_text(r->arena, r->buf.data, r->buf.len), r->buf.len};
    if (!t.data) r->failed = true;
    return t;
}

static bool is_plain_select(const mwl__cel_node *n) {
    return n->kind == MWL__CEL_SELECT &&
           !(n->flags & (MWL__CEL_TEST | MWL__CEL_OPTIONAL | MWL__CEL_QUOTED));
}

/* Collects the nodes of a dotted name from its first segment on, as many as can matter. */
typedef struct chain {
    mwl__cel_node *nodes[NAME_SEGMENTS];
    size_t n;
    bool whole; /* the topmost node is among them */
} chain;

static chain climb(mwl__cel_node *ident, const mwl__cel_node *top) {
    chain c = {{0}, 0, false};
    for (mwl__cel_node *n = ident; c.n < NAME_SEGMENTS; n = n->parent) {
        c.nodes[c.n++] = n;
        if (n == top) {
            c.whole = true;
            break;
        }
    }
    return c;
}

/* Writes the first n segments, with dots, to the buffer `text`. Returns false if out of memory. */
static bool spell(const chain *c, size_t n, mwl__buf *text) {
    text->len = 0;
    for (size_t i = 0; i < n; i++) {
        if (i) mwl__buf_putc(text, '.');
        mwl__buf_put(text, c->nodes[i]->name.data, c->nodes[i]->name.len);
    }
    return !text->failed;
}

static void become_leaf(mwl__cel_node *n, mwl__cel_kind kind) {
    n->kind = (uint8_t)kind;
    n->kids = NULL;
    n->n_kids = 0;
    n->height = 1;
    n->at = n->begin;
}

/* Resolves the name of the plain SELECTs from `top` down to `ident`: the longest declared prefix
 * becomes one leaf, the rest stays field selection. */
static void resolve_chain(resolver *r, mwl__cel_node *ident, mwl__cel_node *top) {
    if (ident->ref == MWL__CEL_REF_LOCAL) return;
    chain c = climb(ident, top);
    mwl__buf text = mwl__buf_make(r->arena->alloc);
    const unsigned mask = MWL__CEL_NAME_VARIABLE | MWL__CEL_NAME_TYPE | MWL__CEL_NAME_CONST;
    uint8_t dot = ident->flags & MWL__CEL_LEADING_DOT;
    for (size_t n = c.n; n > 0 && !r->failed; n--) {
        mwl__cel_lit lit = {0};
        if (!spell(&c, n, &text)) {
            r->failed = true;
            break;
        }
        unsigned found = find_name(r, text.data, text.len, dot != 0, mask, &lit);
        if (!found) continue;
        mwl__cel_node *node = c.nodes[n - 1];
        bool constant = !(found & (MWL__CEL_NAME_VARIABLE | MWL__CEL_NAME_TYPE));
        become_leaf(node, constant ? MWL__CEL_LIT : MWL__CEL_IDENT);
        if (constant) {
            node->lit = lit;
        } else {
            node->ref = found & MWL__CEL_NAME_VARIABLE ? MWL__CEL_REF_VARIABLE : MWL__CEL_REF_TYPE;
            node->flags = dot;
            node->name = take_name(r);
        }
        break;
    }
    mwl__buf_free(&text);
}

/* `a.b.f(x)` where a.b.f is a function: the target is a name space and not a value. */
static bool resolve_member(resolver *r, mwl__cel_node *call) {
    mwl__cel_node *ident = call->kids[0];
    while (is_plain_select(ident)) ident = ident->kids[0];
    if (ident->kind != MWL__CEL_IDENT || ident->ref == MWL__CEL_REF_LOCAL) return false;
    chain c = climb(ident, call->kids[0]);
    if (!c.whole) return false;
    mwl__buf text = mwl__buf_make(r->arena->alloc);
    bool ok = spell(&c, c.n, &text);
    mwl__buf_putc(&text, '.');
    mwl__buf_put(&text, call->name.data, call->name.len);
    if (!ok || text.failed) r->failed = true;
    bool root_only = (ident->flags & MWL__CEL_LEADING_DOT) != 0;
    bool found = !r->failed &&
                 find_name(r, text.data, text.len, root_only, MWL__CEL_NAME_FUNCTION, NULL) != 0;
    mwl__buf_free(&text);
    if (!found) return false;
    call->name = take_name(r);
    call->kind = MWL__CEL_CALL;
    call->flags = ident->flags & MWL__CEL_LEADING_DOT;
    call->at = call->begin;
    call->kids++;
    call->n_kids--;
    for (uint32_t i = 0; i < call->n_kids; i++) call->kids[i]->ix = i;
    return true;
}

static void resolve_full_name(resolver *r, mwl__cel_node *n, unsigned mask) {
    bool root_only = (n->flags & MWL__CEL_LEADING_DOT) != 0;
    if (find_name(r, n->name.data, n->name.len, root_only, mask, NULL)) n->name = take_name(r);
}

static void resolve_walk(resolver *r, mwl__cel_node *n) {
    while (n && !r->failed) {
        if (is_plain_select(n) || n->kind == MWL__CEL_IDENT) {
            mwl__cel_node *bottom = n;
            while (is_plain_select(bottom)) bottom = bottom->kids[0];
            if (bottom->kind == MWL__CEL_IDENT) {
                resolve_chain(r, bottom, n);
                return;
            }
            n = bottom;
            continue;
        }
        if (n->kind == MWL__CEL_MEMBER)
            resolve_member(r, n);
        else if (n->kind == MWL__CEL_CALL)
            resolve_full_name(r, n, MWL__CEL_NAME_FUNCTION);
        else if (n->kind == MWL__CEL_MESSAGE)
            resolve_full_name(r, n, MWL__CEL_NAME_TYPE);
        mwl__cel_node *spine = mwl__cel_spine(n);
        for (uint32_t i = spine ? 1 : 0; i < n->n_kids; i++) resolve_walk(r, n->kids[i]);
        n = spine;
    }
}

mwl_status mwl__cel_resolve(mwl__arena *arena, mwl__cel_tree *tree, const mwl__cel_names *names) {
    resolver r = {arena, names, mwl__buf_make(arena->alloc), false};
    resolve_walk(&r, tree->root);
    mwl__buf_free(&r.buf);
    return r.failed ? MWL_E_NOMEM : MWL_OK;
}
