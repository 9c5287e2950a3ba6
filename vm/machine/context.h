/* context.h: what expressions read of the frame that they are evaluated in. */
#ifndef MWL_CONTEXT_H
#define MWL_CONTEXT_H

#include "vm/cel/exec_context.h"

extern const mwl__context_ops mwl__context; /* how cel/ reaches the frame (exec_context.h) */
/* One of its functions, for the loop, which calls it directly. */
mwl_value mwl__context_load(mwl__exec *x, unsigned base);

/* Returns where the value of a base is in a frame, in bytes, or MWL_NONE. Most paths begin with one
 * of these: no call is needed. */
uint32_t mwl__context_slot(unsigned base);

#endif
