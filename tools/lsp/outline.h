/* outline.h: a definition as a tree, also while it is being typed and is not valid JSON.
 *
 * The assembler's reader (assembler/source/read.h) refuses a text with a mistake, which is right
 * for diagnostics. An editor asks about a text that is nearly always wrong somewhere. This reader
 * never refuses: a string that is not closed ends with its line, a bracket that is missing is
 * closed with the one around it, a name without a value is a member of kind OUTLINE_MISSING.
 *
 * Owns: that tree, with the role of each value in the language (roles.h). Refuses to know: rules.
 *
 * Everything lies in one arena. A string without escapes points into the text, which must outlive
 * the outline. Nothing here recurses. */
#ifndef MWL_TOOLS_LSP_OUTLINE_H
#define MWL_TOOLS_LSP_OUTLINE_H

#include "vm/base/mem.h"

enum outline_kind {
    OUTLINE_MISSING, /* a name without a value, or a word that is not a value */
    OUTLINE_SCALAR,  /* a number, true, false, null */
    OUTLINE_STRING,
    OUTLINE_ARRAY,
    OUTLINE_OBJECT
};

struct outline_node {
    uint8_t kind; /* enum outline_kind */
    uint8_t role; /* enum role */
    bool closed;  /* it has its closing bracket or quote */
    bool key_closed;
    uint32_t begin, end;         /* the value, with quotes and brackets */
    uint32_t key_begin, key_end; /* the name with its quotes; equal: it has none */
    uint32_t key_len, text_len;
    uint32_t count, index; /* of its children; among its parent's */
    const char *key;       /* decoded; NULL: it is not a member */
    const char *text;      /* of a string, decoded */
    struct outline_node *parent, *first, *last, *next;
};

struct outline {
    mwl__arena arena;
    const char *text;
    uint32_t len;
    struct outline_node *root; /* NULL: the text has no value at all */
    bool failed;               /* memory ran out: the tree ends early */
};

void outline_read(struct outline *o, const char *text, uint32_t len);
void outline_free(struct outline *o);

/* Returns the next node: children before brothers. NULL behind the last. */
struct outline_node *outline_next(const struct outline_node *n);
struct outline_node *outline_get(const struct outline_node *n, const char *name);
struct outline_node *outline_find(const struct outline_node *n, const char *name, size_t len);
bool outline_key_is(const struct outline_node *n, const char *name);
bool outline_text_is(const struct outline_node *n, const char *text);

/* Returns the innermost value whose bytes contain the offset, or whose name does (*in_key); also
 * directly behind the last byte. NULL: none. */
struct outline_node *outline_at(const struct outline *o, uint32_t offset, bool *in_key);

/* The place in the text of byte `at` of a string's decoded text, and the reverse. */
uint32_t outline_text_offset(const struct outline *o, const struct outline_node *n, uint32_t at);
/* The same for places that ascend: each begins where the last one ended, so that all of them are
 * one walk over the text. All zero at first; of one node. */
struct outline_walk {
    uint32_t decoded, offset;
};
uint32_t outline_text_offset_on(const struct outline *o, const struct outline_node *n, uint32_t at,
                                struct outline_walk *w);
uint32_t outline_text_index(const struct outline *o, const struct outline_node *n, uint32_t offset);

#endif
