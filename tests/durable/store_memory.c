/* store_memory.c: a store in memory, with any number of workers: leases, claims, the fence. It has
 * the meaning that every store must have, and nothing that can fail but memory. For tests. */
#include "tests/durable/store_memory.h"

#include <stdlib.h>
#include <string.h>

typedef struct text {
    char *at;
    size_t len;
} text;

typedef struct message {
    uint64_t n;
    int kind; /* mwl_store_message_kind, or TAKEN */
    char *name, *key;
    text body;
} message;
enum { TAKEN = 3 };

typedef struct wait {
    uint64_t number;
    int64_t since;
    char *name, *provider;
    text question;
    int64_t lease_until; /* of a worker outside */
    uint32_t attempt;
} wait;

typedef struct event {
    uint64_t n;
    int64_t at, seq;
    char *kind;
    text body;
} event;

typedef struct row {
    char *id, *name;
    uint8_t program[16];
    mwl_store_state state;
    uint64_t owner, epoch, version; /* owner 0: none */
    uint64_t poll;                  /* by which the owner has it */
    uint32_t recoveries;
    int64_t due, created, updated, ended;
    text start, bytes, result;
    message *inbox;
    wait *waits;
    size_t n_inbox, n_waits;
    bool dropped;
} row;

typedef struct program {
    uint8_t id[16];
    char *name;
    text image;
    int64_t added;
} program;

typedef struct value {
    char *key, *value;
} value;

typedef struct handle handle;
struct mwl_store_memory {
    int64_t (*now)(void *ctx);
    void *ctx;
    int64_t lease_ns;
    row *rows; /* by seq - 1 */
    program *programs;
    event *events;
    value *values;
    size_t n_rows, n_programs, n_events, n_values;
    uint64_t last_message, last_worker, last_event;
    handle *handles;
};

struct handle {
    mwl_store base;
    mwl_store_memory *m;
    handle *next;
    uint64_t worker; /* 0: not joined */
    int64_t lease_until;
    bool closed;
    const char *why;
};

/* ---- memory ---------------------------------------------------------------------------------- */

/* Makes room for one more element in a list of n. The memory of a list is a power of two, and at
 * least twice n when n is one: so a list that has shrunk is grown before it is full. */
static bool room(void *list, size_t n, size_t size) {
    void *at;
    memcpy(&at, list, sizeof at);
    if ((n & (n - 1)) == 0) {
        void *more = realloc(at, (n ? 2 * n : 1) * size);
        if (!more) return false;
        memcpy(list, &more, sizeof more);
    }
    return true;
}
/* Adds a record that is complete: one that is not would be found by the next transaction. */
#define PUT(list, n, one) (room(&(list), (n), sizeof *(list)) && ((list)[(n)++] = (one), true))

static bool set(text *t, const void *at, size_t len) {
    char *copy = at ? malloc(len + 1) : NULL;
    if (at && !copy) return false;
    if (copy) {
        memcpy(copy, at, len);
        copy[len] = '\0';
    }
    free(t->at);
    t->at = copy;
    t->len = at ? len : 0;
    return true;
}

/* The same, by a copy that was made before. */
static void take(text *t, text copy) {
    free(t->at);
    *t = copy;
}

static mwl_store_text lend(const text *t) {
    mwl_store_text out = {t->at, t->len};
    return out;
}

static void drop_message(message *g) {
    free(g->name);
    free(g->key);
    free(g->body.at);
}

static void drop_wait(wait *w) {
    free(w->name);
    free(w->provider);
    free(w->question.at);
}

static void drop_event(event *e) {
    free(e->kind);
    free(e->body.at);
}

static void drop_program(program *p) {
    free(p->name);
    free(p->image.at);
}

static void drop_waits(row *r) {
    for (size_t i = 0; i < r->n_waits; i++) drop_wait(&r->waits[i]);
    free(r->waits);
    r->waits = NULL;
    r->n_waits = 0;
}

static void drop_inbox(row *r) {
    for (size_t i = 0; i < r->n_inbox; i++) drop_message(&r->inbox[i]);
    free(r->inbox);
    r->inbox = NULL;
    r->n_inbox = 0;
}

