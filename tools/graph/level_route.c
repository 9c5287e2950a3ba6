/* level_route.c: where edges leave and enter boxes, and the lines between the ranks. See level.h.
 *
 * Channel c lies above rank c; the last one below the last rank. What joins points across a channel
 * is a net: its pins are at the top or the bottom, and one horizontal line on a track of its own
 * joins them. Tracks follow the order of tracks in channel routing: where a line down from the top
 * and a line up from the bottom would lie on each other, the first one's track is above; otherwise
 * the order that crosses less. Lines lie in channels, beside the boxes of a rank, or above and
 * below the box they belong to, so none passes through a box or a label. */
#include "tools/graph/level.h"

#include <math.h>
#include <stdlib.h>

#define TRACK 10.0 /* from track to track */
#define PORT 16.0  /* from port to port */
#define PORT_LEAST 7.0
#define INSET 12.0 /* of ports from the corner */
#define NEAR 6.0   /* lines this near would be taken for one */
#define STRAIGHT 0.05
#define AIR 10.0   /* between a track and a rank */
#define ARROW 16.0 /* the same above boxes: room for the arrow */

struct pin {
    double x;
    uint32_t net;
    bool top;
};

struct net {
    uint32_t channel, track;
    double low, high, score;
    uint32_t n_before; /* nets whose track must be above */
    bool placed;
};

struct routing {
    struct level *l;
    struct net *nets;
    uint32_t n_nets;
    uint32_t *bundle_net; /* by bundle: its first net: by rank - low, then the one into the box */
    uint32_t *label_net;  /* by edge: the one into its label, or LEVEL_NONE */
    struct pin *pins;     /* by channel when they are sorted */
    uint32_t n_pins, cap_pins;
    uint32_t *pin_at, *net_at, *net_order; /* by channel: where its pins and nets begin */
    uint32_t *tracks;                      /* by channel: how many */
    double *channel_y;                     /* of the first track */
};

/* ---- ports ----------------------------------------------------------------------------------- */

struct port {
    double want, at; /* where its line goes; where it touches */
    double gap;      /* to the next one, at least */
    double *out;
    uint32_t ix;
    bool catches, straight, fixed;
};

static int compare_ports(const void *a, const void *b) {
    const struct port *p = a, *q = b;
    if (p->want != q->want) return p->want < q->want ? -1 : 1;
    return p->ix < q->ix ? -1 : p->ix > q->ix;
}

/* Where a line that wants to go to x touches a box: there, if the box is so wide, which makes it
 * straight; else near the middle, on that side if there are others. */
static void wish(const struct level_point *box, struct port *p, bool alone) {
    double half = box->w / 2 - INSET, aside = half < PORT ? half : PORT, x = p->want;
    p->straight = x >= box->x - half && x <= box->x + half;
    if (p->straight || (half <= 0 && fabs(x - box->x) < STRAIGHT))
        p->at = x;
    else if (alone || half <= 0)
        p->at = box->x;
    else
        p->at = x < box->x ? box->x - aside : box->x + aside;
}

/* Fixes a port where its line is straight, if the others still have room: these move together. */
static void fix_port(const struct level_point *box, struct port *ports, uint32_t n, uint32_t i,
                     double least) {
    double half = box->w / 2 - INSET, left = box->x - half, right = box->x + half;
    uint32_t from = i, to = i;
    while (from > 0 && !ports[from - 1].fixed) from--;
    while (to < n - 1 && !ports[to + 1].fixed) to++;
    if (from > 0) left = ports[--from].at;
    if (to < n - 1) right = ports[++to].at;
    double before = from < i ? (ports[i].at - left) / (i - from) : PORT;
    double after = i < to ? (right - ports[i].at) / (to - i) : PORT;
    if (before < least || after < least) return;
    ports[i].fixed = true;
    for (uint32_t k = from; k < i; k++) ports[k].gap = before < PORT ? before : PORT;
    for (uint32_t k = i; k < to; k++) ports[k].gap = after < PORT ? after : PORT;
}

/* Ports that push each other, moved together. */
struct port_group {
    double mean, weight;
    uint32_t size;
};

