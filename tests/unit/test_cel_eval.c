/* Expressions from text to value: the lines of tests/cel, fuel, memory, depth. */
#include "utest.h"

#include "tools/base/tool_functions.h"
#include "assembler/cel/cel.h"
#include "tests/unit/faulty.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- a place to evaluate --------------------------------------------------------------------- */

struct place {
    mwl_heap *heap;
    mwl__functions functions;
    mwl__exec x;
    mwl__cel_code code;
    mwl_value vars;
};

static bool place_open(struct place *p, const mwl_alloc *alloc, const char *vars) {
    memset(p, 0, sizeof *p);
    mwl__functions_init(&p->functions, alloc);
    p->vars = mwl_absent();
    if (mwl_heap_new(alloc, &p->heap) != MWL_OK) return false;
    if (mwl__exec_init(&p->x, p->heap) != MWL_OK) return false;
    if (tool_add_functions(&p->functions) != MWL_OK) return false;
    return mwl_json_parse(p->heap, vars, strlen(vars), &p->vars, NULL) == MWL_OK;
}

static void place_close(struct place *p) {
    if (p->heap) {
        mwl__exec_done(&p->x);
        mwl_value_drop(p->heap, p->vars);
    }
    mwl__cel_free(&p->code);
    mwl__functions_done(&p->functions);
    mwl_heap_free(p->heap);
}

static mwl_status place_compile(struct place *p, const mwl_alloc *alloc, const char *text,
                                size_t len, bool as_data) {
    static const char *const names[] = {"vars"};
    const mwl__cel_env env = {
        .alloc = alloc,
        .functions = &p->functions,
        .vars = names,
        .n_vars = 1,
        .as_data = as_data,
        .no_check =
            true}; /* an expression that the checker would refuse must also behave at run time */
    mwl__cel_free(&p->code);
    return mwl__cel_compile(&env, text, len, &p->code);
}

static mwl__outcome place_eval(struct place *p, mwl_value *out) {
    return mwl__cel_eval(&p->code, &p->x, &p->vars, 1, out);
}

/* ---- lines of tests/cel ---------------------------------------------------------------------- */

static bool shows(struct place *p, mwl_value v, bool as_data, const char *wanted, char *got,
                  size_t size) {
    if (as_data) {
        char *text = NULL;
        size_t len = 0;
        if (mwl_json_write(p->heap, v, MWL_JSON_COMPACT, &text, &len) != MWL_OK) return false;
        snprintf(got, size, "%s", text);
        mwl_text_free(p->heap, text, len);
    } else {
        mwl__buf b = mwl__buf_make(mwl_alloc_default());
        mwl__cel_write(&b, v);
        snprintf(got, size, "%s", mwl__buf_cstr(&b));
        mwl__buf_free(&b);
    }
    return strcmp(got, wanted) == 0;
}

/* Compares "CODE [part of the message] [@column]" with the fault. */
static bool fault_is(const struct place *p, const char *wanted, char *got, size_t size) {
    const mwl__fault *f = mwl__as_fault(p->x.fault);
    const char *code = mwl__failure_code_text((mwl__failure_code)f->code);
    const char *message = mwl__as_str(f->message)->s;
    mwl__where w = {0, 0, 0, 0};
    (void)mwl__program_where(p->code.program, f->where, f->sub, &w);
    snprintf(got, size, "%s %s @%u", code, message, w.column);
    char part[300];
    snprintf(part, sizeof part, "%s", wanted);
    char *at = strrchr(part, '@');
    if (at && (unsigned)atoi(at + 1) != w.column) return false;
    if (at) *at = '\0';
    size_t n = strlen(part);
    while (n && part[n - 1] == ' ') part[--n] = '\0';
    size_t n_code = strlen(code);
    if (strncmp(part, code, n_code) != 0) return false;
    const char *rest = part + n_code;
    while (*rest == ' ') rest++;
    return strstr(message, rest) != NULL;
}

