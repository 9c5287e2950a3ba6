/* options.h: the command lines of the subcommands: tables of options, from which words are parsed
 * and the help is written.
 *
 * Owns: how an option and its value are written, and the messages about a wrong one. Refuses to
 * know: what an option does. */
#ifndef MWL_TOOLS_OPTIONS_H
#define MWL_TOOLS_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The field of an option is of the type that its kind names. */
enum option_kind {
    OPTION_FLAG,  /* bool; no value */
    OPTION_WORD,  /* const char *; once */
    OPTION_LIST,  /* struct word_list; may be repeated */
    OPTION_TITLE, /* not an option: `name` is a heading of the help */
    OPTION_CALL,  /* no field: `take` gets the table's base and the value; may be repeated */
    OPTION_FORM   /* the same; the value is optional and follows "=" only; "" if there is no "=" */
};

struct option {
    const char *name; /* "--input", or "-o" */
    enum option_kind kind;
    size_t at;                                  /* of the field, from the table's base */
    const char *operand, *text;                 /* for the help, which fills lines with them */
    int (*take)(void *base, const char *value); /* CMD_OK, or a status with a message */
};

struct option_table {
    const struct option *rows;
    size_t n_rows;
    void *base;
};

/* Words that may be given several times, in their order; each lies in argv. */
struct word_list {
    const char **words;
    size_t count;
};
int word_list_add(struct word_list *list, const char *word); /* CMD_OK, or a message */
void word_list_free(struct word_list *list);

#define OPTIONS_TABLES 7
struct command_line {
    const char *head, *foot; /* of the help, around the options */
    struct option_table tables[OPTIONS_TABLES];
    /* A word that is not an option: CMD_OK, or a status after a message. */
    int (*operand)(void *ctx, const char *word);
    void *ctx;
    bool minus_is_operand; /* "-1" and "-x" are operands: only "--word" and the one-letter options
                              of the tables are options */
};

/* Options may be before, between and behind operands; "--" ends them; a value is the next word, or
 * follows "=". Returns CMD_OK; CMD_USAGE after a message; OPTIONS_HELP if --help or -h was one of
 * them, after printing the help: of many options -h shows those before the second heading. */
enum { OPTIONS_HELP = -1 };
int options_parse(const struct command_line *line, int argc, char **argv);

/* Reads the value of an option: a whole number, or a duration. CMD_OK, or a usage error. */
int option_number(const char *option, const char *word, uint64_t least, uint64_t most,
                  uint64_t *out);
int option_duration(const char *option, const char *word, int64_t least_ns, int64_t *out_ns);

/* A command that this build does not have: its help says so, and so does `why` when it is used. */
int options_absent(const char *head, const char *why, int argc, char **argv);

/* For commands that describe the others (complete/): while a visitor is set, options_parse gives it
 * the command line instead of parsing, and returns OPTIONS_HELP. The tables' rows and the texts are
 * constant; the struct itself is lent for the call. NULL: parse again. */
struct options_visitor {
    void (*visit)(void *ctx, const struct command_line *line);
    void *ctx;
};
void options_visit(const struct options_visitor *visitor);

#endif
