/* readers.h: descriptors that are read ahead, by a thread each. See readers.c. */
#ifndef MWL_TOOLS_WINDOWS_READERS_H
#define MWL_TOOLS_WINDOWS_READERS_H

#include <stdbool.h>
#include <stddef.h>

/* Is there something to read, or the end? Starts to read ahead where that is safe; where it is not,
 * and if there cannot be a thread, the answer is yes. */
bool readers_ready(int fd);

/* Reads as read() does, from what was read ahead if there is such. */
int readers_read(int fd, void *to, size_t size);

/* Is the descriptor read ahead? Then it must stay open: to close a file that a thread reads waits.
 */
bool readers_have(int fd);

#endif
