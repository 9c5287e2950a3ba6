/* test_load_memory.c: the memory limit of loading (mwl_program_load_within). Every allocation
 * counts, and programs that are small as bytes and large when they are loaded are refused. */
#include "assembler/emit/emit.h"
#include "tests/unit/broken_images.h"
#include "utest.h"
#include "vm/program/pack.h"

/* An allocator that knows the most that was held at a time. */
struct meter {
    size_t used, most;
};

static void *meter_resize(void *ctx, void *p, size_t old_size, size_t new_size) {
    struct meter *m = ctx;
    void *q = NULL;
    if (new_size)
        q = realloc(p, new_size);
    else
        free(p);
    if (new_size && !q) return NULL;
    m->used = m->used - old_size + new_size;
    if (m->used > m->most) m->most = m->used;
    return q;
}

/* Loads under the limit, and releases. Returns the status; *most: what was held at a time. */
static mwl_status load(const void *bytes, size_t size, size_t limit, size_t *most,
                       mwl_error *error) {
    struct meter m = {0, 0};
    const mwl_alloc alloc = {meter_resize, &m};
    mwl_program *p = NULL;
    *error = (mwl_error){MWL_OK, "", 0};
    mwl_status status = mwl_program_load_within(&alloc, bytes, size, MWL_COPY, limit, &p, error);
    if ((status == MWL_OK) != (p != NULL)) abort();
    mwl_program_release(p);
    *most = m.most;
    if (m.used) abort(); /* something was not freed, or freed with another size */
    return status;
}

enum { SMALL = 4 << 20 }; /* a limit */

/* The least limit is exactly what is held: nothing is taken beside the account. */
static void check_limits(int *utest_result, const void *bytes, size_t size) {
    size_t needed, most;
    mwl_error error;
    ASSERT_EQ(MWL_OK, (int)load(bytes, size, SIZE_MAX, &needed, &error));
    EXPECT_EQ(MWL_OK, (int)load(bytes, size, needed, &most, &error));
    EXPECT_EQ(needed, most);
    const size_t step = 1 + needed / 300;
    for (size_t limit = 1; limit < needed; limit += step) {
        EXPECT_EQ(MWL_E_TOO_BIG, (int)load(bytes, size, limit, &most, &error));
        EXPECT_EQ(MWL_E_TOO_BIG, (int)error.status);
        EXPECT_TRUE(strstr(error.message, "loading the program needs more than ") != NULL);
        EXPECT_TRUE(most <= limit || most == sizeof(mwl_program));
    }
    EXPECT_EQ(MWL_E_TOO_BIG, (int)load(bytes, size, needed - 1, &most, &error));
    EXPECT_EQ(MWL_OK, (int)load(bytes, size, 0, &most, &error)); /* the default */
}

UTEST(load_memory, every_allocation_counts) {
    for (int i = 0; i < N_DEFINITIONS; i++) {
        struct image image = image_new(i);
        mwl__buf packed = mwl__buf_make(mwl_alloc_default());
        ASSERT_EQ(MWL_OK, (int)mwl__pack(image.bytes, image.made.image_size, &packed));
        check_limits(utest_result, image.bytes, image.made.image_size);
        check_limits(utest_result, packed.data, packed.len);
        mwl__buf_free(&packed);
        image_free(&image);
    }
}

/* Packs what was emitted, and frees the emitter. */
static mwl__buf finished(mwl__emit *e) {
    mwl__buf image = mwl__buf_make(mwl_alloc_default()), packed = image;
    if (mwl__emit_finish(e, MWL_ASM_STRIP, &image) < 0) abort();
    if (mwl__pack(image.data, image.len, &packed) < 0) abort();
    mwl__emit_free(e);
    mwl__buf_free(&image);
    return packed;
}

/* Many ways are open at one time, and each has a state of all registers. */
static mwl__buf many_ways(void) {
    mwl__emit *e = mwl__emit_new(NULL);
    const uint32_t n = 4000;
    mwl__emit_ax(e, MWL_OP_LOAD_K, MWL_REGS_LIMIT - 1, mwl__emit_const(e, mwl_bool(true)));
    for (uint32_t i = 0; i < n; i++) mwl__emit_ax(e, MWL_OP_JUMP_IF, MWL_REGS_LIMIT - 1, n + 1 + i);
    for (uint32_t i = 0; i < n; i++) mwl__emit_abc(e, MWL_OP_NOP, 0, 0, 0);
    mwl__emit_abc(e, MWL_OP_END, MWL_REGS_LIMIT - 1, 0, 0);
    return finished(e);
}

/* A byte for each element, which is a value when it is loaded. */
static mwl__buf long_array(void) {
    mwl__emit *e = mwl__emit_new(NULL);
    mwl_heap *heap = NULL;
    if (mwl_heap_new(NULL, &heap) < 0) abort();
    mwl_value list = mwl_array(heap, 0);
    for (int i = 0; i < 300000; i++) list = mwl_array_push(heap, list, mwl_null());
    mwl__emit_ax(e, MWL_OP_LOAD_K, 0, mwl__emit_const(e, list));
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
    mwl_value_drop(heap, list);
    mwl_heap_free(heap);
    return finished(e);
}

UTEST(load_memory, small_as_bytes_and_large_when_loaded) {
    static const struct {
        mwl__buf (*make)(void);
        size_t times;
    } rows[] = {{many_ways, 1000}, {long_array, 15}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl__buf b = rows[i].make();
        size_t needed = 0, most = 0;
        mwl_error error;
        ASSERT_EQ(MWL_OK, (int)load(b.data, b.len, SIZE_MAX, &needed, &error));
        EXPECT_GT(needed, b.len * rows[i].times);
        EXPECT_EQ(MWL_E_TOO_BIG, (int)load(b.data, b.len, SMALL, &most, &error));
        EXPECT_LE(most, SMALL);
        EXPECT_STREQ(error.message, "loading the program needs more than 4194304 bytes of memory");
        mwl__buf_free(&b);
    }
}

/* The host's own allocator may refuse too: that is another status. */
static void *refuse(void *ctx, void *p, size_t old_size, size_t new_size) {
    int *left = ctx;
    if (new_size > old_size && --*left < 0) return NULL;
    if (new_size) return realloc(p, new_size);
    free(p);
    return NULL;
}

UTEST(load_memory, the_host_is_out_of_memory) {
    struct image image = image_new(0);
    for (int n = 0;; n++) {
        int left = n;
        const mwl_alloc alloc = {refuse, &left};
        mwl_program *p = NULL;
        mwl_error error = {MWL_OK, "", 0};
        mwl_status status =
            mwl_program_load(&alloc, image.bytes, image.made.image_size, MWL_COPY, &p, &error);
        mwl_program_release(p);
        if (status == MWL_OK) break;
        EXPECT_EQ(MWL_E_NOMEM, (int)status);
        EXPECT_EQ(MWL_E_NOMEM, (int)error.status);
        EXPECT_STREQ("out of memory", error.message);
    }
    image_free(&image);
}

UTEST_MAIN()
