/* end.h: what the end of a run means: what is printed, what is explained to a person, and the exit
 * status. The same for a run that has just ended and for a Result from a store. */
#ifndef MWL_TOOLS_SESSION_END_H
#define MWL_TOOLS_SESSION_END_H

#include "assembler/source/source.h"
#include "tools/session/options.h"

/* How an end is shown. All of it is lent. */
struct session_shown {
    const struct run_options *options; /* --result, --pretty, --compact; the limits */
    mwl_heap *heap;
    const char *file;    /* the definition, for places in it */
    mwl__source *source; /* its text, for snippets; NULL: not known */
};

/* Prints the Result of a run, or why it has none; a failure is explained. run NULL: it is not in
 * memory any more, and the Result is from a store. Returns the exit status. */
int session_end(const struct session_shown *how, const mwl_run *run, mwl_value result);

/* Reports that a run ended without a Result, and why (a status below 0, or MWL_OK: it was asked
 * to). Returns the exit status. */
int session_no_result(const struct session_shown *how, mwl_status why);

/* Reports where a run waits for something that never comes. Returns the exit status. */
int session_stuck(const struct session_shown *how, const mwl_run *run);

#endif
