/* schema.h: running compiled JSON Schemas over values.
 *
 * Owns: the form of a compiled schema and its evaluation. Refuses to know: JSON Schema's text
 * (assembler/schema_compile.c). Success allocates nothing. Settled by whoever fills schema.c. */
#ifndef MWL_SCHEMA_H
#define MWL_SCHEMA_H

#include "regex.h"
#include "value.h"

typedef struct mwl__schema mwl__schema; /* loaded: its code, constants and patterns; immutable */

typedef struct mwl__schema_env {
    mwl_heap *heap;              /* for the report only */
    mwl__regex_scratch *scratch; /* of the VM */
    uint64_t *fuel;              /* NULL: unlimited */
} mwl__schema_env;

/* MWL_OK and *valid, MWL_E_FUEL, MWL_E_DEPTH (recursion on data), MWL_E_NOMEM. Without a report it stops
 * at the first error; with one (absent on entry, given on *valid == false) it is an object for
 * System.ParameterValidationFailed's details: `errors`, an array of {keywordLocation, instanceLocation,
 * value, message}, at most 16, and the first one's members beside it. */
mwl_status mwl__schema_check(const mwl__schema *schema, mwl_value instance, const mwl__schema_env *env,
                             bool *valid, mwl_value *report);
void mwl__schema_free(mwl__schema *schema); /* NULL is ignored */

/* A compiled schema inside an image: words at an offset of SCHEMAS, constants of the program. */
mwl_status mwl__schema_load(const mwl_alloc *alloc, const uint32_t *words, size_t n_words, uint32_t offset,
                            const mwl_value *consts, uint32_t n_consts, mwl__schema **out, mwl_error *error);

#endif
