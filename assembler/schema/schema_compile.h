/* schema_compile.h: compiles JSON Schema 2020-12 in a document to compiled schemas
 * (vm/schema/schema.h).
 *
 * Owns: the dialect's keywords, references and base URIs, and the diagnostics about schemas (05xx).
 * Refuses to know: where a definition contains schemas. */
#ifndef MWL_SCHEMA_COMPILE_H
#define MWL_SCHEMA_COMPILE_H

#include "assembler/emit/emit.h"
#include "assembler/source/read.h"
#include "vm/schema/schema.h"

/* All zero: nothing is closed, formats are annotations, and only the documents of the dialect are
 * known. */
typedef struct mwl__schema_options {
    bool parameters;       /* the language's rules: `"type": "object"` at the top; there, without
                            * `additionalProperties`, other members are refused */
    bool assert_formats;   /* `format` is an assertion */
    bool rfc3339_duration; /* `duration` has the narrow grammar of RFC 3339 */
    const char *base_uri;  /* of the schema; NULL: none */
    /* Finds the text of another document by its absolute URI without fragment. Returns MWL_OK and
     * the text, lent until compiling ends; any other status means that it does not exist. NULL: no
     * other documents. */
    mwl_status (*resolve)(void *ctx, const char *uri, size_t uri_len, const char **text,
                          size_t *len);
    void *ctx;
} mwl__schema_options;

/* Returns the options that the language demands for a `parameters` schema. */
mwl__schema_options mwl__schema_parameters(void);

/* Compile the schema at a node of the tree. They return MWL_OK, MWL_E_REJECTED (errors went to the
 * sink of the tree, with positions), MWL_E_NOMEM or MWL_E_TOO_BIG.
 *   mwl__schema_emit      into an image; *offset is the word in SCHEMAS where it begins
 *   mwl__schema_compile   into memory; the schema needs neither tree nor source later */
mwl_status mwl__schema_emit(mwl__tree *tree, const mwl__node *node,
                            const mwl__schema_options *options, mwl__emit *e, uint32_t *offset);
mwl_status mwl__schema_compile(mwl__tree *tree, const mwl__node *node,
                               const mwl__schema_options *options, const mwl_alloc *alloc,
                               mwl__schema **out);

/* Returns the declared defaults of the properties at the top as one object, given; empty if there
 * are none; absent if the heap fails. The node may be an invalid schema. */
mwl_value mwl__schema_defaults(mwl_heap *heap, const mwl__node *node);

#endif
