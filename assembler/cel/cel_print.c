/* cel_print.c: a tree back to CEL text, for diagnostics and listings.
 *
 * Owns: which parentheses the grammar needs and how literals are spelt. What it writes parses back
 * to the same tree (names that resolution completed appear complete). Refuses to know: the source.
 */
#include "assembler/cel/cel_front.h"

#include "vm/base/num.h"
#include "assembler/cel/cel_lex.h"

#include <math.h>
#include <stdio.h>

typedef struct printer {
    mwl__buf *out;
    size_t limit; /* out->len must not pass it; SIZE_MAX: none */
    bool cut;
} printer;

static void print_node(printer *p, const mwl__cel_node *n, int least);

static void put(printer *p, const char *s, size_t len) {
    if (p->cut) return;
    size_t room = p->limit > p->out->len ? p->limit - p->out->len : 0;
    if (len > room) {
        while (room > 0 && ((unsigned char)s[room] & 0xc0) == 0x80) room--;
        mwl__buf_put(p->out, s, room);
        mwl__buf_puts(p->out, "...");
        p->cut = true;
        return;
    }
    mwl__buf_put(p->out, s, len);
}
static void puts_(printer *p, const char *s) { put(p, s, strlen(s)); }
static void put_text(printer *p, mwl__cel_text t) { put(p, t.data, t.len); }

/* ---- literals ----------------------------------------------------------------------------------
 */

static void print_quoted(printer *p, mwl__cel_text t, bool bytes) {
    static const char hex[] = "0123456789abcdef";
    puts_(p, bytes ? "b'" : "'");
    for (size_t i = 0; i < t.len && !p->cut;) {
        unsigned char c = (unsigned char)t.data[i];
        size_t n = 1;
        if (c == '\\' || c == '\'') {
            const char e[2] = {'\\', (char)c};
            put(p, e, 2);
        } else if (c == '\n') {
            puts_(p, "\\n");
        } else if (c < 0x20 || c == 0x7f || (bytes && c >= 0x80)) {
            const char e[4] = {'\\', 'x', hex[c >> 4], hex[c & 15]};
            put(p, e, 4);
        } else { /* a whole character at a time, so that a cut never splits one */
            while (!bytes && i + n < t.len && ((unsigned char)t.data[i + n] & 0xc0) == 0x80) n++;
            put(p, t.data + i, n);
        }
        i += n;
    }
    puts_(p, "'");
}

static void print_double(printer *p, double d) {
    if (!isfinite(d)) {
        puts_(p, isnan(d) ? "double('NaN')" : d < 0 ? "double('-Infinity')" : "double('Infinity')");
        return;
    }
    char text[MWL__NUM_MAX];
    size_t len = mwl__num_write(d, text);
    if (d == 0 && signbit(d)) puts_(p, "-");
    put(p, text, len);
    if (!memchr(text, '.', len) && !memchr(text, 'e', len)) puts_(p, ".0");
}

static void print_literal(printer *p, const mwl__cel_lit *lit) {
    char text[32] = "";
    switch (lit->kind) {
    case MWL__CEL_NULL: puts_(p, "null"); break;
    case MWL__CEL_BOOL: puts_(p, lit->as.b ? "true" : "false"); break;
    case MWL__CEL_INT: snprintf(text, sizeof text, "%lld", (long long)lit->as.i); break;
    case MWL__CEL_UINT: snprintf(text, sizeof text, "%lluu", (unsigned long long)lit->as.u); break;
    case MWL__CEL_DOUBLE: print_double(p, lit->as.d); break;
    case MWL__CEL_STRING: print_quoted(p, lit->as.text, false); break;
    case MWL__CEL_BYTES: print_quoted(p, lit->as.text, true); break;
    }
    puts_(p, text);
}

/* ---- structure ---------------------------------------------------------------------------------
 */

enum { P_COND, P_OR, P_AND, P_RELATION, P_ADD, P_MUL, P_UNARY, P_MEMBER };

