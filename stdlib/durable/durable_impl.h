/* durable_impl.h: the records of the driver.
 *
 *     durable.c        the driver: what has changed, what the store has done
 *     durable_save.c   a run that has changed becomes a change for the store
 *     durable_load.c   a claimed run becomes a run of the VM; programs; messages
 *     durable_work.c   the work: a group of changes, what a poll has found
 *     writer.c         the thread */
#ifndef MWL_DURABLE_IMPL_H
#define MWL_DURABLE_IMPL_H

#include "mwl_durable.h"

#include <pthread.h>

#define MWL__DURABLE_ANSWER "mwl:provider.call/mwlvm/answer/v1"

/* ---- a map from numbers to pointers ---------------------------------------------------------- */

typedef struct mwl__numbered {
    struct mwl__numbered_slot {
        uint64_t key;
        void *value; /* NULL: free */
    } * slots;
    size_t n, cap; /* cap is a power of two, or 0 */
} mwl__numbered;
void *mwl__numbered_get(const mwl__numbered *m, uint64_t key);
bool mwl__numbered_put(mwl__numbered *m, uint64_t key, void *value); /* false: out of memory */
void mwl__numbered_remove(mwl__numbered *m, uint64_t key);
void mwl__numbered_free(mwl__numbered *m);

/* ---- records --------------------------------------------------------------------------------- */

typedef struct mwl__driver_run mwl__driver_run;

/* A change on its way to the store, with all that it refers to. */
typedef struct mwl__driver_change {
    mwl_store_change c;
    mwl__driver_run *of;
    uint64_t vm_version; /* for mwl_run_release() */
    void *bytes;         /* of mwl_run_save() */
    size_t size;
    char *row;    /* malloc: the bytes with what is secret; NULL: nothing is */
    char *result; /* malloc */
    uint64_t *taken;
    mwl_store_wait *waits;   /* their texts are malloc */
    mwl_store_event *events; /* the same */
    size_t cap_events;
    struct mwl__driver_change *next;
} mwl__driver_change;

/* A message that the driver has, and the store too. */
typedef struct mwl__driver_message {
    uint64_t n;
    int64_t seq;
    mwl_store_message_kind kind;
    char *name, *body;
    size_t len;
    struct mwl__driver_message *next;
} mwl__driver_message;

struct mwl__driver_run {
    mwl_run *run;
    char *id;
    int64_t seq;
    uint64_t epoch, version;    /* version: of the last change that was made */
    uint64_t seen;              /* the last message */
    mwl__driver_message *inbox; /* not delivered yet; in order */
    mwl__driver_change *queued; /* the change that was not taken yet; or NULL */
    uint64_t waits;             /* of the last change: a hash of the open waits */
    int64_t not_before_ns;      /* a large snapshot: when the next may be made */
    uint64_t *taken;            /* messages that were delivered since the last change */
    mwl_store_event *events;    /* since the last change */
    size_t n_taken, cap_taken, n_events, cap_events, lost_events;
    bool parking; /* it is being given back: nothing is delivered to it */
    bool ended, waits_known, delayed;
    bool finished; /* its end is on its way to the store */
    bool dirty;    /* it has changed, and was not saved yet */
    bool fresh;    /* it was loaded, and nothing has happened since */
    bool looks;    /* it was loaded, and may have to wait for long: it is looked at after a pump */
    mwl__driver_run *next, *prev; /* of all */
    mwl__driver_run *next_ended, *next_delayed;
};

typedef struct mwl__driver_program {
    uint8_t id[16];
    mwl_program *program;
    struct mwl__driver_program *next;
} mwl__driver_program;

/* What a poll has claimed, copied. */
typedef struct mwl__driver_claimed {
    mwl_store_claimed c;
    char *id, *name, *start;
    void *bytes;
    mwl_store_bytes parts; /* of them, when it is loaded */
    mwl_program *program;  /* lent by the cache; NULL: `why` */
    char why[200];
    mwl__driver_message *messages; /* for a run that is loaded later */
    unsigned tries;
    struct mwl__driver_claimed *next;
} mwl__driver_claimed;

struct mwl_durable {
    mwl_vm *vm;
    mwl_durable_options options;
    mwl__numbered by_run, by_seq;
    mwl__driver_run *runs, *ended, *delayed;
    size_t n_runs, n_queued, bytes_queued;
    mwl__driver_change *queue, **queue_end;
    mwl__driver_claimed *later; /* claimed, and there was no memory to load them */
    size_t n_later;
    int64_t later_ns; /* when that is tried again */
    int64_t next_wall_ns;
    uint64_t polls;
    bool more, working, draining;
    mwl__driver_run *suspect; /* the one that is in memory (MWL_STORE_SUSPECT); or NULL */
    int64_t suspect_ns;       /* until when, at most */
    bool pumps;               /* a run was ended by its limit: there is something to pump */
    mwl_durable_counts counts;
    pthread_mutex_t programs_lock; /* the writer's thread loads programs */
    mwl__driver_program *programs;
};

