/* format_uri.c: RFC 3986 and 3987 (URI, IRI and their references) and RFC 6570 (templates).
 *
 * One pass from left to right over each part. A part consists of characters of one set. The sets
 * are bits of one table over ASCII, and two ranges of code points beyond it. */
#include "vm/schema/format.h"
#include "vm/base/ascii.h"
#include "vm/base/utf8.h"

#include <string.h>

enum {
    ALPHA = 1,
    DIGIT = 2,
    HEX = 4,
    MARK = 8,       /* - . _ ~ : with letters and digits, the unreserved ones */
    SUB_DELIM = 16, /* ! $ & ' ( ) * + , ; = */
    SCHEME = 32,    /* + - . : after the first letter, with letters and digits */
    LITERAL = 64,   /* RFC 6570, with ' as its erratum has it */
    UNRESERVED = ALPHA | DIGIT | MARK
};

static unsigned classes(unsigned char c) {
    unsigned bits = 0;
    if (mwl__is_letter(c)) bits |= ALPHA;
    if (mwl__is_digit(c)) bits |= DIGIT;
    if (mwl__is_hex(c)) bits |= HEX;
    if (c != 0 && c < 0x80) {
        if (memchr("-._~", c, 4)) bits |= MARK;
        if (memchr("!$&'()*+,;=", c, 11)) bits |= SUB_DELIM;
        if (memchr("+-.", c, 3)) bits |= SCHEME;
        if (c > 0x20 && c < 0x7F && !memchr("\"%<>\\^`{|}", c, 10)) bits |= LITERAL;
    }
    return bits;
}

static inline bool is(char c, unsigned set) { return (classes((unsigned char)c) & set) != 0; }

/* RFC 3987 ucschar: no private use, no noncharacters, no tags. */
static bool is_ucschar(uint32_t c) {
    if (c < 0xA0) return false;
    if (c < 0x10000)
        return c <= 0xD7FF || (c >= 0xF900 && c <= 0xFDCF) || (c >= 0xFDF0 && c <= 0xFFEF);
    return (c & 0xFFFF) <= 0xFFFD && c < 0xF0000 && (c < 0xE0000 || c >= 0xE1000);
}

static bool is_iprivate(uint32_t c) {
    return (c >= 0xE000 && c <= 0xF8FF) || (c >= 0xF0000 && (c & 0xFFFF) <= 0xFFFD);
}

/* The characters that a part may contain, besides percent-encoded bytes. */
typedef struct {
    unsigned set;
    const char *extra; /* further ASCII characters */
    bool ucs, private_use;
} charset;

/* Returns the width of the character at s if it is in the set, or 0. */
static size_t element(const char *s, size_t len, const charset *cs) {
    unsigned char c = (unsigned char)s[0];
    if (c == '%') return len >= 3 && is(s[1], HEX) && is(s[2], HEX) ? 3 : 0;
    if (c < 0x80) return is(s[0], cs->set) || (c != 0 && strchr(cs->extra, c) != NULL) ? 1 : 0;
    uint32_t cp;
    size_t width = mwl__utf8_decode(s, len, &cp);
    if (width && ((cs->ucs && is_ucschar(cp)) || (cs->private_use && is_iprivate(cp))))
        return width;
    return 0;
}

static bool all_of(const char *s, size_t len, const charset *cs) {
    for (size_t i = 0; i < len;) {
        size_t width = element(s + i, len - i, cs);
        if (width == 0) return false;
        i += width;
    }
    return true;
}

/* IPv6address or IPvFuture, without the brackets. */
static bool is_ip_literal(const char *s, size_t len) {
    if (len == 0 || (s[0] != 'v' && s[0] != 'V')) return mwl__format_ipv6(s, len);
    size_t i = 1;
    while (i < len && is(s[i], HEX)) i++;
    if (i == 1 || i + 1 >= len || s[i] != '.') return false;
    for (i++; i < len; i++)
        if (!is(s[i], UNRESERVED | SUB_DELIM) && s[i] != ':') return false;
    return true;
}

