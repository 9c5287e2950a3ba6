/* The table: entries are found with any hash, growth loses none, a failed allocation changes
 * nothing, searches are counted and stay short with the keyed hash, also for hostile keys. */
#include "vm/base/table.h"
#include "tests/unit/faulty.h"
#include "tests/unit/flood.h"
#include "utest.h"
#include "vm/base/hash.h"
#include "vm/value/value.h"

enum { MANY = 100000 };

/* Numbers as entries: entry i is the number i * 7. */
static uint64_t hash_of(uint32_t i) { return mwl__hash_word(mwl__hash_secret(), i * 7u, 0); }

static bool find(const mwl__table *t, uint64_t hash, uint32_t wanted, mwl__probe *probe) {
    *probe = mwl__probe_make(t, hash);
    for (uint32_t i; mwl__table_next(t, probe, &i);)
        if (i == wanted) return true;
    return false;
}

UTEST(table, empty) {
    mwl__table t = {0};
    mwl__probe p;
    EXPECT_FALSE(find(&t, 1, 0, &p));
    EXPECT_EQ(p.steps, 0u);
    mwl_alloc a = mwl_alloc_default();
    mwl__table_clear(&t);
    mwl__table_free(&t, &a);
}

UTEST(table, growth_keeps_every_entry) {
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    mwl__table t = {0};
    mwl__probe p;
    uint32_t longest = 0;
    uint64_t walked = 0;
    for (uint32_t i = 0; i < MANY; i++) {
        ASSERT_EQ(mwl__table_reserve(&t, &a, i + 1u), MWL_OK);
        ASSERT_FALSE(find(&t, hash_of(i), i, &p));
        mwl__table_put(&t, &p, i);
        ASSERT_TRUE(t.n == i + 1 && t.n_slots >= 2 * t.n);
    }
    for (uint32_t i = 0; i < MANY; i++) {
        ASSERT_TRUE(find(&t, hash_of(i), i, &p));
        walked += p.steps;
        if (p.steps > longest) longest = p.steps;
        ASSERT_FALSE(find(&t, hash_of(MANY + i), MANY + i, &p));
    }
    EXPECT_TRUE(walked < 2 * MANY); /* 1.5 is what half a table gives */
    EXPECT_TRUE(longest < 128);
    mwl__table_clear(&t);
    EXPECT_FALSE(find(&t, hash_of(1), 1, &p));
    EXPECT_EQ(t.n, 0u);
    mwl__table_free(&t, &a);
    EXPECT_EQ(f.live_blocks, (size_t)0);
    EXPECT_FALSE(f.wrong);
}

UTEST(table, equal_hashes_are_all_offered) {
    mwl_alloc a = mwl_alloc_default();
    mwl__table t = {0};
    enum { SAME = 300 };
    mwl__probe p;
    for (uint32_t i = 0; i < SAME; i++) {
        ASSERT_EQ(mwl__table_reserve(&t, &a, i + 1u), MWL_OK);
        ASSERT_FALSE(find(&t, 42, i, &p));
        ASSERT_EQ(p.steps, i); /* the cost of the search is counted */
        mwl__table_put(&t, &p, i);
    }
    for (uint32_t i = 0; i < SAME; i++) ASSERT_TRUE(find(&t, 42, i, &p));
    /* One in the same place whose other bits differ is not offered, but walked past. */
    p = mwl__probe_make(&t, 42u + t.n_slots);
    uint32_t entry;
    EXPECT_FALSE(mwl__table_next(&t, &p, &entry));
    EXPECT_EQ(p.steps, (uint32_t)SAME);
    mwl__table_free(&t, &a);
}

UTEST(table, limit) {
    mwl_alloc a = mwl_alloc_default();
    mwl__table t = {0};
    EXPECT_EQ(mwl__table_reserve(&t, &a, (size_t)MWL__TABLE_LIMIT + 1), MWL_E_TOO_BIG);
    EXPECT_TRUE(t.slot == NULL && t.n_slots == 0);
}

static bool fill(mwl_alloc a) {
    mwl__table t = {0};
    mwl__probe p;
    uint32_t n = 0;
    bool good = true;
    for (; good && n < 500; n++) {
        good = mwl__table_reserve(&t, &a, n + 1u) == MWL_OK;
        if (good && !find(&t, hash_of(n), n, &p)) mwl__table_put(&t, &p, n);
    }
    if (!good) n--;
    for (uint32_t i = 0; i < n; i++)
        if (!find(&t, hash_of(i), i, &p)) abort(); /* the old entries are still there */
    mwl__table_free(&t, &a);
    return good;
}

UTEST(table, out_of_memory_changes_nothing) { ASSERT_TRUE(faulty_sweep(fill, 100)); }

UTEST(table, in_an_arena) {
    struct faulty f;
    mwl__arena arena = mwl__arena_make(faulty_alloc(&f));
    mwl_alloc a = mwl__arena_alloc(&arena);
    EXPECT_TRUE(fill(a));
    mwl__arena_free(&arena);
    EXPECT_EQ(f.live_blocks, (size_t)0);
}

/* ---- hostile keys ---------------------------------------------------------------------------- */

/* Steps to enter the first n keys of flood.h by some hash. */
static uint64_t steps_for(uint32_t n, bool keyed) {
    mwl_alloc a = mwl_alloc_default();
    mwl__table t = {0};
    uint64_t steps = 0;
    for (uint32_t i = 0; i < n; i++) {
        char key[FLOOD_LEN];
        flood_key(i, key);
        uint64_t hash = keyed ? mwl__hash_key(key, sizeof key) : mwl__str_hash(key, sizeof key);
        mwl__probe p;
        if (mwl__table_reserve(&t, &a, i + 1u) < 0 || find(&t, hash, i, &p)) abort();
        mwl__table_put(&t, &p, i);
        steps += p.steps;
    }
    mwl__table_free(&t, &a);
    return steps;
}

UTEST(table, flooding_needs_the_secret) {
    EXPECT_EQ(steps_for(2000, false), 2000u * 1999u / 2); /* the attack works without one */
    EXPECT_TRUE(steps_for(60000, true) < 2 * 60000);
}

UTEST_MAIN()
