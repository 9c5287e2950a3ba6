/* Errors and warnings of the checker with their places, and the paths that expressions read. */
#include "utest.h"

#include "tests/unit/cel_tree.h"
#include "tests/unit/faulty.h"

static const mwl__cel_root roots[] = {
    {"step", NULL}, {"vars", NULL}, {"call", "a Call exists only inside a Step"}};

static const mwl_function_def defs[] = {
    {"size", NULL, 1, 1, MWL_FN_GLOBAL | MWL_FN_MEMBER, "size(x) -> int"},
    {"startsWith", NULL, 2, 2, MWL_FN_MEMBER, "string.startsWith(prefix) -> bool"},
    {"matches", NULL, 2, 2, MWL_FN_GLOBAL | MWL_FN_MEMBER, "string.matches(pattern) -> bool"},
    {"split", NULL, 2, 3, MWL_FN_MEMBER, "string.split(separator [, limit]) -> list"},
    {"format", NULL, 2, 2, MWL_FN_MEMBER, NULL},
    {"math.greatest", NULL, 1, 255, MWL_FN_GLOBAL, "math.greatest(x, ...)"},
    {"now", NULL, 0, 0, MWL_FN_GLOBAL, "now() -> timestamp"},
    {"string", NULL, 1, 1, MWL_FN_GLOBAL, NULL},
    {"orValue", NULL, 2, 2, MWL_FN_MEMBER, NULL},
};
#define N_DEFS (sizeof defs / sizeof *defs)

static unsigned lookup(void *ctx, const char *name, size_t len, mwl__cel_lit *lit) {
    (void)ctx;
    (void)lit;
    for (size_t i = 0; i < 3; i++)
        if (strlen(roots[i].name) == len && memcmp(roots[i].name, name, len) == 0)
            return MWL__CEL_NAME_VARIABLE;
    for (size_t i = 0; i < N_DEFS; i++)
        if (strlen(defs[i].name) == len && memcmp(defs[i].name, name, len) == 0)
            return MWL__CEL_NAME_FUNCTION;
    return len == 3 && memcmp(name, "int", 3) == 0 ? MWL__CEL_NAME_TYPE : 0;
}

static bool is_message(void *ctx, const char *name, size_t len) {
    (void)ctx;
    return len == 4 && memcmp(name, "Good", 4) == 0;
}
static const char *pattern_fault(void *ctx, const char *pattern, size_t len) {
    (void)ctx;
    return len && pattern[0] == '(' ? "an open group" : NULL;
}

static mwl_status checked(mwl_alloc alloc, const char *text, struct cel_log *log) {
    const mwl_function_def *functions[N_DEFS];
    for (size_t i = 0; i < N_DEFS; i++) functions[i] = &defs[i];
    mwl__arena arena = mwl__arena_make(alloc);
    mwl__cel_options o = {.arena = &arena, .source = text, .len = strlen(text)};
    mwl__cel_names names = {lookup, NULL, NULL};
    mwl__cel_check_options check = {.arena = &arena,
                                    .roots = roots,
                                    .n_roots = 3,
                                    .functions = functions,
                                    .n_functions = N_DEFS,
                                    .is_message = is_message,
                                    .pattern_fault = pattern_fault,
                                    .sink = {cel_log_add, log}};
    mwl__cel_tree t;
    mwl_status st = mwl__cel_parse(&o, &t);
    if (st == MWL_OK) st = mwl__cel_resolve(&arena, &t, &names);
    if (st == MWL_OK) st = mwl__cel_check(&t, &check);
    mwl__arena_free(&arena);
    return st;
}

#define CHECKS(source, status, problems)                                                           \
    do {                                                                                           \
        struct cel_log log = {{0}, 0};                                                             \
        EXPECT_EQ((int)(status), (int)checked(mwl_alloc_default(), source, &log));                 \
        EXPECT_STREQ(problems, log.text);                                                          \
    } while (0)
#define GOOD(text) CHECKS(text, MWL_OK, "")
#define BAD(text, problem) CHECKS(text, MWL_E_REJECTED, problem)
#define WARNS(text, problem) CHECKS(text, MWL_OK, problem)

UTEST(check, roots) {
    GOOD("step.input.features + vars.x");
    BAD("1 + stpe.input", "E 4-8 nothing is called `stpe` [did you mean `step`?]");
    BAD("unheard_of", "E 0-10 nothing is called `unheard_of`");
    BAD("call.input", "E 0-4 `call` does not exist here [a Call exists only inside a Step]");
    BAD("vars.map(item, itme.x)", "E 15-19 nothing is called `itme` [did you mean `item`?]");
    BAD("false && stpe", "E 9-13 nothing is called `stpe` [did you mean `step`?]");
    GOOD("int == int");
}

