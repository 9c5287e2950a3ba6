/* What expressions become: few instructions for the common ones, constants where nothing varies. */
#include "utest.h"

#include "tools/base/tool_functions.h"
#include "assembler/cel/cel.h"
#include "assembler/cel/cel_lower.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const vars[] = {"vars", "a", "b"};

static mwl__functions *functions(void) {
    static mwl__functions f;
    if (f.n_defs == 0) {
        mwl__functions_init(&f, NULL);
        if (tool_add_functions(&f) != MWL_OK) abort();
    }
    return &f;
}

static mwl_status compile(const char *text, mwl__cel_code *code) {
    const mwl__cel_env env = {
        .functions = functions(), .vars = vars, .n_vars = 3, .no_check = true};
    return mwl__cel_compile(&env, text, strlen(text), code);
}

/* The instructions' names, END aside: "load_path load_path eq". */
static const char *names(const char *text) {
    static char out[2000];
    mwl__cel_code code;
    out[0] = '\0';
    if (compile(text, &code) != MWL_OK) return "not compiled";
    size_t len = 0;
    for (uint32_t i = 0; i + 1 < code.program->n_code && len < sizeof out; i++)
        len += (size_t)snprintf(out + len, sizeof out - len, "%s%s", i ? " " : "",
                                mwl__op_get(code.program->code[i].op)->name);
    mwl__cel_free(&code);
    for (char *c = out; *c; c++) *c = (char)tolower((unsigned char)*c);
    return out;
}

UTEST(cel_lower, a_path_is_one_instruction) {
    EXPECT_STREQ(names("vars"), "load_path");
    EXPECT_STREQ(names("vars.user.address.city"), "load_path");
    EXPECT_STREQ(names("vars['user']['a b'].city"), "load_path");
    EXPECT_STREQ(names("has(vars.user.city)"), "has_path");
    EXPECT_STREQ(names("vars.user.?city"), "opt_path");
    EXPECT_STREQ(names("vars.user.?city.name"), "opt_path select");
    EXPECT_STREQ(names("vars.items[0].name"), "load_path load_int index select");
}

UTEST(cel_lower, a_comparison_of_paths_is_three) {
    EXPECT_STREQ(names("vars.a == vars.b"), "load_path load_path eq");
    EXPECT_STREQ(names("vars.a == 'x'"), "load_path eq_k");
    EXPECT_STREQ(names("'x' == vars.a"), "load_path eq_k");
    EXPECT_STREQ(names("10 > vars.a"), "load_path lt_k");
    EXPECT_STREQ(names("10 <= vars.a"), "load_path ge_k");
    EXPECT_STREQ(names("vars.a + 1"), "load_path add_k");
    EXPECT_STREQ(names("1 + vars.a"), "load_int load_path add");
    EXPECT_STREQ(names("a + b * 2.0 - a"), "load_path load_path mul_k add load_path sub");
}

UTEST(cel_lower, what_does_not_vary_is_a_constant) {
    EXPECT_STREQ(names("1 + 2 * 3"), "load_int");
    EXPECT_STREQ(names("'a' + 'b'"), "load_k");
    EXPECT_STREQ(names("[1, 2, {'a': [true, null]}]"), "load_k");
    EXPECT_STREQ(names("'abc'.size() + size([1])"), "load_int");
    EXPECT_STREQ(names("true || vars.a"), "load_k");
    EXPECT_STREQ(names("vars.a && false"), "load_k");
    EXPECT_STREQ(names("1 < 2 ? vars.a : vars.b"), "load_path");
    EXPECT_STREQ(names("{'a': {'b': 1}}.a.b + vars.a"), "load_int load_path add");
    EXPECT_STREQ(names("timestamp('2024-01-01T00:00:00Z') + duration('1h')"), "load_k");
    EXPECT_STREQ(names("type(1) == int"), "load_k");
}

UTEST(cel_lower, what_faults_or_is_impure_is_left_to_run_time) {
    EXPECT_STREQ(names("1 / 0"), "load_int load_int div");
    EXPECT_STREQ(names("[1][2]"), "load_k load_int index");
    EXPECT_STREQ(names("now()"), "call_fn");
    EXPECT_STREQ(names("int('x')"), "load_k call_fn");
    EXPECT_STREQ(names("lists.range(100000)"), "load_int call_fn");
}

