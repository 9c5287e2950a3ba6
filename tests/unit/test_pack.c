/* test_pack.c: the small form of a program: the same image comes back; nothing else is accepted. */
#include "tests/unit/assembled.h"
#include "tests/unit/faulty.h"
#include "assembler/emit/emit.h"
#include "vm/program/pack.h"
#include "utest.h"

#include <math.h>

/* An image with every kind of constant and most sections. */
static mwl_status make(mwl_alloc alloc, mwl__buf *out) {
    mwl__emit *e = mwl__emit_new(&alloc);
    if (!e) return MWL_E_NOMEM;
    char longer[100];
    memset(longer, 'x', sizeof longer);
    const double numbers[] = {0, -0.0, 1, 1073741823, 1073741824, -1, 0.5, 1e300, HUGE_VAL};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        mwl__emit_const(e, mwl_number(numbers[i]));
    mwl__emit_const(e, mwl_int(-5));
    mwl__emit_const(e, mwl_int(INT64_MIN));
    mwl__emit_const(e, mwl_uint(UINT64_MAX));
    mwl__emit_const(e, mwl_bool(true));
    mwl__emit_const(e, mwl_duration(-1));
    mwl__emit_const(e, mwl_timestamp(-1, 999999999));
    mwl__emit_const(e, mwl_null());
    mwl__emit_string(e, "", 0);
    mwl__emit_string(e, longer, 63);
    mwl__emit_string(e, longer, 64);
    mwl__emit_string(e, "\xc3\xa9", 2);
    uint32_t key = mwl__emit_string(e, "key", 3);
    mwl__emit_path(e, MWL_BASE_ENV + 3, &key, 1);
    mwl__emit_shape(e, &key, 1);
    mwl__emit_regex(e, key);
    mwl__emit_func(e, "f", 2, true);
    mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, (uint32_t)-7);
    mwl__emit_ax(e, MWL_OP_JUMP, 0, 2);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
    mwl__emit_handler(e, 0, 1, 2, 0, MWL_HANDLER_EXPR);
    mwl__emit_source(e, "text", 4);
    mwl_status status = mwl__emit_finish(e, 0, out);
    mwl__emit_free(e);
    return status;
}

UTEST(pack, the_same_image_comes_back) {
    mwl__buf image = mwl__buf_make(mwl_alloc_default()), packed = image, back = image;
    ASSERT_EQ(MWL_OK, (int)make(image.alloc, &image));
    ASSERT_EQ(MWL_OK, (int)mwl__pack(image.data, image.len, &packed));
    EXPECT_TRUE(mwl__pack_is(packed.data, packed.len));
    EXPECT_FALSE(mwl__pack_is(image.data, image.len));
    EXPECT_LT(packed.len * 2, image.len);
    ASSERT_EQ(MWL_OK, (int)mwl__unpack(packed.data, packed.len, &back, NULL));
    ASSERT_EQ(image.len, back.len);
    EXPECT_EQ(0, memcmp(image.data, back.data, image.len));
    mwl__buf_free(&image);
    mwl__buf_free(&packed);
    mwl__buf_free(&back);
}

