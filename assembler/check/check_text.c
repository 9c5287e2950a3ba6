/* check_text.c: texts that are nearly expressions, and how to write them as expressions. See
 * check.h.
 *
 * A text that begins with two braces and ends with two is an expression. Every other text is a
 * literal, and allowed. So these are warnings. Only texts that read a root of the language are
 * reported, because other texts with braces may be for other programs. */
#include "assembler/check/check.h"
#include "vm/value/value.h"

#include "assembler/cel/cel_lex.h"
#include "vm/base/ascii.h"

#define TEXT_MAX 2048 /* longer texts are not examined: people write shorter ones */
#define HOLES_MAX 16  /* opening braces that are tried to find one hole */
#define HELP_MAX 240  /* bytes of an expression that is shown */

/* ---- CEL ------------------------------------------------------------------------------------- */

static bool parses(mwl__checker *c, const char *s, size_t len) {
    mwl__arena arena = mwl__arena_make(c->arena->alloc);
    mwl__cel_options options = {.arena = &arena, .source = s, .len = len};
    mwl__cel_tree tree;
    mwl_status status = mwl__cel_parse(&options, &tree);
    mwl__arena_free(&arena);
    if (status == MWL_E_NOMEM) c->status = status;
    return status == MWL_OK;
}

static bool is_root(const char *s, size_t len) {
    mwl__cel_root roots[MWL__N_ROOTS];
    mwl__scope_roots(0, roots);
    for (int i = 0; i < MWL__N_ROOTS; i++)
        if (strlen(roots[i].name) == len && memcmp(roots[i].name, s, len) == 0) return true;
    return false;
}

/* Is the text CEL that begins with a member of a root: `vars.x + 1.0`? */
static bool reads_root(mwl__checker *c, const char *s, size_t len) {
    if (len == 0) return false;
    mwl__cel_token t = mwl__cel_lex(s, len, 0);
    if (t.kind != MWL__CEL_T_NAME || !is_root(s + t.begin, t.end - t.begin)) return false;
    t = mwl__cel_lex(s, len, t.end);
    return (t.kind == MWL__CEL_T_DOT || t.kind == MWL__CEL_T_LBRACKET) && parses(c, s, len);
}

/* Is the text only a path that hardly any other text would be: `vars.x`, `step.input.y`? */
static bool is_bare_path(const char *s, size_t len) {
    static const char *const paths[] = {
        "vars.",       "step.input",  "step.result",       "call.input",   "call.result",
        "frame.input", "match.input", "middleware.result", "failure.code", "failure.message"};
    bool found = false;
    for (size_t i = 0; i < sizeof paths / sizeof *paths && !found; i++) {
        size_t n = strlen(paths[i]);
        found = len >= n && memcmp(s, paths[i], n) == 0 &&
                (paths[i][n - 1] == '.' ? len > n : len == n || s[n] == '.');
    }
    bool letter = false; /* a name follows each dot */
    for (size_t i = 0; i < len && found; i++) {
        bool alpha = mwl__is_letter(s[i]), digit = mwl__is_digit(s[i]);
        found = alpha || s[i] == '_' || ((digit || s[i] == '.') && letter);
        letter = s[i] != '.';
    }
    return found && letter;
}

static void trim(const char **s, size_t *len) {
    while (*len && (**s == ' ' || **s == '\t' || **s == '\n')) ++*s, --*len;
    while (*len && ((*s)[*len - 1] == ' ' || (*s)[*len - 1] == '\t' || (*s)[*len - 1] == '\n'))
        --*len;
}

/* ---- what to write --------------------------------------------------------------------------- */

/* Suggests "{{ body }}" in place of the whole text. */
static void offer_whole(mwl__checker *c, mwl__diag *d, const mwl__node *n, const char *body,
                        size_t len) {
    mwl__buf b = mwl__buf_make(c->arena->alloc);
    trim(&body, &len);
    mwl__buf_puts(&b, "{{ ");
    mwl__buf_put(&b, body, len);
    mwl__buf_puts(&b, " }}");
    if (b.failed)
        c->status = MWL_E_NOMEM;
    else
        mwl__diag_fix_string(d, mwl__node_span(n), b.data, b.len);
    mwl__buf shown = mwl__buf_make(c->arena->alloc);
    if (!b.failed) mwl__json_escape(&shown, b.data, b.len);
    if (b.len <= HELP_MAX) mwl__diag_help(d, "write \"%s\"", mwl__buf_cstr(&shown));
    mwl__buf_free(&shown);
    mwl__buf_free(&b);
}

/* The place of an expression in a text: with its braces and a sign such as $ before them; and what
 * is inside. */
typedef struct hole {
    size_t begin, end;
    const char *body;
    size_t body_len;
} hole;

/* Finds the next hole from `at` on. Between double braces it must be CEL; between single ones it
 * must also begin with a root. Returns false if there is none. */
static bool next_hole(mwl__checker *c, const char *s, size_t len, size_t at, hole *out) {
    for (unsigned tries = 0; at + 2 < len && tries < HOLES_MAX; at++) {
        if (s[at] != '{') continue;
        tries++;
        size_t body = at + 1, depth = 1, end;
        bool twice = s[body] == '{';
        if (twice) body++;
        for (end = body; end < len; end++) {
            depth += s[end] == '{';
            if (s[end] == '}' && --depth == 0) break;
        }
        if (end >= len) return false;
        out->begin = at > 0 && strchr("$#%@", s[at - 1]) ? at - 1 : at;
        out->body = s + body;
        out->body_len = end - body;
        out->end = end + 1 + (end + 1 < len && s[end + 1] == '}');
        if (twice ? parses(c, out->body, out->body_len) : reads_root(c, out->body, out->body_len))
            return true;
    }
    return false;
}

