/* schema.h: checks values against compiled JSON Schemas.
 *
 * Owns: the form of a compiled schema (schema_code.h) and its evaluation. Refuses to know: the text
 * of schemas (assembler/schema/schema_compile.h). A check of a valid value allocates nothing, with
 * two exceptions: `format: regex` compiles the string, and `uniqueItems` of a long array needs a
 * table.
 *
 * An evaluation nests at most MWL_SCHEMA_DEPTH schemas. Beyond that it ends with MWL_E_DEPTH. */
#ifndef MWL_SCHEMA_H
#define MWL_SCHEMA_H

#include "vm/regex/regex.h"
#include "vm/value/value.h"

#define MWL__SCHEMA_ERRORS 16 /* errors in one report, for people to read */

typedef struct mwl__schema mwl__schema; /* loaded: its code, constants and patterns; immutable */

typedef struct mwl__schema_env {
    mwl_heap *heap;              /* for the report and the two exceptions above; must not be NULL */
    mwl__regex_scratch *scratch; /* of the VM */
    uint64_t *fuel;              /* NULL: no limit. Counts about one per schema and value visited */
} mwl__schema_env;

/* Checks a value and sets *valid. Returns MWL_OK, MWL_E_FUEL, MWL_E_DEPTH (recursion on data) or
 * MWL_E_NOMEM. If report is NULL it stops at the first error. Otherwise *report must be absent; if
 * the value is not valid, *report is given, an object for the details of
 * System.ParameterValidationFailed: `errors`, an array of at most 16 {keywordLocation,
 * instanceLocation, value, message}, and the members of the first error. */
mwl_status mwl__schema_check(const mwl__schema *schema, mwl_value instance,
                             const mwl__schema_env *env, bool *valid, mwl_value *report);
void mwl__schema_free(mwl__schema *schema);                    /* NULL is ignored */
size_t mwl__schema_patterns_used(const mwl__schema *schema);   /* bytes of its compiled patterns */
uint64_t mwl__schema_patterns_work(const mwl__schema *schema); /* of compiling them */

/* Loads a compiled schema of an image: words at an offset of SCHEMAS, constants of the program.
 * Checks everything that evaluation relies on, in linear time. The words and the constants are lent
 * until mwl__schema_free. Returns MWL_E_IMAGE with a message if the words are wrong; `offset` of
 * the error counts bytes of SCHEMAS. */
mwl_status mwl__schema_load(const mwl_alloc *alloc, const uint32_t *words, size_t n_words,
                            uint32_t offset, const mwl_value *consts, uint32_t n_consts,
                            mwl__schema **out, mwl_error *error);

#endif
