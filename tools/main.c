/* main.c: the mwlvm command's dispatch, its help and its version.
 *
 * Owns: finding the subcommand, its exit status, the end of the process.
 * Refuses to know: what any subcommand does. */
#include "tools/base/cmd.h"
#include "tools/base/help.h"
#include "vm/native/coro.h"
#include "vm/program/image.h"
#include "mwl.h"
#include "vm/base/suggest.h"
#include "vm/program/op.h"

#include <fcntl.h>
#include <inttypes.h>
#if defined(__GLIBC__)
#include <malloc.h>
#endif
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct command commands[] = {
#define CMD_X(name, group, first, operands, text)                                                  \
    {#name, CMD_##group##_GROUP, first, operands, text, cmd_##name},
    CMD_LIST(CMD_X)
#undef CMD_X
};
enum { N_COMMANDS = sizeof commands / sizeof *commands };

static const char head[] =
    "usage: mwlvm FILE [OPTIONS]\n"
    "       mwlvm COMMAND [OPERANDS] [OPTIONS]\n"
    "       mwlvm --help | --version\n\n"
    "Runs workflows written in the Metolia Workflow Language. Begin with:\n\n"
    "  mwlvm new retry flow.json\n"
    "  mwlvm check flow.json\n"
    "  mwlvm test\n";
static const char foot[] =
    "\n`mwlvm help --all` lists all commands. `mwlvm COMMAND -h` shows the options of a command that "
    "are used most, `mwlvm help COMMAND` all of them. `mwlvm FILE` is `mwlvm run FILE`.\n";
static const char all_foot[] =
    "\n`mwlvm help COMMAND` is about one of them.\n\nExit status: 0 success; 1 failure; 2 wrong usage, or a file that cannot be read or "
    "written; 3 rejected definition or program; 4 cancelled; 5 timed out; 6 a limit was "
    "reached; 128 and more: ended by a signal.\n";

static void print_commands(bool all) {
    static const char *const titles[] = {
#define CMD_GROUP(name, title) title,
        CMD_GROUPS(CMD_GROUP)
#undef CMD_GROUP
    };
    enum cmd_group group = CMD_N_GROUPS;
    for (size_t i = 0; i < N_COMMANDS; i++) {
        const struct command *c = &commands[i];
        char left[40];
        if (!all && !c->first) continue;
        if (c->group != group) printf("\n%s:\n", titles[c->group]);
        group = c->group;
        snprintf(left, sizeof left, *c->operands ? "%s %s" : "%s%s", c->name, c->operands);
        help_row(left, 16, c->text);
    }
}

static int print_help(bool all) {
    help_prose(head);
    print_commands(all);
    help_prose(all ? all_foot : foot);
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

static int no_such_command(const char *word) {
    mwl__suggest s = mwl__suggest_make(word, strlen(word));
    for (size_t i = 0; i < N_COMMANDS; i++)
        mwl__suggest_offer(&s, commands[i].name, strlen(commands[i].name));
    mwl__suggest_offer(&s, "help", 4);
    if (s.best)
        return cmd_usage("there is no command and no file '%s'; did you mean '%.*s'?", word,
                         (int)s.best_len, s.best);
    return cmd_usage("there is no command and no file '%s'", word);
}

/* A bare word that names no file is far more often a mistyped command. */
static bool looks_like_file(const char *word) {
    return strpbrk(word, "./") != NULL || strcmp(word, "-") == 0 || access(word, F_OK) == 0;
}

static int run_command(const struct command *command, int argc, char **argv) {
    cmd_begin(command->name);
    return command->run(argc, argv);
}

/* `mwlvm help`, `mwlvm help COMMAND`. */
static int help_about(const char *word) {
    static char option[] = "--help";
    const struct command *command = word ? find_command(word) : NULL;
    if (!word || strcmp(word, "--all") == 0) return print_help(word != NULL);
    if (!command) return no_such_command(word);
    char *argv[] = {NULL, option, NULL};
    return run_command(command, 2, argv);
}

static int dispatch(int argc, char **argv) {
    const char *word = argv[1];
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0)
        return print_help(argc > 2 && strcmp(argv[2], "--all") == 0);
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) return print_version();
    if (strcmp(word, "help") == 0 && argc <= 3) return help_about(argv[2]);
    const struct command *command = find_command(word);
    if (command) return run_command(command, argc - 1, argv + 1);
    if (word[0] != '-' && !looks_like_file(word)) return no_such_command(word);
    return run_command(find_command("run"), argc, argv);
}

/* The next file that is opened would get the number of a standard stream that is closed, and libuv
 * stops the process for that. Reading and writing still fail, as on a closed stream; messages to a
 * closed standard error are dropped. */
static bool open_streams(void) {
    static const int modes[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", modes[fd]) != fd) return false;
    return true;
}

/* Large blocks go back to the system when they are freed. glibc would raise this threshold with
 * the first large block, and keep more resident than --memory says. */
static void return_memory(void) {
#if defined(__GLIBC__)
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 4 << 20);
#endif
}

int main(int argc, char **argv) {
    return_memory();
    if (!open_streams()) return CMD_USAGE;
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    if (argc < 2) {
        print_help(false);
        fflush(stdout);
        return CMD_USAGE;
    }
    int status = dispatch(argc, argv);
    if (status < 0) status = CMD_OK;
    int unwritten = cmd_flush();
    if (unwritten) {
        cmd_fail("standard output: %s", strerror(unwritten));
        status = CMD_USAGE;
    }
    if ((fflush(stderr) != 0 || ferror(stderr)) && status == CMD_OK) status = CMD_USAGE;
    if (cmd_ending_signal()) {
        signal(cmd_ending_signal(), SIG_DFL);
        raise(cmd_ending_signal());
    }
    return status;
}
