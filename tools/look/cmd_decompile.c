/* cmd_decompile.c: `mwlvm decompile FILE`: the definition that a program file was made of, byte by
 * byte. */
#include "tools/base/cmd.h"
#include "tools/host/definition.h"
#include "tools/base/term.h"
#include "vm/program/program.h"

static const char head[] =
    "usage: mwlvm decompile FILE [OPTIONS]\n\n"
    "Prints the definition that a program file was made of, with its comments. A program that was\n"
    "assembled with --strip has none.\n\n";

int cmd_decompile(int argc, char **argv) {
    struct definition d;
    mwl_program *program = NULL;
    definition_init(&d);
    const struct command_line line = {
        head,
        "\nExample:\n  mwlvm asm tools/examples/hello.json -o - | mwlvm decompile -\n" CMD_STATUSES,
        {DEFINITION_TABLES(&d)},
        definition_operand,
        &d,
        false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && !d.path) status = cmd_usage("no FILE to decompile");
    if (status == CMD_OK) status = definition_load(&d, d.path, &program);
    if (status == CMD_OK && !program->source)
        status =
            cmd_fail("%s: the definition was stripped from this program", file_in_name(d.path));
    if (status == CMD_OK) term_output(program->source, program->source_size);
    mwl_program_release(program);
    definition_free(&d);
    return status;
}
