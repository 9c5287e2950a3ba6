/* test_regex.c: RE2's syntax rule by rule, the meaning of matches, limits, memory and time. */
#include "vm/regex/regex.h"
#include "mwl_config.h"
#include "vm/regex/regex_prog.h"
#include "vm/regex/regex_unicode.h"

#include "tests/unit/faulty.h"
#include "utest.h"

#include <stdlib.h>

static mwl_status compile(const char *pattern, size_t len, unsigned flags, mwl__regex **out,
                          mwl_error *err) {
    mwl_alloc a = mwl_alloc_default();
    return mwl__regex_compile(&a, pattern, len, flags, NULL, out, err);
}

static mwl_status status_of(const char *pattern) {
    mwl__regex *re = NULL;
    mwl_error err = {MWL_OK, NULL, 0};
    mwl_status st = compile(pattern, strlen(pattern), 0, &re, &err);
    if (st != MWL_OK && (err.status != st || !err.message || err.offset > strlen(pattern)))
        return MWL_E_STATE;
    mwl__regex_free(re);
    return st;
}

/* Returns 1, 0, or -1 if the pattern is refused. Searches twice: without and with known states. */
static int match_n(const char *pattern, const char *subject, size_t len) {
    mwl_alloc a = mwl_alloc_default();
    mwl__regex *re = NULL;
    mwl__regex_scratch *s = NULL;
    bool first = false, again = false;
    if (compile(pattern, strlen(pattern), 0, &re, NULL) != MWL_OK) return -1;
    int answer = -2;
    if (mwl__regex_scratch_new(&a, &s) == MWL_OK &&
        mwl__regex_search(re, s, subject, len, NULL, &first) == MWL_OK &&
        mwl__regex_search(re, s, subject, len, NULL, &again) == MWL_OK && first == again)
        answer = first;
    mwl__regex_free(re);
    mwl__regex_scratch_free(s);
    return answer;
}
static int match(const char *pattern, const char *subject) {
    return match_n(pattern, subject, strlen(subject));
}

#define YES(p, s) EXPECT_EQ(1, match(p, s))
#define NO(p, s) EXPECT_EQ(0, match(p, s))
#define BAD(p) EXPECT_EQ(MWL_E_SYNTAX, status_of(p))
#define GOOD(p) EXPECT_EQ(MWL_OK, status_of(p))

UTEST(regex, single_characters) {
    YES("", "");
    YES("", "x");
    YES("b", "abc");
    NO("d", "abc");
    YES("a.c", "abc");
    NO("a.c", "a\nc");
    YES("(?s)a.c", "a\nc");
    YES("^.$", "\xe2\x82\xac");
    NO("^..$", "\xe2\x82\xac");
    YES("[xyz]", "ay");
    NO("[^xyz]", "xyz");
    YES("[^a]", "\n");
    YES("\xc3\xa9", "caf\xc3\xa9");
    EXPECT_EQ(1, match_n("a.b", "a\0b", 3));
    EXPECT_EQ(1, match_n("\\x00", "a\0b", 3));
}

UTEST(regex, brackets) {
    YES("[]a]", "]");
    YES("[^]a]", "b");
    NO("[^]a]", "]");
    YES("[a-]", "-");
    YES("[-a]", "-");
    YES("[a-b-c]", "-");
    YES("^[\\d\\-x]+$", "1-x");
    YES("[\\]]", "]");
    YES("[[:alpha:]]", "q");
    YES("[[:^alpha:]]", "1");
    NO("[^[:alpha:]]", "q");
    YES("^[[:space:]]+$", " \t\v\f\r\n");
    YES("^[[:punct:]]+$", "!/:@[`{~");
    YES("^[[:word:]]+$", "aZ0_");
    YES("^[[:xdigit:]]+$", "09afAF");
    EXPECT_EQ(1, match_n("^[[:ascii:]]+$", "\0\x7f", 2));
    EXPECT_EQ(1, match_n("^[[:cntrl:]]+$", "\0\x1f\x7f", 3));
    NO("[[:cntrl:]]", " ");
    YES("[[:a]", ":");
    NO("[^\\x{0}-\\x{10FFFF}]", "a");
    BAD("[a");
    BAD("[z-a]");
    BAD("[a-Z]");
    BAD("[[:foo:]]");
    BAD("[a-\\d]");
    BAD("[\\b]");
    BAD("[]");
    BAD("[^]");
}

