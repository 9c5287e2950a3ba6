/* symbols.c: the Steps and Flows of a document, as a tree. See lsp.h. */
#include "tools/lsp/lsp.h"

/* Kinds of symbols in the protocol. */
enum { KIND_MODULE = 2, KIND_FUNCTION = 12, KIND_STEP = 6 /* a method */ };

static void begin_symbol(const struct lsp *s, const struct open_document *d,
                         const struct outline_node *n, const char *detail, int kind, bool *first,
                         mwl__buf *out) {
    mwl__buf_puts(out, *first ? "{\"name\":" : ",{\"name\":");
    *first = false;
    rpc_put_text(out, n->key_len ? n->key : "(no name)", n->key_len ? n->key_len : 9);
    rpc_put_member(out, "detail", detail);
    mwl__buf_printf(out, ",\"kind\":%d,\"range\":", kind);
    put_range(s, d, n->key_begin, n->end > n->key_end ? n->end : n->key_end, out);
    mwl__buf_puts(out, ",\"selectionRange\":");
    put_range(s, d, n->key_begin, n->key_end, out);
    mwl__buf_puts(out, ",\"children\":[");
}

static const char *detail_of(const struct outline_node *step) {
    int action = role_action(step);
    return action < 0 ? "" : member_actions[action].name;
}

/* The Flows that a Step has written in its calls: the nearest ones below it. */
static void put_inline(const struct lsp *s, const struct open_document *d,
                       const struct outline_node *top, mwl__buf *out);

static void put_flow(const struct lsp *s, const struct open_document *d,
                     const struct outline_node *flow, bool *first, mwl__buf *out) {
    const struct outline_node *steps = outline_get(flow, "steps"),
                              *flows = outline_get(flow, "flows");
    for (const struct outline_node *n = steps ? steps->first : NULL; n; n = n->next) {
        if (n->role != ROLE_STEP || !n->key) continue;
        begin_symbol(s, d, n, detail_of(n), KIND_STEP, first, out);
        put_inline(s, d, n, out);
        mwl__buf_puts(out, "]}");
    }
    for (const struct outline_node *n = flows ? flows->first : NULL; n; n = n->next) {
        if (n->role != ROLE_FLOW || !n->key) continue;
        bool inner = true;
        begin_symbol(s, d, n, "Flow", KIND_FUNCTION, first, out);
        put_flow(s, d, n, &inner, out);
        mwl__buf_puts(out, "]}");
    }
}

static void put_inline(const struct lsp *s, const struct open_document *d,
                       const struct outline_node *top, mwl__buf *out) {
    bool first = true;
    for (const struct outline_node *n = top->first; n;) {
        if (n->role == ROLE_FLOW && n->kind == OUTLINE_OBJECT && n->key) {
            bool inner = true;
            begin_symbol(s, d, n, "inline Flow", KIND_FUNCTION, &first, out);
            put_flow(s, d, n, &inner, out);
            mwl__buf_puts(out, "]}");
        } else if (n->first) {
            n = n->first;
            continue;
        }
        while (n != top && !n->next) n = n->parent;
        n = n == top ? NULL : n->next;
    }
}

void lsp_symbols(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    const struct outline *o = open_outline(s, d);
    bool first = true;
    (void)params;
    mwl__buf_puts(out, "[");
    if (o->root && o->root->role == ROLE_FLOW) put_flow(s, d, o->root, &first, out);
    mwl__buf_puts(out, "]");
}
