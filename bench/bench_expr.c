/* Expressions, compiled once, per evaluation: the set that the peers' programs run, on the same
 * data. */
#include "bench/bench.h"

#include "tools/base/tool_functions.h"
#include "assembler/cel/cel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct state {
    mwl_heap *heap;
    mwl__functions functions;
    mwl__exec x;
    mwl__cel_code code;
    mwl_value step;
};

struct expression {
    const char *name, *text, *wanted; /* wanted: JSON; NULL: checked by its size */
};

static const struct expression expressions[] = {
    {"e1_select", "step.input.user.address.city", "\"oslo\""},
    {"e2_arith", "step.input.a * 2.0 + step.input.b > 10.0 && step.input.b <= 100.0", "true"},
    {"e3_concat", "'/granules/' + step.input.collection + '/' + step.input.id",
     "\"/granules/modis-l1/granule-0001\""},
    {"e4_has", "has(step.input.opt) ? step.input.opt : 'default'", "\"default\""},
    {"e5_list100", "step.input.items.filter(i, i.v > 50.0).map(i, i.v * 2.0)", NULL},
    {"e6_map",
     "{'id': step.input.id, 'n': step.input.a + 1.0, 'tags': ['x', step.input.collection], "
     "'nested': {'ok': true}}",
     "{\"id\":\"granule-0001\",\"n\":8,\"tags\":[\"x\",\"modis-l1\"],\"nested\":{\"ok\":true}}"},
    {"e7_compare", "step.input.a == step.input.b", "false"},
    {"e8_match", "step.input.id.matches('^granule-[0-9]+$')", "true"},
    {"e9_all100", "step.input.items.all(i, i.v < 100.0)", "true"},
};

static mwl_value make_input(mwl_heap *heap) {
    char text[16384];
    size_t n = (size_t)snprintf(
        text, sizeof text,
        "{\"input\":{\"id\":\"granule-0001\",\"collection\":\"modis-l1\",\"a\":7,\"b\":20,"
        "\"user\":{\"name\":\"ada\",\"address\":{\"street\":\"main\",\"city\":\"oslo\"}},"
        "\"items\":[");
    for (int i = 0; i < 100; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s{\"id\":\"i%d\",\"v\":%d}",
                              i ? "," : "", i, i * 37 % 100);
    n += (size_t)snprintf(text + n, sizeof text - n, "]}}");
    mwl_value v = mwl_absent();
    (void)mwl_json_parse(heap, text, n, &v, NULL);
    return v;
}

static mwl__outcome evaluate(struct state *s, mwl_value *out) {
    return mwl__cel_eval(&s->code, &s->x, &s->step, 1, out);
}

static void check_answer(struct bench *b, const struct expression *e) {
    struct state *s = b->state;
    mwl_value got = mwl_absent();
    BENCH_CHECK(b, evaluate(s, &got) == MWL_EXEC_END);
    char *text = NULL;
    size_t len = 0;
    if (!b->failed && mwl_json_write(s->heap, got, MWL_JSON_COMPACT, &text, &len) == MWL_OK) {
        if (e->wanted && (strlen(e->wanted) != len || memcmp(text, e->wanted, len) != 0))
            bench_fail(b, "%s: got %s", e->name, text);
        if (!e->wanted) BENCH_CHECK(b, mwl_count(got) == 49);
        mwl_text_free(s->heap, text, len);
    }
    mwl_value_drop(s->heap, got);
}

static void open_expression(struct bench *b, const struct expression *e) {
    static const char *const vars[] = {"step"};
    struct state *s = calloc(1, sizeof *s);
    b->state = s;
    BENCH_CHECK(b, s != NULL);
    if (b->failed) return;
    mwl__functions_init(&s->functions, NULL);
    BENCH_CHECK(b, mwl_heap_new(&b->alloc, &s->heap) == MWL_OK);
    BENCH_CHECK(b, tool_add_functions(&s->functions) == MWL_OK);
    BENCH_CHECK(b, mwl__exec_init(&s->x, s->heap) == MWL_OK);
    s->step = make_input(s->heap);
    const mwl__cel_env env = {
        .functions = &s->functions, .vars = vars, .n_vars = 1, .as_data = true};
    BENCH_CHECK(b, mwl__cel_compile(&env, e->text, strlen(e->text), &s->code) == MWL_OK);
    if (!b->failed) check_answer(b, e);
}

static void close_expression(struct bench *b) {
    struct state *s = b->state;
    if (!s) return;
    mwl__cel_free(&s->code);
    if (s->heap) {
        mwl_value_drop(s->heap, s->step);
        mwl__exec_done(&s->x);
    }
    mwl_heap_free(s->heap);
    mwl__functions_done(&s->functions);
    free(s);
}

static void run(struct bench *b, unsigned long n) {
    struct state *s = b->state;
    for (unsigned long i = 0; i < n; i++) {
        mwl_value out = mwl_absent();
        BENCH_KEEP(evaluate(s, &out));
        mwl_value_drop(s->heap, out);
    }
}

/* Setup knows its case only by its function. */
#define CASE(i)                                                                                    \
    static void open_##i(struct bench *b) { open_expression(b, &expressions[i]); }
CASE(0)
CASE(1)
CASE(2)
CASE(3)
CASE(4)
CASE(5)
CASE(6)
CASE(7)
CASE(8)
#undef CASE

const struct bench_case bench_expr_cases[] = {
    {"expr", "e1_select", open_0, run, close_expression, 0, 0, NULL},
    {"expr", "e2_arith", open_1, run, close_expression, 0, 0, NULL},
    {"expr", "e3_concat", open_2, run, close_expression, 0, 0, NULL},
    {"expr", "e4_has", open_3, run, close_expression, 0, 0, NULL},
    {"expr", "e5_list100", open_4, run, close_expression, 0, 0, NULL},
    {"expr", "e6_map", open_5, run, close_expression, 0, 0, NULL},
    {"expr", "e7_compare", open_6, run, close_expression, 0, 0, NULL},
    {"expr", "e8_match", open_7, run, close_expression, 0, 0, NULL},
    {"expr", "e9_all100", open_8, run, close_expression, 0, 0, NULL},
    {0},
};
