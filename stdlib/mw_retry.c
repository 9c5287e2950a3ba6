/* mw_retry.c: Retry: runs its inner scope again on the failures that its policies match.
 *
 * Owns: which policy takes a failure, its budget, the gap's length. Refuses to know: how a scope is re-run
 * and variables are restored (the machine), and what a matcher says (mwl_failure_matches).
 *
 * The entry's state is one array, made at onEntry, so that an attempt parses nothing:
 *
 *   [0]                  the policies as written; their matchers are read there
 *   [1 + i * WIDTH + f]  field f of policy i, a number (the enum below)
 *
 * Every run but the first was a policy's doing, so a lone policy's count of matched failures is the number
 * of runs, and without decorrelated jitter its state never changes: such an attempt allocates nothing. */
#include "std_impl.h"

#include "backoff.h"

#include <math.h>
#include <stdio.h>

/* The fields of a policy in the state. */
enum { ATTEMPTS, INITIAL, RATE, MAX, JITTER, COUNT, LAST, WIDTH };
/* INITIAL < 0: no backoff; MAX < 0: no cap; LAST < 0: no wait yet. Numbers stay finite: they are JSON. */

static double field(mwl_value state, size_t policy, size_t f) {
    return mwl_as_number(mwl_array_at(state, 1 + policy * WIDTH + f));
}

static mwl_value member(mwl_value object, const char *name) {
    return mwl_object_get(object, name, strlen(name));
}

/* ---- onEntry: the policies are taken up ----------------------------------------------------------------- */

/* Appends a policy's fields. False when a duration is none; memory shows as an absent state. */
static bool take_policy(mwl_heap *h, mwl_value *state, mwl_value policy) {
    double fields[WIDTH] = {mwl_as_number(member(policy, "attempts")), -1, 1, -1, MWL__JITTER_NONE, 0, -1};
    mwl_value backoff = member(policy, "backoff");
    if (!mwl_is_absent(backoff)) {
        int64_t ns;
        if (!mwl__backoff_duration(member(backoff, "initial"), &ns)) return false;
        fields[INITIAL] = (double)ns;
        mwl_value max = member(backoff, "max"), rate = member(backoff, "rate");
        if (!mwl_is_absent(max)) {
            if (!mwl__backoff_duration(max, &ns)) return false;
            fields[MAX] = (double)ns;
        }
        if (!mwl_is_absent(rate)) fields[RATE] = mwl_as_number(rate);
        fields[JITTER] = mwl__backoff_jitter(member(backoff, "jitter"));
    }
    for (size_t f = 0; f < WIDTH; f++) *state = mwl_array_push(h, *state, mwl_number(fields[f]));
    return true;
}

static void retry_entry(mwl_phase *phase, void *user) {
    (void)user;
    mwl_heap *h = mwl_phase_heap(phase);
    mwl_value policies = member(mwl_phase_arguments(phase), "policies");
    size_t n = mwl_count(policies);
    mwl_value state = mwl_array_push(h, mwl_array(h, 1 + n * WIDTH), mwl_value_keep(policies));
    for (size_t i = 0; i < n; i++) {
        if (take_policy(h, &state, mwl_array_at(policies, i))) continue;
        mwl_value_drop(h, state);
        mwl__std_bad_duration(phase, "backoff");
        return;
    }
    mwl_phase_set_state(phase, state);
}

/* ---- onFailure: one failure is judged ----------------------------------------------------------------------- */

static size_t find_policy(mwl_value policies, mwl_value failure) {
    size_t n = mwl_count(policies), i = 0;
    while (i < n && !mwl_failure_matches(member(mwl_array_at(policies, i), "match"), failure)) i++;
    return i;
}

/* The state with this policy's count and last wait. */
static mwl_value noted(mwl_heap *h, mwl_value state, size_t policy, double count, double last) {
    size_t n = mwl_count(state), at = 1 + policy * WIDTH;
    mwl_value next = mwl_array(h, n);
    for (size_t i = 0; i < n; i++) {
        mwl_value v = mwl_array_at(state, i);
        if (i == at + COUNT) v = mwl_number(count);
        if (i == at + LAST) v = mwl_number(last);
        next = mwl_array_push(h, next, mwl_value_keep(v));
    }
    return next;
}

static int64_t scheduled(mwl_phase *phase, mwl_value state, size_t policy, double count) {
    double max = field(state, policy, MAX);
    mwl__backoff b = {field(state, policy, INITIAL), field(state, policy, RATE),
                      max < 0 ? (double)INFINITY : max, (mwl__jitter)field(state, policy, JITTER)};
    if (b.initial_ns < 0) return 0;
    double random = b.jitter == MWL__JITTER_NONE ? 0 : mwl_phase_random(phase);
    return mwl__backoff_wait(&b, count, field(state, policy, LAST), random);
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
    mwl_heap *h = mwl_phase_heap(phase);
    mwl_value state = mwl_phase_state(phase);
    mwl_value policies = mwl_array_at(state, 0); /* absent where onEntry was gated off: nothing matches */
    size_t n = mwl_count(policies), policy = find_policy(policies, mwl_phase_result_value(phase));
    if (policy == n) return;
    double count = n == 1 ? (double)mwl_phase_runs(phase) : field(state, policy, COUNT) + 1;
    if (count >= field(state, policy, ATTEMPTS)) {
        exhausted(phase, policy);
        return;
    }
    mwl_value override = member(mwl_phase_arguments(phase), "delay");
    bool overridden = mwl_value_kind(override) == MWL_KIND_STRING;
    int64_t wait;
    if (!overridden) {
        wait = scheduled(phase, state, policy, count);
    } else if (!mwl__backoff_duration(override, &wait)) {
        mwl__std_bad_duration(phase, "delay");
        return;
    }
    /* spec: an override leaves the schedule alone, so its wait is not a "last wait" of the policy's */
    bool drifts = field(state, policy, JITTER) == MWL__JITTER_DECORRELATED && !overridden;
    if (n > 1 || drifts) {
        double last = drifts ? (double)wait : field(state, policy, LAST);
        mwl_phase_set_state(phase, noted(h, state, policy, count, last));
    }
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
