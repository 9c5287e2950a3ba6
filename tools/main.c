/* main.c: the mwlvm command's dispatch, its help and its version.
 *
 * Owns: finding the subcommand, usage errors, exit statuses, reading files whole.
 * Refuses to know: what any subcommand does. */
#include "cmd.h"
#include "vm/native/coro.h"
#include "vm/program/image.h"
#include "mwl.h"
#include "vm/program/op.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct command {
    const char *name, *operands, *text;
    int (*run)(int argc, char **argv);
} commands[] = {
#define CMD_X(name, operands, text) {#name, operands, text, cmd_##name},
    CMD_LIST(CMD_X)
#undef CMD_X
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static void complain(const char *format, va_list args) {
    fputs("mwlvm: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
}

int cmd_usage(const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    fputs("mwlvm: 'mwlvm --help' tells the usage\n", stderr);
    return CMD_USAGE;
}

int cmd_fail(const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
    return CMD_FAILED;
}

void cmd_note(const char *format, ...) {
    va_list args;
    va_start(args, format);
    complain(format, args);
    va_end(args);
}

char *cmd_read_file(const char *path, size_t *size) {
    bool is_stdin = strcmp(path, "-") == 0;
    FILE *file = is_stdin ? stdin : fopen(path, "rb");
    char *data = NULL;
    size_t len = 0, cap = 0;
    if (!file) {
        cmd_fail("%s: %s", path, strerror(errno));
        return NULL;
    }
    do {
        if (cap - len < 2) {
            cap = cap ? cap * 2 : 1u << 16;
            char *grown = realloc(data, cap);
            if (!grown) goto failed;
            data = grown;
        }
        len += fread(data + len, 1, cap - len - 1, file);
    } while (!feof(file) && !ferror(file));
    if (ferror(file)) goto failed;
    data[len] = '\0';
    *size = len;
    if (!is_stdin) fclose(file);
    return data;

failed:
    cmd_fail("%s: %s", path, strerror(errno ? errno : EIO));
    free(data);
    if (!is_stdin) fclose(file);
    return NULL;
}

bool cmd_help(int argc, char **argv, const char *text) {
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        if (strcmp(argv[i], "--help") == 0) {
            fputs(text, stdout);
            return true;
        }
    return false;
}

static int print_help(void) {
    printf("usage: mwlvm FILE [OPTIONS]\n"
           "       mwlvm COMMAND [OPERANDS]\n"
           "       mwlvm --help | --version\n\n"
           "Runs workflows written in the Metolia Workflow Language.\n\n");
    for (size_t i = 0; i < N_COMMANDS; i++)
        printf("  %-9s %-8s %s\n", commands[i].name, commands[i].operands, commands[i].text);
    printf("\n'mwlvm COMMAND --help' tells a command's options. 'mwlvm FILE' is 'mwlvm run FILE'.\n"
           "Exit status: 0 success, 1 failure, 2 wrong usage or a file that cannot be read,\n"
           "3 rejected definition or program, 4 cancelled, 5 timed out, 6 a limit was hit.\n");
    return CMD_OK;
}

/* What the engine satisfies: the specification's profiles, by their URIs. */
static const char *const profiles[] = {"core",
                                       "expressions/cel",
                                       "expressions/cel/strings",
                                       "expressions/cel/lists",
                                       "expressions/cel/sets",
                                       "expressions/cel/encoders",
                                       "expressions/cel/math"};

static int print_version(void) {
    printf("mwlvm %s\n", mwl_version());
    printf("program format: %u\n", MWL_IMAGE_FORMAT);
    printf("instruction set: %08" PRIx32 "\n", mwl__op_isa());
    printf("coroutines: %s\n", mwl__coro_backend());
    printf("conformance profiles:\n");
    for (size_t i = 0; i < sizeof profiles / sizeof *profiles; i++)
        printf("  https://mwl.dev/v0.1/conformance/%s\n", profiles[i]);
    return CMD_OK;
}

static const struct command *find_command(const char *word) {
    for (size_t i = 0; i < N_COMMANDS; i++)
        if (strcmp(word, commands[i].name) == 0) return &commands[i];
    return NULL;
}

/* A bare word that names no file is far more often a mistyped command. */
static bool looks_like_file(const char *word) {
    return strpbrk(word, "./") != NULL || strcmp(word, "-") == 0 || access(word, F_OK) == 0;
}

static int dispatch(int argc, char **argv) {
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return print_help();
    if (strcmp(word, "--version") == 0) return print_version();
    const struct command *command = find_command(word);
    if (command) return command->run(argc - 1, argv + 1);
    if (word[0] != '-' && !looks_like_file(word)) return cmd_usage("no such command: '%s'", word);
    return cmd_run(argc, argv);
}

int main(int argc, char **argv) {
    if (argc < 2) return cmd_usage("no command and no file given");
    int status = dispatch(argc, argv);
    if (fflush(stdout) == 0 && !ferror(stdout)) return status;
    cmd_fail("standard output: %s", strerror(errno));
    return CMD_USAGE;
}