static void drop_row(row *r) {
    drop_inbox(r);
    drop_waits(r);
    free(r->id);
    free(r->name);
    free(r->start.at);
    free(r->bytes.at);
    free(r->result.at);
    memset(r, 0, sizeof *r);
    r->dropped = true;
}

static mwl_status refuse(handle *h, mwl_status status, const char *why) {
    h->why = why;
    return status;
}
static mwl_status no_memory(handle *h) { return refuse(h, MWL_E_NOMEM, "out of memory"); }

static row *find(mwl_store_memory *m, const char *id) {
    for (size_t i = 0; i < m->n_rows; i++)
        if (!m->rows[i].dropped && strcmp(m->rows[i].id, id) == 0) return &m->rows[i];
    return NULL;
}

static int64_t seq_of(const mwl_store_memory *m, const row *r) {
    return (int64_t)(r - m->rows) + 1;
}

static bool pending(const row *r, int kind, const char *name, size_t *n) {
    *n = 0;
    for (size_t i = 0; i < r->n_inbox; i++)
        *n += r->inbox[i].kind == kind && strcmp(r->inbox[i].name, name) == 0;
    return *n > 0;
}

static bool has_message(const row *r, uint64_t after) {
    for (size_t i = 0; i < r->n_inbox; i++)
        if (r->inbox[i].kind != TAKEN && r->inbox[i].n > after) return true;
    return false;
}

static bool put_event(mwl_store_memory *m, int64_t seq, int64_t at, const char *kind,
                      mwl_store_text body) {
    event e = {.n = m->last_event + 1, .at = at, .seq = seq, .kind = strdup(kind)};
    if (!e.kind || !set(&e.body, body.at, body.len) || !PUT(m->events, m->n_events, e)) {
        drop_event(&e);
        return false;
    }
    m->last_event++;
    return true;
}

/* Takes back what a transaction has added that cannot be completed. */
static void shorten(mwl_store_memory *m, size_t n_rows, size_t n_events) {
    while (m->n_rows > n_rows) drop_row(&m->rows[--m->n_rows]);
    while (m->n_events > n_events) drop_event(&m->events[--m->n_events]);
}

/* ---- workers --------------------------------------------------------------------------------- */

static mwl_status memory_join(mwl_store *base, const char *who) {
    handle *h = (handle *)base;
    (void)who;
    if (!h->worker) h->worker = ++h->m->last_worker;
    h->lease_until = h->m->now(h->m->ctx) + h->m->lease_ns;
    return MWL_OK;
}

static void take_message(row *r, uint64_t n) {
    for (size_t i = 0; i < r->n_inbox; i++) {
        if (r->inbox[i].n != n) continue;
        if (r->inbox[i].key) { /* its key is remembered */
            r->inbox[i].kind = TAKEN;
            return;
        }
        drop_message(&r->inbox[i]);
        memmove(&r->inbox[i], &r->inbox[i + 1], (r->n_inbox - i - 1) * sizeof *r->inbox);
        r->n_inbox--;
        return;
    }
}

static wait *find_wait(const row *r, uint64_t number) {
    for (size_t i = 0; i < r->n_waits; i++)
        if (r->waits[i].number == number) return &r->waits[i];
    return NULL;
}

static bool put_wait(row *r, const mwl_store_wait *new) {
    wait w = {.number = new->number,
              .since = new->since_wall_ns,
              .name = strdup(new->name),
              .provider = strdup(new->provider ? new->provider : "")};
    bool ok = w.name && w.provider && set(&w.question, new->question.at, new->question.len) &&
              PUT(r->waits, r->n_waits, w);
    if (!ok) drop_wait(&w);
    return ok;
}

/* Those that are still open stay as they are: their time and their lease do. */
static void close_waits(row *r, const mwl_store_change *c) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_waits; i++) {
        bool open = false;
        for (size_t k = 0; k < c->n_waits; k++) open |= c->waits[k].number == r->waits[i].number;
        if (open)
            r->waits[n++] = r->waits[i];
        else
            drop_wait(&r->waits[i]);
    }
    r->n_waits = n;
}

/* All of a change that needs memory: new waits and events, and a copy of its bytes or its result.
 * False: nothing was added. */
