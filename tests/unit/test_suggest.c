/* test_suggest.c: which name was meant. One edit per three code points of the longer name; a swap
 * is one edit; a name that differs only in case is nearest; of equals the first wins. */
#include "utest.h"
#include "vm/base/suggest.h"

#include <string.h>

static const char *near(const char *word, const char *const *names, size_t n) {
    const char *best = mwl__suggest_among(word, strlen(word), names, n);
    return best ? best : "(none)";
}

static const char *const ACTIONS[] = {"Call",  "Gather", "Match", "Pass",
                                      "Sleep", "Return", "Raise"};
#define NEAR_ACTION(word) near(word, ACTIONS, sizeof ACTIONS / sizeof *ACTIONS)

UTEST(suggest, edits) {
    static const char *const names[] = {"process-items", "deliver", "done"};
    EXPECT_STREQ("process-items", near("proces-items", names, 3)); /* deletion */
    EXPECT_STREQ("process-items", near("processs-items", names, 3));
    EXPECT_STREQ("deliver", near("dleiver", names, 3)); /* a swap is one edit */
    EXPECT_STREQ("done", near("dome", names, 3));
    EXPECT_STREQ("done", near("don", names, 3));
    EXPECT_STREQ("(none)", near("start", names, 3));
    EXPECT_STREQ("(none)", near("", names, 3));
}

UTEST(suggest, case_alone_is_nearest) {
    EXPECT_STREQ("Call", NEAR_ACTION("call"));
    EXPECT_STREQ("Gather", NEAR_ACTION("GATHER"));
    EXPECT_STREQ("Match", NEAR_ACTION("mathc"));
    EXPECT_STREQ("(none)", NEAR_ACTION("Parallel"));
    static const char *const names[] = {"ABD", "abc"};
    EXPECT_STREQ("abc", near("ABC", names, 2));
}

UTEST(suggest, short_names_are_not_guessed) {
    static const char *const names[] = {"a", "bc", "def"};
    EXPECT_STREQ("(none)", near("x", names, 3));
    EXPECT_STREQ("(none)", near("bd", names, 3));
    EXPECT_STREQ("def", near("dfe", names, 3));
    EXPECT_STREQ("a", near("A", names, 3));
}

UTEST(suggest, ties_and_order) {
    static const char *const names[] = {"step-1", "step-2", "step-3"};
    EXPECT_STREQ("step-1", near("step-4", names, 3));
    static const char *const closer[] = {"steps-11", "step-1"};
    EXPECT_STREQ("step-1", near("step-11", closer + 1, 1));
    EXPECT_STREQ("steps-11", near("step-11", closer, 2)); /* both one edit: the first */
}

UTEST(suggest, code_points_not_bytes) {
    static const char *const names[] = {"Stra\xC3\x9F"
                                        "e"};
    EXPECT_STREQ(names[0], near("Strasse", names, 1)); /* two edits of seven */
    EXPECT_STREQ("(none)", near("\xFF\xFE\xFD", names, 1));
}

UTEST(suggest, very_long_names) {
    char a[400], b[400];
    memset(a, 'x', sizeof a);
    memset(b, 'x', sizeof b);
    mwl__suggest s = mwl__suggest_make(a, 65);
    mwl__suggest_offer(&s, b, 64);
    EXPECT_TRUE(s.best == NULL);
    s = mwl__suggest_make(a, 64);
    mwl__suggest_offer(&s, b, 65);
    EXPECT_TRUE(s.best == NULL);
    mwl__suggest_offer(&s, b, 63);
    EXPECT_TRUE(s.best == b);
    EXPECT_EQ((size_t)63, s.best_len);
}

UTEST_MAIN()
