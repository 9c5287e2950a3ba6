/* The grammar of CEL (langdef, Syntax), spans, limits, problems, printing, failing allocations. */
#include "utest.h"

#include "tests/unit/cel_tree.h"
#include "tests/unit/faulty.h"
#include "mwl_config.h"

static mwl__buf out;

#define SHOWS(text, tree)                                                                          \
    do {                                                                                           \
        out.alloc = mwl_alloc_default();                                                           \
        EXPECT_STREQ(tree, cel_shown(&out, text));                                                 \
        mwl__buf_free(&out);                                                                       \
    } while (0)

UTEST(parse, precedence_and_association) {
    SHOWS("1 + 2 * 3", "(ADD 1 (MUL 2 3))");
    SHOWS("1 - 2 - 3", "(SUB (SUB 1 2) 3)");
    SHOWS("a < b == c", "(EQ (LT a b) c)");
    SHOWS("a in b || c && d", "(OR (IN a b) (AND c d))");
    SHOWS("a && b && c", "(AND a b c)");
    SHOWS("(a && b) && c", "(AND (AND a b) c)");
    SHOWS("a ? b : c ? d : e", "(COND a b (COND c d e))");
    SHOWS("a ? (b ? c : d) : e", "(COND a (COND b c d) e)");
    SHOWS("(1 + 2) * 3", "(MUL (ADD 1 2) 3)");
    SHOWS("!a.b", "(NOT (SELECT 'b' a))");
    SHOWS("-a * b", "(MUL (NEG a) b)");
}

UTEST(parse, unary_runs) {
    SHOWS("!!a", "(NOT (NOT a))");
    SHOWS("!!!a", "(NOT a)");
    SHOWS("--a", "(NEG (NEG a))");
    SHOWS("----a", "(NEG (NEG a))");
    SHOWS("-1", "-1");
    SHOWS("- 1", "-1");
    SHOWS("--1", "(NEG -1)");
    SHOWS("-1u", "(NEG 1u)");
    SHOWS("1 -1", "(SUB 1 1)");
    SHOWS("-(1)", "(NEG 1)");
    SHOWS("-1.f()", "(MEMBER 'f' -1)");
    SHOWS("!-1", "(NOT -1)");
    SHOWS("-9223372036854775808", "-9223372036854775808");
    SHOWS("!-a", "E 1-2 `-` stands where an operand is expected");
    SHOWS("-!a", "E 1-2 `!` stands where an operand is expected");
}

UTEST(parse, members) {
    SHOWS("a.b.c", "(SELECT 'c' (SELECT 'b' a))");
    SHOWS(".a.b", "(SELECT 'b' .a)");
    SHOWS("a[1][b]", "(INDEX (INDEX a 1) b)");
    SHOWS("a.?b[?1]", "(INDEX opt (SELECT opt 'b' a) 1)");
    SHOWS("a.`b-c`", "(SELECT 'b-c' a)");
    SHOWS("f()", "(CALL 'f')");
    SHOWS(".f(1, 2)", "(CALL . 'f' 1 2)");
    SHOWS("a.f(1).g()", "(MEMBER 'g' (MEMBER 'f' a 1))");
    SHOWS("a.for.while()", "(MEMBER 'while' (SELECT 'for' a))");
    SHOWS("a.in", "E 2-4 `in` stands where a field's name is expected");
    SHOWS("a.?f(1)", "E 4-5 `(` stands where an operator or the end is expected");
    SHOWS("f(1,)", "E 4-5 `)` stands where an expression is expected");
}

UTEST(parse, aggregates) {
    SHOWS("[]", "(LIST)");
    SHOWS("[,]", "(LIST)");
    SHOWS("[1, 2,]", "(LIST 1 2)");
    SHOWS("[?a, b]", "(LIST opt ?a b)");
    SHOWS("{}", "(MAP)");
    SHOWS("{1: 2, ?'a': b,}", "(MAP opt 1 2 ?'a' b)");
    SHOWS("A{}", "(MESSAGE 'A')");
    SHOWS(".a.B{c: 1, ?`d-e`: 2}", "(MESSAGE . opt 'a.B' c:1 ?d-e:2)");
    SHOWS("A{as: 1}.b", "(SELECT 'b' (MESSAGE 'A' as:1))");
    SHOWS("(A){}", "E 3-4 `{` stands where an operator or the end is expected");
    SHOWS("a.?b{}", "E 4-5 `{` stands where an operator or the end is expected");
    SHOWS("[1,,]", "E 3-4 `,` stands where an expression is expected");
    SHOWS("{1}", "E 2-3 `}` stands where `:` after the key is expected");
}

