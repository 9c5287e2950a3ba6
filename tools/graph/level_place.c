/* level_place.c: the x of every point. See level.h.
 *
 * Brandes and Koepf, "Fast and Simple Horizontal Coordinate Assignment": points are aligned with
 * the median of their neighbours into blocks, four times (from above or below, from the left or the
 * right); each time the blocks are packed by the longest way in the graph of what lies beside what;
 * the place of a point is the mean of the two middle ones of four. The inner part of a long edge is
 * always in one block, so it is straight. Linear in points and links.
 *
 * Each lane is placed alone and then moved beside the one before. */
#include "tools/graph/level.h"

#include <stdlib.h>

#define GAP_BOX 28.0  /* between two boxes */
#define GAP_LINE 14.0 /* between a line and anything */
#define GAP_LANE 44.0
#define PORTS_INSET 12.0 /* of ports from the corner of a box */

struct placing {
    struct level *l;
    uint32_t *root, *align, *after; /* by point */
    double *x[4];                   /* by point, of each alignment */
    double *shift;                  /* by point: of its root */
    uint32_t *n_before, *queue;
    enum graph_lane lane;
    bool placed; /* points of the lane have an x */
};

static bool passes(const struct level_point *p) { return !p->box && !p->label; }

static double gap(const struct level_point *a, const struct level_point *b) {
    double between = passes(a) || passes(b) ? GAP_LINE : GAP_BOX;
    if (a->label && b->label) between = GAP_LINE;
    return a->w / 2 + b->w / 2 + between;
}

/* The part of a rank that lies in the lane: [*begin, *end) of `order`. */
static void part(const struct placing *p, uint32_t r, uint32_t *begin, uint32_t *end) {
    const struct level *l = p->l;
    *begin = l->rank_at[r];
    while (*begin < l->rank_at[r + 1] && l->points[l->order[*begin]].lane < p->lane) ++*begin;
    *end = *begin;
    while (*end < l->rank_at[r + 1] && l->points[l->order[*end]].lane == p->lane) ++*end;
}

/* ---- conflicts ------------------------------------------------------------------------------- */

/* The point above that a passing line comes from, when that is a passing point too. */
static uint32_t inner_above(const struct level *l, const struct level_point *p) {
    if (!passes(p)) return LEVEL_NONE;
    for (uint32_t k = 0; k < p->n_up; k++) {
        uint32_t upper = l->links[l->ups[p->up + k]].upper;
        if (passes(&l->points[upper]) && l->points[upper].lane == p->lane) return upper;
    }
    return LEVEL_NONE;
}

static void mark(struct level *l, const struct level_point *p, uint32_t from, uint32_t to) {
    for (uint32_t k = 0; k < p->n_up; k++) {
        struct level_link *link = &l->links[l->ups[p->up + k]];
        const struct level_point *upper = &l->points[link->upper];
        if (passes(p) && passes(upper)) continue;
        if (upper->pos < from || upper->pos > to) link->conflict = true;
    }
}

/* Marks the links that cross the inner part of a long edge: these give way. */
static void mark_conflicts(struct placing *p) {
    struct level *l = p->l;
    for (uint32_t r = 1; r < l->n_ranks; r++) {
        uint32_t begin, end, done, from = 0;
        part(p, r, &begin, &end);
        done = begin;
        for (uint32_t i = begin; i < end; i++) {
            uint32_t inner = inner_above(l, &l->points[l->order[i]]);
            uint32_t to = inner == LEVEL_NONE ? UINT32_MAX : l->points[inner].pos;
            if (inner == LEVEL_NONE && i + 1 < end) continue;
            for (; done <= i; done++) mark(l, &l->points[l->order[done]], from, to);
            from = to;
        }
    }
}

