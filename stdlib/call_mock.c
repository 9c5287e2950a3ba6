/* call_mock.c: mock: replaces a real provider. Its Result depends only on its arguments and its
 * input.
 *
 * It stores nothing while it waits, because the arguments can be read until the call settles. */
#include "stdlib/std_impl.h"

#include "stdlib/backoff.h"
#include "stdlib/documents.h"

/* Makes the envelope exactly as configured; `type` comes first and has a default. */
static mwl_value envelope(mwl_heap *h, mwl_value failure) {
    if (!mwl_is_absent(mwl_get(failure, "type"))) return mwl_value_keep(failure);
    mwl_value key, value, out = mwl_object(h, mwl_count(failure) + 1);
    out = mwl_object_set(h, out, "type", 4, mwl_string(h, "error", 5));
    for (size_t i = 0; mwl_object_at(failure, i, &key, &value); i++)
        out = mwl_object_put(h, out, mwl_value_keep(key), mwl_value_keep(value));
    return out;
}

/* Writes the value of a success, or an envelope, given. Returns whether it is a success. */
static bool result_of(mwl_heap *h, mwl_value input, mwl_value args, mwl_value *out) {
    mwl_value failure = mwl_get(args, "failure"), value = mwl_get(args, "value");
    bool fails = mwl_value_kind(failure) == MWL_KIND_OBJECT;
    *out = fails ? envelope(h, failure) : mwl_value_keep(mwl_is_absent(value) ? input : value);
    return !fails;
}

static void mock_resolve(mwl_call *call, void *user) {
    (void)user;
    mwl_value out;
    if (result_of(mwl_call_heap(call), mwl_call_input(call), mwl_call_arguments(call), &out))
        mwl_call_succeed(call, out);
    else
        mwl_call_settle(call, out);
}

static int mock_now(mwl_heap *heap, mwl_value input, mwl_value args, mwl_value *out, void *user) {
    (void)user;
    if (!mwl_is_absent(mwl_get(args, "delay")) || !mwl_is_absent(mwl_get(args, "metadata")))
        return MWL_NOW_START;
    return result_of(heap, input, args, out) ? MWL_NOW_SUCCEEDED : MWL_NOW_FAILED;
}

static void mock_start(mwl_call *call, void *user) {
    mwl_value args = mwl_call_arguments(call);
    mwl_value metadata = mwl_get(args, "metadata"), delay = mwl_get(args, "delay");
    if (!mwl_is_absent(metadata)) mwl_call_set_metadata(call, mwl_value_keep(metadata));
    int64_t ns = 0;
    if (!mwl_is_absent(delay) && !mwl__backoff_duration(delay, &ns)) {
        mwl_call_fail(call, NULL, "System.ParameterValidationFailed", "`delay` is not a duration",
                      mwl_absent());
        return;
    }
    if (ns > 0)
        mwl_call_wake_after(call, ns);
    else
        mock_resolve(call, user);
}

static void mock_cancel(mwl_call *call, void *user) {
    (void)user;
    mwl_call_succeed(call, mwl_null()); /* the Result of a cancelled call is not used */
}

const mwl_call_provider mwl__std_mock = {
    .uri = MWL__STD_MOCK,
    .document = mwl__std_doc_mock,
    .start = mock_start,
    .wake = mock_resolve,
    .cancel = mock_cancel,
    .flags = MWL_CALL_LOCAL, /* its timer is all that it has in flight */
    .now = mock_now,
};
