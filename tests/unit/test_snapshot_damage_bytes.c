/* test_snapshot_damage_bytes.c: what the reader of saved runs refuses below the records: single
 * items of CBOR, heads, the forms of numbers, the header; and places that the program does not
 * reach. */
#include "utest.h"

#include "tests/unit/saved_runs.h"
#include "vm/machine/link.h"
#include "vm/snapshot/reader.h"
#include "vm/snapshot/resume.h"

typedef enum reading { VALUE, UINT, INT, ARRAY, LIST, INDEX, REFERENCE, COMPLETE } reading;
#define VERSION "\xd9\x4d\x56\x82"
#define SHARED "\xd8\x1c"
#define REFER "\xd8\x1d"

static const struct item_row {
    reading as;
    const char *bytes;
    size_t size;
    const char *reason;
} items[] = {
#define BYTES(s) s, sizeof(s) - 1
    {UINT,
     BYTES("\x61"
           "a"),
     "this is not a number"},
    {UINT, BYTES("\x18\x64"), "a number is too large"},
    {INT,
     BYTES("\x61"
           "a"),
     "this is not an integer"},
    {INT, BYTES("\x1b\x80\0\0\0\0\0\0\0"), "this is not an integer"},
    {INT, BYTES("\x3b\x80\0\0\0\0\0\0\0"), "this is not an integer"},
    {ARRAY, BYTES("\x02"), "this is not an array"},
    {ARRAY, BYTES("\x81\0"), "a record has another number of members"},
    {LIST, BYTES("\x83\0\0\0"), "an array is too long"},
    {LIST, BYTES("\x82\0"), "an array is too long"},
    {INDEX, BYTES("\0"), "a number is too large"},
    {REFERENCE, BYTES("\0"), "this is not a reference"},
    {REFERENCE, BYTES(SHARED "\0"), "this is not a reference"},
    {REFERENCE, BYTES(REFER "\0"), "a reference leads to nothing"},
    {VALUE, BYTES(REFER "\x1a\x0f\xff\xff\xff"), "a reference leads to nothing"},
    {VALUE, BYTES(SHARED "\x81" REFER "\0"), "a reference leads to nothing"},
    {COMPLETE,
     BYTES(SHARED "\x63"
                  "abc"),
     "something shared is used once only"},
    {VALUE,
     BYTES("\x65"
           "ab"),
     "a text is cut off"},
    {VALUE, BYTES("\x62\xff\xff"), "a text is not UTF-8"},
    {VALUE, BYTES("\xd9\x4d\x43\x1a\x0f\xff\xff\xff"), "there is no such constant"},
    {VALUE, BYTES("\xd9\x4d\x59\x05"), "a type has no name"},
    {VALUE, BYTES("\xd9\x4d\x45\x82\x61t\x05"), "an extension has no data"},
    {VALUE, BYTES("\xd9\x4d\x7a\x05"), "a tag is not known"},
    {VALUE, BYTES("\x1b\0\x20\0\0\0\0\0\x01"), "a number is out of range"},
    {VALUE, BYTES("\x3b\0\x20\0\0\0\0\0\0"), "a number is out of range"},
    {VALUE,
     BYTES("\x82" SHARED "\x63"
           "abc" VERSION "\x01" REFER "\0"),
     "a version is not shorter than what it is a version of"},
    {VALUE, BYTES("\x82" SHARED "\x82\x01\x02" VERSION "\0" REFER "\0"),
     "a version is not shorter than what it is a version of"},
    {VALUE, BYTES("\x82" SHARED "\x82\x01\x02" VERSION "\x02" REFER "\0"),
     "a version is not shorter than what it is a version of"},
    {VALUE, BYTES(VERSION "\x01\x05"), "a version of something not shared"},
    {VALUE, BYTES(VERSION "\x01\xd9\x4d\x49\x05"), "a version of something not shared"},
    {VALUE,
     BYTES(VERSION "\x01" SHARED "\x63"
                   "abc"),
     "a version of a text"},
    {VALUE, BYTES(SHARED "\x05"), "this cannot be shared"},
    {VALUE, BYTES(SHARED "\xf6"), "this cannot be shared"},
    {VALUE, BYTES(SHARED "\x80"), "this cannot be shared"},
    {VALUE, BYTES("\x81\xf7"), "a value is missing"},
    {VALUE, BYTES("\x9a\0\x01\0\0\x01"), "an array or object is too long"},
    {VALUE, BYTES("\xa2\x01\x02\x03"), "an array or object is too long"},
    {VALUE, BYTES("\xa1\x80\x01"), "this cannot be a key"},
    {VALUE,
     BYTES("\xa2\x61"
           "a\x01\x61"
           "a\x02"),
     "an object has a key twice"},
    {REFERENCE, BYTES("\x18\x1d\0"), "this is not a reference"},
#undef BYTES
};

