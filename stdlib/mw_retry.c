/* mw_retry.c: Retry: runs its inner scope again on the failures that its policies match.
 *
 * Owns: which policy matches a failure, its budget, the length of the wait. Refuses to know: how a
 * scope is run again and variables are restored (the machine), and how a matcher works
 * (mwl_phase_match).
 *
 * The state of the entry is the policies as they were written, as long as nothing else must be
 * stored. Every run after the first was caused by a policy. So if there is one policy, the number
 * of runs is its count of matched failures, and without decorrelated jitter the state never
 * changes: such an attempt allocates nothing. Otherwise, from the first matched failure on, the
 * state is an array:
 *
 *   [0]                  the policies
 *   [1]                  null
 *   [2 + i * WIDTH + f]  field f of the i-th policy that has matched, a number (the enum below)
 *
 * Runs saved by earlier versions have the fields of all policies, COUNT and LAST, from [1] on. */
#include "stdlib/std_impl.h"

#include "stdlib/backoff.h"
#include "stdlib/documents.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The fields of a policy in the state. */
enum { NUMBER, COUNT, LAST, WIDTH };
enum { FIRST = 2, OLD_FIRST = 1, OLD_WIDTH = 2 };
#define NO_WAIT (-1.0) /* LAST: no wait yet. Numbers must be finite, because they are JSON */

/* Returns whether the state is the array described above. (A policy itself is an object.) */
static bool remembers(mwl_value state) {
    return mwl_value_kind(mwl_array_at(state, 0)) == MWL_KIND_ARRAY;
}

static bool is_old(mwl_value state) {
    return mwl_value_kind(mwl_array_at(state, 1)) == MWL_KIND_NUMBER;
}

static double number_at(mwl_value state, size_t i) { return mwl_as_number(mwl_array_at(state, i)); }

/* Returns field COUNT or LAST of a policy. */
MWL__RARE static double field(mwl_value state, size_t policy, size_t f) {
    const double nothing = f == LAST ? NO_WAIT : 0;
    if (!remembers(state)) return nothing;
    const size_t n = mwl_count(state);
    if (is_old(state)) {
        const size_t i = OLD_FIRST + policy * OLD_WIDTH + (f - COUNT);
        return i < n ? number_at(state, i) : nothing;
    }
    for (size_t i = FIRST; i + WIDTH <= n; i += WIDTH)
        if (number_at(state, i + NUMBER) == (double)policy) return number_at(state, i + f);
    return nothing;
}

/* ---- the policies, taken up ------------------------------------------------------------------ */

typedef struct policy {
    mwl_value match; /* lent: as written, or in a plan what mwl_matcher_prepare made of that */
    double attempts;
    mwl__backoff backoff; /* initial_ns < 0: no backoff */
} policy;

/* What `prepare` makes from constant arguments, as a bytes value: the first of an array, before the
 * matchers that it points to. It points into the arguments too. If there are more policies than
 * this, they are read again at each use, like computed ones. */
#define PREPARED 8u
typedef struct plan {
    mwl_value policies;
    size_t n;
    policy policy[PREPARED];
} plan;

/* Returns false if one of its durations is not valid. */
static bool read_policy(mwl_value from, policy *out) {
    out->match = mwl_get(from, "match");
    out->attempts = mwl_as_number(mwl_get(from, "attempts"));
    out->backoff = (mwl__backoff){-1, 1, (double)INFINITY, MWL__JITTER_NONE};
    mwl_value backoff = mwl_get(from, "backoff");
    return mwl_is_absent(backoff) || mwl__backoff_read(backoff, &out->backoff);
}

static mwl_value retry_prepare(mwl_heap *heap, mwl_value arguments, void *user) {
    (void)user;
    plan p;
    memset(&p, 0, sizeof p);
    p.policies = mwl_get(arguments, "policies");
    p.n = mwl_count(p.policies);
    if (p.n > PREPARED) return mwl_absent();
    for (size_t i = 0; i < p.n; i++)
        if (!read_policy(mwl_array_at(p.policies, i), &p.policy[i]) ||
            !mwl_is_absent(mwl_matcher_wrong(p.policy[i].match)))
            return mwl_absent(); /* the phase will fail: are_valid */
    mwl_value matchers = mwl_array(heap, p.n);
    for (size_t i = 0; i < p.n; i++) {
        matchers = mwl_array_push(heap, matchers, mwl_matcher_prepare(heap, p.policy[i].match));
        p.policy[i].match = mwl_array_at(matchers, i);
    }
    mwl_value both = mwl_array_push(heap, mwl_array(heap, 2), mwl_bytes(heap, &p, sizeof p));
    return mwl_array_push(heap, both, matchers);
}

static const plan *plan_of(const mwl_phase *phase) {
    return (const plan *)(const void *)mwl_as_text(mwl_array_at(mwl_phase_prepared(phase), 0),
                                                   NULL);
}

/* spec: flow-object, System.ParameterValidationFailed: a literal and an expression's result fail
 * alike. So a pattern that was computed is judged as the assembler judges a written one. */
