/* where.h: what a scope was doing when it was interrupted, for people. */
#ifndef MWL_WHERE_H
#define MWL_WHERE_H

#include "vm/machine/state.h"

/* See mwl_phase_inside(). `own` is an entry of the frame. */
size_t mwl__where_inside(const mwl__frame *f, const mwl__entry *own, char *out, size_t cap);

#endif
