#include "tests/unit/faulty.h"
#include "vm/program/image.h"
#include "utest.h"
#include "vm/value/value.h"

/* An image with strings, code and a blob of odd length, in memory of its own (aligned). */
struct sample {
    unsigned char *bytes;
    size_t size;
};

static bool write_sample(mwl_alloc alloc, mwl__buf *out) {
    static const uint64_t code[3] = {1, 2, 3};
    mwl__buf strings = mwl__buf_make(alloc);
    *out = mwl__buf_make(alloc);
    mwl__image_put_string(&strings, "hello", 5, false);
    mwl__image_put_string(&strings, "", 0, false);
    mwl__image_put_string(&strings, "caf\xC3\xA9 \xF0\x9D\x84\x9E", 10, false);
    mwl__image_put_string(&strings, "\xff\0\xfe", 3, true);
    mwl__image_put_string(&strings, "seven..", 7, false);
    mwl_status status = strings.failed ? MWL_E_NOMEM : MWL_OK;
    if (status == MWL_OK) {
        mwl__image_writer w;
        memset(&w, 0, sizeof w);
        mwl__image_add(&w, MWL_SECTION_SOURCE, "{\"a\": 1}\n", 9); /* not in the order of ids */
        mwl__image_add(&w, MWL_SECTION_STRINGS, strings.data, strings.len);
        mwl__image_add(&w, MWL_SECTION_CODE, code, sizeof code);
        mwl__image_add(&w, MWL_SECTION_KEYS, NULL, 0);
        mwl__image_add(&w, 29, "x", 1); /* an unknown section is ignored */
        status = mwl__image_finish(&w, 0xabcd1234u, out);
    }
    mwl__buf_free(&strings);
    if (status < 0) mwl__buf_free(out);
    return status == MWL_OK;
}

static struct sample sample(void) {
    mwl__buf out;
    struct sample s = {NULL, 0};
    if (!write_sample(mwl_alloc_default(), &out)) abort();
    s.bytes = malloc(out.len);
    s.size = out.len;
    memcpy(s.bytes, out.data, out.len);
    mwl__buf_free(&out);
    return s;
}

/* All records of STRINGS: those that count no code points are bytes, unless empty. */
static mwl_status check_strings(const mwl__image *image, mwl_error *error) {
    const unsigned char *strings = image->section[MWL_SECTION_STRINGS].data;
    mwl_status status = MWL_OK;
    for (uint64_t at = 0; status == MWL_OK && at < image->section[MWL_SECTION_STRINGS].size;) {
        const mwl__str *str = (const mwl__str *)(const void *)(strings + at);
        bool cut = image->section[MWL_SECTION_STRINGS].size - at < sizeof *str;
        status = mwl__image_string(image, at, !cut && str->n_cp != 0, &at, error);
    }
    return status;
}

static mwl_status open_and_check(const void *bytes, size_t size, mwl_error *error) {
    mwl__image image;
    mwl_status status = mwl__image_open(bytes, size, &image, error);
    return status < 0 ? status : check_strings(&image, error);
}

UTEST(image, round_trip) {
    struct sample s = sample();
    mwl__image image;
    mwl_error error = {MWL_OK, NULL, 0};
    ASSERT_EQ(mwl__image_open(s.bytes, s.size, &image, &error), MWL_OK);
    ASSERT_EQ(image.isa, 0xabcd1234u);
    ASSERT_EQ(s.size % 8, (size_t)0);
    const void *data = NULL;
    uint32_t count = 0;
    ASSERT_EQ(mwl__image_array(&image, MWL_SECTION_CODE, 8, &data, &count, &error), MWL_OK);
    ASSERT_EQ(count, 3u);
    ASSERT_EQ(((const uint64_t *)data)[2], (uint64_t)3);
    ASSERT_TRUE((const unsigned char *)data > s.bytes &&
                (const unsigned char *)data < s.bytes + s.size);
    ASSERT_EQ(mwl__image_array(&image, MWL_SECTION_SOURCE, 1, &data, &count, &error), MWL_OK);
    ASSERT_EQ(count, 9u);
    ASSERT_EQ(memcmp(data, "{\"a\": 1}\n", 9), 0);
    ASSERT_EQ(mwl__image_array(&image, MWL_SECTION_SOURCE, 8, &data, &count, &error), MWL_E_IMAGE);
    ASSERT_EQ(mwl__image_array(&image, MWL_SECTION_KEYS, 4, &data, &count, &error), MWL_OK);
    ASSERT_EQ(count, 0u);
    ASSERT_TRUE(image.section[MWL_SECTION_KEYS].data != NULL);
    ASSERT_EQ(mwl__image_array(&image, MWL_SECTION_FLOWS, 4, &data, &count, &error), MWL_OK);
    ASSERT_EQ(count, 0u);
    ASSERT_TRUE(data != NULL); /* absent; C has no NULL + 0 */
    ASSERT_EQ(check_strings(&image, &error), MWL_OK);
    free(s.bytes);
}

