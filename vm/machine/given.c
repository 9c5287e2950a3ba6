/* given.c: see given.h.
 *
 * Owns: Mwlvm.ResultRefused. Refuses to know: the rules themselves (boundary.c, failure.c). */
#include "vm/machine/given.h"

#include "vm/cel/ops.h"

#include <stdio.h>

mwl_value mwl__given_refused(mwl_heap *h, const char *reason) {
    return mwl_failure(h, NULL, "Mwlvm.ResultRefused", reason, mwl_absent(), mwl_absent());
}

mwl_status mwl__given_data(mwl_heap *h, const char *what, mwl_value v, mwl_value *out, char *text,
                           size_t size) {
    if (!mwl__value_odd(v)) {
        *out = mwl__keep(v);
        return MWL_OK;
    }
    mwl__refusal why;
    mwl_status st = mwl__boundary_convert(h, v, out, &why);
    if (st == MWL_E_NOT_JSON) snprintf(text, size, "%s%s", what, why.text);
    return st;
}

/* A constructor failed. If the host has given it something wrong, that is a reason to refuse. */
static mwl_value absent_value(mwl_heap *h, bool *refused) {
    mwl_status st = h->why;
    if (st != MWL_E_UTF8 && st != MWL_E_DEPTH && st != MWL_E_USAGE) return mwl_absent();
    char text[160];
    *refused = true;
    snprintf(text, sizeof text, "the value could not be made: %s", mwl_status_text(st));
    return mwl__given_refused(h, text);
}

mwl_value mwl__given_check(mwl_heap *h, bool ok, mwl_value take, bool *refused) {
    if (mwl_is_absent(take)) return absent_value(h, refused);
    char text[480];
    const char *reason = ok ? NULL : mwl__failure_error(take);
    mwl_value data = mwl_absent();
    if (!reason && mwl__given_data(h, ok ? "the value" : "the failure", take, &data, text,
                                   sizeof text) == MWL_E_NOT_JSON)
        reason = text;
    mwl__drop(h, take);
    if (!reason) return data;
    *refused = true;
    return mwl__given_refused(h, reason);
}
