/* new.h: the patterns of `mwlvm new`. */
#ifndef MWL_TOOLS_NEW_H
#define MWL_TOOLS_NEW_H

#include <stddef.h>

/* Returns the name of pattern i; NULL after the last one. */
const char *cmd_new_pattern(size_t i);

#endif