static void read_item(mwl__reader *r, reading as) {
    uint64_t n;
    int64_t i;
    uint32_t count;
    mwl_value v = mwl_absent();
    switch (as) {
    case UINT: (void)mwl__reader_uint(r, 100, &n); break;
    case INT: (void)mwl__reader_int(r, &i); break;
    case ARRAY: (void)mwl__reader_array(r, 2); break;
    case LIST: (void)mwl__reader_list(r, 2, &count); break;
    case INDEX: (void)mwl__reader_index(r, 0, &count); break;
    case REFERENCE: (void)mwl__reader_reference(r, &v); break;
    default:
        if (mwl__reader_value(r, &v)) mwl__drop(r->heap, v);
        if (as == COMPLETE) (void)mwl__reader_complete(r);
        break;
    }
}

static mwl__reader reader_of(bench *b, const void *bytes, size_t size) {
    mwl__reader r;
    memset(&r, 0, sizeof r);
    (void)mwl__link_program(b->vm, b->program[CALL], &r.link, NULL);
    r.heap = mwl_vm_heap(b->vm);
    r.begin = bytes;
    r.c = (mwl__cbor){r.begin, r.begin + size};
    return r;
}

UTEST(damage, of_single_items) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    for (size_t i = 0; i < sizeof items / sizeof *items; i++) {
        size_t used = mwl_heap_used(mwl_vm_heap(b.vm));
        mwl__reader r = reader_of(&b, items[i].bytes, items[i].size);
        read_item(&r, items[i].as);
        if (!r.why || strcmp(r.why, items[i].reason) != 0) printf("row %zu\n", i);
        EXPECT_STREQ(r.why ? r.why : "nothing", items[i].reason);
        mwl__reader_free(&r);
        EXPECT_LE(mwl_heap_used(mwl_vm_heap(b.vm)), used + 4096); /* names are kept */
    }
    enum { DEEP = 200000 };
    unsigned char *deep = malloc(DEEP);
    memset(deep, 0x81, DEEP);
    mwl__reader r = reader_of(&b, deep, DEEP);
    read_item(&r, VALUE);
    EXPECT_STREQ(r.why, "a value is nested too deeply");
    mwl__reader_free(&r);
    free(deep);
    const mwl_program *p = b.program[CALL];
    for (uint32_t k = 0; k < p->n_consts && k < 24; k++) { /* numbers are not named by an index */
        unsigned char constant[] = {0xd9, 0x4d, 0x43, (unsigned char)k};
        bool named = mwl__resume_is_constant(p->consts[k]);
        r = reader_of(&b, constant, sizeof constant);
        read_item(&r, VALUE);
        EXPECT_STREQ(r.why ? r.why : "", named ? "" : "there is no such constant");
        mwl__reader_free(&r);
    }
    close_bench(&b);
}

/* Places that no code of the program leads to. The assembler writes none, but an image from
 * somewhere else may have them: then nothing can be there. */
