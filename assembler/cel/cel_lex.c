/* cel_lex.c: splits text into tokens, one at a time.
 *
 * Owns: the tokens of CEL (spec: langdef, Syntax): where a token begins and ends. Refuses to know:
 * what a literal's escapes and digits mean (cel_literal.c) and which token may follow which. Any
 * byte may occur in the source, also NUL; only strings and comments may contain bytes above 127. */
#include "assembler/cel/cel_lex.h"
#include "vm/base/ascii.h"

typedef struct scan {
    const char *s;
    uint32_t at, len;
} scan;

static bool is_name_start(char c) { return c == '_' || mwl__is_letter(c); }
static bool is_name(char c) { return is_name_start(c) || mwl__is_digit(c); }

/* Returns the byte `ahead` of the position; 0 after the end, which no rule here treats as
 * content. */
static char peek(const scan *sc, uint32_t ahead) {
    return ahead < sc->len - sc->at ? sc->s[sc->at + ahead] : '\0';
}

static mwl__cel_token token(mwl__cel_token_kind kind, uint32_t begin, uint32_t end) {
    mwl__cel_token t = {kind, begin, end, NULL};
    return t;
}
static mwl__cel_token bad(uint32_t begin, uint32_t end, const char *fault) {
    mwl__cel_token t = {MWL__CEL_T_BAD, begin, end, fault};
    return t;
}

static void skip_space(scan *sc) {
    while (sc->at < sc->len) {
        char c = sc->s[sc->at];
        if (c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r') {
            sc->at++;
        } else if (c == '/' && peek(sc, 1) == '/') {
            const char *nl = memchr(sc->s + sc->at, '\n', sc->len - sc->at);
            sc->at =
                nl ? (uint32_t)(nl - sc->s) + 1 : sc->len; /* the end of the text ends it too */
        } else {
            return;
        }
    }
}

static void skip_digits(scan *sc) {
    while (mwl__is_digit(peek(sc, 0))) sc->at++;
}

/* Reads an exponent if it is complete; `1e` is a number and a name. */
static bool skip_exponent(scan *sc) {
    if (peek(sc, 0) != 'e' && peek(sc, 0) != 'E') return false;
    uint32_t sign = peek(sc, 1) == '+' || peek(sc, 1) == '-' ? 1 : 0;
    if (!mwl__is_digit(peek(sc, 1 + sign))) return false;
    sc->at += 1 + sign;
    skip_digits(sc);
    return true;
}

static mwl__cel_token lex_number(scan *sc) {
    uint32_t begin = sc->at;
    mwl__cel_token_kind kind = MWL__CEL_T_INT;
    if (peek(sc, 0) == '0' && peek(sc, 1) == 'x' && mwl__is_hex(peek(sc, 2))) {
        sc->at += 2;
        while (mwl__is_hex(peek(sc, 0))) sc->at++;
    } else {
        skip_digits(sc);
        if (peek(sc, 0) == '.' && mwl__is_digit(peek(sc, 1))) {
            sc->at++;
            skip_digits(sc);
            kind = MWL__CEL_T_FLOAT;
        }
        if (skip_exponent(sc)) kind = MWL__CEL_T_FLOAT;
    }
    if (kind == MWL__CEL_T_INT && (peek(sc, 0) == 'u' || peek(sc, 0) == 'U')) {
        sc->at++;
        kind = MWL__CEL_T_UINT;
    }
    return token(kind, begin, sc->at);
}

/* Reads a string whose opening quote is at the position; `begin` is where its prefix starts. */
static mwl__cel_token lex_string(scan *sc, uint32_t begin, bool raw, mwl__cel_token_kind kind) {
    char q = peek(sc, 0);
    bool triple = peek(sc, 1) == q && peek(sc, 2) == q;
    sc->at += triple ? 3 : 1;
    while (sc->at < sc->len) {
        char c = sc->s[sc->at];
        if (c == '\\' && !raw) {
            if (sc->len - sc->at < 2) break;
            sc->at += 2; /* an escaped byte does not end the string */
        } else if (c == q && (!triple || (peek(sc, 1) == q && peek(sc, 2) == q))) {
            sc->at += triple ? 3 : 1;
            return token(kind, begin, sc->at);
        } else if (!triple && (c == '\n' || c == '\r')) {
            return bad(begin, sc->at, "a line ends inside a string; close it, or use three quotes");
        } else {
            sc->at++;
        }
    }
    return bad(begin, sc->len, "a string is not closed");
}

/* Returns the length of a string's prefix (b, r, br in either case) if a quote follows it,
 * otherwise -1. */
static int string_prefix(const scan *sc, bool *raw, bool *bytes) {
    uint32_t n = 0;
    *raw = *bytes = false;
    if (peek(sc, n) == 'b' || peek(sc, n) == 'B') *bytes = true, n++;
    if (peek(sc, n) == 'r' || peek(sc, n) == 'R') *raw = true, n++;
    return peek(sc, n) == '"' || peek(sc, n) == '\'' ? (int)n : -1;
}

