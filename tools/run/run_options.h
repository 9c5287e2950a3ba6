/* run_options.h: the command line of `mwlvm run`. */
#ifndef MWL_TOOLS_RUN_OPTIONS_H
#define MWL_TOOLS_RUN_OPTIONS_H

#include "tools/session/options.h"

/* As options_parse. Free in any case. */
int run_options_parse(struct run_options *o, int argc, char **argv, bool resumes);
void run_options_free(struct run_options *o);

#endif
