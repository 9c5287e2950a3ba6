/* test_emit.c: the emitter: sharing by content, order, stickiness; and that what it makes loads
 * back as the same thing. */
#include "utest.h"

#include "assembler/emit/emit.h"
#include "tests/unit/faulty.h"

#include <math.h>

static uint32_t str(mwl__emit *e, const char *s) { return mwl__emit_string(e, s, strlen(s)); }

static mwl__where at(uint32_t line, uint32_t column, uint32_t offset, uint32_t len) {
    mwl__where w = {line, column, offset, len};
    return w;
}

static mwl_value parsed(mwl_heap *h, const char *json) {
    mwl_value v = mwl_absent();
    (void)mwl_json_parse(h, json, strlen(json), &v, NULL);
    return v;
}

static bool where_is(const mwl_program *p, uint32_t pc, uint32_t sub, mwl__where want) {
    mwl__where w;
    return mwl__program_where(p, pc, sub, &w) && w.line == want.line && w.column == want.column &&
           w.offset == want.offset && w.len == want.len;
}

/* Finish and load; the buffer lives as long as the program. */
static mwl_program *loaded(mwl__emit *e, unsigned strip, mwl__buf *image, mwl_error *error) {
    mwl_program *p = NULL;
    if (mwl__emit_finish(e, strip, image) < 0) return NULL;
    (void)mwl__program_load(&image->alloc, image->data, image->len, true, &p, error);
    return p;
}

/* ---- constants ------------------------------------------------------------------------------- */

UTEST(emit, scalars_share_by_bits) {
    mwl__emit *e = mwl__emit_new(NULL);
    uint32_t zero = mwl__emit_const(e, mwl_number(0.0));
    EXPECT_NE(zero, mwl__emit_const(e, mwl_number(-0.0)));
    EXPECT_EQ(zero, mwl__emit_const(e, mwl_number(0.0)));
    EXPECT_NE(zero, mwl__emit_const(e, mwl_int(0)));
    EXPECT_NE(mwl__emit_const(e, mwl_int(0)), mwl__emit_const(e, mwl_uint(0)));
    EXPECT_EQ(mwl__emit_const(e, mwl_number((double)NAN)),
              mwl__emit_const(e, mwl_number((double)NAN)));
    EXPECT_NE(mwl__emit_const(e, mwl_null()), mwl__emit_const(e, mwl_bool(false)));
    EXPECT_NE(mwl__emit_const(e, mwl_bool(true)), mwl__emit_const(e, mwl_bool(false)));
    EXPECT_EQ(mwl__emit_status(e), MWL_OK);
    mwl__emit_free(e);
}

UTEST(emit, texts_share_by_kind_and_content) {
    mwl__emit *e = mwl__emit_new(NULL);
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    uint32_t a = str(e, "a");
    mwl_value same = mwl_string(h, "a", 1), bytes = mwl_bytes(h, "a", 1);
    mwl_value type = mwl__type_new(h, "a", 1);
    EXPECT_EQ(a, mwl__emit_const(e, same));
    EXPECT_NE(a, mwl__emit_const(e, bytes));
    EXPECT_NE(a, mwl__emit_const(e, type));
    EXPECT_NE(a, mwl__emit_string(e, "a\0", 2));
    EXPECT_EQ(str(e, ""), str(e, ""));
    EXPECT_STREQ(mwl_as_text(mwl__emit_const_value(e, a), NULL), "a");
    EXPECT_TRUE(mwl_is_absent(mwl__emit_const_value(e, 1000)));
    mwl__drop(h, same), mwl__drop(h, bytes), mwl__drop(h, type);
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    EXPECT_EQ(mwl__emit_status(e), MWL_OK);
    (void)mwl__emit_string(e, "\xFF", 1);
    EXPECT_EQ(mwl__emit_status(e), MWL_E_UTF8);
    mwl__emit_free(e);
}