static bool prepare(mwl_store_memory *m, row *r, const mwl_store_change *c, text *bytes,
                    text *result) {
    size_t n_waits = r->n_waits, n_events = m->n_events;
    bool ok = set(result, c->result.at, c->result.len) && set(bytes, c->bytes, c->size);
    for (size_t i = 0; ok && c->new_waits && i < c->n_waits; i++)
        ok = find_wait(r, c->waits[i].number) || put_wait(r, &c->waits[i]);
    for (size_t i = 0; ok && i < c->n_events; i++)
        ok = put_event(m, c->seq, c->events[i].at_wall_ns, c->events[i].kind, c->events[i].text);
    if (ok) return true;
    free(bytes->at);
    free(result->at);
    while (r->n_waits > n_waits) drop_wait(&r->waits[--r->n_waits]);
    shorten(m, m->n_rows, n_events);
    return false;
}

static bool apply(mwl_store_memory *m, row *r, const mwl_store_change *c) {
    text bytes = {NULL, 0}, result = {NULL, 0};
    const bool stuck = c->kind == MWL_STORE_END && c->state == MWL_STORE_STUCK;
    if (!prepare(m, r, c, &bytes, &result)) return false;
    if (stuck)
        free(bytes.at);
    else
        take(&r->bytes, bytes);
    take(&r->result, result);
    r->version = c->version;
    r->recoveries = 0;
    r->updated = c->now_wall_ns;
    for (size_t i = 0; i < c->n_taken; i++) take_message(r, c->taken[i]);
    if (c->new_waits) close_waits(r, c);
    if (c->kind == MWL_STORE_SAVE) return true;
    r->owner = 0;
    if (c->kind == MWL_STORE_PARK) {
        r->state = MWL_STORE_STORED;
        r->due = has_message(r, c->seen) ? 0 : c->due_wall_ns;
        return true;
    }
    r->state = c->state;
    if (c->state == MWL_STORE_STUCK) return true;
    r->ended = c->now_wall_ns;
    drop_inbox(r);
    drop_waits(r);
    return true;
}

/* A repeated change is kept if the store has it already. */
static bool has_it(const handle *h, const row *r, const mwl_store_change *c) {
    if (r->epoch != c->epoch || r->version != c->version) return false;
    return c->kind == MWL_STORE_SAVE ? r->owner == h->worker : r->owner == 0;
}

static mwl_status memory_commit(mwl_store *base, const mwl_store_change *changes, size_t n,
                                bool *kept) {
    handle *h = (handle *)base;
    for (size_t i = 0; i < n; i++) {
        const mwl_store_change *c = &changes[i];
        row *r = &h->m->rows[c->seq - 1];
        kept[i] = has_it(h, r, c);
        if (kept[i] || r->owner != h->worker || r->epoch != c->epoch || r->version >= c->version)
            continue;
        kept[i] = apply(h->m, r, c);
        if (!kept[i]) return no_memory(h); /* the changes before it are kept, and repeated */
    }
    return MWL_OK;
}

static bool lease_stands(const mwl_store_memory *m, uint64_t worker, int64_t now) {
    for (const handle *h = m->handles; h; h = h->next)
        if (h->worker == worker) return !h->closed && h->lease_until > now;
    return false;
}

static bool wanted(const mwl_store_poll *ask, const row *r) {
    for (size_t i = 0; ask->only && i < ask->n_only; i++)
        if (strcmp(ask->only[i], r->id) == 0) return true;
    return !ask->only;
}

static bool may_claim(const handle *h, const row *r, const mwl_store_poll *ask, int64_t now) {
    if (r->dropped || r->state >= MWL_STORE_DONE || !wanted(ask, r)) return false;
    if (r->owner) return r->owner != h->worker && !lease_stands(h->m, r->owner, now);
    return r->state == MWL_STORE_NEW || r->due <= ask->now_wall_ns + ask->horizon_ns;
}

static bool show_messages(const mwl_store_memory *m, const row *r, const mwl_store_polled *sink) {
    for (size_t i = 0; i < r->n_inbox; i++) {
        const message *g = &r->inbox[i];
        if (g->kind == TAKEN) continue;
        const mwl_store_message out = {.n = g->n,
                                       .seq = seq_of(m, r),
                                       .kind = (mwl_store_message_kind)g->kind,
                                       .name = g->name,
                                       .body = lend(&g->body)};
        if (!sink->message(sink->ctx, &out)) return false;
    }
    return true;
}

