/* mw_rate_limit.c: rate-limit: a token bucket by key for all runs of a VM.
 *
 * A bucket is one instant: when it would be full again. An entry moves it on by the interval of one
 * token, and begins when that is not further than a burst away. So each entry knows its turn when
 * it comes. The state of a waiting entry is {key, interval}, for `left`. */
#include "stdlib/io/mw.h"

#define PREFIX "Provider.Middleware.RateLimit"

typedef struct bucket {
    mwl__keyed_row row;
    bool used;
    int64_t full_ns;
} bucket;

static bool give_up(void *ctx, void *record) {
    (void)ctx;
    (void)record;
    return true;
}

static mwl__keyed *buckets(mwl_io *io) { return mwl__keyed_of(io, MWL__IO_MW_rate_limit, give_up); }

static int64_t interval_of(mwl_value args) {
    double per = (double)mwl__io_arg_duration(args, "per", 1000000000);
    double each = per / mwl__io_arg_number(args, "rate", 1);
    return each > 9e18 ? INT64_MAX / 2 : each < 1 ? 1 : (int64_t)each;
}

static int64_t plus(int64_t a, int64_t b) { return a > INT64_MAX - b ? INT64_MAX : a + b; }

static mwl_value reservation(mwl_heap *heap, const char *key, size_t len, int64_t each) {
    mwl_value v = mwl__io_set(heap, mwl_object(heap, 2), "key", mwl_string(heap, key, len));
    return mwl__io_set(heap, v, "interval", mwl_int(each));
}

/* A full bucket is a new one. */
static bool is_idle(const void *record, int64_t now_ns) {
    const bucket *b = record;
    return b->full_ns <= now_ns;
}

static void rate_limit_entry(mwl_phase *phase, void *user) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value args = mwl_phase_arguments(phase);
    if (mwl_value_kind(mwl_phase_state(phase)) != MWL_KIND_NULL) {
        mwl_phase_set_state(phase, mwl_null()); /* its turn has come: nothing to give back */
        return;
    }
    size_t len;
    const char *key = mwl__mw_key(args, &len);
    mwl__keyed *t = buckets(user);
    if (t) mwl__keyed_sweep(t, is_idle, mwl__mw_mono(phase));
    bucket *b = t ? mwl__keyed_get(t, key, len, sizeof *b) : NULL;
    if (!b) {
        mwl__mw_refuse(phase, PREFIX ".OutOfMemory", true, -1, "out of memory");
        return;
    }
    int64_t now = mwl__mw_mono(phase), each = interval_of(args);
    double burst = mwl__io_arg_number(args, "burst", 1) - 1;
    int64_t spare = burst * (double)each > 9e18 ? INT64_MAX / 2 : (int64_t)(burst * (double)each);
    int64_t full = b->used && b->full_ns > now ? b->full_ns : now;
    int64_t wait = full - spare > now ? full - spare - now : 0;
    int64_t most = mwl__io_arg_duration(args, "maxWait", INT64_MAX);
    if (wait > most) {
        mwl__mw_refuse(phase, PREFIX ".Limited", true, wait, "the rate is used up");
        return;
    }
    if (wait && mwl_phase_set_state(phase, reservation(heap, key, len, each)) != MWL_OK) return;
    b->used = true;
    b->full_ns = plus(full, each);
    if (wait) mwl_phase_wait(phase, wait);
}

/* An entry that waited was interrupted. */
static void rate_limit_left(mwl_value state, void *user) {
    size_t len = 0;
    mwl__keyed *t = buckets(user);
    mwl_value key = mwl_get(state, "key");
    if (!t || mwl_value_kind(key) != MWL_KIND_STRING) return;
    const char *text = mwl_as_text(key, &len);
    bucket *b = mwl__keyed_find(t, text, len);
    if (b && b->used) b->full_ns -= mwl_as_int(mwl_get(state, "interval"));
}

static void rate_limit_close(mwl_io *io, void *state) {
    (void)io;
    mwl__keyed_empty(state, NULL);
    free(state);
}

const mwl_middleware mwl__io_mw_rate_limit = {MWL__IO_MW(rate_limit, "rate-limit"),
                                              .entry = rate_limit_entry, .left = rate_limit_left};
const mwl__io_life mwl__io_mw_rate_limit_life = {rate_limit_close};
