/* prompt.h: the commands of `mwlvm debug`, typed or from a script. */
#ifndef MWL_TOOLS_DEBUG_PROMPT_H
#define MWL_TOOLS_DEBUG_PROMPT_H

#include "tools/debug/walk.h"

/* Where lines come from: a script (FILE), or the terminal. */
struct prompt {
    FILE *script; /* or NULL */
    bool colour;
};

/* Reads and carries out commands until `quit` or the end of the input. Returns an exit status. */
int prompt_run(const struct prompt *p, struct walk *s);

/* A line reader: with libedit on a terminal, if it is there. Returns a malloc'd line without its
 * end, or NULL at the end. line_read.c */
char *line_read(FILE *script, const char *ask);

extern const char prompt_help[]; /* the commands, for --help too */

#endif