UTEST(regex, perl_classes_are_ascii) {
    YES("^\\d+$", "0123456789");
    NO("\\d", "\xdf\x80"); /* a digit of N'Ko */
    YES("\\D", "\xdf\x80");
    NO("\\w", "\xc3\xa9");
    YES("^\\s+$", "\t\n\f\r ");
    NO("\\s", "\v");
    NO("\\s", "\xc2\xa0");
    YES("[\\D]", "x");
    NO("[^\\D]", "x");
    YES("[\\s\\S]", "\n");
}

UTEST(regex, unicode_classes) {
    YES("^\\pN$", "5");
    YES("^\\p{Greek}+$", "\xce\xb1\xce\xb2");
    NO("\\p{Greek}", "a");
    YES("\\P{Greek}", "a");
    YES("\\p{^Greek}", "a");
    NO("\\P{^Greek}", "a");
    YES("^\\p{Lu}$", "\xc3\x89");
    NO("\\p{Lu}", "\xc3\xa9");
    YES("^[\\p{Lu}\\d]+$", "A1");
    YES("\\p{Braille}", "\xe2\xa0\x80");
    YES("\\p{Han}", "\xe6\xbc\xa2");
    YES("\\p{Nag_Mundari}", "\xf0\x9e\x93\x90");
    YES("\\p{Any}", "x");
    YES("(?i)^\\p{Lu}$", "a");
    NO("(?i)\\P{Lu}", "a");
    YES("\\p{Co}", "\xee\x80\x80");
    NO("\\p{C}", "\xcd\xb8"); /* unassigned */
    BAD("\\p{Cn}");
    BAD("\\p{LC}");
    BAD("\\p{Grek}");
    BAD("\\p{Unknown}");
    BAD("\\p{greek}");
    BAD("\\p{Letter}");
    BAD("\\p");
    BAD("\\p{Greek");
    BAD("\\pX");
    BAD("\\p{}");
}

UTEST(regex, composites) {
    YES("ab|cd", "xcdx");
    NO("^(ab|cd)$", "ad");
    YES("^(a|)$", "");
    YES("|x", "q");
    YES("a||b", "");
    YES("^(a|b|c|d)+$", "abcd");
    YES("^(?:x|(?:y|z)w)$", "zw");
    NO("^(?:x|(?:y|z)w)$", "z");
}

UTEST(regex, repetitions) {
    YES("^a*$", "");
    YES("^a*$", "aaa");
    NO("^a+$", "");
    YES("^a?$", "a");
    NO("^a?$", "aa");
    YES("^a{2,3}$", "aa");
    YES("^a{2,3}$", "aaa");
    NO("^a{2,3}$", "a");
    NO("^a{2,3}$", "aaaa");
    YES("^a{2}$", "aa");
    YES("^a{2,}$", "aaaaa");
    NO("^a{2,}$", "a");
    YES("^a{0}$", "");
    NO("^a{0}$", "a");
    YES("^a{0,2}$", "");
    YES("^a{0,2}$", "aa");
    NO("^a{0,2}$", "aaa");
    YES("^(ab){2}c$", "ababc");
    YES("^(a|b{2}){1,2}$", "bba");
    YES("^a*?b+?c??d{1,2}?$", "aabbd");
    YES("a{,2}", "a{,2}");
    YES("^a{$", "a{");
    YES("^x{2$", "x{2");
    YES("^x{01}$", "x{01}");
    YES("(?:)*", "");
    YES("(a*)*b", "aaab");
    YES("(a*)+", "");
    YES("(|a)+$", "aa");
    GOOD("^*");
    GOOD("(?:a*)*");
    GOOD("a*(?i)*");
    BAD("a**");
    BAD("a++");
    BAD("a?*");
    BAD("a+*");
    BAD("a{1}*");
    BAD("a{1}{2}");
    BAD("a*??");
    BAD("*");
    BAD("(*)");
    BAD("a|*");
    BAD("(?i)*");
    BAD("\\Q\\E*");
    BAD("{1}");
}

