/* run_options.c: the options of `mwlvm run`.
 *
 * Refuses to know: what an option does. */
#include "tools/run/run_options.h"

#include "tools/base/cmd.h"
#include "tools/base/file_out.h"
#include "tools/run/each.h"
#include "tools/session/values.h"
#include "vm/base/utf8.h"

#include <stdlib.h>
#include <string.h>

static int take_each(void *base, const char *word) {
    struct run_options *o = base;
    if (o->each) return cmd_usage("--each is given twice");
    o->each = true;
    if (*word) o->each_file = word;
    return CMD_OK;
}

static int take_count(const char *name, const char *word, uint32_t most, uint32_t *out) {
    uint64_t n = *out;
    int status = option_number(name, word, 1, most, &n);
    *out = (uint32_t)n;
    return status;
}

static int take_from(void *base, const char *word) {
    return option_number("--from", word, 1, UINT64_MAX, &((struct run_options *)base)->from);
}

/* The id goes into keys, URLs and JSON. */
static int take_id(void *base, const char *word) {
    struct run_options *o = base;
    if (o->id) return cmd_usage("--id is given twice");
    if (!*word) return cmd_usage("--id must not be empty");
    if (!mwl__utf8_valid(word, strlen(word), NULL)) return cmd_usage("--id is not UTF-8");
    o->id = word;
    return CMD_OK;
}

static int take_jobs(void *base, const char *word) {
    return take_count("-j", word, EACH_THREADS_MOST, &((struct run_options *)base)->jobs);
}

static int take_concurrency(void *base, const char *word) {
    return take_count("--concurrency", word, EACH_CONCURRENCY_MOST,
                      &((struct run_options *)base)->concurrency);
}

