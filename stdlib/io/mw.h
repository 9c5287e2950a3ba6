/* mw.h: what the middleware of this library shares. */
#ifndef MWL_IO_MW_H
#define MWL_IO_MW_H

#include "stdlib/io/keyed.h"

#include <stdio.h>

/* The argument `key` of onEntry, a text; "" if it is not there. */
static inline const char *mwl__mw_key(mwl_value args, size_t *len) {
    mwl_value v = mwl_get(args, "key");
    *len = 0;
    return mwl_value_kind(v) == MWL_KIND_STRING ? mwl_as_text(v, len) : "";
}

static inline int64_t mwl__mw_mono(mwl_phase *phase) {
    mwl_instant now;
    mwl_phase_now(phase, &now);
    return now.mono_ns;
}

/* Emits a failure at onEntry, with `retryable`. details may be absent. */
static inline void mwl__mw_fail(mwl_phase *phase, const char *code, bool retryable,
                                mwl_value take_details, const char *message) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value failure = mwl_failure(heap, NULL, code, message, take_details, mwl_absent());
    mwl_phase_substitute(phase, false,
                         mwl__io_set(heap, failure, "retryable", mwl_bool(retryable)));
}

/* The same, with details.retryAfter if after_ns is not negative.
 */
static inline void mwl__mw_refuse(mwl_phase *phase, const char *code, bool retryable,
                                  int64_t after_ns, const char *message) {
    mwl_heap *heap = mwl_phase_heap(phase);
    mwl_value details = mwl_absent();
    if (after_ns >= 0) {
        char text[40];
        int n = snprintf(text, sizeof text, "PT%lld.%03lldS", (long long)(after_ns / 1000000000),
                         (long long)(after_ns / 1000000 % 1000));
        details =
            mwl__io_set(heap, mwl_object(heap, 1), "retryAfter", mwl_string(heap, text, (size_t)n));
    }
    mwl__mw_fail(phase, code, retryable, details, message);
}

#endif
