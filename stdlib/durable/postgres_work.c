/* postgres_work.c: what a worker does on PostgreSQL: commits groups of changes, claims runs, reads
 * messages.
 *
 * A commit is one statement or one transaction, so a repetition after a lost connection is safe: a
 * change that is there already has its version, and is found by that. */
#include "stdlib/durable/postgres_impl.h"

#include <stdlib.h>
#include <string.h>

enum {
    RENEW_PART = 4,       /* of the lease, in a poll */
    LATE_PART = 2,        /* in a commit: polls have been late */
    LOOK_PART = 8,        /* how often it is looked for workers that died */
    MESSAGES_MANY = 1000, /* in the inbox: then it is looked into less often */
};
#define MANY_NS INT64_C(100000000) /* for each thousand of them */
#define TIDY_NS INT64_C(600000000000)

static mwl_status no_memory(mwl__pg_store *s) {
    return mwl__pg_refuse(s, MWL_E_NOMEM, "out of memory");
}

/* ---- commit ---------------------------------------------------------------------------------- */

/* The parameters of SAVE, in its order. */
struct group {
    mwl__pg_array seq, epoch, version, kind, state, due, seen, bytes, result, now, new_waits;
    mwl__pg_array event_run, event_at, event_kind, event_body;
    mwl__pg_array taken_run, taken_n;
    mwl__pg_array wait_run, wait_number, wait_name, wait_since, wait_question, wait_provider;
};

static void put_text(mwl__pg_array *a, mwl_store_text t) { mwl__pg_array_bytes(a, t.at, t.len); }
static void put_word(mwl__pg_array *a, const char *t) { mwl__pg_array_bytes(a, t, strlen(t)); }

static void put_change(struct group *g, const mwl_store_change *c) {
    mwl__pg_array_int(&g->seq, c->seq);
    mwl__pg_array_int(&g->epoch, (int64_t)c->epoch);
    mwl__pg_array_int(&g->version, (int64_t)c->version);
    mwl__pg_array_int(&g->kind, c->kind);
    mwl__pg_array_int(&g->state, c->state);
    mwl__pg_array_int(&g->due, c->due_wall_ns);
    mwl__pg_array_int(&g->seen, (int64_t)c->seen);
    mwl__pg_array_bytes(&g->bytes, c->bytes, c->size);
    put_text(&g->result, c->result);
    mwl__pg_array_int(&g->now, c->now_wall_ns);
    mwl__pg_array_bool(&g->new_waits, c->new_waits);
    for (size_t i = 0; i < c->n_events; i++) {
        mwl__pg_array_int(&g->event_run, c->seq);
        mwl__pg_array_int(&g->event_at, c->events[i].at_wall_ns);
        put_word(&g->event_kind, c->events[i].kind);
        put_text(&g->event_body, c->events[i].text);
    }
    for (size_t i = 0; i < c->n_taken; i++) {
        mwl__pg_array_int(&g->taken_run, c->seq);
        mwl__pg_array_int(&g->taken_n, (int64_t)c->taken[i]);
    }
    for (size_t i = 0; c->new_waits && i < c->n_waits; i++) {
        mwl__pg_array_int(&g->wait_run, c->seq);
        mwl__pg_array_int(&g->wait_number, (int64_t)c->waits[i].number);
        put_word(&g->wait_name, c->waits[i].name);
        mwl__pg_array_int(&g->wait_since, c->waits[i].since_wall_ns);
        put_text(&g->wait_question, c->waits[i].question);
        put_word(&g->wait_provider, c->waits[i].provider ? c->waits[i].provider : "");
    }
}

static void free_group(struct group *g) {
    mwl__pg_array *all = (mwl__pg_array *)g;
    for (size_t i = 0; i < sizeof *g / sizeof *all; i++) mwl__pg_array_free(&all[i]);
}

static void make_group(struct group *g, const mwl_store_change *changes, size_t n) {
    mwl__pg_array *all = (mwl__pg_array *)g;
    mwl__pg_array *texts[] = {&g->result,    &g->event_kind,    &g->event_body,
                              &g->wait_name, &g->wait_question, &g->wait_provider};
    memset(g, 0, sizeof *g);
    for (size_t i = 0; i < sizeof *g / sizeof *all; i++) all[i].type = MWL__PG_INT8;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) texts[i]->type = MWL__PG_TEXT;
    g->bytes.type = MWL__PG_BYTEA;
    g->new_waits.type = MWL__PG_BOOL;
    for (size_t i = 0; i < n; i++) put_change(g, &changes[i]);
}