MWL__RARE static void bad_pattern(mwl_phase *phase, mwl_value pattern) {
    static const char where[] =
        "/properties/policies/items/properties/match/properties/codes/items";
    mwl_heap *h = mwl_phase_heap(phase);
    const char *text = mwl_as_text(pattern, NULL);
    char message[160];
    snprintf(message, sizeof message,
             "'%.60s' is not a code pattern: a code, a prefix with '.*' after it, or '*'",
             text ? text : "");
    mwl_value details = mwl_object(h, 2);
    details =
        mwl_object_set(h, details, "keywordLocation", 15, mwl_string(h, where, sizeof where - 1));
    details = mwl_object_set(h, details, "value", 5, mwl_value_keep(pattern));
    mwl_phase_fail(phase, NULL, "System.ParameterValidationFailed", message, details);
}

/* What reading a policy costs, in units of fuel. */
enum { POLICY_WORK = 8 };

/* Are the durations and the patterns of policies that were computed valid? If not, the phase
 * fails. */
MWL__RARE static bool are_valid(mwl_phase *phase, mwl_value policies) {
    for (size_t i = 0, n = mwl_count(policies); i < n; i++) {
        policy p;
        mwl_value wrong, match = mwl_get(mwl_array_at(policies, i), "match");
        if (mwl_phase_charge(phase, POLICY_WORK + mwl_count(mwl_get(match, "codes"))) < 0)
            return false;
        if (!read_policy(mwl_array_at(policies, i), &p))
            mwl__std_bad_duration(phase, "backoff");
        else if (!mwl_is_absent(wrong = mwl_matcher_wrong(p.match)))
            bad_pattern(phase, wrong);
        else
            continue;
        return false;
    }
    return true;
}

static void retry_entry(mwl_phase *phase, void *user) {
    (void)user;
    const plan *prepared = plan_of(phase);
    mwl_value policies =
        prepared ? prepared->policies : mwl_get(mwl_phase_arguments(phase), "policies");
    if (prepared || are_valid(phase, policies))
        mwl_phase_set_state(phase, mwl_value_keep(policies));
}

/* ---- onFailure: one failure is judged -------------------------------------------------------- */

/* Returns the first policy that matches the failure. NULL: none does, or the fuel is used up. */
static const policy *find_prepared(mwl_phase *phase, const plan *prepared) {
    mwl_status st = MWL_E_NOT_FOUND;
    for (const policy *p = prepared->policy, *end = p + prepared->n; p != end; p++) {
        st = mwl_phase_match(phase, p->match);
        if (st != MWL_E_NOT_FOUND) return st == MWL_OK ? p : NULL;
    }
    return NULL;
}

/* The policies of an entry whose arguments were computed. */
static mwl_value policies_of(mwl_value state) {
    return remembers(state) ? mwl_array_at(state, 0) : state;
}

/* The same of those. Its number is *at, its content *room. */
MWL__RARE static const policy *find_written(mwl_phase *phase, mwl_value policies, policy *room,
                                            size_t *at) {
    size_t n = mwl_count(policies);
    for (size_t i = 0; i < n; i++) {
        *at = i;
        if (mwl_phase_charge(phase, POLICY_WORK) < 0) return NULL;
        if (!read_policy(mwl_array_at(policies, i), room)) continue;
        const mwl_status st = mwl_phase_match(phase, room->match);
        if (st != MWL_E_NOT_FOUND) return st == MWL_OK ? room : NULL;
    }
    return NULL;
}

static mwl_value with_policy(mwl_heap *h, mwl_value take_state, double number, double count,
                             double last) {
    mwl_value next = mwl_array_push(h, take_state, mwl_number(number));
    return mwl_array_push(h, mwl_array_push(h, next, mwl_number(count)), mwl_number(last));
}

/* Returns the state with the new count and last wait of this policy. */
static mwl_value state_with(mwl_heap *h, mwl_value state, mwl_value policies, size_t at,
                            double count, double last) {
    const bool any = remembers(state), old = any && is_old(state);
    const size_t n = any ? mwl_count(state) : 0, first = old ? (size_t)OLD_FIRST : FIRST,
                 width = old ? (size_t)OLD_WIDTH : WIDTH;
    mwl_value next = mwl_array_push(h, mwl_array(h, FIRST + WIDTH), mwl_value_keep(policies));
    next = with_policy(h, mwl_array_push(h, next, mwl_null()), (double)at, count, last);
    for (size_t i = first; i + width <= n; i += width) {
        const double number = old ? (double)((i - first) / width) : number_at(state, i + NUMBER);
        const double matched = number_at(state, i + width - 2);
        if (number != (double)at && matched > 0)
            next = with_policy(h, next, number, matched, number_at(state, i + width - 1));
    }
    return next;
}