static int precedence(const mwl__cel_node *n) {
    switch (n->kind) {
    case MWL__CEL_COND: return P_COND;
    case MWL__CEL_OR: return P_OR;
    case MWL__CEL_AND: return P_AND;
    case MWL__CEL_LT:
    case MWL__CEL_LE:
    case MWL__CEL_GT:
    case MWL__CEL_GE:
    case MWL__CEL_EQ:
    case MWL__CEL_NE:
    case MWL__CEL_IN: return P_RELATION;
    case MWL__CEL_ADD:
    case MWL__CEL_SUB: return P_ADD;
    case MWL__CEL_MUL:
    case MWL__CEL_DIV:
    case MWL__CEL_MOD: return P_MUL;
    case MWL__CEL_NOT:
    case MWL__CEL_NEG: return P_UNARY;
    default: return P_MEMBER;
    }
}

static void print_list(printer *p, const mwl__cel_node *n, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to && !p->cut; i++) {
        if (i > from) puts_(p, ", ");
        if (n->kid_optional && n->kid_optional[i]) puts_(p, "?");
        print_node(p, n->kids[i], P_COND);
    }
}

static void print_joined(printer *p, const mwl__cel_node *n, const char *op, int least) {
    for (uint32_t i = 0; i < n->n_kids && !p->cut; i++) {
        if (i) puts_(p, op);
        print_node(p, n->kids[i], least);
    }
}

/* A field's name, back-quoted unless the lexer would read it as a name. */
static void print_field(printer *p, mwl__cel_text name) {
    mwl__cel_token t = mwl__cel_lex(name.data, name.len, 0);
    bool plain = t.kind == MWL__CEL_T_NAME && t.begin == 0 && t.end == name.len;
    if (!plain) puts_(p, "`");
    put_text(p, name);
    if (!plain) puts_(p, "`");
}

static void print_entries(printer *p, const mwl__cel_node *n) {
    puts_(p, "{");
    uint32_t step = n->kind == MWL__CEL_MAP ? 2 : 1;
    for (uint32_t i = 0; i < n->n_kids && !p->cut; i += step) {
        if (i) puts_(p, ", ");
        if (n->kid_optional && n->kid_optional[i]) puts_(p, "?");
        if (step == 2)
            print_node(p, n->kids[i], P_COND);
        else
            print_field(p, n->fields[i]);
        puts_(p, ": ");
        print_node(p, n->kids[i + step - 1], P_COND);
    }
    puts_(p, "}");
}

static void print_block(printer *p, const mwl__cel_node *n) {
    puts_(p, "cel.block([");
    print_list(p, n, 0, n->n_kids - 1);
    puts_(p, "], ");
    print_node(p, n->kids[n->n_kids - 1], P_COND);
    puts_(p, ")");
}

/* Whether text begins with a number, to which a minus before it would be taken. */
static bool begins_with_number(const mwl__cel_node *n) {
    if (precedence(n) < P_MEMBER) return false;
    while (mwl__cel_spine(n)) n = mwl__cel_spine(n);
    return n->kind == MWL__CEL_LIT &&
           (n->lit.kind == MWL__CEL_INT || n->lit.kind == MWL__CEL_DOUBLE);
}

/* `!!x` and `--x` stand without parentheses; a third sign would be taken for one of a run, which
 * the parser shortens, so signs go in pairs from the outermost on. */
static void print_unary(printer *p, const mwl__cel_node *n) {
    const mwl__cel_node *kid = n->kids[0];
    bool second = false;
    for (const mwl__cel_node *up = n->parent; up && up->kind == n->kind; up = up->parent)
        second = !second;
    bool apart =
        (n->kind == MWL__CEL_NEG && begins_with_number(kid)) || (second && kid->kind == n->kind);
    puts_(p, mwl__cel_kind_text((mwl__cel_kind)n->kind));
    if (apart) puts_(p, "(");
    print_node(p, kid, kid->kind == n->kind ? P_UNARY : P_MEMBER);
    if (apart) puts_(p, ")");
}

