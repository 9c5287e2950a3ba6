/* check_schema.h: parameter schemas of definitions and provider documents, and values against them.
 *
 * Owns: the seam to the schema compiler and evaluator. */
#ifndef MWL_CHECK_SCHEMA_H
#define MWL_CHECK_SCHEMA_H

#include "assembler/source/read.h"
#include "vm/schema/schema.h"

/* Compile a parameter schema of this tree. What is wrong is reported, and the answer is NULL; also
 * when memory is out, which the sink's status then tells. Freed by mwl__schema_free. */
mwl__schema *mwl__check_schema(mwl__tree *tree, const mwl__node *schema);

/* What evaluating needs; made when first asked for. Zero-initialise with the allocator. */
typedef struct mwl__judge {
    mwl_alloc alloc;
    mwl_heap *heap;
    mwl__regex_scratch *scratch;
} mwl__judge;

/* One error of a value: where in it, by which keyword. Text is lent for the time of the callback.
 */
typedef struct mwl__judged {
    const mwl__node *node;
    const char *keyword; /* the keyword's location: "/properties/a/type" */
    size_t keyword_len;
    const char *message;
    size_t message_len;
} mwl__judged;

/* The value at a node against the schema: fn for each error that is found, at most a few. MWL_OK,
 * MWL_E_NOMEM; a value that is too large or deep to judge is passed over. */
mwl_status mwl__judge_value(mwl__judge *j, const mwl__schema *schema, const mwl__node *value,
                            void (*fn)(void *ctx, const mwl__judged *error), void *ctx);
void mwl__judge_free(mwl__judge *j);

#endif