UTEST(image, strings_are_used_in_place) {
    struct sample s = sample();
    mwl__image image;
    ASSERT_EQ(mwl__image_open(s.bytes, s.size, &image, NULL), MWL_OK);
    const unsigned char *strings = image.section[MWL_SECTION_STRINGS].data;
    static const char *const texts[] = {"hello", "", "caf\xC3\xA9 \xF0\x9D\x84\x9E", NULL,
                                        "seven.."};
    static const uint32_t points[] = {5, 0, 6, 0, 7};
    size_t n = 0;
    for (uint64_t at = 0, next; at < image.section[MWL_SECTION_STRINGS].size; at = next) {
        ASSERT_EQ(mwl__image_string(&image, at, texts[n] != NULL, &next, NULL), MWL_OK);
        if (texts[n] && texts[n][0]) /* a text cannot be used as bytes */
            ASSERT_EQ(mwl__image_string(&image, at, false, &next, NULL), MWL_E_IMAGE);
        mwl__str *str = (mwl__str *)(uintptr_t)(strings + at);
        mwl_value v = {.tag = MWL_KIND_STRING, .aux = str->hash, .as.p = str};
        if (texts[n]) {
            ASSERT_STREQ(str->s, texts[n]);
            mwl_heap *h = NULL;
            mwl_heap_new(NULL, &h);
            mwl_value same = mwl_string(h, texts[n], strlen(texts[n]));
            ASSERT_TRUE(mwl_value_equal(v, same));
            mwl_value list =
                mwl_array_push(h, mwl_array(h, 1), v); /* keep and drop do not touch the memory */
            mwl_value_drop(h, list);
            mwl_value_drop(h, same);
            mwl_heap_free(h);
        }
        ASSERT_EQ(str->n_cp, points[n]);
        ASSERT_EQ(next, at + (16 + str->len + 1 + 7) / 8 * 8);
        n++;
    }
    ASSERT_EQ(n, (size_t)5);
    uint64_t next;
    mwl_error error;
    const size_t outside[] = {image.section[MWL_SECTION_STRINGS].size, 4};
    for (size_t i = 0; i < 2; i++) {
        ASSERT_EQ(mwl__image_string(&image, outside[i], true, &next, &error), MWL_E_IMAGE);
        ASSERT_STREQ(error.message, "a string record is not there");
    }
    free(s.bytes);
}

UTEST(image, the_same_sections_give_the_same_bytes) {
    struct sample a = sample(), b = sample();
    ASSERT_EQ(a.size, b.size);
    ASSERT_EQ(memcmp(a.bytes, b.bytes, a.size), 0);
    free(a.bytes);
    free(b.bytes);
}

UTEST(image, every_changed_byte_is_refused) {
    struct sample s = sample();
    for (size_t i = 0; i < s.size; i++) {
        for (int bit = 0; bit < 8; bit++) {
            mwl_error error = {MWL_OK, NULL, 0};
            s.bytes[i] ^= (unsigned char)(1 << bit);
            mwl_status status = open_and_check(s.bytes, s.size, &error);
            ASSERT_TRUE(status == MWL_E_IMAGE || (status == MWL_E_VERSION && (i == 4 || i == 5)));
            ASSERT_EQ(error.status, status);
            ASSERT_TRUE(error.message != NULL);
            ASSERT_LE(error.offset, s.size);
            s.bytes[i] ^= (unsigned char)(1 << bit);
        }
    }
    ASSERT_EQ(open_and_check(s.bytes, s.size, NULL), MWL_OK);
    free(s.bytes);
}

/* Whether the sections of an image, written again, are the same bytes. */
static bool written_alike(const unsigned char *bytes, size_t size) {
    mwl__image image;
    mwl__image_writer w;
    memset(&w, 0, sizeof w);
    if (mwl__image_open(bytes, size, &image, NULL) < 0) return false;
    for (unsigned id = 0; id < MWL_SECTION_LIMIT; id++)
        if (image.section[id].data)
            mwl__image_add(&w, id, image.section[id].data, image.section[id].size);
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    bool alike = mwl__image_finish(&w, image.isa, &out) == MWL_OK && out.len == size &&
                 memcmp(out.data, bytes, size) == 0;
    mwl__buf_free(&out);
    return alike;
}

