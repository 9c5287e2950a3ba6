/* cel_parse.c: builds a tree from tokens, by recursive descent.
 *
 * Owns: the grammar of CEL (spec: langdef, Syntax), with cel-go's optional syntax and back-quoted
 * fields. Refuses to know: what names mean. It only passes each complete call to the macros.
 *
 * Recursion is limited: every bracket and every `?:` goes through parse_expr, which counts. Chains
 * of operators, selections and calls are loops. A syntax error ends the parse. A literal without a
 * value is reported and parsing continues, so that one pass shows several mistakes. */
#include "assembler/cel/cel_parser.h"
#include "mwl_config.h"

static mwl__cel_node *parse_expr(mwl__cel_parser *p);

/* ---- tokens ---------------------------------------------------------------------------------- */

static void next(mwl__cel_parser *p) {
    p->prev_begin = p->tok.begin;
    p->prev_end = p->tok.end;
    p->tok = mwl__cel_lex(p->options->source, p->options->len, p->tok.end);
}

static mwl__cel_token look_ahead(const mwl__cel_parser *p) {
    return mwl__cel_lex(p->options->source, p->options->len, p->tok.end);
}

static bool accept(mwl__cel_parser *p, mwl__cel_token_kind kind) {
    if (p->tok.kind != kind) return false;
    next(p);
    return true;
}

static void *unexpected(mwl__cel_parser *p, const char *wanted) {
    const mwl__cel_token *t = &p->tok;
    uint32_t len = t->end - t->begin < 40 ? t->end - t->begin : 40;
    if (mwl__cel_foreign(p))
        ;
    else if (t->kind == MWL__CEL_T_BAD)
        mwl__cel_complain(p, t->begin, t->end, NULL, "%s", t->fault);
    else if (t->kind == MWL__CEL_T_END && p->prev_end > p->prev_begin &&
             p->prev_end < p->options->len)
        mwl__cel_complain(
            p, p->prev_end, p->prev_end, NULL, "%s is missing after `%.*s`", wanted,
            (int)(p->prev_end - p->prev_begin < 40 ? p->prev_end - p->prev_begin : 40),
            p->options->source + p->prev_begin);
    else if (t->kind == MWL__CEL_T_END)
        mwl__cel_complain(p, t->begin, t->end, NULL, "%s is missing at the end", wanted);
    else
        mwl__cel_complain(p, t->begin, t->end, NULL, "`%.*s` stands where %s is expected", (int)len,
                          p->options->source + t->begin, wanted);
    p->status = MWL_E_SYNTAX;
    return NULL;
}

static bool expect(mwl__cel_parser *p, mwl__cel_token_kind kind, const char *wanted) {
    if (accept(p, kind)) return true;
    unexpected(p, wanted);
    return false;
}

static mwl__cel_text token_text(mwl__cel_parser *p, const mwl__cel_token *t) {
    uint32_t quote = t->kind == MWL__CEL_T_QUOTED ? 1 : 0;
    return mwl__cel_copy(p, p->options->source + t->begin + quote, t->end - t->begin - 2 * quote);
}

/* ---- collecting children --------------------------------------------------------------------- */

static bool push(mwl__cel_parser *p, mwl__cel_node *kid) {
    if (!kid) return false;
    void *stack = p->stack;
    mwl_status st =
        mwl__mem_grow(&p->arena->alloc, &stack, &p->cap_stack, p->n_stack + 1, sizeof *p->stack);
    if (st < 0) {
        p->status = st;
        return false;
    }
    p->stack = stack;
    p->stack[p->n_stack++] = kid;
    return true;
}

/* Gives the node everything that was pushed since `mark` as its kids, and resets the stack to the
 * mark. */
static mwl__cel_node *collect(mwl__cel_parser *p, mwl__cel_node *node, size_t mark) {
    size_t n = p->n_stack - mark;
    p->n_stack = mark;
    return node ? mwl__cel_adopt(p, node, n, p->stack ? p->stack + mark : NULL) : NULL;
}