/* The width of what a box is linked with above or below: at least, or as it was placed. */
static double span(const struct placing *p, const struct level_point *at, bool above) {
    const struct level *l = p->l;
    uint32_t n = above ? at->n_up : at->n_down, low = UINT32_MAX, high = 0;
    const uint32_t *links = above ? l->ups + at->up : l->downs + at->down;
    for (uint32_t k = 0; k < n; k++) {
        const struct level_link *link = &l->links[links[k]];
        const struct level_point *other = &l->points[above ? link->upper : link->lower];
        if (other->lane != p->lane) continue;
        if (other->pos < low) low = other->pos;
        if (other->pos > high) high = other->pos;
    }
    if (low >= high) return 0;
    const uint32_t *order = l->order + l->rank_at[above ? at->rank - 1 : at->rank + 1];
    if (p->placed) return l->points[order[high]].x - l->points[order[low]].x;
    double sum = 0;
    for (uint32_t k = low; k < high; k++)
        sum += gap(&l->points[order[k]], &l->points[order[k + 1]]);
    return sum;
}

/* Moves catch edges aside if they would pull the box out of line with its main path, unless the box
 * is wide enough for all lines to be straight. Returns whether some were marked. */
static bool mark_catches(const struct placing *p, const struct level_point *at, bool above) {
    const struct level *l = p->l;
    uint32_t n = above ? at->n_up : at->n_down;
    const uint32_t *links = above ? l->ups + at->up : l->downs + at->down;
    bool happy = false, marked = false;
    for (uint32_t k = 0; k < n && !happy; k++) {
        const struct level_link *link = &l->links[links[k]];
        const struct level_point *other = &l->points[above ? link->upper : link->lower];
        happy = !link->catches && other->lane == p->lane &&
                (above ? other->n_down : other->n_up) == 1; /* of this box alone */
    }
    if (!happy || span(p, at, above) <= at->w - 2 * PORTS_INSET) return false;
    for (uint32_t k = 0; k < n; k++) {
        struct level_link *link = &l->links[links[k]];
        if (!link->catches || link->yields) continue;
        link->yields = marked = true;
    }
    return marked;
}

static bool mark_all_catches(const struct placing *p) {
    bool marked = false;
    for (uint32_t i = 0; i < p->l->n_boxes; i++) {
        const struct level_point *at = &p->l->points[i];
        if (at->lane != p->lane) continue;
        if (mark_catches(p, at, true)) marked = true;
        if (mark_catches(p, at, false)) marked = true;
    }
    return marked;
}

/* ---- alignment ------------------------------------------------------------------------------- */

static int compare_pos(const void *a, const void *b) {
    const uint64_t p = *(const uint64_t *)a, q = *(const uint64_t *)b;
    return p < q ? -1 : p > q;
}

/* Collects a point's neighbours in its lane, from the left; of a passing point the passing ones
 * alone, if it has some, so that what joins a bundle does not bend it. Returns their number. */
static uint32_t collect_near(const struct placing *p, uint32_t v, bool above, uint64_t *near) {
    const struct level *l = p->l;
    const struct level_point *at = &l->points[v];
    uint32_t n = above ? at->n_up : at->n_down, used = 0;
    const uint32_t *links = above ? l->ups + at->up : l->downs + at->down;
    bool inner = false;
    for (uint32_t k = 0; k < n; k++) {
        const struct level_link *link = &l->links[links[k]];
        const struct level_point *other = &l->points[above ? link->upper : link->lower];
        if (other->lane != p->lane || link->yields || (inner && !passes(other))) continue;
        if (passes(at) && passes(other) && !inner) {
            inner = true;
            used = 0;
        }
        near[used++] = (uint64_t)other->pos << 32 | links[k];
    }
    qsort(near, used, sizeof *near, compare_pos);
    return used;
}

/* Aligns one point with the median of its neighbours, if nothing aligned before lies across.
 * `near` has room for its links. Returns the new limit. */
