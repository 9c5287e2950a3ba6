/* mw_cache.c: cache: successes by key, each made by one inner scope at a time.
 *
 * A record has the value, who makes it, and who waits for it. The state of an entry is
 * {key, number, ttl, max}; number is that of the maker or of the waiter, so that `left` knows which
 * one has gone. Values are kept as JSON text: they belong to no run.
 *
 * With a store (cache.h) the maker first looks there, which may make a claim against other
 * processes; it keeps its value there, or ends the claim. Its record has the value only as long as
 * somebody waits for it here. */
#include "stdlib/io/cache.h"
#include "stdlib/io/mw.h"

#include <errno.h>
#include <limits.h>

#define PREFIX "Provider.Middleware.Cache"

typedef struct waiting {
    struct waiting *next;
    int64_t number;
    mwl_waiter *waiter;
} waiting;

typedef struct kept {
    mwl__keyed_row row;
    struct kept *older, *newer; /* by their last use; of those that have a value */
    mwl__bytes text;            /* the value; data NULL: none */
    int64_t until_ns;
    int64_t maker; /* number of the entry whose inner scope runs; 0: none */
    waiting *first, **last;
    /* of a store */
    mwl_io *io;
    const char *file; /* a part of the record's key; NULL: in memory */
    size_t jobs;      /* in progress */
    bool looking;
    mwl__store_job *looked; /* what the maker has found, until it has seen it */
    mwl_waiter *waiter;     /* of the maker while it looks */
    char claim[64];         /* of the maker; "": none */
} kept;

enum { ENDING = -1 /* a maker that has gone, whose claim is being ended */ };

typedef struct cache {
    mwl__keyed keys;
    kept *oldest, *newest;
    size_t n; /* with a value */
    int64_t numbers;
} cache;

static bool give_up(void *ctx, void *record);

static cache *cache_of(mwl_io *io) {
    cache *c = mwl__io_state(io, MWL__IO_MW_cache);
    if (c || !(c = calloc(1, sizeof *c))) return c;
    c->keys = (mwl__keyed){.most = 4 * mwl__keyed_eighth(io), .give_up = give_up, .ctx = c};
    mwl__io_set_state(io, MWL__IO_MW_cache, c);
    return c;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void unlink_use(cache *c, kept *k) {
    *(k->older ? &k->older->newer : &c->oldest) = k->newer;
    *(k->newer ? &k->newer->older : &c->newest) = k->older;
    k->older = k->newer = NULL;
}

static void link_use(cache *c, kept *k) {
    k->older = c->newest;
    *(c->newest ? &c->newest->newer : &c->oldest) = k;
    c->newest = k;
}

static void forget_value(cache *c, kept *k) {
    if (!k->text.data) return;
    mwl__keyed_less(&c->keys, k, k->text.cap);
    mwl__bytes_free(&k->text);
    if (k->file) return;
    unlink_use(c, k);
    c->n--;
}

static void free_unused(cache *c, kept *k) {
    if (k->maker || k->first || k->jobs) return;
    if (k->file) forget_value(c, k);
    if (!k->text.data) mwl__keyed_remove(&c->keys, k);
}

static bool give_up(void *ctx, void *record) {
    kept *k = record;
    if (k->maker || k->first || k->jobs) return false;
    forget_value(ctx, k);
    return true;
}

/* The record, which has no value, gets a copy. False: there is no room, or no memory, for it. */
static bool keep_text(cache *c, kept *k, const mwl__bytes *text) {
    enum { PARTS = 4 }; /* one value is no more of the table */
    mwl__bytes own = {0};
    if (text->len > c->keys.most / PARTS || !mwl__bytes_add(&own, text->data, text->len))
        return false;
    if (!mwl__keyed_more(&c->keys, k, own.cap)) {
        mwl__bytes_free(&own);
        return false;
    }
    k->text = own;
    return true;
}

/* ---- who waits ------------------------------------------------------------------------------- */

static void wake_first(kept *k) {
    if (k->first && k->first->waiter) mwl_waiter_wake(k->first->waiter);
}

static waiting *find_waiting(kept *k, int64_t number) {
    waiting *w = k->first;
    while (w && w->number != number) w = w->next;
    return w;
}

static void stop_waiting(kept *k, int64_t number) {
    for (waiting **at = &k->first; *at; at = &(*at)->next) {
        waiting *w = *at;
        if (w->number != number) continue;
        *at = w->next;
        if (k->last == &w->next) k->last = at;
        free(w);
        return;
    }
}

/* ---- records --------------------------------------------------------------------------------- */

static int64_t number_of(mwl_value state) { return mwl_as_int(mwl_get(state, "number")); }

static kept *kept_of(const cache *c, mwl_value state) {
    size_t len = 0;
    mwl_value key = mwl_get(state, "key");
    if (mwl_value_kind(key) != MWL_KIND_STRING) return NULL;
    const char *text = mwl_as_text(key, &len);
    return mwl__keyed_find(&c->keys, text, len);
}

/* The key of the record: the key of the arguments as JSON, after the name of the store and two NUL
 * if there is one. */
static bool write_key(mwl_phase *phase, mwl__bytes *out) {
    mwl_value args = mwl_phase_arguments(phase), file = mwl_get(args, "file");
    size_t len = 0;
    const char *name = mwl_as_text(file, &len);
    if (name && !(mwl__bytes_add(out, "", 1) && mwl__bytes_add(out, name, len + 1))) return false;
    return mwl_json_write_to(mwl_phase_heap(phase), mwl_get(args, "key"), MWL_JSON_CANONICAL,
                             mwl__bytes_sink, out) == MWL_OK;
}

/* Finds the record of the key in the arguments, and gives the entry its number. */
static kept *begin(cache *c, mwl_phase *phase, mwl_io *io) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value args = mwl_phase_arguments(phase);
    mwl__payer payer = MWL__PAID_BY_PHASE(phase);
    mwl__bytes key = {.payer = &payer};
    kept *k = NULL;
    if (write_key(phase, &key)) k = mwl__keyed_get(&c->keys, key.data, key.len, sizeof *k);
    if (k && !k->last) {
        k->last = &k->first;
        k->io = io;
        k->file = k->row.key[0] ? NULL : k->row.key + 1;
    }
    mwl_value state = mwl__io_set(heap, mwl_object(heap, 4), "key",
                                  mwl_string(heap, key.data ? key.data : "", key.len));
    state = mwl__io_set(heap, state, "number", mwl_int(++c->numbers));
    state = mwl__io_set(heap, state, "ttl", mwl_int(mwl__io_arg_duration(args, "ttl", 0)));
    state = mwl__io_set(heap, state, "max",
                        mwl_int((int64_t)mwl__io_arg_number(args, "maxEntries", 1000)));
    mwl__bytes_free(&key);
    if (k && mwl_phase_set_state(phase, state) == MWL_OK) return k;
    if (!k) mwl_value_drop(heap, state);
    if (k) free_unused(c, k);
    return NULL;
}

