/* mw_retry.c: Retry: runs its inner scope again on the failures that its policies match.
 *
 * Owns: which policy takes a failure, its budget, the gap's length. Refuses to know: how a scope is re-run
 * and variables are restored (the machine), and what a matcher says (mwl_failure_matches).
 *
 * The entry's state is the policies as they were written, for as long as nothing has to be remembered of them.
 * Every run but the first was a policy's doing, so a lone policy's count of matched failures is the number of
 * runs, and without decorrelated jitter its state never changes: such an attempt allocates nothing. Otherwise the
 * state is one array from the first matched failure on:
 *
 *   [0]                  the policies
 *   [1 + i * WIDTH + f]  field f of policy i, a number (the enum below) */
#include "std_impl.h"

#include "backoff.h"

#include <math.h>
#include <stdio.h>

/* The fields of a policy in the state. */
enum { COUNT, LAST, WIDTH };
#define NO_WAIT (-1.0) /* LAST: none yet. Numbers stay finite: they are JSON */

static mwl_value member(mwl_value object, const char *name) {
    return mwl_object_get(object, name, strlen(name));
}

/* Has the state become an array with the policies in it? A policy is an object. */
static bool remembers(mwl_value state) {
    return mwl_value_kind(mwl_array_at(state, 0)) == MWL_KIND_ARRAY;
}

static double field(mwl_value state, size_t policy, size_t f) {
    if (!remembers(state)) return f == LAST ? NO_WAIT : 0;
    return mwl_as_number(mwl_array_at(state, 1 + policy * WIDTH + f));
}

/* A policy's schedule; initial_ns < 0: it has none. False when one of its durations is none. */
static bool read_backoff(mwl_value policy, mwl__backoff *out) {
    *out = (mwl__backoff){-1, 1, (double)INFINITY, MWL__JITTER_NONE};
    mwl_value backoff = member(policy, "backoff");
    if (mwl_is_absent(backoff)) return true;
    mwl_value max = member(backoff, "max"), rate = member(backoff, "rate");
    int64_t ns;
    if (!mwl__backoff_duration(member(backoff, "initial"), &ns)) return false;
    out->initial_ns = (double)ns;
    if (!mwl_is_absent(max)) {
        if (!mwl__backoff_duration(max, &ns)) return false;
        out->max_ns = (double)ns;
    }
    if (!mwl_is_absent(rate)) out->rate = mwl_as_number(rate);
    out->jitter = mwl__backoff_jitter(member(backoff, "jitter"));
    return true;
}

/* ---- onEntry: the policies are taken up ----------------------------------------------------------------- */

static void retry_entry(mwl_phase *phase, void *user) {
    (void)user;
    mwl_value policies = member(mwl_phase_arguments(phase), "policies");
    size_t n = mwl_count(policies);
    for (size_t i = 0; i < n; i++) {
        mwl__backoff unused;
        if (read_backoff(mwl_array_at(policies, i), &unused)) continue;
        mwl__std_bad_duration(phase, "backoff");
        return;
    }
    mwl_phase_set_state(phase, mwl_value_keep(policies));
}

/* ---- onFailure: one failure is judged ----------------------------------------------------------------------- */

static size_t find_policy(mwl_value policies, mwl_value failure) {
    size_t n = mwl_count(policies), i = 0;
    while (i < n && !mwl_failure_matches(member(mwl_array_at(policies, i), "match"), failure)) i++;
    return i;
}

/* The state with this policy's count and last wait. */
static mwl_value noted(mwl_heap *h, mwl_value state, mwl_value policies, size_t policy, double count, double last) {
    size_t n = mwl_count(policies);
    mwl_value next = mwl_array_push(h, mwl_array(h, 1 + n * WIDTH), mwl_value_keep(policies));
    for (size_t i = 0; i < n; i++) {
        next = mwl_array_push(h, next, mwl_number(i == policy ? count : field(state, i, COUNT)));
        next = mwl_array_push(h, next, mwl_number(i == policy ? last : field(state, i, LAST)));
    }
    return next;
}

static void exhausted(mwl_phase *phase, size_t policy) {
    mwl_heap *h = mwl_phase_heap(phase);
    uint64_t runs = mwl_phase_runs(phase);
    char message[64];
    snprintf(message, sizeof message, "gave up after %llu attempt%s", (unsigned long long)runs,
             runs == 1 ? "" : "s");
    mwl_value details = mwl_object(h, 2);
    details = mwl_object_set(h, details, "attempts", 8, mwl_number((double)runs));
    details = mwl_object_set(h, details, "policy", 6, mwl_number((double)policy));
    /* the machine chains the failure that rose as `previous` */
    mwl_phase_substitute(phase, false,
                         mwl_failure(h, NULL, "Provider.Middleware.Retry.Exhausted", message, details,
                                     mwl_absent()));
}

static void retry_failure(mwl_phase *phase, void *user) {
    (void)user;
    mwl_value state = mwl_phase_state(phase); /* null where onEntry was gated off: nothing matches */
    mwl_value policies = remembers(state) ? mwl_array_at(state, 0) : state;
    size_t n = mwl_count(policies), at = find_policy(policies, mwl_phase_result_value(phase));
    if (at == n) return;
    mwl_value policy = mwl_array_at(policies, at);
    double count = n == 1 ? (double)mwl_phase_runs(phase) : field(state, at, COUNT) + 1;
    if (count >= mwl_as_number(member(policy, "attempts"))) {
        exhausted(phase, at);
        return;
    }
    mwl__backoff b;
    mwl_value override = member(mwl_phase_arguments(phase), "delay");
    bool overridden = mwl_value_kind(override) == MWL_KIND_STRING;
    int64_t wait = 0;
    (void)read_backoff(policy, &b); /* onEntry has read it */
    if (overridden && !mwl__backoff_duration(override, &wait)) {
        mwl__std_bad_duration(phase, "delay");
        return;
    }
    double last = field(state, at, LAST);
    if (!overridden && b.initial_ns >= 0)
        wait = mwl__backoff_wait(&b, count, last, b.jitter == MWL__JITTER_NONE ? 0 : mwl_phase_random(phase));
    /* spec: an override leaves the schedule alone, so its wait is not a "last wait" of the policy's */
    bool drifts = b.jitter == MWL__JITTER_DECORRELATED && !overridden;
    if (n > 1 || drifts)
        mwl_phase_set_state(phase, noted(mwl_phase_heap(phase), state, policies, at, count, drifts ? (double)wait : last));
    mwl_phase_reenter(phase, MWL_REENTER_RESTORE, wait);
}

const mwl_middleware mwl__std_retry = {
    .uri = "mwl:provider.middleware/mwl/retry/v1",
    .document = mwl_std_doc_retry,
    .flags = MWL_MW_RESTORES,
    .run_count = "attempt",
    .entry = retry_entry,
    .failure = retry_failure,
};
