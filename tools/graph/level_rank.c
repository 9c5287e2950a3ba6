/* level_rank.c: which edges go back, the rank of every box, and the points of every edge. See
 * level.h. */
#include "tools/graph/level.h"

#include <stdlib.h>

/* ---- cycles ---------------------------------------------------------------------------------- */

/* The edges that leave each box, those of the happy path first. */
struct leaving {
    uint32_t *first, *edges; /* by box; n_boxes + 1 */
};

static bool collect_leaving(struct level *l, struct leaving *out) {
    uint32_t *fill = graph_new(l->g, l->n_boxes + 1, sizeof *fill);
    out->first = graph_new(l->g, l->n_boxes + 1, sizeof *out->first);
    out->edges = graph_new(l->g, l->n_edges, sizeof *out->edges);
    if (!fill || !out->first || !out->edges) return false;
    for (uint32_t i = 0; i < l->n_edges; i++) out->first[l->edges[i].from + 1]++;
    for (uint32_t i = 0; i < l->n_boxes; i++) out->first[i + 1] += out->first[i];
    memcpy(fill, out->first, (l->n_boxes + 1) * sizeof *fill);
    for (int catches = 0; catches < 2; catches++)
        for (uint32_t i = 0; i < l->n_edges; i++)
            if ((l->edges[i].edge->kind == GRAPH_CATCH) == catches)
                out->edges[fill[l->edges[i].from]++] = i;
    return true;
}

/* Depth first from the box: an edge to a box that is still open closes a cycle and goes back. The
 * stack is a list through `via`. Gives every box its number in this order, and the boxes with those
 * behind first to `sorted`. */
struct search {
    struct leaving leaving;
    uint32_t *next, *via, *sorted, n_sorted, n_seen;
    uint8_t *state; /* 0 new, 1 open, 2 done */
};

static void search_from(struct level *l, struct search *s, uint32_t at) {
    s->via[at] = LEVEL_NONE;
    s->state[at] = 1;
    l->points[at].seq = s->n_seen++;
    while (at != LEVEL_NONE) {
        if (s->next[at] == s->leaving.first[at + 1]) {
            s->state[at] = 2;
            s->sorted[s->n_sorted++] = at;
            at = s->via[at];
            continue;
        }
        struct level_edge *e = &l->edges[s->leaving.edges[s->next[at]++]];
        if (s->state[e->to] == 1) {
            e->back = true;
        } else if (s->state[e->to] == 0) {
            s->via[e->to] = at;
            at = e->to;
            s->state[at] = 1;
            l->points[at].seq = s->n_seen++;
        }
    }
}

/* Ranks by the longest way from a box that nothing leads to; two ranks for each layer of boxes, so
 * that labels have one between. A box that waits for none above it goes down to what it leads to.
 */
static void rank_boxes(struct level *l, const struct search *s) {
    for (uint32_t i = s->n_sorted; i-- > 0;) {
        uint32_t at = s->sorted[i];
        for (uint32_t k = s->leaving.first[at]; k < s->leaving.first[at + 1]; k++) {
            const struct level_edge *e = &l->edges[s->leaving.edges[k]];
            uint32_t below = l->points[at].rank + 2;
            if (!e->back && l->points[e->to].rank < below) l->points[e->to].rank = below;
        }
    }
    for (uint32_t i = 0; i < s->n_sorted; i++) {
        uint32_t at = s->sorted[i], most = UINT32_MAX;
        if (l->points[at].rank != 0) continue;
        for (uint32_t k = s->leaving.first[at]; k < s->leaving.first[at + 1]; k++) {
            const struct level_edge *e = &l->edges[s->leaving.edges[k]];
            if (!e->back && l->points[e->to].rank < most) most = l->points[e->to].rank;
        }
        if (most != UINT32_MAX) l->points[at].rank = most - 2;
    }
}

static bool order_boxes(struct level *l) {
    struct search s = {.n_sorted = 0};
    s.next = graph_new(l->g, l->n_boxes, sizeof *s.next);
    s.via = graph_new(l->g, l->n_boxes, sizeof *s.via);
    s.sorted = graph_new(l->g, l->n_boxes, sizeof *s.sorted);
    s.state = graph_new(l->g, l->n_boxes, sizeof *s.state);
    if (!collect_leaving(l, &s.leaving) || !s.next || !s.via || !s.sorted || !s.state) return false;
    memcpy(s.next, s.leaving.first, l->n_boxes * sizeof *s.next);
    for (uint32_t i = 0; i < l->n_boxes; i++) /* the first is the START */
        if (!s.state[i]) search_from(l, &s, i);
    rank_boxes(l, &s);
    return true;
}

/* ---- ranks that are used --------------------------------------------------------------------- */

