/* cel_tree.h: for tests of the CEL front end: parses a text, and shows the tree or the first
 * problem. */
#ifndef CEL_TREE_H
#define CEL_TREE_H

#include "tests/unit/cel_print.h"

#include <stdio.h>
#include <string.h>

struct cel_log {
    char text[2048]; /* "begin-end message [note]" lines, errors with E, warnings with W in front */
    int n;
};

static inline void cel_log_add(void *ctx, const mwl__cel_problem *p) {
    struct cel_log *log = ctx;
    size_t at = strlen(log->text);
    log->n++;
    snprintf(log->text + at, sizeof log->text - at, "%s%c %u-%u %s%s%s%s%s%s%s", at ? "\n" : "",
             p->severity == MWL__CEL_ERROR ? 'E' : 'W', p->begin, p->end, p->message,
             p->note ? " [" : "", p->note ? p->note : "", p->note ? "]" : "", p->help ? " [" : "",
             p->help ? p->help : "", p->help ? "]" : "");
}

/* (KIND ...) with names and literals; `out` is big enough for what tests write. */
static inline void cel_show(const mwl__cel_node *n, mwl__buf *out) {
    static const char *const kinds[] = {
#define MWL_X(name, text) #name,
        MWL__CEL_KIND_LIST(MWL_X)
#undef MWL_X
    };
    if (n->kind == MWL__CEL_LIT) {
        cel_print(out, n);
        return;
    }
    if (n->kind == MWL__CEL_IDENT) {
        if (n->flags & MWL__CEL_LEADING_DOT) mwl__buf_puts(out, ".");
        mwl__buf_put(out, n->name.data, n->name.len);
        if (n->ref == MWL__CEL_REF_LOCAL) mwl__buf_printf(out, "@%u", n->slot);
        if (n->ref == MWL__CEL_REF_VARIABLE) mwl__buf_puts(out, "$");
        if (n->ref == MWL__CEL_REF_TYPE) mwl__buf_puts(out, "%");
        return;
    }
    mwl__buf_printf(out, "(%s", kinds[n->kind]);
    if (n->flags & MWL__CEL_LEADING_DOT) mwl__buf_puts(out, " .");
    if (n->flags & MWL__CEL_TEST) mwl__buf_puts(out, " test");
    if (n->flags & MWL__CEL_OPTIONAL) mwl__buf_puts(out, " opt");
    if (n->flags & MWL__CEL_FILTERED) mwl__buf_puts(out, " filtered");
    if (n->name.data) mwl__buf_printf(out, " '%s'", n->name.data);
    for (uint32_t i = 0; i < n->n_vars; i++)
        mwl__buf_printf(out, " %s@%u", n->vars[i].name.data, n->vars[i].slot);
    for (uint32_t i = 0; i < n->n_kids; i++) {
        mwl__buf_puts(out, " ");
        if (n->kids[i]->optional) mwl__buf_puts(out, "?");
        if (n->kind == MWL__CEL_MESSAGE) mwl__buf_printf(out, "%s:", n->fields[i].data);
        cel_show(n->kids[i], out);
    }
    mwl__buf_puts(out, ")");
}

/* Returns the tree of a text, or its problems. The result is valid until the next call with
 * `out`. */
static inline const char *cel_shown_len(mwl__buf *out, const char *source, size_t len) {
    mwl__arena arena = mwl__arena_make(out->alloc);
    struct cel_log log = {{0}, 0};
    mwl__cel_options o = {
        .arena = &arena, .source = source, .len = len, .sink = {cel_log_add, &log}};
    mwl__cel_tree tree;
    out->len = 0;
    mwl_status st = mwl__cel_parse(&o, &tree);
    if (st < 0)
        mwl__buf_puts(out, log.n ? log.text : mwl_status_text(st));
    else
        cel_show(tree.root, out);
    mwl__arena_free(&arena);
    return mwl__buf_cstr(out);
}
static inline const char *cel_shown(mwl__buf *out, const char *source) {
    return cel_shown_len(out, source, strlen(source));
}

#endif
