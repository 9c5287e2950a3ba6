/* durable_save.c: a run that has changed becomes a change for the store.
 *
 * Owns: what a change contains, and whether the run leaves memory with it. A run has at most one
 * change that was not taken yet: a newer one replaces it, and keeps what it had to say. */
#include "stdlib/durable/durable_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    EVENTS_MOST = 1000,              /* of one run between two changes */
    LOADED = 1,                      /* the version of a run that was loaded */
    LARGE = 64 * 1024,               /* snapshots above this size are spaced out, */
    BYTES_PER_SECOND = 16 * 1000000, /* to this rate */
    EVENT_TEXT = 4096,               /* bytes of a name in an event; what is longer is cut */
    REASON = 300,                    /* bytes of the reason of a run that is stuck */
};
#define SECOND INT64_C(1000000000)

/* ---- events ---------------------------------------------------------------------------------- */

static void *grown(void *list, size_t n, size_t *cap, size_t size) {
    if (n < *cap) return list;
    size_t more = *cap ? 2 * *cap : 8;
    void *at = realloc(list, more * size);
    if (at) *cap = more;
    return at;
}

/* How much of a text fits, in whole characters: a store may refuse a part of one. */
static size_t fitting(const char *text, size_t most) {
    size_t len = strnlen(text, most + 1);
    if (len <= most) return len;
    for (len = most; len && ((unsigned char)text[len] & 0xc0) == 0x80; len--) continue;
    return len;
}

/* The text, and behind a line break the Flow, unless it is NULL. */
static char *joined(const char *text, const char *flow) {
    size_t len = fitting(text, EVENT_TEXT), more = flow ? fitting(flow, EVENT_TEXT) + 1 : 0;
    char *copy = malloc(len + more + 1);
    if (!copy) return NULL;
    memcpy(copy, text, len);
    copy[len + more] = '\0';
    if (!flow) return copy;
    copy[len] = '\n';
    memcpy(copy + len + 1, flow, more - 1);
    return copy;
}

static void add_event(mwl_durable *d, mwl__driver_run *r, const char *kind, const char *text,
                      const char *flow) {
    mwl_instant now;
    mwl_store_event *list = grown(r->events, r->n_events, &r->cap_events, sizeof *list);
    char *copy = text ? joined(text, flow) : NULL;
    if (list) r->events = list;
    if (!list || (text && !copy)) { /* an event is not worth a failure */
        free(copy);
        r->lost_events++;
        return;
    }
    mwl_vm_now(d->vm, &now);
    list[r->n_events++] = (mwl_store_event){now.wall_ns, kind, {copy, copy ? strlen(copy) : 0}};
}

static void event(mwl_durable *d, mwl__driver_run *r, const char *kind, const char *text,
                  const char *flow) {
    if (!d->options.events) return;
    if (r->n_events < EVENTS_MOST)
        add_event(d, r, kind, text, flow);
    else
        r->lost_events++;
}

void mwl__driver_event(mwl_durable *d, mwl__driver_run *r, const char *kind, const char *text) {
    char *hidden = text && d->options.hide ? d->options.hide(d->options.ctx, text) : NULL;
    event(d, r, kind, hidden ? hidden : text, NULL);
    free(hidden);
}

void mwl__driver_step(mwl_durable *d, mwl__driver_run *r, const char *step, const char *flow) {
    event(d, r, "step", step, flow);
}

void mwl__driver_events_free(mwl_store_event *list, size_t n) {
    for (size_t i = 0; i < n; i++) free((void *)(uintptr_t)list[i].text.at);
    free(list);
}

static void free_waits(mwl__driver_change *c) {
    for (size_t i = 0; i < c->c.n_waits; i++) {
        free((void *)(uintptr_t)c->waits[i].name);
        free((void *)(uintptr_t)c->waits[i].question.at);
    }
    free(c->waits);
    c->waits = NULL;
    c->c.n_waits = 0;
}

void mwl__driver_change_free(mwl_durable *d, mwl__driver_change *c) {
    if (!c) return;
    mwl_bytes_free(d->vm, c->bytes, c->size);
    free(c->row);
    free_waits(c);
    mwl__driver_events_free(c->events, c->c.n_events);
    free(c->taken);
    free(c->result);
    free(c);
}