UTEST(damage, places_that_no_code_reaches) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    const mwl__places *sleep = &b.program[SLEEP]->places, *call = &b.program[CALL]->places,
                      *fan = &b.program[GATHER]->places, *gap = &b.program[GAP]->places,
                      *wait = &b.program[WAIT]->places, *clean = &b.program[CLEANUP]->places;
    const struct {
        source from;
        void *place;
        size_t size;
        const char *reason;
    } rows[] = {
        {SLEEP, &sleep->flows[0].begun, sizeof sleep->flows[0].begun, "there is no such Sleep"},
        {SLEEP, &sleep->sleeps[0], sizeof sleep->sleeps[0], "there is no such Sleep"},
        {CALL, &call->entries[1].begun, sizeof call->entries[1].begun,
         "there is no such middleware entry"},
        {CALL, &call->calls[0].begun, sizeof call->calls[0].begun, "there is no such call"},
        {CALL, &call->calls[0].after, sizeof call->calls[0].after, "there is no such call"},
        {GATHER, &fan->gathers[0].begun, sizeof fan->gathers[0].begun,
         "a Gather is not that of its Step"},
        {GAP, &gap->entries[0].after, sizeof gap->entries[0].after, "there is no such gap"},
        {WAIT, &wait->actions[0], sizeof wait->actions[0], "there is no entry that waits"},
        {CLEANUP, &clean->actions[3], sizeof clean->actions[3],
         "an entry has no call in this phase"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char kept[8];
        mwl_run *run;
        mwl_error error;
        memcpy(kept, rows[i].place, rows[i].size);
        memset(rows[i].place, 0, rows[i].size);
        EXPECT_EQ((int)try_load(&b, rows[i].from, b.bytes[rows[i].from], b.size[rows[i].from], &run,
                                &error),
                  (int)MWL_E_SNAPSHOT);
        EXPECT_STREQ(error.message, rows[i].reason);
        memcpy(rows[i].place, kept, rows[i].size);
        EXPECT_EQ((int)try_load(&b, rows[i].from, b.bytes[rows[i].from], b.size[rows[i].from], &run,
                                &error),
                  (int)MWL_OK);
        mwl_run_free(run);
    }
    close_bench(&b);
}

UTEST(damage, of_the_whole) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    mwl_run *run;
    mwl_error error;
    size_t size = b.size[SLEEP] + 1;
    unsigned char *longer = malloc(size);
    memcpy(longer, b.bytes[SLEEP], size - 1);
    longer[size - 1] = 0;
    uint64_t body = size - MWL_SAVED_HEADER;
    for (int i = 0; i < 8; i++) longer[16 + i] = (unsigned char)(body >> (8 * i));
    mwl__saved_reseal(longer, size);
    EXPECT_EQ((int)try_load(&b, SLEEP, longer, size, &run, &error), (int)MWL_E_SNAPSHOT);
    EXPECT_STREQ(error.message, "there is something after the run");
    free(longer);
    b.bytes[SLEEP][6] |= 2;
    mwl__saved_reseal(b.bytes[SLEEP], b.size[SLEEP]);
    EXPECT_EQ((int)try_load(&b, SLEEP, b.bytes[SLEEP], b.size[SLEEP], &run, &error),
              (int)MWL_E_SNAPSHOT);
    EXPECT_STREQ(error.message, "the saved run has flags that are not known");
    b.bytes[SLEEP][6] = 0;
    mwl__saved_reseal(b.bytes[SLEEP], b.size[SLEEP]);
    uint32_t root = b.program[SLEEP]->tables.root_flow;
    b.program[SLEEP]->tables.root_flow = MWL_NONE;
    EXPECT_EQ((int)try_load(&b, SLEEP, b.bytes[SLEEP], b.size[SLEEP], &run, &error),
              (int)MWL_E_USAGE);
    b.program[SLEEP]->tables.root_flow = root;
    close_bench(&b);
}

/* Reserved heads and indefinite lengths, and numbers that are not in their shortest form. */
UTEST(damage, heads_that_are_not_used) {
    unsigned char bytes[128];
    mwl__major major;
    uint64_t n;
    for (unsigned first = 0; first < 256; first++) {
        memset(bytes, 0, sizeof bytes);
        bytes[0] = (unsigned char)first;
        mwl__cbor c = {bytes, bytes + sizeof bytes};
        unsigned low = first & 31;
        bool simple = first >> 5 == MWL_CBOR_SIMPLE;
        bool good = simple ? low >= MWL_CBOR_FALSE && low <= MWL_CBOR_UNDEFINED : low < 24;
        EXPECT_EQ(mwl__cbor_next(&c, &major, &n), good);
        EXPECT_EQ((size_t)(c.at - bytes), good ? 1u : 0u);
        memset(bytes + 1, 0xff, sizeof bytes - 1); /* now the longer forms are the shortest ones */
        c.at = bytes;
        EXPECT_EQ(mwl__cbor_next(&c, &major, &n), good || (!simple && low >= 24 && low <= 27));
    }
}

UTEST(damage, heads_that_are_cut_off) {
    static const unsigned char bytes[] = {0x19, 0x01, 0x02, 0x05};
    mwl__major major;
    uint64_t n;
    for (size_t size = 0; size < 3; size++) {
        mwl__cbor c = {bytes, bytes + size};
        EXPECT_FALSE(mwl__cbor_next(&c, &major, &n));
    }
    mwl__cbor nothing = {bytes + 3, bytes + 3};
    EXPECT_FALSE(mwl__cbor_next(&nothing, &major, &n));
}