UTEST(parse, problems) {
    SHOWS("", "E 0-0 an expression is missing at the end");
    SHOWS("1 +", "E 3-3 an expression is missing at the end");
    SHOWS("a b", "E 2-3 `b` stands where an operator or the end is expected");
    SHOWS("a = b", "E 2-3 CEL has no `=` [equality is `==`]");
    SHOWS("a ? b ? c : d : e", "E 6-7 `?` stands where `:` is expected");
    SHOWS("for", "E 0-3 `for` is a reserved word and cannot be a name [a macro goes over a list: "
                 "x.map(e, ...), x.filter(e, ...), x.all(e, ...)]");
    /* several in one pass */
    SHOWS("9223372036854775808 + '\\s'", "E 0-19 an int literal must fit 64 bits with a sign\n"
                                         "E 23-25 no such escape; a backslash itself is `\\\\`");
}

/* Every span is that of the text, and nodes know their place. */
UTEST(parse, spans) {
    static const char source[] = "(a + b).c [ 1 ] ? f ( x ) : -y";
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    mwl__cel_options o = {.arena = &arena, .source = source, .len = strlen(source)};
    mwl__cel_tree t;
    ASSERT_EQ((int)MWL_OK, (int)mwl__cel_parse(&o, &t));
    EXPECT_TRUE(t.root->begin == 0 && t.root->end == 30 && t.root->at == 16);
    const mwl__cel_node *index = t.root->kids[0], *select = index->kids[0], *add = select->kids[0];
    EXPECT_TRUE(index->begin == 0 && index->end == 15 && index->at == 10);
    EXPECT_TRUE(select->begin == 0 && select->end == 9 && select->at == 8);
    EXPECT_TRUE(add->begin == 1 && add->end == 6 && add->at == 3);
    const mwl__cel_node *call = t.root->kids[1], *neg = t.root->kids[2];
    EXPECT_TRUE(call->begin == 18 && call->end == 25 && call->at == 18);
    EXPECT_TRUE(neg->begin == 28 && neg->end == 30);
    EXPECT_TRUE(neg->parent == t.root && neg->ix == 2 && t.root->parent == NULL);
    EXPECT_EQ(11u, t.n_nodes);
    mwl__arena_free(&arena);
}

/* `unit` n times between `before` and `after`, then `close` n times. */
static mwl_status repeat(const char *before, const char *unit, size_t n, const char *after,
                         const char *close, unsigned *height) {
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&b, before);
    for (size_t i = 0; i < n; i++) mwl__buf_puts(&b, unit);
    mwl__buf_puts(&b, after);
    for (size_t i = 0; i < n; i++) mwl__buf_puts(&b, close);
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    mwl__cel_options o = {.arena = &arena, .source = b.data, .len = b.len};
    mwl__cel_tree t;
    mwl_status st = mwl__cel_parse(&o, &t);
    if (st == MWL_OK && height) *height = t.root->height;
    if (st == MWL_OK) { /* a walk over long chains must not recurse along them */
        mwl__buf again = mwl__buf_make(mwl_alloc_default());
        cel_print(&again, t.root);
        mwl__buf_free(&again);
    }
    mwl__arena_free(&arena);
    mwl__buf_free(&b);
    return st;
}

UTEST(parse, long_chains_are_flat) {
    static const char *const units[] = {" + a", " - 1", " * a", " == a", " || a",        " && a",
                                        ".b",   "[0]",  ".f()", ".?b",   ".filter(x, x)"};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        unsigned height = 0;
        EXPECT_EQ_MSG((int)MWL_OK, (int)repeat("a", units[i], 20000, "", "", &height), units[i]);
        EXPECT_LE_MSG(height, 2u, units[i]);
    }
    EXPECT_EQ((int)MWL_OK, (int)repeat("", "!", 100000, "a", "", NULL));
    EXPECT_EQ((int)MWL_OK, (int)repeat("[", "a, ", 100000, "]", "", NULL));
}

