/* documents.c: see documents.h. Each text stays below the 4095 bytes that C11 promises for a
 * literal. */
#include "stdlib/documents.h"

#define HEAD "{\"$schema\":\"https://mwl.dev/v0.1/provider/schema.json\","

const char mwl__std_doc_mock[] = HEAD
    "\"uri\":\"" MWL__STD_MOCK "\",\n"
    "\"codePrefix\":\"Mock\",\n"
    "\"description\":\"Replaces a real integration in tests. Returns the value or the failure that its "
    "arguments describe, after an optional delay. Without arguments it returns its input.\",\n"
    "\"parameters\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\n"
    " \"value\":{\"description\":\"The value of a success. Without it, the input.\"},\n"
    " \"failure\":{\"description\":\"Return this failure instead. null means no failure.\",\n"
    "  \"type\":[\"object\",\"null\"],\"additionalProperties\":false,\"required\":[\"code\"],"
    "\"properties\":{\n"
    "  \"type\":{\"type\":\"string\",\"not\":{\"const\":\"success\"},\"default\":\"error\"},\n"
    "  \"code\":{\"type\":\"string\",\"description\":\"Any code, also of another provider.\"},\n"
    "  \"message\":{\"type\":\"string\"},\n"
    "  \"details\":{},\n"
    "  \"retryable\":{\"type\":[\"boolean\",\"null\"]},\n"
    "  \"previous\":{\"type\":[\"object\",\"null\"]}}},\n"
    " \"delay\":{\"type\":\"string\",\"format\":\"duration\","
    "\"description\":\"The time before it returns.\"},\n"
    " \"metadata\":{\"type\":\"object\",\"additionalProperties\":true,"
    "\"description\":\"Becomes provider.metadata, unchanged.\"}}},\n"
    "\"metadata\":{\"type\":\"object\",\"additionalProperties\":true,"
    "\"description\":\"The value of the argument metadata.\"},\n"
    "\"failureCatalog\":{\"closed\":[],\"open\":[\"*\"]}}\n";

const char mwl__std_doc_retry[] = HEAD
    "\"uri\":\"" MWL__STD_RETRY "\",\n"
    "\"codePrefix\":\"Retry\",\n"
    "\"description\":\"Runs its inner scope again when a failure matches one of its policies. Each run "
    "begins with the variables as they were after onEntry, and with what onFailure assigned.\",\n"
    "\"attachment\":[\"step\",\"flow\"],\n"
    "\"phases\":{\n"
    "\"onEntry\":{\n"
    " \"action\":{\"kind\":\"control\",\"description\":\"Reads the policies, once. If when is "
    "false, failures pass.\"},\n"
    " \"parameters\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"policies\"],"
    "\"properties\":{\n"
    "  \"policies\":{\"type\":\"array\",\"minItems\":1,"
    "\"description\":\"Tried in order. The first one that matches a failure decides. Each has its own "
    "count.\",\n"
    "   \"items\":{\"type\":\"object\",\"additionalProperties\":false,"
    "\"required\":[\"match\",\"attempts\"],\"properties\":{\n"
    "    \"match\":{\"type\":\"object\",\"minProperties\":1,\"additionalProperties\":false,"
    "\"description\":\"A failure matcher.\",\"properties\":{\n"
    "     \"codes\":{\"type\":\"array\",\"minItems\":1,\"items\":{\"type\":\"string\"}},\n"
    "     \"types\":{\"type\":\"array\",\"minItems\":1,"
    "\"items\":{\"type\":\"string\",\"not\":{\"const\":\"success\"}}},\n"
    "     \"retryable\":{\"type\":\"boolean\"}}},\n"
    "    \"attempts\":{\"type\":\"integer\",\"minimum\":1,"
    "\"description\":\"The total number of runs, with the first one.\"},\n"
    "    \"backoff\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"initial\"],"
    "\"description\":\"How long to wait between runs. Without it, there is no wait.\",\"properties\":{\n"
    "     \"initial\":{\"type\":\"string\",\"format\":\"duration\","
    "\"description\":\"The wait before the second run.\"},\n"
    "     \"rate\":{\"type\":\"number\",\"minimum\":1,\"default\":1,"
    "\"description\":\"Each wait is this many times as long as the one before.\"},\n"
    "     \"max\":{\"type\":\"string\",\"format\":\"duration\",\"description\":\"The longest wait.\"},\n"
    "     \"jitter\":{\"type\":\"string\",\"enum\":[\"none\",\"full\",\"equal\",\"decorrelated\"],"
    "\"default\":\"none\",\"description\":\"How the wait is made random.\"}}}}}}}}},\n"
    "\"onFailure\":{\n"
    " \"action\":{\"kind\":\"control\",\"description\":\"Finds the policy and runs again until its "
    "attempts are used up; then it fails with Exhausted. If when is false, the failure passes.\"},\n"
    " \"parameters\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{\n"
    "  \"delay\":{\"type\":[\"string\",\"null\"],\"format\":\"duration\",\"default\":null,"
    "\"description\":\"The wait before this run, instead of the backoff. It has no jitter.\"}}}}},\n"
    "\"metadata\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"attempt\":{\"type\":\"number\",\"description\":\"The number of runs so far, with the first one.\"}}},\n"
    "\"failureCatalog\":{\"closed\":[\"Provider.Middleware.Retry.Exhausted\"],\"open\":[]}}\n";

