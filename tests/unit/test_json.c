#include "tests/unit/faulty.h"
#include "utest.h"
#include "vm/value/value.h"

static mwl_heap *heap(void) {
    mwl_heap *h = NULL;
    mwl_heap_new(NULL, &h);
    return h;
}

/* text -> value -> text in a style, into a static buffer; "!" and the status when it fails. */
static const char *round_trip(const char *text, size_t len, mwl_json_style style) {
    static char answer[1 << 16];
    mwl_heap *h = heap();
    mwl_value v;
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl_json_parse(h, text, len, &v, &error);
    if (status < 0) {
        snprintf(answer, sizeof answer, "!%d@%zu", (int)status, error.offset);
    } else {
        char *out = NULL;
        size_t n = 0;
        status = mwl_json_write(h, v, style, &out, &n);
        snprintf(answer, sizeof answer, "%s", status < 0 ? "!write" : out);
        if (status == MWL_OK && strlen(out) != n) snprintf(answer, sizeof answer, "!length");
        mwl_text_free(h, out, n);
        mwl_value_drop(h, v);
    }
    if (mwl_heap_used(h)) snprintf(answer, sizeof answer, "!left behind");
    mwl_heap_free(h);
    return answer;
}
#define COMPACT(s) round_trip(s, sizeof(s) - 1, MWL_JSON_COMPACT)
#define PRETTY(s) round_trip(s, sizeof(s) - 1, MWL_JSON_PRETTY)
#define CANONICAL(s) round_trip(s, sizeof(s) - 1, MWL_JSON_CANONICAL)

UTEST(json, compact) {
    ASSERT_STREQ(COMPACT(" null "), "null");
    ASSERT_STREQ(COMPACT("[true , false,null, 1, -0, 1.50, \"\"]"),
                 "[true,false,null,1,0,1.5,\"\"]");
    ASSERT_STREQ(COMPACT("{\"b\": 1, \"a\": {\"c\": []}, \"\": {}}"),
                 "{\"b\":1,\"a\":{\"c\":[]},\"\":{}}");
    ASSERT_STREQ(COMPACT("\"\\u00e9\\ud834\\udd1e\\/\\u007f\""),
                 "\"\xC3\xA9\xF0\x9D\x84\x9E/\x7f\"");
    ASSERT_STREQ(COMPACT("\"\\b\\t\\n\\f\\r\\\"\\\\\\u0000\\u001f\""),
                 "\"\\b\\t\\n\\f\\r\\\"\\\\\\u0000\\u001f\"");
    ASSERT_STREQ(COMPACT("\"0123456\\n89abcdef\\u0001\""), "\"0123456\\n89abcdef\\u0001\"");
}

UTEST(json, pretty) {
    ASSERT_STREQ(PRETTY("[]"), "[]");
    ASSERT_STREQ(PRETTY("{}"), "{}");
    ASSERT_STREQ(PRETTY("{\"a\":[1,{\"b\":{}}],\"c\":[]}"),
                 "{\n  \"a\": [\n    1,\n    {\n      \"b\": {}\n    }\n  ],\n  \"c\": []\n}");
}

UTEST(json, canonical_order_is_by_utf16_at_every_level) {
    ASSERT_STREQ(CANONICAL("{\"b\":{\"z\":1,\"y\":2},\"a\":[{\"d\":1,\"c\":2}]}"),
                 "{\"a\":[{\"c\":2,\"d\":1}],\"b\":{\"y\":2,\"z\":1}}");
    /* RFC 8785's own example of keys */
    ASSERT_STREQ(
        CANONICAL("{\"\\u20ac\":\"Euro Sign\",\"\\r\":\"Carriage Return\",\"\\ufb33\":\"Dalet\","
                  "\"1\":\"One\",\"\\ud83d\\ude00\":\"Emoji\",\"\\u0080\":\"Control\","
                  "\"\\u00f6\":\"O\"}"),
        "{\"\\r\":\"Carriage Return\",\"1\":\"One\",\"\xC2\x80\":\"Control\",\"\xC3\xB6\":\"O\","
        "\"\xE2\x82\xAC\":\"Euro "
        "Sign\",\"\xF0\x9F\x98\x80\":\"Emoji\",\"\xEF\xAC\xB3\":\"Dalet\"}");
}

UTEST(json, canonical_sorts_many) {
    for (int n = 1; n < 300; n += 7) {
        mwl_heap *h = heap();
        mwl_value m = mwl_object(h, 0);
        char key[16];
        for (int i = 0; i < n; i++) {
            snprintf(key, sizeof key, "%04d", (i * 7919 + 13) % 10007);
            m = mwl_object_set(h, m, key, 4, mwl_number(i));
        }
        char *out = NULL;
        size_t len = 0;
        ASSERT_EQ(mwl_json_write(h, m, MWL_JSON_CANONICAL, &out, &len), MWL_OK);
        mwl_value back;
        ASSERT_EQ(mwl_json_parse(h, out, len, &back, NULL), MWL_OK);
        ASSERT_TRUE(mwl_value_equal(m, back));
        for (size_t i = 1; i < mwl_count(back); i++) {
            mwl_value a, b;
            mwl_object_at(back, i - 1, &a, NULL);
            mwl_object_at(back, i, &b, NULL);
            ASSERT_LT(mwl__str_compare_utf16(a, b), 0);
        }
        mwl_text_free(h, out, len);
        mwl_value_drop(h, m);
        mwl_value_drop(h, back);
        ASSERT_EQ(mwl_heap_used(h), (size_t)0);
        mwl_heap_free(h);
    }
}