static void claim(const handle *h, row *r, uint64_t poll) {
    r->owner = h->worker;
    r->epoch++;
    r->recoveries++;
    r->state = MWL_STORE_LIVE;
    r->poll = poll;
}

static bool show_run(const handle *h, const row *r, const mwl_store_polled *sink) {
    mwl_store_claimed c = {.seq = seq_of(h->m, r),
                           .id = r->id,
                           .name = r->name,
                           .epoch = r->epoch,
                           .version = r->version,
                           .recoveries = r->recoveries,
                           .start = lend(&r->start),
                           .bytes = r->bytes.at,
                           .size = r->bytes.len};
    memcpy(c.program, r->program, sizeof c.program);
    return sink->run(sink->ctx, &c);
}

/* The suspect that this poll may claim: the one that was claimed least; NULL: none. */
static const row *find_suspect(const handle *h, const mwl_store_poll *ask, int64_t now) {
    const row *found = NULL;
    for (size_t i = 0; !ask->no_suspect && i < h->m->n_rows; i++) {
        const row *r = &h->m->rows[i];
        if (r->recoveries < MWL_STORE_SUSPECT || !may_claim(h, r, ask, now)) continue;
        if (!found || r->recoveries < found->recoveries) found = r;
    }
    return found;
}

static bool set_stuck(handle *h, row *r, int64_t now) {
    static const char why[] = "claimed ten times without getting on: what it calls may end the "
                              "process";
    const mwl_store_text reason = {why, sizeof why - 1};
    text copy = {NULL, 0};
    if (r->recoveries < MWL_STORE_RECOVERIES) return false;
    if (!set(&copy, why, sizeof why - 1) ||
        !put_event(h->m, seq_of(h->m, r), now, "stuck", reason)) {
        free(copy.at); /* it is claimed once more */
        return false;
    }
    take(&r->result, copy);
    r->state = MWL_STORE_STUCK;
    r->owner = 0;
    r->updated = now;
    return true;
}

static mwl_status memory_poll(mwl_store *base, const mwl_store_poll *ask,
                              const mwl_store_polled *sink, int64_t *next_wall_ns) {
    handle *h = (handle *)base;
    int64_t now = h->m->now(h->m->ctx);
    size_t n = 0;
    *next_wall_ns = MWL_NEVER;
    if (!h->worker) return refuse(h, MWL_E_STATE, "this handle is not a worker");
    h->lease_until = now + h->m->lease_ns;
    const row *suspect = find_suspect(h, ask, now);
    for (size_t i = 0; i < h->m->n_rows; i++) {
        row *r = &h->m->rows[i];
        bool good = ask->only || r == suspect || r->recoveries < MWL_STORE_SUSPECT;
        if (n < ask->most && good && may_claim(h, r, ask, now) &&
            !set_stuck(h, r, ask->now_wall_ns)) {
            claim(h, r, ask->number);
            n++;
        }
        if (r->dropped || r->state >= MWL_STORE_DONE) continue;
        bool mine = r->owner == h->worker;
        if (mine && r->poll == ask->number && !show_run(h, r, sink)) return no_memory(h);
        if (mine && !show_messages(h->m, r, sink)) return no_memory(h);
        if (!r->owner && r->due < *next_wall_ns) *next_wall_ns = r->due;
    }
    return MWL_OK;
}

static mwl_status memory_idle(mwl_store *base, bool *more) {
    (void)base;
    *more = false;
    return MWL_OK;
}

/* ---- everybody ------------------------------------------------------------------------------- */

static program *find_program(mwl_store_memory *m, const uint8_t *id) {
    for (size_t i = 0; i < m->n_programs; i++)
        if (memcmp(m->programs[i].id, id, 16) == 0) return &m->programs[i];
    return NULL;
}

