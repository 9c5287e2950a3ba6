/* file_out.h: writing a file so that a failure loses nothing.
 *
 * A regular file is written under another name beside it and then renamed, so that at every moment
 * the old text or the new one is there, also if the disk is full or the machine stops. Links are
 * followed. A device or a pipe is written to directly. The only file that is ever removed is the
 * one that was made here. */
#ifndef MWL_TOOLS_FILE_OUT_H
#define MWL_TOOLS_FILE_OUT_H

#include <stdbool.h>
#include <stddef.h>

/* Writes a file. Returns CMD_OK, or CMD_USAGE after a message. Signals that end the process are
 * delayed until it is done. */
int file_out(const char *path, const void *data, size_t size);

/* Can file_out write this file? Looks before there is something to write, and leaves nothing
 * behind. Returns CMD_OK, or CMD_USAGE after a message. */
int file_out_possible(const char *path);

/* Do both names mean one existing file? "-" as `input` is standard input. */
bool file_out_is_input(const char *path, const char *input);

#endif
