/* test_pattern.c: ECMA-262's Unicode mode rule by rule, which matcher runs a pattern, limits. */
#include "vm/regex/pattern.h"

#include "tests/unit/faulty.h"
#include "mwl_config.h"
#include "utest.h"

static mwl_status status_of(const char *text) {
    mwl_alloc a = mwl_alloc_default();
    mwl__pattern *p = NULL;
    mwl_error err = {MWL_OK, NULL, 0};
    mwl_status st = mwl__pattern_compile(&a, text, strlen(text), NULL, &p, &err);
    if (st != MWL_OK && (err.status != st || !err.message)) return MWL_E_STATE;
    mwl__pattern_free(p);
    return st;
}

/* Returns 1, 0, or -1 if the pattern is refused. */
static int match_n(const char *text, const char *subject, size_t len) {
    mwl_alloc a = mwl_alloc_default();
    mwl__pattern *p = NULL;
    mwl__regex_scratch *s = NULL;
    bool m = false;
    if (mwl__pattern_compile(&a, text, strlen(text), NULL, &p, NULL) != MWL_OK) return -1;
    int answer = -2;
    if (mwl__regex_scratch_new(&a, &s) == MWL_OK &&
        mwl__pattern_search(p, s, subject, len, NULL, &m) == MWL_OK)
        answer = m;
    mwl__pattern_free(p);
    mwl__regex_scratch_free(s);
    return answer;
}

/* Returns the result of both matchers if they agree. An empty look-ahead makes a pattern run in
 * PCRE2. */
static int match(const char *text, const char *subject) {
    char other[512];
    snprintf(other, sizeof other, "(?=)(?:%s)", text);
    int linear = match_n(text, subject, strlen(subject));
    return linear == match_n(other, subject, strlen(subject)) ? linear : -3;
}

static bool valid(const char *text) {
    mwl_alloc a = mwl_alloc_default();
    return mwl__pattern_valid(&a, text, strlen(text));
}

/* Returns 1 if a search does not use PCRE2, which would keep its memory in the scratch; otherwise
 * 0, or -1 if the pattern is refused. */
static int linear(const char *text) {
    mwl_alloc a = mwl_alloc_default();
    mwl__pattern *p = NULL;
    mwl__regex_scratch *s = NULL;
    bool matched;
    if (mwl__pattern_compile(&a, text, strlen(text), NULL, &p, NULL) != MWL_OK) return -1;
    int answer = -1;
    if (mwl__regex_scratch_new(&a, &s) == MWL_OK &&
        mwl__pattern_search(p, s, "a", 1, NULL, &matched) == MWL_OK)
        answer = mwl__regex_scratch_guest(s)->data == NULL;
    mwl__pattern_free(p);
    mwl__regex_scratch_free(s);
    return answer;
}

#define YES(p, s) EXPECT_EQ(1, match(p, s))
#define NO(p, s) EXPECT_EQ(0, match(p, s))
#define BAD(p)                                                                                     \
    do {                                                                                           \
        EXPECT_EQ(MWL_E_SYNTAX, status_of(p));                                                     \
        EXPECT_FALSE(valid(p));                                                                    \
    } while (0)
#define GOOD(p)                                                                                    \
    do {                                                                                           \
        EXPECT_EQ(MWL_OK, status_of(p));                                                           \
        EXPECT_TRUE(valid(p));                                                                     \
    } while (0)

UTEST(pattern, ends_of_the_text) {
    YES("a+", "xxaayy");
    YES("^abc$", "abc");
    NO("^abc$", "abc\n");
    NO("^b", "a\nb");
    YES("f.*o", "foooooo");
    YES("", "");
    YES("\\bfoo\\b", "a foo");
    NO("\\bfoo\\b", "afoo");
    NO("\\b\xc3\xa9", "\xc3\xa9");
    YES("\\B\xc3\xa9", "\xc3\xa9");
}

