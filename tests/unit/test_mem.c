/* mem.h: overflow is refused, a failed allocation changes nothing, and every free passes the last
 * size of the block. */
#include "vm/base/mem.h"
#include "utest.h"

#include <stdlib.h>

/* Succeeds `left` times (negative: always) and compares every size that it gets with its own
 * record, which is stored before the block. */
struct strict {
    int left, wrong;
    size_t out;
};
enum { HEADER = 16 };
static void *strict_fn(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    struct strict *s = ctx;
    unsigned char *block = ptr ? (unsigned char *)ptr - HEADER : NULL;
    size_t known = 0;
    if (block) memcpy(&known, block, sizeof known);
    if (known != old_size) s->wrong++;
    if (new_size == 0) {
        s->out -= known;
        free(block);
        return NULL;
    }
    if (s->left == 0) return NULL;
    if (s->left > 0) s->left--;
    block = realloc(block, new_size + HEADER);
    if (!block) return NULL;
    memcpy(block, &new_size, sizeof new_size);
    s->out = s->out - known + new_size;
    return block + HEADER;
}

UTEST(mem, default_allocator_grows_and_frees) {
    mwl_alloc a = mwl_alloc_default();
    char *p = a.fn(a.ctx, NULL, 0, 4);
    ASSERT_TRUE(p != NULL);
    memcpy(p, "abc", 4);
    p = a.fn(a.ctx, p, 4, 100000);
    ASSERT_TRUE(p != NULL);
    EXPECT_STREQ("abc", p);
    EXPECT_TRUE(a.fn(a.ctx, p, 100000, 0) == NULL);
}

UTEST(mem, zero_sizes_and_overflow) {
    struct strict s = {-1, 0, 0};
    mwl_alloc a = {strict_fn, &s};
    EXPECT_TRUE(mwl__mem_new(&a, 0) == NULL);
    EXPECT_TRUE(mwl__mem_zero(&a, SIZE_MAX / 2, 3) == NULL);
    EXPECT_TRUE(mwl__mem_zero(&a, 0, 8) == NULL);
    mwl__mem_free(&a, NULL, 0);
    unsigned char *p = mwl__mem_zero(&a, 10, 10);
    ASSERT_TRUE(p != NULL);
    for (int i = 0; i < 100; i++) EXPECT_EQ(0, p[i]);
    mwl__mem_free(&a, p, 100);
    EXPECT_EQ(0u, s.out);
    EXPECT_EQ(0, s.wrong);
}

UTEST(mem, grow_is_geometric_and_safe) {
    struct strict s = {-1, 0, 0};
    mwl_alloc a = {strict_fn, &s};
    void *p = NULL;
    size_t cap = 0, moves = 0;
    for (size_t need = 1; need <= 100000; need++) {
        size_t before = cap;
        ASSERT_EQ(MWL_OK, mwl__mem_grow(&a, &p, &cap, need, 4));
        ASSERT_GE(cap, need);
        moves += cap != before;
    }
    EXPECT_LT(moves, 20u); /* amortised: doublings, not one per element */
    void *same = p;
    size_t cap_before = cap;
    EXPECT_EQ(MWL_E_NOMEM, mwl__mem_grow(&a, &p, &cap, SIZE_MAX / 2, 4));
    EXPECT_EQ(MWL_E_NOMEM, mwl__mem_grow(&a, &p, &cap, SIZE_MAX, 1));
    s.left = 0;
    EXPECT_EQ(MWL_E_NOMEM, mwl__mem_grow(&a, &p, &cap, cap + 1, 4));
    EXPECT_TRUE(p == same);
    EXPECT_EQ(cap_before, cap);
    mwl__mem_free(&a, p, cap * 4);
    EXPECT_EQ(0u, s.out);
    EXPECT_EQ(0, s.wrong);
}

