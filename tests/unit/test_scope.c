/* test_scope.c: sets of names; which roots exist at which place. */
#include "utest.h"

#include "assembler/check/model.h"
#include "tests/unit/faulty.h"
#include "assembler/check/scope.h"

#include <stdio.h>

UTEST(names, put_and_find) {
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    mwl__names s = {0};
    char text[2000][8];
    EXPECT_TRUE(mwl__names_find(&s, "a", 1) == NULL);
    for (int i = 0; i < 2000; i++) {
        int n = snprintf(text[i], sizeof text[i], "v%d", i);
        ASSERT_TRUE(mwl__names_put(&s, &arena, text[i], (size_t)n, MWL__VAR_BOUND) != NULL);
    }
    EXPECT_EQ(2000u, s.n);
    mwl__names_put(&s, &arena, "v7", 2, MWL__VAR_READ);
    EXPECT_EQ(2000u, s.n);
    const mwl__name *v = mwl__names_find(&s, "v7", 2);
    ASSERT_TRUE(v != NULL);
    EXPECT_EQ((unsigned)(MWL__VAR_BOUND | MWL__VAR_READ), v->flags);
    EXPECT_TRUE(mwl__names_find(&s, "v7x", 3) == NULL);
    mwl__names_put(&s, &arena, "", 0, MWL__VAR_TESTED);
    EXPECT_TRUE(mwl__names_find(&s, "", 0) != NULL);
    mwl__arena_free(&arena);
}

static bool has_root(unsigned site, const char *name) {
    mwl__cel_root roots[MWL__N_ROOTS];
    mwl__scope_roots(site, roots);
    for (int i = 0; i < MWL__N_ROOTS; i++)
        if (strcmp(roots[i].name, name) == 0) return roots[i].absent == NULL;
    return false;
}

UTEST(roots, by_site) {
    static const char *const everywhere[] = {"vars", "execution", "frame", "failure"};
    for (int i = 0; i < 4; i++) EXPECT_TRUE(has_root(0, everywhere[i]));
    static const char *const somewhere[] = {"step",     "call",  "flow",
                                            "provider", "match", "middleware"};
    for (int i = 0; i < 6; i++) EXPECT_FALSE(has_root(0, somewhere[i]));
    EXPECT_TRUE(has_root(MWL_SITE_STEP, "step"));
    EXPECT_TRUE(has_root(MWL_SITE_STEP | MWL_SITE_CALL, "call"));
    EXPECT_FALSE(has_root(MWL_SITE_STEP | MWL_SITE_CALL, "provider"));
    unsigned arm = MWL_SITE_STEP | MWL_SITE_CALL | MWL_SITE_ARM;
    EXPECT_TRUE(has_root(arm | MWL_SITE_WINDOW_FLOW, "flow"));
    EXPECT_FALSE(has_root(arm | MWL_SITE_WINDOW_FLOW, "provider"));
    EXPECT_TRUE(has_root(MWL_SITE_MATCH, "match"));
    EXPECT_TRUE(has_root(MWL_SITE_MIDDLEWARE, "middleware"));
}

UTEST(roots, what_a_name_is) {
    mwl__arena arena = mwl__arena_make(mwl_alloc_default());
    mwl__names functions = {0};
    mwl__names_put(&functions, &arena, "size", 4, MWL_FN_GLOBAL | MWL_FN_MEMBER);
    mwl__names_put(&functions, &arena, "split", 5, MWL_FN_MEMBER);
    EXPECT_EQ((unsigned)MWL__CEL_NAME_VARIABLE, mwl__scope_lookup(&functions, "step", 4, NULL));
    EXPECT_EQ((unsigned)MWL__CEL_NAME_FUNCTION, mwl__scope_lookup(&functions, "size", 4, NULL));
    EXPECT_EQ(0u, mwl__scope_lookup(&functions, "split", 5, NULL));
    EXPECT_EQ((unsigned)MWL__CEL_NAME_TYPE, mwl__scope_lookup(&functions, "int", 3, NULL));
    EXPECT_EQ(0u, mwl__scope_lookup(&functions, "steps", 5, NULL));
    mwl__arena_free(&arena);
}

UTEST_MAIN()
