/* check_expr.c: which strings are expressions; each one parsed, resolved and checked. See check.h.
 *
 * Where an expression ends: its body is read as tokens of CEL, and the first `}}` outside of
 * strings, brackets and comments ends it. If this is the end of the value, the value is an
 * expression. If it comes earlier, the value is a literal ("{{ a }} and {{ b }}"). A comment on the
 * last line reaches to the end of the body, so the pair behind it ends the expression. A value that
 * begins with `{{` and ends with `}}`, but has no such pair, is an error, never a literal. */
#include "assembler/check/check.h"

#include "assembler/cel/cel.h"
#include "assembler/cel/cel_lex.h"
#include "vm/base/ascii.h"
#include "vm/regex/regex.h"

typedef enum embedding { LITERAL, TEMPLATE, EXPRESSION, EMPTY, UNCLOSED } embedding;

/* Why an expression does not end: an open bracket, an open string. */
typedef struct missing_end {
    uint32_t begin, end;
    const char *text;
} missing_end;

static bool has_pair(const char *s, uint32_t len) {
    bool open = false;
    for (uint32_t i = 0; i + 1 < len; i++) {
        if (s[i] == '{' && s[i + 1] == '{') open = true;
        if (open && s[i] == '}' && s[i + 1] == '}') return true;
    }
    return false;
}

#define NESTING 256 /* open brackets whose places are kept; deeper ones are not compared */

static missing_end unclosed(uint32_t begin, uint32_t end, const char *text) {
    return (missing_end){begin, end, text};
}

/* Is the wrong token a string that does not end? Else it is a character that CEL does not have,
 * which the parser reports. */
static bool is_open_string(const char *s, const mwl__cel_token *t) {
    uint32_t at = t->begin;
    while (at < t->end && at < t->begin + 2 && strchr("rRbB", s[at])) at++;
    return at < t->end && (s[at] == '\'' || s[at] == '"');
}

/* Returns the place of the first closing pair outside of brackets, or 0 if there is none, with the
 * reason in *why. */
static uint32_t find_end(const char *s, uint32_t len, missing_end *why) {
    uint32_t at = 2, depth = 0, open[NESTING];
    for (;;) {
        mwl__cel_token t = mwl__cel_lex(s, len, at);
        char closes = '\0';
        switch (t.kind) {
        case MWL__CEL_T_LBRACE:
        case MWL__CEL_T_LPAREN:
        case MWL__CEL_T_LBRACKET:
            if (depth < NESTING) open[depth] = t.begin;
            depth++;
            break;
        case MWL__CEL_T_RBRACE:
            if (depth == 0 && t.begin + 1 < len && s[t.begin + 1] == '}') return t.begin;
            closes = '{';
            break;
        case MWL__CEL_T_RPAREN: closes = '('; break;
        case MWL__CEL_T_RBRACKET: closes = '['; break;
        case MWL__CEL_T_BAD:
            if (!is_open_string(s, &t)) break;
            *why = unclosed(t.begin, t.end, t.fault);
            return 0;
        case MWL__CEL_T_END: /* the last token was before the closing pair: a comment hides it */
            if (depth == 0 && len - at >= 4 && memcmp(s + len - 2, "}}", 2) == 0) return len - 2;
            *why = depth && depth <= NESTING ? unclosed(open[depth - 1], open[depth - 1] + 1,
                                                        "this bracket is not closed")
                                             : unclosed(2, len, "the brackets do not balance");
            return 0;
        default: break;
        }
        at = t.end;
        if (!closes) continue;
        if (depth == 0) {
            *why = unclosed(t.begin, t.end, "this bracket closes nothing");
            return 0;
        }
        depth--;
        if (depth < NESTING && s[open[depth]] != closes) {
            *why = unclosed(open[depth], open[depth] + 1, "this bracket is not closed");
            return 0;
        }
    }
}

/* spec: expressions, the embedding: a string is an expression only if its first closing pair is its
 * end; "{{ a }} and {{ b }}" is a literal. */