static bool check_line(struct place *p, char *line, bool as_data, char *got, size_t size) {
    char *mark = NULL, *at = line;
    while ((at = strstr(at, " => "))) mark = at++;
    bool wants_fault = !mark;
    if (!mark) mark = strstr(line, " !! ");
    snprintf(got, size, "no expectation");
    if (!mark) return false;
    const char *wanted = mark + 4;
    *mark = '\0';
    mwl_status status = place_compile(p, NULL, line, strlen(line), as_data);
    snprintf(got, size, "not compiled: %s", mwl_status_text(status));
    if (status != MWL_OK) return false;
    mwl_value out = mwl_absent();
    mwl__outcome outcome = place_eval(p, &out);
    bool ok;
    if (outcome == MWL_EXEC_END) {
        ok = shows(p, out, as_data, wanted, got, size) && !wants_fault;
        mwl_value_drop(p->heap, out);
    } else {
        snprintf(got, size, "outcome %d", (int)outcome);
        ok = outcome == MWL_EXEC_FAULT && fault_is(p, wanted, got, size) && wants_fault;
    }
    *mark = ' ';
    return ok;
}

static int run_file(const char *name) {
    char path[300], line[2000], got[1000];
    int wrong = 0;
    snprintf(path, sizeof path, "%s/tests/cel/%s.celt", MWL_SOURCE_DIR, name);
    FILE *file = fopen(path, "r");
    if (!file) return -1;
    struct place p;
    bool as_data = false;
    if (!place_open(&p, NULL, "{}")) wrong++;
    while (!wrong && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] == '\0' || line[0] == '#') continue;
        if (strcmp(line, ":data") == 0 || strcmp(line, ":cel") == 0) {
            as_data = line[1] == 'd';
        } else if (strncmp(line, ":vars ", 6) == 0) {
            mwl_value_drop(p.heap, p.vars);
            p.vars = mwl_absent();
            if (mwl_json_parse(p.heap, line + 6, strlen(line + 6), &p.vars, NULL) != MWL_OK)
                wrong++;
        } else if (!check_line(&p, line, as_data, got, sizeof got)) {
            printf("%s: %s\n    got %s\n", name, line, got);
            wrong++;
            break;
        }
    }
    fclose(file);
    place_close(&p);
    return wrong;
}

UTEST(cel_eval, boundary) { ASSERT_EQ(run_file("boundary"), 0); }
UTEST(cel_eval, faults) { ASSERT_EQ(run_file("faults"), 0); }
UTEST(cel_eval, absorption) { ASSERT_EQ(run_file("absorption"), 0); }
UTEST(cel_eval, values) { ASSERT_EQ(run_file("values"), 0); }

/* ---- what a fault carries -------------------------------------------------------------------- */

UTEST(cel_eval, details_of_a_missing_key) {
    struct place p;
    ASSERT_TRUE(place_open(&p, NULL, "{\"id\":1,\"name\":\"x\"}"));
    static const char text[] = "1.0 + vars.features.size";
    ASSERT_EQ(place_compile(&p, NULL, text, strlen(text), true), MWL_OK);
    mwl_value out = mwl_absent();
    ASSERT_EQ(place_eval(&p, &out), MWL_EXEC_FAULT);
    const mwl__fault *f = mwl__as_fault(p.x.fault);
    char *json = NULL;
    size_t len = 0;
    ASSERT_EQ(mwl_json_write(p.heap, f->details, MWL_JSON_COMPACT, &json, &len), MWL_OK);
    EXPECT_STREQ(json, "{\"having\":[\"id\",\"name\"],\"expression\":\"vars.features\"}");
    mwl_text_free(p.heap, json, len);
    mwl__where w;
    ASSERT_TRUE(mwl__program_where(p.code.program, f->where, f->sub, &w));
    EXPECT_EQ(w.line, 1u);
    EXPECT_EQ(w.column, 12u);
    EXPECT_EQ(w.offset, 6u);
    place_close(&p);
}

