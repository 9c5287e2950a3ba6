/* selfcheck.c: tests the fallback utest.h from outside: wrong assertions fail, right ones do not,
 * an ASSERT ends the case, an EXPECT does not, and a teardown runs after a failure. */
#include "utest.h"

static int went_on, torn_down;

UTEST(good, everything) {
    char array[] = "text";
    struct {
        unsigned bits : 3;
    } s = {5};
    size_t big = 3;
    EXPECT_TRUE(big);
    EXPECT_FALSE(big == 4);
    EXPECT_EQ(3, big);
    EXPECT_EQ(5, s.bits);
    EXPECT_NE((char *)NULL, array);
    EXPECT_EQ(NULL, (void *)0);
    EXPECT_LT(1, 2);
    EXPECT_LE(2, 2);
    EXPECT_GT(2.5, 2);
    EXPECT_GE(2, 2u);
    EXPECT_STREQ("text", array);
    EXPECT_STRNE("texts", array);
    EXPECT_STRNEQ("texas", array, 3);
    EXPECT_STRNNE("texas", array, 4);
    EXPECT_NEAR(1.0, 1.05, 0.1);
    ASSERT_TRUE_MSG(1, "never printed");
}

UTEST(bad, assert_ends) {
    ASSERT_EQ(1, 2);
    went_on++;
}
UTEST(bad, expect_goes_on) {
    EXPECT_STREQ("a", "b");
    went_on += 10;
}
UTEST(bad, null_text) { EXPECT_STREQ("a", NULL); }
UTEST(bad, nan_is_not_near) { EXPECT_NEAR(0.0, __builtin_nan(""), 1e300); }
UTEST(skip, one) { UTEST_SKIP("on purpose"); }

struct fixture {
    int value;
};
UTEST_F_SETUP(fixture) {
    ASSERT_EQ(0, utest_fixture->value);
    utest_fixture->value = 7;
}
UTEST_F_TEARDOWN(fixture) {
    EXPECT_EQ(7, utest_fixture->value);
    torn_down++;
}
UTEST_F(fixture, holds) { ASSERT_EQ(7, utest_fixture->value); }
UTEST_F(fixture, bad_fails) { ASSERT_EQ(8, utest_fixture->value); }

UTEST_STATE();

int main(void) {
    if (!freopen("/dev/null", "w", stdout)) return 1; /* the failures below are on purpose */
    for (struct utest_case *c = utest_state.first; c; c = c->next) {
        int want = strstr(c->name, "bad") ? UTEST_TEST_FAILURE : UTEST_TEST_PASSED;
        if (strstr(c->name, "skip")) want = UTEST_TEST_SKIPPED;
        int result = UTEST_TEST_PASSED;
        c->run(&result);
        if (result != want)
            return fprintf(stderr, "%s: %d instead of %d\n", c->name, result, want), 1;
    }
    if (went_on != 10 || torn_down != 2) return fprintf(stderr, "a case ended wrongly\n"), 1;
    if (!utest_matches("a*d*", "abcde") || utest_matches("a*d", "abcde") || !utest_matches("*", ""))
        return fprintf(stderr, "the filter is wrong\n"), 1;
    const char *only_bad[] = {"selfcheck", "--filter=bad.*"};
    const char *only_good[] = {"selfcheck", "--filter=good.*"};
    if (utest_main(2, only_bad) != 1 || utest_main(2, only_good) != 0)
        return fprintf(stderr, "the runner's answer is wrong\n"), 1;
    return 0;
}
