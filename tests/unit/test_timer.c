/* Timers: order by instant, then waits before bounds, then the outermost bound, then the first
 * armed. */
#include "vm/machine/timer.h"
#include "utest.h"

static mwl__timer *pop(mwl__timers *t) {
    int64_t due;
    mwl__timer *first = mwl__timers_first(t, &due);
    if (first) mwl__timer_cancel(t, first);
    return first;
}

UTEST(timer, equal_instants_have_one_order) {
    mwl__timers t;
    mwl__timer wait_late = {0}, wait_early = {0}, inner = {0}, outer = {0}, sooner = {0};
    mwl__timers_init(&t, mwl_alloc_default(), 0);
    ASSERT_EQ(mwl__timer_arm(&t, &inner, 100, 1, 7), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &outer, 100, 1, 2), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &wait_early, 100, 0, 0), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &wait_late, 100, 0, 0), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &sooner, 99, 1, 9), MWL_OK);
    ASSERT_TRUE(pop(&t) == &sooner);
    ASSERT_TRUE(pop(&t) == &wait_early);
    ASSERT_TRUE(pop(&t) == &wait_late);
    ASSERT_TRUE(pop(&t) == &outer);
    ASSERT_TRUE(pop(&t) == &inner);
    ASSERT_TRUE(pop(&t) == NULL);
    mwl__timers_done(&t);
}

UTEST(timer, ranks_and_start_orders_are_told_apart_at_any_size) {
    mwl__timers t;
    mwl__timer inner = {0}, outer = {0}, first = {0}, second = {0};
    mwl__timers_init(&t, mwl_alloc_default(), 0);
    t.next_seq = 0xffff; /* the start order's low bits wrap between the two */
    ASSERT_EQ(mwl__timer_arm(&t, &first, 100, 1, 5), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &second, 100, 1, 5), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &inner, 100, 1, UINT32_MAX), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &outer, 100, 1, UINT32_MAX - 1), MWL_OK);
    ASSERT_TRUE(pop(&t) == &first);
    ASSERT_TRUE(pop(&t) == &second);
    ASSERT_TRUE(pop(&t) == &outer);
    ASSERT_TRUE(pop(&t) == &inner);
    mwl__timers_done(&t);
}

UTEST(timer, arming_again_moves_and_cancelling_is_safe) {
    mwl__timers t;
    mwl__timer a = {0}, b = {0};
    mwl__timers_init(&t, mwl_alloc_default(), 0);
    ASSERT_EQ(mwl__timer_arm(&t, &a, 10, 0, 0), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &b, 20, 0, 0), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &a, 30, 0, 0), MWL_OK);
    int64_t due = 0;
    ASSERT_TRUE(mwl__timers_first(&t, &due) == &b);
    ASSERT_EQ(due, (int64_t)20);
    mwl__timer_cancel(&t, &b);
    mwl__timer_cancel(&t, &b);
    ASSERT_TRUE(mwl__timers_first(&t, &due) == &a);
    ASSERT_EQ(due, (int64_t)30);
    ASSERT_EQ(mwl__timers_count(&t), (size_t)1);
    mwl__timers_done(&t);
}

