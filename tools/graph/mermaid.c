/* mermaid.c: the graph as a Mermaid flowchart. See graph.h. */
#include "tools/graph/nested.h"

/* Mermaid's own escapes: #name; and #number;. */
static void put_escaped(mwl__buf *out, const char *text) {
    for (; *text; text++)
        if (strchr("\"#<>&`;\\{}[]()|*_~", *text))
            mwl__buf_printf(out, "#%d;", *text);
        else
            mwl__buf_putc(out, *text);
}

static void put_title(mwl__buf *out, const struct graph_node *n) {
    mwl__buf_putc(out, '"');
    if (n->title) put_escaped(out, n->title);
    for (uint32_t i = 0; i < n->details.n_lines; i++) {
        mwl__buf_puts(out, "<br/>");
        put_escaped(out, n->details.line[i]);
    }
    mwl__buf_putc(out, '"');
}

static void open_group(mwl__buf *out, const struct graph_node *n, unsigned depth) {
    nested_indent(out, depth);
    mwl__buf_printf(out, "subgraph n%u[", n->id);
    put_title(out, n);
    mwl__buf_puts(out, "]\n");
    nested_indent(out, depth + 1);
    mwl__buf_puts(out, n->kind == GRAPH_STEP && n->action == MWL_ACTION_GATHER ? "direction LR\n"
                                                                               : "direction TB\n");
}

static void close_group(mwl__buf *out, unsigned depth) {
    nested_indent(out, depth);
    mwl__buf_puts(out, "end\n");
}

static void put_box(mwl__buf *out, const struct graph_node *n, unsigned depth) {
    const char *open = "[", *close = "]";
    nested_indent(out, depth);
    if (n->kind == GRAPH_START) {
        mwl__buf_printf(out, "n%u(((\" \")))\n", n->id);
        return;
    }
    if (n->kind == GRAPH_STEP && n->action == MWL_ACTION_MATCH) open = "{{", close = "}}";
    if (n->kind == GRAPH_STEP && (n->action == MWL_ACTION_RETURN || n->action == MWL_ACTION_RAISE))
        open = "([", close = "])";
    mwl__buf_printf(out, "n%u%s", n->id, open);
    put_title(out, n);
    mwl__buf_puts(out, close);
    if (n->kind == GRAPH_STEP && n->action == MWL_ACTION_RAISE) mwl__buf_puts(out, ":::raise");
    mwl__buf_putc(out, '\n');
}

void graph_mermaid(const struct graph *g, mwl__buf *out) {
    static const struct nested how = {open_group, put_box, close_group};
    mwl__buf_puts(out, "flowchart TB\n");
    nested_write(g, &how, out);
    for (const struct graph_node *n = g->first; n; n = graph_walk(n))
        for (const struct graph_edge *e = n->edges; e; e = e->next) {
            mwl__buf_printf(out, "  n%u %s", e->from->id, e->kind == GRAPH_CATCH ? "-.->" : "-->");
            if (e->label.n_lines) {
                mwl__buf_puts(out, "|\"");
                for (uint32_t i = 0; i < e->label.n_lines; i++) {
                    if (i) mwl__buf_puts(out, "<br/>");
                    put_escaped(out, e->label.line[i]);
                }
                mwl__buf_puts(out, "\"|");
            }
            mwl__buf_printf(out, " n%u\n", e->to->id);
        }
    mwl__buf_puts(out, "  classDef raise stroke:#c4473a\n");
}
