/* explain.h: the end of a run, explained to a person. */
#ifndef MWL_TOOLS_EXPLAIN_H
#define MWL_TOOLS_EXPLAIN_H

#include "assembler/source/source.h"
#include "mwl.h"

/* What an explanation needs to know about the run. */
struct explain {
    mwl_heap *heap;
    const mwl_run *run;  /* NULL: it is not in memory, and the Steps of its failures not known */
    mwl_value result;    /* of the run */
    const char *file;    /* the definition's name */
    mwl__source *source; /* its text, for snippets; NULL: not known */
};

/* Explains the failure Result of a run on standard error: type, code, message, where, and the
 * failures that it replaced, each indented below. */
void explain_failure(const struct explain *e);

/* Writes where the failure began: " in Step 's' of Flow 'f' (file:line:column)", or "" if that is
 * not known. `cap` is at least 1. */
void explain_where(const struct explain *e, char *out, size_t cap);

#endif
