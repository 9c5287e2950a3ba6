/* run_options.h: the command line of `mwlvm run`. */
#ifndef MWL_TOOLS_RUN_OPTIONS_H
#define MWL_TOOLS_RUN_OPTIONS_H

#include "definition.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Words that may be given several times, in their order; each lies in argv. */
struct word_list {
    const char **words;
    size_t count;
};

struct run_options {
    const char *file, *input, *args_file, *id;
    struct word_list args;
    struct definition definition; /* --provider, --allow, --deny, --format */
    uint64_t seed, fuel;
    size_t memory_bytes;
    bool virtual_time, whole_result, trace, pretty, compact, help;
};

/* CMD_OK, or CMD_USAGE with a message printed. Options may stand before and after FILE; "--" ends
 * them. Free in either case. */
int run_options_parse(struct run_options *o, int argc, char **argv);
void run_options_free(struct run_options *o);
void run_options_help(void);

#endif