UTEST(emit, containers_share_by_content_in_order) {
    mwl__emit *e = mwl__emit_new(NULL);
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    static const char *const texts[] = {
        "[]",      "{}",       "[1,2]", "[2,1]", "{\"a\":1,\"b\":[]}", "{\"b\":[],\"a\":1}",
        "[[1,2]]", "[\"a\",1]"};
    uint32_t k[8];
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 8; i++) {
            mwl_value v = parsed(h, texts[i]);
            uint32_t got = mwl__emit_const(e, v);
            if (round == 0) k[i] = got;
            EXPECT_EQ(got, k[i]);
            for (int j = 0; j < i; j++) EXPECT_NE(got, k[j]);
            bool equal = false;
            EXPECT_EQ(mwl__value_equal(v, mwl__emit_const_value(e, got), NULL, &equal), MWL_OK);
            EXPECT_TRUE(equal);
            mwl__drop(h, v);
        }
    EXPECT_EQ(mwl_heap_used(h), (size_t)0);
    mwl_heap_free(h);
    EXPECT_EQ(mwl__emit_status(e), MWL_OK);
    mwl__emit_free(e);
}

/* ---- a program there and back ---------------------------------------------------------------- */

static const char big_object[] =
    "{\"k1\":1,\"k2\":[true,null],\"k3\":\"\xC3\xA9\",\"k4\":4,\"k5\":{\"x\":{}},\"k6\":6,\"k7\":7,"
    "\"k8\":8,\"k9\":9,\"k10\":10,\"k11\":11}";

static void emit_sample(mwl__emit *e, mwl_heap *h) {
    uint32_t keys[2] = {str(e, "user"), str(e, "name")};
    uint32_t path = mwl__emit_path(e, MWL_BASE_STEP_INPUT, keys, 2);
    uint32_t env = mwl__emit_path(e, MWL_BASE_ENV + 3, NULL, 0);
    uint32_t shape = mwl__emit_shape(e, keys, 2);
    uint32_t fn = mwl__emit_func(e, "size", 1, true);
    uint32_t re = mwl__emit_regex(e, str(e, "^a+$"));
    mwl_value v = parsed(h, big_object);
    uint32_t k = mwl__emit_const(e, v);
    mwl__drop(h, v);
    mwl__emit_regs(e, 8);
    mwl__emit_ax(e, MWL_OP_LOAD_PATH, 0, path);
    mwl__emit_ax(e, MWL_OP_LOAD_PATH, 1, env);
    mwl__emit_ax(e, MWL_OP_LOAD_K, 2, k);
    uint32_t test = mwl__emit_ax(e, MWL_OP_AND_TEST, 0, 0);
    mwl__emit_abc(e, MWL_OP_CALL_FN, 1, 0, fn);
    mwl__emit_ax(e, MWL_OP_MATCH, 0, re);
    mwl__emit_abc(e, MWL_OP_MAP_OF, 3, 0, shape);
    mwl__emit_patch(e, test, mwl__emit_here(e));
    mwl__emit_abc(e, MWL_OP_END, 1, 0, 0);
    mwl__emit_handler(e, 0, 7, 7, 1, MWL_HANDLER_EXPR);
    mwl__emit_handler(e, 1, 3, 3, 1, MWL_HANDLER_EXPR);
    mwl__emit_handler(e, 4, 5, 7, 0, MWL_HANDLER_SITE);
    mwl__emit_where(e, 4, 0, at(2, 9, 30, 4));
    mwl__emit_where(e, 0, 0, at(1, 5, 4, 20));
    mwl__emit_where(e, 0, 2, at(1, 5, 4, 15));
    mwl__emit_where(e, 0, 1, at(1, 5, 4, 10));
    mwl__emit_source(e, "{ the text }", 12);
}

