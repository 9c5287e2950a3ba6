/* test_format.c: each format of JSON Schema by the rules of its RFC: what must pass, what must not.
 */
#include "mwl_config.h"
#include "utest.h"
#include "vm/schema/format.h"

#include <stdlib.h>
#include <string.h>

static bool has(int format, const char *s) { return mwl__format_check(format, s, strlen(s), NULL); }

#define PASS(format, ...) RUN(format, true, __VA_ARGS__)
#define FAIL(format, ...) RUN(format, false, __VA_ARGS__)
/* By their code points, which are not checked without libidn2. */
#define FAIL_BY_POINTS(format, ...) RUN(format, !MWL_IDN, __VA_ARGS__)
#define RUN(format, want, ...)                                                                     \
    do {                                                                                           \
        static const char *const rows[] = {__VA_ARGS__};                                           \
        for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)                                  \
            if (has(MWL__FORMAT_##format, rows[i]) != (want))                                      \
                EXPECT_STREQ("another answer", rows[i]);                                           \
    } while (0)

UTEST(format, names) {
    for (int i = 0; i < MWL__N_FORMATS; i++) {
        const char *name = mwl__format_name(i);
        EXPECT_EQ(i, mwl__format_find(name, strlen(name)));
    }
    EXPECT_EQ(-1, mwl__format_find("", 0));
    EXPECT_EQ(-1, mwl__format_find("dat", 3));
    EXPECT_EQ(-1, mwl__format_find("color", 5));
}

UTEST(format, dates_and_times) {
    PASS(DATE_TIME, "2024-02-29T00:00:00Z", "0000-01-01t23:59:59.1z", "2016-12-31T23:59:60Z");
    FAIL(DATE_TIME, "2023-02-29T00:00:00Z", "2024-02-29", "2024-02-29T00:00:00", "");
    PASS(DATE, "2024-02-29");
    FAIL(DATE, "2024-2-29", "2024-02-30", "2024-02-29 ");
    PASS(TIME, "12:00:00+05:30", "12:00:00.123z");
    FAIL(TIME, "12:00:00", "12:00Z", "24:00:00Z", "12:00:60Z");
}

UTEST(format, duration_of_the_temporal_profile) {
    PASS(DURATION, "PT0.5S", "PT1H2S", "-P1D", "P1Y2W", "PT0,5S", "P99999999999999999999999Y");
    FAIL(DURATION, "P", "PT", "P1DT", "PT1D", "P1S", "1D", "P1.5DT1H");
}

UTEST(format, duration_of_rfc3339) {
    mwl__format_env narrow = {.rfc3339_duration = true};
    static const char *const good[] = {"P1Y",    "P1Y2M3D", "P2M3D", "PT1H2M3S", "PT2M3S", "P1DT1S",
                                       "P1YT1H", "P52W",    "P0D",   "PT00S",    "P1MT1M"};
    static const char *const bad[] = {"P",    "PT",    "P1",    "PW",    "P1Y2D", "PT1H2S",
                                      "P1DT", "P1W1D", "P1DW",  "-P1D",  "PT.5S", "PT1.5S",
                                      "P1H",  "PT1D",  "P1D1D", "P2D1M", "PTT1S", "PT1ST",
                                      "P1W ", "p1d",   ""};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        EXPECT_TRUE(mwl__format_check(MWL__FORMAT_DURATION, good[i], strlen(good[i]), &narrow));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        EXPECT_FALSE(mwl__format_check(MWL__FORMAT_DURATION, bad[i], strlen(bad[i]), &narrow));
}

UTEST(format, ipv4) {
    PASS(IPV4, "0.0.0.0", "255.255.255.255", "10.20.30.40");
    FAIL(IPV4, "", "1.2.3", "1.2.3.4.5", "256.1.1.1", "01.2.3.4", "1.2.3.00", "1..2.3", "1.2.3.4.",
         ".1.2.3.4", "1.2.3.0x4", "1.2.3.4 ", "1.2.3.1000", "+1.2.3.4");
}

UTEST(format, ipv6) {
    PASS(IPV6, "::", "::1", "1::", "1:2:3:4:5:6:7:8", "::2:3:4:5:6:7:8", "1:2:3:4:5:6:7::", "1::8",
         "fe80::ABCD", "::ffff:1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1::1.2.3.4",
         "::2:3:4:5:6:1.2.3.4");
    FAIL(IPV6, "", ":", ":::", "1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1::2::3",
         "12345::", "g::", "::1%eth0", ":1:2:3:4:5:6:7:8",
         "1:2:3:4:5:6:7:8:", "1:2:3:4:5:6:7:1.2.3.4", "::1.2.3", "::01.2.3.4", "1.2.3.4",
         "1.2.3.4::", "::1.2.3.4:5", "1:2:3:4:5:6:7:8::", "::1 ",
         "1:2:3:4:5:6:7:", ":2:3:4:5:6:7:8", "1:::8");
}

UTEST(format, hostname) {
    PASS(HOSTNAME, "a", "example.com", "3com.com", "a-b.c--d", "ab--cd", "EXAMPLE.com", "1.2.3.4",
         "xn--bcher-kva.example");
    FAIL(HOSTNAME, "", ".", "a.", ".a", "a..b", "-a", "a-", "a_b", "a b",
         "b\xC3\xBC"
         "cher.example",
         "xn--", "xn--\x80", "xn--bcher-kva-.example", "xn--99999999");
    FAIL_BY_POINTS(HOSTNAME, "xn--a");
    char name[256];
    memset(name, 'a', sizeof name);
    name[63] = name[127] = name[191] = '.';
    EXPECT_TRUE(mwl__format_check(MWL__FORMAT_HOSTNAME, name, 253, NULL));
    EXPECT_FALSE(mwl__format_check(MWL__FORMAT_HOSTNAME, name, 254, NULL));
    EXPECT_TRUE(mwl__format_check(MWL__FORMAT_HOSTNAME, name, 63, NULL));
    name[63] = 'a';
    EXPECT_FALSE(mwl__format_check(MWL__FORMAT_HOSTNAME, name, 64, NULL));
}

UTEST(format, idn_hostname_structure) {
    PASS(IDN_HOSTNAME, "example.com",
         "b\xC3\xBC"
         "cher.example",
         "xn--bcher-kva.example", "XN--BCHER-KVA", "\xE6\x97\xA5\xE6\x9C\xAC\xE3\x80\x82jp",
         "fa\xC3\x9F.de");
    FAIL(IDN_HOSTNAME, "", "\xE3\x80\x82", "a\xE3\x80\x82", "a..b", "-b\xC3\xBC", "b\xC3\xBC-",
         "b\xC3\xBC--x", "ab--cd", "a_b", "xn--abc-", "b\xC3\xBC\x80");
    FAIL_BY_POINTS(IDN_HOSTNAME,
                   "B\xC3\x9C"
                   "CHER",
                   "b\xC3\xBC_", "\xE2\x98\x83.example", "\xEF\xBD\x81.example" /* fullwidth a */);
    /* 57 times u-umlaut fits in 63 bytes of Punycode; the label of 63 code points does not */
    char name[130];
    for (int i = 0; i < 63; i++) memcpy(name + 2 * i, "\xC3\xBC", 2);
    EXPECT_FALSE(mwl__format_check(MWL__FORMAT_IDN_HOSTNAME, name, 126, NULL));
    EXPECT_TRUE(mwl__format_check(MWL__FORMAT_IDN_HOSTNAME, name, 40, NULL));
}

/* RFC 5892 appendix A, one rule a line: allowed, then refused. */
UTEST(format, idn_hostname_contextual_rules) {
    PASS(IDN_HOSTNAME, "col\xC2\xB7la"); /* l, middle dot, l */
    FAIL_BY_POINTS(IDN_HOSTNAME, "co\xC2\xB7la",
                   "col\xC2\xB7"
                   "a",
                   "\xC2\xB7l", "l\xC2\xB7");
    PASS(IDN_HOSTNAME, "\xCD\xB5\xCE\xB2"); /* keraia before Greek */
    FAIL_BY_POINTS(IDN_HOSTNAME, "\xCD\xB5z", "\xCE\xB2\xCD\xB5");
    PASS(IDN_HOSTNAME, "\xD7\x90\xD7\xB3", "\xD7\x90\xD7\xB4"); /* geresh after Hebrew */
    FAIL_BY_POINTS(IDN_HOSTNAME, "\xD7\xB3\xD7\x90", "\xD7\xB4");
    PASS(IDN_HOSTNAME, "a\xE3\x83\xBB\xE3\x82\xA2", "\xE3\x83\xBB\xE6\x97\xA5"); /* katakana dot */
    FAIL_BY_POINTS(IDN_HOSTNAME,
                   "a\xE3\x83\xBB"
                   "b",
                   "\xE3\x83\xBB");
    PASS(IDN_HOSTNAME, "\xD8\xA8\xD9\xA1\xD9\xA2", "\xD8\xA8\xDB\xB1"); /* one kind of digits */
    FAIL(IDN_HOSTNAME, "\xD8\xA8\xD9\xA1\xDB\xB1");
    PASS(IDN_HOSTNAME, "\xE0\xA4\x95\xE0\xA5\x8D\xE2\x80\x8D\xE0\xA4\xB7"); /* virama, ZWJ */
    FAIL_BY_POINTS(IDN_HOSTNAME, "\xE0\xA4\x95\xE2\x80\x8D\xE0\xA4\xB7",
                   "\xE2\x80\x8D"
                   "a");
    PASS(IDN_HOSTNAME, "\xE0\xA4\x95\xE0\xA5\x8D\xE2\x80\x8C\xE0\xA4\xB7", /* virama, ZWNJ */
         "\xD8\xA8\xE2\x80\x8C\xD8\xA8");                                  /* between joiners */
    FAIL_BY_POINTS(IDN_HOSTNAME,
                   "a\xE2\x80\x8C"
                   "b",
                   "\xE2\x80\x8C");
}

/* RFC 5893: if one label has right-to-left letters, the rules apply to all labels. */
UTEST(format, idn_hostname_bidi) {
    PASS(IDN_HOSTNAME, "\xD7\x90\xD7\x91.com",
         "\xD7\x90"
         "1.a1",
         "0a.com");
    FAIL(IDN_HOSTNAME, "0a.\xD7\x90", "a\xD7\x90",
         "\xD7\x90"
         "a",
         "1\xD7\x90",
         "\xD7\x90"
         "0\xD9\xA0",
         "\xD9\xA0.com");
}

UTEST(format, idn_hostname_code_points) {
    FAIL_BY_POINTS(IDN_HOSTNAME,
                   "\xCC\x80"
                   "a",
                   "\xE0\xA4\x83"
                   "a" /* marks first */,
                   "\xD9\x80", "\xE3\x80\xAE", "\xE3\x80\xB1", "a\xE2\x80\x8E",
                   "\xE2\x84\xAA" /* Kelvin */);
    PASS(IDN_HOSTNAME, "\xCF\x82", "\xE0\xBC\x8B\xE0\xBD\x80", "\xE3\x80\x87");
}

UTEST(format, email) {
    PASS(EMAIL, "a@b", "a.b@example.com", "!#$%&'*+-/=?^_`{|}~@example.com", "\"a b\"@example.com",
         "\"a\\\"b\"@example.com", "\"\"@example.com", "a@[1.2.3.4]", "a@[IPv6:2001:db8::1]",
         "a@[ipv6:::1]", "a@xn--bcher-kva.example");
    FAIL(EMAIL, "", "@", "a", "a@", "@b", "a@b.", "a@.b", "a@b..c", ".a@b", "a.@b", "a..b@c",
         "a b@c", "a@b c", "a@b_c", "a@-b", "a@b-", "\"a@b", "\"a\"b@c", "\"a\"\"@b", "\"a\x01\"@b",
         "\"a\\\"@b", "a@[1.2.3]", "a@[::1]", "a@[IPv6:1]", "a@[1.2.3.4", "a@1.2.3.4]", "a@b@c",
         "a,b@c", "\xC3\xBC@b", "a@\xC3\xBC", "\"\xC3\xBC\"@b", "a@b\n", "a@[]");
    char long_local[80];
    memset(long_local, 'a', sizeof long_local);
    memcpy(long_local + 64, "@b", 2);
    EXPECT_TRUE(mwl__format_check(MWL__FORMAT_EMAIL, long_local, 66, NULL));
    memcpy(long_local + 64, "a@b", 3);
    EXPECT_FALSE(mwl__format_check(MWL__FORMAT_EMAIL, long_local, 67, NULL));
}

UTEST(format, idn_email) {
    PASS(IDN_EMAIL, "\xC3\xBC@b", "a@\xC3\xBC", "\"\xC3\xBC\"@b", "a@b");
    FAIL(IDN_EMAIL, "\xC3\xBC", "\xC3\xBC..a@b", "a@\xC3\xBC..b", "a@-\xC3\xBC",
         "\"\\\xC3\xBC\"@b");
}

UTEST(format, uri) {
    PASS(URI, "a:", "http://a", "http://a/b?c#d", "http://u:p@h:80/", "http://[::1]:80/",
         "http://[v1.a:b]", "urn:x:y", "a:b:c", "file:///x", "a+b-c.1:x", "x:?q", "x:#f", "x:%41",
         "http://", "http://a:/", "x:/?/?#/?", "mailto:a@b");
    FAIL(URI, "", ":", "a", "/a", "//a", "1a:b", "a_b:c", "a b:c", "x: ", "x:%4", "x:%", "x:%gg",
         "x:[", "x:\\", "x:\"", "x:<", "x:{}", "x:^", "x:`", "x:|", "x:#a#b", "http://[::1",
         "http://[::1]x", "http://[1.2.3.4]", "http://[v.a]", "http://[v1.]", "http://[v1]",
         "http://a:b", "http://a@b@c", "http://a[b", "x:\xC3\xBC", "x:\x7f", "http://a?[");
}

UTEST(format, uri_reference) {
    PASS(URI_REFERENCE, "", "a", "/", "//a", "?", "#", "../a", "./a:b", "a/b:c", "?a:b", "#a:b",
         "//", "a;b=c", "http://a");
    FAIL(URI_REFERENCE, ":", "1:a", "a_:b", "//a:b", "//[", "a b", "#a#b", "\\", "%", "//a@b@c");
}

UTEST(format, iri) {
    PASS(IRI,
         "http://b\xC3\xBC"
         "cher/\xE6\x97\xA5?\xEE\x80\x80#\xE6\x97\xA5",
         "x:\xF0\x90\x8C\x80");
    FAIL(IRI, "\xC3\xBC:x", "x:\xEE\x80\x80", "x:#\xEE\x80\x80", "\xC3\xBC", "x:\xC2\x80",
         "x:\xEF\xB7\x90", "x:\xEF\xBF\xBF", "x:\xF3\xA0\x80\x80", "http://a:\xC3\xBC");
    PASS(IRI_REFERENCE, "\xC3\xBC", "", "//\xC3\xBC", "#\xC3\xBC", "/\xC3\xBC:x");
    FAIL(IRI_REFERENCE, "\xC3\xBC:x", "\\\xC3\xBC", "\xC2\x80");
}

UTEST(format, uri_template) {
    PASS(URI_TEMPLATE, "", "a", "{a}", "{+a,b*,c:3}", "{#a}", "{.a}", "{/a}", "{;a}", "{?a}",
         "{&a}", "{=a}", "{a.b.c}", "{%41b}", "{_1}", "x{a}y{b}z", "%20", "\xC3\xBC", "{a:9999}",
         "'");
    FAIL(URI_TEMPLATE, "{", "}", "{}", "{a", "{{a}}", "{a,}", "{,a,}", "{a:}", "{a:0}", "{a:12345}",
         "{a*:1}", "{a:1*}", "{a b}", "{-a}", "{.}", "{a.}", "{..a}", "{%4}", "%", "%4", " ", "\"",
         "<", ">", "\\", "^", "`", "|", "{\xC3\xBC}", "\x7f");
}

UTEST(format, uuid) {
    PASS(UUID, "00000000-0000-0000-0000-000000000000", "ABCDEFab-cdef-0123-4567-89abcdefABCD");
    FAIL(UUID, "", "00000000-0000-0000-0000-00000000000", "00000000-0000-0000-0000-0000000000000",
         "00000000_0000-0000-0000-000000000000", "0000000-00000-0000-0000-000000000000",
         "g0000000-0000-0000-0000-000000000000", "{0000000-0000-0000-0000-000000000000");
}

UTEST(format, pointers) {
    PASS(JSON_POINTER, "", "/", "//", "/a/b", "/~0~1", "/ ", "/\xC3\xBC", "/a#");
    FAIL(JSON_POINTER, "a", "#", "/~", "/~2", "/a~/b", " /a");
    EXPECT_TRUE(mwl__format_check(MWL__FORMAT_JSON_POINTER, "/\0", 2, NULL));
    PASS(RELATIVE_JSON_POINTER, "0", "10", "0#", "12/a/b", "0/", "1/~0");
    FAIL(RELATIVE_JSON_POINTER, "", "#", "/a", "00", "01", "-1", "+1", "0##", "0#/a", "0a", "1/~",
         "0 ", "a");
}

static bool only_a(void *ctx, const char *s, size_t len) {
    ++*(int *)ctx;
    return len == 1 && s[0] == 'a';
}

UTEST(format, regex_is_the_callers) {
    int calls = 0;
    mwl__format_env env = {.regex_valid = only_a, .ctx = &calls};
    EXPECT_TRUE(mwl__format_check(MWL__FORMAT_REGEX, "a", 1, &env));
    EXPECT_FALSE(mwl__format_check(MWL__FORMAT_REGEX, "(", 1, &env));
    EXPECT_EQ(2, calls);
    EXPECT_TRUE(mwl__format_check(MWL__FORMAT_REGEX, "(", 1, NULL));
}

/* What holds for every text, UTF-8 or not: a check reads its own bytes alone, so what lies behind
 * them changes nothing; and a format that is a part of a wider one accepts nothing more. */
static void any_text(int *utest_result, const char *text, size_t len) {
    static const struct {
        int narrow, wide;
    } parts[] = {{MWL__FORMAT_EMAIL, MWL__FORMAT_IDN_EMAIL},
                 {MWL__FORMAT_HOSTNAME, MWL__FORMAT_IDN_HOSTNAME},
                 {MWL__FORMAT_URI, MWL__FORMAT_IRI},
                 {MWL__FORMAT_URI, MWL__FORMAT_URI_REFERENCE},
                 {MWL__FORMAT_IRI, MWL__FORMAT_IRI_REFERENCE},
                 {MWL__FORMAT_URI_REFERENCE, MWL__FORMAT_IRI_REFERENCE}};
    bool good[MWL__N_FORMATS];
    char *exact = malloc(len ? len : 1); /* a sanitizer sees a byte more that is read */
    ASSERT_TRUE(exact != NULL);
    memcpy(exact, text, len);
    for (int f = 0; f < MWL__N_FORMATS; f++) {
        good[f] = mwl__format_check(f, exact, len, NULL);
        ASSERT_EQ(good[f], mwl__format_check(f, text, len, NULL));
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        ASSERT_TRUE(!good[parts[i].narrow] || good[parts[i].wide]);
    free(exact);
}

UTEST(format, any_bytes) {
    char s[80];
    uint32_t x = 12345;
    for (int round = 0; round < 4000; round++) {
        size_t len = (size_t)round % 64;
        for (size_t i = 0; i < sizeof s; i++) { /* and behind the text */
            x = x * 1664525u + 1013904223u;
            static const char common[] = "xn--.:/[]@\"\\%{}PT0123456789abc\xC3\xBC\xE2\x80\x8D";
            s[i] = x >> 31 ? common[(x >> 8) % (sizeof common - 1)] : (char)(x >> 16);
        }
        if (round % 3 == 0 && len > 4) memcpy(s, "xn--", 4);
        any_text(utest_result, s, len);
    }
    for (int c = 0; c < 256; c++) {
        s[0] = (char)c;
        any_text(utest_result, s, 1);
    }
}

UTEST_MAIN()
