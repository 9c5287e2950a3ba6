/* cel_print.h: for tests of the CEL front end: writes a tree as CEL text.
 *
 * Owns: which parentheses the grammar needs and how literals are spelt. Parsing what it writes
 * gives the same tree (names that resolution completed are written in full). Refuses to know: the
 * source. */
#ifndef CEL_PRINT_H
#define CEL_PRINT_H

#include "assembler/cel/cel_front.h"
#include "assembler/cel/cel_lex.h"
#include "vm/base/num.h"

#include <math.h>
#include <stdio.h>

static inline void cel_print_node(mwl__buf *out, const mwl__cel_node *n, int least);

static inline void cel_put_text(mwl__buf *out, mwl__cel_text t) {
    mwl__buf_put(out, t.data, t.len);
}

/* ---- literals -------------------------------------------------------------------------------- */

static inline void cel_print_quoted(mwl__buf *out, mwl__cel_text t, bool bytes) {
    static const char hex[] = "0123456789abcdef";
    mwl__buf_puts(out, bytes ? "b'" : "'");
    for (size_t i = 0; i < t.len; i++) {
        unsigned char c = (unsigned char)t.data[i];
        if (c == '\\' || c == '\'') {
            const char e[2] = {'\\', (char)c};
            mwl__buf_put(out, e, 2);
        } else if (c == '\n') {
            mwl__buf_puts(out, "\\n");
        } else if (c < 0x20 || c == 0x7f || (bytes && c >= 0x80)) {
            const char e[4] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
            mwl__buf_put(out, e, 4);
        } else {
            mwl__buf_put(out, t.data + i, 1);
        }
    }
    mwl__buf_puts(out, "'");
}

static inline void cel_print_double(mwl__buf *out, double d) {
    if (!isfinite(d)) {
        mwl__buf_puts(out, isnan(d) ? "double('NaN')"
                           : d < 0  ? "double('-Infinity')"
                                    : "double('Infinity')");
        return;
    }
    char text[MWL__NUM_MAX];
    size_t len = mwl__num_write(d, text);
    if (d == 0 && signbit(d)) mwl__buf_puts(out, "-");
    mwl__buf_put(out, text, len);
    if (!memchr(text, '.', len) && !memchr(text, 'e', len)) mwl__buf_puts(out, ".0");
}

static inline void cel_print_literal(mwl__buf *out, const mwl__cel_lit *lit) {
    char text[32] = "";
    switch (lit->kind) {
    case MWL__CEL_NULL: mwl__buf_puts(out, "null"); break;
    case MWL__CEL_BOOL: mwl__buf_puts(out, lit->as.b ? "true" : "false"); break;
    case MWL__CEL_INT: snprintf(text, sizeof text, "%lld", (long long)lit->as.i); break;
    case MWL__CEL_UINT: snprintf(text, sizeof text, "%lluu", (unsigned long long)lit->as.u); break;
    case MWL__CEL_DOUBLE: cel_print_double(out, lit->as.d); break;
    case MWL__CEL_STRING: cel_print_quoted(out, mwl__cel_lit_text(lit), false); break;
    case MWL__CEL_BYTES: cel_print_quoted(out, mwl__cel_lit_text(lit), true); break;
    }
    mwl__buf_puts(out, text);
}

/* ---- structure ------------------------------------------------------------------------------- */

enum {
    CEL_P_COND,
    CEL_P_OR,
    CEL_P_AND,
    CEL_P_RELATION,
    CEL_P_ADD,
    CEL_P_MUL,
    CEL_P_UNARY,
    CEL_P_MEMBER
};

static inline int cel_precedence(const mwl__cel_node *n) {
    switch (n->kind) {
    case MWL__CEL_COND: return CEL_P_COND;
    case MWL__CEL_OR: return CEL_P_OR;
    case MWL__CEL_AND: return CEL_P_AND;
    case MWL__CEL_LT:
    case MWL__CEL_LE:
    case MWL__CEL_GT:
    case MWL__CEL_GE:
    case MWL__CEL_EQ:
    case MWL__CEL_NE:
    case MWL__CEL_IN: return CEL_P_RELATION;
    case MWL__CEL_ADD:
    case MWL__CEL_SUB: return CEL_P_ADD;
    case MWL__CEL_MUL:
    case MWL__CEL_DIV:
    case MWL__CEL_MOD: return CEL_P_MUL;
    case MWL__CEL_NOT:
    case MWL__CEL_NEG: return CEL_P_UNARY;
    default: return CEL_P_MEMBER;
    }
}

