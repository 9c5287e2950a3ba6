/* durable_load.c: a run that was claimed becomes a run of the VM, and gets its messages. A run that
 * cannot be loaded is stuck, with the reason; the others go on. */
#include "stdlib/durable/durable_impl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOAD_TRIES = 50 };           /* while there is no memory; then it is stuck */
#define LATER_NS INT64_C(100000000) /* between two of them */

/* ---- programs -------------------------------------------------------------------------------- */

struct loading {
    mwl_program *program;
    char *why;
    size_t cap;
};

static void see_image(void *ctx, const char *name, const void *image, size_t size) {
    struct loading *l = ctx;
    mwl_error error = {MWL_OK, "", 0};
    mwl_status status = mwl_program_load(NULL, image, size, MWL_COPY, &l->program, &error);
    if (status != MWL_OK)
        snprintf(l->why, l->cap, "its program %s: %s", name,
                 *error.message ? error.message : mwl_status_text(status));
}

static mwl_program *cached(mwl_durable *d, const uint8_t *id) {
    mwl__driver_program *p;
    pthread_mutex_lock(&d->programs_lock);
    for (p = d->programs; p && memcmp(p->id, id, 16) != 0; p = p->next) continue;
    pthread_mutex_unlock(&d->programs_lock);
    return p ? p->program : NULL;
}

mwl_status mwl__driver_program_get(mwl_durable *d, mwl_store *store, const uint8_t *id,
                                   mwl_program **out, char *why, size_t cap) {
    struct loading l = {NULL, why, cap};
    *out = cached(d, id);
    if (*out) return MWL_OK;
    mwl_status status = store->ops->get_program(store, id, see_image, &l);
    mwl__driver_program *p = l.program ? malloc(sizeof *p) : NULL;
    if (l.program && !p) status = MWL_E_NOMEM;
    if (status != MWL_OK) snprintf(why, cap, "its program: %s", mwl_store_why(store));
    if (status == MWL_E_IO || status == MWL_E_NOMEM) {
        mwl_program_release(l.program);
        free(p);
        return status;
    }
    if (!p) return MWL_OK;
    memcpy(p->id, id, sizeof p->id);
    p->program = *out = l.program;
    pthread_mutex_lock(&d->programs_lock);
    p->next = d->programs;
    d->programs = p;
    pthread_mutex_unlock(&d->programs_lock);
    return MWL_OK;
}

/* ---- runs ------------------------------------------------------------------------------------ */

static uint64_t number(mwl_value object, const char *name) {
    mwl_value v = mwl_get(object, name);
    if (mwl_value_kind(v) != MWL_KIND_NUMBER) return 0;
    double d = mwl_as_number(v);
    return d > 0 && d < 9007199254740992.0 ? (uint64_t)d : 0;
}

/* A seed that a double does not hold is a text of digits; 0: there is none. */
static uint64_t seed_of(mwl_value start) {
    const char *digits = mwl_as_text(mwl_get(start, "seed"), NULL);
    return digits ? strtoull(digits, NULL, 10) : number(start, "seed");
}

/* The less of the two; 0: not given. */
static uint64_t least(uint64_t own, uint64_t most) {
    return own && (!most || own < most) ? own : most;
}

/* The limits of a run: those of its row, but not more than this worker's. False: there are none. A
 * row is not trusted with that: who can write to the store must not choose them. */
static bool limits_of(const mwl_durable *d, mwl_value start, mwl_limits *out) {
    mwl_value given = mwl_get(start, "limits");
    bool bounded = d->options.limits != NULL;
    memset(out, 0, sizeof *out);
    if (bounded) *out = *d->options.limits;
    out->fuel = least(number(given, "fuel"), out->fuel);
    out->memory_bytes = (size_t)least(number(given, "memory"), out->memory_bytes);
    return bounded || !mwl_is_absent(given);
}

/* How a run begins: see mwl_store_start. */
static mwl_status begin(mwl_durable *d, const mwl__driver_claimed *c, mwl_run **out,
                        mwl_error *error) {
    mwl_heap *heap = mwl_vm_heap(d->vm);
    mwl_value all = mwl_absent();
    mwl_limits limits;
    if (!c->start) return MWL_E_NOT_FOUND;
    mwl_status status = mwl_json_parse(heap, c->start, c->c.start.len, &all, error);
    if (status != MWL_OK) return status;
    bool limited = limits_of(d, all, &limits);
    const mwl_start start = {.id = c->id,
                             .input = mwl_get(all, "input"),
                             .arguments = mwl_get(all, "arguments"),
                             .seed = seed_of(all),
                             .limits = limited ? &limits : NULL};
    status = mwl_run_start(d->vm, c->program, &start, out, error);
    mwl_value_drop(heap, all);
    return status;
}

