/* cache.h: the store of the middleware cache in an SQLite database, for mw_cache.c.
 *
 * Several processes may use one file. A row has a value and its end, or who makes it: a claim. The
 * claim of a process that has ended does not count. */
#ifndef MWL_IO_CACHE_H
#define MWL_IO_CACHE_H

#include "stdlib/io/codec.h"

typedef enum mwl__store_action {
    MWL__STORE_LOOK,   /* finds the value, or makes a claim */
    MWL__STORE_PUT,    /* keeps the value, and ends the claim */
    MWL__STORE_RELEASE /* ends the claim */
} mwl__store_action;

/* What looking found. */
typedef enum mwl__store_result {
    MWL__STORE_FAILED,
    MWL__STORE_DONE, /* put, release */
    MWL__STORE_HIT,  /* `value` has it */
    MWL__STORE_MISS, /* the claim is ours */
    MWL__STORE_BUSY  /* another process makes it */
} mwl__store_result;

typedef struct mwl__store_job {
    mwl__io_job job;
    mwl__store_action action;
    int64_t now_ms, until_ms; /* of the wall clock; the end of the value */
    size_t most;              /* put: how many values are kept */
    char owner[64];           /* whose claim it is */
    const char *file;         /* these two are in `texts` */
    const char *key;
    size_t key_len;
    mwl__bytes value; /* put, and a hit */
    /* results */
    mwl__store_result result;
    int error; /* a negative errno of opening, -EPERM and -EXDEV: not allowed */
    bool retryable, unavailable;
    char message[300];
    /* Called on the VM's thread; it frees the job with mwl__store_free(), now or later. */
    void (*done)(struct mwl__store_job *job);
    void *ctx;
    int64_t number;
    char texts[];
} mwl__store_job;

/* Makes a job for a file and a key, both copied; NULL if out of memory. A look gets a new owner. */
mwl__store_job *mwl__store_new(mwl__store_action action, const char *file, const char *key,
                               size_t key_len);
void mwl__store_start(mwl__store_job *job, mwl_io *io);
void mwl__store_free(mwl__store_job *job); /* NULL is ignored */

#endif