static inline void cel_print_list(mwl__buf *out, const mwl__cel_node *n, uint32_t from,
                                  uint32_t to) {
    for (uint32_t i = from; i < to; i++) {
        if (i > from) mwl__buf_puts(out, ", ");
        if (n->kids[i]->optional) mwl__buf_puts(out, "?");
        cel_print_node(out, n->kids[i], CEL_P_COND);
    }
}

static inline void cel_print_joined(mwl__buf *out, const mwl__cel_node *n, const char *op,
                                    int least) {
    for (uint32_t i = 0; i < n->n_kids; i++) {
        if (i) mwl__buf_puts(out, op);
        cel_print_node(out, n->kids[i], least);
    }
}

/* Writes the name of a field, in back quotes unless the lexer would read it as a name. */
static inline void cel_print_field(mwl__buf *out, mwl__cel_text name) {
    mwl__cel_token t = mwl__cel_lex(name.data, name.len, 0);
    bool plain = t.kind == MWL__CEL_T_NAME && t.begin == 0 && t.end == name.len;
    if (!plain) mwl__buf_puts(out, "`");
    cel_put_text(out, name);
    if (!plain) mwl__buf_puts(out, "`");
}

static inline void cel_print_entries(mwl__buf *out, const mwl__cel_node *n) {
    mwl__buf_puts(out, "{");
    uint32_t step = n->kind == MWL__CEL_MAP ? 2 : 1;
    for (uint32_t i = 0; i < n->n_kids; i += step) {
        if (i) mwl__buf_puts(out, ", ");
        if (n->kids[i]->optional) mwl__buf_puts(out, "?");
        if (step == 2)
            cel_print_node(out, n->kids[i], CEL_P_COND);
        else
            cel_print_field(out, n->fields[i]);
        mwl__buf_puts(out, ": ");
        cel_print_node(out, n->kids[i + step - 1], CEL_P_COND);
    }
    mwl__buf_puts(out, "}");
}

static inline void cel_print_block(mwl__buf *out, const mwl__cel_node *n) {
    mwl__buf_puts(out, "cel.block([");
    cel_print_list(out, n, 0, n->n_kids - 1);
    mwl__buf_puts(out, "], ");
    cel_print_node(out, n->kids[n->n_kids - 1], CEL_P_COND);
    mwl__buf_puts(out, ")");
}

/* Returns whether text begins with a number, so that a minus before it would become part of it. */
static inline bool cel_begins_with_number(const mwl__cel_node *n) {
    if (cel_precedence(n) < CEL_P_MEMBER) return false;
    while (mwl__cel_spine(n)) n = mwl__cel_spine(n);
    return n->kind == MWL__CEL_LIT &&
           (n->lit.kind == MWL__CEL_INT || n->lit.kind == MWL__CEL_DOUBLE);
}

/* `!!x` and `--x` need no parentheses. The parser shortens three or more signs, so signs are
 * written in pairs, from the outermost on. */
static inline void cel_print_unary(mwl__buf *out, const mwl__cel_node *n) {
    const mwl__cel_node *kid = n->kids[0];
    bool second = false;
    for (const mwl__cel_node *up = n->parent; up && up->kind == n->kind; up = up->parent)
        second = !second;
    bool apart = (n->kind == MWL__CEL_NEG && cel_begins_with_number(kid)) ||
                 (second && kid->kind == n->kind);
    mwl__buf_puts(out, mwl__cel_kind_text((mwl__cel_kind)n->kind));
    if (apart) mwl__buf_puts(out, "(");
    cel_print_node(out, kid, kid->kind == n->kind ? CEL_P_UNARY : CEL_P_MEMBER);
    if (apart) mwl__buf_puts(out, ")");
}