UTEST(emit, a_program_there_and_back) {
    mwl__emit *e = mwl__emit_new(NULL);
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    emit_sample(e, h);
    mwl__buf image = mwl__buf_make(mwl_alloc_default());
    mwl_error error = {MWL_OK, "", 0};
    mwl_program *p = loaded(e, 0, &image, &error);
    EXPECT_STREQ(error.message, "");
    ASSERT_TRUE(p != NULL);
    EXPECT_EQ(p->n_code, 8u);
    EXPECT_EQ(p->n_regs, 8u);
    EXPECT_EQ(p->n_env, 4u);
    EXPECT_EQ(p->n_paths, 2u);
    EXPECT_EQ(p->n_funcs, 1u);
    EXPECT_EQ(p->n_shapes, 1u);
    EXPECT_EQ(p->n_regexes, 1u);
    EXPECT_EQ(p->paths[0].n_keys, 2);
    EXPECT_EQ(mwl__program_info(p, MWL_INFO_ROOT_FLOW), MWL_NONE);
    mwl_value key = p->consts[p->keys[p->paths[0].first_key + 1]];
    EXPECT_STREQ(mwl_as_text(key, NULL), "name");
    EXPECT_EQ(p->source_size, (size_t)12);
    EXPECT_EQ(memcmp(p->source, "{ the text }", 12), 0);

    mwl_value k = p->consts[mwl__ins_x(p->code[2])];
    EXPECT_EQ(k.tag, (uint32_t)MWL_KIND_OBJECT); /* immortal */
    mwl_value want = parsed(h, big_object);
    bool equal = false;
    EXPECT_EQ(mwl__value_equal(k, want, NULL, &equal), MWL_OK);
    EXPECT_TRUE(equal);
    EXPECT_EQ(mwl_object_get(k, "k11", 3).as.d, 11.0);
    for (uint32_t i = 0; i < p->n_consts; i++)
        EXPECT_EQ((p->consts[i].tag & (MWL_HEAP | MWL_OWNED)), 0u);
    mwl__drop(h, want);

    bool matched = false;
    mwl__regex_scratch *scratch = NULL;
    ASSERT_EQ(mwl__regex_scratch_new(&image.alloc, &scratch), MWL_OK);
    EXPECT_EQ(mwl__regex_search(p->regexes[0], scratch, "aaa", 3, NULL, &matched), MWL_OK);
    EXPECT_TRUE(matched);
    mwl__regex_scratch_free(scratch);

    mwl_program *again = mwl__program_keep(p);
    mwl__program_release(p);
    EXPECT_EQ(again->n_code, 8u);
    mwl__program_release(again);
    mwl_heap_free(h);
    mwl__buf_free(&image);
    mwl__emit_free(e);
}

UTEST(emit, handlers_of_a_pc) {
    mwl__emit *e = mwl__emit_new(NULL);
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    emit_sample(e, h);
    mwl__buf image = mwl__buf_make(mwl_alloc_default());
    mwl_program *p = loaded(e, 0, &image, NULL);
    ASSERT_TRUE(p != NULL);
    ASSERT_EQ(p->n_handlers, 3u);
    static const uint32_t begin[8] = {0, 1, 1, 0, 4, 0, 0, MWL_NONE};
    for (uint32_t pc = 0; pc < 8; pc++) {
        const mwl__handler_rec *r = mwl__program_handler(p, pc);
        if (begin[pc] == MWL_NONE)
            EXPECT_TRUE(r == NULL);
        else {
            ASSERT_TRUE(r != NULL);
            EXPECT_EQ(r->begin, begin[pc]);
        }
    }
    EXPECT_EQ(p->handlers[0].parent, 2u);
    EXPECT_EQ(p->handlers[1].parent, 2u);
    EXPECT_EQ(p->handlers[2].parent, MWL_NONE);
    mwl__program_release(p);
    mwl_heap_free(h);
    mwl__buf_free(&image);
    mwl__emit_free(e);
}

UTEST(emit, handlers_that_cross_are_a_mistake) {
    mwl__emit *e = mwl__emit_new(NULL);
    mwl__buf image = mwl__buf_make(mwl_alloc_default());
    mwl__emit_handler(e, 0, 4, 9, 0, MWL_HANDLER_EXPR);
    mwl__emit_handler(e, 2, 6, 9, 0, MWL_HANDLER_EXPR);
    mwl__emit_handler(e, 3, 3, 9, 0, MWL_HANDLER_EXPR); /* empty: not there */
    EXPECT_EQ(mwl__emit_finish(e, 0, &image), MWL_E_USAGE);
    EXPECT_EQ(mwl__emit_status(e), MWL_E_USAGE);
    mwl__buf_free(&image);
    mwl__emit_free(e);
}