/* The same with a right checksum: wrong data that the reader relies on is still refused; the rest
 * is content. */
UTEST(image, every_changed_field_is_refused_behind_the_checksum) {
    struct sample s = sample();
    const size_t n_sections = 4, content = 32 + n_sections * 24;
    mwl__image image;
    ASSERT_EQ(mwl__image_open(s.bytes, s.size, &image, NULL), MWL_OK);
    const unsigned char *strings = image.section[MWL_SECTION_STRINGS].data;
    size_t strings_at = (size_t)(strings - s.bytes),
           strings_end = strings_at + image.section[MWL_SECTION_STRINGS].size;
    for (size_t i = 0; i < s.size; i++) {
        if (i >= 8 && i < 12) continue;  /* the instruction set: the caller checks it */
        if (i >= 24 && i < 32) continue; /* the checksum */
        if (i >= content && (i < strings_at || i >= strings_end) && i < s.size - 7) continue;
        for (int bit = 0; bit < 8; bit++) {
            if (i == 6 && 1 << bit == MWL_IMAGE_BIG) continue; /* the byte order: test_swap.c */
            mwl_error error = {MWL_OK, NULL, 0};
            s.bytes[i] ^= (unsigned char)(1 << bit);
            mwl__image_reseal(s.bytes, s.size);
            mwl_status status = open_and_check(s.bytes, s.size, &error);
            /* With another id or size the image may still be valid, with other content. */
            bool id_or_size = i >= 32 && i < content && ((i - 32) % 24 < 4 || (i - 32) % 24 >= 16);
            if (status >= 0 && !(id_or_size && written_alike(s.bytes, s.size)))
                printf("byte %zu bit %d was accepted\n", i, bit);
            ASSERT_TRUE(status < 0 || (id_or_size && written_alike(s.bytes, s.size)));
            s.bytes[i] ^= (unsigned char)(1 << bit);
        }
    }
    mwl__image_reseal(s.bytes, s.size);
    ASSERT_EQ(open_and_check(s.bytes, s.size, NULL), MWL_OK);
    free(s.bytes);
}

static void put32(unsigned char *p, uint32_t v) {
    for (int i = 0; i < 4; i++) p[i] = (unsigned char)(v >> (8 * i));
}

UTEST(image, extreme_numbers_do_not_wrap) {
    struct sample s = sample();
    static const uint32_t extreme[] = {0,           1,           7,           0x7fffffffu,
                                       0x80000000u, 0xfffffff0u, 0xfffffff8u, 0xffffffffu};
    unsigned char *copy = malloc(s.size);
    for (size_t i = 0; i + 4 <= s.size; i += 4) {
        for (size_t k = 0; k < 8; k++) {
            for (size_t wide = 0; wide < 2 && i + 8 <= s.size; wide++) {
                memcpy(copy, s.bytes, s.size);
                put32(copy + i, extreme[k]);
                if (wide) put32(copy + i + 4, extreme[k]);
                mwl__image_reseal(copy, s.size);
                /* either way, nothing is read out of bounds */
                ASSERT_LE((int)open_and_check(copy, s.size, NULL), 0);
            }
        }
    }
    free(copy);
    free(s.bytes);
}

UTEST(image, every_truncation_and_every_tail_is_refused) {
    struct sample s = sample();
    for (size_t n = 0; n < s.size; n++) {
        unsigned char *copy = malloc(n ? n : 1); /* so that a read beyond the end is noticed */
        if (n) memcpy(copy, s.bytes, n);
        mwl_error error = {MWL_OK, NULL, 0};
        ASSERT_EQ(open_and_check(copy, n, &error), MWL_E_IMAGE);
        mwl__image_reseal(copy, n);
        ASSERT_EQ(open_and_check(copy, n, &error), MWL_E_IMAGE);
        if (n >= 32) {
            put32(copy + 16, (uint32_t)n);
            mwl__image_reseal(copy, n);
            ASSERT_EQ(open_and_check(copy, n, &error), MWL_E_IMAGE);
        }
        free(copy);
    }
    unsigned char *longer = calloc(1, s.size + 8);
    memcpy(longer, s.bytes, s.size);
    ASSERT_EQ(open_and_check(longer, s.size + 8, NULL), MWL_E_IMAGE);
    put32(longer + 16, (uint32_t)s.size + 8);
    mwl__image_reseal(longer, s.size + 8);
    mwl_error error;
    ASSERT_EQ(open_and_check(longer, s.size + 8, &error), MWL_E_IMAGE);
    ASSERT_STREQ(error.message, "bytes that belong to no section");
    free(longer);
    free(s.bytes);
}

