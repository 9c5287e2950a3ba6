/* mw_cache.c: cache: successes by key in memory, each made by one inner scope at a time.
 *
 * A record has the value, who makes it, and who waits for it. The state of an entry is
 * {key, number, ttl, max}; number is that of the maker or of the waiter, so that `left` knows which
 * one has gone. Values are kept as JSON text: they belong to no run. */
#include "codec.h"
#include "mw.h"

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
} kept;

typedef struct cache {
    mwl__keyed keys;
    kept *oldest, *newest;
    size_t n; /* with a value */
    int64_t numbers;
} cache;

static cache *cache_of(mwl_io *io) {
    cache *c = mwl__io_state(io, MWL__IO_MW_cache);
    if (!c) mwl__io_set_state(io, MWL__IO_MW_cache, c = calloc(1, sizeof *c));
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
    unlink_use(c, k);
    mwl__bytes_free(&k->text);
    c->n--;
}

static void free_unused(cache *c, kept *k) {
    if (!k->text.data && !k->maker && !k->first) mwl__keyed_remove(&c->keys, k);
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

/* ---- phases ---------------------------------------------------------------------------------- */

static int64_t number_of(mwl_value state) { return mwl_as_int(mwl__io_arg(state, "number")); }

static kept *kept_of(const cache *c, mwl_value state) {
    size_t len = 0;
    mwl_value key = mwl__io_arg(state, "key");
    if (mwl_value_kind(key) != MWL_KIND_STRING) return NULL;
    const char *text = mwl_as_text(key, &len);
    return mwl__keyed_find(&c->keys, text, len);
}

/* Finds the record of the key in the arguments, and gives the entry its number. */
static kept *begin(cache *c, mwl_phase *phase) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value args = mwl_phase_arguments(phase);
    mwl__bytes key = {NULL, 0, 0};
    kept *k = NULL;
    if (mwl_json_write_to(heap, mwl__io_arg(args, "key"), MWL_JSON_CANONICAL, mwl__bytes_sink,
                          &key) == MWL_OK)
        k = mwl__keyed_get(&c->keys, key.data, key.len, sizeof *k);
    if (k && !k->last) k->last = &k->first;
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

static void hit(cache *c, mwl_phase *phase, kept *k) {
    mwl_value v = mwl_absent();
    if (mwl_json_parse(mwl_phase_heap(phase), k->text.data, k->text.len, &v, NULL) != MWL_OK) {
        mwl__mw_refuse(phase, PREFIX ".OutOfMemory", true, -1, "out of memory");
        return;
    }
    unlink_use(c, k);
    link_use(c, k);
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

static void cache_entry(mwl_phase *phase, void *user) {
    cache *c = cache_of(user);
    mwl_value state = mwl_phase_state(phase);
    kept *k = !c                                       ? NULL
              : mwl_value_kind(state) == MWL_KIND_NULL ? begin(c, phase)
                                                       : kept_of(c, state);
    if (!k) {
        mwl__mw_refuse(phase, PREFIX ".OutOfMemory", true, -1, "out of memory");
        return;
    }
    int64_t number = number_of(mwl_phase_state(phase));
    if (k->text.data && mwl__mw_mono(phase) >= k->until_ns) forget_value(c, k);
    if (k->text.data) {
        stop_waiting(k, number);
        wake_first(k); /* each one wakes the next */
        hit(c, phase, k);
    } else if (k->maker) {
        if (!wait_for_maker(phase, k, number))
            mwl__mw_refuse(phase, PREFIX ".OutOfMemory", true, -1, "out of memory");
    } else {
        stop_waiting(k, number);
        k->maker = number;
        mwl_phase_contribute(phase, "hit", mwl_bool(false));
    }
}

static void cache_success(mwl_phase *phase, void *user) {
    cache *c = cache_of(user);
    mwl_value state = mwl_phase_state(phase);
    kept *k = c && mwl_value_kind(state) == MWL_KIND_OBJECT ? kept_of(c, state) : NULL;
    if (!k || k->maker != number_of(state)) return;
    mwl__bytes text = {NULL, 0, 0};
    if (mwl_json_write_to(mwl_phase_heap(phase), mwl_phase_result_value(phase), MWL_JSON_COMPACT,
                          mwl__bytes_sink, &text) != MWL_OK) {
        mwl__bytes_free(&text); /* not kept: the next one makes it again */
        return;
    }
    forget_value(c, k);
    k->text = text;
    k->until_ns = mwl__mw_mono(phase) + mwl_as_int(mwl__io_arg(state, "ttl"));
    link_use(c, k);
    c->n++;
    while (c->n > (size_t)mwl_as_int(mwl__io_arg(state, "max"))) {
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
    if (k->maker == number) k->maker = 0;
    if (!k->maker) wake_first(k);
    free_unused(c, k);
}

static void drop_kept(void *record) {
    kept *k = record;
    mwl__bytes_free(&k->text);
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
