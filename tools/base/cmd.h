/* cmd.h: what main.c and the subcommands agree on. One subcommand per file, cmd_<name>.c; a new one
 * adds its file and its row in CMD_LIST. */
#ifndef MWL_TOOLS_CMD_H
#define MWL_TOOLS_CMD_H

#include "mwl.h"

#include <stdbool.h>

/* The groups of the help, in their order. */
#define CMD_GROUPS(X)                                                                              \
    X(WRITE, "Write")                                                                              \
    X(CHECK, "Check")                                                                              \
    X(TEST, "Test")                                                                                \
    X(RUN, "Run")                                                                                  \
    X(KEEP, "Keep")                                                                                \
    X(LOOK, "Look inside")                                                                         \
    X(EDITORS, "Editors and shells")

/* name, group, is it in the short help, operands, one line of help; group by group */
#define CMD_LIST(X)                                                                                \
    X(new, WRITE, 1, "PATTERN", "begin a definition from a pattern: retry, poll, saga and others") \
    X(fmt, WRITE, 1, "FILE...", "write definitions in their one canonical layout")                 \
    X(actions, WRITE, 0, "[NAME]", "list the actions of Steps; with NAME, its members")            \
    X(functions, WRITE, 0, "[NAME]", "list the functions of expressions; with NAME, one in full")  \
    X(providers, WRITE, 0, "[NAME]", "list the providers; with NAME, show one in full")            \
    X(schema, WRITE, 0, "", "print the JSON Schema of a definition, for editors")                  \
    X(eval, WRITE, 0, "EXPR", "evaluate one CEL expression")                                       \
    X(check, CHECK, 1, "FILE...", "look for mistakes in definitions")                              \
    X(explain, CHECK, 1, "[CODE]", "explain a diagnostic; without CODE, list all of them")         \
    X(test, TEST, 1, "[FILE]", "run the cases of workflows, without any service")                  \
    X(explore, TEST, 1, "FILE", "try everything that providers can do to a workflow")              \
    X(run, RUN, 1, "FILE", "run a definition (.json) or a program (.mwlb); --store keeps the run") \
    X(debug, RUN, 0, "FILE", "run step by step, forwards and back, and look at everything")        \
    X(asm, RUN, 0, "FILE", "assemble a definition into a program file")                            \
    X(resume, KEEP, 1, "FILE", "go on with a run that `run --store` or `run --save` kept")         \
    X(serve, KEEP, 1, "[FILE...]", "drive the runs of a store, with an HTTP server and a page")    \
    X(worker, KEEP, 0, "", "run what is in a store on PostgreSQL, as one of a fleet")              \
    X(ps, KEEP, 0, "", "list the runs of a store")                                                 \
    X(logs, KEEP, 0, "[RUN]", "print what happened to the runs of a store")                        \
    X(answer, KEEP, 0, "RUN...", "answer a wait of a run in a store")                              \
    X(cancel, KEEP, 0, "RUN", "ask a run in a store to stop")                                      \
    X(prune, KEEP, 0, "", "remove old runs from a store")                                          \
    X(backup, KEEP, 0, "COPY", "copy a store while runs go on")                                    \
    X(graph, LOOK, 1, "FILE", "draw a definition as SVG, Mermaid or DOT")                          \
    X(show, LOOK, 0, "FILE", "describe a run that was kept: where it is, what it waits for")       \
    X(dis, LOOK, 0, "FILE", "list the code of a program or a definition")                          \
    X(decompile, LOOK, 0, "FILE", "print the definition that a program was made of")               \
    X(lsp, EDITORS, 0, "", "the language server: editors start it")                                \
    X(dap, EDITORS, 0, "", "the debugger for editors: they start it")                              \
    X(completion, EDITORS, 0, "SHELL", "print a completion script: bash, zsh or fish")             \
    X(manual, EDITORS, 0, "", "print the man page")

/* Exit statuses. A run that ended with a Result has 0, 1, 4 or 5; one that a limit ended 6. A
 * command that a signal ended dies by that signal: a shell sees 128 and the signal's number. */
enum {
    CMD_OK = 0,
    CMD_FAILED = 1,    /* a failure Result; a command's work failed */
    CMD_USAGE = 2,     /* the command line was wrong, a file could not be read or written */
    CMD_REJECTED = 3,  /* the definition or the program file was refused */
    CMD_CANCELLED = 4, /* a Result of type cancellation, or aborted */
    CMD_TIMEOUT = 5,   /* a Result of type timeout */
    CMD_LIMIT = 6      /* out of fuel or memory */
};

/* The end of the help of commands that only look at definitions and programs. */
#define CMD_STATUSES                                                                               \
    "\nExit status: 0 done, perhaps with warnings; 1 it could not be done; 2 wrong usage, or a\n"  \
    "file that cannot be read or written; 3 rejected; 6 a limit was reached.\n"

/* Why durable runs are missing. */
#define CMD_NO_DURABLE "this build has no durable runs: the header of SQLite was not found"

/* argv[0] is the subcommand's name. Returns an exit status; below zero counts as CMD_OK
 * (OPTIONS_HELP). */
#define CMD_X(name, group, first, operands, text) int cmd_##name(int argc, char **argv);
CMD_LIST(CMD_X)
#undef CMD_X

enum cmd_group {
#define CMD_GROUP(name, title) CMD_##name##_GROUP,
    CMD_GROUPS(CMD_GROUP)
#undef CMD_GROUP
        CMD_N_GROUPS
};

/* A subcommand. */
struct command {
    const char *name;
    enum cmd_group group;
    bool first;
    const char *operands, *text;
    int (*run)(int argc, char **argv);
};

/* Prints "mwlvm: ..." and a hint at the subcommand's --help on standard error; returns
 * CMD_USAGE. What is printed by this and the next two is escaped as term_text does. */
int cmd_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "mwlvm: ..." on standard error; returns CMD_FAILED. */
int cmd_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reports that memory ran out, which is a limit: returns CMD_LIMIT. */
int cmd_no_memory(void);
/* Reports what an errno says about a file. Returns CMD_USAGE, or CMD_LIMIT if memory ran out. */
int cmd_file(const char *path, int why);
/* Reports an error of the library. Returns CMD_OK for MWL_OK, CMD_LIMIT if memory ran out, else
 * CMD_FAILED. */
int cmd_status(mwl_status status);

/* The same, about something that is not a failure. */
void cmd_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The name of the subcommand that runs from now on, for cmd_usage; lent. */
void cmd_begin(const char *name);
const char *cmd_name(void); /* "" before that */

/* The command ends by this signal when its work is done and its output written. */
void cmd_end_by_signal(int number);
/* Returns that signal; 0: none. */
int cmd_ending_signal(void);

/* Writes what is buffered for standard output. Returns 0 if all output was written there, or the
 * first errno that this function has met, because later output to other streams changes errno. */
int cmd_flush(void);

#endif
