/* durable_work.c: what is asked of the store, on whatever thread: commit a group, then poll. What a
 * poll shows is copied, because the store lends it for the call only. */
#include "stdlib/durable/durable_impl.h"

#include <stdlib.h>
#include <string.h>

static void *copy_of(const void *at, size_t len) {
    char *copy = at ? malloc(len + 1) : NULL;
    if (copy) {
        memcpy(copy, at, len);
        copy[len] = '\0';
    }
    return copy;
}

/* Forgets what an earlier try has copied of a run. The store shows the run as it is now, and then
 * all of its messages. An older snapshot is fenced off, and a message from before may have been
 * taken by another worker meanwhile. */
static void forget(mwl_durable_work *w, int64_t seq) {
    for (mwl__driver_claimed **at = &w->claimed; *at;) {
        mwl__driver_claimed *c = *at;
        if (c->c.seq == seq) {
            *at = c->next;
            mwl__driver_claimed_free(c);
            w->n_claimed--;
        } else {
            at = &c->next;
        }
        if (!*at) w->claimed_end = at;
    }
    for (mwl__driver_message **at = &w->messages; *at;) {
        mwl__driver_message *m = *at;
        if (m->seq == seq) {
            *at = m->next;
            mwl__driver_message_free(m);
        } else {
            at = &m->next;
        }
        if (!*at) w->messages_end = at;
    }
}

static bool on_run(void *ctx, const mwl_store_claimed *run) {
    mwl_durable_work *w = ctx;
    if (w->again) forget(w, run->seq);
    mwl__driver_claimed *c = calloc(1, sizeof *c);
    if (c) {
        c->c = *run;
        c->id = strdup(run->id);
        c->name = strdup(run->name);
        c->start = copy_of(run->start.at, run->start.len);
        c->bytes = copy_of(run->bytes, run->size);
    }
    if (!c || !c->id || !c->name || (run->start.at && !c->start) || (run->bytes && !c->bytes)) {
        mwl__driver_claimed_free(c);
        return false;
    }
    *w->claimed_end = c;
    w->claimed_end = &c->next;
    w->n_claimed++;
    return true;
}

static bool on_message(void *ctx, const mwl_store_message *message) {
    mwl_durable_work *w = ctx;
    mwl__driver_message *m = calloc(1, sizeof *m);
    if (m) {
        m->n = message->n;
        m->seq = message->seq;
        m->kind = message->kind;
        m->name = strdup(message->name);
        m->body = copy_of(message->body.at, message->body.len);
        m->len = message->body.len;
    }
    if (!m || !m->name || (message->body.at && !m->body)) {
        if (m) mwl__driver_message_free(m);
        return false;
    }
    *w->messages_end = m;
    w->messages_end = &m->next;
    return true;
}

/* Runs that were claimed before an error stay claimed by this worker. */
static mwl_status poll_store(mwl_durable_work *w, mwl_store *store) {
    const mwl_store_polled sink = {w, on_run, on_message};
    mwl_status status = store->ops->poll(store, &w->ask, &sink, &w->next_wall_ns);
    w->again = status == MWL_E_NOMEM; /* the rest comes with the repetition */
    if (status != MWL_OK && !w->again && (w->claimed || w->messages)) {
        status = status == MWL_E_IO ? MWL_OK : status;
        w->next_wall_ns = 0;
    }
    w->polled = status == MWL_OK;
    return status;
}

/* A program that cannot be read now is asked for again: its run is not stuck by that. */
static mwl_status get_programs(mwl_durable_work *w, mwl_store *store) {
    mwl_status status = MWL_OK;
    for (mwl__driver_claimed *c = w->claimed; c && status == MWL_OK; c = c->next)
        if (!c->program)
            status = mwl__driver_program_get(w->d, store, c->c.program, &c->program, c->why,
                                             sizeof c->why);
    return status;
}

enum { ALONE_TRIES = 20 }; /* of one change for which there is no memory; about 15 seconds */

/* The store does not take the change `from`, alone. False: out of memory. */
static bool refuse(mwl_durable_work *w, const mwl_store *store, mwl_status status) {
    const char *why = mwl_store_why(store);
    w->kept[w->from] = false;
    w->refused[w->from] = strdup(*why ? why : mwl_status_text(status));
    return w->refused[w->from] != NULL;
}

/* A group that the store refuses for what is in it is halved until the change is found: that one is
 * set aside, and the others go on. Changes of a group are of different runs, so their order does
 * not matter. A repetition begins where the last try has ended. */
static mwl_status commit(mwl_durable_work *w, mwl_store *store) {
    while (w->from < w->n) {
        size_t n = w->n - w->from < w->width ? w->n - w->from : w->width;
        mwl_status status = store->ops->commit(store, w->list + w->from, n, w->kept + w->from);
        bool memory = status == MWL_E_NOMEM && (n > 1 || ++w->tries >= ALONE_TRIES);
        if (status != MWL_OK && status != MWL_E_REFUSED && !memory) return status;
        if (status != MWL_OK && n > 1) {
            w->width = n / 2;
            continue;
        }
        if (status != MWL_OK && !refuse(w, store, status)) return MWL_E_NOMEM;
        w->tries = 0;
        w->from += n;
        w->width *= 2;
    }
    return MWL_OK;
}

/* The list that the store sees shares the texts of the changes. */
mwl_status mwl_durable_work_do(mwl_durable_work *w, mwl_store *store) {
    w->status = MWL_OK;
    if (w->n && !w->committed) {
        w->status = commit(w, store);
        w->committed = w->status == MWL_OK;
    }
    if (w->status != MWL_OK || !w->poll) return w->status;
    if (!w->polled) w->status = poll_store(w, store);
    if (w->again) return w->status;
    mwl_status status = get_programs(w, store);
    if (w->status == MWL_OK) w->status = status;
    return w->status;
}
