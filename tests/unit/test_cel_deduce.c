/* The types that tests/suite deduces for expressions. */
#include "utest.h"

#include "tests/unit/faulty.h"
#include "tools/lsp/cel_deduce.h"

static const char *const pair_params[] = {"$T", "$U"};
static const cel_overload pair[] = {{pair_params, 2, "pair($T, $U)", false}};
static const char *const both_params[] = {"pair($T, $T)"};
static const cel_overload both[] = {{both_params, 1, "$T", true}};
static const cel_decl decls[] = {{"n", "int", NULL, 0},
                                 {"m", "map(string, list(int))", NULL, 0},
                                 {"w", "wrapper(int)", NULL, 0},
                                 {"pair", NULL, pair, 1},
                                 {"both", NULL, both, 1}};

static mwl_status deduced(mwl_alloc alloc, const char *text, mwl__buf *out) {
    mwl__arena arena = mwl__arena_make(alloc);
    mwl__cel_options o = {.arena = &arena, .source = text, .len = strlen(text)};
    mwl__cel_tree t;
    const char *type = NULL;
    mwl_status st = mwl__cel_parse(&o, &t);
    if (st == MWL_OK) st = cel_deduce(&arena, &t, decls, 5, &type);
    if (st == MWL_OK) mwl__buf_puts(out, type);
    mwl__arena_free(&arena);
    return st;
}

#define DEDUCES(text, type)                                                                        \
    do {                                                                                           \
        mwl__buf b = mwl__buf_make(mwl_alloc_default());                                           \
        EXPECT_EQ((int)MWL_OK, (int)deduced(mwl_alloc_default(), text, &b));                       \
        EXPECT_STREQ(type, mwl__buf_cstr(&b));                                                     \
        mwl__buf_free(&b);                                                                         \
    } while (0)

UTEST(deduce, types) {
    DEDUCES("null", "null_type");
    DEDUCES("[1, 2]", "list(int)");
    DEDUCES("[1, 'a']", "list(dyn)");
    DEDUCES("[[], [1]]", "list(list(int))");
    DEDUCES("{'a': [], 'b': [1u]}", "map(string, list(uint))");
    DEDUCES("m.x[0] + n", "int");
    DEDUCES("m['a'].map(x, string(x))", "list(string)");
    DEDUCES("m.transformMap(k, v, v.size())", "map(string, int)");
    DEDUCES("m.filter(k, true)", "list(string)");
    DEDUCES("n > 1 ? [n] : []", "list(int)");
    DEDUCES("m.?x[?0]", "optional_type(int)");
    DEDUCES("m.?x.optMap(l, l.size())", "optional_type(int)");
    DEDUCES("pair(1, 'a')", "pair(int, string)");
    DEDUCES("pair(1, dyn(2)).both()", "dyn");
    DEDUCES("[w, 1, null]", "list(wrapper(int))");
    DEDUCES("[1, null]", "list(dyn)");
    DEDUCES("cel.bind(x, [n], x[0])", "int");
    DEDUCES("unknown(1).x", "dyn");
    DEDUCES("n in [1] && has(m.x)", "bool");
    mwl__buf b = mwl__buf_make(mwl_alloc_default());
    EXPECT_EQ((int)MWL_E_REJECTED, (int)deduced(mwl_alloc_default(), "n + 'a'", &b));
    EXPECT_EQ((int)MWL_E_REJECTED, (int)deduced(mwl_alloc_default(), "pair(1, 'a').both()", &b));
    mwl__buf_free(&b);
}

static bool deduce_task(mwl_alloc alloc) {
    mwl__buf b = mwl__buf_make(alloc);
    mwl_status st = deduced(alloc, "[m.x.map(y, [y + n]), [[]]][0][0]", &b);
    bool through = st == MWL_OK && !b.failed;
    if (st != MWL_OK && st != MWL_E_NOMEM) abort();
    mwl__buf_free(&b);
    return through;
}
UTEST(deduce, survives_failing_allocations) { EXPECT_TRUE(faulty_sweep(deduce_task, 2000)); }

UTEST_MAIN()
