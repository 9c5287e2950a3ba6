/* load.h: a file to a program, for every command that runs or looks at one. */
#ifndef MWL_TOOLS_LOAD_H
#define MWL_TOOLS_LOAD_H

#include "mwl.h"
#include "mwl_asm.h"

/* A program file is loaded; anything else is a definition and is assembled in memory, its
 * diagnostics on standard error. path "-" is standard input. CMD_OK; CMD_USAGE when the file cannot
 * be read; CMD_REJECTED; each with a message printed. */
int load_program(const char *path, const mwl_asm_provider *providers, size_t n_providers,
                 mwl_program **out);

#endif
