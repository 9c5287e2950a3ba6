/* run_options.c: the options of `mwlvm run`.
 *
 * Refuses to know: what an option does. */
#include "run_options.h"

#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static int take_seed(void *base, const char *word) {
    struct run_options *o = base;
    char *end;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    if (*word < '0' || *word > '9' || *end)
        return cmd_usage("--seed needs a number, not '%s'", word);
    if (errno == ERANGE) return cmd_usage("--seed: %s is too large", word);
    if (n == 0) return cmd_usage("--seed must not be 0");
    o->seed = n;
    return CMD_OK;
}

static int take_trace(void *base, const char *word) {
    static const char *const names[] = {NULL, "", "full", "json"};
    struct run_options *o = base;
    for (int i = TRACE_TEXT; i <= TRACE_JSON; i++)
        if (strcmp(word, names[i]) == 0) {
            o->trace = (enum trace_form)i;
            return CMD_OK;
        }
    return cmd_usage("--trace, --trace=full or --trace=json, not '%s'", word);
}

static const struct option options[] = {
#define AT(field) offsetof(struct run_options, field)
    {"--input", OPTION_WORD, AT(input), "JSON|@FILE|-",
     "the input: JSON text, a file, or standard input to its end", NULL},
    {"--arg", OPTION_LIST, AT(args), "NAME=JSON", "one argument of the Flow; may be repeated",
     NULL},
    {"--args", OPTION_WORD, AT(arguments), "JSON|@FILE|-",
     "arguments: an object, given as --input is; --arg overrides it", NULL},
    {"--result", OPTION_FLAG, AT(whole_result), "", "print the whole Result, not its value alone",
     NULL},
    {"--pretty", OPTION_FLAG, AT(pretty), "", "print on several lines (as on a terminal)", NULL},
    {"--compact", OPTION_FLAG, AT(compact), "", "print on one line (as into a file or pipe)", NULL},
    {"--virtual-time", OPTION_FLAG, AT(virtual_time), "",
     "waits cost no time: the clock skips to the next timer", NULL},
    {"--seed", OPTION_CALL, 0, "N",
     "of jitter and generated ids; a run with the same one repeats them", take_seed},
    {"--id", OPTION_WORD, AT(id), "ID", "the execution's id", NULL},
    {"--trace", OPTION_FORM, 0, "=FORM",
     "report what happens on standard error; `full`: with whole values;\n"
     "`json`: a JSON object on each line",
     take_trace},
    {"--trace-file", OPTION_WORD, AT(trace_file), "FILE",
     "write what happens as Chrome trace-event JSON, for Perfetto\n(https://ui.perfetto.dev)",
     NULL},
    {"-v", OPTION_FLAG, AT(verbose), "", "print Steps, calls, waits and failures as they happen",
     NULL},
    {"--quiet", OPTION_FLAG, AT(quiet), "", "no live line on a terminal", NULL},
#undef AT
};

static const char head[] =
    "usage: mwlvm [run] FILE [OPTIONS]\n\n"
    "Runs FILE: a program (.mwlb), or a definition (.json), which is assembled in memory.\n"
    "Prints the value of its Result, or the Result when it is a failure; everything else goes\n"
    "to standard error.\n\n";

static const char foot[] =
    "\n"
    "--input takes JSON text; a word that is not JSON is the name of a file, and @FILE is always\n"
    "one. Without --input, a file or a pipe on standard input is read to its end and is the input\n"
    "when there is something in it; else the input is null. Ctrl-C cancels the run, with its\n"
    "cleanup; once more ends it.\n\n"
    "Exit status:\n"
    "  0  success\n"
    "  1  the Result is a failure\n"
    "  2  wrong usage, or a file that cannot be read or written\n"
    "  3  the definition or the program is rejected\n"
    "  4  the Result is a cancellation\n"
    "  5  the Result is of type timeout\n"
    "  6  a limit was reached (--fuel, --memory)\n"
    "  129, 130, 143  ended by SIGHUP, by Ctrl-C (SIGINT) or by SIGTERM, after cleanup\n";

/* Standard input is one thing at most. */
static int one_reader(struct run_options *o) {
    static const char *const names[] = {"the definition", "the arguments", "the input"};
    const char *words[] = {o->definition.path, o->arguments, o->input};
    const char *taken = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i] || strcmp(words[i], "-") != 0) continue;
        if (taken) return cmd_usage("standard input cannot be both %s and %s", taken, names[i]);
        taken = names[i];
    }
    o->stdin_taken = taken != NULL;
    return CMD_OK;
}

int run_options_parse(struct run_options *o, int argc, char **argv) {
    memset(o, 0, sizeof *o);
    definition_init(&o->definition);
    const struct command_line line = {
        head,
        foot,
        {{options, sizeof options / sizeof *options, o}, DEFINITION_TABLES(&o->definition)},
        definition_operand,
        &o->definition,
        false};
    int status = options_parse(&line, argc, argv);
    if (status != CMD_OK) return status;
    const char *file = o->definition.path;
    if (!file) return cmd_usage("no FILE to run");
    if (o->quiet && o->verbose) return cmd_usage("-v and --quiet exclude each other");
    if (o->pretty && o->compact) return cmd_usage("--pretty and --compact exclude each other");
    return one_reader(o);
}

void run_options_free(struct run_options *o) {
    word_list_free(&o->args);
    definition_free(&o->definition);
}
