/* cel_parser.h: the parser's state, shared by cel_parse.c, cel_ast.c and cel_resolve.c alone. */
#ifndef MWL_CEL_PARSER_H
#define MWL_CEL_PARSER_H

#include "assembler/cel/cel_front.h"
#include "assembler/cel/cel_lex.h"

/* A function that fails sets `status` and returns NULL, and its callers return too. A problem that
 * does not stop the parse (a literal out of range) only sets `rejected`. */
struct mwl__cel_parser {
    const mwl__cel_options *options;
    mwl__arena *arena;
    mwl__cel_token tok;            /* the next token, not yet consumed */
    uint32_t prev_begin, prev_end; /* of the last consumed token */
    uint32_t depth, depth_limit;
    uint32_t n_slots, n_nodes;
    mwl_status status;
    bool rejected;
    mwl__cel_why why; /* kind of the next report; reset to SYNTAX after each */
    /* What the next complaint suggests: a help, and a repair of these bytes. NULL after each. */
    const char *help, *fix;
    uint32_t fix_begin, fix_end;
    /* Children that are collected before their number is known. Lists nest, so this is a stack. */
    mwl__cel_node **stack;
    size_t n_stack, cap_stack;
};

/* Reports at [begin, end); the message is formatted into the arena. */
void mwl__cel_complain(mwl__cel_parser *p, uint32_t begin, uint32_t end, const char *note,
                       const char *format, ...) __attribute__((format(printf, 5, 6)));
/* Reports the current token if it is a habit from another language: `and`, `===`, `??`. Returns
 * false if it is not a known one. */
bool mwl__cel_foreign(mwl__cel_parser *p);
/* Returns what to write for a word of this kind of another language, or NULL. */
const char *mwl__cel_reserved_help(mwl__cel_parser *p, const char *word, size_t len);
/* Makes a leaf without children. Returns NULL if out of memory. */
mwl__cel_node *mwl__cel_leaf(mwl__cel_parser *p, mwl__cel_kind kind, uint32_t begin, uint32_t end);
/* Gives `node` its kids, links them and checks its height. Returns NULL if it is too deep or if out
 * of memory. */
mwl__cel_node *mwl__cel_adopt(mwl__cel_parser *p, mwl__cel_node *node, size_t n_kids,
                              mwl__cel_node *const *kids);
/* Copies bytes of the source to the arena; data is NULL if out of memory. */
mwl__cel_text mwl__cel_copy(mwl__cel_parser *p, const char *s, size_t len);

/* Binds every IDENT that a macro's variable captures, and counts uses. */
void mwl__cel_bind(mwl__cel_node *root);

/* Expands a complete call if a macro has its name; otherwise returns it unchanged. */
mwl__cel_node *mwl__cel_expand(mwl__cel_parser *p, mwl__cel_node *call);

#endif
