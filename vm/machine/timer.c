/* timer.c: see timer.h. */
#include "vm/machine/timer.h"
#include "vm/base/mem.h"

#include <string.h>

enum { TICK_BITS = 20, DIGIT_BITS = 6, BLOCK = 128, SOME = 64 };

struct mwl__timer_node {
    int64_t due_ns;
    mwl__timer *timer; /* NULL: cancelled, or free */
    uint32_t next;     /* in its slot, among its siblings in the heap, or of the free ones */
    uint32_t child;    /* the first of those below it in the heap, or 0 */
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
    for (size_t i = 0; i < t->n_blocks; i++)
        mwl__mem_free(&t->alloc, t->block[i], BLOCK * sizeof **t->block);
    mwl__mem_free(&t->alloc, t->block, t->block_cap * sizeof *t->block);
    mwl__timers_init(t, t->alloc, t->before);
}

/* ---- nodes ----------------------------------------------------------------------------------- */

static struct mwl__timer_node *node(const mwl__timers *t, uint32_t id) {
    return &t->block[id / BLOCK][id % BLOCK];
}

static void free_node(mwl__timers *t, uint32_t id) {
    struct mwl__timer_node *n = node(t, id);
    n->timer = NULL;
    n->next = t->spare;
    t->spare = id;
}

static mwl_status add_block(mwl__timers *t) {
    void *table = t->block;
    mwl_status st =
        mwl__mem_grow(&t->alloc, &table, &t->block_cap, t->n_blocks + 1, sizeof *t->block);
    t->block = table;
    if (st != MWL_OK) return st;
    void *block = mwl__mem_new(&t->alloc, BLOCK * sizeof **t->block);
    if (!block) return MWL_E_NOMEM;
    t->block[t->n_blocks++] = block;
    return MWL_OK;
}

/* ---- the heap -------------------------------------------------------------------------------- */

/* A cancelled node has lost its order: it comes first, where it is removed. */
static bool before(const struct mwl__timer_node *a, const struct mwl__timer_node *b) {
    if (a->due_ns != b->due_ns) return a->due_ns < b->due_ns;
    const mwl__timer *x = a->timer, *y = b->timer;
    if (!x || !y) return !x;
    if (x->order != y->order) return x->order < y->order;
    return x->order_low < y->order_low;
}

/* Makes one heap of two, neither of them empty; returns its first, whose `next` is the caller's. */
static uint32_t merge(mwl__timers *t, uint32_t a, uint32_t b) {
    if (before(node(t, b), node(t, a))) {
        uint32_t swap = a;
        a = b;
        b = swap;
    }
    node(t, b)->next = node(t, a)->child;
    node(t, a)->child = b;
    return a;
}