UTEST(pattern, dot_stops_at_line_terminators) {
    YES("^.$", "a");
    NO("^.$", "\n");
    NO("^.$", "\r");
    NO("^.$", "\xe2\x80\xa8");
    NO("^.$", "\xe2\x80\xa9");
    YES("^.$", "\xc2\x85");
    YES("^.$", "\xf0\x9f\x90\xb2");
}

UTEST(pattern, class_escapes) {
    YES("^\\d$", "0");
    NO("^\\d$", "\xdf\x80");
    NO("^\\D$", "0");
    YES("^\\D$", "\xdf\x80");
    NO("^\\W$", "a");
    YES("^\\W$", "\xc3\xa9");
    NO("^\\w$", "\xc3\xa9");
    YES("^[\\d\\D]$", "x");
    NO("^[^\\W]$", "-");
    YES("^[\\W_]$", "_");
    static const char *const spaces[] = {" ",
                                         "\t",
                                         "\v",
                                         "\f",
                                         "\r",
                                         "\n",
                                         "\xc2\xa0",
                                         "\xef\xbb\xbf",
                                         "\xe2\x80\xa9",
                                         "\xe2\x80\xa8",
                                         "\xe2\x80\x83",
                                         "\xe1\x9a\x80",
                                         "\xe3\x80\x80"};
    for (size_t i = 0; i < sizeof spaces / sizeof *spaces; i++) {
        YES("^\\s$", spaces[i]);
        NO("^\\S$", spaces[i]);
        YES("^[\\s]$", spaces[i]);
        NO("^[\\S]$", spaces[i]);
    }
    static const char *const others[] = {"\x01", "\xe2\x80\x93", "\xe1\xa0\x8e", "\xe2\x80\x8b"};
    for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
        NO("^\\s$", others[i]);
        YES("^\\S$", others[i]);
        YES("^[\\S]$", others[i]);
    }
}

UTEST(pattern, character_escapes) {
    YES("^\\t$", "\t");
    NO("^\\t$", "\\t");
    YES("^\\cC$", "\x03");
    YES("^\\cc$", "\x03");
    NO("^\\cC$", "\\cC");
    YES("^\\f\\n\\r\\v$", "\f\n\r\v");
    EXPECT_EQ(1, match_n("^\\0$", "\0", 1));
    YES("^\\x41$", "A");
    YES("^\\u00e9$", "\xc3\xa9");
    YES("^\\u{1F432}$", "\xf0\x9f\x90\xb2");
    YES("^\\u{0000041}$", "A");
    YES("^\\uD83D\\uDC32*$", "\xf0\x9f\x90\xb2\xf0\x9f\x90\xb2");
    YES("^\xf0\x9f\x90\xb2*$", "\xf0\x9f\x90\xb2\xf0\x9f\x90\xb2");
    YES("^\xf0\x9f\x90\xb2*$", "");
    NO("^\xf0\x9f\x90\xb2*$", "\xf0\x9f\x90\x89");
    NO("^\xf0\x9f\x90\xb2*$", "D");
    NO("\\uD83D", "\xf0\x9f\x90\xb2");
    YES("^\\uD83D*a$", "a");
    YES("^\\^\\$\\\\\\.\\*\\+\\?\\(\\)\\[\\]\\{\\}\\|\\/$", "^$\\.*+?()[]{}|/");
    YES("^ #!@%&=:;,<>~`'\"-_$", " #!@%&=:;,<>~`'\"-_");
}

UTEST(pattern, what_is_no_escape_is_refused) {
    BAD("\\a");
    BAD("\\A");
    BAD("\\Z");
    BAD("\\z");
    BAD("\\Q");
    BAD("\\e");
    BAD("\\-");
    BAD("\\_");
    BAD("\\ ");
    BAD("\\c");
    BAD("\\c1");
    BAD("\\00");
    BAD("\\x4");
    BAD("\\u004");
    BAD("\\u{}");
    BAD("\\u{110000}");
    BAD("\\u{41");
    BAD("\\1");
    BAD("(a)\\2");
    BAD("\\k<n>");
    BAD("\\k");
    BAD("(?<n>a)\\k");
    BAD("(?<n>a)\\k<m>");
    BAD("\\");
    BAD("\\\xc3\xa9");
    BAD("\xff");
}

