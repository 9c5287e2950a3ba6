/* cmd.h: what main.c and the subcommands agree on. One subcommand per file, cmd_<name>.c; a new one
 * adds its file and its row in CMD_LIST. */
#ifndef MWL_TOOLS_CMD_H
#define MWL_TOOLS_CMD_H

#include "mwl.h"

/* name, operands, one line of help */
#define CMD_LIST(X)                                                                                \
    X(run, "FILE", "run a program (.mwlb) or a definition (.json)")                                \
    X(eval, "EXPR", "evaluate one CEL expression")                                                 \
    X(check, "FILE...", "look for mistakes in definitions")                                        \
    X(new, "PATTERN", "begin a definition from a pattern: retry, poll, saga and others")           \
    X(fmt, "FILE...", "write definitions in their one canonical layout")                           \
    X(providers, "[NAME]", "list the providers; with NAME, show one in full")                      \
    X(actions, "[NAME]", "list the actions of Steps; with NAME, its members")                      \
    X(functions, "[NAME]", "list the functions of expressions; with NAME, one in full")            \
    X(schema, "", "print the JSON Schema of a definition, for editors")                            \
    X(explain, "[CODE]", "explain a diagnostic; without CODE, list all of them")                   \
    X(graph, "FILE", "draw a definition as SVG, Mermaid or DOT")                                   \
    X(asm, "FILE", "assemble a definition into a program file")                                    \
    X(dis, "FILE", "list the code of a program or a definition")                                   \
    X(decompile, "FILE", "print the definition that a program was made of")                        \
    X(test, "[FILE]", "run the cases of workflows, without any service")                           \
    X(explore, "FILE", "try everything that providers can do to a workflow")                       \
    X(resume, "FILE", "go on with a run of `run --save` or `--durable`")                           \
    X(show, "FILE", "describe a saved run: where it is, what it waits for")                        \
    X(worker, "", "run what is in a store on PostgreSQL, as one of a fleet")                       \
    X(ps, "", "list the runs of a store (`run --durable`)")                                        \
    X(logs, "[RUN]", "what happened to the runs of a store")                                       \
    X(answer, "RUN...", "answer a wait of a durable run")                                          \
    X(cancel, "RUN", "ask a durable run to stop")                                                  \
    X(prune, "", "remove old runs from a store")                                                   \
    X(backup, "COPY", "copy a store while runs go on")                                             \
    X(serve, "[FILE...]", "drive the runs of a store, with an HTTP server and a page")             \
    X(debug, "FILE", "run step by step, forwards and back, and look at everything")                \
    X(lsp, "", "the language server: editors start it")                                            \
    X(dap, "", "the debugger for editors: they start it")                                          \
    X(completion, "SHELL", "print a completion script: bash, zsh or fish")                         \
    X(manual, "", "print the man page")

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
#define CMD_X(name, operands, text) int cmd_##name(int argc, char **argv);
CMD_LIST(CMD_X)
#undef CMD_X

/* A subcommand. */
struct command {
    const char *name, *operands, *text;
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

/* The command ends by this signal when its work is done and its output written. */
void cmd_end_by_signal(int number);
/* Returns that signal; 0: none. */
int cmd_ending_signal(void);

/* Writes what is buffered for standard output. Returns 0 if all output was written there, or the
 * first errno that this function has met, because later output to other streams changes errno. */
int cmd_flush(void);

#endif
