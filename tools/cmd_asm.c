/* cmd_asm.c: `mwlvm asm FILE`: a definition into a program file. */
#include "cmd.h"
#include "definition.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char help[] =
    "usage: mwlvm asm FILE [OPTIONS]\n\n"
    "Assembles a definition into a program file.\n\n"
    "  -o OUT                 where to; FILE with the ending .mwlb otherwise, '-' is standard "
    "output\n"
    "  --strip                without the definition and its positions, and packed: the smallest "
    "file\n" DEFINITION_HELP "\nExit status: 0 assembled, perhaps with warnings, 2 wrong usage or "
    "a file that cannot be read\n"
    "or written, 3 rejected.\n";

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

static int write_image(const char *path, const mwl_asm_result *result) {
    bool is_stdout = strcmp(path, "-") == 0;
    if (is_stdout && isatty(STDOUT_FILENO))
        return cmd_usage("a program file is not for a terminal");
    FILE *file = is_stdout ? stdout : fopen(path, "wb");
    bool good = file && fwrite(result->image, 1, result->image_size, file) == result->image_size;
    if (good && is_stdout) good = fflush(file) == 0;
    if (file && !is_stdout && fclose(file) != 0) good = false;
    if (good) return CMD_OK;
    int why = errno;
    if (file && !is_stdout) remove(path);
    cmd_fail("%s: %s", path, strerror(why));
    return CMD_USAGE;
}

static int assemble(struct definition *d, const char *path, const char *output) {
    size_t size = 0;
    char *text = cmd_read_file(path, &size), *name = NULL;
    if (!text) return CMD_USAGE;
    mwl_asm_result result;
    int status = definition_assemble(d, path, text, size, &result);
    if (status == CMD_OK) {
        if (!output && strcmp(path, "-") == 0) output = "-";
        if (!output) output = name = default_output(path);
        status = output ? write_image(output, &result) : cmd_fail("out of memory");
        mwl_asm_free(&result);
    }
    free(name);
    free(text);
    return status;
}

struct asm_options {
    struct definition definition;
    const char *output;
};

static int own_option(void *ctx, int argc, char **argv, int *i) {
    struct asm_options *o = ctx;
    if (strcmp(argv[*i], "--strip") == 0)
        o->definition.options.flags |= MWL_ASM_STRIP | MWL_ASM_PACK;
    else if (strcmp(argv[*i], "-o") == 0 && *i + 1 < argc)
        o->output = argv[++*i];
    else
        return 0;
    return 1;
}

int cmd_asm(int argc, char **argv) {
    if (cmd_help(argc, argv, help)) return CMD_OK;
    struct asm_options o;
    const char *path = NULL;
    memset(&o, 0, sizeof o);
    int status = definition_parse(&o.definition, argc, argv, &path, own_option, &o);
    if (status == CMD_OK) status = assemble(&o.definition, path, o.output);
    definition_free(&o.definition);
    return status;
}