static void put_literal(mwl__buf *b, const char *s, size_t len) {
    mwl__buf_putc(b, '\'');
    for (size_t i = 0; i < len; i++) {
        if (s[i] == '\'' || s[i] == '\\') mwl__buf_putc(b, '\\');
        if (s[i] == '\n')
            mwl__buf_puts(b, "\\n");
        else
            mwl__buf_putc(b, s[i]);
    }
    mwl__buf_putc(b, '\'');
}

/* Suggests the text with its holes as one expression: "{{ 'a ' + string(vars.x) }}". */
static void offer_joined(mwl__checker *c, mwl__diag *d, const char *s, size_t len) {
    mwl__buf b = mwl__buf_make(c->arena->alloc), shown = mwl__buf_make(c->arena->alloc);
    size_t at = 0;
    hole h;
    mwl__buf_puts(&b, "{{ ");
    while (next_hole(c, s, len, at, &h) && b.len <= HELP_MAX) {
        trim(&h.body, &h.body_len);
        if (at) mwl__buf_puts(&b, " + ");
        if (h.begin > at) {
            put_literal(&b, s + at, h.begin - at);
            mwl__buf_puts(&b, " + ");
        }
        mwl__buf_puts(&b, "string(");
        mwl__buf_put(&b, h.body, h.body_len);
        mwl__buf_putc(&b, ')');
        at = h.end;
    }
    if (at && at < len) {
        mwl__buf_puts(&b, " + ");
        put_literal(&b, s + at, len - at);
    }
    mwl__buf_puts(&b, " }}");
    if (at && b.len <= HELP_MAX && !b.failed) {
        mwl__json_escape(&shown, b.data, b.len);
        mwl__diag_help(d, "write \"%s\"", mwl__buf_cstr(&shown));
    }
    if (b.failed || shown.failed) c->status = MWL_E_NOMEM;
    mwl__buf_free(&shown);
    mwl__buf_free(&b);
}

/* ---- reports --------------------------------------------------------------------------------- */

void mwl__check_template(mwl__checker *c, const mwl__node *n) {
    const char *s = n->as.text;
    size_t len = n->count;
    hole h;
    mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_TEMPLATE_LITERAL,
                                    "this text is a literal: braces inside it are not evaluated");
    if (!d) return;
    mwl__diag_note(d, "an expression takes up the whole value");
    trim(&s, &len);
    if (len > TEXT_MAX) return;
    bool whole = next_hole(c, s, len, 0, &h) && h.begin == 0 && h.end == len;
    if (whole)
        offer_whole(c, d, n, h.body, h.body_len);
    else
        offer_joined(c, d, n->as.text, n->count);
}

/* Is the text like `{{ x }` or `{{ x`? */
static bool is_unclosed(mwl__checker *c, const char *s, size_t len, hole *out) {
    if (len < 4 || memcmp(s, "{{", 2) != 0) return false;
    out->body = s + 2;
    out->body_len = len - 2;
    trim(&out->body, &out->body_len);
    if (out->body_len && out->body[out->body_len - 1] == '}' &&
        !parses(c, out->body, out->body_len))
        out->body_len--;
    trim(&out->body, &out->body_len);
    return out->body_len && parses(c, out->body, out->body_len);
}

void mwl__check_literal(mwl__checker *c, const mwl__node *n) {
    const char *s = n->as.text;
    size_t len = n->count;
    hole h;
    if (len > TEXT_MAX || len < 5 || !mwl__diags_wants(c->sink, MWL_DIAG_TEMPLATE_LITERAL)) return;
    bool braces = memchr(s, '{', len) != NULL;
    if (braces && is_unclosed(c, s, len, &h)) {
        mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_TEMPLATE_LITERAL,
                                        "this text is a literal: the braces are not closed");
        mwl__diag_note(d, "an expression begins with `{{` and ends with `}}`");
        if (d) offer_whole(c, d, n, h.body, h.body_len);
    } else if (braces && next_hole(c, s, len, 0, &h)) {
        mwl__diag *d =
            mwl__node_report(c->tree, n, MWL_DIAG_TEMPLATE_LITERAL,
                             "this text is a literal: `%.*s` is not evaluated",
                             (int)(h.end - h.begin > 60 ? 60 : h.end - h.begin), s + h.begin);
        mwl__diag_note(d, "an expression begins with `{{`, ends with `}}` and takes up the whole "
                          "value");
        if (d && h.begin == 0 && h.end == len)
            offer_whole(c, d, n, h.body, h.body_len);
        else if (d)
            offer_joined(c, d, s, len);
    } else if (is_bare_path(s, len)) {
        mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_TEMPLATE_LITERAL,
                                        "this text is a literal: it has no braces");
        mwl__diag_note(d, "an expression begins with `{{` and ends with `}}`");
        if (d) offer_whole(c, d, n, s, len);
    }
}

void mwl__check_suggest_braces(mwl__checker *c, mwl__diag *d, const mwl__node *n) {
    hole h;
    if (!d || n->kind != MWL_NODE_STRING || n->count > TEXT_MAX) return;
    if (is_unclosed(c, n->as.text, n->count, &h) ||
        (next_hole(c, n->as.text, n->count, 0, &h) && h.begin == 0 && h.end == n->count))
        offer_whole(c, d, n, h.body, h.body_len);
    else if (n->count && parses(c, n->as.text, n->count))
        offer_whole(c, d, n, n->as.text, n->count);
    else
        mwl__diag_help(d,
                       "an expression is CEL between `{{` and `}}`; data is under roots: vars.x, "
                       "step.input.x");
}
