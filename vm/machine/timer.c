/* timer.c: see timer.h. */
#include "vm/machine/timer.h"

#include <string.h>

enum { TICK_BITS = 20, DIGIT_BITS = 6, SOON = UINT16_MAX, MANY = 64 };

struct mwl__timer_node {
    int64_t due_ns;
    uint64_t order; /* as the timer's */
    mwl__timer *timer;
    uint32_t next, prev; /* in its slot; `next` also of a free one */
    uint32_t at;         /* its place in the heap */
    uint16_t slot;       /* level * 64 + digit; SOON: it is in the heap */
    uint16_t order_low;
};

/* The instant lies beside the node's number so that sifting mostly stays within the heap's own
 * memory; only ties look into the nodes. */
struct mwl__timer_place {
    int64_t due_ns;
    uint32_t id;
};

_Static_assert(1 << DIGIT_BITS == MWL_TIMER_SLOTS, "a slot for each value of a digit");
_Static_assert(TICK_BITS + DIGIT_BITS * MWL_TIMER_LEVELS >= 63, "every instant has a level");

void mwl__timers_init(mwl__timers *t, mwl_alloc alloc, size_t before) {
    memset(t, 0, sizeof *t);
    t->alloc = alloc;
    t->before = before;
    t->n_nodes = 1;
}

void mwl__timers_done(mwl__timers *t) {
    mwl__mem_free(&t->alloc, t->node, t->node_cap * sizeof *t->node);
    mwl__mem_free(&t->alloc, t->soon, t->soon_cap * sizeof *t->soon);
    mwl__timers_init(t, t->alloc, t->before);
}

/* ---- the heap -------------------------------------------------------------------------------- */

static bool before(const mwl__timers *t, struct mwl__timer_place a, struct mwl__timer_place b) {
    if (a.due_ns != b.due_ns) return a.due_ns < b.due_ns;
    const struct mwl__timer_node *x = &t->node[a.id], *y = &t->node[b.id];
    if (x->order != y->order) return x->order < y->order;
    return x->order_low < y->order_low;
}

static void place(mwl__timers *t, size_t at, struct mwl__timer_place p) {
    t->soon[at] = p;
    t->node[p.id].at = (uint32_t)at;
}

static void sift_up(mwl__timers *t, size_t at, struct mwl__timer_place p) {
    while (at > 0) {
        size_t up = (at - 1) / 2;
        if (!before(t, p, t->soon[up])) break;
        place(t, at, t->soon[up]);
        at = up;
    }
    place(t, at, p);
}

static void sift_down(mwl__timers *t, size_t at, struct mwl__timer_place p) {
    for (;;) {
        size_t kid = at * 2 + 1;
        if (kid >= t->n_soon) break;
        if (kid + 1 < t->n_soon && before(t, t->soon[kid + 1], t->soon[kid])) kid++;
        if (!before(t, t->soon[kid], p)) break;
        place(t, at, t->soon[kid]);
        at = kid;
    }
    place(t, at, p);
}

static void heap_remove(mwl__timers *t, uint32_t id) {
    size_t at = t->node[id].at;
    struct mwl__timer_place last = t->soon[--t->n_soon];
    if (last.id == id) return;
    if (at > 0 && before(t, last, t->soon[(at - 1) / 2]))
        sift_up(t, at, last);
    else
        sift_down(t, at, last);
}

/* ---- the slots ------------------------------------------------------------------------------- */

static uint64_t tick_of(int64_t due_ns) { return due_ns < 0 ? 0 : (uint64_t)due_ns >> TICK_BITS; }

static unsigned highest_bit(uint64_t u) {
#if defined(__GNUC__)
    return 63u - (unsigned)__builtin_clzll(u);
#else
    unsigned n = 0;
    while (u >>= 1) n++;
    return n;
#endif
}

static unsigned lowest_bit(uint64_t u) { return highest_bit(u & (0 - u)); }

/* Into the heap or a slot, as its tick says. */
static void enter(mwl__timers *t, uint32_t id) {
    struct mwl__timer_node *n = &t->node[id];
    uint64_t tick = tick_of(n->due_ns);
    if (tick <= t->tick) {
        n->slot = SOON;
        sift_up(t, t->n_soon++, (struct mwl__timer_place){n->due_ns, id});
        return;
    }
    unsigned level = highest_bit(tick ^ t->tick) / DIGIT_BITS;
    unsigned digit = tick >> level * DIGIT_BITS & (MWL_TIMER_SLOTS - 1);
    uint32_t *first = &t->slot[level][digit];
    n->slot = (uint16_t)(level * MWL_TIMER_SLOTS + digit);
    n->prev = 0;
    n->next = *first;
    if (n->next) t->node[n->next].prev = id;
    *first = id;
    t->filled[level] |= UINT64_C(1) << digit;
}

static void slot_remove(mwl__timers *t, struct mwl__timer_node *n) {
    unsigned level = n->slot / MWL_TIMER_SLOTS, digit = n->slot % MWL_TIMER_SLOTS;
    if (n->next) t->node[n->next].prev = n->prev;
    if (n->prev) {
        t->node[n->prev].next = n->next;
        return;
    }
    t->slot[level][digit] = n->next;
    if (!n->next) t->filled[level] &= ~(UINT64_C(1) << digit);
}