/* Places the ports as near to their wishes as their distance allows (pool adjacent violators). */
static void push_ports(double low, double high, struct port *ports, uint32_t n,
                       struct port_group *group) {
    uint32_t groups = 0;
    double before = 0; /* the room that those before take */
    for (uint32_t i = 0; i < n; i++) {
        struct port_group *last = &group[groups++];
        last->mean = ports[i].at - before;
        last->weight = ports[i].fixed ? 1e9 : ports[i].straight ? 10 : 1;
        last->size = 1;
        if (i + 1 < n) before += ports[i].gap;
        for (; groups > 1 && last[-1].mean > last->mean; groups--, last--) {
            double sum = last[-1].weight + last->weight;
            last[-1].mean = (last[-1].mean * last[-1].weight + last->mean * last->weight) / sum;
            last[-1].weight = sum;
            last[-1].size += last->size;
        }
    }
    double most = high - before;
    before = 0;
    for (uint32_t g = 0, i = 0; g < groups; g++) {
        double at = group[g].mean < low ? low : group[g].mean > most ? most : group[g].mean;
        for (uint32_t k = 0; k < group[g].size; k++, i++) {
            *ports[i].out = at + before;
            before += ports[i].gap;
        }
    }
}

/* Places the ports of one side: straight lines first, those of the happy path before catches. */
static void spread_ports(const struct level_point *box, struct port *ports, uint32_t n,
                         struct port_group *group) {
    double room = box->w - 2 * INSET, gap = PORT;
    if (room < 0) room = 0;
    if (n > 1 && gap > room / (n - 1)) gap = room / (n - 1);
    double least = gap / 2 < PORT_LEAST ? gap / 2 : PORT_LEAST;
    qsort(ports, n, sizeof *ports, compare_ports);
    for (uint32_t i = 0; i < n; i++) {
        wish(box, &ports[i], n == 1);
        ports[i].gap = gap;
    }
    for (int catches = 0; catches < 2; catches++)
        for (uint32_t i = 0; i < n; i++)
            if (ports[i].straight && ports[i].catches == catches) fix_port(box, ports, n, i, least);
    push_ports(box->x - room / 2, box->x + room / 2, ports, n, group);
}

/* Where a bundle comes from when it reaches its box. */
static double coming_from(const struct level *l, const struct level_bundle *b) {
    uint32_t to = l->points[b->to].rank, r = b->back ? to : to - 1;
    uint32_t at = r >= b->low && r <= b->high ? b->at[r - b->low] : LEVEL_NONE;
    return at == LEVEL_NONE ? b->port : l->points[at].x; /* see find_sources */
}

/* Finds what joins the bundles right before the box, for those without a point there: the source
 * that comes straight from above, nearest to the middle of the box, or the mean of all. */
static bool find_sources(struct level *l) {
    uint32_t *n = graph_new(l->g, l->n_bundles, sizeof *n);
    double *straight = graph_new(l->g, l->n_bundles, sizeof *straight);
    if (!n || !straight) return false;
    for (uint32_t i = 0; i < l->n_bundles; i++) straight[i] = HUGE_VAL;
    for (uint32_t i = 0; i < l->n_edges; i++) {
        const struct level_edge *e = &l->edges[i];
        const struct level_point *to = &l->points[e->to];
        const struct level_point *from = &l->points[e->label == LEVEL_NONE ? e->from : e->label];
        double *best = &straight[e->bundle], aside = fabs(from->x - to->x);
        if (aside <= to->w / 2 - INSET && aside < fabs(*best - to->x)) *best = from->x;
        l->bundles[e->bundle].port += from->x;
        n[e->bundle]++;
    }
    for (uint32_t i = 0; i < l->n_bundles; i++) {
        l->bundles[i].port /= n[i] ? n[i] : 1;
        if (straight[i] < HUGE_VAL) l->bundles[i].port = straight[i];
    }
    return true;
}

/* The x of what an edge meets first. */
static double going_to(const struct level *l, const struct level_edge *e) {
    const struct level_bundle *b = &l->bundles[e->bundle];
    if (e->label != LEVEL_NONE) return l->points[e->label].x;
    uint32_t r = l->points[e->from].rank + (e->back ? 0 : 1);
    uint32_t at = r >= b->low && r <= b->high ? b->at[r - b->low] : LEVEL_NONE;
    return at == LEVEL_NONE ? b->port : l->points[at].x;
}