static embedding classify(const mwl__node *n, missing_end *why) {
    const char *s = n->as.text;
    uint32_t len = n->count;
    if (len < 4 || memcmp(s, "{{", 2) != 0) return has_pair(s, len) ? TEMPLATE : LITERAL;
    bool ends = memcmp(s + len - 2, "}}", 2) == 0;
    uint32_t end = find_end(s, len, why);
    if (end && end + 2 < len) return TEMPLATE;
    if (!ends) return has_pair(s, len) ? TEMPLATE : LITERAL;
    if (!end) return UNCLOSED;
    return mwl__cel_lex(s, end, 2).kind == MWL__CEL_T_END ? EMPTY : EXPRESSION;
}

/* ---- problems of CEL as diagnostics ---------------------------------------------------------- */

typedef struct reporter {
    mwl__checker *c;
    mwl__m_expr *e;
    mwl__flow *flow;
    bool kinds; /* a kind that does not fit was reported */
} reporter;

/* Keeps a report about an unknown name. It may be a variable without its root; this is known when
 * all Steps were checked. */
static void remember_name(reporter *r, const mwl__cel_problem *p, mwl__diag *d) {
    mwl__unknown *u = mwl__check_new(r->c, 1, sizeof *u);
    if (!u) return;
    u->diag = d;
    u->flow = r->flow;
    u->name = r->e->node->as.text + r->e->body_at + p->begin;
    u->len = p->end - p->begin;
    u->next = r->c->unknown;
    r->c->unknown = u;
}

void mwl__check_unknown_names(mwl__checker *c) {
    for (const mwl__unknown *u = c->unknown; u; u = u->next) {
        const mwl__name *v = mwl__names_find(&u->flow->vars, u->name, u->len);
        if (!v || !(v->flags & (MWL__VAR_BOUND | MWL__VAR_PARAMETER))) continue;
        mwl__diag_help(u->diag, "did you mean `vars.%.*s`?", (int)u->len, u->name);
        u->diag->edits = NULL;
        mwl__diag_fix(u->diag, mwl__span_make(u->diag->span.begin, u->diag->span.begin), "vars.",
                      5);
    }
}

/* An operator with kinds that do not fit faults at run time, and a `catch` can handle that. So it
 * is a warning, not an error. */
static mwl__diag_code code_of(const mwl__cel_problem *p) {
    switch (p->why) {
    case MWL__CEL_WHY_LITERAL: return MWL_DIAG_INVALID_LITERAL;
    case MWL__CEL_WHY_MACRO: return MWL_DIAG_INVALID_MACRO;
    case MWL__CEL_WHY_SIZE: return MWL_DIAG_EXPRESSION_TOO_LARGE;
    case MWL__CEL_WHY_NAME: return MWL_DIAG_UNKNOWN_NAME;
    case MWL__CEL_WHY_SCOPE: return MWL_DIAG_ROOT_OUT_OF_SCOPE;
    case MWL__CEL_WHY_FUNCTION: return MWL_DIAG_UNKNOWN_FUNCTION;
    case MWL__CEL_WHY_ARITY: return MWL_DIAG_WRONG_ARGUMENTS;
    case MWL__CEL_WHY_TYPE: return MWL_DIAG_UNKNOWN_TYPE;
    case MWL__CEL_WHY_KIND: return MWL_DIAG_EXPRESSION_ALWAYS_FAULTS;
    case MWL__CEL_WHY_PATTERN: return MWL_DIAG_INVALID_REGEX;
    default: return MWL_DIAG_EXPRESSION_SYNTAX;
    }
}

mwl__diag *mwl__check_report_cel(mwl__checker *c, const mwl__m_expr *e, const mwl__cel_problem *p) {
    uint32_t at = e->body_at;
    mwl__diag *d = mwl__node_report_text(c->tree, e->node, at + p->begin, at + p->end, code_of(p),
                                         "%s", p->message);
    if (!d) return NULL;
    if (p->note) mwl__diag_note(d, "%s", p->note);
    if (p->help) mwl__diag_help(d, "%s", p->help);
    if (p->fix)
        mwl__diag_fix_text(
            d, mwl__node_text_span(c->tree, e->node, at + p->fix_begin, at + p->fix_end), p->fix,
            strlen(p->fix));
    return d;
}

