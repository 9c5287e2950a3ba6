/* complete.h: what the two files of completion agree on. */
#ifndef MWL_TOOLS_LSP_COMPLETE_H
#define MWL_TOOLS_LSP_COMPLETE_H

#include "tools/lsp/lsp.h"

/* Kinds of completion items in the protocol. */
enum item_kind {
    ITEM_FUNCTION = 3,
    ITEM_FIELD = 5,
    ITEM_VARIABLE = 6,
    ITEM_MODULE = 9,
    ITEM_PROPERTY = 10,
    ITEM_VALUE = 12,
    ITEM_ENUM = 13,
    ITEM_KEYWORD = 14,
    ITEM_SNIPPET = 15,
    ITEM_REFERENCE = 18
};

/* A list that is being written. Every item replaces the same bytes. */
struct items {
    struct lsp *s;
    struct open_document *d;
    mwl__buf *out;
    uint32_t begin, end; /* of the text */
    size_t n;
};

/* Adds an item. `text` is what replaces the bytes, NUL-terminated; detail and words may be NULL.
 * With `snippet`, text has places to fill in: ${1:name}. */
struct item {
    enum item_kind kind;
    const char *label, *text, *detail, *words;
    size_t label_len, words_len;
    bool snippet;
};
void items_add(struct items *list, const struct item *item);

/* complete_expr.c: inside an expression; `at` is a byte of the decoded text. */
void complete_expression(struct items *list, const struct outline_node *n, uint32_t at);

#endif
