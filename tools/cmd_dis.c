/* cmd_dis.c: `mwlvm dis FILE`: the listing of a program file, or of a definition's program. */
#include "cmd.h"
#include "definition.h"
#include "disasm.h"

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
    int status = CMD_OK;
    memset(&d, 0, sizeof d);
    for (int i = 1; i < argc && status == CMD_OK; i++) {
        int taken = definition_option(&d, argc, argv, &i);
        if (taken > 0) continue;
        if (taken < 0)
            status = CMD_USAGE;
        else if (argv[i][0] == '-' && argv[i][1])
            status = cmd_usage("dis: unknown option '%s'", argv[i]);
        else if (path)
            status = cmd_usage("dis takes one FILE");
        else
            path = argv[i];
    }
    if (status == CMD_OK)
        status = path ? definition_load(&d, path, &program) : cmd_usage("dis takes one FILE");
    if (status == CMD_OK) status = list(program);
    mwl_program_release(program);
    definition_free(&d);
    return status;
}
