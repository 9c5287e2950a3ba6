/* cmd_asm.c: `mwlvm asm FILE`: a definition into a program file. */
#include "tools/base/cmd.h"
#include "tools/host/definition.h"
#include "tools/base/file_out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char head[] = "usage: mwlvm asm FILE [OPTIONS]\n\n"
                           "Assembles a definition into a program file.\n\n";

/* "flow.json" -> "flow.mwlb"; other names get the ending added. malloc'd. */
static char *default_output(const char *path) {
    size_t len = strlen(path);
    if (len > 5 && strcmp(path + len - 5, ".json") == 0) len -= 5;
    char *out = malloc(len + 6);
    if (!out) return NULL;
    memcpy(out, path, len);
    memcpy(out + len, ".mwlb", 6);
    return out;
}

struct asm_options {
    struct definition definition;
    const char *output;
    bool strip;
};

static const struct option options[] = {
    {"-o", OPTION_WORD, offsetof(struct asm_options, output), "OUT",
     "where to; FILE with the ending .mwlb otherwise, '-' is standard output", NULL},
    {"--strip", OPTION_FLAG, offsetof(struct asm_options, strip), "",
     "without the definition and its positions, and packed: the smallest file", NULL},
};

static int write_image(const struct definition *d, const char *path, const mwl_asm_result *result) {
    if (strcmp(path, "-") == 0) {
        if (isatty(STDOUT_FILENO)) return cmd_usage("a program file is not for a terminal");
        fwrite(result->image, 1, result->image_size, stdout);
        return CMD_OK; /* the end of main looks whether it could be written */
    }
    bool overwrites = file_out_is_input(path, d->path);
    for (size_t i = 0; i < d->n_providers && !overwrites; i++)
        overwrites = file_out_is_input(path, d->providers[i].file);
    if (overwrites)
        return cmd_usage("%s: the output would overwrite the definition it is made of", path);
    return file_out(path, result->image, result->image_size);
}

static int assemble(struct asm_options *o) {
    struct definition *d = &o->definition;
    const char *output = o->output;
    char *name = NULL;
    struct file_text text;
    int status = file_in(&d->limits, d->path, &text);
    if (status != CMD_OK) return status;
    mwl_asm_result result;
    status = definition_assemble(d, d->path, text.data, text.size, &result);
    if (status == CMD_OK) {
        if (!output && strcmp(d->path, "-") == 0) output = "-";
        if (!output) output = name = default_output(d->path);
        status = output ? write_image(d, output, &result) : cmd_no_memory();
        mwl_asm_free(&result);
    }
    free(name);
    file_in_free(&d->limits, &text);
    return status;
}

int cmd_asm(int argc, char **argv) {
    struct asm_options o;
    memset(&o, 0, sizeof o);
    definition_init(&o.definition);
    const struct command_line line = {
        head,
        "\nExample:\n  mwlvm asm tools/examples/hello.json -o hello.mwlb\n" CMD_STATUSES,
        {{options, sizeof options / sizeof *options, &o}, DEFINITION_TABLES(&o.definition)},
        definition_operand,
        &o.definition,
        false};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && !o.definition.path) status = cmd_usage("no FILE to assemble");
    if (o.strip) o.definition.options.flags |= MWL_ASM_STRIP | MWL_ASM_PACK;
    if (status == CMD_OK) status = assemble(&o);
    definition_free(&o.definition);
    return status;
}
