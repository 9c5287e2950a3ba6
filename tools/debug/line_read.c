/* line_read.c: a line of a person or a script. With libedit, a terminal has editing and a history;
 * see prompt.h. */
#include "tools/debug/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#if defined(MWL_HAVE_EDITLINE)
#include <editline/readline.h>
#endif

static char *read_plain(FILE *from) {
    char *line = NULL;
    size_t cap = 0;
    ssize_t n = getline(&line, &cap, from);
    if (n < 0) {
        free(line);
        return NULL;
    }
    while (n && (line[n - 1] == '\n' || line[n - 1] == '\r')) line[--n] = '\0';
    return line;
}

char *line_read(FILE *script, const char *ask) {
    if (script) return read_plain(script);
#if defined(MWL_HAVE_EDITLINE)
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO)) {
        char *line = readline(ask);
        if (line && *line) add_history(line);
        return line;
    }
#endif
    if (isatty(STDIN_FILENO)) fputs(ask, stdout);
    fflush(stdout);
    return read_plain(stdin);
}
