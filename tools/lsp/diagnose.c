/* diagnose.c: the assembler's diagnostics as the editor shows them, and their repairs. See lsp.h.
 */
#include "tools/lsp/lsp.h"

static const int severities[] = {[MWL_DIAG_ERROR] = 1, [MWL_DIAG_WARNING] = 2, [MWL_DIAG_NOTE] = 3};

/* The message with what the terminal shows around it: the words at the mark, notes, the help. */
static void put_message(const mwl__diag *g, mwl__buf *out) {
    mwl__buf all = mwl__buf_make(mwl_alloc_default());
    mwl__buf_puts(&all, g->message);
    if (g->text) mwl__buf_printf(&all, ": %s", g->text);
    for (const mwl__diag_line *l = g->notes; l; l = l->next) mwl__buf_printf(&all, "\n%s", l->text);
    if (g->help) mwl__buf_printf(&all, "\nhelp: %s", g->help);
    rpc_put_text(out, all.data ? all.data : "", all.len);
    mwl__buf_free(&all);
}

/* Of no use for the program: editors show it faded. */
static bool is_unnecessary(const mwl__diag *g) {
    return strncmp(g->row->name, "unused-", 7) == 0 ||
           strncmp(g->row->name, "unreachable-", 12) == 0;
}

static void put_related(const struct lsp *s, const struct open_document *d, const mwl__diag *g,
                        mwl__buf *out) {
    mwl__buf_puts(out, ",\"relatedInformation\":[");
    for (const mwl__diag_mark *m = g->labels; m; m = m->next) {
        mwl__buf_puts(out, "{\"location\":{");
        rpc_put_member(out, "uri", d->doc.uri);
        mwl__buf_puts(out, ",\"range\":");
        put_range(s, d, m->span.begin, m->span.end, out);
        mwl__buf_puts(out, "}");
        rpc_put_member(out, "message", m->text);
        mwl__buf_puts(out, m->next ? "}," : "}");
    }
    mwl__buf_puts(out, "]");
}

static void put_diagnostic(const struct lsp *s, const struct open_document *d, const mwl__diag *g,
                           mwl__buf *out) {
    mwl__buf_puts(out, "{\"range\":");
    put_range(s, d, g->span.begin, g->span.end, out);
    mwl__buf_printf(out, ",\"severity\":%d,\"code\":\"MWL%04d\",\"source\":\"mwlvm\",\"message\":",
                    severities[g->severity], (int)g->row->code);
    put_message(g, out);
    if (is_unnecessary(g)) mwl__buf_puts(out, ",\"tags\":[1]");
    if (g->labels) put_related(s, d, g, out);
    mwl__buf_puts(out, "}");
}

void lsp_publish(struct lsp *s, struct open_document *d) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl__diags *sink = open_check(s, d);
    mwl__buf_puts(&out, "{\"jsonrpc\":\"2.0\",\"method\":\"textDocument/publishDiagnostics\","
                        "\"params\":{");
    rpc_put_member(&out, "uri", d->doc.uri);
    mwl__buf_printf(&out, ",\"version\":%lld,\"diagnostics\":[", (long long)d->doc.version);
    bool first = true;
    for (size_t i = 0; i < sink->n_items; i++) {
        if (sink->items[i]->source != &d->source) continue; /* of a provider's document */
        if (!first) mwl__buf_puts(&out, ",");
        first = false;
        put_diagnostic(s, d, sink->items[i], &out);
    }
    mwl__buf_puts(&out, "]}}");
    if (!out.failed && !rpc_send(&s->rpc, out.data, out.len)) s->lost = true;
    mwl__buf_free(&out);
    d->unpublished = false;
}

/* ---- repairs --------------------------------------------------------------------------------- */

static void begin_action(const char *title, const char *kind, bool *first, mwl__buf *out) {
    if (!*first) mwl__buf_puts(out, ",");
    *first = false;
    mwl__buf_puts(out, "{");
    rpc_put_member(out, "title", title);
    rpc_put_member(out, "kind", kind);
}