static mwl__cel_node *node_at(mwl__cel_parser *p, mwl__cel_kind kind, uint32_t begin, uint32_t at) {
    mwl__cel_node *n = mwl__cel_leaf(p, kind, begin, p->prev_end);
    if (n) n->at = at;
    return n;
}

/* Records which of the collected children had a `?` before them. */
typedef struct optionals {
    bool *marks;
    size_t cap;
} optionals;

static bool mark_optional(mwl__cel_parser *p, optionals *o, size_t i) {
    void *marks = o->marks;
    size_t old = o->cap;
    mwl_status st = mwl__mem_grow(&p->arena->alloc, &marks, &o->cap, i + 1, sizeof *o->marks);
    if (st < 0) {
        p->status = st;
        return false;
    }
    o->marks = marks;
    memset(o->marks + old, 0, o->cap - old);
    o->marks[i] = true;
    return true;
}

/* Copies the marks to the children and frees them. */
static mwl__cel_node *settle_optionals(mwl__cel_parser *p, optionals *o, mwl__cel_node *node) {
    if (node && o->marks) {
        for (size_t i = 0; i < node->n_kids && i < o->cap; i++)
            node->kids[i]->optional = o->marks[i];
        node->flags |= MWL__CEL_OPTIONAL;
    }
    mwl__mem_free(&p->arena->alloc, o->marks, o->cap * sizeof *o->marks);
    return node;
}

/* ---- primary expressions --------------------------------------------------------------------- */

static mwl__cel_node *parse_literal(mwl__cel_parser *p, uint32_t begin, bool negative) {
    mwl__cel_token t = p->tok;
    next(p);
    mwl__cel_node *n = node_at(p, MWL__CEL_LIT, begin, begin);
    if (!n) return NULL;
    mwl__cel_lit_fault fault = {0};
    mwl_status st = mwl__cel_literal(p->arena, p->options->source, &t, negative, &n->lit, &fault);
    if (st == MWL_E_NOMEM) {
        p->status = st;
        return NULL;
    }
    if (st < 0) {
        p->why = MWL__CEL_WHY_LITERAL;
        mwl__cel_complain(p, fault.begin, fault.end, NULL, "%s", fault.message);
    }
    return n;
}

/* Reads and pushes the arguments after an opening parenthesis. Consumes the closing one. */
static bool parse_args(mwl__cel_parser *p) {
    if (accept(p, MWL__CEL_T_RPAREN)) return true;
    do {
        if (!push(p, parse_expr(p))) return false;
    } while (accept(p, MWL__CEL_T_COMMA));
    return expect(p, MWL__CEL_T_RPAREN, "`,` or `)`");
}

static mwl__cel_node *parse_list(mwl__cel_parser *p) {
    uint32_t begin = p->tok.begin;
    size_t mark = p->n_stack;
    optionals marks = {0};
    mwl__cel_node *n = NULL;
    next(p);
    bool only_comma = accept(p, MWL__CEL_T_COMMA); /* the grammar has `[,]` */
    while (!only_comma && p->tok.kind != MWL__CEL_T_RBRACKET) {
        if (accept(p, MWL__CEL_T_QUESTION) && !mark_optional(p, &marks, p->n_stack - mark))
            goto out;
        if (!push(p, parse_expr(p))) goto out;
        if (!accept(p, MWL__CEL_T_COMMA)) break;
    }
    if (!expect(p, MWL__CEL_T_RBRACKET, "`,` or `]`")) goto out;
    n = collect(p, node_at(p, MWL__CEL_LIST, begin, begin), mark);
out:
    p->n_stack = mark;
    return settle_optionals(p, &marks, n);
}