UTEST(json, numbers) {
    ASSERT_STREQ(COMPACT("[9007199254740993,18446744073709551615,-9223372036854775808]"),
                 "[9007199254740992,18446744073709552000,-9223372036854776000]");
    ASSERT_STREQ(COMPACT("[123456789012345678901234567890, 1e21, 1e-7, 4.9e-324, 1e-400]"),
                 "[1.2345678901234568e+29,1e+21,1e-7,5e-324,0]");
    ASSERT_STREQ(COMPACT("[1, 1e999]"),
                 "!-8@4"); /* no finite double: out of range, at the number */
    ASSERT_STREQ(COMPACT("[1, -1e999]"), "!-8@4");
    ASSERT_STREQ(COMPACT("[1.7976931348623157e308]"), "[1.7976931348623157e+308]");
}

UTEST(json, duplicates_last_wins_in_the_first_place) {
    ASSERT_STREQ(COMPACT("{\"a\":1,\"b\":2,\"a\":[3]}"), "{\"a\":[3],\"b\":2}");
    ASSERT_STREQ(COMPACT("{\"a\":{\"x\":1},\"a\":{\"x\":{\"a\":1,\"a\":2}}}"),
                 "{\"a\":{\"x\":{\"a\":2}}}");
}

UTEST(json, refused_with_a_position) {
    ASSERT_STREQ(COMPACT(""), "!-3@0");
    ASSERT_STREQ(COMPACT("[1,]"), "!-3@2"); /* at the comma */
    ASSERT_STREQ(COMPACT("[1"), "!-3@2");
    ASSERT_STREQ(COMPACT("{} x"), "!-3@3");
    ASSERT_STREQ(COMPACT("[\"ab\xff\"]"), "!-4@4");
    ASSERT_STREQ(COMPACT("\"\\ud800\""), "!-3@1");
    ASSERT_EQ(strncmp(COMPACT("\"\\udc00\\ud800\""), "!-3@", 4), 0);
    ASSERT_STREQ(COMPACT("nul"), "!-3@3");      /* the text ended too early */
    ASSERT_STREQ(COMPACT("\"\\x \n"), "!-3@1"); /* of several mistakes, the first */
    ASSERT_STREQ(COMPACT("// c\n1"), "!-3@0");
}

static char *nested(size_t n, const char *open, const char *close, size_t *len) {
    size_t a = strlen(open), b = strlen(close);
    char *s = malloc(n * (a + b) + 1);
    for (size_t i = 0; i < n; i++) memcpy(s + i * a, open, a);
    for (size_t i = 0; i < n; i++) memcpy(s + n * a + i * b, close, b);
    *len = n * (a + b);
    return s;
}

UTEST(json, depth) {
    static const struct {
        size_t n;
        const char *open, *close, *answer;
    } cases[] = {{MWL_DEPTH_LIMIT, "[", "]", NULL},
                 {MWL_DEPTH_LIMIT + 1, "[", "]", "!-6@512"},
                 {100000, "[", "", "!-6@512"},
                 {100000, "[", "]", "!-6@512"},
                 {100000, "[{\"\":", "", "!-6@1280"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t len;
        char *s = nested(cases[i].n, cases[i].open, cases[i].close, &len);
        const char *answer = round_trip(s, len, MWL_JSON_COMPACT);
        if (cases[i].answer)
            ASSERT_STREQ(answer, cases[i].answer);
        else
            ASSERT_EQ(strncmp(answer, s, len), 0);
        free(s);
    }
}

UTEST(json, equal_keys_share_one_string) {
    mwl_heap *h = heap();
    char text[4096] = "[";
    for (int i = 0; i < 40; i++)
        strcat(text, i ? ",{\"name\":1,\"kind\":2}" : "{\"name\":1,\"kind\":2}");
    strcat(text, "]");
    mwl_value v, a, b;
    ASSERT_EQ(mwl_json_parse(h, text, strlen(text), &v, NULL), MWL_OK);
    mwl_object_at(mwl_array_at(v, 0), 1, &a, NULL);
    mwl_object_at(mwl_array_at(v, 39), 1, &b, NULL);
    ASSERT_TRUE(a.as.p == b.as.p);
    mwl_value_drop(h, v);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(json, what_has_no_json_form) {
    mwl_heap *h = heap();
    mwl_value deep = mwl_object_put(h, mwl_object(h, 0), mwl_int(1), mwl_null());
    mwl_value bad[] = {mwl_int(1),
                       mwl_uint(1),
                       mwl_number(1e308 * 10),
                       mwl_number(0.0 * (1e308 * 10)),
                       mwl_duration(1),
                       mwl_timestamp(0, 0),
                       mwl__none(),
                       mwl_absent(),
                       deep,
                       mwl_bytes(h, "a", 1),
                       mwl_array_push(h, mwl_array(h, 1), mwl_int(3))};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        char *out = NULL;
        size_t len;
        ASSERT_EQ(mwl_json_write(h, bad[i], MWL_JSON_CANONICAL, &out, &len), MWL_E_NOT_JSON);
        mwl_value_drop(h, bad[i]);
    }
    /* A buffer whose newest version has a key of another kind, while the older has text only. */
    mwl_value old = mwl_object_set(h, mwl_object(h, 4), "a", 1, mwl_null());
    mwl_value newer = mwl_object_put(h, mwl_value_keep(old), mwl_int(1), mwl_null());
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&b, "x");
    ASSERT_EQ(mwl__json_write(newer, MWL_JSON_COMPACT, &b, NULL), MWL_E_NOT_JSON);
    ASSERT_EQ(b.len, (size_t)1); /* nothing was written in part */
    ASSERT_EQ(mwl__json_write(old, MWL_JSON_COMPACT, &b, NULL), MWL_OK);
    ASSERT_STREQ(mwl__buf_cstr(&b), "x{\"a\":null}");
    mwl__buf_free(&b);
    mwl_value_drop(h, old);
    mwl_value_drop(h, newer);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
}