/* One heap of siblings: pairs from the left, then all of them from the right. */
static uint32_t merge_all(mwl__timers *t, uint32_t list) {
    uint32_t pairs = 0, all = 0;
    while (list) {
        uint32_t a = list, b = node(t, a)->next;
        list = b ? node(t, b)->next : 0;
        if (b) a = merge(t, a, b);
        node(t, a)->next = pairs;
        pairs = a;
    }
    while (pairs) {
        uint32_t next = node(t, pairs)->next;
        all = all ? merge(t, all, pairs) : pairs;
        pairs = next;
    }
    return all;
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

/* Into the heap or a slot, as its tick says. Returns whether it is in the heap. */
static bool enter(mwl__timers *t, uint32_t id) {
    struct mwl__timer_node *n = node(t, id);
    uint64_t tick = tick_of(n->due_ns);
    n->child = 0;
    if (tick <= t->tick) {
        t->soon = t->soon ? merge(t, t->soon, id) : id;
        return true;
    }
    unsigned level = highest_bit(tick ^ t->tick) / DIGIT_BITS;
    unsigned digit = tick >> level * DIGIT_BITS & (MWL_TIMER_SLOTS - 1);
    n->next = t->slot[level][digit];
    t->slot[level][digit] = id;
    t->filled[level] |= UINT64_C(1) << digit;
    return false;
}

/* The heap is empty: places the nodes of a list, whose earliest tick becomes the present one. */
static void distribute(mwl__timers *t, uint32_t list) {
    uint64_t least = UINT64_MAX;
    for (uint32_t id = list; id; id = node(t, id)->next) {
        uint64_t tick = tick_of(node(t, id)->due_ns);
        if (node(t, id)->timer && tick < least) least = tick;
    }
    if (least != UINT64_MAX) t->tick = least; /* else all are cancelled */
    for (uint32_t id = list, next; id; id = next) {
        next = node(t, id)->next;
        const mwl__timer *timer = node(t, id)->timer;
        if (!timer) {
            free_node(t, id);
            t->n_gone--;
        } else if (enter(t, id)) {
            mwl__fetch((const void *)((uintptr_t)timer - t->before), t->before);
        }
    }
}

/* The heap is empty: the earliest nodes of the slots come into it. False: there are none. In the
 * lowest level that has any, every node is earlier than all of the levels above. */
static bool advance(mwl__timers *t) {
    while (!t->soon) {
        unsigned level = 0;
        while (level < MWL_TIMER_LEVELS && !t->filled[level]) level++;
        if (level == MWL_TIMER_LEVELS) return false;
        unsigned digit = lowest_bit(t->filled[level]);
        uint32_t list = t->slot[level][digit];
        t->slot[level][digit] = 0;
        t->filled[level] &= t->filled[level] - 1;
        distribute(t, list);
    }
    return true;
}

/* Frees every cancelled node, and places the others anew. */
static void tidy(mwl__timers *t) {
    uint32_t list = 0;
    t->spare = 0;
    for (uint32_t id = t->n_nodes; --id;) {
        if (!node(t, id)->timer) {
            free_node(t, id);
            continue;
        }
        node(t, id)->next = list;
        list = id;
    }
    memset(t->slot, 0, sizeof t->slot);
    memset(t->filled, 0, sizeof t->filled);
    t->soon = t->n_gone = 0;
    distribute(t, list);
}

/* ---- timers ---------------------------------------------------------------------------------- */

/* A node that is not used, or 0: out of memory. */
static uint32_t new_node(mwl__timers *t) {
    if (!t->spare && t->n_gone > t->n_armed + SOME) tidy(t);
    uint32_t id = t->spare;
    if (id) {
        t->spare = node(t, id)->next;
        return id;
    }
    if (t->n_nodes >= UINT32_MAX / 2) return 0;
    if (t->n_nodes >= t->n_blocks * BLOCK && add_block(t) != MWL_OK) return 0;
    return t->n_nodes++;
}

void mwl__timer_remove(mwl__timers *t, mwl__timer *timer) {
    node(t, timer->at)->timer = NULL;
    timer->at = 0;
    /* The orders begin again, so that a VM that goes back to saved runs counts on as the one did
     * that saved them. */
    if (!--t->n_armed) t->next_seq = 0;
    t->n_gone++;
}

/* The timer is not armed: the function that cancels the last one changes next_seq. */
static inline mwl_status arm(mwl__timers *t, mwl__timer *timer, int64_t due_ns, unsigned class_,
                             uint32_t rank, uint64_t seq) {
    uint32_t id = new_node(t);
    if (!id) return MWL_E_NOMEM;
    uint64_t out = class_ ? rank : 0; /* waits go by start order alone */
    timer->class_ = (uint8_t)class_;
    timer->order = (uint64_t)timer->class_ << 63 | out << 31 | seq >> 16;
    timer->order_low = (uint16_t)seq;
    timer->at = id;
    struct mwl__timer_node *n = node(t, id);
    n->due_ns = due_ns;
    n->timer = timer;
    t->n_armed++;
    (void)enter(t, id);
    return MWL_OK;
}

mwl_status mwl__timer_arm(mwl__timers *t, mwl__timer *timer, int64_t due_ns, unsigned class_,
                          uint32_t rank) {
    mwl__timer_cancel(t, timer);
    return arm(t, timer, due_ns, class_, rank, t->next_seq++ & (MWL_TIMER_ORDERS - 1));
}

/* An order of the upper half is of no VM that has run for less than years. It moves nothing, so
 * that the orders of this VM do not run out. */
mwl_status mwl__timer_arm_as(mwl__timers *t, mwl__timer *timer, int64_t due_ns, unsigned class_,
                             uint32_t rank, uint64_t order) {
    mwl__timer_cancel(t, timer);
    if (order >= t->next_seq && order < MWL_TIMER_ORDERS / 2) t->next_seq = order + 1;
    return arm(t, timer, due_ns, class_, rank, order);
}

int64_t mwl__timer_due(const mwl__timers *t, const mwl__timer *timer) {
    return timer->at ? node(t, timer->at)->due_ns : MWL_NEVER;
}

mwl__timer *mwl__timers_first(mwl__timers *t, int64_t *due_ns) {
    while (t->soon || advance(t)) {
        uint32_t id = t->soon;
        struct mwl__timer_node *n = node(t, id);
        *due_ns = n->due_ns;
        if (n->timer) return n->timer;
        t->soon = merge_all(t, n->child);
        free_node(t, id);
        t->n_gone--;
    }
    return NULL;
}

const mwl__timer *mwl__timers_second(const mwl__timers *t) {
    uint32_t below = t->soon ? node(t, t->soon)->child : 0;
    return below ? node(t, below)->timer : NULL;
}
