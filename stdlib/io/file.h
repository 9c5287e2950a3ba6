/* file.h: one action on a file, which a pool thread does; for call_file.c. */
#ifndef MWL_IO_FILE_H
#define MWL_IO_FILE_H

#include "stdlib/io/codec.h"

typedef enum mwl__file_action {
    MWL__FILE_READ,
    MWL__FILE_WRITE,
    MWL__FILE_APPEND,
    MWL__FILE_LIST,
    MWL__FILE_STAT,
    MWL__FILE_REMOVE,
    MWL__FILE_WATCH
} mwl__file_action;

/* What is known of a file. */
typedef struct mwl__file_facts {
    const char *type; /* "file", "folder", "link" or "other" */
    uint64_t size;
    int64_t modified_ns;
    size_t name_at; /* of an entry of a list: where its name begins in `bytes`, with a NUL */
} mwl__file_facts;

typedef struct mwl__file_work {
    const mwl_io *io;
    const atomic_bool *stop;
    mwl__file_action action;
    const char *path;
    size_t max_bytes;
    bool exclusive;
    mwl__payer payer;
    mwl__bytes header; /* append: before `bytes` if the file is empty */
    mwl__bytes bytes;  /* write, append: what to write; read: what was read; list: names */
    /* results */
    int error; /* 0 or an errno; EFBIG: more than max_bytes; ECANCELED: stopped */
    mwl__file_facts facts;
    mwl__file_facts *entries; /* list */
    size_t n_entries;
    bool removed;
} mwl__file_work;

/* The right that an action needs. */
mwl_io_right mwl__file_right(mwl__file_action action);
/* Does it. Any thread. */
void mwl__file_do(mwl__file_work *w);
void mwl__file_work_free(mwl__file_work *w);

#endif