/* Marks what the run has marked, before anything of it is shown. */
static mwl_status take_secrets(mwl_durable *d, const mwl__driver_claimed *c, mwl_error *error) {
    const mwl_store_text t = c->parts.secrets;
    if (!t.at) return MWL_OK;
    mwl_status status = d->options.secrets_read
                            ? d->options.secrets_read(d->options.ctx, c->id, t.at, t.len)
                            : MWL_E_UNSUPPORTED;
    if (status == MWL_OK || status == MWL_E_NOMEM) return status;
    error->message = status == MWL_E_UNSUPPORTED ? "this worker keeps no secrets"
                                                 : "the secrets in its row are damaged";
    return status == MWL_E_UNSUPPORTED ? status : MWL_E_SNAPSHOT;
}

/* The snapshot is in the store, so its calls may have been released: they are in flight. */
static mwl_status take_up(mwl_durable *d, const mwl__driver_claimed *c, mwl_run **out,
                          mwl_error *error) {
    mwl_heap *heap = mwl_vm_heap(d->vm);
    mwl_value all = mwl_absent();
    mwl_limits limits;
    if (c->start) (void)mwl_json_parse(heap, c->start, c->c.start.len, &all, NULL);
    bool limited = limits_of(d, all, &limits);
    const mwl_load how = {
        .program = c->program, .flags = MWL_LOAD_RELEASED, .limits = limited ? &limits : NULL};
    mwl_status status = mwl_run_load(d->vm, c->parts.snapshot, c->parts.size, &how, out, error);
    if (!mwl_is_absent(all)) mwl_value_drop(heap, all);
    return status;
}

static bool refuse(mwl_durable *d, mwl__driver_run *r, mwl_status status, const char *message) {
    char why[400];
    if (status == MWL_E_NOT_FOUND)
        snprintf(why, sizeof why, "this worker does not have %s", message);
    else
        snprintf(why, sizeof why, "it cannot be loaded: %s",
                 *message ? message : mwl_status_text(status));
    return mwl__driver_stuck(d, r, why);
}

/* It was loaded for a message, or after a crash, and has nothing to do for long. */
static bool is_idle(const mwl_durable *d, const mwl__driver_claimed *c) {
    mwl_saved saved;
    mwl_instant now;
    mwl_vm_now(d->vm, &now);
    return mwl_saved_read(c->parts.snapshot, c->parts.size, &saved) == MWL_OK && !saved.n_held &&
           !saved.done && mwl__driver_is_far(d, saved.due_wall_ns, now.wall_ns);
}

/* A run of the VM for the record; false: out of memory. */
static bool load_run(mwl_durable *d, mwl__driver_run *r, mwl__driver_claimed *c) {
    mwl_error error = {MWL_OK, "", 0};
    mwl_run *run = NULL;
    const mwl_status whole = mwl_store_bytes_read(c->bytes, c->c.size, &c->parts);
    if (!c->program) return mwl__driver_stuck(d, r, c->why);
    if (d->options.allowed && !d->options.allowed(d->options.ctx, c->program, c->name))
        return mwl__driver_stuck(d, r, "this worker may not do what it asks for");
    if (whole != MWL_OK) return refuse(d, r, whole, "its row is damaged");
    const bool saved = c->parts.snapshot != NULL;
    mwl_status status = take_secrets(d, c, &error);
    if (status == MWL_OK) status = saved ? take_up(d, c, &run, &error) : begin(d, c, &run, &error);
    if (status == MWL_E_NOMEM && c->tries < LOAD_TRIES) return false;
    if (status != MWL_OK) return refuse(d, r, status, error.message);
    if (!mwl__numbered_put(&d->by_run, (uint64_t)(uintptr_t)run, r)) {
        mwl_run_free(run);
        return false;
    }
    r->run = run;
    d->counts.started++;
    if (c->c.recoveries > MWL_STORE_SUSPECT && !d->options.only) mwl__driver_suspect(d, r);
    r->fresh = saved;
    r->looks = saved && is_idle(d, c);
    if (r->looks) mwl__driver_delay(d, r);
    if (c->c.recoveries > 1) mwl__driver_event(d, r, "recovered", NULL);
    if (d->options.loaded) d->options.loaded(d->options.ctx, run);
    return true;
}