/* Handlers against a plain search, on ranges that nest at random; equal ones: the first is the
 * inner. */
UTEST(emit, handler_lookup_agrees_with_a_scan) {
    uint32_t seed = 12345;
    for (int round = 0; round < 50; round++) {
        mwl__emit *e = mwl__emit_new(NULL);
        struct {
            uint32_t begin, end;
        } r[64];
        uint32_t n = 0;
        for (int i = 0; i <= 100; i++) mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, (uint32_t)i);
        mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
        for (int tries = 0; tries < 400 && n < 64; tries++) {
            seed = seed * 1664525u + 1013904223u;
            uint32_t b = (seed >> 8) % 100, end = b + 1 + (seed >> 20) % (100 - b);
            bool fits = true;
            for (uint32_t i = 0; i < n; i++) {
                bool apart = end <= r[i].begin || b >= r[i].end;
                bool in = b >= r[i].begin && end <= r[i].end,
                     around = b <= r[i].begin && end >= r[i].end;
                fits = fits && (apart || in || around);
            }
            if (!fits) continue;
            r[n].begin = b;
            r[n++].end = end;
            mwl__emit_handler(e, b, end, 100, n - 1, MWL_HANDLER_EXPR);
        }
        mwl__buf image = mwl__buf_make(mwl_alloc_default());
        mwl_error error = {MWL_OK, "", 0};
        mwl_program *p = loaded(e, 0, &image, &error);
        EXPECT_STREQ(error.message, "");
        ASSERT_TRUE(p != NULL);
        for (uint32_t pc = 0; pc <= 100; pc++) {
            uint32_t best = MWL_NONE;
            for (uint32_t i = 0; i < n; i++)
                if (r[i].begin <= pc && pc < r[i].end &&
                    (best == MWL_NONE || r[i].end - r[i].begin < r[best].end - r[best].begin))
                    best = i;
            const mwl__handler_rec *got = mwl__program_handler(p, pc);
            EXPECT_EQ(got ? got->reg : MWL_NONE, best);
        }
        mwl__program_release(p);
        mwl__buf_free(&image);
        mwl__emit_free(e);
    }
}

/* ---- positions ------------------------------------------------------------------------------- */

UTEST(emit, positions) {
    mwl__emit *e = mwl__emit_new(NULL);
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    emit_sample(e, h);
    mwl__buf image = mwl__buf_make(mwl_alloc_default());
    mwl_program *p = loaded(e, 0, &image, NULL);
    ASSERT_TRUE(p != NULL);
    EXPECT_TRUE(where_is(p, 0, 0, at(1, 5, 4, 20)));
    EXPECT_TRUE(where_is(p, 0, 1, at(1, 5, 4, 10)));
    EXPECT_TRUE(where_is(p, 0, 2, at(1, 5, 4, 15)));
    EXPECT_TRUE(where_is(p, 0, 9, at(1, 5, 4, 15)));
    EXPECT_TRUE(where_is(p, 3, 1, at(1, 5, 4, 20))); /* like the whole of the last one */
    EXPECT_TRUE(where_is(p, 7, 0, at(2, 9, 30, 4)));
    mwl__program_release(p);
    image.len = 0;
    p = loaded(e, MWL_EMIT_STRIP_POSITIONS | MWL_EMIT_STRIP_SOURCE, &image, NULL);
    ASSERT_TRUE(p != NULL);
    mwl__where w;
    EXPECT_FALSE(mwl__program_where(p, 0, 0, &w));
    EXPECT_TRUE(p->source == NULL);
    mwl__program_release(p);
    mwl_heap_free(h);
    mwl__buf_free(&image);
    mwl__emit_free(e);
}

