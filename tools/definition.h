/* definition.h: definitions and programs that are named on the command line: what `asm`, `dis` and
 * others share. Diagnostics go to standard error. */
#ifndef MWL_TOOLS_DEFINITION_H
#define MWL_TOOLS_DEFINITION_H

#include "mwl_asm.h"

enum { DEFINITION_REJECTED = 3 }; /* exit status: the definition or the program file was refused */

/* How to assemble, collected from options. Zero-initialise; free in any case. */
struct definition {
    mwl_asm_options options;
    mwl_asm_provider *providers;
    const char **allow, **deny; /* NULL-terminated */
    size_t n_providers, n_allow, n_deny;
};

/* If argv[*i] is --provider FILE, --allow NAME, --deny NAME or --format FORM (or --option=VALUE):
 * takes it and its value, advancing *i to the last word used, and answers 1. 0: another word. -1:
 * wrong, with a message. */
int definition_option(struct definition *d, int argc, char **argv, int *i);
void definition_free(struct definition *d);

/* Assemble a file's text. An exit status; on CMD_OK *out holds an image, to be freed with
 * mwl_asm_free. */
int definition_assemble(struct definition *d, const char *path, const char *text, size_t len,
                        mwl_asm_result *out);
/* Load a .mwlb, or a definition, assembled in memory; "-" is standard input. An exit status. */
int definition_load(struct definition *d, const char *path, mwl_program **out);

#endif