/* False: out of memory, and nothing is left of it. */
static bool load(mwl_durable *d, mwl__driver_claimed *c) {
    mwl__driver_run *old = mwl__numbered_get(&d->by_seq, (uint64_t)c->c.seq);
    if (old) mwl__driver_drop(d, old); /* it was another's meanwhile */
    mwl__driver_run *r = mwl__driver_add(d, c);
    bool loaded = r && load_run(d, r, c);
    if (r && !loaded) mwl__driver_drop(d, r);
    return loaded;
}

void mwl__driver_claimed_free(mwl__driver_claimed *c) {
    if (!c) return;
    for (mwl__driver_message *m; (m = c->messages);) {
        c->messages = m->next;
        mwl__driver_message_free(m);
    }
    free(c->id);
    free(c->name);
    free(c->start);
    free(c->bytes);
    free(c);
}

/* The store thinks that this worker has it, so it must not be forgotten. */
static void load_or_keep(mwl_durable *d, mwl__driver_claimed *c) {
    if (!load(d, c)) {
        c->tries++;
        c->next = d->later;
        d->later = c;
        d->n_later++;
        return;
    }
    for (mwl__driver_message *m; (m = c->messages);) {
        c->messages = m->next;
        mwl__driver_give(d, m);
    }
    mwl__driver_claimed_free(c);
}

void mwl__driver_load(mwl_durable *d, mwl__driver_claimed *c) {
    mwl_instant now;
    mwl__driver_claimed **at = &d->later;
    while (*at && (*at)->c.seq != c->c.seq) at = &(*at)->next;
    if (*at) { /* it was another's meanwhile */
        mwl__driver_claimed *old = *at;
        *at = old->next;
        d->n_later--;
        mwl__driver_claimed_free(old);
    }
    mwl_vm_now(d->vm, &now);
    d->later_ns = now.mono_ns + LATER_NS;
    load_or_keep(d, c);
}

int64_t mwl__driver_load_later(mwl_durable *d, int64_t now_ns) {
    if (!d->later) return MWL_NEVER;
    if (now_ns < d->later_ns) return d->later_ns;
    mwl__driver_claimed *list = d->later;
    d->later = NULL;
    d->n_later = 0;
    d->later_ns = now_ns + LATER_NS;
    for (mwl__driver_claimed *c; (c = list);) {
        list = c->next;
        load_or_keep(d, c);
    }
    return 0; /* there is something to pump, or a later call says when */
}

/* ---- messages -------------------------------------------------------------------------------- */

void mwl__driver_message_free(mwl__driver_message *m) {
    free(m->name);
    free(m->body);
    free(m);
}

struct open_wait {
    const mwl_durable *d;
    const mwl__driver_run *r;
    const char *name;
    uint64_t number; /* 0: none */
    bool remote;
    mwl_value arguments; /* lent until the run changes */
};

/* Whether the name is the key of this call, to the letter. */
static bool is_call(const struct open_wait *o, const mwl_wait *wait) {
    char number[MWL__DRIVER_NUMBER];
    size_t len = strlen(o->r->id);
    snprintf(number, sizeof number, ".%llu", (unsigned long long)wait->number);
    return strncmp(o->name, o->r->id, len) == 0 && strcmp(o->name + len, number) == 0;
}

/* The oldest one of this name. */
static bool see_open(void *ctx, const mwl_wait *wait) {
    struct open_wait *o = ctx;
    const char *uri = mwl__driver_awaits(o->d, wait->provider);
    if (wait->held || wait->cancelled || !uri) return true;
    if (*uri ? !is_call(o, wait) : strcmp(wait->name, o->name) != 0) return true;
    if (o->number && wait->number > o->number) return true;
    o->number = wait->number;
    o->remote = *uri != '\0';
    o->arguments = wait->arguments;
    return true;
}

static mwl_value body_of(mwl_durable *d, const mwl__driver_message *m) {
    mwl_value v = mwl_absent();
    if (!m->body) return mwl_null();
    (void)mwl_json_parse(mwl_vm_heap(d->vm), m->body, m->len, &v, NULL);
    return v;
}