static void hit(cache *c, mwl_phase *phase, kept *k, const mwl__bytes *text) {
    mwl_value v = mwl_absent();
    if (mwl_phase_charge(phase, text->len / 8) != MWL_OK) return;
    if (mwl_json_parse(mwl_phase_heap(phase), text->data, text->len, &v, NULL) != MWL_OK) {
        mwl__mw_refuse(phase, PREFIX ".OutOfMemory", true, -1, "out of memory");
        return;
    }
    if (!k->file) {
        unlink_use(c, k);
        link_use(c, k);
    }
    mwl_phase_contribute(phase, "hit", mwl_bool(true));
    mwl_phase_substitute(phase, true, v);
}

static bool wait_for_maker(mwl_phase *phase, kept *k, int64_t number) {
    waiting *w = find_waiting(k, number);
    if (!w && (w = calloc(1, sizeof *w))) {
        w->number = number;
        *k->last = w;
        k->last = &w->next;
    }
    if (!w) return false;
    w->waiter = mwl_phase_waiter(phase);
    return mwl_phase_wait(phase, MWL_NEVER) == MWL_OK;
}

static void no_memory(mwl_phase *phase) {
    mwl__mw_refuse(phase, PREFIX ".OutOfMemory", true, -1, "out of memory");
}

/* ---- the store ------------------------------------------------------------------------------- */

/* A job on the row of this record; NULL if out of memory. */
static mwl__store_job *new_job(kept *k, mwl__store_action action,
                               void (*done)(mwl__store_job *job)) {
    size_t before = strlen(k->file) + 2;
    mwl__store_job *j = mwl__store_new(action, k->file, k->row.key + before, k->row.len - before);
    mwl_instant now;
    if (!j) return NULL;
    mwl_vm_now(mwl__io_vm(k->io), &now);
    j->now_ms = now.wall_ns / 1000000;
    j->done = done;
    j->ctx = k;
    return j;
}

