/* test_swap.c: programs whose records have the other byte order, which is how a big-endian machine
 * holds a file. Here the machine that runs the test loads one whose order is not its own. ctest's
 * swap_cases runs every case that way. */
#include "tests/unit/assembled.h"
#include "utest.h"
#include "vm/base/order.h"
#include "vm/program/swap.h"

#include <stdlib.h>

/* Something for every section: constants of all sizes, paths, functions, patterns, handlers, a
 * schema, middleware, a Gather, clauses. */
static const char definition[] = FLOW_HEAD
    "\"parameters\": {\"type\": \"object\", \"properties\": {\"n\": {\"type\": \"number\"}}},"
    "\"middleware\": [{" MW(
        "finally") ", \"onAlways\": {\"with\": {\"call\": {" MOCK "}}}}],"
                   "\"steps\": {"
                   "\"a\": {\"action\": \"Gather\", \"over\": \"{{ [1.5, 1e300, -0.25] }}\","
                   "  \"call\": {" MOCK "}, \"next\": \"b\"},"
                   "\"b\": {\"action\": \"Match\", \"cases\": [{\"when\": "
                   "  \"{{ string(size(match.input)).matches('^[0-9]$') }}\", \"next\": \"c\"}],"
                   "  \"default\": {\"next\": \"d\"}},"
                   "\"c\": {\"action\": \"Call\", \"call\": {" MOCK
                   "}, \"catch\": [{\"match\": {\"codes\": "
                   "  [\"Some.*\"]}, \"output\": \"{{ failure.code + '!' }}\", \"next\": \"d\"}], \"next\": \"d\"},"
                   "\"d\": {\"action\": \"Return\", \"value\": \"{{ {'in': step.input, 'k': ['caf\u00e9', 1, "
                   "null]} }}\"}}}";

struct swapped {
    struct assembled made;
    unsigned char *bytes; /* the image, its records turned */
    size_t size;
};

static bool swapped_make(struct swapped *s) {
    memset(s, 0, sizeof *s);
    assembled_make(&s->made, definition, 0);
    if (s->made.status < 0) return false;
    mwl__image view;
    s->size = s->made.result.image_size;
    s->bytes = malloc(s->size);
    memcpy(s->bytes, s->made.result.image, s->size);
    if (mwl__image_open(s->bytes, s->size, &view, NULL) < 0 || view.big) return false;
    if (MWL__BIG_ENDIAN) return true; /* files have the other order as they are */
    mwl__image_swap(s->bytes, &view);
    return true;
}

static void swapped_free(struct swapped *s) {
    assembled_free(&s->made);
    free(s->bytes);
}

UTEST(swap, every_record_is_turned_and_turned_back) {
    struct swapped s;
    ASSERT_TRUE(swapped_make(&s));
    mwl__image view, native;
    void *own;
    const mwl_alloc alloc = mwl_alloc_default();
    ASSERT_EQ(mwl__image_open(s.bytes, s.size, &view, NULL), MWL_OK);
    EXPECT_EQ(view.big, !MWL__BIG_ENDIAN);
    native = view;
    ASSERT_EQ(mwl__image_to_native(&alloc, &native, &own, NULL), MWL_OK);
    ASSERT_TRUE(own != NULL);
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++) {
        size_t size = view.section[id].size;
        if (!mwl__image_section_name(id)) continue;
        if (!size) printf("no section %s\n", mwl__image_section_name(id));
        EXPECT_TRUE(size > 0);
        EXPECT_EQ(memcmp(native.section[id].data, s.made.program->image.section[id].data, size), 0);
        bool plain = mwl__image_record_size(id) == 1;
        EXPECT_EQ(memcmp(native.section[id].data, view.section[id].data, size) == 0, plain);
    }
    mwl__image_swap(s.bytes, &view);
    if (!MWL__BIG_ENDIAN) EXPECT_EQ(memcmp(s.bytes, s.made.result.image, s.size), 0);
    mwl__mem_free(&alloc, own, s.size);
    swapped_free(&s);
}