UTEST(pattern, classes) {
    YES("^[abc]$", "b");
    YES("^[^abc]$", "\n");
    NO("[]", "a");
    NO("a[]", "a");
    YES("^[^]$", "\n");
    YES("^[]*$", "");
    YES("^[\\b]$", "\b");
    YES("^[\\-a]+$", "-a");
    YES("^[a-]+$", "-a");
    YES("^[-a]+$", "-a");
    YES("^[[(){}.*+?|^$/]+$", "[(){}.*+?|^$/");
    YES("^[a^]$", "^");
    YES("^[:alpha:]$", ":");
    YES("^[\\u{1F432}-\\u{1F435}]$", "\xf0\x9f\x90\xb3");
    YES("^[\\uD83D\\uDC32]$", "\xf0\x9f\x90\xb2");
    NO("[\\uD800]", "x");
    NO("[\\uD800-\\uDFFF]", "x");
    YES("^[\\uD700-\\uE000]$", "\xed\x9c\x80");
    YES("^[^\\uD800]$", "x");
    YES("^[\\p{Lu}\\d]+$", "A1");
    NO("^[^\\p{Lu}]$", "A");
    YES("^[\\0]*$", "");
    YES("^[&~-]$", "~");
    BAD("[b-a]");
    BAD("[\\d-z]");
    BAD("[a-\\d]");
    BAD("[\\1]");
    BAD("[\\B]");
    BAD("[\\k]");
    BAD("[\\_]");
    BAD("[a");
    BAD("[\\]");
    BAD("]");
    BAD("a]");
    BAD("^(abc]");
}

UTEST(pattern, properties) {
    YES("^\\p{Letter}+$", "Hello");
    YES("^\\p{Letter}+$", "\xcf\x80");
    NO("^\\p{Letter}+$", "123");
    YES("\\p{Letter}cole", "l'\xc3\xa9"
                           "cole");
    NO("\\p{Letter}cole", "\xc3\x89"
                          "COLE");
    NO("\\wcole", "l'\xc3\xa9"
                  "cole");
    YES("^\\p{digit}+$", "42");
    YES("^\\p{digit}+$", "\xe0\xa7\xaa\xe0\xa7\xa8");
    NO("^\\p{digit}+$", "-%#");
    YES("^\\p{gc=Lu}$", "A");
    YES("^\\p{General_Category=Uppercase_Letter}$", "A");
    YES("^\\P{Lu}$", "a");
    YES("^\\p{Script=Greek}$", "\xcf\x80");
    YES("^\\p{sc=Grek}$", "\xcf\x80");
    NO("^\\p{Script=Greek}$", "p");
    YES("^\\p{Script_Extensions=Greek}$", "\xcf\x80");
    YES("^\\p{scx=Deva}$", "\xe0\xa5\xa4"); /* a danda is Common, and used in Devanagari */
    NO("^\\p{sc=Deva}$", "\xe0\xa5\xa4");
    YES("^\\p{Any}\\p{ASCII}\\p{Assigned}$", "abc");
    NO("^\\p{ASCII}$", "\xc3\xa9");
    NO("\\P{Any}", "a");
    YES("^\\p{LC}\\p{L}\\p{punct}$", "aB!");
    YES("^\\p{C}$", "\xcd\xb8");
    YES("^\\p{Cn}$", "\xcd\xb8");
    YES("^\\p{Alphabetic}\\p{White_Space}\\p{Emoji_Presentation}$", "a \xf0\x9f\x90\xb2");
    YES("^[\\p{ID_Start}_][\\p{ID_Continue}]*$", "_a1");
    BAD("\\p");
    BAD("\\pL");
    BAD("\\p{}");
    BAD("\\p{letter}");
    BAD("\\p{Greek}");
    BAD("\\p{^Lu}");
    BAD("\\p{Lu");
    BAD("\\p{gc=}");
    BAD("\\p{gc=Greek}");
    BAD("\\p{Script=Nope}");
    BAD("\\p{Lowercase=Yes}");
    BAD("\\p{L&}");
    BAD("\\p{ Lu }");
}

