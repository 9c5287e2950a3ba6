/* suite_mwl.h: the parts of the mwl kind. */
#ifndef MWL_SUITE_MWL_H
#define MWL_SUITE_MWL_H

#include "mwl.h"
#include "tests/suite/suite.h"
#include "tools/test/control.h"

/* Reads scenarios/<name>/control.json; *held is given, and lends to *out. Returns false and `why`
 * if the file is wrong. Without a file, all values are defaults. */
bool suite_mwl_control_read(mwl_heap *heap, const char *path, mwl_value *held, struct control *out,
                            char *why, size_t size);

/* DIR/{valid,invalid}/{flow,provider}/: documents that are accepted or refused. */
int suite_mwl_documents(struct suite *s, const char *dir);

#endif