static void report(void *ctx, const mwl__cel_problem *p) {
    reporter *r = ctx;
    mwl__diag *d = mwl__check_report_cel(r->c, r->e, p);
    const mwl__node *n = r->e->node;
    if (d && !d->help && p->why == MWL__CEL_WHY_SYNTAX && n->count > 6 &&
        memcmp(n->as.text, "{{{", 3) == 0 && memcmp(n->as.text + n->count - 3, "}}}", 3) == 0)
        mwl__diag_help(d, "an expression has two braces: write \"{{%.*s}}\"",
                       (int)(n->count - 6 > 60 ? 60 : n->count - 6), n->as.text + 3);
    if (p->why == MWL__CEL_WHY_KIND) r->kinds = true;
    if (d && p->why == MWL__CEL_WHY_NAME) remember_name(r, p, d);
}

static unsigned lookup(void *ctx, const char *name, size_t len, mwl__cel_lit *lit) {
    return mwl__scope_lookup(ctx, name, len, lit);
}

static const char *pattern_fault(void *ctx, const char *pattern, size_t len) {
    mwl__checker *c = ctx;
    mwl__regex *re = NULL;
    mwl_error why = {MWL_OK, NULL, 0};
    uint64_t work = 0;
    mwl_status status = mwl__regex_compile(&c->arena->alloc, pattern, len, 0, &work, &re, &why);
    mwl__regex_free(re);
    (void)mwl__diags_work(c->sink, c->tree->source, c->sink->quota.at, work / 4);
    if (status == MWL_E_NOMEM) c->status = status;
    if (status == MWL_OK || status == MWL_E_NOMEM) return NULL;
    return why.message ? why.message : mwl_status_text(status);
}

/* ---- certain faults that CEL alone does not know --------------------------------------------- */

/* Is this a path into data? Data is JSON, so its numbers are doubles. */
static bool is_data(const mwl__cel_node *n) {
    while (n->kind == MWL__CEL_SELECT || n->kind == MWL__CEL_INDEX) {
        if (n->flags) return false; /* has() and optional selection yield something else */
        n = n->kids[0];
    }
    return n->kind == MWL__CEL_IDENT && n->ref == MWL__CEL_REF_VARIABLE;
}

static bool is_integer(const mwl__cel_node *n) {
    if (n->kind == MWL__CEL_LIT) return n->lit.kind == MWL__CEL_INT || n->lit.kind == MWL__CEL_UINT;
    return (n->kind == MWL__CEL_CALL || n->kind == MWL__CEL_MEMBER) &&
           strcmp(n->name.data, "size") == 0;
}

/* Suggests to write the integer as a double. */
static void suggest_double(mwl__checker *c, mwl__diag *d, const mwl__m_expr *e,
                           const mwl__cel_node *n) {
    const char *text = e->node->as.text + e->body_at;
    uint32_t at = e->body_at, len = n->end - n->begin;
    mwl__span begin = mwl__node_text_span(c->tree, e->node, at + n->begin, at + n->begin),
              end = mwl__node_text_span(c->tree, e->node, at + n->end, at + n->end);
    if (n->kind == MWL__CEL_LIT && n->lit.kind == MWL__CEL_INT &&
        !memchr(text + n->begin, 'x', len)) {
        mwl__diag_help(d, "write it with a point: %.*s.0", (int)len, text + n->begin);
        mwl__diag_fix(d, end, ".0", 2);
    } else {
        mwl__diag_help(d, "write double() around it: double(%.*s)", (int)(len > 60 ? 60 : len),
                       text + n->begin);
        mwl__diag_fix(d, begin, "double(", 7);
        mwl__diag_fix(d, end, ")", 1);
    }
}