UTEST(json, fuel_stops_a_tree_of_sharing) {
    mwl_heap *h = heap();
    mwl_value v = mwl_array_push(h, mwl_array(h, 1), mwl_null());
    for (int i = 0; i < 25; i++) {
        mwl_value two = mwl_array_push(h, mwl_array(h, 2), mwl_value_keep(v));
        v = mwl_array_push(h, two, v);
    }
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    uint64_t fuel = 1000;
    ASSERT_EQ(mwl__json_write(v, MWL_JSON_COMPACT, &b, &fuel), MWL_E_FUEL);
    ASSERT_EQ(fuel, (uint64_t)0);
    mwl__buf_free(&b);
    mwl_value_drop(h, v);
    mwl_heap_free(h);
}

UTEST(json, memory_of_reading_counts) {
    mwl_heap *h = heap();
    size_t len;
    char *s = nested(50000, "1,", "", &len);
    s[len - 1] = ']';
    char *text = malloc(len + 1);
    text[0] = '[';
    memcpy(text + 1, s, len);
    mwl_heap_limit(h, 100000);
    mwl_value v;
    mwl_error error;
    ASSERT_EQ(mwl_json_parse(h, text, len + 1, &v, &error), MWL_E_TOO_BIG);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_limit(h, 0);
    ASSERT_EQ(mwl_json_parse(h, text, len + 1, &v, &error), MWL_OK);
    ASSERT_EQ(mwl_count(v), (size_t)50000);
    mwl_value_drop(h, v);
    ASSERT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    free(s);
    free(text);
}

UTEST(json, wrong_use) {
    mwl_heap *h = heap();
    mwl_value v;
    char *out;
    size_t len;
    ASSERT_EQ(mwl_json_parse(NULL, "1", 1, &v, NULL), MWL_E_USAGE);
    ASSERT_EQ(mwl_json_parse(h, NULL, 1, &v, NULL), MWL_E_USAGE);
    ASSERT_EQ(mwl_json_parse(h, NULL, 0, &v, NULL), MWL_E_JSON);
    ASSERT_EQ(mwl_json_parse(h, "1", 1, NULL, NULL), MWL_E_USAGE);
    ASSERT_EQ(mwl_json_read(h, NULL, NULL, &v, NULL), MWL_E_USAGE);
    ASSERT_EQ(mwl_json_write(h, mwl_null(), (mwl_json_style)7, &out, &len), MWL_E_USAGE);
    ASSERT_EQ(mwl_json_write(h, mwl_null(), MWL_JSON_COMPACT, NULL, &len), MWL_E_USAGE);
    mwl_text_free(h, NULL, 0);
    mwl_heap_free(h);
}

static bool read_and_write(mwl_alloc alloc) {
    static const char text[] = "{\"name\":\"a text that is long enough to have a block of its own "
                               "in every build\",\"list\":"
                               "[1,2.5,{\"z\":null,\"y\":[],\"x\":{}},1e300,"
                               "123456789012345678901234567890],\"m\":{\"a\":1,"
                               "\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,"
                               "\"j\":10,\"k\":11,\"q\":12,"
                               "\"p\":13,\"o\":14,\"n\":15,\"m\":16,\"l\":17,\"a\":18}}";
    mwl_heap *h = NULL;
    if (mwl_heap_new(&alloc, &h) < 0) return false;
    mwl_value v = mwl_absent();
    bool fine = false;
    mwl_error error = {MWL_OK, NULL, 0};
    mwl_status status = mwl_json_parse(h, text, sizeof text - 1, &v, &error);
    if (status == MWL_OK) {
        fine = true;
        for (int style = 0; style < 3; style++) {
            char *out = NULL;
            size_t len = 0;
            if (mwl_json_write(h, v, (mwl_json_style)style, &out, &len) < 0) fine = false;
            mwl_text_free(h, out, len);
        }
        mwl_value_drop(h, v);
    } else if (status != MWL_E_NOMEM || error.status != MWL_E_NOMEM) {
        abort();
    }
    if (mwl_heap_used(h)) abort();
    mwl_heap_free(h);
    return fine;
}

/* ---- in pieces ------------------------------------------------------------------------------- */

struct pieces {
    char *text;
    size_t len, cap, n, largest;
    size_t refuse_at; /* the piece that is not wanted; 0: all are */
};

static mwl_json_sink take_piece;
static mwl_status take_piece(void *ctx, const char *text, size_t len) {
    struct pieces *p = ctx;
    if (++p->n == p->refuse_at) return MWL_E_STATE;
    if (len > p->largest) p->largest = len;
    if (p->text && p->len + len <= p->cap) memcpy(p->text + p->len, text, len);
    p->len += len;
    return MWL_OK;
}

/* A list of n times one text of `len` bytes, some of which need an escape. */
static mwl_value many_texts(mwl_heap *h, size_t n, size_t len) {
    char *text = malloc(len);
    for (size_t i = 0; i < len; i++) text[i] = i % 1000 == 7 ? '\n' : (char)('a' + i % 26);
    mwl_value item = mwl_string(h, text, len), list = mwl_array(h, n);
    for (size_t i = 0; i < n; i++) list = mwl_array_push(h, list, mwl_value_keep(item));
    mwl_value_drop(h, item);
    free(text);
    return list;
}

