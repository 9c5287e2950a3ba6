/* dap.h: what the files of the debug adapter agree on.
 *
 *   dap.c         the messages, and when the run goes on and stops
 *   dap_launch.c  what is debugged, and breakpoints
 *   dap_look.c    threads, frames, scopes, variables, expressions
 *
 * The run is a session of walk.h: what `mwlvm debug` can do, this can do too. */
#ifndef MWL_TOOLS_DEBUG_DAP_H
#define MWL_TOOLS_DEBUG_DAP_H

#include "tools/base/rpc.h"
#include "tools/debug/walk.h"

/* A value that the editor may ask for while the run stands. */
struct dap_value {
    mwl_value value; /* kept */
};

/* Where a Step is in the definition. */
struct dap_step {
    uint32_t line, last_line; /* of its name; of its end */
};

struct dap {
    struct rpc rpc;
    mwl_heap *heap; /* of messages */
    uint64_t seq;
    struct debug_setup setup;
    struct walk walk;
    char *path;                     /* of the definition; malloc'd */
    bool launched, begun, running;  /* begun: the run was started */
    bool stop_on_entry, ends, lost; /* lost: the editor cannot be reached */
    bool lines_from_0, columns_from_0;
    int bell[2]; /* rung by the machine */
    /* what the editor may refer to while the run stands */
    struct dap_value *values;
    size_t n_values, cap_values;
    struct mwl__frame **frames;
    size_t n_frames, cap_frames;
    char **threads; /* names; the id is the index and 1 */
    size_t n_threads, cap_threads;
    struct dap_step *steps;
    size_t n_steps;
    char *words[64]; /* texts that the options of the setup refer to; malloc'd */
    size_t n_words;
};

/* dap.c: answers messages until the editor ends. Returns an exit status. */
int dap_serve(struct dap *d);
void dap_output(struct dap *d, const char *category, const char *text, size_t len);

/* dap_launch.c. Each returns NULL, or why it failed; `out` gets the body of the answer. */
const char *dap_launch(struct dap *d, mwl_value arguments);
const char *dap_set_lines(struct dap *d, mwl_value arguments, mwl__buf *out);
const char *dap_set_functions(struct dap *d, mwl_value arguments, mwl__buf *out);
const char *dap_set_failures(struct dap *d, mwl_value arguments, mwl__buf *out);

/* dap_look.c */
void dap_forget(struct dap *d); /* before the run goes on */
uint32_t dap_thread_here(struct dap *d);
const char *dap_threads(struct dap *d, mwl_value arguments, mwl__buf *out);
const char *dap_stack(struct dap *d, mwl_value arguments, mwl__buf *out);
const char *dap_scopes(struct dap *d, mwl_value arguments, mwl__buf *out);
const char *dap_variables(struct dap *d, mwl_value arguments, mwl__buf *out);
const char *dap_evaluate(struct dap *d, mwl_value arguments, mwl__buf *out);
const char *dap_exception(struct dap *d, mwl_value arguments, mwl__buf *out);

#endif