static mwl__cel_node *parse_map(mwl__cel_parser *p) {
    uint32_t begin = p->tok.begin;
    size_t mark = p->n_stack;
    optionals marks = {0};
    mwl__cel_node *n = NULL;
    next(p);
    bool only_comma = accept(p, MWL__CEL_T_COMMA);
    while (!only_comma && p->tok.kind != MWL__CEL_T_RBRACE) {
        if (accept(p, MWL__CEL_T_QUESTION) && !mark_optional(p, &marks, p->n_stack - mark))
            goto out;
        if (!push(p, parse_expr(p))) goto out;
        if (!expect(p, MWL__CEL_T_COLON, "`:` after the key")) goto out;
        if (!push(p, parse_expr(p))) goto out;
        if (!accept(p, MWL__CEL_T_COMMA)) break;
    }
    if (!expect(p, MWL__CEL_T_RBRACE, "`,` or `}`")) goto out;
    n = collect(p, node_at(p, MWL__CEL_MAP, begin, begin), mark);
out:
    p->n_stack = mark;
    return settle_optionals(p, &marks, n);
}

/* Returns the dotted name of `chain`, an IDENT below plain SELECTs. */
static mwl__cel_text dotted(mwl__cel_parser *p, const mwl__cel_node *chain) {
    size_t len = 0;
    const mwl__cel_node *n = chain;
    for (; n->kind == MWL__CEL_SELECT; n = n->kids[0]) len += n->name.len + 1;
    len += n->name.len;
    mwl__cel_text t = {NULL, len};
    char *data = mwl__arena_new(p->arena, len + 1);
    if (!data) {
        p->status = MWL_E_NOMEM;
        return t;
    }
    for (n = chain;; n = n->kids[0]) {
        len -= n->name.len;
        memcpy(data + len, n->name.data, n->name.len);
        if (n->kind == MWL__CEL_IDENT) break;
        data[--len] = '.';
    }
    t.data = data;
    return t;
}

/* A leaf that holds the name of a field until its message is complete. */
static bool push_field(mwl__cel_parser *p) {
    mwl__cel_token t = p->tok;
    if (t.kind != MWL__CEL_T_NAME && t.kind != MWL__CEL_T_QUOTED) {
        unexpected(p, "a field's name");
        return false;
    }
    next(p);
    mwl__cel_node *n = node_at(p, MWL__CEL_IDENT, t.begin, t.begin);
    if (!n) return false;
    p->n_nodes--;
    n->name = token_text(p, &t);
    return n->name.data && push(p, n);
}

/* Turns the stack above the mark (name value name value ...) into the fields and kids of the
 * message. */