UTEST(json, pieces_make_the_same_text) {
    mwl_heap *h;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_value v = mwl_object_set(h, mwl_object(h, 1), "k", 1, many_texts(h, 5, 50000));
    for (int style = 0; style < 3; style++) {
        char *whole;
        size_t len;
        ASSERT_EQ(mwl_json_write(h, v, (mwl_json_style)style, &whole, &len), MWL_OK);
        struct pieces p = {.text = malloc(len), .cap = len};
        ASSERT_EQ(mwl_json_write_to(h, v, (mwl_json_style)style, take_piece, &p), MWL_OK);
        EXPECT_EQ(p.len, len);
        EXPECT_EQ(memcmp(p.text, whole, len), 0);
        EXPECT_GT(p.n, 10u);
        free(p.text);
        mwl_text_free(h, whole, len);
    }
    mwl_value_drop(h, v);
    EXPECT_EQ(mwl_heap_used(h), 0u);
    mwl_heap_free(h);
}

UTEST(json, pieces_need_little_memory) {
    mwl_heap *h;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_value v = many_texts(h, 1000, 100000); /* a text of 100 MB */
    mwl_heap_limit(h, mwl_heap_used(h) + (256u << 10));
    struct pieces p = {0};
    EXPECT_EQ(mwl_json_write_to(h, v, MWL_JSON_COMPACT, take_piece, &p), MWL_OK);
    EXPECT_GT(p.len, 100000000u);
    EXPECT_LT(p.largest, 65536u);
    char *whole = NULL;
    size_t len;
    EXPECT_EQ(mwl_json_write(h, v, MWL_JSON_COMPACT, &whole, &len), MWL_E_TOO_BIG);
    p = (struct pieces){.refuse_at = 3};
    EXPECT_EQ(mwl_json_write_to(h, v, MWL_JSON_COMPACT, take_piece, &p), MWL_E_STATE);
    EXPECT_EQ(p.n, 3u);
    EXPECT_EQ(mwl_json_write_to(h, v, MWL_JSON_COMPACT, NULL, NULL), MWL_E_USAGE);
    EXPECT_EQ(mwl_json_write_to(NULL, v, MWL_JSON_COMPACT, take_piece, &p), MWL_E_USAGE);
    mwl_value bad = mwl_array_push(h, mwl_array(h, 1), mwl_duration(1));
    EXPECT_EQ(mwl_json_write_to(h, bad, MWL_JSON_COMPACT, take_piece, &p), MWL_E_NOT_JSON);
    mwl_value_drop(h, bad);
    mwl_value_drop(h, v);
    mwl_heap_free(h);
}

/* A list of two equal parts, `levels` deep: 2^levels numbers, few bytes. */
static mwl_value doubled(mwl_heap *h, mwl_value v, unsigned levels) {
    for (unsigned i = 0; i < levels; i++) {
        mwl_value list = mwl_array_push(h, mwl_array(h, 2), mwl_value_keep(v));
        v = mwl_array_push(h, list, v);
    }
    return v;
}

UTEST(json, a_text_is_written_within_its_limit_to_the_byte) {
    mwl_heap *h;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_value parts[] = {doubled(h, mwl_number(1), 12), many_texts(h, 3, 30000),
                         doubled(h, mwl_string(h, "\x01\x02\x03", 3), 10)};
    for (int style = 0; style < 3; style++) {
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
            struct pieces p = {0};
            uint64_t size = 0, n = 0;
            ASSERT_EQ(mwl_json_write_to(h, parts[i], (mwl_json_style)style, take_piece, &p),
                      MWL_OK);
            EXPECT_EQ(
                mwl_json_write_within(h, parts[i], (mwl_json_style)style, p.len, NULL, NULL, &size),
                MWL_OK);
            EXPECT_EQ(size, p.len);
            struct pieces q = {0};
            EXPECT_EQ(mwl_json_write_within(h, parts[i], (mwl_json_style)style, p.len - 1,
                                            take_piece, &q, &n),
                      MWL_E_TOO_BIG);
            EXPECT_EQ(n, q.len);
            EXPECT_LT(q.len, p.len);
        }
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) mwl_value_drop(h, parts[i]);
    EXPECT_EQ(mwl_heap_used(h), 0u);
    mwl_heap_free(h);
}

/* 2^29 numbers would take seconds. */
UTEST(json, a_value_that_shares_its_parts_is_refused_before_a_byte_is_written) {
    mwl_heap *h;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_value v = doubled(h, mwl_number(1), 28), o = mwl_object(h, 2);
    o = mwl_object_set(h, o, "a", 1, mwl_value_keep(v));
    o = mwl_object_set(h, o, "b", 1, mwl_value_keep(v));
    struct pieces p = {0};
    uint64_t size = 1;
    for (int i = 0; i < 10000; i++) {
        uint64_t most = i % 2 ? 64u << 20 : 1u << 30;
        ASSERT_EQ(mwl_json_write_within(h, o, MWL_JSON_COMPACT, most, take_piece, &p, &size),
                  MWL_E_TOO_BIG);
    }
    EXPECT_EQ(size, 0u);
    EXPECT_EQ(p.n, 0u);
    mwl_value_drop(h, o);
    mwl_value_drop(h, v);
    EXPECT_EQ(mwl_heap_used(h), 0u);
    mwl_heap_free(h);
}

