/* schema_compile.h: JSON Schema 2020-12 as written in a document, to compiled schemas
 * (vm/schema.h).
 *
 * Owns: the dialect's keywords, references and base URIs, and the diagnostics about schemas (05xx).
 * Refuses to know: where in a definition schemas stand. */
#ifndef MWL_SCHEMA_COMPILE_H
#define MWL_SCHEMA_COMPILE_H

#include "assembler/emit/emit.h"
#include "assembler/source/read.h"
#include "vm/schema/schema.h"

/* All zero: nothing closed, formats are annotations, no documents but the dialect's own. */
typedef struct mwl__schema_options {
    bool parameters;       /* the language's rules: `"type": "object"` at the top; there, without
                            * `additionalProperties`, other members are refused */
    bool assert_formats;   /* `format` is an assertion */
    bool rfc3339_duration; /* `duration` has the narrow grammar of RFC 3339 */
    const char *base_uri;  /* of the schema; NULL: none */
    /* The text of another document, by absolute URI without fragment: MWL_OK and the text, lent
     * until compiling ends; anything else: there is none. NULL: no other documents. */
    mwl_status (*resolve)(void *ctx, const char *uri, size_t uri_len, const char **text,
                          size_t *len);
    void *ctx;
} mwl__schema_options;

/* What the language asks of a `parameters` schema. */
mwl__schema_options mwl__schema_parameters(void);

/* Compile the schema at a node of the tree. What is wrong goes to the tree's sink, with positions:
 * MWL_E_REJECTED. Also MWL_E_NOMEM, MWL_E_TOO_BIG.
 *   mwl__schema_emit      into an image; *offset is the word in SCHEMAS where it begins
 *   mwl__schema_compile   into a schema of its own, which needs neither tree nor source later */
mwl_status mwl__schema_emit(mwl__tree *tree, const mwl__node *node,
                            const mwl__schema_options *options, mwl__emit *e, uint32_t *offset);
mwl_status mwl__schema_compile(mwl__tree *tree, const mwl__node *node,
                               const mwl__schema_options *options, const mwl_alloc *alloc,
                               mwl__schema **out);

/* The declared `default`s of the properties at the top, as one object, given; empty when there are
 * none; absent when the heap refuses. The node need not have been accepted. */
mwl_value mwl__schema_defaults(mwl_heap *heap, const mwl__node *node);

#endif
