/* durable.c: the driver: which runs have changed, and what follows when the store has them.
 *
 * Commit before release: a call that is held starts only in mwl_durable_done(), when the change
 * with the snapshot that contains it is in the store. A run that the store did not keep for this
 * worker belongs to another one, and is dropped. */
#include "stdlib/durable/durable_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUP_MOST = 1000, GROUP_BYTES = 4 << 20, CLAIM_MOST = 1000, RUNS_MOST = 100000 };
#define RETRY_NS INT64_C(100000000)     /* after memory ran out */
#define SUSPECT_NS INT64_C(30000000000) /* a suspect that was in memory for so long is none */

/* ---- runs ------------------------------------------------------------------------------------ */

static uint64_t key_of(const mwl_run *run) { return (uint64_t)(uintptr_t)run; }

static mwl__driver_run *find(const mwl_durable *d, const mwl_run *run) {
    return mwl__numbered_get(&d->by_run, key_of(run));
}

mwl__driver_run *mwl__driver_add(mwl_durable *d, const mwl__driver_claimed *claimed) {
    mwl__driver_run *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->id = strdup(claimed->id);
    r->seq = claimed->c.seq;
    r->epoch = claimed->c.epoch;
    r->version = claimed->c.version;
    if (!r->id || !mwl__numbered_put(&d->by_seq, (uint64_t)r->seq, r)) {
        free(r->id);
        free(r);
        return NULL;
    }
    r->next = d->runs;
    if (r->next) r->next->prev = r;
    d->runs = r;
    d->n_runs++;
    return r;
}

/* Ends the run of a record without a word to the store. Calls at work outside are asked to stop:
 * the worker that has the run now repeats them. */
static void end_run(mwl_durable *d, mwl__driver_run *r) {
    mwl_run *run = r->run;
    if (!run) return;
    r->run = NULL;
    mwl__numbered_remove(&d->by_run, key_of(run));
    bool over = mwl_run_get_state(run) >= MWL_RUN_DONE;
    if (over || mwl_run_unload(run) != MWL_OK) mwl_run_free(run);
}

static void unlink_change(mwl_durable *d, mwl__driver_change *c) {
    mwl__driver_change **at = &d->queue;
    while (*at != c) at = &(*at)->next;
    *at = c->next;
    if (!c->next) d->queue_end = at;
    d->n_queued--;
    d->bytes_queued -= c->size;
}

static void unlist(mwl__driver_run **list, mwl__driver_run *r, bool delayed) {
    while (*list && *list != r) list = delayed ? &(*list)->next_delayed : &(*list)->next_ended;
    if (*list) *list = delayed ? r->next_delayed : r->next_ended;
}

void mwl__driver_drop(mwl_durable *d, mwl__driver_run *r) {
    if (d->suspect == r) d->suspect = NULL;
    end_run(d, r);
    if (d->options.secrets_end) d->options.secrets_end(d->options.ctx, r->id);
    if (r->queued) {
        unlink_change(d, r->queued);
        mwl__driver_change_free(d, r->queued);
    }
    if (r->ended) unlist(&d->ended, r, false);
    if (r->delayed) unlist(&d->delayed, r, true);
    mwl__numbered_remove(&d->by_seq, (uint64_t)r->seq);
    if (r->prev)
        r->prev->next = r->next;
    else
        d->runs = r->next;
    if (r->next) r->next->prev = r->prev;
    for (mwl__driver_message *m; (m = r->inbox);) {
        r->inbox = m->next;
        mwl__driver_message_free(m);
    }
    mwl__driver_events_free(r->events, r->n_events);
    free(r->taken);
    free(r->id);
    free(r);
    d->n_runs--;
}

void mwl__driver_queue(mwl_durable *d, mwl__driver_change *c) {
    c->next = NULL;
    *d->queue_end = c;
    d->queue_end = &c->next;
    d->n_queued++;
}

/* ---- what the VM reports --------------------------------------------------------------------- */

static void note_ended(mwl_durable *d) {
    for (mwl_run *run; (run = mwl_vm_next_done(d->vm));) {
        mwl__driver_run *r = find(d, run);
        if (!r || r->ended) continue;
        r->ended = true;
        r->next_ended = d->ended;
        d->ended = r;
    }
}

static const char *code_of(mwl_value failure) {
    return mwl_as_text(mwl_get(failure, "code"), NULL);
}

