/* names.h: the names in a definition: where Steps, Flows and variables are declared and used.
 *
 * Owns: which names mean the same thing. A Step belongs to its Flow; a Flow is visible in the Flow
 * that declares it and inside that; a variable belongs to its Flow. Works on an outline, so also on
 * a text with mistakes: expressions are read as tokens. */
#ifndef MWL_TOOLS_LSP_NAMES_H
#define MWL_TOOLS_LSP_NAMES_H

#include "tools/lsp/roles.h"

enum name_kind { NAME_STEP, NAME_FLOW, NAME_VARIABLE };

struct name {
    enum name_kind kind;
    bool declares;    /* a variable has a declaration in each `assign` */
    const char *text; /* decoded; lent by the outline */
    uint32_t len;
    const struct outline_node *scope; /* the Flow that it belongs to */
    const struct outline_node *node;  /* the value whose name it is, or that contains it */
    uint32_t begin, end;              /* the bytes of the name in the text, without quotes */
    bool quoted;                      /* it stands inside a JSON string by itself */
};

struct names {
    struct name *items;
    size_t n_items, cap;
    bool failed; /* out of memory */
};

/* Collects all names, in the order of the text. Free in any case. */
void names_collect(struct names *list, const struct outline *o);
void names_free(struct names *list);
/* Returns the name at the offset, or directly in front of it; NULL: none. */
const struct name *names_at(const struct names *list, uint32_t offset);
bool names_same(const struct name *a, const struct name *b);

/* Returns the Flow of this name that a call at `from` means, or NULL. */
struct outline_node *names_flow(const struct outline_node *from, const char *text, size_t len);
/* Is the text of this node, at least its beginning, an expression? */
bool names_computed(const struct outline_node *n);

#endif