/* ---- waits ----------------------------------------------------------------------------------- */

const char *mwl__driver_awaits(const mwl_durable *d, const char *provider) {
    if (strcmp(provider, MWL__DURABLE_ANSWER) == 0) return "";
    for (const char *const *uri = d->options.remote; uri && *uri; uri++)
        if (strcmp(provider, *uri) == 0) return *uri;
    return NULL;
}

void mwl__driver_wait_name(const mwl__driver_run *r, const mwl_wait *wait, bool remote, char *out,
                           size_t cap) {
    if (remote)
        snprintf(out, cap, "%s.%llu", r->id, (unsigned long long)wait->number);
    else
        snprintf(out, cap, "%s", wait->name);
}

/* What a run that is at rest waits for. */
struct rest {
    bool outside; /* something works for it outside */
    bool held;    /* a call that has not started */
    bool once;    /* such a call, of a provider that is never asked twice */
};

static void note_rest(struct rest *rest, const mwl_wait *wait) {
    rest->outside |= wait->outside;
    rest->held |= wait->held;
    rest->once |= wait->held && wait->once;
}

/* Calls that have not started go along when the worker is to end: the next one starts them. But the
 * next one takes them for started, so a call that may be made only once is made here. */
static bool may_leave(const mwl_durable *d, const struct rest *rest) {
    return !rest->outside && (!rest->held || (d->draining && !rest->once));
}

struct waits {
    mwl_durable *d;
    const mwl__driver_run *r;
    mwl_store_wait *list;
    size_t n, cap;
    uint64_t hash;
    struct rest rest;
    mwl_status status; /* MWL_E_TOO_BIG: they are more than the run's memory; MWL_E_NOMEM */
    uint64_t room;     /* bytes that their texts may still have */
    int64_t now_wall_ns;
};

mwl_status mwl__driver_text_add(void *ctx, const char *piece, size_t len) {
    struct mwl__driver_text *t = ctx;
    if (t->len + len >= t->cap) {
        size_t cap = t->cap ? 2 * t->cap : 256;
        while (cap <= t->len + len) cap *= 2;
        char *grown = realloc(t->at, cap);
        if (!grown) return MWL_E_NOMEM;
        t->at = grown;
        t->cap = cap;
    }
    memcpy(t->at + t->len, piece, len);
    t->len += len;
    return MWL_OK;
}

/* Writes a value that leaves the VM for the store. Its text may be far larger than the value, so it
 * is counted while it is written. *text is malloc, and NULL after an error. */
static mwl_status json_within(mwl_durable *d, mwl_value v, uint64_t most, char **text,
                              size_t *len) {
    struct mwl__driver_text t = {NULL, 0, 0};
    mwl_status status = mwl_json_write_within(mwl_vm_heap(d->vm), v, MWL_JSON_COMPACT, most,
                                              mwl__driver_text_add, &t, NULL);
    char *exact = status == MWL_OK ? realloc(t.at, t.len + 1) : NULL;
    if (status == MWL_OK && !exact) status = MWL_E_NOMEM;
    *text = exact;
    *len = t.len;
    if (exact)
        exact[t.len] = '\0';
    else
        free(t.at);
    return status;
}

/* Makes the text of a call for a worker outside. */
static mwl_status call_of(mwl_durable *d, const mwl_wait *wait, uint64_t most, char **text,
                          size_t *len) {
    mwl_heap *heap = mwl_vm_heap(d->vm);
    mwl_value o = mwl_object(heap, 2);
    o = mwl_object_set(heap, o, "input", 5, mwl_value_keep(wait->input));
    o = mwl_object_set(heap, o, "arguments", 9, mwl_value_keep(wait->arguments));
    mwl_status status = mwl_is_absent(o) ? mwl_heap_why(heap) : json_within(d, o, most, text, len);
    mwl_value_drop(heap, o);
    return status;
}