/* An older version of a list weighs as much as the newest one. Its text is short all the same. */
UTEST(json, an_older_version_of_a_long_list_is_written) {
    mwl_heap *h;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    mwl_value few = mwl_array_push(h, mwl_array(h, 100000), mwl_number(7));
    mwl_value all = mwl_value_keep(few);
    for (int i = 0; i < 99999; i++) all = mwl_array_push(h, all, mwl_number(i));
    mwl_value v = mwl_object_set(h, mwl_object(h, 1), "first", 5, mwl_value_keep(few));
    uint64_t size = 0;
    EXPECT_EQ(mwl_json_write_within(h, v, MWL_JSON_COMPACT, 13, NULL, NULL, &size), MWL_OK);
    EXPECT_EQ(size, 13u);
    EXPECT_EQ(mwl_json_write_within(h, v, MWL_JSON_COMPACT, 12, NULL, NULL, &size), MWL_E_TOO_BIG);
    EXPECT_EQ(mwl_json_write_within(NULL, v, MWL_JSON_COMPACT, 9, NULL, NULL, NULL), MWL_E_USAGE);
    mwl_value_drop(h, v);
    mwl_value_drop(h, few);
    mwl_value_drop(h, all);
    mwl_heap_free(h);
}

/* ---- reading in pieces ----------------------------------------------------------------------- */

struct feed {
    const char *text;
    size_t len, at, step; /* `step` bytes at a time */
    size_t fail_at;       /* the call that fails; 0: none */
    size_t calls;
};

static mwl_json_source give_piece;
static mwl_status give_piece(void *ctx, char *into, size_t room, size_t *got) {
    struct feed *f = ctx;
    size_t n = f->len - f->at;
    if (++f->calls == f->fail_at) return MWL_E_STATE;
    if (n > f->step) n = f->step;
    if (n > room) n = room;
    memcpy(into, f->text + f->at, n);
    f->at += n;
    *got = n;
    return MWL_OK;
}

/* Whether a text is read in pieces of `step` bytes as it is read whole: the same value, or the same
 * mistake at the same place. */
static bool same_in_pieces(const char *text, size_t len, size_t step) {
    mwl_heap *h = heap();
    mwl_value whole = mwl_absent(), pieces = mwl_absent();
    mwl_error a = {MWL_OK, "", 0}, b = {MWL_OK, "", 0};
    struct feed f = {.text = text, .len = len, .step = step};
    mwl_status one = mwl_json_parse(h, text, len, &whole, &a);
    mwl_status two = mwl_json_read(h, give_piece, &f, &pieces, &b);
    bool same = one == two && a.offset == b.offset && strcmp(a.message, b.message) == 0;
    if (one == MWL_OK && same) same = mwl_value_equal(whole, pieces);
    mwl_value_drop(h, whole);
    mwl_value_drop(h, pieces);
    same = same && mwl_heap_used(h) == 0;
    mwl_heap_free(h);
    return same;
}

UTEST(json, the_same_in_pieces) {
    static const char *const texts[] = {
        "",
        "  ",
        "null",
        " [true , false,null, 1, -0, 1.50, \"\", 12345678901234567890123, 1e3 ] ",
        "{\"b\": 1, \"a\": {\"c\": []}, \"\": {}, \"b\": [2]}",
        "[\"\\u00e9\\ud834\\udd1e\\/ and \xC3\xA9\", \"a longer text without any escape in it\"]",
        "[{\"id\":1,\"name\":\"x\"},{\"id\":2,\"name\":\"y\"},{\"id\":3,\"nome\":\"z\"},{\"id\":4}]",
        "-",
        "-1.",
        "1e",
        "1e+",
        "tru",
        "trux",
        "[1,]",
        "[1",
        "[1 2]",
        "{\"a\"",
        "{\"a\" 1}",
        "{\"a\":1,}",
        "{1:2}",
        "{} x",
        "[\"ab\xff\"]",
        "\"\\ud800\"",
        "\"\\udc00\\ud800\"",
        "\"\\u12\"",
        "\"\\x\"",
        "\"a\nb\"",
        "\"no end",
        "\"no end\\",
        "[1, 1e999]",
        "01",
        "[1]]",
        "\xEF\xBB\xBF[]",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t step = 1; step <= strlen(texts[i]) + 1; step++)
            EXPECT_TRUE(same_in_pieces(texts[i], strlen(texts[i]), step));
}

