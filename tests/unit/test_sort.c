/* Sorting: any order of elements, equal ones stay in theirs, the number of comparisons is limited,
 * and without memory nothing changes. */
#include "vm/base/sort.h"
#include "tests/unit/faulty.h"
#include "utest.h"

enum { MANY = 20000 };

typedef struct row {
    uint32_t key, place;
} row;

static unsigned long n_compared;

static int by_key(const void *a, const void *b) {
    const row *x = a, *y = b;
    n_compared++;
    return x->key < y->key ? -1 : x->key > y->key;
}

static uint32_t ascending(uint32_t i) { return i; }
static uint32_t descending(uint32_t i) { return MANY - i; }
static uint32_t equal(uint32_t i) { return (void)i, 7; }
static uint32_t mixed(uint32_t i) { return i * 2654435761u; }
static uint32_t few_values(uint32_t i) { return i * 2654435761u >> 29; }
static uint32_t two_runs(uint32_t i) { return i % (MANY / 2); }
static uint32_t many_runs(uint32_t i) { return i % 650; }
static uint32_t pipes(uint32_t i) { return i < MANY / 2 ? i : MANY - i; }

static const struct {
    const char *name;
    uint32_t (*key)(uint32_t i);
    unsigned long most; /* comparisons for each element */
} orders[] = {
    {"ascending", ascending, 1},  {"descending", descending, 31}, {"equal", equal, 1},
    {"mixed", mixed, 31},         {"few values", few_values, 31}, {"two runs", two_runs, 5},
    {"many runs", many_runs, 12}, {"pipes", pipes, 31},
};

UTEST(sort, every_order_within_n_log_n) {
    static row rows[MANY];
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
        for (uint32_t n = 0; n <= MANY; n = n < 40 ? n + 1 : n < MANY ? MANY : MANY + 1) {
            for (uint32_t i = 0; i < n; i++) rows[i] = (row){orders[o].key(i), i};
            n_compared = 0;
            ASSERT_TRUE(mwl__sort(&a, rows, n, sizeof *rows, by_key));
            EXPECT_LE_MSG(n_compared, orders[o].most * n, orders[o].name);
            for (uint32_t i = 1; i < n; i++) {
                bool good = rows[i - 1].key < rows[i].key ||
                            (rows[i - 1].key == rows[i].key && rows[i - 1].place < rows[i].place);
                ASSERT_TRUE_MSG(good, orders[o].name);
            }
        }
    }
    EXPECT_EQ(f.live_blocks, 0u);
}

UTEST(sort, without_memory_nothing_changes) {
    row rows[] = {{3, 0}, {1, 1}, {2, 2}};
    struct faulty f;
    mwl_alloc a = faulty_alloc(&f);
    f.fail_at = 1;
    EXPECT_FALSE(mwl__sort(&a, rows, 3, sizeof *rows, by_key));
    for (uint32_t i = 0; i < 3; i++) EXPECT_EQ(rows[i].place, i);
    EXPECT_TRUE(mwl__sort(&a, rows, 1, sizeof *rows, by_key));
}

UTEST_MAIN()
