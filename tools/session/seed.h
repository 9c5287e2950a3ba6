/* seed.h: a seed as JSON: a number that a double holds exactly, or a text of digits. */
#ifndef MWL_TOOLS_SESSION_SEED_H
#define MWL_TOOLS_SESSION_SEED_H

#include "mwl.h"

/* Reads a seed, from 1 on. Returns false, and 0, if the value is none. */
bool seed_read(mwl_value v, uint64_t *out);
/* Returns the value of a seed, given; absent: out of memory. */
mwl_value seed_value(mwl_heap *heap, uint64_t seed);

#endif
