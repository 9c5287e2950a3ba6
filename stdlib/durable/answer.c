/* answer.c: the provider mwl:provider.call/mwlvm/answer/v1: a wait for an answer from outside; and
 * providers whose calls workers outside take. They have nothing to do themselves: the driver finds
 * the open wait by its name, and settles the call. */
#include "mwl_durable.h"

#include "stdlib/durable/durable_impl.h"

static const char document[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\","
    " \"uri\": \"" MWL__DURABLE_ANSWER "\", \"codePrefix\": \"Answer\","
    " \"description\": \"Waits for an answer from outside, and returns it. `mwlvm answer RUN NAME"
    " JSON` gives it. An answer that comes before its wait is kept for it. The run need not be in"
    " memory meanwhile. Use Timeout to limit the wait. Only for durable runs.\","
    " \"parameters\": {\"type\": \"object\", \"additionalProperties\": false,"
    " \"required\": [\"name\"], \"properties\": {"
    "\"name\": {\"type\": \"string\", \"minLength\": 1, \"pattern\": \"^[^\\\\u0000]*$\","
    " \"description\": \"What the answer is called.\"},"
    "\"message\": {\"type\": \"string\", \"description\": \"The question, for people.\"},"
    "\"schema\": {\"type\": [\"object\", \"boolean\"], \"description\": \"A JSON Schema of the"
    " answer. An answer that does not fit is refused, and the wait stays open.\"}}},"
    " \"failureCatalog\": {\"closed\": [], \"open\": []}}";

static void start(mwl_call *call, void *user) {
    (void)user;
    (void)mwl_call_number(call); /* it has one from now on */
}

static const mwl_call_provider answer = {
    .uri = MWL__DURABLE_ANSWER,
    .document = document,
    .start = start,
    .flags = MWL_CALL_LOCAL, /* without `cancel`: the machine does not wait for it then */
};

const mwl_call_provider *mwl_durable_answer(void) { return &answer; }

/* The wait is in the store with the snapshot that contains the call, so no worker sees a call that
 * a crash takes back. */
mwl_call_provider mwl_durable_remote(void) {
    const mwl_call_provider remote = {.start = start, .flags = MWL_CALL_LOCAL};
    return remote;
}
