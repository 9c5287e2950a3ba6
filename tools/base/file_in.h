/* file_in.h: a file read whole, in memory that counts against --memory, or in pieces. */
#ifndef MWL_TOOLS_FILE_IN_H
#define MWL_TOOLS_FILE_IN_H

#include "tools/base/limit.h"

#include <stdio.h>

struct file_text {
    char *data;  /* with a NUL behind `size` bytes; NULL: nothing was read */
    size_t size; /* without the NUL */
    size_t room; /* as the limits counted it */
};

/* Reads a file, or standard input for "-". CMD_OK; CMD_USAGE or CMD_LIMIT with a message printed,
 * and nothing to free. */
int file_in(struct limits *l, const char *path, struct file_text *out);
void file_in_free(struct limits *l, struct file_text *text); /* also of zeros */

/* Opens a file, or returns standard input for "-". NULL: it cannot be opened; errno has the reason.
 */
FILE *file_in_open(const char *path);
/* Returns whether the text can be read twice: it is a regular file, not a pipe. */
bool file_in_again(FILE *file);
/* Gets the next bytes of a file, which is its ctx. MWL_E_STATE: they cannot be read. */
mwl_json_source file_in_piece;

/* Returns the name of a path for messages. */
const char *file_in_name(const char *path);

#endif