static mwl_status save(mwl__pg_store *s, const struct group *g, PGresult **out) {
    return mwl__pg_run(s, out, MWL__PG_SAVE, "iaaaaaaaaaaaaaaaaaaa", s->worker, &g->seq, &g->epoch,
                       &g->version, &g->kind, &g->state, &g->due, &g->seen, &g->bytes, &g->result,
                       &g->now, &g->new_waits, &g->event_run, &g->event_at, &g->event_kind,
                       &g->event_body, &g->taken_run, &g->taken_n, &g->wait_run, &g->wait_number);
}

/* Saves the tables that SAVE leaves, because a statement changes a table only once. */
static mwl_status save_rest(mwl__pg_store *s, const struct group *g) {
    mwl_status status = MWL_OK;
    if (g->taken_run.n)
        status = mwl__pg_run(s, NULL, MWL__PG_SAVE_TAKEN, "aaaaa", &g->seq, &g->epoch, &g->version,
                             &g->taken_run, &g->taken_n);
    if (status == MWL_OK && g->wait_run.n)
        status = mwl__pg_run(s, NULL, MWL__PG_SAVE_WAITS, "aaaaaaaaa", &g->seq, &g->epoch,
                             &g->version, &g->wait_run, &g->wait_number, &g->wait_name,
                             &g->wait_since, &g->wait_question, &g->wait_provider);
    return status;
}

struct place {
    int64_t seq;
    size_t at;
};

static int by_seq(const void *a, const void *b) {
    int64_t x = ((const struct place *)a)->seq, y = ((const struct place *)b)->seq;
    return (x > y) - (x < y);
}

/* The statement returns the runs of which it kept the change. A group has one change of a run. */
static mwl_status mark_saved(mwl__pg_store *s, const PGresult *r, const mwl_store_change *changes,
                             size_t n, bool *kept) {
    struct place *places = malloc(n * sizeof *places);
    if (!places) return no_memory(s);
    for (size_t i = 0; i < n; i++) places[i] = (struct place){changes[i].seq, i};
    qsort(places, n, sizeof *places, by_seq);
    for (int i = 0; i < mwl__pg_rows(s, r); i++) {
        const struct place key = {mwl__pg_int(s, r, i, 0), 0};
        const struct place *found = bsearch(&key, places, n, sizeof *places, by_seq);
        if (found) kept[found->at] = true;
    }
    free(places);
    return MWL_OK;
}

/* Those that were not written now may have been written before: the outcome was not known then. */
static mwl_status mark_written_before(mwl__pg_store *s, const struct group *g, bool *kept) {
    PGresult *r = NULL;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_SAVED, "iaaaa", s->worker, &g->seq, &g->epoch,
                                    &g->version, &g->kind);
    if (status != MWL_OK) return status;
    for (int i = 0; i < mwl__pg_rows(s, r); i++) kept[mwl__pg_int(s, r, i, 0) - 1] = true;
    mwl__pg_clear(s, r);
    return MWL_OK;
}

/* Runs that this worker gives up are locked first: a message that comes meanwhile is either seen by
 * the statement that follows, or sees that no worker has the run, or that it is over. */
static mwl_status save_more(mwl__pg_store *s, const struct group *g, bool locks, PGresult **out) {
    mwl_status status = mwl__pg_run(s, NULL, MWL__PG_BEGIN, "");
    if (status != MWL_OK) return status;
    if (locks) status = mwl__pg_run(s, NULL, MWL__PG_LOCK, "ia", s->worker, &g->seq);
    if (status == MWL_OK) status = save(s, g, out);
    if (status == MWL_OK) status = save_rest(s, g);
    return mwl__pg_finish(s, status);
}

static bool gives_up(const mwl_store_change *changes, size_t n) {
    while (n && changes[n - 1].kind == MWL_STORE_SAVE) n--;
    return n > 0;
}