/* Returns whether there is an operator that does not take both numbers. */
static bool check_numbers(mwl__checker *c, const mwl__m_expr *e, const mwl__cel_node *n) {
    bool found = false;
    for (; n; n = mwl__cel_spine(n)) {
        if (n->kind >= MWL__CEL_MUL && n->kind <= MWL__CEL_SUB &&
            ((is_data(n->kids[0]) && is_integer(n->kids[1])) ||
             (is_integer(n->kids[0]) && is_data(n->kids[1])))) {
            mwl__diag *d = mwl__node_report_text(c->tree, e->node, e->body_at + n->begin,
                                                 e->body_at + n->end, MWL_DIAG_MIXED_NUMBERS,
                                                 "numbers of data are doubles, and '%s' does not "
                                                 "take a double and an int",
                                                 mwl__cel_kind_text((mwl__cel_kind)n->kind));
            if (d) suggest_double(c, d, e, is_data(n->kids[0]) ? n->kids[1] : n->kids[0]);
            found = true;
        }
        for (uint32_t i = mwl__cel_spine(n) ? 1 : 0; i < n->n_kids; i++)
            found |= check_numbers(c, e, n->kids[i]);
    }
    return found;
}

/* Reports a result without a JSON form, also inside a conditional, a list or a map. */
static void check_result(mwl__checker *c, const mwl__m_expr *e, const mwl__cel_node *n) {
    static const struct {
        const char *name, *help;
    } calls[] = {{"now", "string(now())"},
                 {"wallTime", "string(wallTime())"},
                 {"timestamp", "string(timestamp(...))"},
                 {"duration", "durationToIso8601(duration(...))"},
                 {"durationFromIso8601", "durationToIso8601(...)"},
                 {"bytes", "base64.encode(bytes(...))"}};
    if (n->kind == MWL__CEL_COND) {
        check_result(c, e, n->kids[1]);
        check_result(c, e, n->kids[2]);
    }
    for (uint32_t i = 0; i < n->n_kids && (n->kind == MWL__CEL_LIST || n->kind == MWL__CEL_MAP);
         i++)
        check_result(c, e, n->kids[i]);
    for (size_t i = 0; i < sizeof calls / sizeof *calls && n->kind == MWL__CEL_CALL; i++) {
        if (strcmp(n->name.data, calls[i].name) != 0) continue;
        mwl__diag *d =
            mwl__node_report_text(c->tree, e->node, e->body_at + n->begin, e->body_at + n->end,
                                  MWL_DIAG_UNREPRESENTABLE_RESULT, "this result has no JSON form");
        mwl__diag_note(d, "it is System.UnrepresentableValue when it runs");
        mwl__diag_help(d, "convert it: %s", calls[i].help);
    }
}

/* ---- one expression -------------------------------------------------------------------------- */

mwl__cel_check_options mwl__check_cel_options(mwl__checker *c) {
    return (mwl__cel_check_options){
        .arena = c->arena,
        .n_roots = MWL__N_ROOTS,
        .functions = c->functions,
        .n_functions = c->n_functions,
        .is_message = mwl__cel_is_message,
        .pattern_fault = pattern_fault,
        .ctx = c,
        .function_words = mwl__diags_words(c->sink, MWL__WORDS_CEL_FUNCTION),
        .no_hints = !mwl__diags_room(c->sink, MWL_DIAG_UNKNOWN_FUNCTION),
        .name_words = mwl__diags_words(c->sink, MWL__WORDS_CEL_NAME)};
}

/* An expression that depends on variables is checked again when it is known what they are. */
static void list_typed(mwl__checker *c, mwl__flow *f, const mwl__m_expr *e, bool condition) {
    if (!f->typed || f->typed->e != e) {
        mwl__typed *x = mwl__check_new(c, 1, sizeof *x);
        if (!x) return;
        x->e = e;
        x->next = f->typed;
        f->typed = x;
    }
    f->typed->condition = condition;
}