/* Ports of one side of all boxes; `box_of` by port. */
static bool place_ports(struct level *l, const uint32_t *box_of, const struct port *all,
                        uint32_t n) {
    uint32_t *first = graph_new(l->g, l->n_boxes + 2, sizeof *first);
    struct port *ports = graph_new(l->g, n, sizeof *ports);
    struct port_group *group = graph_new(l->g, n, sizeof *group);
    if (!first || !ports || !group) return false;
    for (uint32_t i = 0; i < n; i++) first[box_of[i] + 2]++;
    for (uint32_t i = 0; i < l->n_boxes; i++) first[i + 2] += first[i + 1];
    for (uint32_t i = 0; i < n; i++) ports[first[box_of[i] + 1]++] = all[i];
    for (uint32_t i = 0; i < l->n_boxes; i++)
        if (first[i + 1] > first[i])
            spread_ports(&l->points[i], ports + first[i], first[i + 1] - first[i], group);
    return true;
}

static bool find_ports(struct level *l) {
    uint32_t n = l->n_edges > l->n_bundles ? l->n_edges : l->n_bundles;
    uint32_t *box_of = graph_new(l->g, n, sizeof *box_of);
    struct port *ports = graph_new(l->g, n, sizeof *ports);
    if (!box_of || !ports || !find_sources(l)) return false;
    for (uint32_t i = 0; i < l->n_bundles; i++) {
        struct level_bundle *b = &l->bundles[i];
        box_of[i] = b->to;
        ports[i] = (struct port){
            .want = coming_from(l, b), .out = &b->port, .ix = i, .catches = b->catches};
    }
    if (!place_ports(l, box_of, ports, l->n_bundles)) return false;
    for (uint32_t i = 0; i < l->n_edges; i++) {
        struct level_edge *e = &l->edges[i];
        box_of[i] = e->from;
        ports[i] = (struct port){.want = going_to(l, e),
                                 .out = &e->port,
                                 .ix = i,
                                 .catches = l->bundles[e->bundle].catches};
    }
    return place_ports(l, box_of, ports, l->n_edges);
}

/* ---- nets ------------------------------------------------------------------------------------ */

static uint32_t new_net(struct routing *r, uint32_t channel) {
    r->nets[r->n_nets] = (struct net){.channel = channel, .low = 1e300, .high = -1e300};
    return r->n_nets++;
}

static void add_pin(struct routing *r, uint32_t net, double x, bool top) {
    struct net *n = &r->nets[net];
    if (x < n->low) n->low = x;
    if (x > n->high) n->high = x;
    r->pins[r->n_pins++] = (struct pin){x, net, top};
}

/* The net into the bundle's point in a rank. */
static uint32_t net_into(const struct routing *r, uint32_t bundle, uint32_t rank) {
    return r->bundle_net[bundle] + rank - r->l->bundles[bundle].low;
}
static uint32_t net_into_box(const struct routing *r, uint32_t bundle) {
    const struct level_bundle *b = &r->l->bundles[bundle];
    return r->bundle_net[bundle] + b->high - b->low + 1;
}

static void bundle_nets(struct routing *r, uint32_t ix) {
    const struct level *l = r->l;
    const struct level_bundle *b = &l->bundles[ix];
    uint32_t to = l->points[b->to].rank, before = b->back ? to : to - 1;
    r->bundle_net[ix] = r->n_nets;
    for (uint32_t k = b->low; k <= b->high; k++) new_net(r, b->back ? k + 1 : k);
    uint32_t last = new_net(r, to);
    for (uint32_t k = b->low; k <= b->high; k++) {
        uint32_t at = b->at[k - b->low];
        if (at == LEVEL_NONE) continue;
        double x = l->points[at].x;
        add_pin(r, net_into(r, ix, k), x, b->back);
        if (k == before)
            add_pin(r, last, x, !b->back);
        else
            add_pin(r, net_into(r, ix, b->back ? k - 1 : k + 1), x, !b->back);
    }
    add_pin(r, last, b->port, false);
}

