/* saved.h: the file of a saved run: the image of its program and its bytes, so that it can continue
 * without the definition. */
#ifndef MWL_TOOLS_SAVED_H
#define MWL_TOOLS_SAVED_H

#include "tools/base/file_in.h"

/* Writes a run that is at rest. CMD_OK, or a status after a message. */
int saved_write(const char *path, const mwl_program *program, mwl_run *run);

struct saved {
    struct file_text text;
    mwl_program *program; /* given */
    const void *run;      /* its bytes, in text */
    size_t size;
};
/* Reads a file. CMD_OK, or a status after a message. Free in any case. */
int saved_read(struct limits *l, const char *path, struct saved *out);
void saved_free(struct limits *l, struct saved *s);

/* CMD_OK if the program has a Step of this name; else CMD_USAGE after a message. */
int saved_step(const mwl_program *program, const char *name);

/* When a run is to be saved, and where: on Ctrl-\ (SIGQUIT), or when it waits in the Step of this
 * name. */
struct save_when {
    const char *path;
    const mwl_program *program;
    const char *step; /* or NULL */
    int failed;       /* the status of a file that was not written, or CMD_OK */
};
void save_watch(void);
/* ctx is a struct save_when. Saves the run if it is at rest, and it is time. Returns true if it was
 * saved. If the file cannot be written, the run goes on, after a message: it is not lost. */
bool save_now(void *ctx, mwl_run *run);

#endif