UTEST(emit, many_positions_in_any_order) {
    mwl__emit *e = mwl__emit_new(NULL);
    const uint32_t n = 5000;
    for (uint32_t i = 0; i < n; i++) mwl__emit_ax(e, MWL_OP_LOAD_INT, 0, i);
    mwl__emit_abc(e, MWL_OP_END, 0, 0, 0);
    for (uint32_t i = n; i-- > 0;) {
        if (i % 7 == 3) continue; /* like the one before */
        for (uint32_t sub = i % 3; sub-- > 0;)
            mwl__emit_where(e, i, sub, at(i * 2654435761u, i, UINT32_MAX - i, sub));
    }
    for (uint32_t sub = 0; sub < 300; sub++) mwl__emit_where(e, 4000, sub, at(1, 1, 1, sub));
    mwl__buf image = mwl__buf_make(mwl_alloc_default());
    mwl_error error = {MWL_OK, "", 0};
    mwl_program *p = loaded(e, 0, &image, &error);
    EXPECT_STREQ(error.message, "");
    ASSERT_TRUE(p != NULL);
    mwl__where w;
    EXPECT_FALSE(mwl__program_where(p, 0, 0, &w)); /* before the first row */
    for (uint32_t i = 1; i < n; i++) {
        if (i == 4000) continue;
        uint32_t from = i; /* the last one with a row */
        while (from % 7 == 3 || from % 3 == 0) {
            if (from == 4000) break;
            from--;
        }
        uint32_t sub = from == i ? i % 3 - 1 : 0;
        if (from == 4000)
            EXPECT_TRUE(where_is(p, i, 0, at(1, 1, 1, 0)));
        else
            EXPECT_TRUE(where_is(p, i, sub, at(from * 2654435761u, from, UINT32_MAX - from, sub)));
    }
    for (uint32_t sub = 0; sub < 300; sub++) EXPECT_TRUE(where_is(p, 4000, sub, at(1, 1, 1, sub)));
    mwl__program_release(p);
    mwl__buf_free(&image);
    mwl__emit_free(e);
}

/* ---- the rest -------------------------------------------------------------------------------- */

UTEST(emit, the_same_calls_give_the_same_bytes) {
    mwl__buf image[2];
    mwl_heap *h = NULL;
    ASSERT_EQ(mwl_heap_new(NULL, &h), MWL_OK);
    for (int i = 0; i < 2; i++) {
        image[i] = mwl__buf_make(mwl_alloc_default());
        mwl__emit *e = mwl__emit_new(NULL);
        emit_sample(e, h);
        EXPECT_EQ(mwl__emit_finish(e, 0, &image[i]), MWL_OK);
        size_t len = image[i].len;
        EXPECT_EQ(mwl__emit_finish(e, 0, &image[i]), MWL_OK); /* and again */
        ASSERT_EQ(image[i].len, 2 * len);
        EXPECT_EQ(memcmp(image[i].data, image[i].data + len, len), 0);
        mwl__emit_free(e);
    }
    ASSERT_EQ(image[0].len, image[1].len);
    EXPECT_EQ(memcmp(image[0].data, image[1].data, image[0].len), 0);
    mwl__buf_free(&image[0]);
    mwl__buf_free(&image[1]);
    mwl_heap_free(h);
}

UTEST(emit, tables_share_and_stay_apart) {
    mwl__emit *e = mwl__emit_new(NULL);
    uint32_t k[3] = {str(e, "a"), str(e, "b"), mwl__emit_const(e, mwl_int(1))};
    EXPECT_EQ(mwl__emit_path(e, 0, k, 2), mwl__emit_path(e, 0, k, 2));
    EXPECT_NE(mwl__emit_path(e, 0, k, 2), mwl__emit_path(e, 1, k, 2));
    EXPECT_NE(mwl__emit_path(e, 0, k, 2), mwl__emit_path(e, 0, k, 1));
    EXPECT_EQ(mwl__emit_shape(e, k, 2), mwl__emit_shape(e, k, 2));
    EXPECT_NE(mwl__emit_shape(e, k, 2), mwl__emit_shape(e, k + 1, 1));
    EXPECT_EQ(mwl__emit_func(e, "f", 1, false), mwl__emit_func(e, "f", 1, false));
    EXPECT_NE(mwl__emit_func(e, "f", 1, false), mwl__emit_func(e, "f", 1, true));
    EXPECT_NE(mwl__emit_func(e, "f", 1, false), mwl__emit_func(e, "f", 2, false));
    EXPECT_EQ(mwl__emit_regex(e, k[0]), mwl__emit_regex(e, k[0]));
    EXPECT_EQ(mwl__emit_status(e), MWL_OK);
    (void)mwl__emit_path(e, 0, k, 3);
    EXPECT_EQ(mwl__emit_status(e), MWL_E_USAGE);
    mwl__emit_free(e);
}

