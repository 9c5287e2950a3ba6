/* navigate.c: where a name is declared and used; renaming it everywhere. See lsp.h. */
#include "tools/lsp/lsp.h"

#include "assembler/cel/cel_lex.h"
#include "vm/value/value.h"

static void put_location(const struct lsp *s, const struct open_document *d, const struct name *n,
                         bool *first, mwl__buf *out) {
    mwl__buf_puts(out, *first ? "{" : ",{");
    *first = false;
    rpc_put_member(out, "uri", d->doc.uri);
    mwl__buf_puts(out, ",\"range\":");
    put_range(s, d, n->begin, n->end, out);
    mwl__buf_puts(out, "}");
}

void lsp_definition(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    const struct names *list = open_names(s, d);
    const struct name *at = names_at(list, open_offset(s, d, params));
    bool first = true;
    mwl__buf_puts(out, "[");
    for (size_t i = 0; at && i < list->n_items; i++)
        if (list->items[i].declares && names_same(&list->items[i], at))
            put_location(s, d, &list->items[i], &first, out);
    mwl__buf_puts(out, "]");
}

void lsp_references(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    const struct names *list = open_names(s, d);
    const struct name *at = names_at(list, open_offset(s, d, params));
    mwl_value with = rpc_get(rpc_get(params, "context"), "includeDeclaration");
    bool first = true, declarations = mwl_value_kind(with) == MWL_KIND_BOOL && mwl_as_bool(with);
    mwl__buf_puts(out, "[");
    for (size_t i = 0; at && i < list->n_items; i++)
        if (names_same(&list->items[i], at) && (declarations || !list->items[i].declares))
            put_location(s, d, &list->items[i], &first, out);
    mwl__buf_puts(out, "]");
}

void lsp_highlight(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    const struct names *list = open_names(s, d);
    const struct name *at = names_at(list, open_offset(s, d, params));
    bool first = true;
    mwl__buf_puts(out, "[");
    for (size_t i = 0; at && i < list->n_items; i++) {
        const struct name *n = &list->items[i];
        if (!names_same(n, at)) continue;
        mwl__buf_puts(out, first ? "{\"range\":" : ",{\"range\":");
        first = false;
        put_range(s, d, n->begin, n->end, out);
        mwl__buf_printf(out, ",\"kind\":%d}", n->declares ? 3 : 2); /* written, read */
    }
    mwl__buf_puts(out, "]");
}

/* ---- rename ---------------------------------------------------------------------------------- */

void lsp_prepare_rename(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    const struct name *at = names_at(open_names(s, d), open_offset(s, d, params));
    if (!at) {
        mwl__buf_puts(out, "null");
        return;
    }
    mwl__buf_puts(out, "{\"range\":");
    put_range(s, d, at->begin, at->end, out);
    mwl__buf_puts(out, ",\"placeholder\":");
    rpc_put_text(out, at->text, at->len);
    mwl__buf_puts(out, "}");
}

static bool is_identifier(const char *text, size_t len) {
    mwl__cel_token t = mwl__cel_lex(text, len, 0);
    return t.kind == MWL__CEL_T_NAME && t.begin == 0 && t.end == len &&
           !mwl__cel_is_reserved(text, len);
}

/* Returns why the name cannot have this text, or NULL. */
static const char *refuse(const struct names *list, const struct name *at, const char *text,
                          size_t len) {
    if (!len) return "the new name is empty";
    if (len >= 4 && memcmp(text, "{{", 2) == 0 && memcmp(text + len - 2, "}}", 2) == 0)
        return "a name is not an expression";
    if (at->kind == NAME_VARIABLE && !is_identifier(text, len))
        return "the name of a variable is a letter or _, then letters, digits and _";
    struct name wanted = *at;
    wanted.text = text;
    wanted.len = (uint32_t)len;
    for (size_t i = 0; i < list->n_items; i++) {
        const struct name *n = &list->items[i];
        bool same_map = at->kind == NAME_FLOW ? n->kind == NAME_FLOW && n->declares &&
                                                    n->scope->parent == at->scope->parent &&
                                                    n->len == len && !memcmp(n->text, text, len)
                                              : names_same(n, &wanted);
        if (same_map && !names_same(n, at)) return "this name is already used in the Flow";
    }
    return NULL;
}

const char *lsp_rename(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    const struct names *list = open_names(s, d);
    const struct name *at = names_at(list, open_offset(s, d, params));
    size_t len = 0;
    const char *text = rpc_get_text(params, "newName", &len);
    if (!at || !text) return "there is no Step, Flow or variable here";
    const char *why = refuse(list, at, text, len);
    if (why) return why;
    bool first = true;
    mwl__buf escaped = mwl__buf_make(mwl_alloc_default());
    mwl__json_escape(&escaped, text, len); /* as JSON writes it inside a string */
    mwl__buf_puts(out, "{\"changes\":{");
    rpc_put_string(out, d->doc.uri);
    mwl__buf_puts(out, ":[");
    for (size_t i = 0; i < list->n_items; i++) {
        const struct name *n = &list->items[i];
        if (!names_same(n, at)) continue;
        mwl__buf_puts(out, first ? "{\"range\":" : ",{\"range\":");
        first = false;
        put_range(s, d, n->begin, n->end, out);
        mwl__buf_puts(out, ",\"newText\":");
        rpc_put_text(out, escaped.data, escaped.len);
        mwl__buf_puts(out, "}");
    }
    mwl__buf_puts(out, "]}}");
    mwl__buf_free(&escaped);
    return NULL;
}
