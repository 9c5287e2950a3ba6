/* Macros, the scopes of their variables, and the resolution of names. */
#include "utest.h"

#include "tests/unit/cel_tree.h"
#include "tests/unit/faulty.h"

static mwl__buf out;

#define SHOWS(text, tree)                                                                          \
    do {                                                                                           \
        out.alloc = mwl_alloc_default();                                                           \
        EXPECT_STREQ(tree, cel_shown(&out, text));                                                 \
        mwl__buf_free(&out);                                                                       \
    } while (0)

UTEST(macro, every_form_has_its_node) {
    SHOWS("has(a.b.c)", "(SELECT test 'c' (SELECT 'b' a))");
    SHOWS("a.all(x, x)", "(ALL x@0 a x@0)");
    SHOWS("a.exists(i, x, x > i)", "(EXISTS i@0 x@1 a (GT x@1 i@0))");
    SHOWS("a.exists_one(x, x)", "(EXISTS_ONE x@0 a x@0)");
    SHOWS("a.existsOne(i, x, x)", "(EXISTS_ONE i@0 x@1 a x@1)");
    SHOWS("a.filter(x, x)", "(FILTER x@0 a x@0)");
    SHOWS("a.map(x, x)", "(TRANSFORM_LIST x@0 a x@0)");
    SHOWS("a.map(x, x > 1, x)", "(TRANSFORM_LIST filtered x@0 a (GT x@0 1) x@0)");
    SHOWS("a.transformList(i, x, i)", "(TRANSFORM_LIST i@0 x@1 a i@0)");
    SHOWS("a.transformMap(k, v, k, v)", "(TRANSFORM_MAP filtered k@0 v@1 a k@0 v@1)");
    SHOWS("a.transformMapEntry(k, v, {v: k})", "(TRANSFORM_ENTRY k@0 v@1 a (MAP v@1 k@0))");
    SHOWS("a.sortBy(x, -x)", "(SORT_BY x@0 a (NEG x@0))");
    SHOWS("a.optMap(x, x)", "(OPT_MAP x@0 a x@0)");
    SHOWS("a.optFlatMap(x, x)", "(OPT_FLAT_MAP x@0 a x@0)");
    SHOWS("cel.bind(x, x, x)", "(BIND x@0 x x@0)");
}

UTEST(macro, other_calls_stay_calls) {
    SHOWS("has(a, b)", "(CALL 'has' a b)");
    SHOWS("all(x, y)", "(CALL 'all' x y)");
    SHOWS("a.filter(x, y, z)", "(MEMBER 'filter' a x y z)");
    SHOWS("a.bind(x, 1, x)", "(MEMBER 'bind' a x 1 x)");
    SHOWS(".cel.bind(x, 1, x)", "(MEMBER 'bind' .cel x 1 x)");
    SHOWS(".has(a.b)", "(CALL . 'has' (SELECT 'b' a))");
}

UTEST(macro, wrong_arguments) {
    SHOWS("has(a)", "E 4-5 has() asks for a field: has(a.b)");
    SHOWS("has(a.?b)", "E 4-8 has() asks for a field: has(a.b)");
    SHOWS("a.map(b.c, 1)", "E 6-9 a macro's variable must be a simple name, without dots");
    SHOWS("a.map(.b, 1)", "E 6-8 a macro's variable must be a simple name, without dots");
    SHOWS("a.all(x, x, 1)", "E 9-10 the two variables of a macro need different names");
    SHOWS("cel.bind(1, 2, 3)",
          "E 9-10 the variable of cel.bind must be a simple name, without dots");
}

UTEST(scope, shadowing) {
    SHOWS("x.map(x, x.map(x, x))", "(TRANSFORM_LIST x@1 x (TRANSFORM_LIST x@0 x@1 x@0))");
    SHOWS("x.map(y, .y + y)", "(TRANSFORM_LIST y@0 x (ADD .y y@0))");
    SHOWS("a.filter(x, x).filter(y, x && y)", "(FILTER y@1 (FILTER x@0 a x@0) (AND x y@1))");
    SHOWS("cel.bind(x, 1, cel.bind(x, x, x))", "(BIND x@1 1 (BIND x@0 x@1 x@0))");
    SHOWS("a.map(x, {x: x.x})", "(TRANSFORM_LIST x@0 a (MAP x@0 (SELECT 'x' x@0)))");
}

static unsigned lookup(void *ctx, const char *name, size_t len, mwl__cel_lit *lit) {
    static const struct {
        const char *name;
        unsigned is;
    } known[] = {
        {"a", MWL__CEL_NAME_VARIABLE},        {"a.b.c", MWL__CEL_NAME_VARIABLE},
        {"p.q.x", MWL__CEL_NAME_VARIABLE},    {"x", MWL__CEL_NAME_VARIABLE},
        {"p.y.z", MWL__CEL_NAME_VARIABLE},    {"int", MWL__CEL_NAME_TYPE | MWL__CEL_NAME_FUNCTION},
        {"math.abs", MWL__CEL_NAME_FUNCTION}, {"p.f", MWL__CEL_NAME_FUNCTION},
        {"p.M", MWL__CEL_NAME_TYPE},          {"p.E.ONE", MWL__CEL_NAME_CONST},
    };
    (void)ctx;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].name) == len && memcmp(known[i].name, name, len) == 0) {
            if (known[i].is & MWL__CEL_NAME_CONST && lit) {
                lit->kind = MWL__CEL_INT;
                lit->as.i = 1;
            }
            return known[i].is;
        }
    return 0;
}