mwl_status mwl__pg_commit(mwl_store *base, const mwl_store_change *changes, size_t n, bool *kept) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    struct group g;
    PGresult *r = NULL;
    memset(kept, 0, n * sizeof *kept);
    if (!s->worker) return mwl__pg_refuse(s, MWL_E_STATE, "this handle is not a worker");
    mwl_status status = mwl__pg_renew(s, LATE_PART);
    if (status != MWL_OK) return status;
    make_group(&g, changes, n);
    bool locks = gives_up(changes, n), alone = !locks && !g.taken_run.n && !g.wait_run.n;
    status = alone ? save(s, &g, &r) : save_more(s, &g, locks, &r);
    if (status == MWL_OK) status = mark_saved(s, r, changes, n, kept);
    if (status == MWL_OK && (size_t)mwl__pg_rows(s, r) < n)
        status = mark_written_before(s, &g, kept);
    mwl__pg_clear(s, r);
    free_group(&g);
    return status;
}

/* ---- poll ------------------------------------------------------------------------------------ */

static void read_claimed(const mwl__pg_store *s, const PGresult *r, int i, mwl_store_claimed *c) {
    size_t size;
    const void *program = mwl__pg_blob(s, r, i, 3, &size);
    memset(c, 0, sizeof *c);
    if (program && size == sizeof c->program) memcpy(c->program, program, size);
    c->seq = mwl__pg_int(s, r, i, 0);
    c->id = mwl__pg_word(s, r, i, 1);
    c->name = mwl__pg_word(s, r, i, 2);
    c->epoch = (uint64_t)mwl__pg_int(s, r, i, 4);
    c->version = (uint64_t)mwl__pg_int(s, r, i, 5);
    c->recoveries = (uint32_t)mwl__pg_int(s, r, i, 6);
    c->start = mwl__pg_text_at(s, r, i, 7);
    c->bytes = mwl__pg_blob(s, r, i, 8, &c->size);
}

/* Sets aside a run whose calls may end the process. If this fails, the next worker that claims the
 * run does it. */
static void set_stuck(mwl__pg_store *s, const mwl_store_claimed *c, int64_t now_wall_ns) {
    static const char why[] = "claimed ten times without getting on: what it calls may end the "
                              "process";
    const mwl_store_text text = {why, sizeof why - 1};
    const mwl_store_event event = {now_wall_ns, "stuck", text};
    const mwl_store_change change = {.seq = c->seq,
                                     .epoch = c->epoch,
                                     .version = c->version + 1,
                                     .kind = MWL_STORE_END,
                                     .state = MWL_STORE_STUCK,
                                     .result = text,
                                     .now_wall_ns = now_wall_ns,
                                     .events = &event,
                                     .n_events = 1};
    bool kept;
    (void)mwl__pg_commit(&s->base, &change, 1, &kept);
}

/* Shows what a statement has claimed. Nothing fails in between but memory: all of it is here
 * already. */
static mwl_status show(mwl__pg_store *s, PGresult *r, const mwl_store_poll *ask,
                       const mwl_store_polled *sink, size_t *n) {
    bool good = true;
    *n = (size_t)mwl__pg_rows(s, r);
    for (int i = 0; good && i < mwl__pg_rows(s, r); i++) {
        mwl_store_claimed c;
        read_claimed(s, r, i, &c);
        if (c.recoveries > MWL_STORE_RECOVERIES)
            set_stuck(s, &c, ask->now_wall_ns);
        else
            good = sink->run(sink->ctx, &c);
    }
    mwl__pg_clear(s, r);
    return good ? MWL_OK : no_memory(s);
}

static mwl_status claim_only(mwl__pg_store *s, const mwl_store_poll *ask, PGresult **r) {
    mwl__pg_array ids = {.type = MWL__PG_TEXT};
    for (size_t i = 0; i < ask->n_only; i++) put_word(&ids, ask->only[i]);
    mwl_status status =
        mwl__pg_run(s, r, MWL__PG_CLAIM_ONLY, "iiiia", s->worker, (int64_t)ask->number,
                    ask->now_wall_ns + ask->horizon_ns, (int64_t)ask->most, &ids);
    mwl__pg_array_free(&ids);
    return status;
}

/* Whether it is time to look for workers that died: there are seldom any. */
static bool looks_for_dead(mwl__pg_store *s) {
    int64_t now = mwl__pg_mono_ns();
    if (s->looked_ns && now - s->looked_ns < s->lease_ns / LOOK_PART) return false;
    s->looked_ns = now;
    return true;
}

