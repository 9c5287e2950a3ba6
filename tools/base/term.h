/* term.h: output for a person: text that cannot control the terminal, and colour.
 *
 * Names and messages come from definitions, data and file names, so control characters in them are
 * shown as escapes: on standard error always, on standard output if it is a terminal. */
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
/* To standard output: term_lines if it is a terminal, else the bytes unchanged. */
void term_output(const char *text, size_t len);

/* Formats, then writes as term_text does. */
void term_printf(FILE *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
void term_vprintf(FILE *to, const char *format, va_list args) __attribute__((format(printf, 2, 0)));

/* Does a stream (STDOUT_FILENO, STDERR_FILENO) get colour? These decide, in this order: --color;
 * NO_COLOR; CLICOLOR_FORCE or FORCE_COLOR; a terminal whose TERM is neither missing nor "dumb". */
bool term_colour(int stream);
/* Sets the value of --color: auto, always or never. Returns CMD_OK, or CMD_USAGE after a message.
 */
int term_colour_option(void *ctx, const char *word);

/* A line at the end of standard error that is written again and again: what happens now. Only where
 * term_status_possible() is true: standard error is a terminal that is not "dumb". The text is cut
 * at the width of the terminal. A character that steers it becomes a question mark, except for the
 * styles below, which take effect where there is colour. Messages (cmd_note and so on) remove the
 * line first; it comes back when it is next written. */
#define TERM_RED "\1"
#define TERM_GREEN "\2"
#define TERM_PLAIN "\3"
bool term_status_possible(void);
void term_status(const char *text);
void term_status_clear(void);
/* Columns of the terminal that a stream (STDOUT_FILENO, STDERR_FILENO) is; 80 if it does not say.
 */
size_t term_columns(int stream);

#endif