/* The nodes of a list, in which the earliest tick becomes the present one. */
static void distribute(mwl__timers *t, uint32_t list) {
    int64_t least = INT64_MAX;
    for (uint32_t id = list; id; id = t->node[id].next)
        if (t->node[id].due_ns < least) least = t->node[id].due_ns;
    t->tick = tick_of(least);
    for (uint32_t id = list, next; id; id = next) {
        next = t->node[id].next;
        enter(t, id);
        if (t->node[id].slot == SOON)
            mwl__fetch((const void *)((uintptr_t)t->node[id].timer - t->before), t->before);
    }
}

/* The heap is empty: the earliest nodes of the slots come into it. False: there are none. In the
 * lowest level that has any, every node is earlier than all of the levels above. */
static bool advance(mwl__timers *t) {
    unsigned level = 0;
    while (level < MWL_TIMER_LEVELS && !t->filled[level]) level++;
    if (level == MWL_TIMER_LEVELS) return false;
    unsigned digit = lowest_bit(t->filled[level]);
    uint32_t list = t->slot[level][digit];
    t->slot[level][digit] = 0;
    t->filled[level] &= t->filled[level] - 1;
    distribute(t, list);
    return true;
}

/* Whoever asks for the first timer moves `tick` there, perhaps far ahead of the time. What is armed
 * then comes into the heap. When that has become large, and as many were armed as there are, all
 * are placed anew. */
static void settle(mwl__timers *t) {
    uint32_t list = 0;
    for (uint32_t id = 1; id < t->n_nodes; id++) {
        if (!t->node[id].timer) continue;
        t->node[id].next = list;
        list = id;
    }
    memset(t->slot, 0, sizeof t->slot);
    memset(t->filled, 0, sizeof t->filled);
    t->n_soon = 0;
    t->n_since = 0;
    distribute(t, list);
}

/* ---- timers ---------------------------------------------------------------------------------- */

/* A node that is not used, or 0: out of memory. The heap gets room for it, too. */
static uint32_t new_node(mwl__timers *t) {
    uint32_t id = t->spare;
    if (id) {
        t->spare = t->node[id].next;
        return id;
    }
    void *node = t->node, *soon = t->soon;
    mwl_status st = t->n_nodes > UINT32_MAX / 2 ? MWL_E_NOMEM
                                                : mwl__mem_grow(&t->alloc, &node, &t->node_cap,
                                                                t->n_nodes + 1, sizeof *t->node);
    t->node = node;
    if (st == MWL_OK)
        st = mwl__mem_grow(&t->alloc, &soon, &t->soon_cap, t->n_nodes + 1, sizeof *t->soon);
    t->soon = soon;
    return st == MWL_OK ? (uint32_t)t->n_nodes++ : 0;
}

void mwl__timer_remove(mwl__timers *t, mwl__timer *timer) {
    struct mwl__timer_node *n = &t->node[timer->at];
    if (n->slot == SOON)
        heap_remove(t, timer->at);
    else
        slot_remove(t, n);
    n->timer = NULL;
    n->next = t->spare;
    t->spare = timer->at;
    timer->at = 0;
    t->n_armed--;
}

mwl_status mwl__timer_arm(mwl__timers *t, mwl__timer *timer, int64_t due_ns, unsigned class_,
                          uint32_t rank) {
    mwl__timer_cancel(t, timer);
    uint32_t id = new_node(t);
    if (!id) return MWL_E_NOMEM;
    uint64_t out = class_ ? rank : 0;               /* waits go by start order alone */
    uint64_t seq = t->next_seq++ & 0x7fffffffffffu; /* 47 bits: years at a million a second */
    timer->class_ = (uint8_t)class_;
    timer->order = (uint64_t)timer->class_ << 63 | out << 31 | seq >> 16;
    timer->order_low = (uint16_t)seq;
    timer->at = id;
    struct mwl__timer_node *n = &t->node[id];
    n->due_ns = due_ns;
    n->order = timer->order;
    n->order_low = timer->order_low;
    n->timer = timer;
    t->n_armed++;
    t->n_since++;
    enter(t, id);
    if (n->slot == SOON && t->n_soon > MANY && t->n_since >= t->n_armed) settle(t);
    return MWL_OK;
}

int64_t mwl__timer_due(const mwl__timers *t, const mwl__timer *timer) {
    return timer->at ? t->node[timer->at].due_ns : MWL_NEVER;
}

mwl__timer *mwl__timers_first(mwl__timers *t, int64_t *due_ns) {
    if (!t->n_soon && !advance(t)) return NULL;
    *due_ns = t->soon[0].due_ns;
    return t->node[t->soon[0].id].timer;
}

const mwl__timer *mwl__timers_second(const mwl__timers *t) {
    return t->n_soon > 1 ? t->node[t->soon[1].id].timer : NULL;
}
