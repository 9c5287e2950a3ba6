/* cmd_decompile.c: `mwlvm decompile FILE`: the definition that a program file was made of, byte by
 * byte. */
#include "cmd.h"
#include "definition.h"
#include "vm/program/program.h"

#include <stdio.h>

static const char help[] =
    "usage: mwlvm decompile FILE\n\n"
    "Prints the definition that a program file was made of, with its comments. A program that was\n"
    "assembled with --strip has none.\n";

int cmd_decompile(int argc, char **argv) {
    if (cmd_help(argc, argv, help)) return CMD_OK;
    struct definition d;
    const char *path = NULL;
    mwl_program *program = NULL;
    memset(&d, 0, sizeof d);
    int status = definition_parse(&d, argc, argv, &path, NULL, NULL);
    if (status == CMD_OK) status = definition_load(&d, path, &program);
    if (status == CMD_OK && !program->source)
        status = cmd_fail("%s: the definition was stripped from this program", path);
    if (status == CMD_OK) fwrite(program->source, 1, program->source_size, stdout);
    mwl_program_release(program);
    definition_free(&d);
    return status;
}