/* The nets that an edge is in before it is part of its bundle. */
static void edge_nets(struct routing *r, uint32_t ix) {
    const struct level *l = r->l;
    const struct level_edge *e = &l->edges[ix];
    uint32_t rank = l->points[e->from].rank, to = l->points[e->to].rank;
    r->label_net[ix] = LEVEL_NONE;
    if (e->label != LEVEL_NONE) {
        double x = l->points[e->label].x;
        r->label_net[ix] = new_net(r, rank + 1);
        add_pin(r, r->label_net[ix], e->port, true);
        add_pin(r, r->label_net[ix], x, e->back);
        if (!e->back) rank++;
        uint32_t next = e->back ? rank - 1 : rank + 1;
        bool enters = e->back ? rank == to : next == to;
        add_pin(r, enters ? net_into_box(r, e->bundle) : net_into(r, e->bundle, next), x, !e->back);
    } else {
        uint32_t next = e->back ? rank : rank + 1;
        bool enters = !e->back && next == to;
        add_pin(r, enters ? net_into_box(r, e->bundle) : net_into(r, e->bundle, next), e->port,
                true);
    }
}

static bool make_nets(struct routing *r) {
    const struct level *l = r->l;
    size_t nets = l->n_edges, pins = (size_t)l->n_edges * 3;
    for (uint32_t i = 0; i < l->n_bundles; i++) {
        nets += l->bundles[i].high - l->bundles[i].low + 2;
        pins += 2 * (size_t)(l->bundles[i].high - l->bundles[i].low + 1) + 1;
    }
    r->nets = graph_new(l->g, nets, sizeof *r->nets);
    r->pins = graph_new(l->g, pins, sizeof *r->pins);
    r->bundle_net = graph_new(l->g, l->n_bundles, sizeof *r->bundle_net);
    r->label_net = graph_new(l->g, l->n_edges, sizeof *r->label_net);
    if (l->g->failed) return false;
    for (uint32_t i = 0; i < l->n_bundles; i++) bundle_nets(r, i);
    for (uint32_t i = 0; i < l->n_edges; i++) edge_nets(r, i);
    return true;
}

/* ---- tracks ---------------------------------------------------------------------------------- */

static bool is_straight(const struct net *n) { return n->high - n->low < STRAIGHT; }

static int compare_pins(const void *a, const void *b) {
    const struct pin *p = a, *q = b;
    if (p->x != q->x) return p->x < q->x ? -1 : 1;
    if (p->net != q->net) return p->net < q->net ? -1 : 1;
    return (int)p->top - (int)q->top;
}

/* Pins and nets by channel, pins from the left. */
static bool sort_by_channel(struct routing *r) {
    uint32_t channels = r->l->n_ranks + 1;
    struct graph *g = r->l->g;
    struct pin *sorted = graph_new(g, r->n_pins, sizeof *sorted);
    r->pin_at = graph_new(g, channels + 2, sizeof *r->pin_at);
    r->net_at = graph_new(g, channels + 2, sizeof *r->net_at);
    r->net_order = graph_new(g, r->n_nets, sizeof *r->net_order);
    r->tracks = graph_new(g, channels, sizeof *r->tracks);
    r->channel_y = graph_new(g, channels, sizeof *r->channel_y);
    if (g->failed) return false;
    for (uint32_t i = 0; i < r->n_pins; i++) r->pin_at[r->nets[r->pins[i].net].channel + 2]++;
    for (uint32_t i = 0; i < r->n_nets; i++) r->net_at[r->nets[i].channel + 2]++;
    for (uint32_t c = 0; c < channels; c++) {
        r->pin_at[c + 2] += r->pin_at[c + 1];
        r->net_at[c + 2] += r->net_at[c + 1];
    }
    for (uint32_t i = 0; i < r->n_pins; i++)
        sorted[r->pin_at[r->nets[r->pins[i].net].channel + 1]++] = r->pins[i];
    for (uint32_t i = 0; i < r->n_nets; i++) r->net_order[r->net_at[r->nets[i].channel + 1]++] = i;
    r->pins = sorted;
    for (uint32_t c = 0; c < channels; c++)
        qsort(r->pins + r->pin_at[c], r->pin_at[c + 1] - r->pin_at[c], sizeof *r->pins,
              compare_pins);
    return true;
}

/* A net that must lie above another. */
struct above {
    uint32_t net, below, next; /* the next one of the same net */
};