UTEST(buf, collects_text) {
    struct strict s = {-1, 0, 0};
    mwl_alloc a = {strict_fn, &s};
    mwl__buf b = mwl__buf_make(a);
    EXPECT_STREQ("", mwl__buf_cstr(&b));
    mwl__buf_puts(&b, "one");
    mwl__buf_putc(&b, ' ');
    mwl__buf_printf(&b, "%d-%s", 42, "two");
    mwl__buf_put(&b, "three", 2);
    mwl__buf_put(&b, NULL, 0);
    EXPECT_STREQ("one 42-twoth", mwl__buf_cstr(&b));
    EXPECT_EQ(12u, b.len);
    for (int i = 0; i < 1000; i++) mwl__buf_printf(&b, "%04d", i);
    EXPECT_EQ(4012u, b.len);
    EXPECT_STREQ("0999", mwl__buf_cstr(&b) + 4008);
    EXPECT_FALSE(b.failed);
    mwl__buf_free(&b);
    EXPECT_EQ(0u, s.out);
    EXPECT_EQ(0, s.wrong);
}

UTEST(buf, failure_is_sticky) {
    struct strict s = {1, 0, 0};
    mwl_alloc a = {strict_fn, &s};
    mwl__buf b = mwl__buf_make(a);
    mwl__buf_puts(&b, "fits");
    EXPECT_FALSE(b.failed);
    for (int i = 0; i < 10; i++) mwl__buf_puts(&b, "does not fit any more");
    EXPECT_TRUE(b.failed);
    s.left = -1; /* there is memory again, but the missing part of the text is not added */
    mwl__buf_putc(&b, 'x');
    EXPECT_TRUE(b.failed);
    EXPECT_STREQ("", mwl__buf_cstr(&b));
    EXPECT_FALSE(mwl__buf_reserve(&b, SIZE_MAX));
    mwl__buf_free(&b);
    EXPECT_EQ(0u, s.out);
    EXPECT_EQ(0, s.wrong);
}

UTEST(arena, is_aligned_zeroed_and_freed_whole) {
    struct strict s = {-1, 0, 0};
    mwl_alloc alloc = {strict_fn, &s};
    mwl__arena a = mwl__arena_make(alloc);
    for (size_t size = 1; size < 20000; size = size * 3 + 1) {
        unsigned char *p = mwl__arena_new(&a, size);
        ASSERT_TRUE(p != NULL);
        EXPECT_EQ(0u, (uintptr_t)p % 8);
        for (size_t i = 0; i < size; i++) ASSERT_EQ(0, p[i]);
        memset(p, 0xff, size);
    }
    EXPECT_STREQ("tex", mwl__arena_text(&a, "text", 3));
    EXPECT_TRUE(mwl__arena_new(&a, SIZE_MAX - 8) == NULL);
    mwl__arena_free(&a);
    EXPECT_EQ(0u, s.out);
    EXPECT_EQ(0, s.wrong);
}

UTEST(arena, a_failed_allocation_is_null) {
    struct strict s = {1, 0, 0};
    mwl_alloc alloc = {strict_fn, &s};
    mwl__arena a = mwl__arena_make(alloc);
    EXPECT_TRUE(mwl__arena_new(&a, 16) != NULL);
    EXPECT_TRUE(mwl__arena_new(&a, 1 << 20) == NULL);
    EXPECT_TRUE(mwl__arena_text(&a, "still room in the first block", 29) != NULL);
    mwl__arena_free(&a);
    EXPECT_EQ(0u, s.out);
}

UTEST(status, every_one_has_a_text) {
    EXPECT_STREQ("success", mwl_status_text(MWL_OK));
#define X(name, number, text)                                                                      \
    EXPECT_STREQ(text, mwl_status_text(MWL_##name));                                               \
    EXPECT_LE((number), 0);
    MWL_STATUS_LIST(X)
#undef X
    EXPECT_TRUE(mwl_status_text((mwl_status)-9999) != NULL);
    EXPECT_STREQ(MWL_VERSION, mwl_version());
}

UTEST_MAIN()