UTEST(parse, depth_has_a_limit) {
    static const struct {
        const char *open, *close;
    } rows[] = {{"(", ")"},  {"[", "]"},       {"f(", ")"},    {"{1: ", "}"},     {"A{b: ", "}"},
                {"x[", "]"}, {"a ? b : ", ""}, {"1 + (", ")"}, {"x.all(y, ", ")"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        EXPECT_EQ_MSG((int)MWL_OK, (int)repeat("", rows[i].open, 100, "a", rows[i].close, NULL),
                      rows[i].open);
        EXPECT_EQ_MSG((int)MWL_E_DEPTH,
                      (int)repeat("", rows[i].open, 400, "a", rows[i].close, NULL), rows[i].open);
        EXPECT_EQ_MSG((int)MWL_E_DEPTH,
                      (int)repeat("", rows[i].open, 100000, "a", rows[i].close, NULL),
                      rows[i].open);
    }
    EXPECT_EQ((int)MWL_OK, (int)repeat("", "[", MWL_CEL_DEPTH - 1, "a", "]", NULL));
    EXPECT_EQ((int)MWL_E_DEPTH, (int)repeat("", "[", MWL_CEL_DEPTH, "a", "]", NULL));
}

#define PRINTS(text, again)                                                                        \
    do {                                                                                           \
        mwl__arena arena = mwl__arena_make(mwl_alloc_default());                                   \
        mwl__cel_options o = {.arena = &arena, .source = text, .len = strlen(text)};               \
        mwl__cel_tree t;                                                                           \
        mwl__buf b = mwl__buf_make(arena.alloc);                                                   \
        ASSERT_EQ((int)MWL_OK, (int)mwl__cel_parse(&o, &t));                                       \
        cel_print(&b, t.root);                                                                     \
        EXPECT_STREQ(again, mwl__buf_cstr(&b));                                                    \
        mwl__buf_free(&b);                                                                         \
        mwl__arena_free(&arena);                                                                   \
    } while (0)

UTEST(print, only_needed_parentheses) {
    PRINTS("((1+2))*3-(4-(5))", "(1 + 2) * 3 - (4 - 5)");
    PRINTS("(a||b)&&c?d:(e?f:g)", "(a || b) && c ? d : e ? f : g");
    PRINTS("(a?b:c)?(d?e:f):g", "(a ? b : c) ? (d ? e : f) : g");
    PRINTS("-(1)+-(2.0).f()", "-(1) + -(2.0.f())");
    PRINTS("!(a.b) && !(!a) && !(a && b)", "!a.b && !!a && !(a && b)");
    PRINTS("(a+b).c[d].?e.f(g)[?h]", "(a + b).c[d].?e.f(g)[?h]");
    PRINTS("has((a).b)&&x.map( y , y>1 , y)", "has(a.b) && x.map(y, y > 1, y)");
    PRINTS("cel.bind(x,1,.x{y:x})", "cel.bind(x, 1, .x{y: x})");
    PRINTS("{?'a':[?b],2u:-0.0,1e3:b'\\xff'}", "{?'a': [?b], 2u: -0.0, 1000.0: b'\\xff'}");
    PRINTS("'\\x01\\'\\\\\\n'", "'\\x01\\'\\\\\\n'");
    PRINTS("A{`in`: 1, `b-c`: 2, for: 3}", "A{`in`: 1, `b-c`: 2, for: 3}");
    PRINTS("--(-a)", "--(-a)");
    PRINTS("a.`b c`.transformMap(k,v,k)", "a.`b c`.transformMap(k, v, k)");
}

static bool parse_print(mwl_alloc alloc) {
    static const char source[] = "a.b.f([1, ?2, 3, 4, 5, 6, 7, 8, 9, 10], {'x': A{b: 1, ?c: 2}}) "
                                 "|| x.all(k, v, k < 'long enough to need room') && has(x.y)";
    mwl__arena arena = mwl__arena_make(alloc);
    mwl__buf b = mwl__buf_make(alloc);
    mwl__cel_options o = {.arena = &arena, .source = source, .len = strlen(source)};
    mwl__cel_tree t;
    mwl_status st = mwl__cel_parse(&o, &t);
    if (st == MWL_OK) cel_print(&b, t.root);
    bool through = st == MWL_OK && !b.failed;
    if (st != MWL_OK && st != MWL_E_NOMEM) abort();
    mwl__buf_free(&b);
    mwl__arena_free(&arena);
    return through;
}

UTEST(parse, survives_failing_allocations) { EXPECT_TRUE(faulty_sweep(parse_print, 1000)); }

UTEST_MAIN()
