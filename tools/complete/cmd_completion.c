/* cmd_completion.c: `mwlvm completion SHELL` and `mwlvm manual`: texts about the command itself,
 * made from the tables that --help is written from. */
#include "tools/base/cmd.h"
#include "tools/complete/describe.h"
#include "tools/base/options.h"

#include <stdio.h>
#include <string.h>

static const char completion_head[] =
    "usage: mwlvm completion bash|zsh|fish\n\n"
    "Prints a script that completes the words of mwlvm in a shell. An installed mwlvm has them\n"
    "already where the shells look for them.\n\n";
static const char completion_foot[] =
    "\nExample:\n"
    "  mwlvm completion bash >mwlvm.bash\n"
    "\nThen `source mwlvm.bash` in ~/.bashrc. For zsh, call the file _mwlvm and put it into a folder\n"
    "of fpath; for fish, put mwlvm.fish into ~/.config/fish/completions.\n";

static const char manual_head[] = "usage: mwlvm manual\n\n"
                                  "Prints the man page; `man ./mwlvm.1` shows the file.\n\n";
static const char manual_foot[] = "\nExample:\n  mwlvm manual >mwlvm.1\n";

static int one_word(void *ctx, const char *word) {
    const char **shell = ctx;
    if (*shell) return cmd_usage("one SHELL is wanted, not '%s' and '%s'", *shell, word);
    *shell = word;
    return CMD_OK;
}

static int no_word(void *ctx, const char *word) {
    (void)ctx;
    return cmd_usage("no operand is wanted, not '%s'", word);
}

static const struct command commands[] = {
#define CMD_X(name, group, first, operands, text)                                                  \
    {#name, CMD_##group##_GROUP, first, operands, text, cmd_##name},
    CMD_LIST(CMD_X)
#undef CMD_X
};

static int print(void (*write)(const struct describe *, mwl__buf *)) {
    struct describe d;
    mwl__buf out = mwl__buf_make(mwl_alloc_default());
    int status = describe_all(&d, commands, sizeof commands / sizeof *commands);
    if (status == CMD_OK) {
        write(&d, &out);
        if (out.failed) status = cmd_no_memory();
    }
    if (status == CMD_OK) fwrite(out.data, 1, out.len, stdout);
    mwl__buf_free(&out);
    describe_free(&d);
    return status;
}

int cmd_completion(int argc, char **argv) {
    const char *shell = NULL;
    const struct command_line line = {
        .head = completion_head, .foot = completion_foot, .operand = one_word, .ctx = &shell};
    int status = options_parse(&line, argc, argv);
    if (status != CMD_OK) return status;
    if (!shell) return cmd_usage("a SHELL is wanted: bash, zsh or fish");
    if (strcmp(shell, "bash") == 0) return print(describe_bash);
    if (strcmp(shell, "zsh") == 0) return print(describe_zsh);
    if (strcmp(shell, "fish") == 0) return print(describe_fish);
    return cmd_usage("there is no script for '%s'; there are bash, zsh and fish", shell);
}

int cmd_manual(int argc, char **argv) {
    const struct command_line line = {.head = manual_head, .foot = manual_foot, .operand = no_word};
    int status = options_parse(&line, argc, argv);
    return status == CMD_OK ? print(describe_manual) : status;
}