/* Removes the ranks for labels that no label needs. */
static bool close_ranks(struct level *l) {
    uint32_t last = 0;
    for (uint32_t i = 0; i < l->n_boxes; i++)
        if (l->points[i].rank > last) last = l->points[i].rank;
    uint32_t *rank = graph_new(l->g, last + 2, sizeof *rank);
    if (!rank) return false;
    for (uint32_t i = 0; i < l->n_boxes; i++) rank[l->points[i].rank] = 1;
    for (uint32_t i = 0; i < l->n_edges; i++)
        if (l->edges[i].edge->label.n_lines && !l->edges[i].back)
            rank[l->points[l->edges[i].from].rank + 1] = 1;
    for (uint32_t r = 0; r <= last + 1; r++) {
        uint32_t used = rank[r];
        rank[r] = l->n_ranks;
        l->n_ranks += used;
    }
    for (uint32_t i = 0; i < l->n_boxes; i++) l->points[i].rank = rank[l->points[i].rank];
    return true;
}

/* ---- bundles --------------------------------------------------------------------------------- */

/* A bundle uses the handler's lane if either end is a handler. */
static enum graph_lane lane_of(const struct level *l, const struct level_edge *e) {
    enum graph_lane a = l->points[e->from].lane, b = l->points[e->to].lane;
    return a > b ? a : b;
}

static bool make_bundles(struct level *l) {
    enum { KINDS = 4 };
    uint32_t *of = graph_new(l->g, (size_t)l->n_boxes * KINDS * GRAPH_LANES, sizeof *of);
    l->bundles = graph_new(l->g, l->n_edges, sizeof *l->bundles);
    if (!of || !l->bundles) return false;
    for (uint32_t i = 0; i < l->n_edges; i++) {
        struct level_edge *e = &l->edges[i];
        bool catches = e->edge->kind == GRAPH_CATCH;
        enum graph_lane lane = lane_of(l, e);
        uint32_t kind = (e->back ? 2U : 0U) + (catches ? 1U : 0U);
        uint32_t *slot = &of[((size_t)e->to * KINDS + kind) * GRAPH_LANES + lane];
        uint32_t from = l->points[e->from].rank, to = l->points[e->to].rank;
        if (!*slot) {
            *slot = ++l->n_bundles;
            l->bundles[*slot - 1] = (struct level_bundle){.to = e->to,
                                                          .back = e->back,
                                                          .catches = catches,
                                                          .lane = lane,
                                                          .low = to,
                                                          .high = to};
        }
        struct level_bundle *b = &l->bundles[*slot - 1];
        e->bundle = *slot - 1;
        if (from < b->low) b->low = from;
        if (from > b->high) b->high = from;
    }
    return true;
}

/* Pays for the layout: for each piece of an edge about so much. */
static bool pay(struct level *l) {
    enum { PER_PIECE = 400, PER_EDGE = 50 };
    struct graph *g = l->g;
    uint64_t pieces = l->n_edges;
    for (uint32_t i = 0; i < l->n_bundles; i++) pieces += l->bundles[i].high - l->bundles[i].low;
    l->plain = pieces > GRAPH_PIECES - g->pieces;
    if (!l->plain) g->pieces += (uint32_t)pieces;
    uint64_t cost = l->plain ? (uint64_t)l->n_edges * PER_EDGE : pieces * PER_PIECE;
    g->spent = cost > g->fuel;
    g->fuel -= g->spent ? g->fuel : cost;
    return !g->spent;
}

static bool open_bundles(struct level *l) {
    for (uint32_t i = 0; i < l->n_bundles; i++) {
        struct level_bundle *b = &l->bundles[i];
        b->at = graph_new(l->g, b->high - b->low + 1, sizeof *b->at);
        if (!b->at) return false;
        for (uint32_t r = 0; r <= b->high - b->low; r++) b->at[r] = LEVEL_NONE;
    }
    return true;
}

/* ---- points and links ------------------------------------------------------------------------ */

/* Room for all points and links: every bundle has at most one point in each of its ranks. */
static bool reserve(struct level *l) {
    size_t n = (size_t)l->n_boxes + l->n_edges;
    for (uint32_t i = 0; i < l->n_bundles; i++) n += l->bundles[i].high - l->bundles[i].low + 1;
    if (n > UINT32_MAX / 4) n = SIZE_MAX; /* more than fits: no memory */
    struct level_point *points = graph_new(l->g, n, sizeof *points);
    l->links = graph_new(l->g, n == SIZE_MAX ? n : n + l->n_edges, sizeof *l->links);
    if (!points || !l->links) return false;
    memcpy(points, l->points, l->n_boxes * sizeof *points);
    l->points = points;
    return true;
}

