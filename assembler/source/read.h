/* read.h: a definition's JSON as a tree in which every node has its position in the source.
 *
 * Owns: JSON text (strict RFC 8259, UTF-8, no byte order mark, member names unique), the tree, and
 * the way from a node, or a byte inside a decoded string, back to the source. Refuses to know: what
 * the members of a definition mean.
 *
 * A tree is immutable once read, except that the model marks nodes (`computed`). Nodes, decoded
 * strings and indexes live in its arena; a string without escapes points into the source. So the
 * source must outlive the tree. Nothing here recurses; parent links lead from an open container to
 * those around it. */
#ifndef MWL_READ_H
#define MWL_READ_H

#include "assembler/source/diag.h"
#include "vm/base/mem.h"
#include "assembler/source/source.h"

typedef enum mwl__node_kind {
    MWL_NODE_NULL,
    MWL_NODE_BOOL,
    MWL_NODE_NUMBER,
    MWL_NODE_STRING,
    MWL_NODE_ARRAY,
    MWL_NODE_OBJECT
} mwl__node_kind;

typedef struct mwl__node mwl__node;

struct mwl__node {
    uint8_t kind;         /* mwl__node_kind */
    bool boolean;         /* BOOL */
    bool indexed;         /* an object with many members */
    bool computed;        /* a container with an expression inside: model.c sets it */
    uint32_t count;       /* children of a container; bytes of a STRING */
    uint32_t offset, end; /* the value's bytes in the source, quotes and brackets included */
    uint32_t key_offset, key_end; /* the member's name with its quotes; equal: it is not a member */
    uint32_t index;               /* place among its parent's children, from 0 */
    uint32_t key_len;
    const char *key; /* decoded name of a member, NULL otherwise; not NUL-terminated */
    mwl__node *parent;
    mwl__node *next; /* of a container that is being read: its last child */
    union {
        double number;
        const char *text;                /* STRING, decoded, `count` bytes, not NUL-terminated */
        mwl__node *first;                /* of a container; read it with mwl__node_first */
        struct mwl__node_index *members; /* of an object that is indexed: it has the first too */
    } as;
};

/* Where a byte of a string's decoded text was written. */
typedef struct mwl__text_mark {
    uint32_t decoded, offset;
} mwl__text_mark;

typedef struct mwl__tree {
    mwl__arena arena;
    mwl__source *source;
    mwl__diags *sink;
    mwl__node *root; /* NULL: the text has no root */
    size_t n_nodes;
    /* Marks of the last long string in which a place was looked up (read_node.c). */
    const mwl__node *marked;
    mwl__text_mark *marks;
    size_t n_marks;
} mwl__tree;

/* Reads the whole source. Mistakes are reported to the sink. Free the tree in any case. Returns
 *   MWL_OK           there is a tree, perhaps with warnings
 *   MWL_E_REJECTED   there were errors. If all of them are duplicate names, there is a tree, with
 *                    the first of two members, so that checking can continue; else no root
 *   MWL_E_NOMEM      out of memory; no root */
mwl_status mwl__tree_read(mwl__tree *tree, mwl_alloc alloc, mwl__source *source, mwl__diags *sink);
void mwl__tree_free(mwl__tree *tree);

/* ---- looking --------------------------------------------------------------------------------- */

/* Children in the order they were written: for (c = mwl__node_first(n); c; c = c->next). */
mwl__node *mwl__node_index_first(const struct mwl__node_index *members);
static inline mwl__node *mwl__node_first(const mwl__node *n) {
    if (n->kind < MWL_NODE_ARRAY) return NULL;
    return n->indexed ? mwl__node_index_first(n->as.members) : n->as.first;
}
/* Returns the member of this name, or NULL, also if n is NULL or not an object. Takes constant
 * time. */
mwl__node *mwl__node_find(const mwl__node *n, const char *name, size_t len);
mwl__node *mwl__node_get(const mwl__node *n, const char *name);
/* Is n (may be NULL) a string with exactly this text? */
bool mwl__node_is(const mwl__node *n, const char *text);
/* Is n a member of this name? */
bool mwl__node_key_is(const mwl__node *n, const char *name);
/* "an object", "a string" ... for messages. */
const char *mwl__node_kind_name(const mwl__node *n);

/* For "%.*s": the text of a string, or the name of a member. */
#define MWL__NODE_TEXT(n) (int)(n)->count, (n)->as.text
#define MWL__NODE_KEY(n) (int)(n)->key_len, (n)->key

/* Returns the subtree as a value, given; absent if the heap refuses it (mwl_heap_why returns the
 * reason). */
mwl_value mwl__node_value(mwl_heap *heap, const mwl__node *n);

/* ---- back to the source ---------------------------------------------------------------------- */

static inline mwl__span mwl__node_span(const mwl__node *n) {
    return mwl__span_make(n->offset, n->end);
}
/* Returns the span of the member's name, or that of the value if it is not a member. */
static inline mwl__span mwl__node_key_span(const mwl__node *n) {
    return n->key ? mwl__span_make(n->key_offset, n->key_end) : mwl__node_span(n);
}
/* Returns where in the source the byte `at` of a string's decoded text was written. For an escape
 * this is its beginning, for at == count the closing quote. */
uint32_t mwl__node_text_offset(mwl__tree *tree, const mwl__node *n, uint32_t at);
/* The span of bytes [from, to) of the decoded text. */
mwl__span mwl__node_text_span(mwl__tree *tree, const mwl__node *n, uint32_t from, uint32_t to);

/* Returns the node that a JSON Pointer names, starting from `at`, or NULL if it names nothing. */
const mwl__node *mwl__node_follow(const mwl__node *at, const char *pointer, size_t len);
/* Appends the node's JSON Pointer (RFC 6901): "" for the root, "/steps/a~1b/catch/0". */
void mwl__node_pointer(const mwl__node *n, mwl__buf *out);

/* ---- limits ---------------------------------------------------------------------------------- */

/* Charges units of work for the node (mwl__diags_work). */
static inline bool mwl__node_work(mwl__tree *tree, const mwl__node *n, uint64_t units) {
    return mwl__diags_work(tree->sink, tree->source, n->offset, units);
}

/* ---- reporting ------------------------------------------------------------------------------- */

/* Like mwl__diag_report, for a node and with its pointer. The place is its value, its name, or a
 * part of its text. */
mwl__diag *mwl__node_report(mwl__tree *tree, const mwl__node *n, mwl__diag_code code,
                            const char *format, ...) __attribute__((format(printf, 4, 5)));
mwl__diag *mwl__node_report_key(mwl__tree *tree, const mwl__node *n, mwl__diag_code code,
                                const char *format, ...) __attribute__((format(printf, 4, 5)));
mwl__diag *mwl__node_report_text(mwl__tree *tree, const mwl__node *n, uint32_t from, uint32_t to,
                                 mwl__diag_code code, const char *format, ...)
    __attribute__((format(printf, 6, 7)));

#endif