UTEST(regex, counts_are_limited) {
    GOOD("a{1000}");
    BAD("a{1001}");
    BAD("a{1001,}");
    BAD("a{2,1}");
    BAD("(((x{7}){11}){13})");
    GOOD("((x{10}){10}){10}");
    BAD("((x{10}){10}){11}");
    BAD("((((((((((x{2}){2}){2}){2}){2}){2}){2}){2}){2}){2})");
    GOOD("((((((((((x{1}){2}){2}){2}){2}){2}){2}){2}){2}){2})");
    BAD("((a{1000}){1000}){1000}");
    EXPECT_EQ(MWL_E_TOO_BIG, status_of("(?:"
                                       "0123456789012345678901234567890123456789012345678901234567"
                                       "8901234567890123456789012345678901234567890){1000}"));
}

UTEST(regex, groups) {
    YES("(?P<name>a)(?<other>b)", "ab");
    YES("(?:a)b", "ab");
    YES("(?P<\xe4\xb8\xad\xe6\x96\x87>a)", "a");
    GOOD("(?<9>a)");
    BAD("(?P<n>a)(?P<n>b)");
    BAD("(?P<n>a)(?<n>b)");
    BAD("(?P<name>a");
    BAD("(?P<name>");
    BAD("(?P<name");
    BAD("(?P<x y>a)");
    BAD("(?P<>a)");
    BAD("(?<name");
    BAD("(?P=n)");
    BAD("(?P>n)");
    BAD("(?'n'a)");
    BAD("(?#c)");
    BAD("(?|a)");
    BAD("(?>a)");
    BAD("(?=a)");
    BAD("(?!a)");
    BAD("(?<=a)");
    BAD("(?<!a)");
    BAD("(?R)");
    BAD("(");
    BAD(")");
    BAD("(a");
    BAD("a)");
    BAD("(?");
    BAD("(?i");
}

UTEST(regex, flags) {
    YES("(?i)ABC", "abc");
    YES("a(?i)b(?-i)c", "aBc");
    NO("a(?i)b(?-i)c", "aBC");
    YES("(?i:a)b", "Ab");
    NO("(?i:a)b", "AB");
    YES("((?i)a)b", "Ab");
    NO("((?i)a)b", "AB");
    YES("(?m)^b$", "a\nb\nc");
    NO("^b$", "a\nb\nc");
    YES("(?m)^[a-z]", "1\n\nb");
    YES("(?m)^$", "a\n\nb");
    YES("(?ms)^b.c$", "a\nb\nc");
    YES("(?s-m:a.b)", "a\nb");
    YES("(?U)a+", "a");
    YES("(?)a", "a");
    NO("(?m:^)b$", "b\n");
    BAD("(?i-)a");
    BAD("(?-)a");
    BAD("(?--i)a");
    BAD("(?x)a");
}

UTEST(regex, folding_is_simple_unicode_folding) {
    YES("(?i)k", "\xe2\x84\xaa"); /* the Kelvin sign */
    YES("(?i)\xe2\x84\xaa", "K");
    YES("(?i)s", "\xc5\xbf");
    YES("(?i)[[:lower:]]", "\xe2\x84\xaa");
    YES("(?i)\\w", "\xc5\xbf");
    NO("(?i)\\W", "\xc5\xbf");
    YES("(?i)\xcf\x83", "\xcf\x82"); /* the two small sigmas */
    YES("(?i)[\xce\x91-\xce\xa9]", "\xcf\x89");
    NO("(?i)[^a]", "A");
    NO("(?i)ss", "\xc3\x9f");
    NO("(?i)i", "\xc4\xb0");
    NO("(?i)I", "\xc4\xb1");
    YES("(?i)\xc3\x9f", "\xe1\xba\x9e");
}

UTEST(regex, empty_strings) {
    YES("^a", "ab");
    NO("^b", "ab");
    YES("b$", "ab");
    NO("b$", "ab\n");
    YES("\\Aa", "a");
    NO("(?m)\\Ab", "a\nb");
    YES("a\\z", "a");
    NO("(?m)a\\z", "a\nb");
    YES("\\bfoo\\b", "a foo b");
    NO("\\bfoo\\b", "afoo b");
    YES("\\Boo\\b", "foo");
    YES("\\B", "");
    NO("\\b", "");
    YES("\\b", "a");
    NO("\\b\xc3\xa9", " \xc3\xa9");
    YES("$^", "");
    NO("$^", "a");
    YES("a\\b$", "a");
    BAD("\\Z");
    BAD("\\G");
    BAD("\\K");
}

