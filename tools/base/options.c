/* options.c: see options.h. */
#include "tools/base/options.h"

#include "tools/base/cmd.h"
#include "vm/base/suggest.h"

#include <ctype.h>
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

static void print_row(const char *name, const char *operand, const char *text) {
    char left[64];
    bool form = operand[0] == '='; /* an optional value */
    snprintf(left, sizeof left, form ? "%s[%s]" : *operand ? "%s %s" : "%s%s", name, operand);
    printf("  %-22s ", left);
    if (strlen(left) > 22) printf("\n%25s", "");
    for (; *text; text++) {
        putchar(*text);
        if (*text == '\n') printf("%25s", "");
    }
    putchar('\n');
}

static int print_help(const struct command_line *line) {
    fputs(line->head, stdout);
    for (size_t t = 0; t < OPTIONS_TABLES; t++)
        for (size_t i = 0; i < line->tables[t].n_rows; i++) {
            const struct option *row = &line->tables[t].rows[i];
            print_row(row->name, row->operand, row->text);
        }
    print_row("-h, --help", "", "this text");
    fputs(line->foot, stdout);
    return OPTIONS_HELP;
}

/* ---- parsing --------------------------------------------------------------------------------- */

static const struct option *find(const struct command_line *line, const char *word, size_t len,
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

static int unknown(const struct command_line *line, const char *word, size_t len) {
    mwl__suggest s = mwl__suggest_make(word, len);
    for (size_t t = 0; t < OPTIONS_TABLES; t++)
        for (size_t i = 0; i < line->tables[t].n_rows; i++) {
            const char *name = line->tables[t].rows[i].name;
            mwl__suggest_offer(&s, name, strlen(name));
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
            return print_help(line);
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
