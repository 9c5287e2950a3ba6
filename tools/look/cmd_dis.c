/* cmd_dis.c: `mwlvm dis FILE`: the listing of a program file, or of a definition's program. */
#include "tools/base/cmd.h"
#include "tools/host/definition.h"
#include "tools/base/term.h"
#include "assembler/emit/disasm.h"

static const char head[] =
    "usage: mwlvm dis FILE [OPTIONS]\n\n"
    "Lists a program file, or the program of a definition: its sections, constants and tables, "
    "then\n"
    "the code with its Steps and the expressions it came from. vm/OPCODES.md lists the\n"
    "instructions.\n\n";

static int list(struct definition *d, const mwl_program *program) {
    mwl__buf out = mwl__buf_make(limits_alloc(&d->limits));
    mwl_status status = mwl__disasm(program, 0, &out);
    if (status == MWL_OK) term_output(out.data, out.len);
    mwl__buf_free(&out);
    return status == MWL_OK ? CMD_OK : definition_failed(d, d->path, status);
}

int cmd_dis(int argc, char **argv) {
    struct definition d;
    mwl_program *program = NULL;
    definition_init(&d);
    const struct command_line line = {
        head,
        "\nExample:\n  mwlvm dis tools/examples/hello.json\n" CMD_STATUSES,
        {DEFINITION_TABLES(&d)},
        definition_operand,
        &d,
        false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && !d.path) status = cmd_usage("no FILE to list");
    if (status == CMD_OK) status = definition_load(&d, d.path, &program);
    if (status == CMD_OK) status = list(&d, program);
    mwl_program_release(program);
    definition_free(&d);
    return status;
}
