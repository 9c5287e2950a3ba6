/* term.h: what reaches a person: text that cannot steer a terminal, and colour.
 *
 * Names and messages come from definitions, data and file names, so none of it is written as it is:
 * control characters are shown as escapes, on standard error always, on standard output when that
 * is a terminal. */
#ifndef MWL_TOOLS_TERM_H
#define MWL_TOOLS_TERM_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Writes the text with every character escaped that moves the cursor, reorders what follows or is
 * not UTF-8: \n \r \t, \u001b, \u202e, \xff. Inside a JSON or CEL string the escape means the same
 * character. */
void term_text(FILE *to, const char *text, size_t len);
/* The same for a text of several lines: line feeds and tabs are kept. */
void term_lines(FILE *to, const char *text, size_t len);
/* To standard output: term_lines when it is a terminal, else the bytes as they are. */
void term_output(const char *text, size_t len);

/* Formats, then writes as term_text does. */
void term_printf(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void term_vprintf(FILE *to, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Whether a stream (STDOUT_FILENO, STDERR_FILENO) gets colour. In this order: --color; NO_COLOR;
 * CLICOLOR_FORCE or FORCE_COLOR; a terminal whose TERM is neither missing nor "dumb". */
bool term_colour(int stream);
/* The value of --color: auto, always or never. CMD_OK, or CMD_USAGE with a message. */
int term_colour_option(void *ctx, const char *word);

#endif
