/* record.h: a run as a case of `mwlvm test`: what the providers answered, so that it can be
 * repeated without them (`mwlvm run --record FILE`). */
#ifndef MWL_TOOLS_TEST_RECORD_H
#define MWL_TOOLS_TEST_RECORD_H

#include "mwl.h"

struct record;

/* NULL if memory runs out. The heap is the VM's. */
struct record *record_new(mwl_heap *heap, const mwl_instant *now);
void record_free(struct record *r); /* before the VM; NULL is ignored */
void record_event(struct record *r, const mwl_trace_event *event);

struct record_of {
    const char *definition; /* the file */
    const mwl_start *start; /* its input, arguments and seed; lent */
    mwl_value result;       /* absent: the run has none */
};
/* Writes the case to a file. CMD_OK, or an exit status with a message. */
int record_write(struct record *r, const char *path, const struct record_of *of);

#endif
