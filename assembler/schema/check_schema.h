/* check_schema.h: compiles parameter schemas of definitions and provider documents, and checks
 * values against them.
 *
 * Owns: how the checks use the schema compiler and the evaluator. */
#ifndef MWL_CHECK_SCHEMA_H
#define MWL_CHECK_SCHEMA_H

#include "assembler/source/read.h"
#include "vm/schema/schema.h"

/* Compiles a parameter schema of this tree. On errors it reports them and returns NULL. Also
 * returns NULL if out of memory; the status of the sink is MWL_E_NOMEM then. Free it with
 * mwl__schema_free. */
mwl__schema *mwl__check_schema(mwl__tree *tree, const mwl__node *schema);

/* What evaluation needs; made on first use. Initialise it with zeros and the allocator. */
typedef struct mwl__judge {
    mwl_alloc alloc;
    mwl_heap *heap;
    mwl__regex_scratch *scratch;
    uint64_t used; /* fuel of the last value */
} mwl__judge;

/* One error of a value: its place and the keyword. Text is lent for the duration of the
 * callback. */
typedef struct mwl__judged {
    const mwl__node *node;
    const char *keyword; /* the keyword's location: "/properties/a/type" */
    size_t keyword_len;
    const char *message;
    size_t message_len;
} mwl__judged;

/* Checks the value at a node against the schema, and calls fn for each error, at most a few.
 * Returns MWL_OK or MWL_E_NOMEM. A value that is too large or too deep is not checked. */
mwl_status mwl__judge_value(mwl__judge *j, const mwl__schema *schema, const mwl__node *value,
                            void (*fn)(void *ctx, const mwl__judged *error), void *ctx);
void mwl__judge_free(mwl__judge *j);

#endif