UTEST(cel_lower, literals) {
    EXPECT_STREQ(names("[a, b]"), "load_path load_path list_of");
    EXPECT_STREQ(names("{'x': a, 'y': b}"), "load_path load_path map_of");
    EXPECT_STREQ(names("{a: b}"), "new_map load_path load_path map_put");
    EXPECT_STREQ(names("{'x': 1, 'x': a}"),
                 "new_map load_k load_int map_put load_k load_path map_put");
    EXPECT_STREQ(names("'/' + a + '/' + b"), "load_k load_path load_k load_path concat");
    EXPECT_STREQ(names("a + b + a"), "load_path load_path add load_path add");
}

UTEST(cel_lower, calls_and_patterns) {
    EXPECT_STREQ(names("size(a)"), "load_path call_fn");
    EXPECT_STREQ(names("a.startsWith(b)"), "load_path load_path call_fn");
    EXPECT_STREQ(names("a.matches('x+')"), "load_path match");
    EXPECT_STREQ(names("matches(a, 'x+')"), "load_path match");
    EXPECT_STREQ(names("a.matches('(')"), "load_path load_k call_fn");
    EXPECT_STREQ(names("a.matches(b)"), "load_path load_path call_fn");
}

UTEST(cel_lower, logic_costs_little_without_faults) {
    EXPECT_STREQ(names("a && b"), "load_path jump_unless load_path and_end");
    EXPECT_STREQ(names("a || b || vars"),
                 "load_path jump_if load_path or or_test load_path or_end");
    EXPECT_STREQ(names("a ? b : vars"), "load_path jump_unless load_path jump load_path");
}

UTEST(cel_lower, loops) {
    EXPECT_STREQ(names("a.filter(x, x > 1.0)"),
                 "load_path iter new_list jump gt_k jump_unless list_push next");
    EXPECT_STREQ(names("a.map(x, x.v)"), "load_path iter new_list_like jump select list_push next");
    EXPECT_STREQ(names("a.all(x, x)"),
                 "load_path iter load_k jump move jump_if load_k jump and next raise_if");
    EXPECT_STREQ(names("cel.bind(x, 5, x + x)"), "load_int add");
}

UTEST(cel_lower, a_few_registers_are_enough) {
    mwl__cel_code code;
    ASSERT_EQ(compile("a + a + a + a + a + a", &code), MWL_OK);
    EXPECT_EQ(code.program->n_regs, 2u);
    mwl__cel_free(&code);
    ASSERT_EQ(compile("size(size(size(size(a))))", &code), MWL_OK);
    EXPECT_EQ(code.program->n_regs, 1u);
    mwl__cel_free(&code);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static unsigned reports;
static void count_report(void *ctx, const mwl__cel_problem *problem) {
    (void)ctx;
    if (problem->severity == MWL__CEL_ERROR) reports++;
}

static mwl_status compile_call(unsigned n_args) {
    char *text = malloc(n_args * 3 + 20), *at = text;
    at += sprintf(at, "f(a");
    for (unsigned i = 1; i < n_args; i++) at += sprintf(at, ", a");
    sprintf(at, ")");
    static mwl_function_def any = {"f", NULL, 0, 255, MWL_FN_GLOBAL, "f(...)"};
    mwl__functions f;
    mwl__functions_init(&f, NULL);
    any.call = functions()->defs[0]->call; /* never called */
    mwl_status status = mwl__functions_add(&f, &any, 1);
    const mwl__cel_env env = {
        .functions = &f, .vars = vars, .n_vars = 3, .no_check = true, .sink = {count_report, NULL}};
    mwl__cel_code code = {0};
    if (status == MWL_OK) status = mwl__cel_compile(&env, text, strlen(text), &code);
    mwl__cel_free(&code);
    mwl__functions_done(&f);
    free(text);
    return status;
}

UTEST(cel_lower, registers_have_a_limit_that_is_reported) {
    reports = 0;
    EXPECT_EQ(compile_call(MWL_REGS_LIMIT - 1), MWL_OK);
    EXPECT_EQ(reports, 0u);
    EXPECT_EQ(compile_call(MWL_REGS_LIMIT + 1), MWL_E_TOO_BIG);
    EXPECT_EQ(reports, 1u);
}

/* More constants than a 16-bit operand can name: other instructions, the same result. */
UTEST(cel_lower, many_constants) {
    enum { N = 66000 };
    char *text = malloc(N * 12 + 200), *at = text;
    at += sprintf(at, "[");
    for (int i = 0; i < N; i++) at += sprintf(at, "'k%d', ", i);
    sprintf(at, "a].size() > 1.0 && 'zz' == a && a.last == 'zy' && a == 'zx'");
    mwl__cel_code code;
    EXPECT_EQ(compile(text, &code), MWL_OK);
    mwl__cel_free(&code);
    free(text);
}

UTEST_MAIN()
