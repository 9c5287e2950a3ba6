/* fits.h: whether an answer fits the schema of its wait. */
#ifndef MWL_TOOLS_DURABLE_FITS_H
#define MWL_TOOLS_DURABLE_FITS_H

#include "mwl_store.h"

/* Checks the answer against `schema` of the arguments of the wait. True without a schema. False:
 * why has the reason; so it is with a schema that does not compile, because nothing fits that. */
bool fits(mwl_heap *heap, mwl_value arguments, mwl_value answer, char *why, size_t cap);

/* The same for the open waits of a name, in the store, with one budget for all of them: one that
 * the answer fits is enough, and also if there is none yet. False too for a call that is for
 * workers outside (mwl_store_wait). MWL_OK or what the store refused. */
mwl_status fits_wait(mwl_store *s, mwl_heap *heap, const char *run, const char *name,
                     mwl_value answer, bool *good, char *why, size_t cap);

#endif