UTEST(emit, operands_that_do_not_fit) {
    mwl__emit *e = mwl__emit_new(NULL);
    EXPECT_TRUE(mwl__emit_fits16(0xffff));
    EXPECT_FALSE(mwl__emit_fits16(0x10000));
    mwl__emit_abc(e, MWL_OP_EQ_K, 0, 1, 0x10000);
    EXPECT_EQ(mwl__emit_status(e), MWL_E_TOO_BIG);
    mwl__emit_free(e);
    e = mwl__emit_new(NULL);
    mwl__emit_regs(e, MWL_REGS_LIMIT);
    EXPECT_EQ(mwl__emit_status(e), MWL_OK);
    mwl__emit_abc(e, MWL_OP_MOVE, MWL_REGS_LIMIT, 0, 0);
    EXPECT_EQ(mwl__emit_status(e), MWL_E_TOO_BIG);
    mwl__emit_fail(e, MWL_E_USAGE);
    EXPECT_EQ(mwl__emit_status(e), MWL_E_TOO_BIG); /* the first one counts */
    mwl__emit_free(e);
}

UTEST(emit, records_and_info) {
    mwl__emit *e = mwl__emit_new(NULL);
    mwl__catch_rec rec = {1, 2};
    EXPECT_EQ(mwl__emit_record(e, MWL_SECTION_CATCHES, &rec, sizeof rec), 0u);
    EXPECT_EQ(mwl__emit_record(e, MWL_SECTION_CATCHES, &rec, sizeof rec), 1u);
    EXPECT_EQ(mwl__emit_record_count(e, MWL_SECTION_CATCHES), 2u);
    mwl__catch_rec *view = mwl__emit_record_at(e, MWL_SECTION_CATCHES, 1, sizeof rec);
    ASSERT_TRUE(view != NULL);
    EXPECT_EQ(view->pc, 2u);
    EXPECT_TRUE(mwl__emit_record_at(e, MWL_SECTION_CATCHES, 2, sizeof rec) == NULL);
    mwl__emit_info(e, 3, 77);
    uint32_t *word = mwl__emit_record_at(e, MWL_SECTION_INFO, 2, sizeof *word);
    ASSERT_TRUE(word != NULL);
    EXPECT_EQ(word[0], MWL_NONE);
    EXPECT_EQ(word[1], 77u);
    uint32_t words[2] = {5, 6};
    EXPECT_EQ(mwl__emit_keys(e, words, 2), 0u);
    EXPECT_EQ(mwl__emit_keys(e, words, 2), 2u);
    EXPECT_EQ(mwl__emit_status(e), MWL_OK);
    mwl__emit_free(e);
}

static bool make_and_load(mwl_alloc alloc) {
    mwl_heap *h = NULL;
    mwl_alloc plain = mwl_alloc_default();
    if (mwl_heap_new(&plain, &h) < 0) return false;
    mwl__emit *e = mwl__emit_new(&alloc);
    mwl__buf image = mwl__buf_make(alloc);
    mwl_program *p = NULL;
    if (e) {
        emit_sample(e, h);
        if (mwl__emit_finish(e, 0, &image) == MWL_OK)
            (void)mwl__program_load(&alloc, image.data, image.len, true, &p, NULL);
    }
    bool through = p != NULL;
    mwl__program_release(p);
    mwl__buf_free(&image);
    mwl__emit_free(e);
    mwl_heap_free(h);
    return through;
}

UTEST(emit, every_allocation_may_fail) { EXPECT_TRUE(faulty_sweep(make_and_load, 1000)); }

UTEST_MAIN()
