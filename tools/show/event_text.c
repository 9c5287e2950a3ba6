/* event_text.c: see event_text.h. */
#include "tools/show/event_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The last part but the version: what authors call it. */
const char *event_text_provider(const char *uri, size_t *len) {
    const char *end = strrchr(uri, '/'), *begin = end;
    if (!end || end[1] != 'v') { /* no version */
        *len = strlen(uri);
        return uri;
    }
    while (begin > uri && begin[-1] != '/') begin--;
    *len = (size_t)(end - begin);
    return begin;
}

/* "attempt 2", "iteration 3", "run 2". */
static void put_count(const struct event_span *s, const char *before, char *out, size_t size) {
    snprintf(out, size, "%s%.60s %" PRId64, before, *s->counts ? s->counts : "run", s->number);
}

void event_text_name(const struct event_span *s, char *out, size_t size) {
    size_t len = 0;
    const char *provider = event_text_provider(s->provider, &len);
    int n = len < 200 ? (int)len : 200;
    switch (s->kind) {
    case EVENT_RUN: snprintf(out, size, "run"); break;
    case EVENT_FLOW: snprintf(out, size, "%s", *s->flow ? s->flow : "flow"); break;
    case EVENT_STEP: snprintf(out, size, "%s", s->step); break;
    case EVENT_ENTRY: snprintf(out, size, "%.*s", n, provider); break;
    case EVENT_PHASE: snprintf(out, size, "%s", s->phase); break;
    case EVENT_ATTEMPT: put_count(s, "", out, size); break;
    case EVENT_CALL: snprintf(out, size, n ? "call %.*s" : "call%.*s", n, provider); break;
    case EVENT_DISPATCH:
        snprintf(out, size, n ? "#%" PRId64 " %.*s" : "#%" PRId64 "%.*s", s->number, n, provider);
        break;
    case EVENT_WAIT:
        if (s->number >= 0)
            put_count(s, "wait for ", out, size);
        else
            snprintf(out, size, "sleep");
        break;
    }
}

void event_text_code(mwl_value failure, char *out, size_t size) {
    size_t len = 0;
    const char *text = mwl_as_text(mwl_get(failure, "code"), &len);
    if (!text) text = mwl_as_text(mwl_get(failure, "type"), &len);
    snprintf(out, size, "%s", text ? text : "failure");
}

void event_text_time(int64_t ns, char *out, size_t size) {
    int64_t s = (ns + 500000000) / 1000000000;
    if (ns < 0) ns = s = 0;
    if (ns < 999950000) /* what is more would be rounded to 1000.0 */
        snprintf(out, size, "%.1f ms", (double)ns / 1e6);
    else if (ns < INT64_C(59950000000))
        snprintf(out, size, "%.1f s", (double)ns / 1e9);
    else if (s < 3600)
        snprintf(out, size, "%" PRId64 ":%02d min", s / 60, (int)(s % 60));
    else
        snprintf(out, size, "%" PRId64 ":%02d:%02d h", s / 3600, (int)(s / 60 % 60), (int)(s % 60));
}
