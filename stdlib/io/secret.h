/* secret.h: the content of a set of secrets, for secret.c (texts) and hide.c (paths). */
#ifndef MWL_IO_SECRET_H
#define MWL_IO_SECRET_H

#include "mwl_io.h"

#include <pthread.h>
#include <stdatomic.h>

/* A text as it was marked. */
typedef struct mwl__secret_text {
    struct mwl__secret_text *next;
    size_t len;
    char text[];
} mwl__secret_text;

/* One name of a path. */
typedef struct mwl__secret_part {
    const char *text; /* "*" stands for each member or element */
    size_t len;
    bool last;
} mwl__secret_part;

typedef struct mwl__secret_path {
    struct mwl__secret_path *next;
    size_t len;
    char *text;
    mwl__secret_part parts[];
} mwl__secret_path;

struct mwl_io_secrets {
    pthread_mutex_t lock;                /* for everything but `count` */
    struct mwl__secret_node *roots[256]; /* by the first byte */
    struct mwl__secret_node *nodes;      /* all */
    struct mwl__secret_form *forms;      /* all */
    size_t longest;
    mwl__secret_text *texts;
    mwl__secret_path *paths; /* grows at its head; a path does not change */
    size_t n_paths;
    atomic_size_t count; /* of texts and paths */
    atomic_size_t bytes; /* of texts and their forms */
};

/* The set does not change for its user when it is locked. */
static inline void mwl__secrets_lock(const mwl_io_secrets *s) {
    pthread_mutex_lock((pthread_mutex_t *)&s->lock);
}
static inline void mwl__secrets_unlock(const mwl_io_secrets *s) {
    pthread_mutex_unlock((pthread_mutex_t *)&s->lock);
}

/* Frees the paths. */
void mwl__secrets_free_paths(mwl_io_secrets *s);

#endif