UTEST(cel_eval, keys_are_listed_as_json_has_them) {
    struct place p;
    ASSERT_TRUE(place_open(&p, NULL, "{\"id\":\"none\"}"));
    static const char text[] = "{1: 0, 2u: 0, true: 0, 'k': 0, 9007199254740992: 0,"
                               " -9007199254740993: 0, 18446744073709551615u: 0}[vars.id]";
    ASSERT_EQ(place_compile(&p, NULL, text, strlen(text), true), MWL_OK);
    mwl_value out = mwl_absent();
    ASSERT_EQ(place_eval(&p, &out), MWL_EXEC_FAULT);
    mwl_value having = mwl_get(mwl__as_fault(p.x.fault)->details, "having");
    char *json = NULL;
    size_t len = 0;
    ASSERT_EQ(mwl_json_write(p.heap, having, MWL_JSON_COMPACT, &json, &len), MWL_OK);
    EXPECT_STREQ(json, "[1,2,\"true\",\"k\",9007199254740992,\"-9007199254740993\","
                       "\"18446744073709551615\"]");
    mwl_text_free(p.heap, json, len);
    place_close(&p);
}

UTEST(cel_eval, at_most_ten_keys_are_listed) {
    struct place p;
    ASSERT_TRUE(place_open(&p, NULL,
                           "{\"a\":1,\"b\":1,\"c\":1,\"d\":1,\"e\":1,\"f\":1,\"g\":1,"
                           "\"h\":1,\"i\":1,\"j\":1,\"k\":1,\"l\":1}"));
    ASSERT_EQ(place_compile(&p, NULL, "vars.z", 6, true), MWL_OK);
    mwl_value out = mwl_absent();
    ASSERT_EQ(place_eval(&p, &out), MWL_EXEC_FAULT);
    mwl_value having = mwl_get(mwl__as_fault(p.x.fault)->details, "having");
    EXPECT_EQ(mwl_count(having), (size_t)10);
    place_close(&p);
}

/* A table that a program does not have is empty, not NULL: pointers are made from it. */
UTEST(cel_eval, a_program_without_keys) {
    struct place p;
    ASSERT_TRUE(place_open(&p, NULL, "{}"));
    ASSERT_EQ(place_compile(&p, NULL, "vars", 4, true), MWL_OK);
    EXPECT_EQ(0u, p.code.program->n_keys);
    EXPECT_TRUE(p.code.program->keys != NULL);
    place_close(&p);
}

UTEST(cel_eval, lines_and_columns) {
    struct place p;
    ASSERT_TRUE(place_open(&p, NULL, "{}"));
    static const char text[] = "[1,\n  2,\n  vars.x]";
    ASSERT_EQ(place_compile(&p, NULL, text, strlen(text), true), MWL_OK);
    mwl_value out = mwl_absent();
    ASSERT_EQ(place_eval(&p, &out), MWL_EXEC_FAULT);
    const mwl__fault *f = mwl__as_fault(p.x.fault);
    mwl__where w;
    ASSERT_TRUE(mwl__program_where(p.code.program, f->where, f->sub, &w));
    EXPECT_EQ(w.line, 3u);
    EXPECT_EQ(w.column, 8u);
    place_close(&p);
}

/* ---- fuel ------------------------------------------------------------------------------------ */

static mwl_value many(mwl_heap *heap, size_t n) {
    mwl_value list = mwl_array(heap, n);
    for (size_t i = 0; i < n; i++) list = mwl_array_push(heap, list, mwl_number((double)i));
    return mwl_object_set(heap, mwl_object(heap, 1), "items", 5, list);
}