UTEST(regex, escapes) {
    YES("^\\a\\f\\t\\n\\r\\v$", "\a\f\t\n\r\v");
    YES("^\\123\\12\\07$", "S\n\a");
    EXPECT_EQ(1, match_n("^\\0$", "\0", 1));
    YES("^\\x7F\\x{20AC}$", "\x7f\xe2\x82\xac");
    YES("\\x{10FFFF}", "\xf4\x8f\xbf\xbf");
    YES("^\\*\\.\\_\\-\\\\\\/$", "*._-\\/");
    YES("\\Qa.b*\\E+", "a.b***");
    YES("\\Q\\\\E", "\\");
    YES("\\Qab", "xab");
    BAD("\\1");
    BAD("\\8");
    BAD("\\q");
    BAD("\\e");
    BAD("\\cA");
    BAD("\\u00e9");
    BAD("\\k<n>");
    BAD("\\g1");
    BAD("\\h");
    BAD("\\R");
    BAD("\\X");
    BAD("\\N{x}");
    BAD("\\x");
    BAD("\\x1");
    BAD("\\x{}");
    BAD("\\x{110000}");
    BAD("\\x{12");
    BAD("\\xg0");
    BAD("\\");
    BAD("a\\");
    BAD("\\\xc3\xa9");
    BAD("\xff");
    BAD("[\xff]");
    BAD("\\\xff");
}

UTEST(regex, any_byte) {
    YES("^\\C\\C$", "\xc3\xa9");
    NO("^\\C$", "\xc3\xa9");
    YES("^\\C\\C.$", "\xc3\xa9\xe2\x82\xac");
    NO("^\\C.$", "\xc3\xa9\xe2\x82\xac");
    YES("^[^a]\\C*$", "\xf4\x8f\xbf\xbf");
    YES("^\\p{Greek}\\C{2}$", "\xce\xb1\xce\xb2");
    BAD("[\\C]");
}

UTEST(regex, errors_tell_the_place) {
    mwl__regex *re = NULL;
    mwl_error err;
    ASSERT_EQ(MWL_E_SYNTAX, compile("abc[z-a]", 8, 0, &re, &err));
    EXPECT_EQ((size_t)4, err.offset);
    EXPECT_STREQ("invalid character class range", err.message);
    ASSERT_EQ(MWL_E_SYNTAX, compile("ab(c", 4, 0, &re, &err));
    EXPECT_EQ((size_t)2, err.offset);
    ASSERT_EQ(MWL_E_SYNTAX, compile("a**", 3, 0, &re, &err));
    EXPECT_EQ((size_t)2, err.offset);
}

UTEST(regex, nesting_is_limited) {
    enum { N = MWL_REGEX_MAX_NEST };
    static char text[2 * N + 4];
    memset(text, '(', N);
    text[N] = 'a';
    memset(text + N + 1, ')', N);
    mwl__regex *re = NULL;
    ASSERT_EQ(MWL_OK, compile(text, 2 * N + 1, 0, &re, NULL));
    mwl__regex_free(re);
    memset(text, '(', N + 1);
    text[N + 1] = 'a';
    memset(text + N + 2, ')', N + 1);
    EXPECT_EQ(MWL_E_TOO_BIG, compile(text, 2 * N + 3, 0, &re, NULL));
}

UTEST(regex, invalid_subject_matches_nothing_of_it) {
    NO("^.$", "\xff");
    YES("a.*|x", "\xff\xfex");
    YES("^\\C$", "\xff");
    NO(".", "\xc3");
}

/* A deterministic text that visits many states. */
static char *noise(size_t len) {
    char *s = malloc(len);
    uint32_t x = 1;
    for (size_t i = 0; s && i < len; i++) {
        x = x * 1103515245u + 12345u;
        s[i] = x >> 30 & 1 ? 'a' : 'b';
    }
    return s;
}

UTEST(regex, states_are_bounded) {
    /* About 2^14 states: more than the cache holds. The result must not depend on it. */
    size_t len = 50000;
    char *s = noise(len);
    ASSERT_TRUE(s != NULL);
    EXPECT_EQ(0, match_n("a[ab]{13}c", s, len));
    s[len - 1] = 'c';
    s[len - 15] = 'a';
    EXPECT_EQ(1, match_n("a[ab]{13}c", s, len));
    s[len - 15] = 'b';
    EXPECT_EQ(0, match_n("a[ab]{13}c", s, len));
    free(s);
}