static int64_t align_point(struct placing *p, uint32_t v, bool above, bool left, int64_t limit,
                           uint64_t *near) {
    const struct level *l = p->l;
    uint32_t used = collect_near(p, v, above, near);
    for (uint32_t m = 0; used && m < 2; m++) {
        uint32_t lower = (used - 1) / 2, upper = used / 2;
        uint32_t k = (m == 0) == left ? lower : upper;
        const struct level_link *link = &l->links[near[k] & UINT32_MAX];
        uint32_t w = above ? link->upper : link->lower;
        int64_t pos = left ? (int64_t)l->points[w].pos : -(int64_t)l->points[w].pos;
        if (p->align[v] != v || link->conflict || pos <= limit) continue;
        p->align[w] = v;
        p->root[v] = p->root[w];
        p->align[v] = p->root[v];
        limit = pos;
    }
    return limit;
}

static void align(struct placing *p, bool above, bool left, uint64_t *near) {
    const struct level *l = p->l;
    for (uint32_t i = 0; i < l->n_points; i++) p->root[i] = p->align[i] = i;
    for (uint32_t k = 0; k < l->n_ranks; k++) {
        uint32_t begin, end;
        int64_t limit = INT64_MIN;
        part(p, above ? k : l->n_ranks - 1 - k, &begin, &end);
        for (uint32_t i = begin; i < end; i++)
            limit = align_point(p, l->order[left ? i : end - 1 - (i - begin)], above, left, limit,
                                near);
    }
}

/* ---- packing --------------------------------------------------------------------------------- */

/* Visits the neighbours in each rank: a root and the one to its right, with the distance. */
static void count_before(struct placing *p) {
    const struct level *l = p->l;
    memset(p->n_before, 0, l->n_points * sizeof *p->n_before);
    for (uint32_t r = 0, begin, end; r < l->n_ranks; r++) {
        part(p, r, &begin, &end);
        for (uint32_t i = begin + 1; i < end; i++) p->n_before[p->root[l->order[i]]]++;
    }
}

/* Roots in an order in which what lies to the left comes first; returns their number. */
static uint32_t sort_blocks(struct placing *p) {
    const struct level *l = p->l;
    uint32_t n = 0;
    count_before(p);
    for (uint32_t i = 0; i < l->n_points; i++)
        if (l->points[i].lane == p->lane && p->root[i] == i && !p->n_before[i]) p->queue[n++] = i;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t v = p->queue[k];
        do {
            const struct level_point *at = &l->points[v];
            uint32_t i = l->rank_at[at->rank] + at->pos + 1;
            if (i < l->rank_at[at->rank + 1] && l->points[l->order[i]].lane == p->lane) {
                uint32_t right = p->root[l->order[i]];
                if (--p->n_before[right] == 0) p->queue[n++] = right;
            }
            v = p->align[v];
        } while (v != p->queue[k]);
    }
    return n;
}

/* As far to the left as what lies there allows, then to the right as far as that closes a gap. */
static void pack(struct placing *p, bool left, double *x) {
    const struct level *l = p->l;
    uint32_t n = sort_blocks(p);
    for (uint32_t i = 0; i < l->n_points; i++) p->shift[i] = 0;
    for (uint32_t pass = 0; pass < 2; pass++) {
        for (uint32_t q = 0; q < n; q++) {
            bool to_left = (pass == 0) == left;
            uint32_t root = p->queue[to_left ? q : n - 1 - q], v = root;
            double best = 0;
            bool any = false;
            do {
                const struct level_point *at = &l->points[v];
                uint32_t here = l->rank_at[at->rank] + at->pos, i = to_left ? here - 1 : here + 1;
                bool inside = to_left ? at->pos > 0 : i < l->rank_at[at->rank + 1];
                if (inside && l->points[l->order[i]].lane == p->lane) {
                    const struct level_point *other = &l->points[l->order[i]];
                    double beside = p->shift[p->root[l->order[i]]];
                    double limit = to_left ? beside + gap(other, at) : beside - gap(at, other);
                    if (!any || (to_left ? limit > best : limit < best)) best = limit;
                    any = true;
                }
                v = p->align[v];
            } while (v != root);
            if (!any) continue;
            double now = p->shift[root];
            if (pass == 0 || (to_left ? best < now : best > now)) p->shift[root] = best;
        }
    }
    for (uint32_t i = 0; i < l->n_points; i++) x[i] = p->shift[p->root[i]];
}

