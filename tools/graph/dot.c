/* dot.c: the graph in Graphviz' language. See graph.h.
 *
 * A group is a cluster. Edges there join nodes only, so an edge to a group goes to the first node
 * inside and is cut at the cluster's border (lhead, ltail). */
#include "tools/graph/nested.h"

static void put_escaped(mwl__buf *out, const char *text) {
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') mwl__buf_putc(out, '\\');
        mwl__buf_putc(out, *text);
    }
}

static void put_label(mwl__buf *out, const char *first, const struct graph_text *more,
                      const char *end) {
    mwl__buf_puts(out, "label=\"");
    if (first) put_escaped(out, first);
    for (uint32_t i = 0; i < more->n_lines; i++) {
        if (first || i) mwl__buf_puts(out, end);
        put_escaped(out, more->line[i]);
    }
    mwl__buf_putc(out, '"');
}

static void open_group(mwl__buf *out, const struct graph_node *n, unsigned depth) {
    nested_indent(out, depth);
    mwl__buf_printf(out, "subgraph cluster_n%u {\n", n->id);
    nested_indent(out, depth + 1);
    put_label(out, n->title, &n->details, "\\l");
    mwl__buf_printf(out, "; style=\"%s\";\n",
                    n->kind == GRAPH_FRAME ? "rounded,dashed" : "rounded");
}

static void close_group(mwl__buf *out, unsigned depth) {
    nested_indent(out, depth);
    mwl__buf_puts(out, "}\n");
}

static void put_box(mwl__buf *out, const struct graph_node *n, unsigned depth) {
    nested_indent(out, depth);
    mwl__buf_printf(out, "n%u [", n->id);
    if (n->kind == GRAPH_START) {
        mwl__buf_puts(out, "label=\"\" shape=circle style=filled width=0.15 fillcolor=black];\n");
        return;
    }
    put_label(out, n->title, &n->details, "\\n");
    if (n->kind == GRAPH_STEP) switch (n->action) {
        case MWL_ACTION_MATCH: mwl__buf_puts(out, " shape=hexagon style=solid"); break;
        case MWL_ACTION_RETURN: mwl__buf_puts(out, " color=\"#3f9a60\""); break;
        case MWL_ACTION_RAISE: mwl__buf_puts(out, " color=\"#c4473a\""); break;
        default: break;
        }
    mwl__buf_puts(out, "];\n");
}

static const struct graph_node *inside(const struct graph_node *n) {
    while (n->first) n = n->first;
    return n;
}

static void put_edge(mwl__buf *out, const struct graph_edge *e) {
    const struct graph_node *from = inside(e->from), *to = inside(e->to);
    mwl__buf_printf(out, "  n%u -> n%u [", from->id, to->id);
    put_label(out, NULL, &e->label, "\\n");
    if (e->kind == GRAPH_CATCH)
        mwl__buf_puts(out, " style=dashed color=\"#c4473a\" fontcolor=\"#a8352a\"");
    if (e->from != e->to && e->from->first) mwl__buf_printf(out, " ltail=cluster_n%u", e->from->id);
    if (e->from != e->to && e->to->first) mwl__buf_printf(out, " lhead=cluster_n%u", e->to->id);
    mwl__buf_puts(out, "];\n");
}

void graph_dot(const struct graph *g, mwl__buf *out) {
    static const struct nested how = {open_group, put_box, close_group};
    mwl__buf_puts(out, "digraph mwl {\n"
                       "  compound=true; rankdir=TB; fontname=\"Helvetica\"; fontsize=11;\n"
                       "  node [shape=box style=rounded fontname=\"Helvetica\" fontsize=11];\n"
                       "  edge [fontname=\"Courier\" fontsize=10];\n");
    nested_write(g, &how, out);
    for (const struct graph_node *n = g->first; n; n = graph_walk(n))
        for (const struct graph_edge *e = n->edges; e; e = e->next) put_edge(out, e);
    mwl__buf_puts(out, "}\n");
}
