/* suite_json.h: the json kind for any reader of JSON text, so that each of our readers can be
 * tested. */
#ifndef MWL_SUITE_JSON_H
#define MWL_SUITE_JSON_H

#include "tests/suite/suite.h"

/* Returns whether the text is accepted; if not, *why is a constant text. */
typedef bool suite_json_reader(const char *text, size_t len, const char **why);

/* The reader of definitions. */
bool suite_json_read_definition(const char *text, size_t len, const char **why);

int suite_json_with(struct suite *s, const char *dir, suite_json_reader *read);

#endif