UTEST(regex, fuel_is_charged_by_length_and_stops) {
    mwl_alloc a = mwl_alloc_default();
    mwl__regex *re = NULL;
    mwl__regex_scratch *s = NULL;
    bool m = false;
    size_t len = 100001;
    char *text = malloc(len);
    ASSERT_TRUE(text != NULL);
    memset(text, 'a', len - 1);
    text[len - 1] = '!';
    ASSERT_EQ(MWL_OK, compile("(a+)+$", 6, 0, &re, NULL));
    ASSERT_EQ(MWL_OK, mwl__regex_scratch_new(&a, &s));
    uint64_t fuel = 20000;
    ASSERT_EQ(MWL_OK, mwl__regex_search(re, s, text, len, &fuel, &m));
    EXPECT_FALSE(m);
    EXPECT_TRUE(fuel >= 7000 && fuel <= 7500);
    ASSERT_EQ(MWL_E_FUEL, mwl__regex_search(re, s, text, len, &fuel, &m));
    EXPECT_EQ((uint64_t)0, fuel);
    mwl__regex_free(re);
    free(text);
    /* Work that does not show in the length is charged too. */
    text = noise(20000);
    ASSERT_TRUE(text != NULL);
    ASSERT_EQ(MWL_OK, compile("a[ab]{200}c", 11, 0, &re, NULL));
    fuel = 3000;
    EXPECT_EQ(MWL_E_FUEL, mwl__regex_search(re, s, text, 20000, &fuel, &m));
    fuel = 10000000;
    EXPECT_EQ(MWL_OK, mwl__regex_search(re, s, text, 20000, &fuel, &m));
    EXPECT_FALSE(m);
    free(text);
    mwl__regex_free(re);
    mwl__regex_scratch_free(s);
}

UTEST(regex, one_scratch_serves_many_programs) {
    mwl_alloc a = mwl_alloc_default();
    mwl__regex_scratch *s = NULL;
    ASSERT_EQ(MWL_OK, mwl__regex_scratch_new(&a, &s));
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 300; i++) {
            char pattern[32], subject[32];
            int n = snprintf(pattern, sizeof pattern, "^%d[a-z]+$", i);
            int k = snprintf(subject, sizeof subject, "%dxyz", round == 1 ? i + 1 : i);
            mwl__regex *re = NULL;
            bool m = false;
            ASSERT_EQ(MWL_OK, compile(pattern, (size_t)n, 0, &re, NULL));
            ASSERT_EQ(MWL_OK, mwl__regex_search(re, s, subject, (size_t)k, NULL, &m));
            EXPECT_EQ(round != 1, m);
            mwl__regex_free(re);
        }
    }
    mwl__regex_scratch_free(s);
}

/* ---- memory ---------------------------------------------------------------------------------- */

static const char *sweep_pattern;

static bool sweep_task(mwl_alloc a) {
    const char *subject = "abc-0001";
    mwl__regex *re = NULL;
    mwl__regex_scratch *s = NULL;
    bool m = false;
    mwl_status st =
        mwl__regex_compile(&a, sweep_pattern, strlen(sweep_pattern), 0, NULL, &re, NULL);
    if (st == MWL_OK) st = mwl__regex_scratch_new(&a, &s);
    if (st == MWL_OK) st = mwl__regex_search(re, s, subject, strlen(subject), NULL, &m);
    /* What failed must work when there is memory again. */
    if (st == MWL_E_NOMEM && s && !((struct faulty *)a.ctx)->for_good) {
        mwl_status again = mwl__regex_search(re, s, subject, strlen(subject), NULL, &m);
        if (again != MWL_OK || !m) abort();
    }
    bool through = st == MWL_OK && m;
    mwl__regex_free(re);
    mwl__regex_scratch_free(s);
    return through;
}

UTEST(regex, survives_every_failing_allocation) {
    static const char *const patterns[] = {"^(?i:(?P<n>[a-z]|\\p{Greek})+)-[0-9]{2,4}\\b$",
                                           "\\C*-[^x]", "(?:abc|-0|foo[[:alpha:]])+1?"};
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++) {
        sweep_pattern = patterns[i];
        EXPECT_TRUE(faulty_sweep(sweep_task, 1000));
    }
}