static bool is_authority(const char *s, size_t len, bool unicode) {
    const charset user = {UNRESERVED | SUB_DELIM, ":", unicode, false};
    const charset name = {UNRESERVED | SUB_DELIM, "", unicode, false};
    const char *at = len ? memchr(s, '@', len) : NULL;
    if (at) {
        size_t n = (size_t)(at - s);
        if (!all_of(s, n, &user)) return false;
        s += n + 1, len -= n + 1;
    }
    size_t host = 0;
    if (len && s[0] == '[') {
        const char *close = memchr(s, ']', len);
        if (!close || !is_ip_literal(s + 1, (size_t)(close - s - 1))) return false;
        host = (size_t)(close - s) + 1;
    } else {
        while (host < len && s[host] != ':') host++;
        if (!all_of(s, host, &name)) return false;
    }
    if (host == len) return true;
    if (s[host] != ':') return false;
    for (size_t i = host + 1; i < len; i++)
        if (!is(s[i], DIGIT)) return false;
    return true;
}

/* Returns the first index, from `from` on, of one of the characters, or len. */
static size_t find_any(const char *s, size_t len, size_t from, const char *any) {
    while (from < len && (s[from] == '\0' || !strchr(any, s[from]))) from++;
    return from;
}

bool mwl__format_uri(const char *s, size_t len, bool unicode, bool reference) {
    const charset path = {UNRESERVED | SUB_DELIM, ":@/", unicode, false};
    const charset query = {UNRESERVED | SUB_DELIM, ":@/?", unicode, unicode};
    const charset fragment = {UNRESERVED | SUB_DELIM, ":@/?", unicode, false};

    /* A colon before any slash ends a scheme, because the first segment of a relative path contains
     * no colon. */
    size_t at = find_any(s, len, 0, ":/?#");
    if (at < len && s[at] == ':') {
        if (at == 0 || !is(s[0], ALPHA)) return false;
        for (size_t i = 1; i < at; i++)
            if (!is(s[i], ALPHA | DIGIT | SCHEME)) return false;
        at++;
    } else {
        if (!reference) return false;
        at = 0;
    }
    if (len - at >= 2 && s[at] == '/' && s[at + 1] == '/') {
        size_t end = find_any(s, len, at + 2, "/?#");
        if (!is_authority(s + at + 2, end - at - 2, unicode)) return false;
        at = end;
    }
    size_t end = find_any(s, len, at, "?#");
    if (!all_of(s + at, end - at, &path)) return false;
    if (end < len && s[end] == '?') {
        at = end + 1;
        end = find_any(s, len, at, "#");
        if (!all_of(s + at, end - at, &query)) return false;
    }
    return end == len || all_of(s + end + 1, len - end - 1, &fragment);
}

/* ---- RFC 6570 -------------------------------------------------------------------------------- */

/* Reads a varname and its modifier from *at. Stops at the comma or brace after it. */
static bool read_varspec(const char *s, size_t len, size_t *at) {
    const charset varchar = {ALPHA | DIGIT, "_", false, false};
    size_t i = *at;
    bool want_char = true; /* at the beginning and after a dot */
    while (i < len) {
        if (s[i] == '.' && !want_char) {
            want_char = true;
            i++;
            continue;
        }
        size_t width = element(s + i, len - i, &varchar);
        if (width == 0) break;
        want_char = false;
        i += width;
    }
    if (want_char) return false;
    if (i < len && s[i] == '*') {
        i++;
    } else if (i < len && s[i] == ':') {
        size_t first = ++i;
        if (i >= len || !is(s[i], DIGIT) || s[i] == '0') return false;
        while (i < len && is(s[i], DIGIT) && i - first < 4) i++;
    }
    *at = i;
    return true;
}

bool mwl__format_uri_template(const char *s, size_t len) {
    const charset literal = {LITERAL, "", true, true};
    size_t i = 0;
    while (i < len) {
        if (s[i] != '{') {
            size_t width = element(s + i, len - i, &literal);
            if (width == 0) return false;
            i += width;
            continue;
        }
        i++;
        /* operators, with those that the RFC reserves */
        if (i < len && s[i] != '\0' && strchr("+#./;?&=,!@|", s[i])) i++;
        for (;;) {
            if (!read_varspec(s, len, &i) || i >= len) return false;
            if (s[i] == '}') break;
            if (s[i] != ',') return false;
            i++;
        }
        i++;
    }
    return true;
}
