/* marks.c: which Steps and edges a coverage file says were taken (`mwlvm test --coverage-file`). */
#include "tools/graph/graph.h"

#include "tools/base/member.h"
#include "tools/base/path.h"

#include <string.h>

static uint32_t number_of(mwl_value object, const char *name) {
    mwl_value v = mwl_get(object, name);
    return mwl_value_kind(v) == MWL_KIND_NUMBER ? (uint32_t)mwl_as_number(v) : 0;
}

static struct graph_node *next_node(const struct graph_node *n) {
    return (struct graph_node *)(uintptr_t)graph_walk(n);
}

/* The Step inside the frames around it. */
static struct graph_node *step_in(struct graph_node *n) {
    while (n->kind == GRAPH_FRAME && n->first) n = n->first;
    return n;
}

/* The Step of this name that is written at this line; of the only one with the name, any line. */
static struct graph_node *find_step(struct graph *g, mwl__source *source, const char *name,
                                    uint32_t line) {
    struct graph_node *other = NULL;
    size_t n_others = 0;
    for (struct graph_node *n = g->first; n; n = next_node(n)) {
        if (n->kind != GRAPH_STEP || !n->title || strcmp(n->title, name) != 0) continue;
        if (n->node && mwl__source_place(source, mwl__node_key_span(n->node).begin).line == line)
            return n;
        other = n;
        n_others++;
    }
    return n_others == 1 ? other : NULL;
}

/* The edge of this kind that is the n-th of its Step. */
static struct graph_edge *find_edge(struct graph *g, const struct graph_node *from,
                                    enum graph_edge_kind kind, uint32_t n) {
    for (struct graph_node *body = g->first; body; body = next_node(body))
        for (struct graph_edge *e = body->edges; e; e = e->next)
            if (e->kind == kind && step_in(e->from) == from && n-- == 0) return e;
    return NULL;
}

/* Steps come before what is said about them, so their lines are known then. */
static struct graph_node *step_of_item(struct graph *g, mwl__source *source, mwl_value items,
                                       mwl_value item) {
    const char *name = member_text(item, "step"), *flow = member_text(item, "flow");
    for (size_t i = 0; i < mwl_count(items); i++) {
        mwl_value other = mwl_array_at(items, i);
        if (strcmp(member_text(other, "kind"), "step") == 0 &&
            strcmp(member_text(other, "step"), name) == 0 &&
            strcmp(member_text(other, "flow"), flow) == 0)
            return find_step(g, source, name, number_of(other, "line"));
    }
    return NULL;
}

static void mark_item(struct graph *g, mwl__source *source, mwl_value items, mwl_value item) {
    static const struct {
        const char *name;
        enum graph_edge_kind kind;
    } kinds[] = {{"next", GRAPH_NEXT}, {"case", GRAPH_MATCH}, {"catch", GRAPH_CATCH}};
    const char *kind = member_text(item, "kind");
    enum graph_taken taken = number_of(item, "hits") ? GRAPH_TAKEN : GRAPH_NOT_TAKEN;
    struct graph_node *step = step_of_item(g, source, items, item);
    if (!step) return;
    if (strcmp(kind, "step") == 0) step->taken = taken;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (strcmp(kind, kinds[i].name) != 0) continue;
        struct graph_edge *e = find_edge(g, step, kinds[i].kind, number_of(item, "number"));
        if (e) e->taken = taken;
    }
}

bool graph_mark(struct graph *g, mwl__source *source, mwl_value coverage) {
    const char *own = path_last(g->name);
    for (size_t i = 0; i < mwl_count(coverage); i++) {
        mwl_value one = mwl_array_at(coverage, i), items = mwl_get(one, "items");
        if (strcmp(path_last(member_text(one, "definition")), own) != 0) continue;
        for (size_t k = 0; k < mwl_count(items); k++)
            mark_item(g, source, items, mwl_array_at(items, k));
        return true;
    }
    return false;
}
