/* level.h: the layered layout of one Flow's Steps (Sugiyama): what its passes share.
 *
 *   level_rank.c   cycles and ranks; edges as chains of points through the ranks
 *   level_order.c  the order in each rank: barycentre sweeps, crossings counted
 *   level_place.c  x: four alignments of blocks and their median (Brandes and Koepf)
 *   level_plain.c  all of it, without ranks, where the edges are too many
 *   level_route.c  y, the channels between ranks, ports, tracks, the lines themselves
 *
 * Boxes lie in ranks, from the top to the bottom. A label is a point with a size, in a rank of its
 * own below the box that its edge leaves, so that nothing overlaps it. An edge that passes a rank
 * has a point there. Edges of one kind that end at the same box share these points from where they
 * meet (a bundle): a handler that a thousand Steps lead to costs one line and not a thousand. Those
 * of handlers are bundles of their own, so that they do not draw the happy path to their side.
 *
 * An edge against the ranks leaves its box below, turns, rises beside the boxes that it passes,
 * turns above its target and enters that from above, so that every arrow points down. */
#ifndef MWL_TOOLS_GRAPH_LEVEL_H
#define MWL_TOOLS_GRAPH_LEVEL_H

#include "tools/graph/graph.h"

#define LEVEL_NONE UINT32_MAX

struct level_point {
    struct graph_node *box;   /* a box, or */
    struct graph_edge *label; /* a label; both NULL: a point that an edge passes */
    uint32_t rank, pos;       /* the place in its rank, from the left */
    uint32_t seq;             /* the order before any sweep */
    enum graph_lane lane;
    uint32_t partner;  /* of a point where an edge turns: the box in its rank; LEVEL_NONE */
    double w, h, x, y; /* x is the middle, y the top */
    uint32_t up, n_up, down, n_down; /* its links: indexes into level.ups and level.downs */
};

/* A line from a point to one in the next rank. */
struct level_link {
    uint32_t upper, lower;
    bool catches;  /* of a catch */
    bool yields;   /* its box is drawn straight below or above the happy path instead */
    bool conflict; /* it crosses an edge that should stay straight (level_place.c) */
};

/* Edges of one kind into one box, in one direction and one lane. */
struct level_bundle {
    uint32_t to;        /* the box's point */
    bool back, catches; /* against the ranks; of catches */
    uint32_t low, high; /* ranks of its points */
    uint32_t *at;       /* by rank - low */
    enum graph_lane lane;
    double port; /* where it enters the box */
};

struct level_edge {
    struct graph_edge *edge;
    uint32_t from, to; /* points */
    uint32_t label;    /* point, or LEVEL_NONE */
    uint32_t bundle;
    bool back;
    double port; /* where it leaves the box */
};

struct level {
    struct graph *g;
    struct graph_node *body;
    struct level_point *points;
    uint32_t n_points, n_boxes; /* boxes come first */
    struct level_link *links;
    uint32_t n_links;
    uint32_t *ups, *downs; /* links of each point */
    struct level_edge *edges;
    uint32_t n_edges;
    struct level_bundle *bundles;
    uint32_t n_bundles;
    bool plain; /* the edges are too many for ranks */
    uint32_t n_ranks;
    uint32_t *rank_at; /* where each rank begins in `order`; n_ranks + 1 */
    uint32_t *order;   /* points by rank and place */
    double w, h;
};

/* Each returns false if out of memory; the graph's `failed` is set then. */
bool level_rank(struct level *l);
bool level_order(struct level *l);
bool level_place(struct level *l);
bool level_route(struct level *l);
bool level_plain(struct level *l);

/* Writes `pos` of every point from `order`. */
void level_number(struct level *l);

#endif