/* Strings longer than what is held at a time, and lists and objects longer than what may wait. */
UTEST(json, long_things_in_pieces) {
    enum { N = 20000 };
    size_t size = (size_t)N * 40, at = 0;
    char *text = malloc(size);
    at += (size_t)snprintf(text + at, size - at, "[\"");
    memset(text + at, 'x', 200000);
    at += 200000;
    at += (size_t)snprintf(text + at, size - at, "\",[");
    for (int i = 0; i < N; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%d", i ? "," : "", i);
    at += (size_t)snprintf(text + at, size - at, "],{");
    for (int i = 0; i < N; i++)
        at += (size_t)snprintf(text + at, size - at, "%s\"%d\":%d", i ? "," : "", i % (N - 7), i);
    at += (size_t)snprintf(text + at, size - at, "}]");
    mwl_heap *h = heap();
    mwl_value v;
    ASSERT_EQ(mwl_json_parse(h, text, at, &v, NULL), MWL_OK);
    EXPECT_EQ(mwl_count(mwl_array_at(v, 1)), (size_t)N);
    EXPECT_EQ(mwl_as_number(mwl_array_at(mwl_array_at(v, 1), N - 1)), N - 1);
    EXPECT_EQ(mwl_count(mwl_array_at(v, 2)), (size_t)N - 7); /* seven names are there twice */
    EXPECT_EQ(mwl_as_number(mwl_object_get(mwl_array_at(v, 2), "6", 1)), N - 1);
    EXPECT_EQ(mwl_as_number(mwl_object_get(mwl_array_at(v, 2), "7", 1)), 7);
    mwl_value_drop(h, v);
    EXPECT_EQ(mwl_heap_used(h), 0u);
    mwl_heap_free(h);
    EXPECT_TRUE(same_in_pieces(text, at, 4096));
    EXPECT_TRUE(same_in_pieces(text, at, 100000));
    EXPECT_TRUE(same_in_pieces(text, at - 1, 4096));
    free(text);
}

/* A mistake behind a long text, and inside containers that are long themselves, has the place and
 * the message that it has alone. */
UTEST(json, mistakes_in_long_texts) {
    static const char *const mistakes[] = {"1,]",
                                           "1 2]",
                                           "01]",
                                           "-x]",
                                           "1.x]",
                                           "1e+]",
                                           "1e999]",
                                           "trux]",
                                           "{\"a\" 1}]",
                                           "{\"a\":1,}]",
                                           "{1:2}]",
                                           "{\"a\":[1,{\"b\":nul}]}]",
                                           "\"ab\xff\"]",
                                           "\"\\ud800\"]",
                                           "\"\\ud800x\"]",
                                           "\"\\ud800\\u0041\"]",
                                           "\"\\u12\"]",
                                           "\"a\\x\"]",
                                           "\"a\nb\"]",
                                           "\"no end",
                                           "[[",
                                           "}"};
    enum { N = 6000 };
    static char text[N * 40];
    for (int wraps = 0; wraps < 3; wraps++) {
        size_t head = 0;
        for (int k = 0; k < wraps; k++)
            head += (size_t)snprintf(text + head, sizeof text - head, k % 2 ? "[0,{}," : "{\"x\":");
        head += (size_t)snprintf(text + head, sizeof text - head, "[");
        for (int i = 0; i < N; i++)
            head += (size_t)snprintf(text + head, sizeof text - head,
                                     i % 100 < 50 ? "%d," : "{\"id\":%d,\"l\":[true]},", i);
        for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++) {
            char alone[64];
            mwl_heap *h = heap();
            mwl_value v;
            mwl_error one = {MWL_OK, "", 0}, two = {MWL_OK, "", 0};
            size_t len = (size_t)snprintf(alone, sizeof alone, "[0,%s", mistakes[i]);
            EXPECT_LT(mwl_json_parse(h, alone, len, &v, &one), MWL_OK);
            memcpy(text + head, mistakes[i], len - 3);
            EXPECT_LT(mwl_json_parse(h, text, head + len - 3, &v, &two), MWL_OK);
            EXPECT_EQ(two.status, one.status);
            EXPECT_EQ(two.offset, one.offset + head - 3);
            EXPECT_STREQ(two.message, one.message);
            EXPECT_TRUE(same_in_pieces(text, head + len - 3, 5000));
            EXPECT_EQ(mwl_heap_used(h), 0u);
            mwl_heap_free(h);
        }
    }
}

/* However long a text is, and whatever its top is, reading it takes a window of it beside its
 * values. */
UTEST(json, a_long_text_needs_little_memory) {
    enum { N = 200000 };
    char *text = malloc((size_t)N * 20);
    static const char *const tops[][3] = {{"[", "%s%d", "]"},
                                          {"{\"a\":[", "%s%d", "]}"},
                                          {"{\"a\":[", "%s[%d]", "]}"},
                                          {"{\"a\":{\"b\":0", "%s\"k%d\":\"x\"", "}}"}};
    for (size_t i = 0; i < sizeof tops / sizeof *tops; i++) {
        size_t at = (size_t)sprintf(text, "%s", tops[i][0]);
        for (int k = 0; k < N; k++)
            at += (size_t)sprintf(text + at, tops[i][1], k || i == 3 ? "," : "", i ? k : k % 10);
        at += (size_t)sprintf(text + at, "%s", tops[i][2]);
        for (int pieces = 0; pieces < 2; pieces++) {
            mwl_heap *h = heap();
            mwl_value v;
            struct feed f = {.text = text, .len = at, .step = 65536};
            ASSERT_EQ(mwl_json_parse(h, text, at, &v, NULL), MWL_OK);
            size_t held = mwl_heap_used(h);
            mwl_value_drop(h, v);
            mwl_heap_limit(h, held * 2 + (1u << 18)); /* a buffer grows by doubling */
            v = mwl_absent();
            EXPECT_EQ(pieces ? mwl_json_read(h, give_piece, &f, &v, NULL)
                             : mwl_json_parse(h, text, at, &v, NULL),
                      MWL_OK);
            EXPECT_LT(mwl_heap_used(h), held + (64u << 10));
            mwl_value_drop(h, v);
            EXPECT_EQ(mwl_heap_used(h), 0u);
            mwl_heap_free(h);
        }
    }
    free(text);
}

UTEST(json, a_source_that_fails) {
    static const char text[] = "[1, \"two\", {\"three\": 3.5}]";
    for (size_t fail_at = 1; fail_at <= 10; fail_at++) {
        mwl_heap *h = heap();
        mwl_value v = mwl_absent();
        mwl_error error = {MWL_OK, "", 0};
        struct feed f = {.text = text, .len = sizeof text - 1, .step = 3, .fail_at = fail_at};
        mwl_status status = mwl_json_read(h, give_piece, &f, &v, &error);
        EXPECT_EQ(status, MWL_E_STATE);
        EXPECT_EQ(error.status, MWL_E_STATE);
        EXPECT_TRUE(mwl_is_absent(v));
        EXPECT_EQ(mwl_heap_used(h), 0u);
        mwl_heap_free(h);
    }
}

