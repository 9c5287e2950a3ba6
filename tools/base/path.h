/* path.h: the parts of a path, by the rules of the system. */
#ifndef MWL_TOOLS_PATH_H
#define MWL_TOOLS_PATH_H

#include <stdbool.h>

bool path_is_separator(char c);
bool path_is_absolute(const char *path);

/* Returns the last part of a path, in the path: what is behind the last separator, perhaps nothing.
 */
const char *path_last(const char *path);

#endif