struct mwl_durable_work {
    mwl_durable *d;
    mwl__driver_change *changes;
    mwl_store_change *list; /* of these */
    bool *kept;
    char **refused; /* why the store refuses what a change contains, malloc; NULL: it does not */
    size_t n;
    size_t from, width; /* what is before `from` is settled; so many are committed at once */
    unsigned tries;     /* of one change, without memory for it */
    bool committed, poll;
    mwl_store_poll ask;
    mwl_status status;
    bool again;  /* memory ran out while a poll was copied: it is repeated */
    bool polled; /* only programs are missing */
    mwl__driver_claimed *claimed, **claimed_end;
    mwl__driver_message *messages, **messages_end;
    size_t n_claimed;
    int64_t next_wall_ns;
    mwl_durable_work *next;
};

/* A text that grows; malloc, always with room for a zero behind it. */
struct mwl__driver_text {
    char *at;
    size_t len, cap;
};
/* A sink, whose ctx is one: MWL_OK or MWL_E_NOMEM. */
mwl_status mwl__driver_text_add(void *ctx, const char *piece, size_t len);

/* row.c. Makes the bytes of a row (malloc) from what the run has marked as secret and its snapshot;
 * *row is NULL if it has marked nothing, or run is NULL. False: out of memory. */
bool mwl__driver_row_write(mwl_durable *d, mwl_run *run, const void *snapshot, size_t size,
                           char **row, size_t *row_size);

/* durable_save.c. Makes the change of a run that is at rest or has ended, and queues it. False: out
 * of memory, and the run is as before. parks: it is to leave memory if it can. */
bool mwl__driver_save(mwl_durable *d, mwl__driver_run *r, const mwl_instant *now, bool parks);
/* Whether a run that was not changed can leave memory: nothing works outside for it. */
bool mwl__driver_can_leave(const mwl_durable *d, const mwl__driver_run *r);
/* Whether its calls are not started any more: the worker is to end, and the run goes back. */
bool mwl__driver_holds_back(const mwl_durable *d, const mwl__driver_run *r);
/* Whether a wait until then is long enough for that. */
bool mwl__driver_is_far(const mwl_durable *d, int64_t due_wall_ns, int64_t now_wall_ns);
/* Queues the end of a run that cannot go on. run may be NULL then. */
bool mwl__driver_stuck(mwl_durable *d, mwl__driver_run *r, const char *why);
/* The same for a run of which the store has refused a change. Nothing of it goes along. */
bool mwl__driver_refused(mwl_durable *d, mwl__driver_run *r, const char *why);
void mwl__driver_change_free(mwl_durable *d, mwl__driver_change *c);
void mwl__driver_event(mwl_durable *d, mwl__driver_run *r, const char *kind, const char *text);
void mwl__driver_step(mwl_durable *d, mwl__driver_run *r, const char *step, const char *flow);
void mwl__driver_events_free(mwl_store_event *list, size_t n);

/* durable_load.c. A claimed run that cannot be loaded for lack of memory is kept, and loaded by a
 * later call of mwl__driver_load_later(), which returns when it wants to be called again. */
void mwl__driver_load(mwl_durable *d, mwl__driver_claimed *take_claimed);
int64_t mwl__driver_load_later(mwl_durable *d, int64_t now_ns);
void mwl__driver_claimed_free(mwl__driver_claimed *c); /* NULL is ignored */
/* Gives a message to its run. Known ones, and those of runs that are not here, are dropped. */
void mwl__driver_give(mwl_durable *d, mwl__driver_message *take_message);
/* Delivers what can be delivered now. Returns whether something was. */
bool mwl__driver_deliver(mwl_durable *d, mwl__driver_run *r);
void mwl__driver_message_free(mwl__driver_message *m);
/* Finds a program in the cache or in the store. Returns MWL_OK, also if there is none or it cannot
 * be loaded: then *out is NULL, and `why` has the reason. Returns MWL_E_IO or MWL_E_NOMEM if the
 * caller should ask again. Any thread may call it. */
mwl_status mwl__driver_program_get(mwl_durable *d, mwl_store *store, const uint8_t *id,
                                   mwl_program **out, char *why, size_t cap);

/* Returns the URI of a provider whose calls workers outside take, "" for the provider answer, and
 * NULL for others. */
const char *mwl__driver_awaits(const mwl_durable *d, const char *provider);
/* Writes the name of an open wait: RUN.NUMBER if workers outside take it, else its own. */
enum { MWL__DRIVER_NUMBER = 24 };
void mwl__driver_wait_name(const mwl__driver_run *r, const mwl_wait *wait, bool remote, char *out,
                           size_t cap);

/* durable.c */
mwl__driver_run *mwl__driver_add(mwl_durable *d, const mwl__driver_claimed *claimed);
void mwl__driver_drop(mwl_durable *d, mwl__driver_run *r);
/* It is saved by a later call of mwl_durable_collect(). */
void mwl__driver_delay(mwl_durable *d, mwl__driver_run *r);
void mwl__driver_queue(mwl_durable *d, mwl__driver_change *c);
/* It was loaded, and no other suspect is until it gets on. */
void mwl__driver_suspect(mwl_durable *d, mwl__driver_run *r);

#endif
