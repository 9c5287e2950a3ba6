/* level_order.c: the order of the points in each rank. See level.h.
 *
 * Sweeps down and up sort each rank by the mean place of the neighbours in the rank before; the
 * order with the fewest crossings is kept. Lanes never mix. The number of sweeps falls with the
 * size, so that a very large Flow still takes time that grows as its size does. */
#include "tools/graph/level.h"

#include <stdlib.h>

struct place { /* of a point while its rank is sorted */
    double key;
    uint32_t lane, pos, point;
};

void level_number(struct level *l) {
    for (uint32_t r = 0; r < l->n_ranks; r++)
        for (uint32_t i = l->rank_at[r]; i < l->rank_at[r + 1]; i++)
            l->points[l->order[i]].pos = i - l->rank_at[r];
}

static int compare(const void *a, const void *b) {
    const struct place *p = a, *q = b;
    if (p->lane != q->lane) return p->lane < q->lane ? -1 : 1;
    if (p->key != q->key) return p->key < q->key ? -1 : 1;
    return p->pos < q->pos ? -1 : p->pos > q->pos;
}

static void sort_rank(struct level *l, uint32_t r, struct place *places) {
    uint32_t n = l->rank_at[r + 1] - l->rank_at[r], *order = l->order + l->rank_at[r];
    qsort(places, n, sizeof *places, compare);
    for (uint32_t i = 0; i < n; i++) {
        order[i] = places[i].point;
        l->points[order[i]].pos = i;
    }
}

/* The order in which the search met the boxes. */
static bool first_order(struct level *l, struct place *places) {
    l->rank_at = graph_new(l->g, l->n_ranks + 1, sizeof *l->rank_at);
    l->order = graph_new(l->g, l->n_points, sizeof *l->order);
    uint32_t *fill = graph_new(l->g, l->n_ranks + 1, sizeof *fill);
    if (!l->rank_at || !l->order || !fill) return false;
    for (uint32_t i = 0; i < l->n_points; i++) l->rank_at[l->points[i].rank + 1]++;
    for (uint32_t r = 0; r < l->n_ranks; r++) l->rank_at[r + 1] += l->rank_at[r];
    memcpy(fill, l->rank_at, (l->n_ranks + 1) * sizeof *fill);
    for (uint32_t i = 0; i < l->n_points; i++) l->order[fill[l->points[i].rank]++] = i;
    for (uint32_t r = 0; r < l->n_ranks; r++) {
        uint32_t n = l->rank_at[r + 1] - l->rank_at[r];
        for (uint32_t i = 0; i < n; i++) {
            const struct level_point *p = &l->points[l->order[l->rank_at[r] + i]];
            places[i] = (struct place){p->seq, p->lane, i, l->order[l->rank_at[r] + i]};
        }
        sort_rank(l, r, places);
    }
    return true;
}

/* The mean place of a point's neighbours above (or below); its own place when it has none. */
static double mean(const struct level *l, const struct level_point *p, bool above) {
    uint32_t n = above ? p->n_up : p->n_down;
    const uint32_t *links = above ? l->ups + p->up : l->downs + p->down;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        const struct level_link *k = &l->links[links[i]];
        sum += l->points[above ? k->upper : k->lower].pos;
    }
    return n ? sum / n : p->pos;
}

static void sweep(struct level *l, bool down, struct place *places) {
    for (uint32_t k = 0; k < l->n_ranks; k++) {
        uint32_t r = down ? k : l->n_ranks - 1 - k, n = l->rank_at[r + 1] - l->rank_at[r];
        for (uint32_t i = 0; i < n; i++) {
            uint32_t at = l->order[l->rank_at[r] + i];
            const struct level_point *p = &l->points[at];
            double key = mean(l, p, down);
            if (p->partner != LEVEL_NONE && (down ? p->n_up : p->n_down) == 0)
                key = mean(l, &l->points[p->partner], down) + 0.25; /* to the right of its box */
            places[i] = (struct place){key, p->lane, i, at};
        }
        sort_rank(l, r, places);
    }
}

/* ---- crossings ------------------------------------------------------------------------------- */

static int compare_places(const void *a, const void *b) {
    uint32_t p = *(const uint32_t *)a, q = *(const uint32_t *)b;
    return p < q ? -1 : p > q;
}

/* Pairs of links between a rank and the next that cross: for each link, those inserted before that
 * end to its right, counted in a tree of sums. `tree` has room for twice the widest rank, `ends`
 * for the links of a point. */
static uint64_t crossings_below(const struct level *l, uint32_t r, uint32_t *tree, uint32_t *ends) {
    uint32_t width = l->rank_at[r + 2] - l->rank_at[r + 1], inserted = 0;
    uint64_t total = 0;
    memset(tree, 0, (width + 1) * sizeof *tree);
    for (uint32_t i = l->rank_at[r]; i < l->rank_at[r + 1]; i++) {
        const struct level_point *p = &l->points[l->order[i]];
        for (uint32_t k = 0; k < p->n_down; k++)
            ends[k] = l->points[l->links[l->downs[p->down + k]].lower].pos;
        qsort(ends, p->n_down, sizeof *ends, compare_places);
        for (uint32_t k = 0; k < p->n_down; k++) {
            uint32_t not_right = 0;
            for (uint32_t t = ends[k] + 1; t; t &= t - 1) not_right += tree[t];
            total += inserted - not_right;
        }
        for (uint32_t k = 0; k < p->n_down; k++, inserted++)
            for (uint32_t t = ends[k] + 1; t <= width; t += t & (~t + 1)) tree[t]++;
    }
    return total;
}

static uint64_t crossings(const struct level *l, uint32_t *tree, uint32_t *ends) {
    uint64_t total = 0;
    for (uint32_t r = 0; r + 1 < l->n_ranks; r++) total += crossings_below(l, r, tree, ends);
    return total;
}

bool level_order(struct level *l) {
    enum { SWEEPS = 24, PATIENCE = 4, WORK = 4000000 };
    struct place *places = graph_new(l->g, l->n_points, sizeof *places);
    uint32_t *tree = graph_new(l->g, l->n_points + 1, sizeof *tree);
    uint32_t *ends = graph_new(l->g, l->n_links, sizeof *ends);
    uint32_t *best = graph_new(l->g, l->n_points, sizeof *best);
    if (!places || !tree || !ends || !best || !first_order(l, places)) return false;
    uint64_t fewest = crossings(l, tree, ends);
    memcpy(best, l->order, l->n_points * sizeof *best);
    uint64_t size = (uint64_t)l->n_points + l->n_links;
    for (uint32_t i = 0, idle = 0; fewest && i < SWEEPS && idle < PATIENCE; i++) {
        if (i >= 2 && i * size > WORK) break;
        sweep(l, i % 2 == 0, places);
        uint64_t now = crossings(l, tree, ends);
        idle = now < fewest ? 0 : idle + 1;
        if (now >= fewest) continue;
        fewest = now;
        memcpy(best, l->order, l->n_points * sizeof *best);
    }
    memcpy(l->order, best, l->n_points * sizeof *best);
    level_number(l);
    return true;
}
