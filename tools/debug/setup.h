/* setup.h: what is debugged: the program, its input and its options, as `mwlvm run` has them. From
 * it a run can be started again and again, always the same way. */
#ifndef MWL_TOOLS_DEBUG_SETUP_H
#define MWL_TOOLS_DEBUG_SETUP_H

#include "tools/run/run_options.h"
#include "tools/session/values.h"
#include "assembler/source/source.h"

struct debug_setup {
    struct run_options options;
    mwl_program *program;
    mwl_heap *heap;          /* of the values below */
    mwl_start start;         /* its input and arguments, the id and the seed */
    int64_t cancel_after_ns; /* cancels the run from outside; below 0: never */
    mwl__source source;      /* the definition, for showing lines; no text: it was stripped */
};

void setup_init(struct debug_setup *s);
void setup_free(struct debug_setup *s);
/* Loads the program that the options name, reads the values. CMD_OK, or a status with a message. */
int setup_load(struct debug_setup *s);

#endif