struct tracks { /* the work on one channel */
    struct routing *r;
    uint32_t *nets, n; /* those with a track */
    struct above *above;
    uint32_t n_above, cap_above, *first_above; /* by net */
    uint32_t *heap, n_heap;
    double *xs; /* what lies where: a tree of the highest track above each stretch */
    uint32_t n_xs, *tree, *lazy;
};

static void find_constraints(struct tracks *t, uint32_t channel) {
    const struct routing *r = t->r;
    const struct pin *pins = r->pins;
    for (uint32_t i = r->pin_at[channel]; i < r->pin_at[channel + 1]; i++)
        for (uint32_t k = i + 1; k < r->pin_at[channel + 1] && pins[k].x - pins[i].x < NEAR; k++) {
            if (pins[i].top == pins[k].top || pins[i].net == pins[k].net) continue;
            if (t->n_above == t->cap_above) return; /* ports so near that no order helps */
            const struct pin *up = pins[i].top ? &pins[i] : &pins[k];
            const struct pin *down = pins[i].top ? &pins[k] : &pins[i];
            if (is_straight(&r->nets[up->net]) || is_straight(&r->nets[down->net])) continue;
            t->above[t->n_above] = (struct above){up->net, down->net, t->first_above[up->net]};
            t->first_above[up->net] = t->n_above++;
            r->nets[down->net].n_before++;
        }
}

/* How many crossings more it costs to put this net above all others it meets than below: a pin
 * that crosses the other's line. */
static void find_scores(struct tracks *t, uint32_t channel) {
    enum { MOST = 4000 }; /* pairs of a net and a pin; beyond that any order serves */
    struct routing *r = t->r;
    uint32_t begin = r->pin_at[channel], end = r->pin_at[channel + 1];
    if ((uint64_t)t->n * (end - begin) > (uint64_t)MOST * 100) return;
    for (uint32_t i = 0; i < t->n; i++) {
        struct net *n = &r->nets[t->nets[i]];
        for (uint32_t k = begin; k < end; k++) {
            const struct pin *p = &r->pins[k];
            if (p->net == t->nets[i] || p->x <= n->low || p->x >= n->high) continue;
            double cost = p->top ? 1 : -1; /* a line from the top crosses the net only if above */
            n->score += cost;
            r->nets[p->net].score -= cost;
        }
    }
}

static bool heap_less(const struct tracks *t, uint32_t a, uint32_t b) {
    const struct net *p = &t->r->nets[a], *q = &t->r->nets[b];
    return p->score != q->score ? p->score < q->score : a < b;
}

static void heap_put(struct tracks *t, uint32_t net) {
    uint32_t i = t->n_heap++;
    for (; i && heap_less(t, net, t->heap[(i - 1) / 2]); i = (i - 1) / 2)
        t->heap[i] = t->heap[(i - 1) / 2];
    t->heap[i] = net;
}

static uint32_t heap_take(struct tracks *t) {
    uint32_t taken = t->heap[0], last = t->heap[--t->n_heap], i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= t->n_heap) break;
        if (child + 1 < t->n_heap && heap_less(t, t->heap[child + 1], t->heap[child])) child++;
        if (!heap_less(t, t->heap[child], last)) break;
        t->heap[i] = t->heap[child];
        i = child;
    }
    t->heap[i] = last;
    return taken;
}

/* ---- the highest track above a stretch ------------------------------------------------------- */

