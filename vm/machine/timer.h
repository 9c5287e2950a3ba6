/* timer.h: due times, ordered by instant, then by class, rank and start order.
 *
 * Owns: when something waits. Refuses to know: what. Completions (class 0) of one instant come
 * before bounds (class 1) of it, and of equal bounds the outermost (lowest rank) comes first, so
 * that ties have one order. A timer lies inside its owner and knows its place, so cancelling is
 * O(log n).
 *
 * Most come in the order in which they are due: waits of one length, one after the other. Those lie
 * in a lane, a queue that is in order because each that joins is due after the last. The others lie
 * in a binary heap. */
#ifndef MWL_TIMER_H
#define MWL_TIMER_H

#include "vm/base/mem.h"

typedef struct mwl__timer {
    uint64_t order; /* of equal instants: class, rank, start order without its low bits */
    uint32_t at;    /* place in the heap or, with the highest bit, in the lane, + 1; 0: not armed */
    uint16_t order_low; /* of equal orders: the low bits of the start order */
    uint8_t class_;     /* 0 completion or wait, 1 bound */
    uint8_t owner;      /* what it lies in: MWL_TIMER_* */
} mwl__timer;
enum { MWL_TIMER_FRAME = 0, MWL_TIMER_EXECUTION = 1, MWL_TIMER_RUN = 2 };

typedef struct mwl__timers {
    mwl_alloc alloc;
    struct mwl__timer_slot *heap, *lane;
    size_t n_heap, heap_cap;
    size_t head, tail, lane_cap; /* of the lane: its first and behind its last, which are armed; */
    size_t gone;                 /* in between, those that were cancelled */
    size_t n_armed;
    uint64_t next_seq;
} mwl__timers;

void mwl__timers_init(mwl__timers *t, mwl_alloc alloc);
void mwl__timers_done(mwl__timers *t);
/* Arm, or move when armed. MWL_E_NOMEM leaves it not armed. rank counts for bounds only. */
mwl_status mwl__timer_arm(mwl__timers *t, mwl__timer *timer, int64_t due_ns, unsigned class_,
                          uint32_t rank);
void mwl__timer_remove(mwl__timers *t, mwl__timer *timer); /* it must be armed */
static inline void mwl__timer_cancel(mwl__timers *t, mwl__timer *timer) {
    if (timer->at) mwl__timer_remove(t, timer);
}
int64_t mwl__timer_due(const mwl__timers *t, const mwl__timer *timer); /* not armed: MWL_NEVER */
mwl__timer *mwl__timers_first(const mwl__timers *t, int64_t *due_ns);  /* NULL when empty */
static inline size_t mwl__timers_count(const mwl__timers *t) { return t->n_armed; }

#endif
