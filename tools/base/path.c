/* path.c: see path.h. Windows has windows/path.c. */
#include "tools/base/path.h"

#include <string.h>

bool path_is_separator(char c) { return c == '/'; }

bool path_is_absolute(const char *path) { return *path == '/'; }

const char *path_last(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}
