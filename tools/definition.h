/* definition.h: definitions and programs that are named on the command line, and the options that
 * say how to assemble: what the commands share. Diagnostics go to standard error. */
#ifndef MWL_TOOLS_DEFINITION_H
#define MWL_TOOLS_DEFINITION_H

#include "mwl_asm.h"

/* How to assemble, collected from options. Zero-initialise; free in any case. */
struct definition {
    mwl_asm_options options;
    mwl_asm_provider *providers;
    const char **allow, **deny; /* NULL-terminated */
    size_t n_providers, n_allow, n_deny;
};

/* The help of what definition_option takes. */
#define DEFINITION_HELP                                                                            \
    "  --provider FILE        a provider definition document; may be repeated\n"                   \
    "  --allow NAME           leave out a warning, by its name or code; may be repeated\n"         \
    "  --deny NAME            make a warning an error; `warnings` means all of them\n"             \
    "  --format FORM          of the diagnostics: human, json or sarif\n"

/* If argv[*i] is one of them (--option VALUE or --option=VALUE): takes it and its value, advancing
 * *i to the last word used, and answers 1. 0: another word, or no value. -1: wrong, with a message.
 */
int definition_option(struct definition *d, int argc, char **argv, int *i);
void definition_free(struct definition *d);

/* The words of a command that takes one FILE, these options, and those that `other` knows (NULL:
 * none): it answers like definition_option. CMD_OK and *path, or CMD_USAGE with a message. */
int definition_parse(struct definition *d, int argc, char **argv, const char **path,
                     int (*other)(void *ctx, int argc, char **argv, int *i), void *ctx);

/* The value of --name VALUE or --name=VALUE, *i advanced to its word; NULL when argv[*i] is another
 * option or nothing follows. */
const char *definition_value(const char *name, int argc, char **argv, int *i);

/* Whether a stream (STDOUT_FILENO, STDERR_FILENO) wants colour; how messages call a file. */
bool definition_colour(int stream);
const char *definition_name(const char *path);

/* Assemble a file's text. An exit status; on CMD_OK *out holds an image, to be freed with
 * mwl_asm_free. */
int definition_assemble(struct definition *d, const char *path, const char *text, size_t len,
                        mwl_asm_result *out);
/* Load a program file, or assemble a definition in memory and load that; "-" is standard input. An
 * exit status. */
int definition_load(struct definition *d, const char *path, mwl_program **out);

#endif