UTEST(timer, orders_begin_again_when_nothing_is_armed) {
    mwl__timers t;
    mwl__timer a = {0}, b = {0}, c = {0};
    mwl__timers_init(&t, mwl_alloc_default(), 0);
    ASSERT_EQ(mwl__timer_arm(&t, &a, 10, 0, 0), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &b, 10, 0, 0), MWL_OK);
    uint64_t of_a = mwl__timer_order(&a), of_b = mwl__timer_order(&b);
    mwl__timer_cancel(&t, &a);
    ASSERT_EQ(mwl__timer_arm(&t, &b, 10, 0, 0), MWL_OK); /* moved, while it is the only one */
    ASSERT_EQ(mwl__timer_arm(&t, &a, 10, 0, 0), MWL_OK);
    ASSERT_TRUE(pop(&t) == &b);
    ASSERT_TRUE(pop(&t) == &a);
    /* gone back to where a and b were armed: as if nothing had come in between */
    ASSERT_EQ(mwl__timer_arm_as(&t, &b, 10, 0, 0, of_b), MWL_OK);
    ASSERT_EQ(mwl__timer_arm_as(&t, &a, 10, 0, 0, of_a), MWL_OK);
    ASSERT_EQ(mwl__timer_arm(&t, &c, 10, 0, 0), MWL_OK);
    ASSERT_EQ(mwl__timer_order(&c), of_b + 1);
    ASSERT_TRUE(pop(&t) == &a);
    ASSERT_TRUE(pop(&t) == &b);
    ASSERT_TRUE(pop(&t) == &c);
    mwl__timers_done(&t);
}

UTEST(timer, a_random_heap_comes_out_sorted) {
    enum { N = 500 };
    static mwl__timer all[N];
    mwl__timers t;
    mwl__timers_init(&t, mwl_alloc_default(), 0);
    uint32_t seed = 12345;
    for (int i = 0; i < N; i++) {
        seed = seed * 1664525u + 1013904223u;
        ASSERT_EQ(mwl__timer_arm(&t, &all[i], seed >> 20, 0, 0), MWL_OK);
    }
    for (int i = 0; i < N; i += 3) mwl__timer_cancel(&t, &all[i]);
    int64_t last = INT64_MIN, due = 0;
    while (mwl__timers_first(&t, &due)) {
        ASSERT_LE(last, due);
        last = due;
        pop(&t);
    }
    mwl__timers_done(&t);
}

/* Timers that are armed, cancelled and due in any order fire as if the earliest of all were
 * searched each time. */
UTEST(timer, agrees_with_a_search_through_all) {
    enum { N = 256 };
    static mwl__timer all[N];
    int64_t due_of[N];
    uint64_t armed_as[N] = {0}, step = 0;
    mwl__timers t;
    mwl__timers_init(&t, mwl_alloc_default(), 0);
    uint32_t seed = 7;
    int64_t now = 0;
    for (int round = 0; round < 20000; round++) {
        seed = seed * 1664525u + 1013904223u;
        int i = (int)(seed >> 24);
        int64_t lengths[] = {
            5, 5, 5, 50, seed >> 12 & 63, seed & 0xfffffff, INT64_C(1) << (seed >> 14 & 63) / 2};
        switch (seed >> 8 & 7) {
        case 0: mwl__timer_cancel(&t, &all[i]), armed_as[i] = 0; break;
        case 1:
        case 2: { /* the first is due */
            int64_t due = 0;
            int want = -1;
            for (int k = 0; k < N; k++)
                if (armed_as[k] && (want < 0 || due_of[k] < due_of[want] ||
                                    (due_of[k] == due_of[want] && armed_as[k] < armed_as[want])))
                    want = k;
            mwl__timer *first = mwl__timers_first(&t, &due);
            ASSERT_TRUE(first == (want < 0 ? NULL : &all[want]));
            if (want < 0) break;
            ASSERT_EQ(due, due_of[want]);
            if (due > now) now = due;
            mwl__timer_cancel(&t, first);
            armed_as[want] = 0;
            break;
        }
        default:
            due_of[i] = now + lengths[(seed >> 3) % 7];
            armed_as[i] = ++step;
            ASSERT_EQ(mwl__timer_arm(&t, &all[i], due_of[i], 0, 0), MWL_OK);
        }
        size_t n = 0;
        for (int k = 0; k < N; k++) n += armed_as[k] != 0;
        ASSERT_EQ(mwl__timers_count(&t), n);
    }
    ASSERT_LE(t.n_nodes, 2u * N + 65); /* what was cancelled is used again */
    mwl__timers_done(&t);
}

UTEST_MAIN()