static bool see_wait(void *ctx, const mwl_wait *wait) {
    struct waits *w = ctx;
    const char *uri = mwl__driver_awaits(w->d, wait->provider);
    note_rest(&w->rest, wait);
    if (wait->cancelled || !uri) return true;
    mwl_store_wait *list = grown(w->list, w->n, &w->cap, sizeof *list);
    size_t len = 0, cap = strlen(w->r->id) + strlen(wait->name) + MWL__DRIVER_NUMBER;
    char *name = malloc(cap), *question = NULL;
    if (list) w->list = list;
    w->status = !list || !name ? MWL_E_NOMEM
                : *uri         ? call_of(w->d, wait, w->room, &question, &len)
                               : json_within(w->d, wait->arguments, w->room, &question, &len);
    if (w->status != MWL_OK) {
        free(name);
        free(question);
        return false;
    }
    w->room -= len;
    mwl__driver_wait_name(w->r, wait, *uri, name, cap);
    list[w->n++] = (mwl_store_wait){wait->number, name, w->now_wall_ns, {question, len}, uri};
    w->hash = (w->hash ^ wait->number) * UINT64_C(0x100000001b3) + 1;
    return true;
}

/* The open waits go with a change only if they differ from those of the one before. All of their
 * texts together are within the run's memory. */
static mwl_status put_waits(mwl_durable *d, mwl__driver_run *r, mwl__driver_change *c,
                            struct rest *rest) {
    struct waits w = {
        .d = d, .r = r, .room = mwl_run_memory_limit(r->run), .now_wall_ns = c->c.now_wall_ns};
    mwl_run_each_wait(r->run, see_wait, &w);
    *rest = w.rest;
    mwl__driver_change made = {.waits = w.list, .c.n_waits = w.n};
    if (w.status != MWL_OK || (r->waits_known && w.hash == r->waits && !c->c.new_waits)) {
        free_waits(&made);
        return w.status;
    }
    free_waits(c);
    c->waits = w.list;
    c->c.n_waits = w.n;
    c->c.new_waits = true;
    r->waits = w.hash;
    r->waits_known = true;
    return MWL_OK;
}

/* ---- changes --------------------------------------------------------------------------------- */

/* The change that is not taken yet, or a new one. */
static mwl__driver_change *change_of(mwl__driver_run *r, const mwl_instant *now) {
    mwl__driver_change *c = r->queued ? r->queued : calloc(1, sizeof *c);
    if (!c) return NULL;
    c->of = r;
    c->c.seq = r->seq;
    c->c.epoch = r->epoch;
    c->c.now_wall_ns = now->wall_ns;
    return c;
}

/* Copies what was delivered behind what the change has. put_lists() counts it, when nothing can
 * fail any more: a message that was delivered must go with the change that contains its effect. */
static bool copy_taken(const mwl__driver_run *r, mwl__driver_change *c) {
    if (!r->n_taken) return true;
    uint64_t *taken = realloc(c->taken, (c->c.n_taken + r->n_taken) * sizeof *taken);
    if (!taken) return false;
    memcpy(taken + c->c.n_taken, r->taken, r->n_taken * sizeof *taken);
    c->taken = taken;
    c->c.taken = taken; /* a queued change must stay whole if what comes next fails */
    return true;
}

/* Puts the deliveries and the events since the last change into the change. */
static void put_lists(mwl_durable *d, mwl__driver_run *r, mwl__driver_change *c) {
    char text[60];
    if (r->lost_events) {
        snprintf(text, sizeof text, "%zu more", r->lost_events);
        r->lost_events = 0;
        add_event(d, r, "events", text, NULL);
    }
    c->c.n_taken += r->n_taken;
    r->n_taken = 0;
    for (size_t i = 0; i < r->n_events; i++) {
        mwl_store_event *list = grown(c->events, c->c.n_events, &c->cap_events, sizeof *list);
        if (!list) {
            free((void *)(uintptr_t)r->events[i].text.at);
            continue;
        }
        c->events = list;
        c->events[c->c.n_events++] = r->events[i];
    }
    r->n_events = 0;
}

static void finish(mwl_durable *d, mwl__driver_run *r, mwl__driver_change *c) {
    c->c.version = ++r->version;
    c->c.waits = c->waits;
    c->c.events = c->events;
    if (r->queued) return;
    r->queued = c;
    mwl__driver_queue(d, c);
}

