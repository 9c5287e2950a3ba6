/* level_plain.c: a Flow whose edges are too many to lay out: boxes in rows, in the order written,
 * and straight lines. Its time and its size grow as the definition does. See level.h. */
#include "tools/graph/level.h"

#include <math.h>

#define GAP_X 28.0
#define GAP_Y 48.0
#define ROW_LEAST 900.0

/* About as wide as it is high. */
static double row_width(const struct level *l) {
    double area = 0, widest = ROW_LEAST;
    for (uint32_t i = 0; i < l->n_boxes; i++) {
        area += (l->points[i].w + GAP_X) * (l->points[i].h + GAP_Y);
        if (l->points[i].w > widest) widest = l->points[i].w;
    }
    return sqrt(area) > widest ? sqrt(area) : widest;
}

static void place_boxes(struct level *l) {
    double most = row_width(l), x = 0, y = 0, row_h = 0;
    for (uint32_t i = 0; i < l->n_boxes; i++) {
        struct level_point *p = &l->points[i];
        if (x > 0 && x + p->w > most) {
            x = 0;
            y += row_h + GAP_Y;
            row_h = 0;
        }
        p->x = x + p->w / 2;
        p->y = y;
        x += p->w + GAP_X;
        if (p->h > row_h) row_h = p->h;
        if (x - GAP_X > l->w) l->w = x - GAP_X;
    }
    l->h = y + row_h;
}

/* From the middle below a box to the middle above the other; the label lies where it leaves. */
bool level_plain(struct level *l) {
    struct graph_point *points = graph_new(l->g, l->n_edges, 2 * sizeof *points);
    if (!points) return false;
    place_boxes(l);
    for (uint32_t i = 0; i < l->n_edges; i++, points += 2) {
        const struct level_point *from = &l->points[l->edges[i].from];
        const struct level_point *to = &l->points[l->edges[i].to];
        struct graph_edge *e = l->edges[i].edge;
        points[0] = (struct graph_point){from->x, from->y + from->h};
        points[1] = (struct graph_point){to->x, to->y};
        e->points = points;
        e->n_points = 2;
        e->label_at.x = from->x - e->label_at.w / 2;
        e->label_at.y = from->y + from->h + 4;
    }
    return true;
}
