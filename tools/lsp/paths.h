/* paths.h: what an expression can read at a place, as far as it is known before it runs: the roots,
 * their members, variables, what documents and parameters declare; and the path under a cursor.
 *
 * Owns: the words that completion and hover show for them. */
#ifndef MWL_TOOLS_LSP_PATHS_H
#define MWL_TOOLS_LSP_PATHS_H

#include "tools/lsp/lsp.h"

#define PATH_MAX_NAMES 16

/* The names in front of a place in an expression: `step.result.v` has three. */
struct path {
    const char *names[PATH_MAX_NAMES];
    uint32_t lens[PATH_MAX_NAMES];
    size_t n;
    bool member;         /* the last name stands behind a dot, perhaps of something unknown */
    uint32_t begin, end; /* the last name, in the decoded text; empty: nothing is typed yet */
};

/* Finds the path that ends with the name at byte `at` of the decoded text of an expression. The
 * last name is the one under the cursor, and is empty if there is none. Returns false if the place
 * is not in an expression, or is inside a string or a number of it. */
bool path_at(const struct outline_node *n, uint32_t at, struct path *out);

/* Calls `see` for each member that the path without its last name has. text: what it means; may be
 * NULL. Returns false if nothing is known about it. */
struct path_member {
    const char *name, *text;
    uint32_t name_len, text_len;
};
typedef void path_see(void *ctx, const struct path_member *member);
/* The same for the variables of a Flow, each once. */
void path_variables(const struct names *list, const struct outline_node *flow, path_see *see,
                    void *ctx);
bool path_members(struct lsp *s, struct open_document *d, const struct outline_node *n,
                  const struct path *path, path_see *see, void *ctx);

#endif