static void on_event(void *ctx, const mwl_trace_event *e) {
    mwl_durable *d = ctx;
    mwl__driver_run *r = find(d, e->run);
    if (!r) return;
    switch (e->kind) {
    case MWL_TRACE_STEP_ENTERED: mwl__driver_step(d, r, e->step, e->flow); break;
    case MWL_TRACE_CALL_DISPATCHED: mwl__driver_event(d, r, "call", e->provider); break;
    case MWL_TRACE_ATTEMPT: mwl__driver_event(d, r, "attempt", e->provider); break;
    case MWL_TRACE_INTERRUPTED: mwl__driver_event(d, r, "interrupted", e->step); break;
    case MWL_TRACE_CAUGHT: mwl__driver_event(d, r, "caught", code_of(e->value)); break;
    case MWL_TRACE_HIDDEN: mwl__driver_event(d, r, "hidden", code_of(e->value)); break;
    default: break;
    }
}

void mwl__driver_delay(mwl_durable *d, mwl__driver_run *r) {
    if (r->delayed) return;
    r->delayed = true;
    r->next_delayed = d->delayed;
    d->delayed = r;
}

/* A run that was started by a provider is part of a call: it is not stored, and nothing holds its
 * calls. */
static void release_foreign(mwl_run *run) { mwl_run_release(run, UINT64_MAX - 1); }

static void save(mwl_durable *d, mwl__driver_run *r, const mwl_instant *now, bool parks) {
    bool early = r->not_before_ns > now->mono_ns && mwl_run_get_state(r->run) < MWL_RUN_DONE;
    r->dirty = early || !mwl__driver_save(d, r, now, parks);
    if (!r->dirty && !r->fresh) r->looks = false; /* the change says what it waits for */
    if (!r->dirty) return;
    if (!early) r->not_before_ns = now->mono_ns + RETRY_NS;
    mwl__driver_delay(d, r);
}

/* Those whose time has come; the others stay. Returns the earliest time of these. */
static int64_t save_delayed(mwl_durable *d, const mwl_instant *now) {
    int64_t next = MWL_NEVER;
    mwl__driver_run *list = d->delayed;
    d->delayed = NULL;
    while (list) {
        mwl__driver_run *r = list;
        list = r->next_delayed;
        r->delayed = false;
        if (!r->dirty && !r->looks) continue; /* it was saved meanwhile */
        bool ready = mwl_run_get_state(r->run) >= MWL_RUN_DONE || mwl_run_at_rest(r->run);
        if (!ready || r->not_before_ns > now->mono_ns) {
            mwl__driver_delay(d, r);
        } else if (r->dirty) {
            save(d, r, now, false);
        } else {
            r->looks = false;
            if (mwl__driver_can_leave(d, r)) save(d, r, now, true);
        }
        if (r->delayed && r->not_before_ns < next) next = r->not_before_ns;
    }
    return next;
}

void mwl__driver_suspect(mwl_durable *d, mwl__driver_run *r) {
    mwl_instant now;
    mwl_vm_now(d->vm, &now);
    d->suspect = r;
    d->suspect_ns = now.mono_ns + SUSPECT_NS;
}

/* A suspect that has done nothing, and the process lives: it is saved, which clears it. Returns
 * when to look again. */
static int64_t clear_suspect(mwl_durable *d, const mwl_instant *now) {
    mwl__driver_run *r = d->suspect;
    if (!r) return MWL_NEVER;
    if (now->mono_ns < d->suspect_ns) return d->suspect_ns;
    d->suspect = NULL;
    if (!r->run || r->finished || r->parking) return MWL_NEVER;
    r->fresh = false;
    r->dirty = true;
    mwl__driver_delay(d, r);
    return 0;
}

int64_t mwl_durable_collect(mwl_durable *d) {
    mwl_instant now;
    bool delivered = false;
    mwl_vm_now(d->vm, &now);
    note_ended(d);
    for (mwl_run *run; (run = mwl_vm_changed(d->vm));) {
        mwl__driver_run *r = find(d, run);
        if (!r) {
            release_foreign(run);
            delivered = true;
            continue;
        }
        if (r->ended || mwl_run_get_state(run) >= MWL_RUN_DONE) continue;
        if (r->inbox && !r->parking && mwl__driver_deliver(d, r)) {
            delivered = true; /* it has changed once more */
            r->dirty = true;
            mwl__driver_delay(d, r);
            continue;
        }
        save(d, r, &now, false);
    }
    for (mwl__driver_run *r; (r = d->ended);) {
        d->ended = r->next_ended;
        save(d, r, &now, false);
    }
    int64_t look = clear_suspect(d, &now);
    int64_t next = save_delayed(d, &now), later = mwl__driver_load_later(d, now.mono_ns);
    if (look < next) next = look;
    if (later < next) next = later;
    if (d->pumps) delivered = true;
    d->pumps = false;
    return delivered ? 0 : next;
}