static void start_job(kept *k, mwl__store_job *j) {
    k->jobs++;
    mwl__store_start(j, k->io);
}

static bool end_claim(kept *k, const char *claim);

/* The end of a put or a release. What is not stored is lost for other processes only. */
static void stored(mwl__store_job *j) {
    kept *k = j->ctx;
    cache *c = cache_of(k->io);
    char text[400];
    k->jobs--;
    if (j->result == MWL__STORE_FAILED) {
        int n = snprintf(text, sizeof text, "cache: %.90s: %s", j->file, j->message);
        mwl__io_log(k->io, MWL_IO_WARN, text, (size_t)n, mwl_absent(), NULL);
        if (j->action == MWL__STORE_PUT) end_claim(k, j->owner);
    }
    if (j->action == MWL__STORE_RELEASE && k->maker == ENDING) {
        k->maker = 0;
        wake_first(k);
    }
    mwl__store_free(j);
    free_unused(c, k);
}

/* Ends a claim. Without memory it stays until this process ends. */
static bool end_claim(kept *k, const char *claim) {
    mwl__store_job *j = new_job(k, MWL__STORE_RELEASE, stored);
    if (!j) return false;
    memcpy(j->owner, claim, sizeof j->owner);
    start_job(k, j);
    return true;
}

static void drop_looked(kept *k) {
    if (k->looked && k->looked->result == MWL__STORE_MISS) end_claim(k, k->looked->owner);
    mwl__store_free(k->looked);
    k->looked = NULL;
}

static void looked(mwl__store_job *j) {
    kept *k = j->ctx;
    k->jobs--;
    k->looking = false;
    k->looked = j;
    if (k->maker == j->number) {
        if (k->waiter) mwl_waiter_wake(k->waiter);
        return;
    }
    drop_looked(k); /* the maker was interrupted */
    if (!k->maker) wake_first(k);
    free_unused(cache_of(k->io), k);
}

static void refuse_store(mwl_phase *phase, const mwl__store_job *j) {
    mwl_heap *heap = mwl_phase_heap(phase);
    char text[PATH_MAX + 400];
    if (j->error != -EPERM && j->error != -EXDEV) {
        snprintf(text, sizeof text, "%s: %s", j->file, j->message);
        mwl__mw_fail(phase, j->unavailable ? PREFIX ".Unavailable" : PREFIX ".StoreFailed",
                     j->retryable, mwl_absent(), text);
        return;
    }
    snprintf(text, sizeof text, "--allow-sqlite=%s", j->file);
    mwl_value details =
        mwl__io_set(heap, mwl_object(heap, 1), "flag", mwl__io_text(heap, text, strlen(text)));
    snprintf(text, sizeof text, "not allowed; --allow-sqlite=%s would allow it", j->file);
    mwl__mw_fail(phase, PREFIX ".NotPermitted", false, details, text);
}

/* The maker has looked: it runs its inner scope, or has the value, or waits for another process. */
static void use_looked(cache *c, mwl_phase *phase, kept *k) {
    enum { AGAIN_NS = 50000000 };
    mwl__store_job *j = k->looked;
    k->looked = NULL;
    if (j->result == MWL__STORE_MISS) {
        memcpy(k->claim, j->owner, sizeof k->claim);
        mwl_phase_contribute(phase, "hit", mwl_bool(false));
    } else if (j->result == MWL__STORE_BUSY) {
        mwl_phase_wait(phase, AGAIN_NS);
    } else {
        k->maker = 0;
        if (j->result == MWL__STORE_HIT) {
            if (keep_text(c, k, &j->value))
                k->until_ns = mwl__mw_mono(phase) + (j->until_ms - j->now_ms) * 1000000;
            wake_first(k);
            hit(c, phase, k, &j->value);
        } else {
            refuse_store(phase, j);
            wake_first(k);
        }
    }
    mwl__store_free(j);
}

/* The maker of a record with a store looks there first. */
static void look(cache *c, mwl_phase *phase, kept *k) {
    k->waiter = NULL;
    if (k->looked) {
        use_looked(c, phase, k);
        return;
    }
    if (!k->looking) {
        mwl__store_job *j = new_job(k, MWL__STORE_LOOK, looked);
        if (!j) {
            k->maker = 0;
            no_memory(phase);
            return;
        }
        j->number = k->maker;
        k->looking = true;
        start_job(k, j);
    }
    k->waiter = mwl_phase_waiter(phase);
    mwl_phase_wait(phase, MWL_NEVER);
}

