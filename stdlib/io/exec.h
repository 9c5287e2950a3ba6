/* exec.h: what starting a program needs, for call_exec.c. */
#ifndef MWL_IO_EXEC_H
#define MWL_IO_EXEC_H

#include "stdlib/io/codec.h"

#include <limits.h>

/* Made from the arguments of a call, and allowed by the policy. */
typedef struct mwl__exec_plan {
    char **argv, **env;  /* NULL at their ends; one block of memory each, with the texts */
    char path[PATH_MAX]; /* of the program, absolute */
    char cwd_text[32];
    const char *cwd; /* NULL: that of the host */
    int cwd_fd;
    int stdin_fd;     /* -1: nothing to read */
    mwl__payer payer; /* of the texts; may be moved to what runs the program */
} mwl__exec_plan;

/* Returns false if it cannot be made; the call has been settled with the failure then. */
bool mwl__exec_plan_make(mwl__exec_plan *plan, mwl_io *io, mwl_call *call);
void mwl__exec_plan_free(mwl__exec_plan *plan);

#endif
