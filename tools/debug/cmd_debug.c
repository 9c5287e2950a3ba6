/* cmd_debug.c: `mwlvm debug FILE`: a run, step by step, forwards and backwards. */
#include "tools/base/cmd.h"
#include "tools/debug/prompt.h"
#include "tools/base/term.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct debug {
    struct debug_setup setup;
    const char *script;
    bool real_time;
};

static int take_cancel(void *base, const char *word) {
    return option_duration("--cancel-after", word, 0,
                           &((struct debug *)base)->setup.cancel_after_ns);
}

static const struct option options[] = {
#define AT(field) offsetof(struct debug, field)
    {"Used most", OPTION_TITLE, 0, NULL, NULL, NULL},
    {"--script", OPTION_WORD, AT(script), "FILE", "read commands from FILE (-: standard input)",
     NULL},
    {"--input", OPTION_WORD, AT(setup.options.input), "JSON|@FILE", "the input", NULL},
    {"--arg", OPTION_LIST, AT(setup.options.args), "NAME=JSON",
     "one argument of the Flow; may be repeated", NULL},
    {"--args", OPTION_WORD, AT(setup.options.arguments), "JSON|@FILE", "arguments: an object",
     NULL},
    {"--real-time", OPTION_FLAG, AT(real_time), "",
     "waits take their time; without it the clock skips them. There is no way back then", NULL},
    {"--cancel-after", OPTION_CALL, 0, "DURATION", "cancel the run from outside at this time",
     take_cancel},
    {"--bind", OPTION_LIST, AT(setup.options.bind_words), "URI=TARGET",
     "answer calls of the provider URI by another one, or by a file of answers", NULL},
    {"--id", OPTION_WORD, AT(setup.options.id), "ID", "the execution's id", NULL},
#undef AT
};
static const struct option seed = {"--seed",         OPTION_CALL, 0, "N", "of jitter, from 1 on",
                                   session_take_seed};

static const char head[] =
    "usage: mwlvm debug FILE [OPTIONS]\n\n"
    "Runs FILE step by step, in virtual time. Commands are read from a prompt:\n\n";

static const char foot[] =
    "\nExample:\n"
    "  printf 'break greet\\ncontinue\\nprint step.input.name\\n' | mwlvm debug "
    "tools/examples/hello.json --input '{\"name\": \"Ada\"}' --script -\n"
    "\nOutput of the debugger goes to standard output. What a provider that touches the world has\n"
    "answered is kept: going back does not ask it again. A call in progress is ended, and made again.\n\n"
    "Exit status: 0 the session ended; 2 wrong usage, or a file that cannot be read; 3 the\n"
    "definition or the program is rejected.\n";

int cmd_debug(int argc, char **argv) {
    struct debug d;
    struct walk walk;
    memset(&d, 0, sizeof d);
    memset(&walk, 0, sizeof walk);
    setup_init(&d.setup);
    static char whole[sizeof head + 4096]; /* `mwlvm manual` reads it afterwards */
    snprintf(whole, sizeof whole, "%s%s\n", head, prompt_help);
    const struct command_line line = {
        .head = whole,
        .foot = foot,
        .tables = {{options, sizeof options / sizeof *options, &d},
                   {&seed, 1, &d.setup.options},
                   {permission_options, n_permission_options, &d.setup.options.permissions},
                   DEFINITION_TABLES(&d.setup.options.definition)},
        .operand = definition_operand,
        .ctx = &d.setup.options.definition};
    int status = options_parse(&line, argc, argv);
    if (status == CMD_OK && !d.setup.options.definition.path)
        status = cmd_usage("no FILE to debug");
    d.setup.options.virtual_time = !d.real_time;
    struct prompt prompt = {NULL, term_colour(STDOUT_FILENO)};
    if (status == CMD_OK && d.script) {
        prompt.script = strcmp(d.script, "-") == 0 ? stdin : fopen(d.script, "r");
        if (!prompt.script) status = cmd_file(d.script, errno);
    }
    if (status == CMD_OK) status = setup_load(&d.setup);
    if (status == CMD_OK) status = walk_begin(&walk, &d.setup, -1);
    if (status == CMD_OK) status = prompt_run(&prompt, &walk);
    walk_end(&walk);
    if (prompt.script && prompt.script != stdin) fclose(prompt.script);
    setup_free(&d.setup);
    return status;
}