/* At most one statement has runs to show: should the next one fail, its number is repeated. */
static mwl_status claim_any(mwl__pg_store *s, const mwl_store_poll *ask, PGresult **r) {
    const int64_t number = (int64_t)ask->number, most = (int64_t)ask->most;
    const int64_t suspect = !ask->no_suspect;
    if (looks_for_dead(s)) {
        mwl_status status =
            mwl__pg_run(s, r, MWL__PG_CLAIM_DEAD, "iiii", s->worker, number, most, suspect);
        if (status != MWL_OK || mwl__pg_rows(s, *r) > 0) {
            s->looked_ns = 0; /* there may be more */
            return status;
        }
        mwl__pg_clear(s, *r);
    }
    return mwl__pg_run(s, r, MWL__PG_CLAIM, "iiiii", s->worker, number,
                       ask->now_wall_ns + ask->horizon_ns, most, suspect);
}

/* A poll with the number of the last one is a repetition: it shows what was claimed then. */
static mwl_status claim(mwl__pg_store *s, const mwl_store_poll *ask, const mwl_store_polled *sink,
                        size_t *n) {
    PGresult *r = NULL;
    mwl_status status;
    bool again = ask->number == s->polled;
    if (ask->most == 0 && !again) return MWL_OK;
    s->polled = ask->number;
    if (again)
        status = mwl__pg_run(s, &r, MWL__PG_CLAIMED, "ii", s->worker, (int64_t)ask->number);
    else
        status = ask->only ? claim_only(s, ask, &r) : claim_any(s, ask, &r);
    return status == MWL_OK ? show(s, r, ask, sink, n) : status;
}

/* All of them each time: the numbers of two runs are not in the order in which they are seen. */
static mwl_status see_messages(mwl__pg_store *s, const mwl_store_polled *sink, bool must) {
    PGresult *r = NULL;
    int64_t now = mwl__pg_mono_ns();
    if (!must && now < s->messages_ns) return MWL_OK;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_MESSAGES, "i", s->worker);
    if (status != MWL_OK) return status;
    bool good = true;
    int n = mwl__pg_rows(s, r);
    for (int i = 0; good && i < n; i++) {
        const mwl_store_message m = {.n = (uint64_t)mwl__pg_int(s, r, i, 0),
                                     .seq = mwl__pg_int(s, r, i, 1),
                                     .kind = (mwl_store_message_kind)mwl__pg_int(s, r, i, 2),
                                     .name = mwl__pg_word(s, r, i, 3),
                                     .body = mwl__pg_text_at(s, r, i, 4)};
        good = sink->message(sink->ctx, &m);
    }
    mwl__pg_clear(s, r);
    if (!good) return no_memory(s);
    s->messages_ns = now + n / MESSAGES_MANY * MANY_NS;
    return MWL_OK;
}

static mwl_status next_due(mwl__pg_store *s, int64_t *next_wall_ns) {
    PGresult *r = NULL;
    mwl_status status = mwl__pg_run(s, &r, MWL__PG_NEXT_DUE, "ii", s->worker, s->joined_us);
    if (status != MWL_OK) return status;
    *next_wall_ns = mwl__pg_null(s, r, 0, 0) ? MWL_NEVER : mwl__pg_int(s, r, 0, 0);
    if (mwl__pg_int(s, r, 0, 1)) *next_wall_ns = 0;
    mwl__pg_clear(s, r);
    return MWL_OK;
}

mwl_status mwl__pg_poll(mwl_store *base, const mwl_store_poll *ask, const mwl_store_polled *sink,
                        int64_t *next_wall_ns) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    size_t n = 0;
    *next_wall_ns = 0;
    if (!s->worker) return mwl__pg_refuse(s, MWL_E_STATE, "this handle is not a worker");
    mwl_status status = mwl__pg_renew(s, RENEW_PART);
    if (status == MWL_OK) status = claim(s, ask, sink, &n);
    if (status == MWL_OK) status = see_messages(s, sink, n > 0);
    if (status == MWL_OK && (!n || n < ask->most)) status = next_due(s, next_wall_ns);
    return status == MWL_E_REFUSED ? MWL_E_IO : status; /* a poll contains nothing */
}

/* Rows of workers that ended without a word. */
mwl_status mwl__pg_idle(mwl_store *base, bool *more) {
    mwl__pg_store *s = (mwl__pg_store *)base;
    int64_t now = mwl__pg_mono_ns();
    *more = false;
    if (!s->worker || (s->tidied_ns && now - s->tidied_ns < TIDY_NS)) return MWL_OK;
    s->tidied_ns = now;
    return mwl__pg_run(s, NULL, MWL__PG_TIDY, "");
}