/* row: the same with what is secret, or NULL. */
static void set_bytes(mwl_durable *d, mwl__driver_change *c, void *bytes, size_t size,
                      char *take_row, size_t row_size) {
    mwl_bytes_free(d->vm, c->bytes, c->size);
    free(c->row);
    d->bytes_queued += size - c->size;
    c->bytes = bytes;
    c->size = size;
    c->row = take_row;
    c->c.bytes = take_row ? take_row : bytes;
    c->c.size = take_row ? row_size : size;
}

/* ---- the end --------------------------------------------------------------------------------- */

static bool put_end(mwl_durable *d, mwl__driver_run *r, mwl_store_state state, char *take_result,
                    size_t len) {
    mwl_instant now;
    char *row = NULL;
    size_t row_size = 0;
    mwl_vm_now(d->vm, &now);
    mwl__driver_change *c = take_result ? change_of(r, &now) : NULL;
    if (!c || !copy_taken(r, c) || !mwl__driver_row_write(d, r->run, NULL, 0, &row, &row_size)) {
        if (c && c != r->queued) mwl__driver_change_free(d, c);
        free(take_result);
        return false;
    }
    put_lists(d, r, c);
    set_bytes(d, c, NULL, 0, row, row_size);
    r->finished = true;
    c->c.kind = MWL_STORE_END;
    c->c.state = state;
    c->result = take_result;
    c->c.result = (mwl_store_text){take_result, len};
    finish(d, r, c);
    return true;
}

static bool save_end(mwl_durable *d, mwl__driver_run *r) {
    size_t len = 0;
    if (mwl_run_get_state(r->run) == MWL_RUN_ABORTED) {
        mwl_status why = mwl_run_why(r->run);
        const char *text = why < 0 ? mwl_status_text(why) : "ended without cleanup";
        mwl__driver_event(d, r, "aborted", text);
        return put_end(d, r, MWL_STORE_ABORTED, strdup(text), strlen(text));
    }
    char *text = NULL;
    size_t most = mwl_run_memory_limit(r->run);
    mwl_status status = json_within(d, mwl_run_result(r->run), most, &text, &len);
    if (status == MWL_E_TOO_BIG) { /* it ends by its limit, and that is short */
        mwl_run_exceed(r->run);
        status = json_within(d, mwl_run_result(r->run), most, &text, &len);
    }
    if (status != MWL_OK && status != MWL_E_NOMEM)
        return mwl__driver_stuck(d, r, mwl_status_text(status));
    bool good = mwl_run_succeeded(r->run);
    mwl_value result = mwl_run_result(r->run);
    const char *code = mwl_as_text(mwl_get(result, "code"), NULL);
    mwl__driver_event(d, r, good ? "done" : "failed", code);
    return put_end(d, r, good ? MWL_STORE_DONE : MWL_STORE_FAILED, text, len);
}

bool mwl__driver_stuck(mwl_durable *d, mwl__driver_run *r, const char *why) {
    char *hidden = d->options.hide ? d->options.hide(d->options.ctx, why) : NULL;
    char *text = hidden ? hidden : strdup(why);
    mwl__driver_event(d, r, "stuck", text);
    return put_end(d, r, MWL_STORE_STUCK, text, text ? strlen(text) : 0);
}

/* Sets aside a run that the store refused. Its queued change, which may contain the same, is
 * emptied. The messages that it has taken stay in the store. */
bool mwl__driver_refused(mwl_durable *d, mwl__driver_run *r, const char *why) {
    char text[REASON];
    mwl__driver_change *c = r->queued;
    if (c) {
        free_waits(c);
        mwl__driver_events_free(c->events, c->c.n_events);
        c->events = NULL;
        c->c.n_events = c->cap_events = c->c.n_taken = 0;
        c->c.new_waits = false;
    }
    mwl__driver_events_free(r->events, r->n_events);
    r->events = NULL;
    r->n_events = r->cap_events = r->lost_events = r->n_taken = 0;
    r->parking = true;
    snprintf(text, sizeof text, "%s", why);
    text[fitting(text, sizeof text - 2)] = '\0';
    return mwl__driver_stuck(d, r, text);
}

/* ---- saving ---------------------------------------------------------------------------------- */