static mwl__cel_node *finish_message(mwl__cel_parser *p, mwl__cel_node *n, size_t mark) {
    size_t count = (p->n_stack - mark) / 2;
    if (count > 0) {
        n->fields = mwl__arena_new(p->arena, count * sizeof *n->fields);
        if (!n->fields) {
            p->status = MWL_E_NOMEM;
            return NULL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        n->fields[i] = p->stack[mark + 2 * i]->name;
        p->stack[mark + i] = p->stack[mark + 2 * i + 1];
    }
    p->n_stack = mark + count;
    return collect(p, n, mark);
}

static mwl__cel_node *parse_message(mwl__cel_parser *p, const mwl__cel_node *type, uint32_t begin) {
    size_t mark = p->n_stack;
    optionals marks = {0};
    mwl__cel_node *n = NULL;
    const mwl__cel_node *bottom = type;
    while (bottom->kind == MWL__CEL_SELECT) bottom = bottom->kids[0];
    next(p);
    bool only_comma = accept(p, MWL__CEL_T_COMMA);
    while (!only_comma && p->tok.kind != MWL__CEL_T_RBRACE) {
        size_t i = (p->n_stack - mark) / 2;
        if (accept(p, MWL__CEL_T_QUESTION) && !mark_optional(p, &marks, i)) goto out;
        if (!push_field(p)) goto out;
        if (!expect(p, MWL__CEL_T_COLON, "`:` after the field's name")) goto out;
        if (!push(p, parse_expr(p))) goto out;
        if (!accept(p, MWL__CEL_T_COMMA)) break;
    }
    if (!expect(p, MWL__CEL_T_RBRACE, "`,` or `}`")) goto out;
    n = node_at(p, MWL__CEL_MESSAGE, begin, begin);
    if (!n) goto out;
    n->name = dotted(p, type);
    n->flags = bottom->flags & MWL__CEL_LEADING_DOT;
    n = n->name.data ? finish_message(p, n, mark) : NULL;
out:
    p->n_stack = mark;
    return settle_optionals(p, &marks, n);
}

/* Returns whether the name at the token begins `a.b.c {`. The type of a message may use reserved
 * words. */
static bool begins_message(const mwl__cel_parser *p) {
    const char *s = p->options->source;
    mwl__cel_token t = p->tok;
    for (;;) {
        if (t.kind != MWL__CEL_T_NAME) return false;
        t = mwl__cel_lex(s, p->options->len, t.end);
        if (t.kind == MWL__CEL_T_LBRACE) return true;
        if (t.kind != MWL__CEL_T_DOT) return false;
        t = mwl__cel_lex(s, p->options->len, t.end);
    }
}

/* Reads a name or a global call, after its leading dot if there is one. */
static mwl__cel_node *parse_name(mwl__cel_parser *p, uint32_t begin, uint8_t flags) {
    mwl__cel_token t = p->tok;
    if (t.kind != MWL__CEL_T_NAME) return unexpected(p, "a name");
    mwl__cel_text name = token_text(p, &t);
    if (!name.data) return NULL;
    if (mwl__cel_is_reserved(name.data, name.len) && !begins_message(p)) {
        p->help = mwl__cel_reserved_help(p, name.data, name.len);
        mwl__cel_complain(p, t.begin, t.end,
                          p->help ? NULL : "as a member, after a dot, it is allowed",
                          "`%s` is a reserved word and cannot be a name", name.data);
        p->status = MWL_E_SYNTAX; /* what follows is the syntax of another language */
        return NULL;
    }
    next(p);
    size_t mark = p->n_stack;
    bool call = accept(p, MWL__CEL_T_LPAREN);
    if (call && !parse_args(p)) return NULL;
    mwl__cel_node *n = node_at(p, call ? MWL__CEL_CALL : MWL__CEL_IDENT, begin, t.begin);
    if (!n) return NULL;
    n->name = name;
    n->flags = flags;
    if (!call) return n;
    n = collect(p, n, mark);
    return n ? mwl__cel_expand(p, n) : NULL;
}

static mwl__cel_node *parse_primary(mwl__cel_parser *p) {
    uint32_t begin = p->tok.begin;
    switch (p->tok.kind) {
    case MWL__CEL_T_NAME: return parse_name(p, begin, 0);
    case MWL__CEL_T_DOT: next(p); return parse_name(p, begin, MWL__CEL_LEADING_DOT);
    case MWL__CEL_T_LBRACKET: return parse_list(p);
    case MWL__CEL_T_LBRACE: return parse_map(p);
    case MWL__CEL_T_LPAREN: {
        next(p);
        mwl__cel_node *n = parse_expr(p);
        return n && expect(p, MWL__CEL_T_RPAREN, "`)`") ? n : NULL;
    }
    case MWL__CEL_T_MINUS: next(p); return parse_literal(p, begin, true); /* a number follows */
    case MWL__CEL_T_INT:
    case MWL__CEL_T_UINT:
    case MWL__CEL_T_FLOAT:
    case MWL__CEL_T_STRING:
    case MWL__CEL_T_BYTES:
    case MWL__CEL_T_TRUE:
    case MWL__CEL_T_FALSE:
    case MWL__CEL_T_NULL: return parse_literal(p, begin, false);
    default: return unexpected(p, "an expression");
    }
}

/* ---- members --------------------------------------------------------------------------------- */

/* Reads `.field`, `.?field` or `.function(args)` after the target; the dot is the token. */
static mwl__cel_node *parse_dot(mwl__cel_parser *p, mwl__cel_node *target, uint32_t begin) {
    next(p);
    bool optional = accept(p, MWL__CEL_T_QUESTION);
    mwl__cel_token t = p->tok;
    if (t.kind != MWL__CEL_T_NAME && t.kind != MWL__CEL_T_QUOTED)
        return unexpected(p, "a field's name");
    mwl__cel_text name = token_text(p, &t);
    if (!name.data) return NULL;
    next(p);
    size_t mark = p->n_stack;
    bool call = !optional && t.kind == MWL__CEL_T_NAME && p->tok.kind == MWL__CEL_T_LPAREN;
    if (!push(p, target)) return NULL;
    if (call) {
        next(p);
        if (!parse_args(p)) return NULL;
    }
    mwl__cel_node *n = node_at(p, call ? MWL__CEL_MEMBER : MWL__CEL_SELECT, begin, t.begin);
    if (!n) return NULL;
    n->name = name;
    if (optional) n->flags |= MWL__CEL_OPTIONAL;
    if (t.kind == MWL__CEL_T_QUOTED) n->flags |= MWL__CEL_QUOTED;
    n = collect(p, n, mark);
    return n && call ? mwl__cel_expand(p, n) : n;
}

static mwl__cel_node *parse_index(mwl__cel_parser *p, mwl__cel_node *target, uint32_t begin) {
    uint32_t at = p->tok.begin;
    next(p);
    bool optional = accept(p, MWL__CEL_T_QUESTION);
    mwl__cel_node *index = parse_expr(p);
    if (!index || !expect(p, MWL__CEL_T_RBRACKET, "`]`")) return NULL;
    mwl__cel_node *n = node_at(p, MWL__CEL_INDEX, begin, at);
    if (!n) return NULL;
    if (optional) n->flags |= MWL__CEL_OPTIONAL;
    mwl__cel_node *kids[2] = {target, index};
    return mwl__cel_adopt(p, n, 2, kids);
}

static mwl__cel_node *parse_member(mwl__cel_parser *p) {
    uint32_t begin = p->tok.begin;
    bool name = p->tok.kind == MWL__CEL_T_NAME || p->tok.kind == MWL__CEL_T_DOT;
    mwl__cel_node *n = parse_primary(p);
    while (n) {
        /* only a plain dotted name can be the type of a message; `(a){}` is not one */
        name = name && (n->kind == MWL__CEL_IDENT ||
                        (n->kind == MWL__CEL_SELECT &&
                         !(n->flags & (MWL__CEL_OPTIONAL | MWL__CEL_QUOTED | MWL__CEL_TEST))));
        if (p->tok.kind == MWL__CEL_T_DOT)
            n = parse_dot(p, n, begin);
        else if (p->tok.kind == MWL__CEL_T_LBRACKET)
            n = parse_index(p, n, begin);
        else if (p->tok.kind == MWL__CEL_T_LBRACE && name)
            n = parse_message(p, n, begin);
        else
            break;
    }
    return n;
}

/* ---- operators ------------------------------------------------------------------------------- */

static bool is_number(mwl__cel_token_kind kind) {
    return kind == MWL__CEL_T_INT || kind == MWL__CEL_T_FLOAT;
}

static mwl__cel_node *prefix(mwl__cel_parser *p, mwl__cel_kind kind, uint32_t at,
                             mwl__cel_node *operand) {
    mwl__cel_node *n = operand ? node_at(p, kind, at, at) : NULL;
    return n ? mwl__cel_adopt(p, n, 1, &operand) : NULL;
}

/* Reads `!` or `-` signs before a member. Three equal signs have the same fault and the same value
 * as one, so any number of them needs at most two nodes. A minus directly before a number belongs
 * to the literal; otherwise the least int could not be written. */
static mwl__cel_node *parse_unary(mwl__cel_parser *p) {
    mwl__cel_token_kind op = p->tok.kind;
    if (op != MWL__CEL_T_NOT && op != MWL__CEL_T_MINUS) return parse_member(p);
    uint32_t outer = p->tok.begin, inner = outer;
    size_t count = 0;
    while (p->tok.kind == op) {
        if (op == MWL__CEL_T_MINUS && is_number(look_ahead(p).kind)) break;
        inner = p->tok.begin;
        next(p);
        count++;
    }
    bool literal = p->tok.kind == MWL__CEL_T_MINUS && is_number(look_ahead(p).kind);
    if ((p->tok.kind == MWL__CEL_T_MINUS && !literal) || p->tok.kind == MWL__CEL_T_NOT)
        return unexpected(p, "an operand");
    mwl__cel_node *n = parse_member(p);
    mwl__cel_kind kind = op == MWL__CEL_T_NOT ? MWL__CEL_NOT : MWL__CEL_NEG;
    if (count > 0) n = prefix(p, kind, count % 2 ? outer : inner, n);
    if (count > 0 && count % 2 == 0) n = prefix(p, kind, outer, n);
    return n;
}

enum { LEVEL_MUL, LEVEL_ADD, LEVEL_RELATION, LEVEL_AND, LEVEL_OR };

/* A binary operator that is a node with two kids. */
typedef struct binary {
    mwl__cel_token_kind token;
    int level;
    mwl__cel_kind kind;
} binary;

/* Returns the operator of the token if it binds as tightly as this level or more; otherwise NULL.
 */
static const binary *binary_of(mwl__cel_token_kind token, int level) {
    static const binary table[] = {
        {MWL__CEL_T_STAR, LEVEL_MUL, MWL__CEL_MUL},    {MWL__CEL_T_SLASH, LEVEL_MUL, MWL__CEL_DIV},
        {MWL__CEL_T_PERCENT, LEVEL_MUL, MWL__CEL_MOD}, {MWL__CEL_T_PLUS, LEVEL_ADD, MWL__CEL_ADD},
        {MWL__CEL_T_MINUS, LEVEL_ADD, MWL__CEL_SUB},   {MWL__CEL_T_LT, LEVEL_RELATION, MWL__CEL_LT},
        {MWL__CEL_T_LE, LEVEL_RELATION, MWL__CEL_LE},  {MWL__CEL_T_GT, LEVEL_RELATION, MWL__CEL_GT},
        {MWL__CEL_T_GE, LEVEL_RELATION, MWL__CEL_GE},  {MWL__CEL_T_EQ, LEVEL_RELATION, MWL__CEL_EQ},
        {MWL__CEL_T_NE, LEVEL_RELATION, MWL__CEL_NE},  {MWL__CEL_T_IN, LEVEL_RELATION, MWL__CEL_IN},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].token == token && table[i].level <= level) return &table[i];
    return NULL;
}