static mwl_status check_cel(mwl__checker *c, mwl__m_expr *e, const mwl__site *site) {
    reporter r = {c, e, site->flow, false};
    mwl__cel_root roots[MWL__N_ROOTS];
    mwl__scope_roots(site->roots, roots);
    mwl__cel_options parse = {.arena = c->arena,
                              .source = e->node->as.text + e->body_at,
                              .len = e->node->count - 2 - e->body_at,
                              .sink = {report, &r}};
    mwl__cel_names names = {lookup, &c->function_names, NULL};
    mwl__cel_check_options check = mwl__check_cel_options(c);
    check.roots = roots;
    check.root = &e->known;
    check.sink = parse.sink;
    mwl_status status = mwl__cel_parse(&parse, &e->tree);
    if (status == MWL_E_TOO_BIG)
        mwl__node_report(c->tree, e->node, MWL_DIAG_EXPRESSION_TOO_LARGE,
                         "the expression is too large");
    if (status == MWL_OK) status = mwl__cel_resolve(c->arena, &e->tree, &names);
    if (status < 0) return status;
    size_t before = c->sink->n_broken;
    status = mwl__cel_check(&e->tree, &check);
    if (status == MWL_E_REJECTED && c->sink->n_broken == before)
        status = MWL_OK; /* certain faults */
    if (status == MWL_OK) status = mwl__check_paths(c, e, site);
    if (status < 0 || check_numbers(c, e, e->tree.root) || r.kinds || !e->depends) {
        e->depends = false;
        return status;
    }
    if (e->tree.root->kind != MWL__CEL_SELECT) list_typed(c, site->flow, e, false);
    return status;
}

static mwl__m_expr *add_expression(mwl__checker *c, const mwl__node *n, const mwl__site *site) {
    if (!mwl__check_work(c, n, 16 + (uint64_t)n->count * 4)) return NULL;
    mwl__m_expr *e = mwl__check_new(c, 1, sizeof *e);
    if (!e) return NULL;
    e->node = n;
    e->body_at = 2;
    e->site = site->roots;
    mwl_status status = check_cel(c, e, site);
    if (status == MWL_E_NOMEM || (status == MWL_OK && !mwl__model_put(c->m, e)))
        c->status = MWL_E_NOMEM;
    return status == MWL_OK ? e : NULL;
}

/* Is the quote at `at` the end of a text that had one in a word, as in 'can't'? */
static bool is_apostrophe(const mwl__node *n, uint32_t at) {
    const char *s = n->as.text;
    while (at > 2 && s[at] == '\'' && mwl__is_letter(s[at - 1])) {
        uint32_t from = at - 1;
        while (from > 2 && mwl__is_letter(s[from])) from--;
        return s[from] == '\'' && mwl__is_letter(s[from - 1]);
    }
    return false;
}

/* Returns the expression in the string. NULL: it is a literal, or a mistake was reported. */
static mwl__m_expr *check_text(mwl__checker *c, const mwl__node *n, const mwl__site *site) {
    missing_end why;
    mwl__diag *d;
    switch (classify(n, &why)) {
    case EXPRESSION: return add_expression(c, n, site);
    case EMPTY:
        d = mwl__node_report(c->tree, n, MWL_DIAG_EMPTY_EXPRESSION,
                             "there is no expression between the braces");
        mwl__diag_help(d, "for an empty text write \"\"");
        return NULL;
    case UNCLOSED:
        d = mwl__node_report_text(c->tree, n, why.begin, why.end, MWL_DIAG_UNCLOSED_EXPRESSION,
                                  "%s", why.text);
        if (is_apostrophe(n, why.begin))
            mwl__diag_help(d, "the ' of a word ends the string: write \\\\' for it");
        return NULL;
    case TEMPLATE: mwl__check_template(c, n); return NULL;
    case LITERAL: mwl__check_literal(c, n); return NULL;
    }
    return NULL;
}

void mwl__check_value(mwl__checker *c, const mwl__node *n, const mwl__site *site) {
    if (c->status < 0 || !mwl__check_work(c, n, 1)) return;
    if (n->kind == MWL_NODE_STRING) {
        const mwl__m_expr *e = check_text(c, n, site);
        if (e) check_result(c, e, e->tree.root);
    }
    for (const mwl__node *m = mwl__node_first(n); m; m = m->next) mwl__check_value(c, m, site);
}

