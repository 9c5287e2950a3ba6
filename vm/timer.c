/* timer.c: see timer.h. */
#include "timer.h"

/* The instant lies beside the pointer so that sifting mostly stays within the heap's own memory; only ties
 * look into the timers. */
struct mwl__timer_slot {
    int64_t due_ns;
    mwl__timer *timer;
};

void mwl__timers_init(mwl__timers *t, mwl_alloc alloc) {
    t->alloc = alloc;
    t->heap = NULL;
    t->count = t->cap = 0;
    t->next_seq = 0;
}

void mwl__timers_done(mwl__timers *t) {
    mwl__mem_free(&t->alloc, t->heap, t->cap * sizeof *t->heap);
    mwl__timers_init(t, t->alloc);
}

static bool before(const struct mwl__timer_slot *a, const struct mwl__timer_slot *b) {
    return a->due_ns != b->due_ns ? a->due_ns < b->due_ns : a->timer->order < b->timer->order;
}

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
        if (kid >= t->count) break;
        if (kid + 1 < t->count && before(&t->heap[kid + 1], &t->heap[kid])) kid++;
        if (!before(&t->heap[kid], &slot)) break;
        place(t, at, t->heap[kid]);
        at = kid;
    }
    place(t, at, slot);
}

void mwl__timer_cancel(mwl__timers *t, mwl__timer *timer) {
    if (timer->at == 0) return;
    size_t at = timer->at - 1;
    timer->at = 0;
    struct mwl__timer_slot last = t->heap[--t->count];
    if (last.timer == timer) return;
    if (at > 0 && before(&last, &t->heap[(at - 1) / 2])) sift_up(t, at, last);
    else sift_down(t, at, last);
}

mwl_status mwl__timer_arm(mwl__timers *t, mwl__timer *timer, int64_t due_ns, unsigned class_,
                          unsigned depth) {
    mwl__timer_cancel(t, timer);
    void *heap = t->heap;
    mwl_status st = t->count >= UINT32_MAX - 1
                        ? MWL_E_NOMEM
                        : mwl__mem_grow(&t->alloc, &heap, &t->cap, t->count + 1, sizeof *t->heap);
    t->heap = heap;
    if (st < 0) return st;
    timer->class_ = (uint8_t)class_;
    uint64_t out = class_ ? depth > 0xffff ? 0xffff : depth : 0; /* waits go by start order alone */
    uint64_t seq = t->next_seq++ & 0x7fffffffffffu; /* 47 bits: centuries at any rate we reach */
    timer->order = (uint64_t)timer->class_ << 63 | out << 47 | seq;
    struct mwl__timer_slot slot = {due_ns, timer};
    sift_up(t, t->count++, slot);
    return MWL_OK;
}

mwl__timer *mwl__timers_first(const mwl__timers *t, int64_t *due_ns) {
    if (!t->count) return NULL;
    *due_ns = t->heap[0].due_ns;
    return t->heap[0].timer;
}
