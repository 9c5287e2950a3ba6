/* layout.c: formatting, as `mwlvm fmt` does it. See lsp.h. */
#include "tools/lsp/lsp.h"

#include "tools/words/fmt.h"

/* Appends an edit of what differs: the text without the beginning and the end that both have, so
 * that an editor keeps its cursors and folds elsewhere. */
static void put_edit(const struct lsp *s, const struct open_document *d, const mwl__buf *new,
                     mwl__buf *out) {
    const mwl__buf *old = &d->doc.text;
    size_t most = old->len < new->len ? old->len : new->len, begin = 0, end = 0;
    while (begin < most && old->data[begin] == new->data[begin]) begin++;
    while (begin && begin < old->len && (old->data[begin] & 0xC0) == 0x80) begin--;
    while (end < most - begin && old->data[old->len - 1 - end] == new->data[new->len - 1 - end])
        end++;
    while (end && (old->data[old->len - end] & 0xC0) == 0x80) end--; /* whole characters */
    if (end && old->len - end > begin && old->data[old->len - end - 1] == '\r')
        end--; /* a line end is not cut in two */
    mwl__buf_puts(out, "{\"range\":");
    put_range(s, d, (uint32_t)begin, (uint32_t)(old->len - end), out);
    mwl__buf_puts(out, ",\"newText\":");
    rpc_put_text(out, new->data + begin, new->len - end - begin);
    mwl__buf_puts(out, "}");
}

void lsp_format(struct lsp *s, struct open_document *d, mwl_value params, mwl__buf *out) {
    mwl__diags sink;
    mwl__source source;
    mwl__buf text = mwl__buf_make(s->alloc);
    (void)params; /* the layout has no options */
    mwl__diags_init(&sink, s->alloc);
    mwl_status status =
        mwl__source_init(&source, s->alloc, d->doc.uri, d->doc.text.data, d->doc.text.len);
    if (status == MWL_OK) status = fmt_source(&source, s->alloc, &sink, &text);
    bool same = text.len == d->doc.text.len &&
                (!text.len || memcmp(text.data, d->doc.text.data, text.len) == 0);
    mwl__buf_puts(out, "[");
    if (status == MWL_OK && !text.failed && !same) put_edit(s, d, &text, out);
    mwl__buf_puts(out, "]"); /* a text that is not JSON is left as it is: it has a diagnostic */
    mwl__buf_free(&text);
    mwl__source_free(&source);
    mwl__diags_free(&sink);
}