/* A double has one form, the shortest that is exact; every other one is refused. */
UTEST(damage, numbers_have_one_form) {
    static const struct {
        double value;
        unsigned size;
        const char *bytes;
    } forms[] = {
        {1.5, 3, "\xf9\x3e\0"},
        {0x1p-24, 3, "\xf9\0\x01"},
        {0x1p-25, 5, "\xfa\x33\0\0\0"},
        {0x1p-33, 5, "\xfa\x2f\0\0\0"},
        {0x1p54, 5, "\xfa\x5a\x80\0\0"},
        {65536.5, 5, "\xfa\x47\x80\0\x40"},
        {0.1, 9, "\xfb\x3f\xb9\x99\x99\x99\x99\x99\x9a"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        mwl__buf out = mwl__buf_make(mwl_alloc_default());
        mwl__cbor_double(&out, forms[i].value);
        EXPECT_EQ(out.len, (size_t)forms[i].size);
        EXPECT_EQ(memcmp(out.data, forms[i].bytes, out.len), 0);
        mwl__buf_free(&out);
    }
    static const struct {
        unsigned size;
        const char *bytes;
    } refused[] = {
        {5, "\xfa\x3f\xc0\0\0"},         /* 1.5 in single precision */
        {9, "\xfb\x3f\xf8\0\0\0\0\0\0"}, /* and in double precision */
        {9, "\xfb\x43\x50\0\0\0\0\0\0"}, /* 2 to the 54th */
        {3, "\xf9\x7e\x01"},             /* another NaN */
        {3, "\xf9\xfe\0"},               /* a negative one */
        {3, "\xf9\x40\0"},               /* 2, which is an integer */
    };
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        const unsigned char *bytes = (const unsigned char *)refused[i].bytes;
        mwl__cbor c = {bytes, bytes + refused[i].size};
        mwl__major major;
        uint64_t n;
        EXPECT_FALSE(mwl__cbor_next(&c, &major, &n));
    }
}

/* What mwl_saved_read() looks at, without the program: when it is due, its calls, those held. */
UTEST(damage, of_what_is_read_without_a_program) {
    bench b;
    ASSERT_TRUE(open_bench(&b));
    static const struct {
        mwl_status status;
        unsigned size;
        const char *body;
    } rows[] = {
        {MWL_OK, 4, "\x83\xf6\x02\x01"},
        {MWL_OK, 8, "\x83\0\x1a\xff\xff\xff\xff\0"},
        {MWL_E_SNAPSHOT, 4, "\xa3\xf6\x02\x01"},                  /* not a record */
        {MWL_E_SNAPSHOT, 4, "\x83\x40\x02\x01"},                  /* due: not an instant */
        {MWL_E_SNAPSHOT, 4, "\x83\xf6\x22\x01"},                  /* a negative number of calls */
        {MWL_E_SNAPSHOT, 12, "\x83\xf6\x1b\0\0\0\x01\0\0\0\0\0"}, /* too many calls */
        {MWL_E_SNAPSHOT, 4, "\x83\xf6\x02\x20"}, /* a negative number of held ones */
        {MWL_E_SNAPSHOT, 4, "\x83\xf6\x02\x03"}, /* more held than there are */
        {MWL_E_SNAPSHOT, 3, "\x83\xf6\x02"},     /* cut off */
    };
    mwl_saved saved;
    EXPECT_EQ((int)mwl_saved_read(NULL, 0, &saved), (int)MWL_E_USAGE);
    EXPECT_EQ((int)mwl_saved_read(b.bytes[SLEEP], b.size[SLEEP], NULL), (int)MWL_E_USAGE);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char bytes[MWL_SAVED_HEADER + 16];
        memcpy(bytes, b.bytes[SLEEP], MWL_SAVED_HEADER);
        memset(bytes + 16, 0, 8);
        bytes[16] = (unsigned char)rows[i].size;
        memcpy(bytes + MWL_SAVED_HEADER, rows[i].body, rows[i].size);
        size_t size = MWL_SAVED_HEADER + rows[i].size;
        mwl__saved_reseal(bytes, size);
        mwl_status st = mwl_saved_read(bytes, size, &saved);
        if (st != rows[i].status) printf("row %zu\n", i);
        EXPECT_EQ((int)st, (int)rows[i].status);
    }
    close_bench(&b);
}

UTEST_MAIN()
