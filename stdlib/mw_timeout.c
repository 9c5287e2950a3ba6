/* mw_timeout.c: Timeout: limits the time that its inner scope may take.
 *
 * Owns: the length of the bound and the failure that explains it. Refuses to know: racing,
 * acceptance and interruption, which the machine does (mwl_phase_arm_for). The state of the entry
 * is its arguments, {duration}; they become the details of that failure. */
#include "stdlib/std_impl.h"

#include "stdlib/backoff.h"
#include "stdlib/documents.h"

#include <stdio.h>

enum { DURATION = 40, INSIDE = 300 };

/* spec: middleware-providers, Timeout: the failure Exceeded explains the interruption.
 * inside: what was interrupted, or "". */
static mwl_value exceeded(mwl_heap *h, mwl_value arguments, const char *inside) {
    mwl_value duration = mwl_get(arguments, "duration");
    char message[DURATION + INSIDE + 32];
    size_t len = 0;
    const char *text = mwl_as_text(duration, &len);
    if (len > DURATION) len = DURATION;
    snprintf(message, sizeof message, "not finished within %.*s%s%s", text ? (int)len : 0,
             text ? text : "", *inside ? ": " : "", inside);
    /* The state of a loaded run is data from outside: nothing else of it goes on. */
    mwl_value details = text && mwl_count(arguments) == 1
                            ? mwl_value_keep(arguments)
                            : mwl_object_set(h, mwl_object(h, 1), "duration", 8,
                                             text ? mwl_value_keep(duration) : mwl_null());
    return mwl_failure(h, "timeout", "Provider.Middleware.Timeout.Exceeded", message, details,
                       mwl_absent());
}

/* Of a constant bound: its length, and the failure, which is the same each time. */
static mwl_value timeout_prepare(mwl_heap *heap, mwl_value arguments, void *user) {
    (void)user;
    int64_t ns;
    if (!mwl__backoff_length(mwl_get(arguments, "duration"), &ns)) return mwl_absent();
    mwl_value both = mwl_array_push(heap, mwl_array(heap, 2), mwl_int(ns));
    return mwl_array_push(heap, both, exceeded(heap, arguments, ""));
}

static void begin(mwl_phase *phase, int64_t ns) {
    mwl_phase_set_state(phase, mwl_value_keep(mwl_phase_arguments(phase)));
    mwl_phase_arm_for(phase, ns);
}

/* The same with a bound that was computed. */
MWL__RARE static void begin_computed(mwl_phase *phase) {
    int64_t ns;
    if (mwl__backoff_length(mwl_get(mwl_phase_arguments(phase), "duration"), &ns))
        begin(phase, ns);
    else
        mwl__std_bad_duration(phase, "duration");
}

static void timeout_entry(mwl_phase *phase, void *user) {
    (void)user;
    const mwl_value prepared = mwl_array_at(mwl_phase_prepared(phase), 0);
    if (mwl_is_absent(prepared))
        begin_computed(phase);
    else
        begin(phase, mwl_as_int(prepared));
}

static void timeout_elapsed(mwl_phase *phase, void *user) {
    (void)user;
    char inside[INSIDE];
    mwl_value prepared = mwl_array_at(mwl_phase_prepared(phase), 1);
    const size_t n = mwl_phase_inside(phase, inside, sizeof inside);
    mwl_phase_interrupt(phase, n || mwl_is_absent(prepared)
                                   ? exceeded(mwl_phase_heap(phase), mwl_phase_state(phase), inside)
                                   : mwl_value_keep(prepared));
}

const mwl_middleware mwl__std_timeout = {
    .uri = MWL__STD_TIMEOUT,
    .document = mwl__std_doc_timeout,
    .deadline = "deadline",
    .prepare = timeout_prepare,
    .entry = timeout_entry,
    .elapsed = timeout_elapsed,
};
