/* host_value.c: see host_value.h.
 *
 * Owns: Mwlvm.ResultRefused. Refuses to know: the rules themselves (boundary.c, failure.c,
 * declared.c). */
#include "vm/machine/host_value.h"

#include "vm/cel/ops.h"
#include "vm/machine/declared.h"
#include "vm/value/words.h"

#include <stdio.h>

mwl_value mwl__host_value_refused(mwl_heap *h, const char *reason) {
    return mwl_failure(h, NULL, "Mwlvm.ResultRefused", reason, mwl_absent(), mwl_absent());
}

mwl_status mwl__host_value_convert(mwl_heap *h, const char *what, mwl_value v, mwl_value *out,
                                   char *text, size_t size) {
    mwl__refusal why;
    mwl_status st = mwl__boundary_convert(h, v, out, &why);
    if (st == MWL_E_NOT_JSON && text) snprintf(text, size, "%s%s", what, why.text);
    return st;
}

/* A constructor failed. If the host has given it something wrong, that is a reason to refuse. */
static mwl_value absent_value(mwl_heap *h, bool *refused) {
    if (!mwl__host_value_wrong(h->why)) return mwl_absent();
    char text[160];
    *refused = true;
    if (h->why == MWL_OK)
        snprintf(text, sizeof text, "the value is absent");
    else
        snprintf(text, sizeof text, "the value could not be made: %s", mwl_status_text(h->why));
    return mwl__host_value_refused(h, text);
}

/* spec: providers, the failure catalog: a provider emits only codes that its catalog declares. What
 * it emitted is kept as `previous`, because its message is what helps. */
mwl_value mwl__host_value_code(mwl_heap *h, const mwl__provider *from, const char *code,
                               mwl_value take, bool *refused) {
    if (mwl_is_absent(take)) return absent_value(h, refused);
    if (from->any_code || mwl__declared_has(from->declared, code, strlen(code))) return take;
    char text[480];
    snprintf(text, sizeof text, "the code '%.160s' is not in the failure catalog of %.240s", code,
             from->uri);
    *refused = true;
    return mwl_failure(h, NULL, "Mwlvm.ResultRefused", text, mwl_absent(), take);
}

mwl_value mwl__host_value_check(mwl_heap *h, const mwl__provider *from, bool ok, mwl_value take,
                                bool *refused) {
    if (mwl_is_absent(take)) return absent_value(h, refused);
    char text[480];
    const char *reason = ok ? NULL : mwl__failure_error(take);
    mwl_value data = mwl_absent();
    if (!reason && mwl__host_value_data(h, ok ? "the value" : "the failure", take, &data, text,
                                        sizeof text) == MWL_E_NOT_JSON)
        reason = text;
    mwl__drop(h, take);
    if (reason) {
        *refused = true;
        return mwl__host_value_refused(h, reason);
    }
    if (ok || !from || mwl_is_absent(data)) return data;
    const char *code = mwl_as_text(mwl__word_get(data, MWL_WORD_CODE), NULL);
    return mwl__host_value_code(h, from, code, data, refused);
}

mwl_value mwl__host_value_parts(mwl_heap *h, const mwl__provider *from, const char *type,
                                const char *code, const char *message, mwl_value take_details,
                                bool *refused) {
    char text[480];
    const char *reason = NULL;
    mwl_value data = mwl_absent();
    mwl_status st = MWL_OK;
    if (type && strcmp(type, "success") == 0)
        reason = "a failure's `type` must not be 'success'";
    else if (!mwl_is_absent(take_details))
        st = mwl__host_value_data(h, "the failure at ['details']", take_details, &data, text,
                                  sizeof text);
    if (st == MWL_E_NOT_JSON) reason = text;
    mwl__drop(h, take_details);
    if (reason) {
        *refused = true;
        return mwl__host_value_refused(h, reason);
    }
    if (st < 0) return mwl_absent();
    mwl_value v = mwl_failure(h, type, code, message, data, mwl_absent());
    return mwl__host_value_code(h, from, code, v, refused);
}

void mwl__host_value_check_result(mwl_heap *h, const mwl__provider *from, mwl__result *result) {
    bool refused = false;
    result->v = mwl__host_value_check(h, from, result->ok, result->v, &refused);
    if (refused) result->ok = false;
}
