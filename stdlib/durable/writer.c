/* writer.c: the thread that commits. There is no timer: the group is what has come while the last
 * one was written. An idle system commits each change alone, a busy one in hundreds. A store that
 * refuses a work (full disk) gets it again, less and less often; nothing is released meanwhile. */
#include "stdlib/durable/durable_impl.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { RETRY_FIRST_MS = 10, RETRY_MOST_MS = 1000, IDLE_MS = 20 };
enum { REMOVED_MOST = 100, KEEP_SECONDS = 10 }; /* in a transaction; between two of them */

struct mwl_durable_writer {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t change;
    mwl_store *store;
    void (*wake)(void *ctx);
    void *ctx;
    mwl_durable_work *waiting, *done;
    bool stop, busy; /* busy: from give to get; of the VM's thread */
    unsigned refused;
    char why[300];
    bool keeps; /* for so long */
    mwl_durable_keep keep;
    int64_t removed_ns; /* when it was looked for older ones, monotonic; 0: never */
};

/* Waits for a change, at most so long. With the lock. */
static void wait_ms(mwl_durable_writer *w, long ms) {
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += ms % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    (void)pthread_cond_timedwait(&w->change, &w->lock, &until);
}

/* Returns the work to do; NULL: stop. The store gets its idle work when there was nothing for some
 * time. */
static mwl_durable_work *next(mwl_durable_writer *w) {
    bool more = true;
    pthread_mutex_lock(&w->lock);
    while (!w->waiting && !w->stop) {
        if (!more) {
            pthread_cond_wait(&w->change, &w->lock);
            continue;
        }
        wait_ms(w, IDLE_MS);
        if (w->waiting || w->stop) break;
        pthread_mutex_unlock(&w->lock);
        if (w->store->ops->idle(w->store, &more) != MWL_OK) more = false;
        pthread_mutex_lock(&w->lock);
    }
    mwl_durable_work *work = w->stop ? NULL : w->waiting;
    pthread_mutex_unlock(&w->lock);
    return work;
}

/* False: stop. */
static bool repeat_later(mwl_durable_writer *w, long *ms) {
    pthread_mutex_lock(&w->lock);
    w->refused++;
    strncpy(w->why, mwl_store_why(w->store), sizeof w->why - 1);
    if (!w->stop) wait_ms(w, *ms);
    bool stop = w->stop;
    pthread_mutex_unlock(&w->lock);
    *ms = *ms * 2 < RETRY_MOST_MS ? *ms * 2 : RETRY_MOST_MS;
    w->wake(w->ctx); /* the host may want to report it */
    return !stop;
}

/* Removes runs that were over for long enough. A failure is found again by the next work. */
static void remove_old(mwl_durable_writer *w) {
    const mwl_clock clock = mwl_clock_system();
    mwl_instant now;
    size_t removed = 0;
    if (!w->keeps) return;
    clock.read(clock.ctx, &now);
    if (w->removed_ns && now.mono_ns - w->removed_ns < KEEP_SECONDS * INT64_C(1000000000)) return;
    int64_t wall_ns = mwl_store_now(w->store);
    const mwl_store_keep keep = {wall_ns - w->keep.done_ns, wall_ns - w->keep.failed_ns,
                                 REMOVED_MOST};
    mwl_status status = w->store->ops->prune(w->store, &keep, &removed);
    bool more = status == MWL_OK && removed == REMOVED_MOST;
    w->removed_ns = more ? 0 : now.mono_ns; /* the rest is removed after the next work */
}

static void *run(void *ctx) {
    mwl_durable_writer *w = ctx;
    for (mwl_durable_work *work; (work = next(w));) {
        long ms = RETRY_FIRST_MS;
        mwl_status status;
        while ((status = mwl_durable_work_do(work, w->store)) == MWL_E_IO || status == MWL_E_NOMEM)
            if (!repeat_later(w, &ms)) return NULL;
        pthread_mutex_lock(&w->lock);
        if (work->status != MWL_OK)
            strncpy(w->why, mwl_store_why(w->store), sizeof w->why - 1);
        else
            w->why[0] = '\0';
        w->refused = 0;
        w->done = work;
        w->waiting = NULL;
        pthread_mutex_unlock(&w->lock);
        w->wake(w->ctx);
        if (status == MWL_OK) remove_old(w);
    }
    return NULL;
}

mwl_status mwl_durable_writer_new(mwl_store *store, void (*wake)(void *ctx), void *ctx,
                                  mwl_durable_writer **out) {
    mwl_durable_writer *w = calloc(1, sizeof *w);
    pthread_condattr_t attributes;
    *out = w;
    if (!w) return MWL_E_NOMEM;
    w->store = store;
    w->wake = wake;
    w->ctx = ctx;
    pthread_mutex_init(&w->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&w->change, &attributes);
    pthread_condattr_destroy(&attributes);
    if (pthread_create(&w->thread, NULL, run, w) == 0) return MWL_OK;
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->change);
    free(w);
    *out = NULL;
    return MWL_E_NOMEM;
}

void mwl_durable_writer_keep(mwl_durable_writer *w, const mwl_durable_keep *keep) {
    pthread_mutex_lock(&w->lock);
    w->keep = *keep;
    w->keeps = true;
    pthread_mutex_unlock(&w->lock);
}

void mwl_durable_writer_give(mwl_durable_writer *w, mwl_durable_work *work) {
    pthread_mutex_lock(&w->lock);
    w->waiting = work;
    w->busy = true;
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
}

bool mwl_durable_writer_busy(const mwl_durable_writer *w) { return w->busy; }

mwl_durable_work *mwl_durable_writer_get(mwl_durable_writer *w) {
    pthread_mutex_lock(&w->lock);
    mwl_durable_work *work = w->done;
    w->done = NULL;
    if (work) w->busy = false;
    pthread_mutex_unlock(&w->lock);
    return work;
}

unsigned mwl_durable_writer_trouble(mwl_durable_writer *w, char *out, size_t cap) {
    pthread_mutex_lock(&w->lock);
    unsigned n = w->refused;
    if (cap) {
        strncpy(out, w->why, cap - 1);
        out[cap - 1] = '\0';
    }
    pthread_mutex_unlock(&w->lock);
    return n;
}

void mwl_durable_writer_stop(mwl_durable_writer *w) {
    if (!w) return;
    pthread_mutex_lock(&w->lock);
    w->stop = true;
    pthread_cond_signal(&w->change);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    if (w->waiting) mwl_durable_forget(w->waiting);
    if (w->done) mwl_durable_forget(w->done);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->change);
    free(w);
}