/* A node without a spine, whole. */
static void print_base(printer *p, const mwl__cel_node *n) {
    if (n->flags & MWL__CEL_LEADING_DOT) puts_(p, ".");
    switch (n->kind) {
    case MWL__CEL_LIT: print_literal(p, &n->lit); return;
    case MWL__CEL_IDENT: put_text(p, n->name); return;
    case MWL__CEL_CALL:
        put_text(p, n->name);
        puts_(p, "(");
        print_list(p, n, 0, n->n_kids);
        puts_(p, ")");
        return;
    case MWL__CEL_NOT:
    case MWL__CEL_NEG: print_unary(p, n); return;
    case MWL__CEL_AND: print_joined(p, n, " && ", P_RELATION); return;
    case MWL__CEL_OR: print_joined(p, n, " || ", P_AND); return;
    case MWL__CEL_COND:
        print_node(p, n->kids[0], P_OR);
        puts_(p, " ? ");
        print_node(p, n->kids[1], P_OR);
        puts_(p, " : ");
        print_node(p, n->kids[2], P_COND);
        return;
    case MWL__CEL_LIST:
        puts_(p, "[");
        print_list(p, n, 0, n->n_kids);
        puts_(p, "]");
        return;
    case MWL__CEL_MESSAGE:
        put_text(p, n->name);
        print_entries(p, n);
        return;
    case MWL__CEL_MAP: print_entries(p, n); return;
    case MWL__CEL_BIND:
        puts_(p, "cel.bind(");
        put_text(p, n->vars[0].name);
        puts_(p, ", ");
        print_list(p, n, 0, 2);
        puts_(p, ")");
        return;
    default: print_block(p, n); return;
    }
}

/* What follows the spine's child. */
static void print_link(printer *p, const mwl__cel_node *n) {
    if (mwl__cel_is_binary(n)) {
        puts_(p, " ");
        puts_(p, mwl__cel_kind_text((mwl__cel_kind)n->kind));
        puts_(p, " ");
        print_node(p, n->kids[1], precedence(n) + 1);
    } else if (n->kind == MWL__CEL_SELECT) {
        puts_(p, n->flags & MWL__CEL_OPTIONAL ? ".?" : ".");
        if (n->flags & MWL__CEL_QUOTED) puts_(p, "`");
        put_text(p, n->name);
        if (n->flags & MWL__CEL_QUOTED) puts_(p, "`");
        if (n->flags & MWL__CEL_TEST) puts_(p, ")");
    } else if (n->kind == MWL__CEL_INDEX) {
        puts_(p, n->flags & MWL__CEL_OPTIONAL ? "[?" : "[");
        print_node(p, n->kids[1], P_COND);
        puts_(p, "]");
    } else {
        puts_(p, ".");
        if (n->kind == MWL__CEL_MEMBER)
            put_text(p, n->name);
        else if (n->kind == MWL__CEL_TRANSFORM_LIST && n->n_vars == 2)
            puts_(p, "transformList");
        else
            puts_(p, mwl__cel_kind_text((mwl__cel_kind)n->kind));
        puts_(p, "(");
        for (uint32_t i = 0; i < n->n_vars; i++) {
            put_text(p, n->vars[i].name);
            if (i + 1 < n->n_vars || n->n_kids > 1) puts_(p, ", ");
        }
        print_list(p, n, 1, n->n_kids);
        puts_(p, ")");
    }
}

/* Opening marks are written on the way down a spine, outermost first, the rest on the way up. */
static void print_node(printer *p, const mwl__cel_node *n, int least) {
    const mwl__cel_node *top = n;
    const int least_at_top = least;
    for (;;) {
        if (precedence(n) < least) puts_(p, "(");
        if (n->kind == MWL__CEL_SELECT && (n->flags & MWL__CEL_TEST)) puts_(p, "has(");
        const mwl__cel_node *down = mwl__cel_spine(n);
        if (!down || p->cut) break;
        least = mwl__cel_is_binary(n) ? precedence(n) : P_MEMBER;
        n = down;
    }
    if (!mwl__cel_spine(n)) print_base(p, n);
    for (;; n = n->parent) {
        if (p->cut) return;
        if (mwl__cel_spine(n)) print_link(p, n);
        bool at_top = n == top;
        int bound = at_top                          ? least_at_top
                    : mwl__cel_is_binary(n->parent) ? precedence(n->parent)
                                                    : P_MEMBER;
        if (precedence(n) < bound) puts_(p, ")");
        if (at_top) return;
    }
}

void mwl__cel_print(mwl__buf *out, const mwl__cel_node *node, size_t limit) {
    printer p = {out, limit ? out->len + limit : SIZE_MAX, false};
    print_node(&p, node, P_COND);
}