/* Reads left-associative operators that bind as tightly as this level or more: a loop that builds a
 * left-deep spine. One call for all levels, because each bracket around it needs its C stack. */
static mwl__cel_node *parse_binary(mwl__cel_parser *p, int level) {
    uint32_t begin = p->tok.begin;
    mwl__cel_node *left = parse_unary(p);
    while (left) {
        const binary *op = binary_of(p->tok.kind, level);
        if (!op) break;
        uint32_t at = p->tok.begin;
        next(p);
        mwl__cel_node *kids[2] = {left, parse_binary(p, op->level - 1)};
        if (!kids[1]) return NULL;
        left = node_at(p, op->kind, begin, at);
        if (left) left = mwl__cel_adopt(p, left, 2, kids);
    }
    return left;
}

/* Reads && or ||: one node for all operands. */
static mwl__cel_node *parse_logic(mwl__cel_parser *p, int level) {
    if (level == LEVEL_RELATION) return parse_binary(p, level);
    mwl__cel_token_kind op = level == LEVEL_AND ? MWL__CEL_T_AND : MWL__CEL_T_OR;
    uint32_t begin = p->tok.begin;
    mwl__cel_node *first = parse_logic(p, level - 1);
    if (!first || p->tok.kind != op) return first;
    uint32_t at = p->tok.begin;
    size_t mark = p->n_stack;
    if (!push(p, first)) return NULL;
    while (accept(p, op))
        if (!push(p, parse_logic(p, level - 1))) return NULL;
    return collect(p, node_at(p, level == LEVEL_AND ? MWL__CEL_AND : MWL__CEL_OR, begin, at), mark);
}

