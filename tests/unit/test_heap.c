#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/value/value.h"

UTEST(heap, account_is_exact_and_everything_returns) {
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(&a, &h), MWL_OK);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    static const size_t sizes[] = {1, 16, 17, 100, 511, 512, 513, 5000, 100000};
    void *p[9];
    size_t sum = 0;
    for (size_t i = 0; i < 9; i++) {
        p[i] = mwl__heap_take(h, sizes[i]);
        ASSERT_TRUE(p[i] != NULL);
        ASSERT_EQ((uintptr_t)p[i] % 16, (uintptr_t)0);
        memset(p[i], (int)i, sizes[i]);
        sum += (sizes[i] + 15) / 16 * 16;
        ASSERT_EQ(mwl_heap_used(h), sum);
    }
    for (size_t i = 0; i < 9; i++) {
        for (size_t k = 0; k < sizes[i]; k++) ASSERT_EQ(((unsigned char *)p[i])[k], i);
        mwl__heap_give(h, p[i], sizes[i]);
    }
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    ASSERT_EQ(f.live_blocks, (size_t)0);
    ASSERT_FALSE(f.wrong);
}

UTEST(heap, limit_is_refused_with_its_own_status) {
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_heap_limit(h, 1024);
    void *p = mwl__heap_take(h, 1000);
    ASSERT_TRUE(p != NULL);
    ASSERT_TRUE(mwl__heap_take(h, 17) == NULL);
    ASSERT_EQ(mwl_heap_why(h), MWL_E_TOO_BIG);
    void *q = mwl__heap_take(h, 16);
    ASSERT_TRUE(q != NULL);
    mwl__heap_give(h, q, 16);
    void *r = mwl__heap_take(h, 16); /* from the free list, at the limit */
    ASSERT_TRUE(r != NULL);
    ASSERT_TRUE(mwl__heap_take(h, 16) == NULL);
    ASSERT_TRUE(mwl__heap_resize(h, p, 1000, 2000) == NULL);
    ASSERT_EQ(mwl_heap_why(h), MWL_E_TOO_BIG);
    mwl_heap_limit(h, 0);
    p = mwl__heap_resize(h, p, 1000, 2000);
    ASSERT_TRUE(p != NULL);
    ASSERT_TRUE(mwl__heap_take(h, SIZE_MAX - 4) == NULL);
    mwl__heap_give(h, p, 2000);
    mwl__heap_give(h, r, 16);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(heap, limit_below_what_is_used_refuses_more) {
    mwl_heap h;
    mwl__heap_init(&h, NULL);
    void *p = mwl__heap_take(&h, 4096);
    h.limit = 100;
    ASSERT_TRUE(mwl__heap_take(&h, 16) == NULL);
    mwl__heap_give(&h, p, 4096);
    p = mwl__heap_take(&h, 16);
    ASSERT_TRUE(p != NULL);
    mwl__heap_give(&h, p, 16);
    mwl__heap_done(&h);
}

UTEST(heap, resize_keeps_contents_across_classes) {
    mwl_heap h;
    mwl__heap_init(&h, NULL);
    size_t size = 8;
    unsigned char *p = mwl__heap_take(&h, size);
    memset(p, 7, size);
    while (size < 10000) {
        p = mwl__heap_resize(&h, p, size, size * 2);
        ASSERT_TRUE(p != NULL);
        for (size_t i = 0; i < size; i++) ASSERT_EQ(p[i], 7);
        memset(p, 7, size * 2);
        size *= 2;
    }
    p = mwl__heap_resize(&h, p, size, 32);
    for (size_t i = 0; i < 32; i++) ASSERT_EQ(p[i], 7);
    mwl__heap_give(&h, p, 32);
    ASSERT_EQ(h.used, (size_t)0);
    mwl__heap_done(&h);
}

static bool some_takes(mwl_alloc alloc) {
    mwl_heap *h = NULL;
    if (mwl_heap_new(&alloc, &h) < 0) return false;
    bool fine = true;
    void *p[40];
    size_t n = 0;
    for (; n < 40 && fine; n++) {
        p[n] = mwl__heap_take(h, n * 40 + 1);
        if (!p[n]) {
            fine = mwl_heap_why(h) != MWL_E_NOMEM;
            break;
        }
    }
    for (size_t i = 0; i < n; i++) mwl__heap_give(h, p[i], i * 40 + 1);
    if (mwl_heap_used(h)) abort();
    mwl_heap_free(h);
    return fine;
}

UTEST(heap, allocation_failures) { ASSERT_TRUE(faulty_sweep(some_takes, 200)); }

UTEST(heap, null_is_ignored) {
    mwl_heap_free(NULL);
    mwl_heap_limit(NULL, 3);
    ASSERT_EQ(mwl_heap_used(NULL), (size_t)0);
    ASSERT_EQ(mwl_heap_new(NULL, NULL), MWL_E_USAGE);
}

UTEST_MAIN()
