/* read_node.c: from nodes to values, to places in the source, and to diagnostics. See read.h. */
#include "assembler/source/read.h"

#include "mwl_config.h"
#include "vm/base/utf8.h"

/* ---- values ---------------------------------------------------------------------------------- */

static mwl_value scalar_value(mwl_heap *heap, const mwl__node *n) {
    switch ((mwl__node_kind)n->kind) {
    case MWL_NODE_NULL: return mwl_null();
    case MWL_NODE_BOOL: return mwl_bool(n->boolean);
    case MWL_NODE_NUMBER: return mwl_number(n->as.number);
    case MWL_NODE_STRING: return mwl_string(heap, n->as.text, n->count);
    case MWL_NODE_ARRAY: return mwl_array(heap, n->count);
    case MWL_NODE_OBJECT: return mwl_object(heap, n->count);
    }
    return mwl_absent();
}

static mwl_value add_child(mwl_heap *heap, mwl_value take_list, const mwl__node *n,
                           mwl_value take) {
    return n->key ? mwl_object_set(heap, take_list, n->key, n->key_len, take)
                  : mwl_array_push(heap, take_list, take);
}

/* Containers are begun on the way down and put into their parents on the way up. The reader has
 * limited the depth of the tree, so the stack is large enough. */
mwl_value mwl__node_value(mwl_heap *heap, const mwl__node *root) {
    mwl_value open[MWL_DEPTH_LIMIT + 1];
    unsigned depth = 0;
    const mwl__node *n = root;
    mwl_value v = scalar_value(heap, n);
    for (;;) {
        if (mwl__node_first(n) && !mwl_is_absent(v)) {
            open[depth++] = v;
            n = mwl__node_first(n);
            v = scalar_value(heap, n);
            continue;
        }
        while (n != root) { /* v is complete: add it to its parent, then to its sibling or up */
            open[depth - 1] = add_child(heap, open[depth - 1], n, v);
            if (n->next && !mwl_is_absent(open[depth - 1])) break;
            v = open[--depth];
            n = n->parent;
        }
        if (n == root) return v;
        n = n->next;
        v = scalar_value(heap, n);
    }
}

/* ---- places ---------------------------------------------------------------------------------- */

/* Returns the bytes of the escape at p (a backslash; the reader has accepted it). *decoded: the
 * bytes of its text. */
static uint32_t escape_width(const char *p, uint32_t *decoded) {
    *decoded = 1;
    if (p[1] != 'u') return 2;
    uint32_t c = 0;
    for (int i = 2; i < 6; i++) {
        char d = p[i];
        c = c * 16 + (uint32_t)(d <= '9' ? d - '0' : (d | 0x20) - 'a' + 10);
    }
    bool pair = !mwl__utf8_is_scalar(c);
    *decoded = pair ? 4 : c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
    return pair ? 12 : 6;
}

#define MARK 256u /* bytes of decoded text between two marks */

/* Walks from a place of a string up to the byte `at` of its decoded text. If `marks` is not NULL,
 * writes the marks on the way to it. */
static uint32_t walk_text(const mwl__tree *tree, uint32_t offset, uint32_t last, uint32_t decoded,
                          uint32_t at, mwl__text_mark *marks) {
    const char *s = tree->source->text;
    for (uint32_t next = 0; offset < last;) {
        uint32_t step = 1, width = 1;
        if (s[offset] == '\\') width = escape_width(s + offset, &step);
        if (marks && decoded / MARK >= next) marks[next++] = (mwl__text_mark){decoded, offset};
        if (decoded + step > at) break;
        decoded += step;
        offset += width;
    }
    return offset;
}

/* Makes the marks of a long text, so that looking up many places needs only one walk. Returns false
 * if out of memory; then each place needs a walk. */
static bool make_marks(mwl__tree *tree, const mwl__node *n) {
    size_t count = n->count / MARK + 1;
    if (tree->marked == n) return true;
    tree->marked = NULL;
    if (mwl__mem_grow(&tree->arena.alloc, (void **)&tree->marks, &tree->n_marks, count,
                      sizeof *tree->marks) < 0)
        return false;
    walk_text(tree, n->offset + 1, n->end - 1, 0, n->count, tree->marks);
    tree->marked = n;
    return true;
}