/* `a?.b`, with the question mark at `at`. */
static mwl__cel_node *optional_chain(mwl__cel_parser *p, uint32_t at) {
    p->help = "optional selection is `.?`: a.?b.orValue(c)";
    mwl__cel_complain(p, at, at + 2, NULL, "CEL has no `?.`");
    p->status = MWL_E_SYNTAX;
    return NULL;
}

static mwl__cel_node *parse_conditional(mwl__cel_parser *p) {
    uint32_t begin = p->tok.begin;
    mwl__cel_node *kids[3];
    kids[0] = parse_logic(p, LEVEL_OR);
    if (!kids[0] || p->tok.kind != MWL__CEL_T_QUESTION) return kids[0];
    uint32_t at = p->tok.begin;
    next(p);
    kids[1] = parse_logic(p, LEVEL_OR); /* spec: a conditional there needs parentheses */
    if (!kids[1]) return NULL;
    if (p->tok.kind != MWL__CEL_T_COLON && at + 1 < p->options->len &&
        p->options->source[at + 1] == '.')
        return optional_chain(p, at);
    if (!expect(p, MWL__CEL_T_COLON, "`:`")) return NULL;
    kids[2] = parse_expr(p);
    if (!kids[2]) return NULL;
    mwl__cel_node *n = node_at(p, MWL__CEL_COND, begin, at);
    return n ? mwl__cel_adopt(p, n, 3, kids) : NULL;
}