/* A text of another kind is not reported word by word. */
UTEST(check, the_first_eight_unknown_names_are_reported) {
    struct cel_log log = {{0}, 0};
    EXPECT_EQ((int)MWL_E_REJECTED,
              (int)checked(mwl_alloc_default(), "a1+a2+a3+a4+a5+a6+a7+a8+a9+a10", &log));
    EXPECT_TRUE(strstr(log.text, "`a8`") != NULL);
    EXPECT_TRUE(strstr(log.text, "`a9`") == NULL && strstr(log.text, "`a10`") == NULL);
}

UTEST(check, functions) {
    GOOD("size(vars) + vars.size() + math.greatest(1, 2, 3)");
    GOOD("vars.a.split(',').size() > 0 && vars.a.split(',', 2)[0] == now()");
    BAD("sise(vars)", "E 0-4 there is no function `sise` [did you mean `size`?]");
    BAD("vars.startWith('a')",
        "E 5-14 there is no function `startWith` [did you mean `startsWith`?]");
    BAD("math.greatst(1)",
        "E 0-12 there is no function `math.greatst` [did you mean `math.greatest`?]");
    BAD("startsWith(vars, 'a')",
        "E 0-10 `startsWith` is called on a target: x.startsWith() "
        "[string.startsWith(prefix) -> bool] [write vars.startsWith('a')]");
    BAD("vars.now()", "E 5-8 `now` is called without a target [now() -> timestamp]");
    BAD("size(1, 2)", "E 0-4 `size` takes 1 argument and is given 2 [size(x) -> int]");
    BAD("vars.startsWith()", "E 5-15 `startsWith` takes 1 argument and is given 0 "
                             "[string.startsWith(prefix) -> bool]");
    BAD("vars.split()", "E 5-10 `split` takes 1 to 2 arguments and is given 0 "
                        "[string.split(separator [, limit]) -> list]");
    BAD("math.greatest()",
        "E 0-13 `math.greatest` takes 1 or more arguments and is given 0 [math.greatest(x, ...)]");
    BAD("vars.filter(x)", "E 5-11 the macro `filter` does not take 1 argument");
    BAD("has(vars.a, vars.b)", "E 0-3 the macro `has` does not take 2 arguments");
}

UTEST(check, clashes_are_errors_where_certain) {
    BAD("'a' + 1", "E 0-7 `+` is not defined for string and int [write string(1)]");
    BAD("1 + 2.0",
        "E 0-7 `+` is not defined for int and double [numbers of different types are not "
        "converted; write int(), uint() or double()]");
    BAD("vars.a == 1 * true", "E 10-18 `*` is not defined for int and bool");
    BAD("[1, 'a' < 1]", "E 4-11 `<` is not defined for string and int");
    BAD("-'a'", "E 0-4 `-` is not defined for string");
    BAD("!1", "E 1-2 `!` needs a bool here, not int");
    BAD("1 ? 2 : 3", "E 0-1 `?:` needs a bool here, not int");
    BAD("1 in 'abc'",
        "E 0-10 `in` is not defined for int and string [the right side must be a list or "
        "a map]");
    BAD("'abc'.x", "E 0-5 string has no fields");
    BAD("1[0]", "E 0-1 int has no elements");
    BAD("'a'.map(x, x)", "E 0-3 `map` needs a list or a map, not string");
    BAD("vars.a + null", "E 0-13 `+` is not defined for null");
}

UTEST(check, clashes_are_warnings_elsewhere) {
    WARNS("vars.a ? 'a' + 1 : 2", "W 9-16 `+` is not defined for string and int [write string(1)]");
    WARNS("false && 'a' < 1", "W 9-16 `<` is not defined for string and int");
    WARNS("'a' < 1 || true", "W 0-7 `<` is not defined for string and int");
    WARNS("[].map(x, 1 - 'a')", "W 10-17 `-` is not defined for int and string");
    WARNS("1 && vars.a", "W 0-1 `&&` needs a bool here, not int");
    WARNS("vars.a.orValue(1 - 'a')", "W 15-22 `-` is not defined for int and string");
    WARNS("cel.bind(x, 1 - 'a', vars.a)", "W 12-19 `-` is not defined for int and string");
}

UTEST(check, what_may_be_right_is_left_alone) {
    GOOD("1 < 2.0 && 1u >= 2 && 1 == 'a' && null != 1.0");
    GOOD("vars.a + 1 + vars.b + 'a'.size()");
    GOOD("{'a': 1}.a + [1][0]");
    GOOD("[1] + vars.list + [2]");
    GOOD("(vars.a ? 1 : 'a') + 1");
    GOOD("vars.x[?0].orValue(1) + 1");
    GOOD("Good{a: 1}.a");
}

