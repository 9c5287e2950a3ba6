/* check_schema.h: whether a node of a definition or a provider document is a usable parameter
 * schema.
 *
 * Owns: the seam to the schema compiler. */
#ifndef MWL_CHECK_SCHEMA_H
#define MWL_CHECK_SCHEMA_H

#include "read.h"

/* The schema has type object at its top and compiles; what is wrong is reported, and the answer is
 * false. */
bool mwl__check_schema(mwl__tree *tree, const mwl__node *schema);

#endif
