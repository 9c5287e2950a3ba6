/* answer.c: the provider mwl:provider.call/mwlvm/answer/v1: a wait for an answer from outside. It
 * has nothing to do itself: the driver finds the open wait by its name, and settles the call. */
#include "mwl_durable.h"

#include "durable_impl.h"

static const char document[] =
    "{\"$schema\": \"https://mwl.dev/v0.1/provider/schema.json\","
    " \"uri\": \"" MWL__DURABLE_ANSWER "\", \"codePrefix\": \"Answer\","
    " \"description\": \"Waits for an answer from outside, and returns it. `mwlvm answer RUN NAME"
    " JSON` gives it. An answer that comes before its wait is kept for it. The run need not be in"
    " memory meanwhile. Use Timeout to limit the wait. Only for durable runs.\","
    " \"parameters\": {\"type\": \"object\", \"additionalProperties\": false,"
    " \"required\": [\"name\"], \"properties\": {"
    "\"name\": {\"type\": \"string\", \"minLength\": 1, \"description\": \"What the answer is"
    " called.\"},"
    "\"message\": {\"type\": \"string\", \"description\": \"The question, for people.\"},"
    "\"schema\": {\"type\": [\"object\", \"boolean\"], \"description\": \"A JSON Schema of the"
    " answer, for people and forms. The Flow checks the answer itself.\"}}},"
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
