/* options.c: see options.h. */
#include "tools/base/options.h"

#include "tools/base/cmd.h"
#include "tools/base/help.h"
#include "vm/base/suggest.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void word_list_free(struct word_list *list) {
    free(list->words);
    memset(list, 0, sizeof *list);
}

int word_list_add(struct word_list *list, const char *word) {
    const char **grown = realloc(list->words, (list->count + 1) * sizeof *grown);
    if (!grown) return cmd_no_memory();
    list->words = grown;
    list->words[list->count++] = word;
    return CMD_OK;
}

/* ---- help ------------------------------------------------------------------------------------ */

enum { LEFT = 22, SHORT = 16 }; /* columns of an option's name; options that -h shows all of */

static void print_row(const struct option *row) {
    char left[64];
    bool form = row->operand[0] == '='; /* an optional value */
    snprintf(left, sizeof left,
             form            ? "%s[%s]"
             : *row->operand ? "%s %s"
                             : "%s%s",
             row->name, row->operand);
    help_row(left, LEFT, row->text);
}

static size_t count_rows(const struct command_line *line) {
    size_t n = 0;
    for (size_t t = 0; t < OPTIONS_TABLES; t++)
        for (size_t i = 0; i < line->tables[t].n_rows; i++)
            n += line->tables[t].rows[i].kind != OPTION_TITLE;
    return n;
}

/* The options under their headings, up to the second heading or all, and --help. Returns how many.
 */
static size_t print_options(const struct command_line *line, bool all, const char *about_help) {
    const struct option about = {"-h, --help", OPTION_FLAG, 0, "", about_help, NULL};
    size_t titles = 0, shown = 0;
    for (size_t t = 0; t < OPTIONS_TABLES; t++)
        for (size_t i = 0; i < line->tables[t].n_rows && (all || titles < 2); i++) {
            const struct option *row = &line->tables[t].rows[i];
            bool title = row->kind == OPTION_TITLE;
            titles += title;
            if (title && (all || titles < 2))
                printf("%s%s:\n", shown ? "\n" : "", row->name);
            else if (!title)
                print_row(row);
            shown += !title;
        }
    if (titles) putchar('\n');
    print_row(&about);
    return shown;
}

static void print_more(size_t n) {
    char text[100];
    snprintf(text, sizeof text, "\n`mwlvm help %s` has %zu more options, and examples.\n",
             cmd_name(), n);
    help_prose(text);
}

static int print_help(const struct command_line *line, bool all) {
    size_t n = count_rows(line);
    help_prose(line->head);
    size_t shown = print_options(line, all || n <= SHORT,
                                 n <= SHORT ? "this text" : "in short (-h), or all of it (--help)");
    if (shown == n)
        help_prose(line->foot);
    else
        print_more(n - shown);
    return OPTIONS_HELP;
}

/* ---- parsing --------------------------------------------------------------------------------- */

/* Names that options had before; a command that has the new one takes the old one too. */
static const struct {
    const char *before, *now;
} renamed[] = {{"--durable", "--store"}, {"--allow", "--ignore"}, {"--all", "--unfinished"}};

static const struct option *find_name(const struct command_line *line, const char *word, size_t len,
                                      void **base) {
    for (size_t t = 0; t < OPTIONS_TABLES; t++)
        for (size_t i = 0; i < line->tables[t].n_rows; i++) {
            const struct option *row = &line->tables[t].rows[i];
            if (strlen(row->name) != len || memcmp(row->name, word, len) != 0) continue;
            *base = line->tables[t].base;
            return row;
        }
    return NULL;
}

static const struct option *find(const struct command_line *line, const char *word, size_t len,
                                 void **base) {
    const struct option *row = find_name(line, word, len, base);
    for (size_t i = 0; !row && i < sizeof renamed / sizeof *renamed; i++)
        if (strlen(renamed[i].before) == len && memcmp(renamed[i].before, word, len) == 0)
            row = find_name(line, renamed[i].now, strlen(renamed[i].now), base);
    return row;
}