uint32_t mwl__node_text_offset(mwl__tree *tree, const mwl__node *n, uint32_t at) {
    uint32_t offset = n->offset + 1, last = n->end - 1;
    if (at >= n->count) return last;
    if (n->count == last - offset) return offset + at; /* no escapes */
    mwl__text_mark mark = {0, offset};
    if (n->count >= 4 * MARK && make_marks(tree, n)) mark = tree->marks[at / MARK];
    if (mark.decoded > at) mark = (mwl__text_mark){0, offset}; /* in the middle of an escape */
    return walk_text(tree, mark.offset, last, mark.decoded, at, NULL);
}

mwl__span mwl__node_text_span(mwl__tree *tree, const mwl__node *n, uint32_t from, uint32_t to) {
    return mwl__span_make(mwl__node_text_offset(tree, n, from), mwl__node_text_offset(tree, n, to));
}

static void put_token(const mwl__node *n, mwl__buf *out) {
    mwl__buf_putc(out, '/');
    if (!n->key) {
        mwl__buf_printf(out, "%u", n->index);
        return;
    }
    for (uint32_t i = 0; i < n->key_len; i++) {
        char c = n->key[i];
        if (c == '~')
            mwl__buf_puts(out, "~0");
        else if (c == '/')
            mwl__buf_puts(out, "~1");
        else
            mwl__buf_putc(out, c);
    }
}

void mwl__node_pointer(const mwl__node *n, mwl__buf *out) {
    const mwl__node *path[MWL_DEPTH_LIMIT + 1];
    unsigned depth = 0;
    for (; n->parent; n = n->parent) path[depth++] = n;
    while (depth > 0) put_token(path[--depth], out);
}

const mwl__node *mwl__node_follow(const mwl__node *at, const char *p, size_t len) {
    const char *end = p + len;
    while (at && p < end && *p == '/') {
        char name[256];
        size_t n = 0, index = 0;
        bool number = true;
        for (p++; p < end && *p != '/'; p++) {
            char c = *p;
            if (c == '~' && p + 1 < end) c = *++p == '0' ? '~' : '/';
            if (n == sizeof name) return NULL; /* longer than every name that is looked up */
            if (c < '0' || c > '9' || index > 100000000) number = false;
            index = index * 10 + (size_t)(c - '0');
            name[n++] = c;
        }
        if (at->kind == MWL_NODE_OBJECT) {
            at = mwl__node_find(at, name, n);
        } else {
            const mwl__node *m = number ? mwl__node_first(at) : NULL;
            while (m && m->index != index) m = m->next;
            at = m;
        }
    }
    return at;
}

/* ---- reports --------------------------------------------------------------------------------- */

static mwl__diag *report(mwl__tree *tree, const mwl__node *n, mwl__span span, mwl__diag_code code,
                         const char *format, va_list ap) {
    mwl__diag *d = mwl__diag_vreport(tree->sink, code, tree->source, span, format, ap);
    if (!d) return NULL;
    mwl__buf pointer = mwl__buf_make(tree->arena.alloc);
    mwl__node_pointer(n, &pointer);
    if (pointer.failed)
        tree->sink->status = MWL_E_NOMEM;
    else
        mwl__diag_pointer(d, pointer.data, pointer.len);
    mwl__buf_free(&pointer);
    return d;
}

mwl__diag *mwl__node_report(mwl__tree *tree, const mwl__node *n, mwl__diag_code code,
                            const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    mwl__diag *d = report(tree, n, mwl__node_span(n), code, format, ap);
    va_end(ap);
    return d;
}

mwl__diag *mwl__node_report_key(mwl__tree *tree, const mwl__node *n, mwl__diag_code code,
                                const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    mwl__diag *d = report(tree, n, mwl__node_key_span(n), code, format, ap);
    va_end(ap);
    return d;
}

mwl__diag *mwl__node_report_text(mwl__tree *tree, const mwl__node *n, uint32_t from, uint32_t to,
                                 mwl__diag_code code, const char *format, ...) {
    va_list ap;
    va_start(ap, format);
    mwl__diag *d = report(tree, n, mwl__node_text_span(tree, n, from, to), code, format, ap);
    va_end(ap);
    return d;
}
