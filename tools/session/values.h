/* values.h: what a run of the command starts with: its input and arguments, its id and seed, and
 * what is left of --fuel and --memory for it. */
#ifndef MWL_TOOLS_SESSION_VALUES_H
#define MWL_TOOLS_SESSION_VALUES_H

#include "tools/base/limit.h"
#include "tools/session/options.h"

/* The words that say what the values are. All zero: there are none. */
struct session_words {
    const char *input, *arguments; /* of --input and --args; or NULL */
    const struct word_list *args;  /* of --arg; or NULL */
    bool asks;                     /* without `input`, standard input is read: see input_stdin() */
};

/* Reads what the words say into start->input and start->arguments, which are given in any case; an
 * input that is there already stays, and arguments are added to those that are. CMD_OK, or an exit
 * status with a message. */
int session_values(mwl_heap *heap, struct limits *limits, const struct session_words *words,
                   mwl_start *start);
/* The same as the options of `mwlvm run` say, with the id and the seed. */
int session_start(struct run_options *o, mwl_heap *heap, bool asks, mwl_start *start);
void session_drop(mwl_heap *heap, mwl_start *start);

/* The option --seed. It is the seed of the run (mwl_start.seed), whichever command starts it and
 * wherever it is kept; ids that a VM makes under virtual time come from it too. The base is a
 * struct run_options. */
int session_take_seed(void *base, const char *word);

/* Finds the limits that are left for a run after what was used before it: texts and programs, and
 * the values in the heap, or NULL. CMD_OK, or CMD_LIMIT with a message. */
int session_limits(const struct limits *l, const mwl_heap *heap, mwl_limits *out);

/* Why a run of the file could not be started or loaded. Returns an exit status after a message. */
int session_refused(const char *path, mwl_status status, const mwl_error *error);

#endif
