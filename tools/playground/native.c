/* native.c: mwl-play: requests on standard input, one on each line; replies on standard output. For
 * tests of what the playground and the npm package do, without WebAssembly. */
#include "tools/playground/play.h"

#include <stdio.h>
#include <stdlib.h>

int main(void) {
    struct play *p = play_new();
    char *line = NULL;
    size_t cap = 0, n = 0;
    ssize_t len;
    if (!p) return 1;
    while ((len = getline(&line, &cap, stdin)) > 0) {
        const char *reply = play_request(p, line, (size_t)len, &n);
        /* JSON may be written on several lines; in a string there is no line feed */
        for (size_t i = 0; i < n; i++) putchar(reply[i] == '\n' ? ' ' : reply[i]);
        putchar('\n');
        fflush(stdout);
    }
    free(line);
    play_free(p);
    return ferror(stdin) ? 1 : 0;
}