static int unknown(const struct command_line *line, const char *word, size_t len) {
    mwl__suggest s = mwl__suggest_make(word, len);
    for (size_t t = 0; t < OPTIONS_TABLES; t++)
        for (size_t i = 0; i < line->tables[t].n_rows; i++) {
            const struct option *row = &line->tables[t].rows[i];
            if (row->kind != OPTION_TITLE) mwl__suggest_offer(&s, row->name, strlen(row->name));
        }
    mwl__suggest_offer(&s, "--help", 6);
    if (s.best)
        return cmd_usage("there is no option '%.*s'; did you mean '%.*s'?", (int)len, word,
                         (int)s.best_len, s.best);
    return cmd_usage("there is no option '%.*s'", (int)len, word);
}

static int set(const struct option *row, void *base, const char *value) {
    void *field = (char *)base + row->at;
    switch (row->kind) {
    case OPTION_FLAG: *(bool *)field = true; return CMD_OK;
    case OPTION_WORD:
        if (*(const char **)field) return cmd_usage("%s is given twice", row->name);
        *(const char **)field = value;
        return CMD_OK;
    case OPTION_LIST: return word_list_add(field, value);
    case OPTION_CALL:
    case OPTION_FORM: return row->take(base, value);
    case OPTION_TITLE: break;
    }
    return CMD_OK;
}

static int parse_option(const struct command_line *line, int *i, int argc, char **argv) {
    const char *word = argv[*i], *value = strchr(word, '=');
    size_t len = value ? (size_t)(value - word) : strlen(word);
    void *base = NULL;
    const struct option *row = find(line, word, len, &base);
    if (!row) return unknown(line, word, len);
    if (row->kind == OPTION_FLAG && value) return cmd_usage("%s takes no value", row->name);
    if (row->kind == OPTION_FLAG) return set(row, base, NULL);
    if (value && row->kind == OPTION_FORM && !value[1]) /* an empty variable of a shell */
        return cmd_usage("%s= has no value", row->name);
    if (value) return set(row, base, value + 1);
    if (row->kind == OPTION_FORM) return set(row, base, "");
    if (*i + 1 == argc) return cmd_usage("%s needs a value: %s", row->name, row->operand);
    return set(row, base, argv[++*i]);
}

static bool is_option(const struct command_line *line, const char *word) {
    void *base;
    if (word[0] != '-' || !word[1]) return false;
    if (!line->minus_is_operand) return true;
    return (word[1] == '-' && isalpha((unsigned char)word[2])) ||
           find(line, word, strlen(word), &base) != NULL;
}

static const struct options_visitor *visitor;

void options_visit(const struct options_visitor *v) { visitor = v; }

int options_parse(const struct command_line *line, int argc, char **argv) {
    bool more = true;
    if (visitor) {
        visitor->visit(visitor->ctx, line);
        return OPTIONS_HELP;
    }
    for (int i = 1; i < argc; i++) {
        int status;
        if (more && (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0))
            return print_help(line, argv[i][1] == '-');
        if (more && strcmp(argv[i], "--") == 0) {
            more = false;
            continue;
        }
        if (more && is_option(line, argv[i]))
            status = parse_option(line, &i, argc, argv);
        else
            status = line->operand(line->ctx, argv[i]);
        if (status != CMD_OK) return status;
    }
    return CMD_OK;
}

int options_absent(const char *head, const char *why, int argc, char **argv) {
    bool asks = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    const struct command_line line = {.head = head, .foot = ""};
    int status = options_parse(&line, asks ? 2 : 1, argv);
    return status == CMD_OK ? cmd_usage("%s", why) : status;
}

/* ---- values ---------------------------------------------------------------------------------- */

int option_number(const char *option, const char *word, uint64_t least, uint64_t most,
                  uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    bool good = *word >= '0' && *word <= '9' && !*end && !errno && n >= least && n <= most;
    if (good) *out = n;
    if (good) return CMD_OK;
    if (most == UINT64_MAX)
        return cmd_usage("%s needs a number from %llu on, not '%s'", option,
                         (unsigned long long)least, word);
    return cmd_usage("%s needs a number from %llu to %llu, not '%s'", option,
                     (unsigned long long)least, (unsigned long long)most, word);
}

int option_duration(const char *option, const char *word, int64_t least_ns, int64_t *out_ns) {
    if (mwl_duration_parse(word, strlen(word), out_ns) == MWL_OK && *out_ns >= least_ns)
        return CMD_OK;
    return cmd_usage("%s needs a duration such as PT4S, PT12H or P7D, not '%s'", option, word);
}