UTEST(image, the_reason_names_what_is_wrong) {
    struct sample s = sample();
    mwl_error error;
    ASSERT_EQ(mwl__image_open("not a program", 13, &(mwl__image){0}, &error) < 0, true);
    s.bytes[4] = MWL_IMAGE_FORMAT + 1;
    ASSERT_EQ(open_and_check(s.bytes, s.size, &error), MWL_E_VERSION);
    ASSERT_EQ(error.offset, (size_t)4);
    s.bytes[4] = MWL_IMAGE_FORMAT;
    s.bytes[40]++;
    ASSERT_EQ(open_and_check(s.bytes, s.size, &error), MWL_E_IMAGE);
    ASSERT_STREQ(error.message, "the checksum does not match");
    mwl__image_reseal(s.bytes, s.size);
    ASSERT_EQ(open_and_check(s.bytes, s.size, &error), MWL_E_IMAGE);
    ASSERT_STREQ(error.message, "a section is not where it must be");
    ASSERT_EQ(error.offset, (size_t)40);
    s.bytes[40]--;
    put32(s.bytes + 48, (uint32_t)(s.size + 7) & ~7u); /* the size of the first section */
    mwl__image_reseal(s.bytes, s.size);
    ASSERT_EQ(open_and_check(s.bytes, s.size, &error), MWL_E_IMAGE);
    ASSERT_STREQ(error.message, "a section reaches beyond the end");
    put32(s.bytes + 12, MWL_SECTION_LIMIT);
    mwl__image_reseal(s.bytes, s.size);
    ASSERT_EQ(open_and_check(s.bytes, s.size, &error), MWL_E_IMAGE);
    ASSERT_STREQ(error.message, "too many sections");
    free(s.bytes);
    s = sample(); /* without the last three bytes of its padding */
    put32(s.bytes + 16, (uint32_t)s.size - 3);
    mwl__image_reseal(s.bytes, s.size - 3);
    ASSERT_EQ(open_and_check(s.bytes, s.size - 3, &error), MWL_E_IMAGE);
    ASSERT_STREQ(error.message, "the padding is cut off");
    free(s.bytes);
}

UTEST(image, wrong_use) {
    struct sample s = sample();
    unsigned char *odd = malloc(s.size + 1);
    memcpy(odd + 1, s.bytes, s.size);
    mwl__image image;
    mwl_error error;
    ASSERT_EQ(mwl__image_open(odd + 1, s.size, &image, &error), MWL_E_USAGE);
    ASSERT_EQ(mwl__image_open(NULL, 0, &image, &error), MWL_E_USAGE);
    ASSERT_EQ(mwl__image_open(s.bytes, s.size, NULL, &error), MWL_E_USAGE);
    ASSERT_EQ(mwl__image_open(s.bytes, s.size, &image, &error), MWL_OK);
    const void *data;
    uint32_t count;
    ASSERT_EQ(mwl__image_array(&image, MWL_SECTION_LIMIT, 1, &data, &count, &error), MWL_E_USAGE);
    ASSERT_EQ(mwl__image_array(&image, MWL_SECTION_CODE, 0, &data, &count, &error), MWL_E_USAGE);
    mwl__image_writer w;
    memset(&w, 0, sizeof w);
    mwl__image_add(&w, MWL_SECTION_CODE, "123", 3);
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    ASSERT_EQ(mwl__image_finish(&w, 1, &out), MWL_E_USAGE);
    ASSERT_EQ(out.len, (size_t)0);
    ASSERT_STREQ(mwl__image_section_name(MWL_SECTION_CODE), "CODE");
    ASSERT_TRUE(mwl__image_section_name(29) == NULL);
    free(odd);
    free(s.bytes);
}

UTEST(image, without_sections) {
    mwl__image_writer w;
    memset(&w, 0, sizeof w);
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    ASSERT_EQ(mwl__image_finish(&w, 1, &out), MWL_OK);
    ASSERT_EQ(out.len, (size_t)32);
    ASSERT_EQ(open_and_check(out.data, out.len, NULL), MWL_OK);
    mwl__buf_free(&out);
}

static bool writes(mwl_alloc alloc) {
    mwl__buf out;
    if (!write_sample(alloc, &out)) return false;
    mwl__buf_free(&out);
    return true;
}

UTEST(image, allocation_failures) { ASSERT_TRUE(faulty_sweep(writes, 100)); }

UTEST_MAIN()