static uint32_t find_x(const struct tracks *t, double x) {
    uint32_t low = 0, high = t->n_xs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (t->xs[middle] < x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The largest number in [from, to] of the tree's node, which covers [low, high]. */
static uint32_t tree_most(const struct tracks *t, uint32_t node, uint32_t low, uint32_t high,
                          uint32_t from, uint32_t to) {
    if (from > high || to < low) return 0;
    if (from <= low && high <= to) return t->tree[node];
    uint32_t middle = low + (high - low) / 2;
    uint32_t a = tree_most(t, 2 * node, low, middle, from, to);
    uint32_t b = tree_most(t, 2 * node + 1, middle + 1, high, from, to);
    uint32_t most = a > b ? a : b;
    return most > t->lazy[node] ? most : t->lazy[node];
}

static void tree_raise(struct tracks *t, uint32_t node, uint32_t low, uint32_t high, uint32_t from,
                       uint32_t to, uint32_t value) {
    if (from > high || to < low) return;
    if (t->tree[node] < value) t->tree[node] = value;
    if (from <= low && high <= to) {
        if (t->lazy[node] < value) t->lazy[node] = value;
        return;
    }
    uint32_t middle = low + (high - low) / 2;
    tree_raise(t, 2 * node, low, middle, from, to, value);
    tree_raise(t, 2 * node + 1, middle + 1, high, from, to, value);
}

/* The net's track: below every track that was given above its stretch. */
static void give_track(struct tracks *t, uint32_t ix) {
    struct net *n = &t->r->nets[ix];
    uint32_t from = find_x(t, n->low - NEAR), to = find_x(t, n->high + NEAR);
    if (to >= t->n_xs) to = t->n_xs - 1;
    n->track = tree_most(t, 1, 0, t->n_xs - 1, from, to);
    n->placed = true;
    tree_raise(t, 1, 0, t->n_xs - 1, from, to, n->track + 1);
    if (t->r->tracks[n->channel] <= n->track) t->r->tracks[n->channel] = n->track + 1;
    for (uint32_t k = t->first_above[ix]; k != LEVEL_NONE; k = t->above[k].next) {
        struct net *below = &t->r->nets[t->above[k].below];
        if (--below->n_before == 0 && !below->placed) heap_put(t, t->above[k].below);
    }
}

static void give_tracks(struct tracks *t) {
    for (uint32_t i = 0; i < t->n; i++)
        if (t->r->nets[t->nets[i]].n_before == 0) heap_put(t, t->nets[i]);
    for (uint32_t i = 0, given = 0; given < t->n;) {
        if (t->n_heap) {
            uint32_t net = heap_take(t);
            if (t->r->nets[net].placed) continue;
            give_track(t, net);
            given++;
        } else { /* a cycle: two lines would have to change places; one of them gives way */
            while (t->r->nets[t->nets[i]].placed) i++;
            heap_put(t, t->nets[i]);
        }
    }
}

static bool find_tracks(struct routing *r) {
    struct graph *g = r->l->g;
    struct tracks t = {.r = r};
    t.nets = graph_new(g, r->n_nets, sizeof *t.nets);
    t.heap = graph_new(g, (size_t)r->n_nets * 2, sizeof *t.heap);
    t.first_above = graph_new(g, r->n_nets, sizeof *t.first_above);
    uint32_t most = 0; /* pins in one channel */
    for (uint32_t c = 0; c <= r->l->n_ranks; c++)
        if (r->pin_at[c + 1] - r->pin_at[c] > most) most = r->pin_at[c + 1] - r->pin_at[c];
    t.cap_above = most * 4;
    t.above = graph_new(g, t.cap_above, sizeof *t.above);
    t.xs = graph_new(g, most, sizeof *t.xs);
    t.tree = graph_new(g, (size_t)most * 4, sizeof *t.tree);
    t.lazy = graph_new(g, (size_t)most * 4, sizeof *t.lazy);
    if (g->failed) return false;
    for (uint32_t i = 0; i < r->n_nets; i++) t.first_above[i] = LEVEL_NONE;
    for (uint32_t c = 0; c <= r->l->n_ranks; c++) {
        t.n = t.n_above = t.n_heap = t.n_xs = 0;
        for (uint32_t i = r->net_at[c]; i < r->net_at[c + 1]; i++)
            if (r->nets[r->net_order[i]].low < r->nets[r->net_order[i]].high &&
                !is_straight(&r->nets[r->net_order[i]]))
                t.nets[t.n++] = r->net_order[i];
        if (!t.n) continue;
        for (uint32_t i = r->pin_at[c]; i < r->pin_at[c + 1]; i++)
            if (!t.n_xs || t.xs[t.n_xs - 1] < r->pins[i].x) t.xs[t.n_xs++] = r->pins[i].x;
        memset(t.tree, 0, (size_t)t.n_xs * 4 * sizeof *t.tree);
        memset(t.lazy, 0, (size_t)t.n_xs * 4 * sizeof *t.lazy);
        find_constraints(&t, c);
        find_scores(&t, c);
        give_tracks(&t);
    }
    return true;
}

/* ---- y --------------------------------------------------------------------------------------- */

static void find_y(struct routing *r) {
    struct level *l = r->l;
    double y = 0;
    for (uint32_t c = 0; c <= l->n_ranks; c++) {
        bool outside = c == 0 || c == l->n_ranks, boxes = false;
        double tall = 0;
        for (uint32_t i = l->rank_at[c]; c < l->n_ranks && i < l->rank_at[c + 1]; i++) {
            const struct level_point *p = &l->points[l->order[i]];
            if (p->h > tall) tall = p->h;
            if (p->box) boxes = true;
        }
        double below = boxes ? ARROW : AIR;
        r->channel_y[c] = y + AIR;
        if (r->tracks[c])
            y += AIR + (r->tracks[c] - 1) * TRACK + below;
        else if (!outside)
            y += boxes ? AIR + ARROW : AIR;
        for (uint32_t i = l->rank_at[c]; c < l->n_ranks && i < l->rank_at[c + 1]; i++) {
            struct level_point *p = &l->points[l->order[i]];
            p->y = y + (tall - p->h) / 2;
        }
        y += tall;
    }
    l->h = y;
}

/* ---- lines ----------------------------------------------------------------------------------- */

struct line {
    struct graph_point *at;
    uint32_t n, cap;
};

/* Goes on to a point; what differs by less than can be seen is the same x. */
static void line_to(struct line *s, double x, double y) {
    struct graph_point *p = s->at;
    if (s->n && fabs(p[s->n - 1].x - x) < STRAIGHT) x = p[s->n - 1].x;
    if (s->n && p[s->n - 1].x == x && p[s->n - 1].y == y) return;
    if (s->n > 1 &&
        ((p[s->n - 1].x == x && p[s->n - 2].x == x) || (p[s->n - 1].y == y && p[s->n - 2].y == y)))
        s->n--;
    p[s->n++] = (struct graph_point){x, y};
}

/* Through a net to x: along its track, or straight on. */
static void cross(const struct routing *r, struct line *s, uint32_t net, double x) {
    const struct net *n = &r->nets[net];
    if (is_straight(n)) return;
    double y = r->channel_y[n->channel] + n->track * TRACK;
    line_to(s, s->at[s->n - 1].x, y);
    line_to(s, x, y);
}

static void follow(const struct routing *r, struct line *s, const struct level_edge *e,
                   uint32_t ix) {
    const struct level *l = r->l;
    const struct level_bundle *b = &l->bundles[e->bundle];
    const struct level_point *from = &l->points[e->from], *to = &l->points[e->to];
    uint32_t rank = from->rank + (e->back ? 0 : 1);
    line_to(s, e->port, from->y + from->h);
    if (e->label != LEVEL_NONE) {
        cross(r, s, r->label_net[ix], l->points[e->label].x);
        rank += e->back ? UINT32_MAX : 1; /* one up or down */
    }
    bool direct = e->back && e->label != LEVEL_NONE && from->rank == to->rank;
    while (!direct && (e->back ? rank + 1 > to->rank : rank < to->rank)) {
        cross(r, s, net_into(r, e->bundle, rank), l->points[b->at[rank - b->low]].x);
        if (e->back && rank == to->rank) break;
        rank += e->back ? UINT32_MAX : 1;
    }
    cross(r, s, net_into_box(r, e->bundle), b->port);
    line_to(s, s->at[s->n - 1].x, to->y);
}

static bool draw(struct routing *r) {
    struct level *l = r->l;
    struct line s = {graph_new(l->g, (size_t)l->n_ranks * 2 + 16, sizeof *s.at), 0, 0};
    if (!s.at) return false;
    for (uint32_t i = 0; i < l->n_edges; i++) {
        const struct level_edge *e = &l->edges[i];
        s.n = 0;
        follow(r, &s, e, i);
        e->edge->points = graph_new(l->g, s.n, sizeof *s.at);
        if (!e->edge->points) return false;
        memcpy(e->edge->points, s.at, s.n * sizeof *s.at);
        e->edge->n_points = s.n;
        if (e->label == LEVEL_NONE) continue;
        const struct level_point *p = &l->points[e->label];
        e->edge->label_at.x = p->x - p->w / 2;
        e->edge->label_at.y = p->y;
    }
    return true;
}

bool level_route(struct level *l) {
    struct routing r = {.l = l};
    if (!find_ports(l) || !make_nets(&r) || !sort_by_channel(&r) || !find_tracks(&r)) return false;
    find_y(&r);
    return draw(&r);
}
