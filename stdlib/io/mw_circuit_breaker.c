/* mw_circuit_breaker.c: circuit-breaker: a breaker by key for all runs of a VM.
 *
 * The state of an entry is {key, failures, openFor, match, probe}. `left` sees whether a probe
 * ended without an answer: it was cancelled, or its run was aborted. */
#include "stdlib/io/mw.h"

#define PREFIX "Provider.Middleware.CircuitBreaker"

typedef struct breaker {
    mwl__keyed_row row;
    double failures; /* one after the other */
    bool open;
    bool probing; /* a probe is running: half-open */
    int64_t until_ns;
    int64_t used_ns; /* the last entry or Result */
} breaker;

static bool give_up(void *ctx, void *record) {
    (void)ctx;
    const breaker *b = record;
    return !b->probing;
}

static mwl__keyed *breakers(mwl_io *io) {
    return mwl__keyed_of(io, MWL__IO_MW_circuit_breaker, give_up);
}

static breaker *breaker_of(mwl_io *io, mwl_value state) {
    size_t len = 0;
    mwl_value key = mwl_get(state, "key");
    mwl__keyed *t = breakers(io);
    if (!t || mwl_value_kind(key) != MWL_KIND_STRING) return NULL;
    const char *text = mwl_as_text(key, &len);
    return mwl__keyed_find(t, text, len);
}

static mwl_value new_state(mwl_phase *phase, const char *key, size_t len, bool probe) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value args = mwl_phase_arguments(phase), match = mwl_get(args, "match");
    mwl_value v = mwl__io_set(heap, mwl_object(heap, 5), "key", mwl_string(heap, key, len));
    v = mwl__io_set(heap, v, "failures", mwl_number(mwl__io_arg_number(args, "failures", 5)));
    v = mwl__io_set(heap, v, "openFor",
                    mwl_int(mwl__io_arg_duration(args, "openFor", 30000000000)));
    if (!mwl_is_absent(match)) v = mwl__io_set(heap, v, "match", mwl_value_keep(match));
    return mwl__io_set(heap, v, "probe", mwl_bool(probe));
}

static void show(mwl_phase *phase, const char *name) {
    mwl_phase_contribute(phase, "state", mwl_string(mwl_phase_heap(phase), name, strlen(name)));
}

/* One that has seen no failure is a new one. One that nothing has used for an hour is forgotten. */
static bool is_idle(const void *record, int64_t now_ns) {
    const int64_t hour = 3600000000000;
    const breaker *b = record;
    if (b->probing || (b->open && now_ns - b->until_ns < hour)) return false;
    return (!b->open && b->failures == 0) || now_ns - b->used_ns >= hour;
}

static void breaker_entry(mwl_phase *phase, void *user) {
    size_t len;
    const char *key = mwl__mw_key(mwl_phase_arguments(phase), &len);
    mwl__keyed *t = breakers(user);
    int64_t now = mwl__mw_mono(phase);
    if (t) mwl__keyed_sweep(t, is_idle, now);
    breaker *b = t ? mwl__keyed_get(t, key, len, sizeof *b) : NULL;
    if (!b) {
        mwl__mw_refuse(phase, PREFIX ".OutOfMemory", true, -1, "out of memory");
        return;
    }
    b->used_ns = now;
    bool half = b->open && (b->probing || now >= b->until_ns);
    show(phase, half ? "half-open" : b->open ? "open" : "closed");
    if (b->open && (b->probing || now < b->until_ns)) {
        mwl__mw_refuse(phase, PREFIX ".Open", true, b->until_ns > now ? b->until_ns - now : 0,
                       b->probing ? "a probe is running" : "there were too many failures");
        return;
    }
    if (mwl_phase_set_state(phase, new_state(phase, key, len, b->open)) != MWL_OK) return;
    if (b->open) b->probing = true;
}

static bool is_probe(mwl_value state) { return mwl_as_bool(mwl_get(state, "probe")); }

/* The entry has reported: `left` has nothing to do. */
static void reported(mwl_phase *phase) { mwl_phase_set_state(phase, mwl_null()); }

static void breaker_success(mwl_phase *phase, void *user) {
    mwl_value state = mwl_phase_state(phase);
    breaker *b = breaker_of(user, state);
    if (!b) return;
    if (!b->open || is_probe(state)) { /* what began before it opened does not close it */
        b->failures = 0;
        b->open = b->probing = false;
    }
    reported(phase);
}

static void breaker_failure(mwl_phase *phase, void *user) {
    mwl_value state = mwl_phase_state(phase), match = mwl_get(state, "match");
    breaker *b = breaker_of(user, state);
    if (!b) return;
    bool probe = is_probe(state);
    b->used_ns = mwl__mw_mono(phase);
    const mwl_status matched = mwl_is_absent(match) ? MWL_OK : mwl_phase_match(phase, match);
    if (matched < 0 && matched != MWL_E_NOT_FOUND) return; /* the run, or the scope, ends */
    if (matched != MWL_OK) {
        if (probe) b->probing = false; /* it says nothing: another probe may run */
    } else if (probe || (!b->open && ++b->failures >= mwl__io_arg_number(state, "failures", 5))) {
        b->open = true;
        b->probing = false;
        b->until_ns = mwl__mw_mono(phase) + mwl_as_int(mwl_get(state, "openFor"));
    }
    reported(phase);
}

static void breaker_left(mwl_value state, void *user) {
    breaker *b = breaker_of(user, state);
    if (b && is_probe(state)) b->probing = false;
}

static void breaker_close(mwl_io *io, void *state) {
    (void)io;
    mwl__keyed_empty(state, NULL);
    free(state);
}

const mwl_middleware mwl__io_mw_circuit_breaker = {
    MWL__IO_MW(circuit_breaker, "circuit-breaker"), .entry = breaker_entry,
    .success = breaker_success, .failure = breaker_failure, .left = breaker_left};
const mwl__io_life mwl__io_mw_circuit_breaker_life = {breaker_close};