/* A record that resembles the one before it, and then does not. */
UTEST(json, records_that_differ) {
    ASSERT_STREQ(
        COMPACT("[{\"a\":1,\"b\":2},{\"a\":1,\"b\":2,\"c\":3},{\"a\":1},{\"b\":1,\"a\":2}]"),
        "[{\"a\":1,\"b\":2},{\"a\":1,\"b\":2,\"c\":3},{\"a\":1},{\"b\":1,\"a\":2}]");
    ASSERT_STREQ(COMPACT("[{\"a\":1,\"b\":2},{\"a\":1,\"a\":2},{\"a\":1,\"b\":2,\"a\":3}]"),
                 "[{\"a\":1,\"b\":2},{\"a\":2},{\"a\":3,\"b\":2}]");
    ASSERT_STREQ(
        COMPACT(
            "[{\"ab\":{\"x\":[{\"k\":1}]}},{\"ab\":{\"x\":[{\"k\":2},{\"k\":3,\"l\":4}]}},{\"ab\":7}]"),
        "[{\"ab\":{\"x\":[{\"k\":1}]}},{\"ab\":{\"x\":[{\"k\":2},{\"k\":3,\"l\":4}]}},{\"ab\":7}]");
    /* The name a"b is one with an escape; without it the same bytes are a mistake. */
    ASSERT_STREQ(COMPACT("[{\"a\\\"b\":1},{\"a\\\"b\":2}]"), "[{\"a\\\"b\":1},{\"a\\\"b\":2}]");
    ASSERT_STREQ(COMPACT("[{\"a\\\"b\":1},{\"a\"b\":2}]"), "!-3@16");
    /* Nine members have an index. */
    ASSERT_STREQ(
        COMPACT(
            "[{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1},"
            "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1,\"a\":2}]"),
        "[{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1},"
        "{\"a\":2,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,\"h\":1,\"i\":1}]");
}

/* Parts that repeat are one value; a change of one of them does not show in the others. */
UTEST(json, repeated_parts_are_shared) {
    static const char text[] =
        "[{\"id\":1,\"tags\":[\"a\",\"b\",null,true,1.5],\"box\":{\"x\":1,\"y\":[]}},"
        "{\"id\":2,\"tags\":[\"a\",\"b\",null,true,1.5],\"box\":{\"x\":1,\"y\":[]}},"
        "{\"id\":3,\"tags\":[\"a\",\"b\",null,true,2.5],\"box\":{\"x\":1,\"y\":[0]}},"
        "{\"id\":4,\"tags\":[\"a\",\"b\",null,true],\"box\":{\"y\":[0],\"x\":1}},"
        "\"a text that makes this one long enough for sharing\"]";
    mwl_heap *h = heap();
    mwl_value v, tags[4], box[4];
    ASSERT_EQ(mwl_json_parse(h, text, sizeof text - 1, &v, NULL), MWL_OK);
    for (size_t i = 0; i < 4; i++) {
        tags[i] = mwl_get(mwl_array_at(v, i), "tags");
        box[i] = mwl_get(mwl_array_at(v, i), "box");
    }
    EXPECT_TRUE(tags[0].as.p == tags[1].as.p && box[0].as.p == box[1].as.p);
    EXPECT_FALSE(tags[1].as.p == tags[2].as.p || box[1].as.p == box[2].as.p);
    EXPECT_FALSE(tags[2].as.p == tags[3].as.p || box[2].as.p == box[3].as.p);
    mwl_value longer = mwl_array_push(h, mwl_value_keep(tags[0]), mwl_number(7));
    mwl_value other = mwl_object_set(h, mwl_value_keep(box[0]), "x", 1, mwl_number(9));
    EXPECT_EQ(mwl_count(longer), 6u);
    EXPECT_EQ(mwl_count(tags[1]), 5u);
    EXPECT_EQ(mwl_as_number(mwl_get(box[1], "x")), 1);
    char *out = NULL;
    size_t len = 0;
    ASSERT_EQ(mwl_json_write(h, v, MWL_JSON_COMPACT, &out, &len), MWL_OK);
    EXPECT_STREQ(out, text);
    mwl_text_free(h, out, len);
    mwl_value_drop(h, longer);
    mwl_value_drop(h, other);
    mwl_value_drop(h, v);
    EXPECT_EQ(mwl_heap_used(h), 0u);
    mwl_heap_free(h);
}