UTEST(pattern, quantifiers) {
    YES("^a{2,3}b{2}c{1,}d{0}$", "aabbcc");
    YES("^a*?b+?c??d{1,2}?$", "aabd");
    YES("^a{02}$", "aa");
    YES("^(?:ab)*$", "abab");
    YES("[0-9]{2,}", "a31b");
    GOOD("a{2000}");
    EXPECT_EQ(1, match_n("^(?:a{0,3000})$", "aaa", 3));
    EXPECT_EQ(MWL_E_TOO_BIG, status_of("a{99999999999}"));
    EXPECT_TRUE(valid("a{99999999999}"));
    BAD("a{2,1}");
    BAD("a{,2}");
    BAD("a{");
    BAD("a{}");
    BAD("a{x}");
    BAD("{1}");
    BAD("}");
    BAD("a}");
    BAD("a**");
    BAD("a++");
    BAD("a?+");
    BAD("a{1}+");
    BAD("a{1}{2}");
    BAD("*");
    BAD("(*a)");
    BAD("a|*");
    BAD("^*");
    BAD("$+");
    BAD("\\b?");
    BAD("(?=a)*");
    BAD("(?!a)+");
    BAD("(?<=a)?");
}

UTEST(pattern, groups) {
    YES("^(?:a|b)(c)(?<n>d)$", "acd");
    YES("^(|a)$", "");
    GOOD("(?<name>x)");
    GOOD("(?<$a_1>x)");
    GOOD("(?<\\u0061>x)");
    GOOD("(?<\xc3\xa9>x)");
    BAD("(?<1>x)");
    BAD("(?<>x)");
    BAD("(?<a b>x)");
    BAD("(?<n>x");
    BAD("(?<n");
    BAD("(?<n>x)(?<n>y)");
    BAD("(?P<name>x)");
    BAD("(?P<n>a)(?P=n)");
    BAD("(?#comment)a");
    BAD("(?i)abc");
    BAD("(?ims)abc");
    BAD("(?>a)");
    BAD("(?|a)");
    BAD("(?'n'a)");
    BAD("(?R)");
    BAD("(*UTF)a");
    BAD("(");
    BAD(")");
    BAD("(a");
    BAD("a)");
    BAD("(?");
}

UTEST(pattern, look_around_and_references) {
    YES("^(?=.*\\d)(?=.*[a-z]).{4,}$", "abc1");
    NO("^(?=.*\\d)(?=.*[a-z]).{4,}$", "abcd");
    YES("^(?!foo)", "bar");
    NO("^(?!foo)", "food");
    YES("(?<=\\$)\\d", "$5");
    NO("(?<=\\$)\\d", "5");
    YES("(?<!a)b", "cb");
    NO("(?<!a)b", "ab");
    EXPECT_EQ(1, match_n("^(a|b)\\1$", "bb", 2));
    EXPECT_EQ(0, match_n("^(a|b)\\1$", "ab", 2));
    EXPECT_EQ(1, match_n("^(?<n>a)\\k<n>$", "aa", 2));
    EXPECT_EQ(1,
              match_n("^\\k<n>(?<n>a)$", "a",
                      1)); /* the group has not matched yet: the reference matches the empty text */
    EXPECT_EQ(1, match_n("^(?:(a)|b)\\1$", "b", 1));
    EXPECT_EQ(1, match_n("^(?<\\u0061>x)\\k<a>$", "xx", 2));
    EXPECT_EQ(1, match_n("^(.)(.)(.)(.)(.)(.)(.)(.)(.)(.)\\10$", "abcdefghijj", 11));
    EXPECT_EQ(MWL_E_UNSUPPORTED, status_of("(?<=a+)b"));
    EXPECT_TRUE(valid("(?<=a+)b"));
}

