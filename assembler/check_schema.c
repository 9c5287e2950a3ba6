/* check_schema.c: see check_schema.h. */
#include "check_schema.h"

bool mwl__check_schema(mwl__tree *tree, const mwl__node *schema) {
    const mwl__node *type = mwl__node_get(schema, "type");
    if (mwl__node_is(type, "object")) return true;
    mwl__diag *d =
        mwl__node_report(tree, type ? type : schema, MWL_DIAG_PARAMETERS_NOT_OBJECT,
                         type ? "the type of a parameter schema is 'object'"
                              : "a parameter schema has \"type\": \"object\" at its top");
    mwl__diag_note(d, "arguments are an object with one member per parameter");
    return false;
}
