/* mw_timeout.c: Timeout: bounds the time that its inner scope may take.
 *
 * Owns: the bound's length and the failure that explains it. Refuses to know: racing, acceptance and
 * interruption, which are the machine's (mwl_phase_arm). The entry's state is the duration as written. */
#include "std_impl.h"

#include "backoff.h"

#include <stdio.h>

static int64_t later(int64_t at_ns, int64_t ns) { return at_ns > INT64_MAX - ns ? INT64_MAX : at_ns + ns; }

static void timeout_entry(mwl_phase *phase, void *user) {
    (void)user;
    mwl_value duration = mwl_object_get(mwl_phase_arguments(phase), "duration", 8);
    int64_t ns;
    if (!mwl__backoff_duration(duration, &ns)) {
        mwl__std_bad_duration(phase, "duration");
        return;
    }
    mwl_instant now;
    mwl_phase_now(phase, &now);
    mwl_phase_contribute(phase, "deadline",
                         mwl_timestamp_text(mwl_phase_heap(phase), later(now.wall_ns, ns)));
    mwl_phase_set_state(phase, mwl_value_keep(duration));
    mwl_phase_arm(phase, later(now.mono_ns, ns));
}

static void timeout_elapsed(mwl_phase *phase, void *user) {
    (void)user;
    mwl_heap *h = mwl_phase_heap(phase);
    mwl_value duration = mwl_phase_state(phase);
    size_t len;
    const char *text = mwl_as_text(duration, &len);
    char message[80];
    snprintf(message, sizeof message, "not finished within %.*s", len < 40 ? (int)len : 40, text);
    mwl_value details = mwl_object_set(h, mwl_object(h, 1), "duration", 8, mwl_value_keep(duration));
    mwl_phase_interrupt(phase, mwl_failure(h, "timeout", "Provider.Middleware.Timeout.Exceeded", message,
                                           details, mwl_absent()));
}

const mwl_middleware mwl__std_timeout = {
    .uri = "mwl:provider.middleware/mwl/timeout/v1",
    .document = mwl_std_doc_timeout,
    .entry = timeout_entry,
    .elapsed = timeout_elapsed,
};