static mwl_status memory_put_program(mwl_store *base, const uint8_t *id, const char *name,
                                     const void *image, size_t size, int64_t now_wall_ns) {
    handle *h = (handle *)base;
    const program *p = find_program(h->m, id);
    if (p && (p->image.len != size || memcmp(p->image.at, image, size) != 0))
        return refuse(h, MWL_E_DUPLICATE, "another program has the same id");
    if (p) return MWL_OK;
    program new = {.name = strdup(name), .added = now_wall_ns};
    memcpy(new.id, id, sizeof new.id);
    if (!new.name || !set(&new.image, image, size) || !PUT(h->m->programs, h->m->n_programs, new)) {
        drop_program(&new);
        return no_memory(h);
    }
    return MWL_OK;
}

static mwl_status memory_get_program(mwl_store *base, const uint8_t *id,
                                     void (*see)(void *ctx, const char *name, const void *image,
                                                 size_t size),
                                     void *ctx) {
    handle *h = (handle *)base;
    const program *p = find_program(h->m, id);
    if (!p) return refuse(h, MWL_E_NOT_FOUND, "the store does not have the program");
    see(ctx, p->name, p->image.at, p->image.len);
    return MWL_OK;
}

static bool same_start(const row *r, const mwl_store_start *start) {
    return memcmp(r->program, start->program, 16) == 0 && r->start.len == start->start.len &&
           memcmp(r->start.at, start->start.at, r->start.len) == 0;
}

static mwl_status memory_start(mwl_store *base, const mwl_store_start *start) {
    handle *h = (handle *)base;
    mwl_store_memory *m = h->m;
    static const mwl_store_text nothing;
    const row *r = find(m, start->id);
    if (r)
        return same_start(r, start)
                   ? MWL_OK
                   : refuse(h, MWL_E_DUPLICATE, "there is a run with this id already");
    row new = {.id = strdup(start->id),
               .name = strdup(start->name),
               .created = start->now_wall_ns,
               .updated = start->now_wall_ns};
    memcpy(new.program, start->program, sizeof new.program);
    if (!new.id || !new.name || !set(&new.start, start->start.at, start->start.len) ||
        !room(&m->rows, m->n_rows, sizeof *m->rows) ||
        !put_event(m, (int64_t)m->n_rows + 1, start->now_wall_ns, "accepted", nothing)) {
        drop_row(&new);
        return no_memory(h);
    }
    m->rows[m->n_rows++] = new;
    return MWL_OK;
}

static mwl_status memory_start_all(mwl_store *base, const mwl_store_start *starts, size_t n,
                                   size_t *which) {
    handle *h = (handle *)base;
    mwl_status status = MWL_OK;
    size_t n_rows = h->m->n_rows, n_events = h->m->n_events;
    for (size_t i = 0; i < n; i++) {
        const row *r = find(h->m, starts[i].id);
        for (size_t k = 0; k < i && !r; k++)
            if (strcmp(starts[i].id, starts[k].id) == 0 &&
                (memcmp(starts[i].program, starts[k].program, 16) != 0 ||
                 starts[i].start.len != starts[k].start.len ||
                 memcmp(starts[i].start.at, starts[k].start.at, starts[i].start.len) != 0))
                status = MWL_E_DUPLICATE;
        *which = i;
        if (status != MWL_OK || (r && !same_start(r, &starts[i])))
            return refuse(h, MWL_E_DUPLICATE, "there is a run with this id already");
    }
    for (size_t i = 0; i < n && status == MWL_OK; i++) status = memory_start(base, &starts[i]);
    if (status != MWL_OK) shorten(h->m, n_rows, n_events);
    return status;
}

static mwl_status put_message(handle *h, row *r, const mwl_store_message *m) {
    message g = {.n = h->m->last_message + 1,
                 .kind = (int)m->kind,
                 .name = strdup(m->name),
                 .key = m->key ? strdup(m->key) : NULL};
    if (!g.name || (m->key && !g.key) || !set(&g.body, m->body.at, m->body.len) ||
        !PUT(r->inbox, r->n_inbox, g)) {
        drop_message(&g);
        return no_memory(h);
    }
    h->m->last_message++;
    if (!r->owner) r->due = 0;
    return MWL_OK;
}

