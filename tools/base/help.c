/* help.c: see help.h. */
#include "tools/base/help.h"

#include "tools/base/term.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LEAST = 40, MOST = 100, USUAL = 80, BELOW = 6 };

size_t help_columns(void) {
    const char *word = getenv("COLUMNS");
    size_t n = isatty(STDOUT_FILENO) ? term_columns(STDOUT_FILENO) : 0;
    if (!n && word && isdigit((unsigned char)*word)) n = strtoul(word, NULL, 10);
    if (!n) n = USUAL;
    return n < LEAST ? LEAST : n > MOST ? MOST : n;
}

static void indent(size_t n) { printf("%*s", (int)n, ""); }

/* Columns of a word, which is UTF-8 with letters of one column. */
static size_t width_of(const char *word, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; i++) n += ((unsigned char)word[i] & 0xC0) != 0x80;
    return n;
}

/* Fills words into lines that begin at column `left`; the first line is there already. */
static void fill(const char *text, size_t len, size_t left) {
    size_t at = left, most = help_columns();
    const char *end = text + len;
    while (text < end) {
        while (text < end && isspace((unsigned char)*text)) text++;
        const char *word = text;
        while (text < end && !isspace((unsigned char)*text)) text++;
        size_t width = width_of(word, (size_t)(text - word));
        if (!width) break;
        if (at > left && at + 1 + width > most) {
            putchar('\n');
            indent(left);
            at = left;
        } else if (at > left) {
            putchar(' ');
            at++;
        }
        fwrite(word, 1, (size_t)(text - word), stdout);
        at += width;
    }
    putchar('\n');
}

static bool stays(const char *line) {
    return strncmp(line, "usage:", 6) == 0 || (line[0] == ' ' && line[1] == ' ');
}

void help_prose(const char *text) {
    while (*text) {
        size_t len = strcspn(text, "\n");
        if (!len || stays(text)) {
            printf("%.*s\n", (int)len, text);
            text += len + (text[len] == '\n');
            continue;
        }
        const char *from = text;
        do text += strcspn(text, "\n") + (text[strcspn(text, "\n")] == '\n');
        while (*text && *text != '\n' && !stays(text));
        fill(from, (size_t)(text - from), 0);
    }
}

void help_row(const char *left, size_t room, const char *text) {
    size_t width = width_of(left, strlen(left));
    bool below = help_columns() < 2 * room + 20;
    printf("  %s", left);
    if (below || width > room) {
        putchar('\n');
        indent(below ? BELOW : room + 3);
    } else {
        indent(room - width + 1);
    }
    fill(text, strlen(text), below ? BELOW : room + 3);
}
