/* cel_literal.c: the values of literals.
 *
 * Owns: digits, escapes and ranges of CEL's literals. Refuses to know: where a token ends
 * (cel_lex.c found that). A string that is not valid UTF-8 is refused; bytes may be anything. */
#include "assembler/cel/cel_lex.h"

#include "vm/base/ascii.h"
#include "vm/base/num.h"
#include "vm/base/utf8.h"

static mwl_status fail(mwl__cel_lit_fault *fault, mwl_status status, const char *message,
                       uint32_t begin, uint32_t end) {
    fault->message = message;
    fault->begin = begin;
    fault->end = end;
    return status;
}

/* ---- numbers --------------------------------------------------------------------------------- */

/* Reads the decimal or 0x digits of s[0..n). Returns false if they do not fit in 64 bits. */
static bool read_digits(const char *s, size_t n, uint64_t *out) {
    uint64_t base = 10, v = 0;
    if (n > 2 && s[0] == '0' && s[1] == 'x') base = 16, s += 2, n -= 2;
    for (size_t i = 0; i < n; i++) {
        uint64_t d = (uint64_t)mwl__hex_value(s[i]);
        if (v > (UINT64_MAX - d) / base) return false;
        v = v * base + d;
    }
    *out = v;
    return true;
}

static mwl_status integer(const char *s, const mwl__cel_token *t, bool negative, mwl__cel_lit *lit,
                          mwl__cel_lit_fault *fault) {
    uint64_t v;
    uint64_t limit = (uint64_t)INT64_MAX + (negative ? 1 : 0);
    if (!read_digits(s + t->begin, t->end - t->begin, &v) || v > limit)
        return fail(fault, MWL_E_RANGE, "an int literal must fit 64 bits with a sign", t->begin,
                    t->end);
    lit->kind = MWL__CEL_INT;
    if (!negative)
        lit->as.i = (int64_t)v;
    else
        lit->as.i = v == limit ? INT64_MIN : -(int64_t)v;
    return MWL_OK;
}

static mwl_status uinteger(const char *s, const mwl__cel_token *t, mwl__cel_lit *lit,
                           mwl__cel_lit_fault *fault) {
    uint64_t v;
    if (!read_digits(s + t->begin, t->end - t->begin - 1, &v))
        return fail(fault, MWL_E_RANGE, "a uint literal must fit 64 bits", t->begin, t->end);
    lit->kind = MWL__CEL_UINT;
    lit->as.u = v;
    return MWL_OK;
}

/* A number that is too small is rounded to 0. One that is too large has no value (cel-go refuses it
 * too). */
static mwl_status floating(const char *s, const mwl__cel_token *t, bool negative, mwl__cel_lit *lit,
                           mwl__cel_lit_fault *fault) {
    double d;
    char first = s[t->begin];
    /* `.5` has no digit before its point, which the reader of numbers asks for */
    mwl_status status = first == '.' ? mwl__num_parse_cel(s + t->begin, t->end - t->begin, &d)
                                     : mwl__num_parse(s + t->begin, t->end - t->begin, &d);
    if (status < 0)
        return fail(fault, MWL_E_RANGE, "a double literal is too large", t->begin, t->end);
    lit->kind = MWL__CEL_DOUBLE;
    lit->as.d = negative ? -d : d;
    return MWL_OK;
}

/* ---- strings and bytes ----------------------------------------------------------------------- */

static int simple_escape(char c) {
    static const char from[] = "abfnrtv\\?\"'`", to[] = "\a\b\f\n\r\t\v\\?\"'`";
    const char *p = c ? strchr(from, c) : NULL;
    return p ? to[p - from] : -1;
}

typedef struct escape {
    uint32_t value;
    size_t len; /* length in the source, with the backslash; 0 if it is not valid */
    bool wide;  /* \u or \U, which bytes do not have */
} escape;