bool mwl__driver_is_far(const mwl_durable *d, int64_t due_wall_ns, int64_t now_wall_ns) {
    int64_t far = d->options.far_ns ? d->options.far_ns : 60 * SECOND;
    if (far <= d->options.horizon_ns) far = d->options.horizon_ns + SECOND; /* else it comes back */
    return due_wall_ns == MWL_NEVER || due_wall_ns - now_wall_ns > far;
}

static bool see_rest(void *ctx, const mwl_wait *wait) {
    note_rest(ctx, wait);
    return true;
}

bool mwl__driver_can_leave(const mwl_durable *d, const mwl__driver_run *r) {
    struct rest rest = {false, false, false};
    mwl_run_each_wait(r->run, see_rest, &rest);
    return may_leave(d, &rest);
}

bool mwl__driver_holds_back(const mwl_durable *d, const mwl__driver_run *r) {
    struct rest rest = {false, false, false};
    if (!d->draining) return false;
    mwl_run_each_wait(r->run, see_rest, &rest);
    return rest.held && !rest.once;
}

static bool see_held(void *ctx, const mwl_wait *wait) {
    *(size_t *)ctx += wait->held;
    return true;
}

size_t mwl_durable_held(const mwl_durable *d) {
    size_t n = 0;
    for (const mwl__driver_run *r = d->runs; r; r = r->next)
        if (r->run && !r->finished) mwl_run_each_wait(r->run, see_held, &n);
    return n;
}

/* A run leaves memory if it waits for long, and for nothing that works outside. */
static void choose_kind(const mwl_durable *d, const mwl__driver_run *r, mwl__driver_change *c,
                        const struct rest *rest) {
    mwl_saved saved;
    c->c.kind = MWL_STORE_SAVE;
    if (!may_leave(d, rest) || mwl_saved_read(c->bytes, c->size, &saved) != MWL_OK) return;
    if (!d->draining && !mwl__driver_is_far(d, saved.due_wall_ns, c->c.now_wall_ns)) return;
    c->c.kind = MWL_STORE_PARK;
    c->c.due_wall_ns = saved.n_held ? 0 : saved.due_wall_ns;
    c->c.seen = r->seen;
}

/* A run that was loaded and has done nothing since is not saved again: a new version would mean
 * that it gets on (MWL_STORE_RECOVERIES). */
bool mwl__driver_save(mwl_durable *d, mwl__driver_run *r, const mwl_instant *now, bool parks) {
    void *bytes = NULL;
    char *row = NULL;
    size_t size = 0, row_size = 0;
    uint64_t vm_version = 0;
    struct rest rest;
    if (r->finished) return true;
    if (mwl_run_get_state(r->run) >= MWL_RUN_DONE) return save_end(d, r);
    mwl_status status = mwl_run_save(r->run, &bytes, &size, &vm_version);
    if (status == MWL_E_NOMEM || status == MWL_E_STATE) return false;
    if (status != MWL_OK) return mwl__driver_stuck(d, r, mwl_status_text(status));
    if (r->fresh && vm_version <= LOADED && !parks) {
        mwl_bytes_free(d->vm, bytes, size);
        return true;
    }
    r->fresh = false;
    mwl__driver_change *c = change_of(r, now);
    status = c && copy_taken(r, c) ? put_waits(d, r, c, &rest) : MWL_E_NOMEM;
    if (status == MWL_OK && !mwl__driver_row_write(d, r->run, bytes, size, &row, &row_size))
        status = MWL_E_NOMEM;
    if (status != MWL_OK) {
        r->waits_known = false;
        mwl_bytes_free(d->vm, bytes, size);
        if (c && c != r->queued) mwl__driver_change_free(d, c);
        if (status == MWL_E_NOMEM) return false;
        if (status != MWL_E_TOO_BIG) return mwl__driver_stuck(d, r, mwl_status_text(status));
        mwl_run_exceed(r->run); /* it has changed by that, and comes again */
        d->pumps = true;
        return true;
    }
    put_lists(d, r, c);
    set_bytes(d, c, bytes, size, row, row_size);
    c->vm_version = vm_version;
    choose_kind(d, r, c, &rest);
    finish(d, r, c);
    if (size > LARGE)
        r->not_before_ns = now->mono_ns + (int64_t)(size * (uint64_t)SECOND / BYTES_PER_SECOND);
    return true;
}
