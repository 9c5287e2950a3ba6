/* cmd.h: what main.c and the subcommands agree on. One subcommand per file, cmd_<name>.c; a new one
 * adds its file and its row in CMD_LIST. */
#ifndef MWL_TOOLS_CMD_H
#define MWL_TOOLS_CMD_H

#include <stddef.h>

/* name, operands, one line of help */
#define CMD_LIST(X)                                   \
    X(run, "FILE", "run a program or a definition")   \
    X(eval, "EXPR", "evaluate one CEL expression (--vars JSON, --input JSON, --cel)") \
    X(check, "FILE...", "the diagnostics of definitions (--provider FILE, --allow, --deny, --format)") \
    X(explain, "[CODE]", "what a diagnostic means; without CODE, all of them") \
    X(asm, "FILE", "assemble a definition (-o OUT, --strip, --provider FILE, --allow, --deny, --format)") \
    X(dis, "FILE", "list the code of a program or a definition")   \
    X(decompile, "FILE", "print the definition that a program was made of")

/* Exit statuses: 0 success, 1 the work failed, 2 the command line was wrong. */
enum { CMD_OK = 0, CMD_FAILED = 1, CMD_USAGE = 2 };

/* argv[0] is the subcommand's name. */
#define CMD_X(name, operands, text) int cmd_##name(int argc, char **argv);
CMD_LIST(CMD_X)
#undef CMD_X

/* Print "mwlvm: ..." and a hint at --help on standard error; answers CMD_USAGE. */
int cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Print "mwlvm: ..." on standard error; answers CMD_FAILED. */
int cmd_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The whole file (or standard input for "-") in malloc'd memory with a NUL behind it; NULL with a
 * message printed. */
char *cmd_read_file(const char *path, size_t *size);

#endif