/* After any change it is refused, or it is an image that packs to exactly these bytes again. */
UTEST(pack, there_is_one_way_to_write_it) {
    mwl__buf image = mwl__buf_make(mwl_alloc_default()), packed = image;
    ASSERT_EQ(MWL_OK, (int)make(image.alloc, &image));
    ASSERT_EQ(MWL_OK, (int)mwl__pack(image.data, image.len, &packed));
    for (size_t i = 0; i < packed.len * 8; i++) {
        mwl__buf back = mwl__buf_make(image.alloc), again = back;
        mwl_error error = {MWL_OK, NULL, 0};
        packed.data[i / 8] = (char)(packed.data[i / 8] ^ (1 << i % 8));
        EXPECT_NE(MWL_OK,
                  (int)mwl__unpack(packed.data, packed.len, &back, &error)); /* the checksum */
        mwl__pack_reseal(packed.data, packed.len);
        mwl_status status = mwl__unpack(packed.data, packed.len, &back, &error);
        if (status == MWL_OK && mwl__pack(back.data, back.len, &again) == MWL_OK) {
            EXPECT_EQ(packed.len, again.len);
            EXPECT_EQ(0, memcmp(packed.data, again.data, again.len));
        } else if (status != MWL_OK) {
            EXPECT_TRUE(error.message != NULL && error.offset <= packed.len);
        }
        packed.data[i / 8] = (char)(packed.data[i / 8] ^ (1 << i % 8));
        mwl__pack_reseal(packed.data, packed.len);
        mwl__buf_free(&back);
        mwl__buf_free(&again);
    }
    for (size_t n = 0; n < packed.len; n++) { /* cut off anywhere */
        mwl__buf back = mwl__buf_make(image.alloc);
        char *part = malloc(n + 1);
        ASSERT_TRUE(part != NULL);
        memcpy(part, packed.data, n);
        mwl__pack_reseal(part, n);
        EXPECT_NE(MWL_OK, (int)mwl__unpack(part, n, &back, NULL));
        free(part);
        mwl__buf_free(&back);
    }
    mwl__buf_free(&image);
    mwl__buf_free(&packed);
}

/* One section of one item, written by hand: what a writer of ours never makes. */
UTEST(pack, items_that_are_refused) {
    enum { HEADER = 20 };
    static const struct {
        unsigned char section, size, bytes[5];
        const char *message;
    } rows[] = {
        {MWL_SECTION_CONSTS,
         3,
         {MWL_KIND_ARRAY, 1, 0},
         "a container holds a constant that is not before it"},
        {MWL_SECTION_CONSTS,
         3,
         {MWL_KIND_ARRAY, 1, 1},
         "a container holds a constant that is not before it"},
        {MWL_SECTION_CONSTS, 4, {MWL_KIND_NUMBER, 1, 2, 3}, "cut off in a number"},
        {MWL_SECTION_CONSTS,
         3,
         {MWL_KIND_STRING, 1, 'a'},
         "a short text is written like a long one"},
        {MWL_SECTION_CONSTS, 2, {MWL_KIND_TYPE + 1, 0}, "a constant of an unknown kind"},
        {MWL_SECTION_CONSTS, 2, {MWL_KIND_ABSENT, 0}, "a constant of an unknown kind"},
        {MWL_SECTION_CODE, 5, {MWL_OP_MOVE, 0x80, 0x80, 4, 0}, "an operand is too large"},
    };
    mwl__buf image = mwl__buf_make(mwl_alloc_default()), packed = image;
    ASSERT_EQ(MWL_OK, (int)make(image.alloc, &image));
    ASSERT_EQ(MWL_OK, (int)mwl__pack(image.data, image.len, &packed));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        mwl_error error = {MWL_OK, "", 0};
        mwl__buf back = mwl__buf_make(image.alloc);
        packed.len = HEADER;
        mwl__buf_putc(&packed, (char)rows[i].section);
        mwl__buf_putc(&packed, 1);
        mwl__buf_put(&packed, rows[i].bytes, rows[i].size);
        mwl__buf_putc(&packed, 0);
        mwl__pack_reseal(packed.data, packed.len);
        EXPECT_EQ(MWL_E_IMAGE, (int)mwl__unpack(packed.data, packed.len, &back, &error));
        EXPECT_STREQ(error.message, rows[i].message);
        mwl__buf_free(&back);
    }
    mwl__buf_free(&image);
    mwl__buf_free(&packed);
}

static bool pack_and_load(mwl_alloc alloc) {
    mwl__buf image = mwl__buf_make(alloc), packed = image;
    mwl_program *program = NULL;
    bool good = make(alloc, &image) == MWL_OK &&
                mwl__pack(image.data, image.len, &packed) == MWL_OK &&
                mwl__program_load(&alloc, packed.data, packed.len, false, &program, NULL) == MWL_OK;
    mwl__program_release(program);
    mwl__buf_free(&image);
    mwl__buf_free(&packed);
    return good;
}

UTEST(pack, every_allocation_may_fail) { EXPECT_TRUE(faulty_sweep(pack_and_load, 2000)); }

UTEST_MAIN()
