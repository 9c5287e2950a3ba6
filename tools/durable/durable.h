/* durable.h: `run --store`, `resume --store` and `show --store`, for the files of these
 * commands. In a build without stdlib/durable they report that (tools/durable_none.c). */
#ifndef MWL_TOOLS_DURABLE_DURABLE_H
#define MWL_TOOLS_DURABLE_DURABLE_H

#include "tools/run/run_options.h"
#include "tools/run/saved.h"

/* Runs the program in the store that o->durable names, to its end. The start is read already; an
 * exit status. */
int durable_run(const struct run_options *o, const mwl_program *program, mwl_heap *heap,
                const mwl_start *start);
/* Goes on with the run o->definition.path, or with all. */
int durable_resume(const struct run_options *o);

/* Reads a run of a store for `show`. CMD_OK and out->run, which is NULL after everything there is
 * to show was printed: the run is over, or has not begun. Free in any case. */
int durable_saved(const char *path, const char *run, bool json, struct saved *out, void **bytes);

#endif