static mwl_status post_stuck(handle *h, row *r, const mwl_store_message *m) {
    static const mwl_store_text nothing;
    if (m->kind == MWL_STORE_ANSWER) return refuse(h, MWL_E_STATE, "the run is stuck");
    if (m->kind == MWL_STORE_CANCEL) {
        static const char why[] = "cancelled while it was stuck";
        if (!set(&r->result, why, sizeof why - 1)) return no_memory(h);
        r->state = MWL_STORE_ABORTED;
        r->ended = r->updated = m->now_wall_ns;
        drop_inbox(r);
        drop_waits(r);
        return MWL_OK;
    }
    if (!put_event(h->m, seq_of(h->m, r), m->now_wall_ns, "resumed", nothing)) return no_memory(h);
    r->state = r->bytes.at ? MWL_STORE_STORED : MWL_STORE_NEW;
    r->due = 0;
    r->recoveries = 0;
    (void)set(&r->result, NULL, 0);
    return MWL_OK;
}

static mwl_status memory_post(mwl_store *base, const mwl_store_message *m) {
    handle *h = (handle *)base;
    row *r = find(h->m, m->run);
    size_t there, open = 0;
    if (!r) return refuse(h, MWL_E_NOT_FOUND, "there is no such run");
    if (r->state == MWL_STORE_STUCK) return post_stuck(h, r, m);
    if (r->state >= MWL_STORE_DONE)
        return m->kind == MWL_STORE_CANCEL ? MWL_OK : refuse(h, MWL_E_STATE, "the run is over");
    if (m->kind == MWL_STORE_RESUME) return refuse(h, MWL_E_STATE, "the run is not stuck");
    if (m->kind == MWL_STORE_CANCEL)
        return pending(r, MWL_STORE_CANCEL, "", &there) ? MWL_OK : put_message(h, r, m);
    for (size_t i = 0; m->key && i < r->n_inbox; i++)
        if (r->inbox[i].key && strcmp(r->inbox[i].key, m->key) == 0)
            return refuse(h, MWL_E_DUPLICATE, "answered already, with this key");
    for (size_t i = 0; i < r->n_waits; i++) open += strcmp(r->waits[i].name, m->name) == 0;
    (void)pending(r, MWL_STORE_ANSWER, m->name, &there);
    if (open > 0 && there >= open) return refuse(h, MWL_E_DUPLICATE, "answered already");
    return put_message(h, r, m);
}

static size_t n_messages(const row *r) {
    size_t n = 0;
    for (size_t i = 0; i < r->n_inbox; i++) n += r->inbox[i].kind != TAKEN;
    return n;
}

static mwl_status memory_list(mwl_store *base, const mwl_store_query *query,
                              bool (*see)(void *ctx, const mwl_store_row *row), void *ctx) {
    handle *h = (handle *)base;
    size_t n = 0, all = h->m->n_rows, after = (size_t)query->after;
    if (query->newest) all = after && after <= all ? after - 1 : all;
    for (size_t k = query->newest ? 0 : after; k < all; k++) {
        const row *r = &h->m->rows[query->newest ? all - 1 - k : k];
        if (r->dropped || (query->id && strcmp(query->id, r->id) != 0)) continue;
        if (query->name && strcmp(query->name, r->name) != 0) continue;
        if (query->states && !(query->states & (1u << r->state))) continue;
        if (query->limit && n++ >= query->limit) break;
        mwl_store_row out = {.seq = seq_of(h->m, r),
                             .id = r->id,
                             .name = r->name,
                             .state = r->state,
                             .due_wall_ns = r->state == MWL_STORE_STORED ? r->due : MWL_NEVER,
                             .created_wall_ns = r->created,
                             .updated_wall_ns = r->updated,
                             .ended_wall_ns = r->ended,
                             .version = r->version,
                             .recoveries = r->recoveries,
                             .n_waits = r->n_waits,
                             .start = lend(&r->start),
                             .result = lend(&r->result)};
        memcpy(out.program, r->program, sizeof out.program);
        out.n_messages = n_messages(r);
        if (query->snapshots || r->state > MWL_STORE_STORED)
            out.bytes = r->bytes.at, out.size = r->bytes.len;
        if (!see(ctx, &out)) break;
    }
    return MWL_OK;
}

