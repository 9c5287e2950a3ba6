/* run_options.c: the options of `mwlvm run`: one table, from which they are parsed.
 *
 * Refuses to know: what an option does. */
#include "run_options.h"

#include "cmd.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum kind { FLAG, WORD, LIST, NUMBER, SIZE };

static const struct option {
    const char *name;
    enum kind kind;
    size_t at; /* of the field */
    const char *operand, *text;
} options[] = {
#define AT(field) offsetof(struct run_options, field)
    {"--input", WORD, AT(input), "FILE|JSON|-", "the input; '-' reads standard input to its end"},
    {"--arg", LIST, AT(args), "NAME=JSON", "one argument of the Flow; may be repeated"},
    {"--args", WORD, AT(args_file), "FILE", "arguments: a file with an object; --arg goes over it"},
    {"--result", FLAG, AT(whole_result), "", "print the whole Result, not its value alone"},
    {"--pretty", FLAG, AT(pretty), "", "print on several lines (as on a terminal)"},
    {"--compact", FLAG, AT(compact), "", "print on one line (as into a file or pipe)"},
    {"--virtual-time", FLAG, AT(virtual_time), "",
     "waits cost no time: the clock skips to the next timer"},
    {"--seed", NUMBER, AT(seed), "N",
     "of jitter and generated ids; a run with the same one repeats them"},
    {"--id", WORD, AT(id), "ID", "the execution's id"},
    {"--fuel", NUMBER, AT(fuel), "N",
     "at most N units of work: about one per instruction and per element handled"},
    {"--memory", SIZE, AT(memory_bytes), "SIZE",
     "at most so many bytes; K, M and G may follow the number"},
    {"--trace", FLAG, AT(trace), "", "tell what happens on standard error"},
    {"--help", FLAG, AT(help), "", "this text"},
#undef AT
};
enum { N_OPTIONS = sizeof options / sizeof *options };

void run_options_help(void) {
    printf(
        "usage: mwlvm [run] FILE [OPTIONS]\n\n"
        "Runs FILE: a program (.mwlb), or a definition (.json), which is assembled in memory.\n"
        "Prints the value of its Result, or the Result when it is a failure; everything else goes\n"
        "to standard error.\n\n");
    for (size_t i = 0; i < N_OPTIONS; i++) {
        char left[64];
        snprintf(left, sizeof left, "%s %s", options[i].name, options[i].operand);
        printf("  %-22s %s\n", left, options[i].text);
    }
    fputs(DEFINITION_HELP, stdout);
    printf("\nWithout --input, a file or a pipe on standard input is the input when there is "
           "something\n"
           "in it; else the input is null. Ctrl-C cancels the run, with its cleanup; once more "
           "ends it.\n\n"
           "Exit status: 0 success, 1 failure, 2 wrong usage or a file that cannot be read or "
           "written,\n"
           "3 rejected definition or program, 4 cancelled, 5 a Result of type timeout, 6 a limit "
           "was hit.\n");
}

static const struct option *find(const char *word, size_t len) {
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (strlen(options[i].name) == len && memcmp(options[i].name, word, len) == 0)
            return &options[i];
    return NULL;
}

static int parse_number(const struct option *option, const char *word, uint64_t *out) {
    char *end;
    errno = 0;
    unsigned long long n = strtoull(word, &end, 10);
    uint64_t unit = 1;
    if (option->kind == SIZE && *end) {
        static const char units[] = "KMG";
        const char *u = strchr(units, *end);
        if (u) {
            unit = (uint64_t)1 << (10 * (u - units + 1));
            end++;
        }
    }
    if (*word < '0' || *word > '9' || *end)
        return cmd_usage("%s needs a number%s, not '%s'", option->name,
                         option->kind == SIZE ? " such as 64M" : "", word);
    if (errno == ERANGE || n > UINT64_MAX / unit)
        return cmd_usage("%s: %s is too large", option->name, word);
    *out = n * unit;
    return *out ? CMD_OK : cmd_usage("%s must not be 0", option->name);
}

static int append(struct word_list *list, const char *word) {
    const char **grown = realloc(list->words, (list->count + 1) * sizeof *grown);
    if (!grown) return cmd_usage("out of memory");
    list->words = grown;
    list->words[list->count++] = word;
    return CMD_OK;
}

static int set(struct run_options *o, const struct option *option, const char *word) {
    void *field = (char *)o + option->at;
    uint64_t n = 0;
    int status = CMD_OK;
    switch (option->kind) {
    case FLAG: *(bool *)field = true; break;
    case WORD:
        if (*(const char **)field) return cmd_usage("%s is given twice", option->name);
        *(const char **)field = word;
        break;
    case LIST: return append(field, word);
    case NUMBER: return parse_number(option, word, field);
    case SIZE:
        status = parse_number(option, word, &n);
        if (status == CMD_OK && n > SIZE_MAX)
            return cmd_usage("%s: %s is too large", option->name, word);
        *(size_t *)field = (size_t)n;
        break;
    }
    return status;
}

/* One option, its value in the same word behind "=" or in the next one. */
static int parse_option(struct run_options *o, int *i, int argc, char **argv) {
    const char *word = argv[*i], *value = strchr(word, '=');
    const struct option *option = find(word, value ? (size_t)(value - word) : strlen(word));
    if (strcmp(word, "-h") == 0) option = find("--help", 6);
    if (!option) {
        int taken = definition_option(&o->definition, argc, argv, i);
        return taken > 0 ? CMD_OK : taken < 0 ? CMD_USAGE : cmd_usage("unknown option '%s'", word);
    }
    if (option->kind == FLAG)
        return value ? cmd_usage("%s takes no value", option->name) : set(o, option, NULL);
    if (value) return set(o, option, value + 1);
    if (*i + 1 == argc) return cmd_usage("%s needs %s", option->name, option->operand);
    return set(o, option, argv[++*i]);
}

int run_options_parse(struct run_options *o, int argc, char **argv) {
    bool more = true;
    memset(o, 0, sizeof *o);
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        int status = CMD_OK;
        if (more && strcmp(word, "--") == 0)
            more = false;
        else if (more && word[0] == '-' && word[1])
            status = parse_option(o, &i, argc, argv);
        else if (o->file)
            status = cmd_usage("more than one FILE: '%s' and '%s'", o->file, word);
        else
            o->file = word;
        if (status != CMD_OK) return status;
    }
    if (o->help) return CMD_OK;
    if (!o->file) return cmd_usage("no FILE to run");
    if (o->pretty && o->compact) return cmd_usage("--pretty and --compact exclude each other");
    if (strcmp(o->file, "-") == 0 && o->input && strcmp(o->input, "-") == 0)
        return cmd_usage("standard input cannot be both the definition and the input");
    return CMD_OK;
}

void run_options_free(struct run_options *o) {
    free(o->args.words);
    definition_free(&o->definition);
}