UTEST(pattern, the_linear_matcher_runs_what_it_can) {
    EXPECT_EQ(1, linear("^[a-z]+-[0-9]{4}$"));
    EXPECT_EQ(1, linear("^(?<n>\\p{Script=Greek}|\\S)*$"));
    EXPECT_EQ(1, linear("(a+)+$"));
    EXPECT_EQ(0, linear("(?=a)b"));
    EXPECT_EQ(0, linear("(a)\\1"));
    EXPECT_EQ(0, linear("\\p{Alphabetic}"));
    EXPECT_EQ(0, linear("a{2000}"));
}

UTEST(pattern, backtracking_is_limited) {
    mwl_alloc a = mwl_alloc_default();
    mwl__pattern *p = NULL;
    mwl__regex_scratch *s = NULL;
    bool m = false;
    char text[61];
    memset(text, 'a', 60);
    text[59] = '!';
    ASSERT_EQ(MWL_OK, mwl__pattern_compile(&a, "^(?=(a+)+$)", 11, NULL, &p, NULL));
    ASSERT_EQ(MWL_OK, mwl__regex_scratch_new(&a, &s));
    uint64_t fuel = 10000;
    EXPECT_EQ(MWL_E_FUEL, mwl__pattern_search(p, s, text, 60, &fuel, &m));
    EXPECT_EQ((uint64_t)0, fuel);
    EXPECT_EQ(MWL_E_FUEL, mwl__pattern_search(p, s, text, 60, NULL, &m));
    fuel = 100;
    text[59] = 'a';
    EXPECT_EQ(MWL_OK, mwl__pattern_search(p, s, text, 60, &fuel, &m));
    EXPECT_TRUE(m);
    EXPECT_TRUE(fuel > 80);
    EXPECT_EQ(MWL_E_UTF8, mwl__pattern_search(p, s, "\xff", 1, NULL, &m));
    mwl__pattern_free(p);
    mwl__regex_scratch_free(s);
}

UTEST(pattern, errors_tell_the_place) {
    mwl_alloc a = mwl_alloc_default();
    mwl__pattern *p = NULL;
    mwl_error err;
    ASSERT_EQ(MWL_E_SYNTAX, mwl__pattern_compile(&a, "ab\\a", 4, NULL, &p, &err));
    EXPECT_EQ((size_t)2, err.offset);
    ASSERT_EQ(MWL_E_SYNTAX, mwl__pattern_compile(&a, "ab[c", 4, NULL, &p, &err));
    EXPECT_EQ((size_t)2, err.offset);
}

UTEST(pattern, nesting_is_limited) {
    static char text[2 * MWL_REGEX_MAX_NEST + 3];
    memset(text, '(', MWL_REGEX_MAX_NEST + 1);
    memset(text + MWL_REGEX_MAX_NEST + 1, ')', MWL_REGEX_MAX_NEST + 1);
    EXPECT_EQ(MWL_E_TOO_BIG, status_of(text));
}

static bool run_with(mwl_alloc a, const char *text) {
    mwl__pattern *p = NULL;
    mwl__regex_scratch *s = NULL;
    bool m = false;
    mwl_status st = mwl__pattern_compile(&a, text, strlen(text), NULL, &p, NULL);
    if (st == MWL_OK) st = mwl__regex_scratch_new(&a, &s);
    if (st == MWL_OK) st = mwl__pattern_search(p, s, "abab-12", 7, NULL, &m);
    bool through = st == MWL_OK && m;
    mwl__pattern_free(p);
    mwl__regex_scratch_free(s);
    return through;
}
static bool linear_task(mwl_alloc a) { return run_with(a, "^(?<n>[a-z]|\\p{sc=Greek})+-\\d{2}$"); }
static bool pcre_task(mwl_alloc a) { return run_with(a, "^(?<n>ab)\\k<n>(?=-).\\d{2}$"); }

UTEST(pattern, survives_every_failing_allocation) {
    EXPECT_TRUE(faulty_sweep(linear_task, 1000));
    EXPECT_TRUE(faulty_sweep(pcre_task, 1000));
}

UTEST_MAIN()