/* The answer of a worker outside: `value`, or `failure`. */
static bool settle_call(mwl_durable *d, mwl__driver_run *r, uint64_t number, mwl_value take_body) {
    mwl_heap *heap = mwl_vm_heap(d->vm);
    mwl_value failure = mwl_get(take_body, "failure");
    mwl_value value = mwl_get(take_body, "value");
    bool ok = mwl_is_absent(failure);
    mwl_value out =
        ok ? mwl_is_absent(value) ? mwl_null() : mwl_value_keep(value) : mwl_value_keep(failure);
    mwl_value_drop(heap, take_body);
    return mwl_run_answer(r->run, number, ok, out) == MWL_OK;
}

/* Returns whether the message is to be removed: it had its effect, or can never have one. */
static bool answer(mwl_durable *d, mwl__driver_run *r, const mwl__driver_message *m) {
    char why[300] = "";
    struct open_wait open = {.d = d, .r = r, .name = m->name, .arguments = mwl_absent()};
    mwl_run_each_wait(r->run, see_open, &open);
    mwl_value body = open.number ? body_of(d, m) : mwl_absent();
    if (mwl_is_absent(body)) return false;
    if (!open.remote && d->options.fits &&
        !d->options.fits(d->options.ctx, open.arguments, body, why, sizeof why)) {
        mwl_value_drop(mwl_vm_heap(d->vm), body);
        mwl__driver_event(d, r, "refused", why);
        return true;
    }
    bool done = open.remote ? settle_call(d, r, open.number, body)
                            : mwl_run_answer(r->run, open.number, true, body) == MWL_OK;
    if (done) mwl__driver_event(d, r, open.remote ? "settled" : "answered", m->name);
    return done;
}

static bool deliver_one(mwl_durable *d, mwl__driver_run *r, const mwl__driver_message *m) {
    mwl_heap *heap = mwl_vm_heap(d->vm);
    if (m->kind == MWL_STORE_ANSWER) return answer(d, r, m);
    mwl_value reason = body_of(d, m);
    const char *text = mwl_is_absent(reason) ? NULL : mwl_as_text(reason, NULL);
    mwl__driver_event(d, r, "cancelled", text);
    mwl_run_cancel(r->run, text);
    if (!mwl_is_absent(reason)) mwl_value_drop(heap, reason);
    return true;
}

bool mwl__driver_deliver(mwl_durable *d, mwl__driver_run *r) {
    bool any = false;
    for (mwl__driver_message **at = &r->inbox; *at;) {
        mwl__driver_message *m = *at;
        if (r->n_taken == r->cap_taken) {
            size_t cap = r->cap_taken ? 2 * r->cap_taken : 4;
            uint64_t *grown = realloc(r->taken, cap * sizeof *grown);
            if (!grown) return any;
            r->taken = grown;
            r->cap_taken = cap;
        }
        if (mwl_run_get_state(r->run) >= MWL_RUN_DONE) return any;
        if (!deliver_one(d, r, m)) {
            at = &m->next;
            continue;
        }
        any = true;
        d->counts.answers++;
        r->taken[r->n_taken++] = m->n;
        *at = m->next;
        mwl__driver_message_free(m);
    }
    return any;
}

/* A message that is kept in the run is delivered when there is a wait for it. */
static void give_to(mwl_durable *d, mwl__driver_run *r, mwl__driver_message *m) {
    mwl__driver_message **end = &r->inbox;
    while (*end) end = &(*end)->next;
    m->next = NULL;
    *end = m;
    r->seen = m->n;
    if (!mwl__driver_deliver(d, r)) return;
    r->dirty = true;
    mwl__driver_delay(d, r);
}

void mwl__driver_give(mwl_durable *d, mwl__driver_message *m) {
    mwl__driver_run *r = mwl__numbered_get(&d->by_seq, (uint64_t)m->seq);
    mwl__driver_claimed *c = r ? NULL : d->later;
    while (c && c->c.seq != m->seq) c = c->next;
    if (c) { /* it is loaded later */
        mwl__driver_message **end = &c->messages;
        while (*end) end = &(*end)->next;
        m->next = NULL;
        *end = m;
    } else if (r && r->run && !r->parking && m->n > r->seen) {
        give_to(d, r, m);
    } else {
        mwl__driver_message_free(m);
    }
}