/* spec: middleware-providers, Retry: a used-up budget ends in Exhausted, over the last failure. */
MWL__RARE static void exhausted(mwl_phase *phase, size_t at) {
    mwl_heap *h = mwl_phase_heap(phase);
    uint64_t runs = mwl_phase_runs(phase);
    char message[64];
    snprintf(message, sizeof message, "gave up after %llu attempt%s", (unsigned long long)runs,
             runs == 1 ? "" : "s");
    mwl_value details = mwl_object(h, 2);
    details = mwl_object_set(h, details, "attempts", 8, mwl_number((double)runs));
    details = mwl_object_set(h, details, "policy", 6, mwl_number((double)at));
    /* the machine links the failure that rose as `previous` */
    mwl_phase_substitute(phase, false,
                         mwl_failure(h, NULL, "Provider.Middleware.Retry.Exhausted", message,
                                     details, mwl_absent()));
}

MWL__RARE static int64_t wait_of(mwl_phase *phase, const policy *p, double count, double last) {
    bool none = p->backoff.jitter == MWL__JITTER_NONE;
    return mwl__backoff_wait(&p->backoff, count, last, none ? 0 : mwl_phase_random(phase));
}

/* Finds the wait that the arguments of the phase ask for in place of the policy's. Returns false,
 * and the phase fails, if it is not a duration. */
MWL__RARE static bool read_override(mwl_phase *phase, mwl_value arguments, bool *overridden,
                                    int64_t *wait) {
    mwl_value written = mwl_get(arguments, "delay");
    *overridden = mwl_value_kind(written) == MWL_KIND_STRING;
    if (!*overridden || mwl__backoff_duration(written, wait)) return true;
    mwl__std_bad_duration(phase, "delay");
    return false;
}

/* Stores the count and the last wait of this policy. */
MWL__RARE static void note(mwl_phase *phase, size_t at, double count, double last) {
    const plan *prepared = plan_of(phase);
    mwl_value state = mwl_phase_state(phase),
              policies = prepared ? prepared->policies : policies_of(state);
    if (remembers(state) && mwl_phase_charge(phase, mwl_count(state)) < 0) return;
    mwl_phase_set_state(phase, state_with(mwl_phase_heap(phase), state, policies, at, count, last));
}

/* Finds the wait before the next run and stores what later waits depend on. Returns false if the
 * phase has failed. */
MWL__RARE static bool schedule(mwl_phase *phase, const policy *p, size_t n, size_t at, double count,
                               int64_t *wait) {
    const mwl_value state = mwl_phase_state(phase), arguments = mwl_phase_arguments(phase);
    bool overridden = false;
    if (mwl_count(arguments) && !read_override(phase, arguments, &overridden, wait)) return false;
    const bool decorrelated = p->backoff.jitter == MWL__JITTER_DECORRELATED;
    const bool keeps = n > 1 || decorrelated;
    double last = keeps ? field(state, at, LAST) : NO_WAIT;
    if (!overridden && p->backoff.initial_ns >= 0) *wait = wait_of(phase, p, count, last);
    /* spec: an override does not change the schedule, so its wait is not a "last wait" of the
     * policy */
    if (decorrelated && !overridden) last = (double)*wait;
    if (keeps && (n > 1 || !overridden)) note(phase, at, count, last);
    return true;
}

/* The failure matches policy number `at` of n. */
static inline void judge(mwl_phase *phase, const policy *p, size_t n, size_t at) {
    double count =
        n == 1 ? (double)mwl_phase_runs(phase) : field(mwl_phase_state(phase), at, COUNT) + 1;
    int64_t wait = 0;
    if (count >= p->attempts) {
        exhausted(phase, at);
        return;
    }
    const bool at_once =
        n == 1 && p->backoff.initial_ns < 0 && mwl_count(mwl_phase_arguments(phase)) == 0;
    if (at_once || schedule(phase, p, n, at, count, &wait))
        mwl_phase_reenter(phase, MWL_REENTER_RESTORE, wait);
}

/* The state of a loaded run is data from outside; prepared policies are the program's. */
MWL__RARE static void judge_written(mwl_phase *phase) {
    const mwl_value policies = policies_of(mwl_phase_state(phase));
    policy room;
    size_t at = 0;
    const policy *p = find_written(phase, policies, &room, &at);
    if (p) judge(phase, p, mwl_count(policies), at);
}

static void retry_failure(mwl_phase *phase, void *user) {
    (void)user;
    if (mwl_value_kind(mwl_phase_state(phase)) == MWL_KIND_NULL) return; /* `when` was false */
    const plan *prepared = plan_of(phase);
    if (!prepared) {
        judge_written(phase);
        return;
    }
    const policy *p = find_prepared(phase, prepared);
    if (p) judge(phase, p, prepared->n, (size_t)(p - prepared->policy));
}

const mwl_middleware mwl__std_retry = {
    .uri = MWL__STD_RETRY,
    .document = mwl__std_doc_retry,
    .flags = MWL_MW_RESTORES,
    .run_count = "attempt",
    .prepare = retry_prepare,
    .entry = retry_entry,
    .failure = retry_failure,
};