UTEST(json, what_a_value_does_not_keep) {
    static const struct {
        const char *text;
        bool differs;
    } cases[] = {{"{\"a\":1,\"b\":[1.5,-122.41941550000001,1e15]}", false},
                 {"[9007199254740991,-9007199254740991]", false},
                 {"9007199254740992", true}, /* 2^53: what was written may be one more */
                 {"9007199254740993", true},
                 {"-9007199254740993", true},
                 {"[123456789012345678]", true},
                 {"-9007199254740993000", true},
                 {"[{\"a\":1},{\"a\":1,\"a\":1}]", true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mwl_heap *h = heap();
        mwl_value v;
        bool differs = !cases[i].differs;
        ASSERT_EQ(
            mwl__json_read(h, NULL, NULL, cases[i].text, strlen(cases[i].text), &v, NULL, &differs),
            MWL_OK);
        EXPECT_EQ(differs, cases[i].differs);
        mwl_value_drop(h, v);
        mwl_heap_free(h);
    }
}

/* Every text is read as if it were alone, whatever was read before it. */
UTEST(json, one_text_after_another) {
    static const char *const texts[] = {
        "{\"n\":1,\"s\":\"granule\",\"in\":{\"x\":1,\"y\":[{\"z\":1},{\"z\":1}]}}",
        "{\"n\":1,\"s\":\"granule\",\"in\":{\"x\":1,\"y\":[{\"z\":1},{\"z\":1}]}}",
        "{\"n\":2}",
        "{\"n\":2,\"more\":true}",
        "{\"a\\\"b\":1}",
        "{\"a\"b\":1}",
        "{\"a\\\"b\":1}",
        "{\"n\":2,\"n\":3}",
        "{\"n\":2,\"m\":1,\"n\":3}",
        "[{\"n\":1},{\"n\":1}]",
        "[{\"n\":1},{\"n\":1}",
        "[[1],{\"n\":1}]",
        "7",
        "\"s\"",
        "{\"n\"",
        "{}",
        "{\"\":{\"\":{}}}",
        "{\"\":{\"\":{}}}"};
    enum { N = sizeof texts / sizeof *texts };
    for (size_t i = 0; i < N * N * 2; i++) {
        mwl_heap *h = heap();
        h->shares_names = i % 2;
        const char *pair[] = {texts[i / 2 / N], texts[i / 2 % N]};
        mwl__json_before before = {.value = mwl_absent()};
        for (size_t k = 0; k < 2; k++) {
            mwl_value v = mwl_absent(), alone = mwl_absent();
            size_t len = strlen(pair[k]);
            mwl_error error = {MWL_OK, NULL, 0}, error_alone = {MWL_OK, NULL, 0};
            EXPECT_EQ(mwl__json_read_next(h, pair[k], len, &before, &v, &error),
                      mwl_json_parse(h, pair[k], len, &alone, &error_alone));
            EXPECT_EQ(error.offset, error_alone.offset);
            EXPECT_TRUE(mwl_is_absent(v) ? mwl_is_absent(alone) : mwl_value_equal(v, alone));
            mwl_value_drop(h, v);
            mwl_value_drop(h, alone);
        }
        mwl_value_drop(h, before.value);
        EXPECT_EQ(mwl_heap_used(h), 0u);
        mwl_heap_free(h);
    }
}

/* Names are shared with the text before, values are not: a change of one would cost a copy. */
UTEST(json, one_text_after_another_shares_names_only) {
    static const char text[] = "{\"in\":{\"x\":[1]}}";
    mwl_heap *h = heap();
    mwl_value v[2];
    mwl__json_before before = {.value = mwl_absent()};
    for (size_t k = 0; k < 2; k++)
        ASSERT_EQ(mwl__json_read_next(h, text, sizeof text - 1, &before, &v[k], NULL), MWL_OK);
    mwl_value key[2], in[2];
    for (size_t k = 0; k < 2; k++) ASSERT_TRUE(mwl_object_at(v[k], 0, &key[k], &in[k]));
    EXPECT_TRUE(key[0].as.p == key[1].as.p);
    EXPECT_FALSE(v[0].as.p == v[1].as.p || in[0].as.p == in[1].as.p);
    EXPECT_FALSE(mwl_get(in[0], "x").as.p == mwl_get(in[1], "x").as.p);
    mwl_value_drop(h, before.value);
    for (size_t k = 0; k < 2; k++) mwl_value_drop(h, v[k]);
    EXPECT_EQ(mwl_heap_used(h), 0u);
    mwl_heap_free(h);
}

/* Short strings are written by words: each byte that needs an escape gets it at every place. */
UTEST(json, escapes_in_short_strings) {
    static const char special[] = {'"', '\\', '\n', 0x1F, 0x7F, (char)0xC3};
    for (size_t len = 1; len <= 18; len++)
        for (size_t at = 0; at < len; at++)
            for (size_t i = 0; i < sizeof special; i++) {
                char text[32], want[64];
                size_t n = 0;
                memset(text, 'a', len);
                text[at] = special[i];
                want[n++] = '"';
                for (size_t k = 0; k < len; k++) {
                    char c = text[k];
                    if (c == '\n')
                        memcpy(want + n, "\\n", 2), n += 2;
                    else if (c == 0x1F)
                        memcpy(want + n, "\\u001f", 6), n += 6;
                    else if (c == '"' || c == '\\')
                        want[n++] = '\\', want[n++] = c;
                    else
                        want[n++] = c;
                }
                want[n++] = '"';
                mwl__buf out = mwl__buf_make(mwl_alloc_default());
                mwl__json_quote(&out, text, len);
                EXPECT_TRUE(out.len == n && memcmp(out.data, want, n) == 0);
                mwl__buf_free(&out);
            }
}

static bool read_in_pieces(mwl_alloc alloc) {
    static char text[9000];
    size_t at = 0;
    at += (size_t)snprintf(text, sizeof text, "[");
    for (int i = 0; i < 100; i++)
        at += (size_t)snprintf(text + at, sizeof text - at,
                               "{\"id\":%d,\"name\":\"a\\tb %d\",\"tags\":[1,2,{\"x\":null}]},", i,
                               i);
    at += (size_t)snprintf(text + at, sizeof text - at, "0]");
    mwl_heap *h = NULL;
    if (mwl_heap_new(&alloc, &h) < 0) return false;
    mwl_value v = mwl_absent();
    struct feed f = {.text = text, .len = at, .step = 100};
    mwl_status status = mwl_json_read(h, give_piece, &f, &v, NULL);
    if (status != MWL_OK && status != MWL_E_NOMEM) abort();
    mwl_value_drop(h, v);
    if (mwl_heap_used(h)) abort();
    mwl_heap_free(h);
    return status == MWL_OK;
}

UTEST(json, allocation_failures) { ASSERT_TRUE(faulty_sweep(read_and_write, 2000)); }
UTEST(json, allocation_failures_in_pieces) { ASSERT_TRUE(faulty_sweep(read_in_pieces, 2000)); }

UTEST_MAIN()
