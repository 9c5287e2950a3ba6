/* nested.h: walking the tree with the ends of groups, for formats that nest their text. */
#ifndef MWL_TOOLS_GRAPH_NESTED_H
#define MWL_TOOLS_GRAPH_NESTED_H

#include "tools/graph/graph.h"

/* What a format writes. depth: how many groups are open around it. */
struct nested {
    void (*open)(mwl__buf *out, const struct graph_node *n, unsigned depth);
    void (*box)(mwl__buf *out, const struct graph_node *n, unsigned depth);
    void (*close)(mwl__buf *out, unsigned depth);
};

void nested_write(const struct graph *g, const struct nested *how, mwl__buf *out);

/* Blanks at the beginning of a line. */
void nested_indent(mwl__buf *out, unsigned depth);

#endif
