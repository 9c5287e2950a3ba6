/* nested.c: see nested.h. */
#include "tools/graph/nested.h"

void nested_indent(mwl__buf *out, unsigned depth) {
    enum { MOST = 40 };
    mwl__buf_printf(out, "%*s", (int)(2 * (depth < MOST ? depth : MOST)) + 2, "");
}

/* A BODY is no group of its own. */
static bool is_group(const struct graph_node *n) { return n->first && n->kind != GRAPH_BODY; }

void nested_write(const struct graph *g, const struct nested *how, mwl__buf *out) {
    unsigned depth = 0;
    for (const struct graph_node *n = g->first; n;) {
        if (is_group(n))
            how->open(out, n, depth++);
        else if (!n->first)
            how->box(out, n, depth);
        if (n->first) {
            n = n->first;
            continue;
        }
        while (n && !n->next) {
            n = n->parent;
            if (n && is_group(n)) how->close(out, --depth);
        }
        if (n) n = n->next;
    }
}