/* ---- the four together ----------------------------------------------------------------------- */

static void extent(const struct placing *p, const double *x, double *low, double *high) {
    *low = 1e300;
    *high = -1e300;
    for (uint32_t i = 0; i < p->l->n_points; i++) {
        const struct level_point *at = &p->l->points[i];
        if (at->lane != p->lane) continue;
        if (x[i] - at->w / 2 < *low) *low = x[i] - at->w / 2;
        if (x[i] + at->w / 2 > *high) *high = x[i] + at->w / 2;
    }
}

static void order4(double v[4]) {
    for (int i = 1; i < 4; i++)
        for (int k = i; k > 0 && v[k - 1] > v[k]; k--) {
            double other = v[k];
            v[k] = v[k - 1];
            v[k - 1] = other;
        }
}

/* Moves the alignments to the edges of the narrowest one, and takes the middle. */
static void balance(struct placing *p) {
    double low[4], high[4];
    int narrow = 0;
    for (int a = 0; a < 4; a++) {
        extent(p, p->x[a], &low[a], &high[a]);
        if (high[a] - low[a] < high[narrow] - low[narrow]) narrow = a;
    }
    for (uint32_t i = 0; i < p->l->n_points; i++) {
        double v[4];
        if (p->l->points[i].lane != p->lane) continue;
        for (int a = 0; a < 4; a++) /* the odd ones are packed to the right */
            v[a] = p->x[a][i] + (a % 2 ? high[narrow] - high[a] : low[narrow] - low[a]);
        order4(v);
        p->l->points[i].x = (v[1] + v[2]) / 2;
    }
}

/* Beside the lanes before; *edge is where these end. */
static void move_lane(struct placing *p, double *edge, bool first) {
    double low = 1e300, high = -1e300;
    struct level *l = p->l;
    for (uint32_t i = 0; i < l->n_points; i++) {
        const struct level_point *at = &l->points[i];
        if (at->lane != p->lane) continue;
        if (at->x - at->w / 2 < low) low = at->x - at->w / 2;
        if (at->x + at->w / 2 > high) high = at->x + at->w / 2;
    }
    double by = (first ? 0 : *edge + GAP_LANE) - low;
    for (uint32_t i = 0; i < l->n_points; i++)
        if (l->points[i].lane == p->lane) l->points[i].x += by;
    *edge = high + by;
}

bool level_place(struct level *l) {
    enum { ROUNDS = 3 };
    struct placing p = {.l = l};
    uint32_t n = l->n_points;
    uint64_t *near = graph_new(l->g, l->n_links, sizeof *near);
    p.root = graph_new(l->g, n, sizeof *p.root);
    p.align = graph_new(l->g, n, sizeof *p.align);
    p.n_before = graph_new(l->g, n, sizeof *p.n_before);
    p.queue = graph_new(l->g, n, sizeof *p.queue);
    p.shift = graph_new(l->g, n, sizeof *p.shift);
    for (int a = 0; a < 4; a++) p.x[a] = graph_new(l->g, n, sizeof **p.x);
    if (l->g->failed) return false;
    double edge = 0;
    bool used[GRAPH_LANES] = {false};
    for (uint32_t i = 0; i < n; i++) used[l->points[i].lane] = true;
    for (p.lane = GRAPH_HAPPY; p.lane < GRAPH_LANES; p.lane++) {
        if (!used[p.lane]) continue;
        mark_conflicts(&p);
        p.placed = false;
        mark_all_catches(&p);
        for (int round = 0; round < ROUNDS; round++) {
            for (int a = 0; a < 4; a++) {
                align(&p, a < 2, a % 2 == 0, near);
                pack(&p, a % 2 == 0, p.x[a]);
            }
            balance(&p);
            p.placed = true;
            if (!mark_all_catches(&p)) break;
        }
        move_lane(&p, &edge, p.lane == GRAPH_HAPPY);
    }
    l->w = edge;
    return true;
}