UTEST(cel_eval, a_long_loop_yields_and_goes_on) {
    struct place p;
    ASSERT_TRUE(place_open(&p, NULL, "{}"));
    p.vars = many(p.heap, 1000000);
    static const char text[] = "vars.items.filter(x, x > 999990.0).map(x, x * 2.0)";
    ASSERT_EQ(place_compile(&p, NULL, text, strlen(text), true), MWL_OK);
    mwl_value out = mwl_absent();
    unsigned yields = 0;
    size_t before = mwl_heap_used(p.heap);
    p.x.slice = 10000;
    mwl__outcome outcome = place_eval(&p, &out);
    while (outcome == MWL_EXEC_YIELD) {
        yields++;
        p.x.slice = 10000;
        outcome = mwl__cel_resume(&p.x, &out);
    }
    ASSERT_EQ(outcome, MWL_EXEC_END);
    EXPECT_GT(yields, 100u);
    EXPECT_EQ(mwl_count(out), (size_t)9);
    EXPECT_LT(mwl_heap_used(p.heap) - before, (size_t)1024); /* in proportion to the result */
    mwl_value_drop(p.heap, out);
    EXPECT_EQ(mwl_heap_used(p.heap), before);
    place_close(&p);
}

UTEST(cel_eval, a_yielded_run_can_be_given_up) {
    struct place p;
    ASSERT_TRUE(place_open(&p, NULL, "{}"));
    p.vars = many(p.heap, 1000);
    static const char text[] = "vars.items.map(x, [x, x])";
    ASSERT_EQ(place_compile(&p, NULL, text, strlen(text), true), MWL_OK);
    mwl_value out = mwl_absent();
    size_t before = mwl_heap_used(p.heap);
    p.x.slice = 100;
    ASSERT_EQ(place_eval(&p, &out), MWL_EXEC_YIELD);
    EXPECT_GT(mwl_heap_used(p.heap), before);
    mwl__exec_clear(&p.x, p.x.n_regs);
    EXPECT_EQ(mwl_heap_used(p.heap), before);
    place_close(&p);
}

UTEST(cel_eval, the_budget_ends_a_run) {
    struct place p;
    ASSERT_TRUE(place_open(&p, NULL, "{}"));
    p.vars = many(p.heap, 1000);
    static const char *const texts[] = {
        "vars.items.all(x, vars.items.all(y, true || x == y))",
        "vars.items.map(x, vars.items).map(x, x == vars.items.map(y, y))",
        "vars.items.filter(x, x in vars.items.map(y, -y))",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ASSERT_EQ(place_compile(&p, NULL, texts[i], strlen(texts[i]), true), MWL_OK);
        mwl_value out = mwl_absent();
        size_t before = mwl_heap_used(p.heap);
        p.x.budget = 20000;
        EXPECT_EQ(place_eval(&p, &out), MWL_EXEC_FUEL);
        EXPECT_EQ(mwl_heap_used(p.heap), before);
    }
    place_close(&p);
}

UTEST(cel_eval, the_heap_limit_ends_a_run) {
    struct place p;
    ASSERT_TRUE(place_open(&p, NULL, "{}"));
    p.vars = many(p.heap, 1000);
    static const char text[] = "vars.items.map(x, vars.items.map(y, [x, y]))";
    ASSERT_EQ(place_compile(&p, NULL, text, strlen(text), true), MWL_OK);
    mwl_value out = mwl_absent();
    size_t before = mwl_heap_used(p.heap);
    mwl_heap_limit(p.heap, before + 100000);
    EXPECT_EQ(place_eval(&p, &out), MWL_EXEC_NOMEM);
    EXPECT_EQ(mwl_heap_used(p.heap), before);
    place_close(&p);
}

/* ---- depth ----------------------------------------------------------------------------------- */

static char *repeated(const char *head, const char *part, const char *tail, size_t n) {
    size_t n_head = strlen(head), n_part = strlen(part), n_tail = strlen(tail), at = n_head;
    char *text = malloc(n_head + n * n_part + n_tail + 1);
    memcpy(text, head, n_head);
    for (size_t i = 0; i < n; i++, at += n_part) memcpy(text + at, part, n_part);
    memcpy(text + at, tail, n_tail + 1);
    return text;
}

static mwl__outcome outcome_of(struct place *p, char *take_text, mwl_value *out) {
    mwl_status status = place_compile(p, NULL, take_text, strlen(take_text), true);
    free(take_text);
    return status == MWL_OK ? place_eval(p, out) : MWL_EXEC_PARK;
}