/* ---- work ------------------------------------------------------------------------------------ */

static void fill(mwl_durable *d, mwl_durable_work *w, size_t n) {
    size_t size = 0;
    mwl__driver_change **end = &w->changes;
    while (w->n < n && size < GROUP_BYTES) {
        mwl__driver_change *c = d->queue;
        d->queue = c->next;
        if (!d->queue) d->queue_end = &d->queue;
        d->n_queued--;
        d->bytes_queued -= c->size;
        size += c->size;
        c->next = NULL;
        *end = c;
        end = &c->next;
        c->of->queued = NULL;
        if (c->c.kind != MWL_STORE_SAVE) c->of->parking = true;
        w->list[w->n++] = c->c;
    }
}

mwl_durable_work *mwl_durable_take(mwl_durable *d, bool poll) {
    mwl_instant now;
    size_t n = d->n_queued < GROUP_MOST ? d->n_queued : GROUP_MOST;
    size_t most = d->options.most ? d->options.most : RUNS_MOST;
    if (d->working || (!n && !poll)) return NULL;
    mwl_durable_work *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->d = d;
    w->list = calloc(n + 1, sizeof *w->list);
    w->kept = calloc(n + 1, sizeof *w->kept);
    w->refused = calloc(n + 1, sizeof *w->refused);
    if (!w->list || !w->kept || !w->refused) {
        free(w->list);
        free(w->kept);
        free(w->refused);
        free(w);
        return NULL;
    }
    fill(d, w, n);
    w->width = w->n;
    mwl_vm_now(d->vm, &now);
    w->poll = poll;
    w->claimed_end = &w->claimed;
    w->messages_end = &w->messages;
    w->ask = (mwl_store_poll){.number = d->polls += poll,
                              .only = d->options.only,
                              .n_only = d->options.n_only,
                              .now_wall_ns = now.wall_ns,
                              .horizon_ns = d->options.horizon_ns,
                              .no_suspect = d->suspect != NULL};
    if (d->n_runs < most && !d->draining)
        w->ask.most = most - d->n_runs < CLAIM_MOST ? most - d->n_runs : CLAIM_MOST;
    d->working = true;
    return w;
}

static void drop_later(mwl_durable *d) {
    for (mwl__driver_claimed *c; (c = d->later);) {
        d->later = c->next;
        mwl__driver_claimed_free(c);
    }
    d->n_later = 0;
}

/* Claimed runs that are not loaded would start their calls. Closing the store frees them. */
void mwl_durable_drain(mwl_durable *d) {
    d->draining = true;
    drop_later(d);
    for (mwl__driver_run *r = d->runs; r; r = r->next) {
        if (!r->run || r->finished || r->parking) continue;
        r->looks = true;
        mwl__driver_delay(d, r);
    }
}

static void announce(mwl_durable *d, const mwl__driver_change *c) {
    const mwl_durable_ended ended = {c->of->id, c->c.state, c->c.result, c->of->run};
    if (d->options.ended) d->options.ended(d->options.ctx, &ended);
}

/* The store will never take what the change contains. Its run is stuck, and its calls are not
 * released. If not even that is taken, the run is not this worker's any more. */
static void settle_refused(mwl_durable *d, mwl__driver_change *c, const char *why) {
    mwl__driver_run *r = c->of;
    char text[400];
    bool again = c->c.kind == MWL_STORE_END && c->c.state == MWL_STORE_STUCK;
    snprintf(text, sizeof text, "the store refused it: %s", why);
    d->counts.changes++;
    d->counts.refused++;
    if (again || !mwl__driver_refused(d, r, text)) mwl__driver_drop(d, r);
    mwl__driver_change_free(d, c);
}