const char mwl__std_doc_timeout[] = HEAD
    "\"uri\":\"" MWL__STD_TIMEOUT "\",\n"
    "\"codePrefix\":\"Timeout\",\n"
    "\"description\":\"Interrupts its inner scope if it has no accepted Result in time, and fails with "
    "Exceeded.\",\n"
    "\"attachment\":[\"step\",\"flow\"],\n"
    "\"phases\":{\"onEntry\":{\n"
    " \"action\":{\"kind\":\"control\",\"description\":\"Sets the bound, which counts from establishment. "
    "If when is false, there is no bound.\",\n"
    "  \"acceptance\":\"A Result counts as accepted when the platform receives it at this position; "
    "from then on the bound has no effect.\"},\n"
    " \"parameters\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"duration\"],"
    "\"properties\":{\n"
    "  \"duration\":{\"type\":\"string\",\"format\":\"duration\","
    "\"description\":\"The longest time that the inner scope may take.\"}}}}},\n"
    "\"metadata\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"deadline\":{\"type\":\"string\",\"format\":\"date-time\","
    "\"description\":\"The instant of the bound.\"}}},\n"
    "\"failureCatalog\":{\"closed\":[\"Provider.Middleware.Timeout.Exceeded\"],\"open\":[]}}\n";

const char mwl__std_doc_loop[] = HEAD
    "\"uri\":\"" MWL__STD_LOOP "\",\n"
    "\"codePrefix\":\"Loop\",\n"
    "\"description\":\"Runs its inner scope again while onSuccess.when is true; every entry must have "
    "it. The value of onSuccess is the input of the next run.\",\n"
    "\"attachment\":[\"step\",\"flow\"],\n"
    "\"phases\":{\n"
    "\"onEntry\":{\"action\":{\"kind\":\"control\",\"description\":\"Allows the first run. If when is "
    "false, nothing runs, and the output of onEntry is the success of the entry.\"}},\n"
    "\"onSuccess\":{\"action\":{\"kind\":\"control\",\"description\":\"Runs again if the condition is "
    "true; emits the Result if it is false.\"}}},\n"
    "\"metadata\":{\"type\":\"object\",\"additionalProperties\":false,\"properties\":{"
    "\"iteration\":{\"type\":\"number\",\"description\":\"The number of the run, from 1.\"}}},\n"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}\n";

const char mwl__std_doc_finally[] = HEAD
    "\"uri\":\"" MWL__STD_FINALLY "\",\n"
    "\"codePrefix\":\"Finally\",\n"
    "\"description\":\"Dispatches a cleanup call when its inner scope ends, in every case. Its "
    "value is dropped. If it fails, its failure replaces the Result.\",\n"
    "\"attachment\":[\"step\",\"flow\"],\n"
    "\"phases\":{\"onAlways\":{\n"
    " \"action\":{\"kind\":\"side-effect\",\"description\":\"Dispatches the call inside its own stack. "
    "If when is false, nothing is dispatched.\"},\n"
    " \"parameters\":{\"type\":\"object\",\"additionalProperties\":false,\"required\":[\"call\"],"
    "\"properties\":{\n"
    "  \"call\":{\"type\":\"object\",\"description\":\"The call of the cleanup.\"},\n"
    "  \"middleware\":{\"type\":\"array\",\"items\":{\"type\":\"object\"},"
    "\"description\":\"The middleware entries around the call.\"}}},\n"
    " \"structural\":[\"call\",\"middleware\"]}},\n"
    "\"failureCatalog\":{\"closed\":[],\"open\":[]}}\n";

const mwl__std_document *mwl__std_document_at(size_t i) {
    static const mwl__std_document all[] = {{MWL__STD_MOCK, mwl__std_doc_mock},
                                            {MWL__STD_RETRY, mwl__std_doc_retry},
                                            {MWL__STD_TIMEOUT, mwl__std_doc_timeout},
                                            {MWL__STD_LOOP, mwl__std_doc_loop},
                                            {MWL__STD_FINALLY, mwl__std_doc_finally}};
    return i < sizeof all / sizeof *all ? &all[i] : NULL;
}