UTEST(cel_eval, long_chains_need_no_stack) {
    struct place p;
    mwl_value out = mwl_absent();
    ASSERT_TRUE(place_open(&p, NULL, "{\"n\":1,\"l\":[1,2]}"));
    ASSERT_EQ(outcome_of(&p, repeated("vars.n", " + vars.n", "", 20000), &out), MWL_EXEC_END);
    EXPECT_EQ(mwl_as_number(out), 20001.0);
    ASSERT_EQ(outcome_of(&p, repeated("vars.l", ".filter(x, x > 0.0)", "[1]", 2000), &out),
              MWL_EXEC_END);
    EXPECT_EQ(mwl_as_number(out), 2.0);
    ASSERT_EQ(outcome_of(&p, repeated("true", " && vars.n == 1", "", 5000), &out), MWL_EXEC_END);
    EXPECT_TRUE(mwl_as_bool(out));
    EXPECT_EQ(outcome_of(&p, repeated("vars", ".a", "", 5000), &out), MWL_EXEC_FAULT);
    ASSERT_EQ(outcome_of(&p, repeated("[", "vars.n, ", "1][10000]", 10000), &out), MWL_EXEC_END);
    EXPECT_EQ(mwl_as_number(out), 1.0);
    place_close(&p);
}

UTEST(cel_eval, values_nested_too_deep_are_a_fault) {
    struct place p;
    mwl_value out = mwl_absent();
    ASSERT_TRUE(place_open(&p, NULL, "[]"));
    /* 200 levels a round, while the parser allows 250 */
    char *once = repeated("", "[", "vars", 200), *text = repeated(once, "]", "", 200);
    free(once);
    for (int round = 0; round < 2; round++) {
        ASSERT_EQ(place_compile(&p, NULL, text, strlen(text), true), MWL_OK);
        ASSERT_EQ(place_eval(&p, &out), MWL_EXEC_END);
        mwl_value_drop(p.heap, p.vars);
        p.vars = out;
    }
    ASSERT_EQ(place_eval(&p, &out), MWL_EXEC_FAULT);
    EXPECT_TRUE(strstr(mwl__as_str(mwl__as_fault(p.x.fault)->message)->s, "nested") != NULL);
    free(text);
    place_close(&p);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static bool whole_way(mwl_alloc alloc) {
    static const char *const texts[] = {
        "vars.a.map(x, {'k': [x, x + 1.0], 's': 'n' + vars.s}).filter(y, y.k[0] > 1.0)",
        "vars.a.all(x, vars.nothing) || vars.s == 'text' && vars.a.exists_one(x, x == 2.0)",
        "{'a': [1, {'b': 9007199254740992u}], vars.s: cel.bind(x, vars.a + [3], x + x)}",
        "vars.?b.c.optMap(x, [x]) == vars.?s ? vars.nothing : {'k': 1}",
        "vars.s.matches('^t[a-z]+$') && vars.nothing",
    };
    bool through = true;
    struct place p;
    if (!place_open(&p, &alloc, "{\"a\":[1,2,3],\"s\":\"text\"}")) through = false;
    for (size_t i = 0; i < sizeof texts / sizeof *texts && through; i++) {
        mwl_value out = mwl_absent();
        mwl_status status = place_compile(&p, &alloc, texts[i], strlen(texts[i]), true);
        if (status != MWL_OK) {
            through = false;
            if (status != MWL_E_NOMEM) printf("%s: %s\n", texts[i], mwl_status_text(status));
            break;
        }
        if (place_eval(&p, &out) == MWL_EXEC_NOMEM) through = false;
        mwl_value_drop(p.heap, out);
    }
    place_close(&p);
    return through;
}

UTEST(cel_eval, failing_allocations) { ASSERT_TRUE(faulty_sweep(whole_way, 20000)); }

UTEST_MAIN()