/* The store has the change, or does not want it from this worker. */
static void settle(mwl_durable *d, mwl__driver_change *c, bool kept) {
    mwl__driver_run *r = c->of;
    d->counts.changes++;
    d->counts.ended += kept && c->c.kind == MWL_STORE_END;
    if (d->suspect == r) d->suspect = NULL; /* it gets on */
    if (kept && c->c.kind == MWL_STORE_SAVE && mwl__driver_holds_back(d, r)) {
        r->looks = true;
        mwl__driver_delay(d, r);
    } else if (kept && c->c.kind == MWL_STORE_SAVE) {
        mwl_run_release(r->run, c->vm_version);
    } else {
        if (kept && c->c.kind == MWL_STORE_END) announce(d, c);
        mwl__driver_drop(d, r);
    }
    mwl__driver_change_free(d, c);
}

static void free_work(mwl_durable *d, mwl_durable_work *w) {
    for (mwl__driver_claimed *c; (c = w->claimed);) {
        w->claimed = c->next;
        mwl__driver_claimed_free(c);
    }
    for (mwl__driver_message *m; (m = w->messages);) {
        w->messages = m->next;
        mwl__driver_message_free(m);
    }
    for (mwl__driver_change *c; (c = w->changes);) {
        w->changes = c->next;
        mwl__driver_change_free(d, c);
    }
    for (size_t i = 0; i < w->n; i++) free(w->refused[i]);
    free(w->refused);
    free(w->list);
    free(w->kept);
    free(w);
}

void mwl_durable_forget(mwl_durable_work *w) {
    w->d->working = false;
    free_work(w->d, w);
}

static void drop_all(mwl_durable *d) {
    while (d->runs) mwl__driver_drop(d, d->runs);
    drop_later(d);
}

mwl_status mwl_durable_done(mwl_durable *d, mwl_durable_work *w) {
    mwl_status status = w->status;
    d->working = false;
    if (w->committed) {
        size_t i = 0;
        d->counts.commits += w->n > 0;
        for (mwl__driver_change *c; (c = w->changes); i++) {
            w->changes = c->next;
            if (w->refused[i])
                settle_refused(d, c, w->refused[i]);
            else
                settle(d, c, w->kept[i]);
        }
    }
    if (status == MWL_E_STATE) {
        drop_all(d);
        free_work(d, w);
        return status;
    }
    if (w->poll && status == MWL_OK) {
        d->next_wall_ns = w->next_wall_ns;
        d->more = w->n_claimed && w->n_claimed >= w->ask.most;
    }
    for (mwl__driver_claimed *c; (c = w->claimed);) {
        w->claimed = c->next;
        if (d->draining) /* it was asked for before */
            mwl__driver_claimed_free(c);
        else
            mwl__driver_load(d, c);
    }
    for (mwl__driver_message *m; (m = w->messages);) {
        w->messages = m->next;
        mwl__driver_give(d, m);
    }
    free_work(d, w);
    return status;
}

/* ---- life ------------------------------------------------------------------------------------ */

mwl_status mwl_durable_new(mwl_vm *vm, const mwl_durable_options *options, mwl_durable **out) {
    mwl_durable *d = calloc(1, sizeof *d);
    *out = d;
    if (!d) return MWL_E_NOMEM;
    d->vm = vm;
    if (options) d->options = *options;
    d->queue_end = &d->queue;
    d->next_wall_ns = MWL_NEVER;
    pthread_mutex_init(&d->programs_lock, NULL);
    if (d->options.events) mwl_vm_trace(vm, on_event, d);
    return MWL_OK;
}

void mwl_durable_free(mwl_durable *d) {
    if (!d) return;
    drop_all(d);
    if (d->options.events) mwl_vm_trace(d->vm, NULL, NULL);
    for (mwl__driver_program *p; (p = d->programs);) {
        d->programs = p->next;
        mwl_program_release(p->program);
        free(p);
    }
    pthread_mutex_destroy(&d->programs_lock);
    mwl__numbered_free(&d->by_run);
    mwl__numbered_free(&d->by_seq);
    free(d);
}

size_t mwl_durable_runs(const mwl_durable *d) { return d->n_runs + d->n_later; }
size_t mwl_durable_waiting(const mwl_durable *d) { return d->n_queued; }
int64_t mwl_durable_next_wall_ns(const mwl_durable *d) { return d->next_wall_ns; }
bool mwl_durable_more(const mwl_durable *d) { return d->more; }
mwl_durable_counts mwl_durable_count(const mwl_durable *d) { return d->counts; }
