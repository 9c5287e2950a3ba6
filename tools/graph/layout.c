/* layout.c: the size and place of every box, group, edge and label. See graph.h.
 *
 * Nodes come in the order of drawing, parents before children. So sizes are found from the last to
 * the first, and places from the first to the last; nothing recurses, whatever the depth. */
#include "tools/graph/graph.h"
#include "tools/graph/level.h"
#include "tools/graph/text_width.h"

#define PAD 12.0   /* inside a border */
#define BOX_X 14.0 /* around the text of a box */
#define BOX_Y 9.0
#define HEAD 8.0 /* below the text of a group */
#define GAP 16.0 /* between members of a group */
#define FLOW_GAP 28.0
#define MARGIN 16.0
#define BOX_LEAST 84.0
#define START 12.0
#define ROW_MOST 900.0 /* a Gather's calls are in rows of about this width */
#define LABEL_X 5.0
#define LABEL_Y 2.0

void graph_text_size(const struct graph_node *n, double *w, double *h) {
    *w = *h = 0;
    if (n->title) {
        *w = text_width(n->title, strlen(n->title), GRAPH_BOLD, GRAPH_TITLE_PX);
        *h += GRAPH_LINE;
    }
    for (uint32_t i = 0; i < n->details.n_lines; i++) {
        const char *line = n->details.line[i];
        double width = text_width(line, strlen(line), GRAPH_PLAIN, GRAPH_DETAIL_PX);
        if (width > *w) *w = width;
        *h += GRAPH_LINE;
    }
}

static void measure_label(struct graph_edge *e) {
    struct graph_rect *r = &e->label_at;
    for (uint32_t i = 0; i < e->label.n_lines; i++) {
        const char *line = e->label.line[i];
        double w = text_width(line, strlen(line), GRAPH_MONO, GRAPH_DETAIL_PX) + 2 * LABEL_X;
        if (w > r->w) r->w = w;
    }
    if (e->label.n_lines) r->h = e->label.n_lines * (GRAPH_LINE - 2) + 2 * LABEL_Y;
}

/* ---- a Flow's Steps -------------------------------------------------------------------------- */

static bool lay_out_body(struct graph *g, struct graph_node *body) {
    struct level l = {.g = g, .body = body};
    for (struct graph_node *n = body->first; n; n = n->next) n->mark = l.n_boxes++;
    for (struct graph_edge *e = body->edges; e; e = e->next) l.n_edges++;
    l.n_points = l.n_boxes;
    l.points = graph_new(g, l.n_boxes, sizeof *l.points);
    l.edges = graph_new(g, l.n_edges, sizeof *l.edges);
    if (!l.points || !l.edges) return false;
    for (struct graph_node *n = body->first; n; n = n->next)
        l.points[n->mark] = (struct level_point){
            .box = n, .lane = n->lane, .w = n->at.w, .h = n->at.h, .partner = LEVEL_NONE};
    struct level_edge *out = l.edges;
    for (struct graph_edge *e = body->edges; e; e = e->next) {
        measure_label(e);
        *out++ = (struct level_edge){
            .edge = e, .from = e->from->mark, .to = e->to->mark, .label = LEVEL_NONE};
    }
    if (!level_rank(&l)) return false;
    if (l.plain ? !level_plain(&l) : !level_order(&l) || !level_place(&l) || !level_route(&l))
        return false;
    for (uint32_t i = 0; i < l.n_boxes; i++) {
        const struct level_point *p = &l.points[i];
        p->box->at.x = p->x - p->w / 2;
        p->box->at.y = p->y;
    }
    body->at.w = l.w;
    body->at.h = l.h;
    return true;
}

/* ---- groups ---------------------------------------------------------------------------------- */

/* Members in rows: a frame's below each other, a Gather's calls beside each other. */
static void lay_out_members(struct graph_node *n) {
    double text_w, text_h, x = PAD, row_h = 0, most = 0;
    graph_text_size(n, &text_w, &text_h);
    double y = PAD - 2 + text_h + HEAD;
    bool rows = n->kind == GRAPH_STEP && n->action == MWL_ACTION_GATHER;
    for (struct graph_node *c = n->first; c; c = c->next) {
        if (c != n->first && (!rows || x + c->at.w > ROW_MOST)) {
            x = PAD;
            y += row_h + GAP;
            row_h = 0;
        }
        c->at.x = x;
        c->at.y = y;
        x += c->at.w + GAP;
        if (x - GAP > most) most = x - GAP;
        if (c->at.h > row_h) row_h = c->at.h;
    }
    n->at.w = most > text_w + PAD ? most + PAD : text_w + 2 * PAD;
    n->at.h = y + row_h + PAD;
    for (struct graph_node *c = n->first; c && (!rows || n->first == n->last); c = c->next)
        c->at.x = (n->at.w - c->at.w) / 2;
}

static void size_box(struct graph_node *n) {
    double w, h;
    graph_text_size(n, &w, &h);
    n->at.w = w + 2 * BOX_X > BOX_LEAST ? w + 2 * BOX_X : BOX_LEAST;
    n->at.h = h + 2 * BOX_Y;
}

static void move(struct graph_node *n, double x, double y) {
    n->at.x += x;
    n->at.y += y;
    for (struct graph_edge *e = n->edges; e; e = e->next) {
        for (uint32_t i = 0; i < e->n_points; i++) {
            e->points[i].x += n->at.x;
            e->points[i].y += n->at.y;
        }
        e->label_at.x += n->at.x;
        e->label_at.y += n->at.y;
    }
}

/* The Flows that are drawn by themselves: the root above, the others in rows below it. */
static void lay_out_flows(struct graph *g) {
    double x = MARGIN, y = MARGIN, row_h = 0, most = 0;
    double width = g->first->at.w > ROW_MOST ? g->first->at.w : ROW_MOST;
    for (struct graph_node *n = g->first; n; n = n->next) {
        if (n != g->first && (x + n->at.w > MARGIN + width || n == g->first->next)) {
            x = MARGIN;
            y += row_h + FLOW_GAP;
            row_h = 0;
        }
        n->at.x = x;
        n->at.y = y;
        x += n->at.w + FLOW_GAP;
        if (x - FLOW_GAP > most) most = x - FLOW_GAP;
        if (n->at.h > row_h) row_h = n->at.h;
    }
    g->width = most + MARGIN;
    g->height = y + row_h + MARGIN;
}

mwl_status graph_layout(struct graph *g) {
    struct graph_node **all = graph_new(g, g->n_nodes, sizeof *all);
    size_t n = 0;
    if (!all) return MWL_E_NOMEM;
    for (struct graph_node *at = g->first; at; at = (struct graph_node *)(uintptr_t)graph_walk(at))
        all[n++] = at;
    for (size_t i = n; i-- > 0;) {
        struct graph_node *at = all[i];
        if (at->kind == GRAPH_START)
            at->at.w = at->at.h = START;
        else if (at->kind == GRAPH_BODY && !lay_out_body(g, at))
            return g->spent ? MWL_E_FUEL : MWL_E_NOMEM;
        else if (at->kind != GRAPH_BODY && at->first)
            lay_out_members(at);
        else if (at->kind != GRAPH_BODY)
            size_box(at);
    }
    lay_out_flows(g);
    for (size_t i = 0; i < n; i++) {
        const struct graph_node *parent = all[i]->parent;
        move(all[i], parent ? parent->at.x : 0, parent ? parent->at.y : 0);
    }
    return MWL_OK;
}
