/* suite_mwl_control.c: control.json of a scenario, which the project's own cases have besides the
 * files of the conformance suite (tests/README.md). */
#include "tests/suite/suite_mwl.h"

#include <stdlib.h>

bool suite_mwl_control_read(mwl_heap *heap, const char *path, mwl_value *held, struct control *out,
                            char *why, size_t size) {
    size_t len = 0;
    char *text = suite_read(path, &len);
    *held = mwl_absent();
    if (text && mwl_json_parse(heap, text, len, held, NULL) != MWL_OK) *held = mwl_null();
    free(text);
    return control_read(*held, out, why, size);
}
