/* schema.h: running compiled JSON Schemas over values.
 *
 * Owns: the form of a compiled schema (schema_code.h) and its evaluation. Refuses to know: JSON
 * Schema's text (assembler/schema_compile.h). Success allocates nothing, with two exceptions that
 * the text asks for: `format: regex` compiles one, and `uniqueItems` of a long array needs a table.
 *
 * An evaluation nests at most MWL__SCHEMA_DEPTH schemas; beyond, it ends with MWL_E_DEPTH. */
#ifndef MWL_SCHEMA_H
#define MWL_SCHEMA_H

#include "vm/regex/regex.h"
#include "vm/value/value.h"

/* Schemas open at one time, each a C frame of about 200 bytes: a level of data needs one or two. */
#ifndef MWL__SCHEMA_DEPTH
#define MWL__SCHEMA_DEPTH 1024
#endif

/* Bytes of one schema's compiled patterns: twenty bytes of text can ask for a megabyte, so without
 * a limit a small image could ask for any amount when it is loaded. */
#ifndef MWL__SCHEMA_PATTERNS_LIMIT
#define MWL__SCHEMA_PATTERNS_LIMIT (16u << 20)
#endif

#define MWL__SCHEMA_ERRORS 16 /* kept in one report: what a person reads */

typedef struct mwl__schema mwl__schema; /* loaded: its code, constants and patterns; immutable */

typedef struct mwl__schema_env {
    mwl_heap *heap;              /* for the report, and the two exceptions above; always needed */
    mwl__regex_scratch *scratch; /* of the VM */
    uint64_t *fuel;              /* NULL: unlimited. About one per schema and value visited */
} mwl__schema_env;

/* MWL_OK and *valid, MWL_E_FUEL, MWL_E_DEPTH (recursion on data), MWL_E_NOMEM. Without a report
 * (NULL) it stops at the first error; with one (absent on entry, given on *valid == false) it is an
 * object for System.ParameterValidationFailed's details: `errors`, an array of {keywordLocation,
 * instanceLocation, value, message}, at most 16, and the first one's members beside it. */
mwl_status mwl__schema_check(const mwl__schema *schema, mwl_value instance,
                             const mwl__schema_env *env, bool *valid, mwl_value *report);
void mwl__schema_free(mwl__schema *schema);                  /* NULL is ignored */
size_t mwl__schema_patterns_used(const mwl__schema *schema); /* bytes of its compiled patterns */

/* A compiled schema inside an image: words at an offset of SCHEMAS, constants of the program.
 * Checks everything that evaluation relies on, in linear time. The words and what the constants
 * refer to are lent until mwl__schema_free. MWL_E_IMAGE with a message; `offset` of the error
 * counts bytes of SCHEMAS. */
mwl_status mwl__schema_load(const mwl_alloc *alloc, const uint32_t *words, size_t n_words,
                            uint32_t offset, const mwl_value *consts, uint32_t n_consts,
                            mwl__schema **out, mwl_error *error);

#endif