static void begin_edit(const struct open_document *d, mwl__buf *out) {
    mwl__buf_puts(out, ",\"edit\":{\"changes\":{");
    rpc_put_string(out, d->doc.uri);
    mwl__buf_puts(out, ":[");
}

/* Writes the name of an action for the editor's menu. */
static void title_of(const mwl__diag *g, char *out, size_t size) {
    static const char asks[] = "did you mean ";
    const char *help = g->help ? g->help : g->message;
    if (strncmp(help, asks, sizeof asks - 1) == 0)
        snprintf(out, size, "Change to %.*s", (int)strcspn(help + sizeof asks - 1, "?"),
                 help + sizeof asks - 1);
    else
        snprintf(out, size, "%s", help);
}

static void put_fix(const struct lsp *s, const struct open_document *d, const mwl__diag *g,
                    bool *first, mwl__buf *out) {
    char title[400];
    title_of(g, title, sizeof title);
    begin_action(title, "quickfix", first, out);
    mwl__buf_puts(out, ",\"isPreferred\":true,\"diagnostics\":[");
    put_diagnostic(s, d, g, out);
    mwl__buf_puts(out, "]");
    begin_edit(d, out);
    for (const mwl__diag_edit *e = g->edits; e; e = e->next) {
        mwl__buf_puts(out, "{\"range\":");
        put_range(s, d, e->span.begin, e->span.end, out);
        mwl__buf_puts(out, ",\"newText\":");
        rpc_put_text(out, e->text, e->len);
        mwl__buf_puts(out, e->next ? "}," : "}");
    }
    mwl__buf_puts(out, "]}}}");
}

/* All repairs at once, as `mwlvm check --fix` makes them. */
static void put_fix_all(const struct lsp *s, struct open_document *d, bool *first, mwl__buf *out) {
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    if (mwl__diags_repair(&d->sink, &d->source, &text) && !text.failed) {
        begin_action("Make all repairs that are certain", "source.fixAll.mwl", first, out);
        begin_edit(d, out);
        mwl__buf_puts(out, "{\"range\":");
        put_range(s, d, 0, (uint32_t)d->doc.text.len, out);
        mwl__buf_puts(out, ",\"newText\":");
        rpc_put_text(out, text.data, text.len);
        mwl__buf_puts(out, "}]}}}");
    }
    mwl__buf_free(&text);
}

/* Does the client want actions of this kind? A kind in `only` stands for those below it too. */
static bool wants(mwl_value params, const char *kind) {
    mwl_value only = rpc_get(rpc_get(params, "context"), "only");
    if (mwl_value_kind(only) != MWL_KIND_ARRAY) return true;
    for (size_t i = 0; i < mwl_count(only); i++) {
        const char *k = mwl_as_text(mwl_array_at(only, i), NULL);
        size_t n = k ? strlen(k) : 0;
        if (k && strncmp(kind, k, n) == 0 && (!kind[n] || kind[n] == '.')) return true;
    }
    return false;
}

void lsp_actions(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    mwl_value range = rpc_get(params, "range");
    mwl_value start = rpc_get(range, "start"), stop = rpc_get(range, "end");
    uint32_t begin = document_offset(
        &d->doc,
        (struct position){rpc_get_number(start, "line", 0), rpc_get_number(start, "character", 0)},
        s->units);
    uint32_t end = document_offset(
        &d->doc,
        (struct position){rpc_get_number(stop, "line", 0), rpc_get_number(stop, "character", 0)},
        s->units);
    mwl__diags *sink = open_check(s, d);
    bool first = true;
    mwl__buf_puts(out, "[");
    for (size_t i = 0; i < sink->n_items && wants(params, "quickfix"); i++) {
        const mwl__diag *g = sink->items[i];
        if (g->source == &d->source && g->edits && !g->unfixable && g->span.begin <= end &&
            g->span.end >= begin)
            put_fix(s, d, g, &first, out);
    }
    if (wants(params, "source.fixAll.mwl") && mwl__diags_fixable(sink, &d->source))
        put_fix_all(s, d, &first, out);
    mwl__buf_puts(out, "]");
}