static mwl_status resolved(mwl_alloc alloc, mwl__buf *b, const char *text) {
    mwl__arena arena = mwl__arena_make(alloc);
    mwl__cel_options o = {.arena = &arena, .source = text, .len = strlen(text)};
    mwl__cel_names names = {lookup, NULL, "p.q"};
    mwl__cel_tree t;
    mwl_status st = mwl__cel_parse(&o, &t);
    if (st == MWL_OK) st = mwl__cel_resolve(&arena, &t, &names);
    if (st == MWL_OK) cel_show(t.root, b);
    mwl__arena_free(&arena);
    return st;
}

#define RESOLVES(text, tree)                                                                       \
    do {                                                                                           \
        mwl__buf b = mwl__buf_make(mwl_alloc_default());                                           \
        EXPECT_EQ((int)MWL_OK, (int)resolved(mwl_alloc_default(), &b, text));                      \
        EXPECT_STREQ(tree, mwl__buf_cstr(&b));                                                     \
        mwl__buf_free(&b);                                                                         \
    } while (0)

UTEST(resolve, longest_declared_prefix) {
    RESOLVES("a.b.c.d", "(SELECT 'd' a.b.c$)");
    RESOLVES("a.b", "(SELECT 'b' a$)");
    RESOLVES("has(a.b.c)", "(SELECT test 'c' (SELECT 'b' a$))");
    RESOLVES("a.b.?c", "(SELECT opt 'c' (SELECT 'b' a$))");
    RESOLVES("a.b.`c`", "(SELECT 'c' (SELECT 'b' a$))");
    RESOLVES("nope.b", "(SELECT 'b' nope)");
}

UTEST(resolve, containers_from_the_inside) {
    RESOLVES("x", "p.q.x$");
    RESOLVES(".x", ".x$");
    RESOLVES("y.z", "p.y.z$");
    RESOLVES("M{}", "(MESSAGE 'p.M')");
    RESOLVES("E.ONE + 1", "(ADD 1 1)");
    RESOLVES("type(1) == int", "(EQ (CALL 'type' 1) int%)");
}

UTEST(resolve, functions_of_a_name_space) {
    RESOLVES("math.abs(x)", "(CALL 'math.abs' p.q.x$)");
    RESOLVES("math.nope(x)", "(MEMBER 'nope' math p.q.x$)");
    RESOLVES("f(1)", "(CALL 'p.f' 1)");
    RESOLVES(".f(1)", "(CALL . 'f' 1)");
    RESOLVES("[1].map(math, math.abs(math))",
             "(TRANSFORM_LIST math@0 (LIST 1) (MEMBER 'abs' math@0 math@0))");
}

UTEST(resolve, locals_win) {
    RESOLVES("[1].map(a, a.b.c)", "(TRANSFORM_LIST a@0 (LIST 1) (SELECT 'c' (SELECT 'b' a@0)))");
    RESOLVES("[1].map(x, .x + x)", "(TRANSFORM_LIST x@0 (LIST 1) (ADD .x$ x@0))");
}

static bool resolve_task(mwl_alloc alloc) {
    mwl__buf b = mwl__buf_make(alloc);
    mwl_status st = resolved(alloc, &b, "a.b.c.d + math.abs(y.z).map(k, M{v: k}) + f(E.ONE)");
    bool through = st == MWL_OK && !b.failed;
    if (st != MWL_OK && st != MWL_E_NOMEM) abort();
    mwl__buf_free(&b);
    return through;
}

UTEST(resolve, survives_failing_allocations) { EXPECT_TRUE(faulty_sweep(resolve_task, 1000)); }

/* A runner's own macros: a name and a block. */
static mwl__cel_node *expand_slot(mwl__cel_parser *p, mwl__cel_node *call) {
    return mwl__cel_make_ident(p, call, "@slot");
}
static mwl__cel_node *expand_with(mwl__cel_parser *p, mwl__cel_node *call) {
    mwl__cel_node *ident = mwl__cel_make_ident(p, call, "@slot");
    return mwl__cel_make_scope(p, MWL__CEL_BLOCK, call, 2, call->kids + 1, 1, &ident);
}
static mwl__cel_node *expand_fail(mwl__cel_parser *p, mwl__cel_node *call) {
    return mwl__cel_macro_fail(p, call, "no");
}

UTEST(macro, callers_bring_their_own) {
    static const mwl__cel_macro own[] = {{"slot", "t", true, 0, expand_slot},
                                         {"with", "t", true, 2, expand_with},
                                         {"has", NULL, false, 1, expand_fail},
                                         {NULL, NULL, false, 0, NULL}};
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    static const char source[] = "t.with(t.slot(), t.slot() + 1)";
    struct cel_log log = {{0}, 0};
    mwl__cel_options o = {.arena = &arena,
                          .source = source,
                          .len = strlen(source),
                          .macros = own,
                          .sink = {cel_log_add, &log}};
    mwl__cel_tree t;
    ASSERT_EQ((int)MWL_OK, (int)mwl__cel_parse(&o, &t));
    mwl__buf b = mwl__buf_make(arena.alloc);
    cel_show(t.root, &b);
    EXPECT_STREQ("(BLOCK @slot@0 @slot (ADD @slot@0 1))", mwl__buf_cstr(&b));
    EXPECT_EQ(1u, t.root->vars[0].n_uses);
    o.source = "has(a.b)", o.len = 8;
    EXPECT_EQ((int)MWL_E_SYNTAX, (int)mwl__cel_parse(&o, &t));
    EXPECT_STREQ("E 0-8 no", log.text);
    o.no_macros = true;
    EXPECT_EQ((int)MWL_OK, (int)mwl__cel_parse(&o, &t));
    mwl__buf_free(&b);
    mwl__arena_free(&arena);
}

UTEST_MAIN()