static bool same(const char *name, size_t len, const char *word) {
    return strlen(word) == len && memcmp(name, word, len) == 0;
}

bool mwl__cel_is_reserved(const char *name, size_t len) {
    static const char *const words[] = {
        "as",  "break", "const",   "continue",  "else",   "for", "function", "if",   "import",
        "let", "loop",  "package", "namespace", "return", "var", "void",     "while"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (same(name, len, words[i])) return true;
    return false;
}

static mwl__cel_token lex_name(scan *sc) {
    uint32_t begin = sc->at;
    while (is_name(peek(sc, 0))) sc->at++;
    const char *name = sc->s + begin;
    size_t len = sc->at - begin;
    mwl__cel_token_kind kind = MWL__CEL_T_NAME;
    if (same(name, len, "true")) kind = MWL__CEL_T_TRUE;
    if (same(name, len, "false")) kind = MWL__CEL_T_FALSE;
    if (same(name, len, "null")) kind = MWL__CEL_T_NULL;
    if (same(name, len, "in")) kind = MWL__CEL_T_IN;
    return token(kind, begin, sc->at);
}

static mwl__cel_token lex_quoted(scan *sc) {
    uint32_t begin = sc->at++;
    for (; sc->at < sc->len; sc->at++) {
        char c = sc->s[sc->at];
        if (c == '`') {
            sc->at++;
            if (sc->at - begin == 2) return bad(begin, sc->at, "a back-quoted name is empty");
            return token(MWL__CEL_T_QUOTED, begin, sc->at);
        }
        if (!is_name(c) && c != '.' && c != '-' && c != '/' && c != ' ')
            return bad(
                sc->at, sc->at + 1,
                "a back-quoted name holds letters, digits, `_`, `.`, `-`, `/` and spaces only");
    }
    return bad(begin, sc->len, "a back-quoted name is not closed");
}

static mwl__cel_token lex_punctuation(const scan *sc) {
    static const struct {
        char text[3];
        mwl__cel_token_kind kind;
    } marks[] = {/* a longer one before one that is its beginning */
                 {"==", MWL__CEL_T_EQ},      {"!=", MWL__CEL_T_NE},    {"<=", MWL__CEL_T_LE},
                 {">=", MWL__CEL_T_GE},      {"&&", MWL__CEL_T_AND},   {"||", MWL__CEL_T_OR},
                 {"<", MWL__CEL_T_LT},       {">", MWL__CEL_T_GT},     {"[", MWL__CEL_T_LBRACKET},
                 {"]", MWL__CEL_T_RBRACKET}, {"{", MWL__CEL_T_LBRACE}, {"}", MWL__CEL_T_RBRACE},
                 {"(", MWL__CEL_T_LPAREN},   {")", MWL__CEL_T_RPAREN}, {".", MWL__CEL_T_DOT},
                 {",", MWL__CEL_T_COMMA},    {"-", MWL__CEL_T_MINUS},  {"!", MWL__CEL_T_NOT},
                 {"?", MWL__CEL_T_QUESTION}, {":", MWL__CEL_T_COLON},  {"+", MWL__CEL_T_PLUS},
                 {"*", MWL__CEL_T_STAR},     {"/", MWL__CEL_T_SLASH},  {"%", MWL__CEL_T_PERCENT}};
    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        uint32_t n = marks[i].text[1] ? 2 : 1;
        if (peek(sc, 0) == marks[i].text[0] && (n == 1 || peek(sc, 1) == marks[i].text[1]))
            return token(marks[i].kind, sc->at, sc->at + n);
    }
    uint32_t end = sc->at + 1; /* a complete UTF-8 character, so that a message can quote it */
    while (end < sc->len && ((unsigned char)sc->s[end] & 0xc0) == 0x80) end++;
    const char *fault = "a character that CEL does not use outside of strings";
    if (peek(sc, 0) == '=') fault = "`=` is not an operator; equality is `==`";
    if (peek(sc, 0) == '&') fault = "`&` is not an operator; logical and is `&&`";
    if (peek(sc, 0) == '|') fault = "`|` is not an operator; logical or is `||`";
    return bad(sc->at, end, fault);
}

mwl__cel_token mwl__cel_lex(const char *source, size_t len, uint32_t from) {
    scan sc = {source, from, (uint32_t)len};
    skip_space(&sc);
    if (sc.at >= sc.len) return token(MWL__CEL_T_END, sc.len, sc.len);
    char c = peek(&sc, 0);
    bool raw, bytes;
    int prefix = string_prefix(&sc, &raw, &bytes);
    if (prefix >= 0) {
        uint32_t begin = sc.at;
        sc.at += (uint32_t)prefix;
        return lex_string(&sc, begin, raw, bytes ? MWL__CEL_T_BYTES : MWL__CEL_T_STRING);
    }
    if (is_name_start(c)) return lex_name(&sc);
    if (mwl__is_digit(c) || (c == '.' && mwl__is_digit(peek(&sc, 1)))) return lex_number(&sc);
    if (c == '`') return lex_quoted(&sc);
    return lex_punctuation(&sc);
}
