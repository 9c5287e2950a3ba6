/* path.c: paths of Windows: both slashes separate, and a drive may stand in front. See path.h. */
#include "tools/base/path.h"

#include <ctype.h>

bool path_is_separator(char c) { return c == '/' || c == '\\'; }

/* Skips "C:". */
static const char *behind_drive(const char *path) {
    return isalpha((unsigned char)path[0]) && path[1] == ':' ? path + 2 : path;
}

bool path_is_absolute(const char *path) {
    return path_is_separator(*path) || behind_drive(path) != path;
}

const char *path_last(const char *path) {
    const char *last = behind_drive(path);
    for (const char *c = last; *c; c++)
        if (path_is_separator(*c)) last = c + 1;
    return last;
}
