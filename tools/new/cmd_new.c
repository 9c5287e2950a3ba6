/* cmd_new.c: `mwlvm new PATTERN [FILE]`: a definition to begin with, and cases that test it.
 *
 * Owns: which patterns there are, and under which names their files are written. The files are
 * those of tools/new, which tests check, format and run. */
#include "tools/new/new.h"

#include "tools/base/cmd.h"
#include "tools/base/file_out.h"
#include "tools/base/options.h"
#include "tools/base/path.h"
#include "vm/base/mem.h"
#include "vm/base/suggest.h"
#include "vm/value/value.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "new_files.h"

static const struct pattern {
    const char *name, *text;
} patterns[] = {
    {"retry", "tries again, with a bound for each attempt and a budget for all of them"},
    {"poll", "asks for the state of a job until it is finished, for a limited time"},
    {"fan-out", "makes many calls at once and accepts that some fail"},
    {"saga", "undoes what was done if a later Step fails; cleans up in every case"},
    {"approval", "asks a person before something is done"},
    {"pagination", "reads page after page, with a bound"},
};
enum { N_PATTERNS = sizeof patterns / sizeof *patterns };
enum { N_FILES = sizeof new_files / sizeof *new_files };

struct new {
    const char *pattern, *file;
};

static const char head[] =
    "usage: mwlvm new PATTERN [FILE]\n\n"
    "Writes a definition to begin with to FILE, and beside it cases for `mwlvm test`. Without FILE,\n"
    "prints the definition; without PATTERN, lists the patterns. Nothing is overwritten.\n\n";

static const char foot[] = "\nExample:\n"
                           "  mwlvm new saga order.json && mwlvm test order.*.case.json\n";

static int operand(void *ctx, const char *word) {
    struct new *n = ctx;
    if (n->file) return cmd_usage("PATTERN and FILE are wanted, not '%s', too", word);
    if (n->pattern)
        n->file = word;
    else
        n->pattern = word;
    return CMD_OK;
}

/* Returns what follows the pattern's name if the file belongs to it: ".json", ".ok.case.json"; else
 * NULL. */
static const char *ending(const struct new *n, const struct new_file *f) {
    size_t len = strlen(n->pattern);
    return strncmp(f->name, n->pattern, len) == 0 && f->name[len] == '.' ? f->name + len : NULL;
}

static bool is_case(const char *end) { return strcmp(end, ".json") != 0; }

/* The path of a file: FILE itself, or FILE with another ending. Malloc'd. */
static char *path_of(const struct new *n, const char *end) {
    size_t len = strlen(n->file);
    if (len > 5 && strcmp(n->file + len - 5, ".json") == 0) len -= 5;
    if (!is_case(end)) return strdup(n->file);
    char *path = malloc(len + strlen(end) + 1);
    if (path) sprintf(path, "%.*s%s", (int)len, n->file, end);
    return path;
}

/* The text of a file; in a case, the definition is FILE. */
static void put_text(const struct new *n, const struct new_file *f, bool in_case, mwl__buf *out) {
    static const char member[] = "\"definition\": ";
    const char *text = (const char *)f->text;
    size_t i = 0;
    if (in_case)
        while (i + sizeof member - 1 < f->size && memcmp(text + i, member, sizeof member - 1) != 0)
            i++;
    if (i && i + sizeof member - 1 < f->size) {
        i += sizeof member - 1;
        mwl__buf_put(out, text, i);
        mwl__json_quote(out, path_last(n->file), strlen(path_last(n->file)));
        while (i < f->size && text[i] != ',' && text[i] != '\n') i++;
    } else {
        i = 0;
    }
    mwl__buf_put(out, text + i, f->size - i);
}

/* Writes one file, or with `look` only checks that its name is free. */
static int write_file(const struct new *n, const struct new_file *f, const char *end, bool look) {
    char *path = path_of(n, end);
    mwl__buf text = mwl__buf_make(mwl_alloc_default());
    int status = CMD_OK;
    if (path) put_text(n, f, is_case(end), &text);
    if (!path || text.failed)
        status = cmd_no_memory();
    else if (look && access(path, F_OK) == 0)
        status = cmd_usage("'%s' is there already", path);
    else if (!look)
        status = file_out(path, text.data, text.len);
    if (status == CMD_OK && !look) cmd_note("wrote %s", path);
    mwl__buf_free(&text);
    free(path);
    return status;
}

static int run(const struct new *n) {
    int status = CMD_OK;
    for (size_t i = 0; i < N_FILES && !n->file; i++) {
        const char *end = ending(n, &new_files[i]);
        if (end && !is_case(end)) fwrite(new_files[i].text, 1, new_files[i].size, stdout);
    }
    for (int look = 1; look >= 0 && n->file; look--)
        for (size_t i = 0; i < N_FILES && status == CMD_OK; i++) {
            const char *end = ending(n, &new_files[i]);
            if (end) status = write_file(n, &new_files[i], end, look);
        }
    return status;
}

const char *cmd_new_pattern(size_t i) { return i < N_PATTERNS ? patterns[i].name : NULL; }

static int list_all(void) {
    for (size_t i = 0; i < N_PATTERNS; i++)
        printf("%-10s  %s\n", patterns[i].name, patterns[i].text);
    return CMD_OK;
}

int cmd_new(int argc, char **argv) {
    struct new n = {NULL, NULL};
    const struct command_line line = {.head = head, .foot = foot, .operand = operand, .ctx = &n};
    int status = options_parse(&line, argc, argv);
    if (status != CMD_OK) return status;
    if (!n.pattern) return list_all();
    mwl__suggest s = mwl__suggest_make(n.pattern, strlen(n.pattern));
    for (size_t i = 0; i < N_PATTERNS; i++) {
        if (strcmp(n.pattern, patterns[i].name) == 0) return run(&n);
        mwl__suggest_offer(&s, patterns[i].name, strlen(patterns[i].name));
    }
    if (s.best)
        return cmd_usage("there is no pattern '%s'; did you mean '%.*s'?", n.pattern,
                         (int)s.best_len, s.best);
    return cmd_usage("there is no pattern '%s'; `mwlvm new` lists them", n.pattern);
}
