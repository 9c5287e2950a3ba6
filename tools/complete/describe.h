/* describe.h: the command line of every subcommand, as data: for completion scripts and the man
 * page. Everything is from the tables that --help is written from.
 *
 * Owns: what completes a word: a file, or words from a table of the build. */
#ifndef MWL_TOOLS_DESCRIBE_H
#define MWL_TOOLS_DESCRIBE_H

#include "tools/base/cmd.h"
#include "tools/base/options.h"
#include "vm/base/mem.h"

struct describe_command {
    const char *name, *operands, *text; /* of CMD_LIST */
    const char *head, *foot;            /* of its help */
    const struct option *options[64];
    size_t n_options;
};

struct describe {
    struct describe_command *commands;
    size_t n_commands;
};

/* Describes these subcommands. Returns CMD_OK, or a status after a message; free in any case. */
int describe_all(struct describe *d, const struct command *rows, size_t n);
void describe_free(struct describe *d);
/* Frees a text that was made for a part of `out`; if memory ran out for it, `out` has failed. */
void describe_end(mwl__buf *part, mwl__buf *out);

/* Does the operand of an option or a command mean a file? */
bool describe_is_file(const char *operand);
/* Appends the words that an option's value may be, with a space before each; nothing if they are
 * not known. */
void describe_values(const struct describe_command *c, const struct option *o, mwl__buf *out);
/* The same for the operand of a command. */
void describe_operands(const struct describe_command *c, mwl__buf *out);

/* The writers. */
void describe_bash(const struct describe *d, mwl__buf *out);
void describe_zsh(const struct describe *d, mwl__buf *out);
void describe_fish(const struct describe *d, mwl__buf *out);
void describe_manual(const struct describe *d, mwl__buf *out);

#endif
