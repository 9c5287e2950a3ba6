/* fmt.c: see fmt.h. */
#include "tools/words/fmt.h"

#include "tools/words/members.h"

/* ---- widths ---------------------------------------------------------------------------------- */

/* Columns of bytes [from, to) of the source: one for each code point. */
static size_t columns(const char *text, uint32_t from, uint32_t to) {
    size_t n = 0;
    for (; from < to; from++) n += ((unsigned char)text[from] & 0xc0) != 0x80;
    return n;
}

/* A code point has four bytes at most. */
static bool is_long(uint32_t from, uint32_t to) { return (to - from) / 4 > FMT_COLUMNS; }

static bool has_lines(enum member_shape shape) {
    switch (shape) {
    case SHAPE_FLOW:
    case SHAPE_STEPS:
    case SHAPE_FLOWS:
    case SHAPE_CALL_STEP:
    case SHAPE_GATHER_STEP:
    case SHAPE_MATCH_STEP: return true;
    default: return false;
    }
}

enum { TOO_WIDE = FMT_COLUMNS + 1 };

/* Returns the columns of a value on one line; TOO_WIDE if it is not to be on one, or is wider than
 * `room`. Looks at no more of it than fits into the room. */
static size_t width(const char *text, const mwl__node *n, enum member_shape shape, size_t room) {
    if (n->kind < MWL_NODE_ARRAY) {
        size_t own = is_long(n->offset, n->end) ? TOO_WIDE : columns(text, n->offset, n->end);
        return own > room ? TOO_WIDE : own;
    }
    if (n->count && has_lines(shape)) return TOO_WIDE;
    size_t sum = n->kind == MWL_NODE_OBJECT && n->count ? 4 : 2;
    for (const mwl__node *c = mwl__node_first(n); c && sum <= room; c = c->next) {
        if (c != mwl__node_first(n)) sum += 2;
        if (c->key && is_long(c->key_offset, c->key_end)) return TOO_WIDE;
        if (c->key) sum += columns(text, c->key_offset, c->key_end) + 2;
        if (sum > room) break;
        size_t part = width(text, c, members_child(shape, c), room - sum);
        if (part == TOO_WIDE) return TOO_WIDE;
        sum += part;
    }
    return sum > room ? TOO_WIDE : sum;
}

/* ---- writing --------------------------------------------------------------------------------- */

typedef struct writer {
    const char *text;
    mwl__buf *out;
} writer;

static void put(writer *w, const char *text) { mwl__buf_puts(w->out, text); }

static void put_value(writer *w, const mwl__node *n, enum member_shape shape, size_t indent,
                      size_t used);

/* The children in canonical order: *known is the row of the list that is next, or its number of
 * rows when the unknown members follow. NULL at the end. */
static const mwl__node *next_child(const mwl__node *n, const struct member_list *list,
                                   size_t *known, const mwl__node *last) {
    if (!list) return last ? last->next : mwl__node_first(n);
    while (*known < list->n_rows) {
        const mwl__node *m = mwl__node_get(n, list->rows[(*known)++].name);
        if (m) return m;
    }
    bool behind_known = !last || members_find(list, last->key, last->key_len);
    const mwl__node *m = behind_known ? mwl__node_first(n) : last->next;
    while (m && members_find(list, m->key, m->key_len)) m = m->next;
    return m;
}

static void put_key(writer *w, const mwl__node *n, size_t *used) {
    if (!n->key) return;
    mwl__buf_put(w->out, w->text + n->key_offset, n->key_end - n->key_offset);
    put(w, ": ");
    *used += columns(w->text, n->key_offset, n->key_end) + 2;
}

static void put_line(writer *w, size_t indent) {
    static const char spaces[] = "                                ";
    put(w, "\n");
    for (; indent > sizeof spaces - 1; indent -= sizeof spaces - 1)
        mwl__buf_put(w->out, spaces, sizeof spaces - 1);
    mwl__buf_put(w->out, spaces, indent);
}

/* `used`: columns of the line before and behind the value. */
static void put_container(writer *w, const mwl__node *n, enum member_shape shape, size_t indent,
                          size_t used) {
    bool object = n->kind == MWL_NODE_OBJECT;
    /* the members of a Raise's result are evaluated in the order in which they are written */
    const struct member_list *list = object && shape != SHAPE_RESULT ? members_of(shape) : NULL;
    size_t room = used < FMT_COLUMNS ? FMT_COLUMNS - used : 0, known = 0, left = n->count;
    bool flat = width(w->text, n, shape, room) != TOO_WIDE;
    if (!n->count) {
        put(w, object ? "{}" : "[]");
        return;
    }
    put(w, !object ? "[" : flat ? "{ " : "{");
    for (const mwl__node *c = NULL; (c = next_child(n, list, &known, c)); left--) {
        size_t inner = indent + 2 + (left > 1);
        if (!flat) put_line(w, indent + 2);
        put_key(w, c, &inner);
        put_value(w, c, members_child(shape, c), indent + 2, flat ? 0 : inner);
        if (left > 1) put(w, flat ? ", " : ",");
    }
    if (!flat) put_line(w, indent);
    put(w, !object ? "]" : flat ? " }" : "}");
}

static void put_value(writer *w, const mwl__node *n, enum member_shape shape, size_t indent,
                      size_t used) {
    if (n->kind < MWL_NODE_ARRAY)
        mwl__buf_put(w->out, w->text + n->offset, n->end - n->offset);
    else
        put_container(w, n, shape, indent, used);
}

void fmt_tree(const mwl__tree *tree, mwl__buf *out) {
    writer w = {tree->source->text, out};
    put_value(&w, tree->root, members_root(tree->root), 0, 0);
    put(&w, "\n");
}

mwl_status fmt_source(mwl__source *source, mwl_alloc alloc, mwl__diags *sink, mwl__buf *out) {
    mwl__tree tree;
    *out = mwl__buf_make(alloc);
    mwl_status status = mwl__tree_read(&tree, alloc, source, sink);
    if (status == MWL_OK && tree.root) fmt_tree(&tree, out);
    if (status == MWL_OK && out->failed) status = MWL_E_NOMEM;
    mwl__tree_free(&tree);
    return status;
}