static mwl_status memory_waits(mwl_store *base, int64_t seq,
                               bool (*see)(void *ctx, const char *run, const mwl_store_wait *wait),
                               void *ctx) {
    const mwl_store_memory *m = ((handle *)base)->m;
    for (size_t i = 0; i < m->n_rows; i++) {
        const row *r = &m->rows[i];
        if (seq && seq_of(m, r) != seq) continue;
        for (size_t k = 0; k < r->n_waits; k++) {
            const wait *w = &r->waits[k];
            const mwl_store_wait out = {w->number, w->name, w->since, lend(&w->question),
                                        w->provider};
            if (!see(ctx, r->id, &out)) return MWL_OK;
        }
    }
    return MWL_OK;
}

static mwl_status memory_events(mwl_store *base, int64_t seq, uint64_t after,
                                bool (*see)(void *ctx, uint64_t n, const char *run,
                                            const mwl_store_event *event),
                                void *ctx) {
    const mwl_store_memory *m = ((handle *)base)->m;
    for (size_t i = 0; i < m->n_events; i++) {
        const event *e = &m->events[i];
        const row *r = &m->rows[e->seq - 1];
        if ((seq && e->seq != seq) || e->n <= after || r->dropped) continue;
        const mwl_store_event out = {e->at, e->kind, lend(&e->body)};
        if (!see(ctx, e->n, r->id, &out)) break;
    }
    return MWL_OK;
}

/* A call for a worker outside: the one that `ask` renews, or one that no worker has. */
static bool may_take(const row *r, const wait *w, const mwl_store_call *ask, int64_t now) {
    size_t answers;
    if (r->state >= MWL_STORE_DONE || !*w->provider ||
        pending(r, MWL_STORE_ANSWER, w->name, &answers))
        return false;
    if (ask->run)
        return strcmp(ask->run, r->id) == 0 && w->number == ask->number &&
               w->attempt == ask->attempt;
    return strcmp(ask->provider, w->provider) == 0 && w->lease_until <= now;
}

static mwl_status memory_take_call(mwl_store *base, const mwl_store_call *ask,
                                   void (*see)(void *ctx, const char *run,
                                               const mwl_store_wait *wait, uint32_t attempt),
                                   void *ctx) {
    handle *h = (handle *)base;
    int64_t now = h->m->now(h->m->ctx);
    for (size_t i = 0; i < h->m->n_rows; i++) {
        const row *r = &h->m->rows[i];
        for (size_t k = 0; k < r->n_waits; k++) {
            wait *w = &r->waits[k];
            if (!may_take(r, w, ask, now)) continue;
            w->lease_until = now + ask->lease_ns;
            if (ask->run) return MWL_OK;
            const mwl_store_wait out = {w->number, w->name, w->since, lend(&w->question),
                                        w->provider};
            see(ctx, r->id, &out, ++w->attempt);
            return MWL_OK;
        }
    }
    return refuse(h, MWL_E_NOT_FOUND, "there is no such call");
}

static mwl_status memory_set_value(mwl_store *base, const char *key, const char *old,
                                   const char *new) {
    handle *h = (handle *)base;
    mwl_store_memory *m = h->m;
    size_t at = 0;
    while (at < m->n_values && strcmp(m->values[at].key, key) != 0) at++;
    const char *now = at < m->n_values ? m->values[at].value : NULL;
    if (now && new ? strcmp(now, new) == 0 : !now && !new) return MWL_OK;
    if (now && old ? strcmp(now, old) != 0 : now || old)
        return refuse(h, MWL_E_STATE, "the value has changed");
    char *copy = new ? strdup(new) : NULL;
    if (new && !copy) return no_memory(h);
    if (at == m->n_values) {
        value v = {strdup(key), copy};
        if (v.key && PUT(m->values, m->n_values, v)) return MWL_OK;
        free(v.key);
        free(copy);
        return no_memory(h);
    }
    free(m->values[at].value);
    m->values[at].value = copy; /* NULL: removed */
    return MWL_OK;
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const value *)a)->key, ((const value *)b)->key);
}

static mwl_status memory_values(mwl_store *base, const char *prefix,
                                bool (*see)(void *ctx, const char *key, const char *value),
                                void *ctx) {
    mwl_store_memory *m = ((handle *)base)->m;
    if (m->n_values) qsort(m->values, m->n_values, sizeof *m->values, by_key);
    for (size_t i = 0; i < m->n_values; i++) {
        if (strncmp(m->values[i].key, prefix, strlen(prefix)) != 0 || !m->values[i].value) continue;
        if (!see(ctx, m->values[i].key, m->values[i].value)) break;
    }
    return MWL_OK;
}