/* The program and its identity for saved runs are the same, whoever owns the bytes. */
UTEST(swap, it_loads_as_the_same_program) {
    struct swapped s;
    ASSERT_TRUE(swapped_make(&s));
    uint8_t id[16], other[16];
    mwl_program_id(s.made.program, id);
    unsigned char *kept = malloc(s.size);
    memcpy(kept, s.bytes, s.size);
    for (int copy = 0; copy < 2; copy++) {
        mwl_program *p = NULL;
        ASSERT_EQ(mwl_program_load(NULL, s.bytes, s.size, copy ? MWL_COPY : MWL_BORROW, &p, NULL),
                  MWL_OK);
        mwl_program_id(p, other);
        EXPECT_EQ(memcmp(id, other, sizeof id), 0);
        ASSERT_EQ(p->n_code, s.made.program->n_code);
        EXPECT_EQ(memcmp(p->code, s.made.program->code, p->n_code * sizeof *p->code), 0);
        mwl__where a, b;
        for (uint32_t pc = 0; pc < p->n_code; pc++) {
            ASSERT_TRUE(mwl__program_where(p, pc, 0, &a));
            ASSERT_TRUE(mwl__program_where(s.made.program, pc, 0, &b));
            EXPECT_EQ(memcmp(&a, &b, sizeof a), 0);
        }
        EXPECT_EQ(memcmp(kept, s.bytes, s.size), 0); /* lent bytes are not written */
        mwl_program_release(p);
    }
    free(kept);
    swapped_free(&s);
}

/* Each byte is damaged, with a right checksum: the loader refuses it for the same reason and at the
 * same place as in the usual order, or accepts it in both. */
UTEST(swap, damage_is_found_in_both_orders) {
    struct swapped s;
    ASSERT_TRUE(swapped_make(&s));
    mwl__image view;
    ASSERT_EQ(mwl__image_open(s.bytes, s.size, &view, NULL), MWL_OK);
    size_t begin = (size_t)((const unsigned char *)view.section[MWL_SECTION_INFO].data - s.bytes);
    unsigned char *turned = malloc(s.size);
    for (size_t i = begin; i < s.size; i += 1 + i % 3) {
        mwl_program *p = NULL, *q = NULL;
        mwl_error one = {MWL_OK, "", 0}, two = {MWL_OK, "", 0};
        s.bytes[i] ^= (unsigned char)(1u << i % 8);
        mwl__image_reseal(s.bytes, s.size);
        memcpy(turned, s.bytes, s.size);
        if (mwl__image_open(turned, s.size, &view, NULL) == MWL_OK) mwl__image_swap(turned, &view);
        mwl_status first = mwl_program_load(NULL, s.bytes, s.size, MWL_BORROW, &p, &one);
        mwl_status second = mwl_program_load(NULL, turned, s.size, MWL_BORROW, &q, &two);
        if (first != second || strcmp(one.message, two.message) != 0)
            printf("byte %zu: %s; %s\n", i, one.message, two.message);
        EXPECT_EQ(first, second);
        EXPECT_EQ(one.offset, two.offset);
        mwl_program_release(p);
        mwl_program_release(q);
        s.bytes[i] ^= (unsigned char)(1u << i % 8);
    }
    free(turned);
    swapped_free(&s);
}

/* Every allocation of loading one fails in turn. */
static void *failing(void *ctx, void *ptr, size_t old_size, size_t new_size) {
    long *left = ctx;
    if (new_size > old_size && (*left)-- <= 0) return NULL;
    const mwl_alloc a = mwl_alloc_default();
    return a.fn(a.ctx, ptr, old_size, new_size);
}

UTEST(swap, memory_may_run_out) {
    struct swapped s;
    ASSERT_TRUE(swapped_make(&s));
    mwl_status status = MWL_E_NOMEM;
    for (long n = 0; status == MWL_E_NOMEM; n++) {
        long left = n;
        const mwl_alloc alloc = {failing, &left};
        mwl_program *p = NULL;
        status = mwl_program_load(&alloc, s.bytes, s.size, MWL_BORROW, &p, NULL);
        left = 1000000;
        mwl_program_release(p);
    }
    EXPECT_EQ(status, MWL_OK);
    swapped_free(&s);
}

UTEST_MAIN()