/* Reads the escape at s[0] == '\\'. */
static escape read_escape(const char *s, size_t n) {
    escape e = {0, 0, false};
    if (n < 2) return e;
    int simple = simple_escape(s[1]);
    if (simple >= 0) {
        e.value = (uint32_t)simple;
        e.len = 2;
        return e;
    }
    size_t digits = s[1] == 'x' || s[1] == 'X' ? 2 : s[1] == 'u' ? 4 : s[1] == 'U' ? 8 : 0;
    uint32_t base = 16;
    size_t at = 2;
    if (s[1] >= '0' && s[1] <= '3') digits = 3, base = 8, at = 1;
    if (digits == 0 || n < at + digits) return e;
    for (size_t i = at; i < at + digits; i++) {
        int d = mwl__hex_value(s[i]);
        if (d < 0 || (uint32_t)d >= base) return e;
        e.value = e.value * base + (uint32_t)d;
    }
    e.wide = digits >= 4;
    e.len = at + digits;
    return e;
}

typedef struct body {
    uint32_t from, to; /* between the quotes */
    bool raw, bytes;
} body;

static body find_body(const char *s, const mwl__cel_token *t) {
    body b = {t->begin, t->end, false, t->kind == MWL__CEL_T_BYTES};
    for (; s[b.from] != '"' && s[b.from] != '\''; b.from++)
        if (s[b.from] == 'r' || s[b.from] == 'R') b.raw = true;
    char q = s[b.from];
    /* an empty string in single quotes has two, and its token ends there */
    uint32_t n = t->end - b.from >= 6 && s[b.from + 1] == q && s[b.from + 2] == q ? 3 : 1;
    b.from += n;
    b.to -= n;
    return b;
}

static mwl_status text(mwl__arena *arena, const char *s, const mwl__cel_token *t, mwl__cel_lit *lit,
                       mwl__cel_lit_fault *fault) {
    body b = find_body(s, t);
    char *out = mwl__arena_new(arena, (size_t)(b.to - b.from) +
                                          1); /* no escape is longer than its source */
    if (!out) return MWL_E_NOMEM;
    size_t n = 0;
    for (uint32_t i = b.from; i < b.to;) {
        if (s[i] == '\\' && !b.raw) {
            escape e = read_escape(s + i, b.to - i);
            if (e.len == 0)
                return fail(fault, MWL_E_SYNTAX, "no such escape; a backslash itself is `\\\\`", i,
                            i + 2 < b.to ? i + 2 : b.to);
            uint32_t end = i + (uint32_t)e.len;
            if (b.bytes && e.wide)
                return fail(fault, MWL_E_SYNTAX,
                            "bytes have octets and no characters: write \\x or octal escapes", i,
                            end);
            if (!mwl__utf8_is_scalar(e.value))
                return fail(fault, MWL_E_SYNTAX,
                            "an escape must name a Unicode character, and a surrogate is not one",
                            i, end);
            if (b.bytes)
                out[n++] = (char)e.value;
            else
                n += mwl__utf8_encode(e.value, out + n);
            i = end;
            continue;
        }
        uint32_t cp;
        size_t len = mwl__utf8_decode(s + i, b.to - i, &cp);
        if (len == 0) return fail(fault, MWL_E_UTF8, "the text is not valid UTF-8", i, i + 1);
        memcpy(out + n, s + i, len);
        n += len;
        i += (uint32_t)len;
    }
    lit->kind = b.bytes ? MWL__CEL_BYTES : MWL__CEL_STRING;
    lit->as.text = out;
    lit->len = (uint32_t)n; /* tokens have offsets of 32 bits */
    return MWL_OK;
}

mwl_status mwl__cel_literal(mwl__arena *arena, const char *source, const mwl__cel_token *token,
                            bool negative, mwl__cel_lit *lit, mwl__cel_lit_fault *fault) {
    switch (token->kind) {
    case MWL__CEL_T_INT: return integer(source, token, negative, lit, fault);
    case MWL__CEL_T_UINT: return uinteger(source, token, lit, fault);
    case MWL__CEL_T_FLOAT: return floating(source, token, negative, lit, fault);
    case MWL__CEL_T_STRING:
    case MWL__CEL_T_BYTES: return text(arena, source, token, lit, fault);
    case MWL__CEL_T_TRUE:
    case MWL__CEL_T_FALSE:
        lit->kind = MWL__CEL_BOOL;
        lit->as.b = token->kind == MWL__CEL_T_TRUE;
        return MWL_OK;
    default: lit->kind = MWL__CEL_NULL; return MWL_OK;
    }
}