UTEST(check, types_patterns_formats) {
    BAD("Bad{a: 1}", "E 0-9 there is no type `Bad`");
    BAD("vars.a.matches('(')",
        "E 15-18 the pattern is not a regular expression of RE2 [an open group]");
    WARNS("true || matches(vars.a, '(')",
          "W 24-27 the pattern is not a regular expression of RE2 [an open group]");
    GOOD("vars.a.matches('a')");
    GOOD("'%s %% %.2f'.format([vars.a, 2.0])");
    BAD("'%s'.format([1, 2])", "E 12-18 the format has 1 place and is given 2 arguments");
    WARNS("vars.a ? '%s'.format([]) : ''",
          "W 21-23 the format has 1 place and is given 0 arguments");
}

/* A chain of thousands must not recurse. */
UTEST(check, long_chains) {
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&b, "vars");
    for (int i = 0; i < 20000; i++) mwl__buf_puts(&b, ".a + 1");
    struct cel_log log = {{0}, 0};
    EXPECT_NE((int)MWL_E_NOMEM, (int)checked(mwl_alloc_default(), mwl__buf_cstr(&b), &log));
    b.len = 0;
    mwl__buf_puts(&b, "vars");
    for (int i = 0; i < 20000; i++) mwl__buf_puts(&b, ".a[0].f + vars");
    EXPECT_EQ((int)MWL_OK, (int)checked(mwl_alloc_default(), mwl__buf_cstr(&b), &log));
    mwl__buf_free(&b);
}

static bool check_task(mwl_alloc alloc) {
    struct cel_log log = {{0}, 0};
    mwl_status st = checked(alloc, "stpe.a + math.greatst(1) + sise(call)", &log);
    if (st != MWL_E_REJECTED && st != MWL_E_NOMEM) abort();
    return st == MWL_E_REJECTED;
}
UTEST(check, survives_failing_allocations) { EXPECT_TRUE(faulty_sweep(check_task, 1000)); }

/* ---- reach ----------------------------------------------------------------------------------- */

static bool note_path(void *ctx, const mwl__cel_path *path) {
    mwl__buf *b = ctx;
    if (b->len) mwl__buf_puts(b, " ");
    mwl__buf_put(b, path->root->name.data, path->root->name.len);
    for (size_t i = 0; i < path->n_members; i++) mwl__buf_printf(b, ".%s", path->members[i].data);
    if (path->tested) mwl__buf_puts(b, "?");
    return true;
}

static mwl_status reached(mwl_alloc alloc, const char *text, mwl__buf *b) {
    mwl__arena arena = mwl__arena_make(alloc);
    mwl__cel_options o = {.arena = &arena, .source = text, .len = strlen(text)};
    mwl__cel_names names = {lookup, NULL, NULL};
    mwl__cel_tree t;
    mwl_status st = mwl__cel_parse(&o, &t);
    if (st == MWL_OK) st = mwl__cel_resolve(&arena, &t, &names);
    if (st == MWL_OK) st = mwl__cel_reach(&arena, &t, note_path, b);
    mwl__arena_free(&arena);
    return st;
}

#define REACHES(text, paths)                                                                       \
    do {                                                                                           \
        mwl__buf b = mwl__buf_make(mwl_alloc_default());                                           \
        EXPECT_EQ((int)MWL_OK, (int)reached(mwl_alloc_default(), text, &b));                       \
        EXPECT_STREQ(paths, mwl__buf_cstr(&b));                                                    \
        mwl__buf_free(&b);                                                                         \
    } while (0)

UTEST(reach, maximal_static_paths) {
    REACHES("step.metadata.exitedAt", "step.metadata.exitedAt");
    REACHES("step", "step");
    REACHES("string(step) + vars['a'].b", "vars.a.b step");
    REACHES("vars.a[vars.i].b", "vars.i vars.a");
    REACHES("vars.a[0].b", "vars.a");
    REACHES("has(step.input.x)", "step.input.x?");
    REACHES("vars.items.map(x, x.y + step.z)", "step.z vars.items");
    REACHES("vars.a.?b.c[?'d']", "vars.a.b.c.d");
    REACHES("{'a': vars}.a.b", "vars");
    REACHES("int == 1 ? .vars.x : unknown.y", "vars.x unknown.y");
    REACHES("vars.f(step.a).g", "step.a vars");
}

static bool reach_task(mwl_alloc alloc) {
    mwl__buf b = mwl__buf_make(alloc);
    mwl_status st = reached(alloc, "vars.a.b + step.c.d", &b);
    bool through = st == MWL_OK && !b.failed;
    mwl__buf_free(&b);
    return through;
}
UTEST(reach, survives_failing_allocations) { EXPECT_TRUE(faulty_sweep(reach_task, 1000)); }

UTEST_MAIN()
