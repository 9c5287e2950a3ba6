/* Any bytes as an expression: it is parsed, or refused with a place inside the text. A parsed tree
 * is printed as a text that parses to the same tree, and every walk over it ends. */
#include "mwl_config.h"
#include "tests/unit/cel_print.h"

#include <stdlib.h>

struct bounds {
    size_t len;
    int n;
};

static void inside(void *ctx, const mwl__cel_problem *p) {
    struct bounds *b = ctx;
    if (p->begin > p->end || p->end > b->len || !p->message) abort();
    b->n++;
}

static unsigned lookup(void *ctx, const char *name, size_t len, mwl__cel_lit *lit) {
    (void)ctx;
    if (lit) {
        lit->kind = MWL__CEL_INT;
        lit->as.i = 1;
    }
    return len % 3 == 0 ? (unsigned)name[0] & 15u : 0; /* some of everything */
}

static bool count_path(void *ctx, const mwl__cel_path *path) {
    size_t *n = ctx;
    *n += path->n_members;
    return true;
}

/* Checks that parents, places and spans are consistent, and that the height is that of a walk along
 * spines. */
static void check_links(const mwl__cel_node *n, size_t len, unsigned depth) {
    if (depth > MWL_CEL_DEPTH) abort();
    while (n) {
        if (n->begin > n->end || n->end > len || n->at > len) abort();
        for (uint32_t i = 0; i < n->n_kids; i++)
            if (n->kids[i]->parent != n || n->kids[i]->ix != i) abort();
        const mwl__cel_node *spine = mwl__cel_spine(n);
        for (uint32_t i = spine ? 1 : 0; i < n->n_kids; i++)
            check_links(n->kids[i], len, depth + 1);
        n = spine;
    }
}

static void again(const mwl__buf *text) {
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    mwl__buf b = mwl__buf_make(arena.alloc);
    mwl__cel_tree t;
    mwl__cel_options o = {.arena = &arena, .source = text->data, .len = text->len};
    if (mwl__cel_parse(&o, &t) != MWL_OK) abort();
    cel_print(&b, t.root);
    if (b.len != text->len || memcmp(b.data, text->data, b.len) != 0) abort();
    mwl__buf_free(&b);
    mwl__arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const mwl_function_def size_def = {"size", NULL, 1, 1, MWL_FN_GLOBAL, "size(x)"};
    static const mwl_function_def *const functions[] = {&size_def};
    static const mwl__cel_root roots[] = {{"step", NULL}, {"call", "not here"}};
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    mwl__buf b = mwl__buf_make(arena.alloc);
    struct bounds bounds = {size, 0};
    mwl__cel_tree t;
    mwl__cel_options o = {
        .arena = &arena, .source = (const char *)data, .len = size, .sink = {inside, &bounds}};
    mwl_status st = mwl__cel_parse(&o, &t);
    if (st < 0) {
        if (bounds.n == 0) abort();
    } else {
        check_links(t.root, size, 1);
        cel_print(&b, t.root);
        again(&b);
        mwl__cel_names names = {lookup, NULL, size % 2 ? "a.b" : NULL};
        if (mwl__cel_resolve(&arena, &t, &names) < 0) abort();
        check_links(t.root, size, 1);
        mwl__cel_check_options c = {.arena = &arena,
                                    .roots = roots,
                                    .n_roots = 2,
                                    .functions = functions,
                                    .n_functions = 1,
                                    .sink = {inside, &bounds}};
        if (mwl__cel_check(&t, &c) == MWL_E_NOMEM) abort();
        size_t n = 0;
        if (mwl__cel_reach(&arena, &t, count_path, &n) < 0) abort();
    }
    mwl__buf_free(&b);
    mwl__arena_free(&arena);
    return 0;
}
