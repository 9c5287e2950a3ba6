/* open.c: the documents that the editor has open. See lsp.h. */
#include "tools/lsp/lsp.h"

#include "tools/base/cmd.h"
#include "tools/words/guide.h"
#include "assembler/check/model.h"

#include <stdlib.h>

static bool ends_with(const char *text, const char *end) {
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

/* Drops what was made from the text, because the text changes. */
static void forget(struct open_document *d) {
    if (d->has_names) names_free(&d->names);
    if (d->has_outline) outline_free(&d->outline);
    if (d->has_check) {
        mwl__tree_free(&d->tree);
        mwl__source_free(&d->source);
        mwl__diags_free(&d->sink);
    }
    d->has_names = d->has_outline = d->has_check = false;
}

/* An editor may send us every JSON file: those of other languages get no diagnostics. */
static void recognise(struct open_document *d) {
    static const char mark[] = "https://mwl.dev/", provider[] = "/provider/schema.json";
    const char *s = d->doc.text.data;
    size_t at = mwl_text_find(s, d->doc.text.len, mark, sizeof mark - 1);
    d->ours = d->named || at != SIZE_MAX;
    d->is_provider = false;
    if (at == SIZE_MAX) return;
    size_t left = d->doc.text.len - at;
    const char *quote = memchr(s + at, '"', left);
    size_t len = quote ? (size_t)(quote - s) - at : left;
    d->is_provider = mwl_text_find(s + at, len, provider, sizeof provider - 1) != SIZE_MAX;
}

static void changed(struct open_document *d) {
    forget(d);
    recognise(d);
    d->unpublished = true;
}

struct open_document *open_find(struct lsp *s, const char *uri) {
    struct open_document *d = s->documents;
    while (d && uri && strcmp(d->doc.uri, uri) != 0) d = d->next;
    return uri ? d : NULL;
}

mwl_status open_add(struct lsp *s, mwl_value item) {
    size_t len = 0;
    const char *uri = rpc_get_text(item, "uri", NULL), *text = rpc_get_text(item, "text", &len);
    const char *language = rpc_get_text(item, "languageId", NULL);
    if (!uri || !text) return MWL_E_USAGE;
    struct open_document *old = open_find(s, uri), *d = calloc(1, sizeof *d);
    if (!d) return MWL_E_NOMEM;
    mwl_status status = document_open(&d->doc, uri, text, len);
    if (status != MWL_OK) {
        document_free(&d->doc);
        free(d);
        return status;
    }
    if (old) open_close(s, old);
    d->doc.version = rpc_get_number(item, "version", 0);
    d->named = (language && strcmp(language, "mwl") == 0) || ends_with(uri, ".mwl.json");
    d->next = s->documents;
    s->documents = d;
    changed(d);
    return MWL_OK;
}

void open_close(struct lsp *s, struct open_document *d) {
    struct open_document **at = &s->documents;
    while (*at && *at != d) at = &(*at)->next;
    if (*at) *at = d->next;
    forget(d);
    document_free(&d->doc);
    free(d);
}

static struct position position_of(mwl_value v) {
    return (struct position){rpc_get_number(v, "line", 0), rpc_get_number(v, "character", 0)};
}

uint32_t open_offset(const struct lsp *s, const struct open_document *d, mwl_value params) {
    return document_offset(&d->doc, position_of(rpc_get(params, "position")), s->units);
}

mwl_status open_change(struct lsp *s, struct open_document *d, mwl_value params) {
    mwl_value changes = rpc_get(params, "contentChanges");
    mwl_status status = MWL_OK;
    for (size_t i = 0; i < mwl_count(changes) && status == MWL_OK; i++) {
        mwl_value change = mwl_array_at(changes, i), range = rpc_get(change, "range");
        size_t len = 0;
        const char *text = rpc_get_text(change, "text", &len);
        uint32_t begin = 0, end = UINT32_MAX;
        if (!text) return MWL_E_USAGE;
        if (!mwl_is_absent(range)) {
            begin = document_offset(&d->doc, position_of(rpc_get(range, "start")), s->units);
            end = document_offset(&d->doc, position_of(rpc_get(range, "end")), s->units);
        }
        status = document_edit(&d->doc, begin, end, text, len);
    }
    d->doc.version = rpc_get_number(rpc_get(params, "textDocument"), "version", 0);
    changed(d);
    return status;
}

/* ---- what is known --------------------------------------------------------------------------- */

const struct outline *open_outline(struct lsp *s, struct open_document *d) {
    if (!d->has_outline) {
        outline_read(&d->outline, d->doc.text.data, (uint32_t)d->doc.text.len);
        if (d->ours && !d->is_provider) roles_set(&d->outline, s->catalog);
        d->has_outline = true;
    }
    return &d->outline;
}

const struct names *open_names(struct lsp *s, struct open_document *d) {
    const struct outline *o = open_outline(s, d);
    if (!d->has_names) names_collect(&d->names, o);
    d->has_names = true;
    return &d->names;
}

static void set_levels(mwl__diags *sink, const struct definition *d) {
    for (size_t i = 0; i < d->n_allow; i++) mwl__diags_allow(sink, d->allow[i]);
    for (size_t i = 0; i < d->n_deny; i++) mwl__diags_deny(sink, d->deny[i]);
}

mwl__diags *open_check(struct lsp *s, struct open_document *d) {
    if (d->has_check) return &d->sink;
    d->has_check = true;
    memset(&d->tree, 0, sizeof d->tree);
    mwl__diags_init(&d->sink, s->alloc);
    d->sink.guide = cmd_guide;
    set_levels(&d->sink, &s->how);
    mwl_status status =
        mwl__source_init(&d->source, s->alloc, d->doc.uri, d->doc.text.data, d->doc.text.len);
    if (status != MWL_OK || !d->ours) return &d->sink;
    if (d->is_provider) {
        mwl__catalog_judge(s->catalog, &d->source, &d->sink);
    } else {
        mwl__tree_read(&d->tree, s->alloc, &d->source, &d->sink);
        mwl__model model;
        if (d->tree.root) {
            mwl__model_check(&model, &d->tree, s->catalog, s->functions.defs, s->functions.n_defs);
            mwl__model_free(&model);
        }
    }
    mwl__diags_sort(&d->sink);
    return &d->sink;
}

void put_range(const struct lsp *s, const struct open_document *d, uint32_t begin, uint32_t end,
               mwl__buf *out) {
    struct position a = document_position(&d->doc, begin, s->units),
                    b = document_position(&d->doc, end, s->units);
    mwl__buf_printf(out,
                    "{\"start\":{\"line\":%u,\"character\":%u},\"end\":{\"line\":%u,"
                    "\"character\":%u}}",
                    a.line, a.character, b.line, b.character);
}
