/* cmd_dis.c: `mwlvm dis FILE`: the listing of a program file, or of a definition's program. */
#include "cmd.h"
#include "definition.h"
#include "assembler/emit/disasm.h"

#include <stdio.h>

static const char help[] = "usage: mwlvm dis FILE [OPTIONS]\n\n"
                           "Lists a program file, or the program of a definition: its sections, "
                           "constants and tables, then\n"
                           "the code with its Steps and the expressions it came from. "
                           "vm/OPCODES.md tells the instructions.\n\n" DEFINITION_HELP;

static int list(const mwl_program *program) {
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    mwl_status status = mwl__disasm(program, 0, &out);
    if (status == MWL_OK) fwrite(out.data, 1, out.len, stdout);
    mwl__buf_free(&out);
    return status == MWL_OK ? CMD_OK : cmd_fail("%s", mwl_status_text(status));
}

int cmd_dis(int argc, char **argv) {
    if (cmd_help(argc, argv, help)) return CMD_OK;
    struct definition d;
    const char *path = NULL;
    mwl_program *program = NULL;
    memset(&d, 0, sizeof d);
    int status = definition_parse(&d, argc, argv, &path, NULL, NULL);
    if (status == CMD_OK) status = definition_load(&d, path, &program);
    if (status == CMD_OK) status = list(program);
    mwl_program_release(program);
    definition_free(&d);
    return status;
}