/* Reports names that contain the root, as other languages write them: "vars.count", "$.count",
 * "count.$". */
static void check_variable_name(mwl__checker *c, mwl__flow *f, const mwl__node *m) {
    const char *s = m->key;
    size_t len = m->key_len, from = 0, to = len;
    if (len > 5 && memcmp(s, "vars.", 5) == 0) from = 5;
    if (len > 2 && memcmp(s, "$.", 2) == 0) from = 2;
    if (len > 2 && memcmp(s + len - 2, ".$", 2) == 0) to -= 2;
    if (from == 0 && to == len) return;
    mwl__diag *d = mwl__node_report_key(c->tree, m, MWL_DIAG_ROOT_IN_VARIABLE,
                                        "this binds a variable whose name is '%.*s' as a whole",
                                        MWL__NODE_KEY(m));
    mwl__diag_help(d, "write \"%.*s\": it is read as vars.%.*s", (int)(to - from), s + from,
                   (int)(to - from), s + from);
    mwl__diag_fix_string(d, mwl__node_key_span(m), s + from, to - from);
    /* so that reads of the name that was meant are not reported too */
    if (!mwl__names_put(&f->vars, c->arena, s + from, to - from, MWL__VAR_BOUND))
        c->status = MWL_E_NOMEM;
}

void mwl__check_assign(mwl__checker *c, const mwl__node *n, const mwl__site *site) {
    mwl__check_value(c, n, site);
    for (const mwl__node *m = mwl__node_first(n); m; m = m->next) {
        const mwl__name *v =
            mwl__names_put(&site->flow->vars, c->arena, m->key, m->key_len, MWL__VAR_BOUND);
        if (v)
            mwl__check_write(c, site, v->id, m);
        else
            c->status = MWL_E_NOMEM;
        check_variable_name(c, site->flow, m);
    }
}

/* ---- conditions ------------------------------------------------------------------------------ */

/* Is the tree constant? It has no root, and no function that can return something else each time.
 */
static bool is_constant(const mwl__cel_node *n) {
    for (; n; n = mwl__cel_spine(n)) {
        if (n->kind == MWL__CEL_IDENT && n->ref != MWL__CEL_REF_LOCAL &&
            n->ref != MWL__CEL_REF_TYPE)
            return false;
        if (n->kind == MWL__CEL_CALL || n->kind == MWL__CEL_MEMBER) return false;
        for (uint32_t i = mwl__cel_spine(n) ? 1 : 0; i < n->n_kids; i++)
            if (!is_constant(n->kids[i])) return false;
    }
    return true;
}

void mwl__check_condition(mwl__checker *c, const mwl__node *n, const mwl__site *site) {
    if (n->kind == MWL_NODE_BOOL) return;
    if (!mwl__form_looks_computed(n)) {
        mwl__diag *d = mwl__node_report(c->tree, n, MWL_DIAG_WRONG_TYPE,
                                        "'when' is %s and must be a boolean or an expression",
                                        mwl__node_kind_name(n));
        mwl__check_suggest_braces(c, d, n);
        return;
    }
    mwl__m_expr *e = check_text(c, n, site);
    if (!e) return;
    if (e->known != MWL__KNOWN_ANY && e->known != MWL__KNOWN_BOOL)
        mwl__check_not_boolean(c, e, e->known, NULL);
    else if (is_constant(e->tree.root))
        mwl__node_report(c->tree, n, MWL_DIAG_CONSTANT_CONDITION,
                         "this condition does not depend on anything");
    else if (e->depends)
        list_typed(c, site->flow, e, true);
}

int mwl__check_constant(const mwl__checker *c, const mwl__node *n) {
    if (n->kind == MWL_NODE_BOOL) return n->boolean;
    const mwl__m_expr *e = mwl__model_expr(c->m, n);
    if (!e || e->tree.root->kind != MWL__CEL_LIT || e->tree.root->lit.kind != MWL__CEL_BOOL)
        return -1;
    return e->tree.root->lit.as.b;
}