static uint32_t add_point(struct level *l, uint32_t rank, enum graph_lane lane, uint32_t seq) {
    struct level_point *p = &l->points[l->n_points];
    *p = (struct level_point){.rank = rank, .lane = lane, .seq = seq, .partner = LEVEL_NONE};
    return l->n_points++;
}

static void add_link(struct level *l, uint32_t upper, uint32_t lower, bool catches) {
    l->links[l->n_links++] =
        (struct level_link){.upper = upper, .lower = lower, .catches = catches};
}

/* The bundle's point in a rank, made if it is not there, linked with the ranks up to its target:
 * the way from here to the box. */
static uint32_t reach(struct level *l, struct level_bundle *b, uint32_t rank, uint32_t seq) {
    uint32_t to = l->points[b->to].rank, wanted = LEVEL_NONE, before = LEVEL_NONE;
    for (uint32_t r = rank;; r = b->back ? r - 1 : r + 1) {
        if (r == to && !b->back) {
            if (before == LEVEL_NONE) return b->to;
            add_link(l, before, b->to, b->catches);
            return wanted;
        }
        uint32_t *at = &b->at[r - b->low];
        bool made = *at == LEVEL_NONE;
        if (made) *at = add_point(l, r, b->lane, seq);
        if (wanted == LEVEL_NONE) wanted = *at;
        if (before != LEVEL_NONE && b->back) add_link(l, *at, before, b->catches);
        if (before != LEVEL_NONE && !b->back) add_link(l, before, *at, b->catches);
        if (!made) return wanted;
        if (b->back && r == to) {
            l->points[*at].partner = b->to;
            return wanted;
        }
        before = *at;
    }
}

static void add_label(struct level *l, struct level_edge *e, uint32_t rank) {
    e->label = add_point(l, rank, lane_of(l, e), l->points[e->from].seq);
    l->points[e->label].label = e->edge;
    l->points[e->label].w = e->edge->label_at.w;
    l->points[e->label].h = e->edge->label_at.h;
}

static void thread_forward(struct level *l, struct level_edge *e) {
    uint32_t rank = l->points[e->from].rank, at = e->from, seq = l->points[e->from].seq;
    bool catches = l->bundles[e->bundle].catches;
    if (e->edge->label.n_lines) {
        add_label(l, e, ++rank);
        add_link(l, at, e->label, catches);
        at = e->label;
    }
    add_link(l, at, reach(l, &l->bundles[e->bundle], rank + 1, seq), catches);
}

static void thread_back(struct level *l, struct level_edge *e) {
    uint32_t rank = l->points[e->from].rank, seq = l->points[e->from].seq;
    uint32_t to = l->points[e->to].rank, at = LEVEL_NONE;
    if (e->edge->label.n_lines) {
        add_label(l, e, rank);
        l->points[e->label].partner = e->from;
        if (rank == to) return; /* it turns above its own rank */
        at = e->label;
        rank--;
    }
    uint32_t next = reach(l, &l->bundles[e->bundle], rank, seq);
    if (at != LEVEL_NONE)
        add_link(l, next, at, l->bundles[e->bundle].catches);
    else if (l->points[next].partner == LEVEL_NONE)
        l->points[next].partner = e->from;
}

static bool thread_edges(struct level *l) {
    if (!reserve(l)) return false;
    for (uint32_t i = 0; i < l->n_edges; i++) {
        struct level_edge *e = &l->edges[i];
        if (e->back)
            thread_back(l, e);
        else
            thread_forward(l, e);
    }
    return true;
}

/* ---- the lists of links ---------------------------------------------------------------------- */

static bool index_links(struct level *l) {
    l->ups = graph_new(l->g, l->n_links, sizeof *l->ups);
    l->downs = graph_new(l->g, l->n_links, sizeof *l->downs);
    if (!l->ups || !l->downs) return false;
    for (uint32_t i = 0; i < l->n_links; i++) {
        l->points[l->links[i].lower].n_up++;
        l->points[l->links[i].upper].n_down++;
    }
    uint32_t up = 0, down = 0;
    for (uint32_t i = 0; i < l->n_points; i++) {
        struct level_point *p = &l->points[i];
        p->up = up;
        p->down = down;
        up += p->n_up;
        down += p->n_down;
        p->n_up = p->n_down = 0;
    }
    for (uint32_t i = 0; i < l->n_links; i++) {
        struct level_point *lower = &l->points[l->links[i].lower];
        struct level_point *upper = &l->points[l->links[i].upper];
        l->ups[lower->up + lower->n_up++] = i;
        l->downs[upper->down + upper->n_down++] = i;
    }
    return true;
}

bool level_rank(struct level *l) {
    if (!order_boxes(l) || !close_ranks(l) || !make_bundles(l) || !pay(l)) return false;
    return l->plain || (open_bundles(l) && thread_edges(l) && index_links(l));
}