/* FILE, and with --each the file of inputs behind it. */
static int take_operand(void *ctx, const char *word) {
    struct run_options *o = ctx;
    if (!o->definition.path) return definition_operand(&o->definition, word);
    if (o->second) return cmd_usage("too many files: '%s'", word);
    o->second = word;
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

#define AT(field) offsetof(struct run_options, field)
static const struct option input_rows[] = {
    {"Used most", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--input", OPTION_WORD, AT(input), "JSON|@FILE|-",
     "the input: JSON text, a file, or standard input to its end", NULL},
    {"--arg", OPTION_LIST, AT(args), "NAME=JSON", "one argument of the Flow; may be repeated",
     NULL},
    {"--args", OPTION_WORD, AT(arguments), "JSON|@FILE|-",
     "arguments: an object, given as --input is; --arg overrides it", NULL},
    STORE_OPTION(AT(durable),
                 "keep the run in this store, so that it outlives the process: " STORE_WHERE
                 "; `mwlvm resume --store FILE|URL` goes on with it"),
};
static const struct option resume_rows[] = {
    {"Used most", OPTION_TITLE, 0, NULL, NULL, NULL},
    STORE_OPTION(AT(durable), "the store of the run: " STORE_WHERE),
    {"--unfinished", OPTION_FLAG, AT(unfinished), "",
     "with --store: go on with every run that is not over", NULL},
};
/* The next of both. */
static const struct option first_rows[] = {
    {"--virtual-time", OPTION_FLAG, AT(virtual_time), "",
     "waits cost no time: the clock skips to the next timer", NULL},
    {"--result", OPTION_FLAG, AT(whole_result), "", "print the whole Result, not its value alone",
     NULL},
    {"-v", OPTION_FLAG, AT(verbose), "", "print Steps, calls, waits and failures as they happen",
     NULL},
    {"--report", OPTION_WORD, AT(report), "FILE",
     "write a page (HTML) of the run: its graph with the way taken, a timeline with a bar "
     "for each attempt, inputs, Results, variables, failures",
     NULL},
};
static const struct option start_rows[] = {
    {"One run", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--id", OPTION_CALL, 0, "ID", "the execution's id; with --each ID-LINE", take_id},
    {"--seed", OPTION_CALL, 0, "N",
     "of jitter, from 1 on; a run with the same one repeats it, and generated ids under virtual time",
     session_take_seed},
    {"--record", OPTION_WORD, AT(record), "FILE",
     "write the run as a case of `mwlvm test`, with the answers that providers gave", NULL},
    {"--detach", OPTION_FLAG, AT(detach), "",
     "with --store: print the id of the run when it is in the store, and end", NULL},
    {"Many runs", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--each", OPTION_FORM, 0, "=FILE",
     "one run for each line of FILE, or of standard input: a JSON input on "
     "each line, a Result on each line of standard output",
     take_each},
    {"-j", OPTION_CALL, 0, "N", "with --each: threads; the default is one for each processor",
     take_jobs},
    {"--concurrency", OPTION_CALL, 0, "N",
     "with --each: runs in flight in one thread; the default is 100", take_concurrency},
    {"--unordered", OPTION_FLAG, AT(unordered), "",
     "with --each: write Results as they come, with the number of their line", NULL},
    {"--numbered", OPTION_FLAG, AT(numbered), "",
     "with --each: the number of its line in each Result", NULL},
    {"--from", OPTION_CALL, 0, "N",
     "with --each: run the lines from N on, under their own numbers; to go on after a crash",
     take_from},
    {"--fail-fast", OPTION_FLAG, AT(fail_fast), "",
     "with --each: cancel everything when a run has failed", NULL},
};
/* The rest of both. */
static const struct option rest_rows[] = {
    {"What is printed and written", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--pretty", OPTION_FLAG, AT(pretty), "", "print on several lines (as on a terminal)", NULL},
    {"--compact", OPTION_FLAG, AT(compact), "", "print on one line (as into a file or pipe)", NULL},
    {"--quiet", OPTION_FLAG, AT(quiet), "",
     "no live line on a terminal; with --each, no progress bar and no summary", NULL},
    {"--trace", OPTION_FORM, 0, "=FORM",
     "report what happens on standard error; `full`: with whole values; "
     "`json`: a JSON object on each line",
     take_trace},
    {"--trace-file", OPTION_WORD, AT(trace_file), "FILE",
     "write what happens as Chrome trace-event JSON, for Perfetto (https://ui.perfetto.dev)", NULL},
    {"A run in a file", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--save", OPTION_WORD, AT(save), "FILE",
     "on Ctrl-\\ save the run and end; `mwlvm resume FILE` goes on with it", NULL},
    {"--save-at", OPTION_WORD, AT(save_at), "STEP", "with --save: when the run waits in this Step",
     NULL},
    {"Providers", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--bind", OPTION_LIST, AT(bind_words), "URI=TARGET",
     "answer calls of the provider URI by another provider (a URI), or by "
     "scripted answers (a JSON file); may be repeated",
     NULL},
    {"--remote", OPTION_LIST, AT(remote_words), "URI",
     "with --store: calls of the provider URI are for workers outside, who ask "
     "`mwlvm serve` for them; may be repeated",
     NULL},
};
#undef AT

#define ROWS(rows)                                                                                 \
    { rows, sizeof rows / sizeof *rows, o }
/* The options of `run`, and those of `resume`: a start has more of them. */
#define TABLES(first, ...)                                                                         \
    {                                                                                              \
        ROWS(first), ROWS(first_rows), __VA_ARGS__ ROWS(rest_rows),                                \
            {permission_options, n_permission_options, &o->permissions},                           \
            DEFINITION_TABLES(&o->definition)                                                      \
    }

static const char head[] =
    "usage: mwlvm [run] FILE [OPTIONS]\n\n"
    "Runs FILE: a program (.mwlb), or a definition (.json), which is assembled in memory.\n"
    "Prints the value of its Result, or the Result when it is a failure; everything else goes\n"
    "to standard error.\n\n";

static const char resume_head[] =
    "usage: mwlvm resume FILE [OPTIONS]\n"
    "       mwlvm resume --store FILE|URL [RUN] [OPTIONS]\n\n"
    "Continues the run that `mwlvm run --save FILE` saved, or runs of a store. Time has gone on\n"
    "meanwhile. Calls that were in flight start again, with the same key. --fuel and --memory are\n"
    "the limits from now on.\n\n";

#define RUN_STATUSES                                                                               \
    "Exit status:\n"                                                                               \
    "  0  success\n"                                                                               \
    "  1  the Result is a failure\n"                                                               \
    "  2  wrong usage, or a file that cannot be read or written\n"                                 \
    "  3  the definition or the program is rejected\n"                                             \
    "  4  the Result is a cancellation\n"                                                          \
    "  5  the Result is of type timeout\n"                                                         \
    "  6  a limit was reached (--fuel, --memory)\n"                                                \
    "  129, 130, 143  ended by SIGHUP, by Ctrl-C (SIGINT) or by SIGTERM, after cleanup\n"

static const char foot[] =
    "\n"
    "Examples:\n"
    "  mwlvm run tools/examples/hello.json --input '{\"name\": \"Ada\"}'\n"
    "      {\"greeting\":\"Hello, Ada!\"}\n"
    "  echo '{\"name\": \"Bob\"}' | mwlvm run tools/examples/hello.json --each --quiet\n"
    "      {\"type\":\"success\",\"value\":{\"greeting\":\"Hello, Bob!\"}}\n"
    "  mwlvm run tools/examples/hello.json --store runs.db --input '{\"name\": \"Eve\"}'\n"
    "      {\"greeting\":\"Hello, Eve!\"}\n\n"
    "--input takes JSON text; a word that is not JSON is the name of a file, and @FILE is always\n"
    "one. Without --input, a file or a pipe on standard input is read to its end and is the input\n"
    "when there is something in it; else the input is null. `--input null` reads nothing: use it\n"
    "where another program starts the command with a pipe that it does not close. Ctrl-C cancels\n"
    "the run, with its cleanup; a second Ctrl-C ends it.\n\n"
    "With --store the run is in the store before it begins, and a call with effects starts only\n"
    "when the store knows of it. So after a crash a call can be made again, under the same key, but\n"
    "never another one under that key. Repeat the command with the same --id, or use\n"
    "`mwlvm resume`. Ctrl-C leaves the run in the store. `ps`, `show`, `logs`, `answer`, `cancel`,\n"
    "`prune` and `backup` work on a store.\n\n" RUN_STATUSES;

static const char resume_foot[] =
    "\n"
    "Example:\n"
    "  mwlvm run tools/examples/hello.json --store runs.db --id hello --detach && \\\n"
    "    mwlvm resume --store runs.db hello\n\n" RUN_STATUSES;

/* Standard input is one thing at most. */
static int one_reader(struct run_options *o) {
    static const char *const names[] = {"the definition", "the arguments", "the input",
                                        "the inputs"};
    const char *words[] = {o->definition.path, o->arguments, o->input,
                           o->each && !o->each_file ? "-" : o->each_file};
    const char *taken = NULL;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!words[i] || strcmp(words[i], "-") != 0) continue;
        if (taken) return cmd_usage("standard input cannot be both %s and %s", taken, names[i]);
        taken = names[i];
    }
    o->stdin_taken = taken != NULL;
    return CMD_OK;
}

/* Refuses options that make no sense with many runs. */
static int check_each(struct run_options *o) {
    if (o->second && o->each_file)
        return cmd_usage("the inputs are one file, not '%s' and '%s'", o->each_file, o->second);
    if (o->second) o->each_file = o->second;
    const char *wrong = o->input        ? "--input"
                        : o->pretty     ? "--pretty"
                        : o->trace      ? "--trace"
                        : o->trace_file ? "--trace-file"
                        : o->record     ? "--record"
                        : o->report     ? "--report"
                        : o->verbose    ? "-v"
                        : o->save       ? "--save"
                        : o->durable    ? "--store"
                                        : NULL;
    if (wrong) return cmd_usage("%s is for one run, not for --each", wrong);
    return CMD_OK;
}

/* Refuses options that a durable run does not have: another process may go on with it. */
static int check_durable(const struct run_options *o) {
    const char *wrong = o->trace          ? "--trace"
                        : o->trace_file   ? "--trace-file"
                        : o->record       ? "--record"
                        : o->report       ? "--report"
                        : o->verbose      ? "-v"
                        : o->save         ? "--save"
                        : o->virtual_time ? "--virtual-time"
                                          : NULL;
    if (o->unfinished && !o->durable) return cmd_usage("--unfinished is for --store");
    if (o->detach && !o->durable) return cmd_usage("--detach is for --store");
    if (o->remote_words.count && !o->durable) return cmd_usage("--remote is for --store");
    if (o->unfinished && o->definition.path) return cmd_usage("either a RUN or --unfinished");
    if (wrong && o->durable) return cmd_usage("%s cannot be used with --store", wrong);
    return CMD_OK;
}

int run_options_parse(struct run_options *o, int argc, char **argv, bool resumes) {
    memset(o, 0, sizeof *o);
    definition_init(&o->definition);
    const struct command_line run = {head,         foot, TABLES(input_rows, ROWS(start_rows), ),
                                     take_operand, o,    false};
    const struct command_line resume = {resume_head,  resume_foot, TABLES(resume_rows, ),
                                        take_operand, o,           false};
    int status = options_parse(resumes ? &resume : &run, argc, argv);
    if (status != CMD_OK) return status;
    const char *file = o->definition.path;
    if (!file && !(resumes && o->durable))
        return cmd_usage(resumes ? "no FILE to resume" : "no FILE to run");
    status = check_durable(o);
    if (status != CMD_OK) return status;
    if (o->quiet && o->verbose) return cmd_usage("-v and --quiet exclude each other");
    if (o->pretty && o->compact) return cmd_usage("--pretty and --compact exclude each other");
    if (o->record && o->save) /* a case begins with an input and ends with a Result */
        return cmd_usage("--record is for a whole run, not for --save");
    if (o->save_at && !o->save) return cmd_usage("--save-at needs --save FILE");
    if (o->save && !resumes && file_out_is_input(o->save, file))
        return cmd_usage("--save would overwrite %s", file);
    if (o->each)
        status = check_each(o);
    else if (o->second)
        status = cmd_usage("one FILE is wanted, not '%s' and '%s'", file, o->second);
    else if (o->jobs || o->concurrency || o->unordered || o->fail_fast || o->numbered || o->from)
        status = cmd_usage("-j, --concurrency, --unordered, --numbered, --from and --fail-fast are "
                           "for --each");
    return status == CMD_OK ? one_reader(o) : status;
}

void run_options_free(struct run_options *o) {
    binds_free(&o->binds, &o->definition);
    word_list_free(&o->args);
    word_list_free(&o->bind_words);
    word_list_free(&o->remote_words);
    permissions_free(&o->permissions);
    definition_free(&o->definition);
    remotes_free(&o->remotes);
}