/* ---- the tables of regex_class.c against the library that is linked -------------------------- */

static size_t folds_of(const mwl__class_tables *t, uint32_t rune) {
    size_t lo = 0, hi = t->n_fold, n = 0;
    while (lo < hi) {
        size_t mid = (lo + hi) / 2;
        if (t->fold[mid].lo < rune)
            lo = mid + 1;
        else
            hi = mid;
    }
    for (; lo < t->n_fold && t->fold[lo].lo == rune; lo++) n++;
    return n;
}

UTEST(regex_class, orbits_are_whole) {
    mwl__class_tables tables = {.most = MWL_REGEX_MAX_WORK};
    mwl__class all = mwl__class_make(mwl_alloc_default(), &tables);
    mwl__class_add_folded(&all, 0, MWL__RUNE_MAX);
    ASSERT_FALSE(all.failed);
    mwl__class_free(&all);
    for (uint32_t r = 0; r <= MWL__RUNE_MAX; r++) {
        uint32_t o[8], back[8];
        unsigned n = mwl__class_orbit(r, o);
        ASSERT_LT(n, 8u);
        for (unsigned i = 1; i < n; i++) {
            unsigned m = mwl__class_orbit(o[i], back);
            bool found = false;
            for (unsigned k = 0; k < m; k++) found |= back[k] == r;
            ASSERT_TRUE(found);
            ASSERT_EQ(n, m);
        }
        /* A fold by table must not skip it: all but the character itself, folded. */
        ASSERT_EQ((size_t)n - 1, folds_of(&tables, r));
    }
    mwl_alloc a = mwl_alloc_default();
    mwl__class_tables_free(&a, &tables);
}

/* The tables themselves are compared with Unicode's data by tests/tree/unicode.py. */
UTEST(regex_class, categories_are_the_tables) {
    static const char *const names[] = {"Lu", "Ll", "Lo", "Mn", "Nd", "Po", "So", "Co", "Cs", "Cn"};
    static const unsigned numbers[] = {1, 2, 5, 6, 9, 18, 22, 29, 28, 0};
    mwl__class_tables tables = {.most = MWL_REGEX_MAX_WORK};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        mwl__class c = mwl__class_make(mwl_alloc_default(), &tables);
        ASSERT_TRUE(mwl__class_unicode(&c, names[i], 2, false, false, true));
        mwl__class_tidy(&c);
        size_t k = 0, run = 0, n_runs = sizeof unicode_runs / sizeof *unicode_runs;
        for (uint32_t r = 0; r <= MWL__RUNE_MAX; r++) {
            while (run + 1 < n_runs && unicode_runs[run + 1] >> 8 <= r) run++;
            while (k < c.n && c.r[k].hi < r) k++;
            bool in = k < c.n && c.r[k].lo <= r;
            ASSERT_EQ((unicode_runs[run] & 0xFF) == numbers[i], in);
            ASSERT_EQ(mwl__class_category(r), (unicode_runs[run] & 0xFF));
        }
        mwl__class_free(&c);
    }
    mwl_alloc a = mwl_alloc_default();
    mwl__class_tables_free(&a, &tables);
}

UTEST(regex_class, case_mappings_are_the_tables) {
    for (uint32_t r = 0; r <= MWL__RUNE_MAX; r++) {
        int32_t c = (int32_t)r, other[3] = {c, c, c};
        uint32_t orbit[8];
        if (r == 0x130 || r == 0x131) continue; /* they have no simple folding */
        unsigned n = mwl__class_orbit(r, orbit);
        for (size_t i = 0; i < sizeof unicode_cases / sizeof *unicode_cases; i++) {
            const unicode_case *row = &unicode_cases[i];
            if (r < row->first || r > row->last || (r - row->first) % row->step) continue;
            other[0] += row->lower;
            other[1] += row->upper;
            other[2] += row->title;
        }
        for (int k = 0; k < 3; k++) {
            bool in = other[k] == 0x130 || other[k] == 0x131;
            for (unsigned i = 0; i < n; i++) in |= orbit[i] == (uint32_t)other[k];
            ASSERT_TRUE(in);
        }
        bool cased = other[0] != c || other[1] != c || other[2] != c;
        if (!cased && n > 1) ASSERT_TRUE(n <= 8); /* another character folds to it */
    }
}

UTEST_MAIN()
