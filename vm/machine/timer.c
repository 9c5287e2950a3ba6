/* timer.c: see timer.h. */
#include "vm/machine/timer.h"

#include <string.h>

/* The instant lies beside the pointer so that sifting mostly stays within the heap's own memory;
 * only ties look into the timers. */
struct mwl__timer_slot {
    int64_t due_ns;
    mwl__timer *timer;
};

#define LANE 0x80000000u /* of mwl__timer.at */

void mwl__timers_init(mwl__timers *t, mwl_alloc alloc) {
    memset(t, 0, sizeof *t);
    t->alloc = alloc;
}

void mwl__timers_done(mwl__timers *t) {
    mwl__mem_free(&t->alloc, t->heap, t->heap_cap * sizeof *t->heap);
    mwl__mem_free(&t->alloc, t->lane, t->lane_cap * sizeof *t->lane);
    mwl__timers_init(t, t->alloc);
}

static bool before(const struct mwl__timer_slot *a, const struct mwl__timer_slot *b) {
    if (a->due_ns != b->due_ns) return a->due_ns < b->due_ns;
    if (a->timer->order != b->timer->order) return a->timer->order < b->timer->order;
    return a->timer->order_low < b->timer->order_low;
}

/* ---- the heap -------------------------------------------------------------------------------- */

static void place(mwl__timers *t, size_t at, struct mwl__timer_slot slot) {
    t->heap[at] = slot;
    slot.timer->at = (uint32_t)at + 1;
}

static void sift_up(mwl__timers *t, size_t at, struct mwl__timer_slot slot) {
    while (at > 0) {
        size_t up = (at - 1) / 2;
        if (!before(&slot, &t->heap[up])) break;
        place(t, at, t->heap[up]);
        at = up;
    }
    place(t, at, slot);
}

static void sift_down(mwl__timers *t, size_t at, struct mwl__timer_slot slot) {
    for (;;) {
        size_t kid = at * 2 + 1;
        if (kid >= t->n_heap) break;
        if (kid + 1 < t->n_heap && before(&t->heap[kid + 1], &t->heap[kid])) kid++;
        if (!before(&t->heap[kid], &slot)) break;
        place(t, at, t->heap[kid]);
        at = kid;
    }
    place(t, at, slot);
}

static mwl_status heap_add(mwl__timers *t, struct mwl__timer_slot slot) {
    void *heap = t->heap;
    mwl_status st = t->n_heap >= LANE - 1 ? MWL_E_NOMEM
                                          : mwl__mem_grow(&t->alloc, &heap, &t->heap_cap,
                                                          t->n_heap + 1, sizeof *t->heap);
    t->heap = heap;
    if (st < 0) return st;
    sift_up(t, t->n_heap++, slot);
    return MWL_OK;
}

static void heap_remove(mwl__timers *t, mwl__timer *timer, size_t at) {
    struct mwl__timer_slot last = t->heap[--t->n_heap];
    if (last.timer == timer) return;
    if (at > 0 && before(&last, &t->heap[(at - 1) / 2]))
        sift_up(t, at, last);
    else
        sift_down(t, at, last);
}

/* ---- the lane -------------------------------------------------------------------------------- */

static void lane_place(mwl__timers *t, size_t at, struct mwl__timer_slot slot) {
    t->lane[at] = slot;
    slot.timer->at = ((uint32_t)at + 1) | LANE;
}

/* Room for one more: by closing up when at least half is free, so that a place is moved as often as
 * one is used. */
static mwl_status lane_room(mwl__timers *t) {
    if (t->tail < t->lane_cap) return MWL_OK;
    if ((t->tail - t->head - t->gone) * 2 > t->lane_cap || !t->lane_cap) {
        void *lane = t->lane;
        mwl_status st = t->tail >= LANE - 1 ? MWL_E_NOMEM
                                            : mwl__mem_grow(&t->alloc, &lane, &t->lane_cap,
                                                            t->tail + 1, sizeof *t->lane);
        t->lane = lane;
        return st;
    }
    size_t n = 0;
    for (size_t i = t->head; i < t->tail; i++)
        if (t->lane[i].timer) lane_place(t, n++, t->lane[i]);
    t->head = t->gone = 0;
    t->tail = n;
    return MWL_OK;
}

static void lane_remove(mwl__timers *t, size_t at) {
    t->lane[at].timer = NULL;
    t->gone++;
    for (; t->head < t->tail && !t->lane[t->head].timer; t->head++) t->gone--;
    for (; t->head < t->tail && !t->lane[t->tail - 1].timer; t->tail--) t->gone--;
    if (t->head == t->tail) t->head = t->tail = 0;
}

/* ---- both ------------------------------------------------------------------------------------ */

void mwl__timer_remove(mwl__timers *t, mwl__timer *timer) {
    uint32_t at = timer->at;
    timer->at = 0;
    t->n_armed--;
    if (at & LANE)
        lane_remove(t, (at & ~LANE) - 1);
    else
        heap_remove(t, timer, at - 1);
}

mwl_status mwl__timer_arm(mwl__timers *t, mwl__timer *timer, int64_t due_ns, unsigned class_,
                          uint32_t rank) {
    mwl__timer_cancel(t, timer);
    timer->class_ = (uint8_t)class_;
    uint64_t out = class_ ? rank : 0;               /* waits go by start order alone */
    uint64_t seq = t->next_seq++ & 0x7fffffffffffu; /* 47 bits: years at a million a second */
    timer->order = (uint64_t)timer->class_ << 63 | out << 31 | seq >> 16;
    timer->order_low = (uint16_t)seq;
    struct mwl__timer_slot slot = {due_ns, timer};
    mwl_status st;
    if (t->tail > t->head && before(&slot, &t->lane[t->tail - 1])) {
        st = heap_add(t, slot);
    } else {
        st = lane_room(t);
        if (st == MWL_OK) lane_place(t, t->tail++, slot);
    }
    if (st == MWL_OK) t->n_armed++;
    return st;
}

int64_t mwl__timer_due(const mwl__timers *t, const mwl__timer *timer) {
    if (!timer->at) return MWL_NEVER;
    return timer->at & LANE ? t->lane[(timer->at & ~LANE) - 1].due_ns
                            : t->heap[timer->at - 1].due_ns;
}

mwl__timer *mwl__timers_first(const mwl__timers *t, int64_t *due_ns) {
    const struct mwl__timer_slot *first = t->tail > t->head ? &t->lane[t->head] : NULL;
    if (t->n_heap && (!first || before(&t->heap[0], first))) first = &t->heap[0];
    if (!first) return NULL;
    *due_ns = first->due_ns;
    return first->timer;
}
