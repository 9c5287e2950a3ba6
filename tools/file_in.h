/* file_in.h: a file read whole, in memory that counts against --memory. */
#ifndef MWL_TOOLS_FILE_IN_H
#define MWL_TOOLS_FILE_IN_H

#include "limit.h"

struct file_text {
    char *data;  /* with a NUL behind `size` bytes; NULL: nothing was read */
    size_t size; /* without the NUL */
    size_t room; /* as the limits counted it */
};

/* Reads a file, or standard input for "-". CMD_OK; CMD_USAGE or CMD_LIMIT with a message printed,
 * and nothing to free. */
int file_in(struct limits *l, const char *path, struct file_text *out);
void file_in_free(struct limits *l, struct file_text *text); /* also of zeros */

/* Returns the name of a path for messages. */
const char *file_in_name(const char *path);

#endif