/* Writes a node without a spine. */
static inline void cel_print_base(mwl__buf *out, const mwl__cel_node *n) {
    if (n->flags & MWL__CEL_LEADING_DOT) mwl__buf_puts(out, ".");
    switch (n->kind) {
    case MWL__CEL_LIT: cel_print_literal(out, &n->lit); return;
    case MWL__CEL_IDENT: cel_put_text(out, n->name); return;
    case MWL__CEL_CALL:
        cel_put_text(out, n->name);
        mwl__buf_puts(out, "(");
        cel_print_list(out, n, 0, n->n_kids);
        mwl__buf_puts(out, ")");
        return;
    case MWL__CEL_NOT:
    case MWL__CEL_NEG: cel_print_unary(out, n); return;
    case MWL__CEL_AND: cel_print_joined(out, n, " && ", CEL_P_RELATION); return;
    case MWL__CEL_OR: cel_print_joined(out, n, " || ", CEL_P_AND); return;
    case MWL__CEL_COND:
        cel_print_node(out, n->kids[0], CEL_P_OR);
        mwl__buf_puts(out, " ? ");
        cel_print_node(out, n->kids[1], CEL_P_OR);
        mwl__buf_puts(out, " : ");
        cel_print_node(out, n->kids[2], CEL_P_COND);
        return;
    case MWL__CEL_LIST:
        mwl__buf_puts(out, "[");
        cel_print_list(out, n, 0, n->n_kids);
        mwl__buf_puts(out, "]");
        return;
    case MWL__CEL_MESSAGE:
        cel_put_text(out, n->name);
        cel_print_entries(out, n);
        return;
    case MWL__CEL_MAP: cel_print_entries(out, n); return;
    case MWL__CEL_BIND:
        mwl__buf_puts(out, "cel.bind(");
        cel_put_text(out, n->vars[0].name);
        mwl__buf_puts(out, ", ");
        cel_print_list(out, n, 0, 2);
        mwl__buf_puts(out, ")");
        return;
    default: cel_print_block(out, n); return;
    }
}

/* Writes what follows the child of a spine. */
static inline void cel_print_link(mwl__buf *out, const mwl__cel_node *n) {
    if (mwl__cel_is_binary(n)) {
        mwl__buf_puts(out, " ");
        mwl__buf_puts(out, mwl__cel_kind_text((mwl__cel_kind)n->kind));
        mwl__buf_puts(out, " ");
        cel_print_node(out, n->kids[1], cel_precedence(n) + 1);
    } else if (n->kind == MWL__CEL_SELECT) {
        mwl__buf_puts(out, n->flags & MWL__CEL_OPTIONAL ? ".?" : ".");
        if (n->flags & MWL__CEL_QUOTED) mwl__buf_puts(out, "`");
        cel_put_text(out, n->name);
        if (n->flags & MWL__CEL_QUOTED) mwl__buf_puts(out, "`");
        if (n->flags & MWL__CEL_TEST) mwl__buf_puts(out, ")");
    } else if (n->kind == MWL__CEL_INDEX) {
        mwl__buf_puts(out, n->flags & MWL__CEL_OPTIONAL ? "[?" : "[");
        cel_print_node(out, n->kids[1], CEL_P_COND);
        mwl__buf_puts(out, "]");
    } else {
        mwl__buf_puts(out, ".");
        if (n->kind == MWL__CEL_MEMBER)
            cel_put_text(out, n->name);
        else if (n->kind == MWL__CEL_TRANSFORM_LIST && n->n_vars == 2)
            mwl__buf_puts(out, "transformList");
        else
            mwl__buf_puts(out, mwl__cel_kind_text((mwl__cel_kind)n->kind));
        mwl__buf_puts(out, "(");
        for (uint32_t i = 0; i < n->n_vars; i++) {
            cel_put_text(out, n->vars[i].name);
            if (i + 1 < n->n_vars || n->n_kids > 1) mwl__buf_puts(out, ", ");
        }
        cel_print_list(out, n, 1, n->n_kids);
        mwl__buf_puts(out, ")");
    }
}

/* Opening marks are written on the way down a spine, outermost first, the rest on the way up. */
static inline void cel_print_node(mwl__buf *out, const mwl__cel_node *n, int least) {
    const mwl__cel_node *top = n;
    const int least_at_top = least;
    for (;;) {
        if (cel_precedence(n) < least) mwl__buf_puts(out, "(");
        if (n->kind == MWL__CEL_SELECT && (n->flags & MWL__CEL_TEST)) mwl__buf_puts(out, "has(");
        const mwl__cel_node *down = mwl__cel_spine(n);
        if (!down) break;
        least = mwl__cel_is_binary(n) ? cel_precedence(n) : CEL_P_MEMBER;
        n = down;
    }
    if (!mwl__cel_spine(n)) cel_print_base(out, n);
    for (;; n = n->parent) {
        if (mwl__cel_spine(n)) cel_print_link(out, n);
        bool at_top = n == top;
        int bound = at_top                          ? least_at_top
                    : mwl__cel_is_binary(n->parent) ? cel_precedence(n->parent)
                                                    : CEL_P_MEMBER;
        if (cel_precedence(n) < bound) mwl__buf_puts(out, ")");
        if (at_top) return;
    }
}

static inline void cel_print(mwl__buf *out, const mwl__cel_node *node) {
    cel_print_node(out, node, CEL_P_COND);
}

#endif