static mwl_status memory_count(mwl_store *base, mwl_store_counts *out) {
    const mwl_store_memory *m = ((handle *)base)->m;
    memset(out, 0, sizeof *out);
    out->due_wall_ns = MWL_NEVER;
    out->last_event = m->last_event;
    for (size_t i = 0; i < m->n_rows; i++) {
        const row *r = &m->rows[i];
        if (r->dropped) continue;
        out->runs[r->state]++;
        out->waits += r->n_waits;
        out->messages += n_messages(r);
        if (r->state == MWL_STORE_STORED && r->due < out->due_wall_ns) out->due_wall_ns = r->due;
    }
    return MWL_OK;
}

static mwl_status memory_prune(mwl_store *base, const mwl_store_keep *keep, size_t *removed) {
    mwl_store_memory *m = ((handle *)base)->m;
    *removed = 0;
    for (size_t i = 0; i < m->n_rows && *removed < keep->most; i++) {
        row *r = &m->rows[i];
        int64_t before =
            r->state == MWL_STORE_DONE ? keep->done_before_wall_ns : keep->failed_before_wall_ns;
        bool over = r->state >= MWL_STORE_DONE && r->state <= MWL_STORE_ABORTED;
        if (r->dropped || !over || r->ended >= before) continue;
        drop_row(r);
        ++*removed;
    }
    return MWL_OK;
}

static mwl_status memory_backup(mwl_store *base, const char *path) {
    (void)path;
    return refuse((handle *)base, MWL_E_UNSUPPORTED, "a store in memory has no file");
}

/* ---- handles --------------------------------------------------------------------------------- */

/* Its record stays until the store is freed: a lease may still name it. */
static void memory_close(mwl_store *base) { ((handle *)base)->closed = true; }

static const char *memory_why(const mwl_store *base) { return ((const handle *)base)->why; }

static const mwl_store_ops ops = {
    .close = memory_close,
    .why = memory_why,
    .join = memory_join,
    .commit = memory_commit,
    .poll = memory_poll,
    .idle = memory_idle,
    .put_program = memory_put_program,
    .get_program = memory_get_program,
    .start = memory_start,
    .start_all = memory_start_all,
    .post = memory_post,
    .list = memory_list,
    .waits = memory_waits,
    .events = memory_events,
    .take_call = memory_take_call,
    .set_value = memory_set_value,
    .values = memory_values,
    .count = memory_count,
    .prune = memory_prune,
    .backup = memory_backup,
};

mwl_status mwl_store_memory_new(int64_t (*now)(void *ctx), void *ctx, int64_t lease_ns,
                                mwl_store_memory **out) {
    mwl_store_memory *m = calloc(1, sizeof *m);
    *out = m;
    if (!m) return MWL_E_NOMEM;
    m->now = now;
    m->ctx = ctx;
    m->lease_ns = lease_ns;
    return MWL_OK;
}

void mwl_store_memory_free(mwl_store_memory *m) {
    if (!m) return;
    for (size_t i = 0; i < m->n_rows; i++) drop_row(&m->rows[i]);
    for (size_t i = 0; i < m->n_programs; i++) drop_program(&m->programs[i]);
    for (size_t i = 0; i < m->n_events; i++) drop_event(&m->events[i]);
    for (handle *h = m->handles, *next; h; h = next) {
        next = h->next;
        free(h);
    }
    for (size_t i = 0; i < m->n_values; i++) {
        free(m->values[i].key);
        free(m->values[i].value);
    }
    free(m->values);
    free(m->rows);
    free(m->programs);
    free(m->events);
    free(m);
}

mwl_status mwl_store_memory_open(mwl_store_memory *m, mwl_store **out) {
    handle *h = calloc(1, sizeof *h);
    *out = h ? &h->base : NULL;
    if (!h) return MWL_E_NOMEM;
    h->base.ops = &ops;
    h->m = m;
    h->why = "";
    h->next = m->handles;
    m->handles = h;
    return MWL_OK;
}
