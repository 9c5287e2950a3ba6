/* secret.h: the content of a set of secrets, for secret.c (texts), hide.c (paths) and
 * marks.c (whose they are). */
#ifndef MWL_IO_SECRET_H
#define MWL_IO_SECRET_H

#include "stdlib/io/keyed.h"

#include <pthread.h>
#include <stdatomic.h>

/* What was marked: a text or a path, as it was given. */
typedef struct mwl__secret_mark {
    const char *text;
    size_t len;
    size_t owners; /* runs that have marked it, and the host */
    bool path, of_host;
} mwl__secret_mark;

typedef struct mwl__secret_text {
    mwl__secret_mark mark;
    struct mwl__secret_text *next, **at;
    struct mwl__secret_form **forms; /* each once for each time that it was made */
    size_t n_forms, cap;
    char text[];
} mwl__secret_text;

/* One name of a path. */
typedef struct mwl__secret_part {
    const char *text; /* "*" stands for each member or element */
    size_t len;
    bool last;
} mwl__secret_part;

typedef struct mwl__secret_path {
    mwl__secret_mark mark;
    struct mwl__secret_path *next, **at;
    mwl__secret_part parts[];
} mwl__secret_path;

struct mwl_io_secrets {
    pthread_mutex_t lock;                /* for everything but the counts */
    struct mwl__secret_node *roots[256]; /* by the first byte */
    size_t by_size[64];                  /* forms whose length has so many bits */
    size_t longest;                      /* no form is longer */
    mwl__secret_text *texts;
    mwl__secret_path *paths;
    size_t n_paths;
    mwl__keyed runs;     /* by their ids */
    atomic_size_t n;     /* texts and paths */
    atomic_size_t count; /* the same, and those that are not marked any more */
    atomic_size_t bytes; /* of all this */
};

/* The set does not change for its user when it is locked. */
static inline void mwl__secrets_lock(const mwl_io_secrets *s) {
    pthread_mutex_lock((pthread_mutex_t *)&s->lock);
}
static inline void mwl__secrets_unlock(const mwl_io_secrets *s) {
    pthread_mutex_unlock((pthread_mutex_t *)&s->lock);
}

/* secret.c and hide.c. Take it out of the set and free it. */
void mwl__secrets_free_text(mwl_io_secrets *s, mwl__secret_text *t);
void mwl__secrets_free_path(mwl_io_secrets *s, mwl__secret_path *p);
void mwl__secrets_free_paths(mwl_io_secrets *s);

/* marks.c. The set is locked, but for _room. */
/* The mark is also this run's; NULL: the host's. MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__secrets_own(mwl_io_secrets *s, const char *run, mwl__secret_mark *m);
/* Whether the run may mark a text of this length, if all of its own may have so many bytes. */
bool mwl__secrets_room(const mwl_io_secrets *s, const char *run, size_t len, size_t most);
void mwl__secrets_free_runs(mwl_io_secrets *s);

#endif
