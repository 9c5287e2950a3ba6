/* help.h: help texts in the width of the terminal.
 *
 * Owns: where a line ends. Refuses to know: what a text says. */
#ifndef MWL_TOOLS_HELP_H
#define MWL_TOOLS_HELP_H

#include <stddef.h>

/* Columns that help is written in: those of the terminal of standard output, or of the variable
 * COLUMNS where there is none; from 40 to 100; 80 if neither says. */
size_t help_columns(void);

/* Writes paragraphs. Lines that belong together are filled; one that begins with two spaces, and
 * one of "usage:", stays as it is. */
void help_prose(const char *text);

/* Writes a row: `left`, two spaces in, and the text beside it, or below it where there is no room.
 * `room`: columns of the left side. */
void help_row(const char *left, size_t room, const char *text);

#endif
