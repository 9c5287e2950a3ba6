/* timer.h: due times, ordered by instant, then by class, rank and start order.
 *
 * Owns: when something waits. Refuses to know: what. Completions (class 0) of one instant come
 * before bounds (class 1) of it, and of equal bounds the outermost (lowest rank) comes first, so
 * that ties have one order. A timer lies inside its owner. The owner is not touched while it waits,
 * because it may have left the processor's caches: what the order needs is in a node.
 *
 * Time is counted in ticks of about a millisecond. A node whose tick is not later than `tick` lies
 * in a pairing heap, which is exact. The later ones lie unsorted in slots, by the highest digit
 * (base 64) in which their tick and `tick` differ, and by its value. When the heap is empty, `tick`
 * moves to the earliest node, whose slot is distributed again. A node that is cancelled stays where
 * it is until it comes to the front; when there are more of these than of others, all are removed.
 * So arming and cancelling take constant time and firing O(log n), amortized; and nothing but
 * arming can run out of memory. A node takes 24 bytes, because many runs do nothing but wait. */
#ifndef MWL_TIMER_H
#define MWL_TIMER_H

#include "mwl.h"

typedef struct mwl__timer {
    uint64_t order;     /* of equal instants: class, rank, start order without its low bits */
    uint32_t at;        /* its node; 0: not armed */
    uint16_t order_low; /* of equal orders: the low bits of the start order */
    uint8_t class_;     /* 0 completion or wait, 1 bound */
    uint8_t owner;      /* what it lies in: MWL_TIMER_* */
} mwl__timer;
enum { MWL_TIMER_FRAME = 0, MWL_TIMER_EXECUTION = 1, MWL_TIMER_RUN = 2 };

enum { MWL_TIMER_LEVELS = 8, MWL_TIMER_SLOTS = 64 };

typedef struct mwl__timers {
    mwl_alloc alloc;
    struct mwl__timer_node **block; /* the nodes, which never move; number 0 is not used */
    size_t n_blocks, block_cap;
    uint32_t n_nodes; /* of these numbers some were used */
    uint32_t spare;   /* the first node that is free again, or 0 */
    uint32_t soon;    /* the first of the heap, or 0 */
    uint32_t n_gone;  /* cancelled, and still in the heap or a slot */
    size_t n_armed;
    uint64_t tick;
    uint64_t next_seq;
    uint64_t filled[MWL_TIMER_LEVELS];                /* which slots have nodes */
    uint32_t slot[MWL_TIMER_LEVELS][MWL_TIMER_SLOTS]; /* the first node of each, or 0 */
    size_t before; /* so many bytes before a timer are used when it fires */
} mwl__timers;

/* before: what lies before a timer in its owner and is used when it fires; fetched into the caches
 * ahead of that. */
void mwl__timers_init(mwl__timers *t, mwl_alloc alloc, size_t before);
void mwl__timers_done(mwl__timers *t);
/* Arm, or move when armed. MWL_E_NOMEM leaves it not armed. rank counts for bounds only. */
mwl_status mwl__timer_arm(mwl__timers *t, mwl__timer *timer, int64_t due_ns, unsigned class_,
                          uint32_t rank);
/* The same as if it were armed in this order, which mwl__timer_order() of a VM returned: those of
 * equal instants fire in it. What is armed later comes later. */
mwl_status mwl__timer_arm_as(mwl__timers *t, mwl__timer *timer, int64_t due_ns, unsigned class_,
                             uint32_t rank, uint64_t order);
#define MWL_TIMER_ORDERS (UINT64_C(1) << 47) /* years at a million a second */
static inline uint64_t mwl__timer_order(const mwl__timer *timer) {
    return (timer->order & 0x7fffffffu) << 16 | timer->order_low;
}
void mwl__timer_remove(mwl__timers *t, mwl__timer *timer); /* it must be armed */
static inline void mwl__timer_cancel(mwl__timers *t, mwl__timer *timer) {
    if (timer->at) mwl__timer_remove(t, timer);
}
int64_t mwl__timer_due(const mwl__timers *t, const mwl__timer *timer); /* not armed: MWL_NEVER */
mwl__timer *mwl__timers_first(mwl__timers *t, int64_t *due_ns);        /* NULL when empty */
/* Returns the timer that will probably fire second, or NULL. */
const mwl__timer *mwl__timers_second(const mwl__timers *t);
static inline size_t mwl__timers_count(const mwl__timers *t) { return t->n_armed; }

#endif