static mwl__cel_node *parse_expr(mwl__cel_parser *p) {
    if (p->depth >= p->depth_limit) {
        p->why = MWL__CEL_WHY_SIZE;
        mwl__cel_complain(p, p->tok.begin, p->tok.end, NULL,
                          "the expression is nested more than %u levels deep", p->depth_limit);
        p->status = MWL_E_DEPTH;
        return NULL;
    }
    p->depth++;
    mwl__cel_node *n = parse_conditional(p);
    p->depth--;
    return n;
}

mwl_status mwl__cel_parse(const mwl__cel_options *options, mwl__cel_tree *tree) {
    if (options->len > MWL__CEL_SOURCE_LIMIT) return MWL_E_TOO_BIG;
    mwl__cel_parser p = {0};
    p.options = options;
    p.arena = options->arena;
    p.depth_limit = options->depth ? options->depth : MWL_CEL_DEPTH;
    if (p.depth_limit > 10000) p.depth_limit = 10000; /* `height` is 16 bits wide */
    p.tok = mwl__cel_lex(options->source, options->len, 0);
    mwl__cel_node *root = parse_expr(&p);
    if (root && p.tok.kind != MWL__CEL_T_END) root = unexpected(&p, "an operator or the end");
    mwl__mem_free(&p.arena->alloc, p.stack, p.cap_stack * sizeof *p.stack);
    if (!root) return p.status < 0 ? p.status : MWL_E_SYNTAX;
    if (p.rejected) return MWL_E_SYNTAX;
    root->parent = NULL;
    mwl__cel_bind(root);
    tree->root = root;
    tree->n_slots = p.n_slots;
    tree->n_nodes = p.n_nodes;
    tree->source = options->source;
    tree->len = options->len;
    return MWL_OK;
}