/* ---- phases ---------------------------------------------------------------------------------- */

static void cache_entry(mwl_phase *phase, void *user) {
    cache *c = cache_of(user);
    mwl_value state = mwl_phase_state(phase);
    if (mwl__io_has_nul(mwl_get(mwl_phase_arguments(phase), "file"))) {
        mwl__mw_fail(phase, PREFIX ".StoreFailed", false, mwl_absent(),
                     "the name of the file has a NUL");
        return;
    }
    kept *k = !c                                       ? NULL
              : mwl_value_kind(state) == MWL_KIND_NULL ? begin(c, phase, user)
                                                       : kept_of(c, state);
    if (!k) {
        no_memory(phase);
        return;
    }
    int64_t number = number_of(mwl_phase_state(phase));
    if (k->text.data && mwl__mw_mono(phase) >= k->until_ns) forget_value(c, k);
    if (k->text.data) {
        stop_waiting(k, number);
        wake_first(k); /* each one wakes the next */
        hit(c, phase, k, &k->text);
    } else if ((k->maker && k->maker != number) || (k->looking && !k->maker)) {
        if (!wait_for_maker(phase, k, number)) no_memory(phase);
    } else {
        stop_waiting(k, number);
        k->maker = number;
        if (k->file)
            look(c, phase, k);
        else
            mwl_phase_contribute(phase, "hit", mwl_bool(false));
    }
}

/* Keeps the value in the store; what waits here gets it from the record meanwhile. */
static void put_value(kept *k, int64_t ttl_ns, size_t max) {
    mwl__store_job *j = new_job(k, MWL__STORE_PUT, stored);
    if (!j || !mwl__bytes_add(&j->value, k->text.data, k->text.len)) {
        mwl__store_free(j); /* `left` ends the claim */
        return;
    }
    memcpy(j->owner, k->claim, sizeof j->owner);
    j->until_ms = j->now_ms + ttl_ns / 1000000;
    j->most = max;
    k->claim[0] = '\0';
    start_job(k, j);
}

static void cache_success(mwl_phase *phase, void *user) {
    cache *c = cache_of(user);
    mwl_value state = mwl_phase_state(phase);
    kept *k = c && mwl_value_kind(state) == MWL_KIND_OBJECT ? kept_of(c, state) : NULL;
    if (!k || k->maker != number_of(state)) return;
    mwl__payer payer = MWL__PAID_BY_PHASE(phase);
    mwl__bytes text = {.payer = &payer};
    forget_value(c, k);
    bool good = mwl_json_write_to(mwl_phase_heap(phase), mwl_phase_result_value(phase),
                                  MWL_JSON_COMPACT, mwl__bytes_sink, &text) == MWL_OK &&
                keep_text(c, k, &text);
    mwl__bytes_free(&text);
    if (!good) return; /* not kept: the next one makes it again */
    int64_t ttl = mwl_as_int(mwl_get(state, "ttl")), max = mwl_as_int(mwl_get(state, "max"));
    k->until_ns = mwl__mw_mono(phase) + ttl;
    if (k->file) {
        put_value(k, ttl, (size_t)max);
        return;
    }
    link_use(c, k);
    c->n++;
    while (c->n > (size_t)max) {
        kept *old = c->oldest;
        forget_value(c, old);
        free_unused(c, old);
    }
}

static void cache_left(mwl_value state, void *user) {
    cache *c = cache_of(user);
    kept *k = c ? kept_of(c, state) : NULL;
    if (!k) return;
    int64_t number = number_of(state);
    stop_waiting(k, number);
    if (k->maker == number) {
        k->maker = k->claim[0] && end_claim(k, k->claim) ? ENDING : 0;
        k->claim[0] = '\0';
        k->waiter = NULL;
        drop_looked(k);
    }
    if (!k->maker) wake_first(k);
    free_unused(c, k);
}

static void drop_kept(void *record) {
    kept *k = record;
    mwl__bytes_free(&k->text);
    mwl__store_free(k->looked);
    while (k->first) {
        waiting *w = k->first;
        k->first = w->next;
        free(w);
    }
}

static void cache_close(mwl_io *io, void *state) {
    cache *c = state;
    (void)io;
    mwl__keyed_empty(&c->keys, drop_kept);
    free(c);
}

const mwl_middleware mwl__io_mw_cache = {MWL__IO_MW(cache, "cache"), .entry = cache_entry,
                                         .success = cache_success, .left = cache_left};
const mwl__io_life mwl__io_mw_cache_life = {cache_close};
